# SPDX-License-Identifier: BSD-3-Clause
"""
What the tests read of the program's JSON: strictly, without a key twice or NaN. Points in time and addresses, which are
strings of digits (doc/schemas/README.md), become numbers.
"""

import json

NUMBERS = ("offset", "physical")


def _value(key, value):
    if isinstance(value, str):
        is_number = (key.endswith("_ns") or key in NUMBERS) and value.lstrip("-").isdigit()
        return int(value) if is_number else value
    return [[int(time), context] for time, context in value] if key == "samples" and isinstance(value, list) else value


def _members(pairs):
    # Most values are numbers, and need no second look.
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has the same key twice")
    for key, value in pairs:
        if isinstance(value, (str, list)):
            result[key] = _value(key, value)
    return result


def _no_constant(text):
    raise ValueError(f"{text} is not JSON")


def loads(text):
    return json.loads(text, object_pairs_hook=_members, parse_constant=_no_constant)
