/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries keep what they compute, and outlines have the rows of views however they are expanded. */
#include "made_recording.h"
#include "minidb.h"
#include "unit.h"
#include <dirent.h>
#include <lode/unstable.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void open_mini(struct minidb *mini, lode_database **db)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    options.profiles = 10;
    options.chains = 40;
    minidb_make(mini, &options);
    minidb_files(mini, files);
    assert_int_equal(lode_database_open_memory(db, files, HPCT_FILES, NULL), LODE_OK);
}

/* ---- outlines ---- */

static void compare_row(const lode_view_row *a, const lode_view_row *b)
{
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->hot, b->hot);
    assert_int_equal(a->folded, b->folded);
    assert_memory_equal(&a->inclusive, &b->inclusive, sizeof a->inclusive);
    assert_memory_equal(&a->exclusive, &b->exclusive, sizeof a->exclusive);
    assert_int_equal(a->contexts, b->contexts);
    assert_int_equal(a->calls, b->calls);
    assert_ptr_equal(a->context, b->context);
    assert_int_equal(a->call_line, b->call_line);
    assert_ptr_equal(a->call_file, b->call_file);
}

/* Expands all nodes in the order of discovery or, if `backwards`, the last one first. */
static void expand_all(lode_outline *outline, bool backwards)
{
    uint32_t first, count;
    uint32_t *pending = malloc(sizeof *pending * 1000000);
    size_t begin = 0, end = 0;
    assert_non_null(pending);
    pending[end++] = LODE_OUTLINE_ROOT;
    while (begin < end) {
        uint32_t node = backwards ? pending[--end] : pending[begin++];
        assert_int_equal(lode_outline_expand(outline, node, &first, &count, NULL), LODE_OK);
        for (uint32_t i = 0; i < count && end < 1000000; i++)
            pending[end++] = first + i;
    }
    free(pending);
}

/* The rows of an outline depth-first, which are those of the view from `next` on. */
static void compare_below(lode_outline *outline, uint32_t node, const lode_view *view, size_t *next)
{
    uint32_t first, count;
    assert_int_equal(lode_outline_expand(outline, node, &first, &count, NULL), LODE_OK);
    for (uint32_t i = first; i < first + count; i++) {
        lode_view_row row;
        int had_more, has_more;
        uint32_t below, number;
        assert_int_equal(lode_outline_row(outline, i, &row, sizeof row, &had_more), LODE_OK);
        double exclusive = row.exclusive;
        assert_int_equal(lode_outline_expand(outline, i, &below, &number, NULL), LODE_OK);
        assert_int_equal(lode_outline_row(outline, i, &row, sizeof row, &has_more), LODE_OK);
        assert_true(row.exclusive == exclusive);
        assert_int_equal(has_more, number > 0);
        assert_true(had_more || !has_more);
        assert_non_null(lode_view_at(view, *next));
        compare_row(&row, lode_view_at(view, *next));
        ++*next;
        compare_below(outline, i, view, next);
    }
}

static void compare_view(const lode_cost *cost, const lode_view_options *options, int order)
{
    lode_view *view;
    lode_outline *outline;
    size_t next = 0;
    assert_int_equal(lode_view_build(&view, cost, options, NULL), LODE_OK);
    assert_int_equal(lode_outline_open(&outline, cost, options, NULL), LODE_OK);
    if (order > 0)
        expand_all(outline, order > 1);
    compare_below(outline, LODE_OUTLINE_ROOT, view, &next);
    assert_int_equal(next, lode_view_count(view));
    lode_outline_close(outline);
    lode_view_free(view);
}

/* In every mode, with and without lines, with all rows and with those of some cost. */
static void compare_views(const lode_cost *cost, const char *focus)
{
    for (int mode = LODE_VIEW_TOP_DOWN; mode <= LODE_VIEW_FLAT; mode++) {
        for (int way = 0; way < 6; way++) {
            lode_view_options options = LODE_VIEW_OPTIONS_INIT;
            options.mode = (lode_view_mode)mode;
            options.lines = way % 2;
            options.min_fraction = way < 2 ? 0.0 : 0.02;
            /* By callers, all rows of a tree are the square of its contexts. */
            if (mode == LODE_VIEW_CALLERS)
                options.depth = 6;
            options.focus = way > 3 ? focus : NULL;
            compare_view(cost, &options, way / 2);
        }
    }
}

