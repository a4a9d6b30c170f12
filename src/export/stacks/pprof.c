/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof: samples of call stacks as protocol buffers. Readers take records in any order, so samples
 * are written as they come, functions and locations when they are first used, strings at the end.
 *
 * A location is a frame with the functions that are inlined into it: a chain of (function, line)
 * from the called function to the innermost one. Chains are interned by their last link.
 *
 * Traps: ids begin at 1; a function whose symbol equals its name loses what is in angle brackets;
 * labels are strings, because the number 0 means none; the first mapping is taken for the program;
 * without a default, the last type is shown.
 *
 * What an imported profile carries is written back: types, metadata and labels. Samples with labels
 * come first at their position, then what is left of its cost.
 */
#include "base/compare.h"
#include "base/memory/map.h"
#include "export/formats.h"
#include "export/stacks/stacks.h"
#include "export/wire.h"
#include "model/import/carried.h"
#include <lode/trace.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DROP_FRAMES = 7,
    PROFILE_KEEP_FRAMES = 8,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    PROFILE_URL = 15,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    LABEL_NUMBER = 3,
    LABEL_UNIT = 4,
    ID = 1, /* of mappings, locations and functions */
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_INLINE_FRAMES = 10,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_NAME = 2,
    FUNCTION_SYMBOL = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5
};

/* A link of a chain. Without padding: compared byte by byte. */
struct link {
    uint32_t outer; /* the number of a link, or LODE_NO_NUMBER: this is the called function */
    uint32_t frame, line;
};

struct pprof {
    struct lode_stacks stacks;
    struct lode_export_file *file;
    struct lode_wire wire;              /* a record */
    struct lode_wire packed;            /* a list in it */
    struct lode_strings strings;        /* string 0 is "" */
    struct lode_strings modules;        /* id - 1 */
    struct lode_interner links;         /* id of a location - 1 */
    struct lode_array located;          /* bool, by link: the location was written */
    struct lode_array defined;          /* bool, by frame: the function was written */
    uint32_t *link_of;                  /* by position of the group */
    uint32_t program;                   /* its module; LODE_NO_NUMBER: the first */
    const struct lode_carried *carried; /* NULL: nothing */
    struct labelled *labelled;          /* rows of it, by position */
    size_t labelled_count, next_labelled;
    struct lode_map known;   /* from a string of an import to its number here */
    struct lode_array chain; /* uint32_t: labels of a set, the last one first */
    int64_t *sample;         /* values of the sample that is written */
    lode_wide *taken;        /* of the cost at its position, by samples with labels */
};

/* A row of samples with labels, and where it is. */
struct labelled {
    uint32_t position, row;
};

/* ---- records ---- */

/* Writes the record and begins a new one. */
static lode_status flush(struct pprof *pprof, lode_error *error)
{
    LODE_TRY_ALLOC(!pprof->wire.failed && !pprof->packed.failed, error);
    lode_status status = lode_export_write(pprof->file, pprof->wire.bytes, pprof->wire.count, error);
    pprof->wire.count = 0;
    return status;
}

/* A field with the number of a string; none if it is empty. */
static lode_status put_string(struct pprof *pprof, unsigned field, const char *text, lode_error *error)
{
    uint32_t number;
    LODE_TRY_ALLOC(lode_strings_put(&pprof->strings, text, &number), error);
    if (number > 0)
        wire_uint(&pprof->wire, field, number);
    return LODE_OK;
}

/* The number of text of a store or a user, without control characters. */
static lode_status clean_number(struct pprof *pprof, const char *text, uint32_t *number, lode_error *error)
{
    char *copy = strdup(text);
    LODE_TRY_ALLOC(copy, error);
    lode_export_clean(copy);
    bool is_put = lode_strings_put(&pprof->strings, copy, number);
    free(copy);
    LODE_TRY_ALLOC(is_put, error);
    return LODE_OK;
}

/* Like put_string, for such text. */
static lode_status put_clean(struct pprof *pprof, unsigned field, const char *text, lode_error *error)
{
    uint32_t number;
    LODE_TRY(clean_number(pprof, text, &number, error));
    if (number > 0)
        wire_uint(&pprof->wire, field, number);
    return LODE_OK;
}

