# SPDX-License-Identifier: BSD-3-Clause
"""
The activity, the effect and the kind of a function, worked out from the rules (src/analysis/kinds/kinds.def, activities.def, effects.def) with regular
expressions and the demangler of the C++ library.
"""

import ctypes
import ctypes.util
import re
from functools import lru_cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
RULES = SOURCES / "analysis" / "kinds" / "kinds.def"
TITLES = {"own": "own code", "mpi": "MPI", "threads": "threads and OpenMP", "memory": "memory", "io": "input and output",
          "system": "system libraries", "gpu": "GPU", "idle": "not running"}
ACTIVITIES = {name.lower(): (kind.lower(), text) for name, kind, text in
              re.findall(r'^ACTIVITY\((\w+), (\w+), "([^"]+)"', RULES.with_name("activities.def").read_text(), flags=re.MULTILINE)}
EFFECTS = {name.lower(): text for name, text in
           re.findall(r'^EFFECT\((\w+), \w+, \d, "([^"]+)"', RULES.with_name("effects.def").read_text(), flags=re.MULTILINE)}
LONGEST = 1024  # bytes of a name that are compared
NAMED = ("INSIDE", "SYMBOL", "ANYWHERE")  # sections whose rules have many words
OWN = ("own", "none")
KNOWN = r"_ZN?(VK|K)?[RO]?(St|S[bsaoid]|3std|4core|5alloc|9__gnu_cxx|10__cxxabiv1|11__gnu_debug)"
SIGNS = r"\(\)| new\[\]| new| delete\[\]| delete|<=>|<<=|>>=|->\*|<<|>>|[<>=!+\-*/%^&|]=|&&|\|\||\+\+|--|->|\[\]|[+\-*/%^&|~!=<>,]|[^(]*"
INLINE = {"__cxx11", "__1", "_V2", "__ndk1", "__8", "__detail", "__fs"}
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
    """Names and scopes {word: (section, libraries, activity, effect)}, and other rules [(the same, pattern, expression)]."""
    names, others = {}, []
    for section, libraries, meaning, strings in re.findall(r'^(\w+)\((?:"([^"]*)", )?([\w, ]+),\s*((?:"[^"]*"\s*)+)\)', _text(RULES), flags=re.MULTILINE):
        activity, effect = (*meaning.lower().split(", "), "none")[:2]
        text = "".join(re.findall(r'"([^"]*)"', strings))
        inside = [_expression(word) for word in libraries.split()]
        for word in text.split() if section in NAMED else [text]:
            stars = word.replace("(*", "").removesuffix("::*").count("*") + word.count("?")
            if section in NAMED and stars == 0:
                assert word not in names, f"{word} has two rules"
                names[word] = (section, inside, activity, effect)
            else:
                others.append((section, inside, activity, effect, word, _expression(word)))
    return names, others


_names, _others = _read()


def words():
    """Names and scopes that have rules: {word: (section, libraries, activity, effect)}."""
    return _names


def _applies(section, inside, where):
    """Whether a rule applies in a place: (whether it is a library, the last component of its path)."""
    return section == "ANYWHERE" or (any(library.fullmatch(where[1]) for library in inside) if section == "INSIDE" else where[0])


def _of_word(name):
    for section, _, activity, effect, _, expression in _others:
        if section == "WORD" and name and expression.fullmatch(name):
            return activity, effect
    return None


def _of_pattern(name, other, where):
    for section, inside, activity, effect, _, expression in _others:
        if section in NAMED and (expression.fullmatch(other) or (section == "ANYWHERE" and expression.fullmatch(name))):
            if _applies(section, inside, where):
                return activity, effect
    return None


def _of_module(path):
    for section, _, activity, effect, pattern, expression in _others:
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
        known = r"_Z(GT|T).+S[toid]" if name.startswith(("_ZT", "_ZGT")) else KNOWN
        if not re.match(known, name):
            return None
        name = _demangled(name)
    elif "::" not in name[1:]:
        return None
    operators = []

    def keep(match):
        is_sign = re.fullmatch(r"operator(?! (?!new|delete)).*", match[0]) and not re.match(r"operator\w", match[0])
        operators.append(match[0].replace(" ", "\2") if is_sign else "operator")  # without the type of a conversion
        return f"\1{len(operators) - 1}\1"

    name = re.sub(r"(?<![\w~$])operator(?![\w~$])(" + SIGNS + ")", keep, name)
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


def _of_name(words, where):
    for word in words:
        if word in _names:
            section, inside, *found = _names[word]
            if _applies(section, inside, where):
                return tuple(found)
    return None


@lru_cache(maxsize=None)
def _decide(module, name, is_stub=False):
    """(activity, effect) by the words of the rules."""
    name = (name or "").encode()[:LONGEST].decode("latin-1")
    module = module and module.encode()[:LONGEST].decode("latin-1")
    word = _of_word(name)
    if word:
        return word
    section, of_module = (_of_module(module) if module else None) or (None, None)
    if not name:
        return of_module or OWN
    is_kernel = re.match(r"(?s).+?_\[k\]", name) is not None
    name = re.sub(r"(?s)(?<=.)_\[k\].*", "", name, count=1) if is_kernel else re.sub(r"(?s)(?<=.)_\[[ij]\].*", "", name, count=1)
    where = (bool(section or is_stub or is_kernel or "@plt" in name[1:]), (module or "").rsplit("/", 1)[-1])
    name = re.sub(r"(?s)(?<=.)( \[|@).*", "", name, count=1)
    name = re.sub(r"(?s)(?<=.)\.(part\.|cold|isra\.|constprop\.|lto_priv\.|llvm\.|localalias).*", "", name, count=1)
    plain = re.sub(r"^_+(?=.)", "", re.sub(r"^__GI_(?=.)", "", name))
    plain = re.sub(r"^P(?=MPI_)", "", re.sub(r"^libc_(?=.)", "", plain))
    stem = re.sub(r"(?<=.)64$", "", re.sub(r"(?<=.)_nocancel$", "", re.sub(r"(?<=.)_chk$", "", re.sub(r"^(isoc(99|23)|(x64|ia32|arm64|se|do)_sys)_(?=.)", "", plain))))
    scope = scoped(name)
    if scope:
        parts = scope.split("::")
        found = _of_name([scope, *("::".join(parts[:i]) + "::*" for i in range(len(parts) - 1, 0, -1))], where)
    else:
        fortran = re.fullmatch(r"p?mpi_(.+?)(_f08)?_{1,2}", name)
        found = _of_name([name, plain, stem, *(["MPI_" + fortran[1][:1].upper() + fortran[1][1:]] if fortran else [])], where)
    found = found or _of_pattern(name, scope or plain, where)
    if not found or not section or found[0] == of_module[0]:
        return found or of_module or ("kernel" if is_kernel else "own", "none")
    if section == "MODULE":
        return of_module
    return (of_module[0], found[1]) if found[0] == "lib" else found


def activity(module, name, is_stub=False):
    """Module and name may be None."""
    return ACTIVITIES[_decide(module, name, is_stub)[0]][1]


def effect(module, name, is_stub=False):
    """Module and name may be None."""
    return EFFECTS[_decide(module, name, is_stub)[1]]


def kind(module, name, is_stub=False):
    """Module and name may be None."""
    return ACTIVITIES[_decide(module, name, is_stub)[0]][0]
