#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes font_data.h: the printable ASCII characters of a font as coverage in 16 steps. usage: make_font.py FONT.ttf (needs Pillow)"""

import sys

from PIL import Image, ImageDraw, ImageFont

SIZE, HEIGHT, ASCENT = 11, 14, 11


def main():
    font = ImageFont.truetype(sys.argv[1], SIZE)
    widths, glyphs = [], []
    for code in range(32, 127):
        width = max(1, round(font.getlength(chr(code))))
        image = Image.new("L", (width, HEIGHT), 0)
        ImageDraw.Draw(image).text((0, ASCENT), chr(code), fill=255, font=font, anchor="ls")
        widths.append(width)
        glyphs.append("".join(f"{value >> 4:x}" for value in image.tobytes()))
    print("/* SPDX-License-Identifier: BSD-3-Clause AND Bitstream-Vera */\n/* Made by make_font.py from DejaVu Sans, 11 pixels. */")
    print("static const unsigned char widths[] = {")
    for i in range(0, len(widths), 24):
        print("    " + ", ".join(map(str, widths[i:i + 24])) + ",")
    print("};\n/* Rows of each character from top to bottom, a hexadecimal digit for each pixel. */\n/* clang-format off */")
    print("static const char *const glyphs[] = {")
    for glyph in glyphs:
        print(f'    "{glyph}",')
    print("};\n/* clang-format on */")


if __name__ == "__main__":
    main()
