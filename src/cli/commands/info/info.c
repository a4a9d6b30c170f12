/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/info/info.h"

#include "alloc.h"
#include "stores/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kind_of(const lode_context *context)
{
    switch (lode_context_lexical(context)) {
    case LODE_LEXICAL_ENTRY:
        return INFO_ENTRIES;
    case LODE_LEXICAL_FUNCTION:
        return INFO_FUNCTIONS;
    case LODE_LEXICAL_LOOP:
        return INFO_LOOPS;
    case LODE_LEXICAL_LINE:
        return INFO_LINES;
    case LODE_LEXICAL_INSTRUCTION:
        return INFO_INSTRUCTIONS;
    default:
        return INFO_OTHERS;
    }
}

static void gather_contexts(info_facts *facts, const lode_database *db)
{
    for (uint32_t i = 1; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        uint32_t depth = lode_context_depth(context);
        facts->contexts[kind_of(context)]++;
        facts->context_count++;
        facts->inlined += lode_context_relation(context) == LODE_RELATION_INLINED;
        facts->depth = depth > facts->depth ? depth : facts->depth;
    }
    for (uint32_t i = 0; i < lode_database_file_count(db); i++)
        facts->copied_files += lode_file_is_copied(lode_database_file(db, i)) != 0;
}

enum {
    LEAST_ID = 16 /* bytes of an id in a file, at least */
};

typedef struct id_array {
    lode_id *items;
    size_t count, capacity;
} id_array;

static lode_status add_ids(id_array *array, const lode_database *db, uint32_t profile, lode_error *error)
{
    uint32_t count = 0;
    lode_status status = lode_profile_ids(db, profile, NULL, 0, &count, error);
    if (status < 0 || count == 0)
        return status;
    if (array->count + count > lode_database_part_size(db, LODE_PART_PROFILE) / LEAST_ID)
        return session_shared(db, LODE_PART_PROFILE, error);
    array->items = alloc_grow(array->items, &array->capacity, array->count + count, sizeof *array->items);
    status = lode_profile_ids(db, profile, array->items + array->count, count, &count, error);
    if (status >= 0)
        array->count += count;
    return status;
}

static lode_status gather_profiles(info_facts *facts, id_array *ids, const lode_database *db,
                                   lode_error *error)
{
    for (uint32_t i = 0; i < lode_database_profile_count(db); i++) {
        lode_block block;
        lode_status status = lode_profile_block(db, i, &block, error);
        if (status < 0)
            return status;
        uint64_t values = lode_block_value_count(&block);
        if (lode_profile_is_summary(db, i)) {
            facts->summary_values += values;
            continue;
        }
        facts->profiles++;
        facts->empty_profiles += values == 0;
        facts->values += values;
        status = add_ids(ids, db, i, error);
        if (status < 0)
            return status;
    }
    return LODE_OK;
}

/* Physical things are told apart by their physical number: their logical one is often 0 for all. */
static int compare_ids(const void *left, const void *right)
{
    const lode_id *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->logical != b->logical)
        return a->logical < b->logical ? -1 : 1;
    uint64_t x = a->flags & LODE_ID_PHYSICAL ? a->physical : 0;
    uint64_t y = b->flags & LODE_ID_PHYSICAL ? b->physical : 0;
    return x < y ? -1 : x > y;
}

static void count_ids(info_facts *facts, id_array *ids)
{
    size_t capacity = 0;
    if (ids->count)
        qsort(ids->items, ids->count, sizeof *ids->items, compare_ids);
    for (size_t i = 0; i < ids->count; i++) {
        const lode_id *id = &ids->items[i];
        if (i == 0 || id[-1].kind != id->kind) {
            facts->ids = alloc_grow(facts->ids, &capacity, facts->id_count, sizeof *facts->ids);
            facts->ids[facts->id_count++] = (info_ids){id->kind, 0, id->logical, id->logical};
        }
        info_ids *last = &facts->ids[facts->id_count - 1];
        last->distinct += i == 0 || compare_ids(id - 1, id) != 0;
        last->max = id->logical;
    }
}

static lode_status gather_traces(info_facts *facts, const lode_database *db, lode_error *error)
{
    facts->trace_lines = lode_database_trace_count(db);
    for (uint32_t i = 0; i < facts->trace_lines; i++) {
        lode_trace_line line;
        lode_status status = lode_database_trace_line(db, i, &line, error);
        if (status < 0)
            return status;
        facts->empty_lines += line.sample_count == 0;
        facts->samples += line.sample_count;
    }
    /* Without samples, the bounds in the file mean nothing. */
    if (facts->samples == 0 ||
        lode_database_trace_bounds(db, &facts->trace_min, &facts->trace_max) != LODE_OK ||
        facts->trace_max < facts->trace_min)
        facts->trace_min = facts->trace_max = 0;
    return LODE_OK;
}

lode_status info_gather(info_facts *facts, const lode_database *db, lode_error *error)
{
    id_array ids = {0};
    gather_contexts(facts, db);
    lode_status status = gather_profiles(facts, &ids, db, error);
    if (status == LODE_OK) {
        count_ids(facts, &ids);
        status = gather_traces(facts, db, error);
    }
    free(ids.items);
    return status;
}

void info_free(info_facts *facts)
{
    free(facts->ids);
}

int info_list_has(const char *list, const char *item)
{
    size_t length = strlen(item);
    while (*list) {
        size_t size = strcspn(list, ",");
        if (size == length && strncmp(list, item, length) == 0)
            return 1;
        list += size;
        list += strspn(list, ", ");
    }
    return 0;
}

void info_json_fingerprint(out *o, const char *path)
{
    uint64_t content = 0;
    char digits[17];
    if (lode_store_fingerprint(path, &content, NULL, NULL) != LODE_OK)
        return;
    snprintf(digits, sizeof digits, "%016" PRIx64, content);
    OUT_FIELDS(o, "fingerprint", digits);
}
