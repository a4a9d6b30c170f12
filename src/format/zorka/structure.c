/* SPDX-License-Identifier: BSD-3-Clause */
/* Values: scalars as arguments of their kind, lists and maps as strings. */
#include "base/io/bytes.h"
#include "base/text/label.h"
#include "format/zorka/zorka.h"
#include <math.h>
#include <stdlib.h>

enum {
    TEXT_MAX = 1 << 20, /* of a list or a map; longer ones are cut off */
    SIMPLE_UNDEFINED = 23
};

/* ---- scalars ---- */

static double real_of(const struct zor_item *item)
{
    uint32_t bits = (uint32_t)item->value;
    if (item->width == 8)
        return f64_of_bits(item->value);
    if (item->width == 4) {
        float single;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    int exponent = (int)(bits >> 10 & 31), sign = bits >> 15 ? -1 : 1;
    double fraction = (double)(bits & 1023);
    if (exponent == 31)
        return sign * (fraction > 0 ? (double)NAN : (double)INFINITY);
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25));
}

static void set_bytes(lode_argument *argument, struct lode_range bytes)
{
    argument->kind = LODE_VALUE_TEXT;
    argument->bytes = bytes.data ? (const void *)bytes.data : "";
    argument->length = (size_t)bytes.size;
}

void lode_zor_set_string(lode_argument *argument, const struct zor_strings *strings, uint64_t id)
{
    const struct zor_text *text = lode_zor_text(strings, id);
    static const uint8_t unknown[] = "?";
    set_bytes(argument, text ? lode_zor_plain(text) : (struct lode_range){unknown, id ? 1 : 0});
}

void lode_zor_set_number(lode_argument *argument, bool is_negative, uint64_t value)
{
    argument->kind = value <= INT64_MAX ? LODE_VALUE_SIGNED : LODE_VALUE_UNSIGNED;
    if (value > INT64_MAX)
        argument->unsigned_value = value;
    else
        argument->signed_value = is_negative ? -1 - (int64_t)value : (int64_t)value;
}

/* False if it is neither a number nor a Boolean. */
static bool set_simple(lode_argument *argument, const struct zor_item *item)
{
    static const struct lode_enumerator words[] = {{"false", ZOR_FALSE}, {"true", ZOR_TRUE}};
    static const struct lode_enumeration booleans = {words, 2};
    if (item->is_float) {
        argument->kind = LODE_VALUE_REAL;
        argument->real = real_of(item);
        return true;
    }
    if (item->value != ZOR_FALSE && item->value != ZOR_TRUE)
        return false;
    argument->kind = LODE_VALUE_ENUM;
    argument->signed_value = (int64_t)item->value;
    argument->type = &booleans;
    return true;
}

/* A head and the tags before it; false at the end. */
static bool read_head(struct zor_input *in, struct zor_item *item, bool *is_reference)
{
    while (lode_zor_head(in, item)) {
        if (item->major != ZOR_TAG)
            return true;
        *is_reference = item->value == ZOR_TAG_STRING;
    }
    return false;
}

/* Sets a scalar from its head, and the content of a string; false if it is a list or a map. */
static bool set_plain(const struct zor_structure *type, struct zor_input *in, const struct zor_item *item,
                      bool is_reference, lode_argument *argument)
{
    struct lode_range content;
    switch (item->major) {
    case ZOR_UNSIGNED:
    case ZOR_NEGATIVE:
        if (is_reference && item->major == ZOR_UNSIGNED)
            lode_zor_set_string(argument, type->strings, item->value);
        else
            lode_zor_set_number(argument, item->major == ZOR_NEGATIVE, item->value);
        return true;
    case ZOR_BYTES:
    case ZOR_TEXT:
        if (!lode_zor_content(in, item, &content))
            return false;
        set_bytes(argument, content);
        return true;
    case ZOR_SIMPLE:
        return set_simple(argument, item);
    default:
        return false;
    }
}

