/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the four files. Everything public about it is in lode/writer.h. */
#ifndef LODE_FORMAT_HPCTOOLKIT_WRITE_H
#define LODE_FORMAT_HPCTOOLKIT_WRITE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/blob.h"
#include "base/comm.h"
#include "base/output.h"
#include "format/hpctoolkit/wire.h"
#include "model/metric.h"
#include <lode/check.h>
#include <lode/writer.h>
#include <stdatomic.h>

/* hpcviewer reads these numbers as signed ones, so that half of what their fields can hold is the limit. */
enum {
    WRITTEN_MAX_KINDS = INT8_MAX,
    WRITTEN_MAX_METRICS = INT16_MAX,
    WRITTEN_MAX_METRIC_IDS = INT16_MAX + 1,
    WRITTEN_MAX_ENTRIES = INT16_MAX
};

/* The size of a section's header, up to where 8-byte numbers may follow. */
#define WRITTEN_PADDED(table) ((uint64_t)(WIRE_##table##_SIZE + 7) / 8 * 8)

/* What was described. `rank` is the position in the file, once the description is sealed. */
struct written_scope {
    const char *name;
    uint8_t type, bit;
};

struct written_metric {
    const char *name;
    struct lode_array scopes;     /* of struct written_metric_scope */
    struct lode_array statistics; /* of struct written_statistic */
    bool opaque; /* has a scope whose rule is not known, so that points cannot be propagated */
};

struct written_metric_scope {
    uint32_t scope;
    uint16_t id;
};

struct written_statistic {
    uint32_t scope;
    const char *formula;
    uint8_t combine;
    uint16_t id;
    uint16_t value_id; /* of the metric under this scope */
};

struct written_module {
    const char *path;
    uint32_t rank;
};

struct written_file {
    const char *path, *source;
    bool copied;
    uint32_t rank;
};

struct written_function {
    const char *name;
    uint32_t module, file, line;
    uint64_t offset;
    uint32_t rank;
};

struct written_context {
    uint32_t parent; /* handle, or LODE_NONE */
    uint32_t function, file, module, line;
    uint64_t offset;
    const char *entry_name;
    uint16_t entry, propagation;
    uint8_t lexical, relation;
    bool unlisted;
};

/* A context by its id in the file: what propagation needs. */
struct numbered_context {
    uint32_t parent;
    uint16_t propagation;
    bool loop;
};

/* What a value's id stands for. */
struct value_id {
    uint32_t metric;
    uint8_t type, bit;
    uint32_t loopless; /* of a custom scope: the column where values without inner loops are gathered */
};

/* A profile that was appended. */
struct written_profile {
    lode_id *ids;
    uint32_t id_count;
    uint32_t order; /* of appending */
    struct wire_Profile wire;
    uint64_t trace_start, trace_end;
};

/* What a rank's part of the transpose took. */
struct written_traffic {
    uint64_t rounds, exchanges, sent_bytes, received_bytes, written_bytes;
};

/* The store that companion files are taken from. What is wrong with one of them is said, and it is left out. */
struct written_origin {
    int directory;              /* -1: none; then sources are paths of their own */
    lode_finding_fn on_finding; /* may be NULL */
    void *user;
};

struct lode_writer {
    struct lode_comm *comm;    /* that writes the database together; NULL: nobody else */
    struct lode_output output; /* rank 0's */
    struct lode_output_file files[HPCT_FILES];
    void *joint
        [HPCT_FILES]; /* of the communicator, for files that all ranks write together; NULL: each for itself */
    lode_writer_options options;
    struct written_origin origin;
    struct lode_arena arena; /* of strings and id tuples */

    struct lode_array kinds; /* of const char * */
    struct lode_array scopes, metrics, modules, sources, functions, contexts;
    uint32_t value_ids, statistic_ids, entries;

    bool described, sealed, finished;
    bool broken;                       /* a profile could not be appended */
    struct value_id *ids_of_values;    /* by value id */
    uint32_t columns;                  /* of a draft's matrix: value ids, and one more for each custom one */
    uint32_t *id_of;                   /* by handle: id in the file */
    uint32_t *handle_of;               /* by id, of listed contexts; handle_of[0] is not used */
    struct numbered_context *numbered; /* by id */
    uint32_t listed, id_count;         /* ids 1 .. listed are in meta.db; all are below id_count */
    _Atomic uint64_t *values_of;       /* by id: values in profiles */

    struct lode_blob taxonomy;   /* metrics/default.yaml; empty: it is made */
    struct written_loops *loops; /* how scope lex_aware is summed up at loops; NULL: as other values */
    struct lode_array profiles;  /* of struct written_profile */
    uint64_t trace_min, trace_max;
    struct written_traffic traffic;
};

#define WRITTEN(writer, list, type, index) LODE_ARRAY_AT(&(writer)->list, struct written_##type, index)

