/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit_drafts/wire.h"

#include "base/io/bytes.h"

#define GET_u8(p)     get_u8(p)
#define GET_u16(p)    get_u16be(p)
#define GET_u32(p)    get_u32be(p)
#define GET_u64(p)    get_u64be(p)
#define PUT_u8(p, x)  put_u8(p, x)
#define PUT_u16(p, x) put_u16be(p, x)
#define PUT_u32(p, x) put_u32be(p, x)
#define PUT_u64(p, x) put_u64be(p, x)

#define TABLE(table)                                                                                         \
    void lode_drafts_read_##table(struct drafts_##table *out, const uint8_t *bytes)                          \
    {
#define FIELD(table, offset, type, name) out->name = GET_##type(bytes + (offset));
#define END(table, size)                 }
#include "format/hpctoolkit_drafts/wire.def"

#define TABLE(table)                     {#table, 1, 0, NULL, NULL},
#define FIELD(table, offset, type, name) {#table, 0, offset, #type, #name},
#define END(table, size)                 {#table, 0, size, NULL, NULL},
const struct wire_field lode_drafts_fields[] = {
#include "format/hpctoolkit_drafts/wire.def"
};
const size_t lode_drafts_field_count = sizeof lode_drafts_fields / sizeof *lode_drafts_fields;

#define TABLE(table)                                                                                         \
    void lode_drafts_write_##table(const struct drafts_##table *in, uint8_t *bytes)                          \
    {
#define FIELD(table, offset, type, name) PUT_##type(bytes + (offset), in->name);
#define END(table, size)                 }
#include "format/hpctoolkit_drafts/wire.def"
