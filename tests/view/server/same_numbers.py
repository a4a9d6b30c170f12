#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The server of `lode view` answers what the commands print, byte for byte: same_numbers.py --lode PROGRAM. On the stores of
`lode example` and on those of the corpus (--part 1/16: a part of them); from cold and from cached results, and
by several clients at once. Also what a page relies on: entity tags, stores that are replaced, cancelled requests, schemas.
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

from serving import ROOT, SECONDS, Server, Tap, corpus, has_plugin, make_example

DATABASE = [("info", {}), ("info", {"verbose": ""}), ("check", {}), ("top", {}), ("top", {"limit": "0", "by": "line"}), ("top", {"by": "loop"}), ("top", {"by": "module", "sort": "name"}),
            ("top", {"metric": "$0", "limit": "3"}), ("top", {"metric": ["$0", "$0*2"]}), ("top", {"from": "0", "to": "1s"}), ("top", {"profiles": "rank=0"}), ("tree", {}), ("tree", {"bottom-up": "", "limit": "9"}),
            ("tree", {"depth": "2", "min-percent": "0"}), ("tree", {"lines": "1"}), ("tree", {"callers": "main"}), ("profiles", {}), ("profiles", {"limit": "2", "sort": "name"}), ("profiles", {"bins": "8"}),
            ("context", {"context": "0"}), ("context", {"context": "main", "all": ""}), ("source", {}), ("source", {"location": "main", "around": "2"}), ("trace", {}),
            ("trace", {"columns": "200", "rows": "9"}), ("search", {"text": "main"}), ("top", {"sort": "inclusive"}), ("top", {"sort": "name"}), ("top", {"by": "line", "sort": "name", "limit": "0"}), ("top", {"include": "*a*", "sort": "name"}),
            ("flame", {}), ("trace", {"merge": "", "probes": "", "rows": "3", "columns": "40"}), ("diagnose", {})]
RECORDING = [("info", {}), ("check", {}), ("top", {}), ("top", {"limit": "3", "sort": "calls"}), ("top", {"callers": "main"}), ("top", {"from": "1us", "to": "10ms"}), ("tree", {}), ("tree", {"bottom-up": ""}),
             ("tree", {"depth": "2"}), ("profiles", {}), ("source", {}), ("trace", {}), ("trace", {"rows": "3", "columns": "50"}), ("replay", {"limit": "20"}), ("search", {}), ("search", {"limit": "2", "by": "component"}),
             ("search", {"text": "a"}), ("top", {"sort": "name", "limit": "0"}), ("top", {"include": "*a*"}), ("top", {"exclude": "*a*", "sort": "max"}), ("top", {"by": "kind"}),
             ("top", {"by": "symbol", "sort": "p99"}), ("top", {"include": "*", "names": "full"}), ("flame", {}), ("trace", {"merge": "", "probes": "", "rows": "3", "columns": "40"}), ("info", {"limit": "1"}), ("diagnose", {})]
# Estimates, also of other rows than the ones that were estimated before, and then exact numbers.
LARGE = [("top", {"estimate": ""}), ("top", {"estimate": "", "include": "*Service1*"}), ("top", {"estimate": "", "sort": "p99"}),
         ("top", {"estimate": "", "include": "*Service*", "exclude": "module:*Service1*"}), ("top", {"estimate": "", "by": "kind"}),
         ("top", {"estimate": "", "callers": "load1"}), ("tree", {"estimate": "", "depth": "2"}), ("tree", {"depth": "2"}), ("top", {})]
OPERANDS = {"context": "context", "source": "location", "search": "text"}


def command_line(lode, name, stores, parameters):
    """The words of a request."""
    operands, options = [], []
    for key, values in parameters.items():
        for value in values if isinstance(values, list) else [values]:
            if OPERANDS.get(name) == key:
                operands.append(value)
            else:
                options.append(f"--{key}={value}" if value not in ("", "1") or key in ("limit", "depth") else f"--{key}")
    return [lode, name, "--json", *options, "--", *stores, *operands]


