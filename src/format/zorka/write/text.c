/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/write/text.h"

#include "base/error.h"
#include "base/memory/blob.h"
#include "base/memory/hash.h"
#include <stdlib.h>

enum {
    ID_SIZE = 11 /* digits of 64 bits */
};

void lode_zor_dictionary_init(struct zor_dictionary *strings)
{
    *strings = (struct zor_dictionary){0};
    pthread_mutex_init(&strings->lock, NULL);
    lode_arena_init(&strings->arena, SIZE_MAX);
    lode_array_init(&strings->entries, sizeof(struct zor_entry *), UINT32_MAX / 2);
    lode_map_init(&strings->index);
}

void lode_zor_dictionary_free(struct zor_dictionary *strings)
{
    free(strings->numbered);
    lode_map_free(&strings->index);
    lode_array_free(&strings->entries);
    lode_arena_free(&strings->arena);
    pthread_mutex_destroy(&strings->lock);
}

/* ---- entries ---- */

static uint64_t hash_of(const struct zor_entry *entry)
{
    uint64_t bytes = lode_hash_bytes(entry->bytes.data, (size_t)entry->bytes.size);
    uint64_t parts = lode_hash_bytes(entry->parts, entry->part_count * sizeof *entry->parts);
    return lode_hash_pair(lode_hash_pair(entry->mark, entry->line), lode_hash_pair(bytes, parts));
}

static bool is_same(const struct zor_entry *a, const struct zor_entry *b)
{
    return a->mark == b->mark && a->line == b->line && a->bytes.size == b->bytes.size &&
           a->part_count == b->part_count &&
           (a->bytes.size == 0 || memcmp(a->bytes.data, b->bytes.data, (size_t)a->bytes.size) == 0) &&
           (a->part_count == 0 || memcmp(a->parts, b->parts, a->part_count * sizeof *a->parts) == 0);
}

/* A new entry; NULL if out of memory. */
static struct zor_entry *copy_entry(struct zor_dictionary *strings, const struct zor_entry *model)
{
    struct zor_entry *entry = lode_arena_alloc(&strings->arena, 1, sizeof *entry);
    uint8_t *bytes = lode_arena_alloc(&strings->arena, (size_t)model->bytes.size + 1, 1);
    struct zor_entry **parts =
        lode_arena_alloc(&strings->arena, model->part_count + 1, sizeof(struct zor_entry *));
    struct zor_entry **slot = entry && bytes && parts ? lode_array_push(&strings->entries) : NULL;
    if (slot == NULL)
        return NULL;
    if (model->bytes.size > 0)
        memcpy(bytes, model->bytes.data, (size_t)model->bytes.size);
    if (model->part_count > 0)
        memcpy(parts, model->parts, model->part_count * sizeof *parts);
    entry->mark = model->mark;
    entry->line = model->line;
    entry->bytes = (struct lode_range){bytes, model->bytes.size};
    entry->parts = parts;
    entry->part_count = model->part_count;
    atomic_init(&entry->first, ZOR_NEVER);
    return *slot = entry;
}

static struct zor_entry *find_locked(struct zor_dictionary *strings, const struct zor_entry *model)
{
    bool is_new;
    uint32_t *slot = lode_map_add(&strings->index, hash_of(model), (uint32_t)strings->entries.count, &is_new);
    if (slot == NULL)
        return NULL;
    struct zor_entry *newest = is_new ? NULL : *LODE_ARRAY_AT(&strings->entries, struct zor_entry *, *slot);
    for (struct zor_entry *entry = newest; entry; entry = entry->next)
        if (is_same(entry, model))
            return entry;
    *slot = (uint32_t)strings->entries.count;
    struct zor_entry *entry = copy_entry(strings, model);
    if (entry)
        entry->next = newest;
    return entry;
}

static struct zor_entry *find(struct zor_dictionary *strings, const struct zor_entry *model)
{
    pthread_mutex_lock(&strings->lock);
    struct zor_entry *entry = find_locked(strings, model);
    pthread_mutex_unlock(&strings->lock);
    return entry;
}

struct zor_entry *lode_zor_string(struct zor_dictionary *strings, enum zor_mark mark, struct lode_range bytes)
{
    return find(strings, &(struct zor_entry){.mark = mark, .bytes = bytes});
}

struct zor_entry *lode_zor_tuple(struct zor_dictionary *strings, enum zor_mark mark,
                                 struct zor_entry *const *parts, size_t count, uint64_t line)
{
    struct zor_entry model = {.mark = mark, .part_count = count, .line = line};
    model.parts = (struct zor_entry **)(uintptr_t)parts; // NOLINT(performance-no-int-to-ptr)
    return find(strings, &model);
}

struct zor_entry *lode_zor_method(struct zor_dictionary *strings, struct lode_range class_name,
                                  struct lode_range method, struct lode_range signature)
{
    struct zor_entry *parts[] = {lode_zor_string(strings, ZOR_MARK_CLASS, class_name),
                                 lode_zor_string(strings, ZOR_MARK_METHOD_NAME, method),
                                 lode_zor_string(strings, ZOR_MARK_SIGNATURE, signature)};
    return parts[0] && parts[1] && parts[2] ? lode_zor_tuple(strings, ZOR_MARK_METHOD, parts, 3, 0) : NULL;
}

/* ---- ids ---- */

