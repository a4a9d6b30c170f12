# SPDX-License-Identifier: BSD-3-Clause
"""Names as uftrace prints them: demangled, without parameters and template arguments."""

import ctypes
import ctypes.util
import functools
import re

INHERITED = re.compile(r"ECI[12]")  # as a constructor is mangled
# The runtime abbreviates these; uftrace does not.
ABBREVIATED = {"std::ostream": "std::basic_ostream", "std::istream": "std::basic_istream",
               "std::iostream": "std::basic_iostream", "std::string": "std::basic_string"}


@functools.lru_cache(None)
def demangled(symbol):
    """What the C++ runtime makes of a symbol, or the symbol itself."""
    if not symbol.startswith("_Z"):
        return symbol
    library = ctypes.CDLL(ctypes.util.find_library("stdc++") or "libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not text:
        return symbol
    result = ctypes.string_at(text).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return result


@functools.lru_cache(None)
def simple_name(symbol):
    prefix = ""
    if symbol.startswith("_GLOBAL__sub_I_"):  # the name behind it is mangled on its own
        prefix, symbol = "_GLOBAL__sub_I_", symbol[15:]
    if not symbol.startswith("_Z"):
        return prefix + symbol
    name = _simple(demangled(symbol))
    if INHERITED.search(symbol):
        # The runtime gives an inherited constructor the name of the base; uftrace that of its own class.
        parts = name.split("::")
        name = "::".join(parts[:-1] + parts[-2:-1])
    return prefix + name


def simple_stored_name(name):
    """The same for a name that a database may have stored demangled."""
    if name.startswith("_Z") or name.startswith("_GLOBAL__sub_"):
        return simple_name(name)
    text = name.removeprefix("(anonymous namespace)::")
    bracket = re.search(r"[(<]", text)
    if text != name and not bracket:
        return _simple(name)
    if not bracket or not re.match(r"[\w$~]", text) or (text[bracket.start() - 1] == " " and "decltype (" not in text[:bracket.end()]):
        return name
    return _simple(name) or name


def _simple(text):
    text = text.replace("(anonymous namespace)", "_GLOBAL__N_1").split(" [clone", 1)[0]
    text = re.sub(r"\[abi:(\w+)\]", r"::\1", text)
    result, i = "", 0
    while i < len(text):
        if text.startswith("operator", i) and (i == 0 or not (text[i - 1].isalnum() or text[i - 1] == "_")):
            end = _operator_end(text, i + 8)
            result += text[i:end]
            i = end
        elif text[i] == "(" and text[i + 1:i + 2] in ("*", "&"):
            # The result is a pointer to a function, so that the name is inside.
            result, i = "", i + len(text[i:]) - len(text[i:].lstrip("(*& "))
        elif text[i] in "<(":
            closing = _closing(text, i)
            if text[i] == "(" and not text.startswith("::", closing):
                break
            i = closing
        else:
            result += text[i]
            i += 1
    # A template's name has its result type in front.
    words = result.strip().split(" ")
    for k, word in enumerate(words):
        if word.startswith("operator") or "::operator" in word:
            return _in_full(" ".join(words[k:]))
    return _in_full(words[-1])


def _in_full(name):
    match = re.match(r"std::\w+(?=::)", name)
    return ABBREVIATED.get(match.group(), match.group()) + name[match.end():] if match else name


def _operator_end(text, i):
    for sign in ("()", "[]", "<<=", ">>=", "<=>", "->*", "<<", ">>", "->", "<=", ">=", "<", ">"):
        if text.startswith(sign, i):
            return i + len(sign)
    while i < len(text) and text[i] not in "(<":
        i += 1
    return i


def _closing(text, i):
    """Behind the bracket that closes the one at i; operators inside do not count."""
    depth = 0
    while i < len(text):
        if text.startswith("operator", i):
            i = _operator_end(text, i + 8)
            continue
        if text.startswith("->", i):
            i += 2
            continue
        depth += text[i] in "<(["
        depth -= text[i] in ">)]"
        i += 1
        if depth == 0:
            break
    return i
