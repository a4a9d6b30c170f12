/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys to group requests by: attributes of their outermost calls. */
#include "alloc.h"
#include "commands/shared/recording.h"
#include "output/report.h"
#include "text/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_SIZE 4096 /* tracks whose attributes are in memory at a time */
#define SHOWN_SIZE 1024 /* bytes of a message for the keys that there are */

/* ---- what --by says ---- */

static int add_key(search_keys *keys, const char *name, const char *option)
{
    if (name[0] == '\0')
        return report("--%s takes KEY or a list of keys with commas between them (see 'lode help search')",
                      option);
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->names[i], name) == 0)
            return report("--%s names '%s' twice", option, name);
    if (keys->count == LODE_SEARCH_VALUES)
        return report("--%s takes %d keys at most", option, LODE_SEARCH_VALUES);
    keys->names[keys->count++] = name;
    return EXIT_DONE;
}

int search_parse_keys(search_keys *keys, const text_list *lists, const char *option)
{
    size_t size = 1;
    int status = EXIT_DONE;
    for (size_t i = 0; i < lists->count; i++)
        size += strlen(lists->items[i]) + 1;
    *keys = (search_keys){.text = alloc_array(size, 1)};
    char *at = keys->text;
    for (size_t i = 0; i < lists->count; i++) {
        char *rest = at;
        at = stpcpy(at, lists->items[i]) + 1;
        while (rest && status == EXIT_DONE)
            status = add_key(keys, strsep(&rest, ","), option);
    }
    return status;
}

void search_free_keys(search_keys *keys)
{
    free(keys->text);
}

/* ---- keys of the recording ---- */

/* Names, each once. */
typedef struct name_set {
    char **names;
    size_t count, capacity;
} name_set;

static int is_in(const name_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->names[i], name) == 0)
            return 1;
    return 0;
}

static void add_name(name_set *set, const char *name)
{
    if (is_in(set, name))
        return;
    set->names = alloc_grow(set->names, &set->capacity, set->count, sizeof *set->names);
    set->names[set->count++] = alloc_text(name);
}

static void free_names(name_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
}

static lode_status read_batch(name_set *set, const rec_session *s, uint32_t first, uint32_t count,
                              lode_error *error)
{
    uint32_t tracks[BATCH_SIZE];
    lode_search_options settings = LODE_SEARCH_OPTIONS_INIT;
    lode_search *search = NULL;
    for (uint32_t i = 0; i < count; i++)
        tracks[i] = first + i;
    settings.tracks = tracks;
    settings.track_count = count;
    settings.threads = rec_threads(s);
    lode_status status = lode_search_run(&search, s->recording, &settings, error);
    for (size_t i = 0; status == LODE_OK && i < lode_search_count(search); i++) {
        const lode_search_row *row = lode_search_at(search, i);
        for (size_t j = 0; j < row->value_count; j++)
            add_name(set, row->values[j].key);
    }
    lode_search_free(search);
    return status;
}

/* The attributes of all outermost calls, whatever was searched for. */
static lode_status read_names(name_set *set, const rec_session *s, lode_error *error)
{
    uint32_t count = lode_recording_track_count(s->recording);
    lode_status status = LODE_OK;
    for (uint32_t first = 0; first < count && status == LODE_OK; first += BATCH_SIZE) {
        uint32_t rest = count - first;
        status = read_batch(set, s, first, rest < BATCH_SIZE ? rest : BATCH_SIZE, error);
    }
    return status;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* "a, b and 3 more" */
static void list_names(char text[SHOWN_SIZE], const name_set *set)
{
    size_t used = 0, i = 0;
    for (; i < set->count; i++) {
        size_t length = strlen(set->names[i]);
        if (used + length + sizeof ", and 18446744073709551615 more" > SHOWN_SIZE)
            break;
        used += (size_t)snprintf(text + used, SHOWN_SIZE - used, "%s%s", i ? ", " : "", set->names[i]);
    }
    if (i < set->count)
        (void)snprintf(text + used, SHOWN_SIZE - used, " and %zu more", set->count - i);
}

static int report_unknown(const rec_session *s, const char *key, name_set *set)
{
    char known[SHOWN_SIZE] = "";
    if (set->count == 0)
        return report("%s: no outermost call has attributes, so --by cannot group by '%s'", s->path, key);
    qsort(set->names, set->count, sizeof *set->names, compare_names);
    list_names(known, set);
    const char *meant = suggest(key, (const char *const *)set->names, set->count);
    return report("%s: no outermost call has the attribute '%s'%s%s%s; there are %s", s->path, key,
                  meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "", known);
}

/* ---- both ---- */

const char *search_value(const lode_search_row *row, const char *key)
{
    for (size_t i = 0; i < row->value_count; i++)
        if (strcmp(row->values[i].key, key) == 0)
            return row->values[i].value;
    return NULL;
}

int search_has_key(const void *search, const search_keys *keys, size_t key)
{
    for (size_t i = 0; i < lode_search_count(search); i++)
        if (search_value(lode_search_at(search, i), keys->names[key]))
            return 1;
    return 0;
}

int search_check_keys(rec_session *s, const void *found, search_has_key_fn *has_key, const search_keys *keys)
{
    name_set set = {0};
    lode_error error = {0};
    int status = EXIT_DONE, is_read = 0;
    for (size_t i = 0; i < keys->count && status == EXIT_DONE; i++) {
        if (has_key(found, keys, i))
            continue;
        if (!is_read && read_names(&set, s, &error) != LODE_OK)
            status = rec_error(s, &error);
        else if (!is_in(&set, keys->names[i]))
            status = report_unknown(s, keys->names[i], &set);
        is_read = 1;
    }
    free_names(&set);
    return status;
}
