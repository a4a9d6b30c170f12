#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode build from measurements without structure files, of a program that the test compiles, with a sample at every address of its functions:
functions, inlined calls and lines of the database are those of addr2line, with the values of their addresses. The same bytes where debug
information is in a file of its own, found by .gnu_debuglink or by build id. Binaries that take all memory of the helper, or all of its time; helpers that end early; further files with debug information (split DWARF, dwz).
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import compiled
import helper

from imports import run  # noqa: E402
from made_measurements import MAIN_THREAD, NODE, PRIMARY, THREAD, Measured, Node  # noqa: E402
from tap import Tap  # noqa: E402

COPY_ROW, NEGATE = 1, 6    # operations of line tables: a row, nothing
CLONE = re.compile(r"\.(cold|isra|part|constprop)[.\d]*$")
COMPRESSED, ZLIB = 0x800, 1
SPARSE = 4 << 30


def sampled_addresses(program):
    """Those in functions that have lines."""
    symbols, addresses = compiled.symbols_of(program), compiled.text_addresses(program)
    frames = compiled.frames_by("addr2line", program, addresses)
    return {address: frames[address] for address in addresses
            if (frames[address][0][1] or "").startswith("/") and compiled.expected_symbol(symbols, address)}


def measure(folder, programs, weights):
    """A directory with one profile: `weights` of the addresses of each program."""
    nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD)]
    for number in range(1, len(programs) + 1):
        nodes += [Node(6 + 2 * (len(nodes) - 2 + i), 4, number, address, {0: weight}) for i, (address, weight) in enumerate(weights.items())]
    folder.mkdir()
    (folder / "made-000000-000-00000abc-7-0.hpcrun").write_bytes(
        Measured(nodes, modules=[str(program) for program in programs]).profile((NODE, 0xabc, 0), (THREAD, 0, 0)))
    return folder


class Built:
    """A database, and what was said while it was built."""

    def __init__(self, lode, directory, target, *words):
        shutil.rmtree(target, ignore_errors=True)
        done = run(lode, "build", "--no-source", *words, directory, "-o", target)
        self.status, self.path, self.lode = done.returncode, target, lode
        self.said = (done.stdout + done.stderr).decode(errors="replace")

    def bytes(self):
        return {str(path.relative_to(self.path)): path.read_bytes() for path in self.path.rglob("*") if path.is_file()}

    def paths(self, module=0):
        """{((function, file, line), innermost first): value of the instructions there}; without lines, file and line are None."""
        dump = json.loads(run(self.lode, "dump", self.path).stdout)
        meta = dump["meta"]
        scope = next(one["id"] for one in meta["metrics"][0]["scopes"] if meta["scopes"][one["scope"]]["name"] == "execution")
        values = next(profile for profile in dump["profiles"] if not profile["summary"])["values"]
        found = collections.Counter()

        def cost(context):
            return float(values.get(str(context["id"]), {}).get(str(scope), 0))

        def visit(context, frames, function):
            if context.get("lexical") == "function":
                function = meta["functions"][context["function"]]
                frames = [(CLONE.sub("", function["name"]), None, None), *frames]
            elif context.get("lexical") == "line":
                frames = [(frames[0][0], os.path.normpath(meta["files"][context["file"]]["path"]), context["line"]), *frames[1:]]
            listed = [child for child in context["children"] if child["lexical"] != "instruction"]
            if rest := cost(context) - sum(map(cost, listed)):
                if function is None or function["module"] == module:
                    found[tuple(frames)] += rest
            for child in listed:
                visit(child, frames, function)

        for entry in meta["entry_points"]:
            visit(entry, [], None)
        return found


def wanted_paths(frames, weights):
    wanted = collections.Counter()
    for address, weight in weights.items():
        wanted[tuple((CLONE.sub("", name), file, line) for name, file, line in frames[address])] += weight
    return wanted


def differences(found, wanted):
    return [f"{path}: {found.get(path)} instead of {wanted.get(path)}" for path in {**found, **wanted} if found.get(path) != wanted.get(path)][:8]


