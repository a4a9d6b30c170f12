/* SPDX-License-Identifier: BSD-3-Clause */
/* From locations to frames, and which frames drop_frames omits. */
#include "format/pprof/read.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdio.h>

/* ---- drop_frames and keep_frames ---- */

enum {
    STEPS_LEAST = 64, /* of a regular expression, per name */
    STEPS_MOST = 100000,
    STEPS_IN_ALL = 1 << 27,
    MATCHED_MOST = 1 << 16 /* bytes of a name that are matched */
};

/* The part of a name that is matched: without a leading "." and without parameters. */
static struct lode_range matched_part(const char *name)
{
    static const char space[] = "(anonymous namespace)", call[] = "operator()";
    name += name[0] == '.';
    const char *at = name;
    while (*at != '\0') {
        if (strncmp(at, space, sizeof space - 1) == 0)
            at += sizeof space - 1;
        else if (strncmp(at, call, sizeof call - 1) == 0)
            at += sizeof call - 1;
        else if (*at == '(')
            break;
        else
            at++;
    }
    return (struct lode_range){(const uint8_t *)name, (uint64_t)(at - name)};
}

static lode_status compile(struct pprof_reader *reader, int64_t index, struct lode_pattern **out,
                           bool *is_bad)
{
    uint64_t count = reader->functions.count + 1, steps = STEPS_IN_ALL / count;
    uint32_t number;
    lode_error why = {0};
    *out = NULL;
    if (reader->strings[index].size == 0)
        return LODE_OK;
    steps = steps < STEPS_LEAST ? STEPS_LEAST : steps > STEPS_MOST ? STEPS_MOST : steps;
    LODE_TRY(lode_pprof_name(reader, index, &number));
    lode_status status = lode_pattern_compile_whole(
        out, lode_strings_at(&reader->import.frames.strings, number), (unsigned)steps, &why);
    if (status == LODE_ERR_MEMORY)
        return lode_fail_memory(reader->report->error);
    if (status == LODE_OK)
        return LODE_OK;
    *is_bad = true;
    return lode_report_add(reader->report, PPROF_RULE_PATTERN, reader->file, reader->strings[index].offset,
                           "%s", why.text);
}

static bool matches(const struct lode_pattern *pattern, struct lode_range part)
{
    return part.size <= MATCHED_MOST &&
           lode_pattern_matches(pattern, (const char *)part.data, (size_t)part.size);
}

/* Whether a name is dropped. `verdicts` has those of other functions, which may share the name. */
static lode_status judge_name(struct pprof_reader *reader, uint32_t number, const struct lode_pattern *drop,
                              const struct lode_pattern *keep, struct lode_map *verdicts, bool *is_dropped)
{
    const char *name = lode_strings_at(&reader->import.frames.strings, number);
    bool added;
    uint32_t *verdict = lode_map_add(verdicts, number, 0, &added);
    LODE_TRY_ALLOC(verdict && name, reader->report->error);
    if (added) {
        struct lode_range part = matched_part(name);
        *verdict = matches(drop, part) && !(keep && matches(keep, part));
    }
    *is_dropped = *verdict != 0;
    return LODE_OK;
}

/* `gave_up`: a pattern took too long; nothing is dropped then. */
static lode_status match_all(struct pprof_reader *reader, const struct lode_pattern *drop,
                             const struct lode_pattern *keep, bool *gave_up)
{
    struct lode_map verdicts;
    lode_status status = LODE_OK;
    lode_map_init(&verdicts);
    for (size_t i = 0; i < reader->functions.count && !*gave_up && status == LODE_OK; i++) {
        struct pprof_function *function = LODE_ARRAY_AT(&reader->functions, struct pprof_function, i);
        if (function->is_named)
            status = judge_name(reader, function->name, drop, keep, &verdicts, &function->is_dropped);
        *gave_up = lode_pattern_gave_up(drop) || (keep && lode_pattern_gave_up(keep));
    }
    for (size_t i = 0; i < reader->functions.count && *gave_up; i++)
        LODE_ARRAY_AT(&reader->functions, struct pprof_function, i)->is_dropped = false;
    lode_map_free(&verdicts);
    return status;
}

lode_status lode_pprof_match_frames(struct pprof_reader *reader)
{
    struct lode_pattern *drop = NULL, *keep = NULL;
    bool is_bad = false, gave_up = false;
    lode_status status = compile(reader, reader->drop_frames, &drop, &is_bad);
    if (status == LODE_OK && drop)
        status = compile(reader, reader->keep_frames, &keep, &is_bad);
    if (status == LODE_OK && drop && !is_bad)
        status = match_all(reader, drop, keep, &gave_up);
    lode_pattern_free(drop);
    lode_pattern_free(keep);
    if (status == LODE_OK && gave_up)
        status = lode_report_add(reader->report, PPROF_RULE_PATTERN, reader->file,
                                 reader->strings[reader->drop_frames].offset,
                                 "a regular expression takes too long");
    return status;
}

