/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a database, from creation to completion. */
#include "format/hpctoolkit/write/write.h"

#include "base/error.h"
#include "base/io/bytes.h"
#include "format/hpctoolkit/loops.h"
#include "format/replace.h"
#include "model/database/block_builder.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(BLOCK_VALUE_SIZE == (int)WIRE_ProfileValue_SIZE &&
                   BLOCK_GROUP_SIZE == (int)WIRE_ContextIndex_SIZE &&
                   TRACE_SAMPLE_SIZE == (int)WIRE_Sample_SIZE,
               "blocks and trace lines lie in files as in memory");

static struct hpct_sink *sink_of(struct lode_sink *base)
{
    return (struct hpct_sink *)base;
}

/* ---- files ---- */

static uint64_t header_size(enum hpct_file_id id)
{
    /* Readers of cct.db expect space for one section more than there is. */
    unsigned sections = lode_hpct_specs[id].section_count + (id == HPCT_CCT);
    return WIRE_FileHeader_SIZE + (uint64_t)sections * WIRE_Section_SIZE;
}

static lode_status begin_file(struct hpct_sink *sink, enum hpct_file_id id, lode_error *error)
{
    /* The header stays empty until the file is complete. */
    static const uint8_t zeros[WIRE_FileHeader_SIZE + HPCT_MAX_SECTIONS * WIRE_Section_SIZE];
    LODE_TRY(lode_output_file_create(&sink->files[id], &sink->base.output, lode_hpct_specs[id].name, error));
    return lode_output_write(&sink->files[id], zeros, (size_t)header_size(id), error);
}

static lode_status end_file(struct hpct_sink *sink, enum hpct_file_id id, const struct wire_Section *sections,
                            lode_error *error)
{
    const struct hpct_file_spec *spec = &lode_hpct_specs[id];
    struct lode_output_file *file = &sink->files[id];
    uint8_t header[WIRE_FileHeader_SIZE + HPCT_MAX_SECTIONS * WIRE_Section_SIZE] = {0};
    struct wire_FileHeader wire = {.majorVersion = HPCT_MAJOR, .minorVersion = HPCT_MINOR};
    LODE_TRY(lode_output_align(file, 8, error));
    LODE_TRY(lode_output_write(file, spec->footer, HPCT_FOOTER_SIZE, error));
    lode_wire_write_FileHeader(&wire, header);
    memcpy(header, HPCT_MAGIC, HPCT_MAGIC_SIZE);
    memcpy(header + HPCT_MAGIC_SIZE, spec->format, HPCT_FORMAT_SIZE);
    for (unsigned i = 0; i < spec->section_count; i++)
        lode_wire_write_Section(&sections[i], header + WIRE_FileHeader_SIZE + (size_t)i * WIRE_Section_SIZE);
    LODE_TRY(lode_output_flush(file, error));
    LODE_TRY(lode_output_write_at(file, 0, header, (size_t)header_size(id), error));
    return lode_output_file_close(file, error);
}

/* Rank 0 creates the files, and the others open them. */
static lode_status open_files(struct hpct_sink *sink, lode_error *error)
{
    for (unsigned id = 0; id < HPCT_FILES; id++) {
        struct lode_output_file *file = &sink->files[id];
        if (id == HPCT_TRACE && !sink->base.options.traces)
            continue;
        if (sink_is_first(&sink->base))
            LODE_TRY(begin_file(sink, (enum hpct_file_id)id, error));
        else
            LODE_TRY(lode_output_file_join(file, &sink->base.output, lode_hpct_specs[id].name, error));
        file->size = header_size((enum hpct_file_id)id);
    }
    return LODE_OK;
}

/* Files that ranks write together, if the communicator supports it. */
static lode_status open_joint_files(struct hpct_sink *sink, lode_error *error)
{
    static const enum hpct_file_id ids[] = {HPCT_CCT, HPCT_PROFILE};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char *path = lode_output_file_path(&sink->base.output, lode_hpct_specs[ids[i]].name);
        if (path == NULL)
            return lode_fail_memory(error);
        lode_status status = lode_comm_open_file(sink->base.options.comm, &sink->joint[ids[i]], path, error);
        free(path);
        if (status != LODE_OK && status != LODE_ABSENT)
            return status;
    }
    return LODE_OK;
}

