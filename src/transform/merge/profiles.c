/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles of several databases: their order, their runs, their trace lines. */
#include "base/comm/ranks.h"
#include "base/compare.h"
#include "base/error.h"
#include "transform/slice/slice.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char run_name[] = "RUN";

/* ---- the order of parts ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Numbers inside texts by value; equal ones by text. */
static int compare_labels(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (is_digit(*x) && is_digit(*y)) {
            x += strspn(x, "0");
            y += strspn(y, "0");
            size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");
            int order = m != n ? (m < n ? -1 : 1) : strncmp(x, y, m);
            if (order)
                return order;
            x += m;
            y += n;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    return *x || *y ? (*y ? -1 : 1) : strcmp(a, b);
}

static int compare_texts(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int compare_symbols(const lode_database *a, const lode_database *b)
{
    int order = LODE_COMPARE(a->function_count, b->function_count);
    for (uint32_t i = 0; order == 0 && i < a->function_count; i++) {
        const lode_function *f = &a->functions[i], *g = &b->functions[i];
        order = compare_texts(f->name, g->name);
        if (order == 0)
            order = LODE_COMPARE(f->line, g->line);
        if (order == 0)
            order = LODE_COMPARE(f->offset, g->offset);
    }
    if (order == 0)
        order = LODE_COMPARE(a->module_count, b->module_count);
    for (uint32_t i = 0; order == 0 && i < a->module_count; i++)
        order = strcmp(a->modules[i].path, b->modules[i].path);
    if (order == 0)
        order = LODE_COMPARE(a->file_count, b->file_count);
    for (uint32_t i = 0; order == 0 && i < a->file_count; i++)
        order = strcmp(a->files[i].path, b->files[i].path);
    return order;
}

static uint32_t number_of_function(const lode_context *context)
{
    const lode_function *function = lode_context_function(context);
    return function ? function->index : LODE_NONE;
}

static int compare_contexts(const lode_database *a, const lode_database *b)
{
    int order = LODE_COMPARE(a->tree.count, b->tree.count);
    for (uint32_t i = 1; order == 0 && i < a->tree.count; i++) {
        const lode_context *c = &a->tree.nodes[i], *d = &b->tree.nodes[i];
        order = LODE_COMPARE(c->parent, d->parent);
        if (order == 0)
            order = LODE_COMPARE(c->lexical, d->lexical);
        if (order == 0)
            order = LODE_COMPARE(c->relation, d->relation);
        if (order == 0)
            order = LODE_COMPARE(c->line, d->line);
        if (order == 0)
            order = LODE_COMPARE(c->offset, d->offset);
        if (order == 0)
            order = LODE_COMPARE(number_of_function(c), number_of_function(d));
        if (order == 0)
            order = LODE_COMPARE(c->id, d->id);
    }
    return order;
}

static int compare_blocks(const lode_block *a, const lode_block *b)
{
    int order = LODE_COMPARE(a->value_count, b->value_count);
    if (order == 0)
        order = LODE_COMPARE(a->group_count, b->group_count);
    for (uint32_t g = 0; order == 0 && g < a->group_count; g++)
        order = LODE_COMPARE(block_group_key(a, g), block_group_key(b, g));
    for (uint64_t i = 0; order == 0 && i < a->value_count; i++) {
        double x = block_value(a, i), y = block_value(b, i);
        order = LODE_COMPARE(block_value_key(a, i), block_value_key(b, i));
        if (order == 0)
            order = LODE_COMPARE(x, y);
    }
    return order;
}

static int compare_values(const lode_database *a, const lode_database *b)
{
    int order = LODE_COMPARE(a->profile_count, b->profile_count);
    for (uint32_t p = 1; order == 0 && p < a->profile_count; p++) {
        lode_block x, y;
        if (lode_profile_block(a, p, &x, NULL) == LODE_OK && lode_profile_block(b, p, &y, NULL) == LODE_OK)
            order = compare_blocks(&x, &y);
    }
    return order;
}

static int compare_traces(const lode_database *a, const lode_database *b)
{
    int order = LODE_COMPARE(a->trace_count, b->trace_count);
    for (uint32_t i = 0; order == 0 && i < a->trace_count; i++) {
        lode_trace_line x, y;
        if (lode_database_trace_line(a, i, &x, NULL) != LODE_OK ||
            lode_database_trace_line(b, i, &y, NULL) != LODE_OK)
            continue;
        order = LODE_COMPARE(x.sample_count, y.sample_count);
        for (uint64_t k = 0; order == 0 && k < x.sample_count; k++) {
            order = LODE_COMPARE(trace_time(&x, k), trace_time(&y, k));
            if (order == 0)
                order = LODE_COMPARE(trace_context(&x, k), trace_context(&y, k));
        }
    }
    return order;
}

/* By label, then by content: what is equal in all of this can be swapped. */
static int compare_parts(const void *left, const void *right)
{
    const struct lode_merge_part *a = left, *b = right;
    int order = compare_texts(a->label, b->label);
    if (order && a->label && b->label)
        order = compare_labels(a->label, b->label);
    if (order == 0 && a->db == b->db)
        return 0;
    if (order == 0)
        order = compare_texts(a->db->title, b->db->title);
    if (order == 0)
        order = compare_values(a->db, b->db);
    if (order == 0)
        order = compare_traces(a->db, b->db);
    if (order == 0)
        order = compare_symbols(a->db, b->db);
    return order ? order : compare_contexts(a->db, b->db);
}

lode_status lode_merge_order_parts(struct lode_merge_source *self, lode_error *error)
{
    (void)error;
    if (self->count > 1)
        qsort(self->parts, self->count, sizeof *self->parts, compare_parts);
    for (uint32_t i = 1; i < self->count; i++) {
        const struct lode_merge_part *before = &self->parts[i - 1], *part = &self->parts[i];
        bool is_same = part->label && before->label && strcmp(part->label, before->label) == 0;
        self->parts[i].run = before->run + !is_same;
    }
    return LODE_OK;
}

/* ---- profiles ---- */

/* A profile before it has its number. */
struct listed {
    struct lode_id_tuple ids;
    lode_id *space; /* for one id before them */
    struct lode_merge_profile from;
};

static int compare_listed(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    int order = lode_id_tuple_compare(&a->ids, &b->ids);
    if (order == 0)
        order = LODE_COMPARE(a->from.part, b->from.part);
    return order ? order : LODE_COMPARE(a->from.profile, b->from.profile);
}

/* There is space for one id before the others. */
static lode_status read_ids(struct lode_merge_source *self, const struct lode_merge_part *part,
                            struct listed *listed, struct lode_description *out, lode_error *error)
{
    lode_id ids[LODE_MERGE_MAX_IDS];
    uint32_t count;
    LODE_TRY(lode_profile_ids(part->db, listed->from.profile, ids, LODE_MERGE_MAX_IDS, &count, error));
    if (count > LODE_MERGE_MAX_IDS)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "profile %" PRIu32 " has an id tuple of %" PRIu32 " ids; at most %d are merged",
                         listed->from.profile, count, LODE_MERGE_MAX_IDS);
    lode_id *copy = lode_arena_alloc(&out->arena, (size_t)count + 1, sizeof *copy);
    LODE_TRY_ALLOC(copy, error);
    for (uint32_t i = 0; i < count; i++) {
        copy[i + 1] = ids[i];
        if (ids[i].kind >= part->db->id_kind_count)
            return lode_fail(error, LODE_ERR_CORRUPT, lode_database_part_file(part->db, LODE_PART_PROFILE),
                             LODE_NO_OFFSET, "profile %" PRIu32 " has an id of an unknown kind",
                             listed->from.profile);
        copy[i + 1].kind = self->kinds.order[part->kinds[ids[i].kind]];
    }
    listed->ids = (struct lode_id_tuple){copy + 1, count};
    listed->space = copy;
    return LODE_OK;
}

static lode_status list_part(struct lode_merge_source *self, uint32_t p, struct listed *list, uint32_t *count,
                             struct lode_description *out, lode_error *error)
{
    const struct lode_merge_part *part = &self->parts[p];
    for (uint32_t i = 1; i < part->db->profile_count; i++) {
        lode_block block;
        int is_selected = 1;
        if (lode_profile_is_summary(part->db, i))
            continue;
        if (part->filter)
            LODE_TRY(lode_selection_has(part->filter->slice->selection, part->db, i, &is_selected, error));
        if (!is_selected)
            continue;
        struct listed *listed = &list[(*count)++];
        LODE_TRY(lode_profile_block(part->db, i, &block, error));
        listed->from = (struct lode_merge_profile){p, i, block.value_count};
        LODE_TRY(read_ids(self, part, listed, out, error));
    }
    return LODE_OK;
}

/* Whether two databases have profiles of the same ids. */
static bool has_equal_ids(const struct listed *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (list[i - 1].from.part != list[i].from.part &&
            lode_id_tuple_compare(&list[i - 1].ids, &list[i].ids) == 0)
            return true;
    return false;
}

/* ---- runs ---- */

/* What a run is known by: the part's, and the one that its profiles have, if any, plus 1. */
struct run {
    uint32_t part_run;
    uint64_t old;
};

LODE_COMPARE_BY_2(compare_runs, struct run, part_run, old);

static bool is_run(const struct lode_merge_source *self, const struct lode_id_tuple *ids)
{
    return ids->count > 0 && ids->ids[0].kind == self->run_kind && self->run_kind < self->kinds.items.count;
}

static struct run run_of(const struct lode_merge_source *self, const struct listed *listed)
{
    bool has_one = is_run(self, &listed->ids);
    return (struct run){self->parts[listed->from.part].run, has_one ? listed->ids.ids[0].logical + 1 : 0};
}

static uint32_t find_run(const struct run *runs, uint32_t count, const struct run *run)
{
    uint32_t low = 0, high = count;
    LODE_BISECT(low, high, compare_runs(&runs[middle], run) < 0);
    return low;
}

/* A new id before the others, or instead of the one of an earlier merge. */
static void set_run(const struct lode_merge_source *self, struct listed *listed, uint32_t number)
{
    bool has_one = is_run(self, &listed->ids);
    lode_id *ids = listed->space + has_one;
    ids[0] = (lode_id){(uint16_t)self->run_kind, 0, number, number};
    listed->ids = (struct lode_id_tuple){ids, listed->ids.count + !has_one};
}

/* Numbers runs in the order of parts, and of their own numbers. */
static lode_status set_runs(struct lode_merge_source *self, struct listed *list, uint32_t count,
                            lode_error *error)
{
    struct run *runs = calloc((size_t)count + 1, sizeof *runs);
    uint32_t kept = 0;
    LODE_TRY_ALLOC(runs, error);
    for (uint32_t i = 0; i < count; i++)
        runs[i] = run_of(self, &list[i]);
    qsort(runs, count, sizeof *runs, compare_runs);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || compare_runs(&runs[kept - 1], &runs[i]) != 0)
            runs[kept++] = runs[i];
    for (uint32_t i = 0; i < count; i++) {
        struct run run = run_of(self, &list[i]);
        set_run(self, &list[i], find_run(runs, kept, &run));
    }
    free(runs);
    return LODE_OK;
}

