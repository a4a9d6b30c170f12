#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The catalogue of runs on a PostgreSQL server: what holds of a file holds of it, too; and what only a server has: projects, roles,
migrations at once, passwords, a server that hangs or is not there.
"""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402
import postgresql  # noqa: E402
import runs  # noqa: E402

SECRET = "hunter2"
ACTIONS = ("lode.add_run(NULL, '', '', 0, 0, 0, 0, 0, '', '', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', NULL, NULL)", "lode.remove_run('a', 1)",
           "lode.grant_role('a', 'ann', 'admin')", "lode.drop_before('2000-01-01Z')", "lode.ensure_month(now())", "lode.intern_title(1, 'x')")


class ServerRuns(runs.Runs):
    """A database of its own in place of a file; another reader looks at a copy of it."""

    server = None
    template = None

    def __init__(self, program):
        super().__init__(program)
        self.database = self.server.database(self.template)
        self.file = self.server.address(self.database)

    def sql(self, text, *values, file=None):
        copy = self.folder / "copy.sqlite"
        copy.unlink(missing_ok=True)
        result = self.do("runs", "copy", self.file, copy)
        if result.status != 0:
            raise ValueError(result)
        return super().sql(text, *values, file=copy)

    def server_sql(self, text, user="admin", **options):
        return self.server.sql(text, self.database, user, **options)

    def as_user(self, user):
        return self.server.address(self.database, user)


def on_a_server(test):
    """A test of files, with a server."""
    def run(program):
        kept, runs.Runs = runs.Runs, ServerRuns
        try:
            test(program)
        finally:
            runs.Runs = kept
    run.__name__ = f"{test.__name__}_on_a_server"
    return run


def eight_make_the_tables_at_once(program):
    with ServerRuns(program) as r:
        r.server_sql("DROP SCHEMA lode CASCADE")
        program.says(r.runs("list"), 2, re.escape(f"{r.file}: there is no catalogue of runs; 'lode runs init' creates it"), "a database without tables")
        words = [program.lode, "runs", "init", "--catalogue", r.file, "--json"]
        processes = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=cli.environment(**r.environment)) for _ in range(8)]
        answers = [process.communicate(timeout=cli.SECONDS) for process in processes]
        program.equal([(process.returncode, errors) for process, (_, errors) in zip(processes, answers)], [(0, b"")] * 8, "eight at once succeed")
        program.equal(sorted(cli.parse_json(text.decode())["is_changed"] for text, _ in answers), [False] * 7 + [True], "one of them made the tables")
        program.equal(r.server_sql("SELECT count(*), max(version) FROM lode.schema_version"), ["1|1"], "once")
        program.equal((r.runs("migrate").status, r.add()["run"]), (0, 1), "they can be used")
        r.server_sql("INSERT INTO lode.schema_version(version) VALUES (99)")
        for words in (["list"], ["migrate"]):
            program.says(r.runs(*words), 2, re.escape(f"{r.file}: the catalogue is of a later version of lode"), f"a later version: {words[0]}")
        r.server_sql("UPDATE lode.schema_version SET version = 0 WHERE version = 1; DELETE FROM lode.schema_version WHERE version = 99")
        program.says(r.runs("list"), 2, ".*of an earlier version of lode; an administrator can run 'lode runs migrate'", "an earlier version")


def roles_do_what_they_may(program):
    """Each role, and each way to the data: of an own project, of another one, past the functions."""
    with ServerRuns(program) as r:
        r.add("demo/solver", "--project", "default")
        r.server_sql("DO $$ BEGIN CREATE ROLE ann LOGIN; CREATE ROLE wim LOGIN; CREATE ROLE ada LOGIN; CREATE ROLE eve LOGIN; "
                     "EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        for role, level, project in (("ann", "reader", "default"), ("wim", "writer", "default"), ("ada", "admin", "default"), ("eve", "writer", "other")):
            program.equal(r.runs("grant", role, level, "--project", project).status, 0, f"{role} becomes a {level} of {project}")
        may = {}
        for user in ("ann", "wim", "ada", "eve"):
            def ask(*words):
                return r.do("runs", *words, "--catalogue", r.as_user(user), "--project", "default").status == 0
            may[user] = {"list": ask("list"), "trend": ask("trend"), "add": ask("add", "demo/thumbs", "--again"), "remove of another's": ask("remove", "1"),
                         "grant": ask("grant", "ann", "reader"), "retain": ask("retain", "100years"), "init": ask("init")}
        read = {"list": True, "trend": True, "init": False}
        program.equal(may, {"ann": {**read, "add": False, "remove of another's": False, "grant": False, "retain": False},
                            "wim": {**read, "add": True, "remove of another's": False, "grant": False, "retain": False},
                            "ada": {**read, "add": True, "remove of another's": True, "grant": True, "retain": True},
                            "eve": {**read, "list": False, "trend": False, "add": False, "remove of another's": False, "grant": False, "retain": False}},
                      "who may do what with a project")
        run = [line for line in r.server_sql("SELECT max(id) FROM lode.run WHERE owner = 'wim'")][0]
        program.equal(r.do("runs", "remove", run, "--catalogue", r.as_user("wim")).status, 0, "who added a run may remove it")
        direct = [text for table in ("project", "run", "cost", "metric", "function", "series", "member", "cost_2026_03", "cost_past")
                  for text in (f"INSERT INTO lode.{table} DEFAULT VALUES", f"DELETE FROM lode.{table}", f"UPDATE lode.{table} SET {'name' if table == 'project' else 'project'} = NULL", f"TRUNCATE lode.{table}",
                               *([f"SELECT * FROM lode.{table}"] if table in ("member", "cost_2026_03", "cost_past") else []))]
        for user in ("ann", "wim", "ada", "eve"):
            for text, errors in zip(direct, r.server.errors(direct, r.database, user)):
                if "permission denied" not in errors:
                    program.check(False, f"{user}: {text}", [errors])
        program.check(True, "nobody changes a table directly, or reads one below the partitioned one")
        counts = {user: r.server_sql("SELECT (SELECT count(*) FROM lode.run), (SELECT count(*) FROM lode.cost), (SELECT count(*) FROM lode.function), "
                                     "(SELECT count(*) FROM lode.totals), (SELECT string_agg(name, ',') FROM lode.project)", user)[0] for user in ("ann", "eve")}
        program.check(counts["eve"] == "0|0|0|0|other" and not counts["ann"].startswith("0|0"), "who is not in a project sees nothing of it", [counts])
        refused = {user: [number for number, errors in enumerate(r.server.errors([f"SELECT {call}" for call in ACTIONS], r.database, user))
                          if "permission denied for function" in errors] for user in ("ann", "wim", "ada")}
        program.equal(refused, {"ann": [0, 1, 2, 3, 4, 5], "wim": [2, 3, 4, 5], "ada": [4, 5]}, "functions that each role may not call")


def projects_are_chosen(program):
    with ServerRuns(program) as r:
        program.equal(r.add()["run"], 1, "the only project needs no name")
        program.equal(r.runs("grant", "admin", "admin", "--project", "other").status, 0, "another project")
        for words in (["add", "demo/solver"], ["list"]):
            program.says(r.runs(*words), 2, ".*: which project\\? --project default, other", f"which one: {words[0]}")
        program.says(r.runs("list", "--project", "none"), 2, ".*: there is no project 'none' that you may see", "a project that is not there")
        program.says(r.runs("add", "demo/solver", "--project", "none"), 2, ".*: there is no project 'none' that you may add to", "and to add to it")
        program.equal(r.add("demo/thumbs", "--project", "other")["run"], 2, "--project")
        program.equal([cli.parse_json(r.runs("list", "--json", env={"LODE_PROJECT": name}).out)["row_count"] for name in ("default", "other")], [1, 1], "LODE_PROJECT")
        program.says(r.runs("trend", "resize", "--project", "default"), 2, "no function in the catalogue matches 'resize'", "names of another project are not there")


def passwords_stay_secret(program):
    """Refused where others can read them, and never in what is printed."""
    with ServerRuns(program) as r:
        host = f"host={r.server.folder}"
        for address in (f"postgresql://admin:{SECRET}@/x?{host}", f"postgresql://admin@/x?{host}&password={SECRET}", f"service=x password={SECRET}",
                        f"postgresql:///x?sslpassword={SECRET}&{host}"):
            for place in ("--catalogue", "LODE_CATALOGUE"):
                words = ["--catalogue", address] if place == "--catalogue" else []
                result = r.do("runs", "list", *words, env={} if words else {"LODE_CATALOGUE": address})
                program.check(result.status == 2 and "has a password in it" in result.err and SECRET not in result.out + result.err, f"a password in {place}", [result])
        for address in (f"postgresql://admin:{SECRET}@[/x", f"service=x password='{SECRET}", f"postgresql://u:{SECRET}@h:port:9/x"):
            result = r.do("runs", "list", "--catalogue", address)
            program.check(result.status == 2 and SECRET not in result.out + result.err, "nor does an address that cannot be understood show it", [result])
        r.server_sql(f"DO $$ BEGIN CREATE ROLE pat LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; ALTER ROLE pat PASSWORD '{SECRET}'")
        r.runs("grant", "pat", "reader")
        rules = r.server.folder / "data/pg_hba.conf"
        rules.write_text("local all pat scram-sha-256\n" + rules.read_text(encoding="utf-8"), encoding="utf-8")
        r.server_sql("SELECT pg_reload_conf(), pg_sleep(0.2)")
        file = r.folder / "pgpass"
        for password, status in ((SECRET, 0), ("wrong", 2)):
            file.write_text(f"*:*:*:*:{password}\n", encoding="utf-8")
            file.chmod(0o600)
            result = r.do("runs", "list", "--catalogue", r.as_user("pat"), env={"PGPASSFILE": str(file)})
            program.check(result.status == status and password not in result.out + result.err, f"a file of passwords is used: {password[0]}", [result])
        refused = (r.server.folder / "server.log").read_text(encoding="utf-8").count("password authentication failed for user")
        program.check("password authentication failed" in result.err and refused == 1, "a wrong one is not tried again", [result, refused])
        result = r.do("runs", "list", "--catalogue", r.as_user("pat"), env={"PGPASSWORD": SECRET})
        program.check(result.status == 0 and SECRET not in result.out + result.err, "nor does a password of the environment show")
        program.check(SECRET not in (r.server.folder / "server.log").read_text(encoding="utf-8").replace(f"PASSWORD '{SECRET}'", ""), "or in the log of the server")


def dumps_core(words, env):
    """Whether a process that crashes leaves its memory; what it runs waits for a server."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([*map(str, words)], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit)
        time.sleep(0.5)
        process.send_signal(signal.SIGSEGV)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return os.WIFSIGNALED(status) and os.WCOREDUMP(status)


