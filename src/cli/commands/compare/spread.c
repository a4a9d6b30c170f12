/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/compare/spread.h"

#include "alloc.h"
#include "output/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define IDS_MAX    64
#define KIND_SHOWN 20 /* characters of the name of a kind */

/* ---- names ---- */

static int is_of_machine(const char *kind)
{
    return kind && (strcasecmp(kind, "NODE") == 0 || strcasecmp(kind, "CORE") == 0);
}

static int is_wanted(const lode_database *db, const lode_id *id, const unsigned *kinds, size_t kind_count)
{
    for (size_t i = 0; i < kind_count; i++)
        if (kinds[i] == id->kind)
            return 1;
    return kind_count == 0 && !is_of_machine(lode_database_id_kind_name(db, id->kind));
}

/* Appends "rank 3". There may be a hundred thousand names, so this is done by hand. */
static size_t add_id(char name[PROFILE_NAME_SIZE], size_t used, int is_next, const char *kind,
                     uint32_t number)
{
    char digits[16];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    if (is_next && used < PROFILE_NAME_SIZE - 1)
        name[used++] = ' ';
    for (size_t i = 0; i < KIND_SHOWN && kind[i] && used < PROFILE_NAME_SIZE - 1; i++)
        name[used++] = (char)tolower((unsigned char)kind[i]);
    if (used < PROFILE_NAME_SIZE - 1)
        name[used++] = ' ';
    while (count && used < PROFILE_NAME_SIZE - 1)
        name[used++] = digits[--count];
    name[used] = '\0';
    return used;
}

/* Returns how many ids the name has. */
static size_t name_profile(char name[PROFILE_NAME_SIZE], const lode_database *db, uint32_t profile,
                           const unsigned *kinds, size_t kind_count)
{
    lode_id ids[IDS_MAX];
    uint32_t count = 0;
    size_t used = 0, taken = 0;
    name[0] = '\0';
    if (lode_profile_ids(db, profile, ids, IDS_MAX, &count, NULL) != LODE_OK)
        return 0;
    for (uint32_t i = 0; i < count && i < IDS_MAX && used < PROFILE_NAME_SIZE; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        if (!is_wanted(db, &ids[i], kinds, kind_count))
            continue;
        used = add_id(name, used, taken > 0, kind ? kind : "id", ids[i].logical);
        taken++;
    }
    return taken;
}

/* ---- entries ---- */

static int compare_names(const void *left, const void *right)
{
    const spread_entry *a = left, *b = right;
    int order = strverscmp(a->name, b->name);
    return order ? order : a->first < b->first ? -1 : a->first > b->first;
}

/* One entry for each name; profiles know theirs. */
static void merge_names(spread_side *side)
{
    size_t kept = 0, sorted = 1;
    while (sorted < side->count && compare_names(&side->entries[sorted - 1], &side->entries[sorted]) < 0)
        sorted++;
    if (sorted < side->count)
        qsort(side->entries, side->count, sizeof *side->entries, compare_names);
    for (size_t i = 0; i < side->count; i++) {
        if (kept == 0 || strcmp(side->entries[kept - 1].name, side->entries[i].name) != 0)
            side->entries[kept++] = side->entries[i];
        side->by_profile[side->entries[i].first] = (uint32_t)kept;
    }
    side->count = kept;
}

int spread_side_open(spread_side *side, side_run *run, const char *by)
{
    const lode_database *db = run->database.db;
    unsigned kinds[LODE_GROUP_KINDS];
    size_t kind_count = 0;
    lode_error error = {0};
    *side = (spread_side){.profiles = lode_database_profile_count(db)};
    if (strcasecmp(by, "profile") != 0 &&
        lode_database_find_kinds(db, by, kinds, &kind_count, &error) != LODE_OK)
        return session_error(&run->database, &error);
    side->entries = alloc_array((size_t)side->profiles + 1, sizeof *side->entries);
    side->by_profile = alloc_array((size_t)side->profiles + 1, sizeof *side->by_profile);
    for (uint32_t i = 1; i < side->profiles; i++) {
        spread_entry *entry = &side->entries[side->count];
        size_t ids = name_profile(entry->name, db, i, kinds, kind_count);
        entry->first = i;
        side->count += !lode_profile_is_summary(db, i) && ids > 0 && ids >= kind_count;
    }
    merge_names(side);
    return EXIT_DONE;
}

void spread_side_free(spread_side *side)
{
    free(side->entries);
    free(side->by_profile);
}

int spread_side_values(spread_side *side, side_run *run, size_t metric, int is_inclusive,
                       const lode_context *const *contexts, size_t count)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread = NULL;
    lode_error error = {0};
    session *s = &run->database;
    options.metric = lode_cost_metric(run->costs[metric].cost);
    options.selection = s->selection;
    options.contexts = contexts;
    options.context_count = count;
    options.threads = (unsigned)(s->shared->threads < 4096 ? s->shared->threads : 4096);
    options.on_progress = progress_report;
    options.user = &s->progress;
    if (lode_spread_compute(&spread, s->db, &options, &error) != LODE_OK)
        return session_error(s, &error);
    progress_clear(&s->progress);
    for (size_t i = 0; i < side->count; i++)
        side->entries[i].value = 0;
    for (size_t i = 0; i < lode_spread_count(spread); i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        uint32_t place = row->profile < side->profiles ? side->by_profile[row->profile] : 0;
        double value = count == 0 ? row->total : is_inclusive ? row->inclusive : row->exclusive;
        if (place)
            side->entries[place - 1].value += value * run->costs[metric].scale;
    }
    lode_spread_free(spread);
    return EXIT_DONE;
}
