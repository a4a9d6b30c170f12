# SPDX-License-Identifier: BSD-3-Clause
"""Where the stores are that tests read, and what is there. It may be more than a test knows."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The project's own: small, made by tests/data/make.py, in the same folders as the larger one.
OWN = ROOT / "tests" / "data"
BESIDE = ROOT.parent / "shared" / "corpus"
# One of these is in every store: of HPCToolkit, its drafts, uftrace, around a recording of uftrace, Zorka.
MARKS = ("meta.db", "experiment.xml", "info", "uftrace.data", "000000")


def root():
    """What LODE_CORPUS names, else the larger corpus beside the repository, else the project's own. tests/meson.build decides the same for C."""
    named = os.environ.get("LODE_CORPUS")
    if named:
        return Path(named).resolve()
    return BESIDE.resolve() if BESIDE.is_dir() else OWN


def is_own():
    """Whether there is nothing but the project's own stores."""
    return root() == OWN


def either(larger, own):
    """What a test knows of the larger corpus, or what it knows of the project's own."""
    return own if is_own() else larger


def stores(folder):
    """The stores in a folder, sorted; other files and folders are ignored, and links, which are other names of stores."""
    found = sorted(path for path in folder.iterdir() if not path.is_symlink()) if folder and folder.is_dir() else []
    return [path for path in found if any((path / mark).exists() for mark in MARKS) or next(path.glob("*.hpcrun"), None)]


def expected(hpctoolkit):
    """The files that say what is in the databases of a folder, sorted."""
    return sorted(path for path in (hpctoolkit / "expected").glob("*.yaml.gz") if not path.is_symlink())
