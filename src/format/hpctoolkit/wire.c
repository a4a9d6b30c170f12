/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/wire.h"

#include "base/io/bytes.h"

#define GET_u8(p)     get_u8(p)
#define GET_u16(p)    get_u16le(p)
#define GET_u32(p)    get_u32le(p)
#define GET_u64(p)    get_u64le(p)
#define GET_f64(p)    get_f64le(p)
#define PUT_u8(p, x)  put_u8(p, x)
#define PUT_u16(p, x) put_u16le(p, x)
#define PUT_u32(p, x) put_u32le(p, x)
#define PUT_u64(p, x) put_u64le(p, x)
#define PUT_f64(p, x) put_f64le(p, x)

#define TABLE(table, alignment)                                                                              \
    void lode_wire_read_##table(struct wire_##table *out, const uint8_t *bytes, uint64_t available)          \
    {
#define FIELD(table, offset, type, name)                                                                     \
    out->name = available >= (offset) + sizeof(wire_##type) ? GET_##type(bytes + (offset)) : 0;
#define END(table, size) }
#include "format/hpctoolkit/wire.def"

#define TABLE(table, alignment)                                                                              \
    void lode_wire_write_##table(const struct wire_##table *in, uint8_t *bytes)                              \
    {                                                                                                        \
        memset(bytes, 0, WIRE_##table##_SIZE);
#define FIELD(table, offset, type, name) PUT_##type(bytes + (offset), in->name);
#define END(table, size)                 }
#include "format/hpctoolkit/wire.def"

#define TABLE(table, alignment)          {#table, alignment, 0, NULL, NULL},
#define FIELD(table, offset, type, name) {#table, 0, offset, #type, #name},
#define END(table, size)                 {#table, 0, size, NULL, NULL},
const struct wire_field lode_wire_fields[] = {
#include "format/hpctoolkit/wire.def"
};
const size_t lode_wire_field_count = sizeof lode_wire_fields / sizeof *lode_wire_fields;

const struct hpct_file_spec lode_hpct_specs[HPCT_FILES] = {
    [HPCT_META] = {"meta.db",
                   "meta",
                   "_meta.db",
                   META_SECTIONS,
                   {[META_GENERAL] = {"General Properties", WIRE_General_SIZE, 8},
                    [META_ID_NAMES] = {"Identifier Names", WIRE_IdNames_SIZE, 8},
                    [META_METRICS] = {"Performance Metrics", WIRE_Metrics_SIZE, 8},
                    [META_CONTEXT] = {"Context Tree", WIRE_Contexts_SIZE, 8},
                    [META_STRINGS] = {"Common String Table", 0, 1},
                    [META_MODULES] = {"Load Modules", WIRE_Modules_SIZE, 8},
                    [META_FILES] = {"Source Files", WIRE_Files_SIZE, 8},
                    [META_FUNCTIONS] = {"Functions", WIRE_Functions_SIZE, 8}}},
    [HPCT_PROFILE] = {"profile.db",
                      "prof",
                      "_prof.db",
                      2,
                      {{"Profile Info", WIRE_ProfileInfos_SIZE, 8}, {"Identifier Tuples", 0, 8}}},
    [HPCT_CCT] = {"cct.db", "ctxt", "__ctx.db", 1, {{"Context Info", WIRE_ContextInfos_SIZE, 8}}},
    [HPCT_TRACE] = {"trace.db", "trce", "trace.db", 1, {{"Context Trace Headers", WIRE_TraceInfos_SIZE, 8}}},
};
