// SPDX-License-Identifier: BSD-3-Clause
// Data capture: one thread receives blocks from a device, another compresses them.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using Block = std::vector<uint8_t>;
constexpr int kBlocks = 220;

#ifdef FIX
constexpr size_t kDepth = 8;
#else
constexpr size_t kDepth = 1;
#endif

// Blocks count as outstanding until the compressor has finished with them.
class Channel {
    std::mutex mu_;
    std::condition_variable room_, avail_;
    std::deque<Block> q_;
    size_t outstanding_ = 0;
    bool closed_ = false;

public:
    __attribute__((noinline)) void wait_room()
    {
        std::unique_lock<std::mutex> l(mu_);
        room_.wait(l, [&] { return outstanding_ < kDepth; });
        outstanding_++;
    }
    void push(Block b)
    {
        std::lock_guard<std::mutex> g(mu_);
        q_.push_back(std::move(b));
        avail_.notify_one();
    }
    void close()
    {
        std::lock_guard<std::mutex> g(mu_);
        closed_ = true;
        avail_.notify_one();
    }
    __attribute__((noinline)) bool pop(Block &b)
    {
        std::unique_lock<std::mutex> l(mu_);
        avail_.wait(l, [&] { return closed_ || !q_.empty(); });
        if (q_.empty())
            return false;
        b = std::move(q_.front());
        q_.pop_front();
        return true;
    }
    void finished()
    {
        std::lock_guard<std::mutex> g(mu_);
        outstanding_--;
        room_.notify_one();
    }
};

// The device delivers a block two milliseconds after it was asked for one.
__attribute__((noinline)) static Block receive_block(int i)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Block b(16384);
    uint32_t x = i;
    for (auto &e : b)
        e = uint8_t((x = x * 1664525u + 1013904223u) >> 27);
    return b;
}

__attribute__((noinline)) static uint64_t compress_block(const Block &b)
{
    uint64_t h = 7;
    uint32_t last[256] = {};
    for (int pass = 0; pass < 70; pass++)
        for (uint32_t i = 0; i < b.size(); i++) {
            uint32_t c = b[i] ^ uint8_t(pass);
            h = (h << 5) + h + (i - last[c]);
            last[c] = i;
        }
    return h;
}

static void capture(Channel &ch)
{
    for (int i = 0; i < kBlocks; i++) {
        ch.wait_room();
        ch.push(receive_block(i));
    }
    ch.close();
}

int main()
{
    Channel ch;
    std::thread producer(capture, std::ref(ch));
    uint64_t sum = 0;
    Block b;
    while (ch.pop(b)) {
        sum = sum * 31 + compress_block(b);
        ch.finished();
    }
    producer.join();
    printf("sum %016llx\n", (unsigned long long)sum);
}
