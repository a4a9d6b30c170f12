/* SPDX-License-Identifier: BSD-3-Clause */
#include "hpcrun_cases.h"

#include "base/io/bytes.h"
#include "format/hpcrun/read/wire.h"
#include <string.h>

static uint8_t *at(struct hpcrun_files *files, size_t offset)
{
    return files->profile.bytes + offset;
}

static uint8_t *record(struct hpcrun_files *files, unsigned number)
{
    return files->trace.bytes + minihpcrun_record(number);
}

/* ---- profiles: the file ---- */

static void break_footer(struct hpcrun_files *files)
{
    files->profile.bytes[files->profile.size - 1] ^= 1;
}

static void break_footer_cut(struct hpcrun_files *files)
{
    files->profile.size = MINI_METRICS;
}

static void break_footer_short(struct hpcrun_files *files)
{
    files->profile.size = HPCRUN_Footer_SIZE - 1;
}

static void break_footer_empty(struct hpcrun_files *files)
{
    files->profile.size = 0;
}

static void break_section_place(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_footer_start), MINI_FOOTER - 1);
}

static void break_section_outside(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_values_end), MINI_FOOTER + 1);
}

static void break_section_order(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_cct_start), MINI_LOAD_MAP);
}

static void break_section_negative(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_metrics_end), MINI_METRICS - 1);
}

static void break_section_huge(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_load_map_end), UINT64_MAX);
}

/* Moves the kinds of ids by one byte. */
static void break_alignment(struct hpcrun_files *files)
{
    uint64_t past = get_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_id_kinds_end));
    memmove(at(files, MINI_ID_KINDS + 1), at(files, MINI_ID_KINDS), past - MINI_ID_KINDS);
    *at(files, MINI_ID_KINDS) = 0;
    put_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_id_kinds_start), MINI_ID_KINDS + 1);
    minihpcrun_move_end(&files->profile, 4, 1);
}

static void break_header(struct hpcrun_files *files)
{
    *at(files, MINI_HEADER + HPCRUN_MAGIC_SIZE + 1) = '3';
}

static void break_header_order(struct hpcrun_files *files)
{
    *at(files, MINI_HEADER + HPCRUN_BEGIN_SIZE - 1) = 'l';
}

static void break_gap(struct hpcrun_files *files)
{
    *at(files, MINI_CCT - 1) = 1;
}

static void break_gap_last(struct hpcrun_files *files)
{
    *at(files, MINI_FOOTER - 1) = 1;
}

static void break_end_more(struct hpcrun_files *files)
{
    minihpcrun_move_end(&files->profile, 0, 1);
}

static void break_end_less(struct hpcrun_files *files)
{
    minihpcrun_move_end(&files->profile, 1, -1);
    *at(files, get_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_load_map_end))) = 0;
}

static void break_end_metrics(struct hpcrun_files *files)
{
    put_u32be(at(files, MINI_METRICS), 4);
}

static void break_end_many_metrics(struct hpcrun_files *files)
{
    put_u32be(at(files, MINI_METRICS), UINT32_MAX);
}

static void break_end_string(struct hpcrun_files *files)
{
    put_u32be(at(files, MINI_LOAD_MAP + 6), UINT32_MAX);
}

static void break_end_kinds(struct hpcrun_files *files)
{
    put_u16be(at(files, MINI_ID_KINDS), UINT16_MAX);
}

static void break_end_values(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_value(0) - HPCRUN_Counts_SIZE), UINT64_MAX / 5);
}

static void break_end_index(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_value(0) - 4), UINT32_MAX);
}

static void break_string(struct hpcrun_files *files)
{
    *at(files, MINI_LOAD_MAP + 11) = 0;
}

static void break_utf8(struct hpcrun_files *files)
{
    *at(files, MINI_LOAD_MAP + 11) = 0xff;
}

static void break_attribute_name(struct hpcrun_files *files)
{
    *at(files, MINI_HEADER + 32) = 'q';
}

static void break_attribute_number(struct hpcrun_files *files)
{
    uint8_t *text = at(files, MINI_HEADER);
    while (memcmp(text, "disorder", 8) != 0)
        text++;
    text[12] = 'x';
}

/* ---- profiles: tables ---- */

static void break_module_id(struct hpcrun_files *files)
{
    put_u16be(at(files, MINI_LOAD_MAP + 4), 2);
}

static void break_module_id_zero(struct hpcrun_files *files)
{
    put_u16be(at(files, MINI_LOAD_MAP + 4), 0);
}

/* The flags of the first metric: after its name and description. */
static uint8_t *metric_flags(struct hpcrun_files *files)
{
    return at(files, MINI_METRICS + 4 + 4 + strlen("TIME (sec)") + 4 + strlen("what it is"));
}

static void break_metric_flags(struct hpcrun_files *files)
{
    metric_flags(files)[HPCRUN_MetricFlags_format] = 3;
}

static void break_metric_flags_old(struct hpcrun_files *files)
{
    metric_flags(files)[HPCRUN_MetricFlags_SIZE - 9] = 1;
}

