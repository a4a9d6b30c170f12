# SPDX-License-Identifier: BSD-3-Clause
"""Compares what `lode` answers on a database with the reference, row by row, and counts what it compared."""

import math
import subprocess
from collections import Counter, defaultdict

import boxes as charts
import db_reference as reference
import db_source
import db_window
import findings
import lodejson
from db_model import Database

BY = ("function", "symbol", "line", "loop", "module", "file", "kind")
HOT_SHARE = 0.5
HISTOGRAM_BINS = 12
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SHOWN = 8


class Wrong(Exception):
    """An answer that is not the reference's."""


class Agreement:
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

    # -- top --

    def top(self, cost, by, sort="exclusive", selection=None):
        answer = self.run("top", "--limit", 0, "--by", by, "--sort", sort, *self.options(cost, selection))
        self.heading(answer, cost)
        self.expect(answer["row_count"], len(answer["rows"]), "row count")
        self._order(answer["rows"], sort)
        found, wanted = defaultdict(list), defaultdict(list)
        for rows, groups in ((answer["rows"], found), (reference.top(cost, by), wanted)):
            for row in rows:
                if not self._is_rounding(row, cost):
                    groups[_shown_names(row)].append(row)
        self._same_keys(found, wanted)
        for key, rows in wanted.items():
            self._top_rows(key, sorted(found[key], key=_amounts), sorted(rows, key=_amounts), cost)

    def top_metrics(self, texts, formulas, metrics, by="function", sort="exclusive"):
        """top --metric A,B,...; `formulas` are functions of {metric name: sum}, and `metrics` all that they need."""
        metric_options = [x for text in texts for x in ("--metric", text)]
        answer = self.run("top", "--limit", 0, "--by", by, "--sort", sort, *metric_options)
        found, sums = defaultdict(list), defaultdict(lambda: defaultdict(lambda: ({}, {})))
        for metric in metrics:
            for row in reference.top(self.cost(metric), by):
                for kind, into in zip(("exclusive", "inclusive"), sums[_shown_names(row)][row["key"]]):
                    into[metric["name"]] = row[kind]
        self.expect(len(answer["metrics"]), len(formulas), "metrics")
        for row in answer["rows"]:
            found[_shown_names(row)].append(row)
        if self.exact:
            self.expect(sorted((str(names), len(rows)) for names, rows in found.items()),
                        sorted((str(names), len(rows)) for names, rows in sums.items()), "rows")
        totals = {m["name"]: self.cost(m).total for m in metrics}
        for names in set(found) & set(sums):
            # Functions that differ in their offsets only look alike: each has to have a row of its own. Rounding would change their order.
            if len(sums[names]) == 1 or self.exact:
                self._metric_rows(found[names], list(sums[names].values()), formulas, totals, names)
        self._order_of_formula([row[f"{sort}_1"] for row in answer["rows"]])

    def _metric_rows(self, found, wanted, formulas, totals, names):
        """Rows of one name: each of `wanted` is a pair of {metric: sum}, exclusive and inclusive."""
        def results(pair):
            return [formula({**dict.fromkeys(totals, 0.0), **values}) for values in pair for formula in formulas]

        fields = [f"{kind}_{number}" for kind in ("exclusive", "inclusive") for number in range(1, len(formulas) + 1)]
        in_order = sorted(wanted, key=lambda pair: _with_nothing_last(results(pair)))
        for row, pair in zip(sorted(found, key=lambda row: _with_nothing_last(row[f] for f in fields)), in_order):
            self.counts["rows"] += 1
            for kind, values in zip(("exclusive", "inclusive"), pair):
                self._formulas(row, kind, formulas, {**dict.fromkeys(totals, 0.0), **values}, totals, names)

    def _formulas(self, row, kind, formulas, values, totals, key):
        for number, formula in enumerate(formulas, 1):
            wanted, found = formula(values), row[f"{kind}_{number}"]
            # A sum that is only rounding in one answer is nothing in the other, and a quotient of it anything.
            if any(0 < abs(v) <= 1e-9 * abs(totals[m]) for m, v in values.items()):
                continue
            scale = 0.0 if wanted is None else max(1.0, *map(abs, totals.values()))
            self.expect(found, None if wanted is None else float(wanted), f"{kind} of formula {number}, {key}", scale * 1e-3)

    def _order_of_formula(self, values):
        keys = [(value is None, -(value or 0.0)) for value in values]
        self.expect(keys == sorted(keys), True, "rows are in the order of the first metric, without a value last")

    def derived(self, taxonomy):
        """The derived metrics of metrics/default.yaml, as 'lode info' lists them."""
        answer = self.run("info")
        totals = {m["name"]: self.cost(m).total for m in self.db.metrics}
        found = {d["name"]: d["value"] for d in answer["derived_metrics"]}
        for name, (formula, _) in taxonomy.items():
            self.counts["formulas"] += 1
            if name not in found:
                raise Wrong(f"derived metric {name} is missing")
            wanted = formula(totals)
            self.expect(found[name], None if wanted is None else float(wanted), f"derived metric {name}")
        means = {n for n, v in found.items()} - set(taxonomy)
        for name in means:
            base, _, unit = name.partition(" (")
            sum_name = f"{base}_ACUMU" + (f" ({unit}" if unit else "")
            wanted = reference.quotient(totals[sum_name], totals[name.split(":")[0] + ":COUNT"])
            self.expect(found[name], wanted, f"mean {name}")

    def _is_rounding(self, row, cost):
        """Rows that only rounding made are in one answer and not in the other."""
        noise = 0.0 if self.exact else 1e-11 * abs(cost.total)
        return abs(row["exclusive"]) <= noise and abs(row["inclusive"]) <= noise

    def _same_keys(self, found, wanted):
        missing = [key for key in wanted if key not in found]
        more = [key for key in found if key not in wanted]
        if missing or more:
            raise Wrong(f"rows missing: {missing[:SHOWN]}, rows that should not be: {more[:SHOWN]}")

    def _top_rows(self, key, found, wanted, cost):
        self.expect(len(found), len(wanted), f"rows of {key}")
        for left, right in zip(found, wanted):
            self.counts["rows"] += 1
            for field in ("exclusive", "inclusive"):
                self.expect(left[field], right[field], f"{field} of {key}", cost.total)
                self.percent(left[field + "_percent"], right[field], cost.total, f"{field} of {key}")
            self.expect(left["contexts"], right["contexts"], f"contexts of {key}")

    def _order(self, rows, sort):
        first, second = ("inclusive", "exclusive") if sort == "inclusive" else ("exclusive", "inclusive")
        if sort == "name":
            keys = [(row["name"].encode(),) for row in rows]
        else:
            keys = [(-row[first], -row[second], row["name"].encode()) for row in rows]
        if keys != sorted(keys):
            raise Wrong(f"rows are not in the order of {sort}")

    # -- source --

    def source(self, cost, selection=None):
        """Every file that has costs."""
        for path, lines in db_source.source(cost).items():
            answer = self.run("source", "--all", *self.options(cost, selection), operands=[path])
            self.heading(answer, cost)
            self.expect(answer["file"], path, "file")
            found = {row["line"]: row for row in answer["rows"]}
            self.expect(len(found), len(answer["rows"]), "different lines")
            self.expect(answer["without_line"], float(lines.get(0, (0, 0))[0]), "cost without a line", cost.total)
            whole = math.fsum(exclusive for exclusive, _ in lines.values())
            self.expect(answer["file_exclusive"], whole, f"cost of {path}", cost.total)
            for line, (exclusive, inclusive) in lines.items():
                wanted = {"exclusive": exclusive, "inclusive": inclusive}
                if line and not self._is_rounding(wanted, cost):
                    self._source_line(found.pop(line, None), wanted, cost, whole, f"{path}:{line}")
            more = [line for line, row in found.items() if not self._is_rounding(row, cost)]
            if more:
                raise Wrong(f"{path}: lines that should have no cost: {more[:SHOWN]}")

    def _source_line(self, row, wanted, cost, whole, where):
        if row is None:
            raise Wrong(f"{where} is missing")
        self.counts["rows"] += 1
        for field, value in wanted.items():
            self.expect(row[field], value, f"{field} of {where}", cost.total)
            self.percent(row[field + "_percent"], value, cost.total, f"{field} of {where}")
        if self.exact:
            self.expect(row["hot"], wanted["exclusive"] > 0 and wanted["exclusive"] >= 0.1 * whole, f"{where} is hot")

    # -- time windows --

    def window(self, window, part=None):
        """Costs of a time window: everything that rests on costs. Seconds are rounded."""
        cost, exact = db_window.WindowCost(self.db, window, part), self.exact
        selection = None if part is None else "profile=" + "+".join(map(str, part))
        what, self.exact = f"{window} {selection or ''}", False
        for by in BY:
            self.attempt(f"top --by {by} in {what}", self.top, cost, by, selection=selection)
        self.attempt(f"tree in {what}", self.tree, cost, selection=selection)
        self.attempt(f"tree --bottom-up in {what}", self.tree, cost, mode="bottom-up", selection=selection)
        if exact:  # of a small database
            self.attempt(f"source in {what}", self.source, cost, selection=selection)
        self.attempt(f"threads in {what}", self._any_number_of_threads, cost, selection)
        self.exact = exact

    def _any_number_of_threads(self, cost, selection):
        one, many = (self.run("top", "--limit", 0, "--threads", n, *self.options(cost, selection)) for n in (1, 7))
        if one != many:
            raise Wrong("the answer depends on the number of threads")

    # -- tree --

    def tree(self, cost, mode="top-down", focus=None, lines=False, depth=0, min_percent=0, selection=None):
        options = ["--limit", 0, "--min-percent", min_percent, "--depth", depth, *self.options(cost, selection)]
        options += ["--bottom-up"] if mode == "bottom-up" else []
        options += ["--lines"] if lines else []
        options += ["--callers" if mode == "callers" else "--focus", focus] if focus else []
        wanted = (reference.bottom_up(cost, focus) if mode == "bottom-up" else reference.callers(cost, focus) if mode == "callers"
                  else reference.tree(cost, focus, lines))
        answer = self.run("tree", *options)
        self.heading(answer, cost)
        self.expect((answer["mode"], answer["focus"], answer["is_truncated"]), (mode, focus, False), "facts")
        roots = nested(answer["rows"])
        pruning = {"depth": depth, "least": min_percent / 100 * cost.total}
        self._siblings(roots, wanted, None, 0, cost, pruning, "")

    # -- flame graphs --

    def flame(self, cost, mode="top-down", focus=None, merged=False, width=300, min_width=1.0):
        """Boxes against rows of the reference: as wide as their costs, one after the other, narrow ones merged."""
        if any(value < 0 for value in cost.own):
            return
        wanted = {"top-down": lambda: reference.merged_tree(cost) if merged else reference.tree(cost, focus),
                  "bottom-up": lambda: reference.bottom_up(cost), "sandwich": lambda: reference.callers(cost, focus)}[mode]()
        words = {"bottom-up": ["--bottom-up"], "sandwich": ["--function", focus]}.get(mode, ["--focus", focus] if focus else [])
        answer = self.run("flame", "--width", width, "--min-width", min_width, *words, *(["--merge-recursion"] if merged else []),
                          *self.options(cost, None))
        self.heading(answer, cost)
        self.expect((answer["mode"], answer["is_truncated"]), (mode, False), "facts")
        whole = math.fsum(row.inclusive for row in wanted if row.inclusive > 0)
        self.expect(answer["whole"], whole, "whole", cost.total)
        children = defaultdict(list)
        for box in answer["boxes"]:
            children[box["parent_box"]].append(box)
        picture = {"children": children, "whole": whole, "least": min_width / width * whole, "cost": cost,
                   "callees": reference.callees(cost, wanted) if mode == "sandwich" else {}}
        step = -1 if mode == "sandwich" else 1
        self._boxes(children[None], wanted, {"x": 0.0, "width": 1.0, "level": answer["origin_level"] - step}, step, picture)

    def _boxes(self, boxes, wanted, parent, step, picture):
        """The boxes that continue one box in one direction."""
        whole, least, cost = picture["whole"], picture["least"], picture["cost"]
        x, noise = parent["x"], 1e-9 * abs(cost.total)
        for box in boxes:
            if box["level"] != parent["level"] + step or abs(box["x"] - x) > 1e-9 or box["x"] + box["width"] > parent["x"] + parent["width"] + 1e-9:
                raise Wrong(f"box {box['box']} is not where it belongs")
            self.expect(box["width"], box["inclusive"] / whole, f"width of box {box['box']}", 1.0)
            x += box["width"]
            if box["more"] and (box["name"], box["kind"], box["context"], box["contexts"], box["calls"]) != (None, None, None, 0, 0):
                raise Wrong(f"box {box['box']} of merged rows has what belongs to one row")
        if any(abs(row.inclusive - least) <= noise for row in wanted):
            return
        shown, found = [r for r in wanted if r.inclusive >= least], [b for b in boxes if not b["more"]]
        narrow = [r.inclusive for r in wanted if 0 < r.inclusive < least]
        merged = [(b["more"], b["inclusive"]) for b in boxes if b["more"]]
        if abs(math.fsum(narrow) - least) > noise and not self.exact and any(0 < n <= noise for n in narrow):
            pass
        elif abs(math.fsum(narrow) - least) > noise:
            right = [(len(narrow), math.fsum(narrow))] if math.fsum(narrow) >= least and narrow else []
            if len(merged) != len(right) or any(a[0] != b[0] or not self.same(a[1], b[1], cost.total) for a, b in zip(merged, right)):
                raise Wrong(f"merged boxes {merged}, not {right}")
        by_context = {box["context"]: box for box in found}
        self.expect(sorted(by_context), sorted(row.first.id for row in shown), "contexts of boxes")
        for row in shown:
            self._box(by_context[row.first.id], row, step, picture)

    def _box(self, box, row, step, picture):
        cost = picture["cost"]
        self.counts["boxes"] += 1
        self.expect(box["name"], row.name, "name")
        self.expect(box["inclusive"], row.inclusive, f"inclusive of '{row.name}'", cost.total)
        self.expect(box["exclusive"], row.exclusive, f"exclusive of '{row.name}'", cost.total)
        self.expect(box["kind"], reference.kind_of(self.db, self.db.function_of(row.first)), f"kind of '{row.name}'")
        following = picture["children"][box["box"]]
        is_center = box["parent_box"] is None and picture["callees"]
        self._boxes([b for b in following if not is_center or b["level"] < box["level"]], row.children, box, step, picture)
        if is_center:
            below = [b for b in following if b["level"] > box["level"]]
            self._boxes(below, picture["callees"][row.first.id], box, 1, picture)

    def tree_at(self, cost):
        """The rows below any row of the tree are those that --root gives for its context."""
        whole = self.run("tree", "--limit", 0, "--min-percent", 0, *self.options(cost, None))["rows"]
        for row in whole[:: max(1, len(whole) // 6)]:
            if row["kind"] == "global":
                continue
            below = [row]
            for other in whole[row["row"] + 1:]:
                if other["depth"] <= row["depth"]:
                    break
                below.append(other)
            found = self.run("tree", "--root", row["context"], "--limit", 0, "--min-percent", 0, *self.options(cost, None))["rows"]
            fields = ("context", "inclusive", "exclusive", "name", "contexts", "children", "omitted", "relation")
            self.expect([(r["depth"], *(r[f] for f in fields)) for r in found],
                        [(r["depth"] - row["depth"], *(r[f] for f in fields)) for r in below], f"tree --root {row['context']}")
            self.counts["rows"] += len(found)
            children = sum(r["depth"] == row["depth"] + 1 for r in below)
            short = self.run("tree", "--root", row["context"], "--depth", 1, "--min-percent", 0, *self.options(cost, None))["rows"]
            self.expect((len(short), short[0]["children"], short[0]["omitted"]), (1, children, children), "rows that --depth omits")
            self.expect(short[0]["omitted_inclusive"], math.fsum(r["inclusive"] for r in below if r["depth"] == row["depth"] + 1),
                        "cost that --depth omits", cost.total)

    def filtered_tree(self, cost, focus):
        """Rows that --include and --exclude leave of the whole tree."""
        for direction in ([], ["--bottom-up"]):
            options = ["--limit", 0, "--min-percent", 0, *direction, *self.options(cost, None)]
            whole = self.run("tree", *options)["rows"]
            names = [row["name"] for row in whole if row["kind"] == "function"
                     and not any(mark in row["name"] for mark in ("*", "?", "..."))]
            for name in {*names[len(names) // 3:][:1], *names[-1:], focus} & set(names):
                is_it = {self.db.function_label(f) for f in range(len(self.db.functions))
                         if name in reference.all_names(self.db, f)} | {name}
                for words, include, exclude in ((["--include", name], is_it.__contains__, lambda other: False),
                                                (["--exclude", name], None, is_it.__contains__)):
                    wanted = reference.resolve.filter_rows(whole, include, exclude)
                    found = self.run("tree", *options, *words)["rows"]
                    keys = [sorted((r["depth"], r["name"], r["inclusive"], r["context"]) for r in rows) for rows in (found, wanted)]
                    self.counts["rows"] += len(found)
                    self.expect(keys[0], keys[1], f"tree {' '.join(words)}")

    def _siblings(self, found, wanted, parent, depth, cost, pruning, path):
        """Rows below one row: `found` as JSON with their children, `wanted` as the reference has them."""
        keys = [(-row["inclusive"], self.db.by_id[row["context"]].index) for row, _ in found]
        if keys != sorted(keys):
            raise Wrong(f"below '{path}': siblings are not in order")
        noise = 0.0 if self.exact else 1e-10 * abs(cost.total)
        by_context = {row["context"]: (row, children) for row, children in found}
        self.expect(len(by_context), len(found), f"below '{path}': different rows")
        left_out = False
        for row in wanted:
            pair = by_context.pop(row.first.id, None)
            is_small = row.inclusive <= 0 or row.inclusive < pruning["least"]
            is_deep = pruning["depth"] and depth + 1 > pruning["depth"]
            if is_deep or (is_small and abs(row.inclusive - pruning["least"]) > noise) or (is_small and self.exact):
                left_out = left_out or row.inclusive > 0
                if pair is not None:
                    raise Wrong(f"'{path}/{row.name}' should be left out")
            elif pair is not None:
                self._tree_row(pair, row, parent, depth, cost, pruning, f"{path}/{row.name}", found[0][0] is pair[0])
            elif abs(row.inclusive - max(0.0, pruning["least"])) > noise:
                raise Wrong(f"'{path}/{row.name}' is missing, {row.inclusive}")
        if any(row["inclusive"] > noise for row, _ in by_context.values()):
            raise Wrong(f"below '{path}': rows that should not be: {list(by_context.values())[:2]}")
        return left_out

    def _tree_row(self, pair, wanted, parent, depth, cost, pruning, path, is_first):
        row, children = pair
        self.counts["rows"] += 1
        for field in ("inclusive", "exclusive"):
            self.expect(row[field], getattr(wanted, field), f"{field} of '{path}'", cost.total)
            self.percent(row[field + "_percent"], getattr(wanted, field), cost.total, f"{field} of '{path}'")
        for field in ("name", "kind", "relation", "contexts", "call_file", "call_line"):
            self.expect(row[field], getattr(wanted, field), f"{field} of '{path}'")
        self.expect(row["depth"], depth, f"depth of '{path}'")
        is_hot = is_first and (parent is None or (parent["hot"] and row["inclusive"] >= HOT_SHARE * parent["inclusive"]))
        self.expect(row["hot"], is_hot, f"'{path}' is on the hot path")
        left_out = self._siblings(children, wanted.children, row, depth + 1, cost, pruning, path)
        if self.exact or not pruning["least"]:
            self.expect(row["folded"], left_out, f"'{path}' has rows below it that are left out")

    # -- profiles, context --

    def profiles(self, metric):
        answer = self.run("profiles", "--limit", 0, "--metric", metric["name"])
        rows, empty, without = reference.profiles(self.db, metric)
        self.expect((answer["row_count"], answer["empty_profiles"], answer["profiles_without_metric"]),
                    (len(rows), empty, without), "counts of profiles")
        spread = reference.distribution([row["value"] for row in rows])
        wanted = sorted(rows, key=lambda row: (-row["value"], row["profile"]))
        self.expect([row["profile"] for row in answer["rows"]], [row["profile"] for row in wanted], "order of profiles")
        for found, right in zip(answer["rows"], wanted):
            self.counts["rows"] += 1
            self.expect(found["value"], right["value"], "value of a profile")
            self.expect(found["name"], right["name"], "name of a profile")
            self.percent(found["percent_of_mean"], right["value"] if spread["mean"] else 0, spread["mean"] or 1,
                         "share of the mean")
        self._spread(answer["distribution"], spread)

    def _amounts(self, metric, contexts, profiles):
        return reference.spread(self.db, lambda p: self.cost(metric, [p]), contexts, profiles)

    def _named(self, name):
        return None if name is None else reference.named_contexts(self.db, name)

    def _row(self, found, sums, mean, what):
        """Of a profile or of a group: (inclusive, exclusive, total)."""
        self.counts["rows"] += 1
        self.expect(found["value"], sums[0], f"inclusive cost of {what}", sums[2])
        self.percent(found["percent_of_mean"], sums[0] if mean else 0, mean or 1, f"share of the mean of {what}")
        if "exclusive" in found:
            self.expect(found["exclusive"], sums[1], f"exclusive cost of {what}", sums[2])
            self.percent(found["percent_of_total"], sums[0], sums[2], f"share of the total of {what}")

    def function_profiles(self, metric, name, selection=()):
        """profiles --function NAME"""
        answer = self.run("profiles", "--limit", 0, "--metric", metric["name"], "--function", name, *selection)
        rows, empty, without = reference.profiles(self.db, metric)
        contexts = self._named(name)
        self.expect((answer["row_count"], answer["empty_profiles"], answer["profiles_without_metric"], answer["contexts"]),
                    (len(rows), empty, without, len(contexts)), "counts of profiles")
        amounts = self._amounts(metric, contexts, [row["profile"] for row in rows])
        spread = reference.distribution([a[0] for a in amounts.values()])
        self.expect(sorted(row["profile"] for row in answer["rows"]), sorted(amounts), "profiles")
        values = [(-row["value"], row["profile"]) for row in answer["rows"]]
        self.expect(values == sorted(values), True, "profiles are in the order of their values")
        for row in answer["rows"]:
            self._row(row, amounts[row["profile"]], spread["mean"], f"profile {row['profile']}")
            self.expect(row["name"], self.db.profile_label(row["profile"]), "name of a profile")
        self._spread(answer["distribution"], spread)

    def groups(self, metric, kinds, name=None, command="profiles"):
        """profiles --by KINDS [--function NAME], top --by KINDS"""
        names = [self.db.id_names[kind].lower() for kind in kinds]
        function = [] if name is None else ["--function", name]
        answer = self.run(command, "--limit", 0, "--metric", metric["name"], "--by", ",".join(names), *function)
        rows, empty, without = reference.profiles(self.db, metric)
        amounts = self._amounts(metric, self._named(name), [row["profile"] for row in rows])
        groups, others = reference.groups(self.db, amounts, kinds)
        self.expect((answer["row_count"], answer["empty_profiles"], answer["profiles_without_metric"],
                     answer["profiles_without_ids"]), (len(groups), empty, without, others), "counts of groups")
        sums = {ids: [math.fsum(column) for column in zip(*(amounts[p] for p in profiles))] for ids, profiles in groups}
        spread = reference.distribution([s[0] for s in sums.values()])
        found = {tuple((part["id"], part["physical"] or 0) for part in row["id_tuple"]): row for row in answer["rows"]}
        self.expect(sorted(found), [ids for ids, _ in groups], "groups")
        for ids, profiles in groups:
            row, values = found[ids], [amounts[p][0] for p in profiles]
            self._row(row, sums[ids], spread["mean"], f"group {ids}")
            mean = math.fsum(values) / len(values)
            self.expect(row["profiles"], len(profiles), "profiles of a group")
            for field, value in (("min", min(values)), ("mean", mean), ("max", max(values))):
                self.expect(row[field], value, f"{field} of a group", sums[ids][2])
            self.percent(row["imbalance_percent"], max(values) - mean if mean else 0, mean or 1, "imbalance of a group")
        self._spread(answer["distribution"], spread)

    def _spread(self, found, wanted):
        if found.keys() != wanted.keys():
            raise Wrong(f"fields of the distribution: {sorted(found)}")
        for field, value in wanted.items():
            scale = 1 if field == "imbalance" else max(abs(wanted["max"]), abs(wanted["min"]))
            good = math.isclose(found[field], value, rel_tol=1e-9, abs_tol=1e-9 * scale)
            if not good:
                raise Wrong(f"{field} of the distribution: {value!r} is right, found {found[field]!r}")

    def context(self, metric, context_id, kind="execution"):
        scope = next(self.db.scopes[i["scope"]]["name"] for i in metric["scopes"]
                     if self.db.scopes[i["scope"]]["type"] == kind)
        answer = self.run("context", "--limit", 0, "--metric", metric["name"], "--scope", scope, operands=[context_id])
        values, empty = reference.context(self.db, metric, context_id, kind)
        zeros = sum(1 for value in values.values() if value == 0)
        self.expect((answer["context"], answer["profiles"], answer["profiles_without_value"], answer["empty_profiles"]),
                    (context_id, len(values), zeros, empty), "counts of profiles")
        path = [(c.id, c.relation, self.db.label(c)) for c in self.db.by_id[context_id].above()][::-1]
        self.expect([tuple(step.values()) for step in answer["path"]], path, "call path")
        spread = reference.distribution(values.values())
        self._spread(answer["distribution"], spread)
        if spread["max"] > spread["min"]:
            self.expect(sum(b["count"] for b in answer["histogram"]), len(values), "values in the histogram")
            if self.exact:
                self.expect([b["count"] for b in answer["histogram"]],
                            reference.histogram(values.values(), HISTOGRAM_BINS), "histogram")
        wanted = reference.outliers(values)
        self.expect(answer["row_count"], len(wanted), "outliers")
        order = sorted(wanted, key=lambda p: (-abs(wanted[p] - spread["median"]), p))
        self.expect([row["profile"] for row in answer["rows"]], order, "order of outliers")
        for row in answer["rows"]:
            self.counts["rows"] += 1
            self.expect(row["value"], wanted[row["profile"]], "value of an outlier")
            self.expect(float(row["deviation"]), wanted[row["profile"]] - spread["median"], "deviation of an outlier",
                        spread["max"])
            self.expect(row["name"], self.db.profile_label(row["profile"]), "name of an outlier")

    # -- plots of profiles --

    def _plots(self, answer, values, order, bins, kinds):
        """What --bins and --matrix add, of {profile: value}."""
        rows = reference.in_order(self.db, values, order)
        scale = max(map(abs, values.values()), default=0)
        wanted = reference.in_bins(rows, bins)
        self.expect(len(answer["bins"]), len(wanted), "number of bins")
        for found, right in zip(answer["bins"], wanted):
            self.counts["rows"] += 1
            for field in ("first", "count", "profile"):
                self.expect(found[field], right[field], f"{field} of a bin")
            for field in ("min", "mean", "max"):
                self.expect(float(found[field]), right[field], f"{field} of a bin", scale)
            self.expect(found["name"], self.db.profile_label(right["profile"]), "name of a bin")
        spread = reference.distribution(values.values())
        if spread["max"] > spread["min"] and self.exact:
            self.expect([b["count"] for b in answer["value_histogram"]],
                        reference.histogram(values.values(), min(bins, 60)), "histogram")
        far = reference.outliers(values)
        self.expect(answer["outlier_count"], len(far), "number of outliers")
        order = sorted(far, key=lambda p: (-abs(far[p] - spread["median"]), p))[:5]
        self.expect([row["profile"] for row in answer["outliers"]], order, "outliers")
        cells, without = reference.matrix(self.db, values, kinds, 64)
        self.expect(answer["matrix_profiles_without_ids"], without, "profiles without ids")
        found = {((c["row_first"], c["row_last"]), (c["column_first"], c["column_last"])): c for c in answer["matrix"]}
        self.expect(list(found), sorted(cells), "cells of the matrix")
        for key, profiles in cells.items():
            of_cell = [values[p] for p in profiles]
            self.expect((found[key]["profiles"], found[key]["profile"]), (len(profiles), min(profiles)), "profiles of a cell")
            for field, value in (("min", min(of_cell)), ("mean", math.fsum(of_cell) / len(of_cell)), ("max", max(of_cell))):
                self.expect(float(found[key][field]), value, f"{field} of a cell", scale)

    def _kinds(self):
        used = sorted({i["kind"] for p in self.db.ordinary_profiles() for i in self.db.profiles[p]["ids"]})
        kinds = (used * 2)[-2:]
        return kinds, ",".join(self.db.id_names[kind].lower() for kind in kinds)

    def profile_plots(self, metric, order, bins):
        """profiles --bins --matrix"""
        kinds, names = self._kinds()
        answer = self.run("profiles", "--metric", metric["name"], "--bins", bins, "--sort", order, "--matrix", names)
        rows, _, _ = reference.profiles(self.db, metric)
        self._plots(answer, {row["profile"]: row["value"] for row in rows}, order, bins, kinds)

    def context_plots(self, metric, context_id, order, bins):
        """context --bins --matrix"""
        kinds, names = self._kinds()
        answer = self.run("context", "--metric", metric["name"], "--bins", bins, "--sort", order, "--matrix", names,
                          operands=[context_id])
        values, _ = reference.context(self.db, metric, context_id)
        self._plots(answer, values, order, bins, kinds)

    def found(self, text):
        """search TEXT, for a text without a special meaning"""
        answer = self.run("search", "--limit", 0, operands=[text])
        rows = defaultdict(list)
        for row in answer["rows"]:
            rows[row["kind"]].append(row)
        low = text.lower()
        wanted = {"file": dict(enumerate(f["path"] for f in self.db.files)),
                  "module": dict(enumerate(m["path"] for m in self.db.modules)),
                  "metric": dict(enumerate(m["name"] for m in self.db.metrics)),
                  "profile": {p: self.db.profile_label(p) for p in self.db.ordinary_profiles()}}
        for kind, names in wanted.items():
            right = {i: name for i, name in names.items() if low in name.lower()}
            self.expect(answer[f"{kind}_count"], len(right), f"number of {kind}s with '{text}'")
            rank = {i: (name != text, name.lower() != low, text not in name, len(name.encode())) for i, name in right.items()}
            if self.has_indices:
                self.expect({row["index"]: row["name"] for row in rows[kind]}, right, f"{kind}s with '{text}'")
                order = sorted(right, key=lambda i: (rank[i], i))
                self.expect([row["index"] for row in rows[kind]], order, f"order of {kind}s with '{text}'")
            else:
                self.expect(Counter(row["name"] for row in rows[kind]), Counter(right.values()), f"{kind}s with '{text}'")
                lengths = [len(row["name"].encode()) for row in rows[kind] if text in row["name"] and row["name"].lower() != low]
                self.expect(lengths, sorted(lengths), f"order of {kind}s with '{text}'")
        self._found_functions(low, rows["function"], text)

    def _found_functions(self, low, rows, text):
        names = {i: reference.all_names(self.db, i) for i in range(len(self.db.functions))}
        for known in names.values():  # the short name of a conversion does not say to what
            known |= {name.split("::operator ")[0] + "::operator(cast)" for name in known if "::operator " in name}
        right = {i for i in names if any(low in name.lower() for name in names[i])}
        if self.has_indices:
            self.expect({row["index"] for row in rows}, right, f"functions with '{text}'")
            self.expect([row["name"] for row in rows if row["name"] not in names[row["index"]]], [], f"names of functions with '{text}'")
        else:
            # Entry points of drafts are functions in the file, and contexts without a function here.
            right &= {context.function for context in self.db.contexts if context.lexical == "function"}
            shown = {row["name"] for row in rows}
            self.expect([sorted(names[i]) for i in right if not names[i] & shown], [], f"functions with '{text}' that were not found")
            self.expect(shown - {name for i in right for name in names[i]}, set(), f"functions found with '{text}'")

    # -- trace --

    def trace(self, window=None, depth=0, columns=100):
        """`window`: a pair of times since the epoch, or None."""
        options = ["--limit", 0, "--rows", 0, "--depth", depth, "--columns", columns]
        options += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"] if window else []
        answer = self.run("trace", *options)
        start, end = window or (None, None)
        trace = reference.Trace(self.db, start, end, depth, columns)
        rows = trace.rows()
        self.expect(answer["start_ns"], self.db.traces["min_time_ns"], "beginning of the traces")
        if trace.lines and rows:
            self.expect((answer["from_ns"], answer["to_ns"]), (trace.start, trace.end), "window")
        self.expect(answer["samples"], sum(samples for _, samples in rows.values()), "samples")
        self.expect(answer["row_count"], len(rows), "functions")
        total = sum(time for time, _ in rows.values())
        order = trace.order()
        letters = self._letters(order)
        wanted = [(letters[key], *rows[key], *self._function(trace, key)) for key in order]
        found = [tuple(row[k] for k in ("letter", "nanoseconds", "samples", "context", "name")) for row in answer["rows"]]
        self.expect(found, wanted, "functions of the trace")
        for row, key in zip(answer["rows"], order):
            self.counts["rows"] += 1
            self.percent(row["percent"], rows[key][0], total, "share of a function")
        lines = Counter((profile, "".join(letters[cell[0]] if cell else " " for cell in cells))
                        for profile, cells in trace.lines if any(cells))
        self.counts["trace lines"] += len(trace.lines)
        self.expect((answer["line_count"], answer["lines_without_samples"]),
                    (len(trace.lines), len(trace.lines) - lines.total()), "counts of trace lines")
        self.expect(Counter((line["profile"], line["cells"]) for line in answer["timeline"]), lines, "trace lines")

    def picture(self, window=None, depth=0, columns=100, rows=40, idle="dominant", probes=False):
        """Lines added up into rows: each cell, and nanoseconds of functions."""
        options = ["--merge", "--limit", 0, "--rows", rows, "--depth", depth, "--columns", columns, "--idle-time", idle]
        options += ["--probes"] if probes else []
        options += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"] if window else []
        start, end = window or (None, None)
        picture = reference.Picture(self.db, start, end, depth, columns, None, rows, idle, probes)
        answers = [self.run("trace", *options, "--threads", threads) for threads in (1, 3)]
        self.expect(answers[0], answers[1], "the answer with other threads")
        answer, times = answers[0], picture.rows()
        found = [tuple(row[k] for k in ("nanoseconds", "samples", "context", "name")) for row in answer["rows"]]
        self.expect(found, [(*times[key], *self._function(picture, key)) for key in picture.order()], "shares of functions")
        found = [(line["profile"], line["merged_lines"], list(zip(bytes.fromhex(line["keys"]), bytes.fromhex(line["fills"]))))
                 for line in answer["timeline"]]
        self.expect(found, picture.picture, "cells")
        self.counts["cells"] += sum(len(cells) for _, _, cells in picture.picture)

    def stacks(self, time):
        """The call path of each line at a time."""
        answer = self.run("trace", "--at", f"@{time}", "--rows", 0)
        found, wanted = defaultdict(list), {}
        for row in answer["rows"]:
            found[row["line_index"]].append((row["depth"], int(row["begin_ns"]), int(row["end_ns"]), row["context"]))
        for line in self.db.traces["lines"]:
            at = [i for i, (t, _) in enumerate(line["samples"]) if t <= time]
            if not at or at[-1] + 1 == len(line["samples"]):
                continue
            (begin, id), end = line["samples"][at[-1]], line["samples"][at[-1] + 1][0]
            path = self._path(id)
            if path:
                wanted[line["profile"]] = [(i + 1, begin, end, context) for i, context in enumerate(path)]
        self.expect(dict(found), wanted, "call paths")
        self.counts["call paths"] += len(wanted)

    def boxes(self, window=None, columns=50, depth=0):
        """Calls over time by depth, of all lines."""
        options = ["--columns", columns, "--rows", 0, *(["--depth", depth] if depth else [])]
        if window:
            options += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"]
        answer = self.run("trace", "--boxes", *options)
        start, end = int(answer["from_ns"]), int(answer["to_ns"])
        self.expect((start, end), window or (self.db.traces["min_time_ns"], self.db.traces["max_time_ns"] + 1), "window")
        found, wanted = defaultdict(list), {}
        for row in answer["rows"]:
            numbers = (int(row["begin_ns"]), int(row["end_ns"]), row["duration_ns"], row["calls"], row["context"])
            found[row["line_index"]].append((row["depth"], *numbers))
        for line in self.db.traces["lines"]:
            calls = charts.calls_of_samples(line["samples"], self._path)
            rows = [row for row in charts.boxes(calls, start, end, columns) if not depth or row[0] <= depth]
            if rows:
                wanted[line["profile"]] = rows
        self.expect({line: sorted(rows, key=lambda box: box[:5]) for line, rows in found.items()}, wanted, "boxes")
        self.expect(all(rows == sorted(rows, key=lambda box: box[:2]) for rows in found.values()), True, "order of boxes")
        self.counts["boxes"] += sum(map(len, wanted.values()))

    def _path(self, id):
        return [c.id for c in self.db.by_id[id].above() if c.lexical != "global"][::-1] if id in self.db.by_id else []

    def _function(self, trace, key):
        if key is None:
            return None, "(not listed)"
        context = trace.contexts[key]
        return context.id, "(not running)" if context.lexical == "global" else self.db.label(context)

    def _letters(self, order):
        letters, unused = {}, list(LETTERS)
        for key in order:
            letters[key] = "." if key == ("global",) else unused.pop(0) if unused else "~"
        return letters


def interesting_functions(db, cost):
    """Names of functions: the most expensive one, one with many contexts, a recursive one."""
    contexts = defaultdict(list)
    for context in db.contexts:
        if context.begins_function() and context.function is not None and db.functions[context.function]["name"]:
            contexts[db.functions[context.function]["name"]].append(context)
    if not contexts:
        return []
    by_cost = max(contexts, key=lambda n: max(cost.own[c.index] for c in contexts[n]))
    most = max(contexts, key=lambda n: len(contexts[n]))
    recursive = [n for n, group in contexts.items()
                 if any(a.function == c.function for c in group for a in c.above() if a is not c and a.begins_function())]
    return list(dict.fromkeys([by_cost, most, *recursive[:1]]))


def _shown_names(row):
    """What a row of `lode top` is called, and where it is."""
    return tuple(row[k] for k in ("name", "function", "file", "line", "module"))


def _with_nothing_last(values):
    return [(value is None, value or 0.0) for value in values]


def _amounts(row):
    return row["exclusive"], row["inclusive"], row["contexts"]


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
