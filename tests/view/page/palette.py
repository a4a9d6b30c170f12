#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""palette.py STYLE.css PICTURE.ts SCREEN.c: colours of the page, of the timeline and of terminals stay apart for every kind of colour vision, and text on them is legible.

Simulation: the matrices of Machado, Oliveira and Fernandes (2009) at full severity, in linear RGB. Distance: Euclidean in
OKLab, times 100; below about 7 two areas side by side are hard to tell apart. Contrast: WCAG 2."""
import itertools
import re
import sys

MACHADO = {
    'normal': ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    'protan': ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    'deutan': ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    'tritan': ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LEAST_DISTANCE = 7.5
number = 0
failed = 0


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]


def seen(rgb, vision):
    return [min(1, max(0, sum(m * x for m, x in zip(row, rgb)))) for row in MACHADO[vision]]


def oklab(rgb):
    r, g, b = rgb
    l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s)


def distance(a, b, vision):
    return 100 * sum((x - y) ** 2 for x, y in zip(oklab(seen(linear(a), vision)), oklab(seen(linear(b), vision)))) ** 0.5


def contrast(a, b):
    low, high = sorted(sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear(c))) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def check(title, good):
    global number, failed
    number += 1
    failed += not good
    print('%s %d - %s' % ('ok' if good else 'not ok', number, title))


def themes(text):
    """Light, dark by choice, dark by the system: colours by name; dark ones replace some of the light ones."""
    blocks = re.findall(r"(:root[^{]*)\{([^}]*)\}", text)
    found = [(head.strip(), dict(re.findall(r'--([\w-]+):\s*(#[0-9a-f]{6})', body))) for head, body in blocks]
    light = found[0][1]
    return [('light', light)] + [(head, {**light, **colours}) for head, colours in found[1:] if colours]


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        all_themes = themes(file.read())
    check('there are a light theme, two ways to a dark one, and light paper',
          len(all_themes) == 4 and all_themes[1][1] == all_themes[2][1] and all_themes[3][1] == all_themes[0][1])
    kinds = [colour for name, colour in all_themes[0][1].items() if name.startswith('kind-')]
    check('there are eight kinds of functions', len(kinds) == 8)
    for vision in MACHADO:
        least = min(distance(a, b, vision) for a, b in itertools.combinations(kinds, 2))
        check('kinds of functions are apart with %s vision (%.1f)' % (vision, least), least >= LEAST_DISTANCE)
    with open(sys.argv[2], encoding='utf-8') as file:
        picture = file.read()
    hues, muted = (['#' + hue for hue in re.findall(r'0x([0-9a-f]{6})', re.search(name + r'[^=]*= \[([^\]]*)\]', picture).group(1))] for name in ('HUES', 'MUTED'))
    check('there are seven colours of the timeline', len(hues) == 7)
    for vision in MACHADO:
        least = min(distance(a, b, vision) for a, b in itertools.combinations(hues, 2))
        check('colours of the timeline are apart with %s vision (%.1f)' % (vision, least), least >= LEAST_DISTANCE)
    check('black text is legible on every muted colour', len(muted) == 8 and min(contrast(c, '#000000') for c in muted) >= 4.5)
    check('black or white text is legible on every kind', min(max(contrast(c, '#000000'), contrast(c, '#ffffff')) for c in kinds) >= 4.5)
    for name, colours in all_themes:
        for ground in ('ground', 'raised', 'accent-ground'):
            for text in ('text', 'quiet', 'accent', 'hot', 'problem', 'more', 'less'):
                # What stands on selected rows only needs the colours of tables.
                if ground == 'accent-ground' and text == 'problem':
                    continue
                value = contrast(colours[ground], colours[text])
                check('%s: %s on %s has contrast %.1f' % (name, text, ground, value), value >= 4.5)
        check('%s: text on bars' % name, min(contrast(colours['bar'], colours[text]) for text in ('text', 'quiet', 'hot')) >= 4.5)
        least = min(distance(colours['more'], colours['less'], vision) for vision in MACHADO)
        check('%s: more and less are apart for everybody (%.1f)' % (name, least), least >= LEAST_DISTANCE)
    # `lode tui` on terminals of 256 colours: the cube of xterm.
    with open(sys.argv[3], encoding='utf-8') as file:
        codes = [int(code) for code in re.search(r'many\[[^\]]*\] = \{([^}]*)\}', file.read()).group(1).split(',')]
    steps = (0, 95, 135, 175, 215, 255)
    series = ['#%02x%02x%02x' % tuple(steps[(code - 16) // place % 6] for place in (36, 6, 1)) for code in codes]
    for vision in MACHADO:
        least = min(distance(a, b, vision) for a, b in itertools.combinations(series, 2))
        check('colours of terminals are apart with %s vision (%.1f)' % (vision, least), len(series) == 6 and least >= LEAST_DISTANCE)
    print('1..%d' % number)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
