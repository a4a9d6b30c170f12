/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings, metadata, mappings, functions and locations of a profile. */
#include "format/pprof/read.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- fields ---- */

lode_status lode_pprof_bad_wire(struct pprof_reader *reader, const struct pprof_walk *walk,
                                enum pprof_step step)
{
    LODE_TRY(pprof_finding(reader, PPROF_RULE_WIRE, walk->at, "%s", lode_pprof_step_text(step)));
    return LODE_END;
}

lode_status lode_pprof_read_field(struct pprof_reader *reader, struct pprof_walk *walk,
                                  struct pprof_field *field)
{
    for (;;) {
        enum pprof_step step = lode_pprof_next(walk, field);
        if (step == PPROF_END)
            return LODE_NOT_FOUND;
        if (step != PPROF_FIELD)
            return lode_pprof_bad_wire(reader, walk, step);
        if (field->is_known)
            return LODE_OK;
        LODE_TRY(pprof_finding(reader, PPROF_RULE_UNKNOWN_FIELD, field->start,
                               "a field of number %" PRIu64 " is skipped", field->number));
    }
}

lode_status lode_pprof_each(struct pprof_reader *reader, const pprof_field_fn handlers[PPROF_FIELDS])
{
    struct pprof_walk walk = pprof_walk_of(PPROF_PROFILE, reader->bytes);
    struct pprof_field field;
    while (lode_pprof_next(&walk, &field) == PPROF_FIELD)
        if (field.is_known && handlers[field.number])
            LODE_TRY(handlers[field.number](reader, &field));
    return LODE_OK;
}

lode_status lode_pprof_each_number(struct pprof_reader *reader, const struct pprof_field *field,
                                   pprof_number_fn take)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_PROFILE, field->bytes);
    enum pprof_step step;
    uint64_t value;
    if (!field->is_bytes)
        return take(reader, field->value);
    while ((step = lode_pprof_number(&walk, &value)) == PPROF_FIELD)
        LODE_TRY(take(reader, value));
    return step == PPROF_END ? LODE_OK : lode_pprof_bad_wire(reader, &walk, step);
}

/* The first walk: later ones find only what it found. */
static lode_status count_fields(struct pprof_reader *reader)
{
    static const uint64_t most[PPROF_FIELDS] = {
        [PROFILE_SAMPLE_TYPE] = LODE_IMPORT_METRICS, [PROFILE_MAPPING] = PPROF_RECORDS_MOST,
        [PROFILE_LOCATION] = PPROF_RECORDS_MOST,     [PROFILE_FUNCTION] = PPROF_RECORDS_MOST,
        [PROFILE_STRING_TABLE] = PPROF_STRINGS_MOST,
    };
    static const char *const names[PPROF_FIELDS] = {
        [PROFILE_SAMPLE_TYPE] = "sample types", [PROFILE_MAPPING] = "mappings",
        [PROFILE_LOCATION] = "locations",       [PROFILE_FUNCTION] = "functions",
        [PROFILE_STRING_TABLE] = "strings",
    };
    struct pprof_walk walk = pprof_walk_of(PPROF_PROFILE, reader->bytes);
    struct pprof_field field;
    lode_status status;
    while ((status = lode_pprof_read_field(reader, &walk, &field)) == LODE_OK) {
        uint64_t limit = most[field.number];
        if (++reader->counts[field.number] > limit && limit > 0)
            return lode_bounded_limit(&reader->bounds, names[field.number], limit);
    }
    if (status != LODE_NOT_FOUND)
        return status;
    /* Without repetitions, there are 2^16 strings of 2 bytes. Users of repeated ones take bytes. */
    uint64_t strings = PPROF_STRINGS_FLOOR + reader->bytes.size / PPROF_STRING_BYTES;
    return reader->counts[PROFILE_STRING_TABLE] > strings
               ? lode_bounded_excess(&reader->bounds, "strings", strings)
               : LODE_OK;
}

/* ---- strings ---- */

static lode_status read_string(struct pprof_reader *reader, const struct pprof_field *field)
{
    reader->strings[reader->string_count++] = (struct pprof_string){
        (uint32_t)(field->bytes.data - reader->bytes.data), (uint32_t)field->bytes.size};
    return LODE_OK;
}

