# SPDX-License-Identifier: BSD-3-Clause
"""
A slow reader of spans, written from the public definitions of OpenTelemetry, Jaeger and Zipkin, and from doc/formats/otlp.md for what Lode does
with them: duplicates, parents, clocks, tracks. Times are integers in nanoseconds.
"""

import base64
import gzip
import json
import re
import struct
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
SERVER, CLIENT, CONSUMER = 2, 3, 5
MILLI, MICRO = 10**6, 10**3


class Span:
    def __init__(self, **values):
        self.parent, self.kind, self.failed, self.shared, self.adjusted = "", 0, False, False, False
        self.attributes, self.events, self.children, self.up = {}, [], [], None
        self.__dict__.update(values)
        self.no_end = self.end < self.begin
        self.end = max(self.begin, self.end)

    def __lt__(self, other):
        return (self.begin, self.end, self.id, self.shared) < (other.begin, other.end, other.id, other.shared)


# ---- protobuf ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & (2**64 - 1), at
        if shift > 63:
            raise ValueError("varint")


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
            value, at = data[at:at + size], at + size
        if number == 0 or at > len(data):
            raise ValueError("cut")
        yield number, value


def text(data):
    return data.decode("utf-8", "replace")


def any_value(data):
    result = None
    for number, value in fields(data):
        result = {1: lambda: text(value), 2: lambda: bool(value), 3: lambda: value - 2**64 if value >= 2**63 else value,
                  4: lambda: struct.unpack("<d", value)[0], 5: lambda: [any_value(part) for _, part in fields(value)],
                  6: lambda: pairs([part for _, part in fields(value)]), 7: lambda: bytes(value)}[number]()
    return result


def pairs(items):
    result = {}
    for item in items:
        parts = dict(fields(item))
        result.setdefault(text(parts.get(1, b"")), any_value(parts.get(2, b"")))
    return result


def little(data):
    return int.from_bytes(data, "little")


def protobuf_span(data, service):
    parts, attributes, events = {}, [], []
    for number, value in fields(data):
        if number == 9:
            attributes.append(value)
        elif number == 11:
            events.append(value)
        else:
            parts[number] = value
    status = dict(fields(parts.get(15, b"")))
    return Span(trace=parts[1].hex(), id=parts[2].hex(), parent=parts.get(4, b"").hex().strip("0") and parts[4].hex(), name=text(parts.get(5, b"")),
                kind=parts.get(6, 0), begin=little(parts[7]), end=little(parts.get(8, b"")), failed=status.get(3) == 2, service=service,
                attributes=pairs(attributes), events=[text(dict(fields(event)).get(2, b"")) for event in events])


def protobuf(data):
    found = []
    for number, resource_spans in fields(data):
        if number != 1 or isinstance(resource_spans, int):
            raise ValueError("not TracesData")
        parts = list(fields(resource_spans))
        if not all(isinstance(value, bytes) for _, value in parts):
            raise ValueError("not TracesData")
        attributes = pairs([value for key, resource in parts if key == 1 for inner, value in fields(resource) if inner == 1])
        for key, scope in parts:
            if key in (2, 1000):
                found += [protobuf_span(value, attributes.get("service.name", "")) for inner, value in fields(scope) if inner == 2]
    return found


# ---- JSON of OpenTelemetry ----

def whole(value):
    if isinstance(value, dict):
        return (value.get("high", 0) << 32) | (value.get("low", 0) & 0xffffffff)
    return int(value or 0)


def hexadecimal(value):
    value = value or ""
    return base64.b64decode(value).hex() if len(value) in (24, 12) and value.endswith("=") else value.lower()


def json_value(value):
    key, content = next(iter((value or {"": None}).items()))
    return {"intValue": whole, "doubleValue": lambda x: float("nan" if x is None else x), "arrayValue": lambda x: [json_value(y) for y in x.get("values", [])],
            "kvlistValue": lambda x: json_pairs(x.get("values")), "bytesValue": base64.b64decode}.get(key, lambda x: x)(content)


