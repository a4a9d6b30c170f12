#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What a build of Lode consists of and links with, with licences: spdx.py BUILD [-o FILE]

Writes an SPDX 2.3 document (JSON). Libraries and their versions are those of `meson introspect --dependencies BUILD`; packages in the page of
`lode view` are those of web/package-lock.json that are no tools. LIBRARIES has their licences: a library that is not in it is an error.
SOURCE_DATE_EPOCH is the time of the document, if it is set.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# What Lode is made of: {component: (file in the build folder, what it is)}. The static program has view and tui in it.
COMPONENTS = {
    "lode": ("src/cli/lode", "the program"),
    "liblode": ("src/liblode.so", "the library"),
    "lode-symbols": ("src/symbols/lode-symbols", "names and lines of binaries, a process of its own"),
    "lode-view": ("src/view/lode-view.so", "plug-in that serves lode view"),
    "lode-tui": ("src/tui/lode-tui.so", "plug-in for lode tui"),
    "lode-postgresql": ("src/postgresql/lode-postgresql.so", "plug-in for catalogues of runs on a server"),
    "lode-mpi-openmpi": ("src/mpi/lode-mpi-openmpi.so", "plug-in for Open MPI"),
    "lode-mpi-mpich": ("src/mpi/lode-mpi-mpich.so", "plug-in for MPICH"),
    "lode-sqlite": ("src/sql/lode_sqlite.so", "extension for SQLite"),
    "lode-python": ("bindings/python/lode/_lode.abi3.so", "the Python package"),
}
OWN_LICENCE = "BSD-3-Clause"


class Library(NamedTuple):
    """
    dependencies: names of Meson, the first of which has the version; none for what every build has, or another library brings.
    sonames: shared libraries without their version. licence: an SPDX expression, as `source`, a file of the library's sources, says.
    users: components that use it. how: an SPDX relationship of these.
    """
    dependencies: tuple
    sonames: tuple
    licence: str
    source: str
    url: str
    users: tuple
    how: str = "DYNAMIC_LINK"
    brought_by: str = ""


