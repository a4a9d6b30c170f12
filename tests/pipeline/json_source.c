/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles that a JSON text lists:
 *
 *   {"metrics": [NAME, ...],
 *    "contexts": [[PARENT, NAME], ...],                   -1: an entry point; else a function
 *    "profiles": [{"rank": N,
 *                  "points": [[CONTEXT, METRIC, VALUE], ...],
 *                  "samples": [[TIME, CONTEXT], ...]}, ...]}     -1: nothing runs
 *
 * Each metric has the scopes point and execution. Contexts and metrics are counted from 0.
 */
#include "pipeline.h"

#include "base/error.h"
#include "model/database/block_builder.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

enum {
    DEPTH_MAX = 16,
    NODES_MAX = 4096
};

/* A value: children of arrays and objects are linked, those of objects have names. */
struct json {
    const char *name, *string;
    double number;
    struct json *first, *next;
    uint32_t count;
};

struct parser {
    char *at;
    struct json *nodes;
    size_t used;
    bool is_wrong;
};

static void skip_spaces(struct parser *self)
{
    while (isspace((unsigned char)*self->at))
        self->at++;
}

static bool accept(struct parser *self, char wanted)
{
    skip_spaces(self);
    if (*self->at != wanted)
        return false;
    self->at++;
    return true;
}

/* Strings have no escapes; the text becomes theirs. */
static const char *parse_string(struct parser *self)
{
    char *begin = accept(self, '"') ? self->at : NULL;
    char *end = begin ? strchr(begin, '"') : NULL;
    if (end == NULL) {
        self->is_wrong = true;
        return "";
    }
    *end = '\0';
    self->at = end + 1;
    return begin;
}

static struct json *parse(struct parser *self, unsigned depth);

static void parse_children(struct parser *self, struct json *parent, char end, unsigned depth)
{
    struct json **link = &parent->first;
    while (!self->is_wrong && !accept(self, end)) {
        if (parent->count > 0 && !accept(self, ','))
            self->is_wrong = true;
        const char *name = end == '}' ? parse_string(self) : NULL;
        if (name && !accept(self, ':'))
            self->is_wrong = true;
        struct json *child = self->is_wrong ? NULL : parse(self, depth + 1);
        if (child == NULL)
            return;
        child->name = name;
        *link = child;
        link = &child->next;
        parent->count++;
    }
}

static struct json *parse(struct parser *self, unsigned depth)
{
    if (depth > DEPTH_MAX || self->used == NODES_MAX) {
        self->is_wrong = true;
        return NULL;
    }
    struct json *node = &self->nodes[self->used++];
    char *end;
    if (accept(self, '['))
        parse_children(self, node, ']', depth);
    else if (accept(self, '{'))
        parse_children(self, node, '}', depth);
    else if (*self->at == '"')
        node->string = parse_string(self);
    else {
        node->number = strtod(self->at, &end);
        self->is_wrong |= end == self->at;
        self->at = end;
    }
    return node;
}

static const struct json nothing;

static const struct json *member(const struct json *object, const char *name)
{
    for (const struct json *child = object->first; child; child = child->next)
        if (child->name && strcmp(child->name, name) == 0)
            return child;
    return &nothing;
}

static const struct json *item(const struct json *array, uint32_t index)
{
    const struct json *child = array->first;
    while (child && index-- > 0)
        child = child->next;
    return child ? child : &nothing;
}

/* ---- the source ---- */

struct json_slot {
    struct lode_block_builder builder;
    struct lode_blob samples;
    bool is_given;
};

struct json_source {
    struct lode_profile_source base;
    char *text;
    struct json *nodes;
    const struct json *metrics, *contexts, *profiles;
    const struct lode_description *about;
    struct json_slot *slots;
    unsigned slot_count;
};

static struct json_source *source_of(struct lode_profile_source *base)
{
    return (struct json_source *)base;
}

