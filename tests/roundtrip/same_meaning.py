#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Converts each database of the corpus and compares the result with the original, by content: what it means must
stay the same, with values at unlisted contexts kept, and with --drop-unlisted without them.
"""

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from comparison import Comparison, misnumbered
from content import Content
from tool import Tap, corpus_databases, parse_arguments


def copied_sources(database):
    """Source files inside a database, by name."""
    return {str(path.relative_to(database)): path.read_bytes() for path in sorted((database / "src").rglob("*"))
            if path.is_file()}


def compare(lode, database, target, drop):
    lode.must("convert", *(["--drop-unlisted"] if drop else []), database, "-o", target)
    old, new = Content(lode.dump(database)), Content(lode.dump(target))
    if drop:
        old.without_unlisted()
    comparison = Comparison(old, new)
    for text in misnumbered(new):
        comparison.differ(text)
    if copied_sources(database) != copied_sources(target):
        comparison.differ("the copied source files differ")
    return comparison


def compare_database(tap, lode, name, database, drop):
    totals = Counter()
    title = f"{name}, unlisted contexts dropped" if drop else name
    with tempfile.TemporaryDirectory(prefix="lode-roundtrip-") as folder:
        target = Path(folder) / "new"
        try:
            comparison = compare(lode, database, target, drop)
        except (ValueError, LookupError, TypeError, OSError) as error:
            tap.check(False, title, [repr(error)])
            return totals
        finally:
            shutil.rmtree(target, ignore_errors=True)
    if comparison.difference_count:
        hidden = comparison.difference_count - len(comparison.differences)
        more = [f"... and {hidden} more"] if hidden else []
        tap.check(False, f"{title}: {comparison.difference_count} differences", comparison.differences + more)
    else:
        tap.check(True, f"{title}: the same ({comparison.summary()})")
    totals.update(comparison.counts)
    totals.update({noun: count for noun, count in comparison.old_bugs.items()})
    return totals


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    databases = corpus_databases(options)
    if not databases:
        tap.skip("all databases", "no corpus: set LODE_CORPUS")
        return tap.finish()
    for drop in (False, True):
        started = time.monotonic()
        totals = Counter(databases=len(databases))
        for name, database in databases.items():
            totals += compare_database(tap, options.lode, name, database, drop)
        tap.note(f"in all: {', '.join(f'{count} {noun}' for noun, count in totals.items())}; "
                 f"{time.monotonic() - started:.1f} s")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
