/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/search/search.h"
#include "output/report.h"
#include "stores/rec_session.h"
#include "text/label.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct search_options {
    shared_options shared;
    uint64_t min_duration, max_duration;
    int errors, density, critical_path, calls, map;
    uint64_t over;
    const char *svg, *dot;
    text_list attributes, where, columns;
    text_list by;
    const char *method, *text;
} search_options;

static const char *const sort_choices[] = {[LODE_SEARCH_BY_TIME] = "time",
                                           [LODE_SEARCH_BY_DURATION] = "duration",
                                           [LODE_SEARCH_BY_CALLS] = "calls",
                                           [LODE_SEARCH_BY_ERRORS] = "errors",
                                           NULL};

/* ---- attributes ---- */

/* Longer ones first. */
static const struct relation {
    const char *sign;
    lode_attribute_relation relation;
} relations[] = {
    {"!=", LODE_ATTRIBUTE_IS_NOT},  {"<=", LODE_ATTRIBUTE_AT_MOST}, {">=", LODE_ATTRIBUTE_AT_LEAST},
    {"<", LODE_ATTRIBUTE_BELOW},    {">", LODE_ATTRIBUTE_ABOVE},    {"=", LODE_ATTRIBUTE_IS},
    {"~", LODE_ATTRIBUTE_CONTAINS},
};
#define RELATION_COUNT (sizeof relations / sizeof relations[0])

/* The first relation in a text, and the length of the key before it; NULL if there is none. */
static const struct relation *find_relation(const char *text, size_t *length)
{
    for (*length = 0; text[*length]; ++*length)
        for (size_t i = 0; i < RELATION_COUNT; i++)
            if (strncmp(text + *length, relations[i].sign, strlen(relations[i].sign)) == 0)
                return &relations[i];
    return NULL;
}

/* KEY, KEY=VALUE, KEY~PART, KEY<NUMBER and so on. The key is a copy. */
static lode_search_attribute parse_attribute(const char *text)
{
    size_t length;
    const struct relation *relation = find_relation(text, &length);
    char *key = alloc_array(length + 1, 1);
    memcpy(key, text, length);
    lode_search_attribute attribute = {.key = key};
    if (relation) {
        attribute.value = text + length + strlen(relation->sign);
        attribute.is_part = (int)relation->relation;
    }
    return attribute;
}

/* Reports what is no condition. */
static int check_attribute(const char *text)
{
    size_t length;
    const struct relation *relation = find_relation(text, &length);
    if (length == 0)
        return report("--attribute takes KEY, KEY=VALUE, KEY!=VALUE, KEY~PART or a comparison such as "
                      "KEY>=NUMBER, not '%s'",
                      text);
    if (!relation || relation->relation < LODE_ATTRIBUTE_BELOW)
        return EXIT_DONE;
    const char *number = text + length + strlen(relation->sign);
    char *end;
    double value = strtod(number, &end);
    if (number[strspn(number, "0123456789+-.eE")] || end == number || *end || !isfinite(value))
        return report("--attribute '%s': '%s' is not a number", text, number);
    return EXIT_DONE;
}

static lode_search_attribute *parse_attributes(const text_list *list)
{
    lode_search_attribute *attributes = alloc_array(list->count, sizeof *attributes);
    for (size_t i = 0; i < list->count; i++)
        attributes[i] = parse_attribute(list->items[i]);
    return attributes;
}

static void free_attributes(lode_search_attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)attributes[i].key); // NOLINT(performance-no-int-to-ptr)
    free(attributes);
}

/* ---- the command ---- */

/* With --density, --columns is a number. EXIT_TROUBLE after a message. */
static int parse_columns(const search_options *options, uint64_t *count)
{
    const char *text = options->columns.count ? options->columns.items[0] : "0";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (options->columns.count > 1 || errno || *end || end == text || text[0] == '-')
        return report("--columns takes a number with --density, not '%.40s' (see 'lode help search')", text);
    *count = number;
    return EXIT_DONE;
}

