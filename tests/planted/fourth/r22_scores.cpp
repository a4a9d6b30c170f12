// SPDX-License-Identifier: BSD-3-Clause
// A leaderboard: scores come in, ranks go out.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Score {
    uint32_t points;
    uint32_t player;
    bool operator<(const Score &o) const
    {
        return points != o.points ? points > o.points : player < o.player;
    }
};

class Leaderboard {
public:
    void submit(Score s);
    size_t rank_of(Score s) const;
private:
    std::vector<Score> scores;
};

__attribute__((noinline)) void Leaderboard::submit(Score s)
{
#ifdef FIX
    scores.insert(std::lower_bound(scores.begin(), scores.end(), s), s);
#else
    scores.push_back(s);
    std::sort(scores.begin(), scores.end());
#endif
}

__attribute__((noinline)) size_t Leaderboard::rank_of(Score s) const
{
    return std::lower_bound(scores.begin(), scores.end(), s) - scores.begin();
}

__attribute__((noinline)) Score play_match(uint32_t player)
{
    uint32_t x = player * 2654435761u + 12345;
    for (int i = 0; i < 2000; ++i)
        x = x * 1664525u + 1013904223u + (x >> 19);
    return {x >> 8, player};
}

__attribute__((noinline)) uint64_t run_season(Leaderboard &board, uint32_t matches)
{
    uint64_t check = 0;
    for (uint32_t m = 0; m < matches; ++m) {
        Score s = play_match(m);
        board.submit(s);
        check = check * 31 + board.rank_of(s);
    }
    return check;
}

int main()
{
    Leaderboard board;
    std::printf("season %llu\n", (unsigned long long)run_season(board, 7000));
    return 0;
}