def check_lines(tap, lode, folder, program, frames, weights):
    directory = measure(folder / "measurements", [program], weights)
    built = Built(lode, directory, folder / "db")
    wanted = wanted_paths(frames, weights)
    wrong = [built.said] if built.status else differences(built.paths(), wanted)
    depth = max(map(len, wanted))
    tap.check(not wrong and depth > 2, f"{len(weights)} addresses: {len(wanted)} call paths are those of addr2line, up to {depth - 1} inlined", wrong)
    checked = run(lode, "check", "--level", "full", built.path)
    tap.check(checked.returncode == 0, "check has no error", [checked.stdout])
    local = Built(lode, directory, folder / "local", "--local-ranks", "3")
    tap.check(local.status == 0 and local.bytes() == built.bytes(), "the same bytes on ranks", [local.said])
    return directory, built


def check_split(tap, lode, folder, program, directory, whole):
    """The program is replaced: its path is in the measurements."""
    debug, library = program.with_suffix(".debug"), folder / "library"
    number = helper_build_id(program)
    compiled.output("objcopy", "--only-keep-debug", program, debug)
    compiled.output("objcopy", "--strip-debug", "--add-gnu-debuglink", debug, program)
    beside = Built(lode, directory, folder / "beside")
    tap.check(beside.status == 0 and beside.bytes() == whole.bytes(), "the same bytes: .gnu_debuglink", [beside.said])
    by_id = library / ".build-id" / number[:2] / f"{number[2:]}.debug"
    by_id.parent.mkdir(parents=True)
    debug.rename(by_id)
    bare = Built(lode, directory, folder / "bare")
    lines = [path for path in bare.paths() if any(frame[1] for frame in path)]
    tap.check(bare.status == 0 and not lines and sum(map(len, bare.paths())) > 2, "without debug information, functions only", [bare.said, *lines])
    found = Built(lode, directory, folder / "by-id", "--replace", f"/usr/lib/debug={library}")
    tap.check(found.status == 0 and found.bytes() == whole.bytes(), "the same bytes: build id", [found.said])
    by_id.replace(debug)
    strange = compiled.compile_program(folder, "strange", (compiled.C_MAIN.replace("i * x", "i + x"), compiled.C_SHARED), ["-O2"])
    compiled.output("objcopy", "--only-keep-debug", strange, debug)
    other = Built(lode, directory, folder / "other")
    tap.check(other.status == 0 and other.bytes() == bare.bytes(), "debug information of another program is not used", [other.said])
    for what, make in HOSTILE.items():
        debug.unlink()
        make(debug)
        built = Built(lode, directory, folder / "hostile")
        tap.check(built.status == 0 and built.bytes() == bare.bytes(), f"nor {what} in its place", [built.said])
        if debug.is_dir():
            debug.rmdir()
            debug.touch()


def make_sparse(path, content=b""):
    """A file of 4 GiB, of which next to nothing is on disk."""
    path.write_bytes(content)
    os.truncate(path, SPARSE)


# What can be in the place of a file.
HOSTILE = {
    "a pipe": os.mkfifo,
    "a directory": os.mkdir,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to /proc": lambda path: path.symlink_to("/proc/kmsg"),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "4 GiB of nothing": make_sparse,
}


def check_hostile_modules(tap, lode, folder, program, frames, weights):
    """Load modules that are no binaries, and huge ones, beside a good one: ends soon, in little memory, and the good one is used."""
    places = folder / "places"
    places.mkdir()
    modules = [Path(name) for name in ("/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/kmsg", "/proc/self/exe", "/etc/shadow", "/sys/kernel/notes",
                                       "/", f"{places}/../../../../etc/shadow", "../../../../etc/shadow", "kernel_symbols/../../etc/shadow")]
    for i, make in enumerate(HOSTILE.values()):
        modules.append(places / str(i))
        make(modules[-1])
    modules.append(places / "sparse-binary")
    make_sparse(modules[-1], program.read_bytes())
    few = dict(list(weights.items())[:20])
    directory = measure(folder / "hostile-modules", [*modules, program], few)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    built = Built(lode, directory, folder / "hostile-modules-db")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    tap.check(built.status == 0 and seconds < 20, f"{len(modules)} load modules that are something else take {seconds:.1f} s of processor time", [built.said])
    found = {path: value for path, value in built.paths(module=built_module(built, program)).items() if path}
    wrong = differences(found, wanted_paths({address: frames[address] for address in few}, few))
    tap.check(not wrong, "the rest is built", wrong)


