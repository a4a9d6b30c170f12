// SPDX-License-Identifier: BSD-3-Clause
/* Photo filter chain with OpenMP: blur, local contrast, tone curve. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define W 800
#define H 600
#define FRAMES 4

static uint8_t img[H][W], tmp[H][W];

__attribute__((noinline)) static void load_frame(int f)
{
    uint32_t x = 99 + f;
    for (int y = 0; y < H; y++)
        for (int i = 0; i < W; i++) {
            x = x * 1664525u + 1013904223u;
            img[y][i] = (uint8_t)((x >> 26) + (y * i >> 12));
        }
}

static int at(uint8_t p[H][W], int y, int x)
{
    if (y < 0) y = 0;
    if (y >= H) y = H - 1;
    if (x < 0) x = 0;
    if (x >= W) x = W - 1;
    return p[y][x];
}

static void blur_row(int y)
{
    for (int x = 0; x < W; x++) {
        int s = 0;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                s += at(img, y + dy, x + dx);
        tmp[y][x] = s / 25;
    }
}

__attribute__((noinline)) static void blur(void)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < H; y++)
        blur_row(y);
}

/* Median of the 5x5 neighbourhood, by counting. */
__attribute__((noinline)) static void median_row(int y)
{
    for (int x = 0; x < W; x++) {
        uint8_t v[25];
        int n = 0;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++) {
                uint8_t p = at(tmp, y + dy, x + dx);
                int k = n++;
                while (k > 0 && v[k - 1] > p) {
                    v[k] = v[k - 1];
                    k--;
                }
                v[k] = p;
            }
        img[y][x] = v[12];
    }
}

__attribute__((noinline)) static void despeckle(void)
{
#ifdef FIX
#pragma omp parallel for schedule(static)
#endif
    for (int y = 0; y < H; y++)
        median_row(y);
}

__attribute__((noinline)) static void tone_curve(void)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            img[y][x] = (uint8_t)(255 * (img[y][x] / 255.0f) * (2 - img[y][x] / 255.0f) / 1.0f);
}

int main(void)
{
    uint64_t sum = 0;
    for (int f = 0; f < FRAMES; f++) {
        load_frame(f);
        blur();
        despeckle();
        tone_curve();
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                sum += (uint64_t)img[y][x] * (x + y);
    }
    printf("sum %lu\n", sum);
    return 0;
}