/* The same for an interned string of an import, read once: a long one may be in every sample. */
static lode_status put_carried(struct pprof *pprof, unsigned field, const char *text, lode_error *error)
{
    bool added;
    uint32_t *number = lode_map_add(&pprof->known, (uint64_t)(uintptr_t)text, LODE_NO_NUMBER, &added);
    LODE_TRY_ALLOC(number, error);
    if (added)
        LODE_TRY(clean_number(pprof, text, number, error));
    if (*number > 0)
        wire_uint(&pprof->wire, field, *number);
    return LODE_OK;
}

/* Whether an item of an array of flags is set; sets it. */
static lode_status mark(struct lode_array *flags, uint32_t index, bool *was_set, lode_error *error)
{
    while (flags->count <= index)
        LODE_TRY_ALLOC(lode_array_push(flags), error);
    bool *flag = LODE_ARRAY_AT(flags, bool, index);
    *was_set = *flag;
    *flag = true;
    return LODE_OK;
}

/* ---- functions and locations ---- */

static lode_status define_function(struct pprof *pprof, uint32_t number, lode_error *error)
{
    bool is_defined;
    LODE_TRY(mark(&pprof->defined, number, &is_defined, error));
    if (is_defined)
        return LODE_OK;
    struct lode_export_frame frame = lode_export_frames_at(&pprof->stacks.frames, number);
    size_t begin = wire_begin(&pprof->wire, PROFILE_FUNCTION);
    wire_uint(&pprof->wire, ID, (uint64_t)number + 1);
    LODE_TRY(put_string(pprof, FUNCTION_NAME, frame.name, error));
    LODE_TRY(put_string(pprof, FUNCTION_SYMBOL, frame.symbol, error));
    LODE_TRY(put_string(pprof, FUNCTION_FILE, frame.file, error));
    if (frame.line > 0)
        wire_uint(&pprof->wire, FUNCTION_LINE, frame.line);
    wire_end(&pprof->wire, begin);
    return flush(pprof, error);
}

static const struct link *link_at(const struct pprof *pprof, uint32_t number)
{
    return LODE_ARRAY_AT(&pprof->links.items, struct link, number);
}

/* The functions of a chain, and the frame that was called. */
static lode_status define_functions(struct pprof *pprof, uint32_t number, struct lode_export_frame *called,
                                    lode_error *error)
{
    for (; number != LODE_NO_NUMBER; number = link_at(pprof, number)->outer) {
        *called = lode_export_frames_at(&pprof->stacks.frames, link_at(pprof, number)->frame);
        if (!called->is_code)
            LODE_TRY(define_function(pprof, link_at(pprof, number)->frame, error));
    }
    return LODE_OK;
}

static lode_status put_mapping(struct pprof *pprof, const struct lode_export_frame *called, lode_error *error)
{
    uint32_t module;
    if (called->module[0] == '\0')
        return LODE_OK;
    LODE_TRY_ALLOC(lode_strings_put(&pprof->modules, called->module, &module), error);
    wire_uint(&pprof->wire, LOCATION_MAPPING, (uint64_t)module + 1);
    if (pprof->program == LODE_NO_NUMBER && strcmp(called->name, "main") == 0)
        pprof->program = module;
    return LODE_OK;
}

static lode_status define_location(struct pprof *pprof, uint32_t number, lode_error *error)
{
    struct lode_export_frame called = {.name = "", .module = ""};
    bool is_defined;
    LODE_TRY(mark(&pprof->located, number, &is_defined, error));
    if (is_defined)
        return LODE_OK;
    LODE_TRY(define_functions(pprof, number, &called, error));
    size_t begin = wire_begin(&pprof->wire, PROFILE_LOCATION);
    wire_uint(&pprof->wire, ID, (uint64_t)number + 1);
    LODE_TRY(put_mapping(pprof, &called, error));
    if (called.is_code)
        wire_uint(&pprof->wire, LOCATION_ADDRESS, called.address);
    for (uint32_t at = number; at != LODE_NO_NUMBER; at = link_at(pprof, at)->outer) {
        const struct link *link = link_at(pprof, at);
        if (called.is_code && link->outer == LODE_NO_NUMBER)
            break;
        size_t line = wire_begin(&pprof->wire, LOCATION_LINE);
        wire_uint(&pprof->wire, LINE_FUNCTION, (uint64_t)link->frame + 1);
        if (link->line > 0)
            wire_uint(&pprof->wire, LINE_LINE, link->line);
        wire_end(&pprof->wire, line);
    }
    wire_end(&pprof->wire, begin);
    return flush(pprof, error);
}

