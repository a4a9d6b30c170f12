#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The picture, the line and the table of layers in doc/architecture.md are those of tests/lint/layering.py: `--write` refreshes them.
Decisions have numbers of their own, and doc/decisions/README.md lists all of them.
"""
import argparse
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
sys.path.insert(0, str(ROOT / "tests" / "lint"))

from layering import BELOW, CONTENT, OF_PLUGINS, ON_THE_API  # noqa: E402
from tap import Tap  # noqa: E402

DOCUMENT = ROOT / "doc" / "architecture.md"
PICTURE = ROOT / "doc" / "images" / "layers.svg"
DECISIONS = ROOT / "doc" / "decisions"
BEGIN, END = "<!-- layers: tests/doc/layers.py --write -->\n", "<!-- end of layers -->\n"
LIBRARY = [layer for layer in BELOW if layer not in ON_THE_API and layer not in OF_PLUGINS]
ABOVE = [layer for layer in BELOW if layer in ON_THE_API]


def directly(layer, below=None):
    """What a layer may use without what it reaches through others, in the order of the table."""
    below = below or BELOW
    indirect = set().union(*(below[other] for other in below[layer]))
    return [other for other in below if other in below[layer] - indirect]


def groups(library, below):
    """From the bottom: lists of chains; every first of a chain uses the ends of all chains of the group before."""
    found = []
    for layer in library:
        uses = directly(layer, below)
        ends = [chain[-1] for chain in found[-1]] if found else []
        before = [chain[-1] for chain in found[-2]] if len(found) > 1 else []
        if set(uses) == set(before) and found:
            found[-1].append([layer])
        elif set(uses) == set(ends):
            found.append([[layer]])
        elif len(uses) == 1 and uses[0] in ends:
            found[-1][ends.index(uses[0])].append(layer)
        else:
            raise SystemExit(f"{layer} uses {uses}: the line of layers cannot say that; extend tests/doc/layers.py")
    return found


def braced(chains):
    text = [" <- ".join(chain) for chain in chains]
    return text[0] if len(text) == 1 else "{" + ", ".join(text) + "}"


def section():
    line = " <- ".join([braced(chains) for chains in groups(LIBRARY, BELOW)] + [braced([[layer] for layer in ABOVE])])
    rows = [f"| src/{layer} | {', '.join(directly(layer)) or '-'} | {CONTENT[layer]} |" for layer in LIBRARY]
    rows += [f"| src/{layer} | include/lode only | {CONTENT[layer]} |" for layer in ABOVE]
    rows += [f"| src/{layer} | {interface} only: a plug-in | {CONTENT[layer]} |" for layer, interface in OF_PLUGINS.items()]
    return "\n".join(["![Layers](images/layers.svg)", "", line + ".", "Arrows point to what a layer may use; it may also use what those use.", "",
                      "| layer | uses | has |", "|---|---|---|", *rows, ""])


WIDTH, LEFT, ROW, BOX, GAP = 860, 20, 92, 62, 20
COLOURS = ["#f6f8fa #8c959f", "#f6f8fa #8c959f", "#dafbe1 #4ac26b", "#ddf4ff #54aeff", "#ddf4ff #54aeff"]
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="The layers of Lode and what may use what">
<defs><marker id="m" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" fill="#57606a"/></marker></defs>
<style>
text {{ font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; text-anchor: middle; fill: #1f2328 }}
.t {{ font-size: 16px; font-weight: 600 }} .l {{ font-size: 13px; fill: #424a53 }} .s {{ font-size: 11px; fill: #424a53 }}
.a {{ stroke: #57606a; stroke-width: 2; fill: none }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#ffffff"/>
"""


def columns(count):
    width = (WIDTH - 2 * LEFT - GAP * (count - 1)) / count
    return [(LEFT + i * (width + GAP), width) for i in range(count)]


def box(place, title, lines, colours):
    x, y, width = place
    fill, stroke = colours.split()
    middle = x + width / 2
    text = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{BOX}" rx="8" fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>',
            f'<text x="{middle:g}" y="{y + 22:g}" class="t">{title}</text>']
    step = 19 if len(lines) == 1 else 16
    text += [f'<text x="{middle:g}" y="{y + 24 + step * (i + 1):g}" class="{kind}">{line}</text>' for i, (kind, line) in enumerate(lines)]
    return text


