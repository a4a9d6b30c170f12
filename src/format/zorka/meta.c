/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/meta.h"

#include "base/error.h"
#include "base/io/bytes.h"
#include "format/zorka/chunks/cbor.h"
#include "format/zorka/rules.h"
#include <stdlib.h>

enum {
    QMETA_SIZE = 64, /* of the header, and of a record */
    QMETA_ERROR = 1,
    QMETA_CHUNKED = 2,
    QMETA_FIRST = 4
};

/* The first numbers of a record in the later database, after its tag. */
enum {
    CARVED_ID_HIGH,
    CARVED_ID_LOW,
    CARVED_FLAGS = 5,
    CARVED_CHUNK = 8,
    CARVED_OFFSET = 9,
    CARVED_NUMBERS = 17,
    CARVED_CHUNKED = 0x10,
    CARVED_FIRST = 0x20
};

void lode_zor_metas_init(struct zor_metas *metas)
{
    lode_array_init(&metas->items, sizeof(struct zor_meta), UINT32_MAX / 2);
}

void lode_zor_metas_free(struct zor_metas *metas)
{
    lode_array_free(&metas->items);
}

static lode_status add(struct zor_metas *metas, const struct zor_meta *meta, lode_error *error)
{
    struct zor_meta *slot = lode_array_push(&metas->items);
    LODE_TRY_ALLOC(slot, error);
    *slot = *meta;
    return LODE_OK;
}

lode_status lode_zor_read_qmeta(struct zor_metas *metas, struct lode_range bytes, const char *file,
                                struct lode_report *report)
{
    bool is_sound = bytes.size >= QMETA_SIZE && memcmp(bytes.data, "MQI0", 4) == 0;
    uint64_t end = is_sound ? get_u32be(bytes.data + 4) : 0;
    if (!is_sound || end < QMETA_SIZE || end > bytes.size)
        return lode_report_add(report, ZOR_META_HEADER, file, 0,
                               "there is no MQI0 header that fits the file");
    for (uint64_t at = QMETA_SIZE; at + QMETA_SIZE <= end; at += QMETA_SIZE) {
        const uint8_t *record = bytes.data + at;
        unsigned flags = record[15];
        struct zor_meta meta = {.chunk = get_u64be(record + 16) & ((UINT64_C(1) << 48) - 1),
                                .offset = get_u32be(record),
                                .id = {get_u64be(record + 48), get_u64be(record + 56)},
                                .is_continued = (flags & QMETA_CHUNKED) && !(flags & QMETA_FIRST),
                                .has_error = (flags & QMETA_ERROR) != 0};
        LODE_TRY(add(metas, &meta, report->error));
    }
    return LODE_OK;
}

/* ---- carving ---- */

static bool read_numbers(struct zor_input *in, uint64_t *numbers)
{
    for (unsigned i = 0; i < CARVED_NUMBERS; i++) {
        struct zor_item item;
        if (!lode_zor_head(in, &item) || item.major > ZOR_NEGATIVE)
            return false;
        numbers[i] = item.major == ZOR_NEGATIVE ? ~item.value : item.value;
    }
    return true;
}

static bool is_map_next(const struct zor_input *in)
{
    return in->at < in->size && in->data[in->at] >> 5 == ZOR_MAP;
}

lode_status lode_zor_carve(struct zor_metas *metas, struct lode_range bytes, lode_error *error)
{
    static const uint8_t tag[2] = {0xd8, 0x41};
    for (uint64_t at = 0; at < bytes.size;) {
        const uint8_t *found = memmem(bytes.data + at, (size_t)(bytes.size - at), tag, sizeof tag);
        uint64_t numbers[CARVED_NUMBERS];
        if (found == NULL)
            break;
        at = (uint64_t)(found - bytes.data) + sizeof tag;
        struct zor_input in = {bytes.data, bytes.size, at};
        /* Two maps of attributes follow. */
        if (!read_numbers(&in, numbers) || !is_map_next(&in))
            continue;
        uint64_t flags = numbers[CARVED_FLAGS];
        struct zor_meta meta = {.chunk = numbers[CARVED_CHUNK],
                                .offset = numbers[CARVED_OFFSET],
                                .id = {numbers[CARVED_ID_HIGH], numbers[CARVED_ID_LOW]},
                                .is_continued = (flags & CARVED_CHUNKED) && !(flags & CARVED_FIRST)};
        LODE_TRY(add(metas, &meta, error));
    }
    return LODE_OK;
}

/* ---- looking up ---- */

static int compare(const void *left, const void *right)
{
    const struct zor_meta *a = left, *b = right;
    if (a->chunk != b->chunk)
        return a->chunk < b->chunk ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    /* Old versions of a record may be found, too: the order must not depend on their position. */
    if (a->id.high != b->id.high)
        return a->id.high < b->id.high ? -1 : 1;
    if (a->id.low != b->id.low)
        return a->id.low < b->id.low ? -1 : 1;
    if (a->is_continued != b->is_continued)
        return (int)a->is_continued - (int)b->is_continued;
    return (int)a->has_error - (int)b->has_error;
}

void lode_zor_metas_sort(struct zor_metas *metas)
{
    if (metas->items.count > 0)
        qsort(metas->items.items, metas->items.count, sizeof(struct zor_meta), compare);
}

const struct zor_meta *lode_zor_meta(const struct zor_metas *metas, uint64_t chunk, uint64_t offset)
{
    size_t low = 0, high = metas->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct zor_meta *meta = LODE_ARRAY_AT(&metas->items, struct zor_meta, middle);
        if (meta->chunk < chunk || (meta->chunk == chunk && meta->offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == metas->items.count)
        return NULL;
    const struct zor_meta *found = LODE_ARRAY_AT(&metas->items, struct zor_meta, low);
    return found->chunk == chunk && found->offset == offset ? found : NULL;
}
