#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rules of `lode diagnose` on stores of requests: where a rule has to speak, where it must not, just below its limit, and behind each guard. The library's
writer writes the stores; all figures are compared with a reference (requests_reference.py) that reads their bytes. Commands are run, and output is the
same for any number of threads.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import requests_reference as reference  # noqa: E402
from requests_made import Lines  # noqa: E402
from tap import Tap  # noqa: E402

METHODS = [("app.Web", "get"), ("app.Web", "put"), ("app.Store", "load"), ("app.View", "render"), ("app.Dao", "find"), ("jdbc.Statement", "execute"),
           ("jdbc.Proxy", "execute"), ("app.Remote", "call"), ("app.Item", "price")]
GET, PUT, LOAD, RENDER, FIND, EXECUTE, PROXY, REMOTE, PRICE = range(9)
SQL = "db.statement"


def service(change=None, count=600, every=20000, methods=METHODS, entry=lambda i: GET, own=500, load=6000, render=3000, **attributes):
    """Requests that take about 10 ms, one after the other; `change(lines, i, random)` adds calls before the last."""
    lines, random = Lines(methods), Random(7)
    for i in range(count):
        lines.request(i * every)
        lines.enter(entry(i), **{key: value(i) if callable(value) else value for key, value in attributes.items()})
        lines.spend(own * random.uniform(0.9, 1.1))
        lines.call(LOAD, load * random.uniform(0.8, 1.2))
        if change:
            change(lines, i, random)
        lines.call(RENDER, render * random.uniform(0.8, 1.2))
        lines.leave()
    return lines


def every(step, first=0):
    return lambda i: i % step == first


def calls(which, method, microseconds, times=1):
    def change(lines, i, random):
        for _ in range(times if which(i) else 0):
            lines.call(method, microseconds * random.uniform(0.95, 1.05))
    return change


def statements(which, text, times, microseconds=1000, method=EXECUTE, caller=None, failed=False):
    """`text(i, k)`: the k-th statement of request i."""
    def change(lines, i, random):
        for k in range(times if which(i) else 0):
            if caller is not None:
                lines.enter(caller)
            lines.call(method, microseconds, failed, **{SQL: text(i, k)})
            if caller is not None:
                lines.leave()
    return change


def by_id(i, k):
    return f"SELECT name FROM users WHERE id = {1000 * i + k} AND kind = 'a{k}'"


def wrapped(lines, i, random):
    for k in range(8):
        lines.enter(PROXY, **{SQL: by_id(i, k)})
        lines.call(EXECUTE, 1000, **{SQL: by_id(i, k)})
        lines.leave()


def tries(which, outcome, microseconds=2000, pause=1000, text=None):
    """`outcome`: F for a call that fails, S for one that succeeds."""
    def change(lines, i, random):
        for k, c in enumerate(outcome if which(i) else ""):
            lines.call(REMOTE, microseconds, c == "F", **({SQL: text} if text else {}))
            lines.spend(pause if k + 1 < len(outcome) else 0)
    return change


def two_callers(change):
    """Two methods of a request make the same calls."""
    def change_both(lines, i, random):
        for caller in (FIND, PUT):
            lines.enter(caller)
            change(lines, i, random)
            lines.leave()
    return change_both


def recursion(methods, depth, times=5):
    """A tree of calls: methods call each other in turn, the first one several times."""
    def descend(lines, level):
        lines.enter(methods[level % len(methods)])
        for _ in range(times if level % len(methods) == 0 and level < depth else int(level < depth)):
            descend(lines, level + 1)
        if level == depth:
            lines.spend(100)
        lines.leave()
    return lambda lines, i, random: descend(lines, 0)


def nested_tries(lines, i, random):
    """A call that fails is made again, and so is one inside it."""
    for outer in "FFS":
        lines.enter(REMOTE)
        tries(every(1), "FFS")(lines, i, random)
        if outer == "F":
            lines.fail()
        lines.leave()


