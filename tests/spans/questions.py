# SPDX-License-Identifier: BSD-3-Clause
"""
Answers of `lode search` to what users of Jaeger, Tempo, Zipkin and Honeycomb ask, against questions_reference.py. Each check returns what is wrong.
"""

import csv
import json
from xml.etree import ElementTree

import questions_reference as reference
from spans_reference import plain


def differences(found, expected):
    return [f"{name}: {found.get(name)} instead of {expected.get(name)}" for name in sorted(found.keys() | expected.keys(), key=str)
            if found.get(name) != expected.get(name)]


def calls_of(events):
    """(track, name, begin, end) of each call, in nanoseconds after the first."""
    calls, tracks = [], {}
    for event in events:
        time, stack = int(event["time_ns"]) - int(events[0]["time_ns"]), tracks.setdefault(event["track"], [])
        if event["kind"] == "enter":
            stack.append((event["name"], time))
        elif event["kind"] == "leave":
            calls.append((event["track"], *stack.pop(), time))
    return calls


def is_on_track(step, calls):
    """Whether the track of a step has a call of its name all the time."""
    end = step["begin_ns"] + step["duration_ns"]
    return step["track"] is None or any((track, name) == (step["track"], step["name"]) and begin <= step["begin_ns"] and until >= end for track, name, begin, until in calls)


def check_paths(ask, path, requests):
    result = ask("search", "--critical-path", "--limit", 0, path)
    found = {row["name"]: [row["requests"], row["steps"], row["time_ns"], row["max_ns"], row["saves_ns"]] for row in result["rows"]}
    wrong = differences(found, {plain(name): row for name, row in reference.critical_paths(requests).items()})
    if sum(row["time_ns"] for row in result["rows"]) != result["time_ns"]:
        wrong.append("the rows do not add up to the paths")
    # The largest request, step by step.
    name, trace = max(requests.traces.items(), key=lambda item: (len(item[1]), item[0]))
    steps = reference.path_of(trace)[0][::-1]
    told = ask("search", "--critical-path", "--id", name, path)["steps"]
    given = [[step["name"], step["begin_ns"], step["duration_ns"]] for step in told]
    expected = [[plain(function), begin - steps[0][1], end - begin] for function, begin, end in steps]
    if given != expected:
        wrong.append(f"path of {name}: {given} instead of {expected}")
    calls = calls_of(ask("replay", "--id", name, "--limit", 0, path)["rows"])
    wrong += [f"path of {name}: no such call on the track of {step}" for step in told if not is_on_track(step, calls)]
    return wrong


def number_row(row):
    return [row["count"], row["failures"], row["p50_ns"], row["p95_ns"], row["p99_ns"], row["max_ns"]]


def found_rates(result, keys):
    return {(int(row["begin_ns"]) if "begin_ns" in row else None, tuple(row["values"][key] for key in keys)): number_row(row) for row in result["rows"]}


def service(span):
    return span.service or "unknown service"


def check_rates(ask, path, requests):
    words = ["search", "--calls", "--by", "service,name", "--limit", 0]
    calls = reference.call_items(requests, lambda span: True, lambda span: (service(span), span.name or "unnamed"))
    wrong = differences(found_rates(ask(*words, path), ("service", "name")), reference.rates(calls, 0))
    wrong += differences(found_rates(ask(*words, "--over", "1s", path), ("service", "name")), reference.rates(calls, 10**9))
    servers = reference.call_items(requests, lambda span: span.kind == reference.SERVER and span.failed, lambda span: (service(span), "server"))
    asked = ask("search", "--calls", "--where", "kind=server failed", "--by", "service,kind", "--over", "250ms", "--limit", 0, path)
    wrong += differences(found_rates(asked, ("service", "kind")), reference.rates(servers, 250 * 10**6))
    items = reference.request_items(requests)
    if items is not None:
        wrong += differences(found_rates(ask("search", "--over", "2s", "--by", "service", "--limit", 0, path), ("service",)), reference.rates(items, 2 * 10**9))
    return wrong


