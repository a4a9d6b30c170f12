// SPDX-License-Identifier: BSD-3-Clause
// Paragraph formatter: finds the line breaks with the least raggedness.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

class Paragraph {
    std::vector<std::string> words_;
    int width_;
    std::vector<double> memo_;
    std::vector<int> kern_;   // advance of a letter after another one

public:
    Paragraph(std::vector<std::string> w, int width)
        : words_(std::move(w)), width_(width), memo_(words_.size() + 1, -1.0), kern_(27 * 27)
    {
        for (int i = 0; i < 27 * 27; i++)
            kern_[i] = 8 + i * 5 % 4;
    }

    // Width of a line in units of a proportional font.
    int line_width(size_t first, size_t last) const
    {
        int w = 0;
        for (size_t i = first; i <= last; i++) {
            int prev = 0;
            for (char c : words_[i]) {
                w += kern_[prev * 27 + (c - 'a' + 1)];
                prev = c - 'a' + 1;
            }
            w += 6;
        }
        return w - 6;
    }

    // Cost of the best layout of the words from first on.
    __attribute__((noinline)) double best_from(size_t first)
    {
        if (first == words_.size())
            return 0;
#ifdef FIX
        if (memo_[first] >= 0)
            return memo_[first];
#endif
        double best = std::numeric_limits<double>::infinity();
        for (size_t last = first; last < words_.size(); last++) {
            int used = line_width(first, last);
            if (used > width_ && last > first)
                break;
            double slack = width_ > used ? width_ - used : 0;
            double cost = last + 1 == words_.size() ? 0 : slack * slack * std::sqrt(slack);
            double c = cost + best_from(last + 1);
            if (c < best)
                best = c;
        }
        memo_[first] = best;
        return best;
    }

    size_t size() const { return words_.size(); }
};

__attribute__((noinline)) static std::vector<std::string> make_words(int n, uint32_t seed)
{
    std::vector<std::string> w;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        w.emplace_back(4 + (seed >> 20) % 9, 'a');
        for (auto &c : w.back())
            c = char('a' + ((seed = seed * 1664525u + 1013904223u) >> 24) % 26);
    }
    return w;
}

// Spelling score of a paragraph: independent of the layout.
__attribute__((noinline)) static uint64_t spell_check(const std::vector<std::string> &words)
{
    uint64_t h = 0;
    for (int round = 0; round < 40000; round++)
        for (auto &w : words)
            for (char c : w)
                h = (h ^ uint8_t(c + round)) * 1099511628211ull;
    return h;
}

int main()
{
    double total = 0;
    uint64_t spell = 0;
    for (uint32_t p = 0; p < 13; p++) {
        auto words = make_words(20, p * 77 + 5);
        spell += spell_check(words);
        Paragraph para(words, 290);
        total += para.best_from(0);
    }
    printf("total %.4f spell %016llx\n", total, (unsigned long long)spell);
}
