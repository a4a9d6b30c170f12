#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the program says where parts of a database contradict each other: it answers from what agrees, and says so."""

import shutil
import struct
import sys
import tempfile
from pathlib import Path

import cli
import findings

INLINE = "pre-a/viewer-loop-inline-v1"  # its cct.db is damaged


def corpus(program):
    return program.databases().parent


class Copy:
    """A database of the corpus that may be changed, called db."""

    def __init__(self, program, name="final/made-small"):
        self.source = corpus(program) / name

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.database = Path(self.folder.name) / "db"
        self.database.mkdir()
        for path in self.source.glob("*.db"):
            shutil.copyfile(path, self.database / path.name)
        return self

    def __exit__(self, *error):
        self.folder.cleanup()

    def replace(self, file, old, new):
        """Changes a number wherever it is stored."""
        data = (self.database / file).read_bytes()
        assert struct.pack("<d", old) in data
        (self.database / file).write_bytes(data.replace(struct.pack("<d", old), struct.pack("<d", new)))

    def run(self, program, *arguments):
        return program.run(*arguments, cwd=self.folder.name)


def context_with_a_damaged_cct(program):
    program.need_larger()
    found = program.run("context", INLINE, "inlined_function", cwd=corpus(program))
    program.check(found.status == 1 and "a single value: 4,273,192,361" in found.out
                  and "cct.db differs from the summary" in found.err and findings.without(found.err).count("\n") == 1,
                  "context: values of a damaged cct.db are not believed", [found])
    answer = program.run("context", "--json", INLINE, "inlined_function", cwd=corpus(program))
    data = cli.parse_json(answer.out)
    program.check(answer.status == 1 and data["adds_up"] is False and data["values_by_context"] is False
                  and data["distribution"]["sum"] == 4273192361.0, "context --json: the same", [data])


def context_with_other_values(program):
    """One number changed in cct.db: the answer is that of the profiles. In profile.db too: it is said that nothing agrees."""
    program.need_larger()
    with Copy(program) as copy:
        sound = copy.run(program, "context", "--all", "--json", "db", "main")
        copy.replace("cct.db", 1.210259, 7.0)
        found = copy.run(program, "context", "--all", "--json", "db", "main")
        sound_rows, rows = (cli.parse_json(run.out)["rows"] for run in (sound, found))
        program.check(sound.status == 0 and sound.err == "" and found.status == 1 and rows == sound_rows
                      and "cct.db differs" in found.err, "context: a value of cct.db is changed", [found])
        data = bytearray((copy.database / "profile.db").read_bytes())
        at = data.index(struct.pack("<d", 1.210259))  # of the profile, which lies before the summary
        data[at:at + 8] = struct.pack("<d", 9.0)
        (copy.database / "profile.db").write_bytes(data)
        for command in (["context", "db", "0"],):
            found = copy.run(program, *command)
            program.check(found.status == 1 and "the profiles do not add up to the summary" in found.err,
                          "context: a value of profile.db is changed", [found])


def convert_says_what_is_wrong(program):
    program.need_larger()
    with Copy(program) as copy:
        sound = copy.run(program, "convert", "db", "-o", "sound")
        program.check((sound.status, sound.out, sound.err) == (0, "", ""), "convert: nothing is said of a sound database",
                      [sound])
        copy.replace("profile.db", 0.403829, 0.5)
        for target in ([], ["--format", "hpctoolkit-draft-xml"], ["--format", "hpctoolkit-draft-metadb"]):
            found = copy.run(program, "convert", *target, "db", "-o", "new", "--force")
            errors = cli.parse_json(copy.run(program, "check", "--level", "full", "--json", "db").out)["result"]["errors"]
            program.check(found.status == 0 and f"lode: db: {errors} findings copied to new, such as " in found.err
                          and "'lode check --level full' lists them" in found.err and errors > 1,
                          f"convert {' '.join(target)}: errors of the source are counted", [found])
            shutil.rmtree(copy.database.parent / "new")
    with tempfile.TemporaryDirectory() as folder:
        found = program.run("convert", corpus(program) / INLINE, "-o", "new", cwd=folder)
        program.check(found.status == 0 and findings.LINE.fullmatch(found.err) and " copied to new, such as " in found.err,
                      "convert: a damaged cct.db is said", [found])
        found = program.run("convert", "--drop-unlisted", program.databases() / "made-small", "-o", "less", cwd=folder)
        program.check(found.status == 0 and found.out.startswith("warning values-dropped: 23 values were omitted at unlisted contexts"),
                      "convert --drop-unlisted: how many values were left out", [found])


