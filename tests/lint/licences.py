#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
packaging/spdx.py lists what a build links with: licences.py --build FOLDER

The table of the script has every dependency of Meson and every library that the dynamic linker loads for the program; what a plug-in needs is
a relationship of it; and the document has what SPDX 2.3 demands. debian/copyright has the terms of all that Lode contains.
"""

import argparse
import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "packaging")]

import spdx as listing  # noqa: E402
from tap import Tap  # noqa: E402

# Mandatory fields of a document (clause 6 of the specification) and of a package (clause 7).
DOCUMENT = {"spdxVersion": r"SPDX-2\.3", "dataLicense": r"CC0-1\.0", "SPDXID": r"SPDXRef-DOCUMENT", "name": r".+",
            "documentNamespace": r"https?://[^#\s]+"}
PACKAGE = {"name": r".+", "SPDXID": r"SPDXRef-[A-Za-z0-9.-]+", "downloadLocation": r"NOASSERTION|NONE|https?://\S+"}
CREATED = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
CREATOR = r"(Tool|Person|Organization): .+"
RELATIONSHIPS = {"DESCRIBES", "CONTAINS", "DYNAMIC_LINK", "STATIC_LINK", "HAS_PREREQUISITE", "OPTIONAL_DEPENDENCY_OF", "TEST_DEPENDENCY_OF"}
# Sanitizers have libraries of their own, which no release has.
SANITIZER = re.compile(r"lib(asan|ubsan|tsan|clang_rt)")
# Ids of the list of licences and of its exceptions that are used here.
LICENCES = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Open-MPI", "Bitstream-Vera", "GPL-2.0-only", "GPL-2.0-or-later",
            "GPL-3.0-or-later", "LGPL-2.1-or-later", "LGPL-3.0-or-later", "MIT", "Python-2.0.1", "X11-distribute-modifications-variant", "Zlib", "bzip2-1.0.6",
            "blessing", "mpich2", "PostgreSQL"}
EXCEPTIONS = {"GCC-exception-3.1"}
# What Debian calls licences, where that differs.
DEBIAN_NAMES = {"MIT": "Expat"}


def expression_problems(text, extracted):
    """What is wrong with a licence expression without parentheses."""
    found = []
    for part in re.split(r" (?:OR|AND) ", text):
        name, _, exception = part.partition(" WITH ")
        if name not in LICENCES | extracted or exception and exception not in EXCEPTIONS:
            found.append(f"'{part}' is no licence")
    return found


def missing(entry, fields, name):
    return [f"{name}: {field} is {entry.get(field)!r}" for field, pattern in fields.items()
            if not isinstance(entry.get(field), str) or not re.fullmatch(pattern, entry[field])]


def problems(document):
    found = missing(document, DOCUMENT, "document")
    info = document.get("creationInfo", {})
    if not re.fullmatch(CREATED, info.get("created", "")) or not info.get("creators") or not all(re.fullmatch(CREATOR, name) for name in info["creators"]):
        found.append(f"creationInfo is {info}")
    extracted = {entry["licenseId"] for entry in document.get("hasExtractedLicensingInfos", []) if entry.get("extractedText")}
    ids = [document.get("SPDXID")]
    for entry in document.get("packages", []):
        name = entry.get("name", "?")
        found += missing(entry, PACKAGE, name)
        ids.append(entry.get("SPDXID"))
        # Without its files there is nothing to verify.
        if entry.get("filesAnalyzed") is not False:
            found.append(f"{name}: filesAnalyzed is not false")
        found += [f"{name}: {text}" for text in expression_problems(entry.get("licenseConcluded", ""), extracted)]
    found += [f"two elements {name}" for name in set(ids) if ids.count(name) > 1]
    related = set()
    for entry in document.get("relationships", []):
        ends = {entry.get("spdxElementId"), entry.get("relatedSpdxElement")}
        related |= ends
        if entry.get("relationshipType") not in RELATIONSHIPS or not ends <= set(ids):
            found.append(f"relationship {entry}")
    found += [f"{name} is related to nothing" for name in set(ids) - related]
    if not any(entry.get("relationshipType") == "DESCRIBES" for entry in document.get("relationships", [])):
        found.append("the document describes nothing")
    return found


def soname(name):
    """libz.so.1 and ld-linux-x86-64.so.2 without version."""
    return re.sub(r"\.so(\..*)?$", "", name)


def needed(file):
    dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
    return {soname(name) for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)}


def loaded(file):
    """What ldd shows, but for what the kernel provides."""
    shown = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    names = {soname(line.split()[0].rpartition("/")[2]) for line in shown.splitlines() if line.strip()}
    return {name for name in names if not name.startswith("linux-vdso")}


def check_links(tap, build, document):
    """What programs and plug-ins link with, against the document."""
    known = {name: library for library, entry in listing.LIBRARIES.items() for name in entry.sonames}
    own = {"liblode"}
    names = {name for name in loaded(build / "src" / "cli" / "lode") if not SANITIZER.match(name)}
    tap.check(len(names) > 3 and names <= known.keys() | own, f"the table has all {len(names)} libraries of ldd", sorted(names - known.keys() - own))
    said = {(entry["spdxElementId"], entry["relatedSpdxElement"]) for entry in document["relationships"]}
    for name, (path, _) in listing.COMPONENTS.items():
        file = build / path
        if listing.spdx_id(name) not in {entry["SPDXID"] for entry in document["packages"]}:
            continue
        if not file.exists():
            tap.skip(f"{name} has what it needs", "it is not built")
            continue
        lacks = [library for library in needed(file) - own if not SANITIZER.match(library)
                 and (listing.spdx_id(name), listing.spdx_id(known.get(library, "?"))) not in said]
        tap.check(not lacks, f"{name} has what it needs", sorted(lacks))


def contained():
    """{name: licence} of what others made and Lode has inside."""
    own = {name: library.licence for name, library in listing.LIBRARIES.items() if library.how == "CONTAINS"}
    return {**own, **{name: licence for name, (_, licence) in listing.page_packages().items()}}


def copyright_problems(text, parts):
    """What debian/copyright lacks: a paragraph of files for each part, which its comment names, and the text of each licence."""
    paragraphs = [dict(re.findall(r"^([A-Za-z-]+): *((?:.*(?:\n[ \t].*)*))", part, re.MULTILINE)) for part in text.split("\n\n")]
    texts = {p["License"].partition("\n")[0] for p in paragraphs if "Files" not in p and "\n" in p.get("License", "")}
    files = [p for p in paragraphs if "Files" in p]
    found = [f"the text of {name} is missing" for p in files for name in p["License"].split(" and ") if name not in texts]
    for name, licence in parts.items():
        named = [p for p in files if name in re.split(r"[\s,:]+", p.get("Comment", ""))]
        if not any(DEBIAN_NAMES.get(licence, licence) in p["License"].split(" and ") for p in named):
            found.append(f"{name} is missing, or not under {licence}")
    return found


def check_copyright(tap):
    text, parts = (ROOT / "debian" / "copyright").read_text(encoding="utf-8"), contained()
    found = copyright_problems(text, parts)
    tap.check(len(parts) > 1 and not found, f"debian/copyright has the terms of {', '.join(sorted(parts))}", found)
    tap.check(copyright_problems(text, {**parts, "other": "MIT"}), "self-test: a part that it does not name is found")
    tap.check(copyright_problems(text, dict.fromkeys(parts, "Zlib")), "self-test: another licence is found")
    tap.check(copyright_problems(text.replace("\nLicense: Bitstream-Vera\n Permission", "\nLicense: Other\n Permission"), parts),
              "self-test: a licence without its text is found")


def self_test(tap, document):
    def spoil(name, change):
        spoilt = copy.deepcopy(document)
        change(spoilt)
        tap.check(problems(spoilt), f"self-test: {name} is found")

    first = document["packages"][0]["SPDXID"]
    spoil("another version of SPDX", lambda d: d.update(spdxVersion="SPDX-2.2"))
    spoil("a namespace that is no URI", lambda d: d.update(documentNamespace="lode"))
    spoil("a document without its time", lambda d: d["creationInfo"].pop("created"))
    spoil("a document of nobody", lambda d: d["creationInfo"].update(creators=[]))
    spoil("a package without its location", lambda d: d["packages"][0].pop("downloadLocation"))
    spoil("an unknown licence", lambda d: d["packages"][0].update(licenseConcluded="MIT OR Free"))
    spoil("a licence without its text", lambda d: d["packages"][0].update(licenseConcluded="LicenseRef-mine"))
    spoil("two packages of one id", lambda d: d["packages"].append(d["packages"][0]))
    spoil("a relationship of nothing", lambda d: d["relationships"].append(listing.relate(first, "CONTAINS", "SPDXRef-nothing")))
    spoil("an unknown relationship", lambda d: d["relationships"].append(listing.relate(first, "LIKES", first)))
    spoil("a package that nothing uses", lambda d: d["packages"].append({**d["packages"][0], "SPDXID": "SPDXRef-alone"}))
    try:
        listing.used_libraries([{"name": "libnew", "version": "1"}])
        tap.check(False, "self-test: a library that is not in the table is an error")
    except ValueError as error:
        tap.check("libnew" in str(error), "self-test: a library that is not in the table is an error", [error])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    options = parser.parse_args()
    tap = Tap()
    done = subprocess.run([sys.executable, ROOT / "packaging" / "spdx.py", options.build], capture_output=True, text=True, check=False,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    if not tap.check(done.returncode == 0, "every dependency of Meson is in the table", done.stderr.splitlines()):
        return tap.finish()
    document = json.loads(done.stdout)
    found = problems(document)
    tap.check(not found, "the document has what SPDX 2.3 demands", found)
    tap.check(document["creationInfo"]["created"] == "2023-11-14T22:13:20Z", "SOURCE_DATE_EPOCH is its time")
    tap.check(len(document["packages"]) > 10, f"{len(document['packages'])} packages are listed")
    shipped = set(re.search(r"^SHIPPED = \[(.*)\]", (ROOT / "web" / "build.py").read_text(encoding="utf-8"), re.MULTILINE)[1].replace("'", "").split(", "))
    tap.check(shipped == set(listing.page_packages()), "packages of the page are those whose terms it has", [sorted(shipped ^ set(listing.page_packages()))])
    check_links(tap, options.build, document)
    check_copyright(tap)
    self_test(tap, document)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
