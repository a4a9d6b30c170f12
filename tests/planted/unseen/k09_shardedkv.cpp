// SPDX-License-Identifier: BSD-3-Clause
// Healthy: a sharded counter store; the locks are short and rarely contended.
#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

class Store {
    struct alignas(64) Shard {
        std::mutex mu;
        std::unordered_map<uint64_t, uint64_t> map;
    };
    std::array<Shard, 64> shards_;

public:
    Store()
    {
        for (auto &s : shards_)
            s.map.reserve(600);
    }
    void add(uint64_t key, uint64_t n)
    {
        Shard &s = shards_[(key * 0x9e3779b97f4a7c15ull) >> 58];
        std::lock_guard<std::mutex> g(s.mu);
        s.map[key] += n;
    }
    __attribute__((noinline)) uint64_t total()
    {
        uint64_t t = 0;
        for (auto &s : shards_) {
            std::lock_guard<std::mutex> g(s.mu);
            for (auto &[k, v] : s.map)
                t += k * v;
        }
        return t;
    }
};

// Scores one event; the expensive part, done without any lock.
__attribute__((noinline)) static uint64_t score_event(uint64_t x)
{
    for (int i = 0; i < 1500; i++)
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull + i;
    return x & 1023;
}

__attribute__((noinline)) static void ingest(Store &s, int id, int events)
{
    uint64_t x = 1000 + id;
    for (int i = 0; i < events; i++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        s.add((x >> 40) % 20000, score_event(x));
    }
}

int main()
{
    Store s;
    std::vector<std::thread> t;
    for (int i = 0; i < 2; i++)
        t.emplace_back(ingest, std::ref(s), i, 150000);
    for (auto &x : t)
        x.join();
    printf("total %llu\n", (unsigned long long)s.total());
}
