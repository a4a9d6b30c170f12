// SPDX-License-Identifier: BSD-3-Clause
// A healthy thread pool: two workers, tasks of some milliseconds.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int count);
    ~Pool();
    void submit(std::function<void()> task);
private:
    void run();
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<std::function<void()>> tasks;
    std::vector<std::thread> workers;
    bool closing = false;
};

Pool::Pool(int count)
{
    for (int i = 0; i < count; ++i)
        workers.emplace_back(&Pool::run, this);
}

Pool::~Pool()
{
    {
        std::lock_guard<std::mutex> lock(mutex);
        closing = true;
    }
    ready.notify_all();
    for (auto &w : workers)
        w.join();
}

__attribute__((noinline)) void Pool::submit(std::function<void()> task)
{
    {
        std::lock_guard<std::mutex> lock(mutex);
        tasks.push_back(std::move(task));
    }
    ready.notify_one();
}

__attribute__((noinline)) void Pool::run()
{
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex);
        ready.wait(lock, [this] { return closing || !tasks.empty(); });
        if (tasks.empty())
            return;
        auto task = std::move(tasks.front());
        tasks.pop_front();
        lock.unlock();
        task();
    }
}

__attribute__((noinline)) uint32_t trace_block(int block)
{
    uint32_t x = block + 1;
    for (int i = 0; i < 2200000; ++i)
        x = x * 1664525u + 1013904223u + (x >> 16);
    return x;
}

int main()
{
    std::vector<uint32_t> image(400);
    {
        Pool pool(2);
        for (int b = 0; b < 400; ++b)
            pool.submit([&image, b] { image[b] = trace_block(b); });
    }
    uint64_t sum = 0;
    for (uint32_t v : image)
        sum = sum * 31 + v;
    std::printf("image %llu\n", (unsigned long long)sum);
    return 0;
}
