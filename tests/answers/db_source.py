# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode source` has to answer on a database (db_reference.py says what the words mean): costs of lines, as by line, but the own cost of a function
without a line is at the line of its definition, if that is known.
"""

import math
from collections import defaultdict


def number(value):
    """A line that is not known is 0."""
    return value if isinstance(value, int) else 0


def _location(db, context):
    """Path and line that a context has itself; None if it has those of its parent, () if it has none at all."""
    if context.file is not None:
        return db.file_path(context.file), context.line
    if not context.begins_function():
        return None
    function = None if context.function is None else db.functions[context.function]
    if function is None or function["file"] is None:
        return ()
    return db.file_path(function["file"]), number(function["line"])


def source(cost):
    """{path: {line: (exclusive, inclusive)}} of all lines with a cost; line 0 is not known."""
    db = cost.db
    locations, heads, counted = [None] * len(db.contexts), list(range(len(db.contexts))), [False] * len(db.contexts)
    for context in db.contexts:
        if context.parent and _location(db, context) is None:
            heads[context.index] = heads[context.parent.index]  # has its location from there
    with_costs = {head for head, own in zip(heads, cost.own) if own != 0.0}
    exclusive, inclusive = defaultdict(list), defaultdict(list)
    for context in db.contexts:
        own = _location(db, context)
        location = own if own is not None else locations[context.parent.index]
        locations[context.index] = location
        exclusive[location].append(cost.own[context.index])
        counted[context.index] = own is not None and (context.lexical == "line" or context.index in with_costs)
        above = (a for a in context.above() if a is not context)
        if counted[context.index] and not any(counted[a.index] and locations[a.index] == location for a in above):
            inclusive[location].append(cost.inclusive[context.index])
    files = defaultdict(dict)
    for location in exclusive:
        sums = math.fsum(exclusive[location]), math.fsum(inclusive[location])
        if location and sums != (0.0, 0.0):
            files[location[0]][location[1]] = sums
    return files
