/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics, title and description. */
#include "base/text/count.h"
#include "format/pprof/read.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    METRIC_NAME = 512,        /* bytes */
    DESCRIBED_MOST = 1 << 14, /* bytes of a description */
    LABELS_SHOWN = 20
};

static const char *text_of(struct pprof_reader *reader, int64_t index, lode_status *status)
{
    uint32_t number = LODE_NO_NUMBER;
    if (*status == LODE_OK && reader->strings[index].size > 0)
        *status = lode_pprof_name(reader, index, &number);
    return number == LODE_NO_NUMBER ? "" : lode_strings_at(&reader->import.frames.strings, number);
}

/* ---- metrics ---- */

/* Names that are used, and for each the number of the last one that repeats it. */
struct metric_names {
    struct lode_strings used;
    struct lode_map repeated; /* by number of a name */
};

/* "cpu (nanoseconds)", "samples"; the second of equal ones has " #2". False if out of memory. */
static bool name_metric(struct metric_names *names, const char *type, const char *unit,
                        char name[METRIC_NAME])
{
    char plain[METRIC_NAME - 16];
    uint32_t number;
    if (type[0] == '\0')
        snprintf(plain, sizeof plain, "%s", unit[0] ? unit : "value");
    else if (unit[0] == '\0' || strcmp(unit, "count") == 0)
        snprintf(plain, sizeof plain, "%.240s", type);
    else
        snprintf(plain, sizeof plain, "%.240s (%.240s)", type, unit);
    snprintf(name, METRIC_NAME, "%s", plain);
    if (lode_strings_find(&names->used, name) == LODE_NO_NUMBER)
        return lode_strings_put(&names->used, name, &number);
    number = lode_strings_find(&names->used, name);
    uint32_t *last = lode_map_add(&names->repeated, number, 1, NULL);
    while (last && lode_strings_find(&names->used, name) != LODE_NO_NUMBER)
        snprintf(name, METRIC_NAME, "%s #%u", plain, ++*last);
    return last && lode_strings_put(&names->used, name, &number);
}

/* Names are interned, so that long ones are not compared again and again. */
static bool same_string(struct pprof_reader *reader, int64_t a, int64_t b, lode_status *status)
{
    uint32_t x = LODE_NO_NUMBER, y = LODE_NO_NUMBER;
    if (*status == LODE_OK)
        *status = lode_pprof_name(reader, a, &x);
    if (*status == LODE_OK)
        *status = lode_pprof_name(reader, b, &y);
    return x == y;
}

/* The first type of the name that the profile gives; else the last type. */
static lode_status choose_default(struct pprof_reader *reader)
{
    size_t count = reader->types.count;
    lode_status status = LODE_OK;
    if (count == 0)
        return LODE_OK;
    reader->import.default_metric = (uint32_t)count - 1;
    if (reader->strings[reader->default_type].size == 0)
        return LODE_OK;
    for (size_t i = 0; i < count; i++) {
        const struct pprof_value_type *type = LODE_ARRAY_AT(&reader->types, struct pprof_value_type, i);
        if (!same_string(reader, type->type, reader->default_type, &status) && status == LODE_OK)
            continue;
        reader->import.default_metric = (uint32_t)i;
        return status;
    }
    return lode_report_add(reader->report, PPROF_RULE_DEFAULT_TYPE, reader->file,
                           reader->strings[reader->default_type].offset,
                           "default_sample_type names no sample type");
}

static lode_status add_metrics(struct pprof_reader *reader, struct metric_names *names)
{
    lode_status status = LODE_OK;
    for (size_t i = 0; i < reader->types.count && status == LODE_OK; i++) {
        const struct pprof_value_type *type = LODE_ARRAY_AT(&reader->types, struct pprof_value_type, i);
        char name[METRIC_NAME];
        const char *words = text_of(reader, type->type, &status),
                   *unit = text_of(reader, type->unit, &status);
        if (status == LODE_OK && !name_metric(names, words, unit, name))
            status = lode_fail_memory(reader->report->error);
        if (status == LODE_OK)
            status = lode_import_metric(&reader->import, name, reader->report->error);
    }
    return status;
}

lode_status lode_pprof_add_metrics(struct pprof_reader *reader)
{
    struct metric_names names;
    lode_strings_init(&names.used);
    lode_map_init(&names.repeated);
    lode_status status = add_metrics(reader, &names);
    lode_strings_free(&names.used);
    lode_map_free(&names.repeated);
    return status == LODE_OK ? choose_default(reader) : status;
}

/* ---- the title ---- */

static bool is_program(const struct pprof_reader *reader, const struct pprof_mapping *mapping)
{
    const char *name = lode_strings_at(&reader->import.frames.strings, mapping->name);
    return mapping->has_file && name && name[0] != '[' && strstr(name, ".so") == NULL;
}

