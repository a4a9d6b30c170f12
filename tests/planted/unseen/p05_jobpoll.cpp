// SPDX-License-Identifier: BSD-3-Clause
// Job server: a front end submits jobs to one back-end thread and waits for each result.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Job {
    int id = 0;
    uint64_t result = 0;
    bool done = false;
    std::mutex mu;
    std::condition_variable cv;
};

class Backend {
    std::mutex mu_;
    std::condition_variable cv_;
    std::deque<std::shared_ptr<Job>> queue_;
    bool stop_ = false;
    std::thread thread_;

    __attribute__((noinline)) static uint64_t execute(int id)
    {
        std::vector<uint32_t> v(30000);
        uint32_t x = 17 + id;
        for (auto &e : v)
            e = x = x * 1664525u + 1013904223u;
        uint64_t acc = 0;
        for (int round = 0; round < 40; round++)
            for (size_t i = 1; i < v.size(); i++) {
                v[i] ^= v[i - 1] >> 3;
                acc += v[i];
            }
        return acc;
    }

    void loop()
    {
        for (;;) {
            std::shared_ptr<Job> j;
            {
                std::unique_lock<std::mutex> l(mu_);
                cv_.wait(l, [&] { return stop_ || !queue_.empty(); });
                if (queue_.empty())
                    return;
                j = queue_.front();
                queue_.pop_front();
            }
            uint64_t r = execute(j->id);
            std::lock_guard<std::mutex> g(j->mu);
            j->result = r;
            j->done = true;
            j->cv.notify_one();
        }
    }

public:
    Backend() : thread_([this] { loop(); }) {}
    ~Backend()
    {
        {
            std::lock_guard<std::mutex> g(mu_);
            stop_ = true;
        }
        cv_.notify_one();
        thread_.join();
    }
    void submit(std::shared_ptr<Job> j)
    {
        std::lock_guard<std::mutex> g(mu_);
        queue_.push_back(std::move(j));
        cv_.notify_one();
    }
};

__attribute__((noinline)) static bool is_done(Job &j)
{
    std::lock_guard<std::mutex> g(j.mu);
    return j.done;
}

__attribute__((noinline)) static uint64_t wait_result(Job &j)
{
#ifdef FIX
    std::unique_lock<std::mutex> l(j.mu);
    j.cv.wait(l, [&] { return j.done; });
#else
    while (!is_done(j))
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
#endif
    return j.result;
}

int main()
{
    Backend b;
    uint64_t sum = 0;
    for (int i = 0; i < 60; i++) {
        auto j = std::make_shared<Job>();
        j->id = i;
        b.submit(j);
        sum += wait_result(*j);
    }
    printf("sum %llu\n", (unsigned long long)sum);
}
