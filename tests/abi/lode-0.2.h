/* SPDX-License-Identifier: BSD-3-Clause */
/* The stable headers of version 0.2 by tests/tools/freeze.py. Never edited. */
/* ---- status.h ---- */
#ifndef LODE_STATUS_H
#define LODE_STATUS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#define LODE_BEGIN_DECLS extern "C" {
#define LODE_END_DECLS   }
#else
#define LODE_BEGIN_DECLS
#define LODE_END_DECLS
#endif
#if defined(__GNUC__)
#define LODE_API     __attribute__((visibility("default")))
#define LODE_CHECKED __attribute__((warn_unused_result))
#else
#define LODE_API
#define LODE_CHECKED
#endif
LODE_BEGIN_DECLS
typedef enum lode_status {
    LODE_OK = 0,
    LODE_END = 1,
    LODE_NOT_FOUND = 2,
    LODE_ABSENT = 3,
    LODE_ERR_ARGUMENT = -1,
    LODE_ERR_MEMORY = -2,
    LODE_ERR_IO = -3,
    LODE_ERR_CORRUPT = -4,
    LODE_ERR_UNSUPPORTED = -5,
    LODE_ERR_LIMIT = -6,
    LODE_ERR_CANCELLED = -7
} lode_status;
#define LODE_NO_OFFSET UINT64_MAX
typedef struct lode_error {
    lode_status status;
    int os_errno;
    uint64_t offset;
    char file[96];
    char text[416];
} lode_error;
LODE_API size_t lode_error_text(const lode_error *error, char *buffer, size_t capacity);
LODE_API const char *lode_status_name(lode_status status);
#define LODE_VERSION_MAJOR  0
#define LODE_VERSION_MINOR  2
#define LODE_VERSION_PATCH  0
#define LODE_VERSION_NUMBER (LODE_VERSION_MAJOR * 10000 + LODE_VERSION_MINOR * 100 + LODE_VERSION_PATCH)
LODE_API const char *lode_version(void);
typedef int (*lode_progress_fn)(void *user, const char *phase, uint64_t done, uint64_t total);
LODE_END_DECLS
#endif
/* ---- database.h ---- */
#ifndef LODE_DATABASE_H
#define LODE_DATABASE_H
#include <stddef.h>
LODE_BEGIN_DECLS
typedef struct lode_database lode_database;
typedef enum lode_part {
    LODE_PART_META,
    LODE_PART_PROFILE,
    LODE_PART_CONTEXT,
    LODE_PART_TRACE
} lode_part;
#define LODE_PART_COUNT 4
typedef struct lode_memory_file {
    const char *name;
    const void *data;
    size_t size;
} lode_memory_file;
LODE_API LODE_CHECKED lode_status lode_database_open(lode_database **out, const char *path,
                                                     lode_error *error);
LODE_API LODE_CHECKED lode_status lode_database_open_memory(lode_database **out,
                                                            const lode_memory_file *files, size_t file_count,
                                                            lode_error *error);
LODE_API void lode_database_close(lode_database *db);
LODE_API const char *lode_database_format(const lode_database *db);
LODE_API void lode_database_version(const lode_database *db, lode_part part, unsigned *major,
                                    unsigned *minor);
