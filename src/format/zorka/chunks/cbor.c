/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/chunks/cbor.h"

#include "base/io/bytes.h"

enum {
    INFO_OPEN = 31
};

static uint64_t read_number(const uint8_t *at, unsigned width)
{
    switch (width) {
    case 1:
        return *at;
    case 2:
        return get_u16be(at);
    case 4:
        return get_u32be(at);
    default:
        return get_u64be(at);
    }
}

/* Integers and tags cannot be of indefinite length. */
static bool set_open(struct zor_item *item)
{
    item->is_open = true;
    return item->major >= ZOR_BYTES && item->major != ZOR_TAG;
}

bool lode_zor_head(struct zor_input *in, struct zor_item *item)
{
    if (in->at >= in->size)
        return false;
    uint8_t first = in->data[in->at];
    unsigned info = first & 0x1f;
    *item = (struct zor_item){.major = first >> 5, .value = info};
    if (info >= 24 && info < 28) {
        unsigned width = 1u << (info - 24);
        if (in->size - in->at - 1 < width)
            return false;
        item->value = read_number(in->data + in->at + 1, width);
        item->width = (uint8_t)width;
        item->is_float = item->major == ZOR_SIMPLE && width > 1;
        /* Simple values below 32 have only one encoding. */
        if (item->major == ZOR_SIMPLE && width == 1 && item->value < 32)
            return false;
    } else if (info >= 28 && (info != INFO_OPEN || !set_open(item))) {
        return false;
    }
    in->at += 1u + item->width;
    return true;
}

bool lode_zor_content(struct zor_input *in, const struct zor_item *item, struct lode_range *content)
{
    struct lode_range whole = {in->data, in->size};
    if (item->is_open || !lode_range_part(whole, in->at, item->value, content))
        return false;
    in->at += item->value;
    return true;
}

/* An open array, map, tag or string while an item is skipped. */
struct level {
    uint64_t left; /* items; of indefinite length: those seen */
    uint8_t major; /* ZOR_BYTES and ZOR_TEXT: only chunks of it */
    bool is_open;
};

static bool is_break(const struct zor_item *item)
{
    return item->major == ZOR_SIMPLE && item->is_open;
}

/* Opens the content of an item; false if it is not allowed there. */
static bool enter_item(struct zor_input *in, const struct zor_item *item, struct level *levels,
                       unsigned *depth)
{
    struct lode_range content;
    bool is_string = item->major == ZOR_BYTES || item->major == ZOR_TEXT;
    if (is_string && !item->is_open)
        return lode_zor_content(in, item, &content);
    bool holds_items =
        is_string || item->major == ZOR_ARRAY || item->major == ZOR_MAP || item->major == ZOR_TAG;
    if (!holds_items)
        return true;
    uint64_t count = item->major == ZOR_TAG ? 1 : item->is_open ? 0 : item->value;
    /* Each item takes at least a byte, so there cannot be more of them than bytes. */
    if (*depth == ZOR_NESTING_MAX || count > in->size - in->at)
        return false;
    if (item->major == ZOR_MAP)
        count *= 2;
    levels[(*depth)++] = (struct level){count, item->major, item->is_open};
    return true;
}

/* Whether the innermost open level accepts an item, or a break. Counts it. */
static bool takes(struct level *level, const struct zor_item *item)
{
    bool is_string = level->major == ZOR_BYTES || level->major == ZOR_TEXT;
    if (is_break(item))
        return level->is_open && !(level->major == ZOR_MAP && level->left % 2 != 0);
    if (is_string && (item->major != level->major || item->is_open))
        return false;
    level->left += level->is_open ? 1 : UINT64_MAX;
    return true;
}

static bool skip_item(struct zor_input *in)
{
    struct level levels[ZOR_NESTING_MAX];
    unsigned depth = 0;
    struct zor_item item;
    do {
        if (!lode_zor_head(in, &item) || (depth == 0 ? is_break(&item) : !takes(&levels[depth - 1], &item)))
            return false;
        if (is_break(&item))
            depth--;
        else if (!enter_item(in, &item, levels, &depth))
            return false;
        while (depth > 0 && !levels[depth - 1].is_open && levels[depth - 1].left == 0)
            depth--;
    } while (depth > 0);
    return true;
}

bool lode_zor_skip(struct zor_input *in)
{
    uint64_t start = in->at;
    if (skip_item(in))
        return true;
    in->at = start;
    return false;
}
