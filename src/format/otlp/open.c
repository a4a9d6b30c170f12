/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a file or a directory of files of spans. */
#include "base/error.h"
#include "format/otlp/otlp.h"
#include "format/otlp/synth/synth.h"
#include <stdlib.h>

enum {
    PROBED_FILES = 16 /* of a directory */
};

/* ---- files ---- */

/* Names of files that may have spans. */
static bool has_suffix(const char *name)
{
    static const char *const suffixes[] = {".json", ".jsonl", ".ndjson",     ".pb", ".proto",
                                           ".bin",  ".gz",    ".zst-framed", ".zst"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i]);
        if (length > size && strcmp(name + length - size, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static lode_status list_files(struct otlp_opening *opening)
{
    struct otlp_recording *rec = opening->rec;
    const char **names;
    size_t count;
    LODE_TRY(lode_folder_list(&rec->folder, &rec->base.arena, &names, &count, opening->error));
    if (count > OTLP_FILES_MAX)
        return lode_fail(opening->error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "%zu files; the limit is %d",
                         count, OTLP_FILES_MAX);
    bool is_single = lode_folder_only(&rec->folder) != NULL;
    rec->files = lode_arena_alloc(&rec->base.arena, count + 1, sizeof *rec->files);
    LODE_TRY_ALLOC(rec->files, opening->error);
    for (size_t i = 0; i < count; i++)
        if (is_single || has_suffix(names[i]))
            rec->files[rec->file_count++].name = names[i];
    return LODE_OK;
}

/* ---- the recording ---- */

static lode_status track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                  uint64_t *end, lode_error *error)
{
    const struct otlp_track *found = LODE_ARRAY_AT(&otlp_of(recording)->tracks, struct otlp_track, track);
    (void)error;
    *begin = found->begin;
    *end = found->end;
    return LODE_OK;
}

static void close_recording(lode_recording *recording)
{
    struct otlp_recording *rec = (struct otlp_recording *)recording;
    for (uint32_t i = 0; i < rec->file_count; i++) {
        lode_input_close(&rec->files[i].input);
        lode_backed_blob_free(&rec->files[i].unpacked);
    }
    lode_otlp_table_free(&rec->resource_bytes);
    lode_otlp_table_free(&rec->origin_bytes);
    lode_array_free(&rec->traces);
    lode_array_free(&rec->tracks);
    lode_otlp_spans_free(&rec->span_memory);
    lode_backed_close(&rec->track_memory);
    lode_function_table_free(&rec->base.functions);
    lode_function_table_free(&rec->names);
    lode_folder_close(&rec->folder);
    lode_arena_free(&rec->base.arena);
    free(rec);
}

static bool has_failed(const lode_recording *recording, uint32_t track)
{
    const struct otlp_recording *rec = otlp_of(recording);
    uint32_t trace = LODE_ARRAY_AT(&rec->tracks, struct otlp_track, track)->trace;
    return LODE_ARRAY_AT(&rec->traces, struct otlp_trace, trace)->has_failed;
}

/* Callers are found from the innermost one on, and read from their files. */
static lode_status read_callers(const lode_recording *recording, uint32_t track,
                                const lode_function **functions, size_t capacity, size_t *count,
                                lode_error *error)
{
    const struct otlp_recording *rec = otlp_of(recording);
    uint32_t first = LODE_ARRAY_AT(&rec->tracks, struct otlp_track, track)->first;
    struct lode_blob blob = {0};
    struct lode_range bytes;
    lode_status status = LODE_OK;
    *count = 0;
    for (uint32_t i = rec->spans[first].parent; i != OTLP_NO_SPAN; i = rec->spans[i].parent)
        ++*count;
    size_t at = *count;
    for (uint32_t i = rec->spans[first].parent; i != OTLP_NO_SPAN && status == LODE_OK;
         i = rec->spans[i].parent) {
        if (--at >= capacity)
            continue;
        status = lode_otlp_read(rec, &rec->spans[i], &blob, &bytes, error);
        functions[at] = status == LODE_OK ? lode_otlp_function(rec, &rec->spans[i], bytes) : NULL;
        if (status == LODE_OK && functions[at] == NULL)
            status = lode_fail_memory(error);
    }
    lode_blob_free(&blob);
    return status;
}

/*
 * Spans of a track are in the order in which they begin; tracks of a request follow each other, and
 * so do their spans.
 */
static bool find_caller(const lode_recording *recording, uint32_t track, uint32_t *caller_track,
                        uint64_t *calls_before)
{
    const struct otlp_recording *rec = otlp_of(recording);
    const struct otlp_track *tracks = rec->tracks.items;
    uint32_t parent = rec->spans[tracks[track].first].parent, main = rec->base.mains[track];
    uint32_t low = main, high = (uint32_t)rec->tracks.count;
    if (parent == OTLP_NO_SPAN)
        return false;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (rec->base.mains[middle] == main && tracks[middle].first <= parent)
            low = middle;
        else
            high = middle;
    }
    if (parent < tracks[low].first || parent - tracks[low].first >= tracks[low].count)
        return false;
    *caller_track = low;
    *calls_before = parent - tracks[low].first;
    return true;
}

