#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Databases built from measurements: byte-identical for any number of threads and ranks; damaged files are findings and the rest is built; flipped
bits do no harm; single profiles and several directories; what --like-hpcprof changes. That the numbers are right: tests/answers/imports/measured_build.py.
Needs the corpus.
"""

import argparse
import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import corpora  # noqa: E402
from tap import Tap  # noqa: E402

MUTATIONS = 40


def corpus():
    return corpora.root()


class Builder:
    def __init__(self, lode, scratch):
        self.lode, self.scratch, self.count = lode, Path(scratch), 0

    def run(self, *words):
        done = subprocess.run([self.lode, *map(str, words)], capture_output=True, timeout=300)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def build(self, *words):
        """(status, what it said, the new database)"""
        self.count += 1
        target = self.scratch / f"db{self.count}"
        status, out, err = self.run("build", *words, "-o", target)
        return status, out + err, target

    def copy(self, directory):
        self.count += 1
        return Path(shutil.copytree(directory, self.scratch / f"m{self.count}"))

    def is_sound(self, database):
        return json.loads(self.run("check", "--level", "full", "--json", database)[1])["result"]["errors"] == 0

    def profiles(self, database):
        return len(json.loads(self.run("dump", database)[1])["profiles"]) - 1


def digest(database):
    total = hashlib.sha256()
    for path in sorted(database.rglob("*")):
        total.update(str(path.relative_to(database)).encode() + (path.read_bytes() if path.is_file() else b""))
    return total.hexdigest()


def same_bytes(builder, tap, folder):
    inputs = [folder / name for name in ("loops-cputime-t", "small", "recursion-cuda-nvidiapc-t", "loops-perf-t.d.t2")]
    for words in ([], ["--like-hpcprof", "--statistics", "sum,mean,stddev,min,max"], ["--ignore-structs"]):
        wanted = digest(builder.build(*words, "--threads", 1, *inputs)[2])
        for more in (["--threads", 2], ["--threads", 7], ["--local-ranks", 2], ["--local-ranks", 5, "--threads", 2], ["--local-ranks", 16]):
            status, said, database = builder.build(*words, *more, *inputs)
            name = " ".join(map(str, [*words, *more]))
            tap.check(status == 0 and digest(database) == wanted, f"the same bytes: {name}", [said])


def damage(builder, tap, folder):
    directory = builder.copy(folder / "loops-cputime-t")
    profiles = sorted(directory.glob("*.hpcrun"))
    profiles[0].write_bytes(profiles[0].read_bytes()[:-50])
    trace = profiles[-1].with_suffix(".hpctrace")
    trace.write_bytes(b"x" + trace.read_bytes()[1:])
    (directory / "structs" / "a.hpcstruct").write_text("<!DOCTYPE HPCToolkitStructure [<!ENTITY a 'b'>]><HPCToolkitStructure>&a;")
    status, said, database = builder.build(directory)
    rules = {finding["rule"] for finding in json.loads(builder.run("check", "--json", directory)[1])["findings"]}
    tap.check(status == 0 and "3 findings copied to" in said and {"hpcrun-footer", "hpctrace-header", "hpcstruct-declaration"} <= rules,
              "damaged files are findings", [said, rules])
    tap.check(builder.profiles(database) == 3 and builder.is_sound(database), "the rest is built")
    alone = builder.copy(directory)
    (alone / profiles[0].name).unlink()
    (alone / profiles[0].with_suffix(".hpctrace").name).unlink()
    tap.check(digest(builder.build(alone)[2]) == digest(database), "as if the damaged profile was not there")
    wanted = digest(database)
    tap.check(digest(builder.build("--local-ranks", 3, directory)[2]) == wanted, "the same on ranks")
    status, said, database = builder.build("--strict", directory)
    tap.check(status == 2 and not database.exists(), "--strict: nothing is built", [said])
    for profile in profiles:
        profile.write_bytes(b"HPCRUN-profile____")
    status, said, database = builder.build(directory)
    tap.check(status == 2 and "footer" in said and not database.exists(), "no profile can be used: nothing is built", [said])


def change(data, is_text, chance):
    """Flips a bit; in text, replaces a digit, so that addresses and lines change."""
    at = chance.randrange(len(data))
    if not is_text:
        data[at] ^= 1 << chance.randrange(8)
        return
    while data[at] not in b"0123456789abcdef":
        at = chance.randrange(len(data))
    data[at] = chance.choice(b"0123456789abcdef")


def flipped_bits(builder, tap, folder):
    chance, wrong, built = random.Random(19), [], 0
    for number in range(MUTATIONS):
        directory = builder.copy(folder / ("small", "recursion-cuda-nvidiapc-t")[number % 2])
        path = chance.choice([path for path in sorted(directory.rglob("*")) if path.suffix in (".hpcrun", ".hpctrace", ".hpcstruct")])
        data = bytearray(path.read_bytes())
        for _ in range(chance.randint(1, 3)):
            change(data, path.suffix == ".hpcstruct", chance)
        path.write_bytes(data)
        status, said, database = builder.build(directory)
        built += status == 0
        if status not in (0, 2) or (status == 0 and not builder.is_sound(database)):
            wrong.append(f"{number}: {path.name}: exit status {status}: {said}")
        shutil.rmtree(directory)
        shutil.rmtree(database, ignore_errors=True)
    tap.check(not wrong and built > MUTATIONS // 4, f"{MUTATIONS} measurements with flipped bits", wrong[:5])


def arguments(builder, tap, folder):
    small = folder / "small"
    single, = small.glob("*.hpcrun")
    status, said, database = builder.build(single)
    wanted = digest(builder.build("--ignore-structs", small)[2])
    tap.check(status == 0 and digest(database) == wanted, "a single profile has its trace and no structure files", [said])
    status, said, database = builder.build(small, folder / "small-v3")
    tap.check(status == 0 and builder.profiles(database) == 2 and builder.is_sound(database), "two directories", [said])
    for words in (["--per", "thread"], ["--ranks", "x"], ["--rank-from", "(x)"], ["--trace", "10us"]):
        status, said, database = builder.build(*words, small)
        tap.check(status == 2 and "not for measurements" in said and not database.exists(), f"{words[0]} is not for measurements", [said])
    status, said, database = builder.build("--statistics", "none", small)
    text = (database / "metrics" / "default.yaml").read_text()
    tap.check(status == 0 and "roots: []" in text, "--statistics none: viewers show nothing", [said, text])


def lexical(builder, database):
    """{context of a loop: (lex_aware, function) by profile}, and statistics by formula, from a dump."""
    dump = json.loads(builder.run("dump", database)[1])
    metric, = dump["meta"]["metrics"]
    names = {instance["id"]: dump["meta"]["scopes"][instance["scope"]]["name"] for instance in metric["scopes"]}
    loops, waiting = set(), list(dump["meta"]["entry_points"])
    while waiting:
        context = waiting.pop()
        waiting.extend(context["children"])
        if context.get("lexical") == "loop":
            loops.add(str(context["id"]))
    differ = 0
    for profile in dump["profiles"]:
        for context, values in (profile["values"].items() if not profile["summary"] else ()):
            by_name = {names[int(id)]: value for id, value in values.items()}
            differ += context in loops and by_name.get("lex_aware", 0) != by_name.get("function", 0)
    ids = {statistic["id"]: (dump["meta"]["scopes"][statistic["scope"]]["name"], statistic["formula"]) for statistic in metric["statistics"]}
    summary = next(profile for profile in dump["profiles"] if profile["summary"])["values"]["0"]
    return differ, {ids[int(id)]: float(value) for id, value in summary.items()}


def files_by_content(builder, tap, folder):
    """Profiles and traces are found whatever they are called; a trace without a profile, and measurements without profiles, are said."""
    whole, named, killed = (builder.copy(folder / "loops-cputime-t") for _ in range(3))
    for i, path in enumerate(sorted(named.glob("*.hpcrun"))):
        path.rename(path.with_suffix((".profile", "")[i % 2]))
    for path in named.glob("*.hpctrace"):
        path.rename(path.with_suffix(".bin"))
    (named / "notes.txt").write_text("HPCRUN is a part of HPCToolkit\n")
    status, said, built = builder.build("--title", "x", named)
    tap.check(status == 0 and digest(built) == digest(builder.build("--title", "x", whole)[2]), "files with other names: the same database", [status, said])
    info = json.loads(subprocess.run([builder.lode, "info", "--json", named], capture_output=True, check=True).stdout)
    tap.check(not info["skipped"], "nothing is skipped", info["skipped"])
    for path in sorted(killed.glob("*.hpcrun"))[1:]:
        path.unlink()
    lone = sorted(path.name for path in killed.glob("*.hpctrace"))[1:]
    if lone:
        info = json.loads(subprocess.run([builder.lode, "info", "--json", killed], capture_output=True, check=True).stdout)
        tap.check([(skip["file"], skip["text"]) for skip in info["skipped"]] == [(name, "hpctrace-alone: there is no profile of that name") for name in lone], "traces without profiles are said", info["skipped"])
    for path in killed.glob("*.hpcrun"):
        path.unlink()
    for path in killed.glob("*.hpctrace"):
        path.write_bytes(b"")  # as hpcrun leaves it
    for command in (["info", killed], ["build", killed, "-o", builder.scratch / "refused"]):
        done = subprocess.run([builder.lode, *command], capture_output=True, text=True, check=False)
        tap.check(done.returncode == 2 and "measurements without profiles" in done.stderr and done.stderr.count("\n") == 1, f"{command[0]}: a run that was killed", [done.stderr])


def what_hpcprof_does(builder, tap, folder):
    words = ["--statistics", "sum,stddev", folder / "loops-cputime-t"]
    differ, root = lexical(builder, builder.build(*words)[2])
    tap.check(differ > 0, "loops are without inner loops in the scope lex_aware of profiles")
    tap.check(root["execution", "($$^2)"] != root["execution", "$$"], "squares are squared")
    differ, root = lexical(builder, builder.build("--like-hpcprof", *words)[2])
    tap.check(differ == 0, "--like-hpcprof: lex_aware is function")
    tap.check(root["execution", "($$^2)"] == root["execution", "$$"], "--like-hpcprof: squares are not squared")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    folder, tap = corpus() / "measurements", Tap()
    if not folder.is_dir():
        tap.skip("measurements", "there is no corpus")
        return tap.finish()
    with tempfile.TemporaryDirectory() as scratch:
        builder = Builder(options.lode, scratch)
        for part in (same_bytes, damage, files_by_content, arguments, what_hpcprof_does, flipped_bits):
            part(builder, tap, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
