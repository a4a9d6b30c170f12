# SPDX-License-Identifier: BSD-3-Clause
"""
Where replays and trees differ from those of uftrace on the recordings of the corpus, line by line; the reasons are
those of differences.py, which has the proofs. Tests fail at a line that is not here, and at one that is here and
gone.

A line of a replay is: - uftrace's, + Lode's; task; > enter, < leave, * note; depth; text.
"""

import re

from differences import DEPTH, EVENTS, EXEC, FORK, JUMP, OPEN, SIZES, SYMBOLS

SCHEDULE = "linux:schedule"
PREEMPTED = "linux:schedule (pre-empted)"

# (recordings, versions, reason, lines)
REPLAYS = (
    (("mt", "extern"), (13, 19), OPEN, ("+ 20754 < 1 pthread_exit", "+ 20754 < 0 early")),
    (("n_mt",), (13, 19), OPEN, ("+ 20936 < 0 early",)),
    (("killed",), (13, 19), OPEN, ("+ 20821 < 0 main",)),
    (("forkexec",), (13, 19), FORK, ("- 20766 < 1 fork", "- 20767 < 1 fork", "- 20767 < 0 main")),
    (("forkexec",), (13, 19), EXEC,
     (f"+ 20766 * 2 {SCHEDULE}", "+ 20766 * 2 linux:task-name abc-exec", f"+ 20766 * 2 {SCHEDULE}",
      *(f"+ 20766 * 2 {PREEMPTED}",) * 4, "+ 20766 < 1 execl")),
    (("n_forkexec",), (13, 19), FORK, ("- 20981 < 1 fork", "- 20982 < 1 fork", "- 20982 < 0 main")),
    # Nothing else is shown while the parent waits for its second child, so that this is one line.
    (("n_forkexec",), (13, 19), FORK,
     ("- 20979 * 2 linux:sched-out", "- 20979 * 2 linux:sched-in", f"+ 20979 * 2 {SCHEDULE}")),
    # While the child is off its processor the second time, the parent runs.
    (("n_forkexec",), (13, 19), EXEC,
     ("+ 20981 * 2 linux:task-name abc-exec", f"+ 20981 * 2 {PREEMPTED}", "+ 20981 * 2 linux:sched-out (pre-empted)",
      "+ 20981 * 2 linux:sched-in", f"+ 20981 * 2 {PREEMPTED}", f"+ 20981 * 2 {PREEMPTED}", "+ 20981 < 1 execl")),
    (("longjmp",), (13, 19), JUMP,
     ("- 20810 < 2 _setjmp", "+ 20810 < 6 longjmp", *(f"+ 20810 < {depth} jumper" for depth in (5, 4, 3, 2)))),
    (("same_basename",), (13, 19), SYMBOLS,
     ("- 20788 > 1 <7fbede59a103>()", "- 20788 < 1 <7fbede59a103>", "+ 20788 > 1 plug_run()", "+ 20788 < 1 plug_run")),
    (("n_same",), (13,), SIZES,
     ("- 20992 > 1 <7f3d00f46103>()", "- 20992 < 1 <7f3d00f46103>", "+ 20992 > 1 plug_run()", "+ 20992 < 1 plug_run")),
)

# Replays of a version that end early, and all lines up to there are the same.
ENDS_EARLY = {("n_callsite", 13): EVENTS, ("n_watchvar", 13): EVENTS}

# Replays that were not kept: thousands of lines that are indented by thousands of blanks.
NOT_KEPT = ("deep1024", "deep4k")


def in_form_of_uftrace(item):
    """A line of Lode's replay that says the same in other words, in those of uftrace; None if uftrace has no line for it."""
    if item.kind == "note":
        if item.name.startswith("callsite ("):
            return None  # a comment behind the call
        if match := re.fullmatch(r"watch:var \(address=&(\w+) value=(.*)\)", item.name):
            return item._replace(name=f"watch:var ({match[1]}={match[2]})")
        if match := re.fullmatch(r"(external-data|linux:task-name)\W+(?:\w+=)?\W*(.*?)\W*", item.name):
            mark = ":" if match[1] == "external-data" else ""
            return item._replace(name=f"{match[1]}{mark} {match[2]}")
        return item
    return _plain(item)


def of_no_task(item):
    """uftrace prints messages of the user as if a task had made them: the one that is next to print something."""
    return item._replace(tid=0) if item.kind == "note" and item.name.startswith("external-data") else item


def _plain(item):
    """
    Lode prints strings with their control characters escaped, so that a line stays one; uftrace the format of printf only.
    A result without bytes, an empty structure, is none.
    """
    if item.kind == "leave" and re.fullmatch(r"\w+\{\}", item.values):
        return item._replace(values="")
    return item._replace(values=item.values.replace("\\n", "\n").replace("\\t", "\t"))


def in_form_of_lode(item):
    """A line of uftrace's replay, for comparison."""
    return _plain(of_no_task(item))


# Trees: (recordings, versions, reason, {path: (uftrace has it, Lode has it)}); True and True: with other numbers.
JUMPERS = ("main", "dojmp") + ("jumper",) * 4
GRAPHS = (
    (("mt", "extern"), (13, 19), OPEN, {("early",): (True, True), ("early", "pthread_exit"): (True, True)}),
    (("n_mt",), (13, 19), OPEN, {("early",): (True, True)}),
    # In the child main was never entered: execl is its outermost call.
    (("forkexec",), (13, 19), EXEC,
     {("execl",): (False, True), ("execl", SCHEDULE): (False, True), ("execl", PREEMPTED): (False, True),
      ("main", "execl"): (True, False)}),
    (("n_forkexec",), (13, 19), EXEC,
     {("execl",): (False, True), ("execl", PREEMPTED): (False, True), ("main", "execl"): (True, False)}),
    # graph does not heed setjmp at all: the calls behind the jump become calls of jumper.
    (("longjmp",), (13, 19), JUMP,
     {**{JUMPERS[:depth]: (True, True) for depth in range(1, 7)}, JUMPERS + ("longjmp",): (True, True),
      ("main", "after"): (False, True), ("main", "printf"): (False, True), ("main", "dojmp", "after"): (False, True),
      JUMPERS[:5] + ("after",): (True, False), JUMPERS[:5] + ("printf",): (True, False),
      JUMPERS + ("after",): (True, False)}),
    (("deep4k",), (13, 19), DEPTH, {("main",) + ("rec",) * count: (False, True) for count in range(1024, 1502)}),
    (("same_basename",), (13, 19), SYMBOLS,
     {("main", "plug_run"): (False, True), ("main", "<7fbede59a103>"): (True, False)}),
    (("n_same",), (13,), SIZES, {("main", "plug_run"): (False, True), ("main", "<7f3d00f46103>"): (True, False)}),
)

# What `lode check` finds in what uftrace recorded, besides modules without symbols: notes on what is special.
NO_SYMBOLS = {name: 1 for name in ("exc", "n_exc")}  # of libmcount; else of libstdc++ as well: 2
# The project's own that were recorded without calls of libraries have symbols of the program only.
NO_SYMBOLS |= {name: 12 for name in ("args-named", "instrumented", "throws", "workers-calls")}
FINDINGS = {
    "deep4k": {"depth-wrapped": 1},
    "mt": {"call-open": 1},
    "extern": {"call-open": 1},
    "n_mt": {"call-open": 1},
    "killed": {"call-open": 1},
    "longjmp": {"call-jumped": 1},
    "forkexec": {"exit-inherited": 3, "call-replaced": 1},
    "n_forkexec": {"exit-inherited": 3, "call-replaced": 1},
    "n_same": {"address-unknown": 1},
}
