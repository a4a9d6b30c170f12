# SPDX-License-Identifier: BSD-3-Clause
"""Where the recordings of the corpus are, and what is beside them."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "cli")]

VERSIONS = (13, 19)
RECORDED, HANDMADE = 30, 34


def folder(kind):
    """The folder of `recorded` or `handmade` directories; None without a corpus."""
    named = os.environ.get("LODE_CORPUS") or os.environ.get("LODE_CORPUS_DEFAULT") or ROOT.parent / "shared" / "corpus"
    path = Path(named).resolve() / "uftrace" / kind
    return path if path.is_dir() else None


def recorded():
    """[(name, directory of the recording)]."""
    root = folder("recorded")
    return [(path.name, path / "uftrace.data") for path in sorted(root.iterdir())] if root else []


def printed(data, version, name):
    """What a version of uftrace printed for a recording; None if that was not kept."""
    path = data.parent / f"golden{version}" / name
    return path.read_text(errors="surrogateescape") if path.exists() else None
