# SPDX-License-Identifier: BSD-3-Clause
"""One database and questions about it: running commands, and comparing numbers with those of the reference."""

import math
import subprocess
from collections import Counter

import db_reference as reference
import db_window
import findings
import lodejson
from db_model import Database


class Wrong(Exception):
    """An answer that is not the reference's."""


class Asking:
    """One database, and all that was asked about it. `exact`: its numbers are small integers, which add up without rounding."""

    def __init__(self, lode, path, data, exact=False, has_indices=True):
        """has_indices: the file numbers functions, files and modules; otherwise the reader does."""
        self.lode, self.path, self.exact, self.has_indices = lode, path, exact, has_indices
        self.data, self.db = data, Database(data)
        self.counts, self.wrong = Counter(), []
        self.costs = {}

    # -- running --

    def run(self, command, *options, operands=()):
        arguments = [self.lode, command, "--json", *map(str, options), str(self.path), *map(str, operands)]
        self.counts["commands"] += 1
        done = subprocess.run(arguments, capture_output=True, timeout=300)
        if done.returncode or findings.without(done.stderr):
            raise Wrong(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
        return lodejson.loads(done.stdout)

    def attempt(self, what, check, *arguments, **keywords):
        """Runs one comparison; what is wrong is noted and does not end the others."""
        try:
            check(*arguments, **keywords)
        except Wrong as wrong:
            self.wrong.append(f"{what}: {wrong}")

    # -- numbers --

    def same(self, found, wanted, scale=0.0):
        if wanted is None or found is None:
            return found is wanted
        if self.exact:
            return found == wanted
        return abs(found - wanted) <= 1e-9 * max(abs(wanted), abs(scale)) + 1e-300

    def expect(self, found, wanted, what, scale=0.0):
        if isinstance(wanted, float) or isinstance(found, float):
            good = self.same(found, wanted, scale)
        else:
            good = found == wanted
        if not good:
            raise Wrong(f"{what}: {wanted!r} is right, found {found!r}")

    def percent(self, found, amount, total, what):
        """There is no share of nothing."""
        wanted = 100 * (amount / total) if total > 0 else None
        if wanted is not None and not math.isfinite(wanted):
            wanted = None
        if found is None or wanted is None:
            good = found is wanted
        else:
            good = math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-7)
        if not good:
            raise Wrong(f"{what}: {wanted!r} % is right, found {found!r}")

    def cost(self, metric, profiles=None):
        key = (metric["name"], None if profiles is None else tuple(profiles))
        if key not in self.costs:
            self.costs[key] = reference.Cost(self.db, metric, profiles)
        return self.costs[key]

    def heading(self, answer, cost):
        self.expect(answer["metric"], cost.metric["name"], "metric")
        self.expect(answer["total"], cost.total, "total")
        self.expect(answer["profiles"], cost.profiles, "profiles")
        self.expect(answer["unlisted_contexts"], len(cost.unlisted_ids), "unlisted contexts")
        self.expect(answer["unlisted_values"], cost.unlisted_values, "unlisted values")
        if isinstance(cost, db_window.WindowCost):
            self.expect((answer["is_sampled"], answer["samples"]), (True, cost.samples), "samples")
            self.expect(float(answer["idle"]), cost.idle, "idle time")

    def metric_text(self, metric):
        """An accumulator is shown as its mean unless it is asked for by number."""
        return f"${self.db.metrics.index(metric)}" if "_ACUMU" in metric["name"] else metric["name"]

    def options(self, cost, selection):
        if isinstance(cost, db_window.WindowCost):
            window = ["--from", f"@{cost.window[0]}", "--to", f"@{cost.window[1]}"]
            return [*window, *(["--profiles", selection] if selection else [])]
        return ["--metric", self.metric_text(cost.metric), *(["--profiles", selection] if selection else [])]


def nested(rows):
    """[(row, [(row below it, [...])...])...] from rows with depths, in depth-first order."""
    roots, path = [], []
    for row in rows:
        pair = (row, [])
        del path[row["depth"]:]
        if len(path) != row["depth"]:
            raise Wrong(f"a row at depth {row['depth']} follows one at depth {len(path) - 1}")
        (path[-1][1] if path else roots).append(pair)
        path.append(pair)
    return roots
