/* SPDX-License-Identifier: BSD-3-Clause */
/* What writing both drafts has in common. */
#include "format/hpctoolkit_drafts/write.h"

#include "format/hpctoolkit/write.h"
#include "format/replace.h"
#include "model/block.h"
#include <inttypes.h>
#include <stdlib.h>

/* A draft has a record for each id, whether there is such a context or not: a few ids more than contexts are no matter. */
#define IDS_PER_CONTEXT UINT64_C(4)
#define IDS_AT_LEAST    64

/* Numbers the context that stands for a thread that did not run behind all others. */
static lode_status number_contexts(struct drafts_output *out, lode_error *error)
{
    const lode_database *db = out->db;
    uint64_t count = db->context_block_count, contexts = count + db->tree.count;
    for (uint32_t i = 0; i < db->tree.count; i++)
        if (db->tree.nodes[i].id >= count)
            count = (uint64_t)db->tree.nodes[i].id + 1;
    if (count > IDS_PER_CONTEXT * contexts + IDS_AT_LEAST)
        return lode_fail(
            error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
            "ids of contexts go up to %" PRIu64
            ", and a draft has a record for each; convert it to HPCToolkit 4.0 first, which numbers contexts anew",
            count - 1);
    if (count >= UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "%" PRIu64 " ids of contexts leave none for threads that do not run", count);
    if (lode_database_has(db, LODE_PART_TRACE))
        out->idle = (uint32_t)count++;
    out->id_count = (uint32_t)count;
    return LODE_OK;
}

static lode_status copy_sources(struct drafts_output *out, lode_error *error)
{
    const lode_convert_options *options = out->options;
    struct written_origin origin;
    if (options->sources == NULL)
        return LODE_OK;
    LODE_TRY(lode_origin_open(&origin, options->sources, options->on_finding, options->user, error));
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < out->db->file_count && status == LODE_OK; i++)
        if (out->db->files[i].copied)
            status = lode_writer_copy_source(&out->output, &origin, out->db->files[i].path,
                                             out->db->files[i].path, error);
    lode_origin_close(&origin);
    return status;
}

static lode_status write_all(struct drafts_output *out, const char *path, const struct drafts_writer *writer,
                             lode_error *error)
{
    if (!lode_database_has(out->db, LODE_PART_CONTEXT))
        return lode_fail(
            error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
            "the database has no values by context, which a draft needs; convert it to HPCToolkit 4.0 first");
    LODE_TRY(lode_context_blocks_fit(out->db, error));
    LODE_TRY(number_contexts(out, error));
    writer->choose(out);
    LODE_TRY(
        lode_output_create(&out->output, path, out->options->force ? &lode_replace_database : NULL, error));
    LODE_TRY(lode_drafts_put_profiles(out, error));
    LODE_TRY(lode_drafts_put_contexts(out, error));
    if (lode_database_has(out->db, LODE_PART_TRACE))
        LODE_TRY(lode_drafts_put_traces(out, error));
    LODE_TRY(copy_sources(out, error));
    LODE_TRY(writer->put_meta(out, error));
    return lode_output_commit(&out->output, error);
}

lode_status lode_drafts_write(const lode_database *db, const char *path, const struct drafts_writer *writer,
                              const lode_convert_options *options, lode_error *error)
{
    struct drafts_output *out = calloc(1, sizeof *out);
    if (out == NULL)
        return lode_fail_memory(error);
    out->db = db;
    out->options = options;
    out->trace_bounds = writer->trace_bounds;
    out->output = (struct lode_output)LODE_OUTPUT_INIT;
    lode_status status = write_all(out, path, writer, error);
    lode_output_close(&out->output);
    free(out);
    return status;
}
