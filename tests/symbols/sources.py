#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Source files that measurements name: which of them are copied into src/ of the database, and with which permissions (doc/decisions/0076). The
measurements are made here and name a table of files, most of them hostile. If this is root, the one who builds is user 1000, and the
measurements are of user 65534.

Usage: sources.py --lode PROGRAM
"""

import argparse
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from made_measurements import MAIN_THREAD, NODE, PRIMARY, THREAD, Measured, Node  # noqa: E402
from tap import Tap  # noqa: E402

IS_ROOT = os.geteuid() == 0
VICTIM, AUTHOR = (1000, 65534) if IS_ROOT else (os.geteuid(), os.geteuid())
TEXT = "int of_{name};\n"
STEP = 0x1000
SPARSE = 4 << 30


def make_measurements(directory, files):
    """Measurements whose structure file says that there is a function in each file."""
    (directory / "structs").mkdir(parents=True)
    text = ['<?xml version="1.0"?>\n<HPCToolkitStructure i="0" version="4.9" n=""><LM i="1" n="/bin/made" v="{}">']
    nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD)]
    for i, file in enumerate(files, 1):
        at, end = STEP * i, STEP * (i + 1)
        text.append(f'<F i="{8 * i}" n={quoteattr(str(file))}><P i="{8 * i + 1}" n="f{i}" l="1" v="{{[{at:#x}-{at + 1:#x})}}">'
                    f'<S i="{8 * i + 2}" l="2" v="{{[{at:#x}-{end:#x})}}"/></P></F>')
        nodes.append(Node(4 + 2 * i, 4, 1, at + 16, {0: 1.0}))
    text.append("</LM></HPCToolkitStructure>\n")
    (directory / "structs" / "made.hpcstruct").write_text("\n".join(text))
    (directory / "made-0.hpcrun").write_bytes(Measured(nodes).profile((NODE, 0xabc, 0), (THREAD, 0, 0)))


def give(path, user):
    if IS_ROOT:
        os.chown(path, user, user, follow_symlinks=False)


class Bench:
    def __init__(self, lode, scratch, tap):
        self.lode, self.scratch, self.tap, self.runs = os.path.abspath(lode), scratch, tap, 0
        scratch.chmod(0o755)
        self.home, self.author, self.out = (scratch / name for name in ("home", "author", "out"))
        for path, user in ((self.home, VICTIM), (self.author, AUTHOR), (self.out, VICTIM)):
            path.mkdir()
            path.chmod(0o755)
            give(path, user)
        self.measured = self.author / "measurements"

    def file(self, path, mode=0o644, user=VICTIM):
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(mode=0o755)
                give(folder, user)
        path.write_text(TEXT.format(name=path.stem))
        path.chmod(mode)
        give(path, user)
        return path

    def measure(self, files):
        shutil.rmtree(self.measured, ignore_errors=True)
        make_measurements(self.measured, files)
        for path in (self.measured, *self.measured.rglob("*")):
            give(path, AUTHOR)

    def build(self, *words):
        """What was done, the database, and {path: (permissions, text)} of its src/."""
        def become():
            os.umask(0)  # the worst: what is made is open to all, if nobody takes care
            if IS_ROOT:
                os.setgroups([])
                os.setgid(VICTIM)
                os.setuid(VICTIM)
        self.runs += 1
        target = self.out / str(self.runs)
        done = subprocess.run([self.lode, "build", *map(str, words), str(self.measured), "-o", str(target)], capture_output=True,
                              text=True, timeout=60, preexec_fn=become)
        copies = {"/" + str(path.relative_to(target / "src")): (stat.S_IMODE(path.stat().st_mode), path.read_text(errors="replace"))
                  for path in (target / "src").rglob("*") if path.is_file()}
        return done, target, copies

    def check(self, wanted, name, *words):
        """Exactly these files were copied, {path: permissions}."""
        done, _, copies = self.build(*words)
        found = {path: mode for path, (mode, _) in copies.items()}
        wanted = {str(path): mode for path, mode in wanted.items()}
        details = [f"{path}: {found.get(path)} instead of {wanted.get(path)}" for path in sorted({*found, *wanted})
                   if found.get(path) != wanted.get(path)]
        self.tap.check(done.returncode == 0 and not details, name, [done.stderr, *details])
        return done


def special(path, make):
    """A file that only some may make, or None."""
    try:
        make(path)
    except OSError:
        return None
    return path


def hostile(bench):
    """Files that are not copied without a choice of the user."""
    home, secret = bench.home, bench.file(bench.home / "secret.c", 0o600)
    big = bench.file(home / "sparse.c")
    os.truncate(big, SPARSE)
    nul = bench.file(home / "binary.c")
    nul.write_bytes(b"\x7fELF\0\0")
    links = {"link.c": secret, "dangling.c": home / "nothing", "device_link.c": Path("/dev/zero"), "proc_link.c": Path("/proc/self/environ"),
             "loop.c": home / "loop.c"}
    for name, target in links.items():
        (home / name).symlink_to(target)
    (home / "directory.c").mkdir()
    (home / "empty.c").touch()
    os.mkfifo(home / "pipe.c")
    (home / "pipe.c").chmod(0o644)
    return [secret, big, nul, *(home / name for name in links), home / "directory.c", home / "empty.c", home / "pipe.c",
            bench.file(home / "group.c", 0o640), bench.file(home / "closed" / "open.c"), bench.file(home / ".hidden" / "key.c"),
            Path(f"{home}/closed/../secret.c"), Path("/proc/self/environ"), Path("/proc/kmsg"), Path("/proc/cpuinfo"),
            Path("/sys/kernel/notes"), Path("/sys/devices/system/cpu/online"), Path("/dev/zero"), Path("/dev/stdin"), Path("/etc/shadow"),
            Path("/"), Path("/nothing.c"), home / "secret.c" / "below.c",
            *filter(None, [special(home / "null.c", lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3)))])]


def by_default(bench):
    tap, home = bench.tap, bench.home
    public = bench.file(home / "public.c")
    (home / "public_link.c").symlink_to(public)
    paths = hostile(bench)
    (home / "closed").chmod(0o700)
    bench.measure([public, home / "public_link.c", *paths])
    wanted = {public: 0o644, home / "public_link.c": 0o644}
    said = bench.check(wanted, "only what every user may read is copied")
    tap.check("source files copied: 2: 2 that every user may read; not copied: " in " ".join(said.stdout.split()), "one line says so", [said.stdout])
    bench.check(wanted, "also like hpcprof", "--like-hpcprof")
    bench.check(wanted, "also by several ranks", "--local-ranks", 3)
    bench.check({}, "nothing with --no-source", "--no-source")
    bench.check({}, "nothing of foreign measurements", "--foreign", "--replace", f"/nothing={home}")
    done, _, _ = bench.build("--json")
    answer = json.loads(done.stdout)
    counts = {key: value for key, value in answer.items() if key.startswith("sources_")}
    tap.check(sum(counts.values()) == len(paths) + 2 and counts["sources_from_public"] == 2 and counts["sources_restricted"] >= 5, "the counts",
              [counts])
    every = {**wanted, home / "secret.c": 0o600, home / "link.c": 0o600, home / "group.c": 0o640, home / "closed" / "open.c": 0o644}
    bench.check(every, "--all-sources copies what the user can read, with its permissions", "--all-sources")


def below_roots(bench):
    root = bench.home / "project"
    own = bench.file(root / "own.c", 0o600)
    outside = bench.file(bench.home / "outside.c", 0o600)
    beside = bench.file(bench.home / "project2" / "beside.c")
    (root / "out.c").symlink_to(outside)
    (root / "in.c").symlink_to("own.c")
    bench.measure([own, root / "out.c", root / "in.c", outside, beside, Path(f"{root}/../outside.c"), Path("/built/own.c"), Path("/built/../etc/shadow")])
    wanted = {own: 0o600, root / "in.c": 0o600}
    done = bench.check(wanted, "only files below --source-root are copied, and no link leads out", "--source-root", root)
    text = " ".join(done.stdout.split())
    bench.tap.check("copied: 2: 2 below directories of" in text and "outside the chosen directories" in text, "one line says so", [done.stdout])
    bench.check(wanted, "a link to the root is one", "--source-root", link_to(bench.home / "way", root))
    bench.check({beside: 0o644}, "other roots", "--source-root", beside.parent, "--source-root", bench.author)
    for words, reason in ((("--source-root", root / "missing"), "missing: No such file or directory"), (("--source-root", "/"), "use --all-sources"),
                          (("--source-root", root, "--foreign"), "cannot be used together")):
        done, target, _ = bench.build(*words)
        bench.tap.check(done.returncode == 2 and reason in " ".join(done.stderr.split()) and not target.exists(),
                        f"a root that chooses nothing is refused: {reason}", [done.returncode, done.stderr])
    replaced = {Path("/built/own.c"): 0o600, beside: 0o644, **wanted}
    bench.check(replaced, "what --replace leads to is chosen", "--replace", f"/built={root}")
    bench.check({Path("/built/own.c"): 0o600, **wanted}, "with --source-root, nothing else", "--replace", f"/built={root}", "--source-root", root)
    bench.check({beside: 0o644}, "--replace FROM=/ chooses nothing", "--replace", "/built=/")


def link_to(path, target):
    path.symlink_to(target)
    return path


def inside_measurements(bench):
    bench.measure([])
    secret = bench.file(bench.home / "linked.c", 0o600)
    inside = bench.measured / "src"
    names = [inside / name for name in ("given.c", "hard.c", "soft.c", "foreign.c")]
    bench.measure(names)
    bench.file(names[0], 0o600 if not IS_ROOT else 0o640, AUTHOR)
    os.link(secret, names[1])
    names[2].symlink_to(secret)
    bench.file(names[3], 0o600, VICTIM)
    if IS_ROOT:  # what the author lets the victim read
        os.chown(names[0], AUTHOR, VICTIM)
    wanted = {names[0]: stat.S_IMODE(names[0].stat().st_mode)}
    if not IS_ROOT:
        wanted[names[3]] = 0o600
    bench.check(wanted, "files inside the measurements are copied, but no hard link and nothing of another user")


def permissions(bench):
    public = bench.file(bench.home / "public.c")
    for mode in (0o700, 0o750, 0o755, 0o777):
        bench.measure([public])
        bench.measured.chmod(mode)
        give(bench.measured, VICTIM)
        for path in bench.measured.rglob("*"):
            give(path, VICTIM)
        _, target, _ = bench.build()
        found = stat.S_IMODE(target.stat().st_mode)
        bench.tap.check(found == mode, f"the database has the permissions {mode:o} of the measurements", [f"{found:o}"])
    if IS_ROOT:
        bench.measured.chmod(0o750)
        os.chown(bench.measured, VICTIM, AUTHOR)
        _, target, _ = bench.build()
        bench.tap.check(stat.S_IMODE(target.stat().st_mode) == 0o700, "those of a group are not for another group")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    closed = [path for path in Path(tempfile.gettempdir()).resolve().parents if not path.stat().st_mode & stat.S_IXOTH]
    if closed or not Path(tempfile.gettempdir()).stat().st_mode & stat.S_IXOTH:
        tap.skip("source files", "temporary files are where not every user can go")
        return tap.finish()
    for part in (by_default, below_roots, inside_measurements, permissions):
        with tempfile.TemporaryDirectory() as name:
            part(Bench(options.lode, Path(name), tap))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
