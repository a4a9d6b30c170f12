#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Merged databases against a reference that adds them up: every value of every profile at its context, contexts by what they and
all above them are; totals are the sums. The order of arguments, threads, ranks and memory do not change a byte; a full check
is content; hpcviewer has what it needs.
"""

import itertools
import math
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from bytes import ACCEPTED, differing, findings
from content import Content
from tool import Tap, corpus_databases, parse_arguments
import corpora  # tool knows where it is
from viewer_needs import what_is_wrong

WAYS = {
    "1 thread": ["--threads", "1"],
    "7 threads": ["--threads", "7"],
    "64 KiB": ["--memory", "64K"],
    "2 ranks": ["--local-ranks", "2"],
    "3 ranks of 2 threads, 256 KiB": ["--local-ranks", "3", "--threads", "2", "--memory", "256K"],
}


class Numbered(Content):
    """A database in which equal modules, files and functions are distinguished by their order, as a merge does."""

    def _read_symbols(self, meta):
        super()._read_symbols(meta)
        for name in ("modules", "files"):
            setattr(self, name, numbered(getattr(self, name)))

        def pick(table, index):
            return None if index is None else table[index]
        self.functions = numbered([(function["name"], pick(self.modules, function["module"]), function["offset"],
                                    pick(self.files, function["file"]), function["line"]) for function in meta["functions"]])


def numbered(items):
    seen = Counter()
    found = []
    for item in items:
        found.append((item, seen[item]))
        seen[item] += 1
    return found


class Paths:
    """Numbers for contexts by content: what a context is, below which one, and how many equal siblings precede it."""

    def __init__(self):
        self.numbers = {}

    def of(self, content):
        """{id: number} of all listed contexts."""
        paths, seen, numbers = {}, Counter(), [0]
        for index, node in enumerate(content.nodes[1:], 1):
            key = (numbers[node.parent], node.key)
            full = (*key, seen[key])
            seen[key] += 1
            numbers.append(self.numbers.setdefault(full, len(self.numbers) + 1))
        for index, node in enumerate(content.nodes):
            paths[node.id] = numbers[index]
        return paths


def signatures(content):
    """{metric index: name, scopes and statistics}: what makes metrics the same."""
    found = {}
    for id, (name, scope) in content.value_ids.items():
        found.setdefault(content.metric_of[id], [name[0], set(), set()])[1].add(scope)
    for statistic in content.statistics.values():
        found.setdefault(statistic.metric, [content.metric_names[statistic.metric], set(), set()])[2].add(
            (statistic.key[1], statistic.formula, statistic.combine))
    return {metric: (name, frozenset(scopes), frozenset(statistics)) for metric, (name, scopes, statistics) in found.items()}


class Tensor:
    """Values as {(profile, context, (metric, scope)): value}; those at unlisted contexts without their context."""

    def __init__(self):
        self.values, self.unlisted, self.samples = {}, Counter(), {}

    def add(self, paths, content, profile_key, names):
        of = paths.of(content)
        for profile in content.profiles:
            ids = profile_key(profile.key[1])
            who = next((ids, n) for n in itertools.count() if (ids, n) not in self.samples)
            self.samples[who] = [(time, of[id]) for time, id in profile.samples]
            for id, group in profile.values.items():
                for metric, value in group.items():
                    what = names[content.metric_of[metric]], content.value_ids[metric][1]
                    if id in of:
                        self.values[who, of[id], what] = value
                    else:
                        self.unlisted[who, what, value] += 1


def expected_tensor(paths, contents, runs):
    """What a merge must hold; `runs` are the numbers of the databases, or None."""
    tensor = Tensor()
    for number, content in enumerate(contents):
        def key(ids, number=number):
            return (("RUN", 0, runs[number], runs[number]), *ids) if runs else tuple(ids)
        tensor.add(paths, content, key, signatures(content))
    return tensor


def needs_runs(contents):
    """Whether two databases have profiles of the same ids."""
    of = [{profile.key[1] for profile in content.profiles} for content in contents]
    return any(one & other for one, other in itertools.combinations(of, 2))


def runs_of(content, sources):
    """The numbers that the description gives the databases."""
    listed = dict(re.findall(r"^RUN (\d+): (.*)$", content.description, re.MULTILINE))
    numbers = {path: int(number) for number, path in listed.items()}
    return [numbers[str(source)] for source in sources]


def merged_tensor(paths, content, original):
    """The same of a merged database; a suffix is taken off again."""
    tensor = Tensor()
    names = {}
    for metric, (name, scopes, statistics) in signatures(content).items():
        bare = name.rpartition(" (")[0] if name not in original else name
        names[metric] = (bare, scopes, statistics)
    tensor.add(paths, content, tuple, names)
    return tensor


def summary_problems(content):
    """Sums in the summary are the sums over profiles, but at loops, which have a rule of their own."""
    sums = defaultdict(list)
    for profile in content.profiles:
        for id, group in profile.values.items():
            for metric, value in group.items():
                sums[id, metric].append(value)
    loops = {node.id for node in content.nodes if node.lexical == "loop"}
    for statistic in content.statistics.values():
        if (statistic.formula, statistic.combine) != ("$$", "sum"):
            continue
        for (id, metric), values in sums.items():
            if metric != statistic.value_id or (id in loops and statistic.scope_type == "custom"):
                continue
            found, wanted = content.summary.get(id, {}).get(statistic.id, 0), math.fsum(values)
            if abs(found - wanted) > 1e-12 * math.fsum(map(abs, values)):
                yield f"the sum of metric {statistic.key[0]} at context {id} is {found}, not {wanted}"


def compare(lode, sources, target):
    contents = [Numbered(lode.dump(source)) for source in sources]
    merged = Numbered(lode.dump(target))
    original = {name for content in contents for name in content.metric_names}
    paths = Paths()
    if needs_runs(contents) != ("RUN" in merged.id_names):
        yield f"kinds of ids: {merged.id_names}"
    runs = runs_of(merged, sources) if needs_runs(contents) else None
    if runs and sorted(runs) != list(range(len(sources))):
        yield f"numbers of runs: {runs}"
    wanted, found = expected_tensor(paths, contents, runs), merged_tensor(paths, merged, original)
    if wanted.values != found.values:
        lost, more = wanted.values.items() - found.values.items(), found.values.items() - wanted.values.items()
        yield f"{len(lost)} values lost, {len(more)} found: {sorted(map(str, lost))[:3]}, {sorted(map(str, more))[:3]}"
    if wanted.unlisted != found.unlisted:
        yield "values at unlisted contexts differ"
    for who in wanted.samples.keys() | found.samples.keys():
        if without_repeats(wanted.samples.get(who, [])) != found.samples.get(who, []):
            yield f"samples of {who} differ"
    if len(merged.nodes) != len(paths.numbers) + 1:
        yield f"{len(merged.nodes)} contexts, not {len(paths.numbers) + 1}"
    yield from summary_problems(merged)


def without_repeats(samples):
    """Idle samples that follow idle ones are left out, as `convert` does."""
    return [sample for before, sample in zip([None, *samples], samples) if not (before and before[1] == sample[1] == 0)]


def check_merge(tap, lode, title, sources, more=()):
    with tempfile.TemporaryDirectory(prefix="lode-merge-") as folder:
        target, again = Path(folder) / "merged", Path(folder) / "again"
        try:
            lode.must("merge", *sources, *more, "-o", target)
            wrong = findings(lode, target, ACCEPTED) + list(compare(lode, sources, target))
            wrong += what_is_wrong(target, True)
            for order in itertools.islice(itertools.permutations(sources), 1, 4):
                lode.must("merge", *order, *more, "-o", again)
                wrong += [f"in the order {[path.name for path in order]}: {name}" for name in differing(target, again)]
                shutil.rmtree(again)
            for how, options in WAYS.items():
                lode.must("merge", *sources, *more, *options, "-o", again)
                wrong += [f"with {how}: {name}" for name in differing(target, again)]
                shutil.rmtree(again)
        except (ValueError, LookupError, OSError) as error:
            wrong = [repr(error)]
    tap.check(not wrong, title, wrong[:20])


def check_single(tap, lode, name, database):
    """One database merged is that database converted, but for roundings of hpcprof at loops."""
    with tempfile.TemporaryDirectory(prefix="lode-merge-") as folder:
        merged, converted, again = (Path(folder) / part for part in ("merged", "converted", "again"))
        lode.must("merge", database, "-o", merged)
        lode.must("convert", database, "-o", converted)
        lode.must("convert", merged, "-o", again)
        names = differing(merged, converted)
        wrong = [f"converted again: {name}" for name in differing(merged, again)]
        if names and names != ["profile.db"]:
            wrong.append(f"other than converted: {names}")
        if names:
            wrong += list(only_loops_differ(Content(lode.dump(merged)), Content(lode.dump(converted))))
    tap.check(not wrong, f"{name}: one database, as converted", wrong)


def only_loops_differ(one, other):
    loops = {node.id for node in one.nodes if node.lexical == "loop"}
    for profile, twin in zip(one.profiles, other.profiles):
        if profile.values != twin.values:
            yield f"values of profile {profile.index} differ"
    for id in one.summary.keys() | other.summary.keys():
        left, right = one.summary.get(id, {}), other.summary.get(id, {})
        if left == right:
            continue
        whole = max(map(abs, [*left.values(), *right.values()]))
        for statistic in left.keys() | right.keys():
            difference = abs(left.get(statistic, 0) - right.get(statistic, 0))
            if difference and (id not in loops or difference > 1e-9 * whole):
                yield f"statistic {statistic} at context {id} differs by {difference}"


# ---- made databases ----

def make(lode, folder, name, *parameters):
    target = Path(folder) / name
    lode.must("synth", "database", *parameters, "-o", target)
    return target


def check_made(tap, lode):
    with tempfile.TemporaryDirectory(prefix="lode-merge-") as folder:
        one = make(lode, folder, "a", "--profiles", "5", "--contexts", "200", "--seed", "1")
        two = make(lode, folder, "b", "--profiles", "9", "--contexts", "300", "--seed", "2", "--metrics", "3")
        three = make(lode, folder, "c", "--profiles", "1", "--contexts", "3", "--depth", "4", "--samples", "0")
        check_merge(tap, lode, "made: three that have little in common", [one, two, three])
        ten = [make(lode, folder, f"run{i}", "--profiles", "4", "--contexts", "100", "--seed", str(i % 3)) for i in range(1, 11)]
        check_merge(tap, lode, "made: ten runs, some equal, in the order of their numbers", ten)
        check_labels(tap, lode, Path(folder), one, two)
        check_mean(tap, lode, Path(folder), one, two)
        check_align(tap, lode, Path(folder), one, two)
        check_sources(tap, lode, Path(folder))


def check_labels(tap, lode, folder, one, two):
    lode.must("merge", "--labels", "new,base", one, two, "-o", folder / "labelled")
    content = Content(lode.dump(folder / "labelled"))
    runs = Counter(profile.key[1][0] for profile in content.profiles)
    tap.check(runs == {("RUN", 0, 0, 0): 9, ("RUN", 0, 1, 1): 5}, "runs are numbered in the order of labels", [runs])
    tap.check("RUN 0: base\nRUN 1: new" in content.description, "the description lists the runs", [content.description])
    # A merged database and another one: no run is inside a run.
    lode.must("merge", folder / "labelled", two, "-o", folder / "more")
    again = Content(lode.dump(folder / "more"))
    kinds = Counter(tuple(id[0] for id in profile.key[1]).count("RUN") for profile in again.profiles)
    runs = {profile.key[1][0] for profile in again.profiles}
    tap.check(kinds == {1: 23} and len(runs) == 3 and again.id_names.count("RUN") == 1, "runs of a merged database get new numbers",
              [kinds, runs])
    status, _, message = lode.run("merge", "--labels", "a,b,c", one, two, "-o", folder / "none")
    tap.check(status == 2 and "--labels needs a name for each" in message, "labels are counted", [status, message])


def check_mean(tap, lode, folder, one, two):
    """Every value is the one of the plain merge, divided by the number of runs; parts of one run count once."""
    lode.must("merge", "--labels", "a,b", one, two, "-o", folder / "sum")
    lode.must("merge", "--labels", "a,b", "--mean", one, two, "-o", folder / "mean")
    plain, mean = (Content(lode.dump(folder / name)) for name in ("sum", "mean"))
    wrong = [profile.key for profile, twin in zip(plain.profiles, mean.profiles)
             if {id: {metric: value / 2 for metric, value in group.items()} for id, group in profile.values.items()} != twin.values]
    wrong += findings(lode, folder / "mean", ACCEPTED)
    tap.check(not wrong and "Means of 2 runs" in mean.description, "--mean divides by the number of runs", wrong[:5])
    lode.must("merge", "--labels", "a,a", one, two, "-o", folder / "one-sum")
    lode.must("merge", "--labels", "a,a", "--mean", one, two, "-o", folder / "one-mean")
    names = differing(folder / "one-sum", folder / "one-mean")
    tap.check(set(names) <= {"meta.db"}, "the mean of one run is that run", names)


def check_align(tap, lode, folder, one, two):
    """Samples move together, and the first of each database comes first."""
    lode.must("merge", "--labels", "a,b", one, two, "-o", folder / "as-they-are")
    lode.must("merge", "--labels", "a,b", "--align", "start", one, two, "-o", folder / "aligned")
    plain, aligned = (Content(lode.dump(folder / name)) for name in ("as-they-are", "aligned"))
    moved = defaultdict(set)
    starts = defaultdict(list)
    for left, right in zip(plain.profiles, aligned.profiles):
        moved[left.key[1][0]] |= {a[0] - b[0] for a, b in zip(left.samples, right.samples)}
        starts[left.key[1][0]] += [time for time, _ in right.samples[:1]]
    firsts = {min(times) for times in starts.values()}
    tap.check(all(len(shifts) == 1 for shifts in moved.values()) and min(map(min, moved.values())) == 0 and len(firsts) == 1,
              "--align start shifts each database by one amount", [dict(moved), firsts])


def check_sources(tap, lode, folder):
    """Copies of sources: equal ones once, different ones for each run."""
    from_corpus = folder / "x"
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fault"))
    from faults import copy_sources
    for name in "xyz":
        make(lode, folder, name, "--profiles", "2", "--contexts", "40", "--seed", "5")
        copy_sources(str(folder / name))
    changed = sorted((folder / "z" / "src").iterdir())[0]
    changed.write_text("int other;\n")
    lode.must("merge", from_corpus, folder / "y", "-o", folder / "xy")
    out = lode.run("merge", from_corpus, folder / "y", folder / "z", "-o", folder / "xyz")
    content = Content(lode.dump(folder / "xyz"))
    stored = {str(path.relative_to(folder / "xyz" / "src")): path.read_text()[:10]
              for path in (folder / "xyz" / "src").rglob("*") if path.is_file()}
    odd = [name for name in stored if name.endswith("z/" + changed.name)]
    tap.check(len(list((folder / "xy" / "src").iterdir())) == len(list((folder / "x" / "src").iterdir())),
              "equal copies of sources are stored once")
    tap.check(len(odd) == 1 and stored[odd[0]] == "int other;" and stored[changed.name] == "int synthe" and
              ("src/" + odd[0], True) in content.files and b"source-conflict" in out[1] + out[2].encode(),
              "different copies of a source are stored for each run", [stored, out])
    wrong = findings(lode, folder / "xyz", ACCEPTED)
    tap.check(not wrong, "with different copies of a source the result is sound", wrong)


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    check_made(tap, options.lode)
    databases = corpus_databases(options)
    if not databases:
        tap.skip("databases of the corpus", "no corpus: set LODE_CORPUS")
        return tap.finish()
    names = list(databases)
    for number, name in enumerate(names):
        check_single(tap, options.lode, name, databases[name])
        if number % 3 == 0:
            others = [databases[other] for other in names[number:number + 3]]
            check_merge(tap, options.lode, " + ".join(path.name for path in others), others)
    drafts = sorted(path for layout in ("pre-a", "pre-b", "draft-xml") for path in corpora.stores(options.corpus / layout))
    with tempfile.TemporaryDirectory(prefix="lode-merge-") as folder:
        target, through = Path(folder) / "merged", Path(folder) / "upgraded"
        upgraded = []
        for path in drafts:
            upgraded.append(through / path.parent.name / path.name)
            upgraded[-1].parent.mkdir(parents=True, exist_ok=True)
            options.lode.must("convert", path, "-o", upgraded[-1])
        options.lode.must("merge", "--labels", ",".join(map(str, range(len(drafts)))), *drafts, "-o", target)
        options.lode.must("merge", "--labels", ",".join(map(str, range(len(drafts)))), *upgraded, "-o", Path(folder) / "again")
        wrong = findings(options.lode, target, ACCEPTED) + differing(target, Path(folder) / "again")
        tap.check(not wrong, f"{len(drafts)} drafts, and the same when they were upgraded before", wrong)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
