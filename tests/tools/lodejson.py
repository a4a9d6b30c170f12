# SPDX-License-Identifier: BSD-3-Clause
"""
What the tests read of the program's JSON: strictly, without a key twice or NaN. Points in time and addresses, which are
strings of digits (doc/schemas/README.md), become numbers.
"""

import json

NUMBERS = ("offset", "physical")


def _is_digits(value):
    return isinstance(value, str) and value.lstrip("-").isdigit()


def _number(key, value):
    if _is_digits(value) and (key in NUMBERS or key.endswith("_ns")):
        return int(value)
    if key == "samples" and isinstance(value, list):
        return [[int(time), context] for time, context in value]
    return value


def _members(pairs):
    result = {key: _number(key, value) for key, value in pairs}
    if len(result) != len(pairs):
        raise ValueError("an object has the same key twice")
    return result


def _no_constant(text):
    raise ValueError(f"{text} is not JSON")


def loads(text):
    return json.loads(text, object_pairs_hook=_members, parse_constant=_no_constant)
