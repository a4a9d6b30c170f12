/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats arguments as uftrace does. */
#include "model/recording/argument.h"

#include "base/compare.h"
#include "base/text/label.h"
#include "base/text/utf8.h"
#include <inttypes.h>
#include <lode/private/utf8.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    /* Larger numbers are shown in hex (addresses, flags) unless their kind says otherwise. */
    DECIMAL_MAX = 100000,
    /* "-", 309 digits, a decimal point (of any locale) and 6 digits. */
    REAL_MAX = 336
};

static void put_hex(struct lode_label *label, uint64_t value, unsigned bits)
{
    if (bits > 0 && bits < 64)
        value &= (UINT64_C(1) << bits) - 1;
    if (value == 0)
        lode_label_text(label, "0");
    else
        lode_label_format(label, "0x%" PRIx64, value);
}

static void put_signed(struct lode_label *label, int64_t value)
{
    lode_label_format(label, "%" PRId64, value);
}

static void put_auto(struct lode_label *label, int64_t value, unsigned bits)
{
    /* A 64-bit register may hold a small negative int without sign extension. */
    if (bits == 64 && value > INT64_C(0xffff0000) && value <= INT64_C(0xffffffff))
        put_signed(label, value - (INT64_C(1) << 32));
    else if (value >= -DECIMAL_MAX && value <= DECIMAL_MAX)
        put_signed(label, value);
    else
        put_hex(label, (uint64_t)value, bits);
}

static void put_unsigned(struct lode_label *label, const lode_argument *argument)
{
    if (argument->unsigned_value <= DECIMAL_MAX || argument->label)
        lode_label_format(label, "%" PRIu64, argument->unsigned_value);
    else
        put_hex(label, argument->unsigned_value, argument->bits);
}

/* Six decimals after a point, in any locale. */
static void put_real(struct lode_label *label, double value)
{
    char text[REAL_MAX + 16];
    int length = snprintf(text, sizeof text, "%f", value);
    if (length <= 0 || (size_t)length >= sizeof text)
        return;
    size_t whole = strspn(text, "-0123456789"), end = (size_t)length;
    if (whole < 1 || whole + 6 >= end) {
        lode_label_text(label, text);
        return;
    }
    lode_label_bytes(label, text, whole);
    lode_label_text(label, ".");
    lode_label_text(label, text + end - 6);
}

/* An ASCII character, or any other byte. */
static void put_byte(struct lode_label *label, unsigned char byte)
{
    static const char escapes[] = "\0000\nn\tt\rr";
    for (size_t i = 0; i + 1 < sizeof escapes; i += 2)
        if ((unsigned char)escapes[i] == byte) {
            lode_label_format(label, "\\%c", escapes[i + 1]);
            return;
        }
    char plain = (char)byte;
    if (byte < 0x20 || byte >= 0x7f)
        lode_label_format(label, "\\x%02x", byte);
    else
        lode_label_bytes(label, &plain, 1);
}

static void put_text(struct lode_label *label, const lode_argument *argument)
{
    const char *text = argument->bytes;
    size_t at = 0;
    if (text == NULL) {
        lode_label_text(label, "NULL");
        return;
    }
    lode_label_text(label, "\"");
    while (at < argument->length) {
        uint32_t character;
        size_t length = lode_utf8_decode(text + at, argument->length - at, &character);
        if (length <= 1)
            put_byte(label, (unsigned char)text[at]);
        else if (lode_utf8_is_control(character))
            lode_label_format(label, "\\u%04x", (unsigned)character);
        else
            lode_label_bytes(label, text + at, length);
        at += length ? length : 1;
    }
    lode_label_text(label, "\"");
}

static const struct lode_enumerator *find_enumerator(const struct lode_enumeration *type, int64_t value)
{
    size_t low = 0, high = type->count;
    LODE_BISECT(low, high, type->items[middle].value < value);
    return low < type->count && type->items[low].value == value ? &type->items[low] : NULL;
}

/* Decomposes the value into flag names, highest first; false if no name matches. */
static bool put_flags(struct lode_label *label, const struct lode_enumeration *type, int64_t value)
{
    int64_t rest = value;
    for (size_t i = type->count; i > 0 && rest > 0; i--) {
        const struct lode_enumerator *flag = &type->items[i - 1];
        if (flag->value <= 0 || (rest & flag->value) != flag->value)
            continue;
        lode_label_text(label, rest == value ? "" : "|");
        lode_label_text(label, flag->name);
        rest -= flag->value;
    }
    if (rest == value)
        return false;
    if (rest != 0)
        lode_label_format(label, "+0x%" PRIx64, (uint64_t)rest);
    return true;
}

static void put_enum(struct lode_label *label, const lode_argument *argument)
{
    const struct lode_enumeration *type = argument->type;
    const struct lode_enumerator *found = type ? find_enumerator(type, argument->signed_value) : NULL;
    if (found)
        lode_label_text(label, found->name);
    else if (type == NULL || !put_flags(label, type, argument->signed_value))
        /* Any value that fits into an int is one. */
        put_auto(label, argument->signed_value,
                 argument->signed_value == (int32_t)argument->signed_value ? 32 : argument->bits);
}

static void put_pointer(struct lode_label *label, const lode_argument *argument)
{
    if (argument->label) {
        lode_label_text(label, "&");
        lode_label_text(label, argument->label);
    } else {
        put_hex(label, argument->unsigned_value, argument->bits);
    }
}

void lode_argument_put(struct lode_label *label, const lode_argument *argument)
{
    switch (argument->kind) {
    case LODE_VALUE_SIGNED:
        put_signed(label, argument->signed_value);
        break;
    case LODE_VALUE_UNSIGNED:
        put_unsigned(label, argument);
        break;
    case LODE_VALUE_HEX:
        put_hex(label, argument->unsigned_value, argument->bits);
        break;
    case LODE_VALUE_OCTAL:
        lode_label_format(label, "%#" PRIo64, argument->unsigned_value);
        break;
    case LODE_VALUE_AUTO:
        put_auto(label, argument->signed_value, argument->bits);
        break;
    case LODE_VALUE_CHARACTER:
        lode_label_text(label, "'");
        put_byte(label, (unsigned char)argument->signed_value);
        lode_label_text(label, "'");
        break;
    case LODE_VALUE_REAL:
        put_real(label, argument->real);
        break;
    case LODE_VALUE_TEXT:
        put_text(label, argument);
        break;
    case LODE_VALUE_POINTER:
        put_pointer(label, argument);
        break;
    case LODE_VALUE_ENUM:
        put_enum(label, argument);
        break;
    case LODE_VALUE_BYTES:
        lode_label_text(label, argument->label ? argument->label : "");
        lode_label_text(label, argument->length ? "{...}" : "{}");
        break;
    case LODE_VALUE_CHANGE:
        lode_label_format(label, "%+" PRId64, argument->signed_value);
        break;
    case LODE_VALUE_STRUCTURE: {
        const struct lode_structure *type = argument->type;
        type->put(type, label, argument->bytes, argument->length);
        break;
    }
    }
}

size_t lode_argument_text(const lode_argument *argument, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    lode_argument_put(&label, argument);
    bool is_name = argument->kind == LODE_VALUE_POINTER || argument->kind == LODE_VALUE_BYTES;
    if (argument->label && !is_name)
        lode_label_text(&label, argument->label);
    return lode_label_end(&label);
}
