# SPDX-License-Identifier: BSD-3-Clause
"""Tables: named columns, that pandas, polars or numpy take over."""

from ._lode import arrow_stream
from .text import amount, shown

SHOWN = 10  # rows that a table shows of itself
TEXT_WIDTH = 60


def numpy():
    """numpy if it is installed, else None."""
    try:
        import numpy as module
    except ImportError:
        return None
    return module


def need_numpy(what):
    module = numpy()
    if module is None:
        raise ImportError(f"{what} needs numpy, which is not installed")
    return module


def column_of(data):
    """What the module gives as a column: a list, or something with the buffer protocol."""
    return data if isinstance(data, (list, tuple)) else memoryview(data)


NO_ROW = 2**32 - 1  # in columns of the library: no function, file or module
REFERENCES = ("file", "function", "module")


def with_none(columns):
    """Columns of the library, with None where they have a number that stands for nothing."""
    result = {}
    for name, data in columns.items():
        nothing = 0 if name == "line" else NO_ROW if name in REFERENCES else None
        view = column_of(data)
        if nothing is None or isinstance(view, (list, tuple)) or nothing not in (values := view.tolist()):
            result[name] = data
        else:
            result[name] = [None if value == nothing else value for value in values]
    return result


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _holds_numbers(data):
    """Whether a column has numbers: an array, or a list of numbers and None."""
    if not isinstance(data, (list, tuple)):
        return True
    return any(value is not None for value in data) and all(value is None or _is_number(value) for value in data)


def _series(pandas, name, data, array):
    """A column for pandas: integers stay integers where some are None."""
    if not isinstance(data, (list, tuple)):
        return array
    known = [value for value in data if value is not None]
    are_integers = all(isinstance(value, int) and not isinstance(value, bool) for value in known)
    if are_integers and (known or name in ("line", "call_line") or name.endswith(("_id", "_ns"))):
        is_large = any(not -2**63 <= value < 2**63 for value in known)
        return array if is_large else pandas.array(data, dtype="Int64")
    if known and all(isinstance(value, bool) for value in known):
        return pandas.array(data, dtype="boolean")
    return pandas.array(data, dtype="float64") if known and all(_is_number(value) for value in known) else array


