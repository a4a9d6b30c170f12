/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements as a source of analysed profiles, in steps that pass plain data to the next one:
 *   inputs    rank 0 lists the files; each rank looks at some id tuples; all sort and share them
 *   read      each rank reads its profiles once: a tree of addresses per worker, and spools with
 *             values and samples
 *   merge     one tree per rank, then one of all on rank 0
 *   expand    rank 0 asks where each distinct address is, and makes contexts of the answers
 *   spread    each rank gets the contexts that its profiles have
 *   values    from spooled values to blocks, by propagation up the contexts
 *   samples   from spooled samples to trace lines
 */
#ifndef LODE_FORMAT_HPCRUN_SOURCE_H
#define LODE_FORMAT_HPCRUN_SOURCE_H

#include "base/comm/comm.h"
#include "base/comm/tree.h"
#include "base/io/input.h"
#include "base/io/spool.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/format.h"
#include "format/hpcrun/read/raw.h"
#include "format/hpcrun/source/sites.h"
#include "format/hpcrun/source/source_files.h"
#include "model/database/rank_trees.h"

/* A directory that profiles are in. */
struct hpcrun_directory {
    const char *path;
    bool is_argument; /* else only files in it are */
    struct lode_folder folder;
    bool is_open;
};

/* A profile. */
struct hpcrun_entry {
    const char *name;  /* in the directory */
    const char *trace; /* the same; empty: there is none */
    uint32_t directory;
    uint32_t id_count;
    uint32_t listed; /* its number in the list of files */
    bool is_dropped; /* it cannot be used */
    uint64_t bytes, trace_bytes;
    struct hpcrun_Id *raw_ids;
    lode_id *ids; /* once all are numbered */
};

/* What is known of a profile that was read. */
struct hpcrun_read {
    unsigned worker;
    bool is_call_trace;
    uint64_t rows_at, row_count;
    uint64_t samples_at, sample_count;
};

/* A value, as spooled: at a node of the worker's tree. */
struct hpcrun_row {
    double value;
    uint32_t node;
    uint32_t metric; /* of the worker; and HPCRUN_ROW_CALL */
};

#define HPCRUN_NOT_WANTED UINT32_MAX

enum {
    HPCRUN_ROW_CALL = 1 << 30, /* it belongs to the call, not to the instruction */
    HPCRUN_SAMPLE_SIZE = 12    /* time u64, node u32, as spooled */
};

/* A file that cannot be used, and why; or a profile that is not wanted. */
struct hpcrun_skip {
    uint32_t profile; /* in the order of profiles */
    uint32_t rule;    /* or HPCRUN_NOT_WANTED */
    const char *file, *text;
    uint64_t offset;
};

struct hpcrun_worker {
    struct hpcrun_raw raw;
    struct lode_spool rows, samples;
    struct lode_array skips;       /* struct hpcrun_skip */
    uint64_t records, first, last; /* of traces; their times */
    struct hpcrun_profile profile; /* that is being read */
    /* Of the last profile: the same tables have the same numbers. */
    struct lode_blob load_map, metric_table;
    uint32_t load_map_directory;
    uint32_t *modules, *metrics, *nodes;
    size_t module_room, metric_room, node_room;
    struct lode_array sorted; /* samples of a trace that is not in order */
};

/* Contexts with their parents before them: depth-first, siblings by content. */
struct hpcrun_contexts {
    uint32_t count;
    uint32_t *ids, *above; /* by position: its id, the position of its parent */
    uint8_t *flags;        /* HPCRUN_CONTEXT_... */
};

enum {
    HPCRUN_CONTEXT_ENCLOSED = 1, /* it is part of its parent, not called */
    HPCRUN_CONTEXT_LOOP = 2,
    HPCRUN_CONTEXT_UNLISTED = 4, /* samples are at its parent */
    HPCRUN_CONTEXT_KERNEL = 8    /* a function that a route begins with */
};

/* Where a node of a tree of addresses is: positions of contexts, or a site. */
struct hpcrun_place {
    uint32_t full; /* of its instruction; LODE_NO_NUMBER: it is a site */
    uint32_t call; /* the outermost one that it adds: the function; or the site */
};

static inline bool lode_hpcrun_is_site(const struct hpcrun_place *place)
{
    return place->full == LODE_NO_NUMBER;
}

/* What values of sites are shared out by. */
enum hpcrun_kernel_metric {
    HPCRUN_LAUNCHES,
    HPCRUN_SAMPLED_LAUNCHES,
    HPCRUN_INSTRUCTIONS,
    HPCRUN_KERNEL_METRICS
};

/* A metric of the description. Scopes that it does not have have the id LODE_NONE. */
enum hpcrun_scope {
    HPCRUN_SCOPE_POINT,
    HPCRUN_SCOPE_FUNCTION,
    HPCRUN_SCOPE_LEXICAL,
    HPCRUN_SCOPE_EXECUTION,
    HPCRUN_SCOPES
};

struct hpcrun_value_ids {
    uint32_t ids[HPCRUN_SCOPES];
};

struct hpcrun_source;

/* What differs between kinds of measurements. */
struct hpcrun_reader {
    /* Reads everything: fills workers, reads, entries and what is of this rank. Collective. */
    lode_status (*read)(struct hpcrun_source *source, int scratch, lode_error *error);
    /* Asks where addresses are, on rank 0; NULL: files of modules, which ranks share out. */
    lode_status (*ask)(struct hpcrun_source *source, struct hpcrun_scopes *scopes,
                       const struct hpcrun_asking *asking, lode_error *error);
    void (*close)(struct hpcrun_source *source); /* may be NULL */
};

