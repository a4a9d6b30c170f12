#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the page of `lode view` with npm: types checked, bundled and minified.

build.py WORK [--embed OUT.c] [--depfile FILE] [--optional] [--version VERSION]

WORK gets a copy of the sources, the packages of package-lock.json, and the page in WORK/dist. The bytes of the page depend
on the sources and the lock file only. With --optional a page that cannot be built (no network) is a warning, and the
table in OUT.c is empty."""
import argparse
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COPIED = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'src', 'test']
SHIPPED = ['preact', '@preact/signals', '@preact/signals-core']
NPM_SECONDS = 300


def inputs():
    for name in COPIED:
        path = os.path.join(HERE, name)
        if os.path.isfile(path):
            yield path
        for folder, folders, files in os.walk(path):
            folders.sort()
            for file in sorted(files):
                yield os.path.join(folder, file)


def copy_sources(work):
    for name in ('src', 'test'):
        shutil.rmtree(os.path.join(work, name), ignore_errors=True)
    for path in inputs():
        target = os.path.join(work, os.path.relpath(path, HERE))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)


def run(work, *command, **more):
    done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', errors='replace', **more)
    if done.returncode != 0:
        raise RuntimeError('%s failed:\n%s' % (' '.join(command[:3]), done.stdout))


def install(work):
    """Packages are installed once for each lock file."""
    with open(os.path.join(work, 'package-lock.json'), 'rb') as file:
        wanted = hashlib.sha256(file.read()).hexdigest()
    stamp = os.path.join(work, 'node_modules', '.installed')
    if os.path.exists(stamp):
        with open(stamp, encoding='ascii') as file:
            if file.read() == wanted:
                return
    npm = shutil.which('npm')
    if not npm:
        raise RuntimeError('npm is not installed')
    run(work, npm, 'ci', '--fetch-retries=1', '--fetch-timeout=30000', '--loglevel=error', timeout=NPM_SECONDS)
    with open(stamp, 'w', encoding='ascii') as file:
        file.write(wanted)


def licences(work, path):
    """The terms of the packages whose code is in the bundle."""
    with open(path, 'w', encoding='utf-8') as out:
        for name in SHIPPED:
            with open(os.path.join(work, 'node_modules', name, 'LICENSE'), encoding='utf-8') as file:
                out.write('%s\n\n%s\n' % (name, file.read().strip() + '\n'))


def plain(path):
    """Tabs are in literals only, where their escape means the same: reports have no control characters but line feeds."""
    with open(path, encoding='ascii') as file:
        text = file.read()
    with open(path, 'w', encoding='ascii') as file:
        file.write(text.replace('\t', '\\t'))


def bundle(work, version):
    fresh = os.path.join(work, 'dist.new')
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    run(work, 'node', 'node_modules/typescript/bin/tsc', '--noEmit', '-p', '.')
    esbuild = os.path.join('node_modules', '@esbuild')
    native = os.path.join(work, esbuild)
    native = os.path.join(native, sorted(os.listdir(native))[0], 'bin', 'esbuild')
    common = ['--bundle', '--minify', '--target=es2022', '--log-level=warning', '--legal-comments=none', '--charset=ascii']
    run(work, native, 'src/main.tsx', *common, '--format=iife', '--jsx=automatic', '--jsx-import-source=preact',
        '--define:LODE_VERSION="%s"' % version, '--outfile=dist.new/app.js')
    plain(os.path.join(fresh, 'app.js'))
    run(work, native, 'src/style.css', *common, '--outfile=dist.new/style.css')
    shutil.copyfile(os.path.join(work, 'src', 'index.html'), os.path.join(fresh, 'index.html'))
    licences(work, os.path.join(fresh, 'licences.txt'))
    with open(os.path.join(work, 'version'), 'w', encoding='ascii') as file:
        file.write('LODE_VERSION="%s"\n' % version)
    dist = os.path.join(work, 'dist')
    shutil.rmtree(dist, ignore_errors=True)
    os.rename(fresh, dist)


def write_depfile(path, target):
    def escaped(name):
        return name.replace(' ', '\\ ')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('%s: %s\n' % (escaped(target), ' '.join(escaped(name) for name in inputs())))


def main():
    parser = argparse.ArgumentParser(description='Builds the page of lode view.')
    parser.add_argument('work')
    parser.add_argument('--embed')
    parser.add_argument('--depfile')
    parser.add_argument('--optional', action='store_true')
    parser.add_argument('--version', default='0')
    wanted = parser.parse_args()
    work = os.path.abspath(wanted.work)
    os.makedirs(work, exist_ok=True)
    built = [os.path.join(work, 'dist')]
    try:
        copy_sources(work)
        install(work)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        if not wanted.optional:
            sys.exit('web/build.py: %s' % error)
        print('web/build.py: warning: no packages from npm, so lode view has no page: %s' % error, file=sys.stderr)
        built = []
    try:
        if built:
            bundle(work, wanted.version)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit('web/build.py: %s' % error)
    if wanted.embed:
        subprocess.run([sys.executable, os.path.join(HERE, 'embed.py'), wanted.embed, *built], check=True)
        if wanted.depfile:
            write_depfile(wanted.depfile, wanted.embed)


if __name__ == '__main__':
    main()
