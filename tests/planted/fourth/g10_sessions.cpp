// SPDX-License-Identifier: BSD-3-Clause
// A session table with 64 shards: many short locks, hardly ever contended.
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

class SessionTable {
public:
    uint32_t touch(uint32_t session, uint32_t stamp);
    uint64_t count() const;
private:
    struct alignas(64) Shard {
        std::mutex mutex;
        std::unordered_map<uint32_t, uint32_t> hits;
    };
    Shard shards[64];
};

__attribute__((noinline)) uint32_t SessionTable::touch(uint32_t session, uint32_t stamp)
{
    Shard &shard = shards[session * 2654435761u >> 26];
    std::lock_guard<std::mutex> lock(shard.mutex);
    shard.hits[session] += 1;
    return stamp;
}

uint64_t SessionTable::count() const
{
    uint64_t sum = 0;
    for (const Shard &s : shards)
        for (auto &[session, hits] : s.hits)
            sum += uint64_t(session) * hits;
    return sum;
}

__attribute__((noinline)) uint32_t verify_token(uint32_t token)
{
    for (int i = 0; i < 2500; ++i)
        token = token * 1664525u + 1013904223u + (token >> 15);
    return token;
}

__attribute__((noinline)) void serve_requests(SessionTable *table, uint32_t id, uint64_t *result)
{
    uint64_t sum = 0;
    uint32_t x = id * 77 + 1;
    for (int i = 0; i < 150000; ++i) {
        x = x * 1103515245u + 12345u;
        sum += table->touch(x >> 19, verify_token(x));
    }
    *result = sum;
}

int main()
{
    SessionTable table;
    uint64_t result[2] = {0, 0};
    std::thread a(serve_requests, &table, 1, &result[0]);
    std::thread b(serve_requests, &table, 2, &result[1]);
    a.join();
    b.join();
    std::printf("sessions %llu\n", (unsigned long long)(result[0] + result[1] + table.count()));
    return 0;
}
