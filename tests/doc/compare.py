#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the documents say what the code does? And would this test notice if they did not?"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import format_tables  # noqa: E402
import rule_list  # noqa: E402
from tap import Tap  # noqa: E402

# How to spoil a document, and the table or rule that must then be found to differ. Patterns match once.
SPOILT_FORMAT = [
    ("an offset is changed", r"`0x15`( \| `u8` \| `relation`)", r"`0x19`\1", "structure Context"),
    ("a type is changed", r"`u32`( \| `logicalId`)", r"`u64`\1", "structure Id"),
    ("a field is renamed", r"`pCtxIndices`( \| array)", r"`pIndices`\1", "structure Profile"),
    ("a field is missing", r"\| `0x1a` \| `u16` \| `nSummaries` .*\n", "", "structure Metric"),
    ("a field is added", r"(\| `0x08` \| `u32` \| `ctxId` .*\n)", r"\1| `0x0c` | `u32` | `more` | |\n",
     "structure Sample"),
    ("two fields change places", r"(\| `0x00` \| `u64` \| `pTitle` .*\n)(\| .*\n)", r"\2\1", "structure General"),
    ("a size is changed", r"`0x1b`( \| \| \*\*size\*\*)", r"`0x20`\1", "structure Metrics"),
    ("an alignment is changed", r"(### ContextValue\n\n.*\n.*\n\| )4", r"\g<1>8", "structure ContextValue"),
    ("a structure is missing", r"### Trace\n(?:.*\n)*?(?=### Sample)", "", "structure Trace"),
    ("a structure is added", r"(?=### Sample)", "### Extra\n\n| Offset | Type | Field | Meaning |\n"
     "|---:|---|---|---|\n| 8 | | **alignment** | |\n| `0x08` | | **size** | |\n\n", "structure Extra"),
    ("a structure is described twice", r"(### IdTuple\n(?:.*\n)*?)(?=### Id\n)", r"\1\1", ""),
    ("a table lacks its size", r"\| `0x18` \| \| \*\*size\*\* \| may grow \|\n(?=\n### Sample)", "", "structure Trace"),
    ("an offset is no number", r"`0x15`( \| `u8` \| `relation`)", r"fifteen\1", "structure Context"),
    ("a section has another offset", r"`0x50`( \| Common String Table)", r"`0x58`\1", "Sections of meta.db"),
    ("a section begins with another structure", r"(Load Modules \| )`Modules`", r"\1`IdNames`", "Sections of meta.db"),
    ("a section has another alignment", r"(Common String Table \| \| )1", r"\g<1>8", "Sections of meta.db"),
    ("a section is missing", r"\| `0x20` \| Identifier Tuples .*\n", "", "Sections of profile.db"),
    ("a footer is changed", r"`__ctx\.db`", "`_cct.db`", "files"),
    ("a value of an enumeration is missing", r"\| 2 \| inlined_call .*\n", "", "Enumeration: relation"),
    ("a flag has another bit", r"\| 2( \| hasPoint)", r"| 3\1", "Flags: Context.flags"),
]
SPOILT_DRAFTS = [
    ("an offset is changed", r"`0x2c`( \| `u64` \| `prof_off`)", r"`0x28`\1", "structure Profile"),
    ("a field is renamed", r"`num_nzmids`( \| how)", r"`num_metrics`\1", "structure Context"),
    ("a size is changed", r"`0x12`( \| \| \*\*size\*\*)", r"`0x10`\1", "structure Id"),
]
SPOILT_HPCRUN = [
    ("an offset is changed", r"`0x0a`( \| `u64` \| `offset`)", r"`0x0c`\1", "structure Node"),
    ("a field is renamed", r"`relation`( \| 1: values)", r"`call`\1", "structure MetricFlags"),
    ("a size is changed", r"`0x70`( \| \| \*\*size\*\*)", r"`0x78`\1", "structure Footer"),
]
SPOILT_RULES = [
    ("a rule is missing", r"### file-kind\n(?:.*\n)*?(?=### )", "", "file-kind"),
    ("a rule is renamed", r"### trace-idle", "### trace-sleep", "trace-sleep"),
    ("a rule has another severity", r"(### cct-extra\n\nSeverity: )error", r"\1warning", "cct-extra"),
    ("a rule has another level", r"(### cct-extra\n\nSeverity: error\. Level: )full", r"\1quick", "cct-extra"),
    ("a rule is described twice", r"(### cct-extra\n(?:.*\n)*?)(?=### )", r"\1\1", ""),
    ("two rules change places", r"(### cct-extra\n(?:.*\n)*?)(### cct-lacks\n(?:.*\n)*?)(?=### )", r"\2\1", ""),
    ("a rule does not say what to do", r"(### cct-extra\n(?:.*\n)*?)- What to do: .*\n", r"\1", ""),
]


def self_test(tap, spoilt, text, output, differences):
    for what, pattern, replacement, name in spoilt:
        changed, count = re.subn(pattern, replacement, text)
        found = differences(changed, output)
        tap.check(count == 1 and found.get(name), f"self-test: noticed when {what}",
                  [f"changed in {count} places", *(f"{key}: {value}" for key, value in found.items() if value)])


def compare(tap, spoilt, path, output, differences):
    text = path.read_text(encoding="utf-8")
    for name, details in differences(text, output).items():
        tap.check(not details, f"{path.name}: {name or 'the shape of the document'}", details)
    self_test(tap, spoilt, text, output, differences)


def output_of(command):
    # Meson says how to run what was built for another machine.
    wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    return subprocess.run([*wrapper, *command], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wire-tables", help="the program of that name, to compare the format with")
    parser.add_argument("--lode", help="the program, to compare the rules with")
    options = parser.parse_args()
    tap = Tap()
    if options.wire_tables:
        compare(tap, SPOILT_FORMAT, ROOT / "doc" / "formats" / "hpctoolkit-4.0.md",
                output_of([options.wire_tables]), format_tables.differences)
        compare(tap, SPOILT_DRAFTS, ROOT / "doc" / "formats" / "hpctoolkit-drafts.md",
                output_of([options.wire_tables, "drafts"]), format_tables.differences)
        compare(tap, SPOILT_HPCRUN, ROOT / "doc" / "formats" / "hpcrun.md",
                output_of([options.wire_tables, "hpcrun"]), format_tables.differences)
    if options.lode:
        compare(tap, SPOILT_RULES, ROOT / "doc" / "rules.md",
                output_of([options.lode, "check", "--rules", "--json"]), rule_list.differences)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
