# SPDX-License-Identifier: BSD-3-Clause
"""
Comparing what the program says of a recording with what happened, and with what uftrace prints. All return a list of
problems.
"""

import math

PERCENTILES = (("p50_ns", 0.50), ("p95_ns", 0.95), ("p99_ns", 0.99))
PERCENTILE_ERROR = 0.008  # as in lode/calls.h
REAL_ERROR = 1e-9
KEYS = ("name", "symbol", "module", "offset", "calls", "total_ns", "self_ns", "min_ns", "max_ns", "mean_ns",
        "deviation_ns", "p50_ns", "p95_ns", "p99_ns")


def _close(found, wanted):
    return abs(found - wanted) <= REAL_ERROR * max(1.0, abs(wanted))


def quantile(ordered, q):
    """The time that a share q of the calls does not exceed."""
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def key_of(row):
    """What a row is about: module and offset; without a module, its name: an address, or the state of a thread."""
    return (row["module"], row["offset"]) if row["module"] else ("", row["name"])


def key_of_function(function):
    if function.module:
        return function.module, function.offset
    return "", function.symbol or f"<{function.offset:x}>"


def _row_problems(title, found, row):
    problems = [f"{title}: no {key}" for key in KEYS if key not in found]
    if problems:
        return problems
    numbers = sorted(row.durations)
    mean = math.fsum(numbers) / len(numbers)
    deviation = math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / len(numbers))
    exact = {"calls": row.calls, "total_ns": row.total, "self_ns": row.self_time, "min_ns": numbers[0],
             "max_ns": numbers[-1]}
    problems += [f"{title}: {key} is {found[key]}, not {wanted}" for key, wanted in exact.items() if found[key] != wanted]
    for key, wanted in (("mean_ns", mean), ("deviation_ns", deviation)):
        if not _close(found[key], wanted):
            problems.append(f"{title}: {key} is {found[key]}, not {wanted}")
    for key, q in PERCENTILES:
        wanted = quantile(numbers, q)
        if abs(found[key] - wanted) > PERCENTILE_ERROR * wanted + 1:
            problems.append(f"{title}: {key} is {found[key]}, too far from {wanted}")
    return problems


def exact_rows(found, wanted):
    """Rows of `lode top` against those of happened.py, which are {Function: Row}: the same functions, the same numbers."""
    rows, problems = {}, []
    for row in found:
        if key_of(row) in rows:
            problems.append(f"twice: {row['name']}")
        rows[key_of(row)] = row
    expected = {key_of_function(function): (function, row) for function, row in wanted.items()}
    for key in sorted(set(rows) | set(expected), key=str):
        if key not in rows or key not in expected:
            problems.append(f"{key}: " + ("is missing" if key not in rows else "is no function that was called"))
            continue
        function, row = expected[key]
        title = function.symbol or f"{key[0]}+{function.offset:#x}"
        if function.symbol and rows[key]["symbol"] != function.symbol:
            problems.append(f"{title}: symbol is {rows[key]['symbol']!r}")
        problems += _row_problems(title, rows[key], row)
    return problems


def _printed_differs(row, printed):
    return row[0] != printed[0] or not printed[1].fits(row[1]) or not printed[2].fits(row[2])


def printed_rows(rows, printed, listed=()):
    """{name: (calls, total, self)} against a report of uftrace, but for names that are listed as different."""
    problems = []
    for name in sorted(set(rows) | set(printed)):
        differs = name not in rows or name not in printed or _printed_differs(rows[name], printed[name])
        if differs != (name in listed):
            shown = tuple(map(str, printed[name])) if name in printed else "nothing"
            problems.append(f"{name}: {rows.get(name, 'nothing')}, uftrace prints {shown}" +
                            ("" if differs else ", though a difference is listed"))
    problems += [f"{name}: listed as different, and nowhere" for name in listed if name not in rows and name not in printed]
    return problems


def by(found, label):
    """{label(row): (calls, total, self)} of rows of `lode top`."""
    result = {}
    for row in found:
        before = result.get(label(row), (0, 0, 0))
        result[label(row)] = tuple(map(sum, zip(before, (row["calls"], row["total_ns"], row["self_ns"]))))
    return result
