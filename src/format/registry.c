/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/options.h"
#include "format/format.h"
#include <lode/format.h>
#include <string.h>

#define FORMAT(name) extern const struct lode_format lode_format_##name;
#include "format/formats.def"

const struct lode_format *const lode_formats[] = {
#define FORMAT(name) &lode_format_##name,
#include "format/formats.def"
};
const size_t lode_formats_count = sizeof lode_formats / sizeof *lode_formats;

bool lode_format_has_databases(const struct lode_format *format)
{
    return format->open || format->import;
}

lode_status lode_format_open(const struct lode_format *format, lode_database **out,
                             const struct lode_folder *folder, lode_error *error)
{
    if (format->open)
        return format->open(out, folder, error);
    return lode_import_open_store(out, folder, format->import, format->rules, format->rule_count, error);
}

/* The format that is most certain, by its first look or by the late one; NULL: none knows it. */
static const struct lode_format *most_certain(const struct lode_folder *folder, bool is_late)
{
    const struct lode_format *best = NULL;
    int most = LODE_PROBE_NO;
    for (size_t i = 0; i < lode_formats_count && most < LODE_PROBE_CONTENT; i++) {
        const struct lode_format *format = lode_formats[i];
        int (*probe)(const struct lode_folder *) = is_late ? format->probe_late : format->probe;
        bool fits = format->is_file ? lode_folder_only(folder) != NULL : folder->single == NULL;
        int score = fits && probe ? probe(folder) : LODE_PROBE_NO;
        if (score > most) {
            most = score;
            best = format;
        }
    }
    return best;
}

const struct lode_format *lode_format_of(const struct lode_folder *folder)
{
    const struct lode_format *best = most_certain(folder, false);
    return best ? best : most_certain(folder, true);
}

/* ---- targets ---- */

/* NULL past the last one. */
static const struct lode_target *target_at(size_t index, const struct lode_format **format)
{
    for (size_t i = 0; i < lode_formats_count; i++) {
        *format = lode_formats[i];
        if (index < lode_formats[i]->target_count)
            return &lode_formats[i]->targets[index];
        index -= lode_formats[i]->target_count;
    }
    return NULL;
}

const struct lode_target *lode_target_named(const char *name)
{
    const struct lode_format *format;
    size_t i = 0;
    const struct lode_target *target = target_at(0, &format);
    while (target && strcmp(target->name, name) != 0)
        target = target_at(++i, &format);
    return target;
}

const struct lode_target *lode_target_of_databases(const char *name)
{
    const struct lode_format *format;
    size_t i = 0;
    const struct lode_target *target = name ? lode_target_named(name) : target_at(0, &format);
    while (name == NULL && target && target->sink == NULL)
        target = target_at(++i, &format);
    return target && target->sink ? target : NULL;
}

/* The name of a recording's format begins with the name of the target. */
static bool has_format(const lode_recording *recording, const struct lode_target *target)
{
    if (recording && recording->target)
        return strcmp(recording->target, target->name) == 0;
    return recording == NULL || strncmp(recording->format, target->name, strlen(target->name)) == 0;
}

const struct lode_target *lode_target_of_recording(const lode_recording *recording)
{
    const struct lode_format *format;
    size_t i = 0;
    const struct lode_target *target = target_at(0, &format);
    while (target && (target->recording == NULL || !has_format(recording, target)))
        target = target_at(++i, &format);
    return target;
}

/* ---- the public list ---- */

size_t lode_format_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < lode_formats_count; i++)
        count += lode_formats[i]->target_count;
    return count;
}

lode_status lode_format_at_sized(size_t index, lode_format_info *out, size_t out_size)
{
    const struct lode_format *format;
    const struct lode_target *target = target_at(index, &format);
    if (target == NULL)
        return LODE_NOT_FOUND;
    lode_format_info info = {.name = target->name,
                             .description = target->description,
                             .family = target->family,
                             .layout = target->layout,
                             .kind = target->sink ? LODE_STORE_DATABASE : LODE_STORE_RECORDING,
                             .can_read = lode_format_has_databases(format) || format->open_recording,
                             .can_write = target->sink || target->recording,
                             .can_synthesize = target->synth != NULL};
    lode_result_give(out, out_size, &info, sizeof info);
    return LODE_OK;
}