/* Whether some profiles have a run, and others do not. */
static bool has_some_runs(const struct lode_merge_source *self, const struct listed *list, uint32_t count)
{
    uint32_t with = 0;
    for (uint32_t i = 0; i < count; i++)
        with += is_run(self, &list[i].ids);
    return with > 0 && with < count;
}

static void find_run_kind(struct lode_merge_source *self)
{
    self->run_kind = (uint32_t)self->kinds.items.count;
    for (uint32_t i = 0; i < self->kinds.items.count; i++)
        if (strcmp(LODE_ARRAY_AT(&self->kinds.items, struct lode_merge_item, i)->name, run_name) == 0)
            self->run_kind = i;
}

/* ---- shares ---- */

enum {
    PROFILE_WEIGHT = 1 << 8 /* what a profile counts besides its values */
};

static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct lode_merge_source *self = context;
    return self->profiles[item].weight + PROFILE_WEIGHT;
}

/* The profiles of this rank. */
static void cut(struct lode_merge_source *self)
{
    const struct lode_share share = lode_ranks_share(self->comm, self->profile_count, weight_of, self);
    self->base.first = (uint32_t)share.first;
    self->base.count = (uint32_t)share.count;
}

/* ---- trace lines ---- */

static lode_status find_lines(struct lode_merge_part *part, lode_error *error)
{
    const lode_database *db = part->db;
    part->trace_of = calloc((size_t)db->profile_count + 1, sizeof *part->trace_of);
    LODE_TRY_ALLOC(part->trace_of, error);
    part->start = UINT64_MAX;
    for (uint32_t p = 0; p < db->profile_count; p++)
        part->trace_of[p] = LODE_NONE;
    for (uint32_t i = 0; i < db->trace_count; i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(db, i, &line, error));
        if (line.profile < db->profile_count && part->trace_of[line.profile] == LODE_NONE)
            part->trace_of[line.profile] = i;
        if (line.sample_count > 0 && trace_time(&line, 0) < part->start)
            part->start = trace_time(&line, 0);
    }
    if (part->start != UINT64_MAX && db->trace_min < part->start && db->trace_min <= db->trace_max)
        part->start = db->trace_min;
    return LODE_OK;
}

