#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Source files that lie in a database come along when it is converted; what only looks like one does not.

Usage: companions.py --lode PROGRAM

A database lists copied source files. In their places are symbolic links to files and directories outside, pipes, sockets, devices,
directories and files that are too large. Each is left out with a warning that names it, the conversion succeeds with all others, and
no byte from outside is in the output.
"""
import argparse
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from tap import Tap  # noqa: E402

SECRET = b"a secret from outside\n"
GOOD = b"int synthetic;\n"
TIMEOUT = 60
TOO_LARGE = 4 << 30  # bytes, none of them on disk
PRIVATE = 0o600
TARGETS = ["hpctoolkit", "hpctoolkit-draft-xml", "hpctoolkit-draft-metadb"]


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False)


def list_sources(database):
    """Makes the source files that a synthetic database names ones that were copied into it. Returns their paths."""
    meta = os.path.join(database, "meta.db")
    with open(meta, "rb") as stream:
        data = bytearray(stream.read())
    paths = []
    for found in list(re.finditer(rb"\0/opt/synthetic/(src/file[0-9]+\.c)\0", data)):
        start, name = found.start() + 1, found.group(1)
        data[start:found.end()] = name.ljust(found.end() - start, b"\0")
        record = data.index(struct.pack("<IIQ", 0, 0, start))
        data[record:record + 4] = struct.pack("<I", 1)
        paths.append(name.decode())
    with open(meta, "wb") as stream:
        stream.write(data)
    return sorted(paths)


def fill(path, data=GOOD):
    with open(path, "wb") as stream:
        stream.write(data)


def make_socket(path):
    """Its path may be longer than a socket's may."""
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(os.path.basename(path))
    os.chdir(here)


def make_device(path):
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero: it never ends
    except PermissionError:
        os.mkfifo(path)


def make_large(path):
    with open(path, "wb") as stream:
        stream.truncate(TOO_LARGE)


def bad_files(outside):
    """What may lie in the place of a source file, by what it is called."""
    secret = os.path.join(outside, "secret")
    return {
        "link": lambda path: os.symlink(secret, path),
        "chain": lambda path: os.symlink(f"../../{os.path.basename(outside)}/secret", path),
        "dangling": lambda path: os.symlink("nothing", path),
        "pipe": os.mkfifo,
        "socket": make_socket,
        "device": make_device,
        "directory": os.mkdir,
        "large": make_large,
    }


def contents(folder):
    found = {}
    for where, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(where, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as stream:
                    found[os.path.relpath(path, folder)] = stream.read()
    return found


def judge(result, output, good, bad):
    """Complaints about one conversion."""
    if result.returncode != 0:
        yield f"exit status {result.returncode}: {result.stderr.strip()}"
        return
    found = contents(output)
    for path in good:
        if found.get(path) != GOOD:
            yield f"{path} did not come along"
        elif os.stat(os.path.join(output, path)).st_mode & 0o777 != PRIVATE:
            yield f"{path} has other permissions than its original"
    for path in bad:
        if os.path.lexists(os.path.join(output, path)):
            yield f"{path} came along"
        lines = [line for line in result.stdout.splitlines() if path in line]
        if len(lines) != 1 or "companion-file" not in lines[0]:
            yield f"not one warning that names {path}: {result.stdout}"
    if any(SECRET.strip() in data for data in found.values()):
        yield "bytes from outside are in the output"


def test_bad_files(tap, program, root, database, paths):
    outside = os.path.join(root, "outside")
    os.mkdir(outside)
    fill(os.path.join(outside, "secret"), SECRET)
    makers = bad_files(outside)
    bad, good = paths[:len(makers)], paths[len(makers):]
    os.mkdir(os.path.join(database, "src"))
    for path, make in zip(bad, makers.values()):
        make(os.path.join(database, path))
    for path in good:
        fill(os.path.join(database, path))
        os.chmod(os.path.join(database, path), PRIVATE)
    for target in TARGETS:
        output = os.path.join(root, target)
        result = run(program, "convert", database, "-o", output, "--format", target)
        complaints = list(judge(result, output, good, bad))
        tap.check(not complaints and len(good) > 1, f"{target}: {', '.join(makers)} are left out, {len(good)} files come along",
                  complaints)
    shutil.rmtree(os.path.join(database, "src"))


def test_linked_folder(tap, program, root, database, paths):
    outside = os.path.join(root, "elsewhere")
    os.mkdir(outside)
    for path in paths:
        fill(os.path.join(outside, os.path.basename(path)), SECRET)
    os.symlink(outside, os.path.join(database, "src"))
    output = os.path.join(root, "linked")
    result = run(program, "convert", database, "-o", output)
    passed = result.returncode == 0 and not any(SECRET in data for data in contents(output).values())
    tap.check(passed and result.stdout.count("companion-file") == len(paths), "a src/ that is a symbolic link is not followed",
              [result.stdout, result.stderr])


def test_missing(tap, program, root, database):
    output = os.path.join(root, "missing")
    result = run(program, "convert", database, "-o", output)
    tap.check(result.returncode == 0 and not result.stdout, "files that are not there are no finding", [result.stdout, result.stderr])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    program = os.path.abspath(parser.parse_args().lode)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-") as root:
        database = os.path.join(root, "database")
        made = run(program, "synth", "database", "--profiles", "3", "--contexts", "2000", "-o", database)
        paths = list_sources(database) if made.returncode == 0 else []
        if not tap.check(len(paths) > 10, f"a database lists {len(paths)} copied files", [made.stderr]):
            return tap.finish()
        test_missing(tap, program, root, database)
        test_bad_files(tap, program, root, database, paths)
        test_linked_folder(tap, program, root, database, paths)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