static lode_status describe_metrics(const struct json_source *self, struct lode_description *out,
                                    lode_error *error)
{
    uint32_t scopes[2], number;
    uint16_t id;
    LODE_TRY(lode_description_add_id_kind(out, "SUMMARY", NULL, error));
    LODE_TRY(lode_description_add_id_kind(out, "RANK", NULL, error));
    LODE_TRY(lode_description_add_scope(out, "point", LODE_SCOPE_POINT, 0, &scopes[0], error));
    LODE_TRY(lode_description_add_scope(out, "execution", LODE_SCOPE_EXECUTION, 0, &scopes[1], error));
    for (const struct json *metric = self->metrics->first; metric; metric = metric->next) {
        LODE_TRY(lode_description_add_metric(out, metric->string, &number, error));
        for (unsigned i = 0; i < 2; i++)
            LODE_TRY(lode_description_add_metric_scope(out, number, scopes[i], &id, error));
        for (unsigned i = 0; i < 2; i++)
            LODE_TRY(lode_description_add_statistic(out, number, scopes[i], "$$", LODE_COMBINE_SUM, error));
    }
    return LODE_OK;
}

static lode_status describe_contexts(const struct json_source *self, struct lode_description *out,
                                     lode_error *error)
{
    for (const struct json *row = self->contexts->first; row; row = row->next) {
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        uint32_t number;
        const char *name = item(row, 1)->string ? item(row, 1)->string : "";
        if (item(row, 0)->number < 0.0) {
            context.entry = LODE_ENTRY_MAIN_THREAD;
            context.entry_name = name;
        } else {
            lode_writer_function function = {.name = name, .module = LODE_NONE, .file = LODE_NONE};
            LODE_TRY(lode_description_add_function(out, &function, &context.function, error));
            context.parent = (uint32_t)item(row, 0)->number;
            context.lexical = LODE_LEXICAL_FUNCTION;
            context.relation = LODE_RELATION_CALL;
        }
        LODE_TRY(lode_description_add_context(out, &context, &number, error));
    }
    return LODE_OK;
}

static lode_status describe(struct lode_profile_source *base, struct lode_description *out, bool keeps_ids,
                            int scratch, lode_error *error)
{
    struct json_source *self = source_of(base);
    uint32_t count = self->profiles->count;
    (void)keeps_ids;
    (void)scratch;
    out->title = "from JSON";
    LODE_TRY(describe_metrics(self, out, error));
    LODE_TRY(describe_contexts(self, out, error));
    lode_id *ids = lode_arena_alloc(&out->arena, count + 1, sizeof *ids);
    out->profiles = lode_arena_alloc(&out->arena, count + 1, sizeof *out->profiles);
    if (ids == NULL || out->profiles == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = (uint32_t)member(item(self->profiles, i), "rank")->number;
        ids[i] = (lode_id){.kind = 1, .logical = rank, .physical = rank};
        out->profiles[i] = (struct lode_id_tuple){&ids[i], 1};
    }
    out->profile_count = out->line_count = base->count = count;
    return LODE_OK;
}

static lode_status number(struct lode_profile_source *base, const struct lode_description *sealed,
                          lode_error *error)
{
    (void)error;
    source_of(base)->about = sealed;
    return LODE_OK;
}

static lode_status open_slots(struct lode_profile_source *base, unsigned count, lode_error *error)
{
    struct json_source *self = source_of(base);
    self->slots = calloc(count, sizeof *self->slots);
    if (self->slots == NULL)
        return lode_fail_memory(error);
    self->slot_count = count;
    for (unsigned i = 0; i < count; i++)
        lode_block_builder_init(&self->slots[i].builder);
    return LODE_OK;
}

/* Adds a value to sums[id of context][metric][point, execution], here and at ancestors. */
static lode_status add_point(const struct json_source *self, const struct json *point, double *sums,
                             lode_error *error)
{
    uint32_t metrics = self->metrics->count, metric = (uint32_t)item(point, 1)->number;
    double context = item(point, 0)->number, value = item(point, 2)->number;
    if (context < 0.0 || context >= self->contexts->count || metric >= metrics)
        return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "a point is nowhere");
    uint32_t id = description_id(self->about, (uint32_t)context);
    sums[((size_t)id * metrics + metric) * 2] += value;
    for (;; id = self->about->tree.nodes[id].parent) {
        sums[((size_t)id * metrics + metric) * 2 + 1] += value;
        if (id == 0)
            return LODE_OK;
    }
}

