/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands print of recordings. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "command.h"
#include "commands/shared/plots.h"
#include "commands/top/list.h"
#include "stores/rec_session.h"

/* `lode info` on recordings. */
int info_recording(const invocation *call, int is_verbose);

/* `lode profiles` on recordings: what each task took. */
int profiles_recording(const invocation *call, const plot_options *plot);

/* `asked` is what was searched for. rec_find_interval comes first. */
void search_print(out *o, rec_session *s, const lode_search *search, const lode_search_options *asked);

/* The heading of an answer: how many requests were found, and by what. */
void search_heading(out *o, const rec_session *s, uint64_t found, const lode_search_options *asked);

/* `lode search` on databases: things by name. */
int search_database(const invocation *call);

/* What --by names: attributes of outermost calls. */
typedef struct search_keys {
    char *text; /* that the names are parts of */
    const char *names[LODE_SEARCH_VALUES];
    size_t count;
} search_keys;

/*
 * Splits lists at commas. EXIT_DONE, or EXIT_TROUBLE after a message; search_free_keys is due in
 * both cases.
 */
int search_parse_keys(search_keys *keys, const text_list *lists, const char *option);
void search_free_keys(search_keys *keys);
/* The value of an attribute in a row; NULL: it has none. */
const char *search_value(const lode_search_row *row, const char *key);
/* Whether something that was found has a key, by its index. */
typedef int search_has_key_fn(const void *found, const search_keys *keys, size_t key);
search_has_key_fn search_has_key; /* of a lode_search */
/*
 * EXIT_TROUBLE after a message if neither what was found nor any outermost call of the whole
 * recording has one of the keys.
 */
int search_check_keys(rec_session *s, const void *found, search_has_key_fn *has_key, const search_keys *keys);

/* Requests in groups by the values of attributes, the groups with the most time first. */
void search_groups(out *o, rec_session *s, const lode_search *search, const search_keys *keys,
                   uint64_t limit);

/* Requests by start and duration: intervals, and what was found in them. */
#define SEARCH_COLUMNS_MAX 10000
unsigned search_density_columns(const out *o, uint64_t asked);
void search_density(out *o, rec_session *s, const lode_density *density);

/* `lode top` on recordings: what functions took, and what their callers and callees did. */
typedef struct top_settings {
    lode_calls_sort sort;
    const char *callers, *callees; /* of a function; NULL: not asked for */
    int is_by_symbol;              /* functions of one name have rows of their own */
    const lode_filter *filter;
    const lode_kind_rules *kinds; /* NULL: none */
} top_settings;

/* Below rows: how many of them add up functions of several load modules, if any does. */
void say_several_modules(out *o, size_t rows);
int top_recording(const invocation *call, const top_settings *settings);
/* The same by kind of function, or which rule decides about functions. */
int top_kinds(const invocation *call, lode_hotspot_sort sort, top_list *list);

#endif
