# SPDX-License-Identifier: BSD-3-Clause
"""Lode for Python: databases of HPCToolkit, recordings of uftrace and trace stores of Zorka.

    import lode
    with lode.open("hpctoolkit-app-database") as db:
        print(db.top().head(5))

Nothing but Python is needed; numpy and pandas are used where they are there. See doc/python.md.
"""

from . import _lode
from ._lode import Corrupt, Error, FileError, FileIsDirectory, FileMissing, FileRefused, FileThere, NoDirectory, NotFound, Unsupported
from .answers import Check, ComparedTree, Comparison, Flame, Timeline, Tree
from .diagnosis import Diagnosis
from .store import Context, Database, Metric, Recording, TraceStore, build, check, compare, merge, open, sql
from .table import Table
from .writing import LodeWarning, export_formats

__version__ = _lode.version
__all__ = ["Check", "ComparedTree", "Comparison", "Context", "Corrupt", "Database", "Diagnosis", "Error", "FileError", "FileIsDirectory", "FileMissing", "FileRefused",
           "FileThere", "Flame", "LodeWarning", "Metric", "NoDirectory", "NotFound", "Recording", "Table", "Timeline", "TraceStore", "Tree", "Unsupported",
           "build", "check", "compare", "export_formats", "merge", "open", "sql"]
