/* SPDX-License-Identifier: BSD-3-Clause */
#include "minihpcrun.h"

#include "base/io/bytes.h"
#include "format/hpcrun/read/wire.h"
#include <stdlib.h>
#include <string.h>

enum {
    IDS = 2,
    SECTIONS = 6
};

static uint8_t *add(struct lode_blob *out, size_t size)
{
    size_t at = lode_blob_reserve(out, size, 1);
    if (at == LODE_BLOB_FULL)
        abort();
    return out->bytes + at;
}

static void add_bytes(struct lode_blob *out, const void *bytes, size_t size)
{
    memcpy(add(out, size), bytes, size);
}

static void add_u16(struct lode_blob *out, unsigned number)
{
    put_u16be(add(out, 2), (uint16_t)number);
}

static void add_u32(struct lode_blob *out, uint32_t number)
{
    put_u32be(add(out, 4), number);
}

static void add_u64(struct lode_blob *out, uint64_t number)
{
    put_u64be(add(out, 8), number);
}

static void add_string(struct lode_blob *out, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    put_u32be(add(out, sizeof length), length);
    if (length > 0)
        add_bytes(out, text, length);
}

static void add_header(struct lode_blob *out)
{
    static const char *const attributes[][2] = {
        {"program-name", "mini"},  {"program-path", "/bin/mini"},
        {"env-path", "/bin"},      {"job-id", ""},
        {"mpi-rank", "0"},         {"thread-id", "0"},
        {"host-id", "abc"},        {"process-id", "7"},
        {"trace-min-time", "100"}, {"trace-max-time", "300"},
        {"trace-disorder", "0"},
    };
    size_t count = sizeof attributes / sizeof *attributes;
    add_bytes(out, HPCRUN_PROFILE_BEGIN, HPCRUN_BEGIN_SIZE);
    add_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        add_string(out, attributes[i][0]);
        add_string(out, attributes[i][1]);
    }
}

static void add_load_map(struct lode_blob *out)
{
    static const char *const paths[] = {"/bin/mini", "/lib/b.so"};
    add_u32(out, 2);
    for (unsigned i = 0; i < 2; i++) {
        add_u16(out, i + 1);
        add_string(out, paths[i]);
        add_u64(out, 1);
    }
}

static void add_nodes(struct lode_blob *out)
{
    static const struct hpcrun_Node nodes[MINI_NODES] = {
        {MINI_ROOT, 0, 0, HPCRUN_ROOT, 1},
        {MINI_THREAD, MINI_ROOT, 0, UINT64_C(0x7c204d61696e2020) /* "| Main  " */, 1},
        {MINI_A, MINI_THREAD, 1, 0x1129, 1},
        {MINI_B, MINI_A, 2, 0x100, 0},
    };
    add_u64(out, MINI_NODES);
    for (unsigned i = 0; i < MINI_NODES; i++)
        lode_hpcrun_write_Node(&nodes[i], add(out, HPCRUN_Node_SIZE));
}

static void add_metric(struct lode_blob *out, const char *name, const char *formula, unsigned format,
                       uint64_t period)
{
    const struct hpcrun_MetricFlags flags = {
        .type = 1, .format = (uint8_t)format, .show = 1, .percent = 1, .period = period};
    add_string(out, name);
    add_string(out, "what it is");
    lode_hpcrun_write_MetricFlags(&flags, add(out, HPCRUN_MetricFlags_SIZE));
    add_string(out, formula);
    add_string(out, "");
    add(out, HPCRUN_MetricEnd_SIZE);
}

static void add_metrics(struct lode_blob *out)
{
    add_u32(out, 3);
    add_metric(out, "TIME (sec)", "", HPCRUN_FORMAT_REAL, 1);
    add_metric(out, "CYCLES", "", HPCRUN_FORMAT_INTEGER, 100);
    add_metric(out, "RATIO", "#0/#1", HPCRUN_FORMAT_REAL, 1);
}

