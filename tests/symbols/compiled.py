#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode-symbols on binaries that the test compiles, for every address of .text: functions, inlined functions and lines are those of addr2line
(names also as llvm-addr2line has them: addr2line prefers names of symbols); elsewhere, symbols by hpcprof's rule on what readelf lists. Debug
information in a file of its own; binaries of the corpus; binaries that are cut off or have wrong bytes, which at most crash the helper.
"""

import argparse
import functools
import lzma
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import references  # noqa: E402,F401
import helper  # noqa: E402
from imports import corpus  # noqa: E402
from tap import Tap  # noqa: E402

SANITIZER = 1   # what a sanitized program exits with where others crash
C_MAIN = """
#include <stdio.h>
int shared(int);
static inline __attribute__((always_inline)) int square(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += i * x;
    return sum;
}
static int twice(int x) { return square(x) + square(x + 1); }
int main(int count, char **arguments)
{
    printf("%d %s\\n", twice(count) + shared(count), arguments[0]);
    return 0;
}
"""
C_SHARED = """
static int __attribute__((noinline)) below(int x) { return x > 3 ? below(x - 1) + 1 : x; }
int shared(int x)
{
    int sum = below(x);
    for (int i = 0; i < x; i++)
        sum ^= i << 3;
    return sum;
}
"""
CPP_MAIN = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int other(int);
namespace app {
template <class T> struct Box {
    T value;
    Box(T x) : value(x) {}
    T get() const { return value; }
    bool operator<(const Box &other) const { return value < other.value; }
};
int work(std::vector<Box<int>> &boxes)
{
    std::sort(boxes.begin(), boxes.end());
    int sum = 0;
    for (auto &box : boxes)
        sum += box.get();
    return sum;
}
struct Base { virtual ~Base() {} virtual int f(int) = 0; };
struct Derived : Base {
    int f(int x) override
    {
        struct Local { static int g(int y) { return y * y + 1; } };
        return Local::g(x) + x;
    }
};
}
int main(int count, char **arguments)
{
    std::vector<app::Box<int>> boxes;
    for (int i = 0; i < count * 10; i++)
        boxes.emplace_back(i * 7 % 13);
    std::map<std::string, int> names;
    names[arguments[0]]++;
    app::Base *base = new app::Derived;
    auto call = [&](int x) {
        try {
            return base->f(x) + other(x);
        } catch (int error) {
            return error;
        }
    };
    std::printf("%d %d %zu\\n", app::work(boxes), call(3), names.size());
    delete base;
}
"""
CPP_OTHER = """
#include <string>
static int helper(int x)
{
    if (x > 5)
        throw x;
    return (int)std::to_string(x).size();
}
int other(int x) { return helper(x) + helper(x + 1); }
"""


def output(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options).stdout


def compile_program(folder, name, sources, flags):
    """The path of a program; sources are in files of the folder."""
    paths = []
    for i, source in enumerate(sources):
        paths.append(folder / f"{name}_{i}{'.cc' if 'namespace' in sources[0] else '.c'}")
        paths[-1].write_text(source, encoding="utf-8")
    program = folder / name
    output("g++" if paths[0].suffix == ".cc" else "gcc", "-g", *flags, *paths, "-o", program)
    return program


def text_addresses(program):
    fields = re.search(r"\s\.text\s+PROGBITS\s+(\w+)\s+\w+\s+(\w+)", output("readelf", "-SW", program))
    start = int(fields[1], 16)
    return list(range(start, start + int(fields[2], 16)))


def frames_by(tool, program, addresses):
    """{address: [(function, file, line), innermost first]} as a tool prints it."""
    lines = output(tool, "-a", "-f", "-i", "-e", program, input="".join(f"{address:#x}\n" for address in addresses)).splitlines()
    found, frames = {}, None
    position = 0
    while position < len(lines):
        if lines[position].startswith("0x"):
            frames = found[int(lines[position], 16)] = []
            position += 1
            continue
        place, _, line = lines[position + 1].split(" (discriminator")[0].rpartition(":")
        frames.append((lines[position], None if place == "??" else os.path.normpath(place), int(line) if line.isdigit() else 0))
        position += 2
    return found


