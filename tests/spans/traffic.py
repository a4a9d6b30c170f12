# SPDX-License-Identifier: BSD-3-Clause
"""
Made traffic of four services, with a seed: healthy, or with one planted problem. Times are those of a model, so that the truth is known: gateway, orders,
inventory and mail; orders are looked at, listed on a dashboard (three concurrent calls) and checked out (a lock that is free).
"""

import json
import random

EPOCH = 1_794_909_183_000_000_000
MILLI = 10**6
INTERNAL, SERVER, CLIENT = 1, 2, 3


class Traffic:
    def __init__(self, seed, planted="", requests=240):
        self.random, self.planted, self.requests = random.Random(f"{seed} {planted}"), planted, requests
        self.spans, self.truth = [], 0

    def long(self, mean):
        """A duration with the usual spread."""
        return mean * self.random.lognormvariate(0, 0.25)

    def start(self, trace, parent, service, name, kind, begin, **more):
        span = {"trace": trace, "id": self.random.getrandbits(63) + 1, "parent": parent["id"] if parent else 0, "service": service, "name": name, "kind": kind,
                "begin": begin, "end": begin, "attributes": {}, "failed": False, "exception": "", "version": "1.4.2"}
        span.update(more)
        self.spans.append(span)
        return span

    def work(self, parent, name, begin, mean, kind=INTERNAL, **more):
        """A call without callees; when it ended."""
        span = self.start(parent["trace"], parent, parent["service"], name, kind, begin, **more)
        span["end"] = begin + self.long(mean)
        return span["end"]

    def ask(self, parent, service, name, begin, serve, network=0.4, **more):
        """A client and its server, whose work is `serve`; when it ended, and whether it failed."""
        client = self.start(parent["trace"], parent, parent["service"], "GET" if name.startswith("GET") else "POST", CLIENT, begin,
                            attributes={"url.full": f"http://{service}:8080/{self.random.randrange(1000)}"}, version=parent["version"])
        server = self.start(parent["trace"], client, service, name, SERVER, begin + self.long(network), attributes={"http.route": name.split()[1]}, **more)
        server["end"] = serve(server, server["begin"] + self.long(0.2)) + self.long(0.2)
        client["failed"] = server["failed"]
        client["end"] = server["end"] + self.long(network)
        return client["end"], server["failed"]

    # ---- services ----

    def select(self, table):
        return lambda server, at: self.work(server, f"SELECT {table}", at, 3, CLIENT, attributes={"db.query.text": f"select * from {table} where id = ?"})

    def stock(self, server, at):
        cold = self.planted == "outliers" and self.random.random() < 0.12
        server["attributes"]["cache.state"] = "cold" if cold else "warm"
        self.truth += cold
        if cold:
            at = self.work(server, "load cache", at, 90)
        return self.select("stock")(server, at)

    def view_order(self, gateway, at):
        at, _ = self.ask(gateway, "orders", "GET /orders/:id", at, self.select("orders"), 14 if self.planted == "queues" else 0.4)
        if self.planted == "statements":
            self.truth += 1
            for _ in range(self.random.randrange(6, 15)):
                at = self.work(gateway, "SELECT lines", at + 0.5, 2, CLIENT, attributes={"db.query.text": "select * from lines where id = ?"})
        if self.planted == "round trips":
            self.truth += 1
            for _ in range(self.random.randrange(6, 12)):
                at, _ = self.ask(gateway, "inventory", "GET /stock/:sku", at + 0.3, self.stock)
        return self.work(gateway, "render", at, 3)

    def dashboard(self, gateway, at):
        collect = self.start(gateway["trace"], gateway, "gateway", "collect", INTERNAL, at)
        ends = [at]
        for service, name, serve in (("orders", "GET /orders/:id", self.select("orders")), ("inventory", "GET /stock/:sku", self.stock), ("mail", "GET /inbox", self.select("mail"))):
            begin = ends[-1] if self.planted == "serial" else at
            ends.append(self.ask(collect, service, name, begin, serve, version="1.4.2")[0])
        self.truth += self.planted == "serial"
        collect["end"] = max(ends)
        return self.work(gateway, "render", collect["end"], 1)

    def reserve(self, server, at):
        if self.planted == "lock":
            at = self.work(server, "lock.wait", at, 6)
            self.truth += 1
        elif self.planted == "pool":
            at = self.work(server, "HikariPool.getConnection", at, 9)
            self.truth += 1
        else:
            at = self.work(server, "lock.wait", at, 0.02)
        server["failed"] = self.planted == "retries" and self.random.random() < 0.25
        return self.work(server, "reserve", at, 5, failed=server["failed"])

    def validate(self, server, at):
        if self.planted == "release":
            server["version"] = "1.5.0" if self.random.random() < 0.5 else "1.4.2"
        server["failed"] = self.planted == "exception" and self.random.random() < 0.2 or self.planted == "release" and server["version"] == "1.5.0" and self.random.random() < 0.4
        self.truth += server["failed"]
        return self.work(server, "validate order", at, 2, failed=server["failed"], exception="TypeError" if server["failed"] else "", version=server["version"])

    def checkout(self, gateway, at):
        attempts = 0
        while True:
            attempt = self.start(gateway["trace"], gateway, "gateway", "reserve attempt", INTERNAL, at)
            attempt["end"], attempt["failed"] = self.ask(attempt, "inventory", "POST /reserve/:sku", at, self.reserve)
            at, attempts = attempt["end"], attempts + 1
            if not attempt["failed"] or attempts == 4:
                break
            at += 25
        self.truth += self.planted == "retries" and attempts > 1
        at, gateway["failed"] = self.ask(gateway, "orders", "POST /orders", at, self.validate)
        return at

    # ---- all ----

    def run(self):
        at = 0.0
        kinds = [("GET /order/:id", self.view_order), ("GET /dashboard", self.dashboard), ("POST /checkout", self.checkout)]
        for trace in range(1, self.requests + 1):
            at += self.random.expovariate(1 / 60)
            name, serve = self.random.choice(kinds)
            server = self.start(trace, None, "gateway", name, SERVER, at, attributes={"http.route": name.split()[1], "user.tier": self.random.choice(["free", "paid"])})
            server["end"] = serve(server, at + self.long(0.3)) + self.long(0.3)
        self.random.shuffle(self.spans)
        return self

    def write(self, path):
        batches = {}
        for span in self.spans:
            batches.setdefault((span["service"], span["version"]), []).append(span)
        with open(path, "w", encoding="utf-8") as out:
            for (service, version), spans in sorted(batches.items()):
                resource = pairs({"service.name": service, "service.version": version, "host.name": f"host-{service}"})
                for at in range(0, len(spans), 100):
                    body = {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [{"scope": {"name": "shop"}, "spans": [encode(span) for span in spans[at:at + 100]]}]}]}
                    out.write(json.dumps(body, separators=(",", ":")) + "\n")


def pairs(attributes):
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]


def time(milliseconds):
    return str(EPOCH + round(milliseconds * MILLI))


def encode(span):
    out = {"traceId": f"{0x5eed << 112 | span['trace']:032x}", "spanId": f"{span['id']:016x}", "name": span["name"], "kind": span["kind"],
           "startTimeUnixNano": time(span["begin"]), "endTimeUnixNano": time(span["end"]), "attributes": pairs(span["attributes"]), "status": {"code": 2} if span["failed"] else {}}
    if span["parent"]:
        out["parentSpanId"] = f"{span['parent']:016x}"
    if span["exception"]:
        out["events"] = [{"timeUnixNano": time(span["end"]), "name": "exception", "attributes": pairs({"exception.type": span["exception"], "exception.message": "no such item"})}]
    return out
