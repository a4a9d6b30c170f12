/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a database, from its beginning to its end. */
#include "format/hpctoolkit/write.h"

#include "base/options.h"
#include "base/pool.h"
#include "format/replace.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static uint64_t header_size(enum hpct_file_id id)
{
    /* Readers of cct.db expect room for one section more than there is. */
    unsigned sections = lode_hpct_specs[id].section_count + (id == HPCT_CCT);
    return WIRE_FileHeader_SIZE + (uint64_t)sections * WIRE_Section_SIZE;
}

lode_status lode_writer_begin_file(lode_writer *writer, enum hpct_file_id id, lode_error *error)
{
    /* The header stays empty until the file is complete. */
    static const uint8_t zeros[WIRE_FileHeader_SIZE + HPCT_MAX_SECTIONS * WIRE_Section_SIZE];
    LODE_TRY(lode_output_file_create(&writer->files[id], &writer->output, lode_hpct_specs[id].name, error));
    return lode_output_write(&writer->files[id], zeros, (size_t)header_size(id), error);
}

lode_status lode_writer_end_file(lode_writer *writer, enum hpct_file_id id,
                                 const struct wire_Section *sections, lode_error *error)
{
    const struct hpct_file_spec *spec = &lode_hpct_specs[id];
    struct lode_output_file *file = &writer->files[id];
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

/* ---- beginning and end of a writer ---- */

static uint64_t default_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : UINT64_C(1) << 30;
}

static void init_lists(lode_writer *writer)
{
    lode_arena_init(&writer->arena, SIZE_MAX);
    lode_array_init(&writer->kinds, sizeof(const char *), SIZE_MAX);
    lode_array_init(&writer->scopes, sizeof(struct written_scope), SIZE_MAX);
    lode_array_init(&writer->metrics, sizeof(struct written_metric), SIZE_MAX);
    lode_array_init(&writer->modules, sizeof(struct written_module), SIZE_MAX);
    lode_array_init(&writer->sources, sizeof(struct written_file), SIZE_MAX);
    lode_array_init(&writer->functions, sizeof(struct written_function), SIZE_MAX);
    lode_array_init(&writer->contexts, sizeof(struct written_context), SIZE_MAX);
    lode_array_init(&writer->profiles, sizeof(struct written_profile), SIZE_MAX);
    for (unsigned id = 0; id < HPCT_FILES; id++)
        writer->files[id].fd = -1;
}

/* The files, which rank 0 creates and the others open. */
static lode_status open_files(lode_writer *writer, lode_error *error)
{
    bool is_first = writer->comm == NULL || writer->comm->place.rank == 0;
    for (unsigned id = 0; id < HPCT_FILES; id++) {
        if (id == HPCT_TRACE && !writer->options.traces)
            continue;
        if (is_first)
            LODE_TRY(lode_writer_begin_file(writer, (enum hpct_file_id)id, error));
        else
            LODE_TRY(
                lode_output_file_join(&writer->files[id], &writer->output, lode_hpct_specs[id].name, error));
        writer->files[id].size = header_size((enum hpct_file_id)id);
    }
    return LODE_OK;
}

static lode_status make_writer(lode_writer **out, struct lode_comm *comm, const lode_writer_options *options,
                               lode_error *error)
{
    lode_writer *writer = *out = calloc(1, sizeof *writer);
    if (writer == NULL)
        return lode_fail_memory(error);
    writer->output = (struct lode_output)LODE_OUTPUT_INIT;
    writer->origin.directory = -1;
    writer->comm = comm;
    writer->options = *options;
    if (writer->options.memory == 0)
        writer->options.memory = default_memory() / (comm ? comm->place.local : 1);
    writer->trace_min = UINT64_MAX;
    init_lists(writer);
    if (options->title)
        LODE_TRY(lode_writer_text(writer, options->title, &writer->options.title, error));
    if (options->description)
        LODE_TRY(lode_writer_text(writer, options->description, &writer->options.description, error));
    return LODE_OK;
}

static lode_status create_with(lode_writer **out, struct lode_comm *comm, const char *path,
                               const lode_writer_options *options, lode_error *error)
{
    LODE_TRY(make_writer(out, comm, options, error));
    struct lode_output *output = &(*out)->output;
    bool is_first = comm == NULL || comm->place.rank == 0;
    uint64_t identity = 0;
    if (is_first) {
        LODE_TRY(lode_output_create(output, path, options->force ? &lode_replace_database : NULL, error));
        LODE_TRY(open_files(*out, error));
        identity = lode_output_identity(output);
    }
    if (comm)
        LODE_TRY(lode_comm_broadcast(comm, &identity, sizeof identity, error));
    if (is_first)
        return LODE_OK;
    LODE_TRY(lode_output_join(output, path, identity, error));
    return open_files(*out, error);
}

