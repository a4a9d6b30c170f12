#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Pictures of timelines: the cells of the SVG file are those of `lode trace --merge --json`, the pixels of the PNG file those of the SVG file, for
databases and recordings; text is escaped; files are atomic. PNG is read here with nothing but zlib.
"""

import argparse
import json
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
from tap import Tap  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
HUES = (0x56b4e9, 0xd55e00, 0xcc79a7, 0xf0e442, 0x009e73, 0xe69f00, 0x0072b2, 0x8c8c8c)
IDLE, IDLE_COLOURS, WHITE, LEVELS = "idle", {0xf0f0f0, 0xc8c8c8}, 0xffffff, 8


def run(lode, *words):
    return subprocess.run([lode, *map(str, words)], capture_output=True, text=True, timeout=300)


def read_png(path):
    """Width, height, and rows of colours. Checks every checksum."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body), kind
        assert kind not in chunks
        chunks[kind] = body
        at += size + 12
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 3, 0, 0, 0], rest
    palette = [int.from_bytes(chunks[b"PLTE"][i:i + 3], "big") for i in range(0, len(chunks[b"PLTE"]), 3)]
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == (width + 1) * height and not any(raw[::width + 1])
    return width, height, [[palette[i] for i in raw[y * (width + 1) + 1:(y + 1) * (width + 1)]] for y in range(height)]


def read_svg(path):
    """The place of the plot, its width, the height of rows, and {(row's y, x): colour}."""
    root = ElementTree.parse(path).getroot()
    cells, tall = {}, 1
    axis = next(re.match(r"M(\d+) (\d+)\.5h(\d+)$", p.get("d")) for p in root.findall(f"{SVG}path") if "h" in p.get("d") and p.get("stroke") == "#d0d7de")
    for element in root.find(f"{SVG}g").findall(f"{SVG}path"):
        fill = element.get("fill")
        colour = IDLE if fill == "url(#idle)" else int(fill[1:], 16)
        for x, y, width, tall, back in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", element.get("d")):
            assert width == back
            for i in range(int(x), int(x) + int(width)):
                assert (int(y), i) not in cells
                cells[int(y), i] = colour
    return root, int(axis[1]), int(axis[2]), int(axis[3]), int(tall), cells


def hues_of(answer):
    """The colour of each key: functions that run have hues in the order of their shares, those of the kind "idle" have none."""
    found, used = {1: IDLE}, 0
    for key, row in enumerate((row for row in answer["rows"] if row["letter"] != "."), 2):
        found[key] = IDLE if row["kind"] == "idle" else HUES[min(used, 7)]
        used += row["kind"] != "idle"
    return found