/* ---- samples ---- */

/* Callers come before what they call. */
static lode_status link_positions(struct pprof *pprof, lode_error *error)
{
    const struct lode_stacks *stacks = &pprof->stacks;
    uint32_t *links = realloc(pprof->link_of, (size_t)stacks->count * sizeof *links);
    LODE_TRY_ALLOC(links, error);
    pprof->link_of = links;
    for (uint32_t i = 1; i < stacks->count; i++) {
        const struct lode_position *position = &stacks->positions[i];
        struct link link = {position->inlined ? links[position->caller] : LODE_NO_NUMBER, position->frame,
                            position->line};
        links[i] = lode_interner_add(&pprof->links, &link, NULL);
        LODE_TRY_ALLOC(links[i] != LODE_NO_NUMBER, error);
    }
    return LODE_OK;
}

/* The position that called the frame that a position is inlined into, or is. */
static uint32_t physical_caller(const struct lode_stacks *stacks, uint32_t position)
{
    while (stacks->positions[position].inlined)
        position = stacks->positions[position].caller;
    return stacks->positions[position].caller;
}

static lode_status put_labels(struct pprof *pprof, lode_error *error)
{
    const struct lode_stack_group *group = &pprof->stacks.group;
    for (unsigned i = 0; i < group->id_count; i++) {
        size_t begin = wire_begin(&pprof->wire, SAMPLE_LABEL);
        LODE_TRY(put_string(pprof, LABEL_KEY, group->ids[i].key, error));
        LODE_TRY(put_string(pprof, LABEL_TEXT, group->ids[i].value, error));
        wire_end(&pprof->wire, begin);
    }
    return LODE_OK;
}

static const struct lode_carried_set *set_at(const struct lode_carried *carried, uint32_t set)
{
    return LODE_ARRAY_AT(&carried->sets.items, struct lode_carried_set, set);
}

static lode_status put_label(struct pprof *pprof, const struct lode_carried_label *label, lode_error *error)
{
    const struct lode_strings *strings = pprof->carried->strings;
    size_t begin = wire_begin(&pprof->wire, SAMPLE_LABEL);
    LODE_TRY(put_carried(pprof, LABEL_KEY, lode_strings_at(strings, label->key), error));
    if (label->is_text)
        LODE_TRY(put_carried(pprof, LABEL_TEXT, lode_strings_at(strings, label->text), error));
    if (label->number != 0)
        wire_int(&pprof->wire, LABEL_NUMBER, label->number);
    LODE_TRY(put_carried(pprof, LABEL_UNIT, lode_strings_at(strings, label->unit), error));
    wire_end(&pprof->wire, begin);
    return LODE_OK;
}

/* A set is known by its last label: they are written from the first one on. */
static lode_status put_set(struct pprof *pprof, uint32_t set, lode_error *error)
{
    const struct lode_carried *carried = pprof->carried;
    pprof->chain.count = 0;
    for (uint32_t at = set; at != LODE_NO_NUMBER; at = set_at(carried, at)->before) {
        uint32_t *label = lode_array_push(&pprof->chain);
        LODE_TRY_ALLOC(label, error);
        *label = set_at(carried, at)->label;
    }
    for (size_t i = pprof->chain.count; i-- > 0;) {
        uint32_t label = *LODE_ARRAY_AT(&pprof->chain, uint32_t, i);
        LODE_TRY(
            put_label(pprof, LODE_ARRAY_AT(&carried->labels.items, struct lode_carried_label, label), error));
    }
    return LODE_OK;
}

