# SPDX-License-Identifier: BSD-3-Clause
"""Stores: databases, recordings and trace stores, and what can be asked of them."""

import os
from contextlib import ExitStack

from . import _lode
from .answers import Check, Comparison, Flame, Timeline, Tree
from .context import BY, Context, Contexts, Metric, Metrics, choose, form_of, patterns
from .diagnosis import Diagnosed, Grouped
from .table import StoreTable, Table, column_of, need_numpy, numpy, with_none
from .text import amount, moment, rules_of, shown, unit_of, utc
from .writing import Writing, warn, warn_of_store

CACHED_COSTS = 8
SORTS = {"exclusive": 0, "inclusive": 1, "name": 2}
CALL_SORTS = {name: number for number, name in enumerate(
    ("total", "self", "calls", "mean", "min", "max", "name", "errors", "p50", "p95", "p99", "elapsed"))}
LEVELS = {"quick": 0, "structure": 1, "full": 2}
TRACE_NONE = 2**64 - 1
TEXT_WIDTH = 1000


def _bar(phase, done, total):
    """Progress as a line of text that is written over."""
    import sys
    share = f"{100 * done / total:.0f}%" if total else f"{done:,}"
    sys.stderr.write(f"\r{phase} {share}\x1b[K")
    if total and done >= total:
        sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


def _reporter(progress):
    """What `progress` means: a function, or True for a bar of text, or of a notebook."""
    if progress is not True:
        return progress or None
    import sys
    if "ipykernel" in sys.modules:
        from .notebook import Bar
        return Bar()
    return _bar


def _schema_of(path, taken):
    """The name of a store in SQL, as `lode sql` gives it: the last part of its path, and a number if that is taken."""
    import re
    base = re.sub(r"[^A-Za-z0-9]", "_", os.path.basename(path.rstrip("/")) or path)[:56]
    base = f"_{base}" if base[:1].isdigit() else base
    name, number = base, 2
    while name.lower() in taken:
        name, number = f"{base[:55]}_{number}", number + 1
    taken.add(name.lower())
    return name


def _query(stores, query, parameters, names, progress):
    """Runs a query on pairs of a name and a store."""
    is_named = hasattr(parameters, "keys")
    found = _lode.sql(tuple((name, store._store, os.fsencode(store.path)) for name, store in stores), query,
                      -1 if names is None else form_of(names), tuple(parameters) if is_named else None,
                      tuple(parameters.values()) if is_named else tuple(parameters), _reporter(progress))
    columns, used = {}, {}
    for name, column in found:  # columns of one name: count, count_2
        used[name] = used.get(name, 0) + 1
        columns[name if used[name] == 1 else f"{name}_{used[name]}"] = column
    return Table(columns, title="query")


