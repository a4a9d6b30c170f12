// SPDX-License-Identifier: BSD-3-Clause
// Discrete event simulation of a packet network: events are kept in a list
// ordered by time; handling an event schedules a new one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <vector>

namespace {

constexpr int kNodes = 1500;
constexpr int kEvents = 5000;

struct Event {
    uint64_t time;
    uint32_t node;
    uint32_t seq;
};

struct Later {
    bool operator()(const Event &a, const Event &b) const
    {
        return a.time != b.time ? a.time > b.time : a.seq > b.seq;
    }
};

struct Node {
    uint64_t packets = 0;
    uint64_t delay = 0;
    uint32_t rng = 0;
};

std::vector<Node> g_nodes(kNodes);
uint32_t g_seq = 0;

} // namespace

#ifdef FIX
class Calendar {
public:
    __attribute__((noinline)) void schedule(const Event &e) { heap_.push(e); }
    __attribute__((noinline)) Event next()
    {
        Event e = heap_.top();
        heap_.pop();
        return e;
    }

private:
    std::priority_queue<Event, std::vector<Event>, Later> heap_;
};
#else
class Calendar {
public:
    __attribute__((noinline)) void schedule(const Event &e)
    {
        events_.push_back(e);
        std::sort(events_.begin(), events_.end(), Later());
    }
    __attribute__((noinline)) Event next()
    {
        Event e = events_.back();
        events_.pop_back();
        return e;
    }

private:
    std::vector<Event> events_;
};
#endif

__attribute__((noinline)) Event handle_event(const Event &e)
{
    Node &n = g_nodes[e.node];
    uint32_t s = n.rng;
    for (int i = 0; i < 16000; i++)
        s = s * 1664525u + 1013904223u;
    n.rng = s;
    const uint64_t service = 10 + (s >> 20) % 500;
    n.packets++;
    n.delay += service;
    return {e.time + service, (e.node * 31 + (s >> 8)) % kNodes, g_seq++};
}

int main()
{
    Calendar cal;
    for (int i = 0; i < kNodes; i++) {
        g_nodes[i].rng = i + 1;
        cal.schedule({uint64_t(i % 97), uint32_t(i), g_seq++});
    }
    uint64_t now = 0;
    for (int i = 0; i < kEvents; i++) {
        const Event e = cal.next();
        now = e.time;
        cal.schedule(handle_event(e));
    }
    uint64_t packets = 0, delay = 0;
    for (const Node &n : g_nodes) {
        packets += n.packets;
        delay += n.delay;
    }
    std::printf("time %llu packets %llu delay %llu\n", (unsigned long long)now,
                (unsigned long long)packets, (unsigned long long)delay);
    return 0;
}
