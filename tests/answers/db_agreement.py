# SPDX-License-Identifier: BSD-3-Clause
"""Compares what `lode` answers on a database with the reference, row by row, and counts what it compared."""

import math
from collections import defaultdict

import db_reference as reference
import db_source
import db_window
from asking import Wrong, nested
from asking.profiles import ProfileAnswers
from asking.traces import TraceAnswers

BY = ("function", "symbol", "line", "loop", "module", "file", "kind")
HOT_SHARE = 0.5
SHOWN = 8


class Agreement(ProfileAnswers, TraceAnswers):
    """Everything that can be asked about a database."""

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
