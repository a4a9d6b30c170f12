/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/protobuf.h"

#include "base/io/bytes.h"

enum {
    VARINT_MOST = 10 /* bytes */
};

enum lode_pb_step lode_pb_number(struct lode_pb_walk *walk, uint64_t *number)
{
    *number = 0;
    if (walk->at == walk->end)
        return LODE_PB_END;
    const uint8_t *at = walk->at;
    if (*at < 0x80) { /* most keys and lengths */
        *number = *at;
        walk->at = at + 1;
        return LODE_PB_FIELD;
    }
    for (unsigned i = 0; i < VARINT_MOST; i++) {
        if (at == walk->end)
            return LODE_PB_CUT;
        uint8_t byte = *at++;
        *number |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            walk->at = at;
            return LODE_PB_FIELD;
        }
    }
    return LODE_PB_TOO_LONG;
}

static enum lode_pb_step take(struct lode_pb_walk *walk, uint64_t size, struct lode_range *bytes)
{
    if (size > (uint64_t)(walk->end - walk->at))
        return LODE_PB_CUT;
    *bytes = (struct lode_range){walk->at, size};
    walk->at += size;
    return LODE_PB_FIELD;
}

/* A number that must follow. */
static enum lode_pb_step take_number(struct lode_pb_walk *walk, uint64_t *number)
{
    enum lode_pb_step step = lode_pb_number(walk, number);
    return step == LODE_PB_END ? LODE_PB_CUT : step;
}

enum lode_pb_step lode_pb_key(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    uint64_t key;
    *field = (struct lode_pb_field){.start = walk->at};
    enum lode_pb_step step = lode_pb_number(walk, &key);
    field->type = key & 7;
    field->number = key >> 3;
    return step;
}

enum lode_pb_step lode_pb_content(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    enum lode_pb_step step;
    switch (field->type) {
    case LODE_PB_VARINT:
        return take_number(walk, &field->value);
    case LODE_PB_BYTES:
        step = take_number(walk, &field->value);
        return step == LODE_PB_FIELD ? take(walk, field->value, &field->bytes) : step;
    case LODE_PB_FIXED64:
        step = take(walk, sizeof(uint64_t), &field->bytes);
        field->value = step == LODE_PB_FIELD ? get_u64le(field->bytes.data) : 0;
        return step;
    case LODE_PB_FIXED32:
        step = take(walk, sizeof(uint32_t), &field->bytes);
        field->value = step == LODE_PB_FIELD ? get_u32le(field->bytes.data) : 0;
        return step;
    default:
        return LODE_PB_TYPE;
    }
}

enum lode_pb_step lode_pb_next(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    enum lode_pb_step step = lode_pb_key(walk, field);
    if (step == LODE_PB_FIELD)
        step = lode_pb_content(walk, field);
    if (step != LODE_PB_FIELD)
        walk->at = field->start;
    return step;
}
