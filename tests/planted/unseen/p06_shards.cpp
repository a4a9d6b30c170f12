// SPDX-License-Identifier: BSD-3-Clause
// Search front end: scatters a query over index shards and merges the answers.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <thread>
#include <vector>

struct Hit {
    uint32_t doc;
    uint32_t score;
    bool operator<(const Hit &o) const
    {
        return score != o.score ? score > o.score : doc < o.doc;
    }
};
using Hits = std::vector<Hit>;

constexpr int kShards = 8;
constexpr int kQueries = 12;

// A remote shard needs a few milliseconds before its answer arrives.
__attribute__((noinline)) static void remote_latency(int shard)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + shard % 3));
}

__attribute__((noinline)) static Hits query_shard(int shard, uint32_t query)
{
    remote_latency(shard);
    Hits h;
    uint32_t x = query * 2654435761u + shard;
    for (uint32_t i = 0; i < 4000; i++) {
        x = x * 1664525u + 1013904223u;
        h.push_back({shard * 100000u + i, x >> 16});
    }
    std::partial_sort(h.begin(), h.begin() + 20, h.end());
    h.resize(20);
    return h;
}

__attribute__((noinline)) static void merge_into(Hits &all, const Hits &part)
{
    Hits out(all.size() + part.size());
    std::merge(all.begin(), all.end(), part.begin(), part.end(), out.begin());
    if (out.size() > 20)
        out.resize(20);
    all.swap(out);
}

__attribute__((noinline)) static Hits search(uint32_t query)
{
    Hits all;
#ifdef FIX
    std::vector<std::future<Hits>> pending;
    for (int s = 0; s < kShards; s++)
        pending.push_back(std::async(std::launch::async, query_shard, s, query));
    for (auto &f : pending)
        merge_into(all, f.get());
#else
    for (int s = 0; s < kShards; s++) {
        auto f = std::async(std::launch::async, query_shard, s, query);
        merge_into(all, f.get());
    }
#endif
    return all;
}

int main()
{
    uint64_t check = 0;
    for (uint32_t q = 0; q < kQueries; q++) {
        Hits h = search(q + 1);
        for (auto &e : h)
            check = check * 31 + e.doc + e.score;
    }
    printf("check %016llx\n", (unsigned long long)check);
}
