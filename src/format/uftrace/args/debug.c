/* SPDX-License-Identifier: BSD-3-Clause */
/* .dbg files: "F: offset name" lines, each followed by "L: line file", "A: @args", "R: @result". */
#include "format/uftrace/args/debug.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "format/uftrace/args/argspec.h"
#include "format/uftrace/rules.h"
#include <stdlib.h>

struct reader {
    const char *name;
    struct lode_uft_specs *specs;
    struct lode_arena *arena;
    struct lode_report *report;
    struct uft_lines lines;
    struct lode_array entries; /* in the order of the file */
    struct lode_array files;   /* const char *: distinct paths */
    struct lode_map file_index;
};

static lode_status no_memory(struct reader *self)
{
    return lode_fail_memory(self->report->error);
}

static lode_status complain(struct reader *self, enum uft_rule rule, const char *what)
{
    return lode_report_add(self->report, rule, self->name, self->lines.offset, "%s", what);
}

static lode_status read_function(struct reader *self, struct uft_text line)
{
    uint64_t offset;
    if (!uft_take_number(&line, 16, &offset))
        return complain(self, UFT_DEBUG_LINE, "a function without an offset");
    struct lode_uft_debug_entry *entry = lode_array_push(&self->entries);
    if (entry == NULL)
        return no_memory(self);
    entry->offset = offset;
    return LODE_OK;
}

/* Stores each path once; paths with the same hash are compared. */
static const char *keep_path(struct reader *self, struct uft_text path)
{
    uint32_t *slot = lode_map_add(&self->file_index, uft_hash(path), 0, NULL);
    if (slot == NULL)
        return NULL;
    const char *known = *slot ? *LODE_ARRAY_AT(&self->files, const char *, *slot - 1) : NULL;
    if (known && uft_equals(path, known))
        return known;
    const char **item = lode_array_push(&self->files);
    const char *copy = item ? uft_copy(self->arena, path) : NULL;
    if (copy == NULL)
        return NULL;
    *item = copy;
    *slot = (uint32_t)self->files.count;
    return copy;
}

static lode_status read_place(struct reader *self, struct uft_text line, struct lode_uft_debug_entry *entry)
{
    uint64_t number;
    if (!uft_take_number(&line, 10, &number) || number > UINT32_MAX || !uft_take(&line, " "))
        return complain(self, UFT_DEBUG_LINE, "a location without a line number");
    uft_skip_blanks(&line);
    if (uft_length(line) == 0)
        return complain(self, UFT_DEBUG_LINE, "a location without a file");
    entry->file = keep_path(self, line);
    entry->line = (uint32_t)number;
    return entry->file ? LODE_OK : no_memory(self);
}

static lode_status read_spec(struct reader *self, struct uft_text line, const struct lode_uft_spec **out)
{
    lode_status status = lode_uft_spec_read(self->specs, self->arena, line, out);
    if (status == LODE_ERR_MEMORY)
        return no_memory(self);
    return status == LODE_OK ? LODE_OK
                             : complain(self, UFT_ARGUMENT_SPEC, "malformed arguments of a function");
}

static lode_status read_enum(struct reader *self, struct uft_text line)
{
    lode_status status = lode_uft_enums_parse(self->specs, self->arena, line);
    if (status == LODE_ERR_MEMORY)
        return no_memory(self);
    return status == LODE_OK ? LODE_OK : complain(self, UFT_ARGUMENT_SPEC, "a malformed enumeration");
}

static lode_status read_line(struct reader *self, struct uft_text line)
{
    if (uft_length(line) == 0 || uft_take(&line, "#"))
        return LODE_OK;
    if (uft_take(&line, "F: "))
        return read_function(self, line);
    if (uft_take(&line, "E: "))
        return read_enum(self, line);
    size_t count = self->entries.count;
    if (count == 0)
        return complain(self, UFT_DEBUG_LINE, "a line that belongs to no function");
    struct lode_uft_debug_entry *entry =
        LODE_ARRAY_AT(&self->entries, struct lode_uft_debug_entry, count - 1);
    if (uft_take(&line, "L: "))
        return read_place(self, line, entry);
    if (uft_take(&line, "A: "))
        return read_spec(self, line, &entry->arguments);
    if (uft_take(&line, "R: "))
        return read_spec(self, line, &entry->result);
    return complain(self, UFT_DEBUG_LINE, "a line of an unknown kind");
}

/* ---- sorting ---- */

/* The entry of a function, and its position among several. */
struct place {
    uint64_t offset;
    size_t index;
};

LODE_COMPARE_BY_2(compare_places, struct place, offset, index);

/* Two names of one function: the second one fills the gaps of the first. */
static void add_missing(struct lode_uft_debug_entry *entry, const struct lode_uft_debug_entry *other)
{
    if (entry->file == NULL) {
        entry->file = other->file;
        entry->line = other->line;
    }
    if (entry->arguments == NULL)
        entry->arguments = other->arguments;
    if (entry->result == NULL)
        entry->result = other->result;
}

static lode_status sort_entries(struct reader *self, struct lode_uft_debug *out)
{
    size_t count = self->entries.count;
    const struct lode_uft_debug_entry *read = self->entries.items;
    struct lode_uft_debug_entry *sorted = lode_arena_alloc(self->arena, count, sizeof *sorted);
    struct place *places = calloc(count ? count : 1, sizeof *places);
    if (sorted == NULL || places == NULL) {
        free(places);
        return no_memory(self);
    }
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){read[i].offset, i};
    qsort(places, count, sizeof *places, compare_places);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lode_uft_debug_entry *entry = &read[places[i].index];
        if (kept > 0 && sorted[kept - 1].offset == entry->offset)
            add_missing(&sorted[kept - 1], entry);
        else
            sorted[kept++] = *entry;
    }
    free(places);
    *out = (struct lode_uft_debug){sorted, kept};
    return LODE_OK;
}

lode_status lode_uft_debug_read(struct lode_uft_debug *out, struct lode_range text, const char *name,
                                struct lode_uft_specs *specs, struct lode_arena *arena,
                                struct lode_report *report)
{
    struct reader self = {
        .name = name, .specs = specs, .arena = arena, .report = report, .lines = {.text = text}};
    struct uft_text line;
    lode_status status = LODE_OK;
    *out = (struct lode_uft_debug){0};
    lode_array_init(&self.entries, sizeof(struct lode_uft_debug_entry), SIZE_MAX);
    lode_array_init(&self.files, sizeof(const char *), UINT32_MAX - 1);
    lode_map_init(&self.file_index);
    while (status == LODE_OK && uft_next_line(&self.lines, &line))
        status = read_line(&self, line);
    if (status == LODE_OK)
        status = sort_entries(&self, out);
    lode_array_free(&self.entries);
    lode_array_free(&self.files);
    lode_map_free(&self.file_index);
    return status;
}

const struct lode_uft_debug_entry *lode_uft_debug_find(const struct lode_uft_debug *debug, uint64_t offset)
{
    size_t low = 0, high = debug->count;
    LODE_BISECT(low, high, debug->entries[middle].offset < offset);
    bool is_there = low < debug->count && debug->entries[low].offset == offset;
    return is_there ? &debug->entries[low] : NULL;
}