static lode_status create(struct lode_sink *base, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    const struct lode_sink_options *options = &base->options;
    sink->origin.directory = -1;
    sink->trace_min = UINT64_MAX;
    lode_arena_init(&sink->arena, SIZE_MAX);
    lode_array_init(&sink->profiles, sizeof(struct written_profile), UINT32_MAX - 1);
    for (unsigned id = 0; id < HPCT_FILES; id++)
        sink->files[id].fd = -1;
    LODE_TRY(open_files(sink, error));
    if (options->origin) {
        LODE_TRY(lode_origin_open(&sink->origin, options->origin, options->on_finding, options->user, error));
        if (sink->origin.directory >= 0)
            LODE_TRY(lode_hpct_take_taxonomy(sink, error));
    }
    return LODE_OK;
}

static void close_sink(struct lode_sink *base)
{
    struct hpct_sink *sink = sink_of(base);
    for (unsigned id = 0; id < HPCT_FILES; id++)
        lode_output_file_abandon(&sink->files[id]);
    lode_origin_close(&sink->origin);
    lode_array_free(&sink->profiles);
    lode_hpct_free_loops(sink);
    lode_blob_free(&sink->taxonomy);
    free(sink->value_of);
    free(sink->values_of);
    free(sink->placed);
    lode_arena_free(&sink->arena);
}

static lode_status seal(struct lode_sink *base, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    const struct lode_description *about = base->about;
    sink->value_ids = about->value_ids;
    sink->id_count = about->id_count;
    sink->value_of = calloc((size_t)about->statistic_ids + 1, sizeof *sink->value_of);
    sink->values_of = calloc((size_t)about->id_count + 1, sizeof *sink->values_of);
    if (base->placed)
        sink->placed = calloc((size_t)base->count + 1, sizeof *sink->placed);
    if (sink->value_of == NULL || sink->values_of == NULL || (base->placed && sink->placed == NULL))
        return lode_fail_memory(error);
    for (uint32_t m = 0; m < about->metric_count; m++)
        for (uint32_t i = 0; i < about->metrics[m].statistic_count; i++) {
            const lode_metric_statistic *statistic = &about->metrics[m].statistics[i];
            sink->value_of[statistic->id] = lode_statistic_value_id(&about->metrics[m], statistic);
        }
    LODE_TRY(base->options.joint ? open_joint_files(sink, error) : LODE_OK);
    return sink_is_first(base) ? lode_hpct_take_contexts(sink, error) : LODE_OK;
}

static lode_status summary(struct lode_sink *base, const lode_block *block, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    LODE_TRY(lode_hpct_sum_loops(sink, error));
    return lode_hpct_keep_statistics(sink, block, error);
}

/* ---- profiles ---- */

static void count_values(struct hpct_sink *sink, const lode_block *block)
{
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint64_t end = g + 1 < block->group_count ? block_group_start(block, g + 1) : block->value_count;
        atomic_fetch_add_explicit(&sink->values_of[block_group_key(block, g)],
                                  end - block_group_start(block, g), memory_order_relaxed);
    }
}

static lode_status add_profile(struct hpct_sink *sink, const struct lode_id_tuple *ids,
                               struct written_profile **out, lode_error *error)
{
    if (sink->profiles.count >= UINT32_MAX - 1)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "more profiles than the format can number");
    struct written_profile *profile = *out = lode_array_push(&sink->profiles);
    lode_id *copy = lode_arena_alloc(&sink->arena, ids->count, sizeof *copy);
    if (profile == NULL || copy == NULL)
        return lode_fail_memory(error);
    memcpy(copy, ids->ids, ids->count * sizeof *copy);
    profile->ids = (struct lode_id_tuple){copy, ids->count};
    profile->order = (uint32_t)sink->profiles.count - 1;
    return LODE_OK;
}

/* ---- in order ---- */

/* The values of a profile at loops: of struct loop_value. */
static lode_status prepare(struct lode_sink *base, void **scratch, const lode_block *block, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    struct lode_array *values = *scratch;
    count_values(sink, block);
    if (sink->loops == NULL)
        return LODE_OK;
    if (values == NULL) {
        values = *scratch = calloc(1, sizeof *values);
        if (values == NULL)
            return lode_fail_memory(error);
        lode_array_init(values, sizeof(struct loop_value), SIZE_MAX);
    }
    values->count = 0;
    return lode_hpct_collect_loops(sink, block, values, error);
}

