# SPDX-License-Identifier: BSD-3-Clause
"""What views.py does to `lode tui` with stores that name things to deceive a terminal, and with any keys."""

import random
import subprocess
import tempfile
from pathlib import Path

try:
    from emulator import Terminal, unsafe
except ImportError:
    Terminal = None

# Strings that a terminal obeys: title, clipboard, answers, 8-bit forms, raw bytes; what hides or turns text; and a name of 100 kB.
NASTY = ("\x1b]0;owned\x07", "\x1b]52;c;cHduZWQ=\x07", "\x1bP$q\"p\x1b\\", "\x1b_x\x1b\\", "\x1b^x\x1b\\", "\x1bc", "\x1b[6n", "\x1b[?1049l", "\x9b2J", "\x9d52;c;cHduZWQ=\x9c", "\x90x\x9c",
         "\udc9b31m\udcff", "\x08\x08\x08", "\u202eevil", "\u2066x\u2069", "\u2028", "\u200b", "\ufeff", "\U000e0041", "\x0e\x0f", "x" * 100000 + "\x1b[2J")
WALK = [*"1234567923567jkgGnNmMsheE*iwad+-0[]uc", "up", "down", "left", "right", "enter", "backspace", "tab", "page down", "home", "end"]


def deceptive_stores(program, folder):
    subprocess.run([*program.maker, folder], check=True)
    names = "".join(f"main{name.replace(' ', '')};f{i}{name} {i + 3}\n" for i, name in enumerate(NASTY))
    (Path(folder) / "names.folded").write_bytes(names.encode("utf-8", "surrogateescape"))
    return sorted(path for path in Path(folder).iterdir())


def walk(program, store, folder, steps, seed):
    """Random keys and hostile words on a store; what is wrong with what the terminal got."""
    chance = random.Random(seed)
    terminal = program.start(str(store), folder, columns=chance.choice((80, 160)), rows=24)
    terminal.wait(lambda lines: "lode " in lines[-1], str(store))
    for key in ("1", "2", "3", "E", "down", "i", "E", "4", "down", "enter", "c", "c", "5", "]", "6", "enter", "7", "enter", "9", "2"):
        terminal.press(key)
    for step in range(steps):
        terminal.press(*(("/", chance.choice(NASTY[13:18]) + "x", "enter") if step % 20 == 19 else [chance.choice(WALK)]))
        terminal.read(0.02)
    terminal.press("escape", "escape", "2")
    terminal.wait(lambda lines: "functions by" in lines[1], str(store))
    terminal.press("q")
    ended = terminal.wait_end() == 0 and terminal.is_restored()
    return [f"{store.name}: {found} was sent" for found in unsafe(terminal.raw)] + ([] if ended else [f"{store.name}: {terminal.status}"])


def names_cannot_command_the_terminal(program):
    problems = [] if unsafe(b"\x1b[H" + NASTY[1].encode()) and unsafe("\u202e".encode()) and unsafe(b"\x9b") and not unsafe(b"\x1b[?1049h\x1b(B\x1b[m") else ["the control is not seen"]
    with tempfile.TemporaryDirectory() as folder:
        stores = deceptive_stores(program, folder)
        for number, store in enumerate(stores):
            problems += walk(program, store, folder, program.steps, program.seed + number)
        if len(stores) < 4:
            problems.append("no stores")
    return problems


def text_cannot_command_the_terminal(program):
    """Commands on a terminal, with colours."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for store in deceptive_stores(program, folder):
            for words in (["info"], ["top"], ["tree"], ["check", "--verbose"], ["profiles"]):
                # The last word shows that all before it has come. Progress, which a slow machine shows, has sequences of its own.
                terminal = Terminal(["/bin/sh", "-c", '"$@" 2>errors; status=$?; cat errors; echo THE-END; exit $status', "sh", program.lode, *words, str(store), "--color", "always"], cwd=folder)
                terminal.wait_end()
                for _ in range(600):
                    if b"THE-END" not in terminal.raw:
                        terminal.read(0.1)
                problems += [f"lode {words[0]} {store.name}: {found} was sent" for found in unsafe(terminal.raw, text_only=True)]
                problems += [] if b"THE-END" in terminal.raw and terminal.status in (0, 1, 2) else [f"lode {words[0]} {store.name}: {terminal.status}"]
                terminal.close()
    return problems


def any_keys_do_no_harm(program):
    keys = [*"1234567923567jkgG nNmMsheE*iwad+-0[]uc", "up", "down", "left", "right", "enter", "backspace", "tab", "page down", "page up", "home", "end"]
    problems = []
    for seed, (store, folder) in enumerate((("viewer-issue-233", program.databases()), ("exc/uftrace.data", program.recordings()),
                                            ("master", program.stores()))):
        chance = random.Random(seed)
        terminal = program.start(store, folder, columns=80, rows=24)
        terminal.wait(lambda lines: "lode " in lines[-1])
        for _ in range(200):
            terminal.press(chance.choice(keys))
            terminal.read(0.02)
        terminal.press("escape", "2")
        terminal.wait(lambda lines: "functions by" in lines[1], f"{store} after {seed}")
        terminal.press("q")
        if terminal.wait_end() != 0:
            problems.append(f"{store}: {terminal.status}")
    return problems
