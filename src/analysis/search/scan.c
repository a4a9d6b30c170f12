/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches the events of a track with the search conditions. */
#include "analysis/search/search.h"
#include "base/error.h"
#include "base/text/utf8.h"
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_MAX = 4096,
    EXCEPTION_HEAD = 2 /* arguments: class and message */
};

enum verdict {
    IS_KNOWN = 1,
    HAS_TEXT = 2,
    METHOD_SHIFT = 2 /* the match of the method, in the bits above */
};

/* ---- conditions ---- */

static bool init_parts(struct lode_wanted *wanted)
{
    const lode_search_options *options = wanted->options;
    wanted->conditions = calloc(options->attribute_count + 1, sizeof *wanted->conditions);
    bool done = wanted->conditions && lode_substring_init(&wanted->text, options->text);
    for (size_t i = 0; done && i < options->attribute_count; i++) {
        wanted->attributes |= UINT64_C(1) << i;
        done = lode_condition_init(&wanted->conditions[i], &options->attributes[i]);
    }
    return done;
}

lode_status lode_wanted_init(struct lode_wanted *wanted, const lode_recording *recording,
                             const lode_search_options *options, lode_error *error)
{
    *wanted = (struct lode_wanted){.recording = recording, .options = options};
    if (options->attribute_count > LODE_WANTED_ATTRIBUTES)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "%zu attributes to search for; there can be %d", options->attribute_count,
                         LODE_WANTED_ATTRIBUTES);
    if (options->method)
        LODE_TRY(lode_matcher_open(&wanted->method, options->method, options->names, error));
    LODE_TRY(lode_where_compile(&wanted->where, options->where, options->where_count, error));
    return init_parts(wanted) ? LODE_OK : lode_fail_memory(error);
}

void lode_wanted_free(struct lode_wanted *wanted)
{
    for (size_t i = 0; wanted->conditions && i < wanted->options->attribute_count; i++)
        lode_condition_free(&wanted->conditions[i]);
    free(wanted->conditions);
    lode_where_free(&wanted->where);
    lode_matcher_close(wanted->method);
    lode_substring_free(&wanted->text);
}

static bool is_asked(const struct lode_substring *part)
{
    return part->letters != NULL;
}

bool lode_wanted_asks_events(const struct lode_wanted *wanted)
{
    const lode_search_options *options = wanted->options;
    return options->errors_only || options->attribute_count > 0 || options->where_count > 0 ||
           wanted->method || is_asked(&wanted->text) || options->sort == LODE_SEARCH_BY_CALLS ||
           options->sort == LODE_SEARCH_BY_ERRORS;
}

/* ---- functions ---- */

static bool is_in_text(const struct lode_substring *part, const char *text)
{
    return text && lode_substring_is_in(part, text, strlen(text));
}

/* Matches the raw or the demangled name. */
static bool is_in_name(const struct lode_substring *part, const lode_function *function)
{
    char label[LABEL_MAX];
    if (!is_asked(part))
        return false;
    if (is_in_text(part, function->name))
        return true;
    lode_function_label(function, label, sizeof label);
    return is_in_text(part, label);
}

static bool make_room(struct lode_scan *scan, uint32_t index)
{
    size_t count = scan->verdict_count ? scan->verdict_count : 256;
    while (count <= index)
        count *= 2;
    return LODE_GROW_ZEROED(scan->verdicts, scan->verdict_count, count);
}

static unsigned char judge(const struct lode_wanted *wanted, const lode_function *function)
{
    lode_match method = wanted->method ? lode_matcher_function(wanted->method, function) : LODE_MATCH_NONE;
    return (unsigned char)(IS_KNOWN | (is_in_name(&wanted->text, function) ? HAS_TEXT : 0) |
                           (unsigned)method << METHOD_SHIFT);
}

