# SPDX-License-Identifier: BSD-3-Clause
"""Importing this puts the reference implementations of tests/answers on the path: those of its folder, and of its rooms."""

import sys
from pathlib import Path

ANSWERS = Path(__file__).resolve().parents[1] / "answers"
sys.path[:0] = [str(ANSWERS)] + [str(ANSWERS / room) for room in ("recordings", "compare", "requests", "imports")]
