/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches the events of a track with the search conditions. */
#include "analysis/search/search.h"
#include "base/error.h"
#include "base/text/utf8.h"
#include <errno.h>
#include <lode/name.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_MAX = 4096,
    FIRST_TEXT = 256,
    EXCEPTION_HEAD = 2, /* arguments: class and message */
    NUMBER_MAX = 63     /* bytes of a number */
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
    wanted->values = calloc(options->attribute_count + 1, sizeof *wanted->values);
    bool done = wanted->values && lode_substring_init(&wanted->text, options->text);
    for (size_t i = 0; done && i < options->attribute_count; i++) {
        wanted->attributes |= UINT64_C(1) << i;
        if (options->attributes[i].is_part == LODE_ATTRIBUTE_CONTAINS)
            done = lode_substring_init(&wanted->values[i], options->attributes[i].value);
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
    return init_parts(wanted) ? LODE_OK : lode_fail_memory(error);
}

void lode_wanted_free(struct lode_wanted *wanted)
{
    for (size_t i = 0; wanted->values && i < wanted->options->attribute_count; i++)
        lode_substring_free(&wanted->values[i]);
    free(wanted->values);
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
    return options->errors_only || options->attribute_count > 0 || wanted->method ||
           is_asked(&wanted->text) || options->sort == LODE_SEARCH_BY_CALLS ||
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

static const char *text_of(const struct lode_blob *blob)
{
    return blob->size > 0 ? (const char *)blob->bytes : "";
}

/* Appends bytes. */
static bool put_bytes(struct lode_blob *blob, const void *bytes, size_t count)
{
    size_t at = lode_blob_reserve(blob, count, 1);
    if (at != LODE_BLOB_FULL && count > 0)
        memcpy(blob->bytes + at, bytes, count);
    return at != LODE_BLOB_FULL;
}

static bool put_text(struct lode_blob *blob, const char *text)
{
    return put_bytes(blob, text, strlen(text));
}

/* Decodes at most `most` arguments; sets *count. Invalid ones give a finding and no arguments. */
static bool decode(struct lode_scan *scan, const lode_event *event, size_t most, size_t *count)
{
    const lode_recording *recording = scan->wanted->recording;
    for (;;) {
        size_t capacity = scan->argument_capacity < most ? scan->argument_capacity : most;
        if (lode_event_arguments(recording, scan->track, event, scan->arguments, capacity, count, NULL) !=
            LODE_OK)
            *count = 0;
        size_t wanted = *count < most ? *count : most;
        if (wanted <= capacity) {
            *count = wanted;
            return true;
        }
        if (!LODE_GROW(scan->arguments, scan->argument_capacity, wanted))
            return false;
    }
}

/* Appends an argument. */
static bool put_argument(struct lode_blob *blob, const lode_argument *argument)
{
    char first[FIRST_TEXT];
    size_t length = lode_argument_text(argument, first, sizeof first);
    if (length < sizeof first)
        return put_text(blob, first);
    size_t at = lode_blob_reserve(blob, length + 1, 1);
    if (at == LODE_BLOB_FULL)
        return false;
    lode_argument_text(argument, (char *)blob->bytes + at, length + 1);
    blob->size--;
    return true;
}

/* A value as text; strings without quotes. Valid until the next call. */
struct value {
    const char *bytes;
    size_t length;
    lode_value_kind kind; /* TEXT: also several values */
    double real;
    bool is_read;
};

static bool read_value(struct lode_scan *scan, const lode_event *event, struct value *value)
{
    size_t count;
    if (value->is_read)
        return true;
    if (!decode(scan, event, SIZE_MAX, &count))
        return false;
    const lode_argument *first = scan->arguments;
    if (count == 1 && first->kind == LODE_VALUE_TEXT && first->bytes) {
        *value = (struct value){first->bytes, first->length, LODE_VALUE_TEXT, 0, true};
        return true;
    }
    scan->text.size = 0;
    for (size_t i = 0; i < count; i++)
        if (!put_text(&scan->text, i > 0 ? ", " : "") || !put_argument(&scan->text, &scan->arguments[i]))
            return false;
    lode_value_kind kind = count == 1 ? first->kind : LODE_VALUE_TEXT;
    *value = (struct value){text_of(&scan->text), scan->text.size, kind,
                            kind == LODE_VALUE_REAL ? first->real : 0, true};
    return true;
}

/* ---- attributes ---- */

/* A decimal number, exact if it is an integer of 64 bits. */
struct number {
    bool is_number, is_integer;
    int64_t integer;
    double real;
};

static struct number number_of(const char *bytes, size_t length)
{
    char text[NUMBER_MAX + 1], *end;
    struct number number = {0};
    if (length == 0 || length > NUMBER_MAX)
        return number;
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (strspn(text, "0123456789+-.eE") != length)
        return number;
    errno = 0;
    number.integer = strtoll(text, &end, 10);
    number.is_integer = *end == '\0' && errno == 0;
    number.real = strtod(text, &end);
    number.is_number = *end == '\0' && isfinite(number.real);
    return number;
}

static int compare_numbers(const struct number *a, const struct number *b)
{
    if (a->is_integer && b->is_integer)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    return a->real < b->real ? -1 : a->real > b->real;
}

static bool fits_relation(const lode_search_attribute *attribute, const struct value *value)
{
    size_t length = strlen(attribute->value);
    struct number left = number_of(value->bytes, value->length);
    struct number right = number_of(attribute->value, length);
    bool are_numbers = left.is_number && right.is_number;
    int order = are_numbers ? compare_numbers(&left, &right) : 0;
    bool is_same = length == value->length && memcmp(attribute->value, value->bytes, length) == 0;
    switch (attribute->is_part) {
    case LODE_ATTRIBUTE_IS:
        return is_same;
    case LODE_ATTRIBUTE_IS_NOT:
        return are_numbers ? order != 0 : !is_same;
    case LODE_ATTRIBUTE_BELOW:
        return are_numbers && order < 0;
    case LODE_ATTRIBUTE_AT_MOST:
        return are_numbers && order <= 0;
    case LODE_ATTRIBUTE_ABOVE:
        return are_numbers && order > 0;
    case LODE_ATTRIBUTE_AT_LEAST:
        return are_numbers && order >= 0;
    default:
        return false;
    }
}

static bool fits(const struct lode_wanted *wanted, size_t index, const struct value *value)
{
    const lode_search_attribute *attribute = &wanted->options->attributes[index];
    if (attribute->is_part == LODE_ATTRIBUTE_CONTAINS)
        return lode_substring_is_in(&wanted->values[index], value->bytes, value->length);
    return fits_relation(attribute, value);
}

static bool meet_attributes(struct lode_scan *scan, const lode_event *event, const char *key,
                            struct value *value)
{
    const struct lode_wanted *wanted = scan->wanted;
    for (size_t i = 0; i < wanted->options->attribute_count; i++) {
        const lode_search_attribute *attribute = &wanted->options->attributes[i];
        uint64_t bit = UINT64_C(1) << i;
        if ((scan->met & bit) || strcmp(attribute->key, key) != 0)
            continue;
        if (attribute->value && !read_value(scan, event, value))
            return false;
        if (attribute->value == NULL || fits(wanted, i, value))
            scan->met |= bit;
    }
    return true;
}

static bool meet_text(struct lode_scan *scan, const lode_event *event, const char *key, struct value *value)
{
    const struct lode_substring *part = &scan->wanted->text;
    if (scan->has_text || (scan->has_text = is_in_text(part, key)))
        return true;
    if (!read_value(scan, event, value))
        return false;
    scan->has_text = lode_substring_is_in(part, value->bytes, value->length);
    return true;
}

/* Whether rows have the attribute. */
static bool is_shown(const lode_search_options *options, const char *key)
{
    if (options->keys == NULL)
        return options->key == NULL || strcmp(options->key, key) == 0;
    for (size_t i = 0; i < options->key_count; i++)
        if (strcmp(options->keys[i], key) == 0)
            return true;
    return false;
}

/* Keeps attributes of the outermost call; a repeated key replaces its value. */
static bool keep_pair(struct lode_scan *scan, const lode_event *event, const char *key, struct value *value)
{
    size_t i = 0;
    while (i < scan->pair_count && strcmp(text_of(&scan->pairs[i].key), key) != 0)
        i++;
    if (i == LODE_SEARCH_VALUES || !is_shown(scan->wanted->options, key))
        return true;
    if (!read_value(scan, event, value) || !keep(&scan->pairs[i].key, key, strlen(key)) ||
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
    struct value value = {0};
    bool is_outermost = scan->level == 1 && !scan->has_ended;
    if (is_outermost && !keep_pair(scan, event, key, &value))
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
    scan->text.size = 0;
    for (size_t i = 0; i < count && i < EXCEPTION_HEAD; i++) {
        const lode_argument *argument = &scan->arguments[i];
        if (!is_said(argument) || argument->length == 0)
            continue;
        if (!put_text(&scan->text, scan->text.size > 0 ? ": " : "") ||
            !put_bytes(&scan->text, argument->bytes, argument->length))
            return false;
    }
    scan->exception_level = scan->level;
    return keep(&scan->exception, text_of(&scan->text), scan->text.size);
}

static bool meet_exception(struct lode_scan *scan, const lode_event *event)
{
    bool is_outer = scan->level < scan->exception_level;
    size_t count;
    if (!is_outer && scan->has_text)
        return true;
    if (!decode(scan, event, scan->has_text ? EXCEPTION_HEAD : SIZE_MAX, &count))
        return false;
    for (size_t i = 0; i < count && !scan->has_text; i++)
        if (is_said(&scan->arguments[i]))
            scan->has_text = lode_substring_is_in(&scan->wanted->text, scan->arguments[i].bytes,
                                                  scan->arguments[i].length);
    return !is_outer || keep_exception(scan, count);
}

/* ---- a track ---- */

void lode_scan_begin(struct lode_scan *scan, const struct lode_wanted *wanted, uint32_t track)
{
    scan->wanted = wanted;
    scan->track = track;
    scan->calls = scan->errors = scan->level = scan->met = 0;
    /* Skip what was not requested. */
    scan->method = wanted->method ? LODE_MATCH_NONE : LODE_MATCH_SHOWN;
    scan->has_text = !is_asked(&wanted->text);
    scan->function = NULL;
    scan->has_ended = false;
    scan->pair_count = 0;
    scan->exception.size = 0;
    scan->exception_level = UINT64_MAX;
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
    }
    return done ? LODE_OK : lode_fail_memory(error);
}

bool lode_scan_matches(const struct lode_scan *scan)
{
    return scan->method != LODE_MATCH_NONE && scan->has_text && scan->met == scan->wanted->attributes &&
           (scan->errors > 0 || !scan->wanted->options->errors_only);
}

static const char *copy_text(char **at, const struct lode_blob *blob)
{
    const char *text = text_of(blob);
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
    lode_blob_free(&scan->text);
    free(scan->arguments);
    free(scan->verdicts);
}
