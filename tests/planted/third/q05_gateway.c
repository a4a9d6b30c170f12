// SPDX-License-Identifier: BSD-3-Clause
// Embedded gateway: telegrams from a field bus are decoded and added to the
// process image. C11 threads.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define NTELEGRAMS 6800
#define PAYLOAD 1536
#define INFLIGHT 2

struct telegram {
    uint16_t station;
    uint8_t payload[PAYLOAD];
    uint32_t result;
};

static struct telegram *bus;
static uint32_t process_image[64];

__attribute__((noinline)) static uint32_t checksum(const uint8_t *p, int n)
{
    uint32_t crc = 0xffffffffu;

    for (int i = 0; i < n; i++) {
        crc ^= p[i];
        for (int b = 0; b < 8; b++)
            crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

__attribute__((noinline)) static void decode_telegram(struct telegram *t)
{
    uint32_t crc = checksum(t->payload, PAYLOAD);
    uint32_t v = 0;

    for (int i = 0; i + 4 <= PAYLOAD; i += 4) {
        uint32_t w;

        memcpy(&w, t->payload + i, 4);
        v = (v << 5 | v >> 27) ^ w;
    }
    t->result = v + crc;
}

#ifdef FIX
struct slice {
    int first, last;
};

static int telegram_thread(void *arg)
{
    struct slice *s = arg;

    for (int i = s->first; i < s->last; i++)
        decode_telegram(&bus[i]);
    return 0;
}

__attribute__((noinline)) static void process_bus(void)
{
    thrd_t t[INFLIGHT];
    struct slice s[INFLIGHT];

    for (int i = 0; i < INFLIGHT; i++) {
        s[i].first = NTELEGRAMS / INFLIGHT * i;
        s[i].last = NTELEGRAMS / INFLIGHT * (i + 1);
        thrd_create(&t[i], telegram_thread, &s[i]);
    }
    for (int i = 0; i < INFLIGHT; i++)
        thrd_join(t[i], NULL);
}
#else
static int telegram_thread(void *arg)
{
    decode_telegram(arg);
    return 0;
}

__attribute__((noinline)) static void process_bus(void)
{
    thrd_t t[INFLIGHT];

    for (int i = 0; i < NTELEGRAMS; i += INFLIGHT) {
        for (int k = 0; k < INFLIGHT; k++)
            thrd_create(&t[k], telegram_thread, &bus[i + k]);
        for (int k = 0; k < INFLIGHT; k++)
            thrd_join(t[k], NULL);
    }
}
#endif

__attribute__((noinline)) static void receive_bus(void)
{
    uint32_t s = 99;

    bus = calloc(NTELEGRAMS, sizeof(*bus));
    for (int i = 0; i < NTELEGRAMS; i++) {
        bus[i].station = i % 64;
        for (int k = 0; k < PAYLOAD; k += 4) {
            s = s * 1103515245u + 12345u;
            memcpy(bus[i].payload + k, &s, 4);
        }
    }
}

// Adds the decoded values to the process image and smooths the raw samples.
__attribute__((noinline)) static double update_image(void)
{
    double level[64] = { 0 };
    double total = 0;

    for (int i = 0; i < NTELEGRAMS; i++) {
        double v = level[bus[i].station];

        for (int k = 0; k < PAYLOAD; k++)
            v += (bus[i].payload[k] - v) * 0.03125;
        level[bus[i].station] = v;
        process_image[bus[i].station] += bus[i].result;
    }
    for (int i = 0; i < 64; i++)
        total += level[i];
    return total;
}

int main(void)
{
    uint32_t sum = 0;
    double level;

    receive_bus();
    process_bus();
    level = update_image();
    for (int i = 0; i < 64; i++)
        sum = sum * 33 + process_image[i];
    printf("telegrams %d image %08x level %.4f\n", NTELEGRAMS, sum, level);
    free(bus);
    return 0;
}