def symbols_of(program, dynamic=False):
    """(start, end, name) by hpcprof's rule, in the order of the table."""
    symbols = []
    table = output("readelf", "--dyn-syms" if dynamic else "-s", "-W", program).split(".symtab")[-1]
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 7 and fields[0][:-1].isdigit() and int(fields[2], 0):
            value, size = int(fields[1], 16), int(fields[2], 0)
            symbols.append((value, max(value + size - 1, value + 1), fields[7].split("@")[0] if len(fields) > 7 else None))
    return symbols


def expected_symbol(symbols, address):
    return next(((name, start) for start, end, name in symbols if start <= address < end), None)


def own_frames(reply, address):
    """The same shape as of a tool: each function with the line that is below it."""
    chain = reply.chain(address)
    functions = [scope for scope in chain if scope[0] != helper.LINE]
    lines = [scope for scope in chain if scope[0] == helper.LINE] + [(helper.LINE, None, None, 0, 0)]
    frames = [(function[1], line[2] and os.path.normpath(line[2]), line[3]) for function, line in zip(functions, lines)]
    return frames[::-1]


@functools.lru_cache(maxsize=None)
def demangled(name):
    return output("c++filt", name).strip()


def is_name(name, allowed):
    """A name of debug information: the linkage name or, for what has none there, such as static functions, the name in the source."""
    allowed = [re.sub(r"\.(cold|isra|part|constprop)[.\d]*$", "", symbol) for symbol in allowed]
    return name in allowed or any(re.search(rf"(^|\W){re.escape(name)}\(", demangled(symbol) + "(") for symbol in allowed)


def compare(program, helper_path, addresses, **options):
    """What differs, and how many addresses have lines."""
    reply = helper.ask(helper_path, program, addresses, **options)
    reference = options.get("debug") or program
    by_binutils = frames_by("addr2line", reference, addresses)
    llvm = shutil.which("llvm-addr2line") or shutil.which("llvm-addr2line-14")
    by_llvm = frames_by(llvm, reference, addresses) if llvm else {}
    symbols, wrong, with_lines = symbols_of(program), [], 0
    for address in addresses:
        mine, wanted = own_frames(reply, address), by_binutils[address]
        if not (wanted[0][1] or "").startswith("/"):    # no debug information: addr2line has the name of a symbol
            found = [(scope[1], scope[4]) for scope in reply.chain(address)]
            symbol = expected_symbol(symbols, address)
            if found != ([symbol] if symbol else []):
                wrong.append(f"{address:#x}: {found} instead of {symbol}")
            continue
        if not mine:    # between functions, addr2line has the symbol before
            if expected_symbol(symbols, address) or by_llvm.get(address, [("??",)])[0][0] != "??":
                wrong.append(f"{address:#x}: nothing instead of {wanted}")
            continue
        with_lines += 1
        both = (wanted, by_llvm.get(address, wanted))
        names = zip(*([frame[0] for frame in frames] for frames in both))
        # Each has its own mistakes: addr2line takes the wrong file of some units.
        if [frame[1:] for frame in mine] not in [[frame[1:] for frame in frames] for frames in both] or not all(
                is_name(frame[0], allowed) for frame, allowed in zip(mine, names)):
            wrong.append(f"{address:#x}: {mine} instead of {wanted}, {by_llvm.get(address)}")
    return wrong, with_lines


def check_programs(tap, folder, helper_path):
    """By flags; of each, every address of .text."""
    programs = {"c": (C_MAIN, C_SHARED), "cpp": (CPP_MAIN, CPP_OTHER)}
    for name, flags in (("c", ["-O0"]), ("c", ["-O2"]), ("c", ["-O2", "-gdwarf-4"]), ("cpp", ["-O0"]), ("cpp", ["-O2"]),
                        ("cpp", ["-O3", "-ffunction-sections", "-gz"])):
        program = compile_program(folder, name, programs[name], flags)
        addresses = text_addresses(program)
        wrong, with_lines = compare(program, helper_path, addresses)
        tap.check(not wrong and with_lines > len(addresses) // 3,
                  f"{name} {' '.join(flags)}: {len(addresses)} addresses, {with_lines} with lines", wrong[:8])


