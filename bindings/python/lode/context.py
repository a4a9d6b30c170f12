# SPDX-License-Identifier: BSD-3-Clause
"""Contexts and metrics of a database."""

from . import _lode
from .answers import Distribution
from .table import column_of, need_numpy, numpy, Table, with_none
from .text import amount, shown, unit_of

FORMS = {"full": 0, "simple": 1, "raw": 2}
BY = {"function": 0, "line": 1, "loop": 2, "module": 3, "file": 4, "symbol": 6, "kind": 7}
REPR_WIDTH = 1000


def choose(word, words, option):
    """The number of one of the words that an option takes."""
    try:
        return words[word]
    except (KeyError, TypeError):
        raise ValueError(f"{option} is {', '.join(words)}, not {word!r}") from None


def form_of(names):
    return choose(names, FORMS, "names")


def patterns(texts):
    """One pattern or several."""
    return (texts,) if isinstance(texts, str) else tuple(texts)


class Metric:
    """What was measured."""

    def __init__(self, db, index, name, scopes):
        self._db, self.index, self.name, self._scopes = db, index, name, scopes
        self.unit = unit_of(name)

    @property
    def scopes(self):
        """How it propagates up the tree: the names of its scopes."""
        return list(self._scopes)

    def id(self, scope="execution"):
        """The number that values have for it in profiles and contexts."""
        return choose(scope, self._scopes, "scope")

    @property
    def total(self):
        """The cost of everything, over all profiles."""
        return self._db._cost(self).total

    def __repr__(self):
        return shown(f"<lode.Metric {self.index}: {self.name}>", REPR_WIDTH)


class Metrics:
    """The metrics of a database, by number or by name: part of one name is enough."""

    def __init__(self, db):
        self._db = db
        columns = {name: column_of(data) for name, data in _lode.columns(db._store, "metrics", None).items()}
        scopes, names = {}, {}
        for number, name, scope, id in zip(*(columns[key] for key in ("metric", "name", "scope", "id"))):
            names[number] = name
            scopes.setdefault(number, {})[scope] = id
        self._list = [Metric(db, number, names[number], scopes[number]) for number in sorted(names)]

    def __getitem__(self, key):
        if isinstance(key, Metric):
            return key
        if isinstance(key, str):
            key = _lode.metric(self._db._store, key)
        return self._list[key]

    @property
    def default(self):
        """The one that is meant where none is named; None without metrics."""
        number = _lode.metric(self._db._store, None)
        return None if number is None else self._list[number]

    def __len__(self):
        return len(self._list)

    def __iter__(self):
        return iter(self._list)

    def __repr__(self):
        return shown(f"<lode.Metrics: {', '.join(metric.name for metric in self._list)}>", REPR_WIDTH)

    def _repr_html_(self):
        return Table({"metric": [str(metric.index) for metric in self._list], "name": [metric.name for metric in self._list],
                      "scopes": [", ".join(metric.scopes) for metric in self._list]}, title="metrics")._repr_html_()


class Contexts:
    """All contexts as columns, in depth-first order: the subtree of row i is rows i to i + subtree_size[i] - 1.

    Columns are arrays in place: no function, file or module is 2**32 - 1 there, no line is 0, and the root is its own parent.
    to_table() has None.
    """

    def __init__(self, db):
        self._db, self._made = db, {}
        self.columns = ["id", "parent", "parent_id", "subtree_size", "depth", "kind", "relation", "flags", "propagation", "function",
                        "file", "line", "module", "offset", "entry", "entry_name", "name"]

    def __len__(self):
        return self._db._info["contexts"]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.columns:
            raise AttributeError(f"no column {name!r}")
        return self[name]

    def __getitem__(self, name):
        if name not in self._made:
            if name == "name":
                data = _lode.context_names(self._db._store, form_of(self._db._names))["name"]
            else:
                data = column_of(_lode.columns(self._db._store, "contexts", name)[name])
            self._made[name] = numpy().asarray(data) if numpy() and not isinstance(data, list) else data
        return self._made[name]

    def to_table(self):
        """All columns; None where a context has no parent, function, file, line or module."""
        columns = with_none({name: self[name] for name in self.columns})
        for name in ("parent", "parent_id"):  # the root is its own
            columns[name] = [None, *column_of(columns[name])[1:].tolist()] if len(self) else columns[name]
        return Table(columns, {"id": "plain", "line": "plain"}, "contexts")

    def to_pandas(self):
        return self.to_table().to_pandas()

    def __repr__(self):
        return f"<lode.Contexts: {len(self):,} rows of {', '.join(self.columns)}>"