def check_checksum(tap, lode, folder, chance):
    """Without build ids, the checksum of .gnu_debuglink decides."""
    program = compiled.compile_program(folder, "unnamed", (compiled.C_MAIN, compiled.C_SHARED), ["-O2", "-Wl,--build-id=none"])
    debug, frames = program.with_suffix(".debug"), sampled_addresses(program)
    directory = measure(folder / "unnamed-measurements", [program], {address: float(chance.randrange(1, 99)) for address in frames})
    whole = Built(lode, directory, folder / "unnamed-db")
    compiled.output("objcopy", "--only-keep-debug", program, debug)
    compiled.output("objcopy", "--strip-debug", "--add-gnu-debuglink", debug, program)
    linked = Built(lode, directory, folder / "linked")
    tap.check(linked.status == 0 and linked.bytes() == whole.bytes() and "binary-unread" not in linked.said, "the same bytes: .gnu_debuglink by checksum",
              [linked.said])
    debug.write_bytes(debug.read_bytes() + b"\0")
    other = Built(lode, directory, folder / "other-sum")
    lines = [path for path in other.paths() if any(frame[1] for frame in path)]
    tap.check(other.status == 0 and not lines and other.paths() and "1 finding copied" in other.said and "such as binary-unread" in other.said, "a file with another checksum is a finding and is not used",
              [other.said, *lines])


def unknown_names(built, program):
    """Outermost functions of samples that the symbols of the program do not have."""
    # Template functions of the program that are no members return nothing.
    known = {CLONE.sub("", line.split(None, 2)[2]).removeprefix("void ") for line in compiled.output("nm", "--defined-only", "--demangle", program).splitlines()}
    paths = [path for path in built.paths(module=built_module(built, program)) if path]
    return [path[-1][0] for path in paths if path[-1][0] not in known] if paths else ["there are no samples"]


def check_further_files(tap, lode, folder):
    """Split DWARF, and dwz: what the helper cannot open is said, and functions have names."""
    cases = [("split DWARF", compiled.compile_program(folder, "split", (compiled.C_MAIN, compiled.C_SHARED), ["-O2", "-gsplit-dwarf"]))]
    if shutil.which("dwz"):
        # Entries that are in both go to the common file.
        shared = [compiled.compile_program(folder, f"dwz{i}", (compiled.CPP_MAIN, compiled.CPP_OTHER), ["-O2"]) for i in range(2)]
        compiled.output("dwz", "-m", folder / "dwz.common", *shared)
        cases.append(("dwz", shared[0]))
    else:
        tap.skip("dwz", "it is not installed")
    for name, program in cases:
        addresses = [address for address in compiled.text_addresses(program) if compiled.expected_symbol(compiled.symbols_of(program), address)]
        directory = measure(folder / f"{program.name}-measurements", [program], {address: 1.0 for address in addresses})
        built = Built(lode, directory, folder / f"{program.name}-db")
        tap.check(built.status == 0 and "1 finding copied" in built.said and "such as binary-unread" in built.said, f"{name}: further files are a finding", [built.said])
        wrong = unknown_names(built, program)
        tap.check(not wrong, f"{name}: functions have names", wrong)


def helper_as(folder, name, lines):
    """A directory of plug-ins whose lode-symbols is a script."""
    plugins = folder / name
    plugins.mkdir(mode=0o755)
    script = plugins / "lode-symbols"
    script.write_text("#!/bin/sh\n" + lines + "\n", encoding="utf-8")
    script.chmod(0o755)
    return plugins


def build_with(options, plugins, directory, target, *words, **environment):
    before = dict(os.environ)
    os.environ.update(environment, LODE_PLUGINS=str(plugins))
    built = Built(options.lode, directory, target, *words)
    os.environ.clear()
    os.environ.update(before)
    return built