def expected(lode, name, stores, parameters, cwd=None):
    done = subprocess.run(command_line(lode, name, stores, parameters), stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS, cwd=cwd)
    return done.stdout if done.returncode in (0, 1) else None, re.sub(r"^lode: | \(see 'lode help.*$", "", done.stderr.decode(errors="replace").split("\n")[0])


def is_same(answer, output, message):
    if output is not None:
        return answer.status == 200 and answer.body == output
    if answer.status != 400:
        return False
    return re.sub(r" \(see 'lode help.*$", "", answer.json()["message"])[:60] == message[:60] or "\\" in message


def compare_store(tap, lode, path, cwd=None, calls=None):
    with Server(lode, path, cwd=cwd) as server:
        store = server.wait_until_open()[0]
        wrong, count, refused = [], 0, 0
        calls = calls or (DATABASE if store["kind"] == "database" else RECORDING)
        if store["state"] == "failed":
            output, message = expected(lode, "top", [path], {}, cwd)
            answer = server.command(("top", 0, {}))
            tap.check(output is None and answer.status == 422, f"{path}: does not open, for both", [answer.body, message])
            return
        for name, parameters in calls:
            output, message = expected(lode, name, [store["path"]], parameters, cwd)
            first, second = (server.command((name, 0, parameters)) for _ in range(2))
            count += 1
            refused += output is None
            for answer in (first, second):
                if not is_same(answer, output, message):
                    wrong.append(f"{name} {parameters}: {answer.status} {answer.body[:200]} instead of {(output or message)[:200]}")
        status = server.stop()
        tap.check(not wrong and status == 0 and refused < count, f"{path}: {count} requests answer what the commands print ({refused} refused by both)", wrong[:5] + [server.error_text()])


def make_damaged(lode, path):
    """A recording where the end of a call has no begin: what reading repairs and what a check finds must not add up."""
    subprocess.run([lode, "synth", "recording", "--records", "4000", "--tasks", "2", "-o", path], check=True, stdout=subprocess.DEVNULL)
    data = path / "1000.dat"
    records = data.read_bytes()
    data.write_bytes(records[:16 * 100] + records[16 * 101:])
    return path


def is_mine(name, part):
    """The stores of part K/N, whose name says so."""
    number, count = map(int, part.split("/"))
    return zlib.crc32(name.encode()) % count == number - 1


def stores_of_corpus(part):
    folder = corpus()
    if not folder:
        return []
    found = [path.parent for name in ("meta.db", "info", "traces.dat") for path in sorted(folder.rglob(name))]
    found += sorted([*folder.glob("pprof/**/*.pb.gz"), *folder.glob("folded/**/*.folded")])
    return [path for path in found if is_mine(str(path.relative_to(folder)), part)]


def several_at_once(tap, lode, stores):
    """Threads that ask different things of all stores get what the commands print."""
    with Server(lode, *stores) as server:
        kinds = [store["kind"] for store in server.wait_until_open()]
        wrong = []

        def ask(number):
            for turn in range(2):
                for k, kind in enumerate(kinds):
                    for name, parameters in (DATABASE if kind == "database" else RECORDING)[number + turn::4]:
                        output, message = expected(lode, name, [stores[k]], parameters)
                        answer = server.command((name, k, parameters))
                        if not is_same(answer, output, message):
                            wrong.append((name, parameters, answer.status, answer.body[:200]))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.check(not wrong and server.stop() == 0, "four clients at once get what the commands print", wrong[:5])


def two_stores(tap, lode, stores):
    with Server(lode, stores[1], stores[1], stores[2]) as server:
        server.wait_until_open()
        for parameters in ({}, {"tree": ""}, {"by": "rank"}, {"inclusive": "", "limit": "3"}):
            output, message = expected(lode, "compare", [stores[1], stores[1]], parameters)
            answer = server.command(("compare", [0, 1], parameters))
            tap.check(is_same(answer, output, message), f"compare {parameters} of two stores", [answer.body[:200], message])


