/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/info/info.h"
#include "commands/report/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which stores a question is about. */
enum {
    DATABASES = 1u << 0,
    TRACED = 1u << 1,
    PROFILED = 1u << 2,
    RECORDINGS = 1u << 3,
    TRACKED = 1u << 4,
    SERVED = 1u << 5,
    PAIRS = 1u << 6,
    ALL = DATABASES | RECORDINGS
};

static const struct {
    unsigned which;
    const char *command, *parameters;
} questions[] = {
#define QUESTION(which, command, parameters) {which, command, parameters},
#include "commands/report/questions.def"
#undef QUESTION
};

#define KINDS_SIZE 128

/* What the questions depend on. */
typedef struct store_traits {
    unsigned is; /* DATABASES, ... */
    uint64_t first;
    char kinds[KINDS_SIZE]; /* "&matrix=rank%2Cthread", or empty */
} store_traits;

static void put_kind(char *text, const lode_database *db, unsigned kind, const char *before)
{
    const char *name = lode_database_id_kind_name(db, kind);
    size_t used = strlen(text);
    int length = snprintf(text + used, KINDS_SIZE - used, "%s", before);
    for (used += (size_t)length; name && *name && used + 1 < KINDS_SIZE; name++)
        text[used++] = (char)(isalnum((unsigned char)*name) ? tolower((unsigned char)*name) : '_');
    text[used] = '\0';
}

/* The two kinds with the most different ids, in the order of the tuple, as the page shows them. */
static void choose_kinds(store_traits *traits, const lode_database *db, const info_facts *facts)
{
    size_t most = SIZE_MAX, second = SIZE_MAX;
    for (size_t i = 0; i < facts->id_count; i++) {
        size_t distinct = facts->ids[i].distinct;
        if (distinct < 2)
            continue;
        if (most == SIZE_MAX || distinct > facts->ids[most].distinct) {
            second = most;
            most = i;
        } else if (second == SIZE_MAX || distinct > facts->ids[second].distinct) {
            second = i;
        }
    }
    if (second == SIZE_MAX)
        return;
    put_kind(traits->kinds, db, facts->ids[most < second ? most : second].kind, "&matrix=");
    put_kind(traits->kinds, db, facts->ids[most < second ? second : most].kind, "%2C");
}

static void look_at_database(store_traits *traits, const lode_database *db)
{
    info_facts facts = {0};
    lode_trace_line line;
    lode_error error = {0};
    traits->is = DATABASES;
    if (lode_database_trace_count(db) > 0 && lode_database_trace_line(db, 0, &line, &error) == LODE_OK) {
        traits->is |= TRACED;
        traits->first = line.profile;
    }
    if (info_gather(&facts, db, &error) == LODE_OK && facts.profiles > 2) {
        traits->is |= PROFILED;
        choose_kinds(traits, db, &facts);
    }
    info_free(&facts);
}

static void look_at_recording(store_traits *traits, const lode_recording *recording)
{
    int has_requests = lode_recording_has_requests(recording);
    const lode_track *track =
        lode_recording_track_count(recording) > 0 ? lode_recording_track(recording, 0) : NULL;
    traits->is = RECORDINGS | (has_requests ? SERVED : track ? TRACKED : 0u);
    traits->first = track ? (uint64_t)track->tid : 0;
}

/* "top/0?limit=12", with what '@' and '#' stand for. */
static char *target_of(size_t question, const char *stores, const store_traits *traits)
{
    const char *parameters = questions[question].parameters;
    char text[512];
    int used =
        snprintf(text, sizeof text, "%s/%s%s", questions[question].command, stores, *parameters ? "?" : "");
    for (const char *at = parameters; *at && used + KINDS_SIZE < (int)sizeof text; at++) {
        size_t left = sizeof text - (size_t)used;
        if (*at == '@')
            used += snprintf(text + used, left, "%llu", (unsigned long long)traits->first);
        else if (*at == '#')
            used += snprintf(text + used, left, "%s", traits->kinds);
        else
            used += snprintf(text + used, left, "%c", *at);
    }
    return alloc_text(text);
}

static void add(report_list *list, size_t question, const char *stores, const store_traits *traits)
{
    list->items = alloc_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = (report_answer){.target = target_of(question, stores, traits)};
}

/* The store that the page compares one with: the first other one, if possible of its kind. */
static size_t other_of(const view_server *server, size_t store)
{
    for (size_t i = 0; i < server->store_count; i++)
        if (i != store && server->stores[i].kind == server->stores[store].kind)
            return i;
    return store == 0;
}

static void add_pairs(report_list *list, size_t question, const view_server *server,
                      const store_traits *traits)
{
    char stores[48];
    for (size_t i = 0; i < server->store_count && server->store_count > 1; i++) {
        snprintf(stores, sizeof stores, "%zu/%zu", i, other_of(server, i));
        add(list, question, stores, &traits[i]);
    }
}

void report_list_questions(report_list *list, const view_server *server)
{
    store_traits traits[VIEW_STORES_MAX] = {0};
    char stores[32];
    for (size_t i = 0; i < server->store_count; i++) {
        const host_store *open = &server->stores[i].open;
        if (open->db)
            look_at_database(&traits[i], open->db);
        else
            look_at_recording(&traits[i], open->recording);
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (questions[i].which == PAIRS)
            add_pairs(list, i, server, traits);
        for (size_t k = 0; k < server->store_count; k++) {
            if (!(questions[i].which & traits[k].is))
                continue;
            snprintf(stores, sizeof stores, "%zu", k);
            add(list, i, stores, &traits[k]);
        }
    }
}

void report_list_free(report_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].target);
        free(list->items[i].text);
    }
    free(list->items);
    *list = (report_list){0};
}
