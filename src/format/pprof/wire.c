/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/pprof/wire.h"

#include "format/protobuf.h"

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

static enum pprof_step step_of(enum lode_pb_step step)
{
    static const enum pprof_step steps[] = {[LODE_PB_FIELD] = PPROF_FIELD,
                                            [LODE_PB_END] = PPROF_END,
                                            [LODE_PB_CUT] = PPROF_CUT,
                                            [LODE_PB_TOO_LONG] = PPROF_VARINT,
                                            [LODE_PB_TYPE] = PPROF_TYPE};
    return steps[step];
}

enum pprof_step lode_pprof_number(struct pprof_walk *walk, uint64_t *number)
{
    struct lode_pb_walk inner = {walk->at, walk->end};
    enum lode_pb_step step = lode_pb_number(&inner, number);
    walk->at = inner.at;
    return step_of(step);
}

enum pprof_step lode_pprof_next(struct pprof_walk *walk, struct pprof_field *field)
{
    struct lode_pb_walk inner = {walk->at, walk->end};
    struct lode_pb_field wire;
    enum lode_pb_step step = lode_pb_key(&inner, &wire);
    char wanted = wire.number < sizeof *known ? known[walk->message][wire.number] : '\0';
    *field = (struct pprof_field){.number = wire.number, .is_known = wanted != '\0', .start = wire.start};
    if (step != LODE_PB_FIELD)
        return step_of(step);
    bool is_right =
        (wire.type == LODE_PB_VARINT && wanted != 'b') || (wire.type == LODE_PB_BYTES && wanted != 'v');
    if (field->is_known && !is_right)
        return PPROF_MISTYPED;
    step = lode_pb_content(&inner, &wire);
    field->is_bytes = wire.type == LODE_PB_BYTES;
    field->value = wire.value;
    field->bytes = wire.bytes;
    if (step == LODE_PB_FIELD)
        walk->at = inner.at;
    return step_of(step);
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
