// SPDX-License-Identifier: BSD-3-Clause
// Exact solution counting of the n-queens problem with bit masks; the upper
// part of the search tree is explored by visible recursive calls, the last
// rows by an iterative kernel.
#include <cstdint>
#include <cstdio>

namespace {

constexpr int kSmallest = 9;
constexpr int kLargest = 14;
constexpr int kVisibleDepth = 6;

uint32_t g_full; // all columns of the current board

struct Counters {
    uint64_t solutions = 0;
    uint64_t subtrees = 0;
};

} // namespace

// Counts the completions of a partial placement without recursion.
__attribute__((noinline)) uint64_t count_subtree(uint32_t cols, uint32_t left, uint32_t right)
{
    struct Level {
        uint32_t cols, left, right, avail;
    } stack[kLargest + 1];
    const uint32_t full = g_full;
    uint64_t found = 0;
    int depth = 0;
    stack[0] = {cols, left, right, full & ~(cols | left | right)};
    while (depth >= 0) {
        Level &l = stack[depth];
        if (!l.avail) {
            depth--;
            continue;
        }
        const uint32_t bit = l.avail & -l.avail;
        l.avail ^= bit;
        const uint32_t c = l.cols | bit;
        if (c == full) {
            found++;
            continue;
        }
        const uint32_t nl = (l.left | bit) << 1, nr = (l.right | bit) >> 1;
        const uint32_t avail = full & ~(c | nl | nr);
        if (avail)
            stack[++depth] = {c, nl, nr, avail};
    }
    return found;
}

__attribute__((noinline)) void place_queens(int row, uint32_t cols, uint32_t left, uint32_t right,
                                            Counters &c)
{
    if (row == kVisibleDepth) {
        c.subtrees++;
        c.solutions += count_subtree(cols, left, right);
        return;
    }
    uint32_t avail = g_full & ~(cols | left | right);
    while (avail) {
        const uint32_t bit = avail & -avail;
        avail ^= bit;
        place_queens(row + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1, c);
    }
}

int main()
{
    for (int board = kSmallest; board <= kLargest; board++) {
        Counters c;
        g_full = (1u << board) - 1;
        place_queens(0, 0, 0, 0, c);
        std::printf("board %d subtrees %llu solutions %llu\n", board,
                    (unsigned long long)c.subtrees, (unsigned long long)c.solutions);
    }
    return 0;
}
