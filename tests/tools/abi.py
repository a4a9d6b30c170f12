#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The stable part of the public interface as libabigail sees it, and the baseline that it is compared with: tests/abi/baseline.xml.

Run after a change of the public headers that is meant: it writes the new baseline. A change that programs which were
compiled before cannot live with is refused, unless --break says that it is one; doc/abi.md says what else to do then.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from public_api import public_functions, public_headers, without_comments

ROOT = Path(__file__).resolve().parents[2]
BASELINE = ROOT / "tests" / "abi" / "baseline.xml"
ABIDW = ["abidw", "--no-architecture", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
         "--drop-undefined-syms", "--no-parameter-names", "--no-write-default-sizes", "--type-id-style", "hash"]
TYPE = re.compile(r"\btypedef (?:struct|enum) (\w+) \{")


def surface(include):
    """A source with a variable for every function and type of the headers. It sees what a caller sees: bytes in place of
    what is private, and names without content for what is opaque. The library itself knows more."""
    headers = include / "lode"
    functions = public_functions(headers, ["stable"])
    types = sorted({name for header in public_headers(headers, ["stable"])
                    for name in TYPE.findall(without_comments(header.read_text(encoding="utf-8")))})
    lines = ["#include <lode/lode.h>"]
    lines += [f"#undef {name}\n__typeof__(&{name}) abi_{name};" for name in functions]
    lines += [f"{name} abi_type_{name};" for name in types]
    return "\n".join(lines) + "\n"


def describe(include):
    """The interface as XML."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "interface.c", Path(folder) / "interface.so"
        source.write_text(surface(include), encoding="utf-8")
        subprocess.run(["gcc", "-std=c11", "-g", "-O0", "-fPIC", "-shared", f"-I{include.resolve()}", "-Wl,-soname,interface",
                        "-o", library.name, source.name], check=True, cwd=folder)
        return subprocess.run([*ABIDW, str(library)], check=True, capture_output=True, text=True).stdout


def compare(old, new):
    """What abidiff says of two descriptions: (whether they differ in more than additions, its report)."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in (("baseline", old), ("headers", new)):
            paths.append(Path(folder) / f"{name}.xml")
            paths[-1].write_text(text, encoding="utf-8")
        # "harmless" ones too: a value of an enumeration that was added, a name that changed.
        run = subprocess.run(["abidiff", "--no-added-syms", "--harmless", *map(str, paths)], capture_output=True, text=True)
    if run.returncode & 3:
        raise RuntimeError(run.stdout + run.stderr)
    return run.returncode != 0, run.stdout


class Interface:
    """What a description says, by names."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.types = {node.get("id"): node for node in root.iter() if node.get("id")}
        self.variables = {node.get("name"): self.spell(node.get("type-id")) for unit in root.findall("abi-instr")
                          for node in unit.findall("var-decl")}
        self.enumerations = {node.get("name"): {(item.get("name"), item.get("value")) for item in node.findall("enumerator")}
                             for node in root.iter("enum-decl")}
        self.structs = {}
        for node in root.iter("class-decl"):
            members = {(item.get("layout-offset-in-bits"), item[0].get("name"), self.spell(item[0].get("type-id")))
                       for item in node.findall("data-member")}
            if not node.get("is-declaration-only"):
                self.structs[node.get("name")] = (int(node.get("size-in-bits")), members)

    def spell(self, number):
        """A type as text, down to names: what is behind a name is compared on its own."""
        node = self.types.get(number)
        if node is None:
            return number or "void"
        below = self.spell(node.get("type-id"))
        if node.tag == "pointer-type-def":
            return f"{below} *"
        if node.tag == "qualified-type-def":
            return f"{'const ' if node.get('const') else ''}{'volatile ' if node.get('volatile') else ''}{below}"
        if node.tag == "array-type-def":
            return below + "".join(f"[{part.get('length')}]" for part in node.findall("subrange"))
        if node.tag == "function-type":
            parts = [self.spell(part.get("type-id")) for part in node.findall("parameter")]
            return f"{self.spell(node.find('return').get('type-id'))} ({', '.join(parts)})"
        if node.tag == "union-decl" or not node.get("name") or node.get("is-anonymous"):
            return node.tag + str([(item[0].get("name"), self.spell(item[0].get("type-id"))) for item in node.findall("data-member")])
        return node.get("name")


# Callers make arrays of these, or fill them in without saying a size: they never grow (doc/abi.md).
FIXED = {"lode_argument", "lode_block", "lode_build_phase", "lode_build_sources", "lode_column", "lode_distribution", "lode_error", "lode_estimate", "lode_event", "lode_group", "lode_id",
         "lode_memory_file", "lode_merge_input", "lode_metric_scope", "lode_metric_statistic", "lode_model", "lode_sample", "lode_search_attribute",
         "lode_search_value", "lode_trace_line", "lode_u_test", "lode_value", "lode_writer_context", "lode_writer_function"}


def breaks(old_text, new_text):
    """What a program that was compiled with the old headers cannot live with."""
    old, new = Interface(old_text), Interface(new_text)
    found = [f"{name[4:]} is gone or has another type" for name, kind in old.variables.items() if new.variables.get(name) != kind]
    for name, values in old.enumerations.items():
        found += [f"{name}: {value} is gone or has another value" for value, _ in sorted(values - new.enumerations.get(name, set()))]
    for name, (size, members) in old.structs.items():
        new_size, new_members = new.structs.get(name, (0, set()))
        found += [f"{name}: {field} is gone, moved or of another type" for _, field, _ in sorted(members - new_members)]
        found += [f"{name}: {field} is new and not behind the old end, at {size // 8} bytes"
                  for offset, field, _ in sorted(new_members - members) if int(offset) < size]
        if name in FIXED and new_size != size:
            found.append(f"{name} has another size, and callers make arrays of it or give none")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--break", dest="may_break", action="store_true", help="the change breaks programs, and that is meant")
    options = parser.parse_args()
    text = describe(ROOT / "include")
    if BASELINE.exists():
        old = BASELINE.read_text(encoding="utf-8")
        print(compare(old, text)[1] or "nothing but additions")
        broken = breaks(old, text)
        if broken and not options.may_break:
            print("not written; programs that were compiled before would break:", *broken, sep="\n  ")
            return 1
    BASELINE.write_text(text, encoding="utf-8")
    print(f"{BASELINE.relative_to(ROOT)}: {len(Interface(text).variables)} functions and types")
    return 0


if __name__ == "__main__":
    sys.exit(main())