def entity_tags(tap, lode, stores, folder):
    copy = folder / "copy"
    shutil.copytree(stores[1], copy)
    with Server(lode, copy, stores[2]) as server:
        server.wait_until_open()
        first = server.command(("top", 0, {}))
        tag = first.headers["etag"]
        again = server.command(("top", 0, {}), headers={"If-None-Match": tag})
        tap.check(again.status == 304 and again.body == b"" and again.headers["etag"] == tag, "the same request: 304", [again.status])
        tap.check("no-cache" in first.headers["cache-control"] and "private" in first.headers["cache-control"], "browsers ask again")
        other = server.command(("top", 0, {"limit": "1"}), headers={"If-None-Match": tag})
        tap.check(other.status == 200 and other.headers["etag"] != tag, "another request: another tag")
        page = server.ask("/", token=False)
        tap.check(server.ask("/", token=False, headers={"If-None-Match": page.headers["etag"]}).status == 304, "the page has a tag")
        before = server.session()["stores"][0]
        os.utime(copy / "profile.db", ns=(1, 1))
        changed = server.command(("top", 0, {}), headers={"If-None-Match": tag})
        for _ in range(100):
            if changed.status == 410:
                break
            time.sleep(0.05)
            changed = server.command(("top", 0, {}), headers={"If-None-Match": tag})
        tap.check(changed.status == 410, "a store that was changed is gone", [changed.status])
        tap.check(server.session()["stores"][0]["is_replaced"] and not before["is_replaced"], "the session says so")
        tap.check(server.command(("top", 1, {})).status == 200, "the other store is not concerned")
    with Server(lode, copy) as server:
        server.wait_until_open()
        with open(copy / "profile.db", "r+b") as file:
            file.truncate(100)
        answers = [server.command(("profiles", 0, {"limit": str(limit)})).status for limit in range(1, 4)]
        tap.check(set(answers) <= {410}, "a store that is cut off is gone, and the server lives", [answers])
        tap.check(server.stop() == 0, "it ends cleanly")


def rules_of_the_server(tap, lode, stores, folder):
    """`lode view --kinds FILE`: answers are those of the commands with the same rules, and other rules have other tags."""
    rules = folder / "rules.txt"
    tags, bodies = [], []
    for text in ("gpu * axpy*\ngpu * *decode*\n", "mpi * axpy*\n"):
        rules.write_text(text)
        with Server(lode, stores[0], stores[1], "--kinds", rules) as server:
            server.wait_until_open()
            tap.check(server.session()["kinds"] == str(rules), "the session names the rules", [server.session()])
            wrong = []
            for name, parameters in (("top", {}), ("top", {"by": "kind"}), ("flame", {}), ("trace", {}), ("diagnose", {})):
                for number in (0, 1):
                    output, message = expected(lode, name, [stores[number]], {**parameters, "kinds": str(rules)})
                    answer = server.command((name, number, parameters))
                    if not is_same(answer, output, message):
                        wrong.append((name, parameters, number, answer.body[:200]))
            tap.check(not wrong, "answers follow the rules that the server was given", wrong[:3])
            answer = server.command(("flame", 1, {}))
            tags.append(answer.headers["etag"])
            bodies.append(answer.body)
            refused = server.command(("top", 0, {"kinds": str(rules)}))
            tap.check(refused.status == 400, "a request names no file", [refused.status])
    tap.check(tags[0] != tags[1] and bodies[0] != bodies[1], "other rules: another tag", tags)


