#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lode record with the perf and the uftrace of this machine: exit status, signals, terminal, and what is recorded of C, OpenMP,
MPI, Python and node. What needs a tool, or a permission, says so and is skipped.
"""

import contextlib
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent))

import recorded  # noqa: E402
from recorded import cli  # noqa: E402

SECONDS = 60
ENOUGH = "4s"  # for a tool to begin, on a busy machine
CALLS, PLAIN = "calls", "frames"
TOOLS = {"uftrace": CALLS, "perf": PLAIN}


def why_not(program, tool):
    if tool == "uftrace":
        return None if shutil.which("uftrace") else "uftrace is not installed"
    return recorded.why_no_perf(program)


@contextlib.contextmanager
def ready(program, name, *tools):
    """A folder with both programs and the tools that work; None after the test was skipped."""
    missing = "there is no compiler" if not recorded.compiler() else None
    works = [tool for tool in tools if not (missing or why_not(program, tool))]
    for tool in tools:
        if tool not in works:
            program.skip(f"{name}: {tool}", missing or why_not(program, tool))
    with recorded.scratch() as folder:
        for tool in works:
            recorded.compile_program(folder, TOOLS[tool], *recorded.FLAGS[TOOLS[tool]])
        yield folder, works


def about(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def store_of(tool, number=1):
    return f"lode-{CALLS}-{number}" if tool == "uftrace" else f"lode-{PLAIN}-{number}.data"


def statuses_pass_through(program):
    with ready(program, "statuses", *TOOLS) as (folder, tools):
        for tool in tools:
            number = 0
            for words, wanted in ((["work"], 0), (["exit", "3"], 3), (["exit", "255"], 255), (["signal", "9"], 137), (["signal", "15"], 143)):
                number += 1
                result = program.run("record", "--then", "none", f"./{TOOLS[tool]}", *words, cwd=folder)
                out = "" if words[0] == "signal" else "done\n"
                program.equal((result.status, result.out, (folder / store_of(tool, number)).exists()), (wanted, out, True),
                              f"{tool}: {' '.join(words)}")
                program.equal(about(folder, f"lode-{TOOLS[tool]}-{number}")["exit_status"], wanted, f"{tool}: {' '.join(words)}: beside it")


def the_answer_follows(program):
    with ready(program, "the answer", *TOOLS) as (folder, tools):
        for tool in tools:
            for then in ("diagnose", "top"):
                result = program.run("record", "--then", then, "-o", f"{tool}-{then}", f"./{TOOLS[tool]}", cwd=folder)
                store = folder / (f"{tool}-{then}" + (".data" if tool == "perf" else ""))
                reason = recorded.why_not_read(program, store) if store.exists() else None
                if reason:
                    program.skip(f"{tool}: lode {then} of the recording", reason)
                    continue
                asked = program.run(then, store.name, cwd=folder)
                # Few samples may be too few for a statement.
                is_told = "inner" in asked.out or (tool, then) == ("perf", "diagnose")
                program.check(result.status == 0 and result.out == "done\n" and result.err.endswith(asked.out) and is_told,
                              f"{tool}: lode {then} of the recording", [result, asked])


def terminals_are_the_programs(program):
    with ready(program, "terminals", *TOOLS) as (folder, tools):
        for tool in tools:
            words = ["record", "--then", "none", "--with", tool, f"./{TOOLS[tool]}", "read"]
            piped = subprocess.run([program.lode, *words], input=b"a line\n", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   cwd=folder, timeout=SECONDS, env=cli.environment(), check=False)
            program.equal((piped.returncode, piped.stdout), (0, b"terminals 0 0 0\nread a line\n"), f"{tool}: pipes")
            status, shown = on_pty(program, folder, words, b"terminals 1 1 1", b"typed\n\x04")
            program.check(status == 0 and b"read typed" in shown, f"{tool}: a terminal", [status, shown])


def read_until(master, text, shown, limit=SECONDS):
    """What a terminal shows up to a text; all if that is None."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and (text is None or text not in shown):
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    return shown


