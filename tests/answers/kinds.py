# SPDX-License-Identifier: BSD-3-Clause
"""
The activity, the effect and the kind of a function, worked out from the rules (src/analysis/kinds.def, activities.def, effects.def) with regular
expressions and the demangler of the C++ library.
"""

import ctypes
import ctypes.util
import re
from functools import lru_cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
RULES = SOURCES / "analysis" / "kinds.def"
TITLES = {"own": "own code", "mpi": "MPI", "threads": "threads and OpenMP", "memory": "memory", "io": "input and output",
          "system": "system libraries", "gpu": "GPU", "idle": "not running"}
ACTIVITIES = {name.lower(): (kind.lower(), text) for name, kind, text in
              re.findall(r'^ACTIVITY\((\w+), (\w+), "([^"]+)"', RULES.with_name("activities.def").read_text(), flags=re.MULTILINE)}
EFFECTS = {name.lower(): text for name, text in
           re.findall(r'^EFFECT\((\w+), \w+, \d, "([^"]+)"', RULES.with_name("effects.def").read_text(), flags=re.MULTILINE)}
LONGEST = 1024  # bytes of a name that are compared
OWN = ("own", "none")
INLINE = {"__cxx11", "__1", "_V2", "__ndk1", "__8", "__detail"}
SHORT = {"string", "ostream", "istream", "iostream", "ofstream", "ifstream", "fstream", "filebuf", "streambuf", "ios", "stringbuf", "stringstream",
         "ostringstream", "istringstream"}


def _expression(pattern):
    parts = (".*" if letter == "*" else "." if letter == "?" else re.escape(letter) for letter in pattern)
    return re.compile("".join(parts), re.DOTALL)


def _text(path):
    """The rules with those of the files that they include."""
    text = re.sub(r"^/\*.*?\*/", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r'^#include "(.*)"$', lambda match: _text(SOURCES / match[1]), text, flags=re.MULTILINE)


def _read():
    """Names and scopes {word: (section, activity, effect)}, and other rules [(section, activity, effect, pattern, expression)]."""
    names, others = {}, []
    for section, meaning, strings in re.findall(r'^(\w+)\(([\w, ]+),\s*((?:"[^"]*"\s*)+)\)', _text(RULES), flags=re.MULTILINE):
        activity, effect = (*meaning.lower().split(", "), "none")[:2]
        text = "".join(re.findall(r'"([^"]*)"', strings))
        for word in text.split() if section in ("SYMBOL", "ANYWHERE") else [text]:
            stars = word.replace("(*", "").removesuffix("::*").count("*") + word.count("?")
            if section in ("SYMBOL", "ANYWHERE") and stars == 0:
                assert word not in names, f"{word} has two rules"
                names[word] = (section, activity, effect)
            else:
                others.append((section, activity, effect, word, _expression(word)))
    return names, others


_names, _others = _read()


def _first(section, *names):
    """The first rule of a section that matches one of the names."""
    for where, activity, effect, _, expression in _others:
        if where == section and any(name and expression.fullmatch(name) for name in names):
            return activity, effect
    return None


def _of_module(path):
    for section, activity, effect, pattern, expression in _others:
        if section in ("MODULE", "MIXED") and expression.fullmatch(path if pattern.startswith("/") else path.rsplit("/", 1)[-1]):
            return section, (activity, effect)
    return None


def _demangled(name):
    library = ctypes.CDLL(ctypes.util.find_library("stdc++") or "libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    status = ctypes.c_int(0)
    found = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not found:
        return name
    text = ctypes.string_at(found).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(found))
    return text


