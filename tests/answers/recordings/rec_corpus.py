#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The recordings of the corpus: every row of `top`, `tree`, `flame`, `profiles` and `search` is that of the reference, with every option that chooses rows.
Needs the corpus.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import rec_compare as compare  # noqa: E402
import rec_reference as reference  # noqa: E402
import resolve  # noqa: E402
import rec_uftrace as uftrace  # noqa: E402

import cli  # noqa: E402
import corpora  # noqa: E402
import corpus_files  # noqa: E402
import reader  # noqa: E402

# Directories that the reader does not open or does not repair; handmade.py has their rows, derived by hand.
NOT_READ = {
    "badhdrmagic": "the info file has no header, so that the reader knows neither byte order nor tasks",
    "v5": "there is no version 5 to read",
    "be_noswap_hdr": "the byte order in the header is not that of the records",
    "badmagic": "the reader ends at what is no record",
    "evunk": "an event carries more bytes than there are; the reader takes them all",
    "extratid": "a task without a session; the reader does not take that of another",
    "nosess": "no task has a session; the reader does not take the only map",
    "moreflag": "a record says that it has values, and nothing says which",
}


class Recording:
    def __init__(self, name, path):
        self.name, self.path, self.tracks = name, path, uftrace.tracks(path)


def recordings(program):
    found = corpus_files.recorded()
    if not found:
        raise cli.MissingCorpus
    if not hasattr(program, "opened"):
        made = [(name, path) for name, path in corpus_files.handmade() if name not in NOT_READ]
        program.opened = [Recording(name, path) for name, path in found + made]
        program.rows = 0
    return program.opened


def ask(program, command, recording, *options, off_cpu=None):
    """The answer, whatever the recording had to be repaired for."""
    names = ["--names", "raw"] if command != "profiles" else []
    # In the reference, off-CPU time is a call.
    names += ["--sched"] if command in ("top", "tree", "flame") and not off_cpu else []
    result = program.run(command, recording.path, "--json", "--limit", "0", *names, *options, cwd=recording.path)
    if result.status not in (0, 1):
        raise ValueError(f"lode {command} {' '.join(map(str, options))}: {result.err}")
    return cli.parse_json(result.out)


def report(program, recording, words, results):
    rows, wrong = 0, []
    for count, problems in results:
        rows += count
        wrong += problems
    program.rows += rows
    program.check(not wrong, f"{recording.name}: {words}: {rows} rows are those of the reference", wrong[:20])


def functions(program):
    for recording in recordings(program):
        results = [compare.top(ask(program, "top", recording, "--sort", "self", "--by", "symbol"), recording.tracks),
                   compare.top_kinds(ask(program, "top", recording, "--by", "kind"), recording.tracks),
                   compare.top_list(ask(program, "top", recording, "--by", "kind", "--list", "*"), recording.tracks)]
        for names in ("raw", "simple", "full"):
            answer = ask(program, "top", recording, "--sort", "self", "--names", names)
            results.append(compare.top_names(answer, recording.tracks, names))
        results += filtered(program, recording)
        for function in chosen_functions(recording):
            for option in ("--callers", "--callees"):
                answer = ask(program, "top", recording, option, function.raw)
                results.append(compare.neighbours(answer, recording.tracks, function.raw, option == "--callers"))
        report(program, recording, "top, callers and callees", results)


