// SPDX-License-Identifier: BSD-3-Clause
// Game server: two threads simulate the world; a snapshot thread and an audit
// thread each wait for the end of a tick and process the published state.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kBodies = 12000;
constexpr int kTicks = 30;
constexpr int kSubSteps = 240;

struct Body {
    float x, y, vx, vy;
};

std::vector<Body> g_world(kBodies);
std::atomic<int> g_finished[2];
std::atomic<int> g_tick_done{0};
std::atomic<int> g_audited{0}, g_saved{0};
double g_energy = 0;
uint64_t g_snapshot_hash = 0;

inline void cpu_relax()
{
    for (int i = 0; i < 40; i++)
        __builtin_ia32_pause();
}

} // namespace

__attribute__((noinline)) void wait_until(std::atomic<int> &v, int target)
{
#ifdef FIX
    for (int cur = v.load(); cur < target; cur = v.load())
        v.wait(cur);
#else
    while (v.load(std::memory_order_acquire) < target)
        cpu_relax();
#endif
}

static void publish(std::atomic<int> &v, int value)
{
    v.store(value);
#ifdef FIX
    v.notify_all();
#endif
}

__attribute__((noinline)) void simulate_range(int first, int last)
{
    for (int s = 0; s < kSubSteps; s++)
        for (int i = first; i < last; i++) {
            Body &b = g_world[i];
            const float r2 = b.x * b.x + b.y * b.y + 0.5f;
            const float f = 0.001f / (r2 * std::sqrt(r2));
            b.vx -= b.x * f;
            b.vy -= b.y * f;
            b.x += b.vx * 0.01f;
            b.y += b.vy * 0.01f;
        }
}

__attribute__((noinline)) void simulation_thread(int id)
{
    const int half = kBodies / 2;
    for (int t = 1; t <= kTicks; t++) {
        simulate_range(id * half, (id + 1) * half);
        publish(g_finished[id], t);
        if (id == 0) {
            wait_until(g_finished[1], t);
            publish(g_tick_done, t);
        }
        wait_until(g_audited, t);
        wait_until(g_saved, t);
    }
}

__attribute__((noinline)) void audit_thread()
{
    for (int t = 1; t <= kTicks; t++) {
        wait_until(g_tick_done, t);
        for (const Body &b : g_world)
            g_energy += b.vx * b.vx + b.vy * b.vy;
        publish(g_audited, t);
    }
}

__attribute__((noinline)) void snapshot_thread()
{
    for (int t = 1; t <= kTicks; t++) {
        wait_until(g_tick_done, t);
        for (const Body &b : g_world)
            g_snapshot_hash = g_snapshot_hash * 31 + int64_t(b.x * 1000);
        publish(g_saved, t);
    }
}

int main()
{
    for (int i = 0; i < kBodies; i++)
        g_world[i] = {std::cos(i * 0.1f) * (1 + i % 7), std::sin(i * 0.1f) * (1 + i % 5),
                      0.01f * (i % 3), 0.0f};

    std::thread audit(audit_thread), snapshot(snapshot_thread);
    std::thread s0(simulation_thread, 0), s1(simulation_thread, 1);
    s0.join();
    s1.join();
    audit.join();
    snapshot.join();
    std::printf("ticks %d energy %.5f snapshot %llx\n", kTicks, g_energy,
                (unsigned long long)g_snapshot_hash);
    return 0;
}
