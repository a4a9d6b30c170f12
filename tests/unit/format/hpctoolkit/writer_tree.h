/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the writer: one metric in four scopes, and a tree with all kinds of contexts. */
#ifndef LODE_TESTS_WRITER_TREE_H
#define LODE_TESTS_WRITER_TREE_H

#include "writing.h"

enum {
    POINT,
    FUNCTION,
    LEX_AWARE,
    EXECUTION,
    SCOPES
};

/* One metric in the four scopes; ids are those of the enumeration above. */
static inline uint32_t add_time(struct place *place, lode_writer *writer)
{
    static const struct {
        const char *name;
        int type;
    } scopes[SCOPES] = {{"point", LODE_SCOPE_POINT},
                        {"function", LODE_SCOPE_TRANSITIVE},
                        {"lex_aware", LODE_SCOPE_CUSTOM},
                        {"execution", LODE_SCOPE_EXECUTION}};
    uint32_t metric, handles[SCOPES];
    for (unsigned i = 0; i < SCOPES; i++)
        handles[i] = add_scope(place, writer, scopes[i].name, scopes[i].type);
    DONE(place, lode_writer_add_metric(writer, "time (sec)", &metric, &place->error));
    for (unsigned i = 0; i < SCOPES; i++)
        assert_int_equal(add_instance(place, writer, metric, handles[i]), i);
    for (unsigned i = 0; i < SCOPES; i++)
        DONE(place,
             lode_writer_add_statistic(writer, metric, handles[i], "$$", LODE_COMBINE_SUM, &place->error));
    return metric;
}

/*
 * The tree, with point values in brackets; lines tell the contexts apart.
 *   main thread
 *     main
 *       loop at 10
 *         line 11 [1]
 *         loop at 20
 *           line 21 [2]
 *           loop at 30
 *             line 31 [4]
 *       line 40 [8]
 *         work, called
 *           line 50 [16]
 *         helper, inlined
 *           line 60 [32]
 *           loop at 70
 *             line 71 [128]
 *   application thread
 *     start, called
 *       line 80 [64]
 */
struct tree {
    uint32_t metric;
    uint32_t lines[8]; /* 11, 21, 31, 40, 50, 60, 80, 71 */
};

static inline void describe_tree(struct place *place, lode_writer *writer, struct tree *tree)
{
    uint32_t file;
    add_kinds(place, writer);
    tree->metric = add_time(place, writer);
    DONE(place, lode_writer_add_file(writer, "/src/a.c", 0, NULL, &file, &place->error));
    uint32_t thread = add_entry(place, writer, LODE_ENTRY_MAIN_THREAD);
    uint32_t other = add_entry(place, writer, LODE_ENTRY_APPLICATION_THREAD);
    uint32_t mainly =
        add_call(place, writer, thread, LODE_RELATION_CALL, add_function(place, writer, "main"));
    uint32_t outer = add_inside(place, writer, mainly, LODE_LEXICAL_LOOP, file, 10);
    tree->lines[0] = add_inside(place, writer, outer, LODE_LEXICAL_LINE, file, 11);
    uint32_t middle = add_inside(place, writer, outer, LODE_LEXICAL_LOOP, file, 20);
    tree->lines[1] = add_inside(place, writer, middle, LODE_LEXICAL_LINE, file, 21);
    uint32_t inner = add_inside(place, writer, middle, LODE_LEXICAL_LOOP, file, 30);
    tree->lines[2] = add_inside(place, writer, inner, LODE_LEXICAL_LINE, file, 31);
    tree->lines[3] = add_inside(place, writer, mainly, LODE_LEXICAL_LINE, file, 40);
    uint32_t work =
        add_call(place, writer, tree->lines[3], LODE_RELATION_CALL, add_function(place, writer, "work"));
    tree->lines[4] = add_inside(place, writer, work, LODE_LEXICAL_LINE, file, 50);
    uint32_t helper =
        add_call(place, writer, tree->lines[3], LODE_RELATION_INLINED, add_function(place, writer, "helper"));
    tree->lines[5] = add_inside(place, writer, helper, LODE_LEXICAL_LINE, file, 60);
    uint32_t start = add_call(place, writer, other, LODE_RELATION_CALL, add_function(place, writer, "start"));
    tree->lines[6] = add_inside(place, writer, start, LODE_LEXICAL_LINE, file, 80);
    uint32_t inlined = add_inside(place, writer, helper, LODE_LEXICAL_LOOP, file, 70);
    tree->lines[7] = add_inside(place, writer, inlined, LODE_LEXICAL_LINE, file, 71);
}

#endif