class Context:
    """A calling context: a node of the calling context tree."""

    def __init__(self, db, found):
        self._db, self._found = db, found
        self.id, self.index, self.depth, self.name = (found[key] for key in ("id", "index", "depth", "name"))
        self.kind, self.relation, self.line, self.offset = (found[key] for key in ("kind", "relation", "line", "offset"))
        self.function, self.file, self.module = (found[key] for key in ("function", "file", "module"))

    def _at(self, index):
        return Context(self._db, _lode.context(self._db._store, index, True, form_of(self._db._names)))

    @property
    def parent(self):
        """None for the root."""
        return None if self._found["parent"] < 0 else self._at(self._found["parent"])

    @property
    def subtree(self):
        """The rows of db.contexts that are this context and all below it."""
        return range(self.index, self.index + self._found["subtree"])

    @property
    def children(self):
        rows, index = [], self.index + 1
        while index < self.subtree.stop:
            rows.append(self._at(index))
            index = rows[-1].subtree.stop
        return rows

    @property
    def path(self):
        """The contexts from the root to this one."""
        path = [self]
        while path[-1].parent is not None:
            path.append(path[-1].parent)
        return path[::-1]

    def inclusive(self, metric=None, profiles=None):
        """The cost with all that it calls."""
        return self._costs(metric, profiles)[0]

    def exclusive(self, metric=None, profiles=None):
        """The cost of its own."""
        return self._costs(metric, profiles)[1]

    def _costs(self, metric, profiles):
        return _lode.cost_at(self._db._need_cost(metric, profiles), self.id)

    def _metric(self, metric):
        found = self._db.metrics.default if metric is None else self._db.metrics[metric]
        if found is None:
            raise _lode.NotFound(f"{self._db.path}: there are no metrics")
        return found

    def values(self, metric=None, scope="execution"):
        """(profile, value) as a numpy array in the mapped file; profiles with zero are left out. None without cct.db."""
        from struct import iter_unpack
        module = need_numpy("values()")
        block = _lode.block(self._db._store, self.id, False)
        if block is None:
            return None
        id, values = self._metric(metric).id(scope), module.asarray(block[0])
        groups = [*iter_unpack("=HQ", memoryview(block[1]).tobytes()), (None, len(values))]
        for (key, first), (_, end) in zip(groups, groups[1:]):
            if key == id:
                return values[first:end]
        return values[:0]

    def distribution(self, metric=None, profiles=None, scope="execution"):
        """How a metric spreads over the profiles that have values, zeros included: min, p5 .. p99, max, imbalance."""
        found = self._metric(metric)
        spread = _lode.spread(self._db._store, self.id, found.id(scope), profiles)
        numbers = _lode.distribution(spread["value"])
        return Distribution(spread["value"], numbers, found.unit, f"{self.name}: {found.name}")

    def __eq__(self, other):
        return isinstance(other, Context) and other._db is self._db and other.id == self.id

    def __hash__(self):
        return hash((id(self._db), self.id))

    def __repr__(self):
        return shown(f"<lode.Context {self.id}: {self.name}>", REPR_WIDTH)

    def _repr_html_(self):
        from .notebook import pairs_html
        place = f"{self.file}{f':{self.line}' if self.line else ''}" if self.file else self.module or ""
        return pairs_html(self.name, [("context", str(self.id)), ("location", place), ("path", " > ".join(c.name for c in self.path)),
                                      ("inclusive", amount(self.inclusive(), self._db.metrics.default.unit))])