def on_pty(program, folder, words, until, typed):
    """Runs lode on a terminal of its own, types something when a text is shown, and returns its status and all that is shown."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(program.lode, [program.lode, *words], cli.environment(TERM="xterm"))
    shown = read_until(master, until, b"")
    os.write(master, typed)
    shown = read_until(master, None, shown)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(master)
    return status, shown


def pid_in(shown):
    return int(re.search(rb"ready (\d+)", shown)[1])


def interrupts_end_the_program(program):
    with ready(program, "Ctrl-C", *TOOLS) as (folder, tools):
        for tool in tools:
            words = ["record", "--then", "none", f"./{TOOLS[tool]}", "wait"]
            status, shown = on_pty(program, folder, words, b"ready ", b"\x03")
            store = store_of(tool)
            program.check(status == 130 and b"is the recording" in shown and (folder / store).exists(), f"{tool}: Ctrl-C", [status, shown])
            match = re.search(rb"ready (\d+)", shown)
            program.check(match and not recorded.is_alive(int(match[1])), f"{tool}: the program has ended", [shown])
            if tool == "uftrace":
                program.equal(program.run("check", store, cwd=folder).status, 0, f"{tool}: the recording is sound")


def signals_are_passed_on(program):
    with ready(program, "signals", *TOOLS) as (folder, tools):
        for tool in tools:
            for number, wanted in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
                child = subprocess.Popen([program.lode, "record", "--then", "none", f"./{TOOLS[tool]}", "wait"], cwd=folder,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=cli.environment())
                pid = pid_in(child.stdout.readline())
                child.send_signal(number)
                said = child.communicate(timeout=SECONDS)[1]
                # perf ends its program with SIGTERM, whatever it was sent.
                allowed = {wanted, 143} if tool == "perf" else {wanted}
                program.check(child.returncode in allowed and b"is the recording" in said and not recorded.is_alive(pid),
                              f"{tool}: {signal.Signals(number).name}", [child.returncode, said])


def time_ends_the_recording(program):
    with ready(program, "--for", *TOOLS) as (folder, tools):
        for tool in tools:
            result = program.run("record", "--then", "none", "--for", ENOUGH, f"./{TOOLS[tool]}", "wait", cwd=folder)
            pid = pid_in(result.out.encode())
            program.equal((result.status, recorded.is_alive(pid), about(folder, f"lode-{TOOLS[tool]}-1")["is_ended_by_time"]), (0, False, True),
                          f"{tool}: --for {ENOUGH}")


def a_process_goes_on(program):
    with ready(program, "--pid", "perf") as (folder, tools):
        if not tools:
            return
        child = subprocess.Popen([folder / PLAIN, "wait"], stdout=subprocess.PIPE)
        pid = pid_in(child.stdout.readline())
        result = program.run("record", "--then", "none", "--for", ENOUGH, "--pid", pid, cwd=folder)
        program.check(result.status == 0 and recorded.is_alive(pid) and about(folder, f"lode-{PLAIN}-1")["pid"] == pid,
                      "--pid: the process goes on", [result])
        child.kill()
        child.wait()


def runs_are_repeated(program):
    with ready(program, "--repeat", "uftrace") as (folder, tools):
        if not tools:
            return
        for _ in range(2):
            result = program.run("record", "--repeat", "2", f"./{CALLS}", cwd=folder)
        command = recorded.words_of(result.err.splitlines()[-1].removeprefix("lode: "))
        compared = program.run(*command[1:], cwd=folder)
        program.check(command[:2] == ["lode", "compare"] and compared.status == 0 and "inner" in compared.out,
                      "the command that is printed compares the sets", [result, compared])


def off_cpu_time_is_recorded(program):
    with ready(program, "--off-cpu", "perf") as (folder, tools):
        if not tools:
            return
        result = program.run("record", "--then", "none", "--off-cpu", "sh", "-c", "sleep 0.05; true", cwd=folder)
        shown = program.run_any("perf", "script", "--show-switch-events", "-i", "lode-sh-1.data", cwd=folder)
        program.check(result.status == 0 and "PERF_RECORD_SWITCH OUT" in shown.out, "switches are recorded", [result, shown.out[:500]])


def a_file_that_cannot_grow(program):
    """As a full disk; the small file beside the recording still fits."""
    with ready(program, "a limit of file sizes", "perf") as (folder, tools):
        if not tools:
            return
        result = program.run("record", "--then", "none", f"./{PLAIN}", cwd=folder,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)))
        program.check(result.status == 125 and "perf recorded nothing that can be read" in result.err, "a file that cannot grow", [result])


def without_rights(program):
    """What is not permitted is said, with the setting."""
    with ready(program, "another user", "perf") as (folder, tools):
        paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii"))
        if not tools or os.geteuid() != 0 or paranoid < 2:
            program.skip("another user", "it needs root, and kernel.perf_event_paranoid of 2 or more")
            return
        folder.chmod(0o777)
        if not recorded.can_run(program, folder):
            program.skip("another user", "another user cannot run the program")
            return
        result = program.run("record", "--then", "none", "--off-cpu", f"./{PLAIN}", cwd=folder, user=recorded.NOBODY)
        wanted = (0, True, True) if paranoid == 2 else (125, True, False)
        program.equal((result.status, f"kernel.perf_event_paranoid is {paranoid}; 'sudo sysctl kernel.perf_event_paranoid=1'" in result.err,
                       "off-CPU time is recorded without call stacks" in result.err), wanted, "another user")
        refused = program.run("record", "--pid", "1", cwd=folder, user=recorded.NOBODY)
        program.check(refused.status == 125 and "process 1 belongs to user 0" in refused.err, "a process of somebody else", [refused])


PYTHON = "def inner(n):\n    return sum(1 / i for i in range(1, n))\nprint(sum(inner(20000) for _ in range(10)) > 0)\n"
NODE = "function inner(n) { let s = 0; for (let i = 1; i < n; i++) s += 1 / i; return s; }\n" \
       "let t = 0; for (let i = 0; i < 50; i++) t += inner(100000);\nconsole.log(t > 0);\n"


def shown_by_perf(program, folder, store):
    """Names of functions and programs in the samples, as perf prints them."""
    return program.run_any("perf", "script", "-F", "comm,ip,sym", "-i", store, cwd=folder).out


def other_programs(program):
    reason = recorded.why_no_perf(program)
    if reason:
        program.skip("other programs", reason)
        return
    with recorded.scratch() as folder:
        record_openmp(program, folder)
        record_mpi(program, folder)
        (folder / "job.py").write_text(PYTHON, encoding="utf-8")
        result = program.run("record", "--then", "none", "python3", "job.py", cwd=folder)
        program.check(result.status == 0 and result.out == "True\n" and "python" in shown_by_perf(program, folder, "lode-job.py-1.data"),
                      "Python", [result])
        if not shutil.which("node"):
            program.skip("node", "it is not installed")
            return
        (folder / "job.js").write_text(NODE, encoding="utf-8")
        result = program.run("record", "--then", "none", "node", "job.js", cwd=folder)
        program.check(result.status == 0 and result.out == "true\n" and re.search(r"JS:.*inner", shown_by_perf(program, folder, "lode-job.js-1.data")),
                      "functions of node have names", [result])
        for pid in set(re.findall(r"\d+", program.run_any("perf", "script", "-F", "pid", "-i", "lode-job.js-1.data", cwd=folder).out)):
            Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def record_openmp(program, folder):
    if not recorded.compiler() or not recorded.compile_program(folder, "omp", "-fopenmp", "-fno-omit-frame-pointer"):
        program.skip("OpenMP", "this compiler does not make it")
        return
    result = program.run("record", "--then", "none", "./omp", cwd=folder, env={"OMP_NUM_THREADS": "2"})
    threads = set(re.findall(r"^ *omp +(\d+)", program.run_any("perf", "script", "-F", "comm,tid", "-i", "lode-omp-1.data", cwd=folder).out, re.M))
    program.check(result.status == 0 and len(threads) >= 1, "OpenMP", [result, threads])


def record_mpi(program, folder):
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun.mpich")
    if not mpirun or not recorded.compiler() or not recorded.compile_program(folder, "rank", *recorded.FLAGS[PLAIN]):
        program.skip("MPI with 4 ranks", "there is no mpirun")
        return
    more = ["--oversubscribe", "--allow-run-as-root"] if "openmpi" in mpirun else []
    result = program.run("record", "--then", "none", "--", mpirun, *more, "-n", "4", "./rank", cwd=folder)
    shown = program.run_any("perf", "script", "-F", "comm,pid", "-i", "lode-rank-1.data", cwd=folder).out
    ranks = set(re.findall(r"^ *rank +(\d+)", shown, re.M))
    program.check(result.status == 0 and result.out.count("done\n") == 4 and len(ranks) == 4, "MPI with 4 ranks", [result, ranks])
    if "openmpi" not in mpirun or not shutil.which("uftrace") or not recorded.compile_program(folder, "task", *recorded.HAS_CALLS):
        program.skip("tasks that record themselves", "there is no mpirun of Open MPI, or no uftrace")
        return
    result = program.run("record", "--", mpirun, *more, "-H", "localhost:2", "-n", "2", "./task", cwd=folder)
    stores = [f"lode-task-rank{rank}-1" for rank in (0, 1)]
    built = program.run_any("sh", "-c", result.err.splitlines()[-1].rpartition(": lode ")[2].join(["$0 ", ""]), program.lode, cwd=folder)
    found = program.json("profiles", "lode-task.db", cwd=folder)["rows"] if built.status == 0 else []
    program.check(result.status == 0 and all((folder / store).is_dir() for store in stores) and len(found) == 2,
                  "tasks that record themselves, and the command that makes a database of them", [result, built, found])


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, statuses_pass_through, the_answer_follows, terminals_are_the_programs, interrupts_end_the_program,
                      signals_are_passed_on, time_ends_the_recording, a_process_goes_on, runs_are_repeated, off_cpu_time_is_recorded,
                      a_file_that_cannot_grow, without_rights, other_programs))
