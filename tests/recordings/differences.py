# SPDX-License-Identifier: BSD-3-Clause
"""
Where uftrace and Lode differ on the recordings of the corpus, and why: every row of every report, for both versions
of uftrace. The tests fail at a difference that is not here, at one that is here and gone, and at one whose proof does
not hold.

Numbers are formulas on the times of raw records, given as FILE:OFFSET, with what is to be found there: kind and depth
of a record and its function; kind of a perf event and its thread. Where a number is not in dispute, it is left out.
"""

from typing import NamedTuple

DEPTH = "facts 3, filters: -D 1024 hides calls beyond that depth when reading"
OPEN = "facts 3, open frames at the end: uftrace ends them at the last perf event of any task, not at that of their own"
FORK = "facts 3, orphan exits: a forked process returns from calls of its parent, and uftrace counts these returns as calls"
EXEC = "facts 3, exec: uftrace drops the calls that are open, and what was scheduled in them"
JUMP = "facts 3, longjmp: uftrace drops the calls that were left, and takes the second return of setjmp for a call"
SYMBOLS = "facts 2.4, file choice: uftrace resolves two libraries of one base name wrongly"
SIZES = ("facts 2.4: 0.13 does not know symbol files with sizes, takes the ELF file, and does not find one with a"
         " relative path")
EVENTS = "facts 2.5: 0.13 ends at an event that it does not know"
IDLE = ("facts 3, wrong outputs 1: pre-emption is ignored but the return from it is not, so a task is idle from its start"
        " to the first one")
EXEC_TASK = "facts 3, exec: with --task, execl stays open to the end of the task"
JUMP_TASK = ("facts 3, longjmp: with --task, exits pop the calls that were left, so that main stays open to the end of"
             " the task")


class Difference(NamedTuple):
    recordings: tuple
    subject: object  # name of a function, or id of a task
    reason: str
    points: dict
    # (uftrace's, Lode's); None: it has no such row; "same": not in dispute
    calls: object = "same"
    total: object = "same"
    self_time: object = "same"
    versions: tuple = (13, 19)


