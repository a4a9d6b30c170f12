#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Writes src/lode.map, the list of exported symbols, from the LODE_API declarations of the public headers; and debian/liblode0.symbols,
which says since which version each of them is there. A symbol that is not listed yet is there since the version of meson.build.
"""

import argparse
import re
from pathlib import Path

from public_api import public_functions

ROOT = Path(__file__).resolve().parents[2]
NODE = "LODE_0"
SYMBOLS = ROOT / "debian" / "liblode0.symbols"


def map_text(names):
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */",
             "/* Written by tests/tools/make_map.py from include/lode; do not edit. */",
             f"{NODE} {{", "global:"]
    lines += [f"    {name};" for name in names]
    lines += ["local:", "    *;", "};"]
    return "\n".join(lines) + "\n"


def project_version():
    return re.search(r"^ *version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def listed_symbols(path):
    """{symbol: version since which it is there} of a symbols file of Debian."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(re.findall(rf"^ (\w+)@{NODE} (\S+)$", text, re.MULTILINE))


def symbols_text(names, since):
    version = project_version()
    lines = ["liblode.so.0 liblode0 #MINVER#", "* Build-Depends-Package: liblode-dev"]
    lines += [f" {name}@{NODE} {since.get(name, version)}" for name in (NODE, *names)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=Path, default=ROOT / "include" / "lode")
    parser.add_argument("--output", type=Path, default=ROOT / "src" / "lode.map")
    parser.add_argument("--symbols", type=Path, default=SYMBOLS)
    options = parser.parse_args()
    names = public_functions(options.headers)
    options.output.write_text(map_text(names), encoding="utf-8")
    options.symbols.write_text(symbols_text(names, listed_symbols(options.symbols)), encoding="utf-8")
    print(f"{options.output.name}: {len(names)} functions")


if __name__ == "__main__":
    main()
