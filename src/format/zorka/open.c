/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"
#include "format/replace.h"
#include "format/zorka/index/index.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_NAME "traces.dat"

struct opening {
    struct zor_recording *rec;
    struct lode_arena *arena;
    struct lode_report *report;
    struct zor_index index;
    lode_error *error;
    const char **names; /* of the folder, sorted */
    size_t name_count;
};

/* ---- stores ---- */

static bool is_store_name(const char *name)
{
    for (unsigned i = 0; i < ZOR_STORE_DIGITS; i++)
        if (!((name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'f')))
            return false;
    return true;
}

/* Folders in memory list files of stores by path; directories list the stores. */
static bool is_store_entry(const char *name)
{
    return is_store_name(name) &&
           (name[ZOR_STORE_DIGITS] == '\0' || strcmp(name + ZOR_STORE_DIGITS, "/" DATA_NAME) == 0);
}

static bool has_data(const struct lode_folder *folder, const char *name, char path[32])
{
    uint64_t size;
    snprintf(path, 32, "%.*s/" DATA_NAME, ZOR_STORE_DIGITS, name);
    return lode_folder_size(folder, path, &size, NULL) == LODE_OK;
}

static bool is_single(const struct lode_folder *folder)
{
    uint64_t size;
    return lode_folder_size(folder, DATA_NAME, &size, NULL) == LODE_OK;
}