static lode_status read_strings(struct pprof_reader *reader)
{
    static const pprof_field_fn handlers[PPROF_FIELDS] = {[PROFILE_STRING_TABLE] = read_string};
    reader->strings = calloc((size_t)reader->counts[PROFILE_STRING_TABLE] + 1, sizeof *reader->strings);
    LODE_TRY_ALLOC(reader->strings, reader->report->error);
    LODE_TRY(lode_pprof_each(reader, handlers));
    bool is_sound = reader->string_count > 0 && reader->strings[0].size == 0;
    if (!is_sound)
        LODE_TRY(
            pprof_finding(reader, PPROF_RULE_STRING_TABLE, reader->bytes.data,
                          reader->string_count > 0 ? "string 0 is not empty" : "there is no string table"));
    /* Nothing can be named then: 0 means "no string" everywhere. */
    return is_sound ? LODE_OK : LODE_END;
}

lode_status lode_pprof_check_string(struct pprof_reader *reader, int64_t *index, const uint8_t *at)
{
    if (*index >= 0 && *index < reader->string_count)
        return LODE_OK;
    int64_t given = *index;
    *index = 0;
    return pprof_finding(reader, PPROF_RULE_STRING_INDEX, at, "string %" PRId64 " of a table of %" PRIu32,
                         given, reader->string_count);
}

/* Each kind of change is reported for each name. */
static lode_status report_changes(struct pprof_reader *reader, const uint8_t *at, unsigned changes)
{
    if (changes & LODE_IMPORT_IS_CUT)
        LODE_TRY(pprof_finding(reader, PPROF_RULE_NAME_LENGTH, at, "a name is longer than %d bytes",
                               LODE_IMPORT_NAME));
    if (changes & LODE_IMPORT_IS_INVALID)
        LODE_TRY(pprof_finding(reader, PPROF_RULE_UTF8, at, "a name is not UTF-8, or holds a NUL"));
    if (changes & LODE_IMPORT_HAS_CONTROL)
        LODE_TRY(pprof_finding(reader, PPROF_RULE_CONTROL, at, "a name holds control characters"));
    return LODE_OK;
}

lode_status lode_pprof_name(struct pprof_reader *reader, int64_t index, uint32_t *number)
{
    bool added;
    uint32_t *slot = lode_map_add(&reader->names, (uint64_t)index, LODE_NO_NUMBER, &added);
    LODE_TRY_ALLOC(slot, reader->report->error);
    if (added) {
        const struct pprof_string *string = &reader->strings[index];
        const uint8_t *bytes = reader->bytes.data + string->offset;
        unsigned changes = 0;
        LODE_TRY(
            lode_import_string(&reader->import, bytes, string->size, slot, &changes, reader->report->error));
        *number = *slot;
        return report_changes(reader, bytes, changes);
    }
    *number = *slot;
    return LODE_OK;
}

/* ---- metadata ---- */

/* A number of the profile; it may be a string index. */
static lode_status read_index(struct pprof_reader *reader, const struct pprof_field *field, int64_t *out)
{
    *out = (int64_t)field->value;
    return lode_pprof_check_string(reader, out, field->start);
}

static lode_status read_scalar(struct pprof_reader *reader, const struct pprof_field *field)
{
    int64_t value = (int64_t)field->value;
    switch (field->number) {
    case PROFILE_DROP_FRAMES:
        return read_index(reader, field, &reader->drop_frames);
    case PROFILE_KEEP_FRAMES:
        return read_index(reader, field, &reader->keep_frames);
    case PROFILE_DEFAULT_SAMPLE_TYPE:
        return read_index(reader, field, &reader->default_type);
    case PROFILE_DOC_URL:
        return read_index(reader, field, &reader->doc_url);
    case PROFILE_DURATION_NANOS:
        reader->duration = value;
        return LODE_OK;
    case PROFILE_PERIOD:
        reader->period = value;
        return LODE_OK;
    default:
        break;
    }
    bool is_second = reader->time != 0;
    reader->time = value;
    if (is_second)
        LODE_TRY(pprof_finding(reader, PPROF_RULE_CONCATENATED, field->start, "a second time_nanos"));
    return is_second ? LODE_END : LODE_OK;
}

static lode_status read_value_type(struct pprof_reader *reader, const struct pprof_field *message,
                                   struct pprof_value_type *type)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_VALUE_TYPE, message->bytes);
    struct pprof_field field;
    lode_status status;
    while ((status = lode_pprof_read_field(reader, &walk, &field)) == LODE_OK)
        LODE_TRY(read_index(reader, &field, field.number == VALUE_TYPE_TYPE ? &type->type : &type->unit));
    return status == LODE_NOT_FOUND ? LODE_OK : status;
}

