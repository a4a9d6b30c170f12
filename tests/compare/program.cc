/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is built in many ways, and changed in one way at a time. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OUT __attribute__((noinline))
#ifdef INLINED
#define MIDDLE __attribute__((always_inline)) inline
#else
#define MIDDLE __attribute__((noinline))
#endif
#ifdef RENAMED
#define smooth smooth_twice
#endif
#ifdef TEMPLATED
using number = long long;
#else
using number = long;
#endif

static volatile double sink;

static OUT double spin(int count)
{
    double x = 1.0;
    for (int i = 0; i < count * 1000; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
    return x;
}

namespace app {

template <typename T>
OUT T total(const std::vector<T> &values)
{
    const T *data = values.data();
    T sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += data[i];
    return sum + (T)spin(60);
}

class Grid {
public:
    explicit Grid(int size) : cells(size, 1) {}
    OUT void smooth(int steps)
    {
        for (int i = 0; i < steps; i++)
            spin(30);
    }
    MIDDLE void relax(int steps)
    {
        smooth(steps);
        spin(40);
    }
#ifdef SPLIT
    OUT void rest() { spin(60); }
    OUT void exchange()
    {
        spin(60);
        rest();
    }
#else
    OUT void exchange() { spin(120); }
#endif
    std::vector<number> cells;
};

} // namespace app

template <typename F>
static OUT void each(int count, F body)
{
    for (int i = 0; i < count; i++)
        body(i);
}

static OUT void lambdas()
{
#ifdef LAMBDA
    each(1, [](int) { spin(5); });
#endif
    each(3, [](int) { spin(40); });
    each(3, [](int i) { spin(20 + i); });
}

static OUT void regions()
{
#ifdef REGION
#pragma omp parallel num_threads(1)
    spin(5);
#endif
#pragma omp parallel num_threads(1)
    spin(90);
}

static OUT void regions_after()
{
#pragma omp parallel num_threads(1)
    spin(70);
}

int main(void)
{
    app::Grid grid(1000);
    for (int i = 0; i < 8; i++) {
        grid.relax(3);
        grid.exchange();
        sink = (double)app::total(grid.cells);
        lambdas();
        regions_after();
        regions();
    }
    return 0;
}