def failing(which, **more):
    """Requests whose outermost call fails."""
    lines = service(**more)
    found, number, depth = [], -1, 0
    for line in lines.lines:
        number += line.startswith("R")
        depth += line.startswith("(") - line.startswith(")")
        if line.startswith(")") and depth == 0 and which(number):
            found.append("X")
        found.append(line)
    lines.lines = found
    return lines


def crowd():
    """Many requests in one period, of which as many fail as always."""
    lines, random, begin = Lines(METHODS), Random(3), 0
    for i in range(1200):
        begin += 200 if 500 <= i < 800 else 20000
        lines.request(begin)
        lines.enter(GET)
        lines.call(LOAD, 8000 * random.uniform(0.9, 1.1))
        if i % 20 == 0:
            lines.fail()
        lines.leave()
    return lines


def queue(need=9000, every=10000, count=600, waits=True, sigma=0.5):
    """One server. Without waiting, durations have nothing to do with arrivals."""
    lines, random, now, free = Lines(METHODS), Random(5), 0.0, 0.0
    for _ in range(count):
        now += random.expovariate(1 / every)
        work = need * random.lognormvariate(-sigma * sigma / 2, sigma)
        start = max(now, free) if waits else now
        free = start + work
        lines.request(now)
        lines.enter(GET)
        lines.spend(start - now)
        lines.call(LOAD, work)
        lines.leave()
    return lines


