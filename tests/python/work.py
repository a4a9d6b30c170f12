#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Diagnoses, efficiencies, costs of groups, exports, slices and merges: every number is that of the program's JSON, every file has its bytes."""

import math
import pickle
import warnings

import lode
import support

EXPORTS = (("solver", "pprof", {}, ()), ("solver", "folded", {"metric": "PAPI_TOT_CYC", "profiles": "rank=0-1"}, ("--metric", "PAPI_TOT_CYC", "--profiles", "rank=0-1")),
           ("solver", "chrome", {"start": "1s", "stop": "1.1s"}, ("--from", "1s", "--to", "1.1s")), ("thumbs", "speedscope", {}, ()),
           ("thumbs", "folded", {"tracks": [1, 2]}, ("--task", "4712,4713")), ("shop", "pprof", {}, ()))


def near(mine, theirs):
    """Equal, but for the last digits of numbers that Python computed."""
    if isinstance(mine, float) and isinstance(theirs, (int, float)):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return mine == theirs


def same_rows(tests, name, mine, theirs, keys):
    wrong = [(a, b) for a, b in zip(mine, theirs) if not all(near(a[key], b[key]) for key in keys)]
    tests.check(not wrong and len(mine) == len(theirs) > 0, f"{name}: {len(mine)} rows as the program has them", wrong[:2] or [len(mine), len(theirs)])


def digits_of(statement):
    """JSON has times as texts."""
    return {**statement, **{key: None if statement[key] is None else int(statement[key]) for key in ("from_ns", "to_ns")}}


def test_diagnose(tests):
    for name in ("solver", "thumbs", "shop"):
        with lode.open(tests.folder / "demo" / name) as store:
            found, answer = store.diagnose().to_dict(), tests.ask("diagnose", store.path)
            for statement in answer["statements"]:
                del statement["change"], statement["base_gain_percent"]
            found["statements"], theirs = map(digits_of, found["statements"]), map(digits_of, answer["statements"])
            tests.check(list(found["statements"]) == list(theirs) and len(answer["statements"]) > 0, f"{name}: statements", [found["statements"]])
            for part in ("run", "efficiency", "quality", "rules"):
                tests.check(found[part] == answer[part], f"{name}: {part}", [found[part], answer[part]])
            tests.check(len(store.diagnose().table()) == len(store.diagnose()) and answer["statements"][0]["text"] in str(store.diagnose()), f"{name}: text and table")
    with lode.open(tests.folder / "demo" / "solver") as db:
        rules = tests.folder / "rules"
        rules.write_text("mpi * dot\n", encoding="utf-8")
        tests.check(db.diagnose(kinds=rules).to_dict()["efficiency"] == tests.ask("diagnose", "--kinds", rules, db.path)["efficiency"], "rules of a file")
        try:
            db.diagnose(kinds=tests.folder / "missing")
            tests.check(False, "rules that are not there")
        except FileNotFoundError:
            tests.check(True, "rules that are not there")


