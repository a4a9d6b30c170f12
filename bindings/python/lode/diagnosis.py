# SPDX-License-Identifier: BSD-3-Clause
"""Diagnoses, efficiencies, and costs of groups of profiles."""

import os

from . import _lode
from .context import form_of
from .table import Table
from .text import amount, rules_of, shown, unit_of

SHARES = ("parallel", "low", "high", "load_balance", "communication", "process", "serial", "openmp", "rank_balance", "rank_communication")


def _name_of(ids):
    """Such as "rank 3"; a thing with a number of its own has both."""
    return " ".join(f"{(kind or 'id').lower()} {number}{'' if physical is None or physical == number else f' (0x{physical:x})'}"
                    for kind, number, physical in ids)


def _command(words, rules, path):
    """A command that shows more, as a list of words; what depends on rules for kinds has them."""
    if not words:
        return None
    follows = words[0] == "efficiency" or ("--by", "kind") in zip(words, words[1:])
    return ["lode", *words, *(("--kinds", rules) if rules and follows else ()), path]


class Diagnosis:
    """What limits a run: statements with evidence, and what the data cannot tell. Dicts are those of `lode diagnose --json`."""

    def __init__(self, found, title):
        self.run, self.efficiency, self.quality = found["run"], found["efficiency"], found["quality"]
        self.statements, self.rules, self.title = found["statements"], found["rules"], title

    def to_dict(self):
        return {"run": self.run, "efficiency": self.efficiency, "quality": self.quality, "statements": self.statements, "rules": self.rules}

    def table(self):
        """The statements as a table, without their evidence."""
        names = ("id", "confidence", "gain_percent", "text", "advice", "function", "context", "rank", "thread")
        return Table({name: [statement[name] for statement in self.statements] for name in names},
                     {"gain_percent": "percent", "context": "plain", "rank": "plain", "thread": "plain"}, self.title,
                     ("advice", "function", "context", "rank", "thread"))

    def __len__(self):
        return len(self.statements)

    def __iter__(self):
        return iter(self.statements)

    def __getitem__(self, number):
        return self.statements[number]

    def __str__(self):
        lines = [shown(self.title, 200)]
        for note in self.quality:
            lines.append(shown(f"  {note['level']}: {note['text']}", 300))
        for number, statement in enumerate(self.statements, 1):
            gain = "" if statement["gain_percent"] is None else f", {'at most' if statement['is_bound'] else 'accounts for'} {statement['gain_percent']:.1f}% of the run time"
            lines.append(shown(f"{number}. {statement['text']} ({statement['confidence']}{gain})", 300))
            lines += [shown(f"     {evidence['text']}", 300) for evidence in statement["evidence"]]
        return "\n".join(lines + ([] if self.statements else self._nothing()))

    def _nothing(self):
        """Nothing stands out, and rules that could not look, by reason."""
        if not self.run["can_judge"]:
            return ["The data do not allow a statement."]
        reasons = {}
        for rule in self.rules:
            if not rule["ran"]:
                reasons.setdefault(rule["reason"], []).append(rule["id"])
        return ["Nothing stands out.", *(f"Not looked at: {', '.join(ids)} ({reason})" for reason, ids in reasons.items())]

    def __repr__(self):
        return f"<lode.Diagnosis: {len(self)} statements, {len(self.quality)} notes>"

    def _repr_html_(self):
        return self.table()._repr_html_()


class Diagnosed:
    """What every store can be asked for."""

    def diagnose(self, kinds=None, deep=False, threads=0, progress=None):
        """What limits the run: what `lode diagnose` says. `kinds` is a file of rules, `deep` reads what is larger than 512 MiB."""
        found = _lode.diagnose(self._store, rules_of(kinds), self._findings, deep, threads, self._progress(progress))
        if self.kind == "database":
            del found["run"]["entry_points"]
        rules = self._kinds if kinds is None else os.fsdecode(kinds)
        for statement in found["statements"]:
            for evidence in statement["evidence"]:
                evidence["command"] = _command(evidence["command"], rules, self.path)
        return Diagnosis(found, f"diagnosis of {self.path}")


class Grouped:
    """What databases can be asked for."""

    def efficiency(self, by=None, phases=0, start=None, stop=None, kinds=None, threads=0, progress=None):
        """Parallel efficiency and its parts, of all threads, by rank or node, and over time: what `lode efficiency` says. Empty, with the
        reason as its title, if the data do not tell."""
        first, last = self._window(start, stop)
        rows, reason = _lode.efficiency(self._store, rules_of(kinds), by, phases, first, last, threads, self._progress(progress))
        names = ["name", *(f"{share}_percent" for share in SHARES), "run_time", "useful", "ranks", "threads", "is_hybrid", "is_group", "from_ns", "to_ns"]
        for row in rows:
            row["name"] = _name_of(row["ids"]) or "all threads"
        units = {**{f"{share}_percent": "percent" for share in SHARES}, "from_ns": "plain", "to_ns": "plain"}
        return Table({name: [row[name] for row in rows] for name in names}, units, reason or "efficiency",
                     ("low_percent", "high_percent", "rank_balance_percent", "rank_communication_percent", "is_hybrid", "is_group", "from_ns", "to_ns"))

    def groups(self, by="rank", metric=None, profiles=None, function=None, threads=0, progress=None):
        """Costs by rank, node, thread or several of them ("node,rank"), of everything or of one function: what `lode top --by rank` prints."""
        number = -1 if metric is None else self.metrics[metric].index
        contexts = None
        if function is not None:
            cost = self._need_cost(metric, profiles)
            contexts = tuple(id for id in _lode.matches(cost, function, form_of(self._names)) if self.context(id).kind == "function")
        found = _lode.groups(self._store, by, number, profiles, contexts, threads, self._progress(progress))
        found.sort(key=lambda row: (-row[2], row[7]))
        values = [row[2] for row in found]
        mean = sum(values) / len(values) if values else 0
        means = [row[2] / row[1] for row in found]
        columns = {"name": [_name_of(row[0]) for row in found], "profiles": [row[1] for row in found], "value": values,
                   "percent_of_mean": [100 * value / mean if mean else 0.0 for value in values], "exclusive": [row[3] for row in found],
                   "min": [row[5] for row in found], "mean": means, "max": [row[6] for row in found],
                   "imbalance_percent": [100 * (row[6] / one - 1) if one else 0.0 for row, one in zip(found, means)]}
        for place in range(len(found[0][0]) if found else 0):
            columns[(found[0][0][place][0] or f"id{place}").lower()] = [row[0][place][1] for row in found]
        metric_name = (self.metrics.default if metric is None else self.metrics[metric]).name
        unit = unit_of(metric_name)
        return Table(columns, {**dict.fromkeys(("value", "exclusive", "min", "mean", "max"), unit), "percent_of_mean": "percent",
                               "imbalance_percent": "percent"}, f"{metric_name} by {by}: {amount(sum(values), unit)}")