static void break_metric_flags_show(struct hpcrun_files *files)
{
    metric_flags(files)[HPCRUN_MetricFlags_show] = 5;
}

/* The second metric becomes the first again: its name has 6 characters. */
static void break_metric_name(struct hpcrun_files *files)
{
    static const char name[] = {'C', 'Y', 'C', 'L', 'E', 'S'};
    uint8_t *text = at(files, MINI_METRICS);
    while (memcmp(text, "RATIO", 5) != 0)
        text++;
    put_u32be(text - 4, sizeof name);
    memmove(text + sizeof name, text + 5, 200);
    memcpy(text, name, sizeof name);
    minihpcrun_move_end(&files->profile, 3, 1);
}

static void break_id_kind(struct hpcrun_files *files)
{
    put_u16be(at(files, MINI_ID_KINDS + 2), 2);
}

static void break_id_kind_unknown(struct hpcrun_files *files)
{
    put_u16be(at(files, MINI_VALUES + 2), 0x4009);
}

static void break_id_tuple(struct hpcrun_files *files)
{
    size_t size = (size_t)2 * HPCRUN_Id_SIZE;
    uint64_t past = get_u64be(at(files, MINI_FOOTER + HPCRUN_Footer_values_end));
    put_u16be(at(files, MINI_VALUES), 0);
    memmove(at(files, MINI_VALUES + 2), at(files, MINI_VALUES + 2 + size), past - MINI_VALUES - 2 - size);
    memset(at(files, past - size), 0, size);
    minihpcrun_move_end(&files->profile, 5, -(int)size);
}

/* ---- profiles: tree and values ---- */

static void break_node_size(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_CCT), MINI_NODES + 1);
}

static void break_node_size_huge(struct hpcrun_files *files)
{
    put_u64be(at(files, MINI_CCT), UINT64_MAX);
}

static void break_node_size_old(struct hpcrun_files *files)
{
    minihpcrun_move_end(&files->profile, 2, -MINI_NODES);
    memset(at(files, minihpcrun_node(MINI_NODES) - MINI_NODES), 0, MINI_NODES);
}

static void break_node_id(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_node(1)), MINI_ROOT);
    put_u32be(at(files, minihpcrun_node(2) + HPCRUN_Node_parent), MINI_ROOT);
}

static void break_node_id_zero(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_node(1)), 0);
    put_u32be(at(files, minihpcrun_node(2) + HPCRUN_Node_parent), MINI_ROOT);
}

static void break_node_root(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_node(0) + HPCRUN_Node_offset), 1);
}

static void break_node_root_second(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_node(1) + HPCRUN_Node_parent), 0);
}

static void break_node_parent(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_node(2) + HPCRUN_Node_parent), MINI_B);
}

static void break_node_parent_self(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_node(3) + HPCRUN_Node_parent), MINI_B);
}

static void break_node_module(struct hpcrun_files *files)
{
    put_u16be(at(files, minihpcrun_node(2) + HPCRUN_Node_module), 3);
}

static void break_node_module_range(struct hpcrun_files *files)
{
    put_u16be(at(files, minihpcrun_node(2) + HPCRUN_Node_module), 65533);
}

static void break_node_flags(struct hpcrun_files *files)
{
    *at(files, minihpcrun_node(2) + HPCRUN_Node_flags) = 3;
}

static void break_index(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_index(1) + HPCRUN_Index_start), 0);
}

static void break_index_first(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_index(0) + HPCRUN_Index_start), 1);
}

static void break_index_beyond(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_index(1) + HPCRUN_Index_start), UINT64_MAX);
}

static void break_index_end(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_index(2)), MINI_B);
}

static void break_index_end_count(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_index(2) + HPCRUN_Index_start), 4);
}

static void break_index_node(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_index(1)), 99);
}

static void break_index_order(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_index(0)), MINI_B);
    put_u32be(at(files, minihpcrun_index(1)), MINI_A);
}

static void break_index_order_twice(struct hpcrun_files *files)
{
    put_u32be(at(files, minihpcrun_index(1)), MINI_A);
}

static void break_value_metric(struct hpcrun_files *files)
{
    put_u16be(at(files, minihpcrun_value(2) + HPCRUN_Value_metric), 3);
}

static void break_value_formula(struct hpcrun_files *files)
{
    put_u16be(at(files, minihpcrun_value(2) + HPCRUN_Value_metric), 2);
}

static void break_value_order(struct hpcrun_files *files)
{
    put_u16be(at(files, minihpcrun_value(1) + HPCRUN_Value_metric), 0);
}

static void break_value_number(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_value(2)), bits_of_f64(-1.0));
}

static void break_value_nan(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_value(2)), UINT64_MAX);
}

static void break_value_zero(struct hpcrun_files *files)
{
    put_u64be(at(files, minihpcrun_value(1)), 0);
}

/* ---- traces ---- */

static void break_trace_alone(struct hpcrun_files *files)
{
    files->trace_name = "other.hpctrace";
}

static void break_trace_header(struct hpcrun_files *files)
{
    files->trace.bytes[0] = 'X';
}

