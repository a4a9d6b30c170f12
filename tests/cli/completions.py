#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Completion in bash, zsh and fish: the shells run on a terminal, a key is pressed, and what the line has become is seen by
the arguments that the command then gets, or by the candidates on the screen.
"""

import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import cli

SECONDS = 30
FOLDER = cli.ROOT / "completions"
METRIC = "CPUTIME (sec)"
# As long as the name of the metric, and as hard to quote as a name can be.
ODD_METRIC = "it's \"a\" $(x)"
FUNCTION, ODD_FUNCTION = "function24", "std::a b<c"
PROMPT = "READY>"
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"PS1='{PROMPT}'; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set page-completions off'; "
             f"bind 'set completion-query-items 500'; source {FOLDER}/lode.bash\n"),
    "zsh": (["zsh", "-f", "-i"], f"PS1='{PROMPT}'; unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; LISTMAX=1000; fpath=({FOLDER} $fpath); autoload -U compinit; compinit -D -u\n"),
    "fish": (["fish", "--no-config", "-i"], f"function fish_prompt; echo -n '{PROMPT}'; end; function fish_right_prompt; end; source {FOLDER}/lode.fish\n"),
}
# A program that keeps its arguments, so that a test can read what the shell made of a line.
WRAPPER = """#!/bin/sh
[ "$1" = complete ] && exec {lode} "$@"
printf '%s\\0' "$@" > {folder}/arguments.new && mv {folder}/arguments.new {folder}/arguments
"""


class Shell:
    """A shell on a terminal of its own."""

    def __init__(self, name, lode, folder, cwd):
        self.folder = Path(folder)
        wrapper = self.folder / "lode"
        # A child of the shell before may still be executing it.
        wrapper.unlink(missing_ok=True)
        wrapper.write_text(WRAPPER.format(lode=lode, folder=self.folder), encoding="utf-8")
        wrapper.chmod(0o755)
        words, begin = START[name]
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 200, 0, 0))
        environment = cli.environment(PATH=f"{self.folder}:{os.environ['PATH']}", TERM="xterm", HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder),
                                      XDG_DATA_HOME=str(self.folder), HISTFILE="", INPUTRC="/dev/null")
        self.child = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=environment, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.screen = ""
        self.send(begin)
        self.send("echo BEG''UN\n")
        self.wait(lambda: "BEGUN" in self.screen)

    def send(self, text):
        os.write(self.master, text.encode())

    def wait(self, is_done):
        end = time.monotonic() + SECONDS
        while not is_done():
            if time.monotonic() > end:
                return False
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.screen += cli.ESCAPE.sub("", os.read(self.master, 65536).decode(errors="replace"))
                except OSError:
                    return is_done()
        return True

    def arguments(self, keys):
        """What the program gets when a line is entered after these keys."""
        kept = self.folder / "arguments"
        kept.unlink(missing_ok=True)
        self.screen = ""
        self.send(keys)
        self.send("\n")
        if not self.wait(kept.exists):
            return None
        return kept.read_bytes().decode().split("\0")[:-1]

    def shows(self, keys, *words):
        """Whether the screen shows all of these after the keys."""
        self.screen = ""
        self.send(keys)
        return self.wait(lambda: all(word in self.screen for word in words))

    def end(self):
        self.child.kill()
        self.child.wait()
        os.close(self.master)


def make_stores(program, folder):
    """db, and odd with names that are hard to quote."""
    for name in ("db", "odd"):
        done = program.run("synth", "database", "--profiles", "2", "--contexts", "500", "--samples", "0", "-o", name, cwd=folder)
        if done.status != 0:
            raise ValueError(done.err)
    meta = Path(folder) / "odd" / "meta.db"
    data = meta.read_bytes()
    for name, other in ((METRIC, ODD_METRIC), (FUNCTION, ODD_FUNCTION)):
        if data.count(name.encode() + b"\0") != 1:
            raise ValueError(f"{name} is not in meta.db")
        data = data.replace(name.encode() + b"\0", other.encode() + b"\0")
    meta.write_bytes(data)


# What is typed, with a tab at the end, and what the program then gets.
LINES = (
    ("lode pro\t", ["profiles"]),
    ("lode top --thr\t4 db", ["top", "--threads", "4", "db"]),
    ("lode top --by mod\tdb", ["top", "--by", "module", "db"]),
    ("lode dump --only meta,prof\t", ["dump", "--only", "meta,profiles"]),
    ("lode help conv\t", ["help", "convert"]),
    ("lode synth rec\t", ["synth", "recording"]),
    ("lode top db -m CPU\t", ["top", "db", "-m", METRIC]),
    ("lode top db --metric CPU\t", ["top", "db", "--metric", METRIC]),
    ("lode top db --metric=CPU\t", ["top", "db", f"--metric={METRIC}"]),
    ("lode top odd -m it\t", ["top", "odd", "-m", ODD_METRIC]),
    ("lode top odd --metric=it\t", ["top", "odd", f"--metric={ODD_METRIC}"]),
    ("lode context odd std\t", ["context", "odd", ODD_FUNCTION]),
    ("lode top odd --callers std\t", ["top", "odd", "--callers", ODD_FUNCTION]),
    ("lode top db --profiles ran\t0", ["top", "db", "--profiles", "rank=0"]),
    ("lode convert --format uft\tdb", ["convert", "--format", "uftrace", "db"]),
    ("lode info od\t", ["info", "odd"]),
    ("lode record --with uf\t./a", ["record", "--with", "uftrace", "./a"]),
    ("lode record --freq 9 od\t", ["record", "--freq", "9", "odd"]),
)
# The same where the word begins in quotes.
QUOTED = (("lode top odd -m \"it\t", ["top", "odd", "-m", ODD_METRIC]), ("lode top db -m 'CPU\t", ["top", "db", "-m", METRIC]))
# bash splits words at colons and equal signs.
OF_BASH = (("lode top odd --callers std:\t", ["top", "odd", "--callers", ODD_FUNCTION]), ("lode top odd --callers std::a\t", ["top", "odd", "--callers", ODD_FUNCTION]),
           ("LANG=C lode top db -m CPU\t", ["top", "db", "-m", METRIC]))


# Keys, candidates that must be seen, and descriptions where the shell shows some.
LISTS = (("lode \t\t", ("info", "replay", "synth"), ("show what a store contains", "make a synthetic store")),
         ("lode top --\t\t", ("--threads", "--metric", "--sort"), ("number of worker threads",)),
         ("lode top --sort \t\t", ("exclusive", "inclusive", "errors"), ()))


def without_slash(arguments):
    return [argument.rstrip("/") for argument in arguments or []]


def completes(program, name):
    if not shutil.which(name):
        program.skip(name, f"there is no {name}")
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        make_stores(program, folder)
        shell = Shell(name, program.lode, home, folder)
        for keys, wanted in (*LINES, *QUOTED, *(OF_BASH if name == "bash" else ())):
            found = shell.arguments(keys)
            program.check(found is not None and without_slash(found) == wanted, f"{name}: {keys!r}", [f"wanted {wanted}", f"found  {found}", shell.screen[-500:]])
        shell.end()
        for keys, words, descriptions in LISTS:
            shell = Shell(name, program.lode, home, folder)
            words = words if name == "bash" else (*words, *descriptions)
            program.check(shell.shows(keys, *words), f"{name}: {keys!r} lists {' '.join(words)}", [shell.screen[-2000:]])
            shell.end()


# Functions whose names a shell would run, expand, or replace by earlier commands. Their first letters tell them apart.
HOSTILE = ("a$(touch pwned)", "b`touch pwned`", "c|touch pwned|", "d&&touch pwned&", "e'$(touch pwned)'x", 'f"$(touch pwned)"x', "g!!x", "h!touch", "i\\$(touch pwned)", "j>pwned", "k~root",
           "l{a,b}", "n*", "o<(touch pwned)", "p${x:=y}", "q\\`touch pwned`", "r'!!\"!!x", "s;touch pwned;#x")


def nothing_is_run(program, name):
    """Names that attack, completed without quotes and in both kinds; and the same names without escapes, which the shell does run."""
    if not shutil.which(name):
        program.skip(f"{name}: hostile names", f"there is no {name}")
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        # A semicolon separates frames in this format.
        names = [text.replace(";", "&") for text in HOSTILE]
        (Path(folder) / "x.folded").write_text("".join(f"main;{text} {i + 1}\n" for i, text in enumerate(names)), encoding="utf-8")
        program.run("convert", "x.folded", "-o", "db", cwd=folder)
        pwned, wrong = Path(folder) / "pwned", []
        shell = Shell(name, program.lode, home, folder)
        for text in names:
            for quote in ("", '"', "'"):
                found = shell.arguments(f"lode top db --callers {quote}{text[0]}\t")
                wrong += [] if found == ["top", "db", "--callers", text] else [f"{quote}{text!r} became {found}"]
        program.check(not wrong and not pwned.exists(), f"{name}: {3 * len(names)} hostile names are completed and nothing is run", wrong)
        shell.arguments(f"lode top db --callers {names[0] if name != 'fish' else '(touch pwned)'}")
        program.check(shell.wait(pwned.exists), f"{name}: control: such a name without escapes is run", [shell.screen[-500:]])
        shell.end()


def bash(program):
    completes(program, "bash")
    nothing_is_run(program, "bash")


def zsh(program):
    completes(program, "zsh")
    nothing_is_run(program, "zsh")


def fish(program):
    completes(program, "fish")
    nothing_is_run(program, "fish")


def candidates(program, *words, cwd=None):
    """(candidate, description) of each."""
    lines = program.run("complete", "zsh", *words, cwd=cwd).out.splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


def the_tables_are_complete(program):
    """Every command and option that the help lists is a candidate, with a description."""
    commands = re.findall(r"^  ([a-z]+) ", program.run("help", cwd=None).out.split("'lode help COMMAND'")[0], re.MULTILINE)
    program.equal([name for name, _ in candidates(program, "")], commands, "all commands")
    for command in commands:
        listed = set(re.findall(r"^ {2}(?:    |-\w, )(--[a-z-]+)", program.run("help", command, cwd=None).out.split("\nExamples")[0], re.MULTILINE))
        found = candidates(program, command, "--")
        program.equal({name for name, _ in found}, listed, f"lode {command}: all options")
        program.check(all(text for _, text in found), f"lode {command}: all options have a description", found)


def what_cannot_be_completed(program):
    """Nothing is said, and nothing goes wrong."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bad").mkdir()
        (Path(folder) / "bad" / "meta.db").write_bytes(b"HPCTOOLKITmeta" + b"\xff" * 100)
        for words in (["zsh", "nothing", ""], ["zsh", "top", "bad", "-m", ""], ["zsh", "top", "nothing", "-m", ""], ["zsh", "top", "--limit", ""],
                      ["zsh", "context", "bad", ""], ["zsh", "top", "--metric="], ["zsh", "top", "--nothing=x"], ["bash", "lode top -m '", "13", "'"],
                      ["bash", "lode", "4", "lode"], ["bash", "", "0", ""], ["bash", "lode top \\", "99999999999999999999", ""], ["fish", "top", "'"],
                      ["zsh", "top", "a", "b", "c"], ["zsh", "-x", ""]):
            result = program.run("complete", *words, cwd=folder)
            program.check(result == (0, "", "") or words[-1] == "'" or result.out == "\nfiles\n", f"lode complete {shlex.join(words)}", [result])
        for words in ([], ["csh", ""], ["bash"], ["zsh"]):
            program.equal(program.run("complete", *words, cwd=folder), (2, "", ""), f"lode complete {shlex.join(words)}")


