#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The manual as HTML pages: build.py OUTPUT --lode PROGRAM [--cmark PROGRAM]

Pages are the documents of this project, those that they link to, and the help of every command. The folder has the layout of the sources,
with README.md as index.html, so that links stay as they are but for their suffix. Files that a page links to are copied. A folder OUTPUT that
exists is replaced only if it was made by this script.
"""

import argparse
import html
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).resolve().parents[2]
# The list of pages, in this order; a page is in the first group that has it.
GROUPS = [
    ("Manual", ["README.md", "doc/tutorial.md", "doc/*.md", "doc/schemas/*.md", "examples/README.md"]),
    ("Commands", []),
    ("Formats", ["doc/formats/*.md"]),
    ("Project", ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/README.md"]),
    ("Decisions", ["doc/decisions/README.md", "doc/decisions/*.md"]),
]
OTHERS = "Project"
FOLDED = {"Decisions"}
STYLE = "style.css"
SHELL = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<nav aria-label="Pages">
{pages}
</nav>
<main>
{body}
</main>
</body>
</html>
"""


class Page:
    """A page of the manual: where it is in OUTPUT, its title, and its body, whose links are those of the source."""

    def __init__(self, path, title, body):
        self.path, self.title, self.body = path, title, body


def page_path(source):
    """Where the page of a document is."""
    path = PurePosixPath(source)
    return str(path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html"))


def anchor(title):
    """The anchor of a heading, as GitHub makes it."""
    text = html.unescape(re.sub(r"<[^>]*>", "", title)).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def with_anchors(body):
    seen = Counter()

    def heading(match):
        name = anchor(match[2])
        count = seen[name]
        seen[name] += 1
        return f'<h{match[1]} id="{name}{f"-{count}" if count else ""}">{match[2]}</h{match[1]}>'
    return re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.DOTALL)


def render(source, cmark):
    """The page of a Markdown file."""
    done = subprocess.run([cmark, "--unsafe", "-e", "table", ROOT / source], capture_output=True, check=True, encoding="utf-8")
    body = with_anchors(done.stdout)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    return Page(page_path(source), re.sub(r"<[^>]*>", "", title[1]) if title else source, body)


def links(source, body):
    """(attribute, link, path from the root of the sources, anchor) of all links to files of a page."""
    for attribute, link in re.findall(r'\b(href|src|srcset)="([^"]*)"', body):
        path, _, fragment = link.partition("#")
        if path and not re.match(r"[a-z]+:", path):
            yield attribute, link, normpath(str(PurePosixPath(source).parent / path)), fragment


