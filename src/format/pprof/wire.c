/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/pprof/wire.h"

#include "base/io/bytes.h"

/* Wire types. 3 and 4 were groups, 6 and 7 never existed. */
enum {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5,
    VARINT_MOST = 10 /* bytes */
};

/* By number of a field: v a number, b bytes, p numbers, packed or not; NUL: unknown. */
static const char known[][16] = {
    [PPROF_PROFILE] = {"\0bbbbbbvvvvbvpvv"},
    [PPROF_VALUE_TYPE] = {"\0vv"},
    [PPROF_SAMPLE] = {"\0ppb"},
    [PPROF_LABEL] = {"\0vvvv"},
    [PPROF_MAPPING] = {"\0vvvvvvvvvv"},
    [PPROF_LOCATION] = {"\0vvvbv"},
    [PPROF_LINE] = {"\0vvv"},
    [PPROF_FUNCTION] = {"\0vvvvv"},
};

/* Bits beyond 64 are cut off, as other readers do. */
enum pprof_step lode_pprof_number(struct pprof_walk *walk, uint64_t *number)
{
    *number = 0;
    if (walk->at == walk->end)
        return PPROF_END;
    const uint8_t *at = walk->at;
    for (unsigned i = 0; i < VARINT_MOST; i++) {
        if (at == walk->end)
            return PPROF_CUT;
        uint8_t byte = *at++;
        *number |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            walk->at = at;
            return PPROF_FIELD;
        }
    }
    return PPROF_VARINT;
}

static enum pprof_step take(struct pprof_walk *walk, uint64_t size, struct lode_range *bytes)
{
    if (size > (uint64_t)(walk->end - walk->at))
        return PPROF_CUT;
    *bytes = (struct lode_range){walk->at, size};
    walk->at += size;
    return PPROF_FIELD;
}

static enum pprof_step take_content(struct pprof_walk *walk, struct pprof_field *field, unsigned type)
{
    enum pprof_step step;
    switch (type) {
    case WIRE_VARINT:
        step = lode_pprof_number(walk, &field->value);
        return step == PPROF_END ? PPROF_CUT : step;
    case WIRE_BYTES:
        field->is_bytes = true;
        step = lode_pprof_number(walk, &field->value);
        return step != PPROF_FIELD ? (step == PPROF_END ? PPROF_CUT : step)
                                   : take(walk, field->value, &field->bytes);
    case WIRE_FIXED64:
        return take(walk, sizeof(uint64_t), &field->bytes);
    case WIRE_FIXED32:
        return take(walk, sizeof(uint32_t), &field->bytes);
    default:
        return PPROF_TYPE;
    }
}

enum pprof_step lode_pprof_next(struct pprof_walk *walk, struct pprof_field *field)
{
    uint64_t key;
    *field = (struct pprof_field){.start = walk->at};
    enum pprof_step step = lode_pprof_number(walk, &key);
    if (step != PPROF_FIELD)
        return step;
    unsigned type = key & 7;
    field->number = key >> 3;
    char wanted = field->number < sizeof *known ? known[walk->message][field->number] : '\0';
    field->is_known = wanted != '\0';
    if (field->is_known) {
        bool is_right = (type == WIRE_VARINT && wanted != 'b') || (type == WIRE_BYTES && wanted != 'v');
        if (!is_right) {
            walk->at = field->start;
            return PPROF_MISTYPED;
        }
    }
    step = take_content(walk, field, type);
    if (step != PPROF_FIELD)
        walk->at = field->start;
    return step;
}

const char *lode_pprof_step_text(enum pprof_step step)
{
    switch (step) {
    case PPROF_CUT:
        return "a field exceeds its message";
    case PPROF_VARINT:
        return "a number has more than 10 bytes";
    case PPROF_TYPE:
        return "a field has a wire type that does not exist";
    case PPROF_MISTYPED:
        return "a field has another wire type than profile.proto says";
    case PPROF_FIELD:
    case PPROF_END:
    default:
        return "sound";
    }
}
