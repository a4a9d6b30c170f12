#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The 34 hand-made directories of the corpus, odd or broken in one way each: what `lode top` says of their calls, and
all that `lode check` finds, both derived by hand from the records. They all come from one:

    offset  time  record             offset  time  record
    0x00    1000  entry f0 depth 0   0x40    1040  exit  f1 depth 1
    0x10    1010  entry f1 depth 1   0x50    1050  entry f3 depth 1
    0x20    1020  entry f2 depth 2   0x60    1060  exit  f3 depth 1
    0x30    1030  exit  f2 depth 2   0x70    1070  exit  f0 depth 0

so that, with self = total less what is called: f0 takes 70 in all, f1 30, f2 10, f3 10; 30, 20, 10 and 10 of that
themselves. Times are in nanoseconds behind 1.000000000 s. Needs the corpus.
"""

import sys
from typing import NamedTuple

import corpus_files

import cli  # noqa: E402  corpus_files knows where it is
import lodejson  # noqa: E402

SOUND = {"f0": (1, 70, 30), "f1": (1, 30, 20), "f2": (1, 10, 10), "f3": (1, 10, 10)}
NO_OFFSET = None


class Case(NamedTuple):
    rows: dict  # {name: (calls, total, self)}
    findings: list  # (rule, file, offset), in the order of the check
    why: str


CASES = {
    "ok": Case(SOUND, [], "nothing is wrong"),

    # Other writers.
    "be": Case(SOUND, [], "big-endian throughout"),
    "c32": Case(SOUND, [], "of a 32-bit program; records are the same"),
    "v3": Case(SOUND, [], "version 3 has the same records as long as there are no values in them"),

    # The info file.
    "badhdrmagic": Case(SOUND, [("info-magic", "info", 0)],
                        "the info file is not one; tasks are known from task.txt and the data files"),
    "v5": Case(SOUND, [("info-version", "info", 8)], "there is no version 5; all of it reads as version 4"),
    "be_noswap_hdr": Case(SOUND, [("info-byte-order", "info", 14)],
                          "byte 14 says big-endian, but version and masks, and all records, are little-endian"),
    "hs48": Case(SOUND, [("info-header-size", "info", 12)], "a header of 48 bytes, it says; the text begins at 40"),
    "featbit20": Case(SOUND, [("info-features", "info", 16)], "feature 20 is not known; nothing of it is in the files"),
    "infobit20": Case(SOUND, [("info-lines", "info", 24)], "a line of kind 20 is said to be there, behind all others"),
    "ms0": Case(SOUND, [("info-stack", "info", 32)], "max_stack is 0, though f0 is called"),
    "ms2": Case(SOUND, [("info-stack", "info", 32)], "max_stack is 2, so depths 0 and 1; f2 has depth 2"),

    # Tasks and sessions.
    "garbagetask": Case(SOUND, [("task-line", "task.txt", 78)], "the second line, at byte 78, is `TASK foo`"),
    "longsid": Case(SOUND, [("session-id", "task.txt", 0)],
                    "a session id of 64 characters; the map is named after the first 16"),
    "extratid": Case({name: tuple(2 * number for number in row) for name, row in SOUND.items()},
                     [("task-unknown", "task.txt", NO_OFFSET), ("session-missing", "task.txt", NO_OFFSET)],
                     "101 is listed and has data, the same as 100, but no line in task.txt; there is one map, which is taken"),
    "nodat": Case(SOUND, [("data-missing", "101.dat", NO_OFFSET)], "101 is listed and has a line, but no data"),
    "empty": Case({}, [("task-empty", "100.dat", NO_OFFSET)], "100.dat has no bytes"),
    "nosess": Case(SOUND, [("session-missing", "task.txt", NO_OFFSET)],
                   "no session, but a map; there is only one, so it is taken"),
    "sesslate": Case(SOUND, [("session-late", "100.dat", 0)],
                     "the session begins at 9 s, the records at 1 s; it is the only one, so it is taken"),
    "nomap": Case({f"<{0x555555555000 + 0x40 * i:x}>": SOUND[f"f{i}"] for i in range(4)},
                  [("map-missing", "sid-0123456789abcdef.map", NO_OFFSET)] +
                  [("address-unknown", "100.dat", offset) for offset in (0x00, 0x10, 0x20, 0x50)],
                  "without a map no address has a name: four functions, first seen at their entries"),

    # Symbols.
    "hugesym": Case(SOUND, [("symbols-count", "prog.sym", 0)], "999,999,999,999 symbols, it says; there are 8"),
    "unknownsym": Case({"<1234>": (1, 10, 10)}, [("address-unknown", "100.dat", 0x00)],
                       "entry at 1000 and exit at 1010 of an address that lies in no module"),

    # Records.
    "badmagic": Case({"f0": (1, 70, 20), "f1": (1, 40, 30), "f2": (1, 10, 10), "f3": (1, 10, 10)},
                     [("record-magic", "100.dat", 0x40), ("exit-missing", "100.dat", 0x50)],
                     "the record at 0x40, f1's exit, has magic 3. f3's entry at 1050, at f1's depth, shows that f1 has ended:"
                     " 1050 - 1010 = 40, less f2's 10; f0 has 70 - 40 - 10 left"),
    "trunc": Case({"f0": (1, 60, 20), "f1": (1, 30, 20), "f2": (1, 10, 10), "f3": (1, 10, 10)},
                  [("record-cut", "100.dat", 0x70), ("call-open", "100.dat", 0x7b)],
                  "the last record, f0's exit, has 11 bytes. f0 ends with the last whole record: 1060 - 1000 = 60, less 30 and 10"),
    "missexit": Case({"f0": (1, 70, 30), "f1": (1, 30, 10), "f2": (1, 20, 20), "f3": (1, 10, 10)},
                     [("exit-missing", "100.dat", 0x30)],
                     "f2 has no exit. f1's, at 1040, shows that it has ended: 1040 - 1020 = 20; f1 has 30 - 20 left"),
    "orphanexit": Case({"f0": (1, 65, 25), "f1": (1, 30, 20), "f2": (1, 10, 10), "f3": (1, 10, 10)},
                       [("exit-orphan", "100.dat", 0x00), ("exit-orphan", "100.dat", 0x10), ("record-time", "100.dat", 0x20)],
                       "two exits before the first entry are left out. The second is at 1005, so f0's entry, at 1000, is held there:"
                       " 1070 - 1005 = 65"),
    "exitmismatch": Case(SOUND, [("exit-other", "100.dat", 0x30)],
                         "the exit at depth 2 has the address of f5; the call that ends there is f2"),
    "depthjump": Case({"f0": (1, 30, 20), "f1": (1, 10, 10)}, [("record-depth", "100.dat", 0x10)],
                      "f0 from 1000 to 1030, f1 from 1010 to 1020 at depth 5"),
    "inverted": Case({"f0": (1, 70, 30), "f1": (1, 30, 30), "f2": (1, 0, 0), "f3": (1, 10, 10)},
                     [("record-time", "100.dat", 0x30)],
                     "f2's exit is at 1005, before its entry at 1020: it is held there, and f2 takes no time"),
    "lost": Case({"f0": (1, 70, 25), "f1": (1, 35, 35), "f2": (1, 0, 0), "f3": (1, 10, 10)},
                 [("record-lost", "100.dat", 0x30)],
                 "7 records are lost behind f2's entry. The next is f1's exit, at 1045: f0 and f1 are still open, and f1 takes 35."
                 " f2 ends at the last time before the loss, its own entry; f0 has 70 - 35 - 10 left"),
    "lost_t": Case({"f0": (1, 70, 25), "f1": (1, 35, 35), "f2": (1, 0, 0), "f3": (1, 10, 10)},
                   [("record-lost", "100.dat", 0x30)],
                   "as `lost`; that record has a time, 1025, which means nothing: uftrace writes 0"),

    # Values and events in records.
    "moreflag": Case({"f0": (1, 10, 10)}, [("record-payload", "100.dat", 0x00)],
                     "f0's entry says that it has values, and nothing specifies them; the next record is right behind it."
                     " 1000 to 1010"),
    "evunk": Case({"f0": (1, 10, 10)}, [("event-unknown", "100.dat", 0x10), ("record-payload", "100.dat", 0x10)],
                  "event 100099 says that it has values: the bytes behind it would make that 52,722 of them, more than there are;"
                  " they are the next record. f0 from 1000 to 1010"),
    "evuser": Case({"f0": (1, 10, 10)}, [("event-unknown", "100.dat", 0x10)],
                   "event 1000000 is a user's, and there is no events.txt to name it. f0 from 1000 to 1010"),
}


def rows_of(program, path):
    """{name: (calls, total, self)} of `lode top`."""
    answer = program.run("top", path, "--by", "symbol", "--json", "--limit", "0", "--sched", cwd=path.parent)
    rows = lodejson.loads(answer.out)["rows"]
    return {row["name"]: (row["calls"], row["total_ns"], row["self_ns"]) for row in rows}


def findings_of(program, path):
    """[(rule, file, offset)] of `lode check`."""
    answer = program.run("check", path, "--level", "full", "--json", cwd=path.parent)
    found = lodejson.loads(answer.out)["findings"]
    return [(finding["rule"], finding["file"], finding.get("offset")) for finding in found]


def handmade_directories(program):
    root = corpus_files.folder("handmade")
    if root is None:
        raise cli.MissingCorpus
    missing = sorted(set(CASES) - {path.name for path in root.iterdir()})
    program.equal(missing, [], f"{len(CASES)} directories, each with a stated result")
    for name, case in CASES.items():
        program.equal(rows_of(program, root / name), case.rows, f"{name}: rows: {case.why}")
        program.equal(findings_of(program, root / name), case.findings, f"{name}: findings: {case.why}")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, handmade_directories))