def documents(cmark):
    """{source: page}: the documents of GROUPS, and those that they link to."""
    pages = {}
    waiting = [str(path.relative_to(ROOT)) for _, patterns in GROUPS for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    while waiting:
        source = waiting.pop(0)
        if source not in pages:
            pages[source] = render(source, cmark)
            waiting += [path for _, _, path, _ in links(source, pages[source].body) if path.endswith(".md") and (ROOT / path).is_file()]
    return pages


def help_pages(lode):
    """{source of the help text: page}: what `lode help` prints, which is the same as in the manual pages."""
    def printed(*arguments):
        return subprocess.run([lode, "help", *arguments], capture_output=True, check=True, encoding="utf-8").stdout
    overview = printed()
    commands = [name for name in re.findall(r"^  ([a-z]+) ", overview, re.MULTILINE) if (ROOT / "src" / "cli" / "help" / f"{name}.txt").is_file()]
    pages = {}
    for name, text in [("lode", overview), *((name, printed(name)) for name in commands)]:
        title = "lode" if name == "lode" else f"lode {name}"
        body = html.escape(text, quote=False)
        body = re.sub(rf"\blode help ({'|'.join(commands)})\b", r'<a href="\1.txt">\g<0></a>', body)
        body = re.sub(r"\bdoc/[a-z_-]+\.md\b", r'<a href="../../../\g<0>">\g<0></a>', body)
        if name == "lode":
            body = re.sub(r"^  ([a-z]+)(?=  )", r'  <a href="\1.txt">\1</a>', body, flags=re.MULTILINE)
        source = f"src/cli/help/{name}.txt"
        pages[source] = Page(f"help/{name}.html", title, f'<h1>{title}</h1>\n<pre class="help">{body}</pre>')
    return pages


def linked(source, pages, files, broken):
    """The body of a page, with links to pages and to `files`, which are copied. What leads nowhere is added to `broken`."""
    page = pages[source]
    body = page.body
    for attribute, link, path, fragment in set(links(source, body)):
        target = path if path in pages else f"{path}/README.md"
        if target in pages:
            new = relpath(pages[target].path, str(PurePosixPath(page.path).parent)) + (f"#{fragment}" if fragment else "")
        elif (ROOT / path).is_file():
            files.add(path)
            new = relpath(path, str(PurePosixPath(page.path).parent))
        elif (ROOT / path).is_dir():
            # A folder of sources is no page.
            body = re.sub(rf'<a href="{re.escape(link)}">(.*?)</a>', r"\1", body, flags=re.DOTALL)
            continue
        else:
            broken.append(f"{source}: '{link}' leads nowhere")
            continue
        # A new link is no link of the source: none is replaced twice.
        body = body.replace(f'{attribute}="{link}"', f'{attribute}="\0{new}"')
    return body.replace("\0", "")


def groups(pages):
    """[(name, sources)]: all pages once."""
    left, found = dict.fromkeys(pages), {}
    for name, patterns in GROUPS:
        chosen = [source for pattern in patterns for source in left if PurePosixPath(source).match(pattern)
                  and source.count("/") == pattern.count("/")]
        if name == "Commands":
            chosen = [source for source in left if source.startswith("src/cli/help/")]
        found[name] = list(dict.fromkeys(chosen))
        for source in found[name]:
            del left[source]
    found[OTHERS] += left
    return list(found.items())


def page_list(current, pages, grouped):
    lines = []
    for name, sources in grouped:
        is_folded = name in FOLDED and current not in sources
        lines.append(f"<details{'' if is_folded else ' open'}><summary>{name}</summary><ul>")
        for source in sources:
            target = relpath(pages[source].path, str(PurePosixPath(pages[current].path).parent))
            mark = ' aria-current="page"' if source == current else ""
            lines.append(f'<li><a href="{target}"{mark}>{pages[source].title}</a></li>')
        lines.append("</ul></details>")
    return "\n".join(lines)


def write(output, pages):
    if output.exists() and any(output.iterdir()):
        if not (output / STYLE).is_file() or not (output / "index.html").is_file():
            sys.exit(f"{output} exists, and is no manual")
        shutil.rmtree(output)
    files, broken, grouped = set(), [], groups(pages)
    bodies = {source: linked(source, pages, files, broken) for source in pages}
    if broken:
        sys.exit("\n".join(sorted(broken)))
    for source, page in pages.items():
        path = output / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SHELL.format(title=page.title if page.title.startswith("Lode") else f"{page.title} - Lode", body=bodies[source],
                                     style=relpath(STYLE, str(PurePosixPath(page.path).parent)), pages=page_list(source, pages, grouped)),
                        encoding="utf-8")
    for name in sorted(files):
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, output / name)
    shutil.copyfile(Path(__file__).with_name(STYLE), output / STYLE)
    return len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--lode", required=True, help="the program, whose help becomes pages")
    parser.add_argument("--cmark", default="cmark-gfm", help="what renders Markdown")
    options = parser.parse_args()
    pages = {**documents(options.cmark), **help_pages(options.lode)}
    count = write(options.output, pages)
    print(f"{len(pages)} pages and {count} files: {options.output / 'index.html'}")


if __name__ == "__main__":
    main()
