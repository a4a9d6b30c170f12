# SPDX-License-Identifier: BSD-3-Clause
"""Answers that are more than a table: trees, flame graphs, timelines, distributions, checks, comparisons."""

from .table import Table, column_of, need_numpy, numpy
from .text import amount, shown

SECONDS = {"seconds": 1, "nanoseconds": 1e-9}


class Tree(Table):
    """A call tree in rows, depth first. In a notebook its rows open and close."""

    def __init__(self, columns, unit, title, total, row_count):
        units = {"inclusive": unit, "exclusive": unit, "inclusive_percent": "percent", "exclusive_percent": "percent",
                 "context": "plain", "call_line": "plain", "omitted_inclusive": unit}
        super().__init__(columns, units, title)
        self.unit, self.total, self.row_count = unit, total, row_count

    def __str__(self):
        lines = [shown(self.title, 200)]
        for row in self:
            lines.append(f"{row.inclusive_percent:6.1f}% {amount(row.inclusive, self.unit):>12}  {'  ' * row.depth}"
                         f"{shown(row.name or '', 90)}{' …' if row.folded else ''}")
        if self.row_count > len(self):
            lines.append(f"{len(self):,} of {self.row_count:,} rows")
        return "\n".join(lines)

    def to_literal(self):
        """A list of nested dicts, as hatchet.GraphFrame.from_literal takes it; times in seconds."""
        is_time = self.unit in SECONDS
        metric, scale = ("time", SECONDS[self.unit]) if is_time else (self.title.rpartition(": ")[0], 1)
        roots, path = [], []
        for row in self:
            node = {"frame": {"name": row.name or "", "type": "function" if row.kind == "entry" else row.kind},
                    "metrics": {metric: row.exclusive * scale, f"{metric} (inc)": row.inclusive * scale}, "children": []}
            del path[row.depth:]
            (path[-1]["children"] if path else roots).append(node)
            path.append(node)
        return roots

    def _repr_html_(self):
        from .notebook import tree_html
        return tree_html(self)


class Flame:
    """A flame graph: boxes as wide as costs. A notebook shows it as SVG."""

    def __init__(self, boxes, unit, title, total, whole, width, interactive):
        self.boxes = Table(boxes, {"inclusive": unit, "exclusive": unit, "context": "plain"}, title)
        self.unit, self.title, self.total, self.whole, self.width = unit, title, total, whole, width
        self._interactive = interactive

    def svg(self):
        """The picture as text."""
        from .notebook import flame_svg
        return flame_svg(self)

    def save(self, path):
        """Writes the picture as an SVG file."""
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self.svg())

    def __len__(self):
        return len(self.boxes)

    def __repr__(self):
        return shown(f"<lode.Flame: {len(self):,} boxes, {self.title}>", 200)

    def _repr_html_(self):
        from .notebook import interactive_html
        return interactive_html(self.svg()) if self._interactive else self.svg()


class Timeline:
    """What each line did: keys of functions in cells, lines from top to bottom, time from left to right."""

    def __init__(self, picture, title, names):
        self.title, self.names = title, names
        self.start, self.stop, self.rows, self.columns = (picture[key] for key in ("start", "stop", "rows", "columns"))
        self.samples, self.lines, self.cells = picture["samples"], picture["lines"], picture["cells"]
        self.shares = Table(picture["shares"], {"nanoseconds": "nanoseconds", "context": "plain", "key": "plain"}, title)

    def to_numpy(self):
        """Lines x columns of context ids: of the function that has most of the cell; 0 where nothing ran."""
        module = need_numpy("to_numpy()")
        contexts = module.zeros(256, dtype=module.uint32)
        for key, context in zip(self.shares._raw("key"), self.shares._raw("context")):
            if 1 < key < 255:
                contexts[key] = context
        return contexts[module.frombuffer(self.cells, dtype=module.uint8).reshape(self.rows, self.columns)]

    def to_png(self):
        """The picture as bytes of a PNG file."""
        from .notebook import timeline_png
        return timeline_png(self)

    def save(self, path):
        """Writes the picture as a PNG file."""
        with open(path, "wb") as stream:
            stream.write(self.to_png())

    def __repr__(self):
        return f"<lode.Timeline: {self.rows:,} lines, {self.columns:,} columns, {self.samples:,} samples>"

    def _repr_html_(self):
        from .notebook import timeline_html
        return timeline_html(self)


