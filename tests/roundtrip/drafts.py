#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Writes each database of the corpus in a draft of the format, and that again in 4.0. The result is compared, by content, with
the original without what the draft cannot hold: `without_metadb` and `without_xml` are the table of doc/formats/hpctoolkit-drafts.md
as code.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from comparison import Comparison, misnumbered
from content import Content
from same_meaning import copied_sources
from tool import Tap, corpus_databases, parse_arguments

FUNCTION, EXECUTION = 0, 1
NOT_KNOWN = (1 << 64) - 1  # offset of a function
POINT = 4  # of the flags of a context: it has a module and an offset
XML_SCOPES = [{"name": "function", "type": "transitive", "propagation_index": 0},
              {"name": "execution", "type": "execution", "propagation_index": 255}]
XML_FORMULAS = {("$$", "sum"), ("1", "sum"), ("($$^2)", "sum"), ("$$", "min"), ("$$", "max")}


def contexts_of(dump):
    """All contexts below entry points."""
    rest = [child for entry in dump["meta"]["entry_points"] for child in entry["children"]]
    while rest:
        context = rest.pop()
        yield context
        rest += context["children"]


def without_description(dump):
    dump["meta"]["description"] = ""


def without_metadb(dump):
    without_description(dump)
    for function in dump["meta"]["functions"]:
        if function["offset"] == NOT_KNOWN:
            function["offset"] = 0


def keep_xml_metrics(dump):
    """Inclusive and exclusive values, and statistics that are known by what is made of them. The ids that stay."""
    meta = dump["meta"]
    types = [scope["type"] for scope in meta["scopes"]]
    values, statistics = set(), set()
    for metric in meta["metrics"]:
        scopes = {}
        for instance in metric["scopes"]:
            place = {"transitive": FUNCTION, "execution": EXECUTION}.get(types[instance["scope"]])
            if place is not None and place not in scopes:
                scopes[place] = instance["scope"]
                values.add(instance["id"])
        places = {old: new for new, old in scopes.items()}
        metric["scopes"] = [{**instance, "scope": places[instance["scope"]]} for instance in metric["scopes"]
                            if instance["id"] in values]
        metric["statistics"] = [{**statistic, "scope": places[statistic["scope"]]}
                                for statistic in metric["statistics"] if statistic["scope"] in places
                                and (statistic["formula"], statistic["combine"]) in XML_FORMULAS]
        statistics |= {statistic["id"] for statistic in metric["statistics"]}
    meta["scopes"] = XML_SCOPES
    return {str(id) for id in values}, {str(id) for id in statistics}


def keep_values(dump, values, statistics):
    for profile in dump["profiles"]:
        ids = statistics if profile["summary"] else values
        kept = {context: {id: value for id, value in group.items() if id in ids}
                for context, group in profile["values"].items()}
        profile["values"] = {context: group for context, group in kept.items() if group}
    for context in dump.get("contexts") or []:
        context["values"] = {id: group for id, group in context["values"].items() if id in values}


def keep_xml_functions(dump):
    """Those that contexts name; one without a name is called by its place."""
    meta = dump["meta"]
    used = sorted({context["function"] for context in contexts_of(dump) if context["function"] is not None})
    places = {old: new for new, old in enumerate(used)}
    for context in contexts_of(dump):
        if context["function"] is not None:
            context["function"] = places[context["function"]]
    meta["functions"] = [meta["functions"][index] for index in used]
    for function in meta["functions"]:
        if function["name"] is None:
            path = "" if function["module"] is None else meta["modules"][function["module"]]["path"]
            function["name"] = f"<unknown procedure> 0x{function['offset'] or 0:x} [{path.rsplit('/', 1)[-1]}]"


def module_inside(context):
    """That of the first line, loop or instruction of a function."""
    for child in context["children"]:
        if child["relation"] == "lexical" and child["lexical"] != "function":
            module = module_inside(child) if child["module"] is None else child["module"]
            if module is not None:
                return module
    return None


def keep_xml_places(dump):
    """Lines, loops and instructions have the module of the function around them; an address there is not 0."""
    functions, work = dump["meta"]["functions"], [(child, None) for entry in dump["meta"]["entry_points"] for child in entry["children"]]
    while work:
        context, module = work.pop()
        if context["relation"] != "lexical" or context["lexical"] == "function":
            is_instruction = context["lexical"] == "instruction" and context["offset"]
            module = context["module"] if is_instruction else functions[context["function"]]["module"] if context["function"] is not None \
                else module_inside(context)
        elif context["offset"] and module is not None:
            context["module"] = module
        elif context["module"] is not None:
            context.update(flags=context["flags"] & ~POINT, module=None, offset=None)
            context["lexical"] = "line" if context["lexical"] == "instruction" else context["lexical"]
        work += [(child, module) for child in context["children"]]


def without_xml(dump):
    without_description(dump)
    keep_values(dump, *keep_xml_metrics(dump))
    keep_xml_functions(dump)
    keep_xml_places(dump)
    for context in contexts_of(dump):
        if context["lexical"] == "instruction" and context["relation"] != "lexical" and not context["offset"]:
            context.update(lexical="function", flags=0, module=None, offset=None)


def xml_losses(dump):
    """Removes what draft XML cannot hold. Returns whether those are scopes or statistics of metrics, or modules: `lode convert` says so."""
    def held():
        return [(len(m["scopes"]), len(m["statistics"])) for m in dump["meta"]["metrics"]], [
            (c["lexical"], c["module"], c["offset"]) if c["relation"] == "lexical" and c["lexical"] != "function" else None for c in contexts_of(dump)]

    before = held()
    without_xml(dump)
    return held() != before


DRAFTS = {"hpctoolkit-draft-metadb": without_metadb, "hpctoolkit-draft-xml": xml_losses}


def compare(lode, database, folder, draft):
    old, new = folder / "old", folder / "new"
    said = lode.must("convert", database, "-o", old, "--format", draft)
    lode.must("check", "--level", "full", old)
    lode.must("convert", old, "-o", new)
    lode.must("check", "--level", "full", new)
    wanted = lode.dump(database)
    is_said = DRAFTS[draft](wanted) or False
    content = Content(lode.dump(new))
    comparison = Comparison(Content(wanted), content)
    for text in misnumbered(content):
        comparison.differ(text)
    if (b"draft-lost" in said) != is_said:
        comparison.differ(f"what the draft cannot hold is not what is said: {said!r}")
    if not copied_sources(database) == copied_sources(old) == copied_sources(new):
        comparison.differ("the copied source files differ")
    return comparison


def compare_database(tap, lode, name, database, draft):
    title = f"{name} in {draft}"
    with tempfile.TemporaryDirectory(prefix="lode-drafts-") as folder:
        try:
            comparison = compare(lode, database, Path(folder), draft)
        except (ValueError, LookupError, TypeError, OSError) as error:
            tap.check(False, title, [repr(error)])
            return Counter()
    tap.check(comparison.difference_count == 0,
              f"{title}: what it can hold is the same ({comparison.summary()})", comparison.differences)
    return comparison.counts


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    databases = corpus_databases(options)
    if not databases:
        tap.skip("all databases in both drafts", "no corpus: set LODE_CORPUS")
        return tap.finish()
    for draft in DRAFTS:
        totals = Counter(databases=len(databases))
        for name, database in databases.items():
            totals += compare_database(tap, options.lode, name, database, draft)
        tap.note(f"{draft}: {', '.join(f'{count} {noun}' for noun, count in totals.items())}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
