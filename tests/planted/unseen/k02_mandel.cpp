// SPDX-License-Identifier: BSD-3-Clause
// Healthy: Mandelbrot picture by two threads that take rows from a shared counter.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

constexpr int kWidth = 700, kHeight = 500, kLimit = 260;

class Picture {
    std::vector<uint16_t> px_;

public:
    Picture() : px_(kWidth * kHeight) {}
    uint16_t *row(int y) { return &px_[size_t(y) * kWidth]; }
    __attribute__((noinline)) uint64_t digest() const
    {
        uint64_t h = 0;
        for (auto p : px_)
            h = h * 31 + p;
        return h;
    }
};

static uint16_t escape_time(double cx, double cy)
{
    double x = 0, y = 0;
    int n = 0;
    while (n < kLimit && x * x + y * y < 4) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    return uint16_t(n);
}

__attribute__((noinline)) static void render_row(Picture &p, int y)
{
    uint16_t *r = p.row(y);
    for (int x = 0; x < kWidth; x++)
        r[x] = escape_time(-2.2 + 3.0 * x / kWidth, -1.2 + 2.4 * y / kHeight);
}

static void worker(Picture &p, std::atomic<int> &next)
{
    for (int y; (y = next.fetch_add(1, std::memory_order_relaxed)) < kHeight;)
        render_row(p, y);
}

__attribute__((noinline)) static void render(Picture &p)
{
    std::atomic<int> next{0};
    std::vector<std::thread> pool;
    for (int i = 0; i < 2; i++)
        pool.emplace_back(worker, std::ref(p), std::ref(next));
    for (auto &t : pool)
        t.join();
}

int main()
{
    Picture p;
    for (int frame = 0; frame < 8; frame++)
        render(p);
    printf("digest %016llx\n", (unsigned long long)p.digest());
}
