# SPDX-License-Identifier: BSD-3-Clause
"""A reader of the format of callgrind, as far as Lode writes it."""

import re


def read(text):
    """{"events", "summary", "totals", "own": {function: [values]}, "calls": {(caller, callee): [count, values]}}"""
    names = {"fn": {}, "fl": {}, "ob": {}}
    result = {"events": [], "summary": [], "totals": [], "own": {}, "calls": {}}
    function = callee = None
    count = 0

    def name_of(kind, written):
        found = re.fullmatch(r"\((\d+)\)(?: (.*))?", written)
        if found.group(2) is not None:
            if found.group(1) in names[kind]:
                raise ValueError(f"{kind} {found.group(1)} is defined twice")
            names[kind][found.group(1)] = found.group(2)
        return names[kind][found.group(1)]

    for line in text.split("\n"):
        found = re.match(r"(ob|fl|fn|cob|cfl|cfn)=(.*)", line)
        if found:
            kind = found.group(1)[-2:]
            name = name_of(kind, found.group(2))
            if found.group(1) == "fn":
                function = name
            elif found.group(1) == "cfn":
                callee = name
        elif line.startswith("calls="):
            count = int(line[len("calls="):].split()[0])
        elif re.match(r"\d", line):
            values = [int(value) for value in line.split()[1:]]
            if len(values) != len(result["events"]):
                raise ValueError(f"{len(values)} values: {line}")
            if callee is None:
                sums = result["own"].setdefault(function, [0] * len(values))
            else:
                item = result["calls"].setdefault((function, callee), [0, [0] * len(values)])
                item[0] += count
                sums = item[1]
            for i, value in enumerate(values):
                sums[i] += value
            callee = None
        elif line.startswith("events:"):
            result["events"] = line.split()[1:]
        elif line.startswith(("summary:", "totals:")):
            result[line.split(":")[0]] = [int(value) for value in line.split()[1:]]
    return result
