/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/tables.h"

#include "base/progress.h"
#include "base/text/label.h"
#include "base/text/utf8.h"
#include "table/fields.h"
#include <lode/private/columns.h>
#include <lode/private/utf8.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_FIRST = 512 /* bytes tried first */
};

/* ---- batches ---- */

static size_t element_size(lode_column_type type)
{
    return type == LODE_COLUMN_U8 ? 1 : type == LODE_COLUMN_U32 ? 4 : 8;
}

lode_status lode_table_batch_init(struct lode_table_batch *batch, const struct lode_table_def *def,
                                  uint64_t capacity, lode_error *error)
{
    *batch = (struct lode_table_batch){
        .capacity = capacity, .room = capacity, .column_count = def->info.field_count, .needed = UINT64_MAX};
    lode_arena_init(&batch->text, SIZE_MAX);
    for (unsigned i = 0; i < def->info.field_count; i++) {
        const lode_field *field = &def->info.fields[i];
        size_t size = element_size(field->type);
        batch->data[i] = calloc(capacity, size);
        LODE_TRY_ALLOC(batch->data[i], error);
        batch->columns[i] =
            (lode_column){field->name, field->type, LODE_OWNER_TABLE, batch->data[i], 0, size};
        if (!(field->flags & LODE_FIELD_OPTIONAL) || field->type == LODE_COLUMN_STRING)
            continue;
        batch->valid[i] = calloc(capacity, 1);
        LODE_TRY_ALLOC(batch->valid[i], error);
    }
    return LODE_OK;
}

void lode_table_batch_free(struct lode_table_batch *batch)
{
    for (unsigned i = 0; i < LODE_BATCH_COLUMNS; i++) {
        free(batch->data[i]);
        free(batch->valid[i]);
    }
    lode_arena_free(&batch->text);
    *batch = (struct lode_table_batch){0};
}

lode_status lode_table_batch_fit(struct lode_table_batch *batch, const struct lode_table_def *def,
                                 uint64_t capacity, lode_error *error)
{
    uint64_t needed = batch->needed;
    if (capacity > batch->room) {
        lode_table_batch_free(batch);
        LODE_TRY(lode_table_batch_init(batch, def, capacity, error));
        batch->needed = needed;
    }
    batch->capacity = capacity;
    return LODE_OK;
}

/* ---- text ---- */

void lode_batch_known_u32(struct lode_table_batch *batch, unsigned column, uint32_t number)
{
    if (number)
        lode_batch_u32(batch, column, number);
    else
        lode_batch_null(batch, column);
}

static bool is_clean(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count;) {
        unsigned char byte = (unsigned char)bytes[i];
        uint32_t character;
        if (byte >= 0x20 && byte < 0x7f) {
            i++;
            continue;
        }
        size_t length = lode_utf8_decode(bytes + i, count - i, &character);
        if (length == 0 || lode_utf8_is_control(character))
            return false;
        i += length;
    }
    return true;
}

lode_status lode_batch_bytes(struct lode_table_batch *batch, unsigned column, const char *bytes, size_t count,
                             lode_error *error)
{
    if (!lode_batch_needs(batch, column))
        return LODE_OK;
    size_t most = LODE_BATCH_TEXT_LONGEST, room = (count < most ? count : most) + 1;
    struct lode_label label = {lode_arena_alloc(&batch->text, room, 1), room, 0};
    LODE_TRY_ALLOC(label.buffer, error);
    lode_label_bytes(&label, bytes, count);
    batch->cut += lode_label_end(&label) >= room;
    batch->text_bytes += room;
    lode_batch_fixed(batch, column, label.buffer);
    return LODE_OK;
}

lode_status lode_batch_text(struct lode_table_batch *batch, unsigned column, const char *text,
                            lode_error *error)
{
    if (!lode_batch_needs(batch, column))
        return LODE_OK;
    size_t length = text ? strlen(text) : 0;
    if (length > LODE_BATCH_TEXT_LONGEST || !is_clean(text, length))
        return lode_batch_bytes(batch, column, text, length, error);
    batch->text_bytes += length;
    lode_batch_fixed(batch, column, text);
    return LODE_OK;
}

lode_status lode_batch_label(struct lode_table_batch *batch, unsigned column, lode_batch_label_fn label,
                             const void *thing, lode_error *error)
{
    char first[LABEL_FIRST];
    if (!lode_batch_needs(batch, column))
        return LODE_OK;
    size_t length = label(thing, first, sizeof first);
    if (length < sizeof first)
        return lode_batch_bytes(batch, column, first, length, error);
    batch->cut += length > LODE_BATCH_TEXT_LONGEST;
    size_t room = (length < LODE_BATCH_TEXT_LONGEST ? length : LODE_BATCH_TEXT_LONGEST) + 1;
    char *buffer = lode_arena_alloc(&batch->text, room, 1);
    LODE_TRY_ALLOC(buffer, error);
    label(thing, buffer, room);
    batch->text_bytes += room;
    lode_batch_fixed(batch, column, buffer);
    return LODE_OK;
}