/* Bounds stay as far apart as they were: viewers count time from the first. */
static lode_status describe_lines(struct lode_merge_source *self, struct lode_description *out,
                                  lode_error *error)
{
    uint64_t earliest = UINT64_MAX;
    for (uint32_t i = 0; i < self->count; i++) {
        LODE_TRY(find_lines(&self->parts[i], error));
        earliest = self->parts[i].start < earliest ? self->parts[i].start : earliest;
    }
    for (uint32_t i = 0; i < self->count; i++) {
        struct lode_merge_part *part = &self->parts[i];
        const lode_database *db = part->db;
        if (part->start == UINT64_MAX)
            continue;
        part->shift = self->options->align ? part->start - earliest : 0;
        if (db->trace_min > db->trace_max || db->trace_min < part->shift)
            continue;
        uint64_t first = db->trace_min - part->shift, last = db->trace_max - part->shift;
        if (out->trace_min > out->trace_max) {
            out->trace_min = first;
            out->trace_max = last;
        }
        out->trace_min = first < out->trace_min ? first : out->trace_min;
        out->trace_max = last > out->trace_max ? last : out->trace_max;
    }
    return LODE_OK;
}

/* A slice has the bounds of its time window, or of its samples. */
static void cut_bounds(const struct lode_merge_source *self, struct lode_description *out)
{
    const struct lode_merge_filter *filter = self->parts[0].filter;
    if (filter == NULL || filter->slice->to == 0 || out->trace_min > out->trace_max)
        return;
    out->trace_min = filter->slice->from > out->trace_min ? filter->slice->from : out->trace_min;
    out->trace_max = filter->slice->to < out->trace_max ? filter->slice->to : out->trace_max;
}

