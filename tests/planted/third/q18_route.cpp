// SPDX-License-Identifier: BSD-3-Clause
// Route optimisation: 2-opt improvement of a delivery tour.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kStops = 3000;
constexpr int kTrials = 250000;

struct Stop {
    float x, y;
    int32_t weight;
    int32_t id;
};

float dist(const Stop &a, const Stop &b)
{
    const float dx = a.x - b.x, dy = a.y - b.y;
    return std::sqrt(dx * dx + dy * dy);
}

} // namespace

#ifdef FIX
using TourArg = const std::vector<Stop> &;
#else
using TourArg = std::vector<Stop>;
#endif

__attribute__((noinline)) float swap_gain(TourArg tour, int i, int k)
{
    const Stop &a = tour[i], &b = tour[i + 1];
    const Stop &c = tour[k], &d = tour[k + 1];
    return dist(a, b) + dist(c, d) - dist(a, c) - dist(b, d);
}

__attribute__((noinline)) float tour_length(TourArg tour)
{
    float sum = 0;
    for (size_t i = 0; i + 1 < tour.size(); i++)
        sum += dist(tour[i], tour[i + 1]);
    return sum;
}

__attribute__((noinline)) std::vector<Stop> make_tour()
{
    std::vector<Stop> tour(kStops);
    uint32_t s = 3;
    for (int i = 0; i < kStops; i++) {
        s = s * 1664525u + 1013904223u;
        tour[i].x = float(s >> 16) / 65.536f;
        s = s * 1664525u + 1013904223u;
        tour[i].y = float(s >> 16) / 65.536f;
        tour[i].weight = s % 40;
        tour[i].id = i;
    }
    return tour;
}

__attribute__((noinline)) int improve(std::vector<Stop> &tour)
{
    uint32_t s = 11;
    int accepted = 0;
    for (int t = 0; t < kTrials; t++) {
        s = s * 1664525u + 1013904223u;
        int i = (s >> 12) % (kStops - 1);
        s = s * 1664525u + 1013904223u;
        int k = (s >> 12) % (kStops - 1);
        if (i > k)
            std::swap(i, k);
        if (k - i < 2)
            continue;
        if (swap_gain(tour, i, k) > 0.01f) {
            std::reverse(tour.begin() + i + 1, tour.begin() + k + 1);
            accepted++;
        }
    }
    return accepted;
}

int main()
{
    std::vector<Stop> tour = make_tour();
    const float before = tour_length(tour);
    const int accepted = improve(tour);
    std::printf("accepted %d length %.1f -> %.1f\n", accepted, before, tour_length(tour));
    return 0;
}