static bool meet_function(struct lode_scan *scan, const lode_function *function)
{
    const struct lode_wanted *wanted = scan->wanted;
    if (function->index >= scan->verdict_count && !make_room(scan, function->index))
        return false;
    unsigned char *verdict = &scan->verdicts[function->index];
    if (*verdict == 0)
        *verdict = judge(wanted, function);
    lode_match method = (lode_match)(*verdict >> METHOD_SHIFT);
    scan->method = method > scan->method ? method : scan->method;
    scan->has_text |= (*verdict & HAS_TEXT) != 0;
    return true;
}

static bool enter(struct lode_scan *scan, const lode_function *function)
{
    scan->calls++;
    if (scan->level++ == 0 && scan->function == NULL)
        scan->function = function;
    if (scan->method == LODE_MATCH_SHOWN && scan->has_text)
        return true;
    return meet_function(scan, function);
}

static void leave(struct lode_scan *scan, const lode_event *event)
{
    scan->errors += (event->flags & LODE_EVENT_FAILED) != 0;
    if (scan->level > 0 && --scan->level == 0)
        scan->has_ended = true;
}

/* ---- values ---- */

/* Replaces a string by the beginning of another, never cut inside a character. */
static bool keep(struct lode_blob *blob, const char *bytes, size_t count)
{
    if (count > LODE_SEARCH_TEXT) {
        count = LODE_SEARCH_TEXT;
        while (count > 0 && utf8_is_continuation(bytes[count]))
            count--;
    }
    blob->size = 0;
    size_t at = lode_blob_reserve(blob, count + 1, 1);
    if (at == LODE_BLOB_FULL)
        return false;
    for (size_t i = 0; i < count; i++)
        blob->bytes[at + i] = (unsigned char)(bytes[i] ? bytes[i] : '?');
    return true;
}

/* ---- attributes ---- */

static bool meet_attributes(struct lode_scan *scan, const lode_event *event, const char *key,
                            struct lode_read_value *value)
{
    const struct lode_wanted *wanted = scan->wanted;
    for (size_t i = 0; i < wanted->options->attribute_count; i++) {
        const lode_search_attribute *attribute = &wanted->options->attributes[i];
        uint64_t bit = UINT64_C(1) << i;
        if ((scan->met & bit) || !lode_attribute_key_is(&wanted->conditions[i].key, key))
            continue;
        if (attribute->value && !lode_value_read(&scan->reader, event, value))
            return false;
        if (attribute->value == NULL ||
            lode_condition_fits(&wanted->conditions[i], value->bytes, value->length))
            scan->met |= bit;
    }
    return true;
}

static bool meet_text(struct lode_scan *scan, const lode_event *event, const char *key,
                      struct lode_read_value *value)
{
    const struct lode_substring *part = &scan->wanted->text;
    if (scan->has_text || (scan->has_text = is_in_text(part, key)))
        return true;
    if (!lode_value_read(&scan->reader, event, value))
        return false;
    scan->has_text = lode_substring_is_in(part, value->bytes, value->length);
    return true;
}

static bool is_key(const char *asked, const char *name)
{
    struct lode_attribute_key key = lode_attribute_key_of(asked);
    return lode_attribute_key_is(&key, name);
}

/* The name under which rows have an attribute: as asked for; NULL: they do not. */
static const char *name_shown(const lode_search_options *options, const char *key)
{
    if (options->keys == NULL)
        return options->key == NULL ? key : is_key(options->key, key) ? options->key : NULL;
    for (size_t i = 0; i < options->key_count; i++)
        if (is_key(options->keys[i], key))
            return options->keys[i];
    return NULL;
}