static void add_id_kinds(struct lode_blob *out)
{
    static const char *const names[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    add_u16(out, 4);
    for (unsigned i = 0; i < 4; i++) {
        add_u16(out, i);
        add_string(out, names[i]);
    }
}

static void add_values(struct lode_blob *out)
{
    static const struct hpcrun_Id ids[IDS] = {{0x4001, 0xabc, 0}, {0xc003, 0, 5}};
    static const struct hpcrun_Index entries[] = {{MINI_A, 0}, {MINI_B, 2}, {HPCRUN_INDEX_END, 3}};
    const struct hpcrun_Counts counts = {MINI_VALUE_COUNT, 2};
    const struct hpcrun_Value values[MINI_VALUE_COUNT] = {
        {bits_of_f64(1.5), 0}, {3, 1}, {bits_of_f64(0.5), 0}};
    add_u16(out, IDS);
    for (unsigned i = 0; i < IDS; i++)
        lode_hpcrun_write_Id(&ids[i], add(out, HPCRUN_Id_SIZE));
    lode_hpcrun_write_Counts(&counts, add(out, HPCRUN_Counts_SIZE));
    for (unsigned i = 0; i < MINI_VALUE_COUNT; i++)
        lode_hpcrun_write_Value(&values[i], add(out, HPCRUN_Value_SIZE));
    for (unsigned i = 0; i < 3; i++)
        lode_hpcrun_write_Index(&entries[i], add(out, HPCRUN_Index_SIZE));
}

size_t minihpcrun_node(unsigned number)
{
    return MINI_CCT + 8 + (size_t)number * HPCRUN_Node_SIZE;
}

size_t minihpcrun_value(unsigned number)
{
    return MINI_VALUES + 2 + IDS * HPCRUN_Id_SIZE + HPCRUN_Counts_SIZE + (size_t)number * HPCRUN_Value_SIZE;
}

size_t minihpcrun_index(unsigned number)
{
    return minihpcrun_value(MINI_VALUE_COUNT) + (size_t)number * HPCRUN_Index_SIZE;
}

size_t minihpcrun_record(unsigned number)
{
    return HPCRUN_TraceHeader_SIZE + (size_t)number * HPCRUN_TraceRecord_SIZE;
}

void minihpcrun_move_end(struct lode_blob *profile, unsigned section, int more)
{
    uint8_t *at = profile->bytes + MINI_FOOTER + (size_t)section * 16 + 8;
    put_u64be(at, get_u64be(at) + (uint64_t)(int64_t)more);
}

void minihpcrun_profile(struct lode_blob *out)
{
    static void (*const sections[SECTIONS])(struct lode_blob *) = {add_header,  add_load_map, add_nodes,
                                                                   add_metrics, add_id_kinds, add_values};
    uint64_t bounds[2 * SECTIONS];
    *out = (struct lode_blob){0};
    for (unsigned i = 0; i < SECTIONS; i++) {
        if (i > 0)
            add(out, (size_t)i * HPCRUN_ALIGNMENT - out->size);
        bounds[(size_t)2 * i] = out->size;
        sections[i](out);
        bounds[(size_t)2 * i + 1] = out->size;
    }
    add(out, MINI_FOOTER - out->size);
    for (unsigned i = 0; i < 2 * SECTIONS; i++)
        add_u64(out, bounds[i]);
    add_u64(out, MINI_FOOTER);
    add_u64(out, HPCRUN_FOOTER_MAGIC);
}

void minihpcrun_trace(struct lode_blob *out)
{
    static const struct hpcrun_TraceRecord records[MINI_RECORDS] = {
        {100, MINI_A}, {200, MINI_B}, {300, MINI_ROOT}};
    *out = (struct lode_blob){0};
    add_bytes(out, HPCRUN_TRACE_BEGIN, HPCRUN_BEGIN_SIZE);
    add_u64(out, 0);
    for (unsigned i = 0; i < MINI_RECORDS; i++)
        lode_hpcrun_write_TraceRecord(&records[i], add(out, HPCRUN_TraceRecord_SIZE));
}