static char *copy_text(struct lode_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static lode_status add_store(struct opening *opening, const char *name)
{
    struct zor_recording *rec = opening->rec;
    char path[32] = DATA_NAME, digits[ZOR_STORE_DIGITS + 1] = "";
    if (name && !has_data(&rec->folder, name, path))
        return LODE_OK;
    if (name)
        memcpy(digits, name, ZOR_STORE_DIGITS);
    struct zor_store *store = &rec->stores[rec->store_count];
    store->name = copy_text(opening->arena, digits);
    store->data_file = copy_text(opening->arena, path);
    LODE_TRY_ALLOC(store->name && store->data_file, opening->error);
    store->number = (uint32_t)strtoul(digits, NULL, 16);
    lode_zor_texts_init(&store->strings, opening->arena);
    lode_zor_metas_init(&store->metas);
    for (unsigned i = 0; i < 2; i++)
        store->structures[i] = (struct zor_structure){{lode_zor_put_structure}, &store->strings, i == 1};
    rec->store_count++;
    return LODE_OK;
}

static lode_status find_stores(struct opening *opening)
{
    struct zor_recording *rec = opening->rec;
    size_t count = 0;
    bool is_one = is_single(&rec->folder);
    for (size_t i = 0; i < opening->name_count; i++)
        count += is_store_entry(opening->names[i]);
    if (count > ZOR_STORES_MAX)
        return lode_fail(opening->error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "%zu stores; the limit is %u",
                         count, (unsigned)ZOR_STORES_MAX);
    rec->stores = lode_arena_alloc(opening->arena, count + 1, sizeof *rec->stores);
    LODE_TRY_ALLOC(rec->stores, opening->error);
    if (is_one)
        return add_store(opening, NULL);
    for (size_t i = 0; i < opening->name_count; i++)
        if (is_store_entry(opening->names[i]))
            LODE_TRY(add_store(opening, opening->names[i]));
    return LODE_OK;
}

/* ---- files of a store ---- */

enum file_kind {
    FILE_OTHER,
    FILE_WAL,
    FILE_FMI,
    FILE_QMETA,
    FILE_DATABASE,
    FILE_PROPERTIES
};

static enum file_kind kind_of(const char *name)
{
    if (lode_zor_is_wal(name))
        return FILE_WAL;
    if (lode_zor_is_fmi(name))
        return FILE_FMI;
    if (strcmp(name, "qmeta.idx") == 0)
        return FILE_QMETA;
    if (strcmp(name, "meta.db.p") == 0)
        return FILE_DATABASE;
    /* The first name is documented, the second one is in use. */
    bool is_properties = strcmp(name, "config.props") == 0 || strcmp(name, "store.props") == 0;
    return is_properties ? FILE_PROPERTIES : FILE_OTHER;
}

static lode_status read_bytes(const struct opening *opening, struct zor_store *store, enum file_kind kind,
                              struct lode_range bytes, const char *file)
{
    switch (kind) {
    case FILE_WAL:
        return lode_zor_read_wal(&store->strings, bytes, file, opening->report);
    case FILE_FMI:
        return lode_zor_read_fmi(&store->strings, bytes, file, opening->report);
    case FILE_QMETA:
        return lode_zor_read_qmeta(&store->metas, bytes, file, opening->report);
    case FILE_DATABASE:
        return lode_zor_carve(&store->metas, bytes, opening->error);
    case FILE_PROPERTIES:
        return lode_zor_read_props(opening->rec, store, bytes, opening->error);
    case FILE_OTHER:
        break;
    }
    return LODE_OK;
}

static lode_status read_file(struct opening *opening, struct zor_store *store, const char *name)
{
    struct lode_input source;
    char path[64];
    enum file_kind kind = kind_of(name);
    if (kind == FILE_OTHER)
        return LODE_OK;
    snprintf(path, sizeof path, "%s%s%s", store->name, store->name[0] ? "/" : "", name);
    const char *file = copy_text(opening->arena, path);
    LODE_TRY_ALLOC(file, opening->error);
    lode_zor_index_note(&opening->index, &opening->rec->folder, file);
    lode_status status = lode_input_open(&source, &opening->rec->folder, file, opening->error);
    if (status == LODE_OK)
        status = read_bytes(opening, store, kind, source.bytes, file);
    lode_input_close(&source);
    return status == LODE_ABSENT ? LODE_OK : status;
}

/* All names in the folder of a store; in memory, those that begin with its name. */
static lode_status read_listed(struct opening *opening, struct zor_store *store, const char **names,
                               size_t count, bool has_paths)
{
    size_t length = strlen(store->name);
    for (size_t i = 0; i < count; i++) {
        bool is_inside = strncmp(names[i], store->name, length) == 0 && names[i][length] == '/';
        if (!has_paths)
            LODE_TRY(read_file(opening, store, names[i]));
        else if (is_inside)
            LODE_TRY(read_file(opening, store, names[i] + length + 1));
    }
    return LODE_OK;
}

static lode_status read_files(struct opening *opening, struct zor_store *store)
{
    struct lode_folder *folder = &opening->rec->folder;
    if (store->name[0] == '\0')
        return read_listed(opening, store, opening->names, opening->name_count, false);
    if (folder->directory < 0)
        return read_listed(opening, store, opening->names, opening->name_count, true);
    struct lode_folder inner;
    const char **names;
    size_t count;
    LODE_TRY(lode_folder_open_in(&inner, folder, store->name, opening->error));
    lode_status status = lode_folder_list(&inner, opening->arena, &names, &count, opening->error);
    lode_folder_close(&inner);
    return status == LODE_OK ? read_listed(opening, store, names, count, false) : status;
}

/* Attributes of these names tell where a trace ran. */
static void find_keys(struct zor_store *store)
{
    static const char process[] = "process.pid", thread[] = "thread.id";
    for (size_t i = 0; i < store->strings.items.count; i++) {
        const struct zor_text *text = LODE_ARRAY_AT(&store->strings.items, struct zor_text, i);
        if (text->length == sizeof process - 1 && memcmp(text->text, process, sizeof process) == 0)
            store->process_key = text->id;
        if (text->length == sizeof thread - 1 && memcmp(text->text, thread, sizeof thread) == 0)
            store->thread_key = text->id;
    }
}

static lode_status read_store(struct opening *opening, uint32_t index)
{
    struct zor_recording *rec = opening->rec;
    struct zor_store *store = &rec->stores[index];
    LODE_TRY(read_files(opening, store));
    lode_zor_metas_sort(&store->metas);
    find_keys(store);
    lode_zor_index_note(&opening->index, &rec->folder, store->data_file);
    lode_status status = lode_input_open(&store->source, &rec->folder, store->data_file, opening->error);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    store->data = (struct zor_data){.bytes = store->source.bytes, .file = store->data_file};
    size_t before = rec->chunks.count;
    LODE_TRY(lode_zor_scan(&store->data, &rec->chunks, index, opening->report));
    if (rec->chunks.count > before && store->strings.items.count == 0)
        return lode_report_add(opening->report, ZOR_TEXT_MISSING, store->data_file, LODE_NO_OFFSET,
                               "the string index is empty");
    return LODE_OK;
}

/* What a survey has found: now, or earlier. */
static lode_status find_traces(struct opening *opening, const struct zor_survey_options *survey)
{
    struct zor_recording *rec = opening->rec;
    struct zor_index *index = lode_zor_index_is_possible(&opening->index) ? &opening->index : NULL;
    lode_status status = index ? lode_zor_index_read(index, rec, opening->report) : LODE_ABSENT;
    if (status == LODE_OK)
        lode_zor_set_tracks(rec);
    if (status != LODE_ABSENT)
        return status;
    if (index)
        lode_zor_index_begin(index, rec, opening->report);
    status = lode_zor_survey(rec, survey, opening->report, opening->error);
    if (index)
        lode_zor_index_end(index, opening->report);
    LODE_TRY(status);
    lode_zor_set_tracks(rec);
    LODE_TRY(lode_zor_place_tracks(rec, opening->error));
    if (index)
        lode_zor_index_write(index, rec);
    lode_array_free(&rec->methods);
    return LODE_OK;
}

static lode_status read_all(struct opening *opening, const struct zor_survey_options *survey)
{
    struct zor_recording *rec = opening->rec;
    LODE_TRY(lode_folder_list(&rec->folder, opening->arena, &opening->names, &opening->name_count,
                              opening->error));
    LODE_TRY(find_stores(opening));
    for (uint32_t i = 0; i < rec->store_count; i++)
        LODE_TRY(read_store(opening, i));
    rec->base.format = "zorka";
    if (survey == NULL)
        return LODE_OK;
    LODE_TRY(find_traces(opening, survey));
    return lode_zor_make_facts(rec, opening->error);
}

/* ---- the recording ---- */

static lode_status track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                  uint64_t *end, lode_error *error)
{
    const struct zor_recording *rec = zor_of(recording);
    const struct zor_trace *trace = zor_trace_at(rec, track);
    (void)error;
    *begin = zor_begin_of(rec, trace);
    *end = zor_end_of(rec, trace);
    return LODE_OK;
}

