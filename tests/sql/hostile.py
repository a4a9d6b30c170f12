#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SQL that writes, attaches, loads, runs for ever or takes all memory is refused, or stopped by a limit. Nothing is written."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import stores
from stores import SMALL

REFUSED = (
    "insert into value values (1, 2, 3, 4)", "update context set name = 'x'", "delete from metric", "drop table value",
    "create table t (a)", "create table main.t (a)", "create view v as select 1", "create index i on value (value)",
    "create trigger t after insert on value begin select 1; end", "alter table value rename to x", "attach ':memory:' as z",
    "attach '/tmp/lode-must-not-be.db' as z", "detach main", "vacuum", "vacuum into '/tmp/lode-must-not-be.db'", "analyze",
    "pragma journal_mode = off", "pragma temp_store_directory = '/'", "pragma writable_schema = on", "pragma trusted_schema = on",
    "pragma hard_heap_limit = 0", "pragma query_only = off", "pragma data_store_directory = '/'",
    "select load_extension('/tmp/x.so')", "select fts3_tokenizer('simple')", "create virtual table temp.t using fts5(a)",
    "create virtual table temp.t using lode_0_value", "begin", "commit", "rollback", "savepoint x", "create temp trigger t after insert on value begin select 1; end",
    "select readfile('/etc/passwd')", "select writefile('/tmp/lode-must-not-be', 'x')", "select edit('x')",
    "select * from pragma_journal_mode", "insert into sqlite_schema values (1, 2, 3, 4, 5)", "update sqlite_schema set sql = 1",
    "replace into temp.sqlite_schema values (1, 2, 3, 4, 5)",
)
WRONG = ("", "selec", "select", "select * from nothing", "select nothing from value", "select 1; select 2", "select ((((", "select 'a", "\0",
         "select " + "(" * 500 + "1" + ")" * 500, "select " + "+".join(["1"] * 300), "select 1" + " union all select 1" * 200,
         "select " + ",".join(["1"] * 600), "select * from " + ",".join(f"metric a{i}" for i in range(70)), "select 'x" + "y" * 1200000 + "'",
         "select zeroblob(100000000)", "select printf('%100000000d', 1)", "select replace(hex(zeroblob(8000000)), '0', 'aaaaaaaaaa')",
         "select * from value where value like '" + "%a" * 400 + "'", "select randomblob(1000000000)", "select 'a' regexp '('", "select 'a' regexp '" + "a" * 2000 + "'")
# A join that takes for ever whatever the store's size: two rows make 2^40.
MANY = ", ".join(f"value t{i}" for i in range(40))
ENDLESS = (
    "with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r",
    "with recursive r(x) as (select 1 union all select x + 1 from r) select x from r where x < 0",
    f"select count(*) from {MANY}",
    f"select sum(t0.value) from {MANY} where t0.value <> t1.value + t2.value + t39.value",
)
HUNGRY = ("with recursive r(x) as (select zeroblob(10000000) union all select x from r) select group_concat(hex(x)) from (select x from r limit 200)",
          "select group_concat(a.name || b.name || c.name) from context a, context b, context c, context d, context e",
          "select max(a || b || c || d || e) from (select hex(randomblob(7000000)) a, hex(randomblob(7000000)) b, hex(randomblob(7000000)) c, hex(randomblob(7000000)) d, hex(randomblob(7000000)) e)",
          "select length(a) + length(b) + length(c) + length(d) + length(e) from (select hex(randomblob(7000000)) a, hex(randomblob(7000000)) b, hex(randomblob(7000000)) c, hex(randomblob(7000000)) d, hex(randomblob(7000000)) e limit 1)")


def digest(folder):
    h = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        h.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return h.hexdigest()


def says_what(done):
    """A message of one line, and no crash."""
    return done.returncode == 2 and done.stderr.startswith("lode: ") and done.stderr.count("\n") == 1


