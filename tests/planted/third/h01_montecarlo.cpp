// SPDX-License-Identifier: BSD-3-Clause
// Option pricing by Monte Carlo simulation: two threads with equal shares and
// private random number state; results are combined once at the end.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2;
constexpr int kBatches = 300;
constexpr int kPathsPerBatch = 6000;
constexpr int kSteps = 16;

struct alignas(64) Result {
    double sum = 0;
    double sum2 = 0;
    long paths = 0;
};

struct Rng {
    uint64_t s;
    double uniform()
    {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return double(s >> 11) * (1.0 / 9007199254740992.0);
    }
    // sum of four uniforms, scaled to unit variance
    double normal() { return (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.7320508; }
};

} // namespace

__attribute__((noinline)) void simulate_batch(Rng &rng, Result &r)
{
    for (int p = 0; p < kPathsPerBatch; p++) {
        double s = 100.0, avg = 0;
        for (int k = 0; k < kSteps; k++) {
            s *= 1.0 + 0.0003 + 0.02 * rng.normal();
            avg += s;
        }
        avg /= kSteps;
        const double payoff = avg > 101.0 ? avg - 101.0 : 0.0;
        r.sum += payoff;
        r.sum2 += payoff * payoff;
        r.paths++;
    }
}

__attribute__((noinline)) void price_worker(int id, Result *out)
{
    Rng rng{0x9e3779b97f4a7c15ull * (id + 1)};
    Result local;
    for (int b = 0; b < kBatches; b++)
        simulate_batch(rng, local);
    *out = local;
}

int main()
{
    Result results[kThreads];
    std::vector<std::thread> team;
    for (int i = 0; i < kThreads; i++)
        team.emplace_back(price_worker, i, &results[i]);
    for (auto &t : team)
        t.join();

    Result total;
    for (const Result &r : results) {
        total.sum += r.sum;
        total.sum2 += r.sum2;
        total.paths += r.paths;
    }
    const double mean = total.sum / total.paths;
    const double var = total.sum2 / total.paths - mean * mean;
    std::printf("paths %ld price %.5f error %.5f\n", total.paths, mean,
                std::sqrt(var / total.paths));
    return 0;
}