def scoped(name):
    """Scopes and name of a function of C++ or Rust; None: it is none, or nobody knows it."""
    if name.startswith("_Z"):
        if not re.match(r"_ZN?(VK|K)?(St|S[saoid]|3std|4core|5alloc|10__cxxabiv1|9__gnu_cxx)", name):
            return None
        name = _demangled(name)
    elif "::" not in name[1:]:
        return None
    operators = []

    def keep(match):
        operators.append(match[0].replace(" ", "\2"))
        return f"\1{len(operators) - 1}\1"

    name = re.sub(r"(?<![\w~$])operator(?![\w~$])(\(\)| new\[\]| new| delete\[\]| delete|[<>=!+\-*/%^&|~,\[\]]*)", keep, name)
    name = name.replace("(anonymous namespace)", "").replace("->", "")
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r" ?<[^<>]*>", "", name)
    name = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"\[[^\[\]]*\]", "", name))
    while re.search(r"\([^()]*\)( const)?::", name):
        name = re.sub(r"\([^()]*\)( const)?(?=::)", "", name)
    name = name.split("(", 1)[0].rsplit(" ", 1)[-1]
    name = re.sub("\1(\\d+)\1", lambda match: operators[int(match[1])], name).replace("\2", " ")
    name = re.sub(r"::h[0-9a-f]{16}$", "", re.sub(r"\$LT\$.*?(?=::|$)", "", name))
    parts = [part for part in name.split("::")]
    parts = [part for i, part in enumerate(parts) if part not in INLINE or i == len(parts) - 1]
    if len(parts) > 2 and parts[0] == "std" and parts[1] in SHORT:
        parts[1] = "basic_" + parts[1]
    return "::".join(parts)


def _of_name(words, in_library):
    for word in words:
        section, *found = _names.get(word, (None,))
        if section == "ANYWHERE" or (section and in_library):
            return tuple(found)
    return None


@lru_cache(maxsize=None)
def _decide(module, name, is_stub=False):
    """(activity, effect) by the words of the rules."""
    name = (name or "").encode()[:LONGEST].decode("latin-1")
    module = module and module.encode()[:LONGEST].decode("latin-1")
    word = _first("WORD", name)
    if word:
        return word
    section, of_module = (_of_module(module) if module else None) or (None, None)
    if not name:
        return of_module or OWN
    is_kernel = re.match(r"(?s).+?_\[k\]", name) is not None
    name = re.sub(r"(?s)(?<=.)_\[k\].*", "", name, count=1) if is_kernel else re.sub(r"(?s)(?<=.)_\[[ij]\].*", "", name, count=1)
    in_library = bool(section or is_stub or is_kernel or "@plt" in name[1:])
    name = re.sub(r"(?s)(?<=.)( \[|@).*", "", name, count=1)
    name = re.sub(r"(?s)(?<=.)\.(part\.|cold|isra\.|constprop\.|lto_priv\.|llvm\.|localalias).*", "", name, count=1)
    plain = re.sub(r"^_+(?=.)", "", re.sub(r"^__GI_(?=.)", "", name))
    plain = re.sub(r"^libc_(?=.)", "", plain)
    stem = re.sub(r"(?<=.)64$", "", re.sub(r"(?<=.)_nocancel$", "", re.sub(r"(?<=.)_chk$", "", re.sub(r"^isoc(99|23)_(?=.)", "", plain))))
    scope = scoped(name)
    if scope:
        parts = scope.split("::")
        found = _of_name([scope, *("::".join(parts[:i]) + "::*" for i in range(len(parts) - 1, 0, -1))], in_library)
    else:
        found = _of_name([name, plain, stem], in_library)
    found = found or _first("ANYWHERE", name, scope or plain) or (_first("SYMBOL", plain) if in_library else None)
    if section == "MODULE" and (not found or found[0] != of_module[0]):
        return of_module
    return found or of_module or ("kernel" if is_kernel else "own", "none")


def activity(module, name, is_stub=False):
    """Module and name may be None."""
    return ACTIVITIES[_decide(module, name, is_stub)[0]][1]


def effect(module, name, is_stub=False):
    """Module and name may be None."""
    return EFFECTS[_decide(module, name, is_stub)[1]]


def kind(module, name, is_stub=False):
    """Module and name may be None."""
    return ACTIVITIES[_decide(module, name, is_stub)[0]][0]
