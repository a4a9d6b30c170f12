#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The index of requests of a Zorka store: all answers are byte-identical without it, when it is written, and when it is used; what is stale, damaged,
hostile or not private counts as missing.
"""

import argparse
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

from tap import Tap  # noqa: E402

OLD = 10**9  # seconds: a file that was changed long ago
LEAST = 1 << 20  # bytes of a store that has an index
HEAD = 32  # bytes
QUESTIONS = (["info", "-v"], ["info", "--json"], ["top", "--json"], ["top", "--threads", "3", "--csv"], ["tree", "--json"], ["search", "-n", "0", "--json"],
             ["search", "--min-duration", "2ms", "--sort", "duration"], ["search", "--text", "m1", "--json"], ["replay", "-n", "200"], ["diagnose", "--json"])
METHODS = 5
CLASS, SIGNATURE, NAME, METHOD = 1, 2, 3, 3 + METHODS  # ids of strings
PROCESS, THREAD, TEXT = METHOD + METHODS, METHOD + METHODS + 1, METHOD + METHODS + 2


# ---- a random store ----

def number(value, major=0):
    if value < 24:
        return bytes([major << 5 | value])
    for log in range(4):
        if value < 1 << (8 << log):
            return bytes([major << 5 | 24 + log]) + value.to_bytes(1 << log, "big")
    raise ValueError(value)


def info(key, value):
    return b"\xce\xa1" + number(key) + number(value)


def attribute(key, value):
    return b"\xc9\xa1\xc6" + number(key) + value


class Maker:
    """Requests of nested calls over one chunk or several, some without a time stamp, some damaged."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.now = 1000

    def call(self, depth, stamp):
        chance = self.chance
        begin = b"\xc8\x9f" + info(12, self.now) + info(14, chance.randrange(METHOD, METHOD + METHODS + (chance.randrange(9) == 0)))
        if stamp:
            begin += info(5, stamp)
        if depth == 0 and chance.randrange(3) == 0:
            begin += attribute(PROCESS, number(chance.randrange(1, 4))) + attribute(THREAD, number(chance.randrange(1, 9)))
        parts = [begin + attribute(TEXT, number(400, 3) + chance.randbytes(200).hex().encode())]
        self.now += chance.randrange(30)
        for _ in range(chance.randrange(4) if depth < 4 else 0):
            parts += self.call(depth + 1, 0)
        self.now += chance.randrange(30)
        return parts + [info(13, self.now) + b"\xff"]

    def chunks(self):
        chance, size, now = self.chance, 0, 1_600_000_000_000
        while size < LEAST * 3 // 2:
            payloads = [b""]
            for _ in range(chance.choice((1, 1, 1, 5))):
                now += chance.randrange(-3, 20)
                for part in self.call(0, now if chance.randrange(50) else 0):
                    payloads[-1] += part
                    if chance.randrange(40) == 0:
                        payloads.append(b"")
            for payload in filter(None, payloads):
                packed = zlib.compressobj(1, zlib.DEFLATED, -15)
                packed = packed.compress(payload) + packed.flush(zlib.Z_FULL_FLUSH)
                checksum = zlib.crc32(packed) ^ (chance.randrange(60) == 0)
                size += len(packed)
                yield b"ZCH0" + struct.pack(">III", len(packed), len(payload), checksum) + packed

    def write(self, folder):
        folder.mkdir(parents=True)
        (folder / "traces.dat").write_bytes(b"ZTS0" + struct.pack(">III", 0x11, 0, 0) + b"".join(self.chunks()))
        digit = lambda i: bytes([48 + i])  # noqa: E731
        texts = {CLASS: b"\x05shop.Cart\x05", SIGNATURE: b"\x08()\x08", PROCESS: b"process.pid", THREAD: b"thread.id", TEXT: b"text"}
        for i in range(METHODS):
            texts[NAME + i] = b"\x06m%d\x06" % i
            texts[METHOD + i] = b"\x0b" + b"\x0b".join(map(digit, (CLASS, NAME + i, SIGNATURE))) + b"\x0b"
        index = b"".join(digit(i) + b"\x01" + text + b"\x02" + digit(i) + b"\x03" for i, text in sorted(texts.items()))
        (folder / "text-00000001.wal").write_bytes(b"WAL\x03" + index)