static void outlines_have_the_rows_of_views(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_cost *cost;
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    compare_views(cost, "work");
    lode_cost_free(cost);
    lode_database_close(db);
    minidb_free(&mini);
}

static void outlines_of_calls_have_the_rows_of_views(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 12; seed++) {
        lode_recording *recording = made_recording(2);
        lode_calltree *tree;
        uint64_t chance = seed;
        for (uint32_t track = 0; track < 2; track++)
            made_random_track(recording, track, &chance, 600);
        assert_int_equal(lode_calltree_compute(&tree, recording, NULL, NULL, NULL), LODE_OK);
        compare_views(lode_calltree_cost(tree), "1");
        lode_calltree_free(tree);
        lode_recording_close(recording);
    }
}

/* Flat, a function is what it is among the hotspots. */
static void compare_flat(const lode_cost *cost)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_view *view;
    lode_hotspots *hotspots;
    size_t found = 0;
    options.mode = LODE_VIEW_FLAT;
    options.min_fraction = 0.0;
    options.depth = 1;
    assert_int_equal(lode_view_build(&view, cost, &options, NULL), LODE_OK);
    assert_int_equal(lode_hotspots_compute(&hotspots, cost, LODE_BY_SYMBOL, LODE_SORT_INCLUSIVE, NULL),
                     LODE_OK);
    for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
        const lode_hotspot *spot = lode_hotspots_at(hotspots, i);
        for (size_t k = 0; spot->function && k < lode_view_count(view); k++) {
            const lode_view_row *row = lode_view_at(view, k);
            if (row->context != spot->sample)
                continue;
            assert_true(row->inclusive == spot->inclusive);
            assert_true(fabs(row->exclusive - spot->exclusive) <= 1e-12 * fabs(spot->exclusive));
            assert_int_equal(row->contexts, spot->contexts);
            found++;
        }
        found += spot->function == NULL || spot->inclusive <= 0.0;
    }
    assert_true(found >= lode_hotspots_count(hotspots));
    lode_hotspots_free(hotspots);
    lode_view_free(view);
}

static void outlines_of_real_databases_have_the_rows_of_views(void **state)
{
    char root[1024], path[2048];
    struct dirent *entry;
    (void)state;
    if (!corpus_path(root, sizeof root, "hpctoolkit/final"))
        skip();
    DIR *directory = opendir(root);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        lode_database *db;
        lode_cost *cost;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        assert_int_equal(lode_database_open(&db, path, NULL), LODE_OK);
        if (lode_database_context_count(db) < 20000) {
            assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
            compare_views(cost, "a");
            compare_flat(cost);
            lode_cost_free(cost);
        }
        lode_database_close(db);
    }
    closedir(directory);
}

/* The rows below each row of a view, all of them and a part: those that the view has there. */
static void compare_parts(const lode_cost *cost, const lode_view_options *options, const lode_view *whole)
{
    const lode_context *path[64];
    for (size_t i = 0; i < lode_view_count(whole); i++) {
        const lode_view_row *row = lode_view_at(whole, i);
        size_t count = 0;
        path[row->depth] = row->context;
        while (i + 1 + count < lode_view_count(whole) &&
               lode_view_at(whole, i + 1 + count)->depth > row->depth)
            count++;
        lode_view_options part = *options;
        lode_view *view;
        part.path = path;
        part.path_count = (size_t)row->depth + 1;
        assert_int_equal(lode_view_build(&view, cost, &part, NULL), LODE_OK);
        assert_int_equal(lode_view_count(view), count);
        for (size_t k = 0; k < count; k++) {
            lode_view_row below = *lode_view_at(whole, i + 1 + k);
            below.depth -= row->depth + 1;
            compare_row(&below, lode_view_at(view, k));
        }
        lode_view_free(view);
        part.skip = 1;
        part.max_rows = 2;
        assert_int_equal(lode_view_build(&view, cost, &part, NULL), LODE_OK);
        assert_true(count == 0 || lode_view_count(view) == 0 || lode_view_at(view, 0)->depth == 0);
        assert_true(lode_view_count(view) <= 2);
        assert_int_equal(lode_view_total(view), count == 0 ? 0 : lode_view_total(view));
        lode_view_free(view);
    }
}

