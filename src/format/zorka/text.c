/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/text.h"

#include "base/error.h"
#include "base/io/bytes.h"
#include "format/zorka/rules.h"
#include <stdlib.h>

enum {
    ID_DIGITS_MAX = 6
};

void lode_zor_texts_init(struct zor_strings *strings, struct lode_arena *arena)
{
    lode_array_init(&strings->items, sizeof(struct zor_text), UINT32_MAX / 2);
    lode_map_init(&strings->by_id);
    strings->arena = arena;
}

void lode_zor_texts_free(struct zor_strings *strings)
{
    lode_array_free(&strings->items);
    lode_map_free(&strings->by_id);
}

/* ---- file names ---- */

static bool has_digits(const char *at)
{
    for (unsigned i = 0; i < 8; i++)
        if (!((at[i] >= '0' && at[i] <= '9') || (at[i] >= 'a' && at[i] <= 'f')))
            return false;
    return true;
}

bool lode_zor_is_wal(const char *name)
{
    return strlen(name) == 17 && memcmp(name, "text-", 5) == 0 && has_digits(name + 5) &&
           strcmp(name + 13, ".wal") == 0;
}

bool lode_zor_is_fmi(const char *name)
{
    return strlen(name) == 26 && memcmp(name, "text-", 5) == 0 && has_digits(name + 5) && name[13] == '-' &&
           has_digits(name + 14) && strcmp(name + 22, ".fmi") == 0;
}

/* ---- records ---- */

/* Reads an id of 1 to 6 digits that fills the bytes; false if it is malformed. */
static bool read_id(const uint8_t *at, uint64_t size, uint64_t *id)
{
    *id = 0;
    if (size == 0 || size > ID_DIGITS_MAX)
        return false;
    for (uint64_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)at[i] - ZOR_DIGIT_ZERO;
        if (digit > 63)
            return false;
        *id = *id << 6 | digit;
    }
    return true;
}

/* Unescapes a string; NULL if out of memory. `is_sound` is false if an escape is invalid. */
static char *unescape(struct lode_arena *arena, struct lode_range text, uint32_t *length, bool *is_sound)
{
    char *copy = lode_arena_alloc(arena, (size_t)text.size + 1, 1);
    uint32_t used = 0;
    *is_sound = true;
    for (uint64_t i = 0; copy && i < text.size; i++) {
        uint8_t byte = text.data[i];
        if (byte == ZOR_ESCAPE) {
            uint8_t next = i + 1 < text.size ? text.data[++i] : 0;
            bool is_escape = next >= ZOR_ESCAPE_SHIFT && next <= 2 * ZOR_ESCAPE_SHIFT;
            *is_sound = *is_sound && is_escape;
            byte = next == 2 * ZOR_ESCAPE_SHIFT ? ZOR_ESCAPE
                                                : (uint8_t)(is_escape ? next - ZOR_ESCAPE_SHIFT : next);
        }
        copy[used++] = (char)byte;
    }
    *length = used;
    return copy;
}

static lode_status add_text(struct zor_strings *strings, uint64_t id, struct lode_range text,
                            const char *file, uint64_t offset, struct lode_report *report)
{
    bool is_new, is_sound;
    uint32_t length;
    char *copy = unescape(strings->arena, text, &length, &is_sound);
    uint32_t *slot = copy ? lode_map_add(&strings->by_id, id, (uint32_t)strings->items.count, &is_new) : NULL;
    LODE_TRY_ALLOC(slot, report->error);
    if (!is_sound)
        LODE_TRY(lode_report_add(report, ZOR_TEXT_RECORD, file, offset,
                                 "the string with id %llu has an invalid escape", (unsigned long long)id));
    if (!is_new) {
        const struct zor_text *before = LODE_ARRAY_AT(&strings->items, struct zor_text, *slot);
        bool is_same = before->length == length && memcmp(before->text, copy, length) == 0;
        return is_same ? LODE_OK
                       : lode_report_add(report, ZOR_TEXT_DUPLICATE, file, offset, "id %llu has two strings",
                                         (unsigned long long)id);
    }
    struct zor_text *item = lode_array_push(&strings->items);
    LODE_TRY_ALLOC(item, report->error);
    item->text = copy;
    item->id = (uint32_t)id;
    item->length = length;
    return LODE_OK;
}

