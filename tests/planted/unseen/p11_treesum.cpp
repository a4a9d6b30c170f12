// SPDX-License-Identifier: BSD-3-Clause
// Bounding volume tree over points, built with OpenMP tasks, then evaluated.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

struct Point {
    float x, y;
};
struct Box {
    float x0, y0, x1, y1;
};

#ifdef FIX
constexpr size_t kCutoff = 16384;
#else
constexpr size_t kCutoff = 4;
#endif
constexpr size_t kLeaf = 4;

static std::vector<Point> pts;
static std::vector<Box> boxes;

static Box leaf_box(size_t lo, size_t hi)
{
    Box b{pts[lo].x, pts[lo].y, pts[lo].x, pts[lo].y};
    for (size_t i = lo; i < hi; i++) {
        b.x0 = std::min(b.x0, pts[i].x);
        b.y0 = std::min(b.y0, pts[i].y);
        b.x1 = std::max(b.x1, pts[i].x);
        b.y1 = std::max(b.y1, pts[i].y);
    }
    return b;
}

static Box join_box(const Box &a, const Box &b)
{
    return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

// Node n covers [lo, hi); its children are 2n+1 and 2n+2.
__attribute__((noinline)) static void build(size_t n, size_t lo, size_t hi)
{
    if (hi - lo <= kLeaf) {
        boxes[n] = leaf_box(lo, hi);
        return;
    }
    size_t mid = (lo + hi) / 2;
    if (hi - lo > kCutoff) {
#pragma omp task
        build(2 * n + 1, lo, mid);
#pragma omp task
        build(2 * n + 2, mid, hi);
#pragma omp taskwait
    } else {
        build(2 * n + 1, lo, mid);
        build(2 * n + 2, mid, hi);
    }
    boxes[n] = join_box(boxes[2 * n + 1], boxes[2 * n + 2]);
}

__attribute__((noinline)) static void move_points(int step)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < pts.size(); i++) {
        pts[i].x += float((i * 31 + step) % 17) * 0.01f;
        pts[i].y -= float((i * 17 + step) % 13) * 0.01f;
    }
}

__attribute__((noinline)) static double total_area()
{
    double s = 0;
    for (auto &b : boxes)
        s += double(b.x1 - b.x0) * (b.y1 - b.y0);
    return s;
}

int main()
{
    const size_t n = 1 << 18;
    pts.resize(n);
    boxes.resize(2 * n);
    uint32_t r = 5;
    for (auto &p : pts) {
        p.x = float((r = r * 1664525u + 1013904223u) >> 20);
        p.y = float((r = r * 1664525u + 1013904223u) >> 20);
    }
    std::sort(pts.begin(), pts.end(), [](const Point &a, const Point &b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
    double area = 0;
    for (int step = 0; step < 7; step++) {
        move_points(step);
#pragma omp parallel
#pragma omp single
        build(0, 0, n);
        area += total_area();
    }
    printf("area %.3f\n", area);
}
