// SPDX-License-Identifier: BSD-3-Clause
// Healthy: a two-stage pipeline with bounded queues; both stages have similar work.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

template <class T> class Queue {
    std::mutex mu_;
    std::condition_variable not_full_, not_empty_;
    std::deque<T> q_;
    size_t max_;
    bool closed_ = false;

public:
    explicit Queue(size_t max) : max_(max) {}
    void push(T v)
    {
        std::unique_lock<std::mutex> l(mu_);
        not_full_.wait(l, [&] { return q_.size() < max_; });
        q_.push_back(std::move(v));
        not_empty_.notify_one();
    }
    std::optional<T> pop()
    {
        std::unique_lock<std::mutex> l(mu_);
        not_empty_.wait(l, [&] { return closed_ || !q_.empty(); });
        if (q_.empty())
            return std::nullopt;
        T v = std::move(q_.front());
        q_.pop_front();
        not_full_.notify_one();
        return v;
    }
    void close()
    {
        std::lock_guard<std::mutex> g(mu_);
        closed_ = true;
        not_empty_.notify_all();
    }
};

using Batch = std::vector<uint32_t>;

// Stage one: make the records of a batch and sort them.
__attribute__((noinline)) static Batch produce_batch(int i)
{
    Batch b(15000);
    uint32_t x = i;
    for (auto &e : b)
        e = (x = x * 1664525u + 1013904223u) >> 4;
    std::sort(b.begin(), b.end());
    return b;
}

// Stage two: delta-encode the batch and compute its digest.
__attribute__((noinline)) static uint64_t encode_batch(const Batch &b)
{
    uint64_t h = 0;
    for (int round = 0; round < 28; round++) {
        uint32_t prev = 0;
        for (uint32_t v : b) {
            uint32_t d = v - prev;
            prev = v;
            h = (h ^ (d >> (round & 7))) * 1099511628211ull;
        }
    }
    return h;
}

int main()
{
    Queue<Batch> q(16);
    uint64_t digest = 0;
    std::thread consumer([&] {
        while (auto b = q.pop())
            digest = digest * 31 + encode_batch(*b);
    });
    for (int i = 0; i < 500; i++)
        q.push(produce_batch(i));
    q.close();
    consumer.join();
    printf("digest %016llx\n", (unsigned long long)digest);
}
