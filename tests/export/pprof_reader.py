# SPDX-License-Identifier: BSD-3-Clause
"""A reader and a writer of pprof profiles (profile.proto), independent of Lode: only what tests compare."""

import gzip
from collections import Counter
from pathlib import Path


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _signed(value):
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _fields(data):
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 2:
            size, at = _varint(data, at)
            yield tag >> 3, data[at:at + size]
            at += size
        elif tag & 7 == 0:
            value, at = _varint(data, at)
            yield tag >> 3, _signed(value)
        else:
            size = 8 if tag & 7 == 1 else 4
            yield tag >> 3, int.from_bytes(data[at:at + size], "little")
            at += size


def _numbers(value):
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        numbers.append(_signed(number))
    return numbers


def _clean(text):
    return text.decode(errors="replace")


def facts(path):
    """What an export has to keep: types, totals, costs by set of labels, and metadata, with strings instead of their numbers."""
    data = Path(path).read_bytes()
    fields = list(_fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
    strings = [_clean(value) for number, value in fields if number == 6]
    scalars = {number: value for number, value in fields if isinstance(value, int) and number != 13}

    def value_type(message):
        parts = dict(_fields(message))
        return strings[parts.get(1, 0)], strings[parts.get(2, 0)]

    def label(message):
        parts = dict(_fields(message))
        return strings[parts.get(1, 0)], strings[parts.get(2, 0)], parts.get(3, 0), strings[parts.get(4, 0)]

    types = [value_type(value) for number, value in fields if number == 1]
    periods = [value_type(value) for number, value in fields if number == 11]
    totals, by_labels = [0] * len(types), Counter()
    for number, message in fields:
        if number != 2:
            continue
        values, labels = [], []
        for field, value in _fields(message):
            if field == 2:
                values += _numbers(value)
            elif field == 3:
                labels += [entry for entry in (label(value),) if any(entry[1:])]
        for i, value in enumerate(values):
            totals[i] += value
            by_labels[(*labels, i)] += value
    return {
        "types": types, "totals": totals, "labels": {key: value for key, value in by_labels.items() if value},
        "period": scalars.get(12, 0), "period type": periods[-1] if periods else ("", ""), "time": scalars.get(9, 0),
        "duration": scalars.get(10, 0), "default type": strings[scalars.get(14, 0)], "drop frames": strings[scalars.get(7, 0)],
        "keep frames": strings[scalars.get(8, 0)], "url": strings[scalars.get(15, 0)],
        "comments": [strings[index] for number, value in fields if number == 13 for index in _numbers(value) if strings[index]],
    }


def differences(wanted, found):
    """What two such dictionaries do not have in common, in short."""
    wrong = []
    for key, value in wanted.items():
        if key == "labels":
            others = [entry for entry in {**value, **found[key]} if value.get(entry) != found[key].get(entry)]
            wrong += [f"{entry}: {found[key].get(entry)} instead of {value.get(entry)}" for entry in others[:4]]
        elif found[key] != value:
            wrong.append(f"{key}: {found[key]!r} instead of {value!r}")
    return wrong


# ---- a writer ----

def _put(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*fields):
    """Fields as (number, integer or bytes)."""
    out = b""
    for number, value in fields:
        out += _put(number << 3) + _put(value) if isinstance(value, int) else _put(number << 3 | 2) + _put(len(value)) + value
    return out


def write(path, types, samples, functions, **metadata):
    """Samples as (names from the innermost on, values, labels); labels as (key, text, number, unit). Metadata by field number, texts or integers."""
    strings = {"": 0}

    def text(value):
        return strings.setdefault(value, len(strings))
    fields = [(1, message((1, text(kind)), (2, text(unit)))) for kind, unit in types]
    for names, values, labels in samples:
        fields.append((2, message(*((1, functions.index(name) + 1) for name in names), *((2, value) for value in values),
                                  *((3, message((1, text(key)), (2, text(word)), (3, number), (4, text(unit))))
                                    for key, word, number, unit in labels))))
    for i, name in enumerate(functions, 1):
        fields += [(4, message((1, i), (4, message((1, i), (2, i))))), (5, message((1, i), (2, text(name))))]
    for field, value in metadata.items():
        number = int(field.lstrip("f"))
        if isinstance(value, tuple):
            fields.append((number, message((1, text(value[0])), (2, text(value[1])))))
        elif isinstance(value, list):
            fields += [(number, text(word)) for word in value]
        else:
            fields.append((number, text(value) if isinstance(value, str) else value))
    fields += [(6, word.encode()) for word in strings]
    Path(path).write_bytes(gzip.compress(message(*fields)))
