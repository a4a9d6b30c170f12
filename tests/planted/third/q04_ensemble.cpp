// SPDX-License-Identifier: BSD-3-Clause
// Reaction-diffusion ensemble: many small independent one-dimensional systems
// are integrated in time by two threads.
#include <cstdio>
#include <pthread.h>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2;
constexpr int kSystems = 200;
constexpr int kCells = 512;
constexpr int kSteps = 300;

struct System {
    double u[kCells + 2];
    double next[kCells + 2];
    double k;
};

std::vector<System> g_systems(kSystems);
pthread_barrier_t g_barrier;

} // namespace

__attribute__((noinline)) void init_system(System &s, int id)
{
    s.k = 0.05 + 0.0005 * id;
    for (int i = 0; i < kCells + 2; i++)
        s.u[i] = (i % 17 == id % 17) ? 1.0 : 0.02 * (i % 5);
    s.u[0] = s.u[1];
    s.u[kCells + 1] = s.u[kCells];
}

static inline double reaction(double u, double k)
{
    return u * (1.0 - u) * (u - k) / (1.0 + u * u);
}

__attribute__((noinline)) void advance_cells(System &s, int first, int last)
{
    for (int i = first; i <= last; i++) {
        const double lap = s.u[i - 1] - 2 * s.u[i] + s.u[i + 1];
        s.next[i] = s.u[i] + 0.2 * lap + 0.1 * reaction(s.u[i], s.k);
    }
}

__attribute__((noinline)) void commit_cells(System &s, int first, int last)
{
    for (int i = first; i <= last; i++)
        s.u[i] = s.next[i];
    if (first == 1)
        s.u[0] = s.u[1];
    if (last == kCells)
        s.u[kCells + 1] = s.u[kCells];
}

__attribute__((noinline)) void integrate(int rank)
{
#ifdef FIX
    // each thread integrates its own systems
    for (int id = rank; id < kSystems; id += kThreads)
        for (int step = 0; step < kSteps; step++) {
            advance_cells(g_systems[id], 1, kCells);
            commit_cells(g_systems[id], 1, kCells);
        }
#else
    // the threads share the cells of each system
    const int n = kCells / kThreads;
    const int first = rank * n + 1, last = (rank + 1) * n;
    for (int id = 0; id < kSystems; id++)
        for (int step = 0; step < kSteps; step++) {
            advance_cells(g_systems[id], first, last);
            pthread_barrier_wait(&g_barrier);
            commit_cells(g_systems[id], first, last);
            pthread_barrier_wait(&g_barrier);
        }
#endif
}

__attribute__((noinline)) double total_mass()
{
    double sum = 0;
    for (const auto &s : g_systems)
        for (int i = 1; i <= kCells; i++)
            sum += s.u[i];
    return sum;
}

int main()
{
    for (int id = 0; id < kSystems; id++)
        init_system(g_systems[id], id);
    const double before = total_mass();

    pthread_barrier_init(&g_barrier, nullptr, kThreads);
    std::vector<std::thread> team;
    for (int r = 0; r < kThreads; r++)
        team.emplace_back(integrate, r);
    for (auto &t : team)
        t.join();
    pthread_barrier_destroy(&g_barrier);
    std::printf("mass before %.6f after %.6f\n", before, total_mass());
    return 0;
}