static void release(void *scratch)
{
    lode_array_free(scratch);
    free(scratch);
}

static lode_status append(struct lode_sink *base, void *scratch, const struct lode_id_tuple *ids,
                          const lode_block *block, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    struct lode_output_file *file = &sink->files[HPCT_PROFILE];
    struct written_profile *profile;
    LODE_TRY(add_profile(sink, ids, &profile, error));
    if (sink->loops)
        LODE_TRY(lode_hpct_add_loops(sink, scratch, error));
    profile->wire.nValues = block->value_count;
    profile->wire.nCtxs = block->group_count;
    LODE_TRY(lode_output_align(file, 2, error));
    profile->wire.pValues = file->size;
    LODE_TRY(lode_output_write(file, block->values, (size_t)block->value_count * BLOCK_VALUE_SIZE, error));
    LODE_TRY(lode_output_align(file, 4, error));
    profile->wire.pCtxIndices = file->size;
    base->counts.values += block->value_count;
    base->counts.groups += block->group_count;
    return lode_output_write(file, block->groups, (size_t)block->group_count * BLOCK_GROUP_SIZE, error);
}

static void widen_bounds(struct hpct_sink *sink, uint64_t first, uint64_t last)
{
    sink->trace_min = first < sink->trace_min ? first : sink->trace_min;
    sink->trace_max = last > sink->trace_max ? last : sink->trace_max;
}

/* The trace line of a profile that was appended. */
static lode_status append_samples(struct lode_sink *base, uint32_t line, const lode_trace_line *samples,
                                  lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    struct lode_output_file *file = &sink->files[HPCT_TRACE];
    struct written_profile *profile = LODE_ARRAY_AT(&sink->profiles, struct written_profile, line);
    if (profile->trace_start == 0) {
        LODE_TRY(lode_output_align(file, 8, error));
        profile->trace_start = file->size;
    }
    LODE_TRY(
        lode_output_write(file, samples->samples, (size_t)samples->sample_count * TRACE_SAMPLE_SIZE, error));
    profile->trace_end = file->size;
    if (samples->sample_count > 0)
        widen_bounds(sink, trace_time(samples, 0), trace_time(samples, samples->sample_count - 1));
    base->counts.samples += samples->sample_count;
    return LODE_OK;
}

/* ---- in place ---- */

static lode_status measure(struct lode_sink *base, uint32_t item, const lode_block *block, uint64_t samples,
                           lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    (void)error;
    sink->placed[item] = (struct placed_profile){
        .values = block->value_count, .groups = block->group_count, .samples = samples, .first = UINT64_MAX};
    count_values(sink, block);
    return LODE_OK;
}

static uint64_t align(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

/* The position of a block's groups, after its values. */
static uint64_t groups_at(const struct placed_profile *profile)
{
    return align(profile->values * BLOCK_VALUE_SIZE, 4);
}

static uint64_t block_size(const struct placed_profile *profile)
{
    return groups_at(profile) + profile->groups * BLOCK_GROUP_SIZE;
}

static uint64_t line_size(const struct placed_profile *profile)
{
    return align(profile->samples * TRACE_SAMPLE_SIZE, 8);
}

static struct wire_Profile wire_of(const struct placed_profile *profile)
{
    return (struct wire_Profile){.nValues = profile->values,
                                 .pValues = profile->block_at,
                                 .nCtxs = (uint32_t)profile->groups,
                                 .pCtxIndices = profile->block_at + groups_at(profile)};
}

/* Blocks and lines of all ranks are contiguous; the files end after the last. */
static lode_status find_places(struct hpct_sink *sink, lode_error *error)
{
    struct lode_output_file *files = sink->files;
    uint64_t at[2] = {0, 0}, totals[2];
    for (uint32_t i = 0; i < sink->base.count; i++) {
        at[0] += block_size(&sink->placed[i]);
        at[1] += line_size(&sink->placed[i]);
    }
    LODE_TRY(lode_comm_exscan(sink->base.options.comm, at, totals, 2, error));
    if (totals[0] > INT64_MAX / 2 || totals[1] > INT64_MAX / 2)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "larger than a file can be");
    at[0] += files[HPCT_PROFILE].size;
    at[1] += files[HPCT_TRACE].size;
    for (uint32_t i = 0; i < sink->base.count; i++) {
        struct placed_profile *profile = &sink->placed[i];
        profile->block_at = at[0];
        profile->line_at = at[1];
        at[0] += block_size(profile);
        at[1] += line_size(profile);
    }
    for (unsigned id = 0; id < HPCT_FILES; id++)
        if (files[id].fd >= 0)
            LODE_TRY(lode_output_flush(&files[id], error));
    files[HPCT_PROFILE].size += totals[0];
    files[HPCT_TRACE].size += sink->base.options.traces ? totals[1] : 0;
    return LODE_OK;
}