def json_pairs(items):
    result = {}
    for item in items or []:
        result.setdefault(item.get("key", ""), json_value(item.get("value")))
    return result


def json_kind(value):
    return KINDS.index(value.replace("SPAN_KIND_", "")) if isinstance(value, str) else value or 0


def otlp_json(content):
    found = []
    for resource in content.get("result", content).get("resourceSpans") or []:
        service = json_pairs((resource.get("resource") or {}).get("attributes")).get("service.name", "")
        for scope in resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans") or []:
            for span in scope.get("spans") or []:
                found.append(Span(trace=hexadecimal(span["traceId"]), id=hexadecimal(span["spanId"]), parent=hexadecimal(span.get("parentSpanId")),
                                  name=span.get("name", ""), kind=json_kind(span.get("kind")), begin=whole(span["startTimeUnixNano"]),
                                  end=whole(span.get("endTimeUnixNano")), failed=(span.get("status") or {}).get("code") in (2, "STATUS_CODE_ERROR"),
                                  service=service, attributes=json_pairs(span.get("attributes")), events=[event.get("name", "") for event in span.get("events") or []]))
    return found


# ---- Jaeger ----

def jaeger(content):
    found = []
    for trace in content.get("data", [content]) if isinstance(content, dict) else content:
        processes = {key: process.get("serviceName", "") for key, process in (trace.get("processes") or {}).items()}
        for span in [trace] if "spanID" in trace else trace.get("spans") or []:
            tags = {tag["key"]: tag.get("value") for tag in reversed(span.get("tags") or [])}
            same = [one for one in span.get("references") or [] if one["traceID"].lower().lstrip("0") == span["traceID"].lower().lstrip("0")]
            up = sorted(same, key=lambda one: one.get("refType") != "CHILD_OF")[:1]
            parent = up[0]["spanID"] if up else span.get("parentSpanID") or ""
            service = span["process"].get("serviceName", "") if span.get("process") else processes.get(span.get("processID"), "")
            kind = str(tags.get("span.kind", "")).upper()
            found.append(Span(trace=span["traceID"].lower().rjust(32, "0"), id=span["spanID"].lower().rjust(16, "0"), parent=parent.lower().rjust(16, "0") if parent else "",
                              name=span.get("operationName", ""), kind=KINDS.index(kind) if kind in KINDS else 0, begin=int(span["startTime"]) * MICRO,
                              end=(int(span["startTime"]) + int(span["duration"])) * MICRO, failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
                              service=service, attributes=tags, events=list(span.get("logs") or []),
                              adjusted=any("timestamps were adjusted" in warning for warning in span.get("warnings") or [])))
    return found


# ---- Zipkin ----

def zipkin(content):
    found = []
    for span in content if isinstance(content, list) else [content]:
        if isinstance(span, list):
            found += zipkin(span)
            continue
        begin, duration, tags = int(span.get("timestamp") or 0), int(span.get("duration") or 0), span.get("tags") or {}
        kind = KINDS.index(span["kind"]) if span.get("kind") in KINDS[2:] else 1
        found.append(Span(trace=span["traceId"].lower().rjust(32, "0"), id=span["id"].lower().rjust(16, "0"),
                          parent=span["parentId"].lower().rjust(16, "0") if span.get("parentId") else "", name=span.get("name") or "", kind=kind,
                          begin=begin * MICRO, end=(begin + duration) * MICRO if duration else 0, failed="error" in tags or tags.get("otel.status_code") == "ERROR",
                          service=(span.get("localEndpoint") or {}).get("serviceName") or "", attributes=tags, events=list(span.get("annotations") or []),
                          shared=bool(span.get("shared")) and kind == SERVER))
    return found


# ---- files ----

def unzstd(data):
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout


