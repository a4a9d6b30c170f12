#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The stable headers of a release as one header without comments, for a test with a program of that time: freeze.py VERSION. Run once, at the
release: tests/abi/lode-VERSION.h and the sizes of structs of callers, sizes-VERSION.def, are never changed after it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from public_api import public_headers, without_comments

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^#include <lode/(\w+)\.h>\n", re.MULTILINE)


def in_order(headers):
    """Headers after those that they include."""
    texts, order = {header.stem: header.read_text(encoding="utf-8") for header in headers}, []

    def add(name):
        if name not in order:
            for below in INCLUDE.findall(texts[name]):
                add(below)
            order.append(name)

    for name in sorted(texts):
        if name not in ("lode", "unstable"):
            add(name)
    return [(name, texts[name]) for name in order]


def bare(text):
    text = INCLUDE.sub("", without_comments(text))
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)).strip()


def sizes(types):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "sizes.c", Path(folder) / "sizes"
        lines = "".join(f'    printf("%zu\\n", sizeof({name}));\n' for name in types)
        source.write_text(f"#include <lode/lode.h>\n#include <stdio.h>\nint main(void)\n{{\n{lines}    return 0;\n}}\n", encoding="utf-8")
        subprocess.run(["cc", f"-I{ROOT / 'include'}", "-o", program, source], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()


def main():
    version, headers = sys.argv[1], in_order(public_headers(ROOT / "include" / "lode", ["stable"]))
    name = version.replace(".", "_")
    head = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
    text = "\n".join(f"/* ---- {header}.h ---- */\n{bare(text)}" for header, text in headers)
    (ROOT / "tests" / "abi" / f"lode-{version}.h").write_text(
        f"{head}/* The stable headers of version {version} by tests/tools/freeze.py. Never edited. */\n{text}\n",
        encoding="utf-8")
    types = sorted(set(re.findall(r"^\} (lode_\w+(?:_options|_result|_slice)|lode_slice|lode_block|lode_trace_line|lode_error);", text, re.MULTILINE)))
    lines = "".join(f"SIZE_{name}({kind}, {size})\n" for kind, size in zip(types, sizes(types)))
    (ROOT / "tests" / "abi" / f"sizes-{version}.def").write_text(
        f"{head}/* Sizes of structs of callers in version {version}, where pointers have 64 bits. */\n{lines}", encoding="utf-8")
    print(f"{len(headers)} headers, {len(types)} structs")


if __name__ == "__main__":
    main()