def check_map(ask, path, requests):
    result = ask("search", "--map", path)
    edges, entries = reference.edges(requests)
    found = {(row["caller"], row["callee"]): [row["calls"], *number_row({**row, "count": 0})[1:]] for row in result["rows"]}
    wrong = differences(found, {tuple(name and plain(name) for name in names): row for names, row in edges.items()})
    found = {row["name"]: [row["entries"], *number_row({**row, "count": 0})[1:]] for row in result["services"]}
    wrong += differences(found, {plain(name): row for name, row in entries.items()})
    if sum(row["calls"] for row in result["services"]) != sum(map(len, requests.traces.values())):
        wrong.append("calls of services do not add up")
    return wrong


def structures(requests):
    """Texts for --where, and what they mean."""
    spans = [span for trace in requests.traces.values() for span in trace]
    durations = sorted(span.end - span.begin for span in spans)
    middle = durations[len(durations) // 2]
    kind = lambda number: lambda span: span.kind == number
    asked = [("failed", [(lambda span: span.failed, False)]), ("kind=server", [(kind(2), False)]),
             (f"duration>={middle}ns", [(lambda span: span.end - span.begin >= middle, False)]),
             ("{kind=server} directly below {kind=client}", [(kind(2), True), (kind(3), False)]),
             ("{failed} below {outermost duration<1s}", [(lambda span: span.failed, False), (lambda span: not span.up and span.end - span.begin < 10**9, False)])]
    for caller, callee in sorted({(span.up.service, span.service) for span in spans if span.up and span.up.service != span.service}):
        if "'" in caller + callee or not plain(caller + callee).isprintable() or not caller or not callee:
            continue
        is_callee, is_caller = (lambda name: lambda span: span.service == name)(callee), (lambda name: lambda span: span.service == name)(caller)
        failed = (lambda name: lambda span: span.service == name and span.failed)(callee)
        asked += [(f"{{service='{callee}' failed}} below {{service='{caller}'}}", [(failed, False), (is_caller, False)]),
                  (f"{{service.name='{callee}'}} directly below {{service='{caller}'}}", [(is_callee, True), (is_caller, False)]),
                  (f"{{service='{caller}'}} below {{service='{callee}'}}", [(is_caller, False), (is_callee, False)])]
    names = sorted({span.name for span in spans if span.name and "'" not in span.name and span.name.isprintable()})[:6]
    asked += [(f"outermost name='{name}'", [((lambda name: lambda span: not span.up and span.name == name)(name), False)]) for name in names]
    keys = sorted({key for span in spans for key in span.attributes if key.replace(".", "").replace("_", "").isalnum() and not key.startswith("service.")})[:6]
    return asked + [(f".{key}", [((lambda key: lambda span: key in span.attributes)(key), False)]) for key in keys]


def check_structure(ask, path, requests):
    wrong = []
    for text, terms in structures(requests):
        if text.startswith("{service.name") and not is_otlp(path):
            continue
        found = {row["id"] for row in ask("search", "--limit", 0, "--where", text, path)["rows"]}
        expected = reference.matches(requests, terms)
        if found != expected:
            wrong.append(f"--where {text}: {len(found)} instead of {len(expected)}")
    return wrong


def is_otlp(path):
    return "otlp" in path.parts


# Forms of one run give the same answers; these are of different runs, or lack something. LODE_CI=full asks all.
STORES = {"traces.json", "small.jsonl", "shared.json", "lost-gateway.json", "upstream-example_trace.json", "es-spans.jsonl", "by-service"}


CHECKS = {"critical paths": check_paths, "rates": check_rates, "map of services": check_map, "structure": check_structure}


# ---- what needs no reference ----

SVG = "{http://www.w3.org/2000/svg}"


def check_pictures(run, path, requests, folder):
    """Pictures are XML with a box for each service and a line for each edge; the text for Graphviz has the same edges."""
    edges = {names for names in reference.edges(requests)[0] if names[0] is not None}
    services = {span.service for trace in requests.traces.values() for span in trace}
    run("search", "--map", "--svg", folder / "map.svg", "--dot", folder / "map.dot", path)
    root = ElementTree.parse(folder / "map.svg").getroot()
    wrong = [f"{len(root.findall(f'{SVG}g'))} boxes"] if len(root.findall(f"{SVG}g")) != len(services) else []
    wrong += [] if len(root.findall(f"{SVG}path")) == len(edges) else ["edges of the picture"]
    wrong += [] if (folder / "map.dot").read_text().count(" -> ") == len(edges) else ["edges for Graphviz"]
    run("search", "--over", "1s", "--by", "name", "--calls", "--svg", folder / "rates.svg", path)
    lines = [line for line in ElementTree.parse(folder / "rates.svg").getroot().findall(f"{SVG}path") if line.get("fill") == "none"]
    return wrong + ([] if lines else ["no lines over time"])


def span(number, attributes, **values):
    return {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": f"call {number}", "kind": 2, "startTimeUnixNano": str(10**18 + number * 10**9),
            "endTimeUnixNano": str(10**18 + number * 10**9 + 5000), "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()], **values}


def write_store(path, spans, resource=None):
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in {"service.name": "a", **(resource or {})}.items()]
    path.write_text(json.dumps({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": spans}]}]}))


def check_conventions(ask, folder):
    """Old and new names of attributes are one."""
    path = folder / "conventions.json"
    write_store(path, [span(1, {"http.method": "GET", "db.statement": "select 1"}), span(2, {"http.request.method": "GET", "db.query.text": "select 2"}),
                       span(3, {"http.request.method": "POST"})])
    wrong = []
    for key in ("http.method", "http.request.method"):
        for words in (["--attribute", f"{key}=GET"], ["--where", f"{key}=GET"]):
            found = [row["number"] for row in ask("search", *words, path)["rows"]]
            wrong += [] if found == [1, 2] else [f"{words}: {found}"]
        groups = {row["value"]: row["requests"] for row in ask("search", "--by", key, path)["rows"]}
        wrong += [] if groups == {"GET": 2, "POST": 1} else [f"--by {key}: {groups}"]
        rates = {row["values"][key]: row["count"] for row in ask("search", "--calls", "--by", key, path)["rows"]}
        wrong += [] if rates == {"GET": 2, "POST": 1} else [f"--calls --by {key}: {rates}"]
    found = [row["number"] for row in ask("search", "--where", "db.statement~SELECT", path)["rows"]]
    return wrong + ([] if found == [1, 2] else [f"statements: {found}"])


def check_resource(ask, folder):
    """Attributes of the process are those of all its calls; others are those of one call."""
    path = folder / "resource.json"
    write_store(path, [span(1, {"user": "u"}), span(1, {}, spanId="2" * 16, parentSpanId=f"{1:016x}", status={"code": 2}),
                       span(1, {}, spanId="3" * 16, parentSpanId="2" * 16, name="inner")], {"host.name": "h"})
    asked = {"host.name=h failed": 1, "user=u failed": 0, "{failed} below {user=u}": 1, "{failed} directly below {host.name=other}": 0,
             "outermost host.name=h": 1, "{host.name=h} directly below {host.name}": 1, "kind=server,duration<=5us and failed": 1, "kind=client": 0, "{} below {}": 1,
             "{name=inner} below {user=u}": 1, "{name=inner} directly below {user=u}": 0, "{name=inner} directly below {failed} directly below {user=u}": 1, "{user=u} below {name=inner}": 0}
    found = {text: len(ask("search", "--where", text, path)["rows"]) for text in asked}
    return [f"{text}: {found[text]}" for text in asked if found[text] != asked[text]]


def check_rewritten(ask, run, path, folder):
    """A slice has whole requests, those that are under way in its time window; a copy gives the same answers; a Zorka store keeps calls, failures, attributes."""
    everything = {row["id"]: row for row in ask("search", "--limit", 0, path)["rows"]}
    first = min(int(row["time_ns"]) for row in everything.values())
    last = max(int(row["time_ns"]) + row["duration_ns"] for row in everything.values())
    begin, end = (last - first) // 3, (last - first) // 2
    run("slice", "--from", f"{begin}ns", "--to", f"{end}ns", "-o", folder / "part.pb", "--force", path)
    run("convert", "-o", folder / "copy.pb", "--force", path)
    run("convert", "--format", "zorka", "-o", folder / "zorka", "--force", path)
    part = {row["id"]: row for row in ask("search", "--limit", 0, folder / "part.pb")["rows"]}
    inside = {name for name in everything if name in {row["id"] for row in ask("search", "--from", f"{begin}ns", "--to", f"{end}ns", "--limit", 0, path)["rows"]}}
    wrong = [] if inside <= set(part) else [f"requests are missing in the slice: {sorted(inside - set(part))[:3]}"]
    wrong += [] if len(part) < len(everything) or not inside else ["the slice has all requests"] if len(everything) > 3 else []
    wrong += [f"{name}: {row['calls']} calls instead of {everything[name]['calls']}" for name, row in part.items() if row["calls"] != everything[name]["calls"]]
    for words in (["top", "--limit", 0], ["tree", "--limit", 0], ["search", "--critical-path", "--limit", 0], ["search", "--map"]):
        if ask(*words, folder / "copy.pb")["rows"] != ask(*words, path)["rows"]:
            wrong.append(f"{words} of a copy")
    top, other = ask("top", path), ask("top", folder / "zorka")
    wrong += [] if (top["calls"], top["errors"]) == (other["calls"], other["errors"]) else [f"Zorka: {other['calls']} calls, {other['errors']} errors"]
    key = "http.route"
    found = [sum(row["count"] for row in ask("search", "--calls", "--by", key, "--limit", 0, store)["rows"]) for store in (path, folder / "zorka")]
    return wrong + ([] if found[0] == found[1] else [f"{key}: {found}"])


def check_compared(ask, path):
    """Two requests, and two time windows of one store, against the answers of each."""
    rows = ask("search", "--limit", 2, path)["rows"]
    base, new = rows[0]["id"], rows[1]["id"]
    both = ask("compare", "--id-base", base, "--id-new", new, "--all", "--limit", 0, path, path)
    tops = [ask("top", "--id", name, "--limit", 0, path)["rows"] for name in (base, new)]
    found = {row["name"]: [row["base"], row["new"]] for row in both["rows"]}
    expected = {row["name"]: [next((one["self_ns"] for one in top if one["name"] == row["name"]), 0) for top in tops] for top in tops for row in top}
    wrong = differences({name: [round(value) for value in values] for name, values in found.items() if any(values)}, {name: values for name, values in expected.items() if any(values)})
    windows = ask("compare", "--to-base", "100ms", "--from-new", "100ms", "--metric", "calls", "--all", "--limit", 0, path, path)
    calls = [sum(row["calls"] for row in ask("top", *words, "--limit", 0, path)["rows"]) for words in (["--to", "100ms"], ["--from", "100ms"])]
    found = [sum(row[side] for row in windows["rows"]) for side in ("base", "new")]
    wrong += [] if found == calls else [f"calls of windows: {found} instead of {calls}"]
    return wrong


def check_csv(run, ask, path):
    """Attributes as columns, and dates that spreadsheets read."""
    rows = list(csv.DictReader(run("search", "--csv", "--limit", 0, "--columns", "http.route,service.name", path).splitlines()))
    times = {row["id"]: row["time"] for row in ask("search", "--limit", 0, path)["rows"]}
    wrong = [] if rows and all(row["date"] == times[row["id"]].replace("T", " ")[:23] for row in rows) else ["dates"]
    groups = {}
    for row in rows:
        groups[row["attribute.http.route"] or None] = groups.get(row["attribute.http.route"] or None, 0) + 1
    found = {}
    for row in ask("search", "--over", "1h", "--by", "http.route", "--limit", 0, path)["rows"]:
        found[row["values"]["http.route"]] = found.get(row["values"]["http.route"], 0) + row["count"]
    return wrong + ([] if groups == found else [f"{groups} instead of {found}"])


# Texts that are not understood, and what is said of them.
MISTAKES = {"": "expected a condition at character 1", "{failed": "expected a condition at character 8", "failed below": "expected a condition at character 13",
            "service": ">= at character 8", "duration>=5": "expected a time such as 100ms", "duration=5ms": "duration takes <", "name='a": "expected a closing quote",
            "{failed} {failed}": "'below', 'directly below' or the end", "failed directly": "'below', 'directly below' or the end", "a=": "expected a value", "{failed} directly": "'below', 'directly below' or the end",
            " ".join(["failed"] * 65): "64 conditions at most", " below ".join(["{}"] * 65): "64 terms at most"}
