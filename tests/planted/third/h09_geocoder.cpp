// SPDX-License-Identifier: BSD-3-Clause
// Geocoder: loads a table of places once at start-up (short), sorts it, and
// then answers range queries by binary search and scanning of the hits.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kPlaces = 120000;
constexpr int kQueries = 120000;
constexpr int kMaxHits = 600;

struct Place {
    int32_t lat;
    int32_t lon;
    int32_t population;
    int32_t id;
};

struct Answer {
    int32_t best = -1;
    int64_t score = 0;
};

std::vector<Place> g_places;

} // namespace

__attribute__((noinline)) void load_places()
{
    uint32_t s = 1;
    g_places.reserve(kPlaces);
    for (int i = 0; i < kPlaces; i++) {
        Place p;
        s = s * 1664525u + 1013904223u;
        p.lat = int32_t(s >> 8) % 1800000;
        s = s * 1664525u + 1013904223u;
        p.lon = int32_t(s >> 8) % 3600000;
        s = s * 1664525u + 1013904223u;
        p.population = (s >> 12) % 900000;
        p.id = i;
        g_places.push_back(p);
    }
    std::stable_sort(g_places.begin(), g_places.end(),
                     [](const Place &a, const Place &b) { return a.lat < b.lat; });
}

__attribute__((noinline)) Answer nearest_town(int32_t lat, int32_t lon)
{
    auto it = std::lower_bound(g_places.begin(), g_places.end(), lat - 2000,
                               [](const Place &p, int32_t v) { return p.lat < v; });
    Answer a;
    for (int n = 0; it != g_places.end() && it->lat <= lat + 2000 && n < kMaxHits; ++it, n++) {
        const int64_t dy = it->lat - lat, dx = it->lon - lon;
        const int64_t score = int64_t(it->population) * 1000000 / (dy * dy + dx * dx / 4 + 1000);
        if (score > a.score) {
            a.score = score;
            a.best = it->id;
        }
    }
    return a;
}

__attribute__((noinline)) uint64_t answer_queries()
{
    uint32_t s = 77;
    uint64_t h = 0;
    for (int q = 0; q < kQueries; q++) {
        s = s * 1103515245u + 12345u;
        const int32_t lat = (s >> 4) % 1800000;
        s = s * 1103515245u + 12345u;
        const int32_t lon = (s >> 4) % 3600000;
        const Answer a = nearest_town(lat, lon);
        h = h * 31 + a.best + a.score;
    }
    return h;
}

int main()
{
    load_places();
    const uint64_t h = answer_queries();
    std::printf("places %d queries %d digest %llx\n", kPlaces, kQueries, (unsigned long long)h);
    return 0;
}
