/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which profiles are used, and their id tuples. hpcrun leaves some ids to be numbered: among all
 * ids of their kind, or among those whose tuples begin alike. They get 0, 1, 2... in the order of
 * physical ids, so that the order of files does not matter.
 */
#include "base/comm/pack.h"
#include "format/hpcrun/source/source.h"
#include <stdlib.h>

enum {
    MEANING_PREFIX = 1, /* numbered among tuples that begin alike */
    MEANING_GLOBAL = 2  /* numbered among all ids of the kind */
};

/* ---- what cannot be used ---- */

static int compare_skips(const void *left, const void *right)
{
    const struct hpcrun_skip *a = left, *b = right;
    return a->profile != b->profile ? (a->profile < b->profile ? -1 : 1) : strcmp(a->file, b->file);
}

static bool pack_skips(struct hpcrun_source *source, struct lode_blob *blob)
{
    struct lode_array all;
    bool done = true;
    lode_array_init(&all, sizeof(struct hpcrun_skip), UINT32_MAX);
    for (unsigned w = 0; w < source->threads; w++)
        for (size_t i = 0; i < source->workers[w].skips.count && done; i++) {
            struct hpcrun_skip *skip = lode_array_push(&all);
            done = skip != NULL;
            if (done)
                *skip = *LODE_ARRAY_AT(&source->workers[w].skips, struct hpcrun_skip, i);
        }
    if (all.count > 1)
        qsort(all.items, all.count, all.item_size, compare_skips);
    for (size_t i = 0; i < all.count && done; i++) {
        const struct hpcrun_skip *skip = LODE_ARRAY_AT(&all, struct hpcrun_skip, i);
        done = pack_number(blob, skip->profile) && pack_number(blob, skip->rule) &&
               pack_number(blob, skip->offset) && pack_string(blob, skip->file) &&
               pack_string(blob, skip->text);
    }
    lode_array_free(&all);
    return done;
}

/* All ranks know what is dropped; rank 0 reports it. A profile of LODE_NONE is that of a trace. */
static lode_status take_skips(struct hpcrun_source *source, const unsigned char *at, uint64_t size,
                              lode_error *error)
{
    const lode_build_options *options = source->input->options;
    bool is_first = source->comm->place.rank == 0 && options->on_finding;
    const unsigned char *end = at + size;
    while (at < end) {
        uint64_t profile = unpack_number(&at), rule = unpack_number(&at), offset = unpack_number(&at);
        const char *file = unpack_string(&at), *text = unpack_string(&at);
        if (profile != LODE_NONE)
            source->entries[profile].is_dropped = true;
        if (rule == HPCRUN_NOT_WANTED) {
            if (error && error->text[0] == '\0')
                lode_describe(error, LODE_ERR_UNSUPPORTED, file, LODE_NO_OFFSET,
                              "neither this profile nor any other is of a program that was chosen");
            continue;
        }
        lode_finding finding = {lode_hpcrun_rules[rule].id, LODE_ERROR, file, offset, text};
        if (is_first && options->on_finding(options->user, &finding) != 0)
            return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
        if (profile != LODE_NONE && error && error->text[0] == '\0')
            lode_describe(error, LODE_ERR_CORRUPT, file, offset, "%s", text);
    }
    return LODE_OK;
}

/* Counts the profiles before this rank, and lists its own. */
static lode_status number_profiles(struct hpcrun_source *source, lode_error *error)
{
    struct lode_profile_source *base = &source->base.base;
    source->item_of = calloc((size_t)source->share + 1, sizeof *source->item_of);
    LODE_TRY_ALLOC(source->item_of, error);
    base->first = base->count = 0;
    for (uint32_t i = 0; i < source->first; i++)
        base->first += !source->entries[i].is_dropped;
    for (uint32_t i = 0; i < source->share; i++)
        if (!source->entries[source->first + i].is_dropped)
            source->item_of[base->count++] = i;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < source->entry_count; i++)
        if (!source->entries[i].is_dropped)
            source->entries[kept++] = source->entries[i];
    source->entry_count = kept;
    return kept > 0 ? LODE_OK : LODE_ERR_CORRUPT; /* the error of the first file */
}

lode_status lode_hpcrun_drop_inputs(struct hpcrun_source *source, lode_error *error)
{
    struct lode_blob blob = {0};
    void *all = NULL;
    uint64_t size;
    lode_error first = {0};
    lode_status status = pack_skips(source, &blob) ? lode_comm_gather(source->comm, blob.bytes, blob.size,
                                                                      true, &all, &size, NULL, error)
                                                   : lode_fail_memory(error);
    if (status == LODE_OK) {
        status = take_skips(source, all, size, &first);
        if (status == LODE_OK)
            status = number_profiles(source, &first);
        if (status != LODE_OK && error)
            *error = first;
    }
    free(all);
    lode_blob_free(&blob);
    return status;
}

/* ---- numbers ---- */