/* The values are those of `sample`. */
static lode_status write_sample(struct pprof *pprof, uint32_t position, uint32_t set, lode_error *error)
{
    const struct lode_stacks *stacks = &pprof->stacks;
    pprof->packed.count = 0;
    for (uint32_t at = position; at != 0; at = physical_caller(stacks, at)) {
        LODE_TRY(define_location(pprof, pprof->link_of[at], error));
        wire_varint(&pprof->packed, (uint64_t)pprof->link_of[at] + 1);
    }
    size_t begin = wire_begin(&pprof->wire, PROFILE_SAMPLE);
    wire_bytes(&pprof->wire, SAMPLE_LOCATION, pprof->packed.bytes, pprof->packed.count);
    pprof->packed.count = 0;
    for (size_t i = 0; i < stacks->metric_count; i++)
        wire_varint(&pprof->packed, (uint64_t)pprof->sample[i]);
    wire_bytes(&pprof->wire, SAMPLE_VALUE, pprof->packed.bytes, pprof->packed.count);
    LODE_TRY(put_labels(pprof, error));
    LODE_TRY(put_set(pprof, set, error));
    wire_end(&pprof->wire, begin);
    return flush(pprof, error);
}

static bool has_value(const struct pprof *pprof)
{
    for (size_t i = 0; i < pprof->stacks.metric_count; i++)
        if (pprof->sample[i] != 0)
            return true;
    return false;
}

static int64_t clamp(lode_wide value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* The values of a row become those of the sample, and are added to what was taken. */
static void take_row(struct pprof *pprof, uint32_t row)
{
    size_t metrics = pprof->carried->sums.item_size / sizeof(lode_wide);
    const lode_wide *sums = (const lode_wide *)pprof->carried->sums.items + (size_t)row * metrics;
    uint64_t overflows = 0;
    for (size_t i = 0; i < pprof->stacks.metric_count; i++) {
        lode_wide sum = sums[lode_stacks_metric(&pprof->stacks, i)];
        pprof->sample[i] = clamp(sum);
        lode_wide_add(&pprof->taken[i], sum, &overflows);
    }
}

/* What samples without labels have. A cost beyond 2^53 is rounded: the difference is no cost. */
static int64_t rest_of(int64_t cost, lode_wide taken)
{
    lode_wide rest = -taken, rounding = cost / ((int64_t)1 << 53);
    uint64_t overflows = 0;
    bool is_limit = cost == INT64_MAX || cost == INT64_MIN;
    lode_wide_add(&rest, cost, &overflows);
    rounding = rounding < 0 ? -rounding : rounding;
    return taken != 0 && (is_limit || (rest <= rounding && rest >= -rounding)) ? 0 : clamp(rest);
}

/* Samples with labels, then the rest. */
static lode_status write_position(struct pprof *pprof, uint32_t position, lode_error *error)
{
    size_t metrics = pprof->stacks.metric_count;
    memset(pprof->taken, 0, metrics * sizeof *pprof->taken);
    while (pprof->next_labelled < pprof->labelled_count &&
           pprof->labelled[pprof->next_labelled].position == position) {
        uint32_t row = pprof->labelled[pprof->next_labelled++].row;
        take_row(pprof, row);
        if (has_value(pprof))
            LODE_TRY(write_sample(pprof, position, carried_row(pprof->carried, row)->set, error));
    }
    for (size_t i = 0; i < metrics; i++)
        pprof->sample[i] = rest_of(pprof->stacks.values[position * metrics + i], pprof->taken[i]);
    return has_value(pprof) ? write_sample(pprof, position, LODE_NO_NUMBER, error) : LODE_OK;
}

LODE_COMPARE_BY_2(compare_labelled, struct labelled, position, row);

/* Where the rows with labels are in this group. */
static lode_status find_labelled(struct pprof *pprof, lode_error *error)
{
    size_t rows = pprof->carried ? pprof->carried->rows.count : 0;
    pprof->labelled_count = pprof->next_labelled = 0;
    if (rows == 0)
        return LODE_OK;
    if (pprof->labelled == NULL)
        pprof->labelled = calloc(rows, sizeof *pprof->labelled);
    LODE_TRY_ALLOC(pprof->labelled, error);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t position = lode_stacks_position(&pprof->stacks, carried_row(pprof->carried, i)->context);
        if (position != LODE_NO_NUMBER)
            pprof->labelled[pprof->labelled_count++] = (struct labelled){position, i};
    }
    qsort(pprof->labelled, pprof->labelled_count, sizeof *pprof->labelled, compare_labelled);
    return LODE_OK;
}