class Table:
    """Rows and named columns. Indexing by name gives a column, by number a row, by a slice or a mask a table."""

    def __init__(self, columns, units=None, title="", hidden=()):
        self._columns = {name: column_of(data) for name, data in columns.items()}
        self._units = units or {}
        self._hidden = hidden  # columns that are not shown
        self.title = title

    # ---- columns and rows ----

    @property
    def columns(self):
        """The names of the columns."""
        return list(self._columns)

    def _raw(self, name):
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}") from None

    def __len__(self):
        for data in self._columns.values():
            return len(data)
        return 0

    def __contains__(self, name):
        return name in self._columns

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._array(key)
        if isinstance(key, slice):
            return self._derive({name: data[key] for name, data in self._columns.items()})
        if hasattr(key, "__index__"):
            return self._row_type()(*(data[key] for data in self._columns.values()))
        return self.filter(key)

    def _array(self, name):
        """A column as numpy has it, in place; without numpy a memoryview or a list."""
        data = self._raw(name)
        module = numpy()
        if module is None:
            return data
        return module.array(data, dtype=object) if isinstance(data, (list, tuple)) else module.asarray(data)

    def _row_type(self):
        from collections import namedtuple
        return namedtuple("Row", self.columns, rename=True)

    def __iter__(self):
        return map(self._row_type()._make, zip(*self._columns.values()))

    def _derive(self, columns):
        return Table(columns, self._units, self.title, self._hidden)

    def _take(self, order):
        """The rows of these numbers, in this order."""
        from array import array
        module = numpy()
        taken = {}
        for name, data in self._columns.items():
            if isinstance(data, (list, tuple)):
                taken[name] = [data[row] for row in order]
            elif module is not None:
                taken[name] = module.asarray(data)[module.asarray(order, dtype=module.intp)]
            else:
                taken[name] = array(data.format, [data[row] for row in order])
        return self._derive(taken)

    def head(self, n=SHOWN):
        """The first rows."""
        return self[:n]

    def sort(self, by, reverse=None):
        """A table in the order of a column: numbers falling, text rising, unless `reverse` says otherwise; ties stay in order."""
        data = self._raw(by)
        if reverse is None:
            reverse = not isinstance(data, (list, tuple)) or not any(isinstance(item, str) for item in data)
        return self._take(sorted(range(len(self)), key=lambda row: (0,) if data[row] is None else (1, data[row]), reverse=reverse))

    def filter(self, which):
        """The rows for which a function of the row, or an item of a mask, is true."""
        if callable(which):
            which = [which(row) for row in self]
        if len(which) != len(self):
            raise ValueError(f"a mask of {len(which)} items for {len(self)} rows")
        return self._take([row for row, keep in enumerate(which) if keep])

    # ---- for other tools ----

    def __arrow_c_stream__(self, requested_schema=None):
        """A copy as an Arrow stream, for pyarrow.table(t), polars.DataFrame(t) and DuckDB."""
        return arrow_stream(tuple(self._columns), tuple(list(data) if isinstance(data, tuple) else data for data in self._columns.values()))

    def to_numpy(self):
        """A structured array."""
        module = need_numpy("to_numpy()")
        arrays = {name: self._array(name) for name in self._columns}
        result = module.empty(len(self), dtype=[(name, array.dtype) for name, array in arrays.items()])
        for name, array in arrays.items():
            result[name] = array
        return result

    def to_pandas(self):
        """A pandas.DataFrame."""
        import pandas
        return pandas.DataFrame({name: _series(pandas, name, data, self._array(name)) for name, data in self._columns.items()})

    def to_polars(self):
        """A polars.DataFrame."""
        import polars
        return polars.DataFrame({name: data if isinstance(data, list) else self._array(name)
                                 for name, data in self._columns.items()})

    def to_dicts(self):
        """A list of dicts with plain numbers and str."""
        names = self.columns
        lists = [data if isinstance(data, (list, tuple)) else data.tolist() for data in self._columns.values()]
        return [dict(zip(names, row)) for row in zip(*lists)]

    def to_csv(self, path=None):
        """CSV (RFC 4180) with a header line and unchanged text, to a file or as str."""
        import csv
        import io
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        writer.writerow(self.columns)
        for row in self.to_dicts():
            writer.writerow(["" if value is None else value for value in row.values()])
        if path is None:
            return buffer.getvalue()
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(buffer.getvalue())
        return None

    # ---- for people ----

    def _cells(self, limit):
        """Names of the columns that are shown, whether they are numbers, and the rows as text."""
        names = [name for name in self._columns if name not in self._hidden]
        are_numbers = [_holds_numbers(self._columns[name]) for name in names]
        rows = []
        for row in range(min(limit, len(self))):
            cells = []
            for name in names:
                value = self._columns[name][row]
                cells.append("" if value is None else value if isinstance(value, str) else amount(value, self._units.get(name, "count")))
            rows.append(cells)
        return names, are_numbers, rows

    def _footing(self):
        return f"{min(SHOWN, len(self)):,} of {len(self):,} rows" if len(self) > SHOWN else f"{len(self):,} row{'s' * (len(self) != 1)}"

    def __repr__(self):
        return f"<lode.{type(self).__name__}: {len(self):,} rows of {', '.join(self._columns)}>"

    def __str__(self):
        names, are_numbers, rows = self._cells(SHOWN)
        rows = [names] + [[shown(cell, TEXT_WIDTH) for cell in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.rjust(width) if is_number else cell.ljust(width)
                           for cell, width, is_number in zip(row, widths, are_numbers)).rstrip() for row in rows]
        return "\n".join(([shown(self.title, 200)] if self.title else []) + lines + [self._footing()])

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))

    def _repr_html_(self):
        from .notebook import table_html
        return table_html(self)


def _too_late():
    raise ValueError("the store was closed before the table was read")


class StoreTable(Table):
    """A table of a store. Its columns are read when they are asked for; Arrow streams come from the store, without them."""

    def __init__(self, names, read, stream, units=None, title=""):
        super().__init__({}, units, title)
        self._names, self._read, self._stream = names, read, stream
        self._kept = None  # keeps a store that is closing

    @property
    def _columns(self):
        self._fetch()
        return self._found

    @_columns.setter
    def _columns(self, columns):
        self._found = columns

    @property
    def columns(self):
        return list(self._names)

    def _fetch(self):
        """Reads the columns, unless they are there."""
        if self._read is not None:
            found = self._read()
            self._found, self._read = {name: column_of(found[name]) for name in self._names}, None
            if self._kept is not None:
                self._stream = self._kept = None

    def _leave(self, keep):
        """The store closes: a table that was not read keeps it until it is, or says that it cannot be read."""
        if self._read is None:
            self._stream = None
        elif keep is not None:
            self._kept = keep()
        else:
            self._read = self._stream = _too_late

    def __arrow_c_stream__(self, requested_schema=None):
        """An Arrow stream of the store itself, with dictionaries for text; a copy of the columns once the store is closed, and in sub-interpreters."""
        stream = self._stream() if self._stream else None
        return super().__arrow_c_stream__(requested_schema) if stream is None else stream

    def __repr__(self):
        return super().__repr__().replace("StoreTable", "Table", 1)