def expected(key, fill, hues):
    """The colour of a cell."""
    hue, level = hues.get(key, HUES[7]), fill * (LEVELS - 1) // 255 + 3
    if hue == IDLE:
        return IDLE
    return sum(((255 * (LEVELS + 2 - level) + (hue >> shift & 255) * level) // (LEVELS + 2)) << shift for shift in (0, 8, 16))


def check_store(tap, lode, name, store, folder, options=(), height=None):
    """Without a time window, so that colours follow the shares that the JSON has."""
    svg, png = folder / "t.svg", folder / "t.png"
    size = ["--height", height] if height else []
    for path in (svg, png):
        done = run(lode, "trace", store, *options, *size, "-f", "-o", path)
        if done.returncode or done.stderr or done.stdout:
            tap.check(False, f"{name}: a picture is written", [done.stderr])
            return
    root, left, bottom, columns, tall, cells = read_svg(svg)
    answer = json.loads(run(lode, "trace", store, *options, "--merge", "--json", "--limit", 0, "--rows", 0, "--columns", columns).stdout)
    lines = [line for line in answer["timeline"] if "profile" not in line or any(bytes.fromhex(line["keys"])) or line["name"]]
    width, height, pixels = read_png(png)
    tops = sorted({y for y, _ in cells})
    step = min((b - a for a, b in zip(tops, tops[1:])), default=0)
    tap.check((str(width), str(height)) == (root.get("width"), root.get("height")), f"{name}: both have one size")
    wrong = [(x, y) for (y, x), colour in cells.items() for below in range(tall)
             if not (pixels[y + below][x] in IDLE_COLOURS if colour == IDLE else pixels[y + below][x] == colour)]
    wrong += [(x, y) for y in tops for x in range(left, left + columns) if (y, x) not in cells and pixels[y][x] != WHITE]
    tap.check(not wrong, f"{name}: {len(cells)} cells of the SVG file are pixels of the PNG file", wrong[:5])
    drawn = [[cells.get((y, x)) for x in range(left, left + columns)] for y in tops]
    if not size:
        hues = hues_of(answer)
        rows = [[expected(key, fill, hues) if key else None for key, fill in zip(bytes.fromhex(line["keys"]), bytes.fromhex(line["fills"]))] for line in lines]
        tap.check([row for row in drawn if any(row)] == [row for row in rows if any(row)], f"{name}: {len(drawn)} rows are those of --merge --json",
                  [f"{len(drawn)} rows, {len(rows)} in JSON; step {step}, bottom {bottom}"])


def check_merged(tap, lode, store, folder):
    """More lines than pixel rows."""
    svg = folder / "m.svg"
    run(lode, "trace", store, "-f", "-o", svg, "--height", 240, "--width", 500)
    _, left, bottom, columns, tall, cells = read_svg(svg)
    rows = sorted({y for y, _ in cells})
    profiles = [row["profile"] for row in json.loads(run(lode, "trace", store, "--json", "--rows", 0, "--limit", 0).stdout)["timeline"]]
    chosen = "+".join(map(str, profiles))
    answer = json.loads(run(lode, "trace", store, "--merge", "--json", "--limit", 0, "--rows", len(rows), "--columns", columns,
                            "--profiles", f"profile={chosen}").stdout)
    hues = hues_of(answer)
    wanted = [[expected(k, f, hues) if k else None for k, f in zip(bytes.fromhex(r["keys"]), bytes.fromhex(r["fills"]))] for r in answer["timeline"]]
    found = [[cells.get((y, x)) for x in range(left, left + columns)] for y in rows]
    tap.check(len(rows) < len(profiles) and found == wanted, f"{len(profiles)} lines in {len(rows)} rows are added up", [tall, bottom])


def check_files(tap, lode, store, folder):
    path = folder / "there.svg"
    path.write_text("mine")
    done = run(lode, "trace", store, "-o", path)
    tap.check(done.returncode and "already exists" in done.stderr and path.read_text() == "mine", "a file that is there is not replaced")
    done = run(lode, "trace", store, "-o", path, "--force")
    tap.check(done.returncode == 0 and path.read_text().startswith("<svg"), "--force replaces it")
    done = run(lode, "trace", store, "-o", folder / "t.pdf")
    tap.check(done.returncode and done.stderr.endswith(".svg or .png (see 'lode help trace')\n"), "other names are refused")
    for size in (("--width", 9000), ("--height", 5000)):
        done = run(lode, "trace", store, "-o", folder / "t.svg", "-f", *size)
        tap.check(done.returncode == 2 and "--width must be up to 8192" in done.stderr, f"no picture with {size[0]} {size[1]}")
    done = run(lode, "trace", store, "-o", folder / "no" / "t.svg")
    tap.check(done.returncode and done.stderr.count("\n") == 1, "a folder that is not there is an error")
    done = run(lode, "trace", store, "--width", 10)
    tap.check(done.returncode and "need -o" in done.stderr, "sizes need a picture")
    tap.check(not [p for p in folder.iterdir() if p.name not in ("there.svg", "t.svg", "t.png", "m.svg")], "nothing else is left", list(folder.iterdir()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    lode = parser.parse_args().lode
    tap = Tap()
    corpus = corpora.root()
    databases = corpus / "hpctoolkit" / "final"
    if not databases.is_dir():
        tap.skip("pictures of timelines", "there is no corpus")
        return tap.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_store(tap, lode, "a database", databases / "viewer-issue-233", folder)
        check_store(tap, lode, "functions at depth 3, idle time last", databases / "made-loops-cputime-t-mpi3ranks", folder, ("--depth", 3, "--idle-time", "last"))
        check_store(tap, lode, "a small picture", databases / "viewer-issue-233", folder, ("--depth", 2), 260)
        check_store(tap, lode, "a recording", corpus / "uftrace" / "recorded" / "mt" / "uftrace.data", folder)
        check_merged(tap, lode, databases / "viewer-issue-233", folder)
        check_files(tap, lode, databases / "viewer-issue-233", folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
