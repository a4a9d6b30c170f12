# SPDX-License-Identifier: BSD-3-Clause
"""
Writes a database of HPCToolkit 4.0 with nothing but `struct` and the offsets of the specification. What goes in has the shape that
tests/dump/expected.py gives a database, so that the reference knows what is in the files without reading them.
"""

import struct

LEXICAL = ("function", "loop", "line", "instruction")
RELATIONS = ("lexical", "call", "inlined_call")
ENTRIES = ("unknown_entry", "main_thread", "application_thread")
SCOPES = ("custom", "point", "execution", "transitive")
COMBINES = ("sum", "min", "max")


class File:
    """Bytes that grow. Places are known when something is put; pointers to what comes later are patched."""

    def __init__(self, format, sections, footer):
        self.bytes = bytearray(b"HPCTOOLKIT" + format + b"\4\0" + bytes(16 * sections))
        self.footer = footer

    def put(self, form, *values, align=8):
        self.bytes += bytes(-len(self.bytes) % align)
        place = len(self.bytes)
        self.bytes += struct.pack("<" + form, *values)
        return place

    def text(self, text):
        place = len(self.bytes)
        self.bytes += text.encode() + b"\0"
        return place

    def patch(self, place, form, *values):
        struct.pack_into("<" + form, self.bytes, place, *values)

    def section(self, index, begin):
        """All from `begin` to here is section `index`."""
        self.patch(16 + 16 * index, "QQ", len(self.bytes) - begin, begin)

    def write(self, path):
        self.bytes += bytes(-len(self.bytes) % 8)
        path.write_bytes(bytes(self.bytes) + self.footer)


def _write_metrics(file, meta):
    header = file.put("QIBBBxQHB5x", 0, len(meta["metrics"]), 32, 16, 24, 0, len(meta["scopes"]), 16)
    scopes = [file.put("QBB6x", 0, SCOPES.index(scope["type"]), scope["propagation_index"]) for scope in meta["scopes"]]
    metrics = [file.put("QQQHH4x", 0, 0, 0, len(m["scopes"]), len(m["statistics"])) for m in meta["metrics"]]
    file.patch(header, "Q", metrics[0])
    file.patch(header + 16, "Q", scopes[0])
    formulas = []
    for place, metric in zip(metrics, meta["metrics"]):
        instances = [file.put("QH6x", scopes[i["scope"]], i["id"]) for i in metric["scopes"]]
        statistics = [file.put("QQBxH4x", scopes[s["scope"]], 0, COMBINES.index(s["combine"]), s["id"])
                      for s in metric["statistics"]]
        file.patch(place + 8, "QQ", instances[0], statistics[0])
        formulas += zip(statistics, metric["statistics"])
    for place, scope in zip(scopes, meta["scopes"]):
        file.patch(place, "Q", file.text(scope["name"]))
    for place, metric in zip(metrics, meta["metrics"]):
        file.patch(place, "Q", file.text(metric["name"]))
    for place, statistic in formulas:
        file.patch(place + 8, "Q", file.text(statistic["formula"]))
    file.section(2, header)


def _write_symbols(file, meta, texts):
    """Returns where modules, files and functions are."""
    places = {}
    header = file.put("QIH2x", 0, len(meta["modules"]), 16)
    places["module"] = [file.put("IxxxxQ", 0, texts[module["path"]]) for module in meta["modules"]]
    file.patch(header, "Q", header + 16)
    file.section(5, header)
    header = file.put("QIH2x", 0, len(meta["files"]), 16)
    places["file"] = [file.put("IxxxxQ", int(source["copied"]), texts[source["path"]]) for source in meta["files"]]
    file.patch(header, "Q", header + 16)
    file.section(6, header)
    header = file.put("QIH2x", 0, len(meta["functions"]), 40)
    places["function"] = [
        file.put("QQQQII", 0 if f["name"] is None else texts[f["name"]],
                 0 if f["module"] is None else places["module"][f["module"]], f["offset"],
                 0 if f["file"] is None else places["file"][f["file"]], f["line"], 0) for f in meta["functions"]]
    file.patch(header, "Q", header + 16)
    file.section(7, header)
    return places


