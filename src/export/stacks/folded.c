/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded stacks: one line per stack, frames from the outermost on, then a count. Of several
 * metrics, the first one. Readers take a last frame that ends in a blank and a number for a line
 * with two counts, a '#' at the beginning for a comment, and ';' for the next frame.
 */
#include "export/formats.h"
#include "export/stacks/stacks.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_DOUBLE (UINT64_C(1) << 53) /* some readers keep counts as doubles */

struct folded {
    struct lode_stacks stacks;
    struct lode_strings names; /* safe text of frames */
    struct lode_map by_frame;  /* (frame, line) to number of a name */
    uint32_t *path;            /* names of a stack, from the outermost on */
    uint32_t capacity;
};

/* Ends in a blank and digits: replaces that blank. */
static void join_number(char *name)
{
    size_t length = strlen(name), at = length;
    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    if (at > 0 && at < length && name[at - 1] == ' ')
        name[at - 1] = '_';
}

/* Without what has a meaning in the format, and without blanks at the ends; never empty. */
static const char *make_safe(char *name)
{
    size_t length = strlen(name);
    for (char *at = name; *at; at++)
        if (*at == ';')
            *at = ':';
    while (length > 0 && name[length - 1] == ' ')
        name[--length] = '\0';
    while (*name == ' ')
        name++;
    if (*name == '#')
        *name = '_';
    join_number(name);
    return *name ? name : "?";
}

static lode_status name_level(struct folded *folded, const struct lode_position *position, uint32_t *number,
                              lode_error *error)
{
    bool added;
    uint64_t key = (uint64_t)position->frame << 32 | position->line;
    uint32_t *known = lode_map_add(&folded->by_frame, key, 0, &added);
    LODE_TRY_ALLOC(known, error);
    if (added) {
        struct lode_export_frame frame = lode_export_frames_at(&folded->stacks.frames, position->frame);
        char *text;
        int length = position->line ? asprintf(&text, "%s:%lu", frame.name, (unsigned long)position->line)
                                    : asprintf(&text, "%s", frame.name);
        if (length < 0)
            return lode_fail_memory(error);
        bool done = lode_strings_put(&folded->names, make_safe(text), known);
        free(text);
        LODE_TRY_ALLOC(done, error);
    }
    *number = *known;
    return LODE_OK;
}

static lode_status reserve_path(struct folded *folded, uint32_t depth, lode_error *error)
{
    if (depth <= folded->capacity)
        return LODE_OK;
    return LODE_GROW(folded->path, folded->capacity, 2 * (size_t)depth) ? LODE_OK : lode_fail_memory(error);
}

/* "rank 3;thread 0;" in front of the stacks of a profile. */
static lode_status write_group(struct folded *folded, struct lode_export_file *file, lode_error *error)
{
    const struct lode_stack_group *group = &folded->stacks.group;
    for (unsigned i = 0; i < group->id_count; i++)
        LODE_TRY(lode_export_print(file, error, "%s %s;", group->ids[i].key, group->ids[i].value));
    return LODE_OK;
}

static lode_status write_names(struct folded *folded, struct lode_export_file *file, uint32_t depth,
                               lode_error *error)
{
    if (depth == 0)
        return lode_export_write(file, "<no stack>", strlen("<no stack>"), error);
    for (uint32_t i = 0; i < depth; i++) {
        const char *name = lode_strings_at(&folded->names, folded->path[i]);
        if (i > 0)
            LODE_TRY(lode_export_write(file, ";", 1, error));
        LODE_TRY(lode_export_write(file, name, strlen(name), error));
    }
    return LODE_OK;
}

static lode_status write_stacks(struct folded *folded, lode_error *error)
{
    const struct lode_stacks *stacks = &folded->stacks;
    struct lode_export_file *file = stacks->job->file;
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct lode_position *position = &stacks->positions[i];
        int64_t value = stacks->values[(size_t)i * stacks->metric_count];
        LODE_TRY(reserve_path(folded, position->depth, error));
        /* In depth-first order, the path is already there but for the last level. */
        if (position->depth > 0)
            LODE_TRY(name_level(folded, position, &folded->path[position->depth - 1], error));
        if (value <= 0)
            continue;
        LODE_TRY(write_group(folded, file, error));
        LODE_TRY(write_names(folded, file, position->depth, error));
        LODE_TRY(lode_export_print(file, error, " %lld\n", (long long)value));
    }
    return LODE_OK;
}

static lode_status write_all(struct folded *folded, lode_error *error)
{
    lode_status status;
    while ((status = lode_stacks_next(&folded->stacks, error)) == LODE_OK)
        LODE_TRY(write_stacks(folded, error));
    if (status != LODE_END)
        return status;
    return lode_stacks_report(&folded->stacks, error);
}

static lode_status run_folded(struct lode_export *job, lode_error *error)
{
    static const struct lode_stack_form form = {
        .by_name = true, .one_metric = true, .no_negative = true, .limit = EXACT_DOUBLE};
    struct folded folded = {.capacity = 0};
    lode_strings_init(&folded.names);
    lode_map_init(&folded.by_frame);
    lode_status status = lode_stacks_open(&folded.stacks, job, &form, error);
    if (status == LODE_OK)
        status = write_all(&folded, error);
    lode_stacks_close(&folded.stacks);
    lode_strings_free(&folded.names);
    lode_map_free(&folded.by_frame);
    free(folded.path);
    return status;
}

const struct lode_export_format lode_export_folded = {
    .name = "folded",
    .description = "folded stacks: flamegraph.pl, inferno, speedscope, Perfetto",
    .suffix = ".folded",
    .names = "*.folded *.collapsed *.stacks",
    .loses = "all metrics but one; times, files, modules, and functions of one name are one",
    .holds = LODE_EXPORT_STACKS,
    .usual = LODE_COMPRESSION_NONE,
    .run = run_folded,
};
