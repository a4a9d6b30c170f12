#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""embed.py OUT.c [DIRECTORY]: the files of a built page as C arrays, packed, each with a media type, an entity tag and, if the
file can be part of another page, its hash for the policy of that page.

Without a directory the table is empty. The bytes of the result depend on the bytes of the files only (and on zlib)."""
import base64
import gzip
import hashlib
import os
import sys

TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain; charset=utf-8',
}


def arrays(data):
    lines = []
    for start in range(0, len(data), 24):
        lines.append('    ' + ', '.join(str(byte) for byte in data[start:start + 24]))
    return ',\n'.join(lines)


def source_of(name, data):
    """The hash of a script or style that can be an element of a page as it is; "" for others."""
    ends = {'.js': (b'</script', b'<script', b'<!--'), '.css': (b'</style', b'<!--')}.get(os.path.splitext(name)[1])
    if ends is None or any(byte != 10 and not 32 <= byte < 127 for byte in data) or any(end in data.lower() for end in ends):
        return ''
    return 'sha256-' + base64.b64encode(hashlib.sha256(data).digest()).decode('ascii')


def main():
    out = sys.argv[1]
    names = []
    directory = sys.argv[2] if len(sys.argv) > 2 else None
    if directory:
        names = sorted(name for name in os.listdir(directory) if os.path.splitext(name)[1] in TYPES)
        if 'index.html' not in names:
            sys.exit('embed.py: %s has no index.html' % directory)
    text = ['/* Made by web/embed.py. */\n#include "view/page.h"\n\n']
    rows = []
    for number, name in enumerate(names):
        with open(os.path.join(directory, name), 'rb') as file:
            data = file.read()
        packed = gzip.compress(data, 9, mtime=0)
        tag = hashlib.sha256(data).hexdigest()[:16]
        text.append('static const unsigned char file_%d[] = {\n%s};\n\n' % (number, arrays(packed)))
        rows.append('    {"/%s", "%s", "\\"%s\\"", "%s", file_%d, sizeof file_%d, %d},\n'
                    % (name, TYPES[os.path.splitext(name)[1]], tag, source_of(name, data), number, number, len(data)))
    # A row of zeros ends the table, so that an empty one is valid C.
    rows.append('    {0}};\n')
    text.append('const page_file page_files[] = {\n' + ''.join(rows))
    text.append('const size_t page_file_count = %d;\n' % len(names))
    with open(out, 'w', encoding='ascii') as file:
        file.write(''.join(text))


if __name__ == '__main__':
    main()
