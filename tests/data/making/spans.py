# SPDX-License-Identifier: BSD-3-Clause
"""
A small run of three services, as OpenTelemetry (JSON lines, framed protobuf, gzip), Jaeger and Zipkin store it, and what is in it. Planted: concurrent
calls, a call that outlives its caller, a clock that is 20 ms behind, a failure with an exception, a batch that was stored twice, a parent that nobody
exported, dropped events, odd values and hostile names.
"""

import gzip
import json
import struct
from collections import Counter

EPOCH = 1_794_909_183_000_000_017  # nanoseconds since 1970, with digits that show a loss of precision
MILLI, MICRO = 10**6, 10**3
KINDS = ["", "internal", "server", "client", "producer", "consumer"]
INTERNAL, SERVER, CLIENT = 1, 2, 3
BEHIND = -20 * MILLI  # the clock of "stock"
HOSTILE = "\x1b[31m<b>\"x\" \u202e \\ \u00fc\u2713"
STACK = "TypeError: no such item\n    at Items.find (/srv/web/items.js:17:5)\n    at /srv/web/main.js:3:1"


class Run:
    def __init__(self):
        self.spans, self.count = [], 0

    def add(self, trace, parent, service, name, kind, begin, end, **more):
        """Times in milliseconds from the begin of the run."""
        self.count += 1
        clock = BEHIND if service == "stock" else 0
        span = {"trace": f"{0x5eed0000_00000000_00000000_00000000 + trace:032x}", "id": f"{0xabc000 + self.count:016x}", "parent": parent, "service": service,
                "name": name, "kind": kind, "begin": EPOCH + clock + round(begin * MILLI), "end": EPOCH + clock + round(end * MILLI), "failed": False,
                "attributes": [], "events": [], "dropped": 0, "links": []}
        span.update(more)
        span["events"] = [(time + clock / MILLI, name, pairs) for time, name, pairs in span["events"]]
        self.spans.append(span)
        return span["id"]


def made():
    run = Run()
    for trace in range(1, 9):
        at = 50.0 * trace
        failed = trace == 5
        root = "00000000000000ff" if trace == 7 else ""  # a parent that nobody exported
        # Attributes of the outermost call.
        about = [("http.route", "/items"), ("user.id", f"u{trace % 3}"), ("order.big", 2**53 + 1), ("weights", [1, "\u00fc", True]), ("ratio", 0.25)]
        server = run.add(trace, root, "web", "GET /items", SERVER, at, at + 40, attributes=about, failed=failed, remote=trace == 7)
        select = run.add(trace, server, "web", "SELECT items", INTERNAL, at + 1, at + 4, attributes=[("db.query.text", "select * from items where id = ?")])
        if failed:
            run.add(trace, server, "web", "render", INTERNAL, at + 5, at + 6, failed=True, message="no such item", events=[
                (at + 5.5, "exception", [("exception.type", "TypeError"), ("exception.message", "no such item"), ("exception.stacktrace", STACK)])])
            continue
        for call in range(3):  # concurrent
            client = run.add(trace, server, "web", "GET", CLIENT, at + 10 + call, at + 30 - call)
            stock = run.add(trace, client, "stock", "GET /stock/:id", SERVER, at + 12 + call, at + 28 - call, events=[(at + 15, "cache miss", [("key", f"k{call}")])])
            run.add(trace, stock, "stock", HOSTILE if trace == 3 else "lookup", INTERNAL, at + 14 + call, at + 20 + call)
        run.add(trace, select, "audit", "write", INTERNAL, at + 3, at + 9, dropped=trace, links=[select] if trace == 1 else [])  # outlives its caller
    return run.spans


# ---- OpenTelemetry ----

def any_json(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"arrayValue": {"values": [any_json(item) for item in value]}} if isinstance(value, list) else {"stringValue": value}


def pairs_json(pairs):
    return [{"key": key, "value": any_json(value)} for key, value in pairs]


def span_json(span):
    return {"traceId": span["trace"], "spanId": span["id"], "parentSpanId": span["parent"], "flags": 0x301 if span.get("remote") else 0x101, "name": span["name"],
            "kind": span["kind"], "startTimeUnixNano": str(span["begin"]), "endTimeUnixNano": str(span["end"]), "attributes": pairs_json(span["attributes"]),
            "events": [{"timeUnixNano": str(EPOCH + round(time * MILLI)), "name": name, "attributes": pairs_json(more)} for time, name, more in span["events"]],
            "droppedEventsCount": span["dropped"], "links": [{"traceId": span["trace"], "spanId": link} for link in span["links"]],
            "status": {"code": 2, "message": span.get("message", "")} if span["failed"] else {}}


def resource(service):
    return [("service.name", service), ("host.name", f"host-{service}"), ("process.pid", 1000 + len(service))]


def batches(spans):
    """Batches of one service each, in the order of ends; the third is stored twice."""
    ended = sorted(spans, key=lambda span: span["end"])
    found = []
    for at in range(0, len(ended), 12):
        for service in sorted({span["service"] for span in ended[at:at + 12]}):
            found.append((service, [span for span in ended[at:at + 12] if span["service"] == service]))
    return found[:3] + found[2:]


def otlp_json(spans):
    return "".join(json.dumps({"resourceSpans": [{"resource": {"attributes": pairs_json(resource(service))}, "scopeSpans": [
        {"scope": {"name": "shop"}, "spans": [span_json(span) for span in batch]}]}]}, separators=(",", ":")) + "\n" for service, batch in batches(spans))


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def any_pb(value):
    if isinstance(value, bool):
        return field(2, int(value))
    if isinstance(value, int):
        return field(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 1) + struct.pack("<d", value)
    return field(5, b"".join(field(1, any_pb(item)) for item in value)) if isinstance(value, list) else field(1, value)