def test_rules_of_a_store(tests):
    """Rules that a store is opened with hold for all answers, as --kinds does."""
    rules = tests.folder / "rules of all"
    rules.write_bytes(b"# \xff\ngpu * axpy*\ngpu * *decode*\n")
    kinds = lambda rows, name: {row["kind"] for row in rows if row["name"] and name in row["name"]}
    with lode.open(tests.folder / "demo" / "solver", kinds=rules) as db:
        for by in ("function", "symbol", "line", "loop", "kind"):
            theirs = tests.ask("top", db.path, "--by", by, "--limit", 0, "--kinds", rules)["rows"]
            same_rows(tests, f"hotspots by {by}", db.top(by=by).to_dicts(), theirs, ("name", "kind", "exclusive"))
        tests.check(kinds(db.flame().boxes.to_dicts(), "axpy") == {"gpu"}, "flame", [db.flame().boxes.to_dicts()[:3]])
        tests.check(kinds(db.timeline().shares.to_dicts(), "axpy") == {"gpu"}, "timeline")
        tests.check({row["kind"] for row in db.table("function").to_dicts() if "axpy" in row["name"]} == {"gpu"}, "the table function")
        tests.check([row["kind"] for row in db.sql("select distinct kind from function where name like '%axpy%'").to_dicts()] == ["gpu"], "sql")
        answer = tests.ask("diagnose", "--kinds", rules, db.path)
        tests.check(db.diagnose().to_dict()["efficiency"] == answer["efficiency"], "diagnose")
        commands = [[evidence["command"] for statement in found["statements"] for evidence in statement["evidence"]] for found in (db.diagnose().to_dict(), answer)]
        tests.check(commands[0] == commands[1] and any("--kinds" in words for words in commands[0] if words), "commands that show more have the rules", commands)
        with pickle.loads(pickle.dumps(db)) as again:
            tests.check(again.top(by="kind").to_dicts() == db.top(by="kind").to_dicts(), "a pickled store keeps them")
        other = tests.folder / "other rules"
        other.write_text("mpi * dot\n", encoding="utf-8")
        tests.check(db.diagnose(kinds=other).to_dict()["efficiency"] == tests.ask("diagnose", "--kinds", other, db.path)["efficiency"], "rules of a call come first")
    with lode.open(tests.folder / "demo" / "thumbs", kinds=rules) as recording:
        tests.check({row["kind"] for row in recording.calls().to_dicts() if "decode" in row["function"]} == {"gpu"}, "calls")
    try:
        rules.write_text("nothing * main\n", encoding="utf-8")
        lode.open(tests.folder / "demo" / "solver", kinds=rules)
        tests.check(False, "rules that are wrong")
    except (lode.Error, ValueError) as error:
        tests.check("line 1" in str(error), "rules that are wrong", [error])


def test_efficiency(tests):
    with lode.open(tests.folder / "demo" / "solver") as db:
        for options, words in (({}, ()), ({"by": "rank"}, ("--by", "rank")), ({"by": "node,rank"}, ("--by", "node,rank"))):
            mine, answer = db.efficiency(**options), tests.ask("efficiency", db.path, *words, "--limit", 0)
            same_rows(tests, f"efficiency {words}", mine.to_dicts(), answer["rows"], [name for name in mine.columns if name not in ("from_ns", "to_ns")])
        mine, answer = db.efficiency(phases=4), tests.ask("efficiency", db.path, "--phases", 4, "--limit", 0)
        for row in answer["rows"]:
            row.update({key: None if row[key] is None else int(row[key]) for key in ("from_ns", "to_ns")})
        same_rows(tests, "efficiency over time", mine.to_dicts(), answer["rows"], [name for name in mine.columns if name != "name"])


def test_groups(tests):
    keys = ("name", "profiles", "value", "percent_of_mean", "min", "mean", "max", "imbalance_percent")
    with lode.open(tests.folder / "demo" / "solver") as db:
        for options, words in (({}, ("--by", "rank")), ({"by": "node"}, ("--by", "node")), ({"by": "node,rank"}, ("--by", "node,rank")), ({"by": "thread"}, ("--by", "thread")),
                               ({"metric": "PAPI_TOT_INS"}, ("--by", "rank", "--metric", "PAPI_TOT_INS")), ({"profiles": "rank=2-5"}, ("--by", "rank", "--profiles", "rank=2-5"))):
            answer = tests.ask("top", db.path, *words, "--limit", 0)
            mine = db.groups(**options).to_dicts()
            same_rows(tests, f"groups {words}", mine, answer["rows"], keys)
            kind = answer["rows"][0]["id_tuple"][-1]["kind"].lower()
            tests.check([row[kind] for row in mine] == [row["id_tuple"][-1]["id"] for row in answer["rows"]], f"groups {words}: ids")
        answer = tests.ask("profiles", db.path, "--by", "rank", "--function", "dot", "--limit", 0)
        if answer is None:
            tests.tap.skip("groups of a function", "the program does not have them")
        else:
            same_rows(tests, "groups of a function", db.groups(function="dot").to_dicts(), answer["rows"], ("name", "profiles", "value", "exclusive", "min", "max"))
        for name in ("dot", "spmv", "main"):
            tests.check(db.find(name).id == tests.ask("context", db.path, name)["context"], f"find({name!r}) is the most expensive context, as in lode context")
        try:
            db.groups(by="planet")
            tests.check(False, "an unknown kind is refused")
        except lode.NotFound as error:
            tests.check("RANK" in str(error).upper(), "an unknown kind is refused", [str(error)])


