# SPDX-License-Identifier: BSD-3-Clause
"""What is in the folder of real stores beside the repository. It may have more than a test knows."""

# One of these is in every store: of HPCToolkit, its drafts, uftrace, around a recording of uftrace, Zorka.
MARKS = ("meta.db", "experiment.xml", "info", "uftrace.data", "000000")


def stores(folder):
    """The stores in a folder, sorted; other files and folders are ignored."""
    found = sorted(folder.iterdir()) if folder and folder.is_dir() else []
    return [path for path in found if any((path / mark).exists() for mark in MARKS) or next(path.glob("*.hpcrun"), None)]
