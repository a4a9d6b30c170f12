// SPDX-License-Identifier: BSD-3-Clause
/* A game loop at 60 frames per second: sleeps until the next frame is due. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define FRAMES 90
#define BODIES 600

struct body { int32_t x, y, vx, vy; };
static struct body bodies[BODIES];

__attribute__((noinline)) static void init_world(void)
{
    uint32_t s = 5;
    for (int i = 0; i < BODIES; i++) {
        s = s * 1664525u + 1013904223u;
        bodies[i].x = (int32_t)(s >> 16);
        s = s * 1664525u + 1013904223u;
        bodies[i].y = (int32_t)(s >> 16);
    }
}

__attribute__((noinline)) static void simulate(void)
{
    for (int i = 0; i < BODIES; i++)
        for (int j = 0; j < BODIES; j++) {
            int32_t dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y;
            bodies[i].vx += dx / 4096 - dx / 8192;
            bodies[i].vy += dy / 4096 - dy / 8192;
        }
    for (int i = 0; i < BODIES; i++) {
        bodies[i].x = (bodies[i].x + bodies[i].vx / 1024) & 65535;
        bodies[i].y = (bodies[i].y + bodies[i].vy / 1024) & 65535;
    }
}

__attribute__((noinline)) static uint64_t draw(void)
{
    uint64_t h = 0;
    for (int k = 0; k < 500; k++)
        for (int i = 0; i < BODIES; i++)
            h = h * 31 + (uint32_t)(bodies[i].x ^ bodies[i].y ^ k);
    return h;
}

__attribute__((noinline)) static void wait_frame(struct timespec *due)
{
    due->tv_nsec += 16666667;
    if (due->tv_nsec >= 1000000000) {
        due->tv_nsec -= 1000000000;
        due->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

int main(void)
{
    struct timespec due;
    uint64_t sum = 0;
    init_world();
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int f = 0; f < FRAMES; f++) {
        simulate();
        sum += draw();
        wait_frame(&due);
    }
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
