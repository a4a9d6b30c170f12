#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Writes src/lode.map, the list of exported symbols, from the LODE_API declarations of the public headers; and debian/liblode1.symbols,
which says since which version each of them is there. A symbol that is not listed yet is there since the version of meson.build.
"""

import argparse
import re
from pathlib import Path

from public_api import public_functions

ROOT = Path(__file__).resolve().parents[2]
SYMBOLS = ROOT / "debian" / "liblode1.symbols"


def project_version():
    return re.search(r"^ *version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def nodes():
    """The version node of each tier. One that no other release has keeps programs of other releases from starting."""
    version = project_version()
    return {"stable": "LODE_1", "unstable": "LODE_UNSTABLE_" + version.rpartition(".")[0], "private": "LODE_PRIVATE_" + version}


def functions_by_node(headers):
    return {node: public_functions(headers, [tier]) for tier, node in nodes().items()}


def map_text(by_node):
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */",
             "/* Written by tests/tools/make_map.py from include/lode; do not edit. */"]
    for node, names in by_node.items():
        lines += [f"{node} {{", "global:", *(f"    {name};" for name in names)]
        lines += ["local:", "    *;", "};"] if node == nodes()["stable"] else ["};"]
    return "\n".join(lines) + "\n"


def listed_symbols(path):
    """{symbol@node: version since which it is there} of a symbols file of Debian."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(re.findall(r"^ (\w[^ ]*@\S+) (\S+)$", text, re.MULTILINE))


def versioned(by_node):
    return [f"{name}@{node}" for node, names in by_node.items() for name in (node, *names)]


def symbols_text(by_node, since):
    version = project_version()
    lines = ["liblode.so.1 liblode1 #MINVER#", "* Build-Depends-Package: liblode-dev"]
    lines += [f" {name} {since.get(name, version)}" for name in sorted(versioned(by_node))]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=Path, default=ROOT / "include" / "lode")
    parser.add_argument("--output", type=Path, default=ROOT / "src" / "lode.map")
    parser.add_argument("--symbols", type=Path, default=SYMBOLS)
    options = parser.parse_args()
    by_node = functions_by_node(options.headers)
    options.output.write_text(map_text(by_node), encoding="utf-8")
    options.symbols.write_text(symbols_text(by_node, listed_symbols(options.symbols)), encoding="utf-8")
    print(f"{options.output.name}: " + ", ".join(f"{len(names)} functions of {node}" for node, names in by_node.items()))


if __name__ == "__main__":
    main()