static lode_status read_sample_type(struct pprof_reader *reader, const struct pprof_field *field)
{
    struct pprof_value_type type = {0};
    LODE_TRY(read_value_type(reader, field, &type));
    struct pprof_value_type *slot = lode_array_push(&reader->types);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = type;
    return LODE_OK;
}

static lode_status read_period_type(struct pprof_reader *reader, const struct pprof_field *field)
{
    return read_value_type(reader, field, &reader->period_type);
}

static lode_status take_comment(struct pprof_reader *reader, uint64_t number)
{
    int64_t *slot = lode_array_push(&reader->comments);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = (int64_t)number;
    return LODE_OK;
}

static lode_status read_comment(struct pprof_reader *reader, const struct pprof_field *field)
{
    size_t first = reader->comments.count;
    LODE_TRY(lode_pprof_each_number(reader, field, take_comment));
    for (size_t i = first; i < reader->comments.count; i++)
        LODE_TRY(lode_pprof_check_string(reader, LODE_ARRAY_AT(&reader->comments, int64_t, i), field->start));
    return LODE_OK;
}

/* ---- records ---- */

/* Gives a record its id; `added` is false after a finding. */
static lode_status take_id(struct pprof_reader *reader, struct lode_map *map, uint64_t id, size_t index,
                           const char *what, const uint8_t *at, bool *added)
{
    *added = false;
    if (id == 0)
        return pprof_finding(reader, PPROF_RULE_ID_ZERO, at, "a %s has the id 0", what);
    LODE_TRY_ALLOC(lode_map_add(map, id, (uint32_t)index, added), reader->report->error);
    return *added
               ? LODE_OK
               : pprof_finding(reader, PPROF_RULE_ID_TWICE, at, "a second %s has the id %" PRIu64, what, id);
}

static lode_status keep_record(struct pprof_reader *reader, struct lode_array *records, const void *record)
{
    void *slot = lode_array_push(records);
    LODE_TRY_ALLOC(slot, reader->report->error);
    memcpy(slot, record, records->item_size);
    return LODE_OK;
}

/* Scalars of a message by number; string indices are those of the bits in `indices`. */
enum {
    SCALARS = 11
};

static lode_status read_scalars(struct pprof_reader *reader, enum pprof_message message,
                                struct lode_range bytes, unsigned indices, uint64_t scalars[SCALARS])
{
    struct pprof_walk walk = pprof_walk_of(message, bytes);
    struct pprof_field field;
    lode_status status;
    while ((status = lode_pprof_read_field(reader, &walk, &field)) == LODE_OK) {
        int64_t index = (int64_t)field.value;
        if (field.is_bytes)
            continue;
        if (indices >> field.number & 1)
            LODE_TRY(lode_pprof_check_string(reader, &index, field.start));
        scalars[field.number] = (uint64_t)index;
    }
    return status == LODE_NOT_FOUND ? LODE_OK : status;
}

/* The name of a file that was mapped; else its build id. */
static lode_status name_mapping(struct pprof_reader *reader, const uint64_t *scalars, uint32_t *name)
{
    int64_t file = (int64_t)scalars[MAPPING_FILENAME], build_id = (int64_t)scalars[MAPPING_BUILD_ID];
    int64_t index = reader->strings[file].size > 0 ? file : build_id;
    unsigned changes = 0;
    if (reader->strings[index].size > 0)
        return lode_pprof_name(reader, index, name);
    return lode_import_string(&reader->import, "[unknown]", 9, name, &changes, reader->report->error);
}

static lode_status read_mapping(struct pprof_reader *reader, const struct pprof_field *field)
{
    uint64_t scalars[SCALARS] = {0};
    bool added;
    LODE_TRY(read_scalars(reader, PPROF_MAPPING, field->bytes,
                          1u << MAPPING_FILENAME | 1u << MAPPING_BUILD_ID, scalars));
    LODE_TRY(take_id(reader, &reader->mapping_of, scalars[MAPPING_ID], reader->mappings.count, "mapping",
                     field->start, &added));
    if (!added)
        return LODE_OK;
    struct pprof_mapping mapping = {scalars[MAPPING_START],
                                    scalars[MAPPING_LIMIT],
                                    scalars[MAPPING_OFFSET],
                                    LODE_NO_NUMBER,
                                    reader->strings[scalars[MAPPING_FILENAME]].size > 0,
                                    (int64_t)scalars[MAPPING_BUILD_ID],
                                    LODE_NO_NUMBER};
    LODE_TRY(name_mapping(reader, scalars, &mapping.name));
    if (mapping.limit < mapping.start)
        LODE_TRY(pprof_finding(reader, PPROF_RULE_MAPPING_RANGE, field->start,
                               "a mapping begins at 0x%" PRIx64 " and ends at 0x%" PRIx64, mapping.start,
                               mapping.limit));
    return keep_record(reader, &reader->mappings, &mapping);
}

