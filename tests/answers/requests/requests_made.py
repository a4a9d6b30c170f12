# SPDX-License-Identifier: BSD-3-Clause
"""
Services with planted causes, as lines for requests_write: several entry points, Poisson arrivals, log-normal durations of methods, and attributes with
constants, ids, skewed and equal shares. Every cause can be left out; then nothing is to be found.
"""

import math
import subprocess
from random import Random

METHODS = [("com.shop.web.HomeController", "show"), ("com.shop.web.ProductController", "show"), ("com.shop.web.SearchController", "search"),
           ("com.shop.web.CartController", "update"), ("com.shop.web.OrderController", "submit"), ("com.shop.catalog.ProductRepository", "find"),
           ("com.shop.search.Index", "query"), ("com.shop.order.OrderService", "create"), ("com.shop.web.Templates", "render"),
           ("org.postgresql.jdbc.PgPreparedStatement", "executeQuery"), ("com.shop.payment.PaymentClient", "charge"), ("com.shop.pool.Pool", "take")]
FIND, INDEX, CREATE, RENDER, QUERY, CHARGE, POOL = range(5, 12)
# Calls of each entry point: method, mean of its own time in ms, statement.
STEPS = {
    0: [(FIND, 2, None), (QUERY, 9, "SELECT * FROM products WHERE featured LIMIT 12"), (RENDER, 6, None)],
    1: [(FIND, 1, None), (QUERY, 7, "SELECT * FROM products WHERE id = {}"), (RENDER, 5, None)],
    2: [(INDEX, 14, None), (QUERY, 8, "SELECT * FROM products WHERE id IN ({}, {})"), (RENDER, 7, None)],
    3: [(FIND, 2, None), (QUERY, 11, "UPDATE carts SET items = {} WHERE id = {}"), (RENDER, 3, None)],
    4: [(CREATE, 6, None), (QUERY, 10, "INSERT INTO orders VALUES ({}, 'x{}')"), (CHARGE, 30, None), (RENDER, 4, None)],
}
SHARES = [0.3, 0.3, 0.2, 0.12, 0.08]
SIGMA = 0.5
CAUSES = ("none", "outliers", "tenant", "n-plus-one", "burst", "queueing", "retries", "slow-method", "gap", "error-rate", "identical")


class Lines:
    """Requests, as lines of requests_write."""

    def __init__(self, methods=METHODS):
        self.lines = ["\t".join(("M", *method, "()")) for method in methods]
        self.now, self.depth = 0, 0

    def request(self, begin):
        self.lines.append(f"R\t{int(begin)}")
        self.now = 0

    def enter(self, method, **attributes):
        self.lines.append(f"(\t{int(self.now)}\t{method}")
        self.attribute(attributes)

    def attribute(self, attributes):
        self.lines += [f"A\t{key}\t{value}" for key, value in attributes.items()]

    def spend(self, microseconds):
        self.now += microseconds

    def fail(self):
        self.lines.append("X")

    def counted(self, calls):
        self.lines.append(f"C\t{calls}")

    def leave(self):
        self.lines.append(f")\t{int(self.now)}")

    def call(self, method, microseconds, failed=False, **attributes):
        self.enter(method, **attributes)
        self.spend(microseconds)
        if failed:
            self.fail()
        self.leave()

    def write(self, program, path):
        text = "\n".join(self.lines) + "\n"
        subprocess.run([program, str(path)], input=text.encode(), check=True, timeout=300)


def lognormal(random, mean, sigma=SIGMA):
    """Microseconds; the mean is in ms, the median is below it."""
    return 1000 * mean * math.exp(random.gauss(0, sigma) - sigma * sigma / 2)


def attributes_of(random, number):
    """No attribute has anything to do with durations."""
    skewed = min(int(random.expovariate(0.4)), 20)
    return {"component": "http", "request.id": f"r{number:08x}", "tenant": f"t{skewed}", "region": random.choice(("eu", "us", "asia")),
            "host": f"node-{random.randrange(24)}", "http.status": "200" if random.random() < 0.97 else "304", "user": f"u{random.randrange(3000)}",
            "version": "2.1" if random.random() < 0.8 else "2.2", "locale": random.choice(("de", "en", "fr", "es", "it", "pl", "ja"))}