static lode_status number_profiles(struct lode_merge_source *self, struct listed *list, uint32_t count,
                                   struct lode_description *out, lode_error *error)
{
    find_run_kind(self);
    qsort(list, count, sizeof *list, compare_listed);
    self->has_runs = count > 0 && (self->options->with_runs || has_equal_ids(list, count) ||
                                   has_some_runs(self, list, count));
    if (self->has_runs) {
        LODE_TRY(set_runs(self, list, count, error));
        qsort(list, count, sizeof *list, compare_listed);
    }
    for (uint32_t i = 0; i < count; i++) {
        out->profiles[i] = list[i].ids;
        self->profiles[i] = list[i].from;
    }
    out->profile_count = out->line_count = self->profile_count = count;
    cut(self);
    LODE_TRY(describe_lines(self, out, error));
    cut_bounds(self, out);
    return LODE_OK;
}

lode_status lode_merge_describe_profiles(struct lode_merge_source *self, struct lode_description *out,
                                         lode_error *error)
{
    uint64_t all = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->count; i++)
        all += self->parts[i].db->profile_count;
    if (all >= UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more profiles than can be numbered");
    struct listed *list = calloc((size_t)all + 1, sizeof *list);
    out->profiles = lode_arena_alloc(&out->arena, (size_t)all + 1, sizeof *out->profiles);
    self->profiles = calloc((size_t)all + 1, sizeof *self->profiles);
    lode_status status = list && out->profiles && self->profiles ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < self->count && status == LODE_OK; i++)
        status = list_part(self, i, list, &count, out, error);
    if (status == LODE_OK && count == 0 && self->parts[0].filter && self->parts[0].filter->slice->selection)
        status = lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "no profile is selected");
    if (status == LODE_OK)
        status = number_profiles(self, list, count, out, error);
    free(list);
    return status;
}