def a_crash_leaves_no_password(program):
    try:
        is_possible = dumps_core(["sleep", "60"], cli.environment())
    except (OSError, ValueError):
        is_possible = False
    if not is_possible:
        program.skip("a crash leaves no core file", "this system writes none")
        return
    with ServerRuns(program) as r, socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/x?sslmode=disable"
        program.check(not dumps_core([program.lode, "runs", "list", "--catalogue", address], cli.environment(PGPASSWORD=SECRET, **r.environment)), "a crash leaves no core file")


class FakeHost:
    """A host that never encrypts: what clients ask of it first."""

    SSL, PLAIN = 80877103, 196608

    def __enter__(self):
        self.asked = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.socket.close()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            with client:
                first = client.recv(8, socket.MSG_WAITALL)
                self.asked.append(int.from_bytes(first[4:8], "big"))
                if self.asked[-1] == self.SSL:
                    client.sendall(b"N")
                    client.recv(1)


def hosts_are_verified(program):
    """A host is asked for its certificate unless the user says otherwise."""
    with ServerRuns(program) as r, FakeHost() as host:
        services = r.folder / "services"
        services.write_text(f"[here]\nhost={r.server.folder}\nuser=admin\ndbname={r.database}\n[there]\nhost=127.0.0.1\nport={host.port}\n"
                            f"[plain]\nhost=127.0.0.1\nport={host.port}\nsslmode=disable\n", encoding="utf-8")

        def ask(address, env):
            host.asked.clear()
            result = r.do("runs", "list", "--catalogue", address, env={"PGSERVICEFILE": str(services), "HOME": str(r.folder), "LODE_CATALOGUE_TIMEOUT": "1", **env})
            return result, host.asked[:1]
        program.equal(ask("service=here", {})[0].status, 0, "service=NAME; a socket needs no encryption")
        for address, env in ((f"postgresql://u@127.0.0.1:{host.port}/x", {}), (f"postgresql://u@/x?hostaddr=127.0.0.1&port={host.port}", {}),
                             ("postgresql://u@/x", {"PGHOST": "127.0.0.1", "PGPORT": str(host.port)}), ("service=there", {})):
            result, asked = ask(address, env)
            program.check(result.status == 2 and "SSL" in result.err and asked == [host.SSL], f"a host that does not encrypt is refused: {address[:18]} {list(env)}", [result, asked])
        for address, env in ((f"postgresql://u@127.0.0.1:{host.port}/x?sslmode=disable", {}), ("service=plain", {}), ("service=there", {"PGSSLMODE": "disable"})):
            result, asked = ask(address, env)
            program.check(asked == [host.PLAIN], f"the user says otherwise: {address[-15:]} {list(env)}", [result, asked])
        program.says(ask("service=unknown", {})[0], 2, '.*: definition of service "unknown" not found', "a service that nobody knows")