def arrow(source, target, share=0.5):
    """Straight down where one is above the other; `share`: where it begins between boxes of the same width."""
    beside = not (source[0] < target[0] + target[2] and target[0] < source[0] + source[2])
    inside = target if target[2] < source[2] else source
    begin = inside[0] + share * inside[2]
    end = target[0] + (1 - share) * target[2] if beside else begin
    return f'<path d="M{begin:g} {source[1] + BOX} L{end:g} {target[1] - 2:g}" class="a" marker-end="url(#m)"/>'


def picture():
    """Rows from the top: what stands on the API, the API, the layers, the plug-ins."""
    levels, places = [], {}
    for chains in groups(LIBRARY, BELOW):
        for i in range(max(map(len, chains))):
            levels.append([(chains.index(chain), len(chains), chain[i]) for chain in chains if i < len(chain)])
    rows = len(levels) + 3
    tops = [14 + ROW * i for i in range(rows)]
    out = []
    for (x, width), layer in zip(columns(len(ABOVE)), ABOVE):
        places[layer] = (x, tops[0], width)
        out += box(places[layer], f"src/{layer}", [("l", CONTENT[layer])], "#fff8c5 #d4a72c")
    api = (LEFT, tops[1], WIDTH - 2 * LEFT)
    out += box(api, "include/lode", [("l", "the public interface: one header for each noun; every layer may use its types")], "#fbefff #c297ff")
    for number, level in enumerate(levels):
        for index, count, layer in level:
            x, width = columns(count)[index]
            places[layer] = (x, tops[1 + len(levels) - number], width)
            out += box(places[layer], f"src/{layer}", [("l", CONTENT[layer])], COLOURS[min(number, len(COLOURS) - 1)])
    for (x, width), (layer, interface) in zip(columns(len(OF_PLUGINS)), OF_PLUGINS.items()):
        out += box((x, tops[-1], width), f"src/{layer}", [("l", CONTENT[layer]), ("s", interface.split("/")[0] + ": " + interface.split("/")[-1])], "#ffffff #8c959f")
    out += [arrow(places[layer], api) for layer in ABOVE]
    used = set().union(*(BELOW[layer] for layer in LIBRARY))
    out += [arrow(api, places[layer]) for layer in LIBRARY if layer not in used]
    out += [arrow(places[layer], places[other], (i + 1) / (len(directly(layer)) + 1))
            for layer in LIBRARY for i, other in enumerate(directly(layer))]
    return HEAD.format(width=WIDTH, height=tops[-1] + BOX + 14) + "\n".join(out) + "\n</svg>\n"


def decisions(tap):
    pages = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
    numbers = Counter(name[:4] for name in pages)
    tap.check(max(numbers.values()) == 1, f"{len(pages)} decisions have numbers of their own", [n for n in numbers if numbers[n] > 1])
    listed = re.findall(r"^\| \[(\d{4})\]\((\S+\.md)\)", (DECISIONS / "README.md").read_text(encoding="utf-8"), re.M)
    tap.check(sorted(name for _, name in listed) == pages and all(name.startswith(number) for number, name in listed),
              "doc/decisions/README.md lists each once, by its number", sorted({name for _, name in listed} ^ set(pages)))


def self_test(tap):
    below = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b", "c"}, "e": {"a", "b", "c"}, "f": {"a", "b", "c", "e"}}
    found = [braced(chains) for chains in groups(list(below), below)]
    tap.check(found == ["a", "{b, c}", "{d, e <- f}"], "self-test: a line of layers", found)
    try:
        groups(list(below), {**below, "e": {"a", "b"}})
        tap.check(False, "self-test: an order that a line cannot show is noticed")
    except SystemExit:
        tap.check(True, "self-test: an order that a line cannot show is noticed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    head, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    middle, end, tail = rest.partition(END)
    if not end:
        raise SystemExit(f"{DOCUMENT}: no part between {BEGIN.strip()} and {END.strip()}")
    if options.write:
        DOCUMENT.write_text(head + begin + section() + end + tail, encoding="utf-8")
        PICTURE.write_text(picture(), encoding="utf-8")
        return 0
    tap = Tap()
    self_test(tap)
    tap.check(set(CONTENT) == set(BELOW), "every layer says what it has", sorted(set(CONTENT) ^ set(BELOW)))
    tap.check(middle == section(), "doc/architecture.md has the layers of tests/lint/layering.py (--write refreshes it)")
    tap.check(PICTURE.read_text(encoding="utf-8") == picture(), "doc/images/layers.svg, too")
    decisions(tap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
