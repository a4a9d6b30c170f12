/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines of info are copied: metadata of the run, and the specifications of arguments. */
#include "format/uftrace/write/merge.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    LINE_MAX_LENGTH = 4000, /* readers accept 4,095 bytes */
    PARTS = 6,
    BUILD_ID_LENGTH = 40
};

/* The lines of one kind, all or none; several have a heading that counts them. */
static const struct {
    unsigned kind;
    const char *heading;
    const char *parts[PARTS];
} carried[] = {
    {UFT_LINE_EXE, "", {"exename:"}},
    {UFT_LINE_BUILD_ID, "", {"build_id:"}},
    {UFT_LINE_EXIT, "", {"exit_status:"}},
    {UFT_LINE_COMMAND, "", {"cmdline:"}},
    {UFT_LINE_CPU, "cpuinfo:lines=2\n", {"cpuinfo:nr_cpus=", "cpuinfo:desc="}},
    {UFT_LINE_MEMORY, "", {"meminfo:"}},
    {UFT_LINE_OS, "osinfo:lines=3\n", {"osinfo:kernel=", "osinfo:hostname=", "osinfo:distro="}},
    {UFT_LINE_USAGE,
     "usageinfo:lines=6\n",
     {"usageinfo:systime=", "usageinfo:usrtime=", "usageinfo:ctxsw=", "usageinfo:maxrss=",
      "usageinfo:pagefault=", "usageinfo:iops="}},
    {UFT_LINE_LOAD, "", {"loadinfo:"}},
    {UFT_LINE_DATE, "", {"record_date:", "elapsed_time:"}},
    {UFT_LINE_SYSCTL, "", {"sysctl:"}},
};

/* ---- strings that grow ---- */

struct text {
    struct lode_arena *arena;
    char *bytes;
    size_t size, capacity;
    bool failed;
};

static void add(struct text *text, const char *bytes, size_t size)
{
    if (text->size + size + 1 > text->capacity) {
        size_t capacity = 2 * (text->size + size + 1);
        char *larger = lode_arena_alloc(text->arena, capacity, 1);
        if (larger == NULL) {
            text->failed = true;
            return;
        }
        if (text->size > 0)
            memcpy(larger, text->bytes, text->size);
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static void add_line(struct text *text, const char *key, const char *value, size_t length)
{
    add(text, key, strlen(key));
    add(text, value, length);
    add(text, "\n", 1);
}

/* ---- lines of a run ---- */

/* The value of the first line with this prefix. A NUL byte would end it for readers. */
static bool find_line(struct lode_range info, const char *prefix, struct uft_text *value)
{
    struct uft_lines lines = {.text = info};
    while (uft_next_line(&lines, value))
        if (uft_take(value, prefix)) {
            value->end = value->at + strnlen(value->at, uft_length(*value));
            return true;
        }
    return false;
}

/* uftrace rejects a recording with an incomplete build id. */
static bool is_acceptable(unsigned kind, struct uft_text value)
{
    if (kind != UFT_LINE_BUILD_ID)
        return true;
    struct uft_text digits = value;
    while (digits.at < digits.end && uft_digit(*digits.at) < 16)
        digits.at++;
    return uft_length(value) == BUILD_ID_LENGTH && digits.at == digits.end;
}

static lode_status carry(struct lode_range info, size_t which, const char **line, struct lode_arena *arena,
                         lode_error *error)
{
    struct text text = {.arena = arena};
    add(&text, carried[which].heading, strlen(carried[which].heading));
    for (size_t i = 0; i < PARTS && carried[which].parts[i]; i++) {
        struct uft_text value;
        if (!find_line(info, carried[which].parts[i], &value) || !is_acceptable(carried[which].kind, value))
            return LODE_OK;
        size_t length = uft_length(value);
        add_line(&text, carried[which].parts[i], value.at,
                 length < LINE_MAX_LENGTH ? length : LINE_MAX_LENGTH);
    }
    if (text.failed)
        return lode_fail_memory(error);
    *line = text.bytes;
    return LODE_OK;
}

/* ---- arguments ---- */

static lode_status carry_arguments(const struct uft_info *info, const char **lines, struct lode_arena *arena,
                                   lode_error *error)
{
    const struct lode_uft_spec_strings *specs = &info->specs;
    const struct {
        const char *key, *value;
    } parts[] = {{"argspec:", specs->argspec},   {"retspec:", specs->retspec},
                 {"argauto:", specs->argauto},   {"retauto:", specs->retauto},
                 {"enumauto:", specs->enumauto}, {"auto-args:", specs->has_auto ? "1" : NULL}};
    struct text text = {.arena = arena}, pattern = {.arena = arena};
    char heading[32];
    unsigned count = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        count += parts[i].value != NULL;
    add(&text, heading, (size_t)snprintf(heading, sizeof heading, "argspec:lines=%u\n", count));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value)
            add_line(&text, parts[i].key, parts[i].value, strlen(parts[i].value));
    if (specs->pattern_type)
        add_line(&pattern, "pattern_type:", specs->pattern_type, strlen(specs->pattern_type));
    if (text.failed || pattern.failed)
        return lode_fail_memory(error);
    lines[UFT_LINE_ARGUMENTS] = count ? text.bytes : NULL;
    lines[UFT_LINE_PATTERN] = pattern.bytes;
    return LODE_OK;
}

/* ---- all of them ---- */

static lode_status put_utc_offset(int64_t offset, const char **line, struct lode_arena *arena,
                                  lode_error *error)
{
    char *text = lode_arena_alloc(arena, 48, 1);
    LODE_TRY_ALLOC(text, error);
    snprintf(text, 48, "utc_offset:%" PRId64 "\n", offset / 1000000000);
    *line = text;
    return LODE_OK;
}

lode_status lode_uft_merge_lines(const struct uft_merge *merge, const char **lines, struct lode_arena *arena,
                                 lode_error *error)
{
    const struct uft_recording *first = merge->sources[0].rec;
    size_t specified = merge->specified < merge->count ? merge->specified : 0;
    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++)
        LODE_TRY(carry(first->info.text, i, &lines[carried[i].kind], arena, error));
    LODE_TRY(carry_arguments(&merge->sources[specified].rec->info, lines, arena, error));
    if (first->base.utc_offset != 0)
        LODE_TRY(put_utc_offset(first->base.utc_offset, &lines[UFT_LINE_UTC_OFFSET], arena, error));
    return LODE_OK;
}
