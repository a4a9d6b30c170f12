// SPDX-License-Identifier: BSD-3-Clause
// Audio transcoder as a two-stage pipeline: a decoder thread produces blocks
// of samples, the main thread encodes them. Blocks pass through a bounded
// queue; both stages need about the same time per block.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kBlocks = 700;
constexpr int kSamples = 16384;
constexpr size_t kDepth = 8;

using Block = std::vector<int32_t>;

class BlockQueue {
public:
    __attribute__((noinline)) void push(Block &&b)
    {
        std::unique_lock<std::mutex> lock(m_);
        space_.wait(lock, [this] { return q_.size() < kDepth; });
        q_.push_back(std::move(b));
        data_.notify_one();
    }

    __attribute__((noinline)) Block pop()
    {
        std::unique_lock<std::mutex> lock(m_);
        data_.wait(lock, [this] { return !q_.empty(); });
        Block b = std::move(q_.front());
        q_.pop_front();
        space_.notify_one();
        return b;
    }

private:
    std::mutex m_;
    std::condition_variable space_, data_;
    std::deque<Block> q_;
};

BlockQueue g_queue;

} // namespace

__attribute__((noinline)) Block decode_block(int n)
{
    Block b(kSamples);
    uint32_t s = n * 977 + 1;
    int32_t y1 = 0, y2 = 0;
    for (int round = 0; round < 16; round++)
        for (auto &v : b) {
            s = s * 1664525u + 1013904223u;
            const int32_t x = int32_t(s >> 18) - 8192;
            const int32_t y = x + ((y1 * 7) >> 3) - ((y2 * 3) >> 3);
            y2 = y1;
            y1 = y;
            v = y;
        }
    return b;
}

__attribute__((noinline)) uint64_t encode_block(const Block &b)
{
    uint64_t h = 0;
    int32_t pred = 0;
    for (int round = 0; round < 34; round++)
        for (int32_t v : b) {
            const int32_t d = v - pred;
            pred += d >> 1;
            h = (h << 5 | h >> 59) ^ uint32_t(d);
        }
    return h;
}

__attribute__((noinline)) void decoder_stage()
{
    for (int n = 0; n < kBlocks; n++)
        g_queue.push(decode_block(n));
}

__attribute__((noinline)) uint64_t encoder_stage()
{
    uint64_t sum = 0;
    for (int n = 0; n < kBlocks; n++)
        sum = sum * 31 + encode_block(g_queue.pop());
    return sum;
}

int main()
{
    std::thread decoder(decoder_stage);
    const uint64_t sum = encoder_stage();
    decoder.join();
    std::printf("blocks %d digest %llx\n", kBlocks, (unsigned long long)sum);
    return 0;
}
