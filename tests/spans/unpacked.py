#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Compressed files of spans, gzip and zstd: what they unpack to beyond a quarter of the memory budget, of one file or of several together, is in temporary
files, with the same answers; a limit of the process's own memory shows that it is not in memory.
"""

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

from tap import Tap  # noqa: E402

SPANS = 200_000
FILES = 8
LIMIT = 40 << 20  # bytes of memory that a process may have; mapped files do not count


def packers():
    yield "gz", lambda content: gzip.compress(content, 1)
    if shutil.which("zstd"):
        yield "zst", lambda content: subprocess.run(["zstd", "-q", "-1", "-c"], input=content, stdout=subprocess.PIPE, check=True).stdout


def make(lode, path, spans, seed):
    subprocess.run([lode, "synth", "recording", "--format", "otlp", "--records", str(2 * spans), "--seed", str(seed), "-o", path], check=True)
    return path


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def top(lode, path, scratch, *words, limited=True):
    return subprocess.run([lode, "top", "--limit", "0", "--json", "--threads", "1", *words, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, TMPDIR=str(scratch)), preexec_fn=limit_memory if limited else None, check=False)


def rows(done):
    return json.loads(done.stdout)["rows"] if done.returncode in (0, 1) else None


def compare(tap, lode, plain, packed, scratch, what):
    size = sum(path.stat().st_size for path in ([plain] if plain.is_file() else plain.iterdir()))
    wanted, spilled = top(lode, plain, scratch, limited=False), top(lode, packed, scratch, "--memory", "8M")
    tap.check(size > LIMIT and rows(wanted) and rows(spilled) == rows(wanted), f"{what}: {size:,} bytes are unpacked with {LIMIT:,} bytes of memory",
              [spilled.stderr.decode(errors="replace")])
    full = top(lode, packed, scratch, "--memory", "4G")
    tap.check(full.returncode == 2 and b"memory" in full.stderr, f"{what}: with a large budget, they are unpacked to memory", [str(full)[:300]])
    nowhere = top(lode, packed, scratch / "missing", "--memory", "8M", limited=False)
    tap.check(nowhere.returncode == 2 and b"temporary directory" in nowhere.stderr, f"{what}: the error says what is missing", [str(nowhere)[:300]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    lode = parser.parse_args().lode
    tap = Tap()
    if os.environ.get("LODE_TEST_SANITIZED"):
        tap.skip("memory of files that are unpacked", "sanitizers need more memory")
        return tap.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scratch, several = folder / "scratch", folder / "several"
        scratch.mkdir()
        several.mkdir()
        one = make(lode, folder / "one.pb", SPANS, 7)
        for number in range(FILES):
            make(lode, several / f"{number}.pb", SPANS // FILES, number)
        for suffix, pack in packers():
            packed = folder / f"one.pb.{suffix}"
            packed.write_bytes(pack(one.read_bytes()))
            compare(tap, lode, one, packed, scratch, f"a file, {suffix}")
            all_packed = folder / suffix
            all_packed.mkdir()
            for path in several.iterdir():
                (all_packed / f"{path.name}.{suffix}").write_bytes(pack(path.read_bytes()))
            compare(tap, lode, several, all_packed, scratch, f"{FILES} files, {suffix}")
        tap.check(not list(scratch.iterdir()), "no temporary file is left")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