/* Writers that know no line say 0 or -1; column << 32 | line is one extension. */
static uint32_t line_of(int64_t line)
{
    return line <= 0 ? 0 : (uint32_t)line;
}

static lode_status read_function(struct pprof_reader *reader, const struct pprof_field *field)
{
    uint64_t scalars[SCALARS] = {0};
    struct pprof_function function = {.file = LODE_NO_NUMBER};
    bool added;
    LODE_TRY(read_scalars(reader, PPROF_FUNCTION, field->bytes,
                          1u << FUNCTION_NAME | 1u << FUNCTION_SYSTEM_NAME | 1u << FUNCTION_FILENAME,
                          scalars));
    LODE_TRY(take_id(reader, &reader->function_of, scalars[FUNCTION_ID], reader->functions.count, "function",
                     field->start, &added));
    if (!added)
        return LODE_OK;
    int64_t name = (int64_t)scalars[FUNCTION_NAME], file = (int64_t)scalars[FUNCTION_FILENAME];
    unsigned changes = 0;
    function.is_named = reader->strings[name].size > 0;
    if (!function.is_named)
        name = (int64_t)scalars[FUNCTION_SYSTEM_NAME];
    if (reader->strings[name].size > 0)
        LODE_TRY(lode_pprof_name(reader, name, &function.name));
    else
        LODE_TRY(lode_import_string(&reader->import, "<unknown>", 9, &function.name, &changes,
                                    reader->report->error));
    if (reader->strings[file].size > 0)
        LODE_TRY(lode_pprof_name(reader, file, &function.file));
    function.line = line_of((int64_t)scalars[FUNCTION_START_LINE]);
    return keep_record(reader, &reader->functions, &function);
}

static lode_status read_location(struct pprof_reader *reader, const struct pprof_field *field)
{
    uint64_t scalars[SCALARS] = {0};
    bool added;
    LODE_TRY(read_scalars(reader, PPROF_LOCATION, field->bytes, 0, scalars));
    LODE_TRY(take_id(reader, &reader->location_of, scalars[LOCATION_ID], reader->locations.count, "location",
                     field->start, &added));
    struct pprof_location location = {.mapping_id = scalars[LOCATION_MAPPING_ID],
                                      .address = scalars[LOCATION_ADDRESS],
                                      .scope = LODE_NO_NUMBER,
                                      .message = field->bytes};
    return added ? keep_record(reader, &reader->locations, &location) : LODE_OK;
}

lode_status lode_pprof_read_tables(struct pprof_reader *reader)
{
    static const pprof_field_fn metadata[PPROF_FIELDS] = {
        [PROFILE_SAMPLE_TYPE] = read_sample_type,
        [PROFILE_DROP_FRAMES] = read_scalar,
        [PROFILE_KEEP_FRAMES] = read_scalar,
        [PROFILE_TIME_NANOS] = read_scalar,
        [PROFILE_DURATION_NANOS] = read_scalar,
        [PROFILE_PERIOD_TYPE] = read_period_type,
        [PROFILE_PERIOD] = read_scalar,
        [PROFILE_COMMENT] = read_comment,
        [PROFILE_DEFAULT_SAMPLE_TYPE] = read_scalar,
        [PROFILE_DOC_URL] = read_scalar,
    };
    static const pprof_field_fn records[PPROF_FIELDS] = {
        [PROFILE_MAPPING] = read_mapping,
        [PROFILE_FUNCTION] = read_function,
        [PROFILE_LOCATION] = read_location,
    };
    LODE_TRY(count_fields(reader));
    LODE_TRY(read_strings(reader));
    LODE_TRY(lode_pprof_each(reader, metadata));
    return lode_pprof_each(reader, records);
}