def check_one_start(tap, options, folder, program, weights):
    """A run has many modules, and few with samples: the helper is started once for all of those, and reads no others."""
    log, real, others = folder / "started", Path(options.helper).resolve(), []
    for i in range(12):
        others.append(folder / f"other{i}")
        shutil.copy(program, others[-1])
    names = [str(path) for path in (*others[:4], program, *others[4:])]
    for sampled in ((5,), (1, 5, 13)):
        nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD)]
        nodes += [Node(6 + 2 * i, 4, module, next(iter(weights)), {0: 1.0}) for i, module in enumerate(sampled)]
        directory = folder / f"many{len(sampled)}"
        directory.mkdir()
        (directory / "made-000000-000-00000abc-7-0.hpcrun").write_bytes(Measured(nodes, modules=names).profile((NODE, 0xabc, 0), (THREAD, 0, 0)))
        plugins = helper_as(folder, f"plugins-many{len(sampled)}", f'echo "$3" >> {log}; exec {real} "$@"')
        log.write_text("", encoding="utf-8")
        built = build_with(options, plugins, directory, folder / f"many-db{len(sampled)}")
        tap.check(built.status == 0 and log.read_text().split() == ["serve"], f"of 13 modules, {len(sampled)} with samples are read by one helper", [log.read_text(), built.said])
    check_shared_out(tap, options, folder, directory, built)


def check_shared_out(tap, options, folder, directory, alone):
    """On ranks, each binary is read once, by one of them. A helper says through a pipe when it begins to read debug information."""
    said, real = folder / "said", Path(options.helper).resolve()
    os.mkfifo(said)
    library = fault(folder, "saying", 'if (write(9, "read ", 5) != 5) _exit(0);')
    plugins = helper_as(folder, "plugins-saying", f'exec 9>{said}; export LD_PRELOAD={library}; echo "start " >&9; exec {real} "$@"')
    for ranks in (1, 2, 3, 7):
        pipe = os.open(said, os.O_RDWR | os.O_NONBLOCK)
        built = build_with(options, plugins, directory, folder / "shared-db", "--local-ranks", str(ranks), LODE_CACHE="")
        words = os.read(pipe, 1 << 16).decode().split()
        os.close(pipe)
        tap.check(built.status == 0 and words.count("read") == 3 and words.count("start") == min(ranks, 3) and built.bytes() == alone.bytes(),
                  f"{ranks} ranks: three binaries are read once each, by {min(ranks, 3)} helpers; the same bytes", [words, built.said])


def check_result_types(tap, lode, folder):
    """Names of template functions are those of hpcstruct: without the type of the result, which c++filt prints."""
    source = """namespace app {
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
template <class T> __attribute__((noinline)) T *next(T *x) { return x + 1; }
__attribute__((noinline)) int plain(int x) { return x * 3; }
}
int main(int count, char **words) { return app::twice(count) + app::plain(count) + **app::next(words) + (int)app::twice(2.5 * count); }
"""
    program = compiled.compile_program(folder, "results", (source,), ["-O1"])
    symbols = {name: int(address, 16) for address, _, name in (line.split(None, 2) for line in compiled.output("nm", "--demangle", program).splitlines() if len(line.split(None, 2)) == 3)}
    names = ("int app::twice<int>(int)", "double app::twice<double>(double)", "char** app::next<char*>(char**)", "app::plain(int)")
    directory = measure(folder / "result-measurements", [program], {symbols[name]: 1.0 for name in names})
    found = {path[-1][0] for path in Built(lode, directory, folder / "results-db").paths() if path}
    tap.check(found == {"app::twice<int>(int)", "app::twice<double>(double)", "app::next<char*>(char**)", "app::plain(int)"}, "names have no types of results", found)


def damage_entry(entry, way):
    """False: not on this machine."""
    data = entry.read_bytes()
    if way in ("cut", "empty", "longer"):
        entry.write_bytes({"cut": data[:-9], "empty": b"", "longer": data + bytes(8)}[way])
    elif way == "a link":
        other = entry.with_name("other")
        entry.rename(other)
        entry.symlink_to(other.name)
    elif way == "of anybody":
        entry.chmod(0o666)
    elif way == "of another user":
        if os.geteuid() != 0:
            return False
        os.chown(entry.parent, 0, 0)
        os.chown(entry, 12345, 12345)
    else:
        at = {"a wrong header": 20, "a wrong answer": len(data) - 20}[way]
        entry.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
    return True


