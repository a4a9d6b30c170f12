/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a recording: its files, its header, its events. */
#include "base/text/count.h"
#include "format/format.h"
#include "format/perf/read/store.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Offsets in the header. */
    AT_SIZE = 8,
    AT_ATTR_SIZE = 16,
    AT_ATTRS = 24,
    AT_DATA = 40,
    AT_FEATURES = 72,
    SECTION = 16, /* u64 offset, u64 size */
    PARTS_MOST = 1 << 16
};

#define DIRECTORY_DATA "data"

void lode_perf_init(struct perf_store *store, struct lode_report *report)
{
    *store = (struct perf_store){.report = report};
    lode_arena_init(&store->arena, SIZE_MAX);
    lode_strings_init(&store->strings);
    lode_array_init(&store->parts, sizeof(struct perf_part), PARTS_MOST);
    lode_array_init(&store->events, sizeof(struct perf_event), PERF_EVENTS_MOST);
    lode_map_init(&store->event_of);
    lode_array_init(&store->sides, sizeof(struct perf_side), SIZE_MAX);
    lode_array_init(&store->pieces, sizeof(struct perf_piece), SIZE_MAX);
    lode_array_init(&store->build_ids, sizeof(struct perf_named_id), UINT32_MAX);
}

void lode_perf_free(struct perf_store *store)
{
    for (size_t i = 0; i < store->parts.count; i++)
        lode_input_close(&perf_part_at(store, i)->input);
    lode_array_free(&store->parts);
    lode_array_free(&store->events);
    lode_map_free(&store->event_of);
    lode_array_free(&store->sides);
    lode_array_free(&store->pieces);
    lode_array_free(&store->build_ids);
    lode_strings_free(&store->strings);
    lode_arena_free(&store->arena);
}

/* ---- probing ---- */

static bool begins_with(struct lode_range bytes, const char *magic)
{
    return bytes.size >= PERF_MAGIC_SIZE && memcmp(bytes.data, magic, PERF_MAGIC_SIZE) == 0;
}

static bool is_recording(struct lode_range bytes)
{
    return begins_with(bytes, PERF_MAGIC_LITTLE) || begins_with(bytes, PERF_MAGIC_BIG) ||
           begins_with(bytes, PERF_MAGIC_FIRST);
}

int lode_perf_probe(const struct lode_folder *folder)
{
    struct lode_input input;
    const char *only = lode_folder_only(folder);
    int score = LODE_PROBE_NO;
    if (lode_input_open(&input, folder, only ? only : DIRECTORY_DATA, NULL) == LODE_OK &&
        is_recording(input.bytes))
        score = LODE_PROBE_CONTENT;
    lode_input_close(&input);
    return score;
}

/* ---- events ---- */

/* The first event that has an id keeps it. */
static lode_status add_ids(struct perf_store *store, struct lode_range ids, const char *file, uint64_t offset)
{
    uint32_t event = (uint32_t)store->events.count - 1;
    uint64_t shared = 0, count = ids.size / sizeof(uint64_t);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = perf_u64(store->is_big, ids.data + i * sizeof id);
        bool added;
        LODE_TRY_ALLOC(lode_map_add(&store->event_of, id, event, &added), store->report->error);
        shared += !added && *lode_map_get(&store->event_of, id) != event;
        if (store->event_of.count > PERF_IDS_MOST)
            return perf_finding(store, PERF_RULE_IDS, file, offset, "there are more than %d ids",
                                PERF_IDS_MOST);
    }
    if (ids.size % sizeof(uint64_t) != 0)
        return perf_finding(store, PERF_RULE_IDS, file, offset,
                            "the ids of an event take %" PRIu64 " bytes, which is no multiple of 8",
                            ids.size);
    return shared == 0 ? LODE_OK
                       : perf_finding(store, PERF_RULE_IDS, file, offset, "%s to another event, too",
                                      LODE_COUNTED(shared, "id belongs", "ids belong"));
}

lode_status lode_perf_add_event(struct perf_store *store, struct lode_range attr, struct lode_range ids,
                                const char *file, uint64_t offset)
{
    struct perf_event *event = lode_array_push(&store->events);
    if (event == NULL && store->events.count == PERF_EVENTS_MOST) {
        LODE_TRY(perf_finding(store, PERF_RULE_ATTRIBUTES, file, offset, "there are more than %d events",
                              PERF_EVENTS_MOST));
        return LODE_END;
    }
    LODE_TRY_ALLOC(event, store->report->error);
    lode_perf_event_read(event, attr, store->is_big);
    return add_ids(store, ids, file, offset);
}

