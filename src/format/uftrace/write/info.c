/* SPDX-License-Identifier: BSD-3-Clause */
/* The info file: a header, and lines whose kinds the header lists. */
#include "format/uftrace/write/write.h"
#include <inttypes.h>

enum {
    LITTLE_ENDIAN_DATA = 1,
    CLASS_32 = 1,
    CLASS_64 = 2,
    FORMAT_VERSION = 4
};

static uint64_t features_of(const struct uft_description *description)
{
    uint64_t features = description->features;
    features |= UFT_FEATURE_TASKS | UFT_FEATURE_RELATIVE | UFT_FEATURE_MAX_STACK;
    features &= ~(uint64_t)(UFT_FEATURE_SYMBOL_SIZES | UFT_FEATURE_KERNEL | UFT_FEATURE_PERF);
    if (description->perf_count > 0)
        features |= UFT_FEATURE_PERF;
    return features;
}

static uint64_t lines_of(const struct uft_description *description)
{
    uint64_t lines = UINT64_C(1) << UFT_LINE_TASKS | UINT64_C(1) << UFT_LINE_VERSION;
    for (unsigned i = 0; i < UFT_INFO_KNOWN; i++)
        if (description->lines[i])
            lines |= UINT64_C(1) << i;
    return lines;
}

static void put_header(struct uft_text_file *text, const struct uft_description *description)
{
    uint8_t header[UFT_HEADER_SIZE] = "Ftrace!";
    uint32_t max_stack = description->max_stack < UINT16_MAX ? description->max_stack : UINT16_MAX;
    put_u32le(header + 8, FORMAT_VERSION);
    put_u16le(header + 12, UFT_HEADER_SIZE);
    put_u8(header + 14, LITTLE_ENDIAN_DATA);
    put_u8(header + 15, description->word == 4 ? CLASS_32 : CLASS_64);
    put_u64le(header + 16, features_of(description));
    put_u64le(header + 24, lines_of(description));
    put_u16le(header + 32, (uint16_t)max_stack);
    lode_uft_text_put_bytes(text, header, sizeof header);
}

static void put_tasks(struct uft_text_file *text, const struct uft_description *description)
{
    lode_uft_text_put(
        text, "taskinfo:lines=2\ntaskinfo:nr_tid=%" PRIu32 "\ntaskinfo:tids=", description->tid_count);
    for (uint32_t i = 0; i < description->tid_count; i++)
        lode_uft_text_put(text, i > 0 ? ",%" PRId32 : "%" PRId32, description->tids[i]);
    lode_uft_text_put(text, "\n");
}

lode_status lode_uft_write_info(struct uft_writer *writer, const struct uft_description *description,
                                lode_error *error)
{
    struct uft_text_file text;
    lode_uft_text_open_hidden(&text, writer, "info", error);
    put_header(&text, description);
    for (unsigned i = 0; i < UFT_INFO_KNOWN; i++) {
        if (i == UFT_LINE_TASKS)
            put_tasks(&text, description);
        else if (i == UFT_LINE_VERSION)
            lode_uft_text_put(&text, "uftrace_version:lode %s\n", lode_version());
        else if (description->lines[i])
            lode_uft_text_put(&text, "%s", description->lines[i]);
    }
    return lode_uft_text_close(&text);
}
