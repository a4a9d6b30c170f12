// SPDX-License-Identifier: BSD-3-Clause
// Healthy: word frequencies of a large text with a hash map, then the most frequent words.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using Counts = std::unordered_map<std::string_view, uint32_t>;

__attribute__((noinline)) static std::string make_text(size_t words)
{
    std::string t(words * 12, ' ');
    char *p = t.data();
    uint32_t x = 11;
    for (size_t i = 0; i < words; i++) {
        x = x * 1664525u + 1013904223u;
        uint32_t w = (x >> 16) % 2000 * ((x >> 5) % 300) + 7;
        while (w) {
            *p++ = char('a' + w % 26);
            w /= 5;
        }
        *p++ = i % 12 == 11 ? '\n' : ' ';
    }
    t.resize(size_t(p - t.data()));
    return t;
}

__attribute__((noinline)) static Counts count_words(std::string_view text)
{
    Counts c;
    c.reserve(400000);
    size_t i = 0;
    while (i < text.size()) {
        size_t j = i;
        while (j < text.size() && text[j] >= 'a')
            j++;
        if (j > i)
            c[text.substr(i, j - i)]++;
        i = j + 1;
    }
    return c;
}

__attribute__((noinline)) static std::vector<std::pair<std::string_view, uint32_t>> top(const Counts &c, size_t n)
{
    std::vector<std::pair<std::string_view, uint32_t>> v(c.begin(), c.end());
    n = std::min(n, v.size());
    std::partial_sort(v.begin(), v.begin() + n, v.end(), [](const auto &a, const auto &b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    v.resize(n);
    return v;
}

int main()
{
    std::string text = make_text(900000);
    Counts c = count_words(text);
    printf("%zu bytes, %zu different words\n", text.size(), c.size());
    for (auto &[w, n] : top(c, 12))
        printf("%8u %.*s\n", n, int(w.size()), w.data());
}
