# SPDX-License-Identifier: BSD-3-Clause
"""A terminal: `lode tui` on a pseudo terminal, with an emulator (pyte) that knows what is on the screen."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pyte

SECONDS = 60
KEYS = {"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "enter": "\r", "escape": "\x1b", "backspace": "\x7f",
        "tab": "\t", "page down": "\x1b[6~", "page up": "\x1b[5~", "home": "\x1b[1~", "end": "\x1b[4~", "interrupt": "\x03"}


def reset_application_keys(name):
    """xterm sends other bytes for arrows once a program asked for it, as ncurses does."""
    return {"up": "\x1bOA", "down": "\x1bOB", "right": "\x1bOC", "left": "\x1bOD", "home": "\x1bOH", "end": "\x1bOF"}.get(name, KEYS.get(name, name))


# What ncurses and the program's own colours send: cursor, erase, insert and delete, scroll, colours, modes, character sets. No strings (OSC, DCS, ...).
SEQUENCE = re.compile(r"\x1b(?:\[[?>]?[0-9;]*[ABCDGHJKLMPSTXZ@bdfghlmrt]|[()][0AB]|[=>78MDE])")
PLAIN = "\r\n\b\t"
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e0fff\udc80-\udcff]")


def unsafe(raw, text_only=False):
    """Characters in what was sent that are neither text nor part of a sequence that the program may send."""
    text = raw.decode("utf-8", "surrogateescape")
    text = re.sub("\x1b\\[[0-9;]*m", "", text) if text_only else SEQUENCE.sub("", text)
    return sorted({f"U+{ord(c):04X}" for c in CONTROL.findall(text) if c not in (PLAIN if not text_only else "\r\n")})


class Screen(pyte.Screen):
    """With the sequences of ncurses that pyte does not know: repeat a character, scroll, go back to a tab stop."""
    last = ""

    def draw(self, data):
        super().draw(data)
        self.last = data[-1:] or self.last

    def repeat_previous(self, count=1, **_):
        super().draw(self.last * (count or 1))

    def _at_top(self, change, count):
        line, column = self.cursor.y, self.cursor.x
        self.cursor.y = self.margins.top if self.margins else 0
        change(count or 1)
        self.cursor.y, self.cursor.x = line, column

    def scroll_up(self, count=1, **_):
        self._at_top(self.delete_lines, count)

    def scroll_down(self, count=1, **_):
        self._at_top(self.insert_lines, count)

    def back_tab(self, count=1, **_):
        for _ in range(count or 1):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "b": "repeat_previous", "S": "scroll_up", "T": "scroll_down", "Z": "back_tab"}
    events = frozenset([*pyte.ByteStream.events, "repeat_previous", "scroll_up", "scroll_down", "back_tab"])


class Late(Exception):
    """The screen did not become what was expected."""


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, arguments, columns=160, rows=40, cwd=None, **changes):
        environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **changes}
        environment = {name: value for name, value in environment.items() if value is not None}
        for name in ("LINES", "COLUMNS"):
            environment.pop(name, None)
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.status = None
        # The end for the program stays open here, so that its settings can be read when it has ended.
        self.fd, self.inner = pty.openpty()
        self.resize(columns, rows, is_first=True)
        self.before = termios.tcgetattr(self.inner)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)  # ignored ones stay so, as under nohup
            fcntl.ioctl(self.inner, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(self.inner, fd)
            os.closerange(3, 64)
            if cwd:
                os.chdir(cwd)
            try:
                os.execve(arguments[0], arguments, environment)
            finally:
                os._exit(127)

    def resize(self, columns, rows, is_first=False):
        fcntl.ioctl(self.inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if not is_first:
            self.screen.resize(rows, columns)
            os.kill(self.pid, signal.SIGWINCH)

    def read(self, seconds):
        """Takes what the program writes within some time; False if nothing came."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        data = os.read(self.fd, 65536)
        self.raw += data
        self.stream.feed(data)
        return True

    def press(self, *names):
        for name in names:
            os.write(self.fd, reset_application_keys(name).encode())

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def wait(self, condition, what="the screen"):
        """Until the lines of the screen meet a condition, and nothing more comes."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            while self.read(0.01):
                pass
            # A busy machine can stop in the middle of a screen: then the program is not asleep.
            if condition(self.lines()) and self.is_asleep() and not self.read(0.01):
                return self.lines()
            if self.has_ended():
                break
        raise Late(f"{what}: not within {SECONDS} s, status {self.status}:\n" + "\n".join(self.lines()))

    def is_asleep(self):
        """Whether every thread of the program waits, as it does for keys."""
        try:
            for thread in os.scandir(f"/proc/{self.pid}/task"):
                with open(thread.path + "/stat", encoding="utf-8", errors="replace") as stat:
                    if stat.read().rpartition(")")[2].split()[0] not in "SZ":
                        return False
        except FileNotFoundError:
            return self.has_ended()
        return True

    def has_ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0.05):
                    pass
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait_end(self):
        end = time.monotonic() + SECONDS
        while not self.has_ended() and time.monotonic() < end:
            self.read(0.05)
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            raise Late("the program did not end")
        return self.status

    def is_restored(self):
        """The settings of the terminal are as before, and the first screen is back; what is wrong with the store may be said on it."""
        raw = re.sub(rb"lode: [^\x1b]* lists them\s*$", b"", self.raw)
        return termios.tcgetattr(self.inner) == self.before and raw.rstrip().endswith((b"\x1b[?1l\x1b>", b"\x1b[?1049l\r\x1b[?1l\x1b>")) \
            and b"\x1b[?1049l" in self.raw

    def close(self):
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
        os.close(self.inner)
