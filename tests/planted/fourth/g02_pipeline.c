// SPDX-License-Identifier: BSD-3-Clause
/* A balanced pipeline of two stages over a pipe, large blocks. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 65536
#define BLOCKS 1200

static int stage[2];

__attribute__((noinline)) static void compress_block(uint8_t *data, uint32_t number)
{
    uint32_t x = number + 1;
    for (int i = 0; i < BLOCK; i++) {
        for (int k = 0; k < 4; k++)
            x = x * 1664525u + 1013904223u + (x >> 17);
        data[i] = (uint8_t)(x >> 24);
    }
}

__attribute__((noinline)) static uint32_t verify_block(const uint8_t *data)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < BLOCK; i++) {
        for (int k = 0; k < 4; k++)
            h = (h ^ data[i]) * 16777619u + (h >> 13);
    }
    return h;
}

__attribute__((noinline)) static int transfer(int fd, uint8_t *data, int writing)
{
    size_t done = 0;
    while (done < BLOCK) {
        ssize_t n = writing ? write(fd, data + done, BLOCK - done)
                            : read(fd, data + done, BLOCK - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

__attribute__((noinline)) static void *compressor_main(void *arg)
{
    (void)arg;
    uint8_t *data = malloc(BLOCK);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        compress_block(data, b);
        if (!transfer(stage[1], data, 1))
            break;
    }
    close(stage[1]);
    free(data);
    return NULL;
}

int main(void)
{
    pthread_t compressor;
    uint8_t *data = malloc(BLOCK);
    uint64_t sum = 0;
    if (pipe(stage))
        return 1;
    pthread_create(&compressor, NULL, compressor_main, NULL);
    while (transfer(stage[0], data, 0))
        sum += verify_block(data);
    pthread_join(compressor, NULL);
    close(stage[0]);
    free(data);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