static int compare_first(const void *left, const void *right)
{
    const struct zor_entry *a = *(struct zor_entry *const *)left, *b = *(struct zor_entry *const *)right;
    uint64_t x = atomic_load_explicit(&a->first, memory_order_relaxed);
    uint64_t y = atomic_load_explicit(&b->first, memory_order_relaxed);
    return x < y ? -1 : x > y;
}

/* The empty string has none. */
static bool has_id_to_get(const struct zor_entry *entry)
{
    return entry && entry->id == 0 && (entry->mark != ZOR_MARK_NONE || entry->bytes.size > 0);
}

/* Parts get ids before their owners. Parts that are nested too deeply get none. */
static void number_entry(struct zor_dictionary *strings, struct zor_entry *top)
{
    struct {
        struct zor_entry *entry;
        size_t next; /* part */
    } path[ZOR_PARTS_DEPTH] = {{top, 0}};
    size_t depth = has_id_to_get(top) ? 1 : 0;
    while (depth > 0) {
        struct zor_entry *entry = path[depth - 1].entry;
        if (path[depth - 1].next == entry->part_count) {
            strings->numbered[strings->count++] = entry;
            entry->id = strings->count;
            depth--;
            continue;
        }
        struct zor_entry *part = entry->parts[path[depth - 1].next++];
        if (depth < ZOR_PARTS_DEPTH && has_id_to_get(part)) {
            path[depth].entry = part;
            path[depth++].next = 0;
        }
    }
}

lode_status lode_zor_dictionary_number(struct zor_dictionary *strings, lode_error *error)
{
    size_t count = strings->entries.count;
    struct zor_entry **used = calloc(count + 1, sizeof *used);
    strings->numbered = calloc(count + 1, sizeof *strings->numbered);
    if (used == NULL || strings->numbered == NULL) {
        free(used);
        return lode_fail_memory(error);
    }
    if (count > 0) {
        memcpy(used, strings->entries.items, count * sizeof *used);
        qsort(used, count, sizeof *used, compare_first);
    }
    for (size_t i = 0; i < count && atomic_load_explicit(&used[i]->first, memory_order_relaxed) < ZOR_NEVER;
         i++)
        number_entry(strings, used[i]);
    free(used);
    return LODE_OK;
}

/* ---- the file ---- */

struct record {
    struct lode_blob blob;
    bool has_memory;
};

static void put(struct record *record, const void *bytes, size_t size)
{
    size_t at = lode_blob_reserve(&record->blob, size, 1);
    record->has_memory = record->has_memory && at != LODE_BLOB_FULL;
    if (record->has_memory && size > 0)
        memcpy(record->blob.bytes + at, bytes, size);
}

static void put_byte(struct record *record, unsigned byte)
{
    put(record, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_number(struct record *record, uint64_t number)
{
    uint8_t digits[ID_SIZE];
    size_t at = ID_SIZE;
    do {
        digits[--at] = (uint8_t)(ZOR_DIGIT_ZERO + (number & 63));
        number >>= 6;
    } while (number > 0);
    put(record, digits + at, ID_SIZE - at);
}

static void put_escaped(struct record *record, struct lode_range bytes)
{
    uint64_t begin = 0;
    for (uint64_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.data[i];
        if (byte >= ZOR_ESCAPE_SHIFT && byte != ZOR_ESCAPE)
            continue;
        put(record, bytes.data + begin, (size_t)(i - begin));
        put_byte(record, ZOR_ESCAPE);
        put_byte(record, byte == ZOR_ESCAPE ? 2u * ZOR_ESCAPE_SHIFT : byte + (unsigned)ZOR_ESCAPE_SHIFT);
        begin = i + 1;
    }
    put(record, bytes.data + begin, (size_t)(bytes.size - begin));
}

static void put_text(struct record *record, const struct zor_entry *entry)
{
    if (entry->mark != ZOR_MARK_NONE)
        put_byte(record, entry->mark);
    put_escaped(record, entry->bytes);
    for (size_t i = 0; i < entry->part_count; i++) {
        if (i > 0)
            put_byte(record, entry->mark);
        put_number(record, entry->parts[i] ? entry->parts[i]->id : 0);
    }
    if (entry->mark == ZOR_MARK_STACK_ITEM) {
        put_byte(record, entry->mark);
        put_number(record, entry->line);
    }
    if (entry->mark != ZOR_MARK_NONE)
        put_byte(record, entry->mark);
}

/* ID 01 TEXT 02 ID 03 */
static void put_record(struct record *record, const struct zor_entry *entry)
{
    put_number(record, entry->id);
    put_byte(record, ZOR_AFTER_ID);
    put_text(record, entry);
    put_byte(record, ZOR_AFTER_TEXT);
    put_number(record, entry->id);
    put_byte(record, ZOR_AFTER_RECORD);
}

lode_status lode_zor_dictionary_write(const struct zor_dictionary *strings, struct lode_output_file *file,
                                      lode_error *error)
{
    static const uint8_t magic[4] = {'W', 'A', 'L', ZOR_AFTER_RECORD};
    struct record record = {.has_memory = true};
    lode_status status = lode_output_write(file, magic, sizeof magic, error);
    for (uint32_t i = 0; i < strings->count && status == LODE_OK; i++) {
        record.blob.size = 0;
        put_record(&record, strings->numbered[i]);
        status = record.has_memory ? lode_output_write(file, record.blob.bytes, record.blob.size, error)
                                   : lode_fail_memory(error);
    }
    lode_blob_free(&record.blob);
    return status;
}
