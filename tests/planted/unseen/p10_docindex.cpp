// SPDX-License-Identifier: BSD-3-Clause
// Document indexer: counts word shapes of many short documents in parallel.
#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// Per-thread classification table of the tokenizer.
struct Tokenizer {
    std::array<uint16_t, 65536> pair;
    Tokenizer()
    {
        for (unsigned i = 0; i < pair.size(); i++) {
            unsigned a = i >> 8, b = i & 255;
            bool wa = (a >= 'a' && a <= 'z'), wb = (b >= 'a' && b <= 'z');
            pair[i] = uint16_t((wa ? 1 : 0) | (wb ? 2 : 0) | ((a * 7 + b) % 61) << 2);
        }
    }
    __attribute__((noinline)) uint64_t scan(const std::string &s) const
    {
        uint64_t h = 0, words = 0;
        for (size_t i = 1; i < s.size(); i++) {
            uint16_t p = pair[uint8_t(s[i - 1]) << 8 | uint8_t(s[i])];
            if ((p & 3) == 1)
                words++;
            h = h * 33 + (p >> 2);
        }
        return words * 1000003 + (h & 0xffff);
    }
};

static thread_local std::unique_ptr<Tokenizer> tokenizer;

__attribute__((noinline)) static void index_document(const std::string &doc, uint64_t &out)
{
    if (!tokenizer)
        tokenizer = std::make_unique<Tokenizer>();
    out = tokenizer->scan(doc);
}

__attribute__((noinline)) static std::vector<std::string> load_documents(int n)
{
    std::vector<std::string> docs(n);
    uint32_t x = 4711;
    for (auto &d : docs) {
        d.resize(6000);
        for (auto &c : d) {
            x = x * 1664525u + 1013904223u;
            c = (x >> 28) == 0 ? ' ' : char('a' + (x >> 16) % 26);
        }
    }
    return docs;
}

__attribute__((noinline)) static void index_all(const std::vector<std::string> &docs, std::vector<uint64_t> &res)
{
#ifdef FIX
    std::atomic<size_t> next{0};
    auto work = [&] {
        for (size_t i; (i = next.fetch_add(16)) < docs.size();)
            for (size_t k = i; k < i + 16 && k < docs.size(); k++)
                index_document(docs[k], res[k]);
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
#else
    for (size_t i = 0; i < docs.size(); i += 2) {
        std::thread a(index_document, std::cref(docs[i]), std::ref(res[i]));
        std::thread b(index_document, std::cref(docs[i + 1]), std::ref(res[i + 1]));
        a.join();
        b.join();
    }
#endif
}

int main()
{
    auto docs = load_documents(4000);
    std::vector<uint64_t> res(docs.size());
    index_all(docs, res);
    uint64_t sum = 0;
    for (auto r : res)
        sum = sum * 31 + r;
    printf("sum %016llx\n", (unsigned long long)sum);
}
