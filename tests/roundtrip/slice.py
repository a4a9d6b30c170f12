#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Slices of databases against a reference that computes them from the dump of the original: which contexts stay, what own cost
each gets, and what every scope adds up to. Split by profiles and merged again, a database is as `lode convert` writes it.
A full check is content, hpcviewer has what it needs, and threads and ranks do not change a byte.
"""

import itertools
import math
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from bytes import ACCEPTED, differing, findings
from content import Content
from merge import WAYS, only_loops_differ, without_repeats
from tool import Tap, corpus_databases, parse_arguments
import corpora  # tool knows where it is
from viewer_needs import what_is_wrong

TOLERANCE = 1e-9
PARTS_MAX = 12
CALL = ("call", "inlined_call")


# ---- split and merge ----

def id_ranges(content):
    """Selections that split the profiles by one kind of id; by their index if no kind has several."""
    best, found = 1, None
    for kind in content.id_names:
        ids = [{id[2] for id in profile.key[1] if id[0] == kind} for profile in content.profiles]
        distinct = {next(iter(one)) for one in ids if len(one) == 1}
        if all(len(one) == 1 for one in ids) and best < len(distinct) <= PARTS_MAX:
            best, found = len(distinct), [f"{kind.lower()}={id}" for id in sorted(distinct)]
    indices = [profile.index for profile in content.profiles]
    if found or len(indices) < 2:
        return found
    step = max(1, math.ceil(len(indices) / 4))
    return ["profile=" + "+".join(map(str, indices[first:first + step])) for first in range(0, len(indices), step)]


def has_equal_ids(content):
    return max(Counter(profile.key[1] for profile in content.profiles).values(), default=1) > 1


def check_split(tap, lode, name, database):
    content = Content(lode.dump(database))
    selections = id_ranges(content)
    if not selections or has_equal_ids(content):
        return
    with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
        whole, converted, parts = Path(folder) / "whole", Path(folder) / "converted", []
        try:
            for number, selection in enumerate(selections):
                parts.append(Path(folder) / f"part{number}")
                lode.must("slice", "--keep-contexts", "--profiles", selection, database, "-o", parts[-1])
            wrong = findings(lode, parts[0], ACCEPTED)
            lode.must("merge", *parts, "-o", whole)
            lode.must("convert", database, "-o", converted)
            names = differing(whole, converted)
            if names == ["profile.db"]:
                wrong += list(only_loops_differ(Content(lode.dump(whole)), Content(lode.dump(converted))))
            else:
                wrong += names
        except (ValueError, LookupError, OSError) as error:
            wrong, names = [repr(error)], []
    how = "the bytes of convert" if not names else "as converted, but for roundings of hpcprof at loops"
    tap.check(not wrong, f"{name}: split into {len(selections)} and merged: {how}", wrong[:20])


# ---- the reference ----

class Reference:
    """What a slice must have: values by (profile, path of names, metric, scope)."""

    def __init__(self, content, kept, is_top=None, focus=None):
        """`kept` says of each index whether the context stays; below a focus, paths begin with it."""
        self.content, self.focus = content, focus
        self.index_of = {node.id: index for index, node in enumerate(content.nodes)}
        self.path, self.target = [None] * len(content.nodes), [None] * len(content.nodes)
        self.bits = {}
        for index, node in enumerate(content.nodes):
            above = node.parent
            if index == 0:
                self.path[0], self.target[0] = (), None if focus else ()
            elif focus and is_top[index]:
                self.path[index] = (("entry point", focus), node.key)
            elif above and self.target[above] is None:
                continue
            elif focus and above == 0:
                continue
            else:
                self.path[index] = (*self.target[above], node.key)
            if index:
                self.target[index] = self.path[index] if kept[index] else self.target[above]
                if kept[index]:
                    self.bits[self.path[index]] = node.key[3] if node.key[0] != "entry point" else 0
        self.bits[()] = 0

    def values(self, profile):
        """{(path, metric, scope): value}. Equal siblings are one here, and their values are added."""
        content, sums = self.content, defaultdict(float)
        for id, group in profile.values.items():
            index = self.index_of.get(id)
            if index is None or self.target[index] is None:
                continue
            stays = self.target[index] == self.path[index]
            for metric, value in group.items():
                name, scope = content.value_ids[metric]
                if scope[1] == "execution" and stays:
                    sums[self.path[index], name] += value
        paths = {path[:n] for path, _ in sums for n in range(len(path) + 1)}
        result = {}
        for name in {name for _, name in sums}:
            self._metric(result, paths, name, {path: sums.get((path, name), 0.0) for path in paths})
        return result

    def _metric(self, result, paths, name, inclusive):
        own, functions = {}, defaultdict(float)
        ordered = sorted(paths, key=len, reverse=True)
        below = defaultdict(float)
        for path in ordered:
            if self.focus and len(path) < 2:
                inclusive[path] = below[path]
            own[path] = inclusive[path] - below[path]
            if path:
                below[path[:-1]] += inclusive[path]
        for path in ordered:
            functions[path] += own[path]
            if path and self.bits.get(path, 0) & 1:
                functions[path[:-1]] += functions[path]
        for path in paths:
            result[path, name] = (inclusive[path], own[path], functions[path])


def sliced_values(content, focus):
    """The same of a slice: (execution, point, function) by profile, path and metric."""
    paths = [()]
    for node in content.nodes[1:]:
        key = ("entry point", focus) if focus and node.parent == 0 else node.key
        paths.append((*paths[node.parent], key))
    of = {node.id: path for node, path in zip(content.nodes, paths)}
    found = {}
    for profile in content.profiles:
        values = defaultdict(lambda: [0.0, None, 0.0])
        for id, group in profile.values.items():
            for metric, value in group.items():
                name, scope = content.value_ids[metric]
                place = {"execution": 0, "point": 1, "transitive": 2}.get(scope[1])
                if place is not None and id in of:
                    values[of[id], name][place] = (values[of[id], name][place] or 0.0) + value
        found[profile.key[1]] = values
    return found


def compare(reference, content, has_unlisted):
    found = sliced_values(content, reference.focus)
    scopes = defaultdict(set)
    for name, scope in content.value_ids.values():
        scopes[name].add(scope[1])
    for profile in reference.content.profiles:
        wanted, got = reference.values(profile), found[profile.key[1]]
        whole = defaultdict(float)
        for (path, name), values in wanted.items():
            whole[name] = max(whole[name], abs(values[0]))
        for (path, name), values in wanted.items():
            inclusive, own, function = got.get((path, name), (0.0, None, 0.0))
            pairs = [("execution", values[0], inclusive), ("function", values[2], function)]
            if "point" in scopes[name] and not has_unlisted:
                pairs.append(("point", values[1], own or 0.0))
            for scope, one, other in pairs:
                if scope == "function" and "transitive" not in scopes[name]:
                    continue
                if abs(one - other) > TOLERANCE * whole[name]:
                    yield f"{profile.key[1]}, {path[-1:]}, {name}, {scope}: {other}, not {one}"
        for path, name in got.keys() - wanted.keys():
            if any(abs(value or 0.0) > TOLERANCE * max(whole[name], 1e-300) for value in got[path, name]):
                yield f"{profile.key[1]}, {path[-1:]}, {name}: should not be there"


def levels(content, is_top):
    """Calls above each context, and itself."""
    found = [0]
    for index, node in enumerate(content.nodes[1:], 1):
        is_call = node.key[0] != "entry point" and node.key[1] in CALL
        found.append(1 if is_top and is_top[index] else found[node.parent] + is_call)
    return found


def tops(content, name):
    """Contexts of functions of that exact name that are in no other one."""
    is_top, inside = [False], [False]
    for node in content.nodes[1:]:
        function = node.key[4] if node.key[0] != "entry point" else None
        starts = bool(function and function[0] == name and node.lexical == "function" and node.key[1] in CALL)
        is_top.append(starts and not inside[node.parent])
        inside.append(inside[node.parent] or starts)
    return is_top


def chosen_function(content):
    """A function that is called from several places, if there is one; its name must be plain."""
    counts = Counter()
    for node in content.nodes[1:]:
        if node.key[0] != "entry point" and node.lexical == "function" and node.key[1] == "call" and node.key[4]:
            counts[node.key[4][0]] += 1
    plain = [name for name in counts if name and name.replace("_", "").isalnum()]
    return max(sorted(plain), key=counts.get, default=None)


def check_contexts(tap, lode, name, database):
    """--depth and --focus: the reference follows from the dump alone."""
    content = Content(lode.dump(database))
    if has_equal_ids(content):
        return
    depth = max(levels(content, None)) // 2 or 1
    focus = chosen_function(content)
    cases = {f"--depth {depth}": (["--depth", str(depth)], None, depth)}
    if focus:
        cases[f"--focus {focus}"] = (["--focus", focus], focus, None)
        cases[f"--focus {focus} --depth 1"] = (["--focus", focus, "--depth", "1"], focus, 1)
    for title, (arguments, named, cut) in cases.items():
        with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
            target, again = Path(folder) / "slice", Path(folder) / "again"
            is_top = tops(content, named) if named else None
            level = levels(content, is_top)
            kept = [cut is None or value <= cut for value in level]
            try:
                lode.must("slice", *arguments, database, "-o", target)
                sliced = Content(lode.dump(target))
                wrong = findings(lode, target, ACCEPTED) + what_is_wrong(target, True)
                wrong += list(itertools.islice(compare(Reference(content, kept, is_top, named), sliced, bool(content.unlisted)), 9))
                for how, options in WAYS.items():
                    lode.must("slice", *arguments, database, *options, "-o", again)
                    wrong += [f"with {how}: {file}" for file in differing(target, again)]
                    shutil.rmtree(again)
            except (ValueError, LookupError, OSError) as error:
                wrong = [repr(error)]
        tap.check(not wrong, f"{name}: {title}", wrong[:12])


# ---- shares, profiles ----

def totals(content):
    """{(metric, scope): the value of the global context, summed over profiles}"""
    found = defaultdict(float)
    for profile in content.profiles:
        for metric, value in profile.values.get(0, {}).items():
            found[content.value_ids[metric]] += value
    return found


def check_shares(tap, lode, name, database):
    content = Content(lode.dump(database))
    with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
        target = Path(folder) / "slice"
        try:
            lode.must("slice", "--min-share", "5", database, "-o", target)
            sliced = Content(lode.dump(target))
            wrong = findings(lode, target, ACCEPTED)
            before, after = totals(content), totals(sliced)
            for key, value in before.items():
                if key[1][1] == "execution" and abs(after[key] - value) > TOLERANCE * abs(value):
                    wrong.append(f"the total of {key} is {after[key]}, not {value}")
            if len(sliced.nodes) > len(content.nodes):
                wrong.append("more contexts")
        except (ValueError, LookupError, OSError) as error:
            wrong = [repr(error)]
    tap.check(not wrong, f"{name}: --min-share 5: totals stay", wrong[:12])


# ---- times ----

def window_reference(content, start, end):
    """{(profile, context id): nanoseconds} that samples last in a time window; the last one of a line has no length."""
    found = defaultdict(int)
    for profile in content.profiles:
        for (time, id), (after, _) in zip(profile.samples, profile.samples[1:]):
            inside = min(after, end) - max(time, start)
            if inside > 0 and id != 0:
                found[profile.key[1], id] += inside
    return found


def check_window(tap, lode, name, database):
    content = Content(lode.dump(database))
    times = [time for profile in content.profiles for time, _ in profile.samples]
    if has_equal_ids(content) or not times or min(times) == max(times):
        return
    begin, end = content.bounds[0], content.bounds[1]
    length = end - begin
    start, stop = length // 4, length // 4 * 3
    with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
        target, again = Path(folder) / "slice", Path(folder) / "again"
        arguments = ["slice", "--keep-contexts", "--from", f"{start}ns", "--to", f"{stop}ns", database]
        try:
            lode.must(*arguments, "-o", target)
            wrong = findings(lode, target, ACCEPTED) + what_is_wrong(target, False)
            sliced = Content(lode.dump(target))
            wanted = defaultdict(float)
            parents = {node.id: content.nodes[node.parent].id for node in content.nodes if node.id}
            for (who, id), time in window_reference(content, begin + start, begin + stop).items():
                wanted[who, 0] += time / 1e9
                while id:
                    wanted[who, keyed(content)[id]] += time / 1e9
                    id = parents[id]
            metric = next(id for id, (_, scope) in sliced.value_ids.items() if scope[1] == "execution")
            found = {(profile.key[1], keyed(sliced)[id] if id else 0): group[metric] for profile in sliced.profiles
                     for id, group in profile.values.items() if metric in group}
            for key in wanted.keys() | found.keys():
                if abs(wanted.get(key, 0.0) - found.get(key, 0.0)) > 1e-9 * max(wanted.values(), default=0.0):
                    wrong.append(f"{key}: {found.get(key)} s, not {wanted.get(key)}")
            if sliced.metric_names != ["trace time (sec)"]:
                wrong.append(f"metrics {sliced.metric_names}")
            for profile in sliced.profiles:
                if any(not begin + start <= time <= begin + stop for time, _ in profile.samples):
                    wrong.append("a sample is outside the window")
            again_time = window_reference(sliced, begin + start, begin + stop)
            if sum(again_time.values()) != sum(window_reference(content, begin + start, begin + stop).values()):
                wrong.append("the samples that are left do not have the time of the window")
            for how, options in WAYS.items():
                lode.must(*arguments, *options, "-o", again)
                wrong += [f"with {how}: {file}" for file in differing(target, again)]
                shutil.rmtree(again)
        except (ValueError, LookupError, OSError) as error:
            wrong = [repr(error)]
    tap.check(not wrong, f"{name}: --from --to: the time of samples", wrong[:12])


def keyed(content, cache={}):
    """{id: path of keys with numbers of equal siblings}, once for each database."""
    if id(content) not in cache:
        cache.clear()
        paths, seen = [()], Counter()
        for node in content.nodes[1:]:
            key = (paths[node.parent], node.key)
            paths.append((*paths[node.parent], (hash(node.key), seen[key])))
            seen[key] += 1
        cache[id(content)] = (content, {node.id: path for node, path in zip(content.nodes, paths)})
    return cache[id(content)][1]


def check_wrong(tap, lode):
    with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
        source = Path(folder) / "db"
        lode.must("synth", "database", "--samples", "0", "--profiles", "3", "--contexts", "30", "-o", source)
        for arguments, text in ((["--focus", "nothing_like_it"], "nothing_like_it"), (["--profiles", "rank=77"], "no profile"),
                                (["--from", "1ms"], "no traces"), (["--min-share", "200"], "")):
            status, _, message = lode.run("slice", *arguments, source, "-o", Path(folder) / "new")
            tap.check(status == 2 and text in message and not (Path(folder) / "new").exists(), f"{' '.join(arguments)} is refused",
                      [status, message])


def check_recordings(tap, lode):
    """The words of databases do for recordings what `convert` does."""
    with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
        one, two, new, old = (Path(folder) / name for name in ("one", "two", "new", "old"))
        for seed, target in enumerate((one, two), 1):
            lode.must("synth", "recording", "--records", "5000", "--tasks", "2", "--seed", seed, "-o", target)
        for word, arguments in (("merge", [one, two]), ("slice", ["--from", "1us", "--to", "500us", "--depth", "3", one])):
            lode.must(word, *arguments, "-o", new)
            lode.must("convert", *arguments, "-o", old)
            names = differing(new, old)
            tap.check(not names, f"{word} of recordings is what convert does", names)
            shutil.rmtree(new)
            shutil.rmtree(old)


def check_drafts(tap, options):
    for path in sorted(path for layout in ("pre-a", "pre-b", "draft-xml") for path in corpora.stores(options.corpus / layout)):
        with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
            wrong = []
            for number, arguments in enumerate((["--depth", "3"], ["--min-share", "2"], ["--keep-contexts"])):
                target = Path(folder) / str(number)
                options.lode.must("slice", *arguments, path, "-o", target)
                wrong += findings(options.lode, target, ACCEPTED)
        tap.check(not wrong, f"{path.parent.name}/{path.name}: slices of a draft are sound", wrong[:9])


def main():
    options = parse_arguments(__doc__)
    tap, lode = Tap(), options.lode
    check_wrong(tap, lode)
    check_recordings(tap, lode)
    if not options.names:
        check_drafts(tap, options)
    with tempfile.TemporaryDirectory(prefix="lode-slice-") as folder:
        made = {"made": ["--profiles", "9", "--contexts", "300", "--metrics", "2"],
                "made, deep": ["--depth", "60", "--contexts", "500", "--profiles", "4", "--samples", "20"]}
        for name, parameters in made.items():
            lode.must("synth", "database", *parameters, "-o", Path(folder) / name)
        databases = {**{name: Path(folder) / name for name in made}, **corpus_databases(options)}
        if len(databases) == len(made):
            tap.skip("databases of the corpus", "no corpus: set LODE_CORPUS")
        for number, (name, database) in enumerate(databases.items()):
            check_split(tap, lode, name, database)
            if number % 2 == 0 or options.names:
                check_contexts(tap, lode, name, database)
                check_shares(tap, lode, name, database)
            if number % 2 or options.names:
                check_window(tap, lode, name, database)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