static lode_status write_samples(struct pprof *pprof, lode_error *error)
{
    struct lode_progress progress = lode_export_progress(pprof->stacks.job, "writing", pprof->stacks.count);
    LODE_TRY(link_positions(pprof, error));
    LODE_TRY(find_labelled(pprof, error));
    for (uint32_t i = 0; i < pprof->stacks.count; i++) {
        LODE_TRY(write_position(pprof, i, error));
        if (i % 65536 == 65535)
            LODE_TRY(lode_progress_add(&progress, 65536, error));
    }
    return LODE_OK;
}

/* ---- the profile ---- */

static lode_status write_type(struct pprof *pprof, unsigned field, const char *type, const char *unit,
                              lode_error *error)
{
    size_t begin = wire_begin(&pprof->wire, field);
    LODE_TRY(put_clean(pprof, TYPE_NAME, type, error));
    LODE_TRY(put_clean(pprof, TYPE_UNIT, unit, error));
    wire_end(&pprof->wire, begin);
    return LODE_OK;
}

static lode_status write_types(struct pprof *pprof, lode_error *error)
{
    uint32_t empty;
    LODE_TRY_ALLOC(lode_strings_put(&pprof->strings, "", &empty), error);
    for (size_t i = 0; i < pprof->stacks.metric_count; i++)
        LODE_TRY(write_type(pprof, PROFILE_SAMPLE_TYPE, pprof->stacks.metrics[i].name,
                            pprof->stacks.metrics[i].unit, error));
    return flush(pprof, error);
}

static void write_times(struct pprof *pprof)
{
    const struct lode_export *job = pprof->stacks.job;
    uint64_t min, max;
    if (job->db == NULL || lode_database_trace_bounds(job->db, &min, &max) != LODE_OK || max < min)
        return;
    wire_uint(&pprof->wire, PROFILE_TIME, min);
    wire_uint(&pprof->wire, PROFILE_DURATION, max - min);
}

static lode_status write_mapping(struct pprof *pprof, uint32_t module, lode_error *error)
{
    size_t begin = wire_begin(&pprof->wire, PROFILE_MAPPING);
    wire_uint(&pprof->wire, ID, (uint64_t)module + 1);
    LODE_TRY(put_string(pprof, MAPPING_FILE, lode_strings_at(&pprof->modules, module), error));
    /* Everything is known: nobody needs to look for the binary. */
    for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE_FRAMES; field++)
        wire_uint(&pprof->wire, field, 1);
    wire_end(&pprof->wire, begin);
    return flush(pprof, error);
}

static lode_status write_mappings(struct pprof *pprof, lode_error *error)
{
    uint32_t program = pprof->program == LODE_NO_NUMBER ? 0 : pprof->program;
    uint32_t count = (uint32_t)pprof->modules.items.count;
    if (count > 0)
        LODE_TRY(write_mapping(pprof, program, error));
    for (uint32_t i = 0; i < count; i++)
        if (i != program)
            LODE_TRY(write_mapping(pprof, i, error));
    return LODE_OK;
}

/* What the profile had that this one is made from. */
static lode_status write_carried(struct pprof *pprof, lode_error *error)
{
    const struct lode_carried *carried = pprof->carried;
    const lode_export_options *options = pprof->stacks.job->options;
    const char *usual = options->metric_count ? pprof->stacks.metrics[0].name : carried->default_type;
    if (carried->time != 0)
        wire_int(&pprof->wire, PROFILE_TIME, carried->time);
    if (carried->duration != 0)
        wire_int(&pprof->wire, PROFILE_DURATION, carried->duration);
    if (carried->period_type.type[0] || carried->period_type.unit[0])
        LODE_TRY(write_type(pprof, PROFILE_PERIOD_TYPE, carried->period_type.type, carried->period_type.unit,
                            error));
    if (carried->period != 0)
        wire_int(&pprof->wire, PROFILE_PERIOD, carried->period);
    LODE_TRY(put_clean(pprof, PROFILE_DROP_FRAMES, carried->drop_frames, error));
    LODE_TRY(put_clean(pprof, PROFILE_KEEP_FRAMES, carried->keep_frames, error));
    LODE_TRY(put_clean(pprof, PROFILE_URL, carried->url, error));
    if (options->title)
        LODE_TRY(put_clean(pprof, PROFILE_COMMENT, options->title, error));
    for (size_t i = 0; i < carried->comments.count; i++)
        LODE_TRY(
            put_carried(pprof, PROFILE_COMMENT, *LODE_ARRAY_AT(&carried->comments, const char *, i), error));
    return put_clean(pprof, PROFILE_DEFAULT_TYPE, usual, error);
}