/* Rank 0 lists the profiles of all ranks. */
static lode_status list_profiles(struct hpct_sink *sink, const struct placed_profile *all, lode_error *error)
{
    const struct lode_description *about = sink->base.about;
    for (uint32_t i = 0; i < about->profile_count; i++) {
        struct written_profile *profile;
        LODE_TRY(add_profile(sink, &about->profiles[i], &profile, error));
        profile->wire = wire_of(&all[i]);
        profile->trace_start = all[i].line_at;
        profile->trace_end = all[i].line_at + all[i].samples * TRACE_SAMPLE_SIZE;
    }
    return LODE_OK;
}

static lode_status place(struct lode_sink *base, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    void *all;
    uint64_t size;
    LODE_TRY(find_places(sink, error));
    for (uint32_t i = 0; i < base->count; i++) {
        base->counts.values += sink->placed[i].values;
        base->counts.groups += sink->placed[i].groups;
        base->counts.samples += sink->placed[i].samples;
    }
    LODE_TRY(lode_comm_gather(base->options.comm, sink->placed, base->count * sizeof *sink->placed, false,
                              &all, &size, NULL, error));
    lode_status status = all ? list_profiles(sink, all, error) : LODE_OK;
    free(all);
    return status;
}

static lode_status write_values(struct lode_sink *base, uint32_t item, const lode_block *block,
                                lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    const struct placed_profile *profile = &sink->placed[item];
    const struct lode_output_file *file = &sink->files[HPCT_PROFILE];
    LODE_TRY(lode_output_write_at(file, profile->block_at, block->values,
                                  (size_t)block->value_count * BLOCK_VALUE_SIZE, error));
    return lode_output_write_at(file, profile->block_at + groups_at(profile), block->groups,
                                (size_t)block->group_count * BLOCK_GROUP_SIZE, error);
}

static lode_status write_samples(struct lode_sink *base, uint32_t item, uint64_t first,
                                 const lode_trace_line *samples, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    struct placed_profile *profile = &sink->placed[item];
    if (samples->sample_count == 0)
        return LODE_OK;
    if (first == 0)
        profile->first = trace_time(samples, 0);
    profile->last = trace_time(samples, samples->sample_count - 1);
    return lode_output_write_at(&sink->files[HPCT_TRACE], profile->line_at + first * TRACE_SAMPLE_SIZE,
                                samples->samples, (size_t)samples->sample_count * TRACE_SAMPLE_SIZE, error);
}

/* ---- sorting profiles ---- */

static int compare_profiles(const void *left, const void *right, void *argument)
{
    const struct written_profile *profiles = argument;
    const struct written_profile *a = &profiles[*(const uint32_t *)left];
    const struct written_profile *b = &profiles[*(const uint32_t *)right];
    int order = lode_id_tuple_compare(&a->ids, &b->ids);
    return order ? order : (a->order < b->order ? -1 : a->order > b->order);
}

static uint32_t *order_profiles(struct hpct_sink *sink)
{
    size_t count = sink->profiles.count;
    uint32_t *order = calloc(count + 1, sizeof *order);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof *order, compare_profiles, sink->profiles.items);
    return order;
}

static lode_status put_id_tuples(struct hpct_sink *sink, const uint32_t *order, lode_error *error)
{
    struct lode_output_file *file = &sink->files[HPCT_PROFILE];
    for (uint32_t i = 0; i < sink->profiles.count; i++) {
        struct written_profile *profile = LODE_ARRAY_AT(&sink->profiles, struct written_profile, order[i]);
        struct wire_IdTuple tuple = {.nIds = (uint16_t)profile->ids.count};
        uint8_t bytes[WIRE_Id_SIZE];
        profile->wire.pIdTuple = file->size;
        lode_wire_write_IdTuple(&tuple, bytes);
        LODE_TRY(lode_output_write(file, bytes, WIRE_IdTuple_SIZE, error));
        for (uint32_t k = 0; k < profile->ids.count; k++) {
            struct wire_Id id = {.kind = (uint8_t)profile->ids.ids[k].kind,
                                 .flags = (uint16_t)profile->ids.ids[k].flags,
                                 .logicalId = profile->ids.ids[k].logical,
                                 .physicalId = profile->ids.ids[k].physical};
            lode_wire_write_Id(&id, bytes);
            LODE_TRY(lode_output_write(file, bytes, WIRE_Id_SIZE, error));
        }
    }
    return LODE_OK;
}