def check_cache(tap, options, folder, program, weights):
    """What was found in a binary is kept by its build id: the next build starts no helper, and the database is the same to the byte."""
    log, real, home = folder / "cache-log", Path(options.helper).resolve(), folder / "cache-home"
    plugins = helper_as(folder, "plugins-cache", f'echo "$3" >> {log}; exec {real} "$@"')
    every = measure(folder / "cache-all", [program], weights)
    few = measure(folder / "cache-few", [program], dict(list(weights.items())[::3]))
    entries = home / "lode" / "structure"

    def build(directory, *words, cache=home):
        log.write_text("", encoding="utf-8")
        built = build_with(options, plugins, directory, folder / "cache-db", *words, LODE_CACHE=str(cache / "lode"))
        return built.bytes(), log.read_text(encoding="utf-8").split()

    plain = {directory: build(directory, "--structure-cache", "none")[0] for directory in (every, few)}
    tap.check(not entries.exists(), "nothing is kept with --structure-cache none")
    tap.check(build(few) == (plain[few], ["serve"]) and build(few) == (plain[few], []), "the second build reads no binary")
    entry = next(entries.iterdir())
    modes = [oct(path.stat().st_mode & 0o777) for path in (entries, entry)]
    tap.check(modes == ["0o700", "0o600"] and entry.name.startswith(helper_build_id(program)), "entries are private, and named by the build id", [modes, entry.name])
    tap.check(build(every) == (plain[every], ["serve"]) and build(every) == (plain[every], []) and build(few) == (plain[few], []),
              "an entry grows with what is asked, and answers for less")
    for way in ("cut", "empty", "longer", "a wrong header", "a wrong answer", "a link", "of anybody", "of another user"):
        if damage_entry(entry, way):
            tap.check(build(every) == (plain[every], ["serve"]) and build(every) == (plain[every], []), f"an entry that is damaged ({way}) is as none, and is replaced")
    old = entries / f"{'0' * 40}-inside.lode-structure"
    make_sparse(old)
    os.utime(old, (1, 1))
    other = compiled.compile_program(folder, "cached", (compiled.C_MAIN, compiled.C_SHARED), ["-O1", "-Wl,--build-id"])
    third = measure(folder / "cache-third", [other], {next(iter(sampled_addresses(other))): 1.0})
    build(third)
    tap.check(not old.exists() and entry.exists() and len(list(entries.glob("*.lode-structure"))) == 2, "what was not used for longest goes when there is too much", list(entries.iterdir()))
    site = folder / "site"
    site.mkdir()
    site.chmod(0o755)
    build(every, "--structure-cache", str(site))
    tap.check(build(every, "--structure-cache", str(site), cache=folder / "nowhere") == (plain[every], []) and [oct(path.stat().st_mode & 0o777) for path in site.iterdir()] == ["0o644"],
              "a directory of a site serves all who may read it", list(site.iterdir()))
    inside = folder / "cache-inside"
    measure(inside, [inside / "program"], weights)
    shutil.copy(program, inside / "program")
    tap.check(build(inside, cache=folder / "untouched")[1] == ["serve"] and not list((folder / "untouched").glob("lode/structure/*")), "binaries inside measurements are not kept")
    blocked = folder / "blocked"
    blocked.write_text("", encoding="utf-8")
    tap.check(build(few, cache=blocked) == (plain[few], ["serve"]), "without a directory for it, nothing is kept")