def refuses(tap, lode):
    before, wrong = digest(SMALL), []
    for statement in REFUSED:
        done = lode.call("sql", SMALL, "--file", "-", text=statement + ";\n")
        if not says_what(done) or done.stdout:
            wrong.append(f"{statement}: {done.returncode} {done.stderr[:200]!r}")
    tap.check(not wrong, f"{len(REFUSED)} statements that do more than read are refused", wrong)
    tap.check(digest(SMALL) == before and not Path("/tmp/lode-must-not-be.db").exists() and not Path("/tmp/lode-must-not-be").exists(),
              "nothing was written")


def survives(tap, lode):
    wrong = []
    for statement in WRONG[1:]:
        done = lode.call("sql", SMALL, *(["--file", "-"] if len(statement) > 1000 or "\0" in statement or statement == "select" else [statement]),
                         text=statement + ";\n" if len(statement) > 1000 or "\0" in statement or statement == "select" else None)
        if done.returncode not in (0, 2) or done.stderr.count("\n") > 1 or (done.returncode == 2 and not done.stderr.startswith("lode: ")):
            wrong.append(f"{statement[:60]}: {done.returncode} {done.stderr[:200]!r}")
    tap.check(not wrong, f"{len(WRONG) - 1} statements that are wrong or too large are refused in a line", wrong)


def stops(tap, lode):
    wrong = []
    for statement in ENDLESS:
        done = lode.call("sql", SMALL, "--timeout", "300ms", statement)
        if not says_what(done) or "--timeout" not in done.stderr:
            wrong.append(f"{statement}: {done.returncode} {done.stderr[:200]!r}")
    tap.check(not wrong, f"{len(ENDLESS)} endless statements end with --timeout", wrong)
    wrong = []
    for statement in HUNGRY:
        done = lode.call("sql", SMALL, "--memory", "50M", "--timeout", "20s", statement)
        if not says_what(done) or not re.search("memory|too big|timeout", done.stderr):
            wrong.append(f"{statement}: {done.returncode} {done.stderr[:200]!r}")
    tap.check(not wrong, f"{len(HUNGRY)} hungry statements end with --memory", wrong)


def interrupts(tap, lode):
    """Ctrl-C ends a statement, and the program by that signal."""
    child = subprocess.Popen([lode.program, "sql", str(SMALL), ENDLESS[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    # It holds the signal as soon as it runs the statement: when it has used processor time.
    while child.poll() is None and int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[11]) < 20:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    tap.check(child.returncode == -signal.SIGINT and b"interrupted" in err, "Ctrl-C ends an endless statement", [child.returncode, err])


def spills(tap, lode):
    """A sort that does not fit into memory leaves nothing in TMPDIR."""
    with tempfile.TemporaryDirectory() as folder:
        statement = "select x from (with recursive r(x) as (select 1 union all select x + 1 from r limit 1000000) select x, printf('%050d', x * 7919 % 1000003) y from r) order by y limit 1"
        done = lode.call("sql", SMALL, "--memory", "20M", statement, env={"TMPDIR": folder, "SQLITE_TMPDIR": folder})
        tap.check(done.returncode == 0 and not os.listdir(folder), "a large sort needs little memory, and leaves no file", [done.stderr])


def allows(tap, lode):
    """What statements may do besides reading: temporary tables and views, and looking at the schema."""
    script = ("create temp table t as select * from metric; create temp view v as select * from value; create temp view h as select count(*) n from context;"
              "select (select count(*) from t) = (select count(*) from metric), (select count(*) from v) = (select count(*) from value);"
              "select n > 0 from h; create index temp.i on t (id); insert into t select * from t; drop view v; drop table t; pragma table_info(value);")
    done = lode.call("sql", SMALL, "--file", "-", "--json", text=script)
    tap.check(done.returncode == 0 and "[1, 1]" in done.stdout and "profile_id" in done.stdout, "temporary tables and views", [done.stderr, done.stdout])


def body(tap, lode, options):
    refuses(tap, lode)
    survives(tap, lode)
    stops(tap, lode)
    interrupts(tap, lode)
    spills(tap, lode)
    allows(tap, lode)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL,)))
