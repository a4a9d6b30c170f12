/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes for tables whose keys come from a file. They depend on a seed that is drawn once when the library is loaded and never changes
 * afterwards, so that nobody can prepare keys that collide. A hash must never be stored, sent, shown or sorted by: no result depends on
 * the seed.
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
 * One number, or two. Upper half of a * x + c * y + b, modulo 2^128, with random a, b, c of 128 bits: strongly universal
 * (Dietzfelbinger 1996, "Universal hashing and k-wise independent random variables via integer arithmetic without primes"). Two
 * different keys have independent hashes, in all 64 bits and so in any of them that a table uses.
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

/* SipHash-1-3 of any bytes: strings, and structs without padding. */
uint64_t lode_hash_bytes(const void *data, size_t size);
uint64_t lode_hash_text(const char *text);

/* For tests alone, while no other thread uses the library: a seed made from a number. */
void lode_hash_reseed(uint64_t number);

#endif