/* Keeps attributes of the outermost call; a repeated key replaces its value. */
static bool keep_pair(struct lode_scan *scan, const lode_event *event, const char *key,
                      struct lode_read_value *value)
{
    size_t i = 0;
    key = name_shown(scan->wanted->options, key);
    if (key == NULL)
        return true;
    while (i < scan->pair_count && strcmp(lode_blob_string(&scan->pairs[i].key), key) != 0)
        i++;
    if (i == LODE_SEARCH_VALUES || (i < scan->pair_count && scan->wanted->options->any_call))
        return true;
    if (!lode_value_read(&scan->reader, event, value) || !keep(&scan->pairs[i].key, key, strlen(key)) ||
        !keep(&scan->pairs[i].value, value->bytes, value->length))
        return false;
    scan->pairs[i].kind = value->kind;
    scan->pairs[i].real = value->real;
    if (i == scan->pair_count)
        scan->pair_count++;
    return true;
}

static bool meet_attribute(struct lode_scan *scan, const lode_event *event)
{
    const char *key = lode_event_name(scan->wanted->recording, event);
    struct lode_read_value value = {0};
    bool is_outermost = scan->level == 1 && !scan->has_ended;
    if ((is_outermost || scan->wanted->options->any_call) && !keep_pair(scan, event, key, &value))
        return false;
    return (scan->met == scan->wanted->attributes || meet_attributes(scan, event, key, &value)) &&
           meet_text(scan, event, key, &value);
}

/* ---- exceptions ---- */

static bool is_said(const lode_argument *argument)
{
    return argument->kind == LODE_VALUE_TEXT && argument->bytes &&
           (strcmp(argument->name, "class") == 0 || strcmp(argument->name, "message") == 0 ||
            strcmp(argument->name, "cause") == 0);
}

/* Class and message. */
static bool keep_exception(struct lode_scan *scan, size_t count)
{
    scan->reader.text.size = 0;
    for (size_t i = 0; i < count && i < EXCEPTION_HEAD; i++) {
        const lode_argument *argument = &scan->reader.arguments[i];
        if (!is_said(argument) || argument->length == 0)
            continue;
        if (!lode_put_text(&scan->reader.text, scan->reader.text.size > 0 ? ": " : "") ||
            !lode_put_bytes(&scan->reader.text, argument->bytes, argument->length))
            return false;
    }
    scan->exception_level = scan->level;
    return keep(&scan->exception, lode_blob_string(&scan->reader.text), scan->reader.text.size);
}

static bool meet_exception(struct lode_scan *scan, const lode_event *event)
{
    bool is_outer = scan->level < scan->exception_level;
    size_t count;
    if (!is_outer && scan->has_text)
        return true;
    if (!lode_value_decode(&scan->reader, event, scan->has_text ? EXCEPTION_HEAD : SIZE_MAX, &count))
        return false;
    for (size_t i = 0; i < count && !scan->has_text; i++)
        if (is_said(&scan->reader.arguments[i]))
            scan->has_text = lode_substring_is_in(&scan->wanted->text, scan->reader.arguments[i].bytes,
                                                  scan->reader.arguments[i].length);
    return !is_outer || keep_exception(scan, count);
}

/* ---- a track ---- */

static bool asks_where(const struct lode_scan *scan)
{
    return scan->wanted->options->where_count > 0;
}

lode_status lode_scan_begin(struct lode_scan *scan, const struct lode_wanted *wanted, uint32_t track,
                            lode_error *error)
{
    scan->wanted = wanted;
    scan->track = track;
    scan->reader.recording = wanted->recording;
    scan->reader.track = track;
    scan->calls = scan->errors = scan->level = scan->met = 0;
    /* Skip what was not requested. */
    scan->method = wanted->method ? LODE_MATCH_NONE : LODE_MATCH_SHOWN;
    scan->has_text = !is_asked(&wanted->text);
    scan->function = NULL;
    scan->has_ended = false;
    scan->pair_count = 0;
    scan->exception.size = 0;
    scan->exception_level = UINT64_MAX;
    scan->is_where_met = true;
    if (!asks_where(scan))
        return LODE_OK;
    lode_where_begin(&scan->where, &wanted->where, wanted->recording);
    return lode_request_begin(&scan->request, wanted->recording, track, error);
}