def check_split(tap, folder, helper_path):
    program = compile_program(folder, "split", (C_MAIN, C_SHARED), ["-O2"])
    addresses = text_addresses(program)
    whole = helper.ask(helper_path, program, addresses)
    debug, stripped = folder / "split.debug", folder / "stripped"
    output("objcopy", "--only-keep-debug", program, debug)
    output("objcopy", "--strip-debug", "--add-gnu-debuglink", debug, program, stripped)
    bare = helper.ask(helper_path, stripped, addresses)
    tap.check(bare.debug[0] == 0 and bare.debug[2] == "split.debug" and bare.debug[1] == whole.debug[1] != "",
              "a binary without debug information says where it is", bare.debug)
    tap.check(all(len(bare.chain(address)) <= 1 for address in addresses), "and has symbols only")
    beside = helper.ask(helper_path, stripped, addresses, debug=debug)
    tap.check([beside.chain(a) for a in addresses] == [whole.chain(a) for a in addresses], "debug information of another file is the same")
    strange = compile_program(folder, "strange", (C_MAIN.replace("i * x", "i + x"), C_SHARED), ["-O2"])
    refused = helper.ask(helper_path, stripped, addresses, debug=strange)
    tap.check(refused.debug[0] == 0 and [refused.chain(a) for a in addresses] == [bare.chain(a) for a in addresses],
              "that of another build id is not used")
    only = helper.ask(helper_path, program, addresses, mode="symbols")
    tap.check(only.debug[0] == 0 and all(len(only.chain(a)) <= 1 for a in addresses), "without debug information if it is not wanted")


def check_functions(tap, folder, helper_path):
    """Instances of one function, inlined or not, are one."""
    program = compile_program(folder, "same", (C_MAIN, C_SHARED), ["-O2"])
    reply = helper.ask(helper_path, program, text_addresses(program))
    numbers = {scope[5] for scope in reply.scopes if scope[0] == helper.INLINED and reply.text(scope[2]) == "square"}
    tap.check(len(numbers) == 1, "a function that is inlined twice is one", numbers)


def check_stubs(tap, folder, helper_path):
    """Stubs of the procedure linkage table have the names that objdump has for them."""
    for name, flags in (("lazy", ["-Wl,-z,lazy"]), ("now", ["-Wl,-z,now"]), ("marked", ["-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,lazy"])):
        program = compile_program(folder, f"stubs-{name}", (C_MAIN, C_SHARED), ["-O2", *flags])
        lines = [line for section in (".plt", ".plt.sec", ".plt.got") for line in stub_lines(program, section)]
        wanted = {int(found[1], 16): found[2] for line in lines if (found := re.match(r"([0-9a-f]+) <(.+@plt)>:", line))}
        addresses = sorted({address + i for address in wanted for i in (0, 5)})
        reply = helper.ask(helper_path, program, addresses, mode="inside,loops")
        found = {address: [scope[1] for scope in reply.chain(address)] for address in addresses}
        wrong = [(hex(address), found[address], found[address + 5], callee) for address, callee in wanted.items()
                 if not found[address] == found[address + 5] == [callee]]
        tap.check(wanted and not wrong, f"stubs of the linkage table are named: {name}, {len(wanted)} of them", wrong[:8])


def stub_lines(program, section):
    return subprocess.run(["objdump", "-d", "-j", section, program], capture_output=True, text=True, check=False).stdout.splitlines()


