# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show: HTML without scripts, SVG, PNG. Names come from files, so all text is escaped."""

from .text import amount, shown

# As `lode flame` has them: colours that people with any colour vision distinguish.
KINDS = {
    "own": ("#56b4e9", "#000", "own code"), "mpi": ("#d55e00", "#000", "MPI"), "threads": ("#cc79a7", "#000", "threads and OpenMP"),
    "memory": ("#f0e442", "#000", "memory"), "io": ("#009e73", "#000", "input and output"), "system": ("#e69f00", "#000", "system libraries"),
    "gpu": ("#0072b2", "#fff", "GPU"), "idle": ("#c8c8c8", "#000", "not running"), None: ("#eeeeee", "#444", "merged"),
}
HUES = (0x56B4E9, 0xD55E00, 0xCC79A7, 0xF0E442, 0x009E73, 0xE69F00, 0x0072B2, 0x999999)
ROW, TOP, CHARACTER = 18, 30, 6.65
PATHS, PATH_WIDTH = ("file", "module", "path", "call_file"), 26


def escape(text):
    """Text between tags or in quotes; what XML forbids becomes a question mark."""
    from html import escape as quote
    return quote(shown(text, 4096))


def caption(title):
    return f'<caption style="text-align:left">{escape(title)}</caption>' if title else ""


def cell_html(name, text, side):
    """A cell; of a long path its end, and all of it as a tooltip."""
    style = f'style="text-align:{side};white-space:nowrap"'
    if name in PATHS and len(text) > PATH_WIDTH:
        return f'<td {style} title="{escape(text)}">…{escape(text[1 - PATH_WIDTH:])}</td>'
    return f"<td {style}>{escape(shown(text, 80))}</td>"


def table_html(table):
    names, are_numbers, rows = table._cells(10)
    sides = ["right" if is_number else "left" for is_number in are_numbers]
    head = "".join(f'<th style="text-align:{side}">{escape(name)}</th>' for name, side in zip(names, sides))
    body = "".join("<tr>" + "".join(map(cell_html, names, row, sides)) + "</tr>" for row in rows)
    title = caption(table.title)
    return (f'<div class="lode"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            f"<div>{escape(table._footing())}</div></div>")


def pairs_html(title, pairs):
    body = "".join(f'<tr><th style="text-align:left">{escape(key)}</th><td style="text-align:left">{escape(value)}</td></tr>'
                   for key, value in pairs)
    return f'<div class="lode"><table>{caption(title)}<tbody>{body}</tbody></table></div>'


def nested_html(title, rows, line, is_open):
    """Nested <details>, which open without a script; `line` makes HTML of a row and of whether it has children here."""
    parts, open_depths = [], []
    for number, row in enumerate(rows):
        while open_depths and open_depths[-1] >= row["depth"]:
            parts.append("</details>")
            open_depths.pop()
        is_parent = number + 1 < len(rows) and rows[number + 1]["depth"] > row["depth"]
        text = line(row, is_parent)
        if is_parent:
            parts.append(f'<details{" open" if is_open(row) else ""} style="margin-left:1.2em"><summary>{text}</summary>')
            open_depths.append(row["depth"])
        else:
            parts.append(f'<div style="margin-left:2.3em">{text}</div>')
    return f'<div class="lode"><div>{escape(title)}</div>{"".join(parts)}{"</details>" * len(open_depths)}</div>'


def tree_html(tree):
    """The hot path is open."""
    def line(row, is_parent):
        return (f'{row["inclusive_percent"]:.1f}% {amount(row["inclusive"], tree.unit)} '
                f'<b>{escape(shown(row["name"] or "", 120))}</b>{" …" if row["folded"] and not is_parent else ""}')
    return nested_html(tree.title, tree.to_dicts(), line, lambda row: row["hot"])


def compared_html(tree):
    """What changed by half of all changes is open."""
    def line(row, _):
        change, name, only = tree._line(row)
        return f"{escape(change)} <b>{escape(shown(name, 120))}</b>{escape(only)}"
    return nested_html(tree.title, tree.to_dicts(), line, lambda row: 2 * row["gross"] >= tree.gross)


class Bar:
    """Progress in a notebook: one output that is written over, and is empty at the end."""

    def __init__(self):
        self._handle = None

    def __call__(self, phase, done, total):
        from IPython.display import HTML, display
        is_done = total and done >= total
        share = f' value="{done}" max="{total}"' if total else ""
        page = HTML("" if is_done else f'<div class="lode">{escape(phase)} <progress{share}></progress> {100 * done / total if total else done:,.0f}'
                    f'{"%" if total else ""}</div>')
        if self._handle is None:
            self._handle = display(page, display_id=True)
        elif self._handle:
            self._handle.update(page)


def flame_svg(flame):
    """One <g> for each box, with its numbers as a tooltip. All styles are attributes: nothing leaks into a page."""
    boxes = flame.boxes.to_dicts()
    levels = [int(box["level"]) for box in boxes]
    first = min(levels, default=0)
    height = TOP + ROW * (max(levels, default=0) - first + 1) + 4
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{flame.width:g}" height="{height}" '
             f'viewBox="0 0 {flame.width:g} {height}" font-family="ui-monospace,monospace" font-size="11">',
             f'<text x="4" y="18" font-size="13" fill="#777">{escape(flame.title)}</text>']
    for box, level in zip(boxes, levels):
        x, width, y = box["x"] * flame.width, box["width"] * flame.width, TOP + ROW * (level - first)
        fill, ink, kind = KINDS.get(box["kind"], KINDS[None])
        name = box["name"] if box["name"] is not None else f'{box["more"]} more'
        share = 100 * box["inclusive"] / flame.total if flame.total else 0
        room = int((width - 8) / CHARACTER)
        parts.append(f'<g><title>{escape(name)}\n{amount(box["inclusive"], flame.unit)}, {share:.2f}%; itself '
                     f'{amount(box["exclusive"], flame.unit)}\n{kind}</title>'
                     f'<rect x="{x:.2f}" y="{y}" width="{width - 1 if width > 3 else width:.2f}" height="{ROW - 1}" fill="{fill}"/>')
        if room >= 3 or 0 < len(name) <= room:
            parts.append(f'<text x="{x + 4:.2f}" y="{y + 13}" fill="{ink}">{escape(shown(name, room))}</text>')
        parts.append("</g>")
    return "".join(parts) + "</svg>"


