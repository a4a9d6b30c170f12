// SPDX-License-Identifier: BSD-3-Clause
// Thread pool of two workers: jobs of different size are taken from a common
// queue under a short lock; results go to a sharded cache.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kWorkers = 2;
constexpr int kJobs = 1200;
constexpr int kShards = 16;

struct Job {
    int id;
    int size;
};

class JobQueue {
public:
    __attribute__((noinline)) void submit(Job j)
    {
        {
            std::lock_guard<std::mutex> lock(m_);
            q_.push_back(j);
        }
        cv_.notify_one();
    }
    __attribute__((noinline)) bool take(Job &j)
    {
        std::unique_lock<std::mutex> lock(m_);
        cv_.wait(lock, [this] { return closed_ || !q_.empty(); });
        if (q_.empty())
            return false;
        j = q_.front();
        q_.pop_front();
        return true;
    }
    void close()
    {
        {
            std::lock_guard<std::mutex> lock(m_);
            closed_ = true;
        }
        cv_.notify_all();
    }

private:
    std::mutex m_;
    std::condition_variable cv_;
    std::deque<Job> q_;
    bool closed_ = false;
};

struct Shard {
    std::mutex m;
    std::unordered_map<int, uint64_t> map;
};

JobQueue g_jobs;
std::array<Shard, kShards> g_cache;

} // namespace

__attribute__((noinline)) uint64_t run_job(const Job &j)
{
    uint64_t x = j.id + 1;
    for (int i = 0; i < j.size; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

__attribute__((noinline)) void store_result(int id, uint64_t value)
{
    Shard &s = g_cache[id % kShards];
    std::lock_guard<std::mutex> lock(s.m);
    s.map[id] = value;
}

__attribute__((noinline)) void pool_worker()
{
    Job j;
    while (g_jobs.take(j))
        store_result(j.id, run_job(j));
}

int main()
{
    std::vector<std::thread> pool;
    for (int i = 0; i < kWorkers; i++)
        pool.emplace_back(pool_worker);
    for (int i = 0; i < kJobs; i++)
        g_jobs.submit({i, 150000 + (i * 7919) % 300000});
    g_jobs.close();
    for (auto &t : pool)
        t.join();

    uint64_t sum = 0;
    for (auto &s : g_cache)
        for (auto &[id, v] : s.map)
            sum += v ^ id;
    std::printf("jobs %d sum %llx\n", kJobs, (unsigned long long)sum);
    return 0;
}