static const struct lode_recording_ops ops = {
    .track_interval = track_interval,
    .cursor_open = lode_otlp_cursor_open,
    .cursor_next = lode_otlp_cursor_next,
    .cursor_close = lode_otlp_cursor_close,
    .arguments = lode_otlp_arguments,
    .event_name = lode_otlp_event_name,
    .point = lode_otlp_instant,
    .has_failed = has_failed,
    .caller = find_caller,
    .callers = read_callers,
    .close = close_recording,
};

static const char *format_of(const struct otlp_recording *rec)
{
    const struct otlp_codec *codec = NULL;
    for (uint32_t i = 0; i < rec->file_count; i++) {
        const struct otlp_codec *next = rec->files[i].form.codec;
        if (codec && next && next != codec)
            return "spans of several formats";
        codec = next ? next : codec;
    }
    return codec ? codec->name : "no spans";
}

static lode_status open_files(struct otlp_opening *opening)
{
    struct otlp_recording *rec = opening->rec;
    for (uint32_t i = 0; i < rec->file_count; i++)
        LODE_TRY(lode_otlp_file_open(opening, &rec->files[i]));
    rec->base.format = format_of(rec);
    return LODE_OK;
}

/* Only the requests that are wanted. LODE_ABSENT: there is no index. */
static lode_status read_part(struct otlp_opening *opening)
{
    struct otlp_lookup *lookup;
    LODE_TRY(list_files(opening));
    LODE_TRY(lode_otlp_lookup_open(&lookup, opening));
    lode_status status = open_files(opening);
    if (status == LODE_OK)
        status = lode_otlp_lookup_take(lookup);
    lode_otlp_lookup_close(lookup);
    return status;
}

static lode_status read_all(struct otlp_opening *opening, bool is_quick)
{
    LODE_TRY(list_files(opening));
    LODE_TRY(open_files(opening));
    if (is_quick)
        return LODE_OK;
    LODE_TRY(lode_otlp_index(opening));
    LODE_TRY(lode_otlp_make_origins(opening));
    LODE_TRY(lode_otlp_assemble(opening));
    LODE_TRY(lode_otlp_say_counts(opening));
    LODE_TRY(lode_otlp_repair(opening));
    LODE_TRY(lode_otlp_place(opening));
    return lode_otlp_describe(opening);
}

/* What of a store is read. */
enum extent {
    READ_NOTHING,
    READ_PART,
    READ_ALL
};

static lode_status open_extent(lode_recording **out, const struct lode_folder *folder,
                               const struct otlp_opening *options, enum extent extent)
{
    struct otlp_recording *rec = calloc(1, sizeof *rec);
    struct otlp_opening opening = *options;
    *out = NULL;
    LODE_TRY_ALLOC(rec, opening.error);
    opening.rec = rec;
    rec->base.ops = &ops;
    rec->base.target = OTLP_TARGET;
    rec->base.rules = lode_otlp_rules;
    rec->base.rule_count = OTLP_RULE_COUNT;
    rec->base.has_requests = true;
    rec->folder.directory = -1;
    rec->span_memory = (struct otlp_spans)OTLP_SPANS_INIT;
    rec->track_memory = (struct lode_backed)LODE_BACKED_INIT;
    lode_arena_init(&rec->base.arena, SIZE_MAX);
    lode_function_table_init(&rec->base.functions, sizeof(struct lode_function));
    lode_function_table_init(&rec->names, sizeof(struct lode_function));
    lode_otlp_table_init(&rec->resource_bytes);
    lode_otlp_table_init(&rec->origin_bytes);
    lode_array_init(&rec->traces, sizeof(struct otlp_trace), UINT32_MAX / 2);
    lode_array_init(&rec->tracks, sizeof(struct otlp_track), INT32_MAX / 2);
    lode_status status = lode_folder_copy(&rec->folder, folder, &rec->base.arena, opening.error);
    if (status == LODE_OK)
        status = extent == READ_PART ? read_part(&opening) : read_all(&opening, extent == READ_NOTHING);
    if (status == LODE_OK)
        *out = &rec->base;
    else
        close_recording(&rec->base);
    return status;
}

