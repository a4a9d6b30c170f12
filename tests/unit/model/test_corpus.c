/* SPDX-License-Identifier: BSD-3-Clause */
/* Every real database opens, is valid, and gives the costs that its own writer computed. */
#include "corpus.h"
#include "unit.h"
#include "walk.h"
#include <dirent.h>
#include <lode/unstable.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DATABASES = 57,
    OWN_DATABASES = 14
};

typedef void (*database_test)(const char *name, const char *path);

/* The corpus may have more than this test knows. */
static bool is_database(const char *folder)
{
    char path[2080];
    snprintf(path, sizeof path, "%s/meta.db", folder);
    return access(path, F_OK) == 0;
}

static void for_each_database(database_test test)
{
    char root[1024], path[2048];
    unsigned count = 0;
    struct dirent *entry;
    assert_true(corpus_path(root, sizeof root, "hpctoolkit/final"));
    DIR *directory = opendir(root);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (!is_database(path))
            continue;
        test(entry->d_name, path);
        count++;
    }
    closedir(directory);
    print_message("# %u databases\n", count);
    assert_true(count >= (corpus_is_own() ? OWN_DATABASES : DATABASES));
}

static void open_or_fail(lode_database **db, const char *name, const char *path)
{
    lode_error error = {0};
    if (lode_database_open(db, path, &error) != LODE_OK)
        fail_msg("%s: %s: %s", name, error.file, error.text);
}

/* ---- checking ---- */

struct warnings {
    const char *name;
    unsigned unknown;
};

/* What hpcprof is known to write is a note; its known bugs are warnings that name them. */
static int on_finding(void *user, const lode_finding *finding)
{
    struct warnings *warnings = user;
    static const char *const known[] = {"summary-loops", "summary-squares", "summary-minimum"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(finding->rule, known[i]) == 0)
            return strstr(finding->text, "hpcprof") == NULL;
    if (finding->severity == LODE_NOTE)
        return 0;
    print_message("# %s: %s %s\n", warnings->name, finding->rule, finding->text);
    warnings->unknown++;
    return 0;
}

static void check_database(const char *name, const char *path)
{
    struct warnings warnings = {.name = name};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    options.on_finding = on_finding;
    options.user = &warnings;
    assert_int_equal(lode_check(path, &options, &result, NULL), LODE_OK);
    assert_int_equal(result.errors, 0);
    assert_int_equal(warnings.unknown, 0);
    assert_true(result.values > 0 && result.contexts > 1 && result.profiles > 1);
}

static void all_databases_are_sound_at_the_full_level(void **state)
{
    (void)state;
    for_each_database(check_database);
}

/* ---- costs ---- */

/* hpcprof repeats records of functions; costs are those of the first that is the same. */
static uint32_t first_of_kind(const lode_database *db, const lode_function *function)
{
    const char *name = lode_function_name(function) ? lode_function_name(function) : "";
    for (uint32_t i = 0;; i++) {
        const lode_function *other = lode_database_function(db, i);
        const char *other_name = lode_function_name(other) ? lode_function_name(other) : "";
        if (strcmp(name, other_name) == 0 && lode_function_module(function) == lode_function_module(other) &&
            lode_function_file(function) == lode_function_file(other) &&
            lode_function_line(function) == lode_function_line(other) &&
            lode_function_offset(function) == lode_function_offset(other))
            return i;
    }
}

/*
 * hpcprof stores the exclusive cost of functions itself (the transitive scope "function"). Lode
 * computes it from inclusive costs only, so the two are independent.
 */
