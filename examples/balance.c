/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A check of one's own, for scripts: is the work of a function balanced over the ranks?
 *
 *     balance DATABASE FUNCTION PERCENT
 *
 * The exit status is 0 if the imbalance (max/mean - 1) is at most PERCENT, 1 if it is more, 2 if the
 * database could not be read or has no such function.
 */
#include <lode/lode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All contexts of a function: it may be called on many paths. The caller frees the array. */
static const lode_context **find(const lode_database *database, const char *wanted, size_t *count)
{
    uint32_t all = lode_database_context_count(database);
    const lode_context **found = calloc((size_t)all + 1, sizeof *found);
    *count = 0;
    for (uint32_t i = 0; found && i < all; i++) {
        const lode_context *context = lode_database_context_at(database, i);
        const lode_function *function = lode_context_function(context);
        const char *name = function ? lode_function_name(function) : NULL;
        if (name && strcmp(name, wanted) == 0)
            found[(*count)++] = context;
    }
    return found;
}

/* Prints the cost of each rank. Returns the imbalance over the ranks, in percent. */
static double judge(const lode_spread_groups *ranks)
{
    lode_distribution spread;
    size_t count = lode_spread_groups_count(ranks);
    double *values = calloc(count + 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++) {
        const lode_spread_group *rank = lode_spread_groups_at(ranks, i);
        values[i] = rank->inclusive;
        printf("rank %-4llu %10.3f\n", (unsigned long long)rank->ids[0].logical, rank->inclusive);
    }
    lode_distribution_of(&spread, values, values ? count : 0);
    free(values);
    return 100.0 * spread.imbalance;
}

static lode_status measure(const lode_database *database, const char *function, double *imbalance,
                           lode_error *error)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread = NULL;
    lode_spread_groups *ranks = NULL;
    unsigned kinds[LODE_GROUP_KINDS];
    size_t kind_count;
    const lode_context **contexts = find(database, function, &options.context_count);
    options.contexts = contexts;
    lode_status status = lode_spread_compute(&spread, database, &options, error);
    if (status == LODE_OK)
        status = lode_database_find_kinds(database, "rank", kinds, &kind_count, error);
    if (status == LODE_OK)
        status = lode_spread_group_by(&ranks, spread, kinds, kind_count, error);
    if (status == LODE_OK)
        *imbalance = options.context_count > 0 ? judge(ranks) : -1.0;
    lode_spread_groups_free(ranks);
    lode_spread_free(spread);
    free(contexts);
    return status;
}

int main(int argc, char **argv)
{
    lode_database *database = NULL;
    lode_error error;
    double imbalance = 0.0;
    if (argc != 4) {
        fprintf(stderr, "usage: balance DATABASE FUNCTION PERCENT\n");
        return 2;
    }
    lode_status status = lode_database_open(&database, argv[1], &error);
    if (status == LODE_OK)
        status = measure(database, argv[2], &imbalance, &error);
    lode_database_close(database);
    if (status != LODE_OK)
        fprintf(stderr, "balance: %s%s%s\n", error.file, error.file[0] ? ": " : "", error.text);
    else if (imbalance < 0.0)
        fprintf(stderr, "balance: no function '%s'\n", argv[2]);
    if (status != LODE_OK || imbalance < 0.0)
        return 2;
    double limit = strtod(argv[3], NULL);
    printf("imbalance %.1f%%: %s\n", imbalance, imbalance <= limit ? "good" : "too much");
    return imbalance <= limit ? 0 : 1;
}
