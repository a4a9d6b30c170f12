#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.py --lode LODE --work FOLDER [--plugins FOLDER] SCRIPT [ARGUMENT]...: runs a test that needs a browser.

Packages of npm are installed once into FOLDER. What is missing (node, npm, a browser, the page or the plug-in of
lode view) skips the test by name."""
import argparse
import fcntl
import filecmp
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, '..', 'tools'))

import corpora  # noqa: E402


def skip(reason):
    print('1..0 # SKIP %s' % reason)
    sys.exit(0)


def install(work):
    """True if the packages are there."""
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, 'lock'), 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = os.path.join(work, 'package-lock.json')
        wanted = os.path.join(HERE, 'package-lock.json')
        if os.path.exists(os.path.join(work, 'installed')) and filecmp.cmp(kept, wanted, shallow=False):
            return True
        for name in ('package.json', 'package-lock.json', '.npmrc'):
            shutil.copyfile(os.path.join(HERE, name), os.path.join(work, name))
        try:
            done = subprocess.run(['npm', 'ci', '--loglevel=error', '--fetch-retries=1', '--fetch-timeout=30000'], cwd=work, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
        except subprocess.SubprocessError:
            return False
        if done.returncode == 0:
            with open(os.path.join(work, 'installed'), 'w', encoding='ascii'):
                pass
        return done.returncode == 0


def missing_view(lode, environment):
    """Why `lode view` does not start; '' if it does."""
    done = subprocess.run([lode, 'view', '/nonexistent/store'], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, encoding='utf-8', errors='replace', timeout=60, check=False)
    text = done.stderr.strip()
    return '' if 'no such file' in text.lower() or 'nonexistent' in text else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--lode', required=True)
    parser.add_argument('--work', required=True)
    parser.add_argument('--plugins', default='')
    parser.add_argument('script')
    parser.add_argument('arguments', nargs=argparse.REMAINDER)
    wanted = parser.parse_args()
    environment = dict(os.environ, LODE=os.path.abspath(wanted.lode), NODE_PACKAGES=os.path.abspath(wanted.work))
    if wanted.plugins:
        environment['LODE_PLUGINS'] = wanted.plugins
    environment['LODE_CORPUS'] = str(corpora.root())
    environment['LODE_DATA'] = os.path.join(HERE, '..', 'data')
    for program in ('node', 'npm'):
        if not shutil.which(program):
            skip('%s is not installed' % program)
    browser = 'firefox-esr' if 'firefox' in wanted.script else 'chromium'
    if not shutil.which(browser):
        skip('%s is not installed' % browser)
    environment['BROWSER_PROGRAM'] = shutil.which(browser)
    why = missing_view(wanted.lode, environment)
    if why:
        skip('lode view does not start: %s' % why.splitlines()[0])
    if not install(wanted.work):
        skip('npm cannot install the packages of the tests')
    # Packages are found beside the scripts. Another test may be reading them.
    for name in os.listdir(HERE):
        copy = os.path.join(wanted.work, name)
        if name.endswith('.mjs') and not (os.path.exists(copy) and filecmp.cmp(os.path.join(HERE, name), copy, shallow=False)):
            shutil.copyfile(os.path.join(HERE, name), '%s.%d' % (copy, os.getpid()))
            os.rename('%s.%d' % (copy, os.getpid()), copy)
    sys.stdout.flush()
    os.execvpe('node', ['node', os.path.join(wanted.work, os.path.basename(wanted.script)), *wanted.arguments], environment)


if __name__ == '__main__':
    main()
