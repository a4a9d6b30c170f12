/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/write/values.h"

#include "base/io/bytes.h"

enum {
    VALUES = 256, /* each takes 4 bytes at least */
    FIRST_KNOWN_ID = 100001
};

/* ---- values ---- */

static size_t up_to(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

/* The size of a value at an offset, or SIZE_MAX. */
static size_t size_of(const lode_argument *value, const uint8_t *at, size_t left, bool big_endian)
{
    size_t size = value->bits / 8;
    if (value->kind == LODE_VALUE_TEXT)
        size = left < 2 ? SIZE_MAX : (size_t)2 + (big_endian ? get_u16be(at) : get_u16le(at));
    else if (value->kind == LODE_VALUE_BYTES)
        size = value->length;
    return size <= left ? size : SIZE_MAX;
}

static void put_reversed(uint8_t *out, const uint8_t *in, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = in[size - 1 - i];
}

static void put_value(uint8_t *out, const lode_argument *value, const uint8_t *in, size_t size,
                      bool big_endian)
{
    if (!big_endian || value->kind == LODE_VALUE_BYTES) {
        memcpy(out, in, size);
    } else if (value->kind == LODE_VALUE_TEXT) {
        put_reversed(out, in, 2);
        memcpy(out + 2, in + 2, size - 2);
    } else {
        put_reversed(out, in, size);
    }
}

/* Copies values one by one; gaps and padding are undefined in the source, and zero here. */
static bool put_values(const struct uft_recording *rec, struct lode_range data, const lode_argument *values,
                       size_t count, uint8_t *out, size_t room, size_t *used)
{
    bool big_endian = rec->info.big_endian;
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        if (offset > data.size || offset > room)
            return false;
        const uint8_t *at = data.data + offset;
        size_t size = size_of(&values[i], at, (size_t)data.size - offset, big_endian);
        if (size == SIZE_MAX || size > room - offset)
            return false;
        put_value(out + offset, &values[i], at, size, big_endian);
        offset += up_to(size, 4);
    }
    *used = offset;
    return offset <= room;
}

bool lode_uft_write_values(const struct uft_recording *rec, const lode_event *event, uint8_t *out,
                           size_t *size)
{
    const struct uft_function *function = (const struct uft_function *)event->function;
    const struct lode_uft_spec *spec =
        event->kind == LODE_EVENT_ENTER ? function->arguments : function->result;
    struct lode_range data = {event->data, event->data_size};
    lode_argument values[VALUES];
    size_t count;
    *size = 0;
    if (spec == NULL ||
        lode_uft_payload_decode(rec->specs, spec, data, values, VALUES, &count, NULL) != LODE_OK ||
        count > VALUES)
        return false;
    memset(out, 0, UFT_VALUES_MAX);
    if (!put_values(rec, data, values, count, out, UFT_VALUES_MAX, size))
        return false;
    *size = up_to(*size, 8);
    return true;
}

/* ---- other events ---- */

bool lode_uft_point_needs(uint64_t id, unsigned word, size_t *size)
{
    /* Memory, faults, deltas of both, three counters, deltas of these, CPU, variable, call site. */
    const size_t sizes[] = {24, 16, 24, 16, 16, 16, 16, 16, 16, 16, 4, word, 8};
    *size = 0;
    if (id >= FIRST_KNOWN_ID && id - FIRST_KNOWN_ID < sizeof sizes / sizeof *sizes)
        *size = sizes[id - FIRST_KNOWN_ID];
    return id >= FIRST_KNOWN_ID && (id < UFT_FIRST_STATE_ID || id > UFT_LAST_STATE_ID);
}

bool lode_uft_write_point(const struct uft_recording *rec, const lode_event *event, uint8_t *out,
                          size_t *size)
{
    struct lode_range data = {event->data, event->data_size};
    lode_argument values[VALUES];
    size_t needed, count, used;
    *size = 0;
    if (!lode_uft_point_needs(event->id, rec->info.word, &needed) || needed == 0 || data.size < needed ||
        data.size > UFT_VALUES_MAX - 2)
        return false;
    memset(out, 0, UFT_VALUES_MAX);
    memcpy(out + 2, data.data, (size_t)data.size);
    if (rec->info.big_endian &&
        lode_uft_event_decode(rec->specs, event->id, data, values, VALUES, &count, NULL) == LODE_OK &&
        count <= VALUES)
        put_values(rec, data, values, count, out + 2, UFT_VALUES_MAX - 2, &used);
    put_u16le(out, event->data_size);
    *size = up_to(2 + (size_t)data.size, 8);
    return true;
}
