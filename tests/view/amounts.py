#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The slow reference for numbers as text: what the program prints of a value (src/cli/text/number.c).

amounts.py < VALUES: a JSON array of numbers; prints an array of [value, seconds, nanoseconds, bytes, count, percent, percent of a fraction,
change in percent of a ratio, ratio]."""
import json
import math
import sys


def scaled(value, scales, decimals):
    for scale, name in scales:
        if abs(value) >= scale or scale == scales[-1][0]:
            return '%.*f %s' % (decimals, value / scale, name)
    raise AssertionError


def seconds(value):
    return '0 s' if abs(value) < 0.5e-12 else scaled(value, [(1, 's'), (1e-3, 'ms'), (1e-6, 'us'), (1e-9, 'ns')], 3)


def nanoseconds(value):
    return '0 s' if value == 0 else scaled(value, [(1e9, 's'), (1e6, 'ms'), (1e3, 'us')], 3)


def size(value):
    return '%.6g B' % value if abs(value) < 1024 else scaled(value, [(2.0 ** (10 * power), name + 'iB') for power, name in ((5, 'P'), (4, 'T'), (3, 'G'), (2, 'M'), (1, 'K'))], 1)


def away_from_zero(value):
    """llround: half-way, the larger one."""
    below = math.floor(value)
    return below + (value - below >= 0.5)


def count(value):
    if abs(value) >= 2 ** 53 or (abs(value) < 1e4 and value != math.floor(value)):
        return '%.6g' % value
    return ('-' if value < 0 else '') + '{:,}'.format(away_from_zero(abs(value)))


def ratio(value):
    if value > 1e6 or value <= 0:
        return 'gone' if value <= 0 else 'new'
    if value >= 10:
        return 'x%.*f' % (value < 100, value)
    return '%+.1f%%' % ((value - 1) * 100)


def texts(value):
    value = float(value)
    return [seconds(value), nanoseconds(value), size(value), count(value), '%.1f' % value, '%.1f' % (value * 100), '%.1f' % ((value - 1) * 100), ratio(value)]


def main():
    json.dump([[value, *texts(value)] for value in json.load(sys.stdin) if math.isfinite(value)], sys.stdout)


if __name__ == '__main__':
    main()
