/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sinks that write databases of the big-endian drafts. They keep the ids of the source, and
 * copy its summary and its values by context. One pass over the binary files; memory holds a few
 * numbers per context and profile, and the groups of one block.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_H

#include "base/memory/blob.h"
#include "model/sink.h"

/* A binary file. Records precede their data, and are written last. */
struct drafts_binary {
    struct lode_output_file file;
    uint32_t count; /* of records */
    size_t stride;
    uint8_t *records;
};

struct drafts_sink {
    struct lode_sink base;
    const struct drafts_writer *writer;
    struct drafts_binary profiles, contexts, traces;
    struct lode_blob groups; /* of one block */
    uint64_t *tuples;        /* by profile: offset of its id tuple */
    uint64_t tuples_at, tuples_size;
    uint32_t next_profile, next_line;
    uint64_t line_at; /* offset of the last line's samples */
    /* The context id of idle samples; 0: there are no samples. */
    uint32_t idle;
    uint32_t id_count; /* above all context ids, including those without metadata */
    /* By id: whether its values are written. */
    bool values[UINT16_MAX + 1], statistics[UINT16_MAX + 1];
};

/* The metadata of a draft, and its limits. */
struct drafts_writer {
    bool trace_bounds; /* trace.db has time bounds, and no footer */
    /* Selects the values to write: those that the metadata can name. */
    void (*choose)(struct drafts_sink *out);
    lode_status (*put_meta)(struct drafts_sink *out, lode_error *error);
};

extern const struct lode_sink_ops lode_drafts_xml_sink, lode_drafts_metadb_sink;

static inline struct drafts_sink *drafts_sink_of(struct lode_sink *base)
{
    return (struct drafts_sink *)base;
}

/* The functions of a sink that both share: model/sink.h. */
lode_status lode_drafts_create(struct lode_sink *base, const struct drafts_writer *writer, lode_error *error);
lode_status lode_drafts_seal(struct lode_sink *base, lode_error *error);
lode_status lode_drafts_finish(struct lode_sink *base, lode_error *error);
void lode_drafts_close_sink(struct lode_sink *base);
lode_status lode_drafts_summary(struct lode_sink *base, const lode_block *block, lode_error *error);
lode_status lode_drafts_append(struct lode_sink *base, void *scratch, const struct lode_id_tuple *ids,
                               const lode_block *block, lode_error *error);
lode_status lode_drafts_append_context(struct lode_sink *base, uint32_t id, const lode_block *block,
                                       lode_error *error);
lode_status lode_drafts_append_samples(struct lode_sink *base, uint32_t line, const lode_trace_line *samples,
                                       lode_error *error);

#define DRAFTS_SINK(create_function)                                                                         \
    {                                                                                                        \
        .size = sizeof(struct drafts_sink), .replaces = &lode_replace_database, .keeps_ids = true,           \
        .create = (create_function), .seal = lode_drafts_seal, .summary = lode_drafts_summary,               \
        .append = lode_drafts_append, .append_context = lode_drafts_append_context,                          \
        .append_samples = lode_drafts_append_samples, .finish = lode_drafts_finish,                          \
        .close = lode_drafts_close_sink                                                                      \
    }

/* The binary files, from beginning to end. */
lode_status lode_drafts_begin_files(struct drafts_sink *out, lode_error *error);
lode_status lode_drafts_end_files(struct drafts_sink *out, lode_error *error);

#endif