class Store(Writing, Diagnosed):
    """What all stores have. Close them, or use them with `with`; pickled ones are opened again."""

    _names = "full"
    kind = "store"

    def __init__(self, path, store, info):
        self.path, self._store, self._info = path, store, info
        self._costs = {}
        self._unread = None  # tables
        self._findings = 0  # of opening it, without notes
        self._kinds = None  # a file of rules

    @staticmethod
    def _progress(progress):
        return _reporter(progress)

    @property
    def format(self):
        """Such as 'HPCToolkit 4.0'."""
        return self._info["format"]

    @property
    def closed(self):
        return self._store.closed

    def _forget(self):
        self._costs.clear()

    def _leave_tables(self, keep):
        for table in list(self._unread or ()):
            table._leave(keep)
        self._unread = None

    def close(self):
        """Closes the store. BufferError if arrays or other results that borrow from it are still there."""
        self._forget()
        self._store.close()
        self._leave_tables(None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._forget()
        if not self.closed:
            self._leave_tables(lambda: _lode.keep(self._store))
        self._store.close(True)  # with the last array that borrows from it, or table that was not read
        self._costs.clear()  # what other threads added since

    def __reduce__(self):
        return open, (self.path, 0, None, self._kinds)

    def __repr__(self):
        return f"<lode.{type(self).__name__} {self.path!r}: {self.format}{', closed' if self.closed else ''}>"

    def _repr_html_(self):
        from .notebook import pairs_html
        return pairs_html(self.path, self._pairs())

    def __str__(self):
        return "\n".join([shown(self.path, TEXT_WIDTH)] + [shown(f"  {key}: {value}", TEXT_WIDTH) for key, value in self._pairs()])

    def _moment(self, time):
        return moment(time, self._begin, self._info.get("utc_offset", 0))

    @property
    def tables(self):
        """The relational tables: name, title and columns of each; functions compute their rows from arguments."""
        found = _lode.tables(self._store)
        return Table({"name": [name for name, *_ in found], "title": [title for _, title, *_ in found],
                      "function": [bool(is_function) for _, _, is_function, _ in found],
                      "columns": [", ".join(field[0] for field in fields) for *_, fields in found]}, title="tables")

    def table(self, name, columns=None, limit=0, names=None, progress=None, **where):
        """A relational table, or the rows that have these values: table("value", profile_id=3). See doc/tables.md."""
        if self.closed:
            raise ValueError("the store is closed")
        chosen = None if columns is None else (columns,) if isinstance(columns, str) else tuple(dict.fromkeys(columns))
        question = (name, os.fsencode(self.path), form_of(names or self._names), chosen, tuple(where.items()))
        found = _lode.scan_columns(self._store, question)
        units = {column: "nanoseconds" if column in ("duration_ns", "self_ns") else "plain"
                 for column in found if column == "id" or column.endswith(("_id", "_ns", "_no", "line", "pid", "tid"))}

        def read():
            columns = _lode.scan(self._store, question, limit, _reporter(progress))
            return {column: column_of(data)[:limit] if limit else data for column, data in columns.items()}
        made = StoreTable(found, read, lambda: _lode.scan_stream(self._store, question, limit), units, name)
        if self._unread is None:
            from weakref import WeakSet
            self._unread = WeakSet()
        self._unread.add(made)
        return made

    def sql(self, query, parameters=(), names=None, progress=None):
        """The rows of an SQL query over the tables of the store, as `lode sql` has them; `lode.sql` asks several stores."""
        return _query([("main", self)], query, parameters, names, progress)

    def to_hatchet(self, **options):
        """The whole call tree as a hatchet.GraphFrame, if Hatchet is installed; options are those of tree()."""
        import hatchet
        return hatchet.GraphFrame.from_literal(self.tree(**{"min_share": 0, "limit": 0, **options}).to_literal())

    def _window(self, start, stop):
        return self._moment(start), self._moment(stop)

    def _remember(self, key, compute):
        """A cost from the cache; the least recently used one is dropped first."""
        if self.closed:
            raise ValueError("the store is closed")
        cost = self._costs.pop(key, None) or compute()
        if cost is not None:
            self._costs[key] = cost
            while len(self._costs) > CACHED_COSTS:
                del self._costs[next(iter(self._costs))]
        if self.closed:  # meanwhile, by another thread: a cost in the cache would keep it open
            self._costs.clear()
        return cost

    def _tree(self, cost, names, bottom_up, callers, focus, depth, min_share, lines, limit, merge_recursion, include, exclude):
        mode = 3 if callers else 1 if bottom_up else 0
        columns, count = _lode.view(cost, mode, depth, min_share, callers or focus, lines, limit, form_of(names or self._names),
                                    merge_recursion, patterns(include), patterns(exclude))
        return Tree(columns, unit_of(cost.name), f"{cost.name}: {amount(cost.total, unit_of(cost.name))}", cost.total, count)

    def _flame(self, cost, names, bottom_up, function, focus, width, min_width, depth, limit, include, exclude, interactive):
        mode = 1 if bottom_up else 2 if function else 0
        columns, whole = _lode.flame(cost, mode, function or focus, form_of(names or self._names), float(width), float(min_width),
                                     depth, limit, patterns(include), patterns(exclude))
        unit = unit_of(cost.name)
        return Flame(columns, unit, f"{cost.name}: {amount(cost.total, unit)}", cost.total, whole, width, interactive)

    def _picture(self, start, stop, columns, rows, depth, selection, tracks, names, threads, progress, labels):
        first, last = self._window(start, stop)
        picture = _lode.picture(self._store, first, last, columns, rows, depth, selection, tracks, form_of(names or self._names),
                                threads, _reporter(progress))
        if picture is None:
            return None
        length = amount(picture["stop"] - picture["start"], "nanoseconds")
        return Timeline(picture, f"{length}, {picture['samples']:,} samples", labels(picture["lines"]))


class Database(Grouped, Store):
    """Analysed profiles: contexts, metrics, profiles, values and trace lines."""

    kind = "database"

    def __init__(self, path, store, info):
        super().__init__(path, store, info)
        self._names = info["names"]
        self._metrics = self._contexts = self._lines = None

    def _forget(self):
        super()._forget()
        self._contexts = self._lines = None

    def _pairs(self):
        yield "format", self.format
        yield "title", self.title
        yield "contexts", f"{self._info['contexts']:,}"
        yield "profiles", f"{self._info['profiles'] - 1:,} and the summary"
        yield "metrics", ", ".join(metric.name for metric in self.metrics) or "none"
        if self._info["bounds"]:
            begin, end = self._info["bounds"]
            yield "traces", f"{self._info['trace_lines']:,} lines, {amount(end - begin, 'nanoseconds')} from {utc(begin)}"
        yield "files", ", ".join(f"{name} {amount(size, 'bytes')}" for name, size in self._info["parts"].items())

    @property
    def title(self):
        return self._info["title"]

    @property
    def description(self):
        return self._info["description"]

    @property
    def metrics(self):
        """Metrics by number, or by name as on the command line: part of one name is enough."""
        if self._metrics is None:
            self._metrics = Metrics(self)
        return self._metrics

    @property
    def contexts(self):
        """All contexts as columns, in depth-first order: .parent, .depth, .line, .name and so on."""
        if self._contexts is None:
            self._contexts = Contexts(self)
        return self._contexts

    def columns(self, table):
        """A table of the metadata: functions, files, modules, metrics, statistics, profile_ids, id_kinds, trace_lines..."""
        return Table(with_none(_lode.columns(self._store, table, None)), {"line": "plain"}, title=table)

    @property
    def profiles(self):
        """A row for each profile: its number, its name, whether it is a summary, and how many values it has."""
        columns = _lode.columns(self._store, "profiles", None)
        numbers = numpy().arange(len(columns["values"])) if numpy() else list(range(len(columns["values"])))
        return Table({"profile": numbers, **_lode.profile_names(self._store), "summary": columns["summary"],
                      "values": columns["values"]}, title="profiles")

    def _begin(self):
        return self._info["bounds"][0] if self._info["bounds"] else 0

    def _cost(self, metric=None, profiles=None, start=None, stop=None, threads=0, progress=None):
        first, last = self._window(start, stop)
        is_window = start is not None or stop is not None
        number = -1 if metric is None or is_window else self.metrics[metric].index
        if is_window and not last:
            last = 2**64 - 1
        cost = self._remember((number, profiles, first, last), lambda: _lode.cost(
            self._store, number, profiles, is_window, first, last, threads, _reporter(progress)))
        return cost

    def _need_cost(self, *arguments, **named):
        cost = self._cost(*arguments, **named)
        if cost is None:
            raise _lode.NotFound(f"{self.path}: there are no traces")
        return cost

    def context(self, id):
        """The context of an id, as in values and samples."""
        found = _lode.context(self._store, id, False, form_of(self._names))
        if found is None:
            raise _lode.NotFound(f"{self.path}: no context {id}")
        return Context(self, found)

    def find(self, name, metric=None):
        """The most expensive context of the functions that a name means."""
        cost = self._need_cost(metric)
        ids = _lode.matches(cost, name, form_of(self._names))
        return self.context(max(ids, key=lambda id: _lode.cost_at(cost, id)[0]))

    def top(self, by="function", metric=None, profiles=None, sort="exclusive", start=None, stop=None, names=None, include=(),
            exclude=(), threads=0, progress=None):
        """The most expensive functions, lines, loops, modules, files, symbols or kinds: what `lode top` prints."""
        cost = self._need_cost(metric, profiles, start, stop, threads, progress)
        columns = _lode.hotspots(cost, choose(by, BY, "by"), choose(sort, SORTS, "sort"), form_of(names or self._names),
                                 patterns(include), patterns(exclude))
        unit = unit_of(cost.name)
        hidden = ("function", "contexts", "functions", "kind") if by in ("function", "symbol") else ("contexts", "functions", "kind")
        return Table(columns, {"exclusive": unit, "inclusive": unit, "exclusive_percent": "percent", "inclusive_percent": "percent",
                               "line": "plain"}, f"{cost.name}: {amount(cost.total, unit)}", hidden)

    def tree(self, metric=None, profiles=None, min_share=0.01, depth=0, bottom_up=False, callers=None, focus=None, lines=False,
             limit=100, start=None, stop=None, names=None, merge_recursion=False, include=(), exclude=(), threads=0, progress=None):
        """The call tree, top-down or by callers: what `lode tree` prints."""
        cost = self._need_cost(metric, profiles, start, stop, threads, progress)
        return self._tree(cost, names, bottom_up, callers, focus, depth, min_share, lines, limit, merge_recursion, include, exclude)

    def flame(self, metric=None, profiles=None, bottom_up=False, function=None, focus=None, width=1000, min_width=0.5, depth=0,
              limit=20000, start=None, stop=None, names=None, include=(), exclude=(), interactive=False, threads=0, progress=None):
        """A flame graph; .save(path) writes it as SVG."""
        cost = self._need_cost(metric, profiles, start, stop, threads, progress)
        return self._flame(cost, names, bottom_up, function, focus, width, min_width, depth, limit, include, exclude, interactive)

    def timeline(self, columns=1000, rows=0, depth=0, profiles=None, start=None, stop=None, names=None, threads=0, progress=None):
        """What each trace line did; None without traces."""
        def labels(lines):
            names = _lode.profile_names(self._store)["name"]
            of_lines = memoryview(_lode.columns(self._store, "trace_lines", "profile")["profile"])
            return [names[of_lines[line]] for line in lines]
        return self._picture(start, stop, columns, rows, depth, profiles, None, names, threads, progress, labels)

    def slice(self, output, profiles=None, start=None, stop=None, focus=None, depth=0, min_share=0.0, metric=None, keep_contexts=False,
              force=False, threads=0, progress=None):
        """Writes a part of the database as a database: what `lode slice` writes. Returns the findings."""
        return self._cut(output, metric, profiles, focus, self._window(start, stop), None, depth, min_share, 0, keep_contexts, force, threads,
                         progress)

    # ---- in place ----

    def values(self, profile):
        """The values of a profile as a numpy array of (metric, value), in the mapped file: no copy."""
        module = need_numpy("values()")
        return module.asarray(_lode.block(self._store, profile, True)[0])

    def value_contexts(self, profile):
        """The context id of each of values(profile), as a numpy array."""
        return need_numpy("value_contexts()").asarray(_lode.keys(self._store, profile, True))

    def samples(self, profile, start=None, stop=None):
        """The samples of a profile as a numpy array of (time, context), in the mapped file; None without a trace line."""
        module = need_numpy("samples()")
        if self._lines is None:
            profiles = memoryview(_lode.columns(self._store, "trace_lines", "profile")["profile"])
            self._lines = {number: line for line, number in enumerate(profiles)}
        if profile not in self._lines:
            return None
        return module.asarray(_lode.samples(self._store, self._lines[profile], *self._window(start, stop)))


class Recording(Store):
    """Tracks of calls in chronological order, as a tracer wrote them. Times are nanoseconds in its clock."""

    _names = "simple"
    kind = "recording"

    def _pairs(self):
        yield "format", self.format
        yield "requests" if self._info["requests"] else "tracks", f"{self._info['tracks']:,}"
        yield from self.facts.items()

    @property
    def facts(self):
        """Metadata of the recorder."""
        return dict(_lode.facts(self._store))

    @property
    def tracks(self):
        """A row for each track: a thread, or a request of a service."""
        return Table(_lode.tracks(self._store), {"bytes": "bytes", "pid": "plain", "tid": "plain", "begin": "plain", "end": "plain"},
                     "tracks", ("id", "program"))

    def _begin(self):
        return min((begin for begin, end in zip(*(self.tracks._raw(name) for name in ("begin", "end"))) if end), default=0)

    def _slice(self, start, stop, tracks):
        numbers = None if tracks is None else (tracks,) if hasattr(tracks, "__index__") else tuple(sorted(tracks))
        return (*self._window(start, stop), numbers)

    @staticmethod
    def _clock(metric, sched):
        """Off-CPU time counts for the call that waits, is left out ("running"), or is a call."""
        return 0 if sched else choose(metric, {"time": 1, "running": 2}, "metric")

    def calls(self, sort="total", by="function", start=None, stop=None, tracks=None, names=None, include=(), exclude=(), threads=0,
              progress=None, metric="time", sched=False):
        """Statistics of calls by function: calls, total, elapsed, self, mean, percentiles; times in nanoseconds, with off-CPU time unless `metric` is "running"."""
        columns = _lode.calls(self._store, *self._slice(start, stop, tracks), self._clock(metric, sched), choose(sort, CALL_SORTS, "sort"),
                              choose(by, {"function": False, "symbol": True}, "by"), form_of(names or self._names),
                              patterns(include), patterns(exclude), threads, _reporter(progress))
        units = dict.fromkeys(("total", "elapsed", "self", "mean", "min", "p50", "p95", "p99", "max", "deviation"), "nanoseconds")
        hidden = ("file", "line", "module", "functions", "kind", "deviation")
        # Where no calls of a request run at the same time, it is the total.
        if memoryview(columns["elapsed"]) == memoryview(columns["total"]):
            hidden += ("elapsed",)
        return Table(columns, {**units, "line": "plain"}, "calls", hidden)

    def top(self, sort="self", **options):
        """The functions with the longest time of their own: what `lode top` prints."""
        return self.calls(sort=sort, **options)

    def _cost(self, start=None, stop=None, tracks=None, threads=0, progress=None, metric="time", sched=False):
        part = (*self._slice(start, stop, tracks), self._clock(metric, sched))
        return self._remember(part, lambda: _lode.calltree(self._store, *part, threads, _reporter(progress)))

    def tree(self, min_share=0.01, depth=0, bottom_up=False, callers=None, focus=None, limit=100, start=None, stop=None, tracks=None,
             names=None, merge_recursion=False, include=(), exclude=(), threads=0, progress=None, metric="time", sched=False):
        """The call tree of all tracks: what `lode tree` prints."""
        cost = self._cost(start, stop, tracks, threads, progress, metric, sched)
        return self._tree(cost, names, bottom_up, callers, focus, depth, min_share, False, limit, merge_recursion, include, exclude)

    def flame(self, bottom_up=False, function=None, focus=None, width=1000, min_width=0.5, depth=0, limit=20000, start=None, stop=None,
              tracks=None, names=None, include=(), exclude=(), interactive=False, threads=0, progress=None, metric="time", sched=False):
        """A flame graph of the time of calls; .save(path) writes it as SVG."""
        cost = self._cost(start, stop, tracks, threads, progress, metric, sched)
        return self._flame(cost, names, bottom_up, function, focus, width, min_width, depth, limit, include, exclude, interactive)

    def timeline(self, columns=1000, rows=0, depth=0, tracks=None, start=None, stop=None, names=None, threads=0, progress=None):
        """What each track did."""
        def labels(lines):
            names = self.tracks._raw("name")
            return [names[line] for line in lines]
        return self._picture(start, stop, columns, rows, depth, None, self._slice(None, None, tracks)[2], names, threads, progress,
                             labels)

    def slice(self, output, start=None, stop=None, tracks=None, depth=0, min_time=0, force=False, threads=0, progress=None):
        """Writes a part of the recording as a recording, without calls shorter than `min_time` nanoseconds: what `lode slice` writes."""
        return self._cut(output, None, None, None, self._window(start, stop), tracks, depth, 0.0, min_time, False, force, threads, progress)

    def events(self, track=0, start=None, stop=None, limit=0, names=None, progress=None):
        """The events of one track in chronological order: time, kind, depth, name, flags."""
        columns = _lode.events(self._store, track, *self._window(start, stop), limit, form_of(names or self._names),
                               _reporter(progress))
        return Table(columns, {"time": "plain"}, f"events of track {track}", ("flags",))


class TraceStore(Recording):
    """A recording whose tracks are requests of a service (Zorka)."""

    kind = "trace store"

    @property
    def requests(self):
        """A row for each request, with its globally unique id."""
        return self.tracks


def open(path, threads=0, progress=None, kinds=None):
    """Opens a store: a Database, a Recording or a TraceStore, by what is there. `kinds` is a file of rules for kinds of functions, which
    hold for all answers."""
    path = os.fsdecode(path)
    store, kind, findings, count, opened = _lode.open(path, threads, _reporter(progress), rules_of(kinds))
    warn_of_store(path, findings, count)
    info = _lode.info(store)
    made = (Database if kind == "database" else TraceStore if info["requests"] else Recording)(path, store, info)
    made._findings = opened
    made._kinds = None if kinds is None else os.fsdecode(kinds)
    return made


def _opened(stack, stores):
    """The stores, of which those that are paths are opened until the stack ends, whatever happens meanwhile."""
    return [store if isinstance(store, Store) else stack.enter_context(open(store)) for store in stores]


def merge(stores, output, labels=None, force=False, drop_unlisted=False, align=False, mean=False, threads=0, progress=None):
    """Merges databases, or recordings, or paths of them: what `lode merge` writes. Returns the findings."""
    with ExitStack() as stack:
        opened = _opened(stack, stores)
        runs = labels or [store.path.rstrip("/") or "/" for store in opened]
        if len(runs) != len(opened):
            raise ValueError(f"{len(runs)} labels for {len(opened)} stores")
        if not labels:  # the same store again is another run
            runs = [run if runs[:number].count(run) == 0 else f"{run}#{runs[:number].count(run) + 1}" for number, run in enumerate(runs)]
        findings = _lode.merge(tuple((store._store, os.fsencode(store.path), run) for store, run in zip(opened, runs)), output,
                               (force, drop_unlisted, align, mean), threads, _reporter(progress))
    warn(os.fsdecode(output), findings, 3)
    return Table(findings, {"offset": "plain"}, "findings")


def check(path, level="structure", limit=20, threads=0, progress=None):
    """Checks a store. The result is true if it is sound, and lists the findings."""
    path = os.fsdecode(path)
    findings, counts = _lode.check(path, choose(level, LEVELS, "level"), limit, threads, _reporter(progress))
    return Check(findings, counts, f"{path}: {'sound' if not counts['errors'] else 'damaged'}")


def build(recordings, output, force=False, strict=False, trace="full", title=None, threads=0, progress=None):
    """Builds a database from recordings; Ctrl-C cancels, and leaves nothing behind. Returns counts of what was built."""
    paths = [recordings] if isinstance(recordings, (str, bytes, os.PathLike)) else recordings
    sampled = {"full": 0, "none": TRACE_NONE}.get(trace) if isinstance(trace, str) else int(trace)
    if sampled is None:
        sampled = moment(trace, lambda: 0, 0)
    _, counts = _lode.build(tuple(os.fsencode(path) for path in paths), output, force, strict, sampled, title, threads,
                            _reporter(progress))
    return counts


def compare(base, new, metric=None, by="function", names="full", threads=0, progress=None):
    """Compares two stores, or paths of them: what `lode compare` prints. Recordings have the metrics "time" and "running"."""
    stores = [side if isinstance(side, Store) else open(side, threads, progress) for side in (base, new)]
    databases = [store for store in stores if isinstance(store, Database)]
    wanted = [{"metric": metric} if store in databases else {"sched": True} for store in stores]
    if metric is None and len(databases) == 2:
        wanted[1] = {"metric": stores[0]._need_cost().name}  # the default of base
    elif not databases:
        wanted = [{"metric": metric or ("running" if all(store._info["sched"] for store in stores) else "time")}] * 2

    def costs_of():
        return [store._cost(**options, threads=threads, progress=progress) for store, options in zip(stores, wanted)]
    costs = costs_of()
    units = [unit_of(cost.name) for cost in costs]
    scales = [1e-9 if unit == "nanoseconds" and units[0] != units[1] else 1.0 for unit in units]
    columns, totals, matched = _lode.compare(*costs, choose(by, BY, "by"), form_of(names), *scales)

    def compare_trees(min_share, is_all):
        return _lode.compare_tree(*costs_of(), form_of(names), *scales, min_share, is_all)
    return Comparison(columns, totals, matched, units[0] if units[0] == units[1] else "seconds",
                      f"{stores[0].path} and {stores[1].path}", compare_trees)


def sql(stores, query, parameters=(), names=None, progress=None):
    """An SQL query over several stores, or paths of them: each is a schema, by the keys of a dict or the last parts of their paths."""
    if isinstance(stores, (Store, str, bytes, os.PathLike)):
        stores = {"main": stores}
    is_named = hasattr(stores, "keys")
    with ExitStack() as stack:
        opened = _opened(stack, stores.values() if is_named else stores)
        taken = {"main", "temp"}
        schemas = list(stores) if is_named else [_schema_of(store.path, taken) for store in opened]
        return _query(list(zip(schemas, opened)), query, parameters, names, progress)
