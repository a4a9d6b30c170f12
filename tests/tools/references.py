# SPDX-License-Identifier: BSD-3-Clause
"""
Importing this puts the reference implementations of tests/answers on the path: those of its folder, and of its rooms. It also lets Python look for
cycles seldom: references hold millions of objects, have few cycles, and that search would take a third of their time.
"""

import gc
import sys
from pathlib import Path

ANSWERS = Path(__file__).resolve().parents[1] / "answers"
sys.path[:0] = [str(ANSWERS)] + [str(ANSWERS / room) for room in ("recordings", "compare", "requests", "imports")]
gc.set_threshold(1_000_000)