FUNCTIONS = (
    # rec is called 1,501 times in a row; the call at depth 1024 has depth 0 in its record.
    Difference(("deep4k",), "rec", DEPTH,
               {"first": "20843.dat:0x50 entry 1 rec", "hidden": "20843.dat:0x4040 entry 0 rec",
                "hidden_end": "20843.dat:0x7bf0 exit 0 rec", "end": "20843.dat:0xbbe0 exit 1 rec"},
               calls=("entries rec - 478", "entries rec"),
               self_time=("end - first - (hidden_end - hidden)", "end - first")),
    # The thread ends in pthread_exit; the last perf event is the end of the main thread.
    Difference(("mt", "extern"), "early", OPEN,
               {"begin": "20754.dat:0x0 entry 0 early", "gone": "perf-cpu1.dat:0x328 exit 20754",
                "last": "perf-cpu1.dat:0x6e8 exit 20749"},
               total=("last - begin", "gone - begin")),
    Difference(("mt", "extern"), "pthread_exit", OPEN,
               {"begin": "20754.dat:0x50 entry 1 pthread_exit",
                "out1": "perf-cpu1.dat:0x2c8 preempted 20754", "in1": "perf-cpu1.dat:0x2e0 in 20754",
                "out2": "perf-cpu1.dat:0x2f8 preempted 20754", "in2": "perf-cpu1.dat:0x310 in 20754",
                "gone": "perf-cpu1.dat:0x328 exit 20754", "last": "perf-cpu1.dat:0x6e8 exit 20749"},
               total=("last - begin", "gone - begin"),
               self_time=("last - begin - (in1 - out1) - (in2 - out2)", "gone - begin - (in1 - out1) - (in2 - out2)")),
    Difference(("n_mt",), "early", OPEN,
               {"begin": "20936.dat:0x0 entry 0 early", "gone": "perf-cpu1.dat:0x3b8 exit 20936",
                "last": "perf-cpu1.dat:0x7a8 exit 20931",
                "step": "20936.dat:0x10 entry 1 step", "step_end": "20936.dat:0x40 exit 1 step",
                "leave": "20936.dat:0x50 entry 1 pthread_exit", "left": "20936.dat:0x60 exit 1 pthread_exit",
                "out1": "perf-cpu1.dat:0x2c8 preempted 20936", "in1": "perf-cpu1.dat:0x340 in 20936",
                "out2": "perf-cpu1.dat:0x358 preempted 20936", "in2": "perf-cpu1.dat:0x370 in 20936",
                "out3": "perf-cpu1.dat:0x388 preempted 20936", "in3": "perf-cpu1.dat:0x3a0 in 20936"},
               total=("last - begin", "gone - begin"),
               self_time=("last - begin - (step_end - step) - (left - leave) - (in1 - out1) - (in2 - out2) - (in3 - out3)",
                          "gone - begin - (step_end - step) - (left - leave) - (in1 - out1) - (in2 - out2) - (in3 - out3)")),
    # Two children return from fork, one of them from main as well. main is called by the parent and by the program after exec.
    Difference(("forkexec", "n_forkexec"), "fork", FORK, {}, calls=("exits fork", "entries fork")),
    Difference(("forkexec", "n_forkexec"), "main", FORK, {}, calls=("exits main", "entries main")),
    Difference(("forkexec",), "execl", EXEC,
               {"begin": "20766.dat:0x10 entry 1 execl", "new": "20766.dat:0x20 entry 0 __monstartup",
                "out1": "perf-cpu1.dat:0xf0 out 20766", "in1": "perf-cpu1.dat:0x150 in 20766",
                "out2": "perf-cpu1.dat:0x198 out 20766", "in2": "perf-cpu1.dat:0x1b0 in 20766",
                "out3": "perf-cpu1.dat:0x1c8 preempted 20766", "in3": "perf-cpu1.dat:0x1e0 in 20766",
                "out4": "perf-cpu1.dat:0x1f8 preempted 20766", "in4": "perf-cpu1.dat:0x210 in 20766",
                "out5": "perf-cpu1.dat:0x228 preempted 20766", "in5": "perf-cpu1.dat:0x240 in 20766",
                "out6": "perf-cpu1.dat:0x258 preempted 20766", "in6": "perf-cpu1.dat:0x270 in 20766"},
               calls=(None, "entries execl"), total=(None, "new - begin"),
               self_time=(None, "new - begin - (in1 - out1) - (in2 - out2) - (in3 - out3) - (in4 - out4)"
                                " - (in5 - out5) - (in6 - out6)")),
    Difference(("forkexec",), "linux:schedule", EXEC,
               {"begin": "20766.dat:0x10 entry 1 execl", "new": "20766.dat:0x20 entry 0 __monstartup",
                "out1": "perf-cpu1.dat:0xf0 out 20766", "in1": "perf-cpu1.dat:0x150 in 20766",
                "out2": "perf-cpu1.dat:0x198 out 20766", "in2": "perf-cpu1.dat:0x1b0 in 20766",
                "wait": "perf-cpu1.dat:0xc0 out 20764", "waited": "perf-cpu1.dat:0x2b8 in 20764"},
               calls=(1, 3), total=("waited - wait", "waited - wait + (in1 - out1) + (in2 - out2)"),
               self_time=("waited - wait", "waited - wait + (in1 - out1) + (in2 - out2)")),
    Difference(("forkexec",), "linux:schedule (pre-empted)", EXEC,
               {"out3": "perf-cpu1.dat:0x1c8 preempted 20766", "in3": "perf-cpu1.dat:0x1e0 in 20766",
                "out4": "perf-cpu1.dat:0x1f8 preempted 20766", "in4": "perf-cpu1.dat:0x210 in 20766",
                "out5": "perf-cpu1.dat:0x228 preempted 20766", "in5": "perf-cpu1.dat:0x240 in 20766",
                "out6": "perf-cpu1.dat:0x258 preempted 20766", "in6": "perf-cpu1.dat:0x270 in 20766"},
               calls=(None, 4),
               total=(None, "in3 - out3 + (in4 - out4) + (in5 - out5) + (in6 - out6)"),
               self_time=(None, "in3 - out3 + (in4 - out4) + (in5 - out5) + (in6 - out6)")),
    Difference(("n_forkexec",), "execl", EXEC,
               {"begin": "20981.dat:0x10 entry 1 execl", "new": "20981.dat:0x20 entry 0 __monstartup",
                "out1": "perf-cpu1.dat:0xc0 preempted 20981", "in1": "perf-cpu1.dat:0xd8 in 20981",
                "out2": "perf-cpu1.dat:0xf0 preempted 20981", "in2": "perf-cpu1.dat:0x198 in 20981",
                "out3": "perf-cpu1.dat:0x1b0 preempted 20981", "in3": "perf-cpu1.dat:0x1c8 in 20981",
                "out4": "perf-cpu1.dat:0x1e0 preempted 20981", "in4": "perf-cpu1.dat:0x1f8 in 20981"},
               calls=(None, "entries execl"), total=(None, "new - begin"),
               self_time=(None, "new - begin - (in1 - out1) - (in2 - out2) - (in3 - out3) - (in4 - out4)")),
    Difference(("n_forkexec",), "linux:schedule (pre-empted)", EXEC,
               {"out1": "perf-cpu1.dat:0xc0 preempted 20981", "in1": "perf-cpu1.dat:0xd8 in 20981",
                "out2": "perf-cpu1.dat:0xf0 preempted 20981", "in2": "perf-cpu1.dat:0x198 in 20981",
                "out3": "perf-cpu1.dat:0x1b0 preempted 20981", "in3": "perf-cpu1.dat:0x1c8 in 20981",
                "out4": "perf-cpu1.dat:0x1e0 preempted 20981", "in4": "perf-cpu1.dat:0x1f8 in 20981",
                "fork1": "perf-cpu1.dat:0x60 preempted 20979", "forked1": "perf-cpu1.dat:0x108 in 20979",
                "fork2": "perf-cpu1.dat:0x120 preempted 20979", "forked2": "perf-cpu1.dat:0x138 in 20979"},
               calls=(2, 6),
               total=("forked1 - fork1 + (forked2 - fork2)",
                      "forked1 - fork1 + (forked2 - fork2) + (in1 - out1) + (in2 - out2) + (in3 - out3) + (in4 - out4)"),
               self_time=("forked1 - fork1 + (forked2 - fork2)",
                          "forked1 - fork1 + (forked2 - fork2) + (in1 - out1) + (in2 - out2) + (in3 - out3) + (in4 - out4)")),
    # setjmp is called once; the jump leaves longjmp and four calls of jumper.
    Difference(("longjmp",), "_setjmp", JUMP,
               {"begin": "20810.dat:0x60 entry 2 _setjmp", "end": "20810.dat:0x70 exit 2 _setjmp",
                "jumper": "20810.dat:0x80 entry 2 jumper", "again": "20810.dat:0xd0 exit 2 _setjmp"},
               calls=("exits _setjmp", "entries _setjmp"), total=("end - begin + (again - jumper)", "end - begin"),
               self_time=("end - begin + (again - jumper)", "end - begin")),
    Difference(("longjmp",), "jumper", JUMP,
               {"begin": "20810.dat:0x80 entry 2 jumper", "jump": "20810.dat:0xc0 entry 6 longjmp",
                "again": "20810.dat:0xd0 exit 2 _setjmp"},
               calls=(None, "entries jumper"), total=(None, "again - begin"),
               self_time=(None, "again - begin - (again - jump)")),
    Difference(("longjmp",), "longjmp", JUMP,
               {"jump": "20810.dat:0xc0 entry 6 longjmp", "again": "20810.dat:0xd0 exit 2 _setjmp"},
               calls=(None, "entries longjmp"), total=(None, "again - jump"), self_time=(None, "again - jump")),
    # The address is 0x103 behind the second page of d1/libsame.so, where libsame.so-4ea1.sym, of this path, has plug_run.
    Difference(("same_basename",), "plug_run", SYMBOLS,
               {"begin": "20788.dat:0xd0 entry 1 plug_run", "end": "20788.dat:0xe0 exit 1 plug_run"},
               calls=(None, 1), total=(None, "end - begin"), self_time=(None, "end - begin")),
    Difference(("same_basename",), "<7fbede59a103>", SYMBOLS,
               {"begin": "20788.dat:0xd0 entry 1 plug_run", "end": "20788.dat:0xe0 exit 1 plug_run"},
               calls=(1, None), total=("end - begin", None), self_time=("end - begin", None)),
    Difference(("n_same",), "plug_run", SIZES,
               {"begin": "20992.dat:0xd0 entry 1 plug_run", "end": "20992.dat:0xe0 exit 1 plug_run"},
               calls=(None, 1), total=(None, "end - begin"), self_time=(None, "end - begin"), versions=(13,)),
    Difference(("n_same",), "<7f3d00f46103>", SIZES,
               {"begin": "20992.dat:0xd0 entry 1 plug_run", "end": "20992.dat:0xe0 exit 1 plug_run"},
               calls=(1, None), total=("end - begin", None), self_time=("end - begin", None), versions=(13,)),
)