def from_json(content):
    if isinstance(content, dict) and ("resourceSpans" in content or "result" in content):
        return otlp_json(content)
    first = content
    while isinstance(first, list) and first:
        first = first[0]
    return jaeger(content) if "traceId" not in first else zipkin(content)


def message(data):
    data = unzstd(data) if data[:4] == b"\x28\xb5\x2f\xfd" else data
    return from_json(json.loads(data)) if data[:1] == b"{" else protobuf(data)


def lengths(data):
    at, found = 0, []
    while at + 4 <= len(data):
        size = struct.unpack(">I", data[at:at + 4])[0]
        if at + 4 + size > len(data):
            break
        found += message(data[at + 4:at + 4 + size])
        at += 4 + size
    return found


def delimited(data):
    at, found = 0, []
    while at < len(data):
        size, at = varint(data, at)
        found += protobuf(data[at:at + size])
        at += size
    return found


def lines(data):
    found = []
    for line in data.split(b"\n"):
        try:
            found += from_json(json.loads(line)) if line.strip() else []
        except ValueError:
            pass
    return found


def read(path):
    if path.is_dir():
        return [span for inner in sorted(path.iterdir()) for span in read(inner)]
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else unzstd(data) if data[:4] == b"\x28\xb5\x2f\xfd" else data
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return from_json(json.loads(data))
        except ValueError:
            return lines(data)
    size = struct.unpack(">I", data[:4])[0]
    if 0 < size <= len(data) - 4 and (data[4:5] in (b"\x0a", b"{") or data[4:8] == b"\x28\xb5\x2f\xfd"):
        return lengths(data)
    try:
        return protobuf(data)
    except (ValueError, KeyError, IndexError):
        return delimited(data)


# ---- traces ----

def assemble(spans):
    """Roots of all traces, and how many spans were stored again."""
    kept = {}
    for span in spans:
        kept.setdefault((span.trace, span.id, span.shared), span)
        # Halves of one call that are not marked.
        other = kept[span.trace, span.id, span.shared]
        if other is not span and {other.kind, span.kind} == {SERVER, CLIENT} and other.service != span.service:
            server, client = (other, span) if other.kind == SERVER else (span, other)
            server.shared = True
            kept[span.trace, span.id, True], kept[span.trace, span.id, False] = server, client
    all_spans = list(kept.values())
    for span in all_spans:
        client = kept.get((span.trace, span.id, False)) if span.shared else None
        halves = [kept.get((span.trace, span.parent, shared)) for shared in (True, False)]
        halves = [half for half in halves if half and half is not span]
        span.up = client or next((half for half in halves if not half.shared or half.service == span.service), halves[0] if halves else None)
    for span in all_spans:
        if span.up:
            span.up.children.append(span)
    roots = [span for span in all_spans if not span.up]
    return all_spans, roots, len(spans) - len(all_spans)


def down(span):
    todo = [span]
    while todo:
        span = todo.pop()
        yield span
        todo += span.children


def shift(span, by):
    for one in down(span):
        one.begin += by
        one.end += by


