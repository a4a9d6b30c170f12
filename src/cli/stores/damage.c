/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/damage.h"

#include "alloc.h"
#include "host.h"
#include "output/out.h"
#include "output/report.h"

#include <lode/private/cost_check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_PER_RULE 100 /* that are counted one by one; more are added up */
#define THREADS_MAX       4096

/* A store of the command. */
typedef struct store {
    char *path;
    tally found;
    const tally *opening, *reading; /* attached; may be NULL */
    lode_severity least_opening;    /* of what opening found */
    lode_severity least;            /* worth a line */
    int is_checked, is_large, is_database;
} store;

struct damage_list {
    store *items;
    size_t count, capacity;
    char *target; /* what was written from them; NULL: nothing */
    int is_written;
};

static _Thread_local damage_list stores;

void damage_begin(void)
{
    for (size_t i = 0; i < stores.count; i++) {
        tally_free(&stores.items[i].found);
        free(stores.items[i].path);
    }
    free(stores.items);
    free(stores.target);
    memset(&stores, 0, sizeof stores);
}

damage_list *damage_suspend(void)
{
    damage_list *list = alloc_array(1, sizeof *list);
    *list = stores;
    memset(&stores, 0, sizeof stores);
    return list;
}

void damage_resume(damage_list *list)
{
    damage_begin();
    stores = *list;
    free(list);
}

static store *store_of(const char *path)
{
    for (size_t i = 0; i < stores.count; i++)
        if (strcmp(stores.items[i].path, path) == 0)
            return &stores.items[i];
    stores.items = alloc_grow(stores.items, &stores.capacity, stores.count, sizeof *stores.items);
    store *s = &stores.items[stores.count++];
    *s = (store){.path = alloc_text(path), .least_opening = LODE_WARNING, .least = LODE_WARNING};
    return s;
}

/* ---- checking ---- */

static int on_finding(void *user, const lode_finding *finding)
{
    if (finding->severity >= LODE_WARNING)
        tally_add(user, finding);
    return 0;
}

/* `level` is that of the check; of a large store, it is set to a lower one. */
static lode_status check(const damage_request *request, tally *found, lode_check_level *level,
                         lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    options.level = *level;
    options.most_bytes = request->most_bytes;
    options.threads = (unsigned)(request->threads < THREADS_MAX ? request->threads : THREADS_MAX);
    options.limit_per_rule = FINDINGS_PER_RULE;
    options.on_finding = on_finding;
    options.user = found;
    found->cap = FINDINGS_PER_RULE;
    lode_status status = request->db
                             ? lode_database_check(request->db, request->path, &options, &result, error)
                             : lode_check(request->path, &options, &result, error);
    found->total = result.errors + result.warnings;
    *level = (lode_check_level)result.level;
    return status;
}

static lode_status check_once(const damage_request *request, lode_check_level wanted, lode_error *error)
{
    store *s = store_of(request->path);
    lode_check_level level = wanted;
    tally found = {0};
    if (s->is_checked && !s->is_large)
        return LODE_OK;
    lode_status status = check(request, &found, &level, error);
    s->is_checked = 1;
    s->is_large = level < wanted;
    s->is_database = request->db != NULL;
    tally_join(&s->found, &found);
    tally_free(&found);
    return status;
}

#define FULL_STORES 4 /* that may have as many bytes as one alone */

/* A check that fails says nothing: the command meets the same trouble when it reads. */
void damage_check(const damage_request *request)
{
    damage_request limited = *request;
    lode_error error = {0};
    if (stores.count > FULL_STORES)
        limited.most_bytes = request->most_bytes * FULL_STORES / stores.count;
    (void)!check_once(&limited, LODE_CHECK_FULL, &error);
}

lode_check_level damage_count(const damage_request *request, tally *found)
{
    lode_check_level level = LODE_CHECK_FULL;
    lode_error error = {0};
    tally own = {0};
    (void)!check(request, &own, &level, &error);
    tally_join(found, &own);
    tally_free(&own);
    return level;
}

void damage_check_cost(const char *path, const lode_cost *cost)
{
    tally found = {.cap = FINDINGS_PER_RULE};
    lode_error error = {0};
    if (!damage_is_known(&path, 1))
        (void)!lode_cost_check(cost, on_finding, &found, &error);
    damage_add(path, &found);
    tally_free(&found);
}

/* ---- what others found ---- */

void damage_add(const char *path, const tally *found)
{
    tally severe = {0};
    tally_merge(&severe, found, LODE_WARNING);
    tally_join(&store_of(path)->found, &severe);
    tally_free(&severe);
}

