#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The store that a command is about: given first, given last, by one of its files, by the directory around it, or found in
the current directory. What is not a store says what it is.
"""

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import cli
import corpora  # cli knows where it is

SMALL = {"database": ("--profiles", "2", "--contexts", "60", "--samples", "5"), "recording": ("--records", "300")}
# A call of each command that needs nothing but a store; {} is where the output goes.
OF_DATABASES = ("info", "check", "top", "tree", "profiles", "trace", "dump", "convert -o {}")
OF_RECORDINGS = ("info", "check", "top", "tree", "profiles", "search", "replay", "build -o {}", "convert -o {}")


@contextmanager
def stores(program, **kinds):
    """A folder with small stores: name=kind."""
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in kinds.items():
            done = program.run("synth", kind, *SMALL[kind], "-o", name, cwd=folder)
            if done.status != 0:
                raise ValueError(done.err)
        yield Path(folder)


def words_of(command, number):
    return [word.format(f"out{number}") if word == "{}" else word for word in command.split()]


def the_only_store_needs_no_name(program):
    for kind, commands in (("database", OF_DATABASES), ("recording", OF_RECORDINGS)):
        with stores(program, **{"the-store": kind}) as folder, tempfile.TemporaryDirectory() as other:
            for number, command in enumerate(commands):
                words = words_of(command, number)
                words = [os.path.join(other, word) if word.startswith("out") else word for word in words]
                named = program.run(*words, "the-store", cwd=folder)
                for made in Path(other).glob("out*"):
                    shutil.rmtree(made)
                found = program.run(*words, cwd=folder)
                program.check(found == named and found.status == 0, f"lode {command}: the only {kind}", [found, named])
                if "{}" in command:
                    continue
                here = program.run(*words, cwd=folder / "the-store")
                program.check(here.status == 0 and here.out == named.out.replace("the-store", "."), f"lode {command}: inside the {kind}", [here])
                around = program.run(*words, ".", cwd=folder)
                program.check(around == named, f"lode {command} .: the only {kind} in it", [around])


def the_only_store_of_a_kind_needs_no_name(program):
    with stores(program, db="database", rec="recording") as folder:
        program.check(program.run("replay", cwd=folder).out == program.run("replay", "rec", cwd=folder).out != "", "the recording beside a database")
        program.check(program.run("dump", cwd=folder).out == program.run("dump", "db", cwd=folder).out != "", "the database beside a recording")
        program.says(program.run("top", cwd=folder), 2, "missing argument: STORE; the current directory has 2 stores: db and rec", "two stores are listed")
        program.says(program.run("info", ".", cwd=folder), 2, r"\.: not a database or recording, but a directory with 2: db and rec", "lode info .: two stores")
        program.says(program.run("info", folder, cwd="/"), 2, f"{folder}: not a database or recording, but a directory with 2: {folder}/db and {folder}/rec",
                     "lode info FOLDER: two stores")


def nothing_to_find(program):
    with tempfile.TemporaryDirectory() as folder:
        see = r"\(see 'lode help {}'\)"
        for command, argument, word in (("top", "STORE", "store"), ("replay", "REC", "recording"), ("dump", "STORE", "store"),
                                        ("check", "STORE", "store"), ("context", "DB", "database"), ("context main", "DB", "database")):
            program.says(program.run(*command.split(), cwd=folder), 2,
                         f"missing argument: {argument}; there is no {word} in the current directory {see.format(command.split()[0])}", f"lode {command}: nothing there")
        for i in range(12):
            program.run("synth", "recording", *SMALL["recording"], "-o", f"s{i:02}", cwd=folder)
        program.says(program.run("top", cwd=folder), 2, "missing argument: STORE; the current directory has 12 stores: s00, s01, s02, s03, s04, s05, s06 and 5 more",
                     "many stores are cut")


def links_and_large_directories(program):
    with stores(program, it="database") as folder:
        (folder / "a-link").symlink_to("it")
        (folder / "latest").symlink_to(folder / "it")
        (folder / "loop").symlink_to(".")
        (folder / "nowhere").symlink_to("nothing")
        os.mkfifo(folder / "pipe")
        (folder / ".it.partial").mkdir()
        wanted = program.run("top", "it", cwd=folder)
        program.check(program.run("top", cwd=folder) == wanted, "links to the store are not other stores")
        program.check(program.run("top", "latest", cwd=folder).out == wanted.out, "a link is the store")
        program.check(program.run("top", "latest/meta.db", cwd=folder).out == wanted.out, "a file through a link")
        program.says(program.run("top", "pipe", cwd=folder), 2, "pipe: not a directory; .*", "a pipe")
        for i in range(600):
            (folder / f"d{i}").mkdir()
        program.says(program.run("top", cwd=folder), 2, "missing argument: STORE; the current directory has too many entries .*", "a large directory is not searched")
        program.check(program.run("top", "it", cwd=folder) == wanted, "a store in a large directory")


def a_file_means_its_store(program):
    for folder, names in ((program.databases(), ("made-small", "viewer-issue-328")), (program.recordings(), ("mt/uftrace.data",)), (program.stores() / "master", None)):
        for name in names or [sorted(path.parent.name for path in folder.glob("*/traces.dat"))[0]]:
            wanted = program.run("info", name, cwd=folder)
            files = [path.name for path in (folder / name).iterdir() if path.is_file()]
            different = [file for file in files if program.run("info", f"{name}/{file}", cwd=folder) != wanted]
            inside = [file for file in files if program.run("info", file, cwd=folder / name).out != wanted.out]
            program.check(files and not different and not inside and wanted.status == 0, f"lode info {name}/FILE: {len(files)} files", [different, inside])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "file").write_text("x")
        program.says(program.run("info", "file", cwd=folder), 2, "file: neither a profile of pprof nor folded stacks, .*", "a file of no store")


def either_order(program):
    folder = program.databases()
    wanted = program.run("context", "made-small", "main", cwd=folder)
    program.check(wanted.status == 0 and program.run("context", "main", "made-small", cwd=folder) == wanted, "lode context NAME STORE")
    program.check(program.run("context", "main", "made-small/profile.db", cwd=folder) == wanted, "lode context NAME FILE")
    program.check(program.run("context", "main", cwd=folder / "made-small").out == wanted.out, "lode context NAME, inside the store")
    for words, pattern in ((["scaling", "nope"], "nope: no such file or directory"), (["scaling", "made-small", "nope"], "nope: no such file or directory"),
                           (["scaling", "made-small"], r"'lode scaling' takes at least 5 stores, not 1 \(see 'lode help scaling'\)"),
                           (["scaling"], r"missing argument: STORE \(see 'lode help scaling'\)"), (["compare", "nope"], "nope: no such file or directory"),
                           (["compare", "made-small"], r"missing argument: NEW \(see 'lode help compare'\)")):
        program.says(program.run(*words, cwd=folder), 2, pattern, f"lode {' '.join(words)}")
    program.says(program.run("context", "made-small", cwd=folder), 2, r"missing argument: CONTEXT \(see 'lode help context'\)", "lode context STORE")
    program.says(program.run("context", "main", "nothing", cwd=folder), 2, "main: no such file or directory", "lode context: neither is a store")
    with stores(program, main="database") as folder:
        shutil.copytree(folder / "main", folder / "other")
        program.says(program.run("context", "main", "other", cwd=folder), 2, "main: no function matches 'other'", "of two stores, the first is the store")


def a_name_alone_is_of_the_only_store(program):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(program.databases() / "made-small", Path(folder) / "db")
        for command in ("context", "source"):
            wanted = program.run(command, "db", "main", cwd=folder)
            program.check(wanted.status == 0 and program.run(command, "main", "db", cwd=folder) == wanted, f"lode {command} NAME STORE")
            program.check(program.run(command, "main", cwd=folder) == wanted, f"lode {command} NAME: of the only store")
        program.check(program.run("source", cwd=folder) == program.run("source", "db", cwd=folder), "lode source: of the only store")
        program.says(program.run("source", "main", cwd="/"), 2, "main: no such file or directory", "lode source NAME: there is no store")


def measurements_say_what_to_do(program):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        path.mkdir()
        for i in range(3):
            (path / f"app-00000{i}-000-a-1-0.hpcrun").write_bytes(b"HPCRUN-profile____")
        advice = "run 'lode build {} -o DATABASE' and open the result"
        for command in ("top", "convert -o new", "profiles", "diagnose", "tree"):
            program.says(program.run(*command.split(), "m", cwd=folder), 2,
                         rf"m: 3 measurements of HPCToolkit \(.hpcrun\), not a database; {advice.format('m')} \('lode info', 'lode check', 'lode dump' and 'lode export' take measurements\)", f"lode {command} MEASUREMENTS")
        program.says(program.run("info", "m", cwd=folder), 2, r"m: .*the file is shorter than a footer \(hpcrun-footer\)", "lode info: all profiles are damaged")
        program.equal(program.run("check", "m", cwd=folder).status, 1, "lode check: all profiles are damaged")
        program.says(program.run("compare", "m", "m", cwd=folder), 2, "m: 3 measurements of HPCToolkit .*", "lode compare MEASUREMENTS")
        program.says(program.run("info", "--limit", "3", "m", cwd=folder), 2, "--limit is not for measurements .*", "an option that is not for measurements")
        says = "missing argument: STORE; there is no store in the current directory, but measurements of HPCToolkit: "
        program.says(program.run("top", cwd=folder), 2, says + advice.format("m"), "lode top: measurements in the current directory")
        program.says(program.run("top", cwd=path), 2, says + advice.format(r"\."), "lode top: inside measurements")
        path.rename(path.with_name("it's m"))
        for said, arguments in ((r"it's m: .*", ("it's m",)), ("missing argument: .*", ())):
            program.says(program.run("top", *arguments, cwd=folder), 2, rf"{said}run 'lode build it\\'s\\ m -o DATABASE' and open the result.*",
                         f"a name with a blank and a quote is quoted {'if' if arguments else 'unless'} it is given")
        path.with_name("it's m").rename(path)
        program.says(program.run("top", "m/app-000000-000-a-1-0.hpcrun", cwd=folder), 2, ".*: a measurement of HPCToolkit, not a database; .*", "one measurement")


def all_measurements_of_the_corpus_are_recognised(program):
    folder = cli.corpus_folder("measurements")
    if folder is None:
        raise cli.MissingCorpus
    names = [path.name for path in corpora.stores(folder)]
    wrong = [name for name in names if "of HPCToolkit (.hpcrun), not a database; run 'lode build" not in program.run("top", name, cwd=folder).err]
    program.check(names and not wrong, f"{len(names)} directories of measurements", wrong)
    inside = program.run("info", cwd=folder / names[0])
    program.check(inside.status == 0 and inside.out == program.run("info", names[0], cwd=folder).out, "lode info: inside measurements")


def a_database_beside_its_measurements_is_meant(program):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(program.databases() / "made-small", Path(folder) / "db")
        (Path(folder) / "m").mkdir()
        (Path(folder) / "m" / "a.hpcrun").write_bytes(b"")
        program.check(program.run("info", cwd=folder) == program.run("info", "db", cwd=folder), "lode info: the database, not the measurements")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, the_only_store_needs_no_name, the_only_store_of_a_kind_needs_no_name, nothing_to_find, links_and_large_directories,
                      a_file_means_its_store, either_order, a_name_alone_is_of_the_only_store, measurements_say_what_to_do, all_measurements_of_the_corpus_are_recognised,
                      a_database_beside_its_measurements_is_meant))
