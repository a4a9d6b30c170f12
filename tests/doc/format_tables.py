# SPDX-License-Identifier: BSD-3-Clause
"""
The tables of the format, as the document has them and as the code has them, in one shape: a dictionary from the name
of a table to its rows.
"""

from markdown import parts

STRUCTURE = ["Offset", "Type", "Field", "Meaning"]
SECTIONS = ["Offset", "Section", "Begins with", "Alignment", "Holds"]
FILES = ["File", "Format", "Footer", "Sections", "Header size"]
ENUMERATION = ["Value", "Name", "Meaning"]
FLAGS = ["Bit", "Name", "Meaning"]


class BadTable(Exception):
    """A table that does not have the shape that its columns promise."""


def _number(text):
    try:
        return int(text, 0)
    except ValueError:
        raise BadTable(f"'{text}' is not a number") from None


def _structure(rows):
    if len(rows) < 2 or rows[0][2] != "alignment" or rows[-1][2] != "size":
        raise BadTable("the first row must give the alignment, and the last the size")
    fields = [("field", _number(offset), kind, name) for offset, kind, name, _ in rows[1:-1]]
    return [("alignment", _number(rows[0][0])), *fields, ("size", _number(rows[-1][0]))]


def _from_part(title, columns, rows):
    """The name and the rows of a table; None if it is not one that the code knows of."""
    if any(len(row) != len(columns) for row in rows):
        raise BadTable("a row has more or fewer cells than there are columns")
    if columns == STRUCTURE:
        return f"structure {title}", _structure(rows)
    if columns == SECTIONS:
        # What a section begins with is replaced by its size when all structures are known.
        return title, [(_number(offset), name, first, _number(alignment)) for offset, name, first, alignment, _ in rows]
    if columns == FILES:
        return "files", [(*row[:3], _number(row[3]), _number(row[4])) for row in rows]
    if columns in (ENUMERATION, FLAGS):
        return title, [(_number(value), name) for value, name, _ in rows]
    return None


def _size_of(tables, first):
    if not first:
        return 0
    structure = tables.get(f"structure {first}")
    return structure[-1][1] if structure else f"size of {first}, which is not described"


def of_document(text):
    """The tables of the document, and what is wrong with their shape."""
    tables, problems = {}, []
    for part in parts(text):
        if part.table() is None:
            continue
        try:
            table = _from_part(part.title, *part.table())
        except BadTable as bad:
            problems.append(f"{part.title}: {bad}")
            continue
        if table and table[0] in tables:
            problems.append(f"{part.title}: described twice")
        elif table:
            tables[table[0]] = table[1]
    for name, rows in tables.items():
        if name.startswith("Sections of "):
            tables[name] = [(offset, section, _size_of(tables, first), alignment)
                            for offset, section, first, alignment in rows]
    return tables, problems


def of_code(output):
    """The tables that wire_tables printed."""
    tables, sizes = {}, {}
    for line in output.splitlines():
        kind, name, *rest = line.split("\t")
        if kind == "table":
            tables[f"structure {name}"] = [("alignment", int(rest[0]))]
            sizes[f"structure {name}"] = ("size", int(rest[1]))
        elif kind == "field":
            tables[f"structure {name}"].append(("field", int(rest[0]), rest[1], rest[2]))
        elif kind == "file":
            tables.setdefault("files", []).append((name, rest[0], rest[1], int(rest[2]), int(rest[3])))
        elif kind == "section":
            rows = tables.setdefault(f"Sections of {name}", [])
            rows.append((int(rest[0]), rest[1], int(rest[2]), int(rest[3])))
        elif kind == "enum":
            tables.setdefault(f"Enumeration: {name}", []).append((int(rest[0]), rest[1]))
        elif kind == "flag":
            tables.setdefault(f"Flags: {name}", []).append((int(rest[0]), rest[1]))
        else:
            raise ValueError(f"wire_tables printed '{line}'")
    for name, size in sizes.items():
        tables[name].append(size)
    return tables


def difference(document, code, name):
    """How a table differs between the two; an empty list if it does not."""
    if name not in document:
        return ["the document does not have it"]
    if name not in code:
        return ["the code does not have it"]
    ours, theirs = document[name], code[name]
    found = [f"only in the document: {row}" for row in ours if row not in theirs]
    found += [f"only in the code: {row}" for row in theirs if row not in ours]
    if not found and ours != theirs:
        found = [f"another order: {ours} in the document, {theirs} in the code"]
    return found


def differences(text, output):
    """By table: how the document and the code differ. Under "", tables of a wrong shape."""
    document, problems = of_document(text)
    code = of_code(output)
    names = [*code, *(name for name in document if name not in code)]
    return {"": problems, **{name: difference(document, code, name) for name in names}}