/* The first mapping that looks like a program. Each name is looked at once. */
static lode_status main_mapping(const struct pprof_reader *reader, const char **out)
{
    struct lode_map seen;
    lode_status status = LODE_OK;
    bool is_new, is_found = false;
    *out = reader->file;
    lode_map_init(&seen);
    for (size_t i = 0; i < reader->mappings.count && status == LODE_OK && !is_found; i++) {
        const struct pprof_mapping *mapping = LODE_ARRAY_AT(&reader->mappings, struct pprof_mapping, i);
        uint64_t key = (uint64_t)mapping->name << 1 | mapping->has_file;
        if (lode_map_add(&seen, key, 0, &is_new) == NULL)
            status = lode_fail_memory(reader->report->error);
        else if (is_new && is_program(reader, mapping)) {
            is_found = true;
            *out = lode_path_tail(lode_strings_at(&reader->import.frames.strings, mapping->name));
        }
    }
    lode_map_free(&seen);
    return status;
}

/* ---- the description ---- */

/* A text that grows up to a limit. */
struct words {
    char text[DESCRIBED_MOST];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *format, ...);

static void say(struct words *words, const char *format, ...)
{
    va_list arguments;
    size_t left = sizeof words->text - words->used;
    va_start(arguments, format);
    int length = vsnprintf(words->text + words->used, left, format, arguments);
    va_end(arguments);
    words->used += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left - 1;
}

static void say_time(struct words *words, const struct pprof_reader *reader)
{
    struct tm parts;
    time_t seconds = (time_t)(reader->time / 1000000000);
    char text[64];
    if (reader->time > 0 && gmtime_r(&seconds, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) > 0)
        say(words, "Started %s UTC. ", text);
    if (reader->duration > 0)
        say(words, "Lasted %.3f s. ", (double)reader->duration / 1e9);
}

static lode_status say_period(struct words *words, struct pprof_reader *reader)
{
    lode_status status = LODE_OK;
    const char *type = text_of(reader, reader->period_type.type, &status);
    const char *unit = text_of(reader, reader->period_type.unit, &status);
    if (reader->period > 0 && type[0])
        say(words, "One sample per %" PRId64 " %.100s%s%.100s. ", reader->period, type, unit[0] ? " " : "",
            unit);
    return status;
}

/* Labels by key, in order of appearance: how many values on how many samples. */
struct key_count {
    int64_t key;
    uint64_t values, samples;
};

static lode_status say_labels(struct words *words, struct pprof_reader *reader)
{
    struct key_count keys[LABELS_SHOWN];
    size_t count = 0;
    lode_status status = LODE_OK;
    for (size_t i = 0; i < reader->labels.items.count; i++) {
        const struct pprof_label *label = LODE_ARRAY_AT(&reader->labels.items, struct pprof_label, i);
        size_t k = 0;
        while (k < count && !same_string(reader, keys[k].key, label->key, &status))
            k++;
        if (k == LABELS_SHOWN)
            continue;
        if (k == count)
            keys[count++] = (struct key_count){.key = label->key};
        keys[k].values++;
        keys[k].samples += *LODE_ARRAY_AT(&reader->label_counts, uint64_t, i);
    }
    for (size_t k = 0; k < count; k++)
        say(words, "Label %.100s: %s on %s. ", text_of(reader, keys[k].key, &status),
            LODE_COUNTED(keys[k].values, "value", "values"),
            LODE_COUNTED(keys[k].samples, "sample", "samples"));
    return status;
}

static lode_status say_comments(struct words *words, struct pprof_reader *reader)
{
    lode_status status = LODE_OK;
    for (size_t i = 0; i < reader->comments.count && words->used + 1 < sizeof words->text; i++) {
        int64_t index = *LODE_ARRAY_AT(&reader->comments, int64_t, i);
        bool is_repeated = false;
        for (size_t k = 0; k < i && k < 64 && !is_repeated; k++)
            is_repeated = same_string(reader, *LODE_ARRAY_AT(&reader->comments, int64_t, k), index, &status);
        if (!is_repeated && reader->strings[index].size > 0)
            say(words, "Comment: %s. ", text_of(reader, index, &status));
    }
    if (reader->strings[reader->doc_url].size > 0)
        say(words, "See %s. ", text_of(reader, reader->doc_url, &status));
    return status;
}

static lode_status describe_in(struct pprof_reader *reader, struct words *words)
{
    const char *title;
    say_time(words, reader);
    LODE_TRY(say_period(words, reader));
    if (reader->shortened > 0)
        say(words, "%s shortened by drop_frames. ",
            LODE_COUNTED(reader->shortened, "sample was", "samples were"));
    LODE_TRY(say_labels(words, reader));
    LODE_TRY(say_comments(words, reader));
    if (words->used > 0)
        words->text[words->used - 1] = '\0';
    LODE_TRY(main_mapping(reader, &title));
    reader->import.title = lode_import_keep(&reader->import, title);
    reader->import.text = lode_import_keep(&reader->import, words->text);
    LODE_TRY_ALLOC(reader->import.title && reader->import.text, reader->report->error);
    return LODE_OK;
}

lode_status lode_pprof_describe(struct pprof_reader *reader)
{
    struct words *words = calloc(1, sizeof *words);
    LODE_TRY_ALLOC(words, reader->report->error);
    lode_status status = describe_in(reader, words);
    free(words);
    return status;
}
