#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode convert` must leave as it is, told by what Lode did not write: the dumps of an independent reader, and the files of
the database itself.

- The summary of scope lex_aware at loops has the bits that it had, and is what scope function has there without the loops inside.
- metrics/default.yaml has every metric, description, nesting and formula, and each of its inputs is one statistic of the new meta.db.
- metrics/METRICS.yaml.ex is there, and is YAML.
- The bounds of time are those of the source.
"""

import struct
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from comparison import FUNCTION, LEX_AWARE, without_loops
from content import Content
from matching import Matching
from raw import Database
from tool import ROOT, Tap, corpus_databases, parse_arguments

sys.path.insert(0, str(ROOT / "tests" / "dump"))

import corpora  # noqa: E402

try:
    import yaml
    import expected
except ImportError:
    yaml = None

COMBINE = {0: "sum", 1: "min", 2: "max"}
TOLERANCE = 1e-12
# Dumps that take long to read are read when the database is named; the test "dump" shows that Lode's own is the same.
LARGE = 1 << 20
# Its cct.db is damaged, so that it cannot be dumped.
DAMAGED = {"viewer-loop-inline-v1"}


def known(dump):
    """The dump with 0 for lines and offsets that are not there: readers say so in different ways."""
    waiting = [*dump["meta"]["functions"], *dump["meta"]["entry_points"]]
    while waiting:
        item = waiting.pop()
        waiting.extend(item.get("children", []))
        for field in ("line", "offset"):
            if field in item and not isinstance(item[field], int):
                item[field] = 0
    return dump


def bits(value):
    return struct.pack("<d", value)


def loop_problems(old, new, counts):
    """The sums of lex_aware at loops, old and new, and by the rule."""
    matching = Matching(old, new)
    sums = {(key[0], key[1]): id for id, key in ((s.id, s.key) for s in old.statistics.values())
            if key[2:] == ("$$", "sum")}
    for (metric, scope), id in sums.items():
        function = sums.get((metric, FUNCTION))
        if scope != LEX_AWARE or function is None:
            continue
        for loop, inner in old.inner_loops.items():
            was = old.summary.get(loop, {}).get(id, 0.0)
            now = new.summary.get(matching.contexts[loop], {}).get(matching.statistics[id], 0.0)
            whole = old.summary.get(loop, {}).get(function, 0.0)
            rule = without_loops(old.summary, loop, inner, function)
            counts["values of loops"] += was != 0.0 or now != 0.0
            if bits(was) != bits(now):
                yield f"context {loop}, {metric[0]}: {was} became {now}"
            if abs(now - rule) > TOLERANCE * abs(whole):
                yield f"context {loop}, {metric[0]}: {now} is written, function without inner loops is {rule}"


def bound_problems(old, new, counts):
    if not old.has_requests:
        return
    counts["bounds of time"] += 1
    has_samples = any(profile.samples for profile in old.profiles)
    wanted = old.bounds if has_samples else (0, 0)
    if new.bounds != wanted:
        yield f"the bounds of time {wanted} became {new.bounds}"


def count_metrics(roots):
    """Metrics and formulas at all levels."""
    metrics = formulas = 0
    for root in roots or []:
        metrics += 1
        formulas += sum("formula" in variant for variant in (root.get("variants") or {}).values())
        inner = count_metrics(root.get("children"))
        metrics, formulas = metrics + inner[0], formulas + inner[1]
    return metrics, formulas


def taxonomy_problems(source, target, counts):
    old, new = source / "metrics" / "default.yaml", target / "metrics" / "default.yaml"
    data = yaml.load(new.read_text(encoding="utf-8"), yaml.CSafeLoader)
    stored = Counter((metric["name"].lower(), record["scope"]["name"], record["formula"], COMBINE[record["combine"]])
                     for metric in Database(target).metrics for record in metric["statistics"])
    for item in data["inputs"]:
        key = (item["metric"].lower(), item["scope"], str(item.get("formula", "$$")), item["combine"])
        counts["inputs"] += 1
        if stored[key] != 1:
            yield f"default.yaml: the input {key} matches {stored[key]} statistics"
    example = yaml.load((target / "metrics" / "METRICS.yaml.ex").read_text(encoding="utf-8"), yaml.CSafeLoader)
    if not example["inputs"] or not example["roots"]:
        yield "METRICS.yaml.ex has no inputs or no roots"
    if not old.is_file():
        counts["taxonomies made"] += 1
        return
    counts["taxonomies kept"] += 1
    before = yaml.load(old.read_text(encoding="utf-8"), yaml.CSafeLoader)
    if before != data:
        yield "default.yaml does not say what it said"
    metrics, formulas = count_metrics(data["roots"])
    counts["metrics shown"] += metrics
    counts["formulas"] += formulas


def check_database(tap, lode, source, dump, totals):
    counts = Counter()
    with tempfile.TemporaryDirectory(prefix="lode-kept-") as folder:
        target = Path(folder) / "new"
        try:
            lode.must("convert", source, "-o", target)
            problems = list(taxonomy_problems(source, target, counts))
            if dump:
                old, new = Content(known(dump())), Content(known(lode.dump(target)))
                problems += loop_problems(old, new, counts)
                problems += bound_problems(old, new, counts)
        except (ValueError, LookupError, TypeError, OSError) as error:
            problems = [repr(error)]
    counts["databases"] += 1
    totals.update(counts)
    tap.check(not problems, f"{source.parent.name}/{source.name}: " +
              ", ".join(f"{count} {noun}" for noun, count in counts.items()), problems[:20])


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    if yaml is None:
        tap.skip("all databases", "no PyYAML with libyaml")
        return tap.finish()
    databases = corpus_databases(options)
    if not databases:
        tap.skip("all databases", "no corpus: set LODE_CORPUS")
        return tap.finish()
    totals = Counter()
    for name, source in databases.items():
        path = options.corpus / "expected" / f"{name}.yaml.gz"
        is_large = path.stat().st_size > LARGE and not options.names
        dump = partial(options.lode.dump, source) if is_large else partial(expected.from_file, path)
        check_database(tap, options.lode, source, dump, totals)
    # Of the drafts there are no dumps by others; what they have is kept where 4.0 has a place for it.
    for source in [] if options.names else [path for name in ("pre-a", "pre-b") for path in corpora.stores(options.corpus / name)]:
        dump = None if source.name in DAMAGED else partial(options.lode.dump, source)
        check_database(tap, options.lode, source, dump, totals)
    tap.note("in all: " + ", ".join(f"{count} {noun}" for noun, count in totals.items()))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
