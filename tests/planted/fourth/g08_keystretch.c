// SPDX-License-Identifier: BSD-3-Clause
/* Key stretching: a chain of hashes in which each depends on the one before. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define USERS 8
#define ROUNDS 45000

struct digest { uint32_t word[8]; };

static uint32_t rotate(uint32_t x, int n)
{
    return (x << n) | (x >> (32 - n));
}

__attribute__((noinline)) static void hash_block(struct digest *d, const uint32_t *message)
{
    uint32_t a = d->word[0], b = d->word[1], c = d->word[2], e = d->word[3];
    for (int round = 0; round < 512; round++) {
        uint32_t f = (a & b) ^ (~a & c);
        uint32_t t = e + f + message[round & 15] + 0x5a827999u * (uint32_t)round;
        e = c;
        c = rotate(b, 10);
        b = a;
        a = rotate(t, 7) + b;
    }
    d->word[0] ^= a;
    d->word[1] += b;
    d->word[2] ^= c;
    d->word[3] += e;
    for (int i = 4; i < 8; i++)
        d->word[i] = rotate(d->word[i] + d->word[i - 4], 3);
}

__attribute__((noinline)) static struct digest stretch_key(const char *password)
{
    struct digest d = { { 1, 2, 3, 4, 5, 6, 7, 8 } };
    uint32_t message[16];
    memset(message, 0, sizeof message);
    strncpy((char *)message, password, 32);
    for (int r = 0; r < ROUNDS; r++) {
        hash_block(&d, message);
        memcpy(message + 8, d.word, sizeof d.word);
    }
    return d;
}

int main(void)
{
    char token[32] = "correct horse";
    uint32_t check = 0;
    for (int u = 0; u < USERS; u++) {
        struct digest d = stretch_key(token);     /* next token is made from this key */
        snprintf(token, sizeof token, "%08x%08x", d.word[0], d.word[5]);
        check = check * 31 + d.word[7];
    }
    printf("key %u\n", check);
    return 0;
}
