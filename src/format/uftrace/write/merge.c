/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/write/merge.h"

#include "base/compare.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- findings ---- */

lode_status lode_uft_merge_find(const struct uft_merge *merge, enum uft_merge_loss rule, const char *file,
                                lode_error *error, const char *format, ...)
{
    static const struct {
        const char *id;
        lode_severity severity;
    } rules[] = {[UFT_MERGE_CLOCK] = {"merge-clock", LODE_NOTE},
                 [UFT_MERGE_ARGUMENTS] = {"merge-arguments", LODE_WARNING},
                 [UFT_MERGE_NAMES] = {"merge-names", LODE_WARNING},
                 [UFT_MERGE_EVENTS] = {"merge-events", LODE_WARNING}};
    char text[512];
    if (merge->on_finding == NULL)
        return LODE_OK;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lode_finding finding = {rules[rule].id, rules[rule].severity, file, LODE_NO_OFFSET, text};
    if (merge->on_finding(merge->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

/* ---- ids of processes and threads ---- */

static bool add_id(struct lode_array *ids, int32_t id)
{
    int32_t *added = id > 0 ? lode_array_push(ids) : NULL;
    if (added)
        *added = id;
    return added != NULL || id <= 0;
}

/* All ids of a source, distinct and rising. */
static lode_status gather_ids(struct lode_array *ids, const struct uft_recording *rec, lode_error *error)
{
    bool fits = true;
    ids->count = 0;
    for (uint32_t i = 0; i < rec->base.track_count && fits; i++) {
        const lode_track *track = &rec->base.tracks[i];
        fits = add_id(ids, track->tid) && add_id(ids, track->pid) && add_id(ids, rec->tasks[i].parent);
    }
    for (uint32_t i = 0; i < rec->session_count && fits; i++)
        fits = add_id(ids, rec->sessions[i].pid);
    for (uint32_t i = 0; i < rec->dlopen_count && fits; i++)
        fits = add_id(ids, rec->dlopens[i].tid);
    if (!fits)
        return lode_fail_memory(error);
    size_t kept = 0;
    int32_t *items = ids->items;
    if (ids->count > 0)
        qsort(items, ids->count, sizeof *items, lode_compare_i32);
    for (size_t i = 0; i < ids->count; i++)
        if (kept == 0 || items[kept - 1] != items[i])
            items[kept++] = items[i];
    ids->count = kept;
    return LODE_OK;
}

/* An id that an earlier source has is replaced with the next one above all. */
static lode_status number_ids(struct uft_origin *source, const struct lode_array *ids, struct lode_map *taken,
                              int32_t *largest, lode_error *error)
{
    for (size_t i = 0; i < ids->count; i++) {
        int32_t id = *LODE_ARRAY_AT(ids, int32_t, i);
        uint32_t number = (uint32_t)id;
        if (lode_map_get(taken, number)) {
            if (*largest == INT32_MAX)
                return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                                 "there is no id left for thread %d", id);
            number = (uint32_t)++ * largest;
        }
        if (!lode_map_add(&source->ids, (uint64_t)id, number, NULL) || !lode_map_add(taken, number, 0, NULL))
            return lode_fail_memory(error);
    }
    return LODE_OK;
}

static lode_status merge_ids(struct uft_merge *merge, lode_error *error)
{
    struct lode_array ids;
    struct lode_map taken;
    int32_t largest = 0;
    lode_status status = LODE_OK;
    lode_array_init(&ids, sizeof(int32_t), SIZE_MAX);
    lode_map_init(&taken);
    for (size_t i = 0; i < merge->count && status == LODE_OK; i++) {
        status = gather_ids(&ids, merge->sources[i].rec, error);
        int32_t last = ids.count ? *LODE_ARRAY_AT(&ids, int32_t, ids.count - 1) : 0;
        largest = last > largest ? last : largest;
    }
    for (size_t i = 0; i < merge->count && status == LODE_OK; i++) {
        status = gather_ids(&ids, merge->sources[i].rec, error);
        if (status == LODE_OK)
            status = number_ids(&merge->sources[i], &ids, &taken, &largest, error);
    }
    lode_array_free(&ids);
    lode_map_free(&taken);
    return status;
}

int32_t lode_uft_merge_id(const struct uft_origin *source, int32_t id)
{
    const uint32_t *number = lode_map_get(&source->ids, (uint64_t)id);
    return number ? (int32_t)*number : id;
}

/* ---- clocks ---- */

static lode_status merge_clocks(struct uft_merge *merge, lode_error *error)
{
    int64_t first = merge->sources[0].rec->base.utc_offset;
    for (size_t i = 1; i < merge->count; i++) {
        struct uft_origin *source = &merge->sources[i];
        int64_t offset = source->rec->base.utc_offset;
        if (first != 0 && offset != 0)
            source->clock = offset - first;
        else
            LODE_TRY(
                lode_uft_merge_find(merge, UFT_MERGE_CLOCK, "info", error,
                                    "%s recording has no offset from UTC: times of number %zu do not change",
                                    first ? "a later" : "the first", i + 1));
    }
    return LODE_OK;
}

/* ---- arguments ---- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool has_text(const char *text)
{
    return text && *text;
}

static bool has_debug_specs(const struct uft_recording *rec)
{
    for (uint32_t i = 0; i < rec->base.module_count; i++) {
        const struct lode_uft_debug *debug = &rec->modules[i].debug;
        for (size_t k = 0; k < debug->count; k++)
            if (debug->entries[k].arguments || debug->entries[k].result)
                return true;
    }
    return false;
}

static bool has_specs(const struct uft_recording *rec)
{
    const struct lode_uft_spec_strings *strings = &rec->info.specs;
    return has_text(strings->argspec) || has_text(strings->retspec) || has_text(strings->argauto) ||
           has_text(strings->retauto) || strings->has_auto || has_debug_specs(rec);
}

static bool same_specs(const struct lode_uft_spec_strings *a, const struct lode_uft_spec_strings *b)
{
    return same_text(a->argspec, b->argspec) && same_text(a->retspec, b->retspec) &&
           same_text(a->argauto, b->argauto) && same_text(a->retauto, b->retauto) &&
           same_text(a->enumauto, b->enumauto) && same_text(a->pattern_type, b->pattern_type) &&
           a->word == b->word && a->has_auto == b->has_auto;
}

/* Only the first specification applies: others could match functions of other recordings. */
static lode_status merge_arguments(struct uft_merge *merge, lode_error *error)
{
    merge->specified = merge->count;
    merge->word = merge->sources[0].rec->info.word;
    for (size_t i = 0; i < merge->count; i++) {
        struct uft_origin *source = &merge->sources[i];
        if (!has_specs(source->rec))
            continue;
        if (merge->specified == merge->count) {
            merge->specified = i;
            merge->word = source->rec->info.word;
            continue;
        }
        source->drops_values =
            !same_specs(&merge->sources[merge->specified].rec->info.specs, &source->rec->info.specs);
        if (source->drops_values)
            LODE_TRY(lode_uft_merge_find(
                merge, UFT_MERGE_ARGUMENTS, "info", error,
                "recording %zu specifies other arguments than recording %zu; its arguments and results are omitted",
                i + 1, merge->specified + 1));
    }
    return LODE_OK;
}

/* ---- user events ---- */

/* The new id of a named event: its own, or that of the same name, or the next one above all. */
static lode_status number_event(struct uft_merge *merge, struct uft_origin *source,
                                const struct uft_event_name *name, struct lode_map *by_id, uint64_t *largest,
                                lode_error *error)
{
    uint64_t id = name->id;
    bool is_new;
    if (id > UINT32_MAX || *largest >= UINT32_MAX)
        return LODE_OK;
    const uint32_t *index = lode_map_add(by_id, id, merge->event_name_count, &is_new);
    if (index && !is_new && strcmp(merge->event_names[*index].name, name->name) != 0) {
        id = ++*largest;
        index = lode_map_add(by_id, id, merge->event_name_count, &is_new);
    }
    if (index == NULL || lode_map_add(&source->event_ids, name->id, (uint32_t)id, NULL) == NULL)
        return lode_fail_memory(error);
    if (is_new)
        merge->event_names[merge->event_name_count++] = (struct uft_event_name){id, name->name};
    return LODE_OK;
}

LODE_COMPARE_BY(compare_event_names, struct uft_event_name, id);

static lode_status merge_events(struct uft_merge *merge, lode_error *error)
{
    struct lode_map by_id;
    uint64_t largest = UFT_FIRST_USER_ID;
    size_t most = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct uft_recording *rec = merge->sources[i].rec;
        most += rec->event_name_count;
        for (uint32_t k = 0; k < rec->event_name_count; k++)
            largest = rec->event_names[k].id > largest ? rec->event_names[k].id : largest;
    }
    merge->event_names = lode_arena_alloc(&merge->arena, most + 1, sizeof *merge->event_names);
    LODE_TRY_ALLOC(merge->event_names, error);
    lode_map_init(&by_id);
    lode_status status = LODE_OK;
    for (size_t i = 0; i < merge->count; i++)
        for (uint32_t k = 0; k < merge->sources[i].rec->event_name_count && status == LODE_OK; k++)
            status = number_event(merge, &merge->sources[i], &merge->sources[i].rec->event_names[k], &by_id,
                                  &largest, error);
    lode_map_free(&by_id);
    qsort(merge->event_names, merge->event_name_count, sizeof *merge->event_names, compare_event_names);
    return status;
}

/* ---- top level ---- */

static lode_status open_source(struct uft_origin *source, const lode_recording *recording, lode_error *error)
{
    const struct uft_recording *rec = uft_of(recording);
    source->rec = rec;
    lode_map_init(&source->ids);
    lode_map_init(&source->event_ids);
    source->track_count = recording->track_count;
    source->tracks = calloc((size_t)recording->track_count + 1, sizeof *source->tracks);
    source->modules = calloc((size_t)recording->module_count + 1, sizeof *source->modules);
    LODE_TRY_ALLOC(source->tracks && source->modules, error);
    return lode_uft_symbol_shifts(&source->shifts, rec, error);
}

static lode_status open_sources(struct uft_merge *merge, const lode_recording *const *recordings,
                                lode_error *error)
{
    for (size_t i = 0; i < merge->count; i++)
        LODE_TRY(open_source(&merge->sources[i], recordings[i], error));
    LODE_TRY(merge_ids(merge, error));
    LODE_TRY(merge_clocks(merge, error));
    LODE_TRY(merge_arguments(merge, error));
    LODE_TRY(merge_events(merge, error));
    LODE_TRY(lode_uft_merge_modules(merge, error));
    LODE_TRY(lode_uft_merge_sessions(merge, error));
    for (size_t i = 0; i < merge->count; i++)
        for (uint32_t k = 0; k < merge->sources[i].track_count; k++) {
            struct uft_written_track *track = &merge->sources[i].tracks[k];
            track->tid = lode_uft_merge_id(&merge->sources[i], recordings[i]->tracks[k].tid);
            track->first = UINT64_MAX;
        }
    return LODE_OK;
}

lode_status lode_uft_merge_open(struct uft_merge *merge, const lode_recording *const *recordings,
                                size_t count, lode_finding_fn on_finding, void *user, lode_error *error)
{
    *merge = (struct uft_merge){.on_finding = on_finding, .user = user};
    lode_arena_init(&merge->arena, SIZE_MAX);
    merge->sources = calloc(count, sizeof *merge->sources);
    LODE_TRY_ALLOC(merge->sources, error);
    merge->count = count;
    return open_sources(merge, recordings, error);
}

void lode_uft_merge_close(struct uft_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct uft_origin *source = &merge->sources[i];
        for (uint32_t k = 0; source->tracks && k < source->track_count; k++)
            lode_uft_written_track_free(&source->tracks[k]);
        free(source->tracks);
        free(source->modules);
        free(source->shifts);
        lode_map_free(&source->ids);
        lode_map_free(&source->event_ids);
    }
    free(merge->sources);
    lode_arena_free(&merge->arena);
}

struct uft_event_changes lode_uft_merge_changes(const struct uft_merge *merge, size_t source)
{
    const struct uft_origin *one = &merge->sources[source];
    return (struct uft_event_changes){.rec = one->rec,
                                      .shifts = one->shifts,
                                      .clock = one->clock,
                                      .drops_values = one->drops_values,
                                      .word = merge->word,
                                      .event_ids = &one->event_ids,
                                      .to = UINT64_MAX,
                                      .keeps_empty = true};
}
