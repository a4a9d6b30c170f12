/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/visit.h"

#include "base/memory/arena.h"
#include <lode/private/raw.h>

enum {
    PART = 256 /* records of a callback */
};

static lode_status go_on(int result, lode_error *error)
{
    return result == 0
               ? LODE_OK
               : lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the caller");
}

/* ---- tables ---- */

/* A string with a NUL; NULL if out of memory. */
static const char *text_of(struct lode_arena *arena, struct lode_range bytes)
{
    char *text = lode_arena_alloc(arena, (size_t)bytes.size + 1, 1);
    if (text && bytes.size > 0)
        memcpy(text, bytes.data, (size_t)bytes.size);
    if (text)
        text[bytes.size] = '\0';
    return text;
}

static bool add_attributes(struct lode_arena *arena, const struct hpcrun_profile *profile,
                           lode_raw_profile *out)
{
    lode_raw_attribute *items = lode_arena_alloc(arena, HPCRUN_ATTRIBUTES, sizeof *items);
    bool done = items != NULL;
    for (unsigned i = 0; i < HPCRUN_ATTRIBUTES && done; i++) {
        if (profile->attributes[i].data == NULL)
            continue;
        lode_raw_attribute *item = &items[out->attribute_count++];
        item->name = lode_hpcrun_attribute_name((enum hpcrun_attribute)i);
        item->value = text_of(arena, profile->attributes[i]);
        done = item->value != NULL;
    }
    out->attributes = items;
    return done;
}

static bool add_modules(struct lode_arena *arena, const struct hpcrun_profile *profile, lode_raw_profile *out)
{
    size_t count = profile->modules.count;
    lode_raw_module *items = lode_arena_alloc(arena, count, sizeof *items);
    bool done = items != NULL;
    for (size_t i = 0; i < count && done; i++) {
        const struct hpcrun_module *from = LODE_ARRAY_AT(&profile->modules, struct hpcrun_module, i);
        items[i] = (lode_raw_module){text_of(arena, from->path), from->flags};
        done = items[i].path != NULL;
    }
    out->modules = items;
    out->module_count = (uint32_t)count;
    return done;
}

static bool add_metrics(struct lode_arena *arena, const struct hpcrun_profile *profile, lode_raw_profile *out)
{
    size_t count = profile->metrics.count;
    lode_raw_metric *items = lode_arena_alloc(arena, count, sizeof *items);
    bool done = items != NULL;
    for (size_t i = 0; i < count && done; i++) {
        const struct hpcrun_metric *from = LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, i);
        lode_raw_metric *item = &items[i];
        *item = (lode_raw_metric){.name = text_of(arena, from->name),
                                  .description = text_of(arena, from->description),
                                  .formula = text_of(arena, from->formula),
                                  .format = text_of(arena, from->format),
                                  .period = from->flags.period,
                                  .type = from->flags.type,
                                  .visibility = from->flags.show,
                                  .is_integer = from->flags.format == HPCRUN_FORMAT_INTEGER,
                                  .is_relation = from->flags.relation,
                                  .shows_percent = from->flags.percent};
        done = item->name && item->description && item->formula && item->format;
    }
    out->metrics = items;
    out->metric_count = (uint32_t)count;
    return done;
}

static bool add_ids(struct lode_arena *arena, const struct hpcrun_profile *profile, lode_raw_profile *out)
{
    size_t kind_count = profile->id_kinds.count, count = profile->ids.count;
    lode_raw_id_kind *kinds = lode_arena_alloc(arena, kind_count, sizeof *kinds);
    lode_raw_id *ids = lode_arena_alloc(arena, count, sizeof *ids);
    bool done = kinds && ids;
    for (size_t i = 0; i < kind_count && done; i++) {
        const struct hpcrun_id_kind *from = LODE_ARRAY_AT(&profile->id_kinds, struct hpcrun_id_kind, i);
        kinds[i] = (lode_raw_id_kind){from->kind, text_of(arena, from->name)};
        done = kinds[i].name != NULL;
    }
    for (size_t i = 0; i < count && done; i++) {
        const struct hpcrun_Id *from = LODE_ARRAY_AT(&profile->ids, struct hpcrun_Id, i);
        ids[i] = (lode_raw_id){from->kind & HPCRUN_ID_KIND, from->kind >> HPCRUN_ID_MEANING_SHIFT,
                               from->physical, from->logical};
    }
    out->id_kinds = kinds;
    out->id_kind_count = (uint32_t)kind_count;
    out->ids = ids;
    out->id_count = (uint32_t)count;
    return done;
}