class Distribution:
    """How a metric of a context spreads over profiles."""

    def __init__(self, values, numbers, unit, title):
        self.values, self.unit, self.title = values, unit, title
        self._numbers = numbers
        for key, value in numbers.items():
            setattr(self, key, value)

    def to_dict(self):
        return dict(self._numbers)

    def plot(self, **options):
        """A histogram by matplotlib; returns its axes."""
        from matplotlib import pyplot
        axes = options.pop("ax", None) or pyplot.gca()
        axes.hist(numpy().asarray(self.values), **options)
        axes.set_title(self.title)
        return axes

    def _pairs(self):
        for key, value in self._numbers.items():
            yield key, (amount(value, "count") if key == "count" else f"{100 * value:.1f}%" if key == "imbalance" else
                        amount(value, self.unit))

    def __repr__(self):
        return "<lode.Distribution: " + ", ".join(f"{key} {value}" for key, value in self._pairs()) + ">"

    def _repr_html_(self):
        from .notebook import pairs_html
        return pairs_html(self.title, self._pairs())


class Check(Table):
    """Findings of a check. True if the store is sound: no finding is an error."""

    def __init__(self, findings, counts, title):
        super().__init__(findings, {"offset": "plain"}, title)
        self.counts = counts

    def __bool__(self):
        return self.counts["errors"] == 0


class Comparison:
    """What changed from one run to another, by function."""

    def __init__(self, columns, totals, matched, unit, title, compare_trees):
        units = {name: unit for name in columns if name.startswith(("base_", "new_")) or name.endswith("difference")}
        self.table = Table(columns, units, title, ("marks",))
        self.totals, self.matched, self.unit, self.title = totals, matched, unit, title
        self._compare_trees = compare_trees

    @property
    def change(self):
        """How much more everything costs: 0.05 is 5 % slower; None without costs in base."""
        return self.totals[1] / self.totals[0] - 1 if self.totals[0] else None

    def tree(self, min_share=0.01, all=False, limit=0):
        """Both call trees as one: what changed by this share of the total, or with `all` what has it; needs the open stores."""
        return ComparedTree(*self._compare_trees(min_share, all), self.unit, limit)

    def verdict(self, max_slower=0.05):
        """Whether the new run costs at most this share more."""
        return self.totals[1] <= self.totals[0] * (1 + max_slower)

    def __str__(self):
        change = "" if self.change is None else f" ({100 * self.change:+.1f}%)"
        return f"{amount(self.totals[0], self.unit)} -> {amount(self.totals[1], self.unit)}{change}\n{self.table}"

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        from .notebook import escape
        return f'<div class="lode"><div>{escape(str(self).splitlines()[0])}</div>{self.table._repr_html_()}</div>'


def _depth_first(nodes):
    """(number, depth, row of the caller) of nodes in the order of rows: the largest change first, then the largest cost."""
    children, order = {}, []
    for number, parent in enumerate(nodes["parent"]):
        children.setdefault(parent, []).append(number)

    def below(node, depth, row):
        found = children.get(node, [])
        found.sort(key=lambda n: (nodes["gross"][n], max(abs(nodes["base"][n]), abs(nodes["new"][n])), -nodes["node"][n]))
        return [(number, depth, row) for number in found]
    stack = below(0, 0, None)
    while stack:
        number, depth, row = stack.pop()
        order.append((number, depth, row))
        stack += below(nodes["node"][number], depth + 1, len(order) - 1)
    return order


class ComparedTree(Table):
    """What changed, under its callers: two call trees as one, in rows. `gross` adds up increases and decreases."""

    def __init__(self, nodes, totals, gross, matched, unit, limit):
        nodes = {name: column_of(data) for name, data in nodes.items()}
        order = _depth_first(nodes)
        chosen = order[:limit] if limit else order
        rows = Table({name: data for name, data in nodes.items() if name not in ("node", "parent")})
        columns = dict(rows._take([number for number, _, _ in chosen])._columns)
        columns["ratio"] = [new / base if base else None for base, new in zip(columns["base"], columns["new"])]
        columns["depth"], columns["parent_row"] = [depth for _, depth, _ in chosen], [row for *_, row in chosen]
        units = dict.fromkeys(("difference", "gross", "base", "new", "base_own", "new_own"), unit)
        net = totals[1] - totals[0]
        super().__init__(columns, units, f"net change {amount(net, unit)}, gross change {amount(gross, unit)}")
        self.unit, self.totals, self.gross, self.matched, self.row_count = unit, totals, gross, matched, len(order)

    def _line(self, row):
        sign = "+" if row["difference"] > 0 else ""
        return f"{sign}{amount(row['difference'], self.unit)}", row["name"] or "", f" (only in {row['only_in']})" if row["only_in"] else ""

    def __str__(self):
        lines = [shown(self.title, 200)]
        for row in self.to_dicts():
            change, name, only = self._line(row)
            lines.append(f"{change:>13}  {'  ' * row['depth']}{shown(name, 90)}{only}")
        if self.row_count > len(self):
            lines.append(f"{len(self):,} of {self.row_count:,} rows")
        return "\n".join(lines)

    def _repr_html_(self):
        from .notebook import compared_html
        return compared_html(self)
