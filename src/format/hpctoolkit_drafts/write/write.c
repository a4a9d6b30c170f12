/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the writers of both drafts. */
#include "format/hpctoolkit_drafts/write/write.h"

#include "format/hpctoolkit/write/write.h"
#include <inttypes.h>
#include <stdlib.h>

/* A draft has a record for each id, with or without a context: limits the gaps. */
#define IDS_PER_CONTEXT UINT64_C(4)
#define IDS_AT_LEAST    64

lode_status lode_drafts_create(struct lode_sink *base, const struct drafts_writer *writer, lode_error *error)
{
    struct drafts_sink *out = drafts_sink_of(base);
    (void)error;
    out->writer = writer;
    out->profiles.file.fd = out->contexts.file.fd = out->traces.file.fd = -1;
    return LODE_OK;
}

/* Numbers the context of idle threads after all others. */
static lode_status number_contexts(struct drafts_sink *out, lode_error *error)
{
    const struct lode_description *about = out->base.about;
    uint64_t count = about->context_blocks, contexts = count + about->tree.count;
    for (uint32_t i = 0; i < about->tree.count; i++)
        if (about->tree.nodes[i].id >= count)
            count = (uint64_t)about->tree.nodes[i].id + 1;
    if (count > IDS_PER_CONTEXT * contexts + IDS_AT_LEAST)
        return lode_fail(
            error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
            "ids of contexts go up to %" PRIu64
            ", and a draft has a record for each; convert it to HPCToolkit 4.0 first, which renumbers contexts",
            count - 1);
    if (count >= UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "%" PRIu64 " ids of contexts leave none for idle threads", count);
    if (out->base.options.traces)
        out->idle = (uint32_t)count++;
    out->id_count = (uint32_t)count;
    return LODE_OK;
}

lode_status lode_drafts_seal(struct lode_sink *base, lode_error *error)
{
    struct drafts_sink *out = drafts_sink_of(base);
    if (!base->about->has_contexts)
        return lode_fail(
            error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
            "the database has no values by context, which a draft needs; convert it to HPCToolkit 4.0 first");
    LODE_TRY(number_contexts(out, error));
    out->writer->choose(out);
    return lode_drafts_begin_files(out, error);
}

static lode_status copy_sources(struct drafts_sink *out, lode_error *error)
{
    const struct lode_sink_options *options = &out->base.options;
    const struct lode_description *about = out->base.about;
    struct written_origin origin;
    if (options->origin == NULL)
        return LODE_OK;
    LODE_TRY(lode_origin_open(&origin, options->origin, options->on_finding, options->user, error));
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < about->file_count && status == LODE_OK; i++)
        if (about->files[i].copied)
            status = lode_hpct_copy_source_file(&out->base.output, &origin, about->files[i].path,
                                                about->files[i].path, error);
    lode_origin_close(&origin);
    return status;
}

lode_status lode_drafts_finish(struct lode_sink *base, lode_error *error)
{
    struct drafts_sink *out = drafts_sink_of(base);
    LODE_TRY(lode_drafts_end_files(out, error));
    LODE_TRY(copy_sources(out, error));
    return out->writer->put_meta(out, error);
}

void lode_drafts_close_sink(struct lode_sink *base)
{
    struct drafts_sink *out = drafts_sink_of(base);
    struct drafts_binary *files[] = {&out->profiles, &out->contexts, &out->traces};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        lode_output_file_abandon(&files[i]->file);
        free(files[i]->records);
    }
    lode_blob_free(&out->groups);
    free(out->tuples);
}