def filtered(program, recording):
    """Rows that --include and --exclude leave, by name and by module."""
    for function in chosen_functions(recording, 2):
        part = function.simple[:max(1, len(function.simple) // 2)]
        tail = function.module.rsplit("/", 1)[-1]
        choices = [(["--exclude", function.simple], lambda other: function.simple not in reference.names_of(other)),
                   (["--include", f"{part}*"], lambda other: any(name.startswith(part) for name in reference.names_of(other)))]
        if tail:
            choices.append((["--include", f"module:{tail}", "--exclude", "/^m/"],
                            lambda other: other.module.rsplit("/", 1)[-1] == tail
                            and not any(name.startswith("m") for name in reference.names_of(other))))
        for words, shows in choices:
            if any(letter in words[1] for letter in "?\\") or "*" in part or "..." in part:
                continue
            answer = ask(program, "top", recording, "--sort", "self", *words)
            yield compare.top_names(answer, recording.tracks, "raw", shows)


def chosen_functions(recording, count=4):
    """Some functions, always the same ones: those with the most callers and callees together."""
    found = {}
    for call, path in uftrace.reference.all_calls(recording.tracks):
        above = path[-1].function if path else None
        found.setdefault(call.function, set()).add(above)
        found.setdefault(above, set()).add(call.function)
    found.pop(None, None)
    return sorted(found, key=lambda function: (-len(found[function]), function.key))[:count]


def trees(program):
    for recording in recordings(program):
        results = []
        focus = [function.full for function in chosen_functions(recording, 2)]
        choices = [{}, {"bottom_up": True}, {"depth": 3}, {"bottom_up": True, "depth": 2}, {"min_percent": 5},
                   {"bottom_up": True, "min_percent": 5}]
        choices += [{"focus": name} for name in focus] + [{"focus": name, "bottom_up": True, "depth": 4} for name in focus[:1]]
        choices += [{"callers": name} for name in focus]
        for options in choices:
            words = ["--min-percent", options.get("min_percent", 0)]
            words += ["--bottom-up"] * bool(options.get("bottom_up"))
            for name in ("focus", "callers", "depth"):
                words += [f"--{name}", options[name]] if name in options else []
            results.append(compare.tree(ask(program, "tree", recording, *words), recording.tracks, **options))
        report(program, recording, f"tree in {len(choices)} ways", results)


def flames(program):
    boxes = 0
    for recording in recordings(program):
        choices = [("top-down", None), ("bottom-up", None)]
        choices += [(mode, function.full) for function in chosen_functions(recording, 2) for mode in ("top-down", "sandwich")]
        results = [compare.flame(ask(program, "flame", recording, *compare.flame_words(mode, focus)), recording.tracks, mode, focus)
                   for mode, focus in choices]
        results.append(compare.flame(ask(program, "flame", recording, *compare.flame_words(), "--merge-recursion"), recording.tracks, merged=True))
        boxes += sum(count for count, _ in results)
        report(program, recording, f"flame graphs in {len(results)} ways", results)
    program.check(boxes > (1000 if corpora.is_own() else 5000), f"{boxes} boxes are compared")


def filtered_trees(program):
    """Rows of trees that --include and --exclude leave, and rows without off-CPU time."""
    off = 0
    for recording in recordings(program):
        problems, rows = [], 0
        names = [function.raw for function in chosen_functions(recording, 3)]
        for direction in ([], ["--bottom-up"]):
            whole = ask(program, "tree", recording, "--min-percent", "0", *direction)["rows"]
            for name in names:
                for words, include, exclude in ((["--include", name], name.__eq__, lambda other: False),
                                                (["--exclude", name], None, name.__eq__),
                                                (["--include", names[0], "--exclude", name], names[0].__eq__, name.__eq__)):
                    wanted = resolve.filter_rows(whole, include, exclude)
                    found = ask(program, "tree", recording, "--min-percent", "0", *direction, *words)["rows"]
                    rows += len(found)
                    keys = [[(row["depth"], row["name"], row["total_ns"], row["self_ns"]) for row in answer] for answer in (found, wanted)]
                    if sorted(keys[0]) != sorted(keys[1]):
                        problems.append(f"tree {' '.join(direction + words)}: {len(keys[0])} rows, not {len(keys[1])}")
        part = reference.without_off_cpu(recording.tracks)
        off += sum(call.is_off for call, _ in reference.all_calls(recording.tracks))
        results = [(rows, problems), compare.top_names(ask(program, "top", recording, "--sort", "self", off_cpu="part"), part),
                   compare.tree(ask(program, "tree", recording, "--min-percent", "0", off_cpu="part"), part)]
        if any(call.is_off for call, _ in reference.all_calls(recording.tracks)):
            part, running = reference.running(recording.tracks), ("--metric", "running")
            results += [compare.top_names(ask(program, "top", recording, "--sort", "self", *running, off_cpu="left out"), part),
                        compare.tree(ask(program, "tree", recording, "--min-percent", "0", *running, off_cpu="left out"), part),
                        compare.flame(ask(program, "flame", recording, *compare.flame_words(), *running, off_cpu="left out"), part)]
        report(program, recording, "filtered trees, and no off-CPU time", results)
    if not corpora.is_own():  # of those that have some, only the dump of uftrace is kept
        program.check(off > 0, f"the recordings have off-CPU time: {off} times")


def tasks(program):
    for recording in recordings(program):
        report(program, recording, "profiles", [compare.profiles(ask(program, "profiles", recording, "--bins", 3), recording.tracks, bins=3)])


def charts(program):
    """Calls over time by depth: all of them, and those of a part in time."""
    for recording in recordings(program):
        times = uftrace.moments(recording.tracks)
        third = (times[-1] - times[0]) // 3 if times else 0
        results = []
        for columns, words in ((40, []), (7, ["--from", f"@{times[0] + third}", "--to", f"@{times[-1] - third}"] if third > 10 else [])):
            result = program.run("trace", "--boxes", recording.path, "--json", "--rows", "0", "--columns", columns, "--names", "raw", *words, cwd=recording.path)
            if result.status not in (0, 1) or not result.out:
                raise ValueError(f"lode trace --boxes: {result.err}")
            results.append(compare.boxes(cli.parse_json(result.out), recording.tracks, columns))
        report(program, recording, "trace --boxes", results)


def windows(program):
    """Parts in time, by task, and without short calls."""
    for recording in recordings(program):
        times = uftrace.moments(recording.tracks)
        if len(times) < 4:
            continue
        ends = [moment for share in (0.25, 0.7) if (moment := uftrace.quiet_moment(times, share)) is not None]
        spans = [(None, end) for end in ends] + [(end, None) for end in ends] + [tuple(ends)] * (len(ends) == 2 and ends[0] < ends[1])
        results = []
        for begin, end in spans:
            words = (["--from", f"@{begin}"] if begin else []) + (["--to", f"@{end}"] if end else [])
            part = uftrace.reference.cut(recording.tracks, begin, end)
            results.append(compare.top_names(ask(program, "top", recording, "--sort", "self", *words), part))
            results.append(compare.tree(ask(program, "tree", recording, "--min-percent", "0", *words), part))
        for least in (100, 20_000):
            part = uftrace.reference.cut(recording.tracks, min_time=least)
            results.append(compare.top(ask(program, "top", recording, "--sort", "self", "--min-time", f"{least}ns", "--by", "symbol"), part))
        for track in recording.tracks[:3]:
            answer = ask(program, "top", recording, "--sort", "self", "--task", track.facts["tid"])
            results.append(compare.top_names(answer, [track]))
        report(program, recording, f"{len(results)} windows", results)


def texts(program):
    """search TEXT: the tasks that called a function with these letters in its name."""
    for recording in recordings(program):
        results = []
        called = [(track, [call for call, _ in reference.walk(track.calls) if not call.is_off]) for track in recording.tracks]
        for text in sorted({function.simple[:8].swapcase() for function in chosen_functions(recording)}) + ["no such word"]:
            wanted = {track.facts["track"]: [track.facts["tid"], len(calls)] for track, calls in called
                      if any(text.lower() in name.lower() for call in calls for name in reference.names_of(call.function))}
            found = {row["track"]: [row["tid"], row["calls"]] for row in ask(program, "search", recording, "--text", text)["rows"]}
            results.append((len(wanted) + 1, [] if found == wanted else [f"search {text}: {found}, not {wanted}"]))
        report(program, recording, "tasks with a text", results)


def what_is_left_out(program):
    """Whatever is not compared: the reader gives up, or gives other rows."""
    recordings(program)
    for name, why in NOT_READ.items():
        path = corpus_files.folder("handmade") / name
        try:
            recording = Recording(name, path)
            has_reference = not compare.top(ask(program, "top", recording, "--by", "symbol"), recording.tracks)[1]
        except reader.Damaged:
            has_reference = False
        program.check(not has_reference, f"{name} has no reference: {why}")
    program.note(f"{len(program.opened)} recordings, {program.rows} rows")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, functions, trees, flames, filtered_trees, tasks, charts, windows, texts, what_is_left_out))
