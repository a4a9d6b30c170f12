/* SPDX-License-Identifier: BSD-3-Clause */
/* uftrace recordings: the data of an open recording. */
#ifndef LODE_FORMAT_UFTRACE_H
#define LODE_FORMAT_UFTRACE_H

#include "base/io/input.h"
#include "base/memory/map.h"
#include "format/format.h"
#include "format/uftrace/args/args.h"
#include "format/uftrace/args/debug.h"
#include "format/uftrace/perf.h"
#include "format/uftrace/rules.h"
#include "model/recording/recording.h"
#include <pthread.h>

extern const struct lode_format lode_format_uftrace;
extern const struct lode_recording_sink_ops lode_uft_sink;
lode_status lode_uft_example(const char *path, lode_error *error);
lode_status lode_uft_synth(const char *path, const lode_synth_recording_options *options, lode_error *error);

/* feat_mask */
enum {
    UFT_FEATURE_PLT = 1 << 0,
    UFT_FEATURE_TASKS = 1 << 1,
    UFT_FEATURE_KERNEL = 1 << 2,
    UFT_FEATURE_ARGUMENTS = 1 << 3,
    UFT_FEATURE_RESULTS = 1 << 4,
    UFT_FEATURE_RELATIVE = 1 << 5, /* symbols are offsets in their module */
    UFT_FEATURE_MAX_STACK = 1 << 6,
    UFT_FEATURE_EVENTS = 1 << 7,
    UFT_FEATURE_PERF = 1 << 8,
    UFT_FEATURE_AUTO_ARGUMENTS = 1 << 9,
    UFT_FEATURE_DEBUG = 1 << 10,
    UFT_FEATURE_ESTIMATED = 1 << 11, /* times of exits are estimates */
    UFT_FEATURE_SYMBOL_SIZES = 1 << 12,
    UFT_FEATURE_CALL_SITES = 1 << 13,
    UFT_FEATURES_KNOWN = (1 << 14) - 1
};

/* info_mask: the lines after the header, in this order. */
enum {
    UFT_LINE_EXE,
    UFT_LINE_BUILD_ID,
    UFT_LINE_EXIT,
    UFT_LINE_COMMAND,
    UFT_LINE_CPU,
    UFT_LINE_MEMORY,
    UFT_LINE_OS,
    UFT_LINE_TASKS,
    UFT_LINE_USAGE,
    UFT_LINE_LOAD,
    UFT_LINE_ARGUMENTS,
    UFT_LINE_DATE,
    UFT_LINE_PATTERN,
    UFT_LINE_VERSION,
    UFT_LINE_UTC_OFFSET,
    UFT_LINE_SYSCTL,
    UFT_INFO_KNOWN
};

#define UFT_HEADER_SIZE 40
#define UFT_RECORD_SIZE 16

struct uft_info {
    uint32_t version;
    uint16_t header_size;
    uint16_t max_stack; /* 1024 if not specified */
    uint64_t features, lines;
    bool big_endian;
    unsigned word;          /* bytes of an address: 4 or 8 */
    struct lode_range text; /* all lines after the header */
    int32_t *tids;          /* in the order of the file */
    uint32_t tid_count;
    struct lode_uft_spec_strings specs;
};

/* A symbol of a module. Names are in the file's text, not terminated. */
struct uft_symbol {
    uint64_t address; /* offset in the module */
    uint32_t size;
    uint32_t name_length;
    const char *name;
    char type; /* as in nm; P: a PLT slot */
};

struct uft_symbols {
    struct lode_input source;
    struct uft_symbol *items; /* by rising address */
    uint32_t count;
    const char *file; /* its name; NULL: there is none */
};

/* A module and its symbols; parallel to the recording's list of modules. */
struct uft_module {
    const lode_module *module;
    const char *build_id; /* "" if it is not known */
    struct uft_symbols symbols;
    const char *debug_file; /* name of the .dbg file; NULL: there is none */
    struct lode_input debug_source;
    struct lode_uft_debug debug;
};

/* A mapped module. */
struct uft_map {
    uint64_t start, end;
    uint32_t module;
};

/* A program image: the modules that are mapped. */
struct uft_session {
    const char *id; /* as in task.txt */
    const char *program;
    int32_t pid;
    uint32_t group; /* the first session with this id */
    uint64_t time;
    struct uft_map *maps; /* by rising start */
    uint32_t map_count;
    uint64_t kernel_base; /* 0: not known */
};

/* A library that was loaded while the program ran. */
struct uft_dlopen {
    uint64_t time, base;
    uint32_t group; /* of the sessions that it is loaded in; LODE_NO_INDEX: not known */
    uint32_t module;
    int32_t tid;
};

/* Parallel to lode_track. */
struct uft_task {
    const char *file; /* name of the data file; NULL: there is none */
    uint64_t time;    /* of its first TASK line; 0: none */
    int32_t parent;   /* pid that forked it, or 0 */
    bool is_forked;
    const struct lode_uft_perf_thread *perf; /* or NULL */
    /* Session i of its process applies from times[i] on; before, `inherited`, or else the first. */
    const uint32_t *sessions;
    const uint64_t *times;
    uint32_t session_count;
    uint32_t inherited; /* from the process that forked it; LODE_NO_INDEX: none */
};

/* A function, and the values of its records. */
struct uft_function {
    struct lode_function function;
    const struct lode_uft_spec *arguments, *result; /* or NULL */
    char type;                                      /* of the symbol; 0: there is none */
    bool is_jump;                                   /* longjmp and its like */
};

/* Addresses that a closed cursor resolved, for cursors that are opened later. */
struct uft_shared {
    pthread_mutex_t lock; /* protects the fields below */
    const struct uft_session *session;
    uint64_t epoch_end;
    struct uft_known *cache; /* NULL: nothing yet */
    uint32_t cache_lines;
};

struct uft_recording {
    struct lode_recording base;
    struct lode_folder folder; /* a duplicate of the caller's */
    struct uft_info info;
    struct lode_input info_source;
    struct lode_uft_specs *specs;
    struct uft_module *modules;
    struct uft_session *sessions;
    uint32_t session_count;
    struct uft_dlopen *dlopens; /* chronological */
    uint32_t *dlopens_by_group; /* indices of them: by (group, time) */
    uint32_t *dlopens_by_base;  /* and by (group, base, time) */
    uint32_t dlopen_count;
    struct uft_task *tasks; /* by track */
    struct lode_uft_perf perf;
    /* Names of user events, from events.txt: (id, name), by rising id. */
    struct uft_event_name {
        uint64_t id;
        const char *name;
    } * event_names;
    uint32_t event_name_count;
    const lode_function *scheduled_out, *preempted;
    struct lode_map file_index; /* source files, by hash of path; the functions' lock protects it */
    struct lode_array files;    /* const lode_file * */
    struct uft_shared *shared;  /* by cursors */
    bool is_qemu;               /* written by the QEMU plug-in: exits may be one level less deep */
};

static inline const struct uft_recording *uft_of(const lode_recording *recording)
{
    return (const struct uft_recording *)recording;
}

#endif
