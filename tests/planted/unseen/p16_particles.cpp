// SPDX-License-Identifier: BSD-3-Clause
// Particle simulation with a grid of neighbour cells.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Particle {
    double x, y, vx, vy, mass, charge;
};

using Cloud = std::vector<Particle>;

constexpr int kGrid = 12;

struct Grid {
    std::vector<std::vector<int>> cells{kGrid * kGrid};
};

static int cell_of(const Particle &p)
{
    int cx = int(p.x * kGrid), cy = int(p.y * kGrid);
    cx = cx < 0 ? 0 : cx >= kGrid ? kGrid - 1 : cx;
    cy = cy < 0 ? 0 : cy >= kGrid ? kGrid - 1 : cy;
    return cy * kGrid + cx;
}

__attribute__((noinline)) static Grid make_grid(const Cloud &c)
{
    Grid g;
    for (size_t i = 0; i < c.size(); i++)
        g.cells[cell_of(c[i])].push_back(int(i));
    return g;
}

// Potential energy of the particles of one cell.
#ifdef FIX
__attribute__((noinline)) static double cell_energy(const Cloud &c, const Grid &g, int cell)
#else
__attribute__((noinline)) static double cell_energy(Cloud c, Grid g, int cell)
#endif
{
    double e = 0;
    const auto &m = g.cells[cell];
    for (size_t i = 0; i < m.size(); i++)
        for (size_t j = i + 1; j < m.size(); j++) {
            double dx = c[m[i]].x - c[m[j]].x, dy = c[m[i]].y - c[m[j]].y;
            e += c[m[i]].charge * c[m[j]].charge / std::sqrt(dx * dx + dy * dy + 1e-6);
        }
    return e;
}

__attribute__((noinline)) static void advance(Cloud &c)
{
    for (auto &p : c) {
        p.x += p.vx;
        p.y += p.vy;
        if (p.x < 0 || p.x > 1)
            p.vx = -p.vx;
        if (p.y < 0 || p.y > 1)
            p.vy = -p.vy;
    }
}

__attribute__((noinline)) static Cloud make_cloud(size_t n)
{
    Cloud c(n);
    uint32_t x = 9;
    auto rnd = [&] { return double((x = x * 1664525u + 1013904223u) >> 8) / (1 << 24); };
    for (auto &p : c) {
        p.x = rnd();
        p.y = rnd();
        p.vx = (rnd() - 0.5) * 0.01;
        p.vy = (rnd() - 0.5) * 0.01;
        p.mass = 1 + rnd();
        p.charge = rnd() < 0.5 ? -1 : 1;
    }
    return c;
}

int main()
{
    Cloud cloud = make_cloud(9000);
    double energy = 0;
    for (int step = 0; step < 80; step++) {
        advance(cloud);
        Grid g = make_grid(cloud);
        for (int cell = 0; cell < kGrid * kGrid; cell++)
            energy += cell_energy(cloud, g, cell);
    }
    printf("energy %.6f\n", energy);
}