void damage_attach(const char *path, const tally *opening, const tally *reading)
{
    store *s = store_of(path);
    s->opening = opening;
    s->reading = reading;
}

void damage_with_notes(const tally *opening)
{
    for (size_t i = 0; i < stores.count; i++)
        if (stores.items[i].opening == opening)
            stores.items[i].least_opening = LODE_NOTE;
}

/* All that is known of a store. */
static void gather(const store *s, tally *all)
{
    tally own = {0};
    if (s->opening)
        tally_merge(&own, s->opening, s->least_opening);
    if (s->reading)
        tally_merge(&own, s->reading, LODE_NOTE);
    *all = (tally){0};
    tally_join(all, &s->found);
    tally_join(all, &own);
    tally_free(&own);
}

void damage_detach(const tally *opening, lode_severity least)
{
    for (size_t i = 0; i < stores.count; i++) {
        store *s = &stores.items[i];
        if (s->opening != opening)
            continue;
        tally all;
        gather(s, &all);
        tally_free(&s->found);
        s->found = all;
        s->least = least < s->least ? least : s->least;
        s->opening = s->reading = NULL;
    }
}

/* ---- stores that are written ---- */

/* Whether all values can be read: those of the summary too, which some writers compute again. */
static lode_status read_blocks(const lode_database *db, lode_error *error)
{
    lode_status status = LODE_OK;
    for (uint32_t p = 0; p < lode_database_profile_count(db) && status == LODE_OK; p++) {
        lode_block block;
        lode_group group;
        status = lode_profile_block(db, p, &block, error);
        for (uint32_t i = 0; status == LODE_OK && i < lode_block_group_count(&block); i++)
            status = lode_block_group(&block, i, &group, error);
    }
    return status;
}

int damage_refuse(const damage_request *request)
{
    return damage_refuse_at(request, LODE_CHECK_FULL);
}

int damage_refuse_at(const damage_request *request, lode_check_level level)
{
    lode_error error = {0};
    lode_status status = check_once(request, level, &error);
    if (status == LODE_OK && request->db && tally_has(&store_of(request->path)->found, LODE_ERROR))
        status = read_blocks(request->db, &error);
    return status == LODE_OK ? EXIT_DONE : report_error(request->path, &error);
}

int damage_is_known(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const store *s = store_of(paths[i]);
        if (!s->is_checked || s->is_large)
            return 0;
    }
    return 1;
}

void damage_copied(const char *target)
{
    free(stores.target);
    stores.target = alloc_text(strcmp(target, "-") == 0 ? "standard output" : target);
}

/* ---- saying it ---- */

static void write_store(out *o, const store *s, int has_others)
{
    tally all;
    gather(s, &all);
    tally_write(o, &all, has_others ? s->path : NULL);
    tally_free(&all);
}

static void write_all(out *o)
{
    out_break(o);
    out_array(o, "findings");
    for (size_t i = 0; i < stores.count; i++)
        write_store(o, &stores.items[i], stores.count > 1);
    out_array_end(o);
}

void damage_write(out *o)
{
    if (out_format_of(o) != OUT_JSON)
        return;
    stores.is_written = 1;
    write_all(o);
}

static int has_findings(void)
{
    for (size_t i = 0; i < stores.count; i++) {
        tally all;
        gather(&stores.items[i], &all);
        int is_found = tally_has(&all, LODE_WARNING);
        tally_free(&all);
        if (is_found)
            return 1;
    }
    return 0;
}

void damage_write_rest(out *o)
{
    int is_due = !stores.is_written && out_format_of(o) == OUT_JSON && has_findings();
    stores.is_written = 0;
    if (is_due)
        write_all(o);
}

static void say(const store *s, lode_severity least)
{
    tally all = {0};
    least = least < s->least ? least : s->least;
    tally_merge(&all, &s->found, least);
    const tally_entry *worst = tally_worst(&all);
    if (worst) {
        report("%s: %s%s%s%s, such as %s (%s); 'lode check%s%s' lists them", s->path,
               tally_is_least(&all) ? "at least " : "", COUNTED(tally_count(&all), "finding", "findings"),
               stores.target ? " copied to " : "", stores.target ? stores.target : "", worst->rule,
               worst->example, tally_needs_full(&all) ? " --level full" : "",
               least == LODE_NOTE ? " --verbose" : "");
    }
    /* What is built from anything else has been read completely. */
    if (s->is_large && s->is_database && stores.target)
        report("note: %s is too large to be checked on the way; 'lode check --level full' does", s->path);
    tally_free(&all);
}

void damage_say(lode_severity least)
{
    for (size_t i = 0; i < stores.count && !host_current(); i++)
        say(&stores.items[i], least);
}