def _put_context(file, context, places):
    flex, flags = [], 0
    if context["function"] is not None:
        flags |= 1
        flex.append(struct.pack("<Q", places["function"][context["function"]]))
    if context["file"] is not None:
        flags |= 2
        flex.append(struct.pack("<QI4x", places["file"][context["file"]], context["line"]))
    if context["module"] is not None:
        flags |= 4
        flex.append(struct.pack("<QQ", places["module"][context["module"]], context["offset"]))
    words = b"".join(flex)
    place = file.put("QQIBBBBH6x", 0, 0, context["id"], flags, RELATIONS.index(context["relation"]),
                     LEXICAL.index(context["lexical"]), len(words) // 8, context["propagation"])
    file.bytes += words
    return place


def _write_tree(file, meta, texts, places):
    header = file.put("QHB5x", 0, len(meta["entry_points"]), 32)
    waiting = [(file.put("QQIHxxQ", 0, 0, e["id"], ENTRIES.index(e["entry"]), texts[e["name"]]), e)
               for e in meta["entry_points"]]
    file.patch(header, "Q", header + 16)
    while waiting:
        parent, context = waiting.pop()
        begin = len(file.bytes)
        children = [(_put_context(file, child, places), child) for child in context["children"]]
        if children:
            file.patch(parent, "QQ", len(file.bytes) - begin, begin)
        waiting += children
    file.section(3, header)


def _write_meta(path, meta):
    file = File(b"meta", 8, b"_meta.db")
    header = file.put("QQ", 0, 0)
    file.patch(header, "QQ", file.text(meta["title"]), file.text(meta["description"]))
    file.section(0, header)
    header = file.put("QB7x", 0, len(meta["id_names"]))
    names = file.put("Q" * len(meta["id_names"]), *[0] * len(meta["id_names"]))
    file.patch(header, "Q", names)
    for i, name in enumerate(meta["id_names"]):
        file.patch(names + 8 * i, "Q", file.text(name))
    file.section(1, header)
    _write_metrics(file, meta)
    begin = file.put("")
    words = {*(m["path"] for m in meta["modules"]), *(f["path"] for f in meta["files"]),
             *(f["name"] for f in meta["functions"]), *(e["name"] for e in meta["entry_points"])} - {None}
    texts = {word: file.text(word) for word in sorted(words)}
    file.section(4, begin)
    places = _write_symbols(file, meta, texts)
    _write_tree(file, meta, texts, places)
    file.write(path)


def _put_block(file, groups, value_form, index_form, is_wide):
    """A sparse block: {group: {key: value}}. Returns what its header holds."""
    values, indices, start = [], [], 0
    for group in sorted(groups):
        indices.append((group, start))
        values += sorted(groups[group].items())
        start += len(groups[group])
    if not values:
        return 0, 0, 0, 0
    file.put("", align=4 if is_wide else 2)
    place = len(file.bytes)
    for key, value in values:
        file.bytes += struct.pack("<" + value_form, key, value)
    index_place = file.put("", align=2 if is_wide else 4)
    for group, begin in indices:
        file.bytes += struct.pack("<" + index_form, group, begin)
    return len(values), place, len(indices), index_place


def _values(profile):
    return {int(context): {int(id): value for id, value in values.items()}
            for context, values in profile["values"].items() if values}


def _write_profiles(path, profiles):
    file = File(b"prof", 2, b"_prof.db")
    begin = file.put("")
    tuples = []
    for profile in profiles:
        tuples.append(0 if profile["summary"] else file.put("H6x", len(profile["ids"])))
        for id in [] if profile["summary"] else profile["ids"]:
            file.put("BxHIQ", id["kind"], id["flags"], id["logical"], id["physical"])
    file.section(1, begin)
    header = file.put("QIB3x", 0, len(profiles), 48)
    records = [file.put("QQI4xQQI4x", 0, 0, 0, 0, ids, int(p["summary"])) for ids, p in zip(tuples, profiles)]
    file.patch(header, "Q", header + 16)
    file.section(0, header)
    for record, profile in zip(records, profiles):
        count, place, groups, index = _put_block(file, _values(profile), "Hd", "IQ", False)
        file.patch(record, "QQI4xQ", count, place, groups, index)
    file.write(path)


def _write_contexts(path, profiles, context_count):
    blocks = [{} for _ in range(context_count)]
    for profile in profiles:
        for context, values in ({} if profile["summary"] else _values(profile)).items():
            for id, value in values.items():
                blocks[context].setdefault(id, {})[profile["index"]] = value
    file = File(b"ctxt", 1, b"__ctx.db")
    header = file.put("QIB3x", 0, context_count, 32)
    records = [file.put("QQH6xQ", 0, 0, 0, 0) for _ in blocks]
    file.patch(header, "Q", header + 16)
    file.section(0, header)
    for record, block in zip(records, blocks):
        count, place, groups, index = _put_block(file, block, "Id", "HQ", True)
        file.patch(record, "QQH6xQ", count, place, groups, index)
    file.write(path)


def _write_traces(path, traces):
    file = File(b"trce", 1, b"trace.db")
    header = file.put("QIB3xQQ", 0, len(traces["lines"]), 24, traces["min_time_ns"], traces["max_time_ns"])
    records = [file.put("I4xQQ", line["profile"], 0, 0) for line in traces["lines"]]
    file.patch(header, "Q", header + 32)
    file.section(0, header)
    for record, line in zip(records, traces["lines"]):
        begin = file.put("")
        for time, context in line["samples"]:
            file.bytes += struct.pack("<QI", time, context)
        file.patch(record + 8, "QQ", begin, len(file.bytes))
    file.write(path)


def write(folder, data):
    folder.mkdir()
    _write_meta(folder / "meta.db", data["meta"])
    _write_profiles(folder / "profile.db", data["profiles"])
    _write_contexts(folder / "cct.db", data["profiles"], data["context_block_count"])
    if data["traces"] is not None:
        _write_traces(folder / "trace.db", data["traces"])