# ---- indexes, by hand ----

def siphash(data):
    """SipHash-1-3 with a key of zeros."""
    mask = (1 << 64) - 1
    v = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]

    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def turn():
        v[0], v[2] = (v[0] + v[1]) & mask, (v[2] + v[3]) & mask
        v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
        v[0], v[2] = (rotate(v[0], 32) + v[3]) & mask, (v[2] + v[1]) & mask
        v[3], v[1] = rotate(v[3], 21) ^ v[0], rotate(v[1], 17) ^ v[2]
        v[2] = rotate(v[2], 32)

    data = bytes(data)
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        turn()
        v[0] ^= word
    v[2] ^= 255
    for _ in range(3):
        turn()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def bytes(self):
        size = self.take()
        self.at += size
        return self.data[self.at - size:self.at]


class Index:
    """The parts of an index, which can be changed and get right checksums."""

    def __init__(self, data):
        _, offset, size, _ = struct.unpack("=QQQQ", data[:HEAD])
        whole = Numbers(data[offset:offset + size])
        self.magic, self.key = data[:8], whole.bytes()
        self.layouts = [whole.take() for _ in range(whole.take())]
        self.traces, self.segments = whole.take(), whole.take()
        table, self.findings, self.blocks, at = Numbers(whole.bytes()), whole.bytes(), [], HEAD
        while table.at < len(table.data):
            size, _ = table.take(), table.take()
            self.blocks.append(data[at:at + size])
            at += size

    def sealed(self):
        table = b"".join(varint(len(block)) + varint(siphash(block)) for block in self.blocks)
        whole = b"".join((varint(len(self.key)), self.key, varint(len(self.layouts)), *map(varint, self.layouts), varint(self.traces), varint(self.segments),
                          varint(len(table)), table, varint(len(self.findings)), self.findings))
        body = b"".join(self.blocks)
        return self.magic + struct.pack("=QQQ", HEAD + len(body), len(whole), siphash(whole)) + body + whole

    def segment_fields(self):
        """The numbers of the block of further segments."""
        numbers, found = Numbers(self.blocks[-1]), []
        while numbers.at < len(numbers.data):
            found.append(numbers.take())
        return found


# ---- asking ----

