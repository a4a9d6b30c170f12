/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what lazy results save on a synthetic database: expanding one node of an outline against
 * building the whole view, and reading values through columns against a bare loop over the same
 * bytes of the mapped file.
 *   lazy FOLDER CONTEXTS LEAST-RATIO
 * makes FOLDER, and exits with 1 if a view takes less than LEAST-RATIO times as much CPU time as
 * expanding a node.
 */
#include <lode/private/columns.h>
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROUNDS = 5,
    BLOCKS = 64
};

static void need(lode_status status, const char *what, const lode_error *error)
{
    if (status == LODE_OK)
        return;
    fprintf(stderr, "lazy: %s: %s\n", what, error->text);
    exit(2);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* The time of a view of everything. */
static double time_view(const lode_cost *cost, const lode_view_options *options)
{
    lode_error error = {0};
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        lode_view *view;
        double begin = now();
        need(lode_view_build(&view, cost, options, &error), "view", &error);
        best = least(best, now() - begin);
        lode_view_free(view);
    }
    return best;
}

/* The longest time of any node on the hottest path, with the rows of its children. */
static double time_nodes(lode_outline *outline)
{
    lode_error error = {0};
    double worst = 0;
    uint32_t node = LODE_OUTLINE_ROOT, count = 1;
    while (count > 0) {
        uint32_t first;
        lode_view_row row;
        double begin = now();
        need(lode_outline_expand(outline, node, &first, &count, &error), "expand", &error);
        for (uint32_t i = first; i < first + count; i++)
            need(lode_outline_row(outline, i, &row, sizeof row, NULL), "row", &error);
        worst = now() - begin > worst ? now() - begin : worst;
        node = first;
    }
    return worst;
}

static double compare_views(const lode_database *db)
{
    lode_error error = {0};
    lode_cost *cost;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    double open = 1e9, node = 1e9;
    options.min_fraction = 0.0;
    need(lode_cost_compute(&cost, db, NULL, &error), "cost", &error);
    for (int i = 0; i < ROUNDS; i++) {
        lode_outline *outline;
        double begin = now();
        need(lode_outline_open(&outline, cost, &options, &error), "outline", &error);
        open = least(open, now() - begin);
        node = least(node, time_nodes(outline));
        lode_outline_close(outline);
    }
    double view = time_view(cost, &options);
    printf("view of all rows %.3f ms, outline opened %.3f ms, a node expanded %.3f ms: ratio %.0f\n",
           view * 1e3, open * 1e3, node * 1e3, view / node);
    lode_cost_free(cost);
    return view / node;
}

/* The values of profiles: where they lie. */
struct bytes {
    const unsigned char *data;
    uint64_t count, stride;
};

static double sum_of(const struct bytes *bytes)
{
    double sum = 0, value;
    for (uint64_t i = 0; i < bytes->count; i++) {
        memcpy(&value, bytes->data + i * bytes->stride, sizeof value);
        sum += value;
    }
    return sum;
}

static struct bytes read_block(const lode_database *db, uint32_t profile, lode_table **table)
{
    lode_error error = {0};
    lode_block block;
    lode_column column = {0};
    need(lode_profile_block(db, profile, &block, &error), "block", &error);
    need(lode_block_values_table(table, &block, &error), "table", &error);
    if (lode_table_rows(*table) > 0)
        need(lode_table_read(*table, 1, 0, UINT64_MAX, &column, &error), "column", &error);
    return (struct bytes){column.data, column.count, column.stride};
}

static void compare_scans(const lode_database *db)
{
    struct bytes known[BLOCKS];
    lode_table *table;
    uint32_t count = lode_database_profile_count(db) < BLOCKS ? lode_database_profile_count(db) : BLOCKS;
    double columns = 1e9, bare = 1e9, sums[2];
    uint64_t values = 0;
    for (uint32_t i = 0; i < count; i++) {
        known[i] = read_block(db, i, &table);
        values += known[i].count;
        lode_table_free(table);
    }
    for (int round = 0; round < ROUNDS; round++) {
        sums[0] = sums[1] = 0;
        double begin = now();
        for (uint32_t i = 0; i < count; i++)
            sums[0] += sum_of(&known[i]);
        bare = least(bare, now() - begin);
        begin = now();
        for (uint32_t i = 0; i < count; i++) {
            struct bytes bytes = read_block(db, i, &table);
            sums[1] += sum_of(&bytes);
            lode_table_free(table);
        }
        columns = least(columns, now() - begin);
    }
    printf("%llu values by columns %.3f ms, bare %.3f ms: ratio %.3f%s\n", (unsigned long long)values,
           columns * 1e3, bare * 1e3, columns / bare, sums[0] == sums[1] ? "" : ", UNLIKE");
}

int main(int argc, char **argv)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    lode_database *db;
    lode_error error = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: lazy FOLDER CONTEXTS LEAST-RATIO\n");
        return 2;
    }
    options.contexts = (uint32_t)strtoul(argv[2], NULL, 10);
    options.profiles = 8;
    options.samples = 0;
    options.force = 1;
    need(lode_synth_database(argv[1], &options, &error), argv[1], &error);
    need(lode_database_open(&db, argv[1], &error), argv[1], &error);
    printf("%u contexts\n", lode_database_context_count(db));
    double ratio = compare_views(db);
    compare_scans(db);
    lode_database_close(db);
    return ratio < strtod(argv[3], NULL);
}
