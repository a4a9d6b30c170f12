/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples: from stacks of locations to contexts and their sums. */
#include "base/text/count.h"
#include "format/pprof/read.h"
#include <inttypes.h>
#include <stdlib.h>

static struct pprof_location *location_at(const struct pprof_reader *reader, size_t index)
{
    uint32_t number = *LODE_ARRAY_AT(&reader->stack, uint32_t, index);
    return LODE_ARRAY_AT(&reader->locations, struct pprof_location, number);
}

/* ---- labels ---- */

/* A label without a string, a number and a unit is none. */
static lode_status count_label(struct pprof_reader *reader, const struct pprof_label *label)
{
    bool added;
    if (label->text == 0 && label->number == 0 && label->unit == 0)
        return LODE_OK;
    uint32_t number = lode_interner_find(&reader->labels, label);
    if (number == LODE_NO_NUMBER) {
        if (reader->labels.items.count >= PPROF_LABELS_MOST)
            return LODE_OK;
        number = lode_interner_add(&reader->labels, label, &added);
        LODE_TRY_ALLOC(number != LODE_NO_NUMBER && lode_array_push(&reader->label_counts),
                       reader->report->error);
    }
    (*LODE_ARRAY_AT(&reader->label_counts, uint64_t, number))++;
    return LODE_OK;
}

static lode_status read_label(struct pprof_reader *reader, struct lode_range bytes)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_LABEL, bytes);
    struct pprof_field field;
    struct pprof_label label = {0};
    lode_status status;
    while ((status = lode_pprof_read_field(reader, &walk, &field)) == LODE_OK) {
        int64_t *slots[] = {[LABEL_KEY] = &label.key,
                            [LABEL_STR] = &label.text,
                            [LABEL_NUM] = &label.number,
                            [LABEL_NUM_UNIT] = &label.unit};
        *slots[field.number] = (int64_t)field.value;
        if (field.number != LABEL_NUM)
            LODE_TRY(lode_pprof_check_string(reader, slots[field.number], field.start));
    }
    if (status != LODE_NOT_FOUND)
        return status;
    LODE_TRY(lode_pprof_carry_label(reader, &label));
    return count_label(reader, &label);
}

/* ---- the path ---- */

/* Where the stack ends after drop_frames: the index of its innermost location. */
static size_t innermost(struct pprof_reader *reader)
{
    bool found_user = false;
    for (size_t i = reader->stack.count; i-- > 0;) {
        const struct pprof_location *location = location_at(reader, i);
        if (!location->is_ended) {
            found_user = true;
            continue;
        }
        if (!found_user)
            continue;
        reader->shortened++;
        return location->is_dropped ? i + 1 : i;
    }
    return 0;
}

/* Visits the first frames of a location, from the context of its caller on. */
static lode_status visit_frames(struct pprof_reader *reader, const struct pprof_location *location,
                                uint32_t count, uint32_t *context)
{
    const uint32_t *frames = LODE_ARRAY_AT(&reader->frames, uint32_t, location->first);
    uint64_t most = PPROF_STEPS_FLOOR + reader->bytes.size * PPROF_STEPS_BYTE;
    lode_error why = {0};
    reader->steps += count;
    if (reader->steps > most)
        return lode_bounded_excess(&reader->bounds, "frames in all samples", most);
    for (uint32_t i = 0; i < count; i++) {
        lode_status status = lode_import_step(&reader->import, frames[i], context, &why);
        if (status == LODE_ERR_LIMIT)
            return lode_bounded_too_many(&reader->bounds, "calling contexts", reader->import.most_contexts,
                                         LODE_IMPORT_CONTEXTS);
        if (status != LODE_OK)
            return lode_fail_memory(reader->report->error);
    }
    return LODE_OK;
}

/*
 * Where a location leads to. What a long one leads to from a context is kept, so that samples that
 * name it again do not visit its frames again. The depth follows from the context.
 */
static lode_status take_frames(struct pprof_reader *reader, struct pprof_taken *taken, bool *is_too_deep)
{
    const struct pprof_location *location =
        LODE_ARRAY_AT(&reader->locations, struct pprof_location, taken->location);
    uint32_t count = location->count, left = PPROF_DEPTH_MOST - taken->depth;
    uint64_t key = (uint64_t)taken->context << 32 | taken->location;
    bool is_long = count > PPROF_FRAMES_FEW;
    const uint32_t *known = is_long ? lode_map_get(&reader->led_to, key) : NULL;
    *is_too_deep = count > left;
    count = *is_too_deep ? left : count;
    taken->depth += count;
    if (known) {
        taken->context = *known;
        return LODE_OK;
    }
    LODE_TRY(visit_frames(reader, location, count, &taken->context));
    if (is_long)
        LODE_TRY_ALLOC(lode_map_add(&reader->led_to, key, taken->context, NULL), reader->report->error);
    return LODE_OK;
}

/* From the root; what the sample before has in common with this one is not walked again. */
static lode_status walk_stack(struct pprof_reader *reader, const uint8_t *at, uint32_t *context)
{
    struct pprof_taken taken = {.context = LODE_IMPORT_ENTRY};
    size_t end = innermost(reader), step = 0;
    bool is_same = true, is_too_deep = false;
    for (size_t i = reader->stack.count; i-- > end && !is_too_deep; step++) {
        taken.location = *LODE_ARRAY_AT(&reader->stack, uint32_t, i);
        const struct pprof_taken *before =
            step < reader->path.count ? LODE_ARRAY_AT(&reader->path, struct pprof_taken, step) : NULL;
        is_same = is_same && before && before->location == taken.location;
        if (is_same) {
            taken = *before;
            continue;
        }
        reader->path.count = step < reader->path.count ? step : reader->path.count;
        LODE_TRY(take_frames(reader, &taken, &is_too_deep));
        struct pprof_taken *slot = lode_array_push(&reader->path);
        LODE_TRY_ALLOC(slot, reader->report->error);
        *slot = taken;
    }
    *context = taken.context;
    if (!is_too_deep && !(reader->is_cut && end == 0))
        return LODE_OK;
    reader->path.count = 0;
    return pprof_finding(reader, PPROF_RULE_DEPTH, at, "a stack is more than %d contexts deep",
                         PPROF_DEPTH_MOST);
}