/* A physical id of a kind that is numbered among all. */
struct global_id {
    uint64_t physical;
    uint32_t kind;
};

static int compare_globals(const void *left, const void *right)
{
    const struct global_id *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->physical < b->physical ? -1 : a->physical > b->physical;
}

static unsigned meaning_of(const struct hpcrun_Id *id)
{
    return id->kind >> HPCRUN_ID_MEANING_SHIFT;
}

/* All of them, sorted and once each. */
static lode_status list_globals(const struct hpcrun_source *source, struct lode_array *list,
                                lode_error *error)
{
    size_t kept = 0;
    for (uint32_t i = 0; i < source->entry_count; i++)
        for (uint32_t k = 0; k < source->entries[i].id_count; k++) {
            const struct hpcrun_Id *id = &source->entries[i].raw_ids[k];
            struct global_id *slot = meaning_of(id) == MEANING_GLOBAL ? lode_array_push(list) : NULL;
            LODE_TRY_ALLOC(slot || meaning_of(id) != MEANING_GLOBAL, error);
            if (slot)
                *slot = (struct global_id){id->physical, id->kind & HPCRUN_ID_KIND};
        }
    if (list->count > 1)
        qsort(list->items, list->count, list->item_size, compare_globals);
    struct global_id *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || compare_globals(&items[kept - 1], &items[i]) != 0)
            items[kept++] = items[i];
    list->count = kept;
    return LODE_OK;
}

static uint32_t global_number(const struct lode_array *list, const struct hpcrun_Id *id)
{
    struct global_id key = {id->physical, id->kind & HPCRUN_ID_KIND};
    const struct global_id *items = list->items,
                           *found = bsearch(&key, items, list->count, sizeof key, compare_globals);
    const struct global_id *first = found;
    while (first > items && first[-1].kind == key.kind)
        first--;
    return (uint32_t)(found - first);
}

static bool is_same(const struct hpcrun_Id *a, const struct hpcrun_Id *b)
{
    return a->kind == b->kind && a->physical == b->physical &&
           (hpcrun_id_is_numbered(a) || a->logical == b->logical);
}

/* How many ids at the beginning of two tuples are the same. */
static uint32_t common_ids(const struct hpcrun_entry *a, const struct hpcrun_entry *b)
{
    uint32_t k = 0;
    while (k < a->id_count && k < b->id_count && is_same(&a->raw_ids[k], &b->raw_ids[k]))
        k++;
    return k;
}

/* Entries are sorted: tuples that begin alike are contiguous. */
static uint32_t prefix_number(const struct hpcrun_entry *entry, const struct hpcrun_entry *before, uint32_t k)
{
    uint32_t common = before ? common_ids(before, entry) : 0;
    if (common < k || before == NULL || k >= before->id_count ||
        before->raw_ids[k].kind != entry->raw_ids[k].kind)
        return 0;
    return before->ids[k].logical + (before->raw_ids[k].physical != entry->raw_ids[k].physical);
}

static lode_id number_id(const struct hpcrun_entry *entry, const struct hpcrun_entry *before, uint32_t k,
                         const struct lode_array *globals)
{
    const struct hpcrun_Id *from = &entry->raw_ids[k];
    unsigned meaning = meaning_of(from);
    lode_id id = {.kind = from->kind & HPCRUN_ID_KIND,
                  .flags = LODE_ID_PHYSICAL,
                  .logical = from->logical < UINT32_MAX ? (uint32_t)from->logical : UINT32_MAX,
                  .physical = from->physical};
    if (meaning == MEANING_PREFIX)
        id.logical = prefix_number(entry, before, k);
    if (meaning == MEANING_GLOBAL)
        id.logical = global_number(globals, from);
    if (meaning == HPCRUN_ID_LOGICAL_ONLY) {
        id.flags = 0;
        id.physical = from->logical;
    }
    return id;
}

static lode_status number_entries(struct hpcrun_source *source, const struct lode_array *globals,
                                  lode_error *error)
{
    for (uint32_t i = 0; i < source->entry_count; i++) {
        struct hpcrun_entry *entry = &source->entries[i];
        entry->ids = lode_arena_alloc(&source->arena, (size_t)entry->id_count + 1, sizeof *entry->ids);
        LODE_TRY_ALLOC(entry->ids, error);
        for (uint32_t k = 0; k < entry->id_count; k++)
            entry->ids[k] = number_id(entry, i > 0 ? entry - 1 : NULL, k, globals);
    }
    return LODE_OK;
}

lode_status lode_hpcrun_number_ids(struct hpcrun_source *source, lode_error *error)
{
    struct lode_array globals;
    lode_array_init(&globals, sizeof(struct global_id), SIZE_MAX);
    lode_status status = list_globals(source, &globals, error);
    if (status == LODE_OK)
        status = number_entries(source, &globals, error);
    lode_array_free(&globals);
    return status;
}
