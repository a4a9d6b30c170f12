#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""view.py STORE: `lode view` of the program in the path serves its page and the numbers of `lode top`."""
import gzip
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request


def get(address, path, token=None):
    request = urllib.request.Request(address + path, headers={'Authorization': 'Bearer ' + token} if token else {})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                body = answer.read()
                return gzip.decompress(body) if answer.headers['Content-Encoding'] == 'gzip' else body
        except urllib.error.HTTPError as error:
            # The store is being opened.
            if error.code != 503:
                raise
            time.sleep(0.05)


def main():
    server = subprocess.Popen(['lode', 'view', sys.argv[1]], stdout=subprocess.PIPE, encoding='utf-8')
    try:
        found = None
        while not found:
            line = server.stdout.readline()
            if not line:
                sys.exit('lode view ended without an address')
            found = re.search(r'(http://[^/]*)/#token=([0-9a-f]+)', line)
        address, token = found.groups()
        page = get(address, '/').decode()
        served = json.loads(get(address, '/api/1/top/0?limit=5', token))
        printed = json.loads(subprocess.run(['lode', 'top', sys.argv[1], '--limit', '5', '--json'], stdout=subprocess.PIPE, check=True).stdout)
        if 'app.js' not in page:
            sys.exit('lode view has no page')
        if served['rows'] != printed['rows']:
            sys.exit('lode view and lode top disagree')
    finally:
        server.terminate()
        server.wait(timeout=60)


if __name__ == '__main__':
    main()