def pairs_pb(number, pairs):
    return b"".join(field(number, field(1, key) + field(2, any_pb(value))) for key, value in pairs)


def span_pb(span):
    out = field(1, bytes.fromhex(span["trace"])) + field(2, bytes.fromhex(span["id"])) + (field(4, bytes.fromhex(span["parent"])) if span["parent"] else b"")
    out += field(5, span["name"]) + field(6, span["kind"]) + fixed(7, span["begin"]) + fixed(8, span["end"]) + pairs_pb(9, span["attributes"])
    for time, name, more in span["events"]:
        out += field(11, fixed(1, EPOCH + round(time * MILLI)) + field(2, name) + pairs_pb(3, more))
    out += field(12, span["dropped"]) if span["dropped"] else b""
    out += b"".join(field(13, field(1, bytes.fromhex(span["trace"])) + field(2, bytes.fromhex(link))) for link in span["links"])
    out += field(15, field(2, span.get("message", "")) + field(3, 2)) if span["failed"] else b""
    return out + varint(16 << 3 | 5) + struct.pack("<I", 0x301 if span.get("remote") else 0x101)


def otlp_pb(spans):
    out = b""
    for service, batch in batches(spans):
        # The resource comes last, which is allowed.
        scope = field(1, field(1, "shop")) + b"".join(field(2, span_pb(span)) for span in batch)
        message = field(1, field(2, scope) + field(1, pairs_pb(1, resource(service))))
        out += struct.pack(">I", len(message)) + message
    return out


# ---- Jaeger ----

def tag(key, value):
    kind = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64" if isinstance(value, float) else "string"
    if kind == "int64" and abs(value) >= 2**53:
        value = str(value)
    return {"key": key, "type": kind, "value": json.dumps(value) if isinstance(value, list) else value}


def span_jaeger(span, processes):
    tags = [tag(key, value) for key, value in span["attributes"]] + [tag("span.kind", KINDS[span["kind"]])]
    tags += [tag("error", True), tag("otel.status_code", "ERROR")] if span["failed"] else []
    references = [{"refType": "CHILD_OF", "traceID": span["trace"], "spanID": span["parent"]}] if span["parent"] else []
    return {"traceID": span["trace"].lstrip("0"), "spanID": span["id"].lstrip("0"), "operationName": span["name"], "references": references or None,
            "startTime": span["begin"] // MICRO, "duration": (span["end"] - span["begin"]) // MICRO, "tags": tags, "processID": processes[span["service"]],
            "logs": [{"timestamp": (EPOCH + round(time * MILLI)) // MICRO, "fields": [tag("event", name)] + [tag(*pair) for pair in more]} for time, name, more in span["events"]],
            "warnings": None}


def jaeger(spans):
    processes = {"web": "p1", "stock": "p2", "audit": "p3"}
    data = []
    for trace in sorted({span["trace"] for span in spans}):
        data.append({"traceID": trace.lstrip("0"), "spans": [span_jaeger(span, processes) for span in spans if span["trace"] == trace],
                     "processes": {key: {"serviceName": service, "tags": [tag(*pair) for pair in resource(service)[1:]]} for service, key in processes.items()}})
    return json.dumps({"data": data, "total": 0, "limit": 0, "offset": 0, "errors": None}, indent=1) + "\n"


# ---- Zipkin ----

def span_zipkin(span):
    tags = {key: json.dumps(value) if not isinstance(value, str) else value for key, value in span["attributes"]}
    if span["failed"]:
        tags["error"] = span.get("message", "")
    out = {"traceId": span["trace"], "id": span["id"], "name": span["name"], "timestamp": span["begin"] // MICRO, "duration": max(1, (span["end"] - span["begin"]) // MICRO),
           "localEndpoint": {"serviceName": span["service"]}, "tags": tags,
           "annotations": [{"timestamp": (EPOCH + round(time * MILLI)) // MICRO, "value": name} for time, name, _ in span["events"]]}
    if span["kind"] > INTERNAL:
        out["kind"] = KINDS[span["kind"]].upper()
    if span["parent"]:
        out["parentId"] = span["parent"]
    return out


def zipkin(spans):
    ended = sorted(spans, key=lambda span: span["end"])
    return "".join(json.dumps([span_zipkin(span) for span in ended[at:at + 16]], separators=(",", ":")) + "\n" for at in range(0, len(ended), 16))


# ---- all ----

def shown(name):
    return "".join("?" if ord(letter) < 32 or letter == "\u202e" else letter for letter in name)


def write(folder):
    """Writes otlp, jaeger and zipkin below a folder, and what is in each of their files."""
    spans = made()
    rows = {}
    for span in spans:
        row = rows.setdefault(f"{span['service']}: {shown(span['name'])}", [0, 0])
        row[:] = row[0] + 1, row[1] + span["failed"]
    content = {"rows": rows, "spans": len(spans), "traces": len(Counter(span["trace"] for span in spans))}
    rules = ["otlp-clock", "otlp-dropped", "otlp-duplicate", "otlp-remote-parent"]
    files = {"otlp/small/traces.json": otlp_json(spans).encode(), "otlp/small/traces.pb": otlp_pb(spans),
             "otlp/small/traces.json.gz": gzip.compress(otlp_json(spans).encode(), mtime=0), "jaeger/traces.json": jaeger(spans).encode(), "zipkin/small.jsonl": zipkin(spans).encode()}
    model = {}
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        model[name] = dict(content, rules=rules if name.startswith("otlp") else ["otlp-clock", "otlp-remote-parent"])
    (folder / "otlp" / "expected").mkdir(exist_ok=True)
    (folder / "otlp" / "expected" / "model.json").write_text(json.dumps(model, indent=1, sort_keys=True) + "\n")
