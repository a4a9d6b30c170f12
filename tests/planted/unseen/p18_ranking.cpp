// SPDX-License-Identifier: BSD-3-Clause
// Game ranking service: score updates arrive, the top list is shown from time to time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

struct Player {
    std::string name;
    uint64_t score = 0;
    uint32_t games = 0;
};

class Ranking {
    std::vector<Player> players_;
    std::vector<uint32_t> order_;
    bool dirty_ = false;

    __attribute__((noinline)) void resort()
    {
        std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) {
            const Player &x = players_[a], &y = players_[b];
            return x.score != y.score ? x.score > y.score : a < b;
        });
        dirty_ = false;
    }

public:
    explicit Ranking(size_t n) : players_(n), order_(n)
    {
        for (size_t i = 0; i < n; i++)
            players_[i].name = "player" + std::to_string(i);
        std::iota(order_.begin(), order_.end(), 0u);
    }

    __attribute__((noinline)) void report(uint32_t player, uint32_t points)
    {
        players_[player].score += points;
        players_[player].games++;
#ifdef FIX
        dirty_ = true;
#else
        resort();
#endif
    }

    __attribute__((noinline)) uint64_t show_top(size_t n)
    {
        if (dirty_)
            resort();
        uint64_t h = 0;
        for (size_t i = 0; i < n; i++) {
            const Player &p = players_[order_[i]];
            for (char c : p.name)
                h = h * 131 + uint8_t(c);
            h += p.score;
        }
        return h;
    }
};

// Plays one simulated match and gives the points.
__attribute__((noinline)) static uint32_t play_match(uint32_t player, uint32_t seed)
{
    uint32_t x = seed ^ player * 2654435761u, hits = 0;
    for (int round = 0; round < 12000; round++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        hits += (x & 63) == 0;
    }
    return hits;
}

int main()
{
    constexpr uint32_t kPlayers = 2000, kMatches = 6000;
    Ranking r(kPlayers);
    uint32_t x = 42;
    uint64_t check = 0;
    for (uint32_t i = 0; i < kMatches; i++) {
        x = x * 1664525u + 1013904223u;
        uint32_t p = (x >> 8) % kPlayers;
        r.report(p, play_match(p, x));
        if (i % 100 == 99)
            check = check * 31 + r.show_top(10);
    }
    printf("check %016llx\n", (unsigned long long)check);
}
