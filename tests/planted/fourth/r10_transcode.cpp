// SPDX-License-Identifier: BSD-3-Clause
// A transcoding pipeline: reader -> encoder(s) -> muxer, bounded queues.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Packet {
    int number = -1;
    std::vector<uint8_t> data;
    uint32_t check = 0;
};

class PacketQueue {
public:
    void push(Packet p);
    Packet pop();
private:
    std::mutex mutex;
    std::condition_variable not_empty, not_full;
    std::deque<Packet> items;
};

__attribute__((noinline)) void PacketQueue::push(Packet p)
{
    std::unique_lock<std::mutex> lock(mutex);
    not_full.wait(lock, [this] { return items.size() < 8; });
    items.push_back(std::move(p));
    not_empty.notify_one();
}

__attribute__((noinline)) Packet PacketQueue::pop()
{
    std::unique_lock<std::mutex> lock(mutex);
    not_empty.wait(lock, [this] { return !items.empty(); });
    Packet p = std::move(items.front());
    items.pop_front();
    not_full.notify_one();
    return p;
}

#ifdef FIX
static const int encoders = 2;
#else
static const int encoders = 1;
#endif
static const int packets = 600;

__attribute__((noinline)) void fill_packet(Packet &p)
{
    p.data.resize(16384);
    uint32_t x = p.number + 1;
    for (auto &b : p.data)
        b = (x = x * 1664525u + 1013904223u) >> 24;
}

__attribute__((noinline)) void encode_packet(Packet &p)
{
    uint32_t h = 0;
    for (int pass = 0; pass < 75; ++pass)
        for (uint8_t b : p.data)
            h = (h ^ b) * 16777619u;
    p.check = h;
}

void reader_main(PacketQueue *out)
{
    for (int i = 0; i < packets; ++i) {
        Packet p;
        p.number = i;
        fill_packet(p);
        out->push(std::move(p));
    }
    for (int i = 0; i < encoders; ++i)
        out->push(Packet());
}

void encoder_main(PacketQueue *in, PacketQueue *out)
{
    for (;;) {
        Packet p = in->pop();
        if (p.number < 0)
            break;
        encode_packet(p);
        out->push(std::move(p));
    }
}

int main()
{
    PacketQueue raw, coded;
    std::vector<std::thread> threads;
    threads.emplace_back(reader_main, &raw);
    for (int i = 0; i < encoders; ++i)
        threads.emplace_back(encoder_main, &raw, &coded);
    uint64_t sum = 0;
    for (int i = 0; i < packets; ++i) {
        Packet p = coded.pop();
        sum += uint64_t(p.check) * (p.number + 1);
    }
    for (auto &t : threads)
        t.join();
    std::printf("stream %llu\n", (unsigned long long)sum);
    return 0;
}
