/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/compare.h"
#include "base/error.h"
#include "format/replace.h"
#include "format/uftrace/cut/cut.h"
#include "format/uftrace/read.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- shared by the parts of opening ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, *(const char *const *)right);
}

bool lode_uft_has_file(const struct uft_opening *opening, const char *name)
{
    return opening->name_count > 0 &&
           bsearch(name, opening->names, opening->name_count, sizeof *opening->names, compare_names) != NULL;
}

lode_status lode_uft_text(struct uft_opening *opening, struct uft_text text, const char **out)
{
    *out = uft_copy(opening->arena, text);
    return *out ? LODE_OK : lode_fail_memory(opening->error);
}

lode_status lode_uft_add_fact(struct uft_opening *opening, const char *key, struct uft_text value)
{
    lode_fact *fact = lode_array_push(&opening->facts);
    LODE_TRY_ALLOC(fact, opening->error);
    fact->key = key;
    return lode_uft_text(opening, value, &fact->value);
}

lode_status lode_uft_add_module(struct uft_opening *opening, struct uft_text path, struct uft_text build_id,
                                uint32_t *index)
{
    uint64_t key = lode_hash_pair(uft_hash(path), uft_hash(build_id));
    bool is_new;
    const uint32_t *slot =
        lode_map_add(&opening->module_index, key, (uint32_t)opening->modules.count, &is_new);
    LODE_TRY_ALLOC(slot, opening->error);
    *index = *slot;
    if (!is_new)
        return LODE_OK;
    struct uft_module_line *module = lode_array_push(&opening->modules);
    LODE_TRY_ALLOC(module, opening->error);
    LODE_TRY(lode_uft_text(opening, path, &module->path));
    return lode_uft_text(opening, build_id, &module->build_id);
}

lode_status lode_uft_keep_modules(struct uft_opening *opening)
{
    struct uft_recording *rec = opening->rec;
    size_t count = opening->modules.count;
    rec->base.modules = lode_arena_alloc(opening->arena, count, sizeof *rec->base.modules);
    rec->modules = lode_arena_alloc(opening->arena, count, sizeof *rec->modules);
    LODE_TRY_ALLOC(rec->base.modules && rec->modules, opening->error);
    rec->base.module_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        const struct uft_module_line *line = LODE_ARRAY_AT(&opening->modules, struct uft_module_line, i);
        rec->base.modules[i] = (struct lode_module){.index = i, .path = line->path};
        rec->modules[i].module = &rec->base.modules[i];
        rec->modules[i].build_id = line->build_id;
    }
    return LODE_OK;
}

/* ---- a recording ---- */

static void close_recording(lode_recording *recording)
{
    struct uft_recording *rec = (struct uft_recording *)recording;
    for (uint32_t i = 0; i < rec->base.module_count; i++) {
        lode_input_close(&rec->modules[i].symbols.source);
        lode_input_close(&rec->modules[i].debug_source);
    }
    lode_input_close(&rec->info_source);
    lode_uft_specs_close(rec->specs);
    lode_uft_perf_free(&rec->perf);
    lode_map_free(&rec->file_index);
    lode_array_free(&rec->files);
    lode_function_table_free(&rec->base.functions);
    lode_uft_shared_close(rec->shared);
    lode_checkpoints_close(rec->base.checkpoints);
    lode_folder_close(&rec->folder);
    lode_arena_free(&rec->base.arena);
    free(rec);
}

static const char *event_name(const lode_recording *recording, uint64_t id)
{
    const struct uft_recording *rec = uft_of(recording);
    for (uint32_t low = 0, high = rec->event_name_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (rec->event_names[middle].id == id)
            return rec->event_names[middle].name;
        if (rec->event_names[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    const char *known = lode_uft_event_name(id);
    return known ? known : "unknown event";
}

/* Labels pointer arguments with what they point at. */
static void label_pointers(const struct uft_recording *rec, const struct uft_task *task, uint64_t time,
                           lode_argument *arguments, size_t count)
{
    uint64_t until;
    const struct uft_session *session = lode_uft_session_at(rec, task, time, &until);
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].kind != LODE_VALUE_POINTER || arguments[i].unsigned_value == 0)
            continue;
        const lode_function *function = lode_uft_find_named(rec, session, time, arguments[i].unsigned_value);
        if (function)
            arguments[i].label = function->name;
    }
}