class Bench:
    def __init__(self, lode, folder):
        self.lode, self.folder = lode, Path(folder)
        self.cache = self.folder / "cache" / "lode"
        self.stores = {}

    def add(self, name):
        self.stores[name] = self.folder / name
        self.touch()
        return self.stores[name]

    def touch(self):
        for store in self.stores.values():
            for path in store.rglob("*"):
                os.utime(path, (OLD, OLD))

    def run(self, *words, cache=None):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "LODE_CACHE": str(self.cache) if cache is None else cache}
        done = subprocess.run([self.lode, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
        return done.returncode, done.stdout, done.stderr

    def plain(self, words, store):
        return self.run(*words, store, cache="")

    def indexes(self):
        return sorted(self.cache.glob("zorka-*.index")) if self.cache.is_dir() else []

    def forget(self):
        for path in self.indexes():
            path.unlink()

    def make(self, store):
        """The only index."""
        self.forget()
        self.run("info", store)
        (path,) = self.indexes()
        return path

    def is_rewritten(self, store):
        """Whether the index was of no use: another one replaces it."""
        (path,) = self.indexes()
        with open(path, "rb"):  # its inode is not given to another file
            before = path.stat().st_ino
            self.run("info", store)
            return self.indexes()[0].stat().st_ino != before

    def is_used(self, words, store):
        """An index is touched when it is used."""
        (path,) = self.indexes()
        os.utime(path, (OLD, OLD))
        self.run(*words, store)
        return path.stat().st_mtime > OLD


def make_stores(bench, seeds):
    for seed in range(seeds):
        Maker(seed).write(bench.folder / f"made-{seed}" / "000000")
        if seed % 2:
            Maker(seed + 1000).write(bench.folder / f"made-{seed}" / "00002a")
        bench.add(f"made-{seed}")
    for layout in ("page", "zico"):
        bench.run("synth", "recording", "--format", "zorka", "--layout", layout, "--records", "400000", "-o", bench.folder / layout)
        bench.add(layout)


def check_answers(tap, bench, name):
    store, wrong = bench.stores[name], []
    for words in QUESTIONS:
        bench.forget()
        wanted, first, second = bench.plain(words, store), bench.run(*words, store), bench.run(*words, store)
        if not wanted == first == second or wanted[0] not in (0, 1):
            wrong.append(f"{words}: {wanted[0]} {wanted[2][:300]} {first[2][:300]} {second[2][:300]}")
        elif len(bench.indexes()) != 1:
            wrong.append(f"{words}: {bench.indexes()}")
        elif not bench.is_used(words, store):
            wrong.append(f"{words}: the index is not used")
    tap.check(not wrong, f"{name}: answers are byte-identical with and without an index", wrong[:4])


def check_private(tap, bench, store):
    path = bench.make(store)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, bench.cache)]
    tap.check(modes == [0o600, 0o700], "an index and its directory are private", [str([oct(mode) for mode in modes])])
    tap.check([one.name for one in bench.cache.iterdir()] == [path.name], "nothing else is left there", [str(list(bench.cache.iterdir()))])
    before = set(bench.folder.rglob("*"))
    bench.forget()
    bench.plain(["info"], store)
    tap.check(set(bench.folder.rglob("*")) == before - {path}, "LODE_CACHE= writes none")
    bench.make(store)
    tap.check(not bench.is_used(["check"], store) and not bench.is_used(["info", "--strict"], store), "a check and --strict look for themselves")


def check_stale(tap, bench, store):
    bench.make(store)
    tap.check(not bench.is_rewritten(store), "an index stays as it is")
    data, text = next(store.rglob("traces.dat")), next(store.rglob("text-*.wal"))
    for what in ("is longer", "has another time", "has another byte, but its size and time", "is another file", "is gone", "is new"):
        sound = data.read_bytes(), text.read_bytes()
        bench.make(store)
        if what == "is longer":
            data.write_bytes(sound[0] + sound[0][16:16 + 16 + int.from_bytes(sound[0][20:24], "big")])
        elif what == "has another time":
            os.utime(data, (OLD + 1, OLD + 1))
        elif what == "has another byte, but its size and time":
            with open(data, "r+b") as stream:
                stream.seek(40)
                stream.write(bytes([sound[0][40] ^ 1]))
        elif what == "is another file":
            shutil.copy(data, bench.folder / "copy")
            os.replace(bench.folder / "copy", data)
        elif what == "is gone":
            text.unlink()
        else:
            (text.parent / "store.props").write_bytes(b"a=b\n")
        if what != "has another time":
            bench.touch()
        is_stale = bench.is_rewritten(store)
        tap.check(is_stale and bench.plain(["info", "--json"], store) == bench.run("info", "--json", store), f"an index is stale if a file {what}")
        (text.parent / "store.props").unlink(missing_ok=True)
        data.write_bytes(sound[0])
        text.write_bytes(sound[1])
        bench.touch()
    bench.forget()
    os.utime(data)
    bench.run("info", store)
    tap.check(not bench.indexes(), "a store that was changed a moment ago has no index")
    bench.touch()