def bash_reads_back_what_is_quoted(program):
    """Any name, in any quotes: the shell must see the name again."""
    with tempfile.TemporaryDirectory() as folder:
        make_stores(program, folder)
        meta, wrong = Path(folder) / "odd" / "meta.db", []
        data = meta.read_bytes()
        names = ["a'b\"c d$e`f", "x" * 13, "a\\b\\\\c;d&e|f", "~a*b?c[d]e{f}", "#a!b^c(d)e<>", " a  b   c   ", "é ü 'ß' $(", "-a --b= c,d:e", "'''''\"\"\"\"\"\"\"\""]
        for name in names:
            text = name.encode()[:len(METRIC)].decode(errors="ignore")
            meta.write_bytes(data.replace(ODD_METRIC.encode() + b"\0", text.encode().ljust(len(METRIC), b"_") + b"\0"))
            wanted = text + "_" * (len(METRIC) - len(text.encode()))
            for quote in ("", "'", '"'):
                line = f"lode top odd -m {quote}"
                out = program.run("complete", "bash", line, len(line), quote, cwd=folder).out.split("\n")[0]
                back = subprocess.run(["bash", "-c", f"printf %s {quote}{out}{quote}"], capture_output=True, text=True, cwd=folder).stdout
                wrong += [] if back == wanted else [f"{quote}: {wanted!r} became {back!r}"]
        program.check(not wrong, f"{3 * len(names)} quoted names", wrong)


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, the_tables_are_complete, what_cannot_be_completed, bash_reads_back_what_is_quoted, bash, zsh, fish))
