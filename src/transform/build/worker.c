/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/build/worker.h"

#include "model/database/context.h"
#include <inttypes.h>
#include <lode/build.h>
#include <stdio.h>

/* ---- frames ---- */

static const struct lode_frame no_frame = {
    .function = LODE_NO_NUMBER, .file = LODE_NO_NUMBER, .module = LODE_NO_NUMBER};

static uint32_t identify(void *user, const lode_function *function)
{
    struct lode_build_worker *self = user;
    struct lode_strings *strings = &self->frames.strings;
    struct lode_frame_function content = {.line = function->line, .offset = function->offset};
    struct lode_frame frame = no_frame;
    frame.kind = LODE_LEXICAL_FUNCTION;
    frame.relation = LODE_RELATION_CALL;
    if (lode_strings_put(strings, function->name, &content.name) &&
        lode_strings_put(strings, function->module ? function->module->path : NULL, &content.module) &&
        lode_strings_put(strings, function->file ? function->file->path : NULL, &content.file))
        frame.function = lode_interner_add(&self->frames.functions, &content, NULL);
    return frame.function == LODE_NO_NUMBER ? LODE_NO_NUMBER
                                            : lode_interner_add(&self->frames.frames, &frame, NULL);
}

/* Entry points are the first nodes of every tree, so they have the same numbers in all. */
static bool add_entry(struct lode_build_worker *self, uint16_t entry, const char *name)
{
    struct lode_frame frame = no_frame;
    frame.kind = LODE_LEXICAL_ENTRY;
    frame.relation = LODE_RELATION_LEXICAL;
    frame.entry = entry;
    if (!lode_strings_put(&self->frames.strings, name, &frame.function))
        return false;
    uint32_t number = lode_interner_add(&self->frames.frames, &frame, NULL);
    return number != LODE_NO_NUMBER &&
           lode_content_tree_child(&self->builder.tree, LODE_BUILD_GLOBAL, number) != 0;
}

static lode_status note(void *user, const lode_event *event, uint32_t node, size_t depth, lode_error *error)
{
    struct lode_build_worker *self = user;
    if (event->kind != LODE_EVENT_INSTANT)
        return lode_build_changes_fail(&self->changes, node, error);
    return lode_build_changes_take(&self->changes, node, depth, self->recording, self->track, event, error);
}

/* ---- beginning and end ---- */

lode_status lode_build_worker_open(struct lode_build_worker *worker, uint32_t rank, unsigned number,
                                   int directory, uint64_t trace, lode_error *error)
{
    struct lode_calltree_hooks hooks = {.identify = identify, .note = note, .user = worker};
    char name[64];
    worker->number = number;
    worker->input = LODE_NO_NUMBER;
    lode_frames_init(&worker->frames);
    lode_build_changes_init(&worker->changes);
    LODE_TRY(lode_calltree_builder_open(&worker->builder, &hooks, trace, error));
    if (!add_entry(worker, LODE_ENTRY_MAIN_THREAD, "main thread") ||
        !add_entry(worker, LODE_ENTRY_APPLICATION_THREAD, "application thread"))
        return lode_fail_memory(error);
    snprintf(name, sizeof name, "rows-%" PRIu32 "-%u", rank, number);
    LODE_TRY(lode_spool_open(&worker->rows, directory, name, error));
    snprintf(name, sizeof name, "samples-%" PRIu32 "-%u", rank, number);
    return trace == LODE_TRACE_NONE ? LODE_OK
                                    : lode_spool_open(&worker->builder.samples, directory, name, error);
}

void lode_build_worker_close(struct lode_build_worker *worker)
{
    lode_calltree_builder_close(&worker->builder);
    lode_frames_free(&worker->frames);
    lode_build_changes_free(&worker->changes);
    lode_spool_close(&worker->rows);
}

/* ---- tracks ---- */

lode_status lode_build_worker_begin(struct lode_build_worker *self, uint32_t input,
                                    const lode_recording *recording, uint32_t track, uint32_t entry,
                                    struct lode_track_result *result, lode_error *error)
{
    if (self->input != input)
        lode_calltree_builder_forget(&self->builder);
    self->input = input;
    self->recording = recording;
    self->track = track;
    self->result = result;
    lode_build_changes_begin(&self->changes);
    *result = (struct lode_track_result){
        .worker = self->number, .rows_at = self->rows.size, .samples_at = self->builder.samples.size};
    return lode_calltree_builder_begin(&self->builder, entry, error);
}

lode_status lode_build_worker_take(struct lode_build_worker *self, const lode_event *events, size_t count,
                                   lode_error *error)
{
    self->result->events += count;
    return lode_calltree_builder_take(&self->builder, events, count, error);
}

lode_status lode_build_worker_end(struct lode_build_worker *self, lode_error *error)
{
    struct lode_track_result *result = self->result;
    struct lode_calltree_builder *builder = &self->builder;
    struct lode_calltree_node *nodes = calltree_nodes(&builder->tree);
    const struct lode_array *changes = &self->changes.items;
    for (uint32_t i = 0; i < builder->touched_count; i++) {
        struct lode_calltree_counts *node = &nodes[builder->touched[i]].counts;
        struct lode_build_row row = {.calls = node->calls & LODE_CALLTREE_OFF_CPU ? 0 : node->calls,
                                     .self = node->self,
                                     .node = builder->touched[i]};
        node->calls = node->self = 0;
        LODE_TRY(lode_spool_write(&self->rows, &row, sizeof row, error));
    }
    nodes[LODE_BUILD_MAIN].counts.self = nodes[LODE_BUILD_THREAD].counts.self = 0;
    result->row_count = builder->touched_count;
    builder->touched_count = 0;
    result->change_count = changes->count;
    LODE_TRY(lode_spool_write(&self->rows, changes->items, changes->count * changes->item_size, error));
    LODE_TRY(lode_calltree_builder_end(builder, error));
    result->sample_count = builder->sample_count;
    result->samples_size = builder->samples.size - result->samples_at;
    return LODE_OK;
}