/* One record without its last byte: ID 01 TEXT 02 ID. */
static lode_status read_record(struct zor_strings *strings, struct lode_range record, const char *file,
                               uint64_t offset, struct lode_report *report)
{
    const uint8_t *end = record.data + record.size;
    const uint8_t *text = memchr(record.data, ZOR_AFTER_ID, (size_t)record.size);
    const uint8_t *again = text ? memchr(text, ZOR_AFTER_TEXT, (size_t)(end - text)) : NULL;
    uint64_t id, same;
    bool is_sound = again && read_id(record.data, (uint64_t)(text - record.data), &id) &&
                    read_id(again + 1, (uint64_t)(end - again - 1), &same) && id == same && id > 0 &&
                    id <= UINT32_MAX && again - text - 1 < INT32_MAX;
    if (!is_sound)
        return lode_report_add(report, ZOR_TEXT_RECORD, file, offset, "%llu bytes are no record",
                               (unsigned long long)record.size);
    return add_text(strings, id, (struct lode_range){text + 1, (uint64_t)(again - text - 1)}, file, offset,
                    report);
}

lode_status lode_zor_read_records(struct zor_strings *strings, struct lode_range text, uint64_t begin,
                                  bool ends_at_zero, const char *file, struct lode_report *report)
{
    for (uint64_t at = begin; at < text.size;) {
        uint8_t byte = text.data[at];
        if (byte == 0 && ends_at_zero)
            break;
        /* Merged indexes: each begins with 03 and ends with 00. */
        if (byte == 0 || (byte == ZOR_AFTER_RECORD && !ends_at_zero)) {
            at++;
            continue;
        }
        const uint8_t *end = memchr(text.data + at, ZOR_AFTER_RECORD, (size_t)(text.size - at));
        uint64_t size = end ? (uint64_t)(end - text.data) - at : text.size - at;
        struct lode_range record = {text.data + at, size};
        LODE_TRY(end ? read_record(strings, record, file, at, report)
                     : lode_report_add(report, ZOR_TEXT_RECORD, file, at, "the last record is truncated"));
        at += size + 1;
    }
    return LODE_OK;
}

lode_status lode_zor_read_wal(struct zor_strings *strings, struct lode_range bytes, const char *file,
                              struct lode_report *report)
{
    static const uint8_t magic[4] = {'W', 'A', 'L', ZOR_AFTER_RECORD};
    if (bytes.size < sizeof magic || memcmp(bytes.data, magic, sizeof magic) != 0)
        return lode_report_add(report, ZOR_TEXT_HEADER, file, 0, "the file does not begin with WAL");
    return lode_zor_read_records(strings, bytes, sizeof magic, true, file, report);
}

lode_status lode_zor_read_fmi(struct zor_strings *strings, struct lode_range bytes, const char *file,
                              struct lode_report *report)
{
    uint8_t *text;
    uint64_t size;
    LODE_TRY(lode_zor_undo_fmi(bytes, file, report, &text, &size));
    if (text == NULL)
        return LODE_OK;
    lode_status status =
        lode_zor_read_records(strings, (struct lode_range){text, size}, 0, false, file, report);
    free(text);
    return status;
}

/* ---- strings ---- */

struct zor_text *lode_zor_text(const struct zor_strings *strings, uint64_t id)
{
    if (id == 0 || id > UINT32_MAX || strings->items.count == 0)
        return NULL;
    /* Without gaps, they are in the order of their ids. */
    struct zor_text *first = strings->items.items;
    if (id >= first->id && id - first->id < strings->items.count && first[id - first->id].id == id)
        return &first[id - first->id];
    const uint32_t *index = lode_map_get(&strings->by_id, id);
    return index ? LODE_ARRAY_AT(&strings->items, struct zor_text, *index) : NULL;
}

enum zor_mark lode_zor_mark(const struct zor_text *text)
{
    char first = text->length >= 2 ? text->text[0] : 0;
    bool is_mark =
        first >= ZOR_MARK_KEYWORD && first <= ZOR_MARK_STACK_ITEM && text->text[text->length - 1] == first;
    return is_mark ? (enum zor_mark)first : ZOR_MARK_NONE;
}

struct lode_range lode_zor_plain(const struct zor_text *text)
{
    const uint8_t *bytes = (const uint8_t *)text->text;
    if (lode_zor_mark(text) == ZOR_MARK_NONE)
        return (struct lode_range){bytes, text->length};
    return (struct lode_range){bytes + 1, text->length - 2};
}

size_t lode_zor_ids(const struct zor_text *text, uint64_t *ids, size_t capacity)
{
    size_t count = 0;
    struct lode_range inside = lode_zor_plain(text);
    char mark = text->text[0];
    for (uint64_t at = 0; at <= inside.size; count++) {
        const uint8_t *begin = inside.data + at;
        const uint8_t *end = memchr(begin, mark, (size_t)(inside.size - at));
        uint64_t size = end ? (uint64_t)(end - begin) : inside.size - at, id;
        if (!read_id(begin, size, &id))
            id = 0;
        if (count < capacity)
            ids[count] = id;
        at += size + 1;
    }
    return count;
}
