// SPDX-License-Identifier: BSD-3-Clause
// Makes thumbnails of generated pictures with std::async.
#include <cstdint>
#include <cstdio>
#include <future>
#include <vector>

struct Picture {
    int width, height;
    std::vector<uint8_t> pixels;
};

__attribute__((noinline)) Picture decode_picture(int id)
{
    Picture p{640, 480, {}};
    p.pixels.resize(p.width * p.height);
    uint32_t x = 77 + id;
    for (auto &pixel : p.pixels) {
        x = x * 1103515245u + 12345u;
        pixel = x >> 24;
    }
    return p;
}

__attribute__((noinline)) uint32_t scale_down(const Picture &p)
{
    uint32_t digest = 0;
    for (int y = 0; y + 8 <= p.height; y += 2)
        for (int x = 0; x + 8 <= p.width; x += 2) {
            uint32_t sum = 0;
            for (int j = 0; j < 8; ++j)
                for (int i = 0; i < 8; ++i)
                    sum += p.pixels[(y + j) * p.width + x + i];
            digest = digest * 31 + sum / 64;
        }
    return digest;
}

__attribute__((noinline)) uint32_t make_thumbnail(int id)
{
    Picture p = decode_picture(id);
    return scale_down(p);
}

__attribute__((noinline)) uint32_t process_album(int count)
{
    uint32_t result = 0;
#ifdef FIX
    for (int i = 0; i < count; i += 2) {
        auto first = std::async(std::launch::async, make_thumbnail, i);
        auto second = std::async(std::launch::async, make_thumbnail, i + 1);
        result = result * 17 + first.get();
        result = result * 17 + second.get();
    }
#else
    for (int i = 0; i < count; ++i) {
        auto thumb = std::async(std::launch::async, make_thumbnail, i);
        result = result * 17 + thumb.get();
    }
#endif
    return result;
}

int main()
{
    std::printf("album %u\n", process_album(300));
    return 0;
}