static lode_status fill(const struct json_source *self, const struct json *points, double *sums,
                        struct lode_block_builder *builder, lode_error *error)
{
    uint32_t columns = self->metrics->count * 2;
    for (const struct json *point = points->first; point; point = point->next)
        LODE_TRY(add_point(self, point, sums, error));
    for (uint32_t id = 0; id < self->about->id_count; id++)
        for (uint32_t i = 0; i < columns; i++)
            LODE_TRY(lode_block_builder_add(builder, id, (uint16_t)i, sums[(size_t)id * columns + i], error));
    return LODE_OK;
}

static lode_status values(struct lode_profile_source *base, unsigned slot, uint32_t profile, lode_block *out,
                          lode_error *error)
{
    struct json_source *self = source_of(base);
    struct lode_block_builder *builder = &self->slots[slot].builder;
    double *sums = calloc((size_t)self->about->id_count * self->metrics->count * 2 + 1, sizeof *sums);
    lode_block_builder_clear(builder);
    lode_status status = LODE_OK;
    if (sums == NULL)
        status = lode_fail_memory(error);
    else
        status = fill(self, member(item(self->profiles, profile - 1), "points"), sums, builder, error);
    free(sums);
    return status == LODE_OK ? lode_block_builder_end(builder, self->about->id_count, out, error) : status;
}

static uint64_t sample_count(struct lode_profile_source *base, uint32_t line)
{
    return member(item(source_of(base)->profiles, line), "samples")->count;
}

static lode_status samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                           lode_trace_line *out, lode_error *error)
{
    struct json_source *self = source_of(base);
    struct json_slot *own = &self->slots[slot];
    own->is_given = !own->is_given;
    if (!own->is_given)
        return LODE_END;
    own->samples.size = 0;
    const struct json *rows = member(item(self->profiles, line), "samples");
    for (const struct json *row = rows->first; row; row = row->next) {
        size_t at = lode_blob_reserve(&own->samples, TRACE_SAMPLE_SIZE, 1);
        if (at == LODE_BLOB_FULL)
            return lode_fail_memory(error);
        double context = item(row, 1)->number;
        put_u64le(own->samples.bytes + at, (uint64_t)item(row, 0)->number);
        put_u32le(own->samples.bytes + at + 8,
                  context < 0.0 ? 0 : description_id(self->about, (uint32_t)context));
    }
    *out = (lode_trace_line){.profile = line + 1, .sample_count = rows->count, .samples = own->samples.bytes};
    return LODE_OK;
}

struct lode_profile_source *json_source_open(const char *text)
{
    static const struct lode_profile_source_ops ops = {.describe = describe,
                                                       .number = number,
                                                       .open_slots = open_slots,
                                                       .values = values,
                                                       .samples = samples,
                                                       .sample_count = sample_count};
    struct json_source *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->base.ops = &ops;
    self->text = strdup(text);
    self->nodes = calloc(NODES_MAX, sizeof *self->nodes);
    struct parser parser = {.at = self->text, .nodes = self->nodes};
    const struct json *root = self->text && self->nodes ? parse(&parser, 0) : NULL;
    if (root == NULL || parser.is_wrong) {
        json_source_close(&self->base);
        return NULL;
    }
    self->metrics = member(root, "metrics");
    self->contexts = member(root, "contexts");
    self->profiles = member(root, "profiles");
    return &self->base;
}

void json_source_close(struct lode_profile_source *source)
{
    struct json_source *self = source_of(source);
    for (unsigned i = 0; i < self->slot_count; i++) {
        lode_block_builder_free(&self->slots[i].builder);
        lode_blob_free(&self->slots[i].samples);
    }
    free(self->slots);
    free(self->nodes);
    free(self->text);
    free(self);
}
