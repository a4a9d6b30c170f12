#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The descriptions of packages are valid, as far as can be seen without the tools that they are for, and name the version of the project."""

import ast
import re
import subprocess
import sys
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from make_map import project_version  # noqa: E402
from tap import Tap  # noqa: E402

MESONS_OWN = {"b_pie", "c_args", "c_link_args", "default_library", "pkgconfig.relocatable", "prefer_static"}
SCRIPTS = ("packaging/tarball.sh", "packaging/conda/build.sh", "debian/tests/program", "debian/tests/documents", "debian/tests/library",
           "debian/tests/mpi", ".ci/debian.sh", ".ci/tarball.sh", ".ci/roots.sh", ".ci/defaults.sh", ".ci/reproducible.sh", ".ci/install.sh")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def spack(tap):
    tree = ast.parse(read("packaging/spack/package.py"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    tap.check(classes == ["Lode"], "packaging/spack/package.py is Python, and has the class that Spack looks for", classes)


def conda(tap, version):
    if yaml is None:
        tap.skip("packaging/conda/meta.yaml", "there is no PyYAML")
        return
    recipe = yaml.safe_load(read("packaging/conda/meta.yaml"))
    tap.check(recipe["package"] == {"name": "lode", "version": version}, "packaging/conda/meta.yaml is YAML, and has the version",
              [recipe["package"]])


def options(text):
    return set(re.findall(r"-D([a-z_.]+)=", text))


def documents(tap):
    """Documents that texts of the program name are installed, by meson and in the package."""
    sources = [path for suffix in ("*.txt", "*.c", "*.def") for path in (ROOT / "src").rglob(suffix)]
    texts = "\n".join(re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL) for path in sources)
    named = set(re.findall(r"doc/([a-z_-]+\.md)", texts))
    installed = set(re.findall(r"'([a-z_-]+\.md)'", read("doc/meson.build")))
    tap.check(len(named) >= 3 and named <= installed, "documents that texts of the program name are installed", sorted(named - installed))
    missing = [name for name in sorted(installed) if not (ROOT / "doc" / name).is_file()]
    tap.check(installed and not missing, "documents that are installed exist", missing)
    tap.check("usr/share/doc/lode" in read("debian/lode.install").split(), "the package lode has the documents")
    packages = set(re.findall(r"^Package: (.*)$", read("debian/control"), re.MULTILINE))
    line = re.search(r"sudo apt-get install (.*?)\n\n", read("README.md"), re.DOTALL)[1]
    wanted = {name for name in packages if re.fullmatch(r"lode.*|liblode\d+", name)}
    tap.check(set(re.findall(r"\.\./([a-z0-9-]+)_\*\.deb", line)) == wanted, "README installs every package of the program", [line, sorted(wanted)])


def main():
    tap, version = Tap(), project_version()
    spack(tap)
    conda(tap, version)
    changelog = re.match(r"lode \((.*?)\)", read("debian/changelog"))
    tap.check(changelog and changelog[1] == version, "debian/changelog has the version", [version])
    known = set(re.findall(r"^option\('(\w+)'", read("meson_options.txt"), re.MULTILINE)) | MESONS_OWN
    for name in ("debian/rules", "packaging/spack/package.py", "packaging/conda/build.sh", "packaging/tarball.sh"):
        unknown = sorted(options(read(name)) - known)
        tap.check(not unknown, f"{name} gives options that exist", unknown)
    for name in SCRIPTS:
        done = subprocess.run(["bash", "-n", ROOT / name], capture_output=True, text=True, check=False)
        tap.check(done.returncode == 0, f"{name} is a script of bash", done.stderr.splitlines())
    listed = set(re.findall(r"^Tests: (\w+)$", read("debian/tests/control"), re.MULTILINE))
    found = {path.name for path in (ROOT / "debian" / "tests").iterdir()} - {"control"}
    tap.check(listed == found, "debian/tests/control lists all tests", [sorted(listed ^ found)])
    documents(tap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
