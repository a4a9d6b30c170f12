#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode record: which tool it chooses and how it calls it, what it refuses, and where it puts what. The tools are stand-ins;
record_live.py runs real ones.
"""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent))

import recorded  # noqa: E402
from recorded import cli  # noqa: E402

MUTANTS = 60
ALL_TOOLS = ("perf", "uftrace", "hpcrun")
# The kernel decides which event works, and whether its own code is recorded.
EVENT = re.compile(r"-e (cycles|cpu-clock)(:u)?")
FREE_EVENT = re.compile(r"(cycles|cpu-clock)/freq=(\d+),name=(cycles|cpu-clock)/u?")
SCHED = re.compile(" -e sched:sched_switch -e sched:sched_wak(ing|eup)")
PERF = "perf record -o lode-{name}-1.data -e EVENT -F 999"
# (program, what is called); every other tool is installed.
CHOICES = (
    ("plain", PERF + " --call-graph dwarf -z -- ./plain 1"),
    ("frames", PERF + " --call-graph fp -- ./frames 1"),
    ("calls", "uftrace record -d lode-calls-1 ./calls 1"),
    ("hooks", "uftrace record -d lode-hooks-1 ./hooks 1"),
    ("fentry", "uftrace record -d lode-fentry-1 ./fentry 1"),
    ("patchable", "uftrace record -d lode-patchable-1 -P . ./patchable 1"),
    ("nops", "uftrace record -d lode-nops-1 -P . ./nops 1"),
    ("static", PERF + " --call-graph {any} -- ./static 1"),
)


def normal(line):
    line = EVENT.sub("-e EVENT", FREE_EVENT.sub(r"EVENT/freq=\2/", line.strip()))
    return SCHED.sub("", line)


class Bench:
    """A directory with programs, and a PATH with tools that are no real ones."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.tools = recorded.put_tools(folder / "tools", *ALL_TOOLS, "mpirun", "mpiexec", "srun", "python3.12", "node", "nodejs")
        for name in ("python3.9", "sh", "true"):
            recorded.put_script(self.tools / name, "#!/bin/sh\n")

    def record(self, *words, tools=None, **changes):
        path = str(self.tools)
        if tools is not None:
            some = recorded.put_tools(self.folder / f"tools-{'-'.join(tools) or 'none'}", *tools)
            for name in ("mpirun", "srun"):
                recorded.put_tools(some, name)
            path = str(some)
        env = {"PATH": path, "NODE_OPTIONS": None, **changes}
        return self.program.run("record", *words, cwd=self.folder, env=env)

    def planned(self, *words, **more):
        result = self.record("--dry-run", *words, **more)
        return normal(result.out) if result.status == 0 else f"{result.status}: {result.err}"


def has_perf(program):
    """Whether the kernel permits what perf needs; the tool may be missing."""
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        return bench.record("--dry-run", "--with", "perf", "true").status == 0


def the_program_decides(program):
    if not recorded.compiler():
        return program.skip("the program decides", "there is no compiler")
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        for name, wanted in CHOICES:
            flags = recorded.variants().get(name)
            if flags is None or not recorded.compile_program(folder, name, *flags):
                program.skip(f"a program with {name}", "this compiler does not make it")
            elif wanted.startswith("perf") and not has_perf(program):
                program.skip(f"a program with {name}", "perf is not permitted")
            else:
                found = re.sub(r"--call-graph \S+( -z)?", "--call-graph {any}", bench.planned(f"./{name}", "1")) if "{any}" in wanted \
                    else bench.planned(f"./{name}", "1")
                program.equal(found, wanted.replace("{name}", name), f"a program with {name}")
        said = bench.record("--dry-run", "./calls").err
        program.check("functions of ./calls call a tracer" in said and "mcount" in said, "why is said", [said])
        return None


