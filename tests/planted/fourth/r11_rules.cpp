// SPDX-License-Identifier: BSD-3-Clause
// Classifies messages by a table of rules.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Rule {
    char name[64];
    char needle[32];
    int weight;
};

#ifdef FIX
using RuleTable = const std::vector<Rule> &;
#else
using RuleTable = std::vector<Rule>;
#endif

__attribute__((noinline)) std::vector<Rule> load_rules()
{
    std::vector<Rule> rules(512);
    for (int i = 0; i < 512; ++i) {
        std::snprintf(rules[i].name, sizeof rules[i].name, "rule %d of the default policy", i);
        std::snprintf(rules[i].needle, sizeof rules[i].needle, "token-%d", i * 37 % 512);
        rules[i].weight = i % 7 + 1;
    }
    return rules;
}

__attribute__((noinline)) int next_message(char *message, size_t size, int number)
{
    return std::snprintf(message, size, "id %d from host token-%d", number, number % 512);
}

static uint32_t hash_text(const char *text, int length)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < length; ++i)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return h;
}

__attribute__((noinline)) int score_message(RuleTable rules, const char *message, int length)
{
    uint32_t h = hash_text(message, length);
    int score = 0;
    for (int probe = 0; probe < 8; ++probe) {
        const Rule &r = rules[(h + probe * 61) % rules.size()];
        if (r.needle[6] == message[length - 1])
            score += r.weight;
    }
    return score;
}

__attribute__((noinline)) long classify_all(const std::vector<Rule> &rules, int count)
{
    long total = 0;
    char message[96];
    for (int i = 0; i < count; ++i) {
        int length = next_message(message, sizeof message, i);
        total += score_message(rules, message, length);
    }
    return total;
}

int main()
{
    std::vector<Rule> rules = load_rules();
    std::printf("total %ld\n", classify_all(rules, 250000));
    return 0;
}
