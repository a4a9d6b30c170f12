#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""shrink.py FILE.png...: pictures of the page with a palette of 256 colours (needs python3-pil)."""
import sys

from PIL import Image

for path in sys.argv[1:]:
    with Image.open(path) as picture:
        small = picture.convert('RGB').quantize(256)
    small.save(path, optimize=True)