/* What a view has by its own metric, it has by another way, too. */
static void compare_costs(const lode_cost *cost, const lode_view_options *options, const lode_view *view)
{
    size_t count = lode_view_count(view);
    double *inclusive = calloc(count + 1, sizeof *inclusive),
           *exclusive = calloc(count + 1, sizeof *exclusive);
    assert_true(inclusive && exclusive);
    assert_int_equal(lode_view_costs(view, cost, options, inclusive, exclusive, NULL), LODE_OK);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(&inclusive[i], &lode_view_at(view, i)->inclusive, sizeof *inclusive);
        assert_memory_equal(&exclusive[i], &lode_view_at(view, i)->exclusive, sizeof *exclusive);
    }
    free(inclusive);
    free(exclusive);
}

static void parts_of_views_have_their_rows(void **state)
{
    (void)state;
    struct minidb mini, twin;
    lode_database *db, *other;
    lode_cost *cost, *foreign;
    lode_view *view;
    lode_error error = {0};
    open_mini(&mini, &db);
    open_mini(&twin, &other);
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_cost_compute(&foreign, other, NULL, NULL), LODE_OK);
    for (int mode = LODE_VIEW_TOP_DOWN; mode <= LODE_VIEW_FLAT; mode++)
        for (unsigned depth = 0; depth < 3; depth += 2) {
            lode_view_options options = LODE_VIEW_OPTIONS_INIT;
            options.mode = (lode_view_mode)mode;
            options.min_fraction = depth ? 0.01 : 0.0;
            assert_int_equal(lode_view_build(&view, cost, &options, NULL), LODE_OK);
            compare_parts(cost, &options, view);
            compare_costs(cost, &options, view);
            double amounts[1];
            assert_int_equal(lode_view_costs(view, foreign, &options, amounts, amounts, &error),
                             LODE_ERR_ARGUMENT);
            lode_view_free(view);
        }
    const lode_context *nowhere[1] = {lode_database_context(db, lode_database_context_count(db) - 1)};
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    options.path = nowhere;
    options.path_count = 1;
    assert_int_equal(lode_view_build(&view, cost, &options, &error), LODE_NOT_FOUND);
    assert_non_null(strstr(error.text, "no row on this path"));
    lode_cost_free(cost);
    lode_cost_free(foreign);
    lode_database_close(db);
    lode_database_close(other);
    minidb_free(&mini);
    minidb_free(&twin);
}

static void nodes_that_are_not_there_are_refused(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_cost *cost;
    lode_outline *outline;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_view_row row;
    uint32_t first, count;
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_outline_open(&outline, cost, NULL, NULL), LODE_OK);
    assert_int_equal(lode_outline_expand(outline, LODE_OUTLINE_ROOT, &first, &count, NULL), LODE_OK);
    assert_int_equal(lode_outline_expand(outline, first + count, &first, &count, NULL), LODE_NOT_FOUND);
    assert_int_equal(lode_outline_row(outline, LODE_OUTLINE_ROOT, &row, sizeof row, NULL), LODE_NOT_FOUND);
    assert_int_equal(lode_outline_row(outline, UINT32_MAX, &row, sizeof row, NULL), LODE_NOT_FOUND);
    lode_outline_close(outline);
    lode_outline_close(NULL);
    options.focus = "no such function";
    assert_int_equal(lode_outline_open(&outline, cost, &options, NULL), LODE_NOT_FOUND);
    assert_null(outline);
    lode_cost_free(cost);
    lode_database_close(db);
    minidb_free(&mini);
}

/* ---- costs ---- */