EVERYTHING = tuple(COMPONENTS)
LIBRARIES = {
    "expat": Library(("expat",), ("libexpat",), "MIT", "COPYING", "https://libexpat.github.io", ("liblode",)),
    "zlib": Library(("zlib",), ("libz",), "Zlib", "zlib.h", "https://zlib.net", ("lode", "liblode", "lode-symbols")),
    "lz4": Library(("liblz4",), ("liblz4",), "BSD-2-Clause", "lib/LICENSE", "https://lz4.org", ("liblode",)),
    # It also permits binaries without the text of the licence, which needs no mention here.
    "pcre2": Library(("libpcre2-8",), ("libpcre2-8",), "BSD-3-Clause", "LICENCE", "https://www.pcre.org", ("liblode",)),
    "libdeflate": Library(("libdeflate",), ("libdeflate",), "MIT", "COPYING", "https://github.com/ebiggers/libdeflate", ("liblode",)),
    "zstd": Library(("libzstd",), ("libzstd",), "BSD-3-Clause OR GPL-2.0-only", "LICENSE and COPYING", "https://facebook.github.io/zstd", ("liblode", "lode-symbols")),
    "xz": Library(("liblzma",), ("liblzma",), "LicenseRef-xz-public-domain", "COPYING, of liblzma", "https://tukaani.org/xz", ("liblode", "lode-symbols")),
    "sqlite": Library(("sqlite3",), ("libsqlite3",), "blessing", "sqlite3.h", "https://sqlite.org", ("lode", "liblode", "lode-python")),
    "otf2": Library(("otf2",), ("libopen-trace-format2",), "BSD-3-Clause", "COPYING", "https://www.vi-hps.org/projects/score-p", ("liblode",)),
    "elfutils": Library(("libdw", "libelf"), ("libdw", "libelf"), "GPL-2.0-or-later OR LGPL-3.0-or-later", "CONTRIBUTING, of libraries",
                        "https://sourceware.org/elfutils", ("lode-symbols",)),
    "bzip2": Library((), ("libbz2",), "bzip2-1.0.6", "LICENSE", "https://sourceware.org/bzip2", ("lode-symbols",), brought_by="elfutils"),
    "libmicrohttpd": Library(("libmicrohttpd",), ("libmicrohttpd",), "LGPL-2.1-or-later", "COPYING", "https://www.gnu.org/software/libmicrohttpd",
                             ("lode-view",)),
    "ncurses": Library(("ncursesw",), ("libncursesw", "libtinfo"), "X11-distribute-modifications-variant", "COPYING",
                       "https://invisible-island.net/ncurses", ("lode-tui",)),
    "libpq": Library(("libpq",), ("libpq",), "PostgreSQL", "COPYRIGHT", "https://www.postgresql.org", ("lode-postgresql",)),
    "openmpi": Library(("ompi-c",), ("libmpi",), "BSD-3-Clause-Open-MPI", "LICENSE", "https://www.open-mpi.org", ("lode-mpi-openmpi",)),
    "mpich": Library(("mpich",), ("libmpich",), "mpich2", "COPYRIGHT", "https://www.mpich.org", ("lode-mpi-mpich",)),
    "hwloc": Library((), ("libhwloc",), "BSD-3-Clause", "COPYING", "https://www.open-mpi.org/projects/hwloc", ("lode-mpi-mpich",), brought_by="mpich"),
    "ucx": Library((), ("libucp", "libucs"), "BSD-3-Clause", "LICENSE", "https://openucx.org", ("lode-mpi-mpich",), brought_by="mpich"),
    "python": Library(("python",), (), "Python-2.0.1", "LICENSE", "https://www.python.org", ("lode-python",), "HAS_PREREQUISITE"),
    "glibc": Library((), ("libc", "libm", "libdl", "libpthread", "librt", "libresolv", "ld-linux-x86-64", "ld-linux-aarch64"),
                     "LGPL-2.1-or-later", "LICENSES", "https://www.gnu.org/software/libc", EVERYTHING),
    "gcc": Library((), ("libstdc++", "libgcc_s"), "GPL-3.0-or-later WITH GCC-exception-3.1", "COPYING3 and COPYING.RUNTIME", "https://gcc.gnu.org",
                   ("liblode",)),
    # The shell of lode sql loads it, if it is there.
    "libedit": Library((), ("libedit",), "BSD-3-Clause", "COPYING", "https://thrysoee.dk/editline", ("lode",), "OPTIONAL_DEPENDENCY_OF"),
    # Characters in pictures: src/cli/draw/font_data.h.
    "dejavu-sans": Library((), (), "Bitstream-Vera", "LICENSE", "https://dejavu-fonts.github.io", ("lode",), "CONTAINS"),
    "cmocka": Library(("cmocka",), ("libcmocka",), "Apache-2.0", "COPYING", "https://cmocka.org", ("liblode",), "TEST_DEPENDENCY_OF"),
    "libcbor": Library(("libcbor",), ("libcbor",), "MIT", "LICENSE.md", "https://github.com/PJK/libcbor", ("liblode",), "TEST_DEPENDENCY_OF"),
}
# Of Meson, for glibc.
NO_LIBRARY = {"threads"}
# Licences that SPDX has no id for.
OTHER_LICENCES = {
    "LicenseRef-xz-public-domain": "liblzma is in the public domain.",
}


