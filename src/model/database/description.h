/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes a set of profiles: kinds of ids, metrics, modules, files, functions and contexts. A
 * source fills a description, and a sink reads it. There are two kinds:
 *   borrowed  fields point into a database, whose order and ids stay
 *   built     items are added in any order; sealing sorts them canonically: modules and files by
 *             path, functions by content, contexts depth-first with siblings by content, equal ones
 *             in order of addition. The id of a context is its position; unlisted ones follow.
 */
#ifndef LODE_MODEL_DESCRIPTION_H
#define LODE_MODEL_DESCRIPTION_H

#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "model/database/context.h"
#include "model/database/metric.h"
#include "model/database/tree.h"
#include <lode/writer.h>

struct lode_id_tuple {
    const lode_id *ids;
    uint32_t count;
};

/* Limits of a sink. */
struct lode_description_limits {
    uint32_t id_kinds, metrics, metric_ids, entries;
};

struct lode_description {
    const char *title;    /* NULL: none */
    const char *text;     /* NULL: none */
    const char *taxonomy; /* how viewers present metrics, as a file; NULL: by what is described */
    bool folds_squares;   /* of the statistic ($$^2), as hpcprof does: it is $$ */
    const char *const *id_kinds;
    const struct lode_scope *scopes;
    const struct lode_metric *metrics;
    const struct lode_module *modules;
    const struct lode_file *files;
    const struct lode_function *functions;
    uint32_t id_kind_count, scope_count, metric_count, module_count, file_count, function_count;
    struct lode_context_tree tree; /* listed contexts and the global one; if built, not indexed */
    uint32_t id_count;             /* ids of contexts are below this, including unlisted ones */
    uint32_t value_ids;            /* ids of metrics under scopes are below this */
    uint32_t statistic_ids;

    /* All profiles but the summary, which is profile 0: profiles[i] is profile i + 1. */
    struct lode_id_tuple *profiles;
    uint32_t profile_count;
    uint32_t line_count; /* trace lines */
    /* If borrowed: whether there are values by context, and the end of their ids. */
    bool has_contexts;
    uint32_t context_blocks;
    /* Time bounds besides those of the samples; none if the first is greater. */
    uint64_t trace_min, trace_max;

    /* If built. */
    bool sealed, keeps_strings; /* strings outlive the description and are not copied */
    struct lode_description_limits limits;
    uint32_t entries;
    uint32_t *id_of; /* when sealed: ids of contexts, by number + 1 */
    struct lode_array kinds_list, scope_list, metric_list, module_list, file_list, function_list;
    /* Contexts: records that sealing turns into those of the tree. Equal siblings are allowed. */
    struct lode_content_tree nodes;
    struct lode_strings entry_names;
    struct lode_arena arena; /* of strings, and of what a source adds */
};

void lode_description_init(struct lode_description *self);
void lode_description_free(struct lode_description *self);

/*
 * Each adds one item, checks its references, and returns its number. The functions of these names
 * in lode/writer.h are documented in detail.
 */
lode_status lode_description_add_id_kind(struct lode_description *self, const char *name, unsigned *kind,
                                         lode_error *error);
lode_status lode_description_add_scope(struct lode_description *self, const char *name, int type,
                                       unsigned propagation_index, uint32_t *scope, lode_error *error);
lode_status lode_description_add_metric(struct lode_description *self, const char *name, uint32_t *metric,
                                        lode_error *error);
lode_status lode_description_add_metric_scope(struct lode_description *self, uint32_t metric, uint32_t scope,
                                              uint16_t *id, lode_error *error);
lode_status lode_description_add_statistic(struct lode_description *self, uint32_t metric, uint32_t scope,
                                           const char *formula, int combine, lode_error *error);
lode_status lode_description_add_module(struct lode_description *self, const char *path, uint32_t *module,
                                        lode_error *error);
lode_status lode_description_add_file(struct lode_description *self, const char *path, int copied,
                                      const char *source, uint32_t *file, lode_error *error);
lode_status lode_description_add_function(struct lode_description *self, const lode_writer_function *function,
                                          uint32_t *out, lode_error *error);
lode_status lode_description_add_context(struct lode_description *self, const lode_writer_context *context,
                                         uint32_t *out, lode_error *error);
/*
 * The content of a context, by which it is compared; of an entry point, its name is put into
 * `names`. False if out of memory.
 */
bool lode_description_frame(struct lode_strings *names, const lode_writer_context *context,
                            struct lode_frame *frame);
lode_status lode_description_add_unlisted(struct lode_description *self, uint32_t *out, lode_error *error);

/*
 * Until a description is sealed, arrays may move, and references are numbers: a function has its
 * module in `index` and its file in `identity`. Sorting replaces them by pointers.
 */
enum {
    LODE_LEXICAL_UNLISTED = UINT16_MAX /* kind of the frame of a context that is not listed */
};

/*
 * A context as it was added, then sorted. There may be many: they are held once, and sorted in
 * place.
 */
union lode_description_record {
    struct {
        struct lode_tree_node node; /* its `frame` is its own number */
        struct lode_frame frame;    /* numbers in it are those of the lists */
    } added;
    lode_context sorted;
};
_Static_assert(sizeof(union lode_description_record) == sizeof(lode_context), "records become the tree");

static inline union lode_description_record *description_record(const struct lode_description *self,
                                                                uint32_t position)
{
    return (union lode_description_record *)(void *)lode_tree_node(&self->nodes, position);
}

lode_status lode_description_sort(struct lode_description *self, lode_error *error);

/* Sorts everything. Nothing can be added after that. */
lode_status lode_description_seal(struct lode_description *self, lode_error *error);
/* Frees the contexts, of which the numbers stay: they take more memory than all else. */
void lode_description_forget_contexts(struct lode_description *self);
/* The id of a context by its number, which must be valid; of the global one for LODE_NONE. */
static inline uint32_t description_id(const struct lode_description *self, uint32_t context)
{
    return self->id_of[(uint32_t)(context + 1)];
}
/* LODE_ERR_ARGUMENT unless the kinds of a profile's ids are described. */
lode_status lode_description_check_tuple(const struct lode_description *self, const struct lode_id_tuple *ids,
                                         lode_error *error);
/* LODE_ERR_ARGUMENT if a sample is earlier than the last one, or at an unlisted context. */
lode_status lode_description_check_sample(const struct lode_description *self, uint64_t time, uint64_t last,
                                          uint32_t context, lode_error *error);
/* By kind, logical and physical id; then the shorter one first. */
int lode_id_tuple_compare(const struct lode_id_tuple *a, const struct lode_id_tuple *b);
/* The id of the metric of a statistic, under its scope. */
uint16_t lode_statistic_value_id(const struct lode_metric *metric, const lode_metric_statistic *statistic);

#endif
