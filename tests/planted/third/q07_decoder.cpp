// SPDX-License-Identifier: BSD-3-Clause
// Market data feed: a decoder thread hands ticks to a book builder thread
// through a bounded queue.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kTicks = 80000;
constexpr int kInstruments = 256;
#ifdef FIX
constexpr size_t kQueueCapacity = 1024;
#else
constexpr size_t kQueueCapacity = 1;
#endif

struct Tick {
    int instrument;
    int price;
    int quantity;
};

class TickQueue {
public:
    __attribute__((noinline)) void push(const Tick &t)
    {
        std::unique_lock<std::mutex> lock(mtx_);
        not_full_.wait(lock, [this] { return items_.size() < kQueueCapacity; });
        items_.push_back(t);
        if (items_.size() == 1)
            not_empty_.notify_one();
    }

    __attribute__((noinline)) bool pop(std::vector<Tick> &out)
    {
        std::unique_lock<std::mutex> lock(mtx_);
        not_empty_.wait(lock, [this] { return closed_ || !items_.empty(); });
        if (items_.empty())
            return false;
        out.assign(items_.begin(), items_.end());
        items_.clear();
        not_full_.notify_one();
        return true;
    }

    void close()
    {
        std::lock_guard<std::mutex> lock(mtx_);
        closed_ = true;
        not_empty_.notify_one();
    }

private:
    std::mutex mtx_;
    std::condition_variable not_full_, not_empty_;
    std::deque<Tick> items_;
    bool closed_ = false;
};

struct Book {
    int64_t volume = 0;
    double vwap = 0;
    int levels[32] = {};
};

TickQueue g_queue;
Book g_books[kInstruments];

} // namespace

__attribute__((noinline)) Tick decode_tick(uint64_t &state)
{
    for (int i = 0; i < 120; i++)
        state = state * 6364136223846793005ull + 1442695040888963407ull;
    Tick t;
    t.instrument = (state >> 33) % kInstruments;
    t.price = 1000 + (state >> 41) % 500;
    t.quantity = 1 + (state >> 53) % 100;
    return t;
}

__attribute__((noinline)) void apply_tick(const Tick &t)
{
    Book &b = g_books[t.instrument];
    b.vwap = (b.vwap * b.volume + double(t.price) * t.quantity) / (b.volume + t.quantity);
    b.volume += t.quantity;
    for (int l = 0; l < 32; l++)
        b.levels[l] = (b.levels[l] * 7 + t.price + l) & 0xffff;
}

__attribute__((noinline)) void decoder()
{
    uint64_t state = 42;
    for (int i = 0; i < kTicks; i++)
        g_queue.push(decode_tick(state));
    g_queue.close();
}

__attribute__((noinline)) void book_builder()
{
    std::vector<Tick> batch;
    while (g_queue.pop(batch))
        for (const Tick &t : batch)
            apply_tick(t);
}

int main()
{
    std::thread consumer(book_builder);
    std::thread producer(decoder);
    producer.join();
    consumer.join();

    int64_t volume = 0;
    long levels = 0;
    for (const Book &b : g_books) {
        volume += b.volume;
        for (int l : b.levels)
            levels += l;
    }
    std::printf("ticks %d volume %lld levels %ld\n", kTicks, (long long)volume, levels);
    return 0;
}