static void costs_are_computed_once(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_query *query;
    lode_selection *first, *second;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    const lode_cost *a, *b, *c, *all;
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_query_open(&query, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_query_cost(&all, query, NULL, NULL), LODE_OK);
    assert_int_equal(lode_selection_parse(&first, db, "rank=0-1,thread=0", NULL), LODE_OK);
    assert_int_equal(lode_selection_parse(&second, db, "RANK=0-1,Thread=0-0", NULL), LODE_OK);
    options.selection = first;
    assert_int_equal(lode_query_cost(&a, query, &options, NULL), LODE_OK);
    lode_selection_free(first);
    options.selection = second;
    assert_int_equal(lode_query_cost(&b, query, &options, NULL), LODE_OK);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, all);
    options.metric = lode_database_metric(db, 1);
    assert_int_equal(lode_query_cost(&c, query, &options, NULL), LODE_OK);
    assert_ptr_not_equal(a, c);
    assert_ptr_equal(lode_cost_metric(c), options.metric);
    assert_int_equal(lode_query_computed(query), 3);
    lode_query_release(query, a);
    lode_query_release(query, b);
    lode_query_release(query, c);
    lode_query_release(query, all);
    lode_query_release(query, NULL);
    assert_int_equal(lode_query_cost(&b, query, &options, NULL), LODE_OK);
    assert_ptr_equal(b, c);
    assert_int_equal(lode_query_computed(query), 3);
    lode_selection_free(second);
    lode_query_close(query);
    lode_query_close(NULL);
    lode_database_close(db);
    minidb_free(&mini);
}

/* Asks for the cost of one profile, and gives it back. Returns how many costs were computed. */
static uint64_t ask_profile(lode_query *query, const lode_database *db, unsigned profile)
{
    char text[32];
    lode_selection *selection;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    const lode_cost *cost;
    snprintf(text, sizeof text, "profile=%u", profile);
    assert_int_equal(lode_selection_parse(&selection, db, text, NULL), LODE_OK);
    options.selection = selection;
    assert_int_equal(lode_query_cost(&cost, query, &options, NULL), LODE_OK);
    lode_query_release(query, cost);
    lode_selection_free(selection);
    return lode_query_computed(query);
}

/* Room for two: the one that was used longest ago goes, and one in use stays. */
static void memory_is_bounded(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_query *query;
    lode_query_options options = LODE_QUERY_OPTIONS_INIT;
    const lode_cost *kept, *cost;
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_query_open(&query, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_query_cost(&kept, query, NULL, NULL), LODE_OK);
    uint64_t one = lode_query_memory(query);
    assert_true(one >= 16 * lode_database_context_count(db));
    lode_query_close(query);
    options.memory = 2 * one;
    assert_int_equal(lode_query_open(&query, db, &options, NULL), LODE_OK);
    assert_int_equal(lode_query_cost(&kept, query, NULL, NULL), LODE_OK);
    double total = lode_cost_total(kept);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 1; i < 6; i++) {
            ask_profile(query, db, i);
            assert_true(lode_query_memory(query) <= options.memory);
        }
    }
    assert_int_equal(lode_query_computed(query), 11);
    assert_true(lode_cost_total(kept) == total);
    assert_int_equal(lode_query_cost(&cost, query, NULL, NULL), LODE_OK);
    assert_ptr_equal(cost, kept);
    lode_query_close(query);
    lode_database_close(db);
    minidb_free(&mini);
}

static void what_was_used_last_is_kept_longest(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_query *query;
    lode_query_options options = LODE_QUERY_OPTIONS_INIT;
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_query_open(&query, db, NULL, NULL), LODE_OK);
    assert_int_equal(ask_profile(query, db, 1), 1);
    options.memory = 2 * lode_query_memory(query);
    lode_query_close(query);
    assert_int_equal(lode_query_open(&query, db, &options, NULL), LODE_OK);
    assert_int_equal(ask_profile(query, db, 1), 1);
    assert_int_equal(ask_profile(query, db, 2), 2);
    assert_int_equal(ask_profile(query, db, 1), 2);
    assert_int_equal(ask_profile(query, db, 3), 3);
    assert_int_equal(ask_profile(query, db, 1), 3);
    assert_int_equal(ask_profile(query, db, 2), 4);
    lode_query_close(query);
    lode_database_close(db);
    minidb_free(&mini);
}

