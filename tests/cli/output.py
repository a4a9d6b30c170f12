#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where output goes: full disks and readers that leave are noticed, and a file is there whole or not at all."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cli

LARGE = "viewer-issue-233"
SMALL = "made-small"


def calls():
    """One call of every command that prints something; the formats take turns."""
    return [[*cli.arguments_of(command, SMALL), *options] for command in cli.COMMANDS
            for options in ([], ["--json"]) if command not in ("help", "version", "dump")] + [
        ["dump", SMALL], ["help"], ["version"], ["help", "--man", "top"], ["check", "--rules", "--csv"]]


def recording_calls():
    return [[command, "mt/uftrace.data", *options] for command in cli.RECORDING_COMMANDS
            for options in ([], ["--json"], ["--csv"])]


def recordings_on_a_full_disk_and_a_closed_pipe(program):
    for call in recording_calls():
        with open("/dev/full", "wb") as full:
            result = program.run(*call, stdout=full, cwd=program.recordings())
        program.says(result, 2, "standard output: No space left on device", f"lode {' '.join(call)} > /dev/full")
        reader, writer = os.pipe()
        os.close(reader)
        wanted = program.run(*call, cwd=program.recordings())
        result = program.run(*call, stdout=writer, cwd=program.recordings())
        os.close(writer)
        program.check(result == (wanted.status, "", wanted.err), f"lode {' '.join(call)} | true: as with a reader", [result, wanted])


def full_disk(program):
    for call in calls():
        with open("/dev/full", "wb") as full:
            result = program.run(*call, stdout=full)
        program.says(result, 2, "standard output: No space left on device", f"lode {' '.join(call)} > /dev/full")
    program.says(program.run("dump", SMALL, "-o", "/dev/full"), 2, "/dev/full: No space left on device",
                 "lode dump -o /dev/full")


def closed_pipe(program):
    """Who looks at the first lines only must not be told that something went wrong."""
    for call in (*calls(), ["dump", LARGE]):
        reader, writer = os.pipe()
        os.close(reader)
        wanted = program.run(*call)
        result = program.run(*call, stdout=writer)
        os.close(writer)
        program.check(result == (wanted.status, "", wanted.err), f"lode {' '.join(call)} | true: as with a reader", [result, wanted])


def pictures_and_exports_go_to_standard_output(program):
    """-o - is standard output, with a reader, without one, and on a full disk."""
    cases = [(["flame", SMALL, "-o", "-"], "<svg"), (["flame", SMALL, "--json", "-o", "-"], '{"schema"'), (["trace", SMALL, "-o", "-"], "<svg"),
             (["dump", SMALL, "-o", "-"], '{"schema"'), (["export", SMALL, "--format", "folded", "-o", "-"], "")]
    for call, start in cases:
        wanted = program.run(*call)
        program.check(wanted.status == 0 and not wanted.err.startswith("lode: standard") and start in wanted.out[:200] and wanted.out,
                      f"lode {' '.join(call)}", [wanted.out[:200], wanted.err])
        reader, writer = os.pipe()
        os.close(reader)
        result = program.run(*call, stdout=writer)
        os.close(writer)
        program.equal(result, (0, "", wanted.err), f"lode {' '.join(call)} | true")
        with open("/dev/full", "wb") as full:
            result = program.run(*call, stdout=full)
        program.check(result.status == 2 and re.search("standard output: .*No space left on device", result.err), f"lode {' '.join(call)} > /dev/full", [result])


def work_does_not_end_with_the_reader(program):
    """A store is written, and a check says what it found, whoever reads the words on the way."""
    with tempfile.TemporaryDirectory() as folder:
        damaged = Path(folder, "damaged")
        subprocess.run(["cp", "-rL", program.databases() / LARGE, damaged], check=True)
        os.truncate(damaged / "trace.db", (damaged / "trace.db").stat().st_size - 100)
        for call, status in ((["convert", LARGE, "-o", f"{folder}/new"], 0), (["check", damaged], 1), (["check", damaged, "--json"], 1)):
            reader, writer = os.pipe()
            os.close(reader)
            result = program.run(*call, stdout=writer)
            os.close(writer)
            program.equal(result, (status, "", ""), f"lode {call[0]} {'--json' if '--json' in call else ''} | true: the status that it has with a reader")
        program.equal(program.run("check", f"{folder}/new").status, 0, "lode convert | true: the store is there")


def a_pipe_that_closes_ends_the_work(program):
    child = subprocess.Popen([program.lode, "dump", LARGE], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             cwd=program.databases(), env=cli.environment())
    child.stdout.read(100)
    child.stdout.close()
    program.equal((child.wait(timeout=cli.SECONDS), child.stderr.read()), (0, b""), "lode dump | head -c 100")
    child.stderr.close()