def convert_refuses_unknown_metrics(program):
    program.need_larger()
    with Copy(program) as copy:
        data = bytearray((copy.database / "profile.db").read_bytes())
        at = data.index(struct.pack("<Hd", 0, 0.403829))
        data[at:at + 2] = struct.pack("<H", 77)
        (copy.database / "profile.db").write_bytes(data)
        found = copy.run(program, "convert", "db", "-o", "new")
        program.check(found.status == 2 and "a value of metric 77, which meta.db does not list" in found.err
                      and not (copy.database.parent / "new").exists(), "convert: a value of an unknown metric", [found])


def info_of_a_damaged_part(program):
    program.need_larger()
    path = corpus(program) / "draft-xml" / "pipit-ping-pong-v2"
    found = program.run("info", path)
    program.check("(damaged, not used)" in found.out,
                  "info: a file that is there but cannot be used is not called absent", [found])
    parts = {part["name"]: part for part in program.json("info", path)["files"]}
    program.check(parts["cct.db"]["present"] and not parts["cct.db"]["usable"] and parts["cct.db"]["size"] > 0,
                  "info --json: present, not usable", [parts])


def counts_of_info_and_check(program):
    """Text counts contexts and profiles alike; JSON of check also has the global context and the summary, as stored."""
    program.need_larger()
    info, result = (program.json(*command, "made-small") for command in (["info"], ["check"]))
    counts = (info["contexts"]["count"] + 1, info["profiles"]["count"] + 1,
              2 * info["profiles"]["values"] + info["profiles"]["summary_values"])
    result = result["result"]
    text = program.run("check", program.databases() / "made-small").out
    program.check((result["contexts"], result["profiles"], result["values"]) == counts
                  and ": 13 contexts, 1 profile, 141 stored values, 13 samples" in text,
                  "info and check count the same, and check says what it adds", [info, result, text])


def default_metric(program):
    """The first with a total of GPUOP, CPUTIME, REALTIME, seconds, any."""
    for name, wanted in (("viewer-issue-328", "GPUOP (sec)"), ("toolkit-loops-cuda-nvidia-t-v0", "GPUOP (sec)"),
                         ("made-small", "CPUTIME (sec)"), ("viewer-d.x", "cycles")):
        for command in (["top"], ["tree"], ["profiles"], ["context"]):
            operands = ["0"] if command == ["context"] else []
            metric = program.json(*command, name, *operands)["metric"]
            program.check(metric == wanted, f"{command[0]} {name}: the default metric is {wanted}", [metric])
            text = program.run(*command, "--verbose", program.databases() / name, *operands).out
            plain = program.run(*command, program.databases() / name, *operands).out
            asked = program.run(*command, "--verbose", "-m", wanted, program.databases() / name, *operands).out
            several = sum(m["total"] != 0 for m in program.json("info", name)["metrics"]) > 1
            program.check(("--metric selects another" in text) == several and "selects another" not in asked + plain,
                          f"{command[0]} {name}: --verbose says that it is the default if there are others", [text])
            program.check("does not list" not in plain, f"{command[0]} {name}: notes are for --verbose", [plain])


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, context_with_a_damaged_cct, context_with_other_values, convert_says_what_is_wrong,
                      convert_refuses_unknown_metrics, info_of_a_damaged_part, counts_of_info_and_check, default_metric))