struct hpcrun_source {
    struct lode_measured_source base;
    const struct hpcrun_reader *reader;
    struct lode_report *report; /* of findings when asking; NULL: they go to the callback */
    const struct lode_measured_input *input;
    struct lode_comm *comm;
    struct lode_description *about;
    struct lode_arena arena;       /* of names, skips and id tuples */
    struct lode_array directories; /* struct hpcrun_directory */
    struct hpcrun_entry *entries;  /* once sorted, in the order of profiles */
    uint32_t entry_count;
    uint32_t first, share;     /* of entries: those of this rank, used or not */
    struct hpcrun_read *reads; /* by item of the share */
    uint32_t *item_of;         /* by used profile of this rank: the item of the share */

    unsigned threads;
    struct hpcrun_worker *workers;
    struct hpcrun_raw raw; /* of this rank; then, on rank 0, of all */
    /* With other ranks: the tree of this one, apart from `raw`; and on rank 0 nodes by number. */
    struct lode_content_tree own;
    struct lode_rank_trees ranks;
    uint32_t *node_of;
    uint32_t **nodes;   /* by worker and its nodes: nodes of the rank */
    uint32_t **metrics; /* by worker and its metrics: numbers of the description */
    uint32_t *metric_counts;

    struct hpcrun_place *places; /* by node of the rank; on rank 0 first of all */
    struct hpcrun_contexts contexts;
    struct hpcrun_sites sites;
    struct hpcrun_source_files sources; /* rank 0 */
    uint32_t *handles;                  /* rank 0, until ids are known: by position */
    uint32_t *position_at, *rank_of;    /* positions in the order of ids; the other way round */

    uint32_t metric_count;                          /* measured ones */
    uint32_t kernel_metrics[HPCRUN_KERNEL_METRICS]; /* or LODE_NONE */
    struct hpcrun_value_ids *value_ids;             /* by metric */
    struct hpcrun_scratch *scratches;               /* by slot */
    struct hpcrun_line *lines;                      /* by slot */
    unsigned slot_count;
};

static inline struct hpcrun_source *hpcrun_source_of(struct lode_profile_source *base)
{
    return (struct hpcrun_source *)base;
}

static inline struct hpcrun_directory *hpcrun_directory(const struct hpcrun_source *source, uint32_t number)
{
    return LODE_ARRAY_AT(&source->directories, struct hpcrun_directory, number);
}

/* Whether the analysis gives the logical id. */
static inline bool hpcrun_id_is_numbered(const struct hpcrun_Id *id)
{
    unsigned meaning = id->kind >> HPCRUN_ID_MEANING_SHIFT;
    return meaning == 1 || meaning == 2;
}

/* Each: collective, when what stands above it is done. */
lode_status lode_hpcrun_list_inputs(struct hpcrun_source *source, lode_error *error);
/* Sorts entries by id tuple; each rank gets a share. */
lode_status lode_hpcrun_sort_inputs(struct hpcrun_source *source, lode_error *error);
lode_status lode_hpcrun_read_inputs(struct hpcrun_source *source, int scratch, lode_error *error);
/* Removes the entries that cannot be used, and reports them. */
lode_status lode_hpcrun_drop_inputs(struct hpcrun_source *source, lode_error *error);
/* Numbers what hpcrun left to be numbered. */
lode_status lode_hpcrun_number_ids(struct hpcrun_source *source, lode_error *error);
lode_status lode_hpcrun_merge(struct hpcrun_source *source, lode_error *error);
lode_status lode_hpcrun_describe_facts(struct hpcrun_source *source, lode_error *error);
lode_status lode_hpcrun_expand(struct hpcrun_source *source, lode_error *error);
/* Reads the files that rank 0 shares out meanwhile. */
lode_status lode_hpcrun_assist(struct hpcrun_source *source, lode_error *error);
/* Contexts and what they name, in the order of positions; `node_at` is by position. */
lode_status lode_hpcrun_describe_contexts(struct hpcrun_source *source, const struct hpcrun_scopes *scopes,
                                          const struct hpcrun_asking *asking,
                                          const struct lode_content_tree *tree, const uint32_t *node_at,
                                          lode_error *error);
lode_status lode_hpcrun_spread(struct hpcrun_source *source, const struct lode_description *sealed,
                               lode_error *error);

/* Workers for `threads`, with spools in a directory. */
lode_status lode_hpcrun_open_workers(struct hpcrun_source *source, int scratch, lode_error *error);
/* Reads one profile and its trace, for item `item` of the share. */
lode_status lode_hpcrun_read_item(struct hpcrun_source *source, struct hpcrun_worker *worker, uint32_t item,
                                  lode_error *error);

lode_status lode_hpcrun_open_slots(struct lode_profile_source *base, unsigned count, lode_error *error);
lode_status lode_hpcrun_values(struct lode_profile_source *base, unsigned slot, uint32_t profile,
                               lode_block *out, lode_error *error);
lode_status lode_hpcrun_begin_samples(struct lode_profile_source *base, lode_error *error);
lode_status lode_hpcrun_samples(struct lode_profile_source *base, unsigned slot, uint32_t line,
                                lode_trace_line *out, lode_error *error);
void lode_hpcrun_close_values(struct hpcrun_source *source);
void lode_hpcrun_close_samples(struct hpcrun_source *source);
void lode_hpcrun_contexts_free(struct hpcrun_contexts *contexts);

/* A source that a reader fills. */
void lode_hpcrun_source_init(struct hpcrun_source *source, const struct lode_measured_input *input,
                             const struct hpcrun_reader *reader);

/* The format's functions. */
lode_status lode_hpcrun_source_open(struct lode_measured_source **out,
                                    const struct lode_measured_input *input, lode_error *error);
void lode_hpcrun_source_close(struct lode_measured_source *base);

#endif
