// SPDX-License-Identifier: BSD-3-Clause
/* Generates terrain and lets it erode; each step has two phases. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>

#define SIZE 512
#define STEPS 36

static float height[SIZE][SIZE], water[SIZE][SIZE];

static float lattice(int x, int y, int octave)
{
    unsigned h = (unsigned)x * 374761393u + (unsigned)y * 668265263u + (unsigned)octave * 2246822519u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (float)(h >> 16) / 65536.0f;
}

__attribute__((noinline)) static void raise_row(int y, int step)
{
    for (int x = 0; x < SIZE; x++) {
        float v = 0, amplitude = 1;
        for (int octave = 0; octave < 24; octave++) {
            v += amplitude * lattice(x >> (octave & 7), y >> (octave & 7), octave + step);
            amplitude *= 0.7f;
        }
        height[y][x] += v;
    }
}

__attribute__((noinline)) static void raise_terrain(int step)
{
#ifdef FIX
#pragma omp parallel for schedule(static)
#endif
    for (int y = 0; y < SIZE; y++)
        raise_row(y, step);
}

__attribute__((noinline)) static void erode_row(int y)
{
    for (int x = 1; x < SIZE - 1; x++) {
        float flow = height[y][x];
        for (int k = 0; k < 12; k++)
            flow = flow * 0.97f + 0.01f * (height[y - 1][x] + height[y + 1][x]);
        water[y][x] = flow;
    }
}

__attribute__((noinline)) static void erode_terrain(void)
{
#pragma omp parallel for schedule(static)
    for (int y = 1; y < SIZE - 1; y++)
        erode_row(y);
}

int main(void)
{
    omp_set_num_threads(2);
    for (int step = 0; step < STEPS; step++) {
        raise_terrain(step);
        erode_terrain();
    }
    double sum = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            sum += height[y][x] + water[y][x];
    printf("terrain %.3f\n", sum);
    return 0;
}
