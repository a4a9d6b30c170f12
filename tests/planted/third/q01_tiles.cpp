// SPDX-License-Identifier: BSD-3-Clause
// Tile renderer: two workers compute Mandelbrot tiles and store them in a
// shared frame buffer together with some frame statistics.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kWidth = 1024;
constexpr int kHeight = 768;
constexpr int kTile = 64;
constexpr int kMaxIter = 700;

struct Frame {
    std::mutex mtx;
    std::vector<uint16_t> pixels = std::vector<uint16_t>(kWidth * kHeight);
    uint64_t iterations = 0;
    int tiles_done = 0;
};

struct Tile {
    int x0, y0;
};

Frame g_frame;
std::vector<Tile> g_tiles;
std::atomic<size_t> g_next{0};

} // namespace

__attribute__((noinline)) uint64_t compute_tile(const Tile &t, uint16_t *out)
{
    uint64_t total = 0;
    for (int y = 0; y < kTile; y++) {
        for (int x = 0; x < kTile; x++) {
            const double cr = -2.1 + 2.9 * (t.x0 + x) / kWidth;
            const double ci = -1.1 + 2.2 * (t.y0 + y) / kHeight;
            double zr = 0, zi = 0;
            int n = 0;
            while (n < kMaxIter) {
                const double r2 = zr * zr, i2 = zi * zi;
                if (r2 + i2 > 4.0)
                    break;
                zi = 2 * zr * zi + ci;
                zr = r2 - i2 + cr;
                n++;
            }
            out[y * kTile + x] = static_cast<uint16_t>(n);
            total += n;
        }
    }
    return total;
}

__attribute__((noinline)) void store_tile(Frame &f, const Tile &t, const uint16_t *src)
{
    for (int y = 0; y < kTile; y++)
        std::copy_n(src + y * kTile, kTile, &f.pixels[(t.y0 + y) * kWidth + t.x0]);
}

__attribute__((noinline)) void render_tile(Frame &f, const Tile &t)
{
    std::vector<uint16_t> local(kTile * kTile);
#ifdef FIX
    const uint64_t n = compute_tile(t, local.data());
    std::lock_guard<std::mutex> lock(f.mtx);
#else
    std::lock_guard<std::mutex> lock(f.mtx);
    const uint64_t n = compute_tile(t, local.data());
#endif
    store_tile(f, t, local.data());
    f.iterations += n;
    f.tiles_done++;
}

__attribute__((noinline)) void render_worker()
{
    for (;;) {
        const size_t i = g_next.fetch_add(1);
        if (i >= g_tiles.size())
            return;
        render_tile(g_frame, g_tiles[i]);
    }
}

int main()
{
    for (int y = 0; y < kHeight; y += kTile)
        for (int x = 0; x < kWidth; x += kTile)
            g_tiles.push_back({x, y});

    std::vector<std::thread> pool;
    for (int i = 0; i < 2; i++)
        pool.emplace_back(render_worker);
    for (auto &t : pool)
        t.join();

    uint64_t sum = 0;
    for (size_t i = 0; i < g_frame.pixels.size(); i++)
        sum = sum * 31 + g_frame.pixels[i];
    std::printf("tiles %d iterations %llu sum %llx\n", g_frame.tiles_done,
                (unsigned long long)g_frame.iterations, (unsigned long long)sum);
    return 0;
}
