// SPDX-License-Identifier: BSD-3-Clause
// Spell checker command line tool: checks one document in one language.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

const char *const kLanguages[] = {"bg", "cs", "da", "de", "el", "en", "es", "fi",
                                  "fr", "hu", "it", "nl", "pl", "pt", "ro", "sv"};
constexpr uint32_t kWords = 200000;
constexpr uint32_t kSlots = 1 << 19;
constexpr int kDocumentWords = 400000;

struct Word {
    char text[15];
    uint8_t len;
};

// Stands for reading the n-th line of the word list of a language.
inline void make_word(uint32_t lang, uint32_t n, Word &w)
{
    uint32_t s = n * 2654435761u ^ lang * 40503u;
    w.len = 4 + s % 9;
    for (int i = 0; i < w.len; i++) {
        s = s * 1664525u + 1013904223u;
        w.text[i] = char('a' + (s >> 24) % 26);
    }
}

inline uint64_t hash_word(const Word &w)
{
    uint64_t h = 1469598103934665603ull;
    for (int i = 0; i < w.len; i++)
        h = (h ^ uint8_t(w.text[i])) * 1099511628211ull;
    return h ? h : 1;
}

} // namespace

class Dictionary {
public:
    __attribute__((noinline)) Dictionary(const std::string &lang) : code_(lang), slots_(kSlots)
    {
        load();
    }

    bool contains(const Word &w) const
    {
        const uint64_t h = hash_word(w);
        for (size_t i = (h >> 20) % kSlots; slots_[i]; i = (i + 1) % kSlots)
            if (slots_[i] == h)
                return true;
        return false;
    }

    uint32_t seed() const { return code_[0] * 256u + code_[1]; }

private:
    __attribute__((noinline)) void load()
    {
        Word w;
        for (uint32_t n = 0; n < kWords; n++) {
            make_word(seed(), n, w);
            const uint64_t h = hash_word(w);
            size_t i = (h >> 20) % kSlots;
            while (slots_[i] && slots_[i] != h)
                i = (i + 1) % kSlots;
            slots_[i] = h;
        }
    }

    std::string code_;
    std::vector<uint64_t> slots_;
};

class Registry {
public:
    __attribute__((noinline)) void init()
    {
#ifndef FIX
        for (const char *l : kLanguages)
            dicts_[l] = std::make_unique<Dictionary>(l);
#endif
    }

    __attribute__((noinline)) const Dictionary &get(const std::string &lang)
    {
        auto &d = dicts_[lang];
        if (!d)
            d = std::make_unique<Dictionary>(lang);
        return *d;
    }

private:
    std::map<std::string, std::unique_ptr<Dictionary>> dicts_;
};

__attribute__((noinline)) std::vector<Word> read_document(uint32_t seed)
{
    std::vector<Word> doc(kDocumentWords);
    for (int i = 0; i < kDocumentWords; i++)
        make_word(seed, (i * 7919u) % (kWords + 400), doc[i]);
    return doc;
}

__attribute__((noinline)) int check_document(const Dictionary &d, const std::vector<Word> &doc)
{
    int unknown = 0;
    for (const Word &w : doc)
        if (!d.contains(w))
            unknown++;
    return unknown;
}

int main()
{
    Registry registry;
    registry.init();
    const Dictionary &d = registry.get("en");
    const auto doc = read_document(d.seed());
    std::printf("words %zu unknown %d\n", doc.size(), check_document(d, doc));
    return 0;
}