struct named {
    const void *thing;
    lode_name_form form;
};

static size_t context_label(const void *thing, char *buffer, size_t capacity)
{
    const struct named *named = thing;
    return lode_context_label_as(named->thing, named->form, buffer, capacity);
}

static size_t function_label(const void *thing, char *buffer, size_t capacity)
{
    const struct named *named = thing;
    return lode_function_label_as(named->thing, named->form, buffer, capacity);
}

lode_status lode_batch_context(struct lode_table_batch *batch, unsigned column, const lode_context *context,
                               lode_name_form form, lode_error *error)
{
    struct named named = {context, form};
    return lode_batch_label(batch, column, context_label, &named, error);
}

lode_status lode_batch_function(struct lode_table_batch *batch, unsigned column,
                                const lode_function *function, lode_name_form form, lode_error *error)
{
    struct named named = {function, form};
    return lode_batch_label(batch, column, function_label, &named, error);
}

/* ---- functions of a recording ---- */

void lode_function_names_init(struct lode_function_names *names, lode_name_form form)
{
    *names = (struct lode_function_names){.form = form};
    lode_array_init(&names->functions, sizeof(const lode_function *), SIZE_MAX);
    lode_array_init(&names->labels, sizeof(const char *), SIZE_MAX);
    lode_arena_init(&names->text, SIZE_MAX);
}

void lode_function_names_free(struct lode_function_names *names)
{
    free(names->numbers);
    lode_array_free(&names->functions);
    lode_array_free(&names->labels);
    lode_arena_free(&names->text);
}

lode_status lode_function_names_add(struct lode_function_names *names, const lode_function *function,
                                    uint32_t *number, bool *is_new, lode_error *error)
{
    *number = lode_function_names_find(names, function);
    *is_new = *number == LODE_NO_NUMBER;
    if (!*is_new)
        return LODE_OK;
    size_t count = (size_t)function->index * 2 + 64;
    bool has_room =
        function->index < names->number_count || LODE_GROW_ZEROED(names->numbers, names->number_count, count);
    const lode_function **known = has_room ? lode_array_push(&names->functions) : NULL;
    LODE_TRY_ALLOC(known, error);
    *known = function;
    *number = (uint32_t)names->functions.count - 1;
    size_t length = lode_function_label_as(function, names->form, NULL, 0);
    size_t room = (length < LODE_BATCH_TEXT_LONGEST ? length : LODE_BATCH_TEXT_LONGEST) + 1;
    char *label = lode_arena_alloc(&names->text, room, 1);
    const char **kept = label ? lode_array_push(&names->labels) : NULL;
    LODE_TRY_ALLOC(kept, error);
    lode_function_label_as(function, names->form, label, room);
    *kept = label;
    names->numbers[function->index] = *number + 1;
    return LODE_OK;
}

lode_status lode_tables_function(struct lode_tables *tables, const lode_function *function, uint32_t *id,
                                 lode_error *error)
{
    bool is_new;
    LODE_TRY(lode_function_names_add(&tables->names, function, id, &is_new, error));
    const lode_file *file = is_new ? lode_function_file(function) : NULL;
    if (file && lode_interner_add(&tables->files, &file, NULL) == LODE_NO_NUMBER)
        return lode_fail_memory(error);
    return LODE_OK;
}

/* Reads the table of events, which numbers functions. */
static lode_status read_events(struct lode_tables *tables, lode_error *error)
{
    struct lode_table_batch batch;
    struct lode_table_reader reader;
    struct lode_progress progress = {tables->options.on_progress, tables->options.progress_user,
                                     "reading functions", 0, 0};
    lode_status status = lode_table_batch_init(&batch, &lode_table_event, 4096, error);
    if (status == LODE_OK) {
        status = lode_table_reader_open(&reader, tables, &lode_table_event, NULL, error);
        progress.total = reader.total;
        while (status == LODE_OK) {
            status = lode_table_reader_next(&reader, &batch, error);
            if (status == LODE_OK)
                status = lode_progress_add(&progress, reader.done - progress.done, error);
        }
        lode_table_reader_close(&reader);
    }
    lode_table_batch_free(&batch);
    return status == LODE_END ? LODE_OK : status;
}

lode_status lode_tables_scan(struct lode_tables *tables, lode_error *error)
{
    pthread_mutex_lock(&tables->lock);
    lode_status status = tables->is_scanned ? LODE_OK : read_events(tables, error);
    pthread_mutex_unlock(&tables->lock);
    return status;
}

/* ---- tables ---- */