def test_export(tests):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, form, options, words in EXPORTS:
            with lode.open(tests.folder / "demo" / name) as store:
                mine, theirs = tests.folder / "mine", tests.folder / "theirs"
                store.export(mine, format=form, force=True, **options)
                tests.run("export", store.path, "--format", form, "--force", "-o", theirs, *words)
                tests.check(mine.read_bytes() == theirs.read_bytes() != b"", f"{name} as {form} {options}: the bytes of the program")
        with lode.open(tests.folder / "demo" / "solver") as db:
            db.export(tests.folder / "by-suffix.folded")
            tests.check((tests.folder / "by-suffix.folded").read_text(encoding="utf-8").count("\n") > 5, "the suffix says the format")
            for path, options, wanted in ((tests.folder / "x.planet", {}, ValueError), (tests.folder / "by-suffix.folded", {}, lode.Error),
                                          (tests.folder / "no" / "x.folded", {}, FileNotFoundError), (tests.folder / "x.folded", {"metric": "planet"}, lode.NotFound)):
                try:
                    db.export(path, **options)
                    tests.check(False, f"{path.name} {options} is refused")
                except wanted as error:
                    tests.check(bool(str(error)), f"{path.name} {options} is refused", [repr(error)])
    tests.check({"pprof", "folded", "parquet"} <= set(lode.export_formats().to_dicts()[n]["name"] for n in range(len(lode.export_formats()))), "the formats")


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_stores(tests):
    demo = tests.folder / "demo"
    with lode.open(demo / "solver") as db, lode.open(demo / "thumbs") as recording:
        for name, write, words in (("slice of profiles", lambda path: db.slice(path, profiles="rank=0-3"), ("slice", db.path, "--profiles", "rank=0-3")),
                                   ("slice of a time", lambda path: db.slice(path, start="1s", stop="2s"), ("slice", db.path, "--from", "1s", "--to", "2s")),
                                   ("slice of a function", lambda path: db.slice(path, focus="cg_solve", depth=3, min_share=0.05), ("slice", db.path, "--focus", "cg_solve", "--depth", 3, "--min-share", "5%")),
                                   ("slice of a recording", lambda path: recording.slice(path, start="20ms", stop="90ms", depth=2), ("slice", recording.path, "--from", "20ms", "--to", "90ms", "--depth", 2)),
                                   ("merge", lambda path: lode.merge([db, demo / "solver"], path, labels=["a", "b"]), ("merge", db.path, demo / "solver", "--labels", "a,b")),
                                   ("merge without labels", lambda path: lode.merge([db, demo / "solver"], path), ("merge", db.path, demo / "solver")),
                                   ("merge of recordings", lambda path: lode.merge([recording, demo / "thumbs"], path), ("merge", recording.path, demo / "thumbs"))):
            mine, theirs = tests.folder / f"mine {name}", tests.folder / f"theirs {name}"
            write(mine)
            tests.run(*words, "-o", theirs)
            tests.check(files_of(mine) == files_of(theirs) != {}, f"{name}: the bytes of the program", [sorted(files_of(mine)), sorted(files_of(theirs))])
        for name, write, wanted in (("a function that is not there", lambda path: db.slice(path, focus="planet"), lode.NotFound), ("two kinds of stores", lambda path: lode.merge([db, recording], path), TypeError),
                                    ("nothing", lambda path: lode.merge([], path), ValueError), ("too few labels", lambda path: lode.merge([db, db], path, labels=["a"]), ValueError)):
            try:
                write(tests.folder / "refused")
                tests.check(False, f"{name} is refused")
            except wanted as error:
                tests.check(not (tests.folder / "refused").exists(), f"{name} is refused, and nothing written", [repr(error)])


if __name__ == "__main__":
    support.Tests().finish([test_diagnose, test_rules_of_a_store, test_efficiency, test_groups, test_export, test_stores])
