/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink that writes the four files; model/sink.h tells the order of calls. */
#ifndef LODE_FORMAT_HPCTOOLKIT_WRITE_H
#define LODE_FORMAT_HPCTOOLKIT_WRITE_H

#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/memory/blob.h"
#include "format/hpctoolkit/wire.h"
#include "model/sink.h"
#include <stdatomic.h>

/* hpcviewer reads these numbers as signed ones, which halves their range. */
enum {
    WRITTEN_MAX_KINDS = INT8_MAX,
    WRITTEN_MAX_METRICS = INT16_MAX,
    WRITTEN_MAX_METRIC_IDS = INT16_MAX + 1,
    WRITTEN_MAX_ENTRIES = INT16_MAX
};

/* The size of a section's header, padded for 8-byte numbers. */
#define WRITTEN_PADDED(table) ((uint64_t)(WIRE_##table##_SIZE + 7) / 8 * 8)

/* A profile that was written. */
struct written_profile {
    struct lode_id_tuple ids;
    uint32_t order; /* of appending */
    struct wire_Profile wire;
    uint64_t trace_start, trace_end;
};

/* A profile of this rank that is written in place. */
struct placed_profile {
    uint64_t values, groups, samples;
    uint64_t block_at, line_at; /* in profile.db and trace.db */
    uint64_t first, last;       /* times of its samples */
};

/* Traffic of a rank in the transpose. */
struct written_traffic {
    uint64_t rounds, exchanges, sent_bytes, received_bytes, written_bytes;
};

/* The store that companion files are copied from. Unusable files are reported and left out. */
struct written_origin {
    int directory;              /* -1: none; then sources are paths of their own */
    lode_finding_fn on_finding; /* may be NULL */
    void *user;
    lode_open_source_file_fn open; /* opens sources; NULL: they are below the directory */
    void *opener;
};

struct hpct_sink {
    struct lode_sink base;
    struct lode_output_file files[HPCT_FILES];
    void *joint[HPCT_FILES]; /* of the communicator: files that all ranks write together; or NULL */
    struct written_origin origin;
    struct lode_blob taxonomy; /* metrics/default.yaml; empty: it is generated */
    struct lode_arena arena;   /* of id tuples */

    uint32_t value_ids, id_count; /* as in the description */
    uint16_t *value_of;           /* by id of a statistic: the id of its values */
    _Atomic uint64_t *values_of;  /* by context id: values in profiles */
    uint32_t *enclosing_loop;     /* by context id; NULL: there are no loops */
    uint8_t *is_loop;             /* likewise */
    struct written_loops *loops;  /* sums of scope lex_aware at loops; NULL: like other values */
    struct lode_array profiles;   /* of struct written_profile */
    struct placed_profile *placed;
    uint64_t trace_min, trace_max;
    struct written_traffic traffic;
    struct wire_Section meta[META_SECTIONS]; /* of meta.db, which is complete but for its header */
};

extern const struct lode_sink_ops lode_hpct_sink;

/* Writes meta.db without its header, and finds loops: nothing else needs the contexts. */
lode_status lode_hpct_take_contexts(struct hpct_sink *sink, lode_error *error);
/* The blocks in profile.db that this rank wrote: of profiles `first`, `first` + 1 and so on. */
struct written_share {
    uint32_t first, count;
    const struct wire_Profile *records; /* position and size of the blocks */
};
/*
 * Writes cct.db and the summary profile, and sets its record. Collective: each rank has its own
 * blocks, and values_of counts the values in these; then, for this rank's part of the contexts,
 * those of all. profile.db has the same size on all ranks, and ends after the last block; then,
 * after the summary.
 */
lode_status lode_hpct_transpose(struct hpct_sink *sink, const struct written_share *share,
                                struct wire_Profile *summary, struct wire_Section *section,
                                lode_error *error);
/* Opens the store at `path` for companion files. */
lode_status lode_origin_open(struct written_origin *origin, const char *path, lode_finding_fn on_finding,
                             void *user, lode_error *error);
void lode_origin_close(struct written_origin *origin);
/* Reports a companion file that is left out. Fails with the reason if the file is not the cause. */
lode_status lode_origin_leave_out(const struct written_origin *origin, const char *path,
                                  const lode_error *reason, lode_error *error);
/*
 * Copies a source file to an output, unless its place is not below src/ or exists. `source` is a
 * path below the origin, what its `open` takes, or any path if it has neither; a missing file is an
 * error in the last case, and else left out.
 */
lode_status lode_hpct_copy_source_file(struct lode_output *output, const struct written_origin *origin,
                                       const char *path, const char *source, lode_error *error);
/* Copies the origin's metrics/default.yaml, if any; metrics must be described as in the origin. */
lode_status lode_hpct_take_taxonomy(struct hpct_sink *sink, lode_error *error);
/* Finds loops, and what encloses them. */
lode_status lode_hpct_find_loops(struct hpct_sink *sink, lode_error *error);
/* From now on, sums scope lex_aware at loops from scope function (loops.h). Collective. */
lode_status lode_hpct_sum_loops(struct hpct_sink *sink, lode_error *error);
void lode_hpct_free_loops(struct hpct_sink *sink);
/* The source's statistics at loops. They are written if only rounding makes a difference. */
lode_status lode_hpct_keep_statistics(struct hpct_sink *sink, const lode_block *block, lode_error *error);
/* Adds the loop values of a profile to `values`. MT: any thread. */
lode_status lode_hpct_collect_loops(const struct hpct_sink *sink, const lode_block *block,
                                    struct lode_array *values, lode_error *error);
/* Adds the loop values of a profile; profiles come in order. */
lode_status lode_hpct_add_loops(struct hpct_sink *sink, const struct lode_array *values, lode_error *error);
/* The same for all profiles that this rank wrote in place, in the order of ranks. Collective. */
lode_status lode_hpct_add_placed_loops(struct hpct_sink *sink, const struct written_share *share,
                                       lode_error *error);
/* False if it is computed from the values of profiles. */
bool lode_hpct_loop_statistic(const struct hpct_sink *sink, uint32_t context, uint32_t metric,
                              const lode_metric_statistic *statistic, double *out);
/* metrics/default.yaml, FORMATS.md, copied sources. */
lode_status lode_hpct_put_companions(struct hpct_sink *sink, lode_error *error);

#endif