def processor_time(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def begin(server, path):
    """A connection on which a request was sent."""
    link = socket.create_connection(("127.0.0.1", server.port))
    link.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
    return link


def cancelled(tap, lode, folder):
    """A client that goes away ends its work: the workers are free for the next one."""
    big = folder / "big"
    subprocess.run([lode, "synth", "recording", "--records", "6000000", "-o", big], check=True, capture_output=True, timeout=600)
    # Windows differ, so that no request finds the costs of another one.
    paths = [f"/api/1/tree/0?to={1000 + number}s" for number in range(9)]
    with Server(lode, big) as server:
        server.wait_until_open()
        opened = processor_time(server)
        for path in paths[:8]:
            link = begin(server, path)
            time.sleep(0.02)
            link.close()
        answer = server.command(("info", 0, {}))
        given_up = processor_time(server) - opened
        full = server.ask(paths[8])
        alone = processor_time(server) - opened - given_up
        tap.check(answer.status == 200 and full.status == 200, "the next requests are answered")
        tap.check(given_up < 6 * alone, f"eight requests that were given up took {given_up:.2f} s of processor time, one takes {alone:.2f}")
        link = begin(server, "/api/1/tree/0?depth=99")
        time.sleep(0.05)
        tap.check(server.stop() == 0 and server.error_text() == "", "stopping ends work that is under way", [server.error_text()])
        link.close()


def states(tap, lode, stores, folder):
    broken = folder / "broken"
    shutil.copytree(stores[1], broken)
    (broken / "meta.db").write_bytes((broken / "meta.db").read_bytes()[:100])
    with Server(lode, broken, stores[1], stores[2], stores[0]) as server:
        found = server.wait_until_open()
        tap.check([store["state"] for store in found] == ["failed", "ready", "ready", "ready"] and found[0]["problem"], "a store that does not open is named, the others are served", [found])
        answer = server.command(("top", 0, {}))
        tap.check(answer.status == 422 and answer.json()["message"] == found[0]["problem"], "asking for it says why", [answer.body])
        try:
            import jsonschema  # noqa: PLC0415
        except ImportError:
            tap.skip("the session follows its schema", "there is no python3-jsonschema")
            return
        for body in (server.session(), answer.json()):
            schema = json.loads((ROOT / "doc" / "schemas" / f"{body['schema']['name']}.json").read_text())
            for part in (schema, schema["properties"].get("stores", {}).get("items", {})):
                part["additionalProperties"] = False
            problems = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(body)]
            tap.check(not problems, f"{body['schema']['name']} follows its schema", problems)
        seen = {key for store in found for key in store}
        described = set(json.loads((ROOT / "doc" / "schemas" / "lode-view-session.json").read_text())["properties"]["stores"]["items"]["properties"])
        tap.check(described - seen <= {"opened_percent"}, "every described field is in some session", [described - seen])


def memory(tap, lode, stores):
    """Results that are cached are bounded by --memory: many different selections do not add up."""
    # The address sanitizer keeps what was freed for a while.
    kept = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=1:thread_local_quarantine_size_kb=64")))
    with Server(lode, stores[1], "--memory", "1M", env={"ASAN_OPTIONS": kept}) as server:
        server.wait_until_open()

        def resident():
            return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text()).group(1))

        for number in range(50):
            server.command(("top", 0, {"from": "0", "to": f"{number + 1}ms"}))
        before = resident()
        for number in range(1500):
            server.command(("top", 0, {"from": "0", "to": f"{number + 51}ms", "limit": "1"}))
        tap.check(resident() - before < 20000, f"1,500 different results later it has {resident() - before} KiB more")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--part", default="1/1")
    asked = parser.parse_args()
    lode, tap = asked.lode, Tap()
    if has_plugin(lode):
        print(f"1..0 # SKIP {has_plugin(lode)}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        stores = make_example(lode, folder / "demo")
        for store in [*stores, make_damaged(lode, folder / "damaged")]:
            compare_store(tap, lode, store)
        subprocess.run([lode, "synth", "recording", "--format", "zorka", "--records", "1500000", "--calls-per-request", "3", "-o", folder / "large"], check=True, stdout=subprocess.DEVNULL)
        compare_store(tap, lode, folder / "large", calls=LARGE)
        several_at_once(tap, lode, stores)
        two_stores(tap, lode, stores)
        rules_of_the_server(tap, lode, stores, folder)
        entity_tags(tap, lode, stores, folder)
        states(tap, lode, stores, folder)
        memory(tap, lode, stores)
        cancelled(tap, lode, folder)
    if not corpus():
        tap.skip("stores of the corpus", "there is no corpus")
    for store in stores_of_corpus(asked.part):
        compare_store(tap, lode, store)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
