# SPDX-License-Identifier: BSD-3-Clause
"""Where the recordings of the corpus are, and what is beside them."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "cli")]

import corpora  # noqa: E402

VERSIONS = (13, 19)
RECORDED = 5 if corpora.is_own() else 30  # at least


def folder(kind):
    """The folder of `recorded` or `handmade` directories; None without a corpus."""
    path = corpora.root() / "uftrace" / kind
    return path if path.is_dir() else None


def recorded():
    """[(name, directory of the recording)] of those for which it is known what uftrace prints."""
    return [(path.name, path / "uftrace.data") for path in corpora.stores(folder("recorded")) if any(path.glob("golden1*/report.txt"))]


def named(name):
    """The recording of a name; in the project's own corpus, many names are links."""
    return folder("recorded") / name / "uftrace.data"


def handmade():
    """[(name, directory of the recording)] of those that were made to be unusual."""
    return [(path.name, path) for path in corpora.stores(folder("handmade"))]


def versions(data):
    """The versions of uftrace that printed a recording."""
    return [version for version in VERSIONS if (data.parent / f"golden{version}" / "report.txt").exists()]


def printed(data, version, name):
    """What a version of uftrace printed for a recording; None if that was not kept."""
    path = data.parent / f"golden{version}" / name
    return path.read_text(errors="surrogateescape") if path.exists() else None