# Reports of a version that are empty.
NO_REPORT = {
    ("n_callsite", 13): (EVENTS, "20957.dat:0x80 event 100013"),
    ("n_watchvar", 13): (EVENTS, "20968.dat:0x80 event 100012"),
}

# `report --task`: subject is the task, `calls` its functions. uftrace counts being off the processor as a function, which
# is compared as such.
TASKS = (
    Difference(("dlopen",), 20777, IDLE,
               {"begin": "20777.dat:0x0 entry 0 main", "end": "20777.dat:0xb0 exit 0 main",
                "out1": "perf-cpu1.dat:0x58 out 20777", "in1": "perf-cpu1.dat:0x70 in 20777",
                "out2": "perf-cpu1.dat:0x88 preempted 20777", "in2": "perf-cpu1.dat:0xa0 in 20777"},
               self_time=("end - begin - (in1 - out1)", "end - begin - (in1 - out1) - (in2 - out2)")),
    Difference(("mt", "extern"), 20749, IDLE,
               {"task": "task.txt:2 TASK 20749",
                "a": "20749.dat:0x0 entry 0 __monstartup", "b": "20749.dat:0x10 exit 0 __monstartup",
                "c": "20749.dat:0x20 entry 0 __cxa_atexit", "d": "20749.dat:0x30 exit 0 __cxa_atexit",
                "e": "20749.dat:0x40 entry 0 main", "f": "20749.dat:0x150 exit 0 main",
                "out1": "perf-cpu1.dat:0x28 preempted 20749", "in1": "perf-cpu1.dat:0x40 in 20749",
                "out2": "perf-cpu1.dat:0x118 out 20749", "in2": "perf-cpu1.dat:0x5c8 in 20749",
                "out3": "perf-cpu1.dat:0x5e0 out 20749", "in3": "perf-cpu1.dat:0x6d0 in 20749"},
               self_time=("b - a + d - c + f - e - (in1 - task) - (in2 - out2) - (in3 - out3)",
                          "b - a + d - c + f - e - (in1 - out1) - (in2 - out2) - (in3 - out3)")),
    Difference(("mt", "extern"), 20754, IDLE,
               {"task": "task.txt:5 TASK 20754", "begin": "20754.dat:0x0 entry 0 early",
                "gone": "perf-cpu1.dat:0x328 exit 20754",
                "out1": "perf-cpu1.dat:0x2c8 preempted 20754", "in1": "perf-cpu1.dat:0x2e0 in 20754",
                "out2": "perf-cpu1.dat:0x2f8 preempted 20754", "in2": "perf-cpu1.dat:0x310 in 20754"},
               self_time=("gone - begin - (in1 - task)", "gone - begin - (in1 - out1) - (in2 - out2)")),
    Difference(("n_mt",), 20931, IDLE,
               {"task": "task.txt:2 TASK 20931",
                "a": "20931.dat:0x0 entry 0 __monstartup", "b": "20931.dat:0x10 exit 0 __monstartup",
                "c": "20931.dat:0x20 entry 0 __cxa_atexit", "d": "20931.dat:0x30 exit 0 __cxa_atexit",
                "e": "20931.dat:0x40 entry 0 main", "f": "20931.dat:0x150 exit 0 main",
                "out1": "perf-cpu1.dat:0x58 preempted 20931", "in1": "perf-cpu1.dat:0xa0 in 20931",
                "out2": "perf-cpu1.dat:0x148 out 20931", "in2": "perf-cpu1.dat:0x5e0 in 20931",
                "out3": "perf-cpu1.dat:0x5f8 out 20931", "in3": "perf-cpu1.dat:0x790 in 20931"},
               self_time=("b - a + d - c + f - e - (in1 - task) - (in2 - out2) - (in3 - out3)",
                          "b - a + d - c + f - e - (in1 - out1) - (in2 - out2) - (in3 - out3)")),
    Difference(("n_mt",), 20936, IDLE,
               {"task": "task.txt:6 TASK 20936", "begin": "20936.dat:0x0 entry 0 early",
                "gone": "perf-cpu1.dat:0x3b8 exit 20936",
                "out1": "perf-cpu1.dat:0x2c8 preempted 20936", "in1": "perf-cpu1.dat:0x340 in 20936",
                "out2": "perf-cpu1.dat:0x358 preempted 20936", "in2": "perf-cpu1.dat:0x370 in 20936",
                "out3": "perf-cpu1.dat:0x388 preempted 20936", "in3": "perf-cpu1.dat:0x3a0 in 20936"},
               self_time=("gone - begin - (in1 - task)", "gone - begin - (in1 - out1) - (in2 - out2) - (in3 - out3)")),
    Difference(("same_basename",), 20788, IDLE,
               {"task": "task.txt:2 TASK 20788",
                "a": "20788.dat:0x0 entry 0 __monstartup", "b": "20788.dat:0x10 exit 0 __monstartup",
                "c": "20788.dat:0x20 entry 0 __cxa_atexit", "d": "20788.dat:0x30 exit 0 __cxa_atexit",
                "e": "20788.dat:0x40 entry 0 main", "f": "20788.dat:0x130 exit 0 main",
                "out1": "perf-cpu1.dat:0xe8 preempted 20788", "in1": "perf-cpu1.dat:0x100 in 20788",
                "out2": "perf-cpu1.dat:0x118 preempted 20788", "in2": "perf-cpu1.dat:0x130 in 20788",
                "out3": "perf-cpu1.dat:0x148 preempted 20788", "in3": "perf-cpu1.dat:0x160 in 20788"},
               self_time=("b - a + d - c + f - e - (in1 - task)",
                          "b - a + d - c + f - e - (in1 - out1) - (in2 - out2) - (in3 - out3)")),
    Difference(("n_same",), 20992, IDLE,
               {"task": "task.txt:2 TASK 20992",
                "a": "20992.dat:0x0 entry 0 __monstartup", "b": "20992.dat:0x10 exit 0 __monstartup",
                "c": "20992.dat:0x20 entry 0 __cxa_atexit", "d": "20992.dat:0x30 exit 0 __cxa_atexit",
                "e": "20992.dat:0x40 entry 0 main", "f": "20992.dat:0x130 exit 0 main",
                "out1": "perf-cpu1.dat:0x118 preempted 20992", "in1": "perf-cpu1.dat:0x130 in 20992"},
               self_time=("b - a + d - c + f - e - (in1 - task)", "b - a + d - c + f - e - (in1 - out1)")),
    # 38 calls and 6 times off the processor; uftrace counts the return from fork as well.
    Difference(("forkexec",), 20766, EXEC_TASK,
               {"exec": "20766.dat:0x10 entry 1 execl", "new": "20766.dat:0x20 entry 0 __monstartup",
                "b": "20766.dat:0x30 exit 0 __monstartup", "c": "20766.dat:0x40 entry 0 __cxa_atexit",
                "d": "20766.dat:0x50 exit 0 __cxa_atexit", "e": "20766.dat:0x60 entry 0 main",
                "f": "20766.dat:0x4b0 exit 0 main", "gone": "perf-cpu1.dat:0x288 exit 20766",
                "out1": "perf-cpu1.dat:0xf0 out 20766", "in1": "perf-cpu1.dat:0x150 in 20766",
                "out2": "perf-cpu1.dat:0x198 out 20766", "in2": "perf-cpu1.dat:0x1b0 in 20766",
                "out3": "perf-cpu1.dat:0x1c8 preempted 20766", "in3": "perf-cpu1.dat:0x1e0 in 20766",
                "out4": "perf-cpu1.dat:0x1f8 preempted 20766", "in4": "perf-cpu1.dat:0x210 in 20766",
                "out5": "perf-cpu1.dat:0x228 preempted 20766", "in5": "perf-cpu1.dat:0x240 in 20766",
                "out6": "perf-cpu1.dat:0x258 preempted 20766", "in6": "perf-cpu1.dat:0x270 in 20766"},
               calls=(45, 38 + 6), total=("gone - exec", "b - exec + d - c + f - e"),
               self_time=("gone - exec - (in1 - out1) - (in2 - out2)",
                          "b - exec + d - c + f - e - (in1 - out1) - (in2 - out2) - (in3 - out3) - (in4 - out4)"
                          " - (in5 - out5) - (in6 - out6)")),
    Difference(("n_forkexec",), 20981, EXEC_TASK,
               {"fork": "task.txt:3 FORK 20981",
                "exec": "20981.dat:0x10 entry 1 execl", "b": "20981.dat:0x30 exit 0 __monstartup",
                "c": "20981.dat:0x40 entry 0 __cxa_atexit", "d": "20981.dat:0x50 exit 0 __cxa_atexit",
                "e": "20981.dat:0x60 entry 0 main", "f": "20981.dat:0x4b0 exit 0 main",
                "gone": "perf-cpu1.dat:0x210 exit 20981",
                "out1": "perf-cpu1.dat:0xc0 preempted 20981", "in1": "perf-cpu1.dat:0xd8 in 20981",
                "out2": "perf-cpu1.dat:0xf0 preempted 20981", "in2": "perf-cpu1.dat:0x198 in 20981",
                "out3": "perf-cpu1.dat:0x1b0 preempted 20981", "in3": "perf-cpu1.dat:0x1c8 in 20981",
                "out4": "perf-cpu1.dat:0x1e0 preempted 20981", "in4": "perf-cpu1.dat:0x1f8 in 20981"},
               calls=(43, 38 + 4), total=("gone - exec", "b - exec + d - c + f - e"),
               self_time=("gone - exec - (in1 - fork)",
                          "b - exec + d - c + f - e - (in1 - out1) - (in2 - out2) - (in3 - out3) - (in4 - out4)")),
    Difference(("n_forkexec",), 20979, IDLE,
               {"task": "task.txt:2 TASK 20979",
                "a": "20979.dat:0x0 entry 0 __monstartup", "b": "20979.dat:0x10 exit 0 __monstartup",
                "c": "20979.dat:0x20 entry 0 __cxa_atexit", "d": "20979.dat:0x30 exit 0 __cxa_atexit",
                "e": "20979.dat:0x40 entry 0 main", "f": "20979.dat:0xd0 exit 0 main",
                "out1": "perf-cpu1.dat:0x60 preempted 20979", "in1": "perf-cpu1.dat:0x108 in 20979",
                "out2": "perf-cpu1.dat:0x120 preempted 20979", "in2": "perf-cpu1.dat:0x138 in 20979",
                "out3": "perf-cpu1.dat:0x180 out 20979", "in3": "perf-cpu1.dat:0x240 in 20979",
                "out4": "perf-cpu1.dat:0x258 out 20979", "in4": "perf-cpu1.dat:0x270 in 20979"},
               self_time=("b - a + d - c + f - e - (in1 - task) - (in3 - out3) - (in4 - out4)",
                          "b - a + d - c + f - e - (in1 - out1) - (in2 - out2) - (in3 - out3) - (in4 - out4)")),
    # The second child: nothing but the returns from fork and main, in which it was born.
    Difference(("forkexec",), 20767, FORK,
               {"a": "20767.dat:0x0 exit 1 fork", "b": "20767.dat:0x10 exit 0 main"}, calls=(2, 0)),
    Difference(("n_forkexec",), 20982, FORK,
               {"a": "20982.dat:0x0 exit 1 fork", "b": "20982.dat:0x10 exit 0 main"}, calls=(2, 0)),
    Difference(("longjmp",), 20810, JUMP_TASK,
               {"a": "20810.dat:0x0 entry 0 __monstartup", "b": "20810.dat:0x10 exit 0 __monstartup",
                "c": "20810.dat:0x20 entry 0 __cxa_atexit", "d": "20810.dat:0x30 exit 0 __cxa_atexit",
                "e": "20810.dat:0x40 entry 0 main", "f": "20810.dat:0x150 exit 0 main",
                "gone": "perf-cpu1.dat:0x28 exit 20810"},
               total=("b - a + d - c + gone - e", "b - a + d - c + f - e"),
               self_time=("b - a + d - c + gone - e", "b - a + d - c + f - e")),
)