static lode_status visit_tables(const lode_raw_visitor *visitor, const struct hpcrun_profile *profile,
                                lode_error *error)
{
    struct lode_arena arena;
    lode_raw_profile out = {
        .file = profile->file, .node_count = profile->node_count, .value_count = profile->value_count};
    if (visitor->on_profile == NULL)
        return LODE_OK;
    lode_arena_init(&arena, SIZE_MAX);
    bool done = add_attributes(&arena, profile, &out) && add_modules(&arena, profile, &out) &&
                add_metrics(&arena, profile, &out) && add_ids(&arena, profile, &out);
    lode_status status =
        done ? go_on(visitor->on_profile(visitor->user, &out), error) : lode_fail_memory(error);
    lode_arena_free(&arena);
    return status;
}

/* ---- records ---- */

static lode_status visit_nodes(const lode_raw_visitor *visitor, const struct hpcrun_profile *profile,
                               lode_error *error)
{
    lode_raw_node part[PART];
    uint64_t done = 0;
    do {
        size_t count = 0;
        for (; count < PART && done < profile->node_count; count++, done++) {
            struct hpcrun_Node node = lode_hpcrun_node(profile, done);
            part[count] = (lode_raw_node){node.id, node.parent, node.module, node.flags, node.offset};
        }
        LODE_TRY(go_on(visitor->on_nodes(visitor->user, part, count), error));
    } while (done < profile->node_count);
    return LODE_OK;
}

static lode_raw_value value_of(const struct hpcrun_profile *profile, uint32_t node, uint64_t number)
{
    struct hpcrun_Value value = lode_hpcrun_value(profile, number);
    const struct hpcrun_metric *metric = LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, value.metric);
    return (lode_raw_value){node, value.metric, metric->flags.format == HPCRUN_FORMAT_INTEGER, value.bits,
                            lode_hpcrun_number(metric, value.bits)};
}

/* The index leads to all values, in their order; entry `at` has those before `past`. */
static lode_status visit_values(const lode_raw_visitor *visitor, const struct hpcrun_profile *profile,
                                lode_error *error)
{
    lode_raw_value part[PART];
    uint32_t at = 0;
    uint64_t done = 0, past = profile->value_count > 0 ? lode_hpcrun_index(profile, 1).start : 0;
    do {
        size_t count = 0;
        for (; count < PART && done < profile->value_count; count++, done++) {
            while (done >= past && at + 1 < profile->valued)
                past = lode_hpcrun_index(profile, ++at + 1).start;
            part[count] = value_of(profile, lode_hpcrun_index(profile, at).node, done);
        }
        LODE_TRY(go_on(visitor->on_values(visitor->user, part, count), error));
    } while (done < profile->value_count);
    return LODE_OK;
}

static lode_status visit_samples(const lode_raw_visitor *visitor, const struct hpcrun_trace *trace,
                                 lode_error *error)
{
    lode_raw_sample part[PART];
    uint64_t done = 0;
    do {
        size_t count = 0;
        for (; count < PART && done < trace->count; count++, done++) {
            struct hpcrun_TraceRecord record;
            lode_hpcrun_read_TraceRecord(&record, trace->records.data + done * HPCRUN_TraceRecord_SIZE);
            part[count] = (lode_raw_sample){record.time, record.node};
        }
        LODE_TRY(go_on(visitor->on_samples(visitor->user, part, count), error));
    } while (done < trace->count);
    return LODE_OK;
}

/* ---- files ---- */

lode_status lode_hpcrun_visit(const lode_raw_visitor *visitor, const struct hpcrun_profile *profile,
                              lode_error *error)
{
    LODE_TRY(visit_tables(visitor, profile, error));
    if (visitor->on_nodes)
        LODE_TRY(visit_nodes(visitor, profile, error));
    return visitor->on_values ? visit_values(visitor, profile, error) : LODE_OK;
}

lode_status lode_hpcrun_visit_trace(const lode_raw_visitor *visitor, const struct hpcrun_trace *trace,
                                    const char *file, lode_error *error)
{
    lode_raw_trace out = {.file = file, .flags = trace->flags, .sample_count = trace->count};
    if (visitor->on_trace)
        LODE_TRY(go_on(visitor->on_trace(visitor->user, &out), error));
    return visitor->on_samples ? visit_samples(visitor, trace, error) : LODE_OK;
}

lode_status lode_hpcrun_visit_end(const lode_raw_visitor *visitor, lode_error *error)
{
    return visitor->on_end ? go_on(visitor->on_end(visitor->user), error) : LODE_OK;
}
