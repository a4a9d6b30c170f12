/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source of one's own: makes a database from lines of text, one call path each.
 *
 *     folded DATABASE < LINES        a line: RANK main;solve;multiply SECONDS
 */
#include <lode/lode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        lode_status tried = (call);                                                                          \
        if (tried != LODE_OK)                                                                                \
            return tried;                                                                                    \
    } while (0)

#define MOST 4096 /* lines, contexts, ranks */

static struct node {
    uint32_t parent, context; /* numbers that the writer gave */
    char name[64];
} nodes[MOST];
static struct row {
    uint32_t rank, context;
    double seconds;
} rows[MOST];
static size_t node_count, row_count, rank_count;

/* A metric in seconds with two scopes: at each point, and with everything that is called. */
static lode_status describe(lode_writer *writer, uint32_t *metric, uint32_t *root, lode_error *error)
{
    static const int types[] = {LODE_SCOPE_POINT, LODE_SCOPE_EXECUTION};
    static const char *const names[] = {"point", "execution"}, *const kinds[] = {"SUMMARY", "RANK"};
    lode_writer_context entry = LODE_WRITER_CONTEXT_INIT;
    TRY(lode_writer_add_metric(writer, "TIME (sec)", metric, error));
    for (int i = 0; i < 2; i++) {
        uint32_t scope;
        uint16_t id;
        TRY(lode_writer_add_id_kind(writer, kinds[i], NULL, error));
        TRY(lode_writer_add_scope(writer, names[i], types[i], 0, &scope, error));
        TRY(lode_writer_add_metric_scope(writer, *metric, scope, &id, error));
        TRY(lode_writer_add_statistic(writer, *metric, scope, "$$", LODE_COMBINE_SUM, error));
    }
    entry.entry = LODE_ENTRY_MAIN_THREAD;
    entry.entry_name = "main thread";
    return lode_writer_add_context(writer, &entry, root, error);
}

/* The context of a function that is called in the context `at`, new or not. */
static lode_status call(lode_writer *writer, const char *name, uint32_t *at, lode_error *error)
{
    size_t i = 0;
    while (i < node_count && (nodes[i].parent != *at || strcmp(nodes[i].name, name) != 0))
        i++;
    if (i == node_count && i < MOST) {
        lode_writer_function function = {name, LODE_NONE, LODE_NONE, 0, 0};
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        context.parent = nodes[i].parent = *at;
        context.relation = LODE_RELATION_CALL;
        snprintf(nodes[i].name, sizeof nodes[i].name, "%s", name);
        TRY(lode_writer_add_function(writer, &function, &context.function, error));
        TRY(lode_writer_add_context(writer, &context, &nodes[i].context, error));
        node_count++;
    }
    *at = i < MOST ? nodes[i].context : *at;
    return LODE_OK;
}

static lode_status read_rows(lode_writer *writer, uint32_t root, lode_error *error)
{
    char line[1024], *path, *seconds;
    while (row_count < MOST && fgets(line, sizeof line, stdin) && (seconds = strrchr(line, ' '))) {
        struct row row = {(uint32_t)strtoul(line, &path, 10) % MOST, root, strtod(seconds, NULL)};
        *seconds = 0;
        for (char *name = strtok(path, " ;"); name; name = strtok(NULL, " ;"))
            TRY(call(writer, name, &row.context, error));
        rows[row_count++] = row;
        rank_count = row.rank < rank_count ? rank_count : row.rank + 1;
    }
    return LODE_OK;
}

static lode_status write_all(lode_writer *writer, lode_profile_builder **builder, lode_error *error)
{
    uint32_t metric, root;
    TRY(describe(writer, &metric, &root, error));
    TRY(read_rows(writer, root, error));
    TRY(lode_writer_seal(writer, error));
    TRY(lode_profile_builder_create(builder, writer, error));
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        lode_id id = {1, 0, rank, rank};
        TRY(lode_profile_builder_begin(*builder, &id, 1, error));
        for (size_t i = 0; i < row_count; i++) /* values of one context are added up */
            if (rows[i].rank == rank)
                TRY(lode_profile_builder_point(*builder, rows[i].context, metric, rows[i].seconds, error));
        TRY(lode_profile_builder_end(*builder, error));
        TRY(lode_writer_append(writer, *builder, error));
    }
    return lode_writer_finish(writer, error);
}

int main(int argc, char **argv)
{
    lode_error error;
    lode_writer *writer = NULL;
    lode_profile_builder *builder = NULL;
    if (argc != 2)
        return fputs("usage: folded DATABASE < LINES\n", stderr) < 0 ? 3 : 2;
    lode_status status = lode_writer_create(&writer, argv[1], NULL, &error);
    if (status == LODE_OK)
        status = write_all(writer, &builder, &error);
    lode_profile_builder_free(builder);
    lode_writer_close(writer); /* removes what was not finished */
    if (status != LODE_OK)
        fprintf(stderr, "folded: %s%s%s\n", error.file, error.file[0] ? ": " : "", error.text);
    return status == LODE_OK ? 0 : 2;
}
