// SPDX-License-Identifier: BSD-3-Clause
// Healthy: counts the solutions of the N queens problem by backtracking with bit masks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// The last kTail rows are done by an iterative search, without further recursion.
constexpr int kTail = 7;

class Board {
    int n_;
    uint32_t all_;
    uint64_t nodes_ = 0;

    // Iterative search over the remaining rows, with an explicit stack.
    __attribute__((noinline)) uint64_t finish(uint32_t cols, uint32_t d1, uint32_t d2)
    {
        struct Frame {
            uint32_t cols, d1, d2, free;
        } st[32];
        int sp = 0;
        uint64_t found = 0;
        st[0] = {cols, d1, d2, all_ & ~(cols | d1 | d2)};
        while (sp >= 0) {
            Frame &f = st[sp];
            if (!f.free) {
                sp--;
                continue;
            }
            uint32_t bit = f.free & -f.free;
            f.free ^= bit;
            uint32_t c = f.cols | bit;
            if (c == all_) {
                found++;
                continue;
            }
            uint32_t a = (f.d1 | bit) << 1, b = (f.d2 | bit) >> 1;
            st[++sp] = {c, a, b, all_ & ~(c | a | b)};
        }
        return found;
    }

public:
    explicit Board(int n) : n_(n), all_((1u << n) - 1) {}

    __attribute__((noinline)) uint64_t place(int row, uint32_t cols, uint32_t d1, uint32_t d2)
    {
        nodes_++;
        if (n_ - row <= kTail)
            return finish(cols, d1, d2);
        uint64_t found = 0;
        for (uint32_t free = all_ & ~(cols | d1 | d2); free;) {
            uint32_t bit = free & -free;
            free ^= bit;
            found += place(row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1);
        }
        return found;
    }

    uint64_t nodes() const { return nodes_; }
};

int main()
{
    for (int n = 8; n <= 14; n++) {
        Board b(n);
        uint64_t s = b.place(0, 0, 0, 0);
        printf("%d queens: %llu solutions, %llu nodes\n", n, (unsigned long long)s, (unsigned long long)b.nodes());
    }
}
