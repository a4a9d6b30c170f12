// SPDX-License-Identifier: BSD-3-Clause
// Session cache in front of a slow user directory, used by request threads.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace std::chrono_literals;

struct Session {
    int user;
    uint64_t rights;
};

// The directory answers a query after a few milliseconds.
__attribute__((noinline)) static Session directory_query(int user)
{
    std::this_thread::sleep_for(4ms);
    return {user, uint64_t(user) * 0x9e3779b97f4a7c15ull};
}

class SessionCache {
    std::mutex mu_;
    std::unordered_map<int, Session> map_;

    std::optional<Session> find(int user)
    {
        auto it = map_.find(user);
        if (it == map_.end())
            return std::nullopt;
        return it->second;
    }

public:
    __attribute__((noinline)) Session get(int user)
    {
#ifdef FIX
        {
            std::lock_guard<std::mutex> g(mu_);
            if (auto s = find(user))
                return *s;
        }
        Session fresh = directory_query(user);
        std::lock_guard<std::mutex> g(mu_);
        map_.emplace(user, fresh);
        return fresh;
#else
        std::lock_guard<std::mutex> g(mu_);
        if (auto s = find(user))
            return *s;
        Session fresh = directory_query(user);
        map_.emplace(user, fresh);
        return fresh;
#endif
    }
};

__attribute__((noinline)) static uint64_t render_page(const Session &s, int page)
{
    uint64_t h = s.rights + page;
    for (int i = 0; i < 20000; i++)
        h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull + i;
    return h & 0xffff;
}

static void serve(SessionCache &cache, int id, std::atomic<uint64_t> &sum)
{
    uint64_t local = 0;
    // Every thread serves its own users, five pages per user.
    for (int u = 0; u < 30; u++)
        for (int page = 0; page < 5; page++) {
            Session s = cache.get(id * 1000 + u);
            local += render_page(s, page);
        }
    sum += local;
}

int main()
{
    SessionCache cache;
    std::atomic<uint64_t> sum{0};
    std::vector<std::thread> pool;
    for (int i = 0; i < 5; i++)
        pool.emplace_back(serve, std::ref(cache), i, std::ref(sum));
    for (auto &t : pool)
        t.join();
    printf("sum %llu\n", (unsigned long long)sum.load());
}
