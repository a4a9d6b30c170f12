/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording of perf: what its header, its metadata and one pass over its records say. Samples
 * are not looked at here.
 *
 * There are three forms: a file with a header, a stream of records as perf writes it to a pipe, and
 * a directory whose file `data` has the header and whose files data.0, data.1... have more records.
 */
#ifndef LODE_FORMAT_PERF_STORE_H
#define LODE_FORMAT_PERF_STORE_H

#include "base/error.h"
#include "base/io/input.h"
#include "base/memory/intern.h"
#include "base/memory/map.h"
#include "format/perf/read/event.h"
#include "format/perf/read/rules.h"
#include "model/finding.h"
#include <lode/writer.h>

enum {
    PERF_EVENTS_MOST = 1 << 12,
    PERF_IDS_MOST = 1 << 24, /* of all events */
    PERF_PIECE = 1 << 23     /* bytes of records that a worker takes at once */
};

/* Records of one file. */
struct perf_part {
    struct lode_input input;
    const char *name;
    struct lode_range records;
    uint64_t start; /* of the records in the file */
    bool is_packed; /* it has compressed records */
};

/* A record of a process, a thread or a mapping. */
struct perf_side {
    uint64_t time;        /* 0: older than everything */
    uint64_t order;       /* in the recording */
    const uint8_t *bytes; /* with its header */
    uint64_t offset;      /* in its file */
    uint32_t part;        /* LODE_NONE: of a JIT compiler's dump; `bytes` is a struct perf_code */
    uint32_t event;
};

/* Code that a JIT compiler made, as its dump says: from the time of the record on. */
struct perf_code {
    uint64_t start, size;
    uint64_t offset; /* of the code in the dump */
    int32_t pid;
    uint32_t dump; /* its path: a string */
};

/* Where reading can begin. */
struct perf_piece {
    uint64_t begin, end; /* in the records of the part */
    uint64_t order;      /* number of its first record */
    uint32_t part;
};

struct perf_build_id {
    uint8_t bytes[PERF_BUILD_ID];
    uint8_t size; /* 0: unknown */
};

/* Of the list of build ids: of a file's name, or of the kernel. */
struct perf_named_id {
    uint32_t name; /* a string */
    struct perf_build_id id;
};

struct perf_store {
    struct lode_report *report;
    struct lode_arena arena;
    struct lode_strings strings;
    bool is_big, is_pipe;
    struct lode_array parts;     /* struct perf_part */
    struct lode_array events;    /* struct perf_event */
    struct lode_map event_of;    /* from an id */
    struct lode_array sides;     /* struct perf_side: in the order of the recording, then sorted */
    struct lode_array pieces;    /* struct perf_piece */
    struct lode_array build_ids; /* struct perf_named_id */
    struct lode_range tracing;   /* formats of tracepoints; may be empty */
    const char *host, *release, *version, *machine, *processor, *command; /* or NULL */
    bool has_clock; /* wall time = wall + (time - clock) */
    uint64_t wall, clock;
    bool is_unfinished;

    uint64_t counts[PERF_TYPES]; /* of records by type; the last one is of all others */
    uint64_t bytes;              /* of all files */
    uint64_t lost, lost_samples;
    unsigned name_changes; /* that were reported */
};

static inline struct perf_part *perf_part_at(const struct perf_store *store, size_t number)
{
    return LODE_ARRAY_AT(&store->parts, struct perf_part, number);
}

static inline struct perf_event *perf_event_at(const struct perf_store *store, size_t number)
{
    return LODE_ARRAY_AT(&store->events, struct perf_event, number);
}

/* A time of a record as time since 1970, if the recording tells. */
static inline uint64_t lode_perf_wall_time(const struct perf_store *store, uint64_t time)
{
    return store->has_clock ? store->wall + (time - store->clock) : time;
}

void lode_perf_init(struct perf_store *store, struct lode_report *report);
void lode_perf_free(struct perf_store *store);

/* How certain it is that a folder, or its only file, is a recording: LODE_PROBE_... */
int lode_perf_probe(const struct lode_folder *folder);

/* ---- container.c ---- */

/* Opens the files and reads the header. LODE_END: there is nothing to read, and a finding. */
lode_status lode_perf_open(struct perf_store *store, const struct lode_folder *folder);
/* Adds an event with ids of 8 bytes each. */
lode_status lode_perf_add_event(struct perf_store *store, struct lode_range attr, struct lode_range ids,
                                const char *file, uint64_t offset);

/* ---- features.c ---- */

/* Takes a section of metadata; one that cannot be read is a finding. */
lode_status lode_perf_feature(struct perf_store *store, unsigned feature, struct lode_range bytes,
                              const char *file, uint64_t offset);
/* A record BUILD_ID, with its header. */
lode_status lode_perf_add_build_id(struct perf_store *store, struct lode_range record);
/* A string of bytes up to a NUL, cleaned: its number. */
lode_status lode_perf_string(struct perf_store *store, struct lode_range bytes, uint32_t *number);

/* Finds which events are switches of threads, and where their fields are. */
void lode_perf_read_formats(struct perf_store *store);

/* ---- survey.c ---- */

/* One pass over all records: counts, records of processes, and where reading can begin. */
lode_status lode_perf_survey(struct perf_store *store);
/* Records of processes in order of time. */
void lode_perf_sort_sides(struct perf_store *store);

/*
 * The number of the event of a record; LODE_NONE: none. Records of the kernel only. The record has
 * all bytes that its header says.
 */
uint32_t lode_perf_event_of(const struct perf_store *store, const uint8_t *record, uint32_t size,
                            bool is_sample);

#define perf_finding(store, rule, file, offset, ...)                                                         \
    lode_report_add((store)->report, rule, file, offset, __VA_ARGS__)

#endif