lode_status lode_otlp_open(lode_recording **out, const struct lode_folder *folder,
                           const struct otlp_opening *options, bool is_quick)
{
    lode_status status = LODE_ABSENT;
    if (options->wanted)
        status = open_extent(out, folder, options, READ_PART);
    if (status != LODE_ABSENT)
        return status;
    LODE_TRY(open_extent(out, folder, options, is_quick ? READ_NOTHING : READ_ALL));
    if (options->wanted)
        lode_otlp_lookup_write(otlp_of(*out), options->wanted);
    return LODE_OK;
}

/* Findings of opening are in an index, too. */
struct noting {
    struct otlp_wanted wanted;
    lode_finding_fn on_finding;
    void *user;
};

static int note_finding(void *user, const lode_finding *finding)
{
    struct noting *noting = user;
    lode_otlp_lookup_note(&noting->wanted, finding);
    return noting->on_finding ? noting->on_finding(noting->user, finding) : 0;
}

static lode_status open_recording(lode_recording **out, const struct lode_folder *folder,
                                  const lode_recording_options *options, lode_error *error)
{
    struct lode_report report;
    struct noting noting = {
        {.directory = options->index_directory, .ids = options->ids}, options->on_finding, options->user};
    bool is_part = options->index_directory && !options->strict && lode_otlp_lookup_knows(options->ids);
    LODE_TRY(lode_report_begin(&report, lode_otlp_rules, OTLP_RULE_COUNT, options->strict,
                               is_part ? note_finding : options->on_finding,
                               is_part ? &noting : options->user, error));
    struct otlp_opening opening = {.report = &report,
                                   .threads = options->threads,
                                   .memory = options->memory,
                                   .wanted = is_part ? &noting.wanted : NULL,
                                   .on_progress = options->on_progress,
                                   .user = options->user,
                                   .error = error};
    lode_status status = lode_otlp_open(out, folder, &opening, false);
    lode_report_close(&report);
    lode_blob_free(&noting.wanted.key);
    lode_blob_free(&noting.wanted.findings);
    return status;
}

/* ---- the formats ---- */

static int probe_file(const struct lode_folder *folder)
{
    return lode_otlp_is_store(folder, lode_folder_only(folder)) ? LODE_PROBE_CONTENT : LODE_PROBE_NO;
}

/* A directory is a store if one of its first files is. */
static int probe_directory(const struct lode_folder *folder)
{
    struct lode_arena arena;
    const char **names;
    size_t count = 0, probed = 0;
    int score = LODE_PROBE_NO;
    lode_arena_init(&arena, SIZE_MAX);
    if (lode_folder_list(folder, &arena, &names, &count, NULL) != LODE_OK)
        count = 0;
    for (size_t i = 0; i < count && probed < PROBED_FILES && score == LODE_PROBE_NO; i++) {
        if (!has_suffix(names[i]))
            continue;
        probed++;
        score = lode_otlp_is_store(folder, names[i]) ? LODE_PROBE_NAMES : LODE_PROBE_NO;
    }
    lode_arena_free(&arena);
    return score;
}

/* No name says what is in a directory. */
static int probe_nothing(const struct lode_folder *folder)
{
    (void)folder;
    return LODE_PROBE_NO;
}

bool lode_otlp_is_spans(const lode_recording *recording)
{
    return recording->ops == &ops;
}

static const struct lode_target targets[] = {
    {.name = OTLP_TARGET,
     .family = OTLP_TARGET,
     .description = "OpenTelemetry spans in protobuf, a message for each trace",
     .recording = &lode_otlp_sink_ops,
     .synth = lode_otlp_synth_framed},
    {.name = "otlp-bare",
     .family = "otlp-bare",
     .description = "OpenTelemetry spans in protobuf, without lengths",
     .synth = lode_otlp_synth_bare},
    {.name = "otlp-json",
     .family = "otlp-json",
     .description = "OpenTelemetry spans as lines of JSON",
     .synth = lode_otlp_synth_json},
};

const struct lode_format lode_format_otlp = {
    .name = "spans",
    .mark = "OpenTelemetry, Jaeger or Zipkin spans (.json, .pb)",
    .probe = probe_nothing,
    .probe_late = probe_directory,
    .open_recording = open_recording,
    .check = lode_otlp_check,
    .rules = lode_otlp_rules,
    .rule_count = OTLP_RULE_COUNT,
    .targets = targets,
    .target_count = sizeof targets / sizeof *targets,
};

/* The rules are those of directories. */
const struct lode_format lode_format_otlp_file = {
    .name = "spans",
    .is_file = true,
    .probe = probe_file,
    .open_recording = open_recording,
    .check = lode_otlp_check,
};