static lode_status arguments_of(const lode_recording *recording, uint32_t track, const lode_event *event,
                                lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    const struct uft_recording *rec = uft_of(recording);
    struct lode_range bytes = {event->data, event->data_size};
    if (event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_LEAVE) {
        const struct uft_function *function = (const struct uft_function *)event->function;
        const struct lode_uft_spec *spec =
            event->kind == LODE_EVENT_ENTER ? function->arguments : function->result;
        if (spec == NULL)
            return LODE_OK;
        LODE_TRY(lode_uft_payload_decode(rec->specs, spec, bytes, arguments, capacity, count, error));
    } else if (event->kind == LODE_EVENT_INSTANT) {
        LODE_TRY(lode_uft_event_decode(rec->specs, event->id, bytes, arguments, capacity, count, error));
    }
    if (track < rec->base.track_count)
        label_pointers(rec, &rec->tasks[track], event->time, arguments,
                       *count < capacity ? *count : capacity);
    return LODE_OK;
}

static const struct lode_recording_ops ops = {
    .track_interval = lode_uft_track_interval,
    .cursor_open = lode_uft_cursor_open,
    .cursor_seek = lode_uft_cursor_seek,
    .cursor_position = lode_uft_cursor_position,
    .cursor_resume = lode_uft_cursor_resume,
    .survey = lode_uft_survey,
    .cursor_open_piece = lode_uft_cursor_open_piece,
    .cursor_meets = lode_uft_cursor_meets,
    .cursor_next = lode_uft_cursor_next,
    .cursor_close = lode_uft_cursor_close,
    .arguments = arguments_of,
    .event_name = event_name,
    .close = close_recording,
};

/* ---- opening ---- */

LODE_COMPARE_BY_2(compare_dlopens, struct uft_dlopen, time, base);

static lode_status keep_array(struct uft_opening *opening, const struct lode_array *array, void **out)
{
    *out = lode_arena_alloc(opening->arena, array->count, array->item_size);
    if (*out == NULL)
        return lode_fail_memory(opening->error);
    if (array->count > 0)
        memcpy(*out, array->items, array->count * array->item_size);
    return LODE_OK;
}

static lode_status keep_sessions(struct uft_opening *opening)
{
    struct uft_recording *rec = opening->rec;
    void *items;
    LODE_TRY(keep_array(opening, &opening->sessions, &items));
    rec->sessions = items;
    rec->session_count = (uint32_t)opening->sessions.count;
    if (opening->dlopens.count > 0)
        qsort(opening->dlopens.items, opening->dlopens.count, sizeof(struct uft_dlopen), compare_dlopens);
    LODE_TRY(keep_array(opening, &opening->dlopens, &items));
    rec->dlopens = items;
    rec->dlopen_count = (uint32_t)opening->dlopens.count;
    LODE_TRY(lode_uft_index_dlopens(opening));
    /* uftrace's QEMU plug-in gives all sessions the same id. */
    rec->is_qemu = rec->session_count > 0;
    for (uint32_t i = 0; i < rec->session_count; i++)
        rec->is_qemu = rec->is_qemu && strcmp(rec->sessions[i].id, "0") == 0;
    return LODE_OK;
}

/* Without scheduling events, the files of processors have the begins and ends of threads only. */
static bool is_without_sched(const lode_recording *recording)
{
    static const char option[] = " --no-sched";
    for (size_t i = 0; i < recording->fact_count; i++) {
        const char *found = strcmp(recording->facts[i].key, "command line") == 0
                                ? strstr(recording->facts[i].value, option)
                                : NULL;
        if (found && (found[sizeof option - 1] == ' ' || found[sizeof option - 1] == 0))
            return true;
    }
    return false;
}

static lode_status read_all(struct uft_opening *opening)
{
    struct uft_recording *rec = opening->rec;
    void *facts;
    LODE_TRY(lode_folder_list(&rec->folder, opening->arena, &opening->names, &opening->name_count,
                              opening->error));
    LODE_TRY(lode_uft_read_info(opening));
    LODE_TRY(lode_uft_specs_open(&rec->specs, opening->arena, &rec->info.specs, opening->report));
    LODE_TRY(lode_uft_read_tasks(opening));
    LODE_TRY(lode_uft_read_maps(opening));
    LODE_TRY(lode_uft_keep_modules(opening));
    LODE_TRY(keep_sessions(opening));
    LODE_TRY(lode_uft_read_symbols(opening));
    LODE_TRY(lode_uft_read_extras(opening));
    LODE_TRY(lode_uft_read_tracks(opening));
    LODE_TRY(keep_array(opening, &opening->facts, &facts));
    rec->base.facts = facts;
    rec->base.fact_count = opening->facts.count;
    rec->base.has_sched = rec->base.has_sched && !is_without_sched(&rec->base);
    rec->base.is_never_out = rec->perf.thread_count == 0;
    rec->scheduled_out = lode_uft_state_function(rec, "linux:schedule", 0);
    rec->preempted = lode_uft_state_function(rec, "linux:schedule (pre-empted)", 1);
    LODE_TRY_ALLOC(rec->scheduled_out && rec->preempted, opening->error);
    rec->base.format = rec->info.version == 3 ? "uftrace 3" : "uftrace 4";
    return LODE_OK;
}

