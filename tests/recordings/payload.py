# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and results in records: which there are, and how many bytes they take."""

import fnmatch
import re
import struct
from typing import NamedTuple

from names import simple_name

LINES = ("argspec", "retspec", "argauto", "retauto", "enumauto")
META = set("^$.[]{}()|*+?\\")


class Value(NamedTuple):
    index: int  # of the argument; 0: the result
    form: str  # d i u x o s c f S p e t, "" if none is given
    size: int  # bytes; None: as long as a word
    is_float: bool
    detail: str  # name of an enumeration or structure


class Specs:
    """All that a recording says about values, in the order of the info file."""

    def __init__(self, lines):
        texts = {}
        self.pattern_type, self.has_auto = "regex", False
        for line in lines:
            key, _, value = line.partition(":")
            if key in LINES and not re.match(r"lines=\d+$", value):
                texts[key] = value
            elif key == "pattern_type":
                self.pattern_type = value
            elif key == "auto-args":
                self.has_auto = True
        self.asked = {False: _functions(texts.get("argspec")), True: _functions(texts.get("retspec"))}
        self.automatic = {False: _functions(texts.get("argauto")), True: _functions(texts.get("retauto"))}

    def find(self, functions, name, module, is_result):
        """The values of a function by name, of those that were asked for or of the automatic ones; None if there are none."""
        return self._match(functions[is_result], name, module)

    def _match(self, functions, name, module):
        found = None
        for pattern, library, values in functions:
            if library and library not in module.rsplit("/", 1)[-1]:
                continue
            if self._fits(pattern, name) and values:
                found = values
        return found

    def _fits(self, pattern, name):
        if not META & set(pattern):
            return simple_name(pattern) == name
        if self.pattern_type == "glob":
            return fnmatch.fnmatchcase(name, pattern)
        return re.search(pattern, name) is not None

    @staticmethod
    def read_debug(path):
        """Offset to (arguments, result) of a .dbg file."""
        result, offset = {}, None
        for line in path.read_text(errors="surrogateescape").splitlines() if path else ():
            kind, _, text = line.partition(": ")
            if kind == "F":
                offset = int(text.split()[0], 16)
                result[offset] = (None, None)
            elif kind in ("A", "R") and offset is not None:
                values = _values(text.lstrip("@"))
                arguments, returned = result[offset]
                result[offset] = (values, returned) if kind == "A" else (arguments, values)
        return result

    @staticmethod
    def size(values, data, offset, endian, word):
        """Bytes that the values take from an offset on, without padding behind the last."""
        position = offset
        for value in values:
            if value.form in ("s", "S"):
                length, = struct.unpack_from(endian + "H", data, position)
                position += 2 + (4 if length == 0xFFFF else length)
            else:
                position += word if value.size is None else value.size
            position = offset + (position - offset + 3 & ~3)
        return position - offset


def _functions(text):
    """[(pattern, library, values)] of "f@arg1,arg2/s;g@lib,arg1"."""
    result = []
    for part in (text or "").split(";"):
        pattern, at, rest = part.partition("@")
        if not at:
            continue
        pieces = rest.split(",")
        library = "" if re.match(r"(arg|fparg|retval)", pieces[0]) else pieces.pop(0)
        result.append((pattern, library, _values(",".join(pieces))))
    return result


def _values(text):
    result = []
    for piece in text.split(","):
        match = re.match(r"(arg|fparg|retval)(\d*)(?:/(.*?))?(?:%.*)?$", piece)
        if match:
            result.append(_value(*match.groups()))
    return result


def _value(kind, index, form):
    form = form or ""
    is_float = kind == "fparg" or form.startswith("f")
    size = re.search(r"^[a-zA-Z]?(\d+)", form)
    bits = int(size.group(1)) if size else 0
    letter = form[:1] if form[:1].isalpha() else ""
    if letter == "t":
        return Value(int(index or 0), "t", int(re.match(r"t(\d+)", form).group(1)), False, form.partition(":")[2])
    if letter == "e":
        return Value(int(index or 0), "e", 4, False, form.partition(":")[2])
    if letter == "c":
        bits = 8
    if is_float and not bits:
        bits = 64
    return Value(int(index or 0), letter, bits // 8 if bits else None, is_float, "")