/* ---- the header ---- */

/* An offset and a size, as they stand in the file. */
struct section {
    uint64_t offset, size;
};

static struct section section_at(const struct perf_store *store, const uint8_t *bytes)
{
    return (struct section){perf_u64(store->is_big, bytes), perf_u64(store->is_big, bytes + 8)};
}

/* Reports that there is nothing to read. */
static lode_status end_with(struct perf_store *store, unsigned rule, const struct perf_part *part,
                            uint64_t offset, const char *text)
{
    LODE_TRY(perf_finding(store, rule, part->name, offset, "%s", text));
    return LODE_END;
}

static lode_status read_events(struct perf_store *store, const struct perf_part *part)
{
    struct lode_range file = part->input.bytes, all;
    uint64_t stride = perf_u64(store->is_big, file.data + AT_ATTR_SIZE);
    struct section attrs = section_at(store, file.data + AT_ATTRS);
    struct section data = section_at(store, file.data + AT_DATA);
    if (stride < PERF_ATTR_LEAST + SECTION || stride > PERF_ATTR_MOST + SECTION)
        return end_with(store, PERF_RULE_ATTRIBUTES, part, AT_ATTR_SIZE, "events have an impossible size");
    if (attrs.size % stride != 0 || !lode_range_part(file, attrs.offset, attrs.size, &all))
        return end_with(store, PERF_RULE_ATTRIBUTES, part, AT_ATTRS,
                        "the list of events is outside the file, or not a multiple of their size");
    if (attrs.size > 0 && (attrs.offset < PERF_HEADER_SIZE ||
                           (attrs.offset < data.offset ? data.offset - attrs.offset < attrs.size
                                                       : attrs.offset - data.offset < data.size)))
        return end_with(store, PERF_RULE_ATTRIBUTES, part, AT_ATTRS, "the list of events overlaps others");
    for (uint64_t at = 0; at < all.size; at += stride) {
        struct lode_range attr = {all.data + at, stride - SECTION}, ids = {0};
        struct section listed = section_at(store, attr.data + attr.size);
        uint32_t size = perf_u32(store->is_big, attr.data + 4);
        if ((size == 0 ? PERF_ATTR_LEAST : size) != attr.size)
            return end_with(store, PERF_RULE_ATTRIBUTES, part, attrs.offset + at,
                            "an event has another size than the header says");
        if (!lode_range_part(file, listed.offset, listed.size, &ids))
            LODE_TRY(perf_finding(store, PERF_RULE_IDS, part->name, attrs.offset + at,
                                  "the ids of an event are outside the file"));
        LODE_TRY(lode_perf_add_event(store, attr, ids, part->name, attrs.offset + at));
    }
    return LODE_OK;
}

/* Sections of metadata follow the data: a table, in the order of the bits of the header. */
static lode_status read_features(struct perf_store *store, const struct perf_part *part, uint64_t at)
{
    struct lode_range file = part->input.bytes, table, bytes;
    for (unsigned i = 0; i < PERF_FEATURES; i++) {
        uint64_t word = perf_u64(store->is_big, file.data + AT_FEATURES + (size_t)(i / 64) * 8);
        if (!(word >> i % 64 & 1))
            continue;
        if (!lode_range_part(file, at, SECTION, &table))
            return perf_finding(store, PERF_RULE_FEATURE, part->name, at,
                                "the table of metadata is cut off at section %u", i);
        struct section section = section_at(store, table.data);
        if (!lode_range_part(file, section.offset, section.size, &bytes))
            LODE_TRY(perf_finding(store, PERF_RULE_FEATURE, part->name, at,
                                  "section %u of the metadata is outside the file", i));
        else
            LODE_TRY(lode_perf_feature(store, i, bytes, part->name, section.offset));
        at += SECTION;
    }
    return LODE_OK;
}

static lode_status unfinished(struct perf_store *store, const struct perf_part *part, const char *text)
{
    store->is_unfinished = true;
    return perf_finding(store, PERF_RULE_UNFINISHED, part->name, AT_DATA, "%s", text);
}

