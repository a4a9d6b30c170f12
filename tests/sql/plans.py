#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plans: what is looked up is not read whole, and nothing is sorted where the store has the order."""

import sys

import stores
from stores import DATABASE, RECORDING

# Statements that need no sort, and whether their tables are all looked up (1), or read whole (0).
UNSORTED = (
    ("select context_id, sum(value) from value group by context_id", 0),
    ("select context_id, metric_id, sum(value) from value group by context_id, metric_id", 0),
    ("select context_id, metric_id, sum(value) from value group by metric_id, context_id", 0),
    ("select profile_id, sum(value) from value group by profile_id", 0),
    ("select profile_id, context_id, sum(value) from value group by profile_id, context_id", 0),
    ("select profile_id, context_id, sum(value) from value group by context_id, profile_id", 0),
    ("select metric_id, sum(value) from value group by metric_id", 0),
    ("select metric_id, sum(value) from value where context_id between 2 and 7 group by metric_id", 2),
    ("select * from value order by metric_id, context_id, profile_id", 0),
    ("select distinct metric_id from value where metric_id in (1, 2)", 1),
    ("select context_id, max(value) from value where metric_id = 1 group by context_id", 0),
    ("select profile_id, max(value) from value where metric_id = 1 group by profile_id", 0),
    ("select * from value order by profile_id, context_id, metric_id", 0),
    ("select * from value order by context_id, metric_id, profile_id", 0),
    ("select * from value where profile_id = 1 order by context_id, metric_id", 1),
    ("select * from value where profile_id = 1 order by context_id", 1),
    ("select * from value where context_id = 1 order by metric_id, profile_id", 1),
    ("select * from value where context_id = 1 and metric_id = 1 order by profile_id", 1),
    ("select * from value where profile_id = 1 and context_id = 2 order by metric_id", 1),
    ("select * from value where profile_id in (1, 2) order by profile_id, context_id", 1),
    ("select context_id from value group by 1", 0),
    ("select * from context order by position", 0),
    ("select * from context where parent_id = 1 order by position", 1),
    ("select * from context where id = 5", 1),
    ("select * from context where parent_id = 5", 1),
    ("select * from context where function_id = 5", 1),
    ("select * from context where position between 5 and 9", 1),
    ("select * from function where id = 1", 1),
    ("select * from profile order by id", 0),
    ("select * from profile where id in (1, 2, 3) order by id", 1),
    ("select * from sample where profile_id = 1 order by time_ns", 1),
    ("select * from sample where profile_id = 1 and time_ns between 1 and 2", 1),
    ("select profile_id, count(*) from sample group by profile_id", 0),
    ("select * from sample order by profile_id, time_ns", 0),
    ("select c.name, v.value from context c join value v on v.context_id = c.id where c.id = 7", 1),
    ("select * from metric where id = 1", 0),
)
SORTED = ("select * from value order by value",
          "select * from value order by context_id desc", "select kind, count(*) from context group by kind")


def plan(lode, store, statement):
    done = lode.call("sql", store, "--explain", statement)
    return done.stdout if done.returncode == 0 else f"error: {done.stderr}"


def body(tap, lode, options):
    wrong = []
    for statement, is_found in UNSORTED:
        text = plan(lode, DATABASE, statement)
        if "sort" in text or "error" in text or not text or (is_found and "read all" in text):
            wrong.append(f"{statement}: {text}")
    tap.check(not wrong and len(UNSORTED) >= 30, f"{len(UNSORTED)} statements sort nothing, and look up what they can", wrong)
    wrong = [s for s in SORTED if "sort for" not in plan(lode, DATABASE, s)]
    tap.check(not wrong, "what the store does not have in order is sorted, and --explain says so", wrong)
    text = plan(lode, DATABASE, "select f.name from value v join context c on c.id = v.context_id join function f on f.id = c.function_id where v.profile_id = 2")
    tap.check("look up v: value by profile_id =" in text and "look up c: context by id =" in text and "look up f: function by id =" in text,
              "joins look up contexts and functions by id", [text])
    text = plan(lode, RECORDING, "select * from call where track_id = 0")
    tap.check("look up call: call by track_id =" in text, "calls of a track", [text])


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(DATABASE, RECORDING)))