lode_status lode_writer_create_with(lode_writer **out, struct lode_comm *comm, const char *path,
                                    const lode_writer_options *options, lode_error *error)
{
    *out = NULL;
    lode_status status = create_with(out, comm, path, options, error);
    if (status != LODE_OK) {
        lode_writer_close(*out);
        *out = NULL;
    }
    return status;
}

lode_status lode_writer_create(lode_writer **out, const char *path, const lode_writer_options *given,
                               lode_error *error)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    return lode_writer_create_with(out, NULL, path, &options, error);
}

void lode_writer_close(lode_writer *writer)
{
    if (writer == NULL)
        return;
    for (unsigned id = 0; id < HPCT_FILES; id++)
        lode_output_file_abandon(&writer->files[id]);
    lode_output_close(&writer->output);
    lode_origin_close(&writer->origin);
    for (uint32_t i = 0; i < writer->metrics.count; i++) {
        lode_array_free(&WRITTEN(writer, metrics, metric, i)->scopes);
        lode_array_free(&WRITTEN(writer, metrics, metric, i)->statistics);
    }
    struct lode_array *lists[] = {&writer->kinds,   &writer->scopes,    &writer->metrics,  &writer->modules,
                                  &writer->sources, &writer->functions, &writer->contexts, &writer->profiles};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lode_array_free(lists[i]);
    lode_writer_free_loops(writer);
    lode_blob_free(&writer->taxonomy);
    free(writer->ids_of_values);
    free(writer->id_of);
    free(writer->handle_of);
    free(writer->numbered);
    free(writer->values_of);
    lode_arena_free(&writer->arena);
    free(writer);
}

lode_status lode_writer_seal(lode_writer *writer, lode_error *error)
{
    if (writer->described)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the description is sealed");
    writer->described = true;
    LODE_TRY(lode_writer_number(writer, error));
    writer->sealed = true;
    return LODE_OK;
}

lode_status lode_writer_seal_with(lode_writer *writer, lode_error *error)
{
    bool is_first = writer->comm->place.rank == 0;
    if (is_first)
        LODE_TRY(lode_writer_seal(writer, error));
    LODE_TRY(lode_comm_broadcast(writer->comm, &writer->id_count, sizeof writer->id_count, error));
    if (is_first)
        return LODE_OK;
    writer->values_of = calloc(writer->id_count, sizeof *writer->values_of);
    if (writer->values_of == NULL)
        return lode_fail_memory(error);
    writer->described = writer->sealed = true;
    return LODE_OK;
}

void lode_writer_set_trace_bounds(lode_writer *writer, uint64_t min, uint64_t max)
{
    writer->trace_min = min < writer->trace_min ? min : writer->trace_min;
    writer->trace_max = max > writer->trace_max ? max : writer->trace_max;
}

/* ---- profiles in order ---- */

static int compare_profiles(const void *left, const void *right, void *argument)
{
    const lode_writer *writer = argument;
    const struct written_profile *a = WRITTEN(writer, profiles, profile, *(const uint32_t *)left);
    const struct written_profile *b = WRITTEN(writer, profiles, profile, *(const uint32_t *)right);
    for (uint32_t i = 0; i < a->id_count && i < b->id_count; i++) {
        const lode_id *x = &a->ids[i], *y = &b->ids[i];
        if (x->kind != y->kind)
            return x->kind < y->kind ? -1 : 1;
        if (x->logical != y->logical)
            return x->logical < y->logical ? -1 : 1;
        if (x->physical != y->physical)
            return x->physical < y->physical ? -1 : 1;
    }
    if (a->id_count != b->id_count)
        return a->id_count < b->id_count ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static uint32_t *order_profiles(lode_writer *writer)
{
    size_t count = writer->profiles.count;
    uint32_t *order = calloc(count + 1, sizeof *order);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof *order, compare_profiles, writer);
    return order;
}

