#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""POST /api/1/sql/STORE: statements of SQL have the rows, limits and rules of `lode sql`, and only who has the token may send them."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from serving import Server, Tap, has_plugin, make_example

STATEMENTS = (
    "select name, exclusive from hotspot('function') order by exclusive desc limit 5",
    "select 1 a, null b, 'x''y' c, 2.5 d, x'00ff' e",
    "select kind, count(*) n from context group by kind; select 2",
    ".questions",
    "select * from nothing",
    "selec 1",
    "select 1; .tables",
)
# What is refused, or ends: nothing of it reads or writes a file, or keeps the server busy.
HOSTILE = {
    "attach": "attach '{folder}/new.db' as x",
    "a file as a database": "attach 'file:{folder}/new.db?mode=rwc' as x",
    "vacuum into": "vacuum into '{folder}/new.db'",
    "load_extension": "select load_extension('{folder}/evil.so')",
    "readfile": "select readfile('/etc/passwd')",
    "writefile": "select writefile('{folder}/new.db', 'x')",
    "pragma": "pragma temp_store_directory = '{folder}'",
    "writable schema": "pragma writable_schema = on; delete from sqlite_schema",
    "create": "create table x (a)",
    "insert": "insert into context (id) values (1)",
    "drop": "drop table context",
    "read by the shell": ".read /etc/passwd",
    "shell": ".shell touch {folder}/new.db",
    "output": ".output {folder}/new.db",
    "a large blob": "select zeroblob(2000000000)",
    "rows without end": "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n",
    "one call without end": "select length(printf('%.*c', 2000000000, 'x'))",
}


def post(server, text, store="0", **options):
    return server.ask(f"/api/1/sql/{store}", method="POST", body=text.encode(), **options)


def same_rows(tap, lode, server, store):
    for text in STATEMENTS:
        done = subprocess.run([lode, "sql", "--json", "--file", "-", "--limit", "1000", store], input=text.encode(), capture_output=True, check=False, timeout=120)
        answer = post(server, text)
        if done.returncode == 0:
            tap.check(answer.status == 200 and answer.body == done.stdout, f"{text[:50]}: the rows of lode sql", [answer.status, answer.body[:300], done.stdout[:300]])
        else:
            message = done.stderr.decode().splitlines()[0].removeprefix("lode: ")
            tap.check(answer.status == 400 and answer.json()["message"] == message, f"{text[:50]}: the message of lode sql", [answer.body[:300], message])
    rows = post(server, "with recursive n (i) as (select 1 union all select i + 1 from n) select i from n").json()["results"][0]
    tap.check(rows["row_count"] == 1000 and rows["is_truncated"], "at most 1,000 rows", [rows["row_count"]])


def refused(tap, server):
    body = "select 1"
    cases = (
        ("without a token", {"token": False}, 401),
        ("with a wrong token", {"headers": {"Authorization": "Bearer " + "0" * 64}}, 401),
        ("from another site", {"headers": {"Origin": "http://evil.example"}}, 403),
        ("from a frame of another site", {"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
        ("for another host", {"host": "evil.example"}, 421),
    )
    for title, options, status in cases:
        tap.check(post(server, body, **options).status == status, f"{title}: {status}")
    tap.check(server.ask("/api/1/sql/0").status == 405, "GET has no statement: 405")
    tap.check(server.ask("/api/1/sql/0?q=select+1").status == 405, "a statement in the address: 405")
    tap.check(server.ask("/api/1/sql/0", method="POST").status == 400, "no body: 400")
    tap.check(post(server, body, "9").status == 400 and post(server, body, "../etc").status in (400, 404, 405), "no such store")
    tap.check(post(server, body, "0?limit=5").status == 400, "no options")
    tap.check(post(server, "x" * 70000).status == 413, "more than 64 KiB: 413")
    tap.check(server.ask("/api/1/sql/0", method="POST", headers={"Transfer-Encoding": "chunked"}).status == 413, "a body of unknown length: 413")
    tap.check(server.ask("/api/1/top/0", method="POST", body=b"x").status == 405, "other commands have no body")
    tap.check(server.ask("/api/1/top/0", body=b"x").status == 413, "a GET has no body: 413")


def hostile(tap, server, folder):
    before = sorted(path.name for path in folder.iterdir())
    # Two workers: those that end after ten seconds wait beside each other.
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(HOSTILE, pool.map(lambda text: post(server, text.format(folder=folder)), HOSTILE.values())))
    tap.check(sorted(path.name for path in folder.iterdir()) == before, "no file was written")
    for title, answer in answers.items():
        tap.check(answer.status == 400 and answer.json()["message"] and b"root:" not in answer.body, f"{title}: refused, or ended ({answer.json()['message'][:60] if answer.status == 400 else answer.status})", [answer.status, answer.body[:300]])
    tap.check(post(server, "select 1").status == 200, "the server lives, and answers")


def given_up(tap, server):
    """Who goes away ends the process."""
    link = server.connection()
    text = b"with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n"
    link.request("POST", "/api/1/sql/0", body=text, headers={"Authorization": f"Bearer {server.token}", "Host": f"127.0.0.1:{server.port}"})
    children = Path(f"/proc/{server.process.pid}/task")

    def running():
        return "".join((task / "children").read_text() for task in children.iterdir() if (task / "children").exists()).split()

    for _ in range(600):
        if running():
            break
        time.sleep(0.02)
    was_running = bool(running())
    link.close()
    for _ in range(600):
        if not running():
            break
        time.sleep(0.02)
    tap.check(was_running and not running(), "a statement whose reader went away ends")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    lode, tap = parser.parse_args().lode, Tap()
    if has_plugin(lode):
        print(f"1..0 # SKIP {has_plugin(lode)}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store = make_example(lode, folder / "demo")[1]
        if subprocess.run([lode, "sql", store, "select 1"], capture_output=True, check=False, timeout=120).returncode != 0:
            print("1..0 # SKIP lode sql needs SQLite")
            return 0
        odd = folder / "a=b"
        odd.symlink_to(store)
        with Server(lode, store) as server:
            server.wait_until_open()
            same_rows(tap, lode, server, store)
            refused(tap, server)
            hostile(tap, server, folder)
            given_up(tap, server)
            tap.check(server.stop() == 0 and server.error_text() == "", "it ends cleanly", [server.error_text()])
        with Server(lode, "a=b", cwd=folder) as server:
            server.wait_until_open()
            answer = post(server, "select count(*) > 0 from context")
            tap.check(answer.status == 200 and json.loads(answer.body)["results"][0]["rows"] == [[1]], "a store whose name has an equals sign", [answer.body[:200]])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
