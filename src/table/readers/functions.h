/* SPDX-License-Identifier: BSD-3-Clause */
/* Table functions: tables whose rows are computed from arguments when a scan opens. */
#ifndef LODE_TABLE_FUNCTIONS_H
#define LODE_TABLE_FUNCTIONS_H

#include "table/fields.h"
#include <lode/calltree.h>
#include <lode/distribution.h>
#include <lode/hotspot.h>
#include <lode/unstable/search.h>
#include <lode/unstable/timeline.h>
#include <lode/view.h>

/* Fields of arguments come last. */
#define ARGUMENT(name, type)                                                                                 \
    {                                                                                                        \
        name, type, LODE_FIELD_ARGUMENT | LODE_FIELD_OPTIONAL, NULL                                          \
    }
#define TEXT_ARGUMENT(name) ARGUMENT(name, LODE_COLUMN_STRING)
#define TIME_ARGUMENT(name)                                                                                  \
    {                                                                                                        \
        name, LODE_COLUMN_U64, LODE_FIELD_ARGUMENT | LODE_FIELD_OPTIONAL | LODE_FIELD_SIGNED, NULL           \
    }

/* What a function computed; each has some of these. */
struct lode_function_state {
    lode_selection *selection;
    const lode_cost *cost;
    lode_hotspots *hotspots;
    lode_view *view;
    lode_timeline *timeline;
    lode_calls *calls;
    lode_calltree *tree;
    lode_search *search;
    const struct lode_table_choice *choice; /* of the tables */
    struct lode_array findings;             /* struct lode_kept_finding */
    struct lode_arena text;
    lode_distribution distribution;
    uint64_t zeros;
    lode_group_by by;
    unsigned columns;
};

struct lode_kept_finding {
    const char *rule, *severity, *file, *text;
    uint64_t offset;
};

#define FUNCTION(title, name)                                                                                \
    .info = {#name, title, name##_fields, COUNT(name##_fields), 1},                                          \
    .state_size = sizeof(struct lode_function_state), .open = open_##name, .next = next_##name,              \
    .close = lode_function_close, .is_numbered = true

#define NEXT_OF(name)                                                                                        \
    static lode_status next_##name(struct lode_table_reader *reader, struct lode_table_batch *batch,         \
                                   lode_error *error)                                                        \
    {                                                                                                        \
        return lode_function_rows(reader, batch, name##_row, error);                                         \
    }

void lode_function_close(struct lode_table_reader *reader);
/* Appends rows by number, and the arguments to each. */
lode_status lode_function_rows(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               lode_table_row_fn row, lode_error *error);

/* The filter that sets an argument, by the name of its field; NULL: its default. */
const lode_scan_filter *lode_function_argument(const struct lode_table_reader *reader, const char *name);
const char *lode_function_text(const struct lode_table_reader *reader, const char *name);
uint64_t lode_function_number(const struct lode_table_reader *reader, const char *name, uint64_t usual);

/* Threads of one call, which a pool gives. */
static inline unsigned lode_function_threads(const struct lode_table_reader *reader)
{
    return reader->tables->options.pool ? 0 : 1;
}

/* What was not found is a wrong argument, unless it is a part that the store does not have. */
lode_status lode_function_found(lode_status status, lode_error *error);

/* The groups that the argument `by` names. */
lode_status lode_function_group(const struct lode_table_reader *reader, lode_group_by *by, lode_error *error);
/* A cost from the cache of the tables; lode_query_release is due. */
lode_status lode_function_cost(struct lode_tables *tables, lode_cost_options *options, const lode_cost **cost,
                               lode_error *error);
lode_calls_options lode_function_calls_options(const struct lode_tables *tables);

extern const struct lode_table_def lode_table_cost, lode_table_hotspot, lode_table_tree,
    lode_table_distribution, lode_table_timeline, lode_table_finding, lode_table_compare, lode_table_grouped;
extern const struct lode_table_def lode_table_call_stat, lode_table_calltree, lode_table_found;

/* Rows of requests, for `found`: as in the table of requests. */
lode_status lode_batch_request(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               const lode_search_row *row, lode_error *error);

#endif