class Service:
    """`cause`: what is planted; one of CAUSES."""

    def __init__(self, cause, seed, count=10000, rate=100.0):
        self.random, self.cause, self.count, self.rate = Random(f"{cause} {seed}"), cause, count, rate
        self.lines = Lines()
        self.span = count / rate
        self.burst = self.random.uniform(0.1, 0.9) * self.span
        self.free = 0.0  # queueing: when the one resource is free
        self.sigma = 0.25 if cause == "outliers" else SIGMA
        self.tenant = f"t{self.random.randrange(1, 4)}"

    def statement(self, text):
        return text.format(*(self.random.randrange(10 ** 6) for _ in range(text.count("{}"))))

    def step(self, step, slow):
        method, mean, text = step
        spent = lognormal(self.random, mean, self.sigma) * slow
        if text is None:
            self.lines.call(method, spent)
        else:
            self.lines.call(method, spent, **{"db.statement": self.statement(text)})

    def repeat(self, entry):
        """n+1: one statement for each of many rows; each has a caller of its own."""
        rows = 8 + self.random.randrange(20)
        value = self.random.randrange(10 ** 6)
        for _ in range(rows):
            self.lines.enter(FIND)
            value = value if self.cause == "identical" else self.random.randrange(10 ** 6)
            self.lines.call(QUERY, lognormal(self.random, 2), **{"db.statement": f"SELECT name FROM users WHERE id = {value}"})
            self.lines.leave()

    def retry(self):
        """A payment service that often fails, with pauses between tries."""
        for _ in range(6):
            failed = self.random.random() < 0.6
            self.lines.call(CHARGE, lognormal(self.random, 15), failed)
            if not failed:
                return
            self.lines.spend(5000)

    def view(self):
        """How much longer a page takes: some are slow, or a few are very slow, whatever the attributes."""
        if self.cause == "slow-method":
            return 25 if self.random.random() < 0.03 else 1
        if self.cause == "outliers":
            return 400 if self.random.random() < 0.004 else 1
        return 1

    def fails(self, begin):
        rate = 0.005
        if self.cause == "burst" and self.burst <= begin < self.burst + 0.01 * self.span:
            rate = 0.4
        if self.cause == "error-rate":
            rate = 0.07
        return self.random.random() < rate

    def wait(self, begin):
        """One resource, used by all; requests wait for it in the order of arrival."""
        need = lognormal(self.random, 9) / 1e6
        start = max(begin, self.free)
        self.free = start + need
        self.lines.enter(POOL)
        self.lines.spend(1e6 * (start - begin))
        self.lines.leave()
        self.lines.spend(1e6 * need)

    def request(self, number, begin):
        random, lines = self.random, self.lines
        entry = random.choices(range(5), SHARES)[0]
        attributes = attributes_of(random, number)
        slow = 6 if self.cause == "tenant" and attributes["tenant"] == self.tenant and random.random() < 0.5 else 1
        lines.request(1e6 * begin)
        lines.enter(entry, **attributes)
        lines.spend(lognormal(random, 60 if self.cause == "gap" else 2))
        if self.cause == "queueing":
            self.wait(begin)
        for step in STEPS[entry]:
            slow_view = self.view() if step[0] == RENDER else 1
            self.step(step, slow if step[0] == QUERY else slow_view)
        if self.cause in ("n-plus-one", "identical") and entry == 2:
            self.repeat(entry)
        if self.cause == "retries" and entry in (3, 4):
            self.retry()
        if self.fails(begin):
            lines.fail()
        lines.leave()

    def make(self):
        now = 0.0
        for number in range(self.count):
            now += self.random.expovariate(self.rate)
            self.request(number, now)
        return self.lines
