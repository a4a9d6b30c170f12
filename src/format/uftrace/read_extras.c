/* SPDX-License-Identifier: BSD-3-Clause */
/* The small files: names of user events, user messages, a note, and kernel tracer data. */
#include "base/error.h"
#include "format/uftrace/read.h"
#include <stdlib.h>

#define EXTERN_EVENT 2000000u

/* Reads a file line by line into an array of `item_size`, then moves it to the arena. */
struct table {
    const char *name; /* of the file */
    unsigned rule;    /* that a malformed line breaks */
    size_t item_size;
    bool (*parse)(struct uft_opening *opening, struct uft_text line, void *item);
    int (*compare)(const void *left, const void *right);
};

static lode_status parse_table(struct uft_opening *opening, const struct table *table, struct lode_range text,
                               struct lode_array *items)
{
    struct uft_lines lines = {.text = text};
    struct uft_text line;
    while (uft_next_line(&lines, &line)) {
        if (uft_length(line) == 0 || *line.at == '#')
            continue;
        void *item = lode_array_push(items);
        LODE_TRY_ALLOC(item, opening->error);
        if (table->parse(opening, line, item))
            continue;
        lode_array_pop(items);
        LODE_TRY(lode_report_add(opening->report, table->rule, table->name, lines.offset,
                                 "the line is malformed; it is omitted"));
    }
    return LODE_OK;
}

static lode_status read_table(struct uft_opening *opening, const struct table *table, void **out,
                              size_t *count)
{
    struct lode_input source;
    struct lode_array items;
    *out = NULL;
    *count = 0;
    lode_status status = lode_input_open(&source, &opening->rec->folder, table->name, opening->error);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    lode_array_init(&items, table->item_size, UINT32_MAX / 2);
    status = parse_table(opening, table, source.bytes, &items);
    if (status == LODE_OK && items.count > 0) {
        qsort(items.items, items.count, table->item_size, table->compare);
        *out = lode_arena_alloc(opening->arena, items.count, table->item_size);
        if (*out == NULL)
            status = lode_fail_memory(opening->error);
        else
            memcpy(*out, items.items, items.count * table->item_size);
        *count = items.count;
    }
    lode_array_free(&items);
    lode_input_close(&source);
    return status;
}

static bool parse_event_name(struct uft_opening *opening, struct uft_text line, void *item)
{
    struct uft_event_name *name = item;
    if (!uft_take(&line, "EVENT: ") || !uft_take_number(&line, 10, &name->id) || !uft_take(&line, " "))
        return false;
    name->name = uft_copy(opening->arena, line);
    return name->name != NULL;
}

static int compare_event_names(const void *left, const void *right)
{
    const struct uft_event_name *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool parse_message(struct uft_opening *opening, struct uft_text line, void *item)
{
    lode_event *event = item;
    if (!lode_uft_take_time(&line, &event->time))
        return false;
    uft_skip_blanks(&line);
    event->kind = LODE_EVENT_INSTANT;
    event->id = EXTERN_EVENT;
    size_t length = uft_length(line) < UINT16_MAX ? uft_length(line) : UINT16_MAX;
    event->data_size = (uint16_t)length;
    event->data = length ? uft_copy(opening->arena, (struct uft_text){line.at, line.at + length}) : NULL;
    return length == 0 || event->data != NULL;
}

static int compare_messages(const void *left, const void *right)
{
    const lode_event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    size_t shorter = a->data_size < b->data_size ? a->data_size : b->data_size;
    int order = shorter ? memcmp(a->data, b->data, shorter) : 0;
    return order ? order : (int)a->data_size - (int)b->data_size;
}

static lode_status read_note(struct uft_opening *opening)
{
    struct lode_input source;
    lode_status status = lode_input_open(&source, &opening->rec->folder, "note.txt", opening->error);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    const char *text = (const char *)source.bytes.data;
    size_t length = source.bytes.size < 4096 ? (size_t)source.bytes.size : 4096;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    status = lode_uft_add_fact(opening, "note", (struct uft_text){text, text + length});
    lode_input_close(&source);
    return status;
}

static lode_status look_for_kernel_data(struct uft_opening *opening)
{
    size_t files = 0;
    const char *first = NULL;
    for (size_t i = 0; i < opening->name_count; i++) {
        bool is_kernel = strncmp(opening->names[i], "kernel-cpu", 10) == 0 ||
                         strcmp(opening->names[i], "kernel_header") == 0;
        first = is_kernel && first == NULL ? opening->names[i] : first;
        files += is_kernel;
    }
    if (files == 0)
        return LODE_OK;
    return lode_report_add(opening->report, UFT_KERNEL_DATA, first, LODE_NO_OFFSET,
                           "%zu files of the kernel tracer are not decoded", files);
}

lode_status lode_uft_read_extras(struct uft_opening *opening)
{
    static const struct table events = {"events.txt", UFT_EVENTS_LINE, sizeof(struct uft_event_name),
                                        parse_event_name, compare_event_names};
    static const struct table messages = {"extern.dat", UFT_EXTERN_LINE, sizeof(lode_event), parse_message,
                                          compare_messages};
    struct uft_recording *rec = opening->rec;
    void *items;
    size_t count;
    LODE_TRY(read_table(opening, &events, &items, &count));
    rec->event_names = items;
    rec->event_name_count = (uint32_t)count;
    LODE_TRY(read_table(opening, &messages, &items, &count));
    rec->base.messages = items;
    rec->base.message_count = count;
    LODE_TRY(read_note(opening));
    return look_for_kernel_data(opening);
}