def repair(spans, roots):
    """As doc/formats/otlp.md says: clocks, then the resolution of clocks."""
    begins = defaultdict(list)
    for span in spans:
        begins[span.service].append(span.begin)
    tolerance = {service: next((most for unit, most in ((MILLI, MILLI), (MICRO, MICRO + 1)) if 10 * sum(t % unit == 0 for t in times) > len(times)), 0)
                 for service, times in begins.items()}
    moved = Counter()
    for root in roots:
        for span in reversed(list(down(root))):
            if span.no_end:
                span.end = max([span.end] + [child.end for child in span.children])
        for span in down(root):
            for child in span.children:
                is_call = child.kind == SERVER and span.kind == CLIENT and child.service != span.service and not (child.adjusted or span.adjusted)
                if is_call and not span.begin <= child.begin <= child.end <= span.end:
                    slack = (span.end - span.begin) - (child.end - child.begin)
                    by = span.begin - child.begin + (slack // 2 if slack > 0 else 0)
                    moved[child.service] += by != 0
                    shift(child, by)
        for span in down(root):
            settle(span, tolerance)
    return moved


def settle(span, tolerance):
    at = span.begin
    for child in sorted(span.children):
        most = max(tolerance[span.service], tolerance[child.service])
        if child.service != span.service and child.kind != SERVER:
            continue
        if 0 < at - child.begin < most:
            shift(child, at - child.begin)
        if 0 < child.end - span.end < most:
            shift(child, -min(child.end - span.end, max(0, child.begin - at)))
            child.end = min(child.end, max(span.end, child.begin))
        if child.end <= span.end and child.begin >= at:
            at = max(at, child.end)


def outermost(roots):
    """Spans that are outermost on their tracks: roots, and those that do not nest on the track of their parent."""
    found = list(roots)
    for root in roots:
        for span in down(root):
            free = span.begin
            for child in sorted(span.children):
                if child.begin >= free and child.end <= span.end:
                    free = child.end
                else:
                    found.append(child)
    return found


def label(span):
    return f"{span.service or 'unknown service'}: {span.name or 'unnamed'}"


def path(span):
    """The calls that lead to a span, the outermost first."""
    found = []
    while span:
        found.append(label(span))
        span = span.up
    return tuple(reversed(found))


def elapsed(spans, key):
    """By key: how long at least one of the calls with it was under way, in each trace. One moment after the other."""
    grouped = defaultdict(list)
    for span in spans:
        grouped[key(span), span.trace].append(span)
    times = Counter()
    for (one, _), members in grouped.items():
        moments = sorted({time for span in members for time in (span.begin, span.end)})
        changes = Counter(span.begin for span in members)
        changes.subtract(Counter(span.end for span in members))
        under_way = 0
        for moment, after in zip(moments, moments[1:] + moments[-1:]):
            under_way += changes[moment]
            times[one] += after - moment if under_way > 0 else 0
    return dict(times)


def load(path):
    """Spans with their parents, repaired; how many were stored again; which were moved."""
    spans, roots, duplicates = assemble(read(Path(path)))
    return spans, roots, duplicates, repair(spans, roots)


def summary(store):
    spans, roots, duplicates, moved = store
    rows, durations = defaultdict(lambda: [0, 0, 0, 0]), defaultdict(list)
    for span in spans:
        durations[label(span)].append(span.end - span.begin)
        row = rows[label(span)]
        row[:] = row[0] + 1, row[1] + span.failed, row[2] + span.end - span.begin, max(row[3], span.end - span.begin)
    traces = defaultdict(list)
    for span in spans:
        traces[span.trace].append(span)
    failed = sum(any(span.failed and (not span.up or span.kind in (SERVER, CONSUMER)) for span in trace) for trace in traces.values())
    edges = Counter((span.up.service, span.service) for span in spans if span.up and span.up.service != span.service)
    return {"edges": {f"{caller} > {callee}": count for (caller, callee), count in edges.items()}, "spans": len(spans), "traces": len(traces), "duplicates": duplicates, "rows": dict(rows),
            "durations": {name: sorted(times) for name, times in durations.items()}, "outermost": Counter(map(label, outermost(roots))),
            "elapsed_rows": elapsed(spans, label), "elapsed_paths": elapsed(spans, path),
            "work": sum(span.end - span.begin for span in outermost(roots)),
            "elapsed": sum(max(span.end for span in trace) - min(span.begin for span in trace) for trace in traces.values()),
            "errors": sum(any(span.failed for span in trace) for trace in traces.values()), "failed": failed, "moved": dict(moved),
            "attributes": sum(len(span.attributes) for span in spans), "events": sum(len(span.events) for span in spans)}


def plain(text):
    """As Lode prints it."""
    return re.sub("[\x00-\x1f\x7f\u202e]", "?", text)
