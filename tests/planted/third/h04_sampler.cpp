// SPDX-License-Identifier: BSD-3-Clause
// Data acquisition: a sensor is sampled every 20 ms; each sample is filtered
// and added to the statistics.
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <sys/timerfd.h>
#include <unistd.h>

namespace {

constexpr long kPeriodNs = 20000000;
constexpr int kSamples = 55;
constexpr int kTaps = 64;

class Filter {
public:
    __attribute__((noinline)) double add(double v)
    {
        history_[pos_] = v;
        pos_ = (pos_ + 1) % kTaps;
        double s = 0;
        for (int i = 0; i < kTaps; i++)
            s += history_[(pos_ + i) % kTaps] * (i + 1);
        return s * 2.0 / (kTaps * (kTaps + 1));
    }

private:
    std::array<double, kTaps> history_{};
    int pos_ = 0;
};

struct Stats {
    double min = 1e9, max = -1e9, sum = 0;
    long n = 0;
};

} // namespace

__attribute__((noinline)) double read_sensor(uint32_t &state)
{
    double v = 0;
    for (int i = 0; i < 2000; i++) {
        state = state * 1664525u + 1013904223u;
        v += double(state >> 16) / 65536.0;
    }
    return v / 2000.0;
}

__attribute__((noinline)) void update_stats(Stats &s, double v)
{
    if (v < s.min)
        s.min = v;
    if (v > s.max)
        s.max = v;
    s.sum += v;
    s.n++;
}

__attribute__((noinline)) void wait_period(int timer)
{
    uint64_t expirations = 0;
    if (read(timer, &expirations, sizeof(expirations)) != (ssize_t)sizeof(expirations))
        std::perror("timer");
}

int main()
{
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const itimerspec period{{0, kPeriodNs}, {0, kPeriodNs}};
    timerfd_settime(timer, 0, &period, nullptr);

    Filter filter;
    Stats stats;
    uint32_t sensor = 1;
    for (int i = 0; i < kSamples; i++) {
        wait_period(timer);
        update_stats(stats, filter.add(read_sensor(sensor)));
    }
    close(timer);
    std::printf("samples %ld min %.4f max %.4f mean %.4f\n", stats.n, stats.min, stats.max,
                stats.sum / stats.n);
    return 0;
}