lode_status lode_scan_side(struct lode_scan *scan, uint32_t track, lode_error *error)
{
    scan->reader.track = track;
    return asks_where(scan) ? lode_request_side(&scan->request, track, error) : LODE_OK;
}

static bool meet_point(struct lode_scan *scan, const lode_event *event)
{
    switch (lode_event_instant(scan->wanted->recording, event)) {
    case LODE_INSTANT_ATTRIBUTE:
        return meet_attribute(scan, event);
    case LODE_INSTANT_EXCEPTION:
        return meet_exception(scan, event);
    case LODE_INSTANT_OTHER:
    case LODE_INSTANT_NUMBERS:
        break;
    }
    return true;
}

lode_status lode_scan_take(struct lode_scan *scan, const lode_event *events, size_t count, lode_error *error)
{
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        if (events[i].kind == LODE_EVENT_ENTER)
            done = enter(scan, events[i].function);
        else if (events[i].kind == LODE_EVENT_LEAVE)
            leave(scan, &events[i]);
        else if (events[i].kind == LODE_EVENT_INSTANT)
            done = meet_point(scan, &events[i]);
        if (asks_where(scan)) {
            LODE_TRY(lode_request_take(&scan->request, &events[i], error));
            LODE_TRY(lode_where_take(&scan->where, &scan->request, &events[i], error));
        }
    }
    return done ? LODE_OK : lode_fail_memory(error);
}

lode_status lode_scan_finish(struct lode_scan *scan, lode_error *error)
{
    return asks_where(scan) ? lode_where_finish(&scan->where, &scan->request, &scan->is_where_met, error)
                            : LODE_OK;
}

bool lode_scan_matches(const struct lode_scan *scan)
{
    return scan->method != LODE_MATCH_NONE && scan->has_text && scan->met == scan->wanted->attributes &&
           scan->is_where_met && (scan->errors > 0 || !scan->wanted->options->errors_only);
}

static const char *copy_text(char **at, const struct lode_blob *blob)
{
    const char *text = lode_blob_string(blob);
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

struct lode_hit *lode_scan_hit(const struct lode_scan *scan, uint64_t begin, uint64_t duration)
{
    size_t count = scan->pair_count;
    size_t size = sizeof(struct lode_hit) + count * (sizeof(lode_search_value) + sizeof(lode_search_type));
    size_t strings = scan->exception.size + 1;
    for (size_t i = 0; i < count; i++)
        strings += scan->pairs[i].key.size + scan->pairs[i].value.size;
    struct lode_hit *hit = malloc(size + strings);
    if (hit == NULL)
        return NULL;
    lode_search_type *types = (lode_search_type *)(void *)&hit->values[count];
    char *at = (char *)hit + size;
    for (size_t i = 0; i < count; i++) {
        hit->values[i].key = copy_text(&at, &scan->pairs[i].key);
        hit->values[i].value = copy_text(&at, &scan->pairs[i].value);
        types[i] = (lode_search_type){scan->pairs[i].kind, scan->pairs[i].real};
    }
    hit->row = (lode_search_row){.track = scan->track,
                                 .begin = begin,
                                 .duration = duration,
                                 .calls = scan->calls,
                                 .errors = scan->errors,
                                 .function = scan->function,
                                 .values = hit->values,
                                 .value_count = count,
                                 .exception = copy_text(&at, &scan->exception),
                                 .types = types};
    return hit;
}

void lode_scan_free(struct lode_scan *scan)
{
    for (size_t i = 0; i < LODE_SEARCH_VALUES; i++) {
        lode_blob_free(&scan->pairs[i].key);
        lode_blob_free(&scan->pairs[i].value);
    }
    lode_blob_free(&scan->exception);
    lode_value_reader_free(&scan->reader);
    lode_request_free(&scan->request);
    lode_where_state_free(&scan->where);
    free(scan->verdicts);
}
