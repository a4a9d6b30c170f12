/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans from files, and names of functions, keys and events. */
#include "base/error.h"
#include "base/memory/hash.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"

enum {
    NAME_MOST = 4096 /* bytes; longer names are cut off */
};

lode_status lode_otlp_read(const struct otlp_recording *rec, const struct otlp_span *record,
                           struct lode_blob *blob, struct lode_range *bytes, lode_error *error)
{
    const struct otlp_file *file = &rec->files[otlp_file_of(record)];
    struct lode_range from;
    struct otlp_put put = {blob, false};
    bool is_there = lode_range_part(file->bytes, otlp_offset_of(record),
                                    file->bytes.size - otlp_offset_of(record), &from);
    if (is_there && lode_otlp_span(file->form.codec, from, &put, bytes))
        return LODE_OK;
    if (put.has_failed)
        return lode_fail_memory(error);
    return lode_fail(error, LODE_ERR_IO, file->name, otlp_offset_of(record),
                     "the file changed while it was read");
}

/* ---- names ---- */

/* A name, as a string that ends with NUL. */
struct name {
    char text[NAME_MOST + 1];
};

static void copy_name(struct name *name, struct lode_range text)
{
    size_t size = (size_t)(text.size < NAME_MOST ? text.size : NAME_MOST);
    for (size_t i = 0; i < size; i++)
        name->text[i] = (char)(text.data[i] ? text.data[i] : '?');
    name->text[size] = '\0';
}

struct making {
    const char *name;
    const lode_file *file;
    bool is_operation;
};

static bool make_function(struct lode_function_table *table, lode_function *function, void *user)
{
    const struct making *making = user;
    size_t size = strlen(making->name) + 1;
    char *copy = lode_arena_alloc(&table->names, size, 1);
    if (copy == NULL)
        return false;
    memcpy(copy, making->name, size);
    function->name = copy;
    function->file = making->file;
    function->is_operation = making->is_operation;
    return true;
}

/* Operations have no addresses; a hash of the name, the same in all stores, replaces them. */
static uint64_t offset_of(const char *name)
{
    return lode_hash_fixed(name, strlen(name)) | 1;
}

static struct lode_range name_of(struct lode_range span)
{
    struct lode_pb_walk walk = lode_pb_walk_of(span);
    struct lode_pb_field field;
    struct lode_range name = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD)
        if (field.number == SPAN_NAME && field.type == LODE_PB_BYTES)
            name = field.bytes;
    return name;
}

const lode_function *lode_otlp_function(const struct otlp_recording *rec, const struct otlp_span *span,
                                        struct lode_range bytes)
{
    /* The function table is the only part that grows after opening, besides names. */
    struct lode_function_table *table =
        (struct lode_function_table *)(uintptr_t)&rec->base.functions; // NOLINT(performance-no-int-to-ptr)
    const struct otlp_origin *origin = &rec->origins[span->origin];
    struct name name;
    copy_name(&name, name_of(bytes));
    if (name.text[0] == '\0')
        memcpy(name.text, "unnamed", sizeof "unnamed");
    struct making making = {name.text, origin->scope, true};
    struct lode_function_place place = {.module =
                                            &rec->base.modules[rec->resources[origin->resource].service],
                                        .offset = offset_of(name.text),
                                        .name = name.text};
    return lode_function_table_find(table, &place, make_function, &making);
}

uint32_t lode_otlp_name(const struct otlp_recording *rec, struct lode_range text)
{
    struct lode_function_table *table =
        (struct lode_function_table *)(uintptr_t)&rec->names; // NOLINT(performance-no-int-to-ptr)
    struct name name;
    copy_name(&name, text);
    struct making making = {name.text, NULL, false};
    struct lode_function_place place = {.offset = offset_of(name.text), .name = name.text};
    const lode_function *function = lode_function_table_find(table, &place, make_function, &making);
    return function ? function->index : LODE_NO_NUMBER;
}

const char *lode_otlp_event_name(const lode_recording *recording, uint64_t id)
{
    const struct otlp_recording *rec = otlp_of(recording);
    struct lode_function_table *table =
        (struct lode_function_table *)(uintptr_t)&rec->names; // NOLINT(performance-no-int-to-ptr)
    uint32_t number = (uint32_t)id;
    return number < lode_function_table_count(table) ? lode_function_table_at(table, number)->name
                                                     : "unknown event";
}

lode_instant lode_otlp_instant(const lode_recording *recording, uint64_t id)
{
    (void)recording;
    switch ((enum otlp_instant)(id >> 32)) {
    case OTLP_ATTRIBUTE:
    case OTLP_STATUS:
        return LODE_INSTANT_ATTRIBUTE;
    case OTLP_EXCEPTION:
        return LODE_INSTANT_EXCEPTION;
    case OTLP_EVENT:
    case OTLP_LINK:
        break;
    }
    return LODE_INSTANT_OTHER;
}