struct asker {
    pthread_t thread;
    lode_query *query;
    const lode_database *db;
    unsigned number;
    bool agrees;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    asker->agrees = true;
    for (unsigned round = 0; round < 20; round++) {
        lode_cost_options options = LODE_COST_OPTIONS_INIT;
        lode_view_options view = LODE_VIEW_OPTIONS_INIT;
        lode_outline *outline = NULL;
        const lode_cost *cost = NULL;
        uint32_t first, count;
        options.metric = lode_database_metric(asker->db, (asker->number + round) % 2);
        view.mode = (lode_view_mode)(round % 3);
        asker->agrees = asker->agrees && lode_query_cost(&cost, asker->query, &options, NULL) == LODE_OK &&
                        lode_cost_metric(cost) == options.metric &&
                        lode_query_outline(&outline, asker->query, &options, &view, NULL) == LODE_OK &&
                        lode_outline_expand(outline, LODE_OUTLINE_ROOT, &first, &count, NULL) == LODE_OK &&
                        lode_outline_expand(outline, first, &first, &count, NULL) == LODE_OK;
        lode_outline_close(outline);
        lode_query_release(asker->query, cost);
    }
    return NULL;
}

static void threads_that_ask_the_same_wait_for_one(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_query *query;
    lode_pool *pool;
    lode_query_options options = LODE_QUERY_OPTIONS_INIT;
    struct asker askers[8];
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_pool_create(&pool, 2, NULL), LODE_OK);
    options.pool = pool;
    assert_int_equal(lode_query_open(&query, db, &options, NULL), LODE_OK);
    for (unsigned i = 0; i < 8; i++) {
        askers[i] = (struct asker){.query = query, .db = db, .number = i};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_true(askers[i].agrees);
    }
    assert_int_equal(lode_query_computed(query), 2);
    lode_query_close(query);
    lode_pool_free(pool);
    lode_database_close(db);
    minidb_free(&mini);
}

/* One outline, which several threads expand at the same time: all see the same nodes. */
static void *expand_some(void *argument)
{
    lode_outline *outline = argument;
    expand_all(outline, false);
    return NULL;
}

static void threads_expand_one_outline(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_cost *cost;
    lode_outline *outline;
    lode_view *view;
    pthread_t threads[4];
    size_t next = 0;
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_outline_open(&outline, cost, NULL, NULL), LODE_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, expand_some, outline), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(lode_view_build(&view, cost, NULL, NULL), LODE_OK);
    compare_below(outline, LODE_OUTLINE_ROOT, view, &next);
    assert_int_equal(next, lode_view_count(view));
    lode_view_free(view);
    lode_outline_close(outline);
    lode_cost_free(cost);
    lode_database_close(db);
    minidb_free(&mini);
}

/* ---- failing ---- */

static int stop(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)user;
    (void)phase;
    (void)done;
    (void)total;
    return 1;
}

static void what_fails_is_not_kept(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_query *query;
    lode_selection *nobody;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    const lode_cost *cost;
    lode_error error = {0};
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_query_open(&query, db, NULL, NULL), LODE_OK);
    options.on_progress = stop;
    assert_int_equal(lode_query_cost(&cost, query, &options, &error), LODE_ERR_CANCELLED);
    assert_null(cost);
    assert_int_equal(error.status, LODE_ERR_CANCELLED);
    assert_int_equal(lode_query_memory(query), 0);
    options.on_progress = NULL;
    assert_int_equal(lode_selection_parse(&nobody, db, "rank=999", NULL), LODE_OK);
    options.selection = nobody;
    assert_int_equal(lode_query_cost(&cost, query, &options, &error), LODE_NOT_FOUND);
    options.selection = NULL;
    assert_int_equal(lode_query_cost(&cost, query, &options, NULL), LODE_OK);
    lode_selection_free(nobody);
    lode_query_close(query);
    lode_database_close(db);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outlines_have_the_rows_of_views),
        cmocka_unit_test(outlines_of_calls_have_the_rows_of_views),
        cmocka_unit_test(outlines_of_real_databases_have_the_rows_of_views),
        cmocka_unit_test(parts_of_views_have_their_rows),
        cmocka_unit_test(nodes_that_are_not_there_are_refused),
        cmocka_unit_test(costs_are_computed_once),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_was_used_last_is_kept_longest),
        cmocka_unit_test(threads_that_ask_the_same_wait_for_one),
        cmocka_unit_test(threads_expand_one_outline),
        cmocka_unit_test(what_fails_is_not_kept),
    };
    correct_skips();
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
