#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Archives of binaries beside a recording ('perf archive'): names of binaries that are gone come from them, whatever packed them, also for unwinding and for
the kernel. Hostile archives write nothing, cost no more than names, and are said to be unreadable.
"""

import argparse
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

from tap import Tap  # noqa: E402
from write import BUILD_ID, KERNEL, Recording  # noqa: E402

PACKERS = {".tar.bz2": "bzip2", ".tar.gz": "gzip", ".tar.xz": "xz", ".tar.zst": "zstd", ".tar": None}
FUNCTION, BASE = "inner", 0x400000
KERNEL_ID, KERNEL_AT = bytes(range(20)), 0xFFFFFFFF80000000
MUTANTS = 60


def run(*words, **more):
    return subprocess.run(list(map(str, words)), capture_output=True, check=False, timeout=300, **more)


# ---- recordings ----


def facts(program):
    """(build id, offset of the function in the file) of a binary."""
    notes = run("readelf", "-n", program).stdout.decode()
    symbols = run("nm", program).stdout.decode()
    address = int(re.search(rf"^(\w+) t {FUNCTION}$", symbols, re.MULTILINE)[1], 16)
    for line in run("readelf", "-lW", program).stdout.decode().splitlines():
        words = line.split()
        if words and words[0] == "LOAD":
            offset, start, _, size = (int(word, 16) for word in words[1:5])
            if start <= address < start + size:
                return bytes.fromhex(re.search(r"Build ID: (\w+)", notes)[1]), address - start + offset
    raise RuntimeError(f"{program}: no {FUNCTION}")


def recorded(build_id, offset):
    """One sample in a binary that is not there."""
    recording = Recording()
    recording.comm(10, 10, "work")
    recording.mmap2(10, BASE, 0x100000, 0, "/gone/solver", build_id=build_id)
    recording.sample(recording.events[0], BASE + offset, 10, 10, 1000)
    return recording.file()


def recorded_kernel():
    """One sample in a kernel that does not run, which is moved by 4096 since its symbols were listed."""
    recording = Recording()
    recording.mmap(-1, KERNEL_AT + 4096, 0x1000000, KERNEL_AT + 4096, "[kernel.kallsyms]_text", misc=KERNEL)
    recording.add(BUILD_ID, recording.numbers("i", -1) + KERNEL_ID + bytes(4) + b"[kernel.kallsyms]".ljust(28, b"\0"), misc=KERNEL)
    recording.sample(recording.events[0], KERNEL_AT + 4096 + 0x250, 10, 10, 1000, mode=KERNEL)
    return recording.pipe()


# ---- archives ----


def member(name, content=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def tar(*members, form=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def pack(data, packer="bzip2"):
    return subprocess.run([packer, "-c"], input=data, capture_output=True, check=True).stdout if packer else data


class Case:
    """A recording and an archive, in a folder of their own."""

    def __init__(self, lode, folder, recording):
        self.lode, self.folder = lode, folder
        folder.mkdir()
        self.path = folder / "perf.data"
        self.path.write_bytes(recording)

    def put(self, archive, end=".tar.bz2"):
        for old in self.folder.glob("perf.data.tar*"):
            old.unlink()
        (self.folder / f"perf.data{end}").write_bytes(archive)
        return self

    def ask(self):
        """(functions, findings as 'rule: text') of `lode`."""
        top = run(self.lode, "top", "--json", "--limit", 0, "--by", "symbol", self.path)
        check = run(self.lode, "check", "--level", "full", "--json", self.path)
        if top.returncode != 0 or check.returncode not in (0, 1):
            return None, [top.stderr.decode(errors="replace"), check.stderr.decode(errors="replace")]
        names = [row["function"] for row in json.loads(top.stdout)["rows"]]
        return names, [f"{finding['rule']}: {finding['text']}" for finding in json.loads(check.stdout)["findings"]]


def check_names(tap, case, what, function=FUNCTION):
    names, findings = case.ask()
    tap.check(names == [function] and findings == [], f"{what}: the function has its name, and nothing is said", [names, findings])


def check_unnamed(tap, case, what, *patterns):
    """Each finding has its pattern."""
    names, findings = case.ask()
    is_said = len(findings) == len(patterns) and all(any(re.search(pattern, finding) for finding in findings) for pattern in patterns)
    tap.check(names == ["[solver]"] and is_said, f"{what}: names are missing, and that is said", [names, findings])


MISSING = "^perf-binary: 1 address has no name .* the file is missing"


def check_forms(tap, case, content, digits):
    path = f"gone/solver/{digits}"
    plain = tar(member(f"{path}/probes"), member(f"{path}/elf", content))
    for end, packer in PACKERS.items():
        if packer and shutil.which(packer) is None:
            tap.skip(end, f"{packer} is missing")
            continue
        check_names(tap, case.put(pack(plain, packer), end), end)
    half = len(plain) // 2
    check_names(tap, case.put(pack(plain[:half]) + pack(plain[half:])), "two streams of bzip2, one after the other")
    layouts = {
        "a file without a directory, as perf had it": tar(member(path, content)),
        "files where links would be": tar(member(f".build-id/{digits[:2]}/{digits[2:]}/elf", content)),
        "a path of 300 characters": tar(member(f"{'long/' * 50}{path}/elf", content)),
        "the same in the form of POSIX": tar(member(f"{'long/' * 50}{path}/elf", content), form=tarfile.PAX_FORMAT),
        "a path in two fields": tar(member(f"{'long/' * 15}{path}/elf", content), form=tarfile.USTAR_FORMAT),
        "a program with a name of two letters": tar(member(f"gone/ls/{digits}/elf", content)),
        "links and a device before the file": tar(member(f".build-id/{digits[:2]}/{digits[2:]}", type=tarfile.SYMTYPE, linkname="/" * 200),
                                                  member("null", type=tarfile.CHRTYPE, devmajor=1, devminor=3), member(f"{path}/elf", content)),
        "a path that leaves the directory": tar(member(f"../../../{path}/elf", content)),
        "two files of one build id: the first counts": tar(member(f"{path}/elf", content), member(f"other/{digits}/elf", b"another")),
    }
    for what, archive in layouts.items():
        check_names(tap, case.put(pack(archive)), what)


def check_hostile(tap, case, content, digits):
    path = f"gone/solver/{digits}/elf"
    sound = pack(tar(member(path, content)))
    check_unnamed(tap, case.put(pack(tar(member("other", content)))), "another file", MISSING)
    link = {"type": tarfile.SYMTYPE, "linkname": "/bin/sh"}
    for what, fields in {"a link": link, "a hard link": {**link, "type": tarfile.LNKTYPE}, "a pipe": {"type": tarfile.FIFOTYPE}}.items():
        check_unnamed(tap, case.put(pack(tar(member(path, **fields)))), f"{what} in place of the file", MISSING)
    check_unnamed(tap, case.put(pack(tar(member(path, Path("/bin/true").read_bytes())))), "another binary", "the file has another build id")
    check_unnamed(tap, case.put(pack(tar(member(path, b"text")))), "no binary", "^perf-binary: .*cannot be read")
    damaged = "^perf-archive: it is damaged"
    check_unnamed(tap, case.put(sound[: len(sound) // 2]), "an archive that is cut off", damaged, MISSING)
    check_unnamed(tap, case.put(b"BZh9" + b"x" * 600), "an archive of noise", damaged, MISSING)
    check_unnamed(tap, case.put(b"x" * 600, ".tar"), "a file of noise", damaged, MISSING)
    check_unnamed(tap, case.put(b"", ".tar"), "an empty file", MISSING)
    info, _ = member(path)
    info.size = 1 << 40
    huge = info.tobuf(tarfile.GNU_FORMAT) + content
    check_unnamed(tap, case.put(pack(huge)), "a file of a terabyte", "^perf-archive: its files have more than 4 GiB .by hand: mkdir .debug && tar xf perf.data.tar.bz2 -C .debug", MISSING)
    info.name = "other"
    check_unnamed(tap, case.put(pack(info.tobuf(tarfile.GNU_FORMAT) + content)), "another file of a terabyte", damaged, MISSING)
    names = [f"{'x' * 9000}/{path}", "y" * 70000]
    check_unnamed(tap, case.put(pack(tar(*(member(name, content) for name in names), member("z", b"z")))), "very long names", MISSING)
    target = case.folder / "perf.data.tar.bz2"
    target.unlink()
    os.mkfifo(target)
    check_unnamed(tap, case, "a pipe in place of the archive", MISSING)
    target.unlink()
    (case.folder / "elsewhere").write_bytes(sound)
    target.symlink_to("elsewhere")
    check_unnamed(tap, case, "a link in place of the archive", MISSING)
    target.unlink()
    (case.folder / "elsewhere").unlink()


def check_mutants(tap, case, content, digits, seed):
    """Nothing crashes: lode-symbols ends by itself, and what is not read is said."""
    chance, wrong = random.Random(seed), []
    plain = tar(member(f"{'long/' * 30}gone/solver/{digits}/elf", content[:9000]), member("other", b"x" * 999), form=tarfile.PAX_FORMAT)
    for number in range(MUTANTS):
        packer = chance.choice(["bzip2", "gzip", "xz", None])
        is_inner = chance.random() < 0.6
        data = bytearray(plain if is_inner else pack(plain, packer))
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data) if chance.random() < 0.4 else min(len(data), 3000))] = chance.randrange(256)
        done = run(case.lode, "check", "--level", "full", "--json", case.put(pack(bytes(data), packer) if is_inner else bytes(data), ".tar.gz").path)
        findings = [finding["text"] for finding in json.loads(done.stdout)["findings"]] if done.returncode in (0, 1) else [done.stderr.decode()]
        if done.returncode not in (0, 1) or any("crashed" in finding or "too long" in finding for finding in findings):
            wrong.append((number, findings))
    tap.check(not wrong, f"{MUTANTS} mutated archives: nothing crashes", wrong[:5])


def check_kernel(tap, lode, scratch):
    case = Case(lode, scratch / "kernel", recorded_kernel())
    text = "".join(f"{KERNEL_AT + offset:016x} T {name}\n" for offset, name in ((0, "_text"), (0x200, "do_work"), (0x300, "other")))
    digits = KERNEL_ID.hex()
    case.put(pack(tar(member(f"[kernel.kallsyms]/{digits}/kallsyms", text.encode()))))
    check_names(tap, case, "symbols of another kernel in an archive", "do_work")
    case.put(pack(tar(member(f"[kernel.kallsyms]/{digits}/kallsyms", text.encode()[:-90]))))
    names, _ = case.ask()
    tap.check(names == ["[kernel.kallsyms]"] or names == ["_text"], "a list of symbols that is cut off names nothing wrong", [names])
    case.put(b"", ".tar")
    copy = case.folder / ".debug/.build-id" / digits[:2] / digits[2:]
    copy.mkdir(parents=True)
    (copy / "kallsyms").write_text(text)
    check_names(tap, case, "a copy of the symbols of another kernel beside the recording", "do_work")


# ---- what perf makes ----


def check_perf(tap, lode, program, scratch):
    """The answers are those from before the binaries were gone."""
    for what, words in {"call chains": ["-g"], "unwound stacks": ["--call-graph", "dwarf,4096"]}.items():
        folder = scratch / what.replace(" ", "-")
        (folder / "home").mkdir(parents=True)
        path, binary, home = folder / "perf.data", folder / "moved", {**os.environ, "HOME": str(folder / "home")}
        shutil.copy(program, binary)
        done = run("perf", "record", "-q", *words, "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", binary, env=home) if shutil.which("perf") else None
        packed = run("perf", "archive", path, env=home) if done and done.returncode == 0 else None
        if packed is None or not (folder / "perf.data.tar.bz2").exists():
            tap.skip(f"{what}: perf archive", "perf is missing, or not permitted here")
            continue
        before = run(lode, "tree", "--limit", 0, path)
        binary.unlink()
        after = run(lode, "tree", "--limit", 0, path)
        tap.check(before.returncode == 0 and FUNCTION in before.stdout.decode() and after.stdout == before.stdout,
                  f"{what}: the tree is the same from the archive of perf", [before, after])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--symbols", required=True, help="the program lode-symbols")
    parser.add_argument("--seed", type=int, default=31)
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = str(Path(options.symbols).resolve().parent)
    tap = Tap()
    program = Path(options.program).resolve()
    build_id, offset = facts(program)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        os.environ["HOME"] = str(scratch / "nobody")
        content, case = program.read_bytes(), Case(options.lode, scratch / "made", recorded(build_id, offset))
        case.put(b"", ".tar")
        check_unnamed(tap, case, "no archive", MISSING)
        check_forms(tap, case, content, build_id.hex())
        check_hostile(tap, case, content, build_id.hex())
        check_mutants(tap, case, content, build_id.hex(), options.seed)
        check_kernel(tap, options.lode, scratch)
        check_perf(tap, options.lode, program, scratch)
        left = {path.name for path in scratch.iterdir()} - {"made", "kernel", "call-chains", "unwound-stacks"}
        left |= {path.name for path in case.folder.iterdir() if not path.name.startswith("perf.data")}
        tap.check(not left, "archives are unpacked nowhere", [left])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
