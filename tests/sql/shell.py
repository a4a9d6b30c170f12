#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The shell of `lode sql` on a terminal: statements over several lines, errors, Ctrl-C in a statement and at the prompt, .quit."""

import os
import pty
import select
import sys

import stores
from stores import SMALL

SECONDS = 120  # ends what hangs


class Shell:
    def __init__(self, lode):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", LANG="C.UTF-8", NO_COLOR="1")
            os.execv(lode, [lode, "sql", str(SMALL)])
        self.text = ""

    def wait(self, wanted):
        """Reads until a text comes; what came before it, and it."""
        while wanted not in self.text:
            ready, _, _ = select.select([self.fd], [], [], SECONDS)
            if not ready:
                raise TimeoutError(f"no {wanted!r} in {self.text!r}")
            self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
        found, _, self.text = self.text.partition(wanted)
        return found

    def ask(self, line, wanted):
        os.write(self.fd, line.encode())
        self.wait(wanted)
        return self.wait("lode> ")


def body(tap, lode, options):
    shell = Shell(lode.program)
    shell.wait("lode> ")
    shell.ask("select 40 +\n2 as answer;\n", "42")
    tap.check(True, "a statement over two lines")
    shell.ask("selec 1;\n", "syntax error")
    tap.check(True, "the shell goes on after an error")
    shell.ask(".tables\n", "calling contexts")
    os.write(shell.fd, b"select 'beg' || 'un'; with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r;\n")
    shell.wait("begun")
    os.write(shell.fd, b"\x03")
    shell.wait("interrupted")
    shell.wait("lode> ")
    shell.ask("select 'still ' || 'there';\n", "still there")
    tap.check(True, "Ctrl-C ends a statement, not the shell")
    os.write(shell.fd, b".quit\n")
    tap.check(os.waitpid(shell.pid, 0)[1] == 0, ".quit ends it")


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL,)))