/* The two sections of profile.db follow the blocks. */
static lode_status end_profiles(struct hpct_sink *sink, const uint32_t *order,
                                const struct wire_Profile *summary, lode_error *error)
{
    struct lode_output_file *file = &sink->files[HPCT_PROFILE];
    struct wire_Section sections[2];
    uint8_t bytes[WIRE_Profile_SIZE] = {0};
    LODE_TRY(lode_output_align(file, 8, error));
    sections[1].p = file->size;
    LODE_TRY(put_id_tuples(sink, order, error));
    sections[1].sz = file->size - sections[1].p;
    sections[0].p = file->size;
    struct wire_ProfileInfos infos = {.pProfiles = file->size + WRITTEN_PADDED(ProfileInfos),
                                      .nProfiles = (uint32_t)sink->profiles.count + 1,
                                      .szProfile = WIRE_Profile_SIZE};
    lode_wire_write_ProfileInfos(&infos, bytes);
    LODE_TRY(lode_output_write(file, bytes, WIRE_ProfileInfos_SIZE, error));
    LODE_TRY(lode_output_align(file, 8, error));
    lode_wire_write_Profile(summary, bytes);
    LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    for (uint32_t i = 0; i < sink->profiles.count; i++) {
        lode_wire_write_Profile(&LODE_ARRAY_AT(&sink->profiles, struct written_profile, order[i])->wire,
                                bytes);
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    }
    sections[0].sz = file->size - sections[0].p;
    return end_file(sink, HPCT_PROFILE, sections, error);
}

/* A header for every profile, in their order: viewers find them by position. */
static lode_status end_traces(struct hpct_sink *sink, const uint32_t *order, lode_error *error)
{
    struct lode_output_file *file = &sink->files[HPCT_TRACE];
    struct wire_Section section;
    uint8_t bytes[WIRE_TraceInfos_SIZE];
    LODE_TRY(lode_output_align(file, 8, error));
    section.p = file->size;
    bool empty = sink->trace_min > sink->trace_max;
    struct wire_TraceInfos infos = {.pTraces = file->size + WIRE_TraceInfos_SIZE,
                                    .nTraces = (uint32_t)sink->profiles.count,
                                    .szTrace = WIRE_Trace_SIZE,
                                    .minTimestamp = empty ? 0 : sink->trace_min,
                                    .maxTimestamp = empty ? 0 : sink->trace_max};
    lode_wire_write_TraceInfos(&infos, bytes);
    LODE_TRY(lode_output_write(file, bytes, WIRE_TraceInfos_SIZE, error));
    for (uint32_t i = 0; i < sink->profiles.count; i++) {
        const struct written_profile *profile =
            LODE_ARRAY_AT(&sink->profiles, struct written_profile, order[i]);
        struct wire_Trace trace = {
            .profIndex = i + 1, .pStart = profile->trace_start, .pEnd = profile->trace_end};
        lode_wire_write_Trace(&trace, bytes);
        LODE_TRY(lode_output_write(file, bytes, WIRE_Trace_SIZE, error));
    }
    section.sz = file->size - section.p;
    return end_file(sink, HPCT_TRACE, &section, error);
}

/* Writes what follows the values, and the rest of the files. */
static lode_status end_files(struct hpct_sink *sink, const uint32_t *order,
                             const struct wire_Profile *summary, const struct wire_Section *cct,
                             lode_error *error)
{
    LODE_TRY(end_profiles(sink, order, summary, error));
    LODE_TRY(end_file(sink, HPCT_CCT, cct, error));
    if (sink->base.options.traces)
        LODE_TRY(end_traces(sink, order, error));
    LODE_TRY(lode_hpct_put_companions(sink, error));
    /* Last of all: without the header of meta.db nothing opens. */
    return end_file(sink, HPCT_META, sink->meta, error);
}

/* ---- the end ---- */

