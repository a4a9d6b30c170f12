# SPDX-License-Identifier: BSD-3-Clause
"""The line on standard error that says what is wrong with a store."""

import re

LINE = re.compile(r"lode: .*: (at least )?[0-9,]+ findings?( copied to .*)?, such as .*; 'lode check[a-z -]*' lists them\n")


def without(errors):
    """Standard error, as text or bytes, without these lines."""
    return LINE.sub("", errors.decode(errors="replace") if isinstance(errors, bytes) else errors)