static lode_status write_metadata(struct pprof *pprof, lode_error *error)
{
    const struct lode_export *job = pprof->stacks.job;
    const char *title = job->options->title ? job->options->title
                        : job->db           ? lode_database_title(job->db)
                                            : "";
    write_times(pprof);
    LODE_TRY(put_clean(pprof, PROFILE_COMMENT, title, error));
    return put_string(pprof, PROFILE_DEFAULT_TYPE, pprof->stacks.metrics[0].name, error);
}

static lode_status write_end(struct pprof *pprof, lode_error *error)
{
    LODE_TRY(write_mappings(pprof, error));
    LODE_TRY(pprof->carried ? write_carried(pprof, error) : write_metadata(pprof, error));
    LODE_TRY(flush(pprof, error));
    for (uint32_t i = 0; i < pprof->strings.items.count; i++) {
        wire_text(&pprof->wire, PROFILE_STRING, lode_strings_at(&pprof->strings, i));
        LODE_TRY(flush(pprof, error));
    }
    return lode_stacks_report(&pprof->stacks, error);
}

static lode_status write_all(struct pprof *pprof, lode_error *error)
{
    pprof->carried = lode_stacks_carried(&pprof->stacks);
    pprof->sample = calloc(pprof->stacks.metric_count + 1, sizeof *pprof->sample);
    pprof->taken = calloc(pprof->stacks.metric_count + 1, sizeof *pprof->taken);
    LODE_TRY_ALLOC(pprof->sample && pprof->taken, error);
    pprof->stacks.job->written.keeps_labels = pprof->carried != NULL;
    pprof->stacks.job->written.has_labels = pprof->carried && !pprof->carried->is_cut;
    lode_status status = lode_stacks_next(&pprof->stacks, error);
    if (status == LODE_OK || status == LODE_END)
        LODE_TRY(write_types(pprof, error));
    for (; status == LODE_OK; status = lode_stacks_next(&pprof->stacks, error))
        LODE_TRY(write_samples(pprof, error));
    return status == LODE_END ? write_end(pprof, error) : status;
}

static lode_status run_pprof(struct lode_export *job, lode_error *error)
{
    static const struct lode_stack_form form = {.lines = true, .has_inline = true, .carries = true};
    struct pprof pprof = {.file = job->file, .program = LODE_NO_NUMBER};
    lode_strings_init(&pprof.strings);
    lode_strings_init(&pprof.modules);
    lode_interner_init(&pprof.links, sizeof(struct link));
    lode_array_init(&pprof.located, sizeof(bool), UINT32_MAX);
    lode_map_init(&pprof.known);
    lode_array_init(&pprof.chain, sizeof(uint32_t), UINT32_MAX);
    lode_array_init(&pprof.defined, sizeof(bool), UINT32_MAX);
    lode_status status = lode_stacks_open(&pprof.stacks, job, &form, error);
    if (status == LODE_OK)
        status = write_all(&pprof, error);
    lode_stacks_close(&pprof.stacks);
    wire_free(&pprof.wire);
    wire_free(&pprof.packed);
    lode_strings_free(&pprof.strings);
    lode_strings_free(&pprof.modules);
    lode_interner_free(&pprof.links);
    lode_array_free(&pprof.located);
    lode_array_free(&pprof.defined);
    lode_array_free(&pprof.chain);
    lode_map_free(&pprof.known);
    free(pprof.link_of);
    free(pprof.labelled);
    free(pprof.sample);
    free(pprof.taken);
    return status;
}

const struct lode_export_format lode_export_pprof = {
    .name = "pprof",
    .description = "pprof profiles: go tool pprof, Perfetto, Parca, Pyroscope, Grafana",
    .suffix = ".pb.gz",
    .names = "*.pb.gz *.pprof *.prof *.pb",
    .loses = "loops, times, and which contexts had no cost",
    .holds = LODE_EXPORT_STACKS,
    .usual = LODE_COMPRESSION_GZIP,
    .run = run_pprof,
};