/* The records of this rank's blocks, in the order of the file. */
static struct wire_Profile *records_of(const struct hpct_sink *sink, const uint32_t *order, uint32_t count)
{
    struct wire_Profile *records = calloc((size_t)count + 1, sizeof *records);
    for (uint32_t i = 0; records && i < count; i++)
        records[i] = sink->placed ? wire_of(&sink->placed[i])
                                  : LODE_ARRAY_AT(&sink->profiles, struct written_profile, order[i])->wire;
    return records;
}

/* The time bounds of all ranks and of the description. */
static lode_status find_bounds(struct hpct_sink *sink, lode_error *error)
{
    struct lode_comm *comm = sink->base.options.comm;
    const struct lode_description *about = sink->base.about;
    for (uint32_t i = 0; sink->placed && i < sink->base.count; i++)
        if (sink->placed[i].first <= sink->placed[i].last)
            widen_bounds(sink, sink->placed[i].first, sink->placed[i].last);
    if (about->trace_min <= about->trace_max)
        widen_bounds(sink, about->trace_min, about->trace_max);
    if (comm == NULL)
        return LODE_OK;
    LODE_TRY(lode_comm_allreduce(comm, &sink->trace_min, 1, LODE_COMM_MIN, error));
    return lode_comm_allreduce(comm, &sink->trace_max, 1, LODE_COMM_MAX, error);
}

static lode_status close_joint_files(struct hpct_sink *sink, lode_error *error)
{
    for (unsigned id = 0; id < HPCT_FILES; id++) {
        void *file = sink->joint[id];
        sink->joint[id] = NULL;
        if (file)
            LODE_TRY(lode_comm_close_file(sink->base.options.comm, file, error));
    }
    return LODE_OK;
}

/* Each rank syncs its files before rank 0 publishes the database. */
static lode_status close_files(struct hpct_sink *sink, lode_error *error)
{
    for (unsigned id = 0; id < HPCT_FILES; id++)
        if (sink->files[id].fd >= 0)
            LODE_TRY(lode_output_file_close(&sink->files[id], error));
    return LODE_OK;
}

static lode_status finish_ordered(struct hpct_sink *sink, const uint32_t *order, lode_error *error)
{
    struct lode_sink *base = &sink->base;
    struct wire_Section cct;
    struct wire_Profile summary;
    uint32_t count = sink->placed ? base->count : (uint32_t)sink->profiles.count;
    struct wire_Profile *records = records_of(sink, order, count);
    struct written_share share = {.first = base->first, .count = count, .records = records};
    lode_status status = records ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK && sink->placed && sink->loops)
        status = lode_hpct_add_placed_loops(sink, &share, error);
    if (status == LODE_OK)
        status = lode_hpct_transpose(sink, &share, &summary, &cct, error);
    free(records);
    LODE_TRY(status);
    base->counts.rounds = sink->traffic.rounds;
    base->counts.written_bytes = sink->traffic.written_bytes;
    if (base->options.comm) {
        LODE_TRY(close_joint_files(sink, error));
        if (!sink_is_first(base))
            LODE_TRY(close_files(sink, error));
        LODE_TRY(lode_comm_barrier(base->options.comm, error));
    }
    return sink_is_first(base) ? end_files(sink, order, &summary, &cct, error) : LODE_OK;
}

static lode_status finish(struct lode_sink *base, lode_error *error)
{
    struct hpct_sink *sink = sink_of(base);
    if (base->options.traces)
        LODE_TRY(find_bounds(sink, error));
    uint32_t *order = order_profiles(sink);
    lode_status status = order ? finish_ordered(sink, order, error) : lode_fail_memory(error);
    free(order);
    return status;
}

const struct lode_sink_ops lode_hpct_sink = {
    .size = sizeof(struct hpct_sink),
    .replaces = &lode_replace_database,
    .limits = {WRITTEN_MAX_KINDS, WRITTEN_MAX_METRICS, WRITTEN_MAX_METRIC_IDS, WRITTEN_MAX_ENTRIES},
    .takes_contexts = true,
    .create = create,
    .seal = seal,
    .summary = summary,
    .prepare = prepare,
    .release = release,
    .append = append,
    .append_samples = append_samples,
    .measure = measure,
    .place = place,
    .write_values = write_values,
    .write_samples = write_samples,
    .finish = finish,
    .close = close_sink,
};
