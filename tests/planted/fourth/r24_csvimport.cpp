// SPDX-License-Identifier: BSD-3-Clause
// Imports rows with mixed fields: numbers, or text such as "n/a".
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

struct Field {
    bool numeric = false;
    long value = 0;
};

__attribute__((noinline)) std::string read_field(int row, int column)
{
    if ((row + column) % 3 == 0)
        return "n/a";
    return std::to_string(row * 31 + column);
}

__attribute__((noinline)) long to_number(const std::string &text)
{
    char *end;
    long value = std::strtol(text.c_str(), &end, 10);
    if (end == text.c_str() || *end)
        throw std::invalid_argument("not a number");
    return value;
}

__attribute__((noinline)) Field parse_field(const std::string &text)
{
    Field f;
#ifdef FIX
    auto end = text.data() + text.size();
    auto result = std::from_chars(text.data(), end, f.value);
    f.numeric = result.ec == std::errc() && result.ptr == end;
    if (!f.numeric)
        f.value = 0;
#else
    try {
        f.value = to_number(text);
        f.numeric = true;
    } catch (const std::invalid_argument &) {
        f.value = 0;
    }
#endif
    return f;
}

__attribute__((noinline)) uint64_t import_row(int row, int columns)
{
    uint64_t sum = 0;
    for (int c = 0; c < columns; ++c) {
        Field f = parse_field(read_field(row, c));
        sum = sum * 7 + (f.numeric ? f.value : 1);
    }
    return sum;
}

int main()
{
    uint64_t check = 0;
    for (int row = 0; row < 90000; ++row)
        check += import_row(row, 9);
    std::printf("check %llu\n", (unsigned long long)check);
    return 0;
}
