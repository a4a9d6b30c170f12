/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that the public API can say about a database, in one number. */
#ifndef LODE_TESTS_WALK_H
#define LODE_TESTS_WALK_H

#include <lode/database.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Reads all contexts, metrics, profiles, values and samples, and runs every analysis. Errors of
 * single parts are part of the result. Equal databases give equal numbers, with any number of
 * threads.
 */
uint64_t walk_database(const lode_database *db, unsigned threads);

/* Several threads walk the database at once: whether each gets the same result. At most 64. */
bool walk_with_threads(const lode_database *db, unsigned walkers);

#endif
