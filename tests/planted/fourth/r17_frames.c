// SPDX-License-Identifier: BSD-3-Clause
/* Composes frames of a large desktop into a work surface. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 4096
#define HEIGHT 2560
#define FRAMES 50

struct surface {
    int width, height;
    uint32_t *pixels;
};

__attribute__((noinline)) static struct surface *create_surface(int width, int height)
{
    struct surface *s = malloc(sizeof *s);
    s->width = width;
    s->height = height;
    s->pixels = malloc((size_t)width * height * sizeof *s->pixels);
    return s;
}

__attribute__((noinline)) static void destroy_surface(struct surface *s)
{
    free(s->pixels);
    free(s);
}

__attribute__((noinline)) static void fill_rows(struct surface *s, uint32_t colour)
{
    for (int y = 0; y < s->height; y++) {
        uint32_t *row = s->pixels + (size_t)y * s->width;
        for (int x = 0; x < s->width; x++)
            row[x] = colour + (uint32_t)y;
    }
}

__attribute__((noinline)) static uint32_t sample_surface(const struct surface *s)
{
    uint32_t h = 0;
    for (int y = 0; y < s->height; y += 16)
        for (int x = 0; x < s->width; x += 64)
            h = h * 31 + s->pixels[(size_t)y * s->width + x];
    return h;
}

__attribute__((noinline)) static uint32_t compose_frame(struct surface *work, int frame)
{
    fill_rows(work, (uint32_t)frame * 0x010203u);
    return sample_surface(work);
}

int main(void)
{
    uint64_t sum = 0;
#ifdef FIX
    struct surface *work = create_surface(WIDTH, HEIGHT);
    for (int f = 0; f < FRAMES; f++)
        sum += compose_frame(work, f);
    destroy_surface(work);
#else
    for (int f = 0; f < FRAMES; f++) {
        struct surface *work = create_surface(WIDTH, HEIGHT);
        sum += compose_frame(work, f);
        destroy_surface(work);
    }
#endif
    printf("frames %lu\n", (unsigned long)sum);
    return 0;
}
