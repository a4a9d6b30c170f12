# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode compare` has to answer on two databases, worked out slowly from what an independent reader made of them.

names       A function is known by its name without what changes from build to build: the module in brackets after it, versions of symbols,
            suffixes of clones, tags and inline namespaces; unknown procedures are one row for each module; outlined regions and
            lambdas are numbered by their order. A module has no version, a file is its last component.
            What is left on both sides is the same without parameters and template arguments, if only one of either side has that name.
rows        Costs of all functions (lines, loops, modules, files) of a key. difference = new - base; ratio = new / base; share of the change =
            difference / difference of totals.
sampling    One sample of the traces stands for total / samples, or for the smallest cost if all are multiples of it, and the variance of a cost is cost x that. Half of a level of 5 % is shared by
            rows with 0.5 % of the total of either side and by the sum of the others; a difference beyond sampling error is beyond the quantile of
            that, in logarithms, or in costs if one is 0.
profiles    By ids without those of nodes and cores; a profile of both sides has a difference.
"""

import math
import re
from collections import defaultdict
from statistics import NormalDist

import db_reference as reference
from db_model import tail

from names import simple_stored_name as simple_name

LEVEL, LEAST_SHARE = 0.05, 0.005
CLONES = "isra|part|constprop|cold|hot|unlikely|lto_priv|localalias|llvm|__uniq|specialized|warm"


def normal_module(path):
    name = tail(path) if path else ""
    if name.endswith(".vdso") or name == "[vdso]" or name.startswith("linux-vdso"):
        return "vdso"
    if re.match(r"vmlinux[.-]", name):
        return "vmlinux"
    name = re.sub(r"\.so(\.\d+)+$", ".so", name)
    return re.sub(r"-\d+(\.\d+)+\.so$", ".so", name)


def normal_file(path):
    if path and re.fullmatch(r"\[.*\]", tail(path)):  # a module stands for its unknown files
        return f"[{normal_module(tail(path)[1:-1])}]"
    return re.sub(r"^tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_", "", tail(path)) if path else ""


def normal_name(name, module):
    """The name, with {number} where something is counted, and that number."""
    if name.startswith("<unknown procedure>") or (module and re.fullmatch(r"\[?" + re.escape(tail(module)) + r"\+0x[0-9a-f]+\]?", name)):
        return f"<unknown procedures of {normal_module(module)}>", None
    name = re.sub(r" \[(?!clone )[^\[\]]+\]$", "", name)
    name = re.sub(r"(@@?[A-Za-z_][\w.]*|@plt)$", "", name)
    counted = re.search(r"( \[clone )?\._omp_fn\.(\d+)\]?(?=[ .]|$)", name)
    if counted:
        name = name[:counted.start()] + " {region}" + name[counted.end():]
    name = re.sub(r" \[clone [^\]]*\]", "", name)
    name = re.sub(rf"(\.({CLONES})(\.\d+)*|\.\d+)+$", "", name)
    name = re.sub(r"\[abi:[^\]]*\]", "", name)
    name = re.sub(r"\bstd::__(1|cxx11)::", "std::", name)
    name = re.sub(r"^([a-z][a-z0-9_]*[a-z0-9])__?$", r"\1", name)
    return name, int(counted.group(2)) if counted else None


def period(costs):
    """What one sample costs, if all costs are multiples of the smallest one; None: they are not, or too few."""
    positive = [cost for cost in costs if cost > 0]
    if len(positive) < 5:
        return None
    times = [cost / min(positive) for cost in costs]
    few = sum(0 < t < 1000 for t in times)  # perf begins with a period of one event
    return min(positive) if 2 * few >= len(positive) and all(abs(t - round(t)) <= 1e-9 * max(1, abs(t)) for t in times) else None


def guessed(db, metric):
    """About what one sample costs: the lower quartile of the values at contexts of all profiles, many of which are one sample."""
    number = db.scope_id(metric, "point")
    values = sorted(v for p in db.ordinary_profiles() for at in db.profiles[p]["values"].values() for i, v in at.items() if i == number and v > 0)
    return values[(len(values) + 3) // 4 - 1] if len(values) >= 20 else None


class Side:
    """One database and one metric: rows by key, each with the sums of what it was made of."""

    def __init__(self, db, cost, by):
        self.db, self.cost, self.by = db, cost, by
        rows = reference.top(cost, by)
        numbers = defaultdict(set)
        for row in rows:
            name, number = self._name(row)
            if number is not None:
                numbers[name].add(number)
        self.rows = defaultdict(list)
        for row in rows:
            name, number = self._name(row)
            rank = None if number is None else sorted(numbers[name]).index(number)
            self.rows[(name, rank)].append(row)
        samples = sum(len(line["samples"]) for line in (db.traces or {"lines": []})["lines"])
        name = cost.metric["name"]
        is_sampled = name.startswith(("CPUTIME", "REALTIME"))
        is_exact = name in ("calls", "errors") or name.endswith((":COUNT", "(B)", "(bytes)"))
        self.sample_cost = 0.0 if is_exact else cost.total / samples if is_sampled and samples else period(cost.own)
        self.is_guess = self.sample_cost is None and (is_sampled or name in ("cycles", "instructions") or name.startswith(("perf::", "PAPI_")))
        if self.is_guess:
            self.sample_cost = guessed(db, cost.metric)

    def _name(self, row):
        if self.by == "module":
            return normal_module(row["module"]) or row["name"], None
        if self.by == "file":
            return normal_file(row["file"]) or row["name"], None
        return normal_name(row["name"], row["module"])

    def exclusive(self, key):
        return math.fsum(row["exclusive"] for row in self.rows.get(key, ()))

    def inclusive(self, key):
        """Only of a single row: others may be inside each other."""
        rows = self.rows.get(key, ())
        return 0.0 if not rows else rows[0]["inclusive"] if len(rows) == 1 else None


def _simple(key):
    return (simple_name(key[0]), key[1])


def pairs(base, new):
    """(key in base, key in new) of all rows; None where a side has none."""
    both = set(base.rows) & set(new.rows)
    left, right = set(base.rows) - both, set(new.rows) - both
    found = [(key, key) for key in both]
    if base.by == "function":
        for key in sorted(left, key=str):
            mine = [k for k in left if _simple(k) == _simple(key)]
            others = [k for k in right if _simple(k) == _simple(key)]
            if len(mine) == 1 and len(others) == 1:
                found.append((key, others[0]))
        left -= {a for a, b in found}
        right -= {b for a, b in found}
    return found + [(key, None) for key in left] + [(None, key) for key in right]


def quantile(base, new, costs):
    """Of the normal distribution, for as many tests as there are rows, where small ones are one."""
    shares = [max(abs(a) / base.cost.total if base.cost.total else 0.0, abs(b) / new.cost.total if new.cost.total else 0.0) for a, b in costs if a or b]
    tests = sum(share >= LEAST_SHARE for share in shares) + any(share < LEAST_SHARE for share in shares)
    return NormalDist().inv_cdf(1 - LEVEL / 4 / tests) if tests else math.inf


def standard_errors(a, b, base_sample, new_sample):
    """How many of them the difference is; infinite if there is none."""
    if a > 0 and b > 0:
        distance, variance = abs(math.log(b / a)), base_sample / a + new_sample / b
    else:
        distance, variance = abs(b - a), max(a, 0.0) * base_sample + max(b, 0.0) * new_sample
    return distance / math.sqrt(variance) if variance > 0 else math.inf if distance else 0.0


def rows(base, new):
    """One for each pair, in no order."""
    every = [(base.exclusive(left), new.exclusive(right)) for left, right in pairs(base, new)]
    most = quantile(base, new, every)
    change = new.cost.total - base.cost.total
    result = []
    for left, right in pairs(base, new):
        a, b = base.exclusive(left), new.exclusive(right)
        error = errors = None
        if base.sample_cost is not None and new.sample_cost is not None:
            error = math.sqrt(abs(a) * base.sample_cost + abs(b) * new.sample_cost)
            errors = standard_errors(a, b, base.sample_cost, new.sample_cost)
        result.append({
            "names": {key[0] for key in (left, right) if key and base.by == "file"} | {row["name"] for row in base.rows.get(left, ())} | {row["name"] for row in new.rows.get(right, ())},
            "base": a, "new": b, "difference": b - a, "ratio": b / a if a else None,
            "share_percent": 100 * (b - a) / change if change else None,
            "share_of_base_percent": 100 * (b - a) / base.cost.total if base.cost.total else None,
            "sampling_error": error, "is_beyond_sampling_error": None if error is None else errors > most if error else a != b,
            # A guess is accurate to 1 %, and counts with its square root.
            "is_near": errors is not None and abs(errors - most) < (0.01 * most if base.is_guess or new.is_guess else 1e-6),
            "is_guess": base.is_guess or new.is_guess,
            "base_inclusive": base.inclusive(left), "new_inclusive": new.inclusive(right),
            "only_in": "base" if right is None else "new" if left is None else None})
    return result


def matched(base, new):
    """Shares of the costs of either side in rows that both have."""
    both = [(a, b) for a, b in pairs(base, new) if a is not None and b is not None]
    shares = []
    for side, keys in ((base, [a for a, _ in both]), (new, [b for _, b in both])):
        whole = math.fsum(abs(side.exclusive(key)) for key in side.rows)
        shares.append(math.fsum(abs(side.exclusive(key)) for key in keys) / whole if whole else 1.0)
    return shares


def ids_of(db, profile):
    return " ".join(f"{db.id_names[i['kind']].lower()} {i['logical']}" for i in db.profiles[profile]["ids"]
                    if db.id_names[i["kind"]].lower() not in ("node", "core"))


def ranks(dbs, metric, cost):
    """{names of a row: (profiles of both with a cost, those where new is more, those where it is less)}; `cost` makes the Cost of one profile."""
    sides = []
    for db in dbs:
        by_ids = defaultdict(list)
        for profile in db.ordinary_profiles():
            by_ids[ids_of(db, profile)].append(Side(db, cost(db, metric, [profile]), "function"))
        sides.append(by_ids)
    whole = [Side(db, cost(db, metric, None), "function") for db in dbs]
    found = {}
    for left, right in pairs(*whole):
        counts = [0, 0, 0]
        for ids in set(sides[0]) & set(sides[1]) - {""}:
            a, b = (math.fsum(side.exclusive(key) for side in group[ids]) for group, key in zip(sides, (left, right)))
            counts[0] += a != 0 or b != 0
            counts[1] += b > a
            counts[2] += b < a
        names = {row["name"] for row in (*whole[0].rows.get(left, ()), *whole[1].rows.get(right, ()))}
        found.update(dict.fromkeys(names, tuple(counts)))
    return found


def profile_values(db, metric, kinds=None):
    """{ids as text: value} of profiles, or of groups by kinds."""
    found = defaultdict(list)
    values = {row["profile"]: row["value"] for row in reference.profiles(db, metric)[0]}
    for profile in db.ordinary_profiles():
        named = [(db.id_names[i["kind"]].lower(), i["logical"]) for i in db.profiles[profile]["ids"]]
        named = [n for n in named if (n[0] in kinds if kinds else n[0] not in ("node", "core"))]
        if named and (not kinds or len(named) >= len(kinds)):
            found[" ".join(f"{kind} {number}" for kind, number in named)].append(values.get(profile, 0.0))
    return {name: math.fsum(group) for name, group in found.items()}
