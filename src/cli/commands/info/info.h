/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of what a database holds, for `lode info`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "command.h"
#include "stores/session.h"

#include <lode/unstable.h>

enum {
    INFO_ENTRIES,
    INFO_FUNCTIONS,
    INFO_LOOPS,
    INFO_LINES,
    INFO_INSTRUCTIONS,
    INFO_OTHERS,
    INFO_KIND_COUNT
};

/* The ids of one kind over all profiles. */
typedef struct info_ids {
    unsigned kind;
    size_t distinct;
    uint32_t min, max; /* logical numbers */
} info_ids;

typedef struct info_facts {
    uint32_t contexts[INFO_KIND_COUNT];
    uint32_t context_count; /* without the global one */
    uint32_t inlined, depth, copied_files;
    uint32_t profiles, empty_profiles; /* without summaries */
    uint64_t values, summary_values;
    info_ids *ids;
    size_t id_count;
    uint32_t trace_lines, empty_lines;
    uint64_t samples, trace_min, trace_max;
} info_facts;

/* Costs O(contexts + profiles + trace lines). */
lode_status info_gather(info_facts *facts, const lode_database *db, lode_error *error);
void info_free(info_facts *facts);

/* Whether a list "a, b, c" has an item. */
int info_list_has(const char *list, const char *item);

/* JSON: the fingerprint of the store at a path; nothing if its files cannot be read. */
void info_json_fingerprint(out *o, const char *path);

/* Of measurements. EXIT_DONE, or EXIT_TROUBLE after a message. */
int info_measurements(const invocation *call, int is_verbose);

/* Derived metrics. EXIT_DONE, or EXIT_TROUBLE after a message. */
int info_open_derived(session *s, lode_derived_list **list);
/* Text: those with a value, or all. */
void info_say_derived(out *o, const session *s, const lode_derived_list *list, int is_verbose);
void info_json_derived(out *o, const session *s, const lode_derived_list *list);

#endif
