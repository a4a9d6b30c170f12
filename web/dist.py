#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run by `meson dist`: the release tarball has the built page (web/dist), and the sources of the packages that are in it
(web/packages), so that it can be built and rebuilt without a network."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ['preact', '@preact/signals', '@preact/signals-core']


def main():
    root = os.environ['MESON_DIST_ROOT']
    work = os.path.join(os.environ['MESON_BUILD_ROOT'], 'web', 'page')
    subprocess.run([sys.executable, os.path.join(HERE, 'build.py'), work, '--version', sys.argv[1]], check=True)
    shutil.copytree(os.path.join(work, 'dist'), os.path.join(root, 'web', 'dist'), dirs_exist_ok=True)
    for name in PACKAGES:
        shutil.copytree(os.path.join(work, 'node_modules', name), os.path.join(root, 'web', 'packages', name), dirs_exist_ok=True)


if __name__ == '__main__':
    main()