LODE_API const char *lode_database_title(const lode_database *db);
LODE_API const char *lode_database_description(const lode_database *db);
LODE_API int lode_database_has(const lode_database *db, lode_part part);
LODE_API uint64_t lode_database_part_size(const lode_database *db, lode_part part);
LODE_API const char *lode_database_part_file(const lode_database *db, lode_part part);
LODE_END_DECLS
#endif
/* ---- block.h ---- */
#ifndef LODE_BLOCK_H
#define LODE_BLOCK_H
LODE_BEGIN_DECLS
#ifdef LODE_INTERNAL
#include "model/views.h"
#else
typedef struct lode_block {
    uint64_t opaque[6];
} lode_block;
#endif
typedef struct lode_group {
    uint32_t key;
    uint64_t first;
    uint64_t count;
} lode_group;
typedef struct lode_value {
    uint32_t key;
    double value;
} lode_value;
LODE_API LODE_CHECKED lode_status lode_profile_block(const lode_database *db, uint32_t profile,
                                                     lode_block *out, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_context_block(const lode_database *db, uint32_t context_id,
                                                     lode_block *out, lode_error *error);
LODE_API uint32_t lode_database_context_block_count(const lode_database *db);
LODE_API uint64_t lode_block_value_count(const lode_block *block);
LODE_API uint32_t lode_block_group_count(const lode_block *block);
LODE_API LODE_CHECKED lode_status lode_block_group(const lode_block *block, uint32_t index, lode_group *out,
                                                   lode_error *error);
LODE_API LODE_CHECKED lode_status lode_block_find(const lode_block *block, uint32_t key, lode_group *out,
                                                  lode_error *error);
LODE_API LODE_CHECKED lode_status lode_block_read(const lode_block *block, uint64_t first, uint64_t count,
                                                  lode_value *out);
LODE_API LODE_CHECKED lode_status lode_block_view(const lode_block *block, const void **bytes, size_t *stride,
                                                  size_t *key_size, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_block_groups_view(const lode_block *block, const void **bytes,
                                                         size_t *stride, size_t *key_size, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_block_lookup(const lode_block *block, uint32_t group_key,
                                                    uint32_t value_key, double *out, lode_error *error);
LODE_END_DECLS
#endif
/* ---- pool.h ---- */
#ifndef LODE_POOL_H
#define LODE_POOL_H
LODE_BEGIN_DECLS
typedef struct lode_comm lode_comm;
typedef struct lode_pool lode_pool;
LODE_API LODE_CHECKED lode_status lode_pool_create(lode_pool **out, unsigned threads, lode_error *error);
LODE_API void lode_pool_free(lode_pool *pool);
LODE_API unsigned lode_pool_size(const lode_pool *pool);
LODE_END_DECLS
#endif
/* ---- check.h ---- */
#ifndef LODE_CHECK_H
#define LODE_CHECK_H
LODE_BEGIN_DECLS
typedef enum lode_severity {
    LODE_NOTE,
    LODE_WARNING,
    LODE_ERROR
} lode_severity;
typedef enum lode_check_level {
    LODE_CHECK_QUICK,
    LODE_CHECK_STRUCTURE,
    LODE_CHECK_FULL
} lode_check_level;
typedef struct lode_finding {
    const char *rule;
    lode_severity severity;
    const char *file;
    uint64_t offset;
    const char *text;
} lode_finding;
typedef int (*lode_finding_fn)(void *user, const lode_finding *finding);
typedef struct lode_check_options {
    size_t size;
    lode_check_level level;
    unsigned threads;
    uint64_t limit_per_rule;
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool;
    uint64_t most_bytes;
} lode_check_options;
#define LODE_CHECK_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_check_options), LODE_CHECK_STRUCTURE, 0, 20, NULL, NULL, NULL, NULL, 0                   \
    }
typedef struct lode_check_result {
    uint64_t errors, warnings, notes;
    uint64_t suppressed;
    uint64_t contexts, profiles, values, samples;
    uint64_t tracks, events;
    int has_requests;
    uint64_t level;
} lode_check_result;
LODE_API LODE_CHECKED lode_status lode_check(const char *path, const lode_check_options *options,
                                             lode_check_result *result, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_check_memory(const lode_memory_file *files, size_t file_count,
                                                    const lode_check_options *options,
                                                    lode_check_result *result, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_database_check_sized(const lode_database *db, const char *path,
                                                            const lode_check_options *options,
                                                            lode_check_result *result, size_t result_size,
                                                            lode_error *error);
#define lode_database_check(db, path, options, result, error)                                                \
    lode_database_check_sized(db, path, options, result, sizeof(lode_check_result), error)
LODE_API LODE_CHECKED lode_status lode_check_sized(const char *path, const lode_check_options *options,
                                                   lode_check_result *result, size_t result_size,
                                                   lode_error *error);
LODE_API LODE_CHECKED lode_status lode_check_memory_sized(const lode_memory_file *files, size_t file_count,
                                                          const lode_check_options *options,
                                                          lode_check_result *result, size_t result_size,
                                                          lode_error *error);
#define lode_check(path, options, result, error)                                                             \
    lode_check_sized(path, options, result, sizeof(lode_check_result), error)
#define lode_check_memory(files, file_count, options, result, error)                                         \
    lode_check_memory_sized(files, file_count, options, result, sizeof(lode_check_result), error)
typedef struct lode_rule {
    const char *id;
    lode_severity severity;
    lode_check_level level;
    const char *summary;
} lode_rule;
LODE_API size_t lode_rule_count(void);
LODE_API const lode_rule *lode_rule_at(size_t index);
LODE_API const char *lode_severity_name(lode_severity severity);
LODE_API const char *lode_check_level_name(lode_check_level level);
LODE_END_DECLS
#endif
/* ---- build.h ---- */
#ifndef LODE_BUILD_H
#define LODE_BUILD_H
#include <stddef.h>
LODE_BEGIN_DECLS
#define LODE_TRACE_FULL 0
#define LODE_TRACE_NONE UINT64_MAX
enum {
    LODE_STATISTIC_SUM = 1,
    LODE_STATISTIC_MEAN = 2,
    LODE_STATISTIC_STDDEV = 4,
    LODE_STATISTIC_CFVAR = 8,
    LODE_STATISTIC_MIN = 16,
    LODE_STATISTIC_MAX = 32,
    LODE_STATISTIC_NONE = 64
};
typedef struct lode_build_options {
    size_t size;
    int force;
    int strict;
    unsigned threads;
    uint64_t memory;
    uint64_t trace;
    const char *rank_pattern, *rank_table;
    const char *title;
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    lode_comm *comm;
    uint32_t local_ranks;
    int joint;
    int per_thread;
    lode_pool *pool;
    unsigned statistics;
    int ignore_structures;
    int like_hpcprof;
    const char *symbols_program;
    const char *const *replacements;
    size_t replacement_count;
    int foreign;
    uint64_t debug_size_most;
    int no_sources;
    const char *const *source_roots;
    size_t source_root_count;
    int all_sources;
} lode_build_options;
#define LODE_BUILD_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_build_options), 0, 0, 0, 0, LODE_TRACE_FULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,   \
            0, 0, 0, NULL, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0                                       \
    }
enum {
    LODE_BUILD_OPENING,
    LODE_BUILD_READING,
    LODE_BUILD_MERGING,
    LODE_BUILD_PROFILES,
    LODE_BUILD_LINES,
    LODE_BUILD_FINISHING,
    LODE_BUILD_PHASES
};
typedef struct lode_build_phase {
    double seconds;
    uint64_t messages;
    uint64_t sent_bytes, read_bytes, written_bytes;
} lode_build_phase;
typedef struct lode_build_sources {
    uint64_t from_roots, from_measurements, from_public;
    uint64_t from_anywhere;
    uint64_t absent;
    uint64_t restricted;
    uint64_t outside;
    uint64_t unfit;
} lode_build_sources;
typedef struct lode_build_result {
    uint64_t comm_size;
    uint64_t recordings, tracks, ranks, nodes;
    uint64_t events;
    uint64_t functions, contexts;
    uint64_t tree_contexts;
    uint64_t metrics;
    uint64_t rows;
    uint64_t values;
    uint64_t samples;
    uint64_t spooled_bytes;
    uint64_t rounds;
    uint64_t memory;
    lode_build_phase phases[LODE_BUILD_PHASES];
    lode_build_sources sources;
} lode_build_result;
LODE_API const char *lode_build_phase_name(unsigned phase);
LODE_API LODE_CHECKED lode_status lode_build(const char *const *paths, size_t count, const char *path,
                                             const lode_build_options *options, lode_build_result *result,
                                             lode_error *error);
LODE_API LODE_CHECKED lode_status lode_build_sized(const char *const *paths, size_t count, const char *path,
                                                   const lode_build_options *options,
                                                   lode_build_result *result, size_t result_size,
                                                   lode_error *error);
#define lode_build(paths, count, path, options, result, error)                                               \
    lode_build_sized(paths, count, path, options, result, sizeof(lode_build_result), error)
LODE_END_DECLS
#endif
/* ---- context.h ---- */
#ifndef LODE_CONTEXT_H
#define LODE_CONTEXT_H
LODE_BEGIN_DECLS
typedef struct lode_context lode_context;
typedef struct lode_function lode_function;
typedef struct lode_file lode_file;
typedef struct lode_module lode_module;
typedef enum lode_lexical {
    LODE_LEXICAL_FUNCTION = 0,
    LODE_LEXICAL_LOOP = 1,
    LODE_LEXICAL_LINE = 2,
    LODE_LEXICAL_INSTRUCTION = 3,
    LODE_LEXICAL_ENTRY = 256,
    LODE_LEXICAL_GLOBAL = 257
} lode_lexical;
typedef enum lode_relation {
    LODE_RELATION_LEXICAL = 0,
    LODE_RELATION_CALL = 1,
    LODE_RELATION_INLINED = 2
} lode_relation;
typedef enum lode_entry {
    LODE_ENTRY_UNKNOWN = 0,
    LODE_ENTRY_MAIN_THREAD = 1,
    LODE_ENTRY_APPLICATION_THREAD = 2
} lode_entry;
LODE_API const char *lode_lexical_name(int lexical);
LODE_API const char *lode_relation_name(int relation);
LODE_API const char *lode_entry_name(int entry);
LODE_API uint32_t lode_database_context_count(const lode_database *db);
LODE_API const lode_context *lode_database_root(const lode_database *db);
LODE_API const lode_context *lode_database_context_at(const lode_database *db, uint32_t index);
LODE_API const lode_context *lode_database_context(const lode_database *db, uint32_t id);
LODE_API uint32_t lode_context_id(const lode_context *context);
LODE_API uint32_t lode_context_index(const lode_context *context);
LODE_API uint32_t lode_context_depth(const lode_context *context);
LODE_API uint32_t lode_context_subtree_size(const lode_context *context);
LODE_API const lode_context *lode_context_parent(const lode_context *context);
LODE_API const lode_context *lode_context_first_child(const lode_context *context);
LODE_API const lode_context *lode_context_next_sibling(const lode_context *context);
LODE_API int lode_context_lexical(const lode_context *context);
LODE_API int lode_context_relation(const lode_context *context);
LODE_API unsigned lode_context_flags(const lode_context *context);
LODE_API unsigned lode_context_propagation(const lode_context *context);
LODE_API const lode_function *lode_context_function(const lode_context *context);
LODE_API const lode_file *lode_context_file(const lode_context *context);
LODE_API const lode_module *lode_context_module(const lode_context *context);
LODE_API uint32_t lode_context_line(const lode_context *context);
LODE_API uint64_t lode_context_offset(const lode_context *context);
LODE_API int lode_context_entry(const lode_context *context);
LODE_API const char *lode_context_entry_name(const lode_context *context);
LODE_API uint32_t lode_database_function_count(const lode_database *db);
LODE_API const lode_function *lode_database_function(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_function_index(const lode_function *function);
LODE_API const char *lode_function_name(const lode_function *function);
LODE_API const lode_module *lode_function_module(const lode_function *function);
LODE_API uint64_t lode_function_offset(const lode_function *function);
LODE_API const lode_file *lode_function_file(const lode_function *function);
LODE_API uint32_t lode_function_line(const lode_function *function);
LODE_API uint32_t lode_database_file_count(const lode_database *db);
LODE_API const lode_file *lode_database_file(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_file_index(const lode_file *file);
LODE_API const char *lode_file_path(const lode_file *file);
LODE_API int lode_file_is_copied(const lode_file *file);
LODE_API uint32_t lode_database_module_count(const lode_database *db);
LODE_API const lode_module *lode_database_module(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_module_index(const lode_module *module);
LODE_API const char *lode_module_path(const lode_module *module);
LODE_END_DECLS
#endif
/* ---- profile.h ---- */
#ifndef LODE_PROFILE_H
#define LODE_PROFILE_H
LODE_BEGIN_DECLS
typedef struct lode_id {
    unsigned kind;
    unsigned flags;
    uint32_t logical;
    uint64_t physical;
} lode_id;
#define LODE_ID_PHYSICAL 1u
LODE_API unsigned lode_database_id_kind_count(const lode_database *db);
LODE_API const char *lode_database_id_kind_name(const lode_database *db, unsigned kind);
LODE_API uint32_t lode_database_profile_count(const lode_database *db);
LODE_API LODE_CHECKED lode_status lode_profile_flags(const lode_database *db, uint32_t profile,
                                                     uint32_t *flags, lode_error *error);
LODE_API int lode_profile_is_summary(const lode_database *db, uint32_t profile);
LODE_API LODE_CHECKED lode_status lode_profile_ids(const lode_database *db, uint32_t profile, lode_id *ids,
                                                   uint32_t capacity, uint32_t *count, lode_error *error);
LODE_END_DECLS
#endif
/* ---- name.h ---- */
#ifndef LODE_NAME_H
#define LODE_NAME_H
LODE_BEGIN_DECLS
LODE_API size_t lode_demangle(const char *symbol, char *buffer, size_t capacity);
LODE_API size_t lode_simple_name(const char *symbol, char *buffer, size_t capacity);
typedef struct lode_filter lode_filter;
typedef struct lode_kind_rules lode_kind_rules;
typedef enum lode_name_form {
    LODE_NAME_FULL,
    LODE_NAME_SIMPLE,
    LODE_NAME_RAW
} lode_name_form;
LODE_API size_t lode_function_label(const lode_function *function, char *buffer, size_t capacity);
LODE_API size_t lode_context_label(const lode_context *context, char *buffer, size_t capacity);
LODE_API size_t lode_function_label_as(const lode_function *function, lode_name_form form, char *buffer,
                                       size_t capacity);
LODE_API size_t lode_context_label_as(const lode_context *context, lode_name_form form, char *buffer,
                                      size_t capacity);
LODE_API size_t lode_profile_label(const lode_database *db, uint32_t profile, char *buffer, size_t capacity);
LODE_API const char *lode_path_tail(const char *path);
LODE_END_DECLS
#endif
/* ---- recording.h ---- */
#ifndef LODE_RECORDING_H
#define LODE_RECORDING_H
LODE_BEGIN_DECLS
typedef struct lode_recording lode_recording;
typedef struct lode_recording_options {
    size_t size;
    int strict;
    lode_finding_fn on_finding;
    void *user;
    lode_progress_fn on_progress;
    unsigned threads;
} lode_recording_options;
#define LODE_RECORDING_OPTIONS_INIT                                                                          \
    {                                                                                                        \
        sizeof(lode_recording_options), 0, NULL, NULL, NULL, 0                                               \
    }
LODE_API LODE_CHECKED lode_status lode_recording_open(lode_recording **out, const char *path,
                                                      const lode_recording_options *options,
                                                      lode_error *error);
LODE_API LODE_CHECKED lode_status lode_recording_open_memory(lode_recording **out,
                                                             const lode_memory_file *files, size_t file_count,
                                                             const lode_recording_options *options,
                                                             lode_error *error);
LODE_API void lode_recording_close(lode_recording *recording);
LODE_API const char *lode_recording_format(const lode_recording *recording);
LODE_API int64_t lode_recording_utc_offset(const lode_recording *recording);
typedef struct lode_fact {
    const char *key, *value;
} lode_fact;
LODE_API size_t lode_recording_fact_count(const lode_recording *recording);
LODE_API const lode_fact *lode_recording_fact(const lode_recording *recording, size_t index);
typedef struct lode_track {
    uint32_t index;
    int32_t pid, tid;
    int32_t parent;
    const char *name;
    const char *program;
    uint64_t bytes;
    const char *id;
} lode_track;
LODE_API int lode_recording_has_requests(const lode_recording *recording);
LODE_API int lode_recording_has_sched(const lode_recording *recording);
LODE_API uint32_t lode_recording_track_count(const lode_recording *recording);
LODE_API const lode_track *lode_recording_track(const lode_recording *recording, uint32_t index);
LODE_API LODE_CHECKED lode_status lode_track_interval(const lode_recording *recording, uint32_t track,
                                                      uint64_t *begin, uint64_t *end, lode_error *error);
LODE_API uint32_t lode_recording_module_count(const lode_recording *recording);
LODE_API const lode_module *lode_recording_module(const lode_recording *recording, uint32_t index);
typedef struct lode_slice {
    size_t size;
    uint64_t from, to;
    const uint32_t *tracks;
    uint32_t track_count;
    uint32_t depth;
    uint64_t min_time;
    int no_sched;
} lode_slice;
#define LODE_SLICE_INIT                                                                                      \
    {                                                                                                        \
        sizeof(lode_slice), 0, 0, NULL, 0, 0, 0, 0                                                           \
    }
LODE_END_DECLS
#endif
/* ---- calls.h ---- */
#ifndef LODE_CALLS_H
#define LODE_CALLS_H
LODE_BEGIN_DECLS
typedef enum lode_calls_sort {
    LODE_CALLS_BY_TOTAL,
    LODE_CALLS_BY_SELF,
    LODE_CALLS_BY_CALLS,
    LODE_CALLS_BY_MEAN,
    LODE_CALLS_BY_MIN,
    LODE_CALLS_BY_MAX,
    LODE_CALLS_BY_NAME,
    LODE_CALLS_BY_ERRORS,
    LODE_CALLS_BY_P50,
    LODE_CALLS_BY_P95,
    LODE_CALLS_BY_P99
} lode_calls_sort;
typedef struct lode_calls_options {
    size_t size;
    lode_calls_sort sort;
    unsigned threads;
    int strict;
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool;
    int merge;
    lode_name_form names;
    const lode_filter *filter;
    int is_running;
} lode_calls_options;
#define LODE_CALLS_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_calls_options), LODE_CALLS_BY_TOTAL, 0, 0, NULL, NULL, NULL, NULL, 0, LODE_NAME_FULL,    \
            NULL, 0                                                                                          \
    }
typedef struct lode_call_row {
    const lode_function *function;
    uint64_t calls, total, self, min, max;
    uint64_t errors;
    double mean, deviation;
    uint64_t p50, p95, p99;
    uint32_t functions;
    uint32_t line;
    const lode_module *module;
    const lode_file *file;
} lode_call_row;
#define LODE_PERCENTILE_ERROR 0.008
typedef struct lode_track_row {
    uint32_t track;
    uint64_t calls, errors;
    uint64_t total;
    uint64_t out;
    uint64_t events, repairs;
    uint64_t begin, end;
} lode_track_row;
typedef struct lode_calls lode_calls;
LODE_API LODE_CHECKED lode_status lode_calls_compute(lode_calls **out, const lode_recording *recording,
                                                     const lode_slice *slice,
                                                     const lode_calls_options *options, lode_error *error);
LODE_API void lode_calls_free(lode_calls *calls);
LODE_API size_t lode_calls_count(const lode_calls *calls);
LODE_API const lode_call_row *lode_calls_at(const lode_calls *calls, size_t index);
LODE_API uint64_t lode_calls_percentile(const lode_calls *calls, size_t index, double q);
LODE_API size_t lode_calls_hidden(const lode_calls *calls);
LODE_API LODE_CHECKED lode_status lode_calls_select(const lode_calls *calls, lode_calls_sort sort,
                                                    const lode_filter *filter, uint32_t *order, size_t *count,
                                                    size_t *hidden, lode_error *error);
LODE_API uint32_t lode_calls_track_count(const lode_calls *calls);
LODE_API const lode_track_row *lode_calls_track(const lode_calls *calls, uint32_t index);
LODE_END_DECLS
#endif
/* ---- metric.h ---- */
#ifndef LODE_METRIC_H
#define LODE_METRIC_H
LODE_BEGIN_DECLS
typedef struct lode_metric lode_metric;
typedef struct lode_scope lode_scope;
typedef enum lode_scope_type {
    LODE_SCOPE_CUSTOM = 0,
    LODE_SCOPE_POINT = 1,
    LODE_SCOPE_EXECUTION = 2,
    LODE_SCOPE_TRANSITIVE = 3
} lode_scope_type;
typedef enum lode_combine {
    LODE_COMBINE_SUM = 0,
    LODE_COMBINE_MIN = 1,
    LODE_COMBINE_MAX = 2
} lode_combine;
LODE_API const char *lode_scope_type_name(int type);
LODE_API const char *lode_combine_name(int combine);
LODE_API uint32_t lode_database_scope_count(const lode_database *db);
LODE_API const lode_scope *lode_database_scope(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_scope_index(const lode_scope *scope);
LODE_API const char *lode_scope_name(const lode_scope *scope);
LODE_API int lode_scope_kind(const lode_scope *scope);
LODE_API unsigned lode_scope_propagation_index(const lode_scope *scope);
LODE_API uint32_t lode_database_metric_count(const lode_database *db);
LODE_API const lode_metric *lode_database_metric(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_metric_index(const lode_metric *metric);
LODE_API const char *lode_metric_name(const lode_metric *metric);
typedef struct lode_metric_scope {
    const lode_scope *scope;
    uint16_t id;
} lode_metric_scope;
typedef struct lode_metric_statistic {
    const lode_scope *scope;
    const char *formula;
    int combine;
    uint16_t id;
} lode_metric_statistic;
LODE_API uint32_t lode_metric_scope_count(const lode_metric *metric);
LODE_API uint32_t lode_metric_statistic_count(const lode_metric *metric);
LODE_API LODE_CHECKED lode_status lode_metric_scope_at(const lode_metric *metric, uint32_t index,
                                                       lode_metric_scope *out);
LODE_API LODE_CHECKED lode_status lode_metric_statistic_at(const lode_metric *metric, uint32_t index,
                                                           lode_metric_statistic *out);
LODE_API LODE_CHECKED lode_status lode_metric_id(const lode_metric *metric, lode_scope_type type,
                                                 uint16_t *id);
LODE_API LODE_CHECKED lode_status lode_metric_sum_id(const lode_metric *metric, lode_scope_type type,
                                                     uint16_t *id);
LODE_API LODE_CHECKED lode_status lode_database_find_metric(const lode_database *db, const char *text,
                                                            const lode_metric **out, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_database_default_metric(const lode_database *db,
                                                               const lode_metric **out, lode_error *error);
LODE_END_DECLS
#endif
/* ---- selection.h ---- */
#ifndef LODE_SELECTION_H
#define LODE_SELECTION_H
LODE_BEGIN_DECLS
typedef struct lode_selection lode_selection;
LODE_API LODE_CHECKED lode_status lode_selection_parse(lode_selection **out, const lode_database *db,
                                                       const char *text, lode_error *error);
LODE_API void lode_selection_free(lode_selection *selection);
LODE_API LODE_CHECKED lode_status lode_selection_has(const lode_selection *selection, const lode_database *db,
                                                     uint32_t profile, int *selected, lode_error *error);
LODE_END_DECLS
#endif
/* ---- cost.h ---- */
#ifndef LODE_COST_H
#define LODE_COST_H
LODE_BEGIN_DECLS
typedef struct lode_cost lode_cost;
typedef struct lode_cost_options {
    size_t size;
    const lode_metric *metric;
    const lode_selection *selection;
    unsigned threads;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool;
} lode_cost_options;
#define LODE_COST_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(lode_cost_options), NULL, NULL, 0, NULL, NULL, NULL                                           \
    }
LODE_API LODE_CHECKED lode_status lode_cost_compute(lode_cost **out, const lode_database *db,
                                                    const lode_cost_options *options, lode_error *error);
typedef struct lode_window_cost_options {
    size_t size;
    uint64_t from, to;
    const lode_selection *selection;
    unsigned threads;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool;
} lode_window_cost_options;
#define LODE_WINDOW_COST_OPTIONS_INIT                                                                        \
    {                                                                                                        \
        sizeof(lode_window_cost_options), 0, 0, NULL, 0, NULL, NULL, NULL                                    \
    }
LODE_API LODE_CHECKED lode_status lode_cost_compute_window(lode_cost **out, const lode_database *db,
                                                           const lode_window_cost_options *options,
                                                           lode_error *error);
LODE_API void lode_cost_free(lode_cost *cost);
LODE_API const lode_metric *lode_cost_metric(const lode_cost *cost);
LODE_API const lode_database *lode_cost_database(const lode_cost *cost);
LODE_API double lode_cost_total(const lode_cost *cost);
LODE_API const lode_context *lode_cost_context(const lode_cost *cost, uint32_t id);
LODE_API double lode_cost_inclusive(const lode_cost *cost, const lode_context *context);
LODE_API double lode_cost_own(const lode_cost *cost, const lode_context *context);
LODE_API uint32_t lode_cost_profiles(const lode_cost *cost);
LODE_API uint64_t lode_cost_samples(const lode_cost *cost);
LODE_API double lode_cost_idle(const lode_cost *cost);
LODE_API uint64_t lode_cost_unlisted_contexts(const lode_cost *cost);
LODE_API uint64_t lode_cost_unlisted_values(const lode_cost *cost);
LODE_END_DECLS
#endif
/* ---- calltree.h ---- */
#ifndef LODE_CALLTREE_H
#define LODE_CALLTREE_H
LODE_BEGIN_DECLS
typedef struct lode_calltree lode_calltree;
LODE_API LODE_CHECKED lode_status lode_calltree_compute(lode_calltree **out, const lode_recording *recording,
                                                        const lode_slice *slice,
                                                        const lode_calls_options *options, lode_error *error);
LODE_API void lode_calltree_free(lode_calltree *tree);
LODE_API const lode_cost *lode_calltree_cost(const lode_calltree *tree);
LODE_API LODE_CHECKED lode_status lode_calltree_calls(lode_cost **out, const lode_calltree *tree,
                                                      lode_error *error);
LODE_API uint32_t lode_calltree_context_count(const lode_calltree *tree);
typedef enum lode_neighbour {
    LODE_CALLERS,
    LODE_CALLEES
} lode_neighbour;
typedef struct lode_neighbour_row {
    const lode_function *function;
    uint64_t calls, total, self;
} lode_neighbour_row;
typedef struct lode_neighbours lode_neighbours;
LODE_API LODE_CHECKED lode_status lode_neighbours_compute(lode_neighbours **out, const lode_calltree *tree,
                                                          const char *name, lode_neighbour which,
                                                          lode_error *error);
LODE_API void lode_neighbours_free(lode_neighbours *neighbours);
LODE_API size_t lode_neighbours_count(const lode_neighbours *neighbours);
LODE_API const lode_neighbour_row *lode_neighbours_at(const lode_neighbours *neighbours, size_t index);
LODE_END_DECLS
#endif
/* ---- convert.h ---- */
#ifndef LODE_CONVERT_H
#define LODE_CONVERT_H
LODE_BEGIN_DECLS
typedef struct lode_convert_options {
    size_t size;
    int force;
    int drop_unlisted;
    unsigned threads;
    uint64_t memory;
    const char *sources;
    lode_progress_fn on_progress;
    void *user;
    lode_finding_fn on_finding;
    const char *to;
    lode_pool *pool;
} lode_convert_options;
#define LODE_CONVERT_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_convert_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL                         \
    }
LODE_API LODE_CHECKED lode_status lode_convert(const lode_database *db, const char *path,
                                               const lode_convert_options *options, lode_error *error);
typedef struct lode_rewrite_options {
    size_t size;
    int force;
    unsigned threads;
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    const char *to;
} lode_rewrite_options;
#define LODE_REWRITE_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_rewrite_options), 0, 0, NULL, NULL, NULL, NULL                                           \
    }
LODE_API LODE_CHECKED lode_status lode_rewrite(const lode_recording *const *recordings, size_t count,
                                               const char *path, const lode_slice *slice,
                                               const lode_rewrite_options *options, lode_error *error);
LODE_END_DECLS
#endif
/* ---- distribution.h ---- */
#ifndef LODE_DISTRIBUTION_H
#define LODE_DISTRIBUTION_H
#include <stddef.h>
LODE_BEGIN_DECLS
typedef struct lode_distribution {
    uint64_t count;
    double sum, min, max, mean, stddev;
    double p5, p25, p50, p75, p95, p99;
    double imbalance;
} lode_distribution;
LODE_API void lode_distribution_of(lode_distribution *out, double *values, size_t count);
LODE_END_DECLS
#endif
/* ---- event.h ---- */
#ifndef LODE_EVENT_H
#define LODE_EVENT_H
LODE_BEGIN_DECLS
typedef enum lode_event_kind {
    LODE_EVENT_ENTER,
    LODE_EVENT_LEAVE,
    LODE_EVENT_SCHED_OUT,
    LODE_EVENT_SCHED_IN,
    LODE_EVENT_INSTANT,
    LODE_EVENT_LOST
} lode_event_kind;
enum {
    LODE_EVENT_MADE = 1,
    LODE_EVENT_MOVED = 2,
    LODE_EVENT_PREEMPTED = 4,
    LODE_EVENT_FAILED = 8
};
typedef struct lode_event {
    uint64_t time;
    union {
        const lode_function *function;
        uint64_t id;
    };
    uint32_t depth;
    uint8_t kind;
    uint8_t flags;
    uint16_t data_size;
    const void *data;
} lode_event;
typedef struct lode_cursor lode_cursor;
typedef struct lode_cursor_options {
    size_t size;
    uint64_t from, to;
    int strict;
    size_t buffer;
    lode_finding_fn on_finding;
    void *user;
} lode_cursor_options;
#define LODE_CURSOR_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_cursor_options), 0, 0, 0, 0, NULL, NULL                                                  \
    }
LODE_API LODE_CHECKED lode_status lode_cursor_open(lode_cursor **out, const lode_recording *recording,
                                                   uint32_t track, const lode_cursor_options *options,
                                                   lode_error *error);
LODE_API LODE_CHECKED lode_status lode_cursor_next(lode_cursor *cursor, const lode_event **events,
                                                   size_t *count, lode_error *error);
LODE_API void lode_cursor_close(lode_cursor *cursor);
typedef struct lode_merge lode_merge;
#define LODE_NO_TRACK UINT32_MAX
LODE_API LODE_CHECKED lode_status lode_merge_open(lode_merge **out, const lode_recording *recording,
                                                  const lode_slice *slice, const lode_cursor_options *options,
                                                  lode_error *error);
LODE_API LODE_CHECKED lode_status lode_merge_next(lode_merge *merge, const lode_event **event,
                                                  uint32_t *track, lode_error *error);
LODE_API void lode_merge_close(lode_merge *merge);
LODE_API const char *lode_event_name(const lode_recording *recording, const lode_event *event);
typedef enum lode_instant {
    LODE_INSTANT_OTHER,
    LODE_INSTANT_ATTRIBUTE,
    LODE_INSTANT_EXCEPTION,
    LODE_INSTANT_NUMBERS
} lode_instant;
LODE_API lode_instant lode_event_instant(const lode_recording *recording, const lode_event *event);
typedef enum lode_value_kind {
    LODE_VALUE_SIGNED,
    LODE_VALUE_UNSIGNED,
    LODE_VALUE_HEX,
    LODE_VALUE_OCTAL,
    LODE_VALUE_AUTO,
    LODE_VALUE_CHARACTER,
    LODE_VALUE_REAL,
    LODE_VALUE_TEXT,
    LODE_VALUE_POINTER,
    LODE_VALUE_ENUM,
    LODE_VALUE_BYTES,
    LODE_VALUE_CHANGE,
    LODE_VALUE_STRUCTURE
} lode_value_kind;
typedef struct lode_argument {
    const char *name;
    lode_value_kind kind;
    unsigned bits;
    union {
        int64_t signed_value;
        uint64_t unsigned_value;
        double real;
    };
    const char *label;
    const void *bytes;
    size_t length;
    const void *type;
} lode_argument;
LODE_API LODE_CHECKED lode_status lode_event_arguments(const lode_recording *recording, uint32_t track,
                                                       const lode_event *event, lode_argument *arguments,
                                                       size_t capacity, size_t *count, lode_error *error);
LODE_API size_t lode_argument_text(const lode_argument *argument, char *buffer, size_t capacity);
LODE_END_DECLS
#endif
/* ---- store.h ---- */
#ifndef LODE_STORE_H
#define LODE_STORE_H
LODE_BEGIN_DECLS
typedef enum lode_store_kind {
    LODE_STORE_DATABASE,
    LODE_STORE_RECORDING,
    LODE_STORE_MEASUREMENTS
} lode_store_kind;
LODE_API LODE_CHECKED lode_status lode_store_probe(const char *path, lode_store_kind *kind,
                                                   lode_error *error);
LODE_API LODE_CHECKED lode_status lode_open(lode_database **database, lode_recording **recording,
                                            lode_store_kind *kind, const char *path,
                                            const lode_recording_options *options, lode_error *error);
LODE_END_DECLS
#endif
/* ---- format.h ---- */
#ifndef LODE_FORMAT_H
#define LODE_FORMAT_H
#include <stddef.h>
LODE_BEGIN_DECLS
typedef struct lode_format_info {
    const char *name;
    const char *description;
    const char *family, *layout;
    lode_store_kind kind;
    int can_read, can_write;
    int can_synthesize;
} lode_format_info;
LODE_API size_t lode_format_count(void);
LODE_API LODE_CHECKED lode_status lode_format_at_sized(size_t index, lode_format_info *out, size_t out_size);
#define lode_format_at(index, out) lode_format_at_sized(index, out, sizeof(lode_format_info))
LODE_END_DECLS
#endif
/* ---- hotspot.h ---- */
#ifndef LODE_HOTSPOT_H
#define LODE_HOTSPOT_H
LODE_BEGIN_DECLS
typedef enum lode_group_by {
    LODE_BY_FUNCTION,
    LODE_BY_LINE,
    LODE_BY_LOOP,
    LODE_BY_MODULE,
    LODE_BY_FILE,
    LODE_BY_SOURCE_LINE,
    LODE_BY_SYMBOL,
    LODE_BY_KIND
} lode_group_by;
typedef enum lode_hotspot_sort {
    LODE_SORT_EXCLUSIVE,
    LODE_SORT_INCLUSIVE,
    LODE_SORT_NAME
} lode_hotspot_sort;
typedef struct lode_hotspot {
    double inclusive;
    double exclusive;
    uint32_t contexts;
    const lode_function *function;
    const lode_file *file;
    const lode_module *module;
    uint32_t line;
    const lode_context *sample;
    uint32_t functions;
    uint64_t kind;
    lode_group_by by;
} lode_hotspot;
typedef struct lode_hotspots lode_hotspots;
typedef struct lode_hotspot_options {
    size_t size;
    lode_group_by by;
    lode_hotspot_sort sort;
    lode_name_form names;
    const lode_filter *filter;
    const lode_kind_rules *kinds;
} lode_hotspot_options;
#define LODE_HOTSPOT_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_hotspot_options), LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, LODE_NAME_FULL, NULL, NULL      \
    }
LODE_API LODE_CHECKED lode_status lode_hotspots_compute(lode_hotspots **out, const lode_cost *cost,
                                                        lode_group_by by, lode_hotspot_sort sort,
                                                        lode_error *error);
LODE_API LODE_CHECKED lode_status lode_hotspots_select(lode_hotspots **out, const lode_cost *cost,
                                                       const lode_hotspot_options *options,
                                                       lode_error *error);
LODE_API LODE_CHECKED lode_status lode_hotspots_sorted(lode_hotspots **out, const lode_hotspots *hotspots,
                                                       lode_hotspot_sort sort, lode_error *error);
LODE_API void lode_hotspots_free(lode_hotspots *hotspots);
LODE_API size_t lode_hotspots_count(const lode_hotspots *hotspots);
LODE_API size_t lode_hotspots_hidden(const lode_hotspots *hotspots);
LODE_API const lode_hotspot *lode_hotspots_at(const lode_hotspots *hotspots, size_t index);
LODE_API size_t lode_hotspot_label(const lode_hotspot *hotspot, char *buffer, size_t capacity);
typedef struct lode_hotspot_detail {
    const lode_context *const *contexts;
    size_t context_count;
    lode_distribution inclusive, exclusive;
} lode_hotspot_detail;
LODE_API LODE_CHECKED lode_status lode_hotspots_detail(lode_hotspot_detail **out,
                                                       const lode_hotspots *hotspots, size_t index,
                                                       const lode_cost *cost, const lode_selection *selection,
                                                       lode_error *error);
LODE_API void lode_hotspot_detail_free(lode_hotspot_detail *detail);
LODE_END_DECLS
#endif
/* ---- table.h ---- */
#ifndef LODE_TABLE_H
#define LODE_TABLE_H
LODE_BEGIN_DECLS
typedef enum lode_column_type {
    LODE_COLUMN_U8,
    LODE_COLUMN_U16,
    LODE_COLUMN_U32,
    LODE_COLUMN_U64,
    LODE_COLUMN_F64,
    LODE_COLUMN_STRING
} lode_column_type;
typedef enum lode_column_owner {
    LODE_OWNER_FILE,
    LODE_OWNER_STORE,
    LODE_OWNER_TABLE
} lode_column_owner;
typedef struct lode_column {
    const char *name;
    lode_column_type type;
    lode_column_owner owner;
    const void *data;
    uint64_t count;
    uint64_t stride;
} lode_column;
#define LODE_NO_ROW UINT32_MAX
typedef enum lode_field_flag {
    LODE_FIELD_OPTIONAL = 1,
    LODE_FIELD_BOOLEAN = 2,
    LODE_FIELD_SIGNED = 4,
    LODE_FIELD_TIME = 8,
    LODE_FIELD_ADDRESS = 16,
    LODE_FIELD_KEY = 32,
    LODE_FIELD_ARGUMENT = 64,
    LODE_FIELD_REQUIRED = 128
} lode_field_flag;
typedef struct lode_field {
    const char *name;
    lode_column_type type;
    unsigned flags;
    const char *refers;
} lode_field;
typedef struct lode_table_info {
    const char *name;
    const char *title;
    const lode_field *fields;
    unsigned field_count;
    int is_function;
} lode_table_info;
typedef struct lode_tables lode_tables;
typedef struct lode_tables_options {
    size_t size;
    const char *path;
    const lode_selection *selection;
    const lode_slice *slice;
    lode_name_form names;
    lode_pool *pool;
    lode_finding_fn on_finding;
    void *user;
    lode_progress_fn on_progress;
    void *progress_user;
    lode_tables *base;
} lode_tables_options;
#define LODE_TABLES_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_tables_options), NULL, NULL, NULL, LODE_NAME_FULL, NULL, NULL, NULL, NULL, NULL, NULL    \
    }
LODE_API LODE_CHECKED lode_status lode_tables_open(lode_tables **out, const lode_database *db,
                                                   const lode_recording *recording,
                                                   const lode_tables_options *options, lode_error *error);
LODE_API void lode_tables_close(lode_tables *tables);
LODE_API unsigned lode_tables_count(const lode_tables *tables);
LODE_API const lode_table_info *lode_tables_at(const lode_tables *tables, unsigned number);
LODE_API const lode_table_info *lode_tables_find(const lode_tables *tables, const char *name);
typedef enum lode_filter_kind {
    LODE_FILTER_EQUAL,
    LODE_FILTER_IN,
    LODE_FILTER_AT_LEAST,
    LODE_FILTER_AT_MOST
} lode_filter_kind;
typedef struct lode_scan_filter {
    unsigned column;
    lode_filter_kind kind;
    const uint64_t *numbers;
    const double *reals;
    const char *const *strings;
    size_t count;
} lode_scan_filter;
#define LODE_SCAN_FILTERS 64
typedef struct lode_scan_options {
    size_t size;
    const lode_scan_filter *filters;
    size_t filter_count;
    const unsigned *order;
    size_t order_count;
    uint64_t columns;
    uint64_t skip;
    uint64_t rows;
    unsigned threads;
} lode_scan_options;
#define LODE_SCAN_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(lode_scan_options), NULL, 0, NULL, 0, 0, 0, 0, 0                                              \
    }
typedef struct lode_scan lode_scan;
typedef struct lode_batch {
    uint64_t rows;
    unsigned column_count;
    const lode_column *columns;
    const uint8_t *const *valid;
} lode_batch;
LODE_API LODE_CHECKED lode_status lode_scan_open(lode_scan **out, lode_tables *tables,
                                                 const lode_table_info *table,
                                                 const lode_scan_options *options, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_scan_next(lode_scan *scan, const lode_batch **out, lode_error *error);
LODE_API uint64_t lode_scan_done(const lode_scan *scan);
LODE_API uint64_t lode_scan_total(const lode_scan *scan);
LODE_API void lode_scan_close(lode_scan *scan);
LODE_END_DECLS
#endif
/* ---- trace.h ---- */
#ifndef LODE_TRACE_H
#define LODE_TRACE_H
LODE_BEGIN_DECLS
#ifdef LODE_INTERNAL
#include "model/views.h"
#else
typedef struct lode_trace_line {
    uint32_t profile;
    uint32_t opaque;
    uint64_t sample_count;
    uint64_t more_opaque[2];
} lode_trace_line;
#endif
typedef struct lode_sample {
    uint64_t time;
    uint32_t context_id;
} lode_sample;
LODE_API uint32_t lode_database_trace_count(const lode_database *db);
LODE_API LODE_CHECKED lode_status lode_database_trace_bounds(const lode_database *db, uint64_t *min,
                                                             uint64_t *max);
LODE_API LODE_CHECKED lode_status lode_database_trace_line(const lode_database *db, uint32_t index,
                                                           lode_trace_line *out, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_trace_line_sample(const lode_trace_line *line, uint64_t index,
                                                         lode_sample *out);
LODE_API LODE_CHECKED lode_status lode_trace_line_view(const lode_trace_line *line, const void **bytes,
                                                       size_t *stride, lode_error *error);
LODE_API uint64_t lode_trace_line_seek(const lode_trace_line *line, uint64_t time);
LODE_END_DECLS
#endif
/* ---- values.h ---- */
#ifndef LODE_VALUES_H
#define LODE_VALUES_H
LODE_BEGIN_DECLS
typedef enum lode_values_path {
    LODE_VALUES_CHEAPER,
    LODE_VALUES_BY_PROFILES,
    LODE_VALUES_BY_CONTEXTS
} lode_values_path;
typedef struct lode_values_options {
    size_t size;
    uint32_t context_first, context_end;
    uint32_t profile_first, profile_end;
    const lode_selection *selection;
    int metric;
    lode_values_path path;
} lode_values_options;
#define LODE_VALUES_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_values_options), 0, 0, 0, 0, NULL, -1, LODE_VALUES_CHEAPER                               \
    }
typedef struct lode_values lode_values;
LODE_API LODE_CHECKED lode_status lode_values_open(lode_values **out, const lode_database *db,
                                                   const lode_values_options *options, lode_error *error);
LODE_API void lode_values_close(lode_values *values);
#define LODE_VALUES_COLUMNS 4
LODE_API LODE_CHECKED lode_status lode_values_next(lode_values *values,
                                                   lode_column columns[LODE_VALUES_COLUMNS],
                                                   lode_error *error);
LODE_API lode_values_path lode_values_chosen(const lode_values *values);
LODE_API uint64_t lode_values_bytes_expected(const lode_values *values);
LODE_API uint64_t lode_values_bytes_read(const lode_values *values);
LODE_END_DECLS
#endif
/* ---- view.h ---- */
#ifndef LODE_VIEW_H
#define LODE_VIEW_H
LODE_BEGIN_DECLS
typedef enum lode_view_mode {
    LODE_VIEW_TOP_DOWN,
    LODE_VIEW_CALLERS,
    LODE_VIEW_FLAT,
    LODE_VIEW_CALLERS_OF
} lode_view_mode;
typedef struct lode_view_options {
    size_t size;
    lode_view_mode mode;
    unsigned depth;
    double min_fraction;
    const char *focus;
    int lines;
    size_t max_rows;
    lode_name_form names;
    const lode_filter *filter;
    const lode_context *at;
    int merge_recursion;
    const lode_context *const *path;
    size_t path_count;
    size_t skip;
} lode_view_options;
#define LODE_VIEW_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(lode_view_options), LODE_VIEW_TOP_DOWN, 0, 0.01, NULL, 0, 0, LODE_NAME_FULL, NULL, NULL, 0,   \
            NULL, 0, 0                                                                                       \
    }
typedef struct lode_view_row {
    unsigned depth;
    int hot;
    int folded;
    double inclusive;
    double exclusive;
    uint32_t contexts;
    uint64_t calls;
    const lode_context *context;
    uint32_t call_line;
    const lode_file *call_file;
    uint32_t children, omitted;
    double omitted_inclusive;
} lode_view_row;
typedef struct lode_view lode_view;
LODE_API LODE_CHECKED lode_status lode_view_build(lode_view **out, const lode_cost *cost,
                                                  const lode_view_options *options, lode_error *error);
LODE_API void lode_view_free(lode_view *view);
LODE_API size_t lode_view_count(const lode_view *view);
LODE_API const lode_view_row *lode_view_at(const lode_view *view, size_t index);
LODE_API int lode_view_is_cut(const lode_view *view);
LODE_API uint64_t lode_view_total(const lode_view *view);
LODE_API int lode_view_has_more(const lode_view *view);
LODE_API uint64_t lode_view_omitted_by_share(const lode_view *view);
LODE_API uint64_t lode_view_omitted_by_depth(const lode_view *view);
LODE_API LODE_CHECKED lode_status lode_view_costs(const lode_view *view, const lode_cost *cost,
                                                  const lode_view_options *options, double *inclusive,
                                                  double *exclusive, lode_error *error);
typedef struct lode_outline lode_outline;
#define LODE_OUTLINE_ROOT 0u
LODE_API LODE_CHECKED lode_status lode_outline_open(lode_outline **out, const lode_cost *cost,
                                                    const lode_view_options *options, lode_error *error);
LODE_API void lode_outline_close(lode_outline *outline);
LODE_API LODE_CHECKED lode_status lode_outline_expand(lode_outline *outline, uint32_t node, uint32_t *first,
                                                      uint32_t *count, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_outline_row(lode_outline *outline, uint32_t node, lode_view_row *row,
                                                   size_t row_size, int *has_more);
LODE_END_DECLS
#endif
/* ---- writer.h ---- */
#ifndef LODE_WRITER_H
#define LODE_WRITER_H
LODE_BEGIN_DECLS
typedef struct lode_writer lode_writer;
typedef struct lode_profile_builder lode_profile_builder;
#define LODE_NONE UINT32_MAX
typedef struct lode_writer_options {
    size_t size;
    int force;
    int traces;
    unsigned threads;
    uint64_t memory;
    const char *title;
    const char *description;
    lode_progress_fn on_progress;
    void *user;
    const char *to;
} lode_writer_options;
#define LODE_WRITER_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_writer_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL                                \
    }
LODE_API LODE_CHECKED lode_status lode_writer_open(lode_writer **out, const char *path,
                                                   const lode_writer_options *options, lode_error *error);
LODE_API void lode_writer_close(lode_writer *writer);
LODE_API LODE_CHECKED lode_status lode_writer_add_id_kind(lode_writer *writer, const char *name,
                                                          unsigned *kind, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_scope(lode_writer *writer, const char *name, int type,
                                                        unsigned propagation_index, uint32_t *scope,
                                                        lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_metric(lode_writer *writer, const char *name,
                                                         uint32_t *metric, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_metric_scope(lode_writer *writer, uint32_t metric,
                                                               uint32_t scope, uint16_t *id,
                                                               lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_statistic(lode_writer *writer, uint32_t metric,
                                                            uint32_t scope, const char *formula, int combine,
                                                            lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_module(lode_writer *writer, const char *path,
                                                         uint32_t *module, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_file(lode_writer *writer, const char *path, int copied,
                                                       const char *source, uint32_t *file, lode_error *error);
typedef struct lode_writer_function {
    const char *name;
    uint32_t module, file;
    uint32_t line;
    uint64_t offset;
} lode_writer_function;
LODE_API LODE_CHECKED lode_status lode_writer_add_function(lode_writer *writer,
                                                           const lode_writer_function *function,
                                                           uint32_t *out, lode_error *error);
typedef struct lode_writer_context {
    uint32_t parent;
    int entry;
    const char *entry_name;
    int lexical, relation;
    unsigned propagation;
    uint32_t function, file, module;
    uint32_t line;
    uint64_t offset;
} lode_writer_context;
#define LODE_WRITER_CONTEXT_INIT                                                                             \
    {                                                                                                        \
        LODE_NONE, 0, NULL, 0, 0, 0, LODE_NONE, LODE_NONE, LODE_NONE, 0, 0                                   \
    }
LODE_API LODE_CHECKED lode_status lode_writer_add_context(lode_writer *writer,
                                                          const lode_writer_context *context, uint32_t *out,
                                                          lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_add_unlisted(lode_writer *writer, uint32_t *out,
                                                           lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_seal(lode_writer *writer, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_profile_builder_create(lode_profile_builder **out, lode_writer *writer,
                                                              lode_error *error);
LODE_API void lode_profile_builder_free(lode_profile_builder *builder);
LODE_API LODE_CHECKED lode_status lode_profile_builder_begin(lode_profile_builder *builder,
                                                             const lode_id *ids, uint32_t id_count,
                                                             lode_error *error);
LODE_API LODE_CHECKED lode_status lode_profile_builder_value(lode_profile_builder *builder, uint32_t context,
                                                             uint16_t id, double value, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_profile_builder_point(lode_profile_builder *builder, uint32_t context,
                                                             uint32_t metric, double value,
                                                             lode_error *error);
LODE_API LODE_CHECKED lode_status lode_profile_builder_sample(lode_profile_builder *builder, uint64_t time,
                                                              uint32_t context, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_profile_builder_end(lode_profile_builder *builder, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_writer_append(lode_writer *writer, lode_profile_builder *builder,
                                                     lode_error *error);
LODE_API void lode_writer_set_trace_bounds(lode_writer *writer, uint64_t min, uint64_t max);
LODE_API LODE_CHECKED lode_status lode_writer_finish(lode_writer *writer, lode_error *error);
LODE_END_DECLS
#endif
