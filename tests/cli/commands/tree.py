#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What 'lode tree' omits, by number, share and depth: it says how many rows, and that is what a complete tree has."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402

MODES = ([], ["--bottom-up"], ["--lines"])


def omitted(rows, share, depth):
    """(shown, omitted by share, omitted by depth) of a complete tree; rows below an omitted one do not count."""
    shown, small, deep, hidden = 0, 0, 0, None
    for row in rows:
        level = row["depth"]
        if hidden is not None and level > hidden:
            continue
        is_small, hidden = row["inclusive_percent"] < share, None
        if is_small or (depth and level >= depth):
            hidden = level
            small += is_small
            deep += not is_small
        else:
            shown += 1
    return shown, small, deep


def what_is_omitted_is_counted(program):
    for name in cli.DATABASES:
        wrong = []
        for mode in MODES:
            rows = program.json("tree", *mode, "--min-percent", "0", "--limit", "0", name)["rows"]
            if any(row["inclusive"] < 0 for row in rows):
                continue
            for share, depth, limit in ((1, 0, 0), (0, 0, 5), (0, 3, 0), (5, 2, 3), (0.1, 4, 1)):
                options = ["--min-percent", str(share), "--depth", str(depth), "--limit", str(limit)]
                found = program.json("tree", *mode, *options, name)
                shown, small, deep = omitted(rows, share, depth)
                is_cut = limit and shown > limit
                counted = (found["row_count"], found["omitted_by_share"], found["omitted_by_depth"], found["is_truncated"], len(found["rows"]))
                if counted != (shown, small, deep, bool(is_cut), min(shown, limit) if limit else shown):
                    wrong.append(f"{mode} {options}: {counted}, not {(shown, small, deep)}")
                wrong += missing_words(program.run("tree", *mode, *options, name).out, shown, small, deep, limit)
        program.check(not wrong, f"{name}: rows that are omitted are counted", wrong)


def missing_words(text, shown, small, deep, limit):
    """What the text must say and does not, and the other way round."""
    lines = {f"showing {limit} of {shown:,} rows (--limit 0 shows all)": limit and shown > limit,
             f"omitted: {small:,} row": small, f"omitted: {deep:,} row": deep, "--min-percent 0 shows all": small, "--depth 0 shows all": deep}
    return [line for line, is_due in lines.items() if (line in text) != bool(is_due) and not (line.startswith("omitted") and not is_due)]


def a_large_tree_is_not_counted_to_its_end(program):
    """Counting ends; the text says so."""
    with tempfile.TemporaryDirectory() as folder:
        program.run("synth", "database", "--profiles", "1", "--contexts", "300000", "--samples", "0", "--density", "1", "--skew", "0", "-o", "db", cwd=folder)
        found = program.json("tree", "--bottom-up", "--min-percent", "0", "--limit", "1", "db", cwd=folder)
        program.check(found["row_count"] is None and found["is_truncated"], "row_count is null", [found["row_count"]])
        text = program.run("tree", "--bottom-up", "--min-percent", "0", "--limit", "1", "db", cwd=folder).out
        program.check("showing 1 of more than 100,001 rows (--limit 0 shows all)" in text, "the text says 'more than'", [text])


def a_filter_that_leaves_nothing_is_named(program):
    for name in cli.DATABASES[:2]:
        for word in ("--include", "--exclude"):
            pattern = "no such function" if word == "--include" else "*"
            found = program.run("tree", word, pattern, name).out.splitlines()[-1]
            program.equal(found, "No row that --include and --exclude leave has a cost of at least 1% of the total.", f"{name}: {word}")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, what_is_omitted_is_counted, a_large_tree_is_not_counted_to_its_end, a_filter_that_leaves_nothing_is_named))