/* Without a size, the data reach to the end of the file, and there are no metadata. */
static lode_status read_file(struct perf_store *store, struct perf_part *part)
{
    struct lode_range file = part->input.bytes;
    struct section data = section_at(store, file.data + AT_DATA);
    LODE_TRY(read_events(store, part));
    part->start = data.offset < file.size ? data.offset : file.size;
    part->records = (struct lode_range){file.data + part->start, file.size - part->start};
    if (data.offset < PERF_HEADER_SIZE || data.offset > file.size) {
        part->records.size = 0;
        return unfinished(store, part, "the data begin outside the file");
    }
    if (data.size == 0)
        return unfinished(store, part, "the data have no size: perf did not end as it should");
    if (data.size > part->records.size)
        return unfinished(store, part, "the data end after the file");
    part->records.size = data.size;
    return read_features(store, part, data.offset + data.size);
}

static lode_status read_header(struct perf_store *store, struct perf_part *part)
{
    struct lode_range file = part->input.bytes;
    if (begins_with(file, PERF_MAGIC_FIRST))
        return end_with(store, PERF_RULE_VERSION, part, 0,
                        "the file is of version 1, which perf wrote until 2012");
    store->is_big = begins_with(file, PERF_MAGIC_BIG);
    if (!is_recording(file) || file.size < PERF_PIPE_SIZE)
        return end_with(store, PERF_RULE_HEADER, part, 0,
                        file.size == 0 ? "the file is empty"
                                       : "the file is no recording of perf, or cut off");
    uint64_t size = perf_u64(store->is_big, file.data + AT_SIZE);
    if (size == PERF_PIPE_SIZE) {
        store->is_pipe = true;
        part->start = PERF_PIPE_SIZE;
        part->records = (struct lode_range){file.data + PERF_PIPE_SIZE, file.size - PERF_PIPE_SIZE};
        return LODE_OK;
    }
    if (size != PERF_HEADER_SIZE || file.size < PERF_HEADER_SIZE)
        return end_with(store, PERF_RULE_HEADER, part, AT_SIZE,
                        "the header is cut off, or has a size that perf does not write");
    return read_file(store, part);
}

/* ---- files ---- */

static lode_status open_part(struct perf_store *store, const struct lode_folder *folder, const char *name,
                             struct perf_part **out)
{
    size_t length = strlen(name) + 1;
    char *copy = lode_arena_alloc(&store->arena, length, 1);
    struct perf_part *part = copy ? lode_array_push(&store->parts) : NULL;
    LODE_TRY_ALLOC(part, store->report->error);
    part->name = memcpy(copy, name, length);
    lode_status status = lode_input_open(&part->input, folder, copy, store->report->error);
    if (status == LODE_ABSENT)
        return lode_fail(store->report->error, LODE_ERR_IO, name, LODE_NO_OFFSET, "there is no such file");
    LODE_TRY(status);
    store->bytes += part->input.bytes.size;
    *out = part;
    return LODE_OK;
}

/* "data.12": its number; false for any other name. */
static bool parse_number(const char *name, unsigned long *number)
{
    static const char prefix[] = DIRECTORY_DATA ".";
    char again[32];
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    *number = strtoul(name + sizeof prefix - 1, NULL, 10);
    return snprintf(again, sizeof again, "%s%lu", prefix, *number) > 0 && strcmp(again, name) == 0;
}

/* The other files of a directory are records without a header. */
static lode_status open_others(struct perf_store *store, const struct lode_folder *folder)
{
    struct lode_arena arena;
    const char **names;
    size_t count = 0;
    unsigned long number;
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status = lode_folder_list(folder, &arena, &names, &count, store->report->error);
    for (size_t i = 0; i < count && status == LODE_OK; i++) {
        struct perf_part *part;
        if (!parse_number(names[i], &number))
            continue;
        status = open_part(store, folder, names[i], &part);
        if (status == LODE_OK)
            part->records = part->input.bytes;
    }
    lode_arena_free(&arena);
    return status;
}

lode_status lode_perf_open(struct perf_store *store, const struct lode_folder *folder)
{
    const char *only = lode_folder_only(folder);
    struct perf_part *part;
    LODE_TRY(open_part(store, folder, only ? only : DIRECTORY_DATA, &part));
    LODE_TRY(read_header(store, part));
    return only ? LODE_OK : open_others(store, folder);
}