def check_compressed(tap, folder, helper_path):
    """Names of a stripped binary that has a compressed table of symbols."""
    program = compile_program(folder, "mini", (C_MAIN, C_SHARED), ["-O1", "-fno-inline"])
    symbols, packed, stripped = folder / "mini.symbols", folder / "mini.xz", folder / "mini.stripped"
    addresses = sorted(int(line.split()[0], 16) for line in output("nm", program).splitlines() if line.split()[-1] in ("below", "twice", "shared"))
    output("objcopy", "--only-keep-debug", program, symbols)
    output("objcopy", "--strip-debug", symbols)
    packed.write_bytes(lzma.compress(symbols.read_bytes()))
    output("objcopy", "--strip-all", program, stripped)
    bare = helper.ask(helper_path, stripped, addresses)
    output("objcopy", "--add-section", f".gnu_debugdata={packed}", stripped)
    reply = helper.ask(helper_path, stripped, addresses)
    names = sorted(scope[1] for address in addresses for scope in reply.chain(address))
    tap.check(len(addresses) == 3 and not any(bare.chain(address) for address in addresses) and names == ["below", "shared", "twice"],
              "a compressed table of symbols names the functions of a stripped binary", names)


def check_vdso(tap, helper_path):
    images = sorted((corpus() / "measurements").glob("*/vdso/*"))
    if not images:
        tap.skip("images of the corpus", "there is no corpus")
        return
    wrong, hits = [], 0
    for image in images:
        addresses = list(range(0, image.stat().st_size))
        reply, symbols = helper.ask(helper_path, image, addresses), symbols_of(image, dynamic=True)
        for address in addresses:
            chain, wanted = reply.chain(address), expected_symbol(symbols, address)
            hits += wanted is not None
            if (chain[0][1], chain[0][4]) != wanted if chain else wanted:
                wrong.append(f"{image.name} {address:#x}: {chain} instead of {wanted}")
    tap.check(not wrong and hits > 0, f"{len(images)} images of the corpus: {hits} addresses with symbols", wrong[:8])


def check_damage(tap, folder, helper_path, count):
    """Nothing hangs, and what exits without an error has a valid answer."""
    program = compile_program(folder, "damaged", (C_MAIN, C_SHARED), ["-O2"])
    addresses, data = text_addresses(program), program.read_bytes()
    start = int(re.search(r"\s\.text\s+PROGBITS\s+\w+\s+(\w+)", output("readelf", "-SW", program))[1], 16)
    chance, wrong, crashes, answers = random.Random(5), [], 0, 0
    target = folder / "target"
    for i in range(count):
        changed = bytearray(data)
        if i % 3 == 0:
            del changed[chance.randrange(len(data)):]
        for _ in range(i % 7 if i % 3 else 0):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)))
        for _ in range(16 if i % 5 == 4 and len(changed) == len(data) else 0):
            changed[chance.choice(addresses) - addresses[0] + start] = chance.randrange(256)
        target.write_bytes(changed)
        # Code is analysed, too: of what has offsets, or all.
        mode = ("inside,loops", "inside,all", "inside")[i % 4 % 3]
        asked = [] if mode == "inside,all" else addresses
        status, reply = helper.run(helper_path, target, asked, seconds=10, mode=mode)
        if status == 0:
            try:
                found = helper.Reply(reply, asked)
                answers += len(found.answers) + len(found.ranges) > 0
            except (AssertionError, ValueError, IndexError) as error:
                wrong.append(f"{i}: {error!r}")
        crashes += os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == SANITIZER
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (0, SANITIZER, 3, 4) or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            wrong.append(f"{i}: status {status:#x}")
    tap.check(not wrong and answers > 0, f"{count} damaged binaries: {answers} have answers, {crashes} crash", wrong[:8])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--helper", required=True)
    parser.add_argument("--damaged", type=int, default=200)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_programs(tap, folder, options.helper)
        check_split(tap, folder, options.helper)
        check_functions(tap, folder, options.helper)
        check_stubs(tap, folder, options.helper)
        check_compressed(tap, folder, options.helper)
        check_vdso(tap, options.helper)
        check_damage(tap, folder, options.helper, options.damaged)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