static void compare_exclusive(const lode_database *db, const lode_cost *cost, const lode_block *summary,
                              uint16_t id, double *by_function)
{
    lode_hotspots *hotspots;
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        const lode_function *function = lode_context_function(context);
        double value;
        if (function && lode_context_lexical(context) == LODE_LEXICAL_FUNCTION &&
            lode_block_lookup(summary, lode_context_id(context), id, &value, NULL) == LODE_OK)
            by_function[first_of_kind(db, function)] += value;
    }
    assert_int_equal(lode_hotspots_compute(&hotspots, cost, LODE_BY_SYMBOL, LODE_SORT_EXCLUSIVE, NULL),
                     LODE_OK);
    for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
        const lode_hotspot *row = lode_hotspots_at(hotspots, i);
        if (row->function == NULL)
            continue;
        double stored = by_function[lode_function_index(row->function)];
        if (fabs(stored - row->exclusive) > 1e-9 * lode_cost_total(cost))
            fail_msg("%s: %.17g is stored, %.17g computed", lode_function_name(row->function), stored,
                     row->exclusive);
        by_function[lode_function_index(row->function)] = 0.0;
    }
    for (uint32_t i = 0; i < lode_database_function_count(db); i++)
        assert_true(fabs(by_function[i]) <= 1e-9 * lode_cost_total(cost));
    lode_hotspots_free(hotspots);
}

static void compare_costs(const char *name, const char *path)
{
    lode_database *db;
    lode_block summary;
    open_or_fail(&db, name, path);
    assert_int_equal(lode_profile_block(db, 0, &summary, NULL), LODE_OK);
    double *by_function = calloc((size_t)lode_database_function_count(db) + 1, sizeof *by_function);
    assert_non_null(by_function);
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++) {
        lode_cost_options options = LODE_COST_OPTIONS_INIT;
        lode_cost *cost;
        uint16_t id;
        options.metric = lode_database_metric(db, i);
        assert_int_equal(lode_metric_sum_id(options.metric, LODE_SCOPE_TRANSITIVE, &id), LODE_OK);
        assert_int_equal(lode_cost_compute(&cost, db, &options, NULL), LODE_OK);
        compare_exclusive(db, cost, &summary, id, by_function);
        lode_cost_free(cost);
    }
    free(by_function);
    lode_database_close(db);
}

static void exclusive_costs_are_those_that_hpcprof_stores(void **state)
{
    (void)state;
    for_each_database(compare_costs);
}

/* The sum over all profiles is what the summary says. */
static void compare_sums(const char *name, const char *path)
{
    lode_database *db;
    lode_cost *from_summary, *from_profiles;
    lode_selection *all;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    open_or_fail(&db, name, path);
    assert_int_equal(lode_selection_parse(&all, db, "profile=1-999999", NULL), LODE_OK);
    assert_int_equal(lode_cost_compute(&from_summary, db, &options, NULL), LODE_OK);
    options.selection = all;
    options.metric = lode_cost_metric(from_summary);
    assert_int_equal(lode_cost_compute(&from_profiles, db, &options, NULL), LODE_OK);
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        double a = lode_cost_inclusive(from_summary, context),
               b = lode_cost_inclusive(from_profiles, context);
        assert_true(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)));
    }
    lode_cost_free(from_summary);
    lode_cost_free(from_profiles);
    lode_selection_free(all);
    lode_database_close(db);
}

static void profiles_add_up_to_the_summary(void **state)
{
    (void)state;
    for_each_database(compare_sums);
}

static void eight_threads_walk_the_largest(void **state)
{
    char path[1024];
    lode_database *db;
    (void)state;
    assert_true(corpus_path(path, sizeof path, "hpctoolkit/final/viewer-issue-233"));
    assert_int_equal(lode_database_open(&db, path, NULL), LODE_OK);
    assert_true(walk_with_threads(db, 8));
    lode_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_databases_are_sound_at_the_full_level),
        cmocka_unit_test(exclusive_costs_are_those_that_hpcprof_stores),
        cmocka_unit_test(profiles_add_up_to_the_summary),
        cmocka_unit_test(eight_threads_walk_the_largest),
    };
    return run_with_corpus("corpus", tests, sizeof tests / sizeof *tests);
}