def introspect(build, what):
    done = subprocess.run(["meson", "introspect", what, build], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def system_version(name):
    """The version of what Meson does not ask for, on the machine that builds; None if that cannot be known."""
    if name == "glibc":
        return os.confstr("CS_GNU_LIBC_VERSION").split()[1]
    if name == "gcc":
        return subprocess.run(["gcc", "-dumpfullversion"], stdout=subprocess.PIPE, encoding="ascii", check=True).stdout.strip()
    return None


def used_libraries(dependencies):
    """{name: version or None} of the libraries of a build."""
    # Meson says python-3.11.
    versions = {re.sub(r"^python-.*", "python", entry["name"]): entry["version"] for entry in dependencies if entry["name"] not in NO_LIBRARY}
    unknown = versions.keys() - {known for library in LIBRARIES.values() for known in library.dependencies}
    if unknown:
        raise ValueError(f"not in the table of libraries: {', '.join(sorted(unknown))}")
    used = {}
    for name, library in LIBRARIES.items():
        own = [versions[known] for known in library.dependencies if known in versions]
        if own:
            used[name] = own[0]
        elif not library.dependencies and (not library.brought_by or library.brought_by in used):
            used[name] = system_version(name)
    return used


def page_packages():
    """{name: (version, licence)} of the npm packages that are in the page of lode view."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    prefix = "node_modules/"
    return {path[len(prefix):]: (entry["version"], entry["license"]) for path, entry in lock["packages"].items()
            if path.startswith(prefix) and not entry.get("dev")}


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name).strip("-")


def package(name, version, licence, url, comment, purl=None):
    entry = {"SPDXID": spdx_id(name), "name": name, "downloadLocation": url, "filesAnalyzed": False, "licenseConcluded": licence,
             "licenseDeclared": licence, "copyrightText": "NOASSERTION", "comment": comment}
    if version:
        entry["versionInfo"] = version
    if purl:
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def relate(first, how, second):
    """A relationship of a component and what it uses; those that end with OF are read from the other side."""
    if how.endswith("_OF"):
        first, second = second, first
    return {"spdxElementId": first, "relationshipType": how, "relatedSpdxElement": second}


def built_components(targets):
    """The components that a build has."""
    # liblode.so.1.2.3, or liblode.a.
    files = {re.sub(r"\.(so\.[0-9.]+|a)$", ".so", os.path.basename(name)) for target in targets if target["installed"] for name in target["filename"]}
    return [name for name, (file, _) in COMPONENTS.items() if os.path.basename(file) in files]


def document(build):
    version = introspect(build, "--projectinfo")["version"]
    is_static = any(option["name"] == "default_library" and option["value"] == "static" for option in introspect(build, "--buildoptions"))
    used = used_libraries(introspect(build, "--dependencies"))
    components = built_components(introspect(build, "--targets"))
    packages = [package(name, version, OWN_LICENCE, "NOASSERTION", COMPONENTS[name][1]) for name in components]
    relationships = [relate("SPDXRef-DOCUMENT", "DESCRIBES", spdx_id(name)) for name in components]
    for name, found in used.items():
        library = LIBRARIES[name]
        # A plug-in that a static build does not have is in the program.
        users = [user for user in library.users if user in components] or (["lode"] if is_static else [])
        if users:
            packages.append(package(name, found, library.licence, library.url, f"licence: {library.source}"))
            how = "STATIC_LINK" if is_static and library.how == "DYNAMIC_LINK" else library.how
            relationships += [relate(spdx_id(user), how, spdx_id(name)) for user in users]
    if "libmicrohttpd" in used:
        for name, (found, licence) in page_packages().items():
            packages.append(package(name, found, licence, "NOASSERTION", "in the page of lode view; licence: package-lock.json",
                                    f"pkg:npm/{name.replace('@', '%40')}@{found}"))
            relationships.append(relate(spdx_id("lode"), "CONTAINS", spdx_id(name)))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())))
    content = json.dumps([packages, relationships, created])
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"lode-{version}",
        # Each document has a name of its own: that of its content.
        "documentNamespace": f"https://spdx.org/spdxdocs/lode-{version}-{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "creationInfo": {"created": created, "creators": ["Tool: packaging/spdx.py"]},
        "packages": packages,
        "hasExtractedLicensingInfos": [{"licenseId": name, "extractedText": text} for name, text in OTHER_LICENCES.items()
                                       if any(name in entry["licenseConcluded"] for entry in packages)],
        "relationships": relationships,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder")
    parser.add_argument("-o", "--output", help="standard output without")
    options = parser.parse_args()
    try:
        text = json.dumps(document(options.build), indent=1) + "\n"
    except ValueError as error:
        sys.exit(f"spdx.py: {error}")
    if options.output:
        Path(options.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
