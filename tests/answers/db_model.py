# SPDX-License-Identifier: BSD-3-Clause
"""
A database and the costs of its metrics, as db_reference.py defines them. Nothing here comes from Lode: the input is in the shape of
tests/dump/expected.py.
"""

import ctypes
import math
from collections import defaultdict

ROUNDING = 1e-11
GLOBAL = 0


# ---- names ----

def _load_demangler():
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    library.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return library.__cxa_demangle


_demangler = _load_demangler()


def demangled(symbol):
    if symbol.startswith("_Z") and _demangler:
        found = _demangler(symbol.encode(), None, None, None)
        if found:
            return ctypes.string_at(found).decode()
    return symbol


def tail(path):
    return path.rsplit("/", 1)[-1] or path


# ---- the database ----

class Context:
    """A node of the tree. `index` counts contexts in depth-first order."""

    def __init__(self, index, parent, id, lexical, relation):
        self.index, self.parent, self.id, self.lexical, self.relation = index, parent, id, lexical, relation
        self.function = self.file = self.module = self.entry = self.name = None
        self.line = self.offset = 0
        self.children = []
        # How many calls lead here. Entry points are not called.
        is_called = self.begins_function() and lexical not in ("entry", "global")
        self.call_depth = (parent.call_depth if parent else 0) + is_called

    def begins_function(self):
        return self.relation != "lexical" or self.lexical in ("function", "entry", "global")

    def above(self):
        """From here up to the global context."""
        context = self
        while context is not None:
            yield context
            context = context.parent


def to_number(value):
    """A line or an offset that is not known is 0."""
    return value if isinstance(value, int) else 0


class Database:
    def __init__(self, data):
        meta = data["meta"]
        self.functions, self.files, self.modules = meta["functions"], meta["files"], meta["modules"]
        self.id_names = meta["id_names"]
        self.scopes, self.metrics = meta["scopes"], meta["metrics"]
        self.profiles, self.traces = data["profiles"], data["traces"]
        self.contexts = [Context(0, None, GLOBAL, "global", "lexical")]
        for entry in meta["entry_points"]:
            self._add(entry, self.contexts[0])
        self.by_id = {}
        for context in self.contexts:
            self.by_id.setdefault(context.id, context)

    def _add(self, root, parent):
        work = [(root, parent)]
        while work:
            data, parent = work.pop()
            is_entry = "entry" in data
            context = Context(len(self.contexts), parent, data["id"], "entry" if is_entry else data["lexical"],
                              "call" if is_entry else data["relation"])
            if is_entry:
                context.entry, context.name = data["entry"], data["name"]
            else:
                context.function, context.file, context.module = data["function"], data["file"], data["module"]
                context.line, context.offset = to_number(data["line"]), to_number(data["offset"])
            self.contexts.append(context)
            parent.children.append(context)
            work.extend((child, context) for child in reversed(data["children"]))

    # -- what things are --

    def function_identity(self, number):
        record = self.functions[number]
        return (record["name"], record["module"], to_number(record["offset"]), record["file"], to_number(record["line"]))

    def function_key(self, context):
        """Of a context that begins a function."""
        if context.lexical == "global":
            return ("global",)
        if context.lexical == "entry":
            return ("entry", context.entry, context.name)
        if context.function is not None:
            return ("function", *self.function_identity(context.function))
        if context.module is not None:
            return ("address", context.module, context.offset, context.lexical)
        return ("unknown", context.file, context.line if context.file is not None else 0, context.lexical)

    def function_of(self, context):
        """The innermost context, from this one up, that begins a function."""
        return next(c for c in context.above() if c.begins_function())

    # -- what they are called --

    def file_path(self, file):
        return None if file is None else self.files[file]["path"]

    def module_path(self, module):
        return None if module is None else self.modules[module]["path"]

    def _address(self, module, offset):
        return f"{'?' if module is None else tail(self.module_path(module))}+0x{offset:x}"

    def _place(self, file, line):
        return ("?" if file is None else tail(self.file_path(file))) + (f":{line}" if line else "")

    def function_label(self, number):
        if number is None:
            return "<unknown function>"
        name, module, offset, file, line = self.function_identity(number)
        if name:
            return demangled(name)
        return f"[{self._address(module, offset) if module is not None else self._place(file, line)}]"

    def label(self, context):
        if context.lexical == "global":
            return "<program root>"
        if context.lexical == "entry":
            return context.name or f"<entry point {context.entry}>"
        if context.lexical == "function":
            return self.function_label(context.function)
        if context.lexical == "loop":
            return "loop at " + (self._place(context.file, context.line) if context.file is not None
                                 else self._address(context.module, context.offset))
        if context.lexical == "line":
            return self._place(context.file, context.line)
        return self._address(context.module, context.offset)

    def profile_label(self, profile):
        ids = self.profiles[profile]["ids"]
        if not ids:
            return f"profile {profile}"
        return " ".join(f"{self.id_names[i['kind']].lower()} {i['logical']}" for i in ids)

    # -- numbers --

    def scope_id(self, metric, kind):
        """The id that values of a metric under a scope of this type have in profiles, or None."""
        for instance in metric["scopes"]:
            if self.scopes[instance["scope"]]["type"] == kind:
                return str(instance["id"])
        return None

    def sum_id(self, metric, kind):
        for statistic in metric["statistics"]:
            if (self.scopes[statistic["scope"]]["type"] == kind and statistic["formula"] == "$$"
                    and statistic["combine"] == "sum"):
                return str(statistic["id"])
        return None

    def values(self, profile, id):
        """{context id: value} of one profile."""
        return {int(context): values[id] for context, values in self.profiles[profile]["values"].items() if id in values}

    def ordinary_profiles(self):
        return [p["index"] for p in self.profiles if not p["summary"]]


# ---- costs ----

class Cost:
    """Inclusive and own costs of a metric by context, over all profiles or some."""

    def __init__(self, db, metric, profiles=None):
        self.db, self.metric = db, metric
        self.profiles = len(db.ordinary_profiles()) if profiles is None else len(profiles)
        sum_id, id = db.sum_id(metric, "execution"), db.scope_id(metric, "execution")
        if profiles is None and sum_id is not None:
            tables = [db.values(0, sum_id)]
        elif id is not None:
            tables = [db.values(p, id) for p in (db.ordinary_profiles() if profiles is None else profiles)]
        else:
            raise ValueError("a metric without an execution scope")
        parts = defaultdict(list)
        self.unlisted_ids, self.unlisted_values = set(), 0
        for table in tables:
            for context, value in table.items():
                if context in db.by_id:
                    parts[context].append(value)
                else:
                    self.unlisted_ids.add(context)
                    self.unlisted_values += 1
        self.inclusive = [math.fsum(parts[c.id]) if db.by_id[c.id] is c else 0.0 for c in db.contexts]
        self.own = [self._own(c) for c in db.contexts]
        self.total = self.inclusive[0]

    def _own(self, context):
        own = math.fsum([self.inclusive[context.index], *(-self.inclusive[c.index] for c in context.children)])
        return 0.0 if abs(own) <= ROUNDING * abs(self.inclusive[context.index]) else own