static lode_status choose_metrics(struct lode_tables *tables, lode_error *error)
{
    const struct lode_table_choice *options = &tables->options;
    if (options->metric_count == 0)
        return LODE_OK;
    tables->metric_wanted = calloc(UINT16_MAX + 1, 1);
    LODE_TRY_ALLOC(tables->metric_wanted, error);
    for (size_t i = 0; i < options->metric_count; i++) {
        lode_metric_scope scope;
        for (uint32_t k = 0; lode_metric_scope_at(options->metrics[i], k, &scope) == LODE_OK; k++)
            tables->metric_wanted[scope.id] = 1;
    }
    return LODE_OK;
}

lode_status lode_tables_begin(struct lode_tables *tables, const lode_database *db,
                              const lode_recording *recording, const struct lode_table_choice *choice,
                              lode_error *error)
{
    *tables = (struct lode_tables){.db = db, .recording = recording, .options = *choice};
    tables->defs = db ? lode_database_tables : lode_recording_tables;
    tables->count = db ? lode_database_table_count : lode_recording_table_count;
    tables->functions = db ? lode_database_functions : lode_recording_functions;
    tables->function_count = db ? lode_database_function_tables : lode_recording_function_tables;
    /* The last one compares. */
    tables->function_count -= choice->base == NULL;
    if (choice->base)
        lode_tables_hold(choice->base);
    atomic_init(&tables->references, 1);
    pthread_mutex_init(&tables->lock, NULL);
    lode_function_names_init(&tables->names, choice->names);
    lode_interner_init(&tables->files, sizeof(const lode_file *));
    return choose_metrics(tables, error);
}

void lode_tables_end(struct lode_tables *tables)
{
    free(tables->metric_wanted);
    free(tables->profile_wanted);
    free(tables->sample_counts);
    free(tables->lines);
    free(tables->callers);
    for (unsigned i = 0; i < LODE_INVERTED_COUNT; i++) {
        free(tables->inverted[i].starts);
        free(tables->inverted[i].numbers);
    }
    lode_function_names_free(&tables->names);
    lode_interner_free(&tables->files);
    lode_query_close(tables->costs);
    lode_tables_close(tables->options.base);
    pthread_mutex_destroy(&tables->lock);
}

const struct lode_table_def *lode_tables_def(const struct lode_tables *tables, const char *name)
{
    for (unsigned i = 0; i < tables->count; i++)
        if (strcmp(tables->defs[i]->info.name, name) == 0)
            return tables->defs[i];
    return NULL;
}

lode_status lode_table_reader_open(struct lode_table_reader *reader, struct lode_tables *tables,
                                   const struct lode_table_def *def, const struct lode_table_query *query,
                                   lode_error *error)
{
    *reader = (struct lode_table_reader){.tables = tables, .def = def, .query = query};
    reader->state = calloc(1, def->state_size + 1);
    LODE_TRY_ALLOC(reader->state, error);
    return def->open ? def->open(reader, error) : LODE_OK;
}

/* Rows of one piece, at least one if there are any. */
static lode_status read_some(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             lode_error *error)
{
    lode_status status = LODE_OK;
    while (status == LODE_OK && batch->rows == 0) {
        if (reader->has_ended || (reader->is_limited && reader->left == 0))
            return LODE_END;
        batch->taken = 0;
        status = reader->def->next(reader, batch, error);
        reader->left -= reader->is_limited ? batch->taken : 0;
        reader->is_at_boundary = status == LODE_END && reader->query && reader->def->begin_piece &&
                                 reader->def->begin_piece(reader);
        if (reader->is_at_boundary)
            status = LODE_OK;
    }
    return status;
}

lode_status lode_table_reader_next(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                   lode_error *error)
{
    batch->rows = batch->text_bytes = 0;
    lode_arena_free(&batch->text);
    lode_arena_init(&batch->text, SIZE_MAX);
    lode_status status = read_some(reader, batch, error);
    for (unsigned i = 0; i < batch->column_count; i++)
        batch->columns[i].count = batch->rows;
    return status == LODE_END && batch->rows > 0 ? LODE_OK : status;
}

void lode_table_reader_close(struct lode_table_reader *reader)
{
    if (reader->state && reader->def->close)
        reader->def->close(reader);
    free(reader->state);
    free(reader->numbers);
    *reader = (struct lode_table_reader){0};
}

lode_status lode_table_next_rows(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                 lode_table_row_fn row, lode_error *error)
{
    const struct lode_table_rows *rows = &reader->rows;
    for (; reader->done < reader->total; reader->done++) {
        if (lode_batch_is_full(batch))
            return LODE_OK;
        uint32_t at = (uint32_t)reader->done;
        lode_status status = row(reader, batch, rows->numbers ? rows->numbers[at] : rows->first + at, error);
        if (status < 0)
            return status;
        batch->rows += status == LODE_OK;
    }
    return LODE_END;
}