void lode_zor_value(const struct zor_structure *type, struct lode_range bytes, lode_argument *argument)
{
    struct zor_input in = zor_input(bytes);
    struct zor_item item;
    bool is_reference = type->is_page;
    argument->bits = 64;
    if (read_head(&in, &item, &is_reference) && set_plain(type, &in, &item, is_reference, argument))
        return;
    set_bytes(argument, bytes);
    argument->kind = LODE_VALUE_STRUCTURE;
    argument->type = type;
}

int32_t lode_zor_whole(const struct zor_structure *type, struct lode_range bytes)
{
    lode_argument value = {0};
    char digits[16] = "";
    lode_zor_value(type, bytes, &value);
    if (value.kind == LODE_VALUE_TEXT && value.length < sizeof digits) {
        memcpy(digits, value.bytes, value.length);
        bool has_others = strspn(digits, "0123456789") < value.length;
        value.kind = LODE_VALUE_SIGNED;
        value.signed_value = has_others ? 0 : strtoll(digits, NULL, 10);
    }
    bool is_whole =
        value.kind == LODE_VALUE_SIGNED && value.signed_value > 0 && value.signed_value <= INT32_MAX;
    return is_whole ? (int32_t)value.signed_value : 0;
}

/* ---- lists and maps ---- */

/* An open list, map or string. */
struct level {
    uint8_t major;
    bool is_open; /* until a break comes */
    uint64_t seen, count;
};

struct writing {
    const struct zor_structure *type;
    struct lode_label *label;
    struct zor_input in;
    struct level levels[ZOR_NESTING_MAX];
    unsigned depth;
};

static void separate(const struct writing *self)
{
    const struct level *level = &self->levels[self->depth - 1];
    bool is_value = level->major == ZOR_MAP && level->seen % 2 == 1;
    if (level->seen > 0)
        lode_label_text(self->label, is_value ? ": " : ", ");
}

/* Writes strings in chunks in the notation of RFC 8949. */
static void begin_level(struct writing *self, const struct zor_item *item)
{
    struct level level = {item->major, item->is_open, 0, item->value};
    if (item->major == ZOR_MAP)
        level.count = item->value * 2;
    self->levels[self->depth++] = level;
    lode_label_text(self->label, item->major == ZOR_ARRAY ? "[" : item->major == ZOR_MAP ? "{" : "(_ ");
}

static void end_level(struct writing *self)
{
    uint8_t major = self->levels[--self->depth].major;
    lode_label_text(self->label, major == ZOR_ARRAY ? "]" : major == ZOR_MAP ? "}" : ")");
}

static void put_simple(struct lode_label *label, const struct zor_item *item)
{
    if (item->value == ZOR_NULL)
        lode_label_text(label, "null");
    else if (item->value == SIMPLE_UNDEFINED)
        lode_label_text(label, "undefined");
    else
        lode_label_format(label, "simple(%u)", (unsigned)item->value);
}

/* The next item; false if it is missing or not allowed there. */
static bool put_item(struct writing *self)
{
    struct zor_item item;
    lode_argument argument = {.bits = 64};
    bool is_reference = self->type->is_page;
    if (!read_head(&self->in, &item, &is_reference))
        return false;
    if (item.major == ZOR_SIMPLE && item.is_open) {
        if (self->depth > 0)
            end_level(self);
        return true;
    }
    if (self->depth > 0) {
        separate(self);
        self->levels[self->depth - 1].seen++;
    }
    bool is_plain = set_plain(self->type, &self->in, &item, is_reference, &argument);
    if (is_plain)
        lode_argument_put(self->label, &argument);
    else if (item.major == ZOR_SIMPLE)
        put_simple(self->label, &item);
    else if (self->depth == ZOR_NESTING_MAX)
        return false;
    else
        begin_level(self, &item);
    return true;
}

void lode_zor_put_structure(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                            size_t length)
{
    struct writing writing = {.type = (const struct zor_structure *)self,
                              .label = label,
                              .in = zor_input((struct lode_range){bytes, length})};
    do {
        if (label->length > TEXT_MAX || !put_item(&writing)) {
            lode_label_text(label, "...");
            return;
        }
        while (writing.depth > 0 && !writing.levels[writing.depth - 1].is_open &&
               writing.levels[writing.depth - 1].seen == writing.levels[writing.depth - 1].count)
            end_level(&writing);
    } while (writing.depth > 0);
}