/* ---- lines ---- */

/* Errors and unknown fields are reported once, when all locations are checked. */
static lode_status read_line(struct pprof_reader *reader, struct lode_range bytes, bool reports,
                             bool *is_sound)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_LINE, bytes);
    struct pprof_field field;
    uint64_t id = 0;
    int64_t number = 0;
    lode_status status;
    while ((status = reports ? lode_pprof_read_field(reader, &walk, &field)
                             : (lode_pprof_next(&walk, &field) == PPROF_FIELD ? LODE_OK : LODE_NOT_FOUND)) ==
           LODE_OK) {
        if (field.number == LINE_FUNCTION_ID)
            id = field.value;
        if (field.number == LINE_LINE)
            number = (int64_t)field.value;
    }
    if (status != LODE_NOT_FOUND)
        return status;
    const uint32_t *function = id ? lode_map_get(&reader->function_of, id) : NULL;
    *is_sound = function != NULL;
    if (function == NULL)
        return pprof_finding(reader, PPROF_RULE_FUNCTION, bytes.data,
                             "a line names function %" PRIu64 ", which does not exist", id);
    struct pprof_line *line = lode_array_push(&reader->lines);
    LODE_TRY_ALLOC(line, reader->report->error);
    /* A writer packs the column into the upper half. */
    *line = (struct pprof_line){*function, number <= 0 ? 0 : (uint32_t)number};
    return LODE_OK;
}

/* Fills reader->lines. `is_sound` is false if a line has no function. */
static lode_status read_lines(struct pprof_reader *reader, const struct pprof_location *location,
                              bool reports, bool *is_sound)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_LOCATION, location->message);
    struct pprof_field field;
    *is_sound = true;
    reader->lines.count = 0;
    while (lode_pprof_next(&walk, &field) == PPROF_FIELD) {
        bool is_line_sound = true;
        if (field.number == LOCATION_LINE)
            LODE_TRY(read_line(reader, field.bytes, reports, &is_line_sound));
        *is_sound &= is_line_sound;
    }
    return LODE_OK;
}

/* Lines and mappings of locations, used or not. */
lode_status lode_pprof_check_lines(struct pprof_reader *reader)
{
    for (size_t i = 0; i < reader->locations.count; i++) {
        struct pprof_location *location = LODE_ARRAY_AT(&reader->locations, struct pprof_location, i);
        bool is_sound;
        LODE_TRY(read_lines(reader, location, true, &is_sound));
        const uint32_t *found = lode_map_get(&reader->mapping_of, location->mapping_id);
        if (location->mapping_id != 0 && found == NULL)
            LODE_TRY(pprof_finding(reader, PPROF_RULE_MAPPING, location->message.data,
                                   "a location names mapping %" PRIu64 ", which does not exist",
                                   location->mapping_id));
        /* Without a function there is nothing to show: the location is one without lines. */
        if (!is_sound)
            location->message.size = 0;
        const struct pprof_mapping *mapping =
            found ? LODE_ARRAY_AT(&reader->mappings, struct pprof_mapping, *found) : NULL;
        if (mapping && mapping->limit > mapping->start && location->address != 0 &&
            (location->address < mapping->start || location->address >= mapping->limit))
            LODE_TRY(pprof_finding(reader, PPROF_RULE_ADDRESS, location->message.data,
                                   "address 0x%" PRIx64 " is not in its mapping, 0x%" PRIx64 " to 0x%" PRIx64,
                                   location->address, mapping->start, mapping->limit));
    }
    return LODE_OK;
}

/* ---- frames ---- */

lode_status lode_pprof_push_frame(struct pprof_reader *reader, uint32_t frame)
{
    uint32_t *slot = frame == LODE_NO_NUMBER ? NULL : lode_array_push(&reader->frames);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = frame;
    return LODE_OK;
}

static lode_status push_line(struct pprof_reader *reader, const struct pprof_line *line,
                             const struct pprof_mapping *mapping, bool is_inlined,
                             struct pprof_levels *levels)
{
    uint32_t module = mapping ? mapping->name : LODE_NO_NUMBER;
    const struct pprof_function *from =
        LODE_ARRAY_AT(&reader->functions, struct pprof_function, line->function);
    uint32_t function = lode_import_function(&reader->import, from->name, module, from->file,
                                             from->file == LODE_NO_NUMBER ? 0 : from->line);
    LODE_TRY_ALLOC(function != LODE_NO_NUMBER, reader->report->error);
    LODE_TRY(lode_pprof_push_frame(reader, lode_import_call(&reader->import, function, is_inlined)));
    LODE_TRY(lode_pprof_push_loops(reader, mapping, levels));
    if (line->line == 0 || from->file == LODE_NO_NUMBER)
        return LODE_OK;
    return lode_pprof_push_frame(reader, lode_import_line(&reader->import, from->file, line->line));
}

