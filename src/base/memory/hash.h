/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes for tables with keys from files. They use a random seed, drawn once when the library is
 * loaded, so that nobody can prepare colliding keys. Never store, send, print or sort by a hash: no
 * result may depend on the seed.
 */
#ifndef LODE_BASE_HASH_H
#define LODE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 lode_hash_wide;

struct lode_hash_seed {
    uint64_t bytes[2]; /* the key of SipHash */
    lode_hash_wide first, second, offset;
};

/* Constant after the library is loaded; only lode_hash_reseed changes it. */
extern struct lode_hash_seed lode_hash_seed;

/*
 * Hash of one or two numbers: upper half of a * x + c * y + b modulo 2^128, with random a, b, c of
 * 128 bits. Strongly universal (Dietzfelbinger 1996, "Universal hashing and k-wise independent
 * random variables via integer arithmetic without primes"): hashes of two different keys are
 * independent in all 64 bits.
 */
static inline uint64_t lode_hash_number(uint64_t number)
{
    return (uint64_t)((lode_hash_seed.first * number + lode_hash_seed.offset) >> 64);
}

static inline uint64_t lode_hash_pair(uint64_t first, uint64_t second)
{
    return (
        uint64_t)((lode_hash_seed.first * first + lode_hash_seed.second * second + lode_hash_seed.offset) >>
                  64);
}

/* SipHash-1-3 of any bytes: strings and structs without padding. */
uint64_t lode_hash_bytes(const void *data, size_t size);
uint64_t lode_hash_text(const char *text);

/* The same with another key: of secret words that other processes are to share. */
uint64_t lode_hash_keyed(const uint64_t key[2], const void *data, size_t size);

/* The same with a key that everybody knows: for fingerprints, which are no keys of tables. */
uint64_t lode_hash_fixed(const void *data, size_t size);

/* For tests: sets a seed. No other thread may use the library. */
void lode_hash_reseed(uint64_t number);

#endif