static lode_status open_with(struct uft_opening *opening)
{
    lode_array_init(&opening->facts, sizeof(lode_fact), 1 << 20);
    lode_array_init(&opening->modules, sizeof(struct uft_module_line), UINT32_MAX / 2);
    lode_array_init(&opening->sessions, sizeof(struct uft_session), UINT32_MAX / 2);
    lode_array_init(&opening->dlopens, sizeof(struct uft_dlopen), UINT32_MAX / 2);
    lode_array_init(&opening->tasks, sizeof(struct uft_task_line), UINT32_MAX / 2);
    lode_array_init(&opening->forks, sizeof(struct uft_fork_line), UINT32_MAX / 2);
    lode_map_init(&opening->session_index);
    lode_map_init(&opening->module_index);
    lode_status status = read_all(opening);
    lode_array_free(&opening->facts);
    lode_array_free(&opening->modules);
    lode_array_free(&opening->sessions);
    lode_array_free(&opening->dlopens);
    lode_array_free(&opening->tasks);
    lode_array_free(&opening->forks);
    lode_map_free(&opening->session_index);
    lode_map_free(&opening->module_index);
    return status;
}

lode_status lode_uft_open(lode_recording **out, const struct lode_folder *folder, struct lode_report *report,
                          lode_error *error)
{
    *out = NULL;
    struct uft_recording *rec = calloc(1, sizeof *rec);
    LODE_TRY_ALLOC(rec, error);
    rec->base.ops = &ops;
    rec->base.rules = lode_uft_rules;
    rec->base.rule_count = UFT_RULE_COUNT;
    rec->folder.directory = -1;
    lode_arena_init(&rec->base.arena, SIZE_MAX);
    lode_function_table_init(&rec->base.functions, sizeof(struct uft_function));
    lode_map_init(&rec->file_index);
    lode_array_init(&rec->files, sizeof(const lode_file *), UINT32_MAX / 2);
    struct uft_opening opening = {.rec = rec, .arena = &rec->base.arena, .report = report, .error = error};
    rec->shared = lode_uft_shared_open();
    lode_status status = rec->shared ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_folder_copy(&rec->folder, folder, opening.arena, error);
    if (status == LODE_OK)
        status = open_with(&opening);
    if (status == LODE_OK) {
        rec->base.checkpoints = lode_checkpoints_open(rec->base.track_count);
        *out = &rec->base;
    } else {
        close_recording(&rec->base);
    }
    return status;
}

static lode_status open_recording(lode_recording **out, const struct lode_folder *folder,
                                  const lode_recording_options *options, lode_error *error)
{
    struct lode_report report;
    LODE_TRY(lode_report_begin(&report, lode_uft_rules, UFT_RULE_COUNT, options->strict, options->on_finding,
                               options->user, error));
    lode_status status = lode_uft_open(out, folder, &report, error);
    lode_report_close(&report);
    return status;
}

/* Files that cannot be read count too: opening says why. */
static int probe(const struct lode_folder *folder)
{
    uint64_t size;
    if (lode_folder_size(folder, "task.txt", &size, NULL) == LODE_OK ||
        lode_folder_size(folder, "default.opts", &size, NULL) == LODE_OK)
        return LODE_PROBE_NAMES;
    return lode_folder_begins(folder, "info", "Ftrace!", 8) ? LODE_PROBE_NAMES : LODE_PROBE_NO;
}

static const struct lode_target_example example = {"thumbs", lode_uft_example, &lode_replace_recording};

static const struct lode_target targets[] = {{.name = "uftrace",
                                              .family = "uftrace",
                                              .description = "a uftrace recording",
                                              .recording = &lode_uft_sink,
                                              .synth = lode_uft_synth,
                                              .example = &example}};

const struct lode_format lode_format_uftrace = {
    .name = "uftrace",
    .mark = "info or task.txt (uftrace recording)",
    .probe = probe,
    .open_recording = open_recording,
    .check = lode_uft_check,
    .rules = lode_uft_rules,
    .rule_count = UFT_RULE_COUNT,
    .targets = targets,
    .target_count = sizeof targets / sizeof *targets,
};
