/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of attributes as text, and conditions on them. */
#include "analysis/search/value.h"
#include "base/memory/array.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_TEXT = 256,
    NUMBER_MAX = 63 /* bytes of a number */
};

void lode_value_reader_free(struct lode_value_reader *reader)
{
    lode_blob_free(&reader->text);
    free(reader->arguments);
}

/* Appends bytes. */
bool lode_put_bytes(struct lode_blob *blob, const void *bytes, size_t count)
{
    size_t at = lode_blob_reserve(blob, count, 1);
    if (at != LODE_BLOB_FULL && count > 0)
        memcpy(blob->bytes + at, bytes, count);
    return at != LODE_BLOB_FULL;
}

bool lode_put_text(struct lode_blob *blob, const char *text)
{
    return lode_put_bytes(blob, text, strlen(text));
}

bool lode_value_decode(struct lode_value_reader *reader, const lode_event *event, size_t most, size_t *count)
{
    for (;;) {
        size_t capacity = reader->capacity < most ? reader->capacity : most;
        if (lode_event_arguments(reader->recording, reader->track, event, reader->arguments, capacity, count,
                                 NULL) != LODE_OK)
            *count = 0;
        size_t wanted = *count < most ? *count : most;
        if (wanted <= capacity) {
            *count = wanted;
            return true;
        }
        if (!LODE_GROW(reader->arguments, reader->capacity, wanted))
            return false;
    }
}

/* Appends an argument. */
static bool put_argument(struct lode_blob *blob, const lode_argument *argument)
{
    char first[FIRST_TEXT];
    size_t length = lode_argument_text(argument, first, sizeof first);
    if (length < sizeof first)
        return lode_put_text(blob, first);
    size_t at = lode_blob_reserve(blob, length + 1, 1);
    if (at == LODE_BLOB_FULL)
        return false;
    lode_argument_text(argument, (char *)blob->bytes + at, length + 1);
    blob->size--;
    return true;
}

bool lode_value_read(struct lode_value_reader *reader, const lode_event *event, struct lode_read_value *value)
{
    size_t count;
    if (value->is_read)
        return true;
    if (!lode_value_decode(reader, event, SIZE_MAX, &count))
        return false;
    const lode_argument *first = reader->arguments;
    if (count == 1 && first->kind == LODE_VALUE_TEXT && first->bytes) {
        *value = (struct lode_read_value){first->bytes, first->length, LODE_VALUE_TEXT, 0, true};
        return true;
    }
    reader->text.size = 0;
    for (size_t i = 0; i < count; i++)
        if (!lode_put_text(&reader->text, i > 0 ? ", " : "") ||
            !put_argument(&reader->text, &reader->arguments[i]))
            return false;
    lode_value_kind kind = count == 1 ? first->kind : LODE_VALUE_TEXT;
    *value = (struct lode_read_value){lode_blob_string(&reader->text), reader->text.size, kind,
                                      kind == LODE_VALUE_REAL ? first->real : 0, true};
    return true;
}

/* ---- conditions ---- */

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

static bool fits_relation(const lode_search_attribute *attribute, const char *bytes, size_t bytes_length)
{
    size_t length = strlen(attribute->value);
    struct number left = number_of(bytes, bytes_length);
    struct number right = number_of(attribute->value, length);
    bool are_numbers = left.is_number && right.is_number;
    int order = are_numbers ? compare_numbers(&left, &right) : 0;
    bool is_same = length == bytes_length && memcmp(attribute->value, bytes, length) == 0;
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

bool lode_condition_init(struct lode_condition *condition, const lode_search_attribute *attribute)
{
    *condition =
        (struct lode_condition){.attribute = *attribute, .key = lode_attribute_key_of(attribute->key)};
    return attribute->value == NULL || attribute->is_part != LODE_ATTRIBUTE_CONTAINS ||
           lode_substring_init(&condition->part, attribute->value);
}

void lode_condition_free(struct lode_condition *condition)
{
    lode_substring_free(&condition->part);
}

bool lode_condition_fits(const struct lode_condition *condition, const char *bytes, size_t length)
{
    if (condition->attribute.value == NULL)
        return true;
    if (condition->attribute.is_part == LODE_ATTRIBUTE_CONTAINS)
        return lode_substring_is_in(&condition->part, bytes, length);
    return fits_relation(&condition->attribute, bytes, length);
}
