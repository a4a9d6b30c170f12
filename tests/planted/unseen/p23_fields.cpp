// SPDX-License-Identifier: BSD-3-Clause
// Data import: decides for every field whether it is a number or a text.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using Value = std::variant<int, std::string>;

__attribute__((noinline)) static Value parse_field(std::string_view s)
{
#ifdef FIX
    int v = 0;
    auto [p, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (ec == std::errc() && p == s.data() + s.size())
        return v;
    return std::string(s);
#else
    try {
        size_t used = 0;
        int v = std::stoi(std::string(s), &used);
        if (used != s.size())
            throw std::invalid_argument("trailing characters");
        return v;
    } catch (const std::exception &) {
        return std::string(s);
    }
#endif
}

struct Column {
    long numbers = 0, texts = 0;
    uint64_t sum = 0;
};

__attribute__((noinline)) static void import_row(std::string_view row, std::vector<Column> &cols)
{
    size_t c = 0;
    while (!row.empty() && c < cols.size()) {
        size_t k = row.find(',');
        Value v = parse_field(row.substr(0, k));
        if (auto *i = std::get_if<int>(&v)) {
            cols[c].numbers++;
            cols[c].sum += uint64_t(*i);
        } else {
            cols[c].texts++;
            for (char ch : std::get<std::string>(v))
                cols[c].sum = cols[c].sum * 31 + uint8_t(ch);
        }
        c++;
        if (k == row.npos)
            break;
        row.remove_prefix(k + 1);
    }
}

__attribute__((noinline)) static std::string make_row(uint32_t &x)
{
    x = x * 1664525u + 1013904223u;
    uint32_t v = x >> 8;
    return std::to_string(v % 10000) + ",name" + std::to_string(v % 300) + ",n/a," + std::to_string(v % 77) + "," +
           std::to_string(v % 12 + 1) + "-feb,blue";
}

int main()
{
    std::vector<Column> cols(6);
    uint32_t x = 3;
    for (int i = 0; i < 45000; i++)
        import_row(make_row(x), cols);
    for (auto &c : cols)
        printf("%ld numbers %ld texts sum %016llx\n", c.numbers, c.texts, (unsigned long long)c.sum);
}