/* ---- texts ---- */

enum {
    TEXTS_MAX = 16 /* titles, descriptions and labels that are listed */
};

static int compare_pointers(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The distinct texts in their order, with `between` between them. */
static lode_status join_texts(struct lode_merge_source *self, const char *(*get)(const lode_database *),
                              const char *between, const char **out, lode_error *error)
{
    const char **texts = calloc((size_t)self->count + 1, sizeof *texts);
    size_t size = 64, kept = 0;
    LODE_TRY_ALLOC(texts, error);
    for (uint32_t i = 0; i < self->count; i++)
        texts[i] = get(self->parts[i].db);
    qsort(texts, self->count, sizeof *texts, compare_pointers);
    for (uint32_t i = 0; i < self->count; i++)
        if (texts[i][0] && (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0))
            texts[kept++] = texts[i];
    for (size_t i = 0; i < kept; i++)
        size += strlen(texts[i]) + strlen(between);
    char *joined = lode_arena_alloc(&self->arena, size, 1);
    size_t used = 0;
    for (size_t i = 0; joined && i < kept && i < TEXTS_MAX; i++)
        used += (size_t)snprintf(joined + used, size - used, "%s%s", i ? between : "", texts[i]);
    if (joined && kept > TEXTS_MAX)
        snprintf(joined + used, size - used, "%sand %zu more", between, kept - TEXTS_MAX);
    *out = kept == 0 ? "" : joined;
    free(texts);
    return joined ? LODE_OK : lode_fail_memory(error);
}

/* Which label has which number; those of earlier merges are in the texts of the databases. */
static lode_status list_runs(struct lode_merge_source *self, const char *before, const char **out,
                             lode_error *error)
{
    size_t size = strlen(before) + 64, used;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        const char *label = self->parts[i].label;
        if (label == NULL)
            return LODE_OK;
        size += strlen(label) + 32;
    }
    char *text = lode_arena_alloc(&self->arena, size, 1);
    LODE_TRY_ALLOC(text, error);
    used = (size_t)snprintf(text, size, "%s%s", before, before[0] ? "\n" : "");
    if (self->options->mean)
        used += (size_t)snprintf(text + used, size - used, "Means of %" PRIu32 " runs\n",
                                 self->parts[self->count - 1].run + 1);
    for (uint32_t i = 0; i < self->count; i++) {
        bool is_new = i == 0 || self->parts[i].run != self->parts[i - 1].run;
        if (is_new && shown++ < TEXTS_MAX)
            used += (size_t)snprintf(text + used, size - used, "%sRUN %" PRIu32 ": %s", shown > 1 ? "\n" : "",
                                     self->parts[i].run, self->parts[i].label);
    }
    if (shown > TEXTS_MAX)
        snprintf(text + used, size - used, "\nand %" PRIu32 " more", shown - TEXTS_MAX);
    *out = text;
    return LODE_OK;
}

/* What the metric of a time window is. */
static lode_status note_window(struct lode_merge_source *self, const char *before, const char **out,
                               lode_error *error)
{
    const lode_database_slice *slice = self->parts[0].filter->slice;
    size_t size = strlen(before) + 160;
    char *text = lode_arena_alloc(&self->arena, size, 1);
    LODE_TRY_ALLOC(text, error);
    snprintf(text, size,
             "%s%sTimes of samples from %" PRIu64 " to %" PRIu64 " ns since the epoch, an estimate", before,
             before[0] ? "\n" : "", slice->from, slice->to);
    *out = text;
    return LODE_OK;
}

lode_status lode_merge_describe_texts(struct lode_merge_source *self, struct lode_description *out,
                                      lode_error *error)
{
    LODE_TRY(join_texts(self, lode_database_title, " + ", &out->title, error));
    LODE_TRY(join_texts(self, lode_database_description, "\n", &out->text, error));
    if (lode_slice_has_window(&self->parts[0]))
        LODE_TRY(note_window(self, out->text, &out->text, error));
    /* Runs of earlier merges have other numbers now, which no text says. */
    if (!self->has_runs || self->run_kind < self->kinds.items.count)
        return LODE_OK;
    return list_runs(self, out->text, &out->text, error);
}