def damaged(sound, chance):
    size = len(sound)
    yield from (b"", sound[:20], sound[:-1], sound[:size // 2], bytes(size), sound + b"x", b"\xff" * HEAD + sound[HEAD:])
    for _ in range(24):
        changed = bytearray(sound)
        at = chance.choice((chance.randrange(HEAD), chance.randrange(size), size - 1 - chance.randrange(300)))
        changed[at] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def forged(sound):
    """Indexes with right checksums that no store has, and why not."""
    def change(what, **parts):
        index = Index(sound)
        for name, value in parts.items():
            setattr(index, name, value)
        return what, index.sealed()

    index = Index(sound)
    fields = index.segment_fields()

    def segments(values):
        return index.blocks[:-1] + [b"".join(map(varint, values))]

    yield change("of other files", key=index.key[:-1] + b"x")
    yield change("of another number of stores", layouts=index.layouts + [1])
    yield change("with a trace too few", traces=index.traces - 1)
    yield change("with too many traces", traces=(1 << 30) + 1)
    yield change("without its segments", segments=0, blocks=index.blocks[:-1])
    yield change("with a segment that is its own next one", blocks=segments(fields[:3] + [2] + fields[4:]))
    yield change("with a segment of two traces", blocks=segments(fields[:-1] + [index.segments << 1] if index.segments == 1 else fields[:3] + [index.segments << 1] + fields[4:]))
    yield change("with a segment of no chunk", blocks=segments([1 << 40] + fields[1:]))
    yield change("with a segment behind its chunk", blocks=segments(fields[:1] + [1 << 24] + fields[2:]))
    yield change("with a segment larger than its chunk", blocks=segments(fields[:2] + [1 << 24] + fields[3:]))
    yield change("with a rule that there is not", findings=varint(200) + index.findings[1:])
    yield change("with half a finding", findings=index.findings[:-3])
    yield change("with a finding without an end", findings=index.findings[:-1] + b"x")


def check_damage(tap, bench, store, mutations):
    path = bench.make(store)
    sound, chance = path.read_bytes(), random.Random(5)
    wanted = bench.plain(["info", "-v"], store)
    tap.check(Index(sound).sealed() == sound, "the test reads and writes an index as the program does")
    cases = [("damaged", case) for case in damaged(sound, chance)] + list(forged(sound))
    wrong = []
    for what, case in cases:
        path.write_bytes(case)
        with open(path, "rb"):
            before = path.stat().st_ino
            found = bench.run("info", "-v", store)
            is_rewritten = path.stat().st_ino != before
        if found != wanted or not (is_rewritten or case[:len(sound)] == sound):
            wrong.append(f"{what}: {found}, rewritten: {is_rewritten}"[:400])
        path.write_bytes(sound)
    tap.check(not wrong, f"{len(cases)} damaged and forged indexes count as missing", wrong[:4])
    wrong = []
    for _ in range(mutations):
        index = Index(sound)
        block = bytearray(index.blocks[chance.randrange(len(index.blocks))])
        place = index.blocks.index(bytes(block))
        for _ in range(chance.randrange(1, 4)):
            block[chance.randrange(len(block))] = chance.randrange(256)
        index.blocks[place] = bytes(block)
        path.write_bytes(index.sealed())
        found = bench.run("top", "--json", store)
        if found[0] not in (0, 1, 2):
            wrong.append(f"{found}"[:400])
    tap.check(not wrong, f"{mutations} indexes with other numbers and right checksums do no harm", wrong[:4])


def check_planted(tap, bench, store):
    index, wanted = bench.make(store), bench.plain(["info"], store)
    for what in ("readable by others", "a link", "a directory"):
        index.unlink(missing_ok=True)
        if what == "readable by others":
            index.write_bytes(b"x")
            index.chmod(0o644)
        elif what == "a link":
            index.symlink_to("/dev/zero")
        else:
            index.mkdir()
        found = bench.run("info", store)
        tap.check(found == wanted, f"an index that is {what} counts as missing", [str(found)[:300]])
        if index.is_dir() and not index.is_symlink():
            index.rmdir()
    bench.cache.chmod(0o777)
    bench.forget()
    tap.check(bench.run("info", store) == wanted and not bench.indexes(), "a directory that others can write has no index")
    bench.cache.chmod(0o700)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--mutations", type=int, default=60)
    arguments = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(arguments.lode), folder)
        make_stores(bench, arguments.seeds)
        for name in bench.stores:
            check_answers(tap, bench, name)
        store = bench.stores["made-1"]
        check_private(tap, bench, store)
        check_stale(tap, bench, store)
        check_damage(tap, bench, store, arguments.mutations)
        check_planted(tap, bench, store)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
