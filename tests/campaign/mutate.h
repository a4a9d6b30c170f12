/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutations: accidental damage and deliberate attacks. */
#ifndef LODE_TESTS_CAMPAIGN_MUTATE_H
#define LODE_TESTS_CAMPAIGN_MUTATE_H

#include "store.h"
#include <stdint.h>

/* The same on every machine: what input `number` of a seed begins with. */
uint64_t random_begin(uint64_t seed, uint64_t number);
uint64_t random_next(uint64_t *state);
/* Below `count`, which is not 0. */
size_t random_below(uint64_t *state, size_t count);

/* Mutates a copy of a valid store in 1 to 16 places; sometimes takes a file from `other`. */
void mutate(struct store *store, const struct store *sound, const struct store *other, uint64_t *random);

#endif
