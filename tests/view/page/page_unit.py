#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""page_unit.py WEB WORK: the unit tests of the page (web/test), and that its bytes depend on nothing but its sources.

WORK is where web/build.py built the page. Without it (no npm), every test is skipped by name."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import amounts  # noqa: E402

UNSAFE = re.compile(r'innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function\(')


def esbuild(work):
    return sorted(glob.glob(os.path.join(work, 'node_modules', '@esbuild', '*', 'bin', 'esbuild')))[0]


def write_amounts(path):
    """Values of all sizes and signs, many of them half-way between two texts, with what the reference makes of each."""
    chance = random.Random(7)
    values = [chance.choice((-1, 1, 1, 1)) * 10 ** chance.uniform(-13, 25) for _ in range(8000)]
    values += [chance.randrange(1, 1 << 22) / 2 ** chance.randrange(13) for _ in range(8000)]
    values += [chance.randrange(1, 1 << 22) * 10.0 ** chance.randrange(-9, 9) for _ in range(4000)]
    with open(path, 'w', encoding='ascii') as file:
        json.dump([[value, *amounts.texts(value)] for value in [0.0, *values]], file)


def unit(web, work, name):
    with tempfile.TemporaryDirectory() as folder:
        bundle = os.path.join(folder, name + '.mjs')
        subprocess.run([esbuild(work), 'test/%s.test.ts' % name, '--bundle', '--platform=node', '--format=esm', '--jsx=automatic',
                        '--jsx-import-source=preact', '--define:LODE_VERSION="0"', '--log-level=warning', '--outfile=' + bundle], cwd=work, check=True)
        write_amounts(os.path.join(folder, 'amounts.json'))
        environment = dict(os.environ, AMOUNTS=os.path.join(folder, 'amounts.json'))
        done = subprocess.run(['node', '--test', bundle], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', errors='replace', check=False)
        if done.returncode != 0:
            print(done.stdout)
        return done.returncode == 0


def files_of(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), 'rb') as file:
            found[name] = file.read()
    return found


def is_reproducible(web, work):
    """In another folder, time zone and locale, with other times of files."""
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, 'a deeper folder', 'work')
        os.makedirs(other)
        shutil.copytree(os.path.join(work, 'node_modules'), os.path.join(other, 'node_modules'), symlinks=True)
        environment = dict(os.environ, TZ='Asia/Tokyo', LC_ALL='C', LANG='C')
        version = re.search(r'LODE_VERSION="([^"]*)"', open(os.path.join(work, 'version'), encoding='ascii').read()).group(1)
        subprocess.run([sys.executable, os.path.join(web, 'build.py'), other, '--version', version], env=environment, check=True)
        outs = []
        for index, built in enumerate((work, other)):
            out = os.path.join(folder, 'page%d.c' % index)
            subprocess.run([sys.executable, os.path.join(web, 'embed.py'), out, os.path.join(built, 'dist')], check=True)
            with open(out, 'rb') as file:
                outs.append(file.read())
        return files_of(os.path.join(work, 'dist')) == files_of(os.path.join(other, 'dist')) and outs[0] == outs[1]


def has_no_hosts(web):
    """The lock file names no registry, and package.json exact versions only."""
    with open(os.path.join(web, 'package-lock.json'), encoding='utf-8') as file:
        lock = file.read()
    with open(os.path.join(web, 'package.json'), encoding='utf-8') as file:
        versions = re.findall(r'"[^"]+": "([~^]?[\d.]+)"', file.read())
    return '"resolved"' not in lock and bool(versions) and all(version[0].isdigit() for version in versions)


def is_safe(web):
    """Nothing makes markup or code from text."""
    bad = []
    for folder, _, names in os.walk(os.path.join(web, 'src')):
        for name in names:
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                if UNSAFE.search(file.read()):
                    bad.append(name)
    for name in bad:
        print('# %s makes markup or code from text' % name)
    return not bad


def main():
    web, work = (os.path.abspath(path) if path else '' for path in sys.argv[1:3])
    names = sorted(os.path.basename(path)[:-len('.test.ts')] for path in glob.glob(os.path.join(web, 'test', '*.test.ts')))
    has_work = work != '' and os.path.exists(os.path.join(work, 'node_modules', '.installed'))
    tests = [('no text becomes markup or code', lambda: is_safe(web), False), ('packages have exact versions and no hosts', lambda: has_no_hosts(web), False)]
    tests += [('unit tests of %s' % name, lambda name=name: unit(web, work, name), True) for name in names]
    tests += [('the page is byte-identical when built elsewhere', lambda: is_reproducible(web, work), True)]
    print('1..%d' % len(tests))
    failed = 0
    for number, (title, run, needs_work) in enumerate(tests, 1):
        if needs_work and not has_work:
            print('ok %d - %s # SKIP the page was not built with npm' % (number, title))
            continue
        good = run()
        failed += not good
        print('%s %d - %s' % ('ok' if good else 'not ok', number, title))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