def batches(size, count=600, change=None):
    """So many requests come within a short time, and one after the other is served."""
    lines, random = Lines(METHODS), Random(6)
    for i in range(count):
        place = i % size
        lines.request(1_000_000 * (i // size) + 2_000 * place)
        lines.enter(GET)
        lines.call(LOAD, 10_000 * (place + 1) * random.uniform(0.95, 1.05))
        if change:
            change(lines, i, random)
        lines.leave()
    return lines


def rush():
    """Batches of three, and some of fourteen, in which requests wait longer."""
    lines, random = Lines(METHODS), Random(6)
    for batch in range(168):
        is_rush = batch % 21 == 20
        for place in range(14 if is_rush else 3):
            lines.request(1_000_000 * batch + 2_000 * place)
            lines.enter(GET)
            lines.call(LOAD, (40_000 if is_rush else 10_000) * (place + 1) * random.uniform(0.95, 1.05))
            lines.leave()
    return lines


def load_steps():
    """Requests one after the other, then a steady load: more than half of the requests meet as many others, and none meets more."""
    lines, random, now = Lines(METHODS), Random(1), 0
    for i in range(220):
        lines.request(now)
        lines.enter(GET)
        lines.call(LOAD, 8_000 * random.uniform(0.9, 1.1) if i < 90 else 84_000 + random.uniform(0, 900))
        lines.leave()
        now += 20_000 if i < 90 else 10_000
    return lines


def at_once(which, failed=True):
    """Some requests begin in the same millisecond as others."""
    lines, random = Lines(METHODS), Random(1)
    for i in range(600):
        lines.request(20_000 * (300 if which(i) else i))
        lines.enter(GET)
        lines.call(LOAD, 8000 * random.uniform(0.9, 1.1))
        if which(i) and failed:
            lines.fail()
        lines.leave()
    return lines


def instants():
    """Batches in which some requests begin together with one that has no duration."""
    lines, random = Lines(METHODS), Random(6)
    for i in range(600):
        for has_duration in (True, False) if i % 8 == 5 else (True,):
            lines.request(1_000_000 * (i // 8) + 2_000 * (i % 8))
            lines.enter(GET)
            if has_duration:
                lines.call(LOAD, 10_000 * (i % 8 + 1) * random.uniform(0.95, 1.05))
            lines.leave()
    return lines


def slow_by(value, others, factor=10):
    """Requests of one value are slow; of others, those that `others` names."""
    def change(lines, i, random):
        if value(i) or others(i):
            lines.call(LOAD, 6000 * factor)
    return change


def renamed(lines, i, random):
    for k in range(6):
        lines.call(EXECUTE, 1500, **{SQL: f"SELECT c FROM table_{'abcdef'[k]} WHERE id = {i}"})


def hidden(lines, i, random):
    lines.counted(30)


def never(i):
    return False


FEW = lambda i: i % 30 == 0  # noqa: E731
# Name, store, ids that have to be said, notes that have to be said; all others must not.
CASES = [
    ("requests that are alike", service, set(), set()),
    ("29 requests", lambda: service(calls(every(2), LOAD, 90000), count=29), set(), {"few-requests"}),
    ("30 requests", lambda: service(statements(every(1), by_id, 10), count=30), {"n-plus-one"}, set()),
    ("slow calls of a method", lambda: service(calls(FEW, LOAD, 90000)), {"slow-method"}, set()),
    ("slow calls of a method that others do not call", lambda: service(calls(FEW, PRICE, 90000)), {"slow-method"}, set()),
    ("slow requests below the limit", lambda: service(calls(every(100), LOAD, 35000)), set(), set()),
    ("4 slow requests", lambda: service(calls(every(150), LOAD, 400000)), set(), set()),
    ("slow requests without a common method", lambda: service(lambda l, i, r: [l.call(m, 40000) for m in (LOAD, RENDER, FIND)] if FEW(i) else None),
     set(), set()),
    ("slow requests of entry points with 20 requests", lambda: service(calls(every(20), LOAD, 300000), count=100, entry=lambda i: i // 20), set(), set()),
    ("a method that is called more often in slow requests", lambda: service(lambda l, i, r: [l.call(PRICE, 1500) or l.call(m, 100) for m in
     [FIND, REMOTE] * (30 if FEW(i) else 1)]), {"slow-method"}, set()),
    ("waiting in the outermost method of slow requests", lambda: service(lambda l, i, r: l.spend(90000) if FEW(i) else None), {"slow-method"}, set()),
    ("one statement for each row", lambda: service(statements(every(2), by_id, 10)), {"n-plus-one"}, set()),
    ("one statement for each row, each with its own caller", lambda: service(statements(every(2), by_id, 10, caller=FIND)), {"n-plus-one"}, set()),
    ("4 statements", lambda: service(statements(every(1), by_id, 4, 3000)), set(), set()),
    ("5 statements", lambda: service(statements(every(1), by_id, 5, 3000)), {"n-plus-one"}, set()),
    ("repeated statements below 3 %", lambda: service(statements(every(40), by_id, 10)), set(), set()),
    ("repeated statements that are no tenth of a request", lambda: service(statements(every(1), by_id, 9, 66)), set(), set()),
    ("statements that differ in names", lambda: service(renamed), set(), set()),
    ("repeated statements that fail", lambda: service(statements(every(1), by_id, 8, failed=True), load=30000), {"retries"}, set()),
    ("a statement and its wrapper", lambda: service(wrapped), {"n-plus-one"}, set()),
    ("parameters that are not recorded", lambda: service(statements(every(1), lambda i, k: "SELECT a FROM b WHERE id = ?", 8)), {"n-plus-one"}, set()),
    ("the same statement with the same values", lambda: service(statements(every(1), lambda i, k: f"SELECT a FROM b WHERE id = {i}", 8)),
     {"identical-calls"}, set()),
    ("URLs with ids", lambda: service(lambda l, i, r: [l.call(REMOTE, 1500, **{"http.url": f"http://a/item/{i * 9 + k}/price"}) for k in range(6)]),
     {"n-plus-one"}, set()),
    ("a method that is repeated", lambda: service(calls(every(1), PRICE, 1000, 12)), {"n-plus-one"}, set()),
    ("a repeated method below 10 %", lambda: service(calls(every(6), PRICE, 1000, 8)), set(), set()),
    ("a method that two others repeat", lambda: service(two_callers(calls(every(1), PRICE, 1000, 5))), {"n-plus-one"}, set()),
    ("a method that two others repeat, in some requests both", lambda: service(lambda l, i, r: (two_callers(calls(every(1), PRICE, 1000, 6)) if i % 3
     else calls(every(1), PRICE, 3000, 6))(l, i, r)), {"n-plus-one"}, set()),
    ("a method that calls itself", lambda: service(recursion([PRICE], 3), count=60), set(), set()),
    ("two methods that call each other", lambda: service(recursion([PRICE, FIND], 6), count=60), {"n-plus-one"}, set()),
    ("a method that is repeated, and calls itself inside", lambda: service(lambda l, i, r: [recursion([PRICE], 2)(l, i, r) for _ in range(6)], count=60),
     {"n-plus-one"}, set()),
    ("retries by two methods", lambda: service(two_callers(tries(every(1), "FFS"))), {"retries"}, set()),
    ("retries inside retries", lambda: service(nested_tries, own=10, load=100, render=100), {"retries"}, set()),
    ("retries", lambda: service(tries(every(3), "FFS")), {"retries"}, set()),
    ("retries that never succeed", lambda: service(tries(every(3), "FFF")), {"retries"}, set()),
    ("retries of a statement", lambda: service(tries(every(3), "FFFFFFS", text="SELECT 1")), {"retries"}, set()),
    ("retries below 3 %", lambda: service(tries(every(40), "FFS")), set(), set()),
    ("retries in 4 requests", lambda: service(tries(lambda i: i < 4, "FFS", 300000)), set(), set()),
    ("a loop over items of which some fail", lambda: service(tries(every(3), "SFSF", 2000)), set(), set()),
    ("a call that fails once", lambda: service(tries(every(1), "F", 3000)), set(), set()),
    ("a burst of errors", lambda: failing(lambda i: 300 <= i < 306 or i % 100 == 0), {"error-burst"}, set()),
    ("a burst of errors in a millisecond", lambda: at_once(lambda i: 300 <= i < 310), {"error-burst"}, set()),
    ("errors at any time", lambda: failing(lambda i: i % 37 == 5), set(), set()),
    ("4 errors at a time", lambda: failing(lambda i: 300 <= i < 304), set(), set()),
    ("errors of a crowd", crowd, set(), set()),
    ("8 % errors", lambda: failing(lambda i: i % 12 == 5), {"error-rate"}, set()),
    ("5.5 % errors", lambda: failing(lambda i: i % 18 == 5), set(), set()),
    ("a burst, and 8 % errors", lambda: failing(lambda i: i % 12 == 5 or 300 <= i < 320, count=1200), {"error-burst", "error-rate"}, set()),
    ("errors of inner calls", lambda: service(tries(lambda i: 300 <= i < 330, "F")), set(), set()),
    ("time in outermost methods", lambda: service(own=12000), {"gap"}, set()),
    ("time in three outermost methods", lambda: service(own=14000, entry=lambda i: (GET, PUT, FIND)[i % 3]), {"gap"}, set()),
    ("half of the time in outermost methods", lambda: service(own=9000), set(), set()),
    ("a slow tenant", lambda: service(slow_by(every(20), never), tenant=lambda i: f"t{i % 20}", user=lambda i: f"u{i}", kind="web"), {"attribute"}, set()),
    ("a slow tenant of a region with others", lambda: service(slow_by(every(10), never), tenant=lambda i: "z" if i % 10 == 0 else f"t{i % 7}",
     region=lambda i: "asia" if i % 10 in (0, 3, 6) else "eu"), {"attribute"}, set()),
    ("a slow region of which some requests have a tenant", lambda: service(slow_by(every(10), never), tenant=lambda i: "a" if i % 20 == 0 else f"t{i % 7}",
     region=lambda i: "asia" if i % 10 in (0, 3) else "eu"), {"attribute"}, set()),
    ("slow requests of all tenants", lambda: service(slow_by(lambda i: i * i % 31 == 1, never), tenant=lambda i: f"t{i % 3}"), {"slow-method"}, set()),
    ("an id of slow requests", lambda: service(slow_by(FEW, never), user=lambda i: f"u{i}"), {"slow-method"}, set()),
    ("a value of slow requests and 95 % of all", lambda: service(slow_by(FEW, never), zone=lambda i: "b" if i % 20 == 1 else "a"), {"slow-method"}, set()),
    ("a value with a lift below 2", lambda: service(slow_by(FEW, never), zone=lambda i: "a" if i % 30 == 0 or i % 5 < 3 else "b"), {"slow-method"}, set()),
    ("a value of fewer than half of the slow", lambda: service(slow_by(lambda i: i % 60 == 0, lambda i: i % 45 == 7), tenant=lambda i: f"t{i % 60}"),
     {"slow-method"}, set()),
    ("a value that one of many tests meets by chance", lambda: service(slow_by(every(50), never, 40), zone=lambda i: "b" if i % 50 == 0 and i < 400 or i % 4 == 1 else "a",
     host=lambda i: f"h{(i * 2654435761 >> 7) % 30}", shard=lambda i: f"s{(i * 40503 >> 5) % 25}"), {"slow-method"}, set()),
    ("the same value in few tests", lambda: service(slow_by(every(50), never, 40), zone=lambda i: "b" if i % 50 == 0 and i < 400 or i % 4 == 1 else "a"),
     {"attribute"}, set()),
    ("a slow tenant below 3 %", lambda: service(slow_by(every(100), never, factor=4), tenant=lambda i: f"t{i % 100}"), set(), set()),
    ("an attribute that is the entry point", lambda: service(slow_by(every(40), never), entry=lambda i: GET if i % 4 == 0 else PUT,
     url=lambda i: "/get" if i % 4 == 0 else "/put"), {"slow-method"}, set()),
    ("requests that wait for each other", queue, {"queueing"}, set()),
    ("requests that do not wait", lambda: queue(waits=False, need=60000), set(), set()),
    ("long requests that are in flight for long", lambda: queue(waits=False, need=60000, sigma=1.2), None, set()),
    ("waiting with few in flight", lambda: queue(need=3000), set(), set()),
    ("waiting for two others at most", lambda: batches(3), set(), set()),
    ("waiting for seven others at most", lambda: batches(8), {"queueing"}, set()),
    ("waiting, and a method that is slow whoever waits", lambda: batches(8, change=calls(every(20, 7), RENDER, 700_000)), {"queueing", "slow-method"}, set()),
    ("waiting that makes requests slow", rush, {"queueing"}, set()),
    ("a steady load that nothing exceeds", load_steps, {"queueing"}, set()),
    ("requests without a duration that begin with others", instants, {"queueing"}, set()),
    ("waiting of 99 requests", lambda: queue(count=99), None, set()),
    ("requests of a millisecond", lambda: queue(need=900, every=1000, waits=False, sigma=0.1), set(), {"clock"}),
    ("calls that are not recorded", lambda: service(hidden), set(), {"short-calls"}),
    ("65 kinds of attributes", lambda: many_keys(), {"slow-method"}, {"many-keys"}),
    ("64 attributes of a request, the slow value last", lambda: service(slow_by(every(20), never), count=120, **innocent(63), tenant=lambda i: f"t{i % 20}"),
     {"attribute"}, set()),
    ("65 attributes of a request", lambda: service(slow_by(every(20), never), count=120, **innocent(64), tenant=lambda i: f"t{i % 20}"), {"slow-method"},
     {"many-keys"}),
]
# What a text has to contain.
TEXTS = {"slow calls of a method that others do not call": "it is called once, and never in other requests."}
# Rules that must not speak where the rest is open.
NOT = {"long requests that are in flight for long": "queueing", "waiting of 99 requests": "queueing"}


def innocent(count):
    """Attributes that have nothing to do with durations."""
    return {f"k{j:02d}": lambda i, j=j: f"v{Random(100 * i + j).randrange(5)}" for j in range(count)}


def many_keys():
    def change(lines, i, random):
        if i % 20 == 0:
            lines.call(LOAD, 60000)
    lines = service(change)
    found, number = [], -1
    for line in lines.lines:
        number += line.startswith("R")
        found.append(line)
        if line.startswith("(") and line.split("\t")[1] == "0":
            found.append(f"A\tk{number % 65}\tv{number % 20}")
    lines.lines = found
    return lines


def ask(lode, path, *options):
    done = subprocess.run([lode, "diagnose", "--json", *options, str(path)], capture_output=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.decode()}


def close(a, b, relative=1e-6):
    return abs(a - b) <= relative * max(abs(a), abs(b)) + 1e-9


def number(value):
    return f"{value:.3g}"


def repeated(said):
    """What is said of a call that requests repeat."""
    return {"function": said[0][0], "counts": said[2]} if said else {}


def answers(facts):
    """{id: (share, low, high) in percent, or None; what else it says}."""
    found = {}

    def add(name, said, share=None, **more):
        if said is not None:
            found[name] = (None if share is None else [100 * s for s in share], more)

    said = facts.slow_method()
    slow = {r for requests in facts.slow.values() for r in requests}
    add("slow-method", said, said and said[1], function=said and said[0],
        others=said and any(call.method == said[0] for r in facts.requests if r not in slow for call, _ in r.call.all()))
    said = facts.repeats("statement") or facts.repeats("method")
    add("n-plus-one", said, said and said[1], **repeated(said))
    if not facts.repeats("statement") and facts.repeats("identical"):
        found.pop("n-plus-one", None)  # all of it is said by identical-calls
    if not facts.repeats("statement") and "n-plus-one" in found and "slow-method" in found and found["n-plus-one"][1]["function"] == found["slow-method"][1]["function"]:
        found.pop("n-plus-one")  # slow requests have it already
    said = facts.repeats("identical")
    add("identical-calls", said, said and said[1], **repeated(said))
    said = facts.repeats("retry")
    add("retries", said, said and said[1], **repeated(said))
    said = facts.gap()
    add("gap", said, function=said and said[1], text=said and f", {'mostly' if said[2] else 'the largest part in'} {said[1]}: ")
    burst = facts.burst()
    # Requests begin at full milliseconds.
    add("error-burst", burst, value=burst and burst[1] / burst[2], text="fall into 1 ms of" if burst and burst[3] == burst[4] else "")
    rest = [r for r in facts.requests if burst is None or not burst[3] <= r.begin <= burst[4]]
    rate = reference.wilson(sum(r.failed for r in rest), len(rest))
    add("error-rate", rate if rate[1] > 0.05 else None, value=rate[0])
    if len(facts.requests) >= 100 and facts.total >= 2_000_000 * len(facts.requests):
        said = facts.queueing()
        add("queueing", said, value=said and said[0], waits=said and said[4],
            text=said and f": {number(said[3])} times as long if {said[2]} or more are, as they begin.")
    said = facts.attribute()
    add("attribute", said, said and said[1], value=said and said[2], text=said and f" have {'='.join(said[0])};")
    return found


def differences(said, facts):
    """What the program says and the reference does not, and the other way round."""
    wrong, wanted = [], answers(facts)
    spoken = {s["id"]: s for s in said["statements"]}
    explained = {name for s in said["statements"] for name in s["explains"]}
    wrong += [f"{name} is not said" for name in wanted if name not in spoken and name not in explained]
    for name, s in spoken.items():
        if name not in wanted:
            wrong.append(f"{name} is said: {s['text']}")
            continue
        share, more = wanted[name]
        got = [s["gain_percent"], s["low_percent"], s["high_percent"]]
        if share and not all(g is not None and close(g, w) for g, w in zip(got, share)):
            wrong.append(f"{name}: {got}, not {share}")
        if share is None and got[0] is not None:
            wrong.append(f"{name} has a gain")
        if "function" in more and s["function"] != more["function"]:
            wrong.append(f"{name}: {s['function']}, not {more['function']}")
        if "value" in more and not math.isclose(s["evidence"][0]["value"], more["value"], rel_tol=1e-6):
            wrong.append(f"{name}: {s['evidence'][0]['value']}, not {more['value']}")
        if "counts" in more:
            calls, requests, time = more["counts"]
            first, second = s["evidence"][:2]
            if first["value"] != calls or not first["text"].startswith(f"{calls} calls in {requests} of {len(facts.requests)} ") or not close(second["value"], time / 1e9):
                wrong.append(f"{name}: {first['text']}, {second['text']}, not {more['counts']}")
            if name != "retries" and f" {number(calls / requests)} times a request" not in s["text"]:
                wrong.append(f"{name}: {calls / requests} times a request, not {s['text']}")
        if "others" in more and more["others"] == ("the others do not call it" in s["evidence"][0]["text"]):
            wrong.append(f"{name}: {s['evidence'][0]['text']}")
        if "waits" in more and ("slow-method" in s["explains"]) != more["waits"]:
            wrong.append(f"{name} explains {s['explains']}")
        if more.get("text", "") not in s["text"]:
            wrong.append(f"{name}: {more['text']} is not in {s['text']}")
    run = said["run"]
    if not close(run["total"], facts.total / 1e9) or run["requests"] != len(facts.requests) or run["entry_points"] != len(facts.entries):
        wrong.append(f"run: {run}")
    return wrong


def try_commands(lode, said):
    """Every command of a statement has to work, and to find something."""
    wrong = []
    for s in said["statements"]:
        for evidence in s["evidence"]:
            if evidence["command"]:
                done = subprocess.run([lode, *evidence["command"][1:]], capture_output=True, timeout=120)
                lines = done.stdout.decode().splitlines()
                if done.returncode or len(lines) < 3:
                    wrong.append(f"{evidence['command']}: {done.returncode} {done.stderr.decode()}{done.stdout.decode()}")
    return wrong


def try_case(tap, options, folder, case):
    name, make, ids, notes = case
    path = Path(folder) / "".join(c if c.isalnum() else "-" for c in name)
    make().write(options.write, path)
    said = ask(options.lode, path)
    if "failed" in said:
        tap.check(False, name, [said["failed"]])
        return
    found = {s["id"] for s in said["statements"]}
    wrong = [] if ids is None or found == ids else [f"said {sorted(found)}, not {sorted(ids)}"]
    wrong += [f"{NOT[name]} is said"] if NOT.get(name) in found else []
    wrong += [] if any(TEXTS.get(name, "") in s["text"] for s in said["statements"]) or name not in TEXTS else [f"{TEXTS[name]} is not said"]
    said_notes = {note["id"] for note in said["quality"]}
    wrong += [] if said_notes == notes else [f"notes {sorted(said_notes)}, not {sorted(notes)}"]
    if not notes - {"clock", "short-calls"}:
        wrong += differences(said, reference.Facts(path))
    wrong += try_commands(options.lode, said)
    for threads in ("1", "2", "7"):
        wrong += [] if ask(options.lode, path, "--threads", threads) == said else [f"--threads {threads}: other output"]
    tap.check(not wrong, f"{name}: {', '.join(sorted(found | said_notes)) or 'nothing'}", wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--write", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if options.only in case[0]:
                try_case(tap, options, folder, case)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