/* A copy that lives as long as the writer. */
lode_status lode_writer_text(lode_writer *writer, const char *text, const char **out, lode_error *error);
/* Gives all that was described its place. */
lode_status lode_writer_number(lode_writer *writer, lode_error *error);
/* Writes meta.db, all but its header. */
lode_status lode_writer_put_meta(lode_writer *writer, struct wire_Section *sections, lode_error *error);
/* The blocks in profile.db that this rank wrote: those of profiles `first`, `first` + 1 and so on, in the order that they have there. */
struct written_share {
    uint32_t first, count;
    const struct wire_Profile *records; /* where the blocks are, and what they hold */
};
/*
 * Makes cct.db and the summary profile, whose record it fills in. All ranks of the communicator take part, each with what it wrote;
 * values_of has what is in these blocks, and then what is in all. profile.db has the same size for all ranks, and ends behind the last
 * block; then, behind the summary.
 */
lode_status lode_writer_transpose(lode_writer *writer, const struct written_share *share,
                                  struct wire_Profile *summary, struct wire_Section *section,
                                  lode_error *error);
/* Opens the store at `path` for companion files. */
lode_status lode_origin_open(struct written_origin *origin, const char *path, lode_finding_fn on_finding,
                             void *user, lode_error *error);
void lode_origin_close(struct written_origin *origin);
/* Passes on that a companion file was left out, and why. Fails with the reason if it is not the file's fault. */
lode_status lode_origin_leave_out(const struct written_origin *origin, const char *path,
                                  const lode_error *reason, lode_error *error);
/*
 * Copies a source file to its place in an output; not one whose place is not below src/, nor one that is there. `source` is a path below
 * the origin, or any path if that has no directory; one that is not to be had is left out in the first case, and an error in the second.
 */
lode_status lode_writer_copy_source(struct lode_output *output, const struct written_origin *origin,
                                    const char *path, const char *source, lode_error *error);
/*
 * Takes over metrics/default.yaml of the origin, if it has one. The file refers to metrics by name, and these are to be described as they are
 * in the origin.
 */
lode_status lode_writer_take_taxonomy(lode_writer *writer, lode_error *error);
/*
 * From now on, the summary of scope lex_aware at loops is computed from scope function (loops.h), since profiles are appended that may have
 * hpcprof's values. For a sealed writer without a communicator, whose metrics were described one after the other.
 */
lode_status lode_writer_sum_loops(lode_writer *writer, lode_error *error);
void lode_writer_free_loops(lode_writer *writer);
/* What the source of the profiles has for a statistic. It is written where only rounding makes a difference. */
lode_status lode_writer_keep_statistic(lode_writer *writer, uint32_t context, uint16_t statistic,
                                       double value, lode_error *error);
/* Adds to the values of a profile one at a loop. Contexts, and ids in each, are in ascending order. */
lode_status lode_writer_collect_loop(const lode_writer *writer, struct lode_array *values, uint32_t context,
                                     uint16_t id, double value, lode_error *error);
/* Adds up what a profile has at loops; profiles come in their order. */
lode_status lode_writer_add_loops(lode_writer *writer, const struct lode_array *values, lode_error *error);
/* False if it is computed from the values of profiles. */
bool lode_writer_loop_statistic(const lode_writer *writer, uint32_t context, uint32_t metric,
                                const struct written_statistic *statistic, double *out);
/* metrics/default.yaml, FORMATS.md, copied sources. */
lode_status lode_writer_put_companions(lode_writer *writer, lode_error *error);

/*
 * Writing as a communicator. Every rank has a writer and describes the same kinds of ids, scopes and metrics; rank 0 alone describes the rest,
 * notes all profiles, and ends up with the database. Ranks put blocks and trace lines where they belong themselves. All are collective
 * but the third.
 */
lode_status lode_writer_create_with(lode_writer **out, struct lode_comm *comm, const char *path,
                                    const lode_writer_options *options, lode_error *error);
lode_status lode_writer_seal_with(lode_writer *writer, lode_error *error);
/* Instead of appending it, in the order of ids: of `profile`, `wire` and the trace line's place count. */
lode_status lode_writer_note_profile(lode_writer *writer, const lode_id *ids, uint32_t id_count,
                                     const struct written_profile *profile, lode_error *error);
lode_status lode_writer_finish_with(lode_writer *writer, const struct written_share *share,
                                    lode_error *error);
/* From now on what is computed together is written together, if the communicator can: values by context, and the summary. Collective. */
lode_status lode_writer_write_jointly(lode_writer *writer, lode_error *error);

/* Appends the header of a section to a file, and remembers where the section is. */
lode_status lode_writer_begin_file(lode_writer *writer, enum hpct_file_id id, lode_error *error);
/* Footer, header, fsync. */
lode_status lode_writer_end_file(lode_writer *writer, enum hpct_file_id id,
                                 const struct wire_Section *sections, lode_error *error);

#endif