def a_server_that_does_not_answer(program):
    """libpq waits without end for a server that hangs: the program does not."""
    with ServerRuns(program) as r:
        r.add()
        r.server_sql("CREATE FUNCTION lode.hang() RETURNS boolean LANGUAGE sql AS 'SELECT pg_sleep(100) IS NULL'; "
                     "ALTER TABLE lode.project DISABLE ROW LEVEL SECURITY; ALTER TABLE lode.project RENAME TO p2; "
                     "CREATE VIEW lode.project AS SELECT * FROM lode.p2 WHERE lode.hang()")
        begin = time.monotonic()
        result = r.runs("list", env={"LODE_CATALOGUE_TIMEOUT": "1"})
        program.says(result, 2, re.escape(f"{r.file}: the server does not answer"), "in the middle of a question")
        postmaster = int((r.server.folder / "data/postmaster.pid").read_text(encoding="ascii").split()[0])
        os.kill(postmaster, signal.SIGSTOP)
        try:
            result = r.runs("list", env={"LODE_CATALOGUE_TIMEOUT": "1"})
        finally:
            os.kill(postmaster, signal.SIGCONT)
        program.says(result, 2, re.escape(f"{r.file}: the server does not answer"), "while it connects")
        program.check(time.monotonic() - begin < 60, "it ends")
        result = r.do("runs", "list", "--catalogue", f"postgresql:///x?host={r.folder}", env={"LODE_CATALOGUE_TIMEOUT": "1"})
        program.says(result, 2, ".*: connection to server on socket .* failed: No such file or directory.*", "no server there")