/* ---- samples ---- */

/* Every location is at least one context: more than the outermost ones are not needed. */
static void cut_stack(struct pprof_reader *reader)
{
    uint32_t *locations = reader->stack.items;
    size_t extra = reader->stack.count - PPROF_DEPTH_MOST;
    memmove(locations, locations + extra, PPROF_DEPTH_MOST * sizeof *locations);
    reader->stack.count = PPROF_DEPTH_MOST;
    reader->is_cut = true;
}

static lode_status take_id(struct pprof_reader *reader, uint64_t id)
{
    const uint32_t *found = id ? lode_map_get(&reader->location_of, id) : NULL;
    if (found == NULL) {
        reader->missing = reader->is_missing ? reader->missing : id;
        reader->is_missing = true;
        return LODE_OK;
    }
    if (reader->stack.count == (size_t)PPROF_DEPTH_MOST * 2)
        cut_stack(reader);
    uint32_t *slot = lode_array_push(&reader->stack);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = *found;
    return LODE_OK;
}

static lode_status take_value(struct pprof_reader *reader, uint64_t value)
{
    if (reader->value_count < reader->types.count)
        reader->values[reader->value_count] = (int64_t)value;
    reader->value_count++;
    return LODE_OK;
}

static lode_status read_fields(struct pprof_reader *reader, const struct pprof_field *message)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_SAMPLE, message->bytes);
    struct pprof_field field;
    lode_status status;
    reader->stack.count = reader->value_count = 0;
    reader->is_cut = reader->is_missing = false;
    reader->label_set = LODE_NO_NUMBER;
    while ((status = lode_pprof_read_field(reader, &walk, &field)) == LODE_OK) {
        if (field.number == SAMPLE_LOCATION_ID)
            LODE_TRY(lode_pprof_each_number(reader, &field, take_id));
        else if (field.number == SAMPLE_VALUE)
            LODE_TRY(lode_pprof_each_number(reader, &field, take_value));
        else
            LODE_TRY(read_label(reader, field.bytes));
    }
    return status == LODE_NOT_FOUND ? LODE_OK : status;
}

static lode_status resolve_all(struct pprof_reader *reader)
{
    for (size_t i = 0; i < reader->stack.count; i++) {
        struct pprof_location *location = location_at(reader, i);
        if (!location->is_resolved)
            LODE_TRY(lode_pprof_resolve(reader, location));
    }
    return LODE_OK;
}

static lode_status add_values(struct pprof_reader *reader, uint32_t context)
{
    lode_error why = {0};
    lode_status status = lode_import_add(&reader->import, reader->profile, context, reader->values, &why);
    if (status == LODE_ERR_LIMIT)
        return lode_bounded_too_many(&reader->bounds, "values", reader->import.most_cells, LODE_IMPORT_CELLS);
    return status == LODE_OK ? LODE_OK : lode_fail_memory(reader->report->error);
}

static lode_status read_sample(struct pprof_reader *reader, const struct pprof_field *field)
{
    uint32_t context = LODE_TREE_ROOT;
    LODE_TRY(read_fields(reader, field));
    if (reader->types.count == 0) {
        LODE_TRY(
            pprof_finding(reader, PPROF_RULE_TYPES, field->start, "there are samples, but no sample types"));
        return LODE_END;
    }
    if (reader->value_count != reader->types.count)
        return pprof_finding(reader, PPROF_RULE_VALUES, field->start,
                             "a sample has %zu values; there are %zu sample types", reader->value_count,
                             reader->types.count);
    if (reader->is_missing)
        return pprof_finding(reader, PPROF_RULE_LOCATION, field->start,
                             "a sample names location %" PRIu64 ", which does not exist", reader->missing);
    LODE_TRY(resolve_all(reader));
    reader->samples++;
    reader->stackless += reader->stack.count == 0;
    if (reader->stack.count > 0)
        LODE_TRY(walk_stack(reader, field->start, &context));
    LODE_TRY(add_values(reader, context));
    return lode_pprof_carry_sample(reader, context);
}

lode_status lode_pprof_read_samples(struct pprof_reader *reader)
{
    static const pprof_field_fn handlers[PPROF_FIELDS] = {[PROFILE_SAMPLE] = read_sample};
    static const lode_id only = {.kind = 2 /* RANK */};
    lode_error *error = reader->report->error;
    reader->values = calloc(reader->types.count + 1, sizeof *reader->values);
    LODE_TRY_ALLOC(reader->values, error);
    LODE_TRY(lode_import_profile(&reader->import, &only, &reader->profile, error));
    LODE_TRY(lode_pprof_carry_metadata(reader));
    LODE_TRY(lode_pprof_each(reader, handlers));
    if (reader->stackless == 0)
        return LODE_OK;
    return lode_report_add(reader->report, PPROF_RULE_STACK, reader->file, LODE_NO_OFFSET, "%s no stack",
                           LODE_COUNTED(reader->stackless, "sample has", "samples have"));
}
