/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/source/source.h"

#include "model/database/description.h"
#include <stdlib.h>

/* ---- reading ---- */

static lode_status read_all(struct hpcrun_source *source, int scratch, lode_error *error)
{
    LODE_TRY(lode_hpcrun_read_inputs(source, scratch, error));
    LODE_TRY(lode_hpcrun_drop_inputs(source, error));
    return lode_hpcrun_number_ids(source, error);
}

static const struct hpcrun_reader files_reader = {.read = read_all};

/* ---- the source ---- */

static lode_status describe(struct lode_profile_source *base, struct lode_description *out, bool keeps_ids,
                            int scratch, lode_error *error)
{
    struct hpcrun_source *source = hpcrun_source_of(base);
    (void)keeps_ids;
    source->about = out;
    LODE_TRY(source->reader->read(source, scratch, error));
    if (source->input->on_read)
        source->input->on_read(source->input->user);
    LODE_TRY(lode_hpcrun_merge(source, error));
    LODE_TRY(lode_hpcrun_describe_facts(source, error));
    return source->comm->place.rank == 0 ? lode_hpcrun_expand(source, error)
           : source->reader->ask         ? LODE_OK
                                         : lode_hpcrun_assist(source, error);
}

static lode_status number(struct lode_profile_source *base, const struct lode_description *sealed,
                          lode_error *error)
{
    return lode_hpcrun_spread(hpcrun_source_of(base), sealed, error);
}

static uint64_t sample_count(struct lode_profile_source *base, uint32_t line)
{
    const struct hpcrun_source *source = hpcrun_source_of(base);
    return source->reads[source->item_of[line - base->first]].sample_count;
}

/* Statistics are computed, those of loops from scope function. */
static lode_status summary(struct lode_profile_source *base, lode_block *out, lode_error *error)
{
    const struct hpcrun_source *source = hpcrun_source_of(base);
    (void)error;
    *out = (lode_block){.layout = LODE_LAYOUT_LITTLE};
    return source->input->options->like_hpcprof ? LODE_OK : LODE_ABSENT;
}

static lode_status end(struct lode_profile_source *base, lode_error *error)
{
    (void)error;
    lode_hpcrun_close_values(hpcrun_source_of(base));
    lode_hpcrun_close_samples(hpcrun_source_of(base));
    return LODE_OK;
}

static bool has_traces(const struct hpcrun_source *source)
{
    bool found = false;
    for (uint32_t i = 0; i < source->entry_count; i++)
        found |= source->entries[i].trace_bytes >= HPCRUN_TraceHeader_SIZE + HPCRUN_TraceRecord_SIZE;
    return found && source->input->options->trace != LODE_TRACE_NONE;
}

static lode_status open_file(void *opener, const char *path, int *fd, lode_error *error)
{
    const struct hpcrun_source *source = opener;
    return lode_hpcrun_open_source_file(&source->sources, path, fd, error);
}

void lode_hpcrun_source_init(struct hpcrun_source *source, const struct lode_measured_input *input,
                             const struct hpcrun_reader *reader)
{
    static const struct lode_profile_source_ops ops = {.describe = describe,
                                                       .number = number,
                                                       .open_slots = lode_hpcrun_open_slots,
                                                       .values = lode_hpcrun_values,
                                                       .begin_samples = lode_hpcrun_begin_samples,
                                                       .samples = lode_hpcrun_samples,
                                                       .sample_count = sample_count,
                                                       .summary = summary,
                                                       .end = end};
    source->base.base.ops = &ops;
    source->base.base.placed = true;
    source->base.base.leaves_contexts = true;
    source->base.open_file = open_file;
    source->reader = reader;
    source->input = input;
    source->comm = input->comm;
    lode_arena_init(&source->arena, SIZE_MAX);
    lode_hpcrun_sites_init(&source->sites);
    lode_array_init(&source->directories, sizeof(struct hpcrun_directory), UINT32_MAX - 1);
}

lode_status lode_hpcrun_source_open(struct lode_measured_source **out,
                                    const struct lode_measured_input *input, lode_error *error)
{
    struct hpcrun_source *source = calloc(1, sizeof *source);
    LODE_TRY_ALLOC(source, error);
    *out = &source->base;
    lode_hpcrun_source_init(source, input, &files_reader);
    LODE_TRY(lode_hpcrun_list_inputs(source, error));
    source->base.has_traces = has_traces(source);
    return lode_hpcrun_sort_inputs(source, error);
}

static void close_worker(struct hpcrun_worker *worker)
{
    lode_hpcrun_raw_free(&worker->raw);
    lode_spool_close(&worker->rows);
    lode_spool_close(&worker->samples);
    lode_array_free(&worker->skips);
    lode_array_free(&worker->sorted);
    lode_blob_free(&worker->load_map);
    lode_blob_free(&worker->metric_table);
    free(worker->modules);
    free(worker->metrics);
    free(worker->nodes);
}

void lode_hpcrun_source_close(struct lode_measured_source *base)
{
    struct hpcrun_source *source = (struct hpcrun_source *)base;
    if (source == NULL)
        return;
    if (source->reader->close)
        source->reader->close(source);
    lode_hpcrun_close_values(source);
    lode_hpcrun_close_samples(source);
    for (unsigned i = 0; source->workers && i < source->threads; i++)
        close_worker(&source->workers[i]);
    for (unsigned i = 0; i < source->threads; i++) {
        if (source->nodes)
            free(source->nodes[i]);
        if (source->metrics)
            free(source->metrics[i]);
    }
    lode_content_tree_close(&source->own);
    lode_rank_trees_free(&source->ranks);
    free(source->node_of);
    for (uint32_t i = 0; i < source->directories.count; i++)
        if (hpcrun_directory(source, i)->is_open)
            lode_folder_close(&hpcrun_directory(source, i)->folder);
    lode_array_free(&source->directories);
    lode_hpcrun_raw_free(&source->raw);
    lode_hpcrun_contexts_free(&source->contexts);
    lode_hpcrun_sites_free(&source->sites);
    lode_hpcrun_source_files_free(&source->sources);
    free(source->workers);
    free(source->nodes);
    free(source->metrics);
    free(source->metric_counts);
    free(source->entries);
    free(source->reads);
    free(source->item_of);
    free(source->places);
    free(source->handles);
    free(source->value_ids);
    lode_arena_free(&source->arena);
    free(source);
}