def spooled(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def a_job_does_not_fail_without_the_server(program):
    with ServerRuns(program) as r:
        spool, env = r.folder / "spool", {"LODE_SPOOL": str(r.folder / "spool"), "LODE_CATALOGUE_TIMEOUT": "2"}
        r.server.stop()
        try:
            for store in ("demo/solver", "demo/solver", "demo/thumbs"):
                result = r.runs("add", store, env=env)
                program.check(result.status == 0 and "the run waits in" in result.out and not result.err, f"{store} goes to the spool", [result])
            again = [cli.parse_json(r.runs("add", "demo/shop", "--again", "--json", env=env).out) for _ in range(2)]
            program.equal([(answer["path"], answer["schema"]["name"]) for answer in again], [(str(r.folder / "demo/shop"), "lode-runs-spool")] * 2, "as JSON")
            program.equal((len(spooled(spool)), {path.suffix for path in spooled(spool)}), (4, {".run"}), "a store is there once, unless it is added again")
            program.equal({path.stat().st_mode & 0o077 for path in [spool, *spool.rglob("*")]}, {0}, "for the user alone")
            result = r.runs("flush", env=env)
            program.check(result.status == 2 and "4 runs are left" in result.out, "nothing is lost as long as it is away", [result])
            result = r.runs("add", "demo/solver", env={**env, "LODE_SPOOL": ""})
            program.check(result.status == 2 and "failed" in result.err, "without a spool it fails", [result])
        finally:
            r.server.start()
        kept = {path.name: path.read_bytes() for path in spooled(spool)}
        (r.folder / "demo/solver").rename(r.folder / "another")
        program.equal(r.runs("add", "another", env=env).status, 0, "the next add succeeds")
        program.equal((spooled(spool), r.list()["row_count"]), ([], 5), "and delivers what is in the spool")
        folder = next(path for path in spool.iterdir())
        for name, data in kept.items():
            (folder / name).write_bytes(data)
        (folder / f"{'0' * 32}.run").write_bytes(b"damaged")
        result = r.runs("flush", env=env)
        program.check(result.status == 2 and "4 runs delivered" in result.out and "1 run is left" in result.out and "not a catalogue of runs" in result.err,
                      "what was delivered before is not added twice; a damaged file stays", [result])
        program.equal(r.list()["row_count"], 5, "five runs")
        program.equal(r.do("runs", "flush", "--catalogue", "file").status, 2, "a file has no spool")


def examples_of_the_manual_work(program):
    """The scripts in doc/runs.md, typed: an epilogue of Slurm and a step of CI."""
    text = (cli.ROOT / "doc/runs.md").read_text(encoding="utf-8")
    scripts = ["".join(line[4:] for line in block.splitlines(True)) for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE) if block.startswith("    #!/bin/sh")]
    program.equal(len(scripts), 2, "there are two")
    with ServerRuns(program) as r:
        tools = r.folder / "tools"
        tools.mkdir()
        (tools / "lode").symlink_to(program.lode)
        def sh(script, **env):
            return r.program.run_any("sh", "-c", script, cwd=r.folder, env={**r.environment, "PATH": f"{tools}:{os.environ['PATH']}", "LODE_CATALOGUE": r.file,
                                                                            "LODE_SPOOL": str(r.folder / "spool"), **env})
        (r.folder / "demo/solver").rename(r.folder / "lode-77")
        job = {"SLURM_JOB_ID": "77", "SLURM_SUBMIT_DIR": str(r.folder)}
        program.equal([sh(scripts[0], SLURM_PROCID=task, **job).status for task in ("0", "1")], [0, 0], "the epilogue of a job with two tasks")
        program.equal([row["labels"].get("slurm_job") for row in r.list()["rows"]], ["77"], "adds one run, of this job")
        program.equal((sh(scripts[0], **{**job, "SLURM_JOB_ID": "78"}).status, r.list()["row_count"]), (0, 1), "a job without a database adds none")
        (r.folder / "lode-77").rename(r.folder / "db")
        for day in range(1, 7):
            r.add("db", "--label", "branch=main", "--time", f"2026-03-{day:02}")
        os.utime(r.folder / "db/meta.db", (1e9, 2e9))
        ci = {"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "main", "CI_COMMIT_SHA": "c1"}
        result = sh(scripts[1], **ci)
        program.check(result.status in (0, 1) and "against" in result.out, "the step of CI adds and checks", [result])


def the_dashboard_has_its_numbers(program):
    """Every query of doc/grafana-runs.json, with what Grafana puts in place of its variables, by a reader; against 'lode runs trend'."""
    with ServerRuns(program) as r:
        for day in range(1, 4):
            r.add("demo/solver", "--label", "branch=main", "--time", f"2026-03-{day:02}T12:00Z")
        r.server_sql("DO $$ BEGIN CREATE ROLE grafana LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        r.runs("grant", "grafana", "reader")
        dashboard = json.loads((cli.ROOT / "doc/grafana-runs.json").read_text(encoding="utf-8"))
        wanted = {name: cli.parse_json(r.runs("trend", *words, "--json").out) for name, words in (("total", []), ("function", ["spmv"]))}
        metric = wanted["total"]["metric"]
        chosen = {"project": "default", "title": "heat", "metric": metric, "function": wanted["function"]["function"]}
        moments = {"$__timeFilter(time)": "time BETWEEN '2026-03-02Z' AND '2026-04-01Z'", "$__timeFrom()": "'2026-03-02Z'", "$__timeTo()": "'2026-04-01Z'"}
        def fill(text):
            for name, value in {**moments, **{f"${name}": value for name, value in chosen.items()}}.items():
                text = text.replace(name, value)
            return text
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                program.check(chosen[variable["name"]] in r.server_sql(fill(variable["query"]), "grafana"), f"the variable {variable['name']}")
        panels = [[float(line.split("|")[1]) for line in r.server_sql(fill(panel["targets"][0]["rawSql"]), "grafana")] for panel in dashboard["panels"]]
        program.equal(panels, [[row["exclusive"] for row in wanted[name]["rows"]][1:] for name in ("total", "function")], "both panels have the numbers of 'lode runs trend'")
        totals = r.server_sql("SELECT count(*) FROM lode.costs WHERE time >= '2026-03-03Z'", "grafana")
        program.equal(totals, [str(r.add()["cost_count"])], "the view of costs has those of a run")


def one_run_by_many_is_one_run(program):
    with ServerRuns(program) as r:
        words = [program.lode, "runs", "add", "demo/solver", "--catalogue", r.file]
        processes = [subprocess.Popen(words, cwd=r.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=cli.environment(**r.environment)) for _ in range(8)]
        errors = [process.communicate(timeout=cli.SECONDS)[1] for process in processes]
        program.equal((sorted(process.returncode for process in processes), r.list()["row_count"]), ([0] + [2] * 7, 1), "one adds it, seven find it")
        program.check(all(b"is run 1 of the catalogue already" in error for error in errors if error), "and say so", errors)


def names_are_repaired(program):
    """What a file takes and PostgreSQL does not: bytes that are not UTF-8, long names; equal after a repair, they are one function."""
    with ServerRuns(program) as r:
        file = r.folder / "file.sqlite"
        r.do("runs", "add", "demo/solver", "--catalogue", file)
        long = b"x" * 4096
        connection = runs.sqlite3.connect(file)
        for number, name in enumerate((b"bad\xff\xfe(int)", b"quote\"'\\u0000{}[]\x01", long, "ü".encode() * 2048, b"\xed\xa0\x80")):
            connection.execute("INSERT INTO key(id, name, module, file) VALUES(?, CAST(? AS TEXT), CAST(? AS TEXT), '')", (1000 + number, name, b"\xff"))
            connection.execute("INSERT INTO cost(key, metric, run, exclusive, inclusive) VALUES(?, 1, 1, ?, 9)", (1000 + number, number))
        connection.execute("UPDATE label SET value = CAST(? AS TEXT)", (b"\xffhe\\at\"\x02",))
        connection.commit()
        connection.close()
        program.equal(r.do("runs", "copy", file, r.file).status, 0, "they are taken")
        answers = [cli.parse_json(r.do("runs", "trend", name, "--same", "none", "--catalogue", place, "--json").out)["rows"] for place in (file, r.file) for name in ("bad", "quote", "x" * 4096)]
        program.equal(answers[:3], answers[3:], "trends of them are those of the file")
        lists = [cli.parse_json(r.do("runs", "list", "--catalogue", place, "--json").out)["rows"] for place in (file, r.file)]
        program.equal(lists[0], lists[1], "and so are labels")


def without_the_plugin(program):
    with ServerRuns(program) as r:
        (r.folder / "empty").mkdir()
        result = r.runs("list", env={"LODE_PLUGINS": str(r.folder / "empty")})
        program.says(result, 2, "the plug-in for PostgreSQL is not installed .*: install lode-postgresql .Debian., or libpq-dev and build Lode with -Dpostgresql=enabled", "no plug-in")
        program.equal(r.do("runs", "list", "--catalogue", "none", env={"LODE_PLUGINS": str(r.folder / "empty")}).err, "lode: none: there is no catalogue; 'lode runs add' creates it\n",
                      "files need none")


ON_BOTH = (runs.stores_of_all_kinds_are_added, runs.all_metrics_are_those_of_the_store, runs.a_store_is_added_once, runs.a_run_is_removed_with_what_only_it_has,
           runs.labels_select_runs, runs.environments_give_labels, runs.several_processes_add_at_once, runs.hostile_names_do_no_harm)
OWN = (eight_make_the_tables_at_once, roles_do_what_they_may, projects_are_chosen, passwords_stay_secret, a_crash_leaves_no_password, hosts_are_verified, a_server_that_does_not_answer,
       a_job_does_not_fail_without_the_server, examples_of_the_manual_work, the_dashboard_has_its_numbers, one_run_by_many_is_one_run, names_are_repaired, without_the_plugin)


def main():
    try:
        with postgresql.Server() as server:
            ServerRuns.server, ServerRuns.template = server, server.database()
            lode = sys.argv[sys.argv.index("--lode") + 1]
            subprocess.run([lode, "runs", "init", "--catalogue", server.address(ServerRuns.template)], check=True, stdout=subprocess.DEVNULL)
            return cli.main(__doc__, *map(on_a_server, ON_BOTH), *OWN, operands="without")
    except postgresql.Missing as reason:
        print(f"1..0 # SKIP {reason}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
