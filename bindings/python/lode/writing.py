# SPDX-License-Identifier: BSD-3-Clause
"""What stores are written to: exports, slices, merges."""

import os
from fnmatch import fnmatchcase

from . import _lode
from .context import choose, form_of
from .table import Table
from .text import shown

COMPRESSIONS = {"default": 0, "none": 1, "gzip": 2, "zstd": 3}
PACKINGS = {".gz": "gzip", ".zst": "zstd"}
WARNING_WIDTH = 1000


class LodeWarning(UserWarning):
    """Something is wrong with a store, or is lost: answers may differ."""


def warn_of_store(path, findings, count):
    """One warning for a store that was opened, with the worst of its findings; `count`: of all, if a check counted them."""
    import warnings
    found = [(severity != "error", f"{rule} ({text})") for severity, rule, text in zip(findings["severity"], findings["rule"], findings["text"])
             if severity != "note"]
    if found:
        count = max(count, len(found))
        worst = min(found, key=lambda one: one[0])[1]
        warnings.warn(shown(f"{path}: {count:,} finding{'' if count == 1 else 's'}, such as {worst}; lode.check lists them", WARNING_WIDTH),
                      LodeWarning, stacklevel=3)


def warn(path, findings, level=4):
    """Findings as warnings; notes are none."""
    import warnings
    for severity, rule, text in zip(findings["severity"], findings["rule"], findings["text"]):
        if severity != "note":
            warnings.warn(shown(f"{path}: {text} [{rule}]", WARNING_WIDTH), LodeWarning, stacklevel=level)


def export_formats():
    """The formats of export(): their names, what reads them, suffixes and usual names of files, and what they cannot hold."""
    names = ("name", "description", "suffix", "loses", "available", "names")
    return Table(dict(zip(names, map(list, zip(*_lode.export_formats())))), title="formats")


def _named(path):
    """The format that has the last part of a path among its usual names, or None."""
    base = os.path.basename(path).lower()
    return next((name for name, *_, names in _lode.export_formats() if any(fnmatchcase(base, one.lower()) for one in names.split())), None)


def format_of(path):
    """The format and the compression that the name of a file stands for, as `lode export` does it: x.folded.gz is folded stacks in gzip."""
    path = os.fsdecode(path)
    plain, suffix = os.path.splitext(path)
    compression = PACKINGS.get(suffix.lower(), "default")
    return _named(path) or (_named(plain) if compression != "default" else None), compression


class Writing:
    """Files and stores that are made of a store."""

    def _stores(self):
        return ((self._store, os.fsencode(self.path), None),)

    def _metric_name(self, metric):
        return None if metric is None else self.metrics[metric].name

    def export(self, path, format=None, metric=None, profiles=None, tracks=None, start=None, stop=None, names=None, focus=None, depth=0,
               table=None, title=None, compression="default", force=False, by_profile=False, lines=False, loops=False, entries=True,
               inline=True, samples=False, arguments=True, threads=0, progress=None):
        """Writes the store in a format of other tools, by default that of the suffix: what `lode export` writes. Returns the findings."""
        first, last = self._window(start, stop)
        numbers = None if tracks is None else (tracks,) if hasattr(tracks, "__index__") else tuple(sorted(tracks))
        flags = (force, by_profile, lines, loops, not entries, not inline, samples, not arguments)
        named, packing = format_of(path)
        if not format and not named:
            raise ValueError(f"{os.fsdecode(path)!r} has the suffix of no format: say which, such as format='pprof' (lode.export_formats())")
        compression = choose(packing if compression == "default" else compression, COMPRESSIONS, "compression")
        findings = _lode.export(self._stores(), path, format or named, (title, focus, table, self._metric_name(metric), profiles),
                                (first, last, numbers), form_of(names or self._names), depth, compression, flags, threads, self._progress(progress))
        warn(os.fsdecode(path), findings)
        return Table(findings, {"offset": "plain"}, "findings")

    def _cut(self, output, metric, profiles, focus, window, tracks, depth, min_share, min_time, keep_contexts, force, threads, progress):
        numbers = None if tracks is None else (tracks,) if hasattr(tracks, "__index__") else tuple(sorted(tracks))
        findings = _lode.slice(self._stores(), output, (self._metric_name(metric), profiles, focus), (*window, numbers), depth,
                               float(min_share), min_time, keep_contexts, force, threads, self._progress(progress))
        warn(os.fsdecode(output), findings, 5)
        return Table(findings, {"offset": "plain"}, "findings")