def interactive_html(svg):
    """The same in a frame of its own, where a click on a box makes it as wide as the picture."""
    script = ("const s=document.querySelector('svg'),w=s.viewBox.baseVal.width,g=[...s.querySelectorAll('g')].map(e=>({e,r:e.querySelector("
              "'rect'),t:e.querySelector('text')})).map(b=>({...b,x:+b.r.getAttribute('x'),w:+b.r.getAttribute('width'),"
              "y:+b.r.getAttribute('y')}));function zoom(c){for(const b of g){const f=w/c.w,x=(b.x-c.x)*f,n=b.w*f,above=b.y<c.y&&b.x<=c.x+.01&&"
              "b.x+b.w>=c.x+c.w-.01;b.e.style.display=above||(x>-.5&&x+n<w+.5&&b.y>=c.y)?'':'none';b.r.setAttribute('x',above?0:x);"
              "b.r.setAttribute('width',above?w:n);if(b.t)b.t.setAttribute('x',(above?0:x)+4)}}g.forEach(b=>b.e.onclick=()=>zoom(b));"
              "s.ondblclick=()=>zoom({x:0,w,y:-1});")
    page = f"<!doctype html><meta charset=utf-8><body style='margin:0'>{svg}<script>{script}</script>"
    from html import escape as quote
    height = int(svg.split('height="', 1)[1].split('"', 1)[0]) + 8
    return f'<iframe sandbox="allow-scripts" style="border:0;width:100%;height:{height}px" srcdoc="{quote(page)}"></iframe>'


def _chunk(kind, data):
    from zlib import crc32
    body = kind + data
    return len(data).to_bytes(4, "big") + body + crc32(body).to_bytes(4, "big")


def palette(timeline):
    """A colour for each key of a cell: the functions with the longest time have colours of their own."""
    colors = [0xFFFFFF] * 256
    colors[1] = 0xE4E4E4
    used = 0
    for key, kind in zip(timeline.shares._raw("key"), timeline.shares._raw("kind")):
        if key < 2 or key >= 255:
            continue
        colors[key] = 0xE4E4E4 if kind == "idle" else HUES[min(used, len(HUES) - 1)]
        used += kind != "idle"
    colors[255] = HUES[-1]
    return colors


def timeline_png(timeline, row_height=None):
    """A picture with a palette, one colour a function."""
    from zlib import compress
    rows, columns = timeline.rows, timeline.columns
    height = row_height or max(1, min(24, 240 // max(rows, 1)))
    lines = (b"\0" + timeline.cells[row * columns:(row + 1) * columns] for row in range(rows))
    data = b"".join(line * height for line in lines)
    header = columns.to_bytes(4, "big") + (rows * height).to_bytes(4, "big") + bytes((8, 3, 0, 0, 0))
    colors = b"".join(color.to_bytes(3, "big") for color in palette(timeline))
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"PLTE", colors) + _chunk(b"IDAT", compress(data)) +
            _chunk(b"IEND", b""))


def timeline_html(timeline):
    from base64 import b64encode
    colors = palette(timeline)
    legend = " ".join(f'<span style="white-space:nowrap;margin-right:1em"><span style="color:#{colors[key]:06x}">■</span> '
                      f'{escape(shown(name or "", 60))} {amount(time, "nanoseconds")}</span>'
                      for key, name, time in list(zip(timeline.shares._raw("key"), timeline.shares._raw("name"),
                                                      timeline.shares._raw("nanoseconds")))[:8])
    picture = b64encode(timeline_png(timeline)).decode()
    names = timeline.names
    lines = f"; {len(names):,} lines, from {names[0]} to {names[-1]}" if len(names) > 1 else "".join(f"; {name}" for name in names)
    return (f'<div class="lode"><div>{escape(timeline.title + lines)}</div><img alt="timeline" src="data:image/png;base64,{picture}"/>'
            f"<div>{legend}</div></div>")
