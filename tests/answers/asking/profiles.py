# SPDX-License-Identifier: BSD-3-Clause
"""Values of profiles and contexts, and what is found by name, against the reference."""

import math
from collections import defaultdict
from collections import Counter

import db_reference as reference
from asking import Asking, Wrong

HISTOGRAM_BINS = 12


class ProfileAnswers(Asking):
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