def closed_standard_output(program):
    """Who closes a stream does not want to see what goes there: that is no error."""
    for streams in ((1,), (2,), (0, 1, 2)):
        def close_streams(streams=streams):
            for number in streams:
                os.close(number)

        name = " ".join(f"{number}>&-" for number in streams)
        result = program.run("info", SMALL, preexec_fn=close_streams)
        program.equal(result.status, 0, f"lode info {name}")
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "db.json"
            result = program.run("dump", SMALL, "-o", target, preexec_fn=close_streams)
            program.check(result.status == 0 and target.read_text() == program.run("dump", SMALL).out,
                          f"lode dump -o FILE {name}: the file has what it should, and nothing else", [result])
            result = program.run("convert", SMALL, "-o", Path(folder) / "db", preexec_fn=close_streams)
            checked = program.run("check", Path(folder) / "db")
            program.check(result.status == 0 and checked.status == 0, f"lode convert {name}", [result, checked])


def dump_to_a_file(program):
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "db.json"
        target.write_text("old")
        before = os.umask(0o027)
        result = program.run("dump", SMALL, "-o", target)
        os.umask(before)
        program.check(result == (0, "", "") and target.read_text() == program.run("dump", SMALL).out,
                      "lode dump -o FILE is what goes to standard output", [result])
        program.equal(target.stat().st_mode & 0o777, 0o640, "lode dump -o FILE respects the umask")
        program.equal(os.listdir(folder), ["db.json"], "lode dump -o FILE leaves nothing else")


def dump_to_what_is_no_file(program):
    """Streams, devices, links and pipes of one's own are written to as they are."""
    whole = program.run("dump", SMALL).out
    program.equal(program.run("dump", SMALL, "-o", "/dev/stdout").out, whole, "lode dump -o /dev/stdout")
    with tempfile.TemporaryDirectory() as folder:
        target, link, pipe = (Path(folder) / name for name in ("file", "link", "pipe"))
        target.write_text("old")
        link.symlink_to(target)
        result = program.run("dump", SMALL, "-o", link)
        program.check(result.status == 0 and link.is_symlink() and target.read_text() == whole, "lode dump -o LINK", [result])
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            result = program.run("dump", SMALL, "-o", pipe)
            program.check(result.status == 0 and reader.stdout.read().decode() == whole, "lode dump -o PIPE", [result])


def dump_to_what_others_control(program):
    """Links and pipes that another user could have put there are refused, and nothing is written through them."""
    if os.geteuid() != 0:
        program.skip("lode dump -o where others can write", "only root can be several users")
        return
    other = 65534
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        own = Path(folder) / "own"
        own.write_text("mine")
        for name, make in (("link", lambda path: path.symlink_to(own)), ("pipe", os.mkfifo)):
            target = Path(folder) / name
            make(target)
            os.chown(target, other, other, follow_symlinks=False)
            result = program.run("dump", SMALL, "-o", target)
            program.check(result.status == 2 and "another user" in result.err and own.read_text() == "mine",
                          f"lode dump -o into another user's {name}", [result])
        os.chmod(folder, 0o777)
        link = Path(folder) / "replaceable"
        link.symlink_to(own)
        result = program.run("dump", SMALL, "-o", link)
        program.check(result.status == 2 and own.read_text() == "mine", "lode dump -o to a link that anybody can replace", [result])


def dump_that_fails(program):
    """What was there before stays, and nothing half done is left: no database, no room, no folder."""
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (70000, 70000))

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "db.json"
        target.write_text("old")
        for name, options, message in (("nowhere", {}, "nowhere: no such file or directory"),
                                       (LARGE, {"preexec_fn": limited}, f"{target}: File too large")):
            program.says(program.run("dump", name, "-o", target, **options), 2, message, f"lode dump {name} -o FILE")
            program.equal((os.listdir(folder), target.read_text()), (["db.json"], "old"),
                          f"lode dump {name} -o FILE: the old file is still there, and nothing else")
        program.says(program.run("dump", SMALL, "-o", f"{folder}/nowhere/x"), 2,
                     f"{folder}/nowhere/x: No such file or directory", "lode dump -o into a folder that is not there")


def dump_that_is_interrupted(program):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as folder:
            child = subprocess.Popen([program.lode, "dump", LARGE, "-o", f"{folder}/db.json"],
                                     cwd=program.databases(), env=cli.environment())
            while not os.listdir(folder) and child.poll() is None:
                time.sleep(0.0005)
            child.send_signal(number)
            status = child.wait(timeout=cli.SECONDS)
            wanted = ["db.json"] if status == 0 else []  # it may have been faster
            program.check(status in (0, -number) and os.listdir(folder) == wanted,
                          f"lode dump -o FILE, {number.name}: all or nothing", [status, os.listdir(folder)])


def dump_in_parts(program):
    whole = cli.parse_json(program.run("dump", SMALL).out)
    for part, keys in {"meta": ["meta"], "profiles": ["profiles"], "contexts": ["contexts", "context_block_count"],
                       "traces": ["traces"], "meta,traces": ["meta", "traces"]}.items():
        found = cli.parse_json(program.run("dump", "--only", part, SMALL).out)
        program.equal(found, {key: whole[key] for key in ["schema", "command", "format", *keys]}, f"lode dump --only {part}")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, full_disk, closed_pipe, recordings_on_a_full_disk_and_a_closed_pipe, a_pipe_that_closes_ends_the_work,
                      pictures_and_exports_go_to_standard_output, work_does_not_end_with_the_reader, closed_standard_output,
                      dump_to_a_file, dump_to_what_is_no_file, dump_to_what_others_control, dump_that_fails, dump_that_is_interrupted, dump_in_parts))