def check_plan(tap, options, folder, program, weights):
    """--only takes the profiles of one program, --dry-run says what would be built and writes nothing, and -q and -v say less and more."""
    directory, target = folder / "programs", folder / "programs-db"
    directory.mkdir()
    address = next(iter(weights))
    nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD), Node(6, 4, 1, address, {0: 3.0})]
    for i, name in enumerate(("one", "one", "/bin/two")):
        (directory / f"made-000000-00{i}-00000abc-7-0.hpcrun").write_bytes(
            Measured(nodes, modules=[str(program), "/nowhere/x.so"], program_name=name).profile((NODE, 0xabc, 0), (THREAD, i, i)))

    def build(*words):
        shutil.rmtree(target, ignore_errors=True)
        done = run(options.lode, "build", "--no-source", *words, directory)
        return done.returncode, (done.stdout + done.stderr).decode()

    def profiles(*words):
        status, _ = build(*words, "-o", target)
        return [profile["ids"] for profile in json.loads(run(options.lode, "dump", target).stdout)["profiles"] if not profile["summary"]] if status == 0 else None

    counts = [len(profiles(*words)) for words in ((), ("--only", "one"), ("--only", "/usr/bin/two"), ("--only", "one", "--only", "two"))]
    tap.check(counts == [3, 2, 1, 3], "--only takes the profiles of the programs that it names", counts)
    status, said = build("--only", "none", "-o", target)
    tap.check(status != 0 and "is of a program that was chosen" in said and not target.exists(), "if no profile is of such a program, nothing is built", [said])
    sizes = []
    for words, wanted in (((), ("3 profiles", "2 modules, 1 module with contexts", "1 binary read")), (("--only", "two", "-v"), ("1 profile,", "left out: 2 files", f"{program}: 3 nodes, binary"))):
        status, said = build("--dry-run", *words)
        tap.check(status == 0 and all(text in said for text in wanted) and not target.exists(), f"--dry-run says what would be built ({' '.join(words) or 'all'})", [said])
        sizes.append(float(re.search(r"about ([\d.]+) KiB", said)[1]) * 1024)
    built = sum(path.stat().st_size for path in Built(options.lode, directory, target).path.rglob("*"))
    tap.check(sizes[0] / 4 < built < sizes[0] * 4, "the estimate is right but for a factor of four", [sizes, built])
    bare = shutil.copy(program, folder / "without-lines")
    compiled.output("strip", "--strip-debug", bare)
    (directory / "made-000000-000-00000abc-7-0.hpcrun").write_bytes(Measured(nodes, modules=[str(bare)]).profile((NODE, 0xabc, 0), (THREAD, 0, 0)))
    said = {word: build(*filter(None, [word]), "-o", target)[1] for word in ("", "--quiet", "-v")}
    tap.check("no lines" in said[""] and said["--quiet"] == "" and f"{bare}: it has no debug information" in said["-v"], "--quiet hides which binaries lack debug information, -v lists them", said)


