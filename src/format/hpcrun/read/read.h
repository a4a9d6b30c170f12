/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads profiles and traces of hpcrun. The bytes stay where they are: a profile that was read has
 * ranges of them, whose every count, index and id was checked.
 */
#ifndef LODE_FORMAT_HPCRUN_READ_H
#define LODE_FORMAT_HPCRUN_READ_H

#include "base/error.h"
#include "base/io/range.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "format/hpcrun/read/rules.h"
#include "format/hpcrun/read/wire.h"
#include "model/finding.h"

enum {
    HPCRUN_STRING_MOST = 1 << 20, /* bytes of a string */
    HPCRUN_METRICS_MOST = 1024,
    HPCRUN_ID_KINDS_MOST = 64 /* others have no names */
};

/* In the order of the file. */
enum hpcrun_section {
    HPCRUN_HEADER,
    HPCRUN_LOAD_MAP,
    HPCRUN_CCT,
    HPCRUN_METRICS,
    HPCRUN_ID_KINDS,
    HPCRUN_VALUES,
    HPCRUN_SECTIONS
};

/* Attributes of the header, in the order in which hpcrun writes them. */
enum hpcrun_attribute {
    HPCRUN_PROGRAM_NAME,
    HPCRUN_PROGRAM_PATH,
    HPCRUN_ENV_PATH,
    HPCRUN_JOB_ID,
    HPCRUN_MPI_RANK,
    HPCRUN_THREAD_ID,
    HPCRUN_HOST_ID,
    HPCRUN_PROCESS_ID,
    HPCRUN_TRACE_MIN_TIME,
    HPCRUN_TRACE_MAX_TIME,
    HPCRUN_TRACE_DISORDER,
    HPCRUN_ATTRIBUTES
};

struct hpcrun_module {
    struct lode_range path;
    uint64_t flags;
};

struct hpcrun_metric {
    struct lode_range name, description, formula, format;
    struct hpcrun_MetricFlags flags;
};

struct hpcrun_id_kind {
    uint16_t kind;
    struct lode_range name;
};

struct hpcrun_profile {
    struct lode_report *report;
    lode_check_level level;
    const char *file;
    struct lode_range bytes;
    struct lode_range sections[HPCRUN_SECTIONS];

    struct lode_range attributes[HPCRUN_ATTRIBUTES]; /* data is NULL: missing */
    uint64_t trace_min, trace_max, disorder;         /* of attributes; 0: no numbers */
    struct lode_array modules;                       /* struct hpcrun_module; 1 is the first */
    struct lode_array metrics;                       /* struct hpcrun_metric */
    struct lode_array id_kinds;                      /* struct hpcrun_id_kind */
    struct lode_array ids;                           /* struct hpcrun_Id */
    struct lode_range nodes;                         /* HPCRUN_Node_SIZE bytes each */
    struct lode_map node_of;                         /* from ids of nodes to numbers */
    struct lode_range values, index;                 /* of values; of `valued` + 1 entries */
    uint64_t node_count, value_count;
    uint32_t valued; /* nodes with values */
};

struct hpcrun_trace {
    uint64_t flags;
    struct lode_range records; /* HPCRUN_TraceRecord_SIZE bytes each */
    uint64_t count, begin, end;
};

/* Reports a finding at a position of the profile's bytes. */
#define hpcrun_finding(profile, rule, at, ...)                                                               \
    lode_report_add((profile)->report, rule, (profile)->file, (uint64_t)((at) - (profile)->bytes.data),      \
                    __VA_ARGS__)

/* After a finding that leaves nothing to read. */
static inline lode_status hpcrun_end(lode_status status)
{
    return status == LODE_OK ? LODE_END : status;
}

/* The name of an attribute in the file. */
const char *lode_hpcrun_attribute_name(enum hpcrun_attribute attribute);

void lode_hpcrun_init(struct hpcrun_profile *profile);
void lode_hpcrun_free(struct hpcrun_profile *profile);

/*
 * Reads a profile; quick checks read its frame only. LODE_END: after a finding that leaves nothing
 * to read, or after a quick check. Free it in every case.
 */
lode_status lode_hpcrun_read(struct hpcrun_profile *profile, const char *file, struct lode_range bytes,
                             lode_check_level level, struct lode_report *report);

/* Nodes and values, for lode_hpcrun_read. */
lode_status lode_hpcrun_read_tree(struct hpcrun_profile *profile);
lode_status lode_hpcrun_read_values(struct hpcrun_profile *profile);

static inline struct hpcrun_Node lode_hpcrun_node(const struct hpcrun_profile *profile, uint64_t number)
{
    struct hpcrun_Node node;
    lode_hpcrun_read_Node(&node, profile->nodes.data + number * HPCRUN_Node_SIZE);
    return node;
}

static inline struct hpcrun_Index lode_hpcrun_index(const struct hpcrun_profile *profile, uint32_t number)
{
    struct hpcrun_Index entry;
    lode_hpcrun_read_Index(&entry, profile->index.data + (uint64_t)number * HPCRUN_Index_SIZE);
    return entry;
}

static inline struct hpcrun_Value lode_hpcrun_value(const struct hpcrun_profile *profile, uint64_t number)
{
    struct hpcrun_Value value;
    lode_hpcrun_read_Value(&value, profile->values.data + number * HPCRUN_Value_SIZE);
    return value;
}

/* The number that a value is, in units of its metric's period. */
double lode_hpcrun_number(const struct hpcrun_metric *metric, uint64_t bits);

/* Reads a trace; `profile` is the one that it belongs to, or NULL. LODE_END: as above. */
lode_status lode_hpcrun_read_trace(struct hpcrun_trace *trace, const struct hpcrun_profile *profile,
                                   const char *file, struct lode_range bytes, lode_check_level level,
                                   struct lode_report *report);

#endif
