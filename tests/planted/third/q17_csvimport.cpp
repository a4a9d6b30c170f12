// SPDX-License-Identifier: BSD-3-Clause
// CSV import of sensor data. Many fields are empty or carry the marker "n/a";
// these count as missing values.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kRows = 40000;
constexpr int kFields = 8;

struct Column {
    int64_t sum = 0;
    int64_t count = 0;
    int64_t missing = 0;
};

} // namespace

__attribute__((noinline)) std::string make_csv()
{
    std::string text;
    text.reserve(kRows * 40);
    uint32_t s = 5;
    char num[16];
    for (int r = 0; r < kRows; r++) {
        for (int f = 0; f < kFields; f++) {
            s = s * 1664525u + 1013904223u;
            const unsigned k = (s >> 16) % 100;
            if (k < 30) {
                text += "n/a";
            } else if (k >= 45) {
                auto end = std::to_chars(num, num + sizeof(num), (s >> 8) % 100000).ptr;
                text.append(num, end - num);
            }
            text += f + 1 < kFields ? ',' : '\n';
        }
    }
    return text;
}

#ifdef FIX
__attribute__((noinline)) bool to_number(const std::string &field, int64_t &value)
{
    auto [p, ec] = std::from_chars(field.data(), field.data() + field.size(), value);
    return ec == std::errc();
}
#else
__attribute__((noinline)) bool to_number(const std::string &field, int64_t &value)
{
    try {
        value = std::stoll(field);
        return true;
    } catch (const std::invalid_argument &) {
        return false;
    }
}
#endif

__attribute__((noinline)) void add_field(Column &c, const std::string &field)
{
    int64_t v = 0;
    if (to_number(field, v)) {
        c.sum += v;
        c.count++;
    } else {
        c.missing++;
    }
}

__attribute__((noinline)) void import_csv(const std::string &text, std::vector<Column> &cols)
{
    std::string field;
    size_t col = 0, start = 0;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] != ',' && text[i] != '\n')
            continue;
        field.assign(text, start, i - start);
        add_field(cols[col], field);
        col = text[i] == '\n' ? 0 : col + 1;
        start = i + 1;
    }
}

int main()
{
    const std::string text = make_csv();
    std::vector<Column> cols(kFields);
    import_csv(text, cols);
    for (const auto &c : cols)
        std::printf("sum %lld count %lld missing %lld\n", (long long)c.sum, (long long)c.count,
                    (long long)c.missing);
    return 0;
}