def fault(folder, name, action):
    """A library that acts when lode-symbols begins to read debug information: `size` is that of the binary."""
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(f"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
void *dwarf_begin_elf(void *elf, int how, void *section)
{{
    struct stat about;
    long size = fstat(3, &about) == 0 ? (long)about.st_size : 0;
    {action}
    return ((void *(*)(void *, int, void *))dlsym(RTLD_NEXT, "dwarf_begin_elf"))(elf, how, section);
}}
""", encoding="utf-8")
    compiled.output("gcc", "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl")
    return library


def check_ended_helper(tap, options, folder, program, frames, weights):
    """A helper with a limit of one second, and ones that die, say nothing or too much: where they read debug information of one binary of two."""
    slow, real = folder / "slow", Path(options.helper).resolve()
    wanted = wanted_paths(frames, weights)
    directory = measure(folder / "ended", [slow, program], weights)
    actions = {"killed": "kill(getpid(), SIGKILL);", "crashed": "kill(getpid(), SIGSEGV);", "silent": "_exit(0);",
               "endless": "static char much[1 << 16]; for (;;) if (write(1, much, sizeof much) < 0) _exit(0);",
               "server killed": "kill(getppid(), SIGKILL); for (;;) pause();"}
    for name, action in {"a second": None, **actions}.items():
        words = name.replace(" ", "-")
        lines = f'exec {real} "$1" 1 "$3"'
        if action:
            # The large binary is the one with the long table.
            library = fault(folder, words, f"if (size == {slow.stat().st_size}) {{ {action} }}")
            lines = f'export LD_PRELOAD={library}; exec {real} "$@"'
        built = build_with(options, helper_as(folder, f"plugins-{words}", lines), directory, folder / "ended-db")
        tap.check(built.status == 0 and "1 finding copied" in built.said and "such as binary-unread" in built.said, f"a helper that is ended ({name}) is a finding", [built.said])
        wrong = differences(built.paths(module=built_module(built, program)), wanted)
        tap.check(not wrong, f"the rest is built ({name})", wrong)
        paths = [path for path in built.paths(module=built_module(built, slow)) if path]
        tap.check(paths and all(len(path) == 1 and path[0][1] is None for path in paths), f"and its symbols are used ({name})", paths[:3])
        shared = build_with(options, folder / f"plugins-{words}", directory, folder / "ended-shared", "--local-ranks", "3")
        same = {file: content for file, content in shared.bytes().items() if built.bytes().get(file) != content}
        tap.check(shared.status == 0 and shared.bytes().keys() == built.bytes().keys() and not same and "1 finding copied" in shared.said,
                  f"the same on three ranks ({name})", [shared.said, *same])


def helper_build_id(program):
    return re.search(r"Build ID: (\w+)", compiled.output("readelf", "-n", program))[1]


def with_long_table(program, target, operation, count):
    """A copy whose first line table has so many operations, compressed; one byte each."""
    data = bytearray(program.read_bytes())
    table, entry_size, entries, names = struct.unpack_from("<Q", data, 0x28)[0], *struct.unpack_from("<HHH", data, 0x3a)
    name_table = struct.unpack_from("<Q", data, table + names * entry_size + 0x18)[0]
    for at in range(table, table + entries * entry_size, entry_size):
        start = name_table + struct.unpack_from("<I", data, at)[0]
        if data[start:start + 12] == b".debug_line\0":
            break
    else:
        raise SystemExit("no .debug_line")
    offset = struct.unpack_from("<Q", data, at + 0x18)[0]
    size = 12 + struct.unpack_from("<I", data, offset + 8)[0]
    packer = zlib.compressobj(1)
    packed = packer.compress(struct.pack("<I", size + count - 4) + data[offset + 4:offset + size])
    chunk = bytes([operation]) * (1 << 20)
    for _ in range(count >> 20):
        packed += packer.compress(chunk)
    packed += packer.flush()
    data += bytes(-len(data) % 8)
    struct.pack_into("<QQQQ", data, at + 8, COMPRESSED, 0, len(data), 24 + len(packed))
    target.write_bytes(data + struct.pack("<IIQQ", ZLIB, 0, size + count, 1) + packed)


def check_limits(tap, options, folder, program, frames, weights):
    hungry, slow = folder / "hungry", folder / "slow"
    with_long_table(program, hungry, COPY_ROW, 128 << 20)
    directory = measure(folder / "limits", [hungry, program], weights)
    built = Built(options.lode, directory, folder / "limited")
    wanted = wanted_paths(frames, weights)
    tap.check(built.status == 0 and "1 finding copied" in built.said and "such as binary-unread" in built.said, f"a binary of {hungry.stat().st_size >> 10} KiB that needs more memory than it may have "
              "is a finding", [built.said])
    wrong = differences(built.paths(module=built_module(built, program)), wanted)
    tap.check(not wrong, "the rest is built", wrong)
    paths = built.paths(module=built_module(built, hungry))
    tap.check(paths and all(len(path) == 1 and path[0][1] is None for path in paths if path), "and has its symbols", paths)
    with_long_table(program, slow, NEGATE, 1 << 30)
    status, _ = helper.run(options.helper, slow, list(weights), seconds=1)
    tap.check(os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL),
              f"a binary of {slow.stat().st_size >> 10} KiB that takes longer than a second is ended after a second", [f"{status:#x}"])


def built_module(built, program):
    meta = json.loads(run(built.lode, "dump", "--only", "meta", built.path).stdout)["meta"]
    return [module["path"] for module in meta["modules"]].index(str(program))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--helper", required=True)
    parser.add_argument("--limits", choices=["yes", "no"], default="yes")
    options = parser.parse_args()
    tap, chance = Tap(), random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        program = compiled.compile_program(folder, "program", (compiled.C_MAIN, compiled.C_SHARED), ["-O2", "-Wl,--build-id"])
        frames = sampled_addresses(program)
        weights = {address: float(chance.randrange(1, 1 << 40)) for address in frames}
        if options.limits == "yes":
            check_limits(tap, options, folder, program, frames, weights)
            check_ended_helper(tap, options, folder, program, frames, weights)
            check_cache(tap, options, folder, program, weights)
            check_one_start(tap, options, folder, program, weights)
        else:
            tap.skip("limits of the helper", "sanitized programs have none")
        check_hostile_modules(tap, options.lode, folder, program, frames, weights)
        directory, whole = check_lines(tap, options.lode, folder, program, frames, weights)
        check_split(tap, options.lode, folder, program, directory, whole)
        check_checksum(tap, options.lode, folder, chance)
        check_further_files(tap, options.lode, folder)
        check_result_types(tap, options.lode, folder)
        check_plan(tap, options, folder, program, weights)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
