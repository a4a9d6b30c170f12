# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the checker, as the document has them and as the program lists them: (id, severity, level), in order."""

import json
import re

from markdown import parts

HEAD = re.compile(r"Severity: (\w+)\. Level: (\w+)\.")
POINTS = ["- Meaning: ", "- Usual cause: ", "- What to do: "]


def of_document(text):
    """The rules of the document, and what is wrong with their shape."""
    rules, problems = [], []
    for part in parts(text):
        if part.level != 3:
            continue
        lines = [line for line in part.lines if line]
        head = HEAD.fullmatch(lines[0]) if lines else None
        if head is None:
            problems.append(f"{part.title}: the severity and level must come first")
            continue
        rules.append((part.title, head[1], head[2]))
        for point in POINTS:
            if sum(line.startswith(point) for line in lines) != 1:
                problems.append(f"{part.title}: there must be one line '{point.strip()}'")
    ids = [rule[0] for rule in rules]
    problems += [f"{rule}: described twice" for rule in sorted(set(ids)) if ids.count(rule) > 1]
    return rules, problems


def of_program(output):
    """The rules that `lode check --rules --json` printed."""
    return [(rule["rule"], rule["severity"], rule["level"]) for rule in json.loads(output)["rules"]]


def differences(text, output):
    """By rule: how the document and the program differ. Under "", what concerns the document as a whole."""
    listed, problems = of_document(text)
    program = of_program(output)
    ours, theirs = ({rule[0]: rule for rule in rules} for rules in (listed, program))
    found = {"": problems}
    for rule in [*theirs, *(rule for rule in ours if rule not in theirs)]:
        same = ours.get(rule) == theirs.get(rule)
        found[rule] = [] if same else [f"{ours.get(rule)} in the document, {theirs.get(rule)} in the program"]
    if not any(found.values()) and listed != program:
        found[""].append("the rules are in another order than the program lists them")
    return found
