#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Profiles of pprof with mappings, addresses and build ids, of a program that the test compiles, with a sample at every instruction: functions, inlined
calls and lines are those of addr2line, costs of functions those of `go tool pprof` where it is, loops those that backward jumps of objdump close.
Profiles that have names keep them, and get loops. A binary with another build id is not used; one that was moved is found by its build id.
"""

import argparse
import collections
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import unittest.mock
from pathlib import Path

import compiled

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "export")]

from imports import run  # noqa: E402
from pprof_reader import message  # noqa: E402
from tap import Tap  # noqa: E402

# Every loop ends with a conditional jump back, in its first line or its last, and its code is in one piece.
SOURCE = """
int sink(int);
static inline __attribute__((always_inline)) int add(const int *a, int n)
{
    int sum = 0, i = 0;
    do
        sum += sink(a[i]);
    while (++i < n);
    return sum;
}
__attribute__((noinline)) int nested(const int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum ^= i;
        for (int k = 0; k < n; k++)
            sum += sink(a[k] ^ i);
    }
    return sum;
}
__attribute__((noinline)) int around(const int *a, int n)
{
    int sum = 0, i = 0;
    do
        sum += add(a, n) ^ sum;
    while (++i < n);
    return sum;
}
__attribute__((noinline)) int straight(int n) { return sink(n) * 3 + 1; }
int main(int argc, char **argv)
{
    static const int a[64];
    (void)argv;
    return nested(a, argc) + around(a, argc) + straight(argc);
}
"""
SINK = "__attribute__((noinline)) int sink(int x) { return x * 7; }\n"
FUNCTIONS = ("nested", "around", "straight", "main", "sink")
BIAS = 0x7F5500000000
SOUGHT = 4096    # mappings whose binaries are looked for
OTHER_ID = "0123456789abcdef0123456789abcdef01234567"

Instruction = collections.namedtuple("Instruction", "address function text")


class Program:
    """A binary, as readelf, objdump and addr2line see it."""

    def __init__(self, folder):
        self.path = compiled.compile_program(folder, "program", (SOURCE, SINK), ["-O1", "-fpie", "-pie", "-Wl,--build-id", "-fno-stack-protector"])
        self.id = re.search(r"Build ID: (\w+)", compiled.output("readelf", "-n", self.path))[1]
        load = next(line.split() for line in compiled.output("readelf", "-lW", self.path).splitlines() if re.match(r"\s+LOAD.* R E ", line))
        self.offset, self.address, self.size = (int(load[i], 16) for i in (1, 2, 4))
        self.instructions, function = [], None
        for line in compiled.output("objdump", "-d", "--no-show-raw-insn", self.path).splitlines():
            if found := re.match(r"\w+ <(\w+)>:", line):
                function = found[1]
            elif (found := re.match(r"\s*(\w+):\t(.*)", line)) and function in FUNCTIONS:
                self.instructions.append(Instruction(int(found[1], 16), function, found[2].strip()))
        self.frames = compiled.frames_by("addr2line", self.path, [one.address for one in self.instructions])

    def mapped(self, address):
        """Where an address of the binary is in the process."""
        return BIAS + address - self.address

    def loops(self):
        """{(function, line): addresses}: from the target of a backward jump to the jump, whose line is that of the condition."""
        found = {}
        for one in self.instructions:
            jump = re.match(r"j[a-ln-z]\w*\s+(\w+) <(\w+)[+>]", one.text)
            if jump and jump[2] == one.function and int(jump[1], 16) <= one.address:
                name, _, line = self.frames[one.address][0]
                found[name, line] = [other.address for other in self.instructions if int(jump[1], 16) <= other.address <= one.address]
        return found


class Profile:
    """A profile with a sample at each instruction; `lines` says what the profile itself knows of an address, innermost first."""

    def __init__(self, program, lines=lambda address: [], build_id=None, path=None, is_mapped=True, others=0):
        self.strings = {"": 0}
        mapping = [(1, others + 1), (5, self.text(str(path or program.path))), (6, self.text(program.id if build_id is None else build_id))]
        if is_mapped:
            mapping += [(2, BIAS), (3, BIAS + program.size), (4, program.offset)]
        fields, functions = [(1, message((1, self.text("cost")), (2, self.text("nanoseconds")))), *self.nowhere(others), (3, message(*mapping))], {}
        self.costs = {}
        for number, one in enumerate(program.instructions, 1):
            shown = [(functions.setdefault((name, file), len(functions) + 1), line) for name, file, line in lines(one.address)]
            at = program.mapped(one.address) if is_mapped else one.address
            self.costs[one.address] = 1000 + number
            fields += [(2, message((1, number), (2, self.costs[one.address]))),
                       (4, message((1, number), (2, others + 1), (3, at), *((4, message((1, function), (2, line))) for function, line in shown)))]
        fields += [(5, message((1, number), (2, self.text(name)), (4, self.text(file)))) for (name, file), number in functions.items()]
        self.bytes = gzip.compress(message(*fields, *((6, word.encode()) for word in self.strings)))

    def nowhere(self, count):
        """Mappings of binaries that are not there, each with a location."""
        fields, known = [], [(5, self.text("/nowhere/at/all")), (6, self.text(OTHER_ID))]
        for number in range(1, count + 1):
            fields += [(3, message((1, number), *known)), (4, message((1, number + 1000000), (2, number), (3, number)))]
        return fields

    def text(self, word):
        return self.strings.setdefault(word, len(self.strings))

    def write(self, path):
        path.write_bytes(self.bytes)
        return path


def ask(lode, *words):
    done = run(lode, *words)
    if done.returncode != 0:
        raise RuntimeError(f"lode {' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def paths_of(lode, path):
    """{((function, file, line), innermost first): cost of what is there}, without loops."""
    dump = ask(lode, "dump", path)
    meta, found = dump["meta"], collections.Counter()
    scope = next(one["id"] for one in meta["metrics"][0]["scopes"] if meta["scopes"][one["scope"]]["name"] == "execution")
    values = next(profile for profile in dump["profiles"] if not profile["summary"])["values"]

    def cost(context):
        return float(values.get(str(context["id"]), {}).get(str(scope), 0))

    def visit(context, frames):
        if context.get("lexical") == "function":
            frames = [(meta["functions"][context["function"]]["name"], None, 0), *frames]
        elif context.get("lexical") == "line":
            frames = [(frames[0][0], os.path.normpath(meta["files"][context["file"]]["path"]), context["line"]), *frames[1:]]
        listed = [child for child in context["children"] if child["lexical"] != "instruction"]
        if rest := cost(context) - sum(map(cost, listed)):
            found[tuple(frames)] += rest
        for child in listed:
            visit(child, frames)

    for entry in meta["entry_points"]:
        visit(entry, [])
    return found


def top(lode, path, by):
    return ask(lode, "top", "--json", "--limit", "0", "--by", by, path)["rows"]


def loops_of(lode, path):
    return {(row["function"], row["line"]): row["inclusive"] for row in top(lode, path, "loop") if row["line"]}


def functions_of(lode, path):
    return {row["name"]: (row["exclusive"], row["inclusive"]) for row in top(lode, path, "function")}


def differences(found, wanted):
    return [f"{key}: {found.get(key)} instead of {wanted.get(key)}" for key in {**found, **wanted} if found.get(key) != wanted.get(key)][:8]


def check_addresses(tap, lode, folder, program):
    profile = Profile(program)
    path = profile.write(folder / "addresses.pb.gz")
    wanted = collections.Counter()
    for address, cost in profile.costs.items():
        wanted[tuple(program.frames[address])] += cost
    wrong = differences(paths_of(lode, path), wanted)
    tap.check(not wrong and max(map(len, wanted)) == 2, f"{len(profile.costs)} addresses: {len(wanted)} call paths are those of addr2line", wrong)
    loops = {key: sum(profile.costs[address] for address in addresses) for key, addresses in program.loops().items()}
    wrong = differences(loops_of(lode, path), loops)
    tap.check(not wrong and len(loops) == 4, f"{len(loops)} loops are those of backward jumps, one of them inlined", wrong)
    checked = run(lode, "check", "--level", "full", path)
    tap.check(checked.returncode == 0, "check has no error", [checked.stdout])
    direct = Profile(program, is_mapped=False).write(folder / "direct.pb.gz")
    tap.check(not differences(paths_of(lode, direct), wanted) and loops_of(lode, direct) == loops,
              "addresses outside the mapping are those of the binary")
    converted = folder / "converted"
    done = run(lode, "convert", path, "-o", converted)
    tap.check(done.returncode == 0 and loops_of(lode, converted) == loops and not differences(paths_of(lode, converted), wanted),
              "a database made of it has them, too", [done.stderr])
    return path, loops


def check_names(tap, lode, folder, program, loops):
    """What a profile says itself stays; loops are added where they belong."""
    def renamed(address):
        return [(f"named_{name}", file, line + 1000) for name, file, line in program.frames[address]]

    named = Profile(program, renamed).write(folder / "named.pb.gz")
    without = Profile(program, renamed, build_id=OTHER_ID).write(folder / "without.pb.gz")
    tap.check(functions_of(lode, named) == functions_of(lode, without) and paths_of(lode, named) == paths_of(lode, without)
              and "named_add" in functions_of(lode, named), "names and lines of the profile stay as they are")
    wanted = {(f"named_{function}", line): cost for (function, line), cost in loops.items()}
    wrong = differences(loops_of(lode, named), wanted)
    tap.check(not wrong, "and loops are inside the functions that the profile names", wrong)
    tap.check(not loops_of(lode, without), "a binary with another build id gives none")
    outermost = Profile(program, lambda address: renamed(address)[-1:]).write(folder / "outermost.pb.gz")
    wanted = {("named_around" if function == "add" else f"named_{function}", line): cost for (function, line), cost in loops.items()}
    wrong = differences(loops_of(lode, outermost), wanted)
    tap.check(not wrong, "without inlined calls all loops are the function's own", wrong)


def check_pprof(tap, lode, path):
    if not shutil.which("go"):
        tap.skip("costs of functions are those of go tool pprof", "there is no Go")
        return
    shown = run("go", "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0", "-unit=ns", path)
    rows = re.findall(r"^\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?\s+\S+%\s+(\w+)(?: \(inline\))?$", shown.stdout.decode(), re.MULTILINE)
    wanted, found = {name: int(flat) for flat, _, name in rows}, collections.Counter()
    for frames, cost in paths_of(lode, path).items():
        found[frames[-1][0]] += cost    # Go knows no inlined calls of C
    wrong = differences(found, wanted)
    tap.check(not wrong and len(wanted) == len(FUNCTIONS), f"costs of {len(wanted)} functions are those of go tool pprof", [*wrong, shown.stderr])


def check_places(tap, lode, folder, program, loops):
    """Binaries that are not where they were."""
    elsewhere, home = folder / "elsewhere", folder / "home"
    elsewhere.mkdir()
    gone = Profile(program, path="/nowhere/at/all/program")
    path = gone.write(elsewhere / "gone.pb.gz")
    own = {row["name"] for row in top(lode, path, "function")}
    tap.check(own == {"[program]"} and not loops_of(lode, path), "without its binary a profile has no names", own)
    shutil.copy(program.path, elsewhere / "program")
    tap.check(loops_of(lode, path) == loops, "a binary beside the profile")
    cut = elsewhere / "program"
    cut.write_bytes(cut.read_bytes()[:-len(program.path.read_bytes()) // 2])
    status = run(lode, "top", path).returncode
    tap.check(status == 0, "a binary that is cut off ends nothing", status)
    cut.unlink()
    copy = home / ".debug" / ".build-id" / program.id[:2] / program.id[2:] / "elf"
    copy.parent.mkdir(parents=True)
    shutil.copy(program.path, copy)
    with unittest.mock.patch.dict(os.environ, HOME=str(home)):
        tap.check(loops_of(lode, path) == loops, "a copy by build id")
    for number, text in enumerate(("", "ab", program.id[:-1], program.id[:-2], program.id + "00", "x" + program.id[1:], "ab" * 200)):
        other = Profile(program, build_id=text).write(folder / f"other-{number}.pb.gz")
        tap.check(not loops_of(lode, other), f"no binary has the build id {text[:44]!r}")
    for others in (SOUGHT - 1, SOUGHT):
        many = Profile(program, others=others).write(folder / f"many-{others}.pb.gz")
        tap.check(loops_of(lode, many) == (loops if others < SOUGHT else {}), f"binaries of {SOUGHT} mappings are looked for: after {others} others")


def check_reader(tap, lode, folder, program):
    """A program that reads binaries and fails costs what it would have said, and nothing else."""
    plugins = folder / "plugins"
    plugins.mkdir()
    (plugins / "lode-symbols").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (plugins / "lode-symbols").chmod(0o755)
    path = Profile(program).write(folder / "reader.pb.gz")
    with unittest.mock.patch.dict(os.environ, LODE_PLUGINS=str(plugins)):
        found = {(one["rule"], one["severity"]) for one in ask(lode, "check", "--level", "full", "--json", path)["findings"]}
        names = set(functions_of(lode, path))
    tap.check(found == {("pprof-binary", "note")} and names == {"[program]"}, "a reader of binaries that fails is a note", [found, names])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=Path)
    options = parser.parse_args()
    tap = Tap()
    if not all(map(shutil.which, ("gcc", "objdump", "readelf", "addr2line"))) or os.uname().machine != "x86_64":
        tap.skip("binaries of profiles", "needs gcc and binutils on x86-64")
        return tap.finish()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program = Program(folder)
        path, loops = check_addresses(tap, options.lode, folder, program)
        check_names(tap, options.lode, folder, program, loops)
        check_pprof(tap, options.lode, path)
        check_places(tap, options.lode, folder, program, loops)
        check_reader(tap, options.lode, folder, program)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