/* "[libc.so]", once for each name of a mapping, which may be long. */
static lode_status label_mapping(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                 uint32_t *name)
{
    struct lode_import *import = &reader->import;
    lode_error *error = reader->report->error;
    char label[256] = "<unknown>";
    unsigned changes = 0;
    bool added;
    uint64_t key = (uint64_t)mapping->name << 1 | mapping->has_file;
    uint32_t *slot = lode_map_add(&reader->label_of, key, LODE_NO_NUMBER, &added);
    LODE_TRY_ALLOC(slot, error);
    if (added && mapping->has_file)
        snprintf(label, sizeof label, "[%.250s]",
                 lode_path_tail(lode_strings_at(&import->frames.strings, mapping->name)));
    if (added)
        LODE_TRY(lode_import_string(import, label, strlen(label), slot, &changes, error));
    *name = *slot;
    return LODE_OK;
}

/* Code without a known function: one function for each mapping, as pprof shows it. */
static lode_status push_unknown(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                uint32_t module)
{
    lode_error *error = reader->report->error;
    struct lode_import *import = &reader->import;
    uint32_t name;
    unsigned changes = 0;
    if (mapping)
        LODE_TRY(label_mapping(reader, mapping, &name));
    else
        LODE_TRY(lode_import_string(import, "<unknown>", 9, &name, &changes, error));
    uint32_t function = lode_import_function(import, name, module, LODE_NO_NUMBER, 0);
    LODE_TRY_ALLOC(function != LODE_NO_NUMBER, error);
    return lode_pprof_push_frame(reader, lode_import_call(import, function, false));
}

/* A location without lines: what its binary says, or nothing, and its address. */
static lode_status push_address(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                uint64_t address)
{
    struct lode_import *import = &reader->import;
    uint32_t module = mapping ? mapping->name : LODE_NO_NUMBER;
    unsigned changes = 0;
    if (mapping && address >= mapping->start && address < mapping->limit)
        address = address - mapping->start + mapping->offset;
    if (!mapping && address != 0)
        LODE_TRY(lode_import_string(import, "[unknown]", 9, &module, &changes, reader->report->error));
    LODE_TRY(reader->chain.count > 0 ? lode_pprof_push_chain(reader, mapping)
                                     : push_unknown(reader, mapping, module));
    if (module == LODE_NO_NUMBER || address == 0)
        return LODE_OK;
    return lode_pprof_push_frame(reader, lode_import_instruction(import, module, address));
}

/* From the outermost line on; the first dropped one that is not the outermost ends the location. */
static lode_status push_lines(struct pprof_reader *reader, struct pprof_location *location,
                              const struct pprof_mapping *mapping)
{
    struct pprof_levels levels = lode_pprof_levels(reader, mapping, reader->lines.count);
    const struct pprof_line *lines = reader->lines.items;
    for (size_t i = reader->lines.count; i-- > 0;) {
        bool is_outermost = i + 1 == reader->lines.count;
        if (!location->is_dropped &&
            LODE_ARRAY_AT(&reader->functions, struct pprof_function, lines[i].function)->is_dropped) {
            location->is_ended = true;
            location->is_dropped = is_outermost;
            if (!is_outermost)
                break;
        }
        LODE_TRY(push_line(reader, &lines[i], mapping, !is_outermost, &levels));
    }
    return LODE_OK;
}

lode_status lode_pprof_resolve(struct pprof_reader *reader, struct pprof_location *location)
{
    const uint32_t *found = lode_map_get(&reader->mapping_of, location->mapping_id);
    const struct pprof_mapping *mapping =
        found ? LODE_ARRAY_AT(&reader->mappings, struct pprof_mapping, *found) : NULL;
    bool is_sound;
    LODE_TRY(read_lines(reader, location, false, &is_sound));
    LODE_TRY(lode_pprof_find_chain(reader, mapping, location));
    if (reader->frames.count + reader->lines.count * 2 + reader->chain.count > PPROF_LINES_MOST)
        return lode_bounded_limit(&reader->bounds, "lines", PPROF_LINES_MOST);
    location->is_resolved = true;
    location->first = (uint32_t)reader->frames.count;
    if (reader->lines.count > 0)
        LODE_TRY(push_lines(reader, location, mapping));
    else
        LODE_TRY(push_address(reader, mapping, location->address));
    location->count = (uint32_t)(reader->frames.count - location->first);
    return LODE_OK;
}