def the_launcher_decides(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\n")
        if not has_perf(program):
            return program.skip("launchers", "perf is not permitted")
        wanted = "mpirun -n 4 hpcrun -o lode-app-1 -t -e CPUTIME ./app in.txt"
        program.equal(bench.planned("mpirun", "-n", "4", "./app", "in.txt"), wanted, "hpcrun is put before the program of mpirun")
        # "node" is a program, too, but here it is what --map-by takes.
        wanted = "mpiexec --map-by node --mca a b -np 2 hpcrun -o lode-app-1 -t -e CPUTIME ./app"
        program.equal(bench.planned("mpiexec", "--map-by", "node", "--mca", "a", "b", "-np", "2", "./app"), wanted, "words of options are no programs")
        wanted = "srun -n 4 hpcrun -o lode-app-1 -t -e REALTIME@f100 ./app"
        program.equal(bench.planned("--off-cpu", "--freq", "100", "srun", "-n", "4", "./app"), wanted, "options of hpcrun")
        some = ("perf", "uftrace")
        wanted = "perf record -o lode-app-1.data -e EVENT -F 999 --call-graph dwarf -z -- mpirun -n 4 ./app"
        program.equal(bench.planned("mpirun", "-n", "4", "./app", tools=some), wanted, "without hpcrun, perf records mpirun")
        said = bench.record("--dry-run", "mpirun", "-n", "4", "./app", tools=some).err
        program.check("hpcrun, which records ranks, is not installed" in said and "instead of ranks" in said, "what is lost is said", [said])
        wanted = f"srun -n 4 {program.lode} record --with perf --then none --freq 50 --off-cpu --for 2000000000ns -- ./app"
        found = bench.planned("--freq", "50", "--off-cpu", "--for", "2s", "srun", "-n", "4", "./app", tools=some)
        program.equal(found, wanted, "tasks of srun record themselves")
        wanted = f"mpirun -H a,b {program.lode} record --with perf --then none -- ./app"
        program.equal(bench.planned("mpirun", "-H", "a,b", "./app", tools=some), wanted, "so do those on other machines")
        wanted = "uftrace record -d lode-app-1 --force mpirun -n 2 ./app"
        program.equal(bench.planned("--with", "uftrace", "mpirun", "-n", "2", "./app"), wanted, "uftrace is told to go on")
        return None


def interpreters_are_asked_for_names(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        if not has_perf(program):
            return program.skip("interpreters", "perf is not permitted")
        tail = "perf record -o lode-{}-1.data -e EVENT -F 999 --call-graph fp -- {}"
        cases = ((["python3.12", "-u", "job.py", "x"], "PYTHONPERFSUPPORT=1 " + tail.format("job.py", "python3.12 -u job.py x")),
                 (["python3.12", "-c", "1"], "PYTHONPERFSUPPORT=1 " + tail.format("python3.12", "python3.12 -c 1")),
                 (["node", "job.js"], "NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' " + tail.format("job.js", "node job.js")),
                 (["./script"], "PYTHONPERFSUPPORT=1 " + tail.format("script", "./script")))
        recorded.put_script(folder / "script", "#!/usr/bin/env -S python3.12 -u\n")
        for words, wanted in cases:
            program.equal(bench.planned(*words), wanted, f"{' '.join(words)}")
        kept = bench.planned("node", "job.js", NODE_OPTIONS="--no-warnings")
        program.check("NODE_OPTIONS='--no-warnings --perf-basic-prof" in kept, "what NODE_OPTIONS has stays", [kept])
        old = bench.record("--dry-run", "python3.9", "job.py").err
        program.check("Python 3.9 cannot name its functions" in old, "an old Python is named", [old])
        return None


def options_decide(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\n")
        if not has_perf(program):
            return program.skip("options", "perf is not permitted")
        wanted = "perf record -o lode-app-1.data -e EVENT/freq=50/ --switch-events --call-graph lbr -- ./app --freq 3 -o x"
        program.equal(bench.planned("--off-cpu", "--freq", "50", "--call-graph", "lbr", "./app", "--freq", "3", "-o", "x"), wanted,
                      "options after the program are the program's")
        program.equal(bench.planned("--call-graph", "none", "-o", "there.data", "--", "./app"),
                      "perf record -o there.data -e EVENT -F 999 -- ./app", "a name of its own")
        program.equal(bench.planned("-o", "there", "--with", "perf", "--call-graph", "none", "./app"),
                      "perf record -o there.data -e EVENT -F 999 -- ./app", "a file of perf ends with .data")
        program.equal(bench.planned("--with", "uftrace", "-o", "there", "./app"), "uftrace record -d there --force ./app",
                      "uftrace as asked for")
        for time, shown in (("1us", "1us"), ("1500ns", "1.500us"), ("2s", "2s"), ("0.5ms", "500us")):
            program.equal(bench.planned("--with", "uftrace", "--min-time", time, "-o", "there", "./app"),
                          f"uftrace record -d there --force -t {shown} ./app", f"--min-time {time}, as uftrace reads it")
        pid = str(os.getpid())
        found = re.sub(r"-o lode-\S+-1.data", "-o NAME", bench.planned("--pid", pid, "--call-graph", "fp"))
        program.equal(found, f"perf record -o NAME -e EVENT -F 999 --call-graph fp -p {pid}", "a process")
        if recorded.compiler() and recorded.compile_program(folder, "calls", *recorded.HAS_CALLS):
            found = bench.planned("--freq", "50", "./calls")
            program.check(found.startswith("perf record"), "who asks for a frequency wants samples", [found])
        return None


def wrong_usage(program):
    cases = {
        "": r"missing argument: PROGRAM \(see 'lode help record'\)",
        "--pid 1 ls": r"--pid records a process that runs: 'ls' is not started \(see 'lode help record'\)",
        "--with gdb ls": r"--with is perf, uftrace or hpcrun, not 'gdb' \(see 'lode help record'\)",
        "--then nothing ls": r"--then is diagnose, top, view or none, not 'nothing' \(see 'lode help record'\)",
        "--repeat 2 --then top ls": r"--repeat is for comparing: --then cannot be used with it \(see 'lode help record'\)",
        "--repeat 2 --pid 1": r"--repeat starts a program again: it cannot be used with --pid \(see 'lode help record'\)",
        "--repeat 1001 ls": r"--repeat takes a number up to 1000 \(see 'lode help record'\)",
        "--with uftrace --pid 1": r"--pid is for perf: uftrace starts the program \(see 'lode help record'\)",
        "--with uftrace --freq 3 true": r"--freq is for samples: uftrace records every call \(see 'lode help record'\)",
        "--with hpcrun --min-time 1us true": r"--min-time is for uftrace: hpcrun takes samples \(see 'lode help record'\)",
        "--with hpcrun --call-graph fp true": r"--call-graph is for perf, not for hpcrun \(see 'lode help record'\)",
    }
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        for line, pattern in cases.items():
            program.says(bench.record(*line.split()), 2, pattern, f"lode record {line}")
        (folder / "data").write_text("x", encoding="utf-8")
        program.says(bench.record("./nothere"), 127, r"\./nothere: there is no such program", "a program that is not there")
        program.says(bench.record("nothere"), 127, r"nothere: there is no such program", "one that is not in PATH")
        program.says(bench.record("true -x"), 127, r"true -x: there is no such program; words that follow true are arguments .*", "quotes around a line")
        program.says(bench.record("./data"), 126, r"\./data: is not executable", "a file that is no program")
        program.says(bench.record("./tools"), 126, r"\./tools: is not executable", "a directory")
        none = bench.record("/bin/true", tools=())
        program.says(none, 125, r"perf is not installed: .*", "no tool at all")
        gone = bench.record("--pid", "4194305")
        program.check(gone.status == 125 and "there is no process 4194305" in gone.err, "a process that is not there", [gone])
        program.equal(sorted(os.listdir(folder)), ["data", "tools", "tools-none"], "nothing was left")


def a_tool_that_fails(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        if not has_perf(program):
            return program.skip("a tool that fails", "perf is not permitted")
        recorded.put_script(bench.tools / "perf", "#!/bin/sh\nexit 129\n")
        result = bench.record("true")
        program.check(result.status == 125 and "perf recorded nothing that can be read (its exit status is 129)" in result.err,
                      "a perf that writes nothing", [result])
        recorded.put_script(bench.tools / "perf", '#!/bin/sh\necho "incomplete" >"$3"\nexit 255\n')
        result = bench.record("true")
        program.check(result.status == 125 and "lode-true-1.data is what it left" in result.err, "one that writes a part", [result])
        recorded.put_script(bench.tools / "uftrace", "#!/bin/sh\nexit 1\n")
        result = bench.record("--with", "uftrace", "-o", "u", "true")
        program.check(result.status == 125 and "uftrace recorded nothing" in result.err, "an uftrace that writes nothing", [result])
        recorded.put_script(bench.tools / "hpcrun", "#!/nowhere/interpreter\n")
        result = bench.record("--with", "hpcrun", "true")
        program.check(result.status == 125 and "hpcrun cannot be started" in result.err, "a tool that cannot be started", [result])
        program.equal(sorted(os.listdir(folder)), ["lode-true-1.data", "lode-true-1.json", "tools"], "only what was written is left")
        return None


def hpcrun_as_a_stand_in(program):
    """Shows how hpcrun is called, and what follows; not that hpcrun records."""
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\necho output\nexit 7\n")
        result = bench.record("--with", "hpcrun", "--then", "none", "./app", "one word")
        program.equal((result.status, result.out), (7, "output\n"), "the exit status and the output are the program's")
        program.equal(recorded.logged(bench.tools, "hpcrun"), ["-o", "lode-app-1", "-t", "-e", "CPUTIME", "./app", "one word"],
                      "words stay words")
        about = json.loads((folder / "lode-app-1.json").read_text(encoding="utf-8"))
        program.equal((about["tool"], about["exit_status"], about["program"]), ("hpcrun", 7, ["./app", "one word"]), "the file beside it")
        result = bench.record("--with", "hpcrun", "./app")
        program.check("lode: lode build lode-app-2 -o lode-app-2.db\n" in result.err and result.status == 7,
                      "measurements are made a database, whose failure does not hide the status of the program", [result])
        recorded.put_script(folder / "good", "#!/bin/sh\n")
        program.equal(bench.record("--with", "hpcrun", "./good").status, 125, "unless the program succeeded")


def nothing_is_overwritten(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\n")
        words = ("--with", "uftrace", "--then", "none", "./app")
        (folder / "lode-app-1").mkdir()
        (folder / "lode-app-2.data").write_text("mine", encoding="utf-8")
        (folder / "lode-app-3.json").write_text("mine", encoding="utf-8")
        (folder / "lode-app-4").symlink_to("/nowhere")
        (folder / "lode-app-5.json").symlink_to(folder / "elsewhere")
        result = bench.record(*words)
        program.check(result.status == 0 and (folder / "lode-app-6" / "file").is_file(), "the first number that is free", [result])
        program.equal(((folder / "lode-app-2.data").read_text(encoding="utf-8"), (folder / "elsewhere").exists()), ("mine", False),
                      "files and links of others stay as they are")
        for taken in ("lode-app-1", "lode-app-4"):
            result = bench.record("-o", taken, *words)
            program.check(result.status == 125 and f"{taken}: already exists; nothing is overwritten" in result.err, f"-o {taken}", [result])
        result = bench.record("-o", "nowhere/x", *words)
        program.check(result.status == 125 and "nowhere/x cannot be created: No such file or directory" in result.err, "a directory that is not there", [result])
        bench.record("--repeat", "2", "-o", "set", *words)
        program.check(all((folder / f"set-{i}" / "file").is_file() for i in (1, 2)), "--repeat numbers a name", [os.listdir(folder)])


def sets_are_compared(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\n")
        words = ("--with", "uftrace", "--repeat", "2", "./app")
        first = bench.record(*words)
        names = " ".join(f"lode-app-{i}" for i in (1, 2)), " ".join(f"lode-app-{i}" for i in (3, 4))
        wanted = f"lode: lode compare --base {names[0]} --new {names[1]}\n"
        program.check(first.status == 0 and first.err.endswith(wanted) and "another version" in first.err, "after the first set", [first])
        second = bench.record(*words)
        program.check(second.err.endswith(wanted) and "with the runs before" in second.err, "after the second", [second])
        recorded.put_script(folder / "bad", "#!/bin/sh\nexit 3\n")
        failed = bench.record("--with", "uftrace", "--repeat", "5", "./bad")
        program.check(failed.status == 3 and not (folder / "lode-bad-2").exists(), "a run that fails is the last", [failed])


HOSTILE = ("a b", "semi;colon", "quote'\"`$x", "new\nline", "tab\tbell\a", "esc\033[31m", "\u202etxt.exe", "ünï", "-dash", "a=b", "*", "~")


def hostile_names(program):
    """The line that is printed can be typed back, and says nothing to a terminal but itself."""
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        for name in HOSTILE:
            recorded.put_script(bench.tools / name, "#!/bin/sh\nexit 5\n")
            result = bench.record("--with", "uftrace", "--dry-run", "--", name, name, "")
            words = recorded.words_of(result.out.rstrip("\n"))
            shown = str(bench.tools / name) if name.startswith("-") else name
            program.equal((words[:2], words[-3:]), (["uftrace", "record"], [shown, name, ""]), f"{name!r} is read back by bash")
            program.check(re.fullmatch(r"[^\x00-\x1f\x7f\u202e]*\n", result.out), f"{name!r} does not command a terminal", [repr(result.out)])
            result = bench.record("--with", "uftrace", "--then", "none", "--", name)
            program.check(result.status == 5 and not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", result.err), f"{name!r} is recorded", [result])
        made = [entry for entry in os.listdir(folder) if entry != "tools"]
        program.check(len(made) == 2 * len(HOSTILE) and all(re.fullmatch(r"lode-[\w.+-]+-\d+(\.json)?", entry, re.ASCII) for entry in made),
                      "names of stores are plain", made)


def damaged_programs(program):
    """Whatever a file has where an ELF has numbers, there is an answer, soon."""
    if not recorded.compiler():
        return program.skip("damaged programs", "there is no compiler")
    chance = random.Random(7)
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        whole = recorded.compile_program(folder, "calls", *recorded.HAS_CALLS).read_bytes()
        headers = [*range(16, 64), *range(64, 64 + 13 * 56), *range(int.from_bytes(whole[40:48], sys.byteorder), len(whole))]
        wrong = []
        for number in range(MUTANTS):
            bytes_ = bytearray(whole if number % 8 else whole[:chance.randrange(len(whole))])
            for _ in range(chance.choice((1, 4, 16))):
                bytes_[min(chance.choice(headers), len(bytes_) - 1)] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
            (folder / "mutant").write_bytes(bytes_)
            (folder / "mutant").chmod(0o755)
            result = bench.record("--dry-run", "--with", "uftrace", "./mutant")
            if result.status != 0 or not result.out.startswith("uftrace record"):
                wrong.append((number, result))
        return program.equal(wrong, [], f"{MUTANTS} damaged programs")


def tasks_of_a_launcher_have_names_of_their_own(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\n")
        for rank in ("0", "3"):
            task = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "4"}
            result = bench.record("--with", "uftrace", "./app", **task)
            program.equal((result.status, (folder / f"lode-app-rank{rank}-1" / "file").is_file(), "diagnose" in result.err), (0, True, False),
                          f"rank {rank} of 4")
        about = json.loads((folder / "lode-app-rank3-1.json").read_text(encoding="utf-8"))
        program.equal(about["rank"], 3, "the rank is in the file beside it")


def a_directory_that_cannot_be_written(program):
    """Root can write everywhere, so somebody else tries."""
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        folder.chmod(0o555)
        user = {"user": recorded.NOBODY} if os.geteuid() == 0 else {}
        env = {"PATH": str(bench.tools)}
        if user and not recorded.can_run(program, folder):
            return program.skip("a directory that cannot be written", "another user cannot run the program")
        result = program.run("record", "--with", "uftrace", "true", cwd=folder, env=env, **user)
        folder.chmod(0o755)
        return program.check(result.status == 125 and "lode-true-1.json cannot be created: Permission denied" in result.err, "a directory that cannot be written", [result])


def the_commit_is_noted(program):
    with recorded.scratch() as folder:
        bench = Bench(program, folder)
        recorded.put_script(folder / "app", "#!/bin/sh\n")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder)]
        try:
            for words in (["init", "-q"], ["add", "app"], ["commit", "-q", "-m", "one"]):
                subprocess.run([*git, *words], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return program.skip("the commit is noted", "git does not work here")
        commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        path = f"{bench.tools}{os.pathsep}{os.environ['PATH']}"
        for number, wanted in ((1, False), (2, True)):
            bench.record("--with", "uftrace", "--then", "none", "./app", PATH=path)
            about = json.loads((folder / f"lode-app-{number}.json").read_text(encoding="utf-8"))
            program.equal((about["commit"], about["is_modified"]), (commit, wanted), f"a work tree that was {'' if wanted else 'not '}changed")
            recorded.put_script(folder / "app", "#!/bin/sh\ntrue\n")
        return None


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, the_program_decides, the_launcher_decides, interpreters_are_asked_for_names, options_decide, wrong_usage,
                      a_tool_that_fails, hpcrun_as_a_stand_in, nothing_is_overwritten, sets_are_compared, hostile_names, damaged_programs,
                      tasks_of_a_launcher_have_names_of_their_own, a_directory_that_cannot_be_written, the_commit_is_noted))
