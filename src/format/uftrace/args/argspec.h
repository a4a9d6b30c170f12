/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parsers and users of argument specifications. */
#ifndef LODE_UFTRACE_ARGSPEC_H
#define LODE_UFTRACE_ARGSPEC_H

#include "base/memory/map.h"
#include "format/uftrace/args/args.h"
#include "format/uftrace/text.h"
#include "model/recording/argument.h"
#include <pthread.h>

/* An enumeration that a value refers to. Without a definition, it has no enumerators. */
struct lode_uft_enum {
    struct lode_enumeration type;
    const char *name;
    bool is_defined;
    uint32_t older; /* the next one of the same hash, + 1; 0: none */
};

struct lode_uft_value {
    lode_value_kind kind;
    uint16_t size;  /* bytes; TEXT: 0, the payload has the length */
    uint16_t index; /* of the argument, from 1 on; 0: the result */
    bool is_float;  /* floating-point arguments are counted separately */
    bool is_exact;  /* the function was named exactly, not by a pattern */
    const char *label;
    const struct lode_uft_enum *enumeration;
};

struct lode_uft_spec {
    uint32_t count;
    struct lode_uft_value values[];
};

/* More than any function has, and than a record can hold. */
enum {
    UFT_SPEC_VALUES_MAX = 128,
    UFT_PAYLOAD_MAX = 1024
};

/* Values under construction. */
struct lode_uft_values {
    struct lode_uft_value items[UFT_SPEC_VALUES_MAX];
    uint32_t count;
};

/* Adds a value, or overrides the same argument, unless that was named exactly and this was not. */
bool lode_uft_values_add(struct lode_uft_values *values, const struct lode_uft_value *value);
/* A copy; NULL if out of memory. */
const struct lode_uft_spec *lode_uft_values_keep(const struct lode_uft_values *values,
                                                 struct lode_arena *arena);

/* Which values of a list of actions to read. */
enum lode_uft_side {
    UFT_SIDE_ARGUMENTS,
    UFT_SIDE_RESULT,
    UFT_SIDE_BOTH
};

/* An action of a specification, such as "arg1/i32", "retval" or "libm.so". */
enum lode_uft_action {
    UFT_ACTION_VALUE,
    UFT_ACTION_MODULE,
    UFT_ACTION_OTHER, /* does not affect payloads */
    UFT_ACTION_BAD,
    UFT_ACTION_NO_MEMORY
};

/* Parses a comma-separated list. UFT_ACTION_VALUE on success; `module` is empty if absent. */
enum lode_uft_action lode_uft_actions_parse(struct lode_uft_specs *specs, struct lode_arena *arena,
                                            struct uft_text text, enum lode_uft_side side, bool is_exact,
                                            struct lode_uft_values *values, struct uft_text *module);

/* As lode_uft_spec_parse; LODE_ERR_CORRUPT if it is malformed. */
lode_status lode_uft_spec_read(struct lode_uft_specs *specs, struct lode_arena *arena, struct uft_text text,
                               const struct lode_uft_spec **out);

/* The newest enumeration of a name, or a new undefined one. NULL if out of memory. */
const struct lode_uft_enum *lode_uft_enum_find(struct lode_uft_specs *specs, struct lode_arena *arena,
                                               struct uft_text name);
/* Parses "enum NAME { A, B = 4, }; ...". LODE_ERR_CORRUPT if one is malformed: others are kept. */
lode_status lode_uft_enums_parse(struct lode_uft_specs *specs, struct lode_arena *arena,
                                 struct uft_text text);

/* A compiled pattern. Its size and the length of the name bound the time of a match. */
struct lode_uft_pattern;

/* LODE_ERR_CORRUPT: malformed. LODE_ERR_LIMIT: too large. `budget` counts down. MT: any thread. */
lode_status lode_uft_pattern_compile(const struct lode_uft_pattern **out, struct lode_arena *arena,
                                     struct uft_text text, bool is_glob, size_t *budget);
bool lode_uft_pattern_matches(const struct lode_uft_pattern *pattern, const char *name, size_t length);

/* Values of all functions that a pattern matches. */
struct lode_uft_function_spec {
    const char *name;                       /* the function; NULL: `pattern` applies */
    const struct lode_uft_pattern *pattern; /* or NULL */
    const char *module;                     /* prefix of the module's name; NULL: any */
    const struct lode_uft_spec *spec;
    uint32_t next; /* the next one of the same hash, + 1; 0: none */
};

/* One line of the info file. */
struct lode_uft_function_specs {
    struct lode_uft_function_spec *items; /* in the order of the line */
    uint32_t count;
    struct lode_map by_name; /* from a hash of the name to the first rule */
    uint32_t *patterns;      /* indices of rules with patterns, rising */
    uint32_t pattern_count;
};

enum lode_uft_specs_kind {
    UFT_SPECS_ARGUMENTS,
    UFT_SPECS_RESULTS,
    UFT_SPECS_AUTO_ARGUMENTS,
    UFT_SPECS_AUTO_RESULTS,
    UFT_SPECS_KINDS
};

/* The combined values of several rules, cached by the set of these rules. */
struct lode_uft_merged {
    pthread_mutex_t lock;
    struct lode_arena arena;
    struct lode_map index; /* from a hash of the set to the newest of `items`, + 1 */
    struct lode_array items;
};

struct lode_uft_specs {
    struct lode_uft_function_specs rules[UFT_SPECS_KINDS];
    struct lode_uft_merged *merged;
    struct lode_map enum_index; /* from a hash of the name to the newest of `enums`, + 1 */
    struct lode_array enums;    /* of const struct lode_uft_enum * */
    unsigned word;
    bool big_endian;
};

#endif
