#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Loops that lode-symbols finds in the code of binaries. Of programs that the test compiles: loops of the source (nested, with several entries, with a
switch, with calls that do not return, unrolled), where they are nested and their lines, with and without symbols, for several processors where
clang can compile for them; lengths of instructions are those of objdump. Of the oracles: agreement with hpcstruct, by their script, of each binary and weighted by the
cost of the live measurements; differences are named in EXTRA. lode build without structure files gives the loops that it gives with them; lode structure writes a file that gives the same database.
"""

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import agreement
import built
import compiled
import helper
import weighted

from imports import corpus, run  # noqa: E402
from tap import Tap  # noqa: E402

# Function, then its loops as (line mark, line mark of the loop around it). The mark is in the line of the condition.
SOURCE = """
void finish(void) __attribute__((noreturn));
int sink(int), other(int);
volatile int v;
int nested(int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* nested.outer */
        for (int j = 0; j < n; j++) /* nested.inner nested.outer */
            sum += sink(a[i] ^ j);
    return sum;
}
int bottom(int n)
{
    int sum = 0;
    do
        sum += sink(n);
    while (--n > 0); /* bottom.only */
    return sum;
}
int entries(int n)
{
    if (sink(n))
        goto middle;
    for (;;) {
        v = n;
        n = sink(n);
        if (n == 7) /* entries.only */
            return n;
    middle:
        n = other(n);
        if (n == 9)
            return n;
    }
}
int unrolled(int *a, int n)
{
    int sum = 0;
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) /* unrolled.only */
        sum += sink(a[i]);
    return sum;
}
int table(const unsigned char *s)
{
    int sum = 0;
    while (*s) { /* table.outer */
        switch (*s++) {
        case 1: sum += sink(1); break;
        case 2: sum *= other(2); break;
        case 3: sum ^= sink(33); break;
        case 4: for (int k = 0; k < sum; k++) sum -= other(k); break; /* table.inner table.outer */
        case 5: sum += other(55); break;
        case 6: sum -= sink(66); break;
        case 7: sum = other(sum); break;
        default: sum = sink(sum); break;
        }
    }
    return sum;
}
int checked(int n)
{
    for (int i = 0; i < n; i++) { /* checked.only */
        if (sink(i) == 77)
            finish();
    }
    return n;
}
int straight(int n) { return n > 3 ? sink(n) : other(n); }
int endless(int n)
{
    for (;;) {
        v = sink(n);
        if (v == 5) /* endless.only */
            break;
    }
    return n;
}
int triple(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* triple.outer */
        for (int j = 0; j < n; j++) /* triple.middle triple.outer */
            for (int k = 0; k < n; k++) /* triple.inner triple.middle */
                sum += sink(i ^ j ^ k);
    return sum;
}
int twins(int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* twins.first */
        sum += sink(a[i]);
    for (int i = 0; i < n; i++) /* twins.second */
        for (int j = i; j < n; j++) /* twins.inner twins.second */
            sum ^= other(a[j]);
    return sum;
}
int skips(int *a, int n)
{
    int sum = 0;
    while (n-- > 0) { /* skips.only */
        if (sink(a[n]) == 3)
            continue;
        sum += other(a[n]);
    }
    return sum;
}
int finds(int *a, int n)
{
    for (int i = 0; i < n; i++) /* finds.only */
        if (sink(a[i]) == n)
            return i;
    return -1;
}
int inward(int n)
{
    int sum = 0;
    while (other(sum) > n) { /* inward.outer */
        v = sum;
        do
            sum += sink(sum);
        while (sum < n); /* inward.inner inward.outer */
    }
    return sum;
}
int pointers(int (*one)(int), int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* pointers.first */
        sum += one(i);
    for (int i = n; i > 0; i--) /* pointers.second */
        sum -= one(sum);
    return sum;
}
"""
OUTSIDE = """
int sink(int x) { return x; }
int other(int x) { return x; }
void finish(void) { __builtin_trap(); }
"""
# How many loops, 21 in 14 functions; of one that is unrolled, the rest may be a loop of its own, and clang makes two of one with `continue`.
LOOPS = {"nested": (2,), "bottom": (1,), "entries": (1,), "unrolled": (1, 2), "table": (2,), "checked": (1,), "straight": (0,), "endless": (1,),
         "triple": (3,), "twins": (3,), "skips": (1, 2), "finds": (1,), "inward": (2,), "pointers": (2,)}
MARK = re.compile(r"/\* ((?:\w+\.\w+ ?)+)\*/")
CROSS = {"aarch64": "aarch64-linux-gnu", "powerpc64le": "powerpc64le-linux-gnu", "riscv64": "riscv64-linux-gnu"}
# Of each binary: headers found, of ours those of hpcstruct (without EXTRA), statements in the same nest, lines; in percent. Programs have 100 in all.
RATES = {"libc.so.6": (99.7, 99.6, 99.3, 99.4), "libm.so.6": (98.8, 100, 99.8, 100), "libstdc++.so.6": (100, 99.3, 99.9, 0), "libz.so.1": (100, 100, 100, 0),
         "libmpi.so.40": (100, 100, 100, 0), "libsqlite3.so.0": (99.9, 99.9, 99.5, 0), "libgomp.so.1": (100, 99.4, 97, 0), "libexpat.so.1": (100, 100, 97.5, 0),
         "tpl": (100, 100, 100, 97.2)}
# Of binaries with debug information: the limit of memory that is enough; twice what is resident.
MEGABYTES = {"libc.so.6": 72}
# Loops that hpcstruct does not have: behind computed jumps (memcpy of SSSE3), a table whose bound is not in a comparison, and functions that call
# themselves at their end.
EXTRA = {"libc.so.6": ("_ssse3", "parse_expression"), "tpl": ("__merge_without_buffer", "__merge_adaptive")}


def marks():
    """{"nested.inner": (line, "nested.outer" or None)}"""
    found = {}
    for number, line in enumerate(SOURCE.splitlines(), 1):
        if match := MARK.search(line):
            names = match[1].split()
            found[names[0]] = (number, names[1] if len(names) > 1 else None)
    return found


def loops_of(answer):
    """{function: [(line, line of the loop around it, or None)]}"""
    return {function["name"]: sorted(((loop["line"], function["loops"][loop["parent"]]["line"] if loop["parent"] >= 0 else None)
                                     for loop in function["loops"]), key=lambda loop: (loop[0], loop[1] or 0)) for function in answer["functions"]}


def check_source(tap, program, name, compiler, flags, folder, is_exact=True):
    """Loops of the source by line; of a copy without symbols, the same by address."""
    source, outside, binary = folder / "loops.c", folder / "outside.c", folder / f"{name}.so"
    source.write_text(SOURCE.lstrip("\n"), encoding="utf-8")
    outside.write_text(OUTSIDE, encoding="utf-8")
    objects = []
    for file in (source, outside):
        objects.append(folder / f"{name}.{file.stem}.o")
        compiled.output(*compiler, "-g", "-fPIC", "-fno-inline", *flags, "-c", file, "-o", objects[-1])
    compiled.output("ld.lld" if compiler[0] == "clang" else "ld", "-shared", "--eh-frame-hdr", *objects, "-o", binary)
    answer, _ = agreement.answer(program, binary)
    found, wrong = loops_of(answer), []
    lines = marks_below()
    for function, counts in LOOPS.items():
        wanted = sorted((line, lines[around][0] if around else None) for mark, (line, around) in lines.items() if mark.startswith(function + "."))
        ours = found.get(function)
        if ours is None or (len(ours) not in counts if not is_exact else ours != wanted):
            wrong.append(f"{function}: {ours} instead of {wanted}")
    tap.check(not wrong, f"{name}: loops of the source, with lines and nesting", wrong)
    stripped = folder / f"{name}.stripped"
    if compiler[0] == "gcc":
        compiled.output("strip", "-o", stripped, binary)
        bare, _ = agreement.answer(program, stripped)
        both = [{loop["header"] for function in one["functions"] for loop in function["loops"]} for one in (answer, bare)]
        tap.check(both[0] == both[1] and len(both[0]) >= sum(min(counts) for counts in LOOPS.values()), f"{name}: the same loops without debug information", [both])
    return binary


def marks_below():
    # SOURCE begins with an empty line, which the file does not have.
    return {mark: (line - 1, around) for mark, (line, around) in marks().items()}


def check_compilers(tap, program, folder):
    binary = check_source(tap, program, "gcc-O1", ["gcc"], ["-O1"], folder)
    check_source(tap, program, "gcc-O2", ["gcc"], ["-O2", "-fno-tree-vectorize"], folder, is_exact=False)
    if not (shutil.which("clang") and shutil.which("ld.lld")):
        tap.skip("loops of other compilers and processors", "clang or ld.lld is not installed")
        return binary
    check_source(tap, program, "clang-O1", ["clang"], ["-O1"], folder, is_exact=False)
    targets = compiled.output("clang", "--print-targets")
    for name, triple in CROSS.items():
        if re.search(rf"^\s+{'ppc64le' if name == 'powerpc64le' else name}\s", targets, re.M):
            check_source(tap, program, name, ["clang", f"--target={triple}"], ["-O1", "-ffreestanding"], folder, is_exact=False)
        else:
            tap.skip(f"{name}: loops of the source", "clang does not compile for it")
    return binary


COLD = """
int slow(int, int *) __attribute__((cold));
int hot(int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (__builtin_expect(a[i] < 0, 0))
            sum = slow(sum, a) * 3;
        sum += a[i] * i;
    }
    return sum;
}
"""


def check_cold(tap, program, folder):
    """A part that the compiler moved away is of its function and in its loop, by symbols alone."""
    source, binary = folder / "cold.c", folder / "cold.so"
    source.write_text(COLD, encoding="utf-8")
    compiled.output("gcc", "-O2", "-fPIC", "-shared", "-nostdlib", source, "-o", binary)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in compiled.output("nm", "--defined-only", binary).splitlines()}
    if "hot.cold" not in symbols:
        tap.skip("a cold part is one with its function", "the compiler makes none")
        return
    offset = symbols["hot.cold"]
    names = {mode: helper.ask(program, binary, [offset], mode=mode).chain(offset) for mode in ("symbols", "symbols,loops")}
    loops = [one for one in names["symbols,loops"] if one[0] == helper.LOOP]
    tap.check(names["symbols"][0][1] == "hot.cold" and names["symbols,loops"][0][1] == "hot" and names["symbols,loops"][0][4] == symbols["hot"] and len(loops) == 1,
              "a cold part is one with its function, and in its loop", [names])


# ---- hpcstruct ----

def oracle_binaries():
    """[(name, binary, debug information or None, hpcstruct's answer)], and names that are not here."""
    folder, found, absent = corpus().parent / "oracles" / "structure", [], []
    table = (folder / "README.md").read_text(encoding="utf-8") if (folder / "README.md").is_file() else ""
    for path in sorted(folder.glob("*.hpcstruct.gz")):
        name = path.name.removesuffix(".hpcstruct.gz")
        known = re.search(rf"^\| {re.escape(name)} \|[^|]*\| ([0-9a-f]{{40}}) \|", table, re.M)
        binary = Path("/usr/lib/x86_64-linux-gnu") / name if known else corpus() / "live" / "bin" / name
        identity = known[1] if known else None
        if not binary.is_file() or (identity and identity not in compiled.output("readelf", "-n", binary)):
            absent.append(name)
            continue
        debug = Path(f"/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug") if identity else None
        found.append((name, binary, debug if debug and debug.is_file() else None, path))
    return found, absent


def load_script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def percent(part, whole):
    return 100 * part / whole if whole else 100


def compare(script, theirs, answer, path, extra):
    """Rates as of RATES, and the answer as the script reads it."""
    path.write_text(json.dumps(answer), encoding="utf-8")
    ours = script.Answer(str(path))
    names = {function["start"]: function["name"] for function in answer["functions"]}
    skipped = {start for start, name in names.items() if any(word in name for word in extra)}
    wanted = set(theirs.functions) - theirs.plt
    headers = {header for function, header in theirs.loops if function not in theirs.plt}
    all_ours = {header for _, header in ours.loops}
    here = {header for function, header in ours.loops if function in wanted and function not in skipped}
    both = [key for key in theirs.loops if key in ours.loops and theirs.loops[key][1]]
    same = known = 0
    for start, _, number, function, loops, *_ in theirs.ranges:
        # Of code that several ranges have, the first one counts. Each range is of one statement: its begin stands for it.
        if function not in theirs.plt and function not in skipped and (first := theirs.at(start)) and first[2] == number:
            known += 1
            same += ours.nest(start, function) == loops
    return (percent(len(headers & all_ours), len(headers)), percent(len(headers & here), len(here)), percent(same, known),
            percent(sum(theirs.loops[key] == ours.loops[key] for key in both), len(both))), ours


def check_oracles(tap, program, folder):
    found, absent = oracle_binaries()
    for name in absent:
        tap.skip(f"{name}: agreement with hpcstruct", "not the binary that hpcstruct read")
    if not found:
        tap.skip("agreement with hpcstruct", "its answers are not beside the corpus")
        return
    oracles = corpus().parent / "oracles"
    script, structures, answers = load_script(oracles / "structure" / "compare_structure.py"), {}, {}
    for name, binary, debug, path in found:
        answer, _ = agreement.answer(program, binary, debug)
        if name in MEGABYTES and debug:
            status, _ = helper.run(program, binary, [], debug=debug, mode="beside,all", megabytes=MEGABYTES[name])
            tap.check(status == 0, f"{name}: all code with debug information takes at most {MEGABYTES[name]} MB of addresses, files and libraries included", [status])
        structures[name] = script.Structure(str(path))
        rates, answers[name] = compare(script, structures[name], answer, folder / "answer.json", EXTRA.get(name, ()))
        least = RATES.get(name, (100, 100, 100, 100))
        tap.check(all(rate >= limit for rate, limit in zip(rates, least)),
                  f"{name}: hpcstruct's loops {rates[0]:.2f} %, of ours theirs {rates[1]:.2f} %, same nest {rates[2]:.2f} %, lines {rates[3]:.2f} %", [least])
    check_weighted(tap, load_script(oracles / "hpcprof_model.py"), structures, answers)


def check_weighted(tap, model, structures, answers):
    """The same where the programs of the live measurements spend their time."""
    found, runs = weighted.compare(model, corpus() / "live", structures, answers)
    for number, what in enumerate(found.WHAT):
        rates = [found.percent(number, which) for which in (0, 1)]
        tap.check(min(rates) >= 99.5, f"{what}, weighted by the cost of {runs} live runs: {rates[0]:.2f} %, by the cost that passes through: {rates[1]:.2f} %",
                  found.worst())
    share = 100 * found.known[0] / runs if runs else 0
    tap.check(runs > 10 and share > 90, f"hpcstruct's files know {share:.1f} % of that cost", [found.known, found.unknown])


# ---- building ----

def loop_rows(lode, database):
    """{(loop, exclusive, inclusive)}"""
    rows = json.loads(run(lode, "top", "--by", "loop", "--json", "--limit", "1000", database).stdout)["rows"]
    return {(row["name"], round(row["exclusive"], 9), round(row["inclusive"], 9)) for row in rows}


def check_built(tap, lode, folder):
    for name in ("serial", "omp", "mpi", "thr", "tpl"):
        measured = corpus() / "live" / name / "measurement"
        if not measured.is_dir():
            tap.skip(f"{name}: loops as with structure files", "not in the corpus")
            continue
        words = ["--no-source", "--replace", f"/opt/live={corpus() / 'live'}", measured, "-o"]
        rows = []
        for number, more in enumerate(([], ["--ignore-structs"], ["--ignore-structs", "--no-loops"], ["--ignore-structs", "--like-hpcprof"])):
            done = run(lode, "build", *more, *words, folder / f"{name}{number}")
            rows.append(loop_rows(lode, folder / f"{name}{number}") if done.returncode == 0 else None)
        with_file, without, none, like_hpcprof = rows
        missing = sorted((with_file or {None}) - (without or set()))
        tap.check(with_file and not missing and none == like_hpcprof == set(),
                  f"{name}: {len(with_file or ())} loops as with structure files, at the same cost; none with --no-loops or --like-hpcprof", missing)


# ---- structure files ----

def contexts(lode, database):
    """{((kind, name or file, line) from the outermost to the innermost): cost} of lines; loops by line, since an address is no name."""
    dump = json.loads(run(lode, "dump", database).stdout)
    meta, found = dump["meta"], {}
    scope = next(one["id"] for one in meta["metrics"][0]["scopes"] if meta["scopes"][one["scope"]]["name"] == "execution")
    values = next(profile for profile in dump["profiles"] if not profile["summary"])["values"]

    def visit(context, path):
        kind = context.get("lexical")
        if kind == "instruction":
            return
        if kind:
            file = meta["files"][context["file"]]["path"] if context.get("file") is not None else None
            name = meta["functions"][context["function"]]["name"] if kind == "function" and context.get("function") is not None else None
            path = (*path, (kind, name or file, context.get("line") or 0))
            found[path] = found.get(path, 0) + float(values.get(str(context["id"]), {}).get(str(scope), 0))
        for child in context["children"]:
            visit(child, path)

    for entry in meta["entry_points"]:
        visit(entry, ())
    return found


def check_names(tap, lode, folder):
    """Names of functions are UTF-8, in a document that another parser reads."""
    source, library, target = folder / "names.c", folder / "libnames.so", folder / "names.hpcstruct"
    source.write_text("int gr\u00f6\u00dfe(int n) { return n + 1; }\n", encoding="utf-8")
    run("gcc", "-g", "-O1", "-shared", "-fPIC", source, "-o", library)
    done = run(lode, "structure", library, "-o", target)
    names = {node.get("n") for node in ElementTree.parse(target).iter("P")} if done.returncode == 0 else done.stderr
    tap.check("gr\u00f6\u00dfe" in names, "a structure file has names beyond ASCII", [names])


def check_damaged(tap, lode, folder, binary):
    """A file without its end has no functions, which is said."""
    cut = folder / "cut.so"
    cut.write_bytes(binary.read_bytes()[:4096])
    done = run(lode, "structure", "--json", "--limit", "1", cut, binary)
    found = json.loads(done.stdout)["findings"] if done.returncode == 0 else []
    tap.check([finding["rule"] for finding in found] == ["binary-unread"] and done.stderr.count(b"no function was found") == 1, "a binary without functions is said",
              [done.returncode, done.stderr, found])


def check_written(tap, lode, folder, binary):
    """The structure file of a binary gives the database that the binary gives, and hpcprof's model agrees."""
    target = folder / "written.hpcstruct"
    done = run(lode, "structure", binary, "-o", target)
    tap.check(done.returncode == 0 and target.is_file(), "lode structure writes a file", [done.stderr])
    refused = run(lode, "structure", binary, "-o", target)
    tap.check(refused.returncode == 2 and b"--force" in refused.stderr, "and replaces none without --force", [refused.stderr])
    listed = json.loads(run(lode, "structure", "--json", "--limit", "0", binary).stdout)
    counts = sum(min(counts) for counts in LOOPS.values())
    tap.check(listed["result"]["loops"] == len(listed["loops"]) >= counts and not listed["is_truncated"], f"--json lists {len(listed['loops'])} loops",
              [listed["result"]])
    weights = {address: 1 + number % 7 for number, address in enumerate(compiled.text_addresses(binary))}
    measured = built.measure(folder / "measured", [binary], weights)
    run(lode, "build", "--no-source", measured, "-o", folder / "direct")
    hidden = binary.with_suffix(".hidden")
    binary.rename(hidden)
    by_option = run(lode, "build", "--no-source", "--structure", target, measured, "-o", folder / "named")
    (measured / "structs").mkdir()
    shutil.copy(target, measured / "structs")
    run(lode, "build", "--no-source", measured, "-o", folder / "found")
    hidden.rename(binary)
    ours = [contexts(lode, folder / name) for name in ("direct", "named", "found")]
    loops = sum(path[-1][0] == "loop" for path in ours[0])
    wrong = [str(path) for path in {**ours[0], **ours[1]} if ours[0].get(path) != ours[1].get(path)][:8]
    tap.check(not wrong and loops >= counts, f"a database by the file is that by the binary: {len(ours[0])} contexts, {loops} loops", wrong or [by_option.stderr])
    tap.check(ours[1] == ours[2], "as an option or in the measurements")
    model = corpus().parent / "oracles" / "hpcprof_model.py"
    run(lode, "build", "--no-source", "--like-hpcprof", "--force", measured, "-o", folder / "found")
    if model.is_file():
        compared = subprocess.run([sys.executable, model, measured, "--compare", folder / "found"], capture_output=True, text=True, timeout=300, check=False)
        tap.check(compared.returncode == 0, "the model of hpcprof reads the file, and has the same database", compared.stdout.splitlines()[:20])
    else:
        tap.skip("the model of hpcprof reads the file", "it is not beside the corpus")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--helper", type=Path, required=True)
    parser.add_argument("--lode", type=Path, required=True)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        binary = check_compilers(tap, options.helper, folder)
        check_damaged(tap, options.lode, folder, binary)
        check_written(tap, options.lode, folder, binary)
        check_names(tap, options.lode, folder)
        check_cold(tap, options.helper, folder)
        check_oracles(tap, options.helper, folder)
        check_built(tap, options.lode, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