static void break_trace_version(struct hpcrun_files *files)
{
    files->trace.bytes[HPCRUN_MAGIC_SIZE + 1] = '2';
}

static void break_trace_short(struct hpcrun_files *files)
{
    files->trace.size = HPCRUN_TraceHeader_SIZE - 1;
}

static void break_trace_flags(struct hpcrun_files *files)
{
    put_u64be(files->trace.bytes + HPCRUN_TraceHeader_flags, HPCRUN_TRACE_DATA_CENTRIC);
}

static void break_trace_flags_unknown(struct hpcrun_files *files)
{
    put_u64be(files->trace.bytes + HPCRUN_TraceHeader_flags, UINT64_C(1) << 63);
}

static void break_trace_size(struct hpcrun_files *files)
{
    files->trace.size--;
}

static void break_trace_node(struct hpcrun_files *files)
{
    put_u32be(record(files, 1) + HPCRUN_TraceRecord_node, 99);
}

static void break_trace_order(struct hpcrun_files *files)
{
    put_u64be(record(files, 1), 300);
    put_u64be(record(files, 2), 200);
}

static void break_trace_time(struct hpcrun_files *files)
{
    put_u64be(record(files, 2), 301);
}

const struct hpcrun_case hpcrun_cases[] = {
    {"hpcrun-footer", break_footer},
    {"hpcrun-footer", break_footer_cut},
    {"hpcrun-footer", break_footer_short},
    {"hpcrun-footer", break_footer_empty},
    {"hpcrun-section", break_section_place},
    {"hpcrun-section", break_section_outside},
    {"hpcrun-section", break_section_order},
    {"hpcrun-section", break_section_negative},
    {"hpcrun-section", break_section_huge},
    {"hpcrun-alignment", break_alignment},
    {"hpcrun-header", break_header},
    {"hpcrun-header", break_header_order},
    {"hpcrun-gap", break_gap},
    {"hpcrun-gap", break_gap_last},
    {"hpcrun-section-end", break_end_more},
    {"hpcrun-section-end", break_end_less},
    {"hpcrun-section-end", break_end_metrics},
    {"hpcrun-section-end", break_end_many_metrics},
    {"hpcrun-section-end", break_end_string},
    {"hpcrun-section-end", break_end_kinds},
    {"hpcrun-section-end", break_end_values},
    {"hpcrun-section-end", break_end_index},
    {"hpcrun-string", break_string},
    {"hpcrun-utf8", break_utf8},
    {"hpcrun-attribute", break_attribute_name},
    {"hpcrun-attribute", break_attribute_number},
    {"hpcrun-module-id", break_module_id},
    {"hpcrun-module-id", break_module_id_zero},
    {"hpcrun-metric-flags", break_metric_flags},
    {"hpcrun-metric-flags", break_metric_flags_old},
    {"hpcrun-metric-flags", break_metric_flags_show},
    {"hpcrun-metric-name", break_metric_name},
    {"hpcrun-id-kind", break_id_kind},
    {"hpcrun-id-kind", break_id_kind_unknown},
    {"hpcrun-id-tuple", break_id_tuple},
    {"hpcrun-node-size", break_node_size},
    {"hpcrun-node-size", break_node_size_huge},
    {"hpcrun-node-size", break_node_size_old},
    {"hpcrun-node-id", break_node_id},
    {"hpcrun-node-id", break_node_id_zero},
    {"hpcrun-node-root", break_node_root},
    {"hpcrun-node-root", break_node_root_second},
    {"hpcrun-node-parent", break_node_parent},
    {"hpcrun-node-parent", break_node_parent_self},
    {"hpcrun-node-module", break_node_module},
    {"hpcrun-node-module", break_node_module_range},
    {"hpcrun-node-flags", break_node_flags},
    {"hpcrun-index", break_index},
    {"hpcrun-index", break_index_first},
    {"hpcrun-index", break_index_beyond},
    {"hpcrun-index-end", break_index_end},
    {"hpcrun-index-end", break_index_end_count},
    {"hpcrun-index-node", break_index_node},
    {"hpcrun-index-order", break_index_order},
    {"hpcrun-index-order", break_index_order_twice},
    {"hpcrun-value-metric", break_value_metric},
    {"hpcrun-value-metric", break_value_formula},
    {"hpcrun-value-order", break_value_order},
    {"hpcrun-value-number", break_value_number},
    {"hpcrun-value-number", break_value_nan},
    {"hpcrun-value-zero", break_value_zero},
    {"hpctrace-alone", break_trace_alone},
    {"hpctrace-header", break_trace_header},
    {"hpctrace-header", break_trace_version},
    {"hpctrace-header", break_trace_short},
    {"hpctrace-flags", break_trace_flags},
    {"hpctrace-flags", break_trace_flags_unknown},
    {"hpctrace-size", break_trace_size},
    {"hpctrace-node", break_trace_node},
    {"hpctrace-order", break_trace_order},
    {"hpctrace-time", break_trace_time},
};
const size_t hpcrun_case_count = sizeof hpcrun_cases / sizeof *hpcrun_cases;
