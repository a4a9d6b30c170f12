/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where instructions are: in which function, loop, inlined call and line. A question is a load
 * module with the offsets that were measured in it. Providers, such as structure files, answer with
 * what they know of its code. They are asked one after the other, and the first answer counts: for
 * an offset or, if the answer is complete, for the module.
 *
 * Of an answer, only the scopes of these offsets are kept, as chains of frames. Nothing of a
 * provider is needed after its call.
 */
#ifndef LODE_FORMAT_HPCRUN_SCOPES_H
#define LODE_FORMAT_HPCRUN_SCOPES_H

#include "format/hpcrun/scopes/structure.h"
#include "model/database/tree.h"
#include <lode/build.h>

/* A load module, as in load maps. */
struct hpcrun_module_key {
    uint32_t path;      /* a string */
    uint32_t directory; /* measurements that a relative path is below; or LODE_NONE */
};

struct hpcrun_question {
    const char *path;      /* of the load module, as measured */
    const char *directory; /* the measurements that its path is relative to; NULL: absolute */
    uint32_t key;          /* the second part of the module's key */
    uint64_t *offsets;     /* rising */
    bool *inferred;        /* by offset: its callers were not unwound */
    uint32_t *chains;      /* by offset; LODE_NO_NUMBER: no answer yet */
    uint32_t *routes;      /* by offset: a list of routes; or LODE_NO_NUMBER */
    uint32_t count;
    bool is_complete; /* no more answers are wanted */
};

/* What a provider knows of a module. It is needed during the call only. */
struct hpcrun_answer {
    const struct hpcstruct_module *code;
    const char *module; /* a name of its functions' module; NULL: that of the question */
    bool is_complete;   /* offsets outside its ranges are in no known function */
    bool hides_points;  /* offsets are not addresses, and no contexts */
};

/* A function, by identity: equal ones that are inlined at two places are two. */
struct hpcrun_function {
    uint64_t address;
    uint32_t name, file; /* strings, or LODE_NO_NUMBER */
    uint32_t line;
    uint32_t question;      /* number of its module; LODE_NO_NUMBER: a placeholder */
    uint32_t module;        /* a string, instead of that of the question; or LODE_NO_NUMBER */
    uint32_t answer, scope; /* what distinguishes it; of a placeholder, the halves of its code */
};

/* Frames of the scopes that a point is in, outermost first; the first one has relation call. */
struct hpcrun_chain {
    uint32_t first, count; /* in `links` */
    bool hides_point;
};

/* How execution can reach an offset whose callers were not unwound. */
struct hpcrun_route {
    uint32_t entry;        /* frame of the function that is called first */
    uint32_t first, count; /* in `route_calls`, outermost first */
};

struct hpcrun_route_call {
    uint64_t offset;
    uint32_t chain;
};

struct hpcrun_route_list {
    uint32_t first, count; /* in `routes` */
};

/*
 * The frames of chains. `function` is a number in `functions`, `file` in `strings`, and `module` is
 * the number of a question. An unknown scope has the kind of functions and no function.
 */
struct hpcrun_scopes {
    /* Takes answers instead: they are for another rank. NULL: they are kept here. */
    lode_status (*on_answer)(void *user, uint32_t question, const struct hpcrun_answer *answer,
                             lode_error *error);
    void *user;
    struct lode_array questions; /* struct hpcrun_question */
    struct lode_strings strings;
    struct lode_array functions; /* struct hpcrun_function */
    struct lode_interner function_keys;
    struct lode_interner frames;   /* struct lode_frame */
    struct lode_array links;       /* uint32_t: frames */
    struct lode_array chains;      /* struct hpcrun_chain; the first is empty */
    struct lode_array routes;      /* struct hpcrun_route */
    struct lode_array route_calls; /* struct hpcrun_route_call */
    struct lode_array route_lists; /* struct hpcrun_route_list */
    uint32_t answers;
};

void lode_hpcrun_scopes_init(struct hpcrun_scopes *scopes);
void lode_hpcrun_scopes_free(struct hpcrun_scopes *scopes);
/* Copies the offsets, which rise, and flags. False if out of memory. Numbers are 0, 1, 2... */
bool lode_hpcrun_scopes_ask(struct hpcrun_scopes *scopes, const char *path, const char *directory,
                            const uint64_t *offsets, const bool *inferred, uint32_t count);

/* The function of a placeholder; LODE_NO_NUMBER if out of memory. */
uint32_t lode_hpcrun_scopes_placeholder(struct hpcrun_scopes *scopes, uint64_t code);

struct binary_helper;
struct binary_cache;

/* How files of load modules are found, and who reads them. */
struct hpcrun_binaries {
    const char *program;             /* the path of lode-symbols; NULL: binaries are not read */
    struct binary_helper *helper;    /* the same, as a process */
    struct binary_cache *cache;      /* what it said; may be NULL */
    const char *const *replacements; /* "FROM=TO"; see lode_replace_prefix */
    size_t replacement_count;
    bool foreign;             /* use files below the measurements only */
    bool has_loops;           /* code is analysed */
    uint64_t debug_size_most; /* of files with debug information; 0: 100 MiB */
};

/* What providers are given besides the questions. */
struct hpcrun_asking {
    const char *const *directories; /* all measurements that are directories */
    size_t directory_count;
    const lode_build_options *options;
    struct lode_report *report; /* for damaged files, which end nothing */
    struct hpcrun_binaries binaries;
};

/* Answers questions of `scopes` by lode_hpcrun_answer. Files that are missing are no answer. */
typedef lode_status (*hpcrun_provider_fn)(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                          lode_error *error);
lode_status lode_hpcrun_ask_logical(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                    lode_error *error);
lode_status lode_hpcrun_ask_kernels(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                    lode_error *error);
lode_status lode_hpcrun_ask_binaries(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                     lode_error *error);
lode_status lode_hpcrun_ask_structures(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                       lode_error *error);
/* Asks all providers, in their order: the list is in scopes.c. */
lode_status lode_hpcrun_ask_all(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                lode_error *error);

/* A structure file: of measurements, or that the caller named. */
struct hpcrun_structure_file {
    const char *directory; /* of the measurements; NULL: `name` is a path */
    const char *name;
    uint64_t size;
};

/* All structure files; names are kept in the arena. A file that the caller named may be missing. */
lode_status lode_hpcrun_list_structures(const struct hpcrun_asking *asking, struct lode_arena *arena,
                                        struct lode_array *files, lode_error *error);
/* Asks one of them, or the binary of one question. LODE_ABSENT: there is no such file. */
lode_status lode_hpcrun_ask_structure(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                      const struct hpcrun_structure_file *file, lode_error *error);
lode_status lode_hpcrun_ask_binary(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                   uint32_t question, lode_error *error);
/* The size of the binary that lode_hpcrun_ask_binary would read; 0: none. */
uint64_t lode_hpcrun_binary_size(const struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                 uint32_t question);

/* Answers the question of this number. */
lode_status lode_hpcrun_answer(struct hpcrun_scopes *scopes, uint32_t question,
                               const struct hpcrun_answer *answer, lode_error *error);

#endif
