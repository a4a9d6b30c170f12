// SPDX-License-Identifier: BSD-3-Clause
// Lays out text with a glyph cache that fits; nearly every look-up is a hit.
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

struct Glyph {
    int advance = 0;
    std::vector<uint8_t> bitmap;
};

__attribute__((noinline)) Glyph render_glyph(int code)
{
    Glyph g;
    g.advance = 5 + code % 7;
    g.bitmap.resize(1024);
    uint32_t x = code + 1;
    for (auto &b : g.bitmap) {
        for (int k = 0; k < 200; ++k)
            x = x * 1664525u + 1013904223u + (x >> 16);
        b = x >> 24;
    }
    return g;
}

class GlyphCache {
public:
    const Glyph &get(int code);
private:
    std::unordered_map<int, Glyph> glyphs;
};

__attribute__((noinline)) const Glyph &GlyphCache::get(int code)
{
    auto found = glyphs.find(code);
    if (found != glyphs.end())
        return found->second;
    return glyphs.emplace(code, render_glyph(code)).first->second;
}

__attribute__((noinline)) uint32_t blit_glyph(const Glyph &g, uint32_t ink)
{
    for (uint8_t b : g.bitmap)
        ink = ink * 33 + b + (ink >> 7);
    return ink;
}

__attribute__((noinline)) uint32_t draw_line(GlyphCache &cache, int line)
{
    uint32_t ink = line;
    for (int column = 0; column < 80; ++column) {
        const Glyph &g = cache.get((line * 7 + column * 13) % 96 + 32);
        ink = blit_glyph(g, ink) + g.advance;
    }
    return ink;
}

int main()
{
    GlyphCache cache;
    uint64_t sum = 0;
    for (int line = 0; line < 5000; ++line)
        sum += draw_line(cache, line);
    std::printf("page %llu\n", (unsigned long long)sum);
    return 0;
}
