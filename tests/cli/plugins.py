#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What 'lode version' lists: libraries with their versions, and which plug-ins for MPI the program finds, and which it refuses. The
program of the build finds those of the build; a copy of it those beside it, wherever it is. A plug-in that somebody can change who cannot change the program is never loaded. A file of text
stands in for a plug-in: where it would be loaded, the program says that it cannot be.
"""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import cli

NAME = "openmpi"
LOADED = f".*lode-mpi-{NAME}.so: cannot load the plug-in: .*"
# The libraries, as pkg-config calls them.
PACKAGES = {"expat": "expat", "zlib": "zlib", "lz4": "liblz4", "pcre2": "libpcre2-8", "libdeflate": "libdeflate", "zstd": "libzstd", "lzma": "liblzma", "sqlite": "sqlite3"}
OPTIONAL = {"libdeflate", "zstd", "lzma", "sqlite"}
SOMEBODY = 12345  # a user who is neither root nor the one who tests


class Tree:
    """A copy of the program and its library, as they would be installed; its plug-ins are files of text."""

    def __init__(self, program, root):
        self.program, self.root = program, Path(root).resolve()
        build = Path(program.lode).parents[1]
        (self.root / "bin").mkdir(parents=True)
        shutil.copy(program.lode, self.root / "bin" / "lode")
        # Where the program of a build looks for it.
        shutil.copy(build / "liblode.so.1", self.root / "liblode.so.1")
        self.plugins = Path(os.path.normpath(self.version()["plugin_directories"][0]))
        self.plugins.mkdir(parents=True)
        self.plugin = self.put(self.plugins)

    @staticmethod
    def put(folder):
        path = folder / f"lode-mpi-{NAME}.so"
        path.write_text("this is not a plug-in\n" * 99)
        return path

    def run(self, *words, lode=None, cwd=None, **env):
        env.setdefault("LODE_PLUGINS", None)
        return self.program.run_any(lode or self.root / "bin" / "lode", *words, cwd=cwd or self.root, env=env)

    def version(self, **options):
        result = self.run("version", "--json", **options)
        if result.status != 0 or result.err:
            raise ValueError(result)
        return cli.parse_json(result.out)

    def found(self, name=NAME, **options):
        return next(plugin for plugin in self.version(**options)["mpi_plugins"] if plugin["name"] == name)

    def build(self, recording, **options):
        return self.run("build", recording, "--mpi", NAME, "-o", self.root / "db", **options)


@contextlib.contextmanager
def tree(program):
    with tempfile.TemporaryDirectory() as folder:
        yield Tree(program, Path(folder) / "a" / "b")


@contextlib.contextmanager
def mode(path, bits):
    before = path.stat().st_mode & 0o7777
    path.chmod(bits)
    try:
        yield
    finally:
        path.chmod(before)


def a_build_finds_its_plugins(program):
    folder = Path(program.lode).parents[1] / "mpi"
    version = program.run("version", "--json", cwd="/", env={"LODE_PLUGINS": None})
    plugins = cli.parse_json(version.out)["mpi_plugins"]
    program.equal([plugin["name"] for plugin in plugins], ["openmpi", "mpich"], "plug-ins are listed, found or not")
    for plugin in plugins:
        path = folder / f"lode-mpi-{plugin['name']}.so"
        if path.exists():
            program.equal(plugin, {"name": plugin["name"], "state": "found", "path": str(path), "reason": None},
                          f"the program of the build finds {path.name}")
        else:
            program.skip(f"the program of the build finds {path.name}", "it was not built")


def libraries_have_their_versions(program):
    found = {library["name"]: library["version"] for library in program.json("version", cwd="/")["libraries"]}
    program.equal(set(found) - OPTIONAL, set(PACKAGES) - OPTIONAL, "the libraries that are always used")
    shown = program.run("version", cwd="/").out
    for name, version in found.items():
        asked = program.run_any("pkg-config", "--modversion", PACKAGES[name], cwd="/")
        program.equal(version, asked.out.strip(), f"the version of {name}, as pkg-config has it")
        program.check(f"{name} {version}" in " ".join(shown.split()), f"lode version shows {name}", [shown])


def a_missing_demangler_is_said(program):
    shown = program.run("version", cwd="/").out
    program.check("C++ names" not in shown, "with the C++ runtime, nothing is said of it", [shown])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libstdc++.so.6", "libc++abi.so.1"):
            Path(folder, name).write_text("this is not a library\n")
        path = ":".join(filter(None, (folder, os.environ.get("LD_LIBRARY_PATH"))))
        shown = program.run("version", cwd="/", env={"LD_LIBRARY_PATH": path})
        program.equal((shown.status, shown.err), (0, ""), "without, the program starts")
        program.check("libstdc++.so.6 is not installed" in shown.out, "and lode version says that C++ names stay as they are", [shown.out])


def a_tree_can_be_moved(program):
    with tree(program) as t:
        program.equal((t.found()["state"], t.found()["path"]), ("found", str(t.plugin)), "beside the program")
        program.equal(t.found("mpich"), {"name": "mpich", "state": "missing", "path": None, "reason": None}, "a missing plug-in")
        link = t.root.parent / "link"
        link.symlink_to(t.root / "bin" / "lode")
        program.equal(t.found(lode=link)["path"], str(t.plugin), "by a link to the program")
        moved = t.root.parent / "moved"
        t.root.rename(moved)
        t.root = moved
        program.equal(t.found()["path"], str(moved / t.plugin.relative_to(t.plugin.parents[len(t.plugin.parts) - len(moved.parts) - 1])),
                      "after a move of the tree")
        program.check(f"{NAME}: {moved}" in t.run("version", COLUMNS="1000").out, "lode version names the file")


def plugins_that_others_can_change_are_refused(program):
    with tree(program) as t:
        recording = t.root / "recording"
        t.run("synth", "recording", "--records", "100", "-o", recording)
        program.says(t.build(recording), 2, LOADED + r" \(use '--mpi off' to work without MPI\)", "a plug-in of one's own is loaded")
        for path, bits, why in ((t.plugin, 0o646, "can be changed by all users"), (t.plugins, 0o757, "can be changed by all users"),
                                (t.plugins, 0o1777, "can be changed by all users"), (t.plugins.parent, 0o757, "can be changed by all users"),
                                (t.plugin, 0o664, "can be changed by its group"), (t.plugins, 0o775, "can be changed by its group")):
            what = f"{'the file' if path == t.plugin else 'a directory'} with mode {bits:o}"
            with mode(path, bits):
                plugin = t.found()
                program.equal((plugin["state"], plugin["path"], plugin["reason"]), ("refused", str(t.plugin), f"{path} {why}"), what)
                program.says(t.build(recording), 2, f"{t.plugin}: refused: {path} {why} .*", f"{what}: not loaded")
                program.check(f"{NAME}: refused: {path} {why}" in " ".join(t.run("version").out.split()), f"{what}: lode version says so")
        with mode(t.plugins.parent, 0o1777):
            program.equal(t.found()["state"], "found", "in a directory of one's own below one for all, as /tmp is")
        with mode(t.plugins, 0o775), mode(t.root / "bin", 0o775):
            program.equal(t.found()["state"], "found", "a group that can change the program can change its plug-ins")
        program.check(not (t.root / "db").exists(), "nothing was written")


def plugins_of_other_users_are_refused(program):
    if os.geteuid() != 0:
        program.skip("plug-ins of other users", "only root can make them")
        return
    with tree(program) as t:
        for path in (t.plugin, t.plugins, t.plugins.parent):
            os.chown(path, SOMEBODY, -1)
            program.equal((t.found()["state"], t.found()["reason"]), ("refused", f"{path} belongs to another user"),
                          f"{'the file' if path == t.plugin else 'a directory'} of another user")
            os.chown(path, 0, -1)
        program.equal(t.found()["state"], "found", "all of them root's again")
        for path in (t.plugin, t.root / "bin" / "lode"):
            os.chown(path, SOMEBODY, -1)
        program.equal(t.found()["state"], "found", "of the user whose program it is")


def the_named_directory_is_the_only_one(program):
    with tree(program) as t:
        other = t.root / "other"
        other.mkdir()
        program.equal(t.found(LODE_PLUGINS=str(other))["state"], "missing", "an empty directory: no other is searched")
        program.equal(t.version(LODE_PLUGINS=str(other))["plugin_directories"], [str(other)], "it is listed alone")
        path = t.put(other)
        program.equal(t.found(LODE_PLUGINS=str(other))["path"], str(path), "LODE_PLUGINS")
        program.equal(t.found(LODE_PLUGINS="")["path"], str(t.plugin), "LODE_PLUGINS that is empty")
        for name in (".", "other"):
            plugin = t.found(LODE_PLUGINS=name)
            program.equal((plugin["state"], plugin["reason"]), ("refused", f"LODE_PLUGINS is not an absolute path: {name}"),
                          f"LODE_PLUGINS={name}")
        with mode(other, 0o777):
            program.equal(t.found(LODE_PLUGINS=str(other))["state"], "refused", "LODE_PLUGINS that all users can write to")
        t.plugin.unlink()
        program.equal(t.found(cwd=other)["state"], "missing", "not from the current directory")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, a_build_finds_its_plugins, libraries_have_their_versions, a_missing_demangler_is_said, a_tree_can_be_moved, plugins_that_others_can_change_are_refused,
                      plugins_of_other_users_are_refused, the_named_directory_is_the_only_one))