static lode_status put_id_tuples(lode_writer *writer, const uint32_t *order, lode_error *error)
{
    struct lode_output_file *file = &writer->files[HPCT_PROFILE];
    for (uint32_t i = 0; i < writer->profiles.count; i++) {
        struct written_profile *profile = WRITTEN(writer, profiles, profile, order[i]);
        struct wire_IdTuple tuple = {.nIds = (uint16_t)profile->id_count};
        uint8_t bytes[WIRE_Id_SIZE];
        profile->wire.pIdTuple = file->size;
        lode_wire_write_IdTuple(&tuple, bytes);
        LODE_TRY(lode_output_write(file, bytes, WIRE_IdTuple_SIZE, error));
        for (uint32_t k = 0; k < profile->id_count; k++) {
            struct wire_Id id = {.kind = (uint8_t)profile->ids[k].kind,
                                 .flags = (uint16_t)profile->ids[k].flags,
                                 .logicalId = profile->ids[k].logical,
                                 .physicalId = profile->ids[k].physical};
            lode_wire_write_Id(&id, bytes);
            LODE_TRY(lode_output_write(file, bytes, WIRE_Id_SIZE, error));
        }
    }
    return LODE_OK;
}

/* The two sections of profile.db come behind the blocks, when all is known. */
static lode_status end_profiles(lode_writer *writer, const uint32_t *order,
                                const struct wire_Profile *summary, lode_error *error)
{
    struct lode_output_file *file = &writer->files[HPCT_PROFILE];
    struct wire_Section sections[2];
    uint8_t bytes[WIRE_Profile_SIZE] = {0};
    LODE_TRY(lode_output_align(file, 8, error));
    sections[1].p = file->size;
    LODE_TRY(put_id_tuples(writer, order, error));
    sections[1].sz = file->size - sections[1].p;
    sections[0].p = file->size;
    struct wire_ProfileInfos infos = {.pProfiles = file->size + WRITTEN_PADDED(ProfileInfos),
                                      .nProfiles = (uint32_t)writer->profiles.count + 1,
                                      .szProfile = WIRE_Profile_SIZE};
    lode_wire_write_ProfileInfos(&infos, bytes);
    LODE_TRY(lode_output_write(file, bytes, WIRE_ProfileInfos_SIZE, error));
    LODE_TRY(lode_output_align(file, 8, error));
    lode_wire_write_Profile(summary, bytes);
    LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    for (uint32_t i = 0; i < writer->profiles.count; i++) {
        lode_wire_write_Profile(&WRITTEN(writer, profiles, profile, order[i])->wire, bytes);
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    }
    sections[0].sz = file->size - sections[0].p;
    return lode_writer_end_file(writer, HPCT_PROFILE, sections, error);
}

/* A header for every profile, in their order: viewers find them by position. */
static lode_status end_traces(lode_writer *writer, const uint32_t *order, lode_error *error)
{
    struct lode_output_file *file = &writer->files[HPCT_TRACE];
    struct wire_Section section;
    uint8_t bytes[WIRE_TraceInfos_SIZE];
    LODE_TRY(lode_output_align(file, 8, error));
    section.p = file->size;
    bool empty = writer->trace_min > writer->trace_max;
    struct wire_TraceInfos infos = {.pTraces = file->size + WIRE_TraceInfos_SIZE,
                                    .nTraces = (uint32_t)writer->profiles.count,
                                    .szTrace = WIRE_Trace_SIZE,
                                    .minTimestamp = empty ? 0 : writer->trace_min,
                                    .maxTimestamp = empty ? 0 : writer->trace_max};
    lode_wire_write_TraceInfos(&infos, bytes);
    LODE_TRY(lode_output_write(file, bytes, WIRE_TraceInfos_SIZE, error));
    for (uint32_t i = 0; i < writer->profiles.count; i++) {
        const struct written_profile *profile = WRITTEN(writer, profiles, profile, order[i]);
        struct wire_Trace trace = {
            .profIndex = i + 1, .pStart = profile->trace_start, .pEnd = profile->trace_end};
        lode_wire_write_Trace(&trace, bytes);
        LODE_TRY(lode_output_write(file, bytes, WIRE_Trace_SIZE, error));
    }
    section.sz = file->size - section.p;
    return lode_writer_end_file(writer, HPCT_TRACE, &section, error);
}

/* What comes behind the values, and the rest of the files. */
static lode_status end_files(lode_writer *writer, const uint32_t *order, const struct wire_Profile *summary,
                             const struct wire_Section *cct, lode_error *error)
{
    struct wire_Section meta[META_SECTIONS];
    LODE_TRY(end_profiles(writer, order, summary, error));
    LODE_TRY(lode_writer_end_file(writer, HPCT_CCT, cct, error));
    if (writer->options.traces)
        LODE_TRY(end_traces(writer, order, error));
    LODE_TRY(lode_writer_put_companions(writer, error));
    LODE_TRY(lode_writer_put_meta(writer, meta, error));
    /* Last of all: without the header of meta.db nothing opens. */
    LODE_TRY(lode_writer_end_file(writer, HPCT_META, meta, error));
    return lode_output_commit(&writer->output, error);
}