static void close_recording(lode_recording *recording)
{
    struct zor_recording *rec = (struct zor_recording *)recording;
    for (uint32_t i = 0; i < rec->store_count; i++) {
        lode_input_close(&rec->stores[i].source);
        lode_zor_texts_free(&rec->stores[i].strings);
        lode_zor_metas_free(&rec->stores[i].metas);
    }
    lode_array_free(&rec->properties);
    lode_array_free(&rec->chunks);
    lode_array_free(&rec->segments);
    lode_array_free(&rec->traces);
    lode_array_free(&rec->tracks);
    lode_array_free(&rec->methods);
    lode_function_table_free(&rec->base.functions);
    lode_zor_cursors_free(rec->cursors);
    lode_zor_payloads_free(rec->payloads);
    lode_folder_close(&rec->folder);
    lode_arena_free(&rec->base.arena);
    free(rec);
}

static const struct lode_recording_ops ops = {
    .track_interval = track_interval,
    .cursor_open = lode_zor_cursor_open,
    .cursor_next = lode_zor_cursor_next,
    .cursor_close = lode_zor_cursor_close,
    .arguments = lode_zor_arguments,
    .event_name = lode_zor_event_name,
    .point = lode_zor_point,
    .close = close_recording,
};

lode_status lode_zor_open(lode_recording **out, const struct lode_folder *folder,
                          const struct zor_survey_options *survey, struct lode_report *report,
                          lode_error *error)
{
    *out = NULL;
    struct zor_recording *rec = calloc(1, sizeof *rec);
    LODE_TRY_ALLOC(rec, error);
    rec->payloads = lode_zor_payloads_new();
    rec->cursors = lode_zor_cursors_new();
    rec->base.ops = &ops;
    rec->base.rules = lode_zor_rules;
    rec->base.rule_count = ZOR_RULE_COUNT;
    rec->folder.directory = -1;
    lode_arena_init(&rec->base.arena, SIZE_MAX);
    lode_function_table_init(&rec->base.functions, sizeof(struct lode_function));
    lode_array_init(&rec->properties, sizeof(lode_fact), ZOR_PROPERTIES_MAX);
    lode_array_init(&rec->chunks, sizeof(struct zor_chunk), UINT32_MAX / 2);
    lode_array_init(&rec->segments, sizeof(struct zor_segment), ZOR_SEGMENTS_MAX);
    lode_array_init(&rec->traces, sizeof(struct zor_trace), INT32_MAX / 2);
    lode_array_init(&rec->tracks, sizeof(lode_track), INT32_MAX / 2);
    lode_array_init(&rec->methods, sizeof(uint32_t), INT32_MAX / 2);
    struct opening opening = {.rec = rec, .arena = &rec->base.arena, .report = report, .error = error};
    opening.index.directory = survey ? survey->index_directory : NULL;
    lode_status status = rec->payloads && rec->cursors
                             ? lode_folder_copy(&rec->folder, folder, opening.arena, error)
                             : lode_fail_memory(error);
    if (status == LODE_OK)
        status = read_all(&opening, survey);
    lode_zor_index_free(&opening.index);
    if (status == LODE_OK)
        *out = &rec->base;
    else
        close_recording(&rec->base);
    return status;
}