/* Answers other than rows exclude each other. */
static int check_modes(const search_options *options)
{
    int has_rates = options->over || options->calls;
    if (options->density && options->by.count)
        return report("--density cannot be used with --by (see 'lode help search')");
    if (options->density + options->critical_path + options->map + has_rates > 1)
        return report("--density, --critical-path, --map and --over or --calls exclude each other (see 'lode "
                      "help search')");
    if ((options->critical_path || options->map) && options->by.count)
        return report("--by cannot be used with --%s (see 'lode help search')",
                      options->map ? "map" : "critical-path");
    uint64_t columns;
    if (options->density && parse_columns(options, &columns) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (options->columns.count && (options->critical_path || options->map || has_rates || options->by.count))
        return report("--columns is for rows and for --density (see 'lode help search')");
    if (options->svg && !options->map && !options->over)
        return report("--svg is for --map and --over (see 'lode help search')");
    if (options->dot && !options->map)
        return report("--dot is for --map (see 'lode help search')");
    return EXIT_DONE;
}

static int search_usage(const invocation *call)
{
    const search_options *options = call->options;
    if (options->text && call->operand_count > 1)
        return report("TEXT and --text cannot be combined (see 'lode help search')");
    if (options->max_duration && options->min_duration > options->max_duration)
        return report("--min-duration must not be above --max-duration (see 'lode help search')");
    if (check_modes(options) != EXIT_DONE)
        return EXIT_TROUBLE;
    search_keys keys;
    int status = search_parse_keys(&keys, &options->by, "by");
    search_free_keys(&keys);
    if (status != EXIT_DONE)
        return status;
    for (size_t i = 0; i < options->attributes.count; i++)
        if (check_attribute(options->attributes.items[i]) != EXIT_DONE)
            return EXIT_TROUBLE;
    return EXIT_DONE;
}

static lode_search_options settings_of(rec_session *s, const search_options *options)
{
    lode_calls_options common = rec_calls_options(s);
    lode_search_options settings = LODE_SEARCH_OPTIONS_INIT;
    settings.min_duration = options->min_duration;
    settings.max_duration = options->max_duration;
    settings.from = s->slice.from;
    settings.to = s->slice.to;
    settings.tracks = s->slice.tracks;
    settings.track_count = s->slice.track_count;
    settings.errors_only = options->errors;
    settings.method = options->method;
    settings.text = options->text;
    settings.where = options->where.items;
    settings.where_count = options->where.count;
    settings.names = name_form(options->shared.names);
    settings.sort = (lode_search_sort)options->shared.sort;
    settings.limit = options->shared.limit;
    settings.threads = common.threads;
    settings.strict = common.strict;
    settings.on_finding = common.on_finding;
    settings.on_progress = common.on_progress;
    settings.user = common.user;
    return settings;
}

static lode_status print_density(const invocation *call, rec_session *s, const lode_search_options *settings,
                                 lode_error *error)
{
    const search_options *options = call->options;
    uint64_t asked = 0;
    (void)parse_columns(options, &asked);
    unsigned columns = search_density_columns(call->out, asked);
    lode_density *density = NULL;
    lode_status status = lode_density_compute(&density, s->recording, settings, columns, error);
    progress_clear(&s->progress);
    if (status == LODE_OK)
        search_density(call->out, s, density);
    lode_density_free(density);
    return status;
}

static lode_status print_path(const invocation *call, rec_session *s, const lode_search_options *settings,
                              lode_error *error)
{
    lode_critical_path *path = NULL;
    lode_status status = lode_critical_path_compute(&path, s->recording, settings, error);
    progress_clear(&s->progress);
    if (status == LODE_OK)
        search_path(call->out, s, path, settings);
    lode_critical_path_free(path);
    return status;
}

static lode_status print_rows(const invocation *call, rec_session *s, const lode_search_options *settings,
                              lode_error *error)
{
    lode_search *search = NULL;
    lode_status status = lode_search_run(&search, s->recording, settings, error);
    progress_clear(&s->progress);
    if (status == LODE_OK)
        search_print(call->out, s, search, settings);
    lode_search_free(search);
    return status;
}

/* Rows with the attributes of --columns only. EXIT_DONE, or EXIT_TROUBLE after a message. */
static int print_columns(const invocation *call, rec_session *s, const lode_search_options *settings)
{
    const search_options *options = call->options;
    lode_search_options asked = *settings;
    search_keys keys;
    lode_error error = {0};
    int status = search_parse_keys(&keys, &options->columns, "columns");
    asked.keys = keys.names;
    asked.key_count = keys.count;
    asked.any_call = 1;
    if (status == EXIT_DONE && print_rows(call, s, &asked, &error) != LODE_OK)
        status = rec_error(s, &error);
    search_free_keys(&keys);
    return status;
}

/* EXIT_DONE, or EXIT_TROUBLE after a message. */
static int print_groups(const invocation *call, rec_session *s, const lode_search_options *settings)
{
    const search_options *options = call->options;
    lode_search_options asked = *settings;
    search_keys keys;
    lode_search *search = NULL;
    lode_error error = {0};
    int status = search_parse_keys(&keys, &options->by, "by");
    asked.limit = 0;
    asked.keys = keys.names;
    asked.key_count = keys.count;
    if (status == EXIT_DONE && lode_search_run(&search, s->recording, &asked, &error) != LODE_OK)
        status = rec_error(s, &error);
    progress_clear(&s->progress);
    if (status == EXIT_DONE)
        status = search_check_keys(s, search, search_has_key, &keys);
    if (status == EXIT_DONE)
        search_groups(call->out, s, search, &keys, options->shared.limit);
    lode_search_free(search);
    search_free_keys(&keys);
    return status;
}

/* EXIT_DONE, or EXIT_TROUBLE after a message. */
static int print_map(const invocation *call, rec_session *s, const lode_search_options *settings)
{
    const search_options *options = call->options;
    lode_service_map *map = NULL;
    lode_error error = {0};
    int status = EXIT_DONE;
    if (lode_service_map_compute(&map, s->recording, settings, &error) != LODE_OK)
        status = rec_error(s, &error);
    progress_clear(&s->progress);
    if (status == EXIT_DONE && options->svg)
        status = search_services_svg(options->svg, map);
    if (status == EXIT_DONE && options->dot)
        status = search_services_dot(options->dot, map);
    if (status == EXIT_DONE && !options->svg && !options->dot)
        search_services(call->out, s, map, settings);
    lode_service_map_free(map);
    return status;
}

static int rates_have_key(const void *found, const search_keys *keys, size_t key)
{
    (void)keys;
    for (size_t i = 0; i < lode_rates_count(found); i++)
        if (lode_rates_at(found, i)->values[key])
            return 1;
    return 0;
}

/* A key that nothing of what was found has may be one of other requests. The same status. */
static int check_rate_keys(rec_session *s, const lode_rates *rates, const lode_rates_options *asked,
                           const search_keys *keys)
{
    lode_rates *all = NULL;
    lode_error error = {0};
    size_t known = 0;
    while (known < keys->count && rates_have_key(rates, keys, known))
        known++;
    if (known == keys->count)
        return EXIT_DONE;
    int status = lode_rates_compute(&all, s->recording, NULL, asked, &error) == LODE_OK
                     ? search_check_keys(s, all, rates_have_key, keys)
                     : rec_error(s, &error);
    lode_rates_free(all);
    return status;
}

/* The same. */
static int print_rates(const invocation *call, rec_session *s, const lode_search_options *settings)
{
    const search_options *options = call->options;
    lode_rates_options asked = LODE_RATES_OPTIONS_INIT;
    lode_rates *rates = NULL;
    lode_error error = {0};
    search_keys keys;
    int status = search_parse_keys(&keys, &options->by, "by");
    asked.interval = options->over;
    asked.keys = keys.names;
    asked.key_count = keys.count;
    asked.calls = options->calls;
    if (status == EXIT_DONE && lode_rates_compute(&rates, s->recording, settings, &asked, &error) != LODE_OK)
        status = rec_error(s, &error);
    progress_clear(&s->progress);
    if (status == EXIT_DONE)
        status = check_rate_keys(s, rates, &asked, &keys);
    rates_question question = {&keys, options->over, options->shared.limit, options->calls};
    if (status == EXIT_DONE && options->svg)
        status = search_rates_svg(options->svg, rates, &question);
    else if (status == EXIT_DONE)
        search_rates(call->out, s, rates, &question);
    lode_rates_free(rates);
    search_free_keys(&keys);
    return status;
}

typedef lode_status printer(const invocation *call, rec_session *s, const lode_search_options *settings,
                            lode_error *error);

static printer *printer_of(const search_options *options)
{
    return options->density ? print_density : options->critical_path ? print_path : print_rows;
}

static int search_recording(const invocation *call, rec_session *s)
{
    const search_options *options = call->options;
    lode_search_attribute *attributes = parse_attributes(&options->attributes);
    lode_search_options settings = settings_of(s, options);
    lode_error error = {0};
    if (call->operand_count > 1)
        settings.text = call->operands[1];
    settings.attributes = attributes;
    settings.attribute_count = options->attributes.count;
    int status = EXIT_DONE;
    if (options->map)
        status = print_map(call, s, &settings);
    else if (options->over || options->calls)
        status = print_rates(call, s, &settings);
    else if (options->by.count)
        status = print_groups(call, s, &settings);
    else if (options->columns.count && !options->density)
        status = print_columns(call, s, &settings);
    else if (printer_of(options)(call, s, &settings, &error) != LODE_OK)
        status = rec_error(s, &error);
    free_attributes(attributes, options->attributes.count);
    return status;
}

static int run_search(const invocation *call)
{
    rec_session s;
    if (call->kind == LODE_STORE_DATABASE)
        return search_database(call);
    int status = rec_open_requests(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = rec_find_interval(&s);
    if (status == EXIT_DONE)
        status = search_recording(call, &s);
    rec_close(&s);
    return status;
}

static const option_spec search_own[] = {
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {0},
};

static const option_spec search_of_recordings[] = {
    {"min-duration", 0, OPTION_SPAN, "TIME", NULL, offsetof(search_options, min_duration)},
    {"max-duration", 0, OPTION_SPAN, "TIME", NULL, offsetof(search_options, max_duration)},
    {"errors", 'e', OPTION_FLAG, NULL, NULL, offsetof(search_options, errors)},
    {"attribute", 0, OPTION_TEXTS, "CONDITION", NULL, offsetof(search_options, attributes)},
    {"where", 0, OPTION_TEXTS, "CONDITIONS", NULL, offsetof(search_options, where)},
    {"method", 0, OPTION_TEXT, "NAME", NULL, offsetof(search_options, method)},
    {"text", 0, OPTION_TEXT, "PART", NULL, offsetof(search_options, text)},
    {"by", 'b', OPTION_TEXTS, "KEY[,KEY]...", NULL, offsetof(search_options, by)},
    {"over", 0, OPTION_SPAN, "TIME", NULL, offsetof(search_options, over)},
    {"calls", 0, OPTION_FLAG, NULL, NULL, offsetof(search_options, calls)},
    {"map", 0, OPTION_FLAG, NULL, NULL, offsetof(search_options, map)},
    {"svg", 0, OPTION_TEXT, "FILE", NULL, offsetof(search_options, svg)},
    {"dot", 0, OPTION_TEXT, "FILE", NULL, offsetof(search_options, dot)},
    {"density", 0, OPTION_FLAG, NULL, NULL, offsetof(search_options, density)},
    {"critical-path", 0, OPTION_FLAG, NULL, NULL, offsetof(search_options, critical_path)},
    {"columns", 0, OPTION_TEXTS, "N|KEY[,KEY]...", NULL, offsetof(search_options, columns)},
    {"sort", 's', OPTION_CHOICE, "ORDER", sort_choices, offsetof(shared_options, sort)},
    {0},
};

static const search_options search_defaults = {.shared = {.limit = 20}};

const command_spec command_search = {
    .name = "search",
    .operands = "[STORE] [TEXT]",
    .min_operands = 1,
    .max_operands = 2,
    .stores = FOR_ALL,
    .options = {.own = search_own,
                .of_recordings = search_of_recordings,
                .shared = SHARED_WINDOW | SHARED_NAMES | SHARED_STRICT | SHARED_MEMORY | SHARED_THREADS |
                          SHARED_JSON | SHARED_CSV | SHARED_COLOR | SHARED_VERBOSE},
    .options_size = sizeof(search_options),
    .defaults = &search_defaults,
    .usage = search_usage,
    .run = run_search,
};
