// SPDX-License-Identifier: BSD-3-Clause
// Heat in a plate, by relaxation: heat [STEPS]. For doc/recording.md.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr int size = 400;
using plate = std::vector<double>;

static double average(const plate &p, int at)
{
    return 0.25 * (p[at - 1] + p[at + 1] + p[at - size] + p[at + size]);
}

void relax(const plate &from, plate &to)
{
    for (int y = 1; y < size - 1; y++)
        for (int x = 1; x < size - 1; x++)
            to[y * size + x] = average(from, y * size + x);
}

// Taken every step, though every hundredth would do.
double largest_change(const plate &before, const plate &after)
{
    double largest = 0;
    for (std::size_t i = 0; i < after.size(); i++) {
        double change = std::fabs(after[i] - before[i]);
        largest = change > largest ? change : largest;
    }
    return largest;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? std::atoi(argv[1]) : 400;
    plate now(size * size, 0.0), next(size * size, 0.0);
    for (int x = 0; x < size; x++)
        now[x] = next[x] = 100.0;
    double change = 0;
    for (int step = 0; step < steps; step++) {
        relax(now, next);
        change = largest_change(now, next);
        std::swap(now, next);
    }
    std::printf("%d steps, last change %.4f\n", steps, change);
}
