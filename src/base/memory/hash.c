/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/hash.h"

#include "base/io/bytes.h"
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct lode_hash_seed lode_hash_seed;

/* ---- the seed ---- */

/* splitmix64: expands a little randomness to all words of a seed. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static lode_hash_wide wide(uint64_t high, uint64_t low)
{
    return (lode_hash_wide)high << 64 | low;
}

static void set_seed(const uint64_t words[8])
{
    lode_hash_seed = (struct lode_hash_seed){.bytes = {words[0], words[1]},
                                             .first = wide(words[2], words[3]),
                                             .second = wide(words[4], words[5]),
                                             .offset = wide(words[6], words[7])};
}

void lode_hash_reseed(uint64_t number)
{
    uint64_t words[8];
    for (size_t i = 0; i < 8; i++)
        words[i] = next_word(&number);
    set_seed(words);
}

/* Fallback without random bytes (an old kernel, a sandbox): AT_RANDOM of this process. */
static void seed_from_process(void)
{
    uint64_t start[2] = {0};
    struct timespec now = {0};
    const void *given = (const void *)getauxval(AT_RANDOM); // NOLINT(performance-no-int-to-ptr)
    if (given)
        memcpy(start, given, sizeof start);
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t state = start[0] ^ (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid();
    lode_hash_reseed(next_word(&state) ^ start[1]);
}

/*
 * Runs when the library is loaded, before any thread and before constructors of programs that link
 * it statically, so that hashing need not check for a seed. It must not block early at boot.
 */
__attribute__((constructor(101))) static void seed_at_load(void)
{
    uint64_t words[8];
    int before = errno;
    if (getrandom(words, sizeof words, GRND_NONBLOCK) == (ssize_t)sizeof words)
        set_seed(words);
    else
        seed_from_process();
    errno = before;
}

/* ---- SipHash-1-3 (Aumasson and Bernstein 2012) ---- */

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

static uint64_t sip_hash(const uint64_t key[2], const void *data, size_t size)
{
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    const uint8_t *bytes = data;
    size_t whole = size & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        sip_word(v, get_u64le(bytes + i));
    uint64_t last = (uint64_t)size << 56;
    for (size_t i = whole; i < size; i++)
        last |= (uint64_t)bytes[i] << 8 * (i - whole);
    sip_word(v, last);
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t lode_hash_bytes(const void *data, size_t size)
{
    return sip_hash(lode_hash_seed.bytes, data, size);
}

uint64_t lode_hash_keyed(const uint64_t key[2], const void *data, size_t size)
{
    return sip_hash(key, data, size);
}

uint64_t lode_hash_fixed(const void *data, size_t size)
{
    static const uint64_t key[2] = {0};
    return sip_hash(key, data, size);
}

uint64_t lode_hash_text(const char *text)
{
    return lode_hash_bytes(text, strlen(text));
}
