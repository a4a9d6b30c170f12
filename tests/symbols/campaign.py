#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode-symbols on damaged ELF files and on generated code: irreducible graphs, overlapping instructions, jump tables into themselves, deep nests,
and functions of many blocks. It ends, it says what can be parsed or why there is nothing, and time is linear in the blocks. A crash fails. By
hand, with a sanitized helper: --damaged 20000 --generated 5000; with an optimized one: --blocks 1000000. LODE_KEEP: a folder for what fails.
"""

import argparse
import os
import random
import re
import resource
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import compiled  # noqa: E402
import helper  # noqa: E402
from tap import Tap  # noqa: E402

X86, AARCH64, POWER, RISCV = 62, 183, 21, 243
BASE = 0x1000
KNOWN = (0, 3, 4)   # answers, not ELF, out of memory
LINEAR = 3          # times the seconds per block of the smaller function


def make_elf(code, machine=X86, functions=None):
    """A program of one segment with `code` at BASE, and a symbol for each (start, size)."""
    functions = functions or [(0, len(code))]
    names = b"\0" + b"".join(b"f%d\0" % i for i in range(len(functions)))
    symbols, at = bytes(24), 1
    for i, (start, size) in enumerate(functions):
        symbols += struct.pack("<IBBHQQ", at, 0x12, 0, 1, BASE + start, size)
        at += len(b"f%d\0" % i)
    section_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    parts, offsets, at = [code, symbols, names, section_names], [], BASE
    for part in parts:
        offsets.append(at)
        at += len(part) + -len(part) % 16
    data = bytearray(at)
    for offset, part in zip(offsets, parts):
        data[offset:offset + len(part)] = part
    rows = [(0,) * 10, (1, 1, 6, BASE, offsets[0], len(code), 0, 0, 16, 0), (7, 2, 0, 0, offsets[1], len(symbols), 3, 1, 8, 24),
            (15, 3, 0, 0, offsets[2], len(names), 0, 0, 1, 0), (23, 3, 0, 0, offsets[3], len(section_names), 0, 0, 1, 0)]
    for row in rows:
        data += struct.pack("<IIQQQQIIQQ", *row)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    data[:64] = ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, BASE, 64, at, 0, 64, 56, 1, 64, len(rows), 4)
    data[64:120] = struct.pack("<IIQQQQQQ", 1, 5, BASE, BASE, BASE, len(code), len(code), 0x1000)
    return bytes(data)


def irreducible(chance, blocks):
    """Conditional jumps between random blocks of 8 bytes: nearly every loop has several entries."""
    code = bytearray()
    for i in range(blocks):
        target = chance.randrange(blocks)
        code += b"\x0f\x84" + struct.pack("<i", 8 * target - (8 * i + 6)) + b"\x66\x90"
    return bytes(code + b"\xc3")


def nested(chance, blocks):
    """Loops within loops: all begin before the first one ends."""
    depth = blocks // 2
    code = bytearray(b"\x66\x90\x66\x90\x66\x90\x66\x90" * depth)
    for i in range(depth):
        code += b"\x0f\x85" + struct.pack("<i", 8 * (depth - 1 - i) - (len(code) + 6)) + b"\x66\x90"
    _ = chance
    return bytes(code + b"\xc3")


def ladder(chance, blocks):
    """Short loops one after the other, with jumps back over a few of them."""
    code = bytearray()
    for i in range(blocks):
        target = max(0, i - chance.randrange(4))
        code += b"\x0f\x85" + struct.pack("<i", 8 * target - (8 * i + 6)) + b"\x66\x90"
    return bytes(code + b"\xc3")


def overlapping(chance, blocks):
    """Random bytes with short jumps into the middle of instructions."""
    code = bytearray(chance.randbytes(6 * blocks))
    for i in range(0, len(code) - 2, 6):
        code[i:i + 2] = bytes((chance.choice((0x70, 0x74, 0x75, 0xeb, 0xe2)), chance.randrange(256)))
    return bytes(code + b"\xc3")


def tables(chance, blocks):
    """Switches whose table is the code of the switch, of another one, or begins outside."""
    code = bytearray()
    for i in range(max(1, blocks // 16)):
        at = len(code)
        table = chance.choice((at, at + chance.randrange(32), chance.randrange(max(1, at + 1)), at - 4096, at + (1 << 20)))
        code += b"\x83\xff" + bytes([chance.randrange(128)]) + b"\x0f\x87" + struct.pack("<i", chance.randrange(64))
        code += b"\x48\x8d\x05" + struct.pack("<i", table - (len(code) + 7))
        code += b"\x48\x63\x14\xb8\x48\x01\xc2\xff\xe2" + chance.randbytes(chance.randrange(24))
        _ = i
    return bytes(code + b"\xc3")


def words(chance, blocks):
    """Random instructions of four bytes, for processors that have no others; many of them branches."""
    branches = (0x14000000, 0x54000000, 0xb4000000, 0x37000000, 0xd61f0000, 0x48000000, 0x40820000, 0x4e800420, 0x00000063, 0x0000006f, 0x00008067)
    return b"".join(struct.pack("<I", chance.choice(branches) | chance.randrange(1 << 21) if chance.random() < 0.5 else chance.randrange(1 << 32))
                    for _ in range(blocks))


MAKERS = (irreducible, nested, ladder, overlapping, tables, words)


class Campaign:
    def __init__(self, program, folder):
        self.program, self.target, self.ends, self.wrong = program, folder / "target", Counter(), []

    def ask(self, name, data, offsets, mode, seconds=20):
        """The seconds that it took."""
        self.target.write_bytes(data)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status, reply = helper.run(self.program, self.target, offsets, seconds=seconds, mode=mode)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        end = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
        if status == 0:
            try:
                found = helper.Reply(reply, offsets)
                end = "answers" if found.answers or found.ranges else "no answers"
            except (AssertionError, ValueError, IndexError, struct.error) as error:
                end = f"wrong answer: {error!r}"
        self.ends[end] += 1
        if end.startswith("wrong") or os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in KNOWN:
            self.keep(f"{name}: {end}", data)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def keep(self, text, data):
        self.wrong.append(text)
        if os.environ.get("LODE_KEEP"):
            (Path(os.environ["LODE_KEEP"]) / re.sub(r"\W+", "-", text)).write_bytes(data)


def damage(chance, data):
    """What truncation, wrong bytes, numbers of headers and swapped pieces make of a file."""
    changed, way = bytearray(data), chance.randrange(6)
    if way == 0:
        del changed[chance.randrange(len(data)):]
    elif way == 1:
        for _ in range(chance.randrange(1, 8)):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)))
    elif way == 2:      # headers
        table = struct.unpack_from("<Q", data, 0x28)[0]
        for _ in range(chance.randrange(1, 6)):
            at = chance.choice((chance.randrange(64), 64 + chance.randrange(512), table + chance.randrange(max(1, len(data) - table))))
            changed[min(at, len(changed) - 1)] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)))
    elif way == 3:      # numbers
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(max(1, len(changed) - 8))
            changed[at:at + 8] = struct.pack("<Q", chance.choice((0, 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, (1 << 64) - 1, chance.randrange(len(data)))))
    elif way == 4:      # a piece elsewhere
        size = chance.randrange(1, 4096)
        source, target = chance.randrange(len(data)), chance.randrange(len(data))
        piece = data[source:source + size]
        changed[target:target + len(piece)] = piece
    else:
        at, size = chance.randrange(len(data)), chance.randrange(1, 256)
        changed[at:at + size] = chance.randbytes(len(changed[at:at + size]))
    return bytes(changed)


def seeds(folder):
    """(bytes, offsets): programs with and without debug information, of compilers and of this generator."""
    made = []
    for name, flags in (("plain", ["-O2"]), ("level0", ["-O0"]), ("packed", ["-O3", "-gz=zlib"]), ("old", ["-O2", "-gdwarf-2", "-gstrict-dwarf"]), ("bare", ["-O2", "-g0", "-s"])):
        program = compiled.compile_program(folder, name, (compiled.C_MAIN, compiled.C_SHARED), flags)
        made.append((program.read_bytes(), compiled.text_addresses(program)[::5]))
    chance = random.Random(3)
    for maker in MAKERS:
        code = maker(chance, 64)
        for machine in (X86, AARCH64, POWER, RISCV):
            made.append((make_elf(code, machine, [(0, len(code) // 2), (len(code) // 2, len(code) - len(code) // 2)]), list(range(BASE, BASE + len(code), 3))))
    return made


def run_damaged(tap, campaign, folder, count, seed):
    chance, files = random.Random(seed), seeds(folder)
    for i in range(count):
        data, offsets = files[i % len(files)] if i % 2 else files[i // 2 % 5]
        mode = ("inside,loops", "inside,all", "inside", "symbols,loops")[i // 7 % 4]
        campaign.ask(f"damaged {seed}-{i}", damage(chance, data), [] if mode == "inside,all" else offsets, mode)
    tap.check(not campaign.wrong, f"{count} damaged ELF files: {dict(campaign.ends)}", campaign.wrong[:16])


def run_generated(tap, campaign, count, seed):
    chance = random.Random(seed)
    for i in range(count):
        maker, blocks = MAKERS[i % len(MAKERS)], chance.choice((1, 7, 64, 500, 3000))
        code = maker(chance, blocks)
        machine = X86 if i % 3 else chance.choice((AARCH64, POWER, RISCV))
        cut = chance.randrange(len(code) + 1)
        functions = None if i % 2 else [(0, len(code)), (cut, len(code) - cut)]
        mode = "inside,all" if i % 4 else "inside,loops"
        campaign.ask(f"{maker.__name__} {seed}-{i}", make_elf(code, machine, functions), [] if mode == "inside,all" else list(range(BASE, BASE + len(code), 7)), mode)
    tap.check(not campaign.wrong, f"{count} files of generated code: {dict(campaign.ends)}", campaign.wrong[:16])


def run_sizes(tap, campaign, largest):
    """
    A hundred times the blocks takes a hundred times as long, but for a constant. Test "graphs of code" counts the steps.
    """
    for maker in (irreducible, nested, ladder, overlapping, tables):
        rows = []
        for blocks in (largest // 100, largest // 10, largest):
            code = maker(random.Random(1), blocks)
            rows.append((blocks, campaign.ask(f"{maker.__name__} of {blocks} blocks", make_elf(code), [], "inside,all", seconds=600)))
        shown = ", ".join(f"{blocks}: {seconds:.2f} s" for blocks, seconds in rows)
        per_block = [max(seconds, 0.02) / blocks for blocks, seconds in rows]
        tap.check(per_block[2] <= LINEAR * max(per_block[1], 1e-9), f"time is linear in blocks ({maker.__name__}; {shown})", [shown])
    tap.check(not campaign.wrong, f"large functions: {dict(campaign.ends)}", campaign.wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--helper", required=True)
    parser.add_argument("--damaged", type=int, default=0)
    parser.add_argument("--generated", type=int, default=120)
    parser.add_argument("--blocks", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if options.generated:
            run_generated(tap, Campaign(options.helper, folder), options.generated, options.seed)
        if options.blocks:
            run_sizes(tap, Campaign(options.helper, folder), options.blocks)
        if options.damaged:
            run_damaged(tap, Campaign(options.helper, folder), folder, options.damaged, options.seed)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
