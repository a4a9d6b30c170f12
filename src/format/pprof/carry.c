/* SPDX-License-Identifier: BSD-3-Clause */
/* What an export to pprof writes back: labels, types and metadata (model/import/carried.h). */
#include "format/pprof/read.h"

/* A packed byte gives at most so many bytes of labels and their sums, beyond a floor. */
enum {
    CARRIED_FLOOR = 16 << 20,
    CARRIED_BYTE = 32
};

/*
 * Interns a string, once: a long one may be in every sample. What has to be changed in it is no
 * finding, since it is not shown.
 */
static lode_status intern(struct pprof_reader *reader, int64_t index, uint32_t *number)
{
    const struct pprof_string *string = &reader->strings[index];
    bool added;
    unsigned changes = 0;
    uint32_t *slot = lode_map_add(&reader->carried_names, (uint64_t)index, LODE_NO_NUMBER, &added);
    LODE_TRY_ALLOC(slot, reader->report->error);
    if (added)
        LODE_TRY(lode_import_string(&reader->import, reader->bytes.data + string->offset, string->size, slot,
                                    &changes, reader->report->error));
    *number = *slot;
    return LODE_OK;
}

static lode_status text_of(struct pprof_reader *reader, int64_t index, const char **text)
{
    uint32_t number;
    LODE_TRY(intern(reader, index, &number));
    *text = lode_strings_at(&reader->import.frames.strings, number);
    return LODE_OK;
}

static lode_status type_of(struct pprof_reader *reader, const struct pprof_value_type *from,
                           struct lode_carried_type *to)
{
    LODE_TRY(text_of(reader, from->type, &to->type));
    return text_of(reader, from->unit, &to->unit);
}

lode_status lode_pprof_carry_metadata(struct pprof_reader *reader)
{
    lode_error *error = reader->report->error;
    struct lode_carried *carried = lode_carried_new(
        reader->types.count, CARRIED_FLOOR + (uint64_t)reader->source.bytes.size * CARRIED_BYTE);
    LODE_TRY_ALLOC(carried, error);
    reader->import.carried = carried;
    carried->period = reader->period;
    carried->time = reader->time;
    carried->duration = reader->duration;
    LODE_TRY(type_of(reader, &reader->period_type, &carried->period_type));
    LODE_TRY(text_of(reader, reader->default_type, &carried->default_type));
    LODE_TRY(text_of(reader, reader->drop_frames, &carried->drop_frames));
    LODE_TRY(text_of(reader, reader->keep_frames, &carried->keep_frames));
    LODE_TRY(text_of(reader, reader->doc_url, &carried->url));
    for (size_t i = 0; i < reader->types.count; i++) {
        struct lode_carried_type *type = lode_array_push(&carried->types);
        LODE_TRY_ALLOC(type, error);
        LODE_TRY(type_of(reader, LODE_ARRAY_AT(&reader->types, struct pprof_value_type, i), type));
    }
    for (size_t i = 0; i < reader->comments.count; i++) {
        const char **text = lode_array_push(&carried->comments);
        LODE_TRY_ALLOC(text, error);
        LODE_TRY(text_of(reader, *LODE_ARRAY_AT(&reader->comments, int64_t, i), text));
    }
    return LODE_OK;
}

lode_status lode_pprof_carry_label(struct pprof_reader *reader, const struct pprof_label *label)
{
    struct lode_carried *carried = reader->import.carried;
    struct lode_carried_label kept = {.number = label->number, .is_text = label->text != 0};
    if ((label->text == 0 && label->number == 0 && label->unit == 0) || carried->is_cut)
        return LODE_OK;
    LODE_TRY(intern(reader, label->key, &kept.key));
    LODE_TRY(intern(reader, label->text, &kept.text));
    LODE_TRY(intern(reader, label->unit, &kept.unit));
    LODE_TRY_ALLOC(lode_carried_extend(carried, &reader->label_set, &kept), reader->report->error);
    return LODE_OK;
}

lode_status lode_pprof_carry_sample(struct pprof_reader *reader, uint32_t context)
{
    if (reader->label_set == LODE_NO_NUMBER)
        return LODE_OK;
    LODE_TRY_ALLOC(lode_carried_add(reader->import.carried, context, reader->label_set, reader->values),
                   reader->report->error);
    return LODE_OK;
}