static lode_status open_recording(lode_recording **out, const struct lode_folder *folder,
                                  const lode_recording_options *options, lode_error *error)
{
    /* An index does not say which error came first. */
    struct zor_survey_options survey = {options->threads, options->on_progress, options->user,
                                        options->strict ? NULL : options->index_directory};
    struct lode_report report;
    LODE_TRY(lode_report_begin(&report, lode_zor_rules, ZOR_RULE_COUNT, options->strict, options->on_finding,
                               options->user, error));
    lode_status status = lode_zor_open(out, folder, &survey, &report, error);
    lode_report_close(&report);
    return status;
}

/* A data file, or a directory that is named like a store and contains one. */
static int probe(const struct lode_folder *folder)
{
    struct lode_arena arena;
    const char **names;
    size_t count = 0;
    char path[32];
    int score = is_single(folder) ? LODE_PROBE_MARK : LODE_PROBE_NO;
    lode_arena_init(&arena, SIZE_MAX);
    if (score == LODE_PROBE_NO && lode_folder_list(folder, &arena, &names, &count, NULL) == LODE_OK)
        for (size_t i = 0; i < count && score == LODE_PROBE_NO; i++)
            if (is_store_entry(names[i]) && has_data(folder, names[i], path))
                score = LODE_PROBE_NAMES;
    lode_arena_free(&arena);
    return score;
}

static const struct lode_target_example example = {"shop", lode_zor_example, &lode_replace_traces};

static const struct lode_target targets[] = {
    {.name = "zorka",
     .family = "zorka",
     .layout = "page",
     .description = "a Zorka trace store, as its document describes it",
     .recording = &lode_zor_page_sink,
     .synth = lode_zor_synth_page,
     .example = &example},
    {.name = "zorka-zico",
     .family = "zorka",
     .layout = "zico",
     .description = "a Zorka trace store, as collectors wrote it",
     .recording = &lode_zor_zico_sink,
     .synth = lode_zor_synth_zico},
};

const struct lode_format lode_format_zorka = {
    .name = "zorka",
    .mark = "traces.dat (Zorka store)",
    .probe = probe,
    .open_recording = open_recording,
    .check = lode_zor_check,
    .rules = lode_zor_rules,
    .rule_count = ZOR_RULE_COUNT,
    .targets = targets,
    .target_count = sizeof targets / sizeof *targets,
};