/* Where the blocks of all profiles are, in the order that these have in the file. */
static struct wire_Profile *records_of(const lode_writer *writer, const uint32_t *order)
{
    struct wire_Profile *records = calloc(writer->profiles.count + 1, sizeof *records);
    for (uint32_t i = 0; records && i < writer->profiles.count; i++)
        records[i] = WRITTEN(writer, profiles, profile, order[i])->wire;
    return records;
}

static lode_status finish(lode_writer *writer, const uint32_t *order, lode_error *error)
{
    struct wire_Section cct;
    struct wire_Profile summary, *records = records_of(writer, order);
    struct written_share all = {.count = (uint32_t)writer->profiles.count, .records = records};
    lode_status status =
        records ? lode_writer_transpose(writer, &all, &summary, &cct, error) : lode_fail_memory(error);
    free(records);
    return status == LODE_OK ? end_files(writer, order, &summary, &cct, error) : status;
}

lode_status lode_writer_finish(lode_writer *writer, lode_error *error)
{
    if (!writer->sealed || writer->finished)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "only a sealed database can be finished, and once");
    if (writer->broken)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a profile could not be appended, so that the database cannot be finished");
    writer->finished = true;
    uint32_t *order = order_profiles(writer);
    lode_status status = order ? finish(writer, order, error) : lode_fail_memory(error);
    free(order);
    return status;
}

/* ---- as a communicator ---- */

lode_status lode_writer_note_profile(lode_writer *writer, const lode_id *ids, uint32_t id_count,
                                     const struct written_profile *profile, lode_error *error)
{
    struct written_profile *added = lode_array_push(&writer->profiles);
    lode_id *copy = lode_arena_alloc(&writer->arena, id_count, sizeof *copy);
    if (added == NULL || copy == NULL)
        return lode_fail_memory(error);
    *added = *profile;
    added->ids = memcpy(copy, ids, id_count * sizeof *copy);
    added->id_count = id_count;
    added->order = (uint32_t)writer->profiles.count - 1;
    return LODE_OK;
}

lode_status lode_writer_write_jointly(lode_writer *writer, lode_error *error)
{
    static const enum hpct_file_id ids[] = {HPCT_CCT, HPCT_PROFILE};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char *path = lode_output_file_path(&writer->output, lode_hpct_specs[ids[i]].name);
        if (path == NULL)
            return lode_fail_memory(error);
        lode_status status = lode_comm_open_file(writer->comm, &writer->joint[ids[i]], path, error);
        free(path);
        if (status != LODE_OK && status != LODE_ABSENT)
            return status;
    }
    return LODE_OK;
}

static lode_status close_joint_files(lode_writer *writer, lode_error *error)
{
    for (unsigned id = 0; id < HPCT_FILES; id++) {
        void *file = writer->joint[id];
        writer->joint[id] = NULL;
        if (file)
            LODE_TRY(lode_comm_close_file(writer->comm, file, error));
    }
    return LODE_OK;
}

/* What a rank wrote is on the disk before rank 0 says that all is. */
static lode_status close_files(lode_writer *writer, lode_error *error)
{
    for (unsigned id = 0; id < HPCT_FILES; id++)
        if (writer->files[id].fd >= 0)
            LODE_TRY(lode_output_file_close(&writer->files[id], error));
    return LODE_OK;
}

lode_status lode_writer_finish_with(lode_writer *writer, const struct written_share *share, lode_error *error)
{
    struct wire_Section cct;
    struct wire_Profile summary;
    bool is_first = writer->comm->place.rank == 0;
    LODE_TRY(lode_writer_transpose(writer, share, &summary, &cct, error));
    LODE_TRY(close_joint_files(writer, error));
    if (!is_first)
        LODE_TRY(close_files(writer, error));
    LODE_TRY(lode_comm_barrier(writer->comm, error));
    if (is_first) {
        uint32_t *order = order_profiles(writer);
        lode_status status =
            order ? end_files(writer, order, &summary, &cct, error) : lode_fail_memory(error);
        free(order);
        LODE_TRY(status);
    }
    /* Nobody is done before it is in place. */
    return lode_comm_barrier(writer->comm, error);
}
