/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a recording, file by file. Each part reports what is wrong and uses the rest. */
#ifndef LODE_UFTRACE_READ_H
#define LODE_UFTRACE_READ_H

#include "format/uftrace/text.h"
#include "format/uftrace/uftrace.h"

/* Shared by the parts of opening. */
struct uft_opening {
    struct uft_recording *rec;
    struct lode_arena *arena;
    struct lode_report *report;
    lode_error *error;
    const char **names; /* of all files in the folder, sorted */
    size_t name_count;
    struct lode_array facts;    /* lode_fact */
    struct lode_array modules;  /* struct uft_module_line */
    struct lode_array sessions; /* struct uft_session */
    struct lode_array dlopens;  /* struct uft_dlopen */
    struct lode_array tasks;    /* struct uft_task_line */
    struct lode_array forks;    /* struct uft_fork_line */
    /* By hash: names with equal hashes would be confused, but the hashes are keyed. */
    struct lode_map session_index; /* of ids, to the first session that has it */
    struct lode_map module_index;  /* of paths and build ids */
};

struct uft_module_line {
    const char *path, *build_id;
};

struct uft_task_line {
    uint64_t time;
    int32_t tid, pid;
};

struct uft_fork_line {
    uint64_t time;
    int32_t child, parent;
};

/* Whether the folder has a file of this name. */
bool lode_uft_has_file(const struct uft_opening *opening, const char *name);
/* A terminated copy that lives as long as the recording. */
lode_status lode_uft_text(struct uft_opening *opening, struct uft_text text, const char **out);
lode_status lode_uft_add_fact(struct uft_opening *opening, const char *key, struct uft_text value);
/* The module of this path and build id ("" if not known), created if it is new. */
lode_status lode_uft_add_module(struct uft_opening *opening, struct uft_text path, struct uft_text build_id,
                                uint32_t *index);

lode_status lode_uft_read_info(struct uft_opening *opening);
/* task.txt, or the old task file. */
lode_status lode_uft_read_tasks(struct uft_opening *opening);
/* The maps of all sessions. */
lode_status lode_uft_read_maps(struct uft_opening *opening);
/* The list of modules is complete. */
lode_status lode_uft_keep_modules(struct uft_opening *opening);
/* Symbols and source lines of all modules. */
lode_status lode_uft_read_symbols(struct uft_opening *opening);
/* events.txt, extern.dat, note.txt, and whether there is data of the kernel tracer. */
lode_status lode_uft_read_extras(struct uft_opening *opening);
/* Tracks: their names, their sessions, their scheduling. */
lode_status lode_uft_read_tracks(struct uft_opening *opening);

/* Parses "SECONDS.NANOSECONDS", both as integers, as uftrace does. */
bool lode_uft_take_time(struct uft_text *text, uint64_t *out);

/* The function at an address, for a task at a time. NULL if out of memory. MT: any thread. */
const lode_function *lode_uft_resolve(const struct uft_recording *rec, const struct uft_session *session,
                                      uint64_t time, uint64_t address);
/* Like lode_uft_resolve, but NULL without a symbol: `address` may be any number. MT: any thread. */
const lode_function *lode_uft_find_named(const struct uft_recording *rec, const struct uft_session *session,
                                         uint64_t time, uint64_t address);
/* The function shared by excess addresses without a name. NULL if out of memory. MT: any thread. */
const lode_function *lode_uft_other_address(const struct uft_recording *rec);
/* Whether a module of the session contains an address. */
bool lode_uft_is_mapped(const struct uft_session *session, uint64_t address);
/* Indexes loaded libraries by address and time. */
lode_status lode_uft_index_dlopens(struct uft_opening *opening);
/* The session of a task at a time, or NULL, and when it or its loaded libraries change next. */
const struct uft_session *lode_uft_session_at(const struct uft_recording *rec, const struct uft_task *task,
                                              uint64_t time, uint64_t *until);
/* A function that represents a state, such as being off-CPU. */
const lode_function *lode_uft_state_function(struct uft_recording *rec, const char *name, uint64_t number);

/* State that cursors share. NULL if out of memory; may be closed. */
struct uft_shared *lode_uft_shared_open(void);
void lode_uft_shared_close(struct uft_shared *shared);
/* Access to .dat files: events, and their first and last time. */
lode_status lode_uft_cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                 const lode_cursor_options *options, lode_error *error);
/* Like lode_uft_cursor_open, but keeps findings like those of `model`. */
lode_status lode_uft_cursor_open_kept(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                      const struct lode_report *model, lode_error *error);
struct lode_report *lode_uft_cursor_report(lode_cursor *cursor);
lode_status lode_uft_cursor_seek(lode_cursor *cursor, uint64_t time, lode_error *error);
uint64_t lode_uft_cursor_position(const lode_cursor *cursor);
lode_status lode_uft_cursor_resume(lode_cursor *cursor, uint64_t position, uint64_t time, lode_error *error);
lode_status lode_uft_cursor_next(lode_cursor *cursor, const lode_event **events, size_t *count,
                                 lode_error *error);
void lode_uft_cursor_close(lode_cursor *cursor);
lode_status lode_uft_track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                    uint64_t *end, lode_error *error);

lode_status lode_uft_open(lode_recording **out, const struct lode_folder *folder, struct lode_report *report,
                          lode_error *error);
/* Reads all tracks of an open recording, and reports what is found. */
lode_status lode_uft_check_tracks(const lode_recording *recording, struct lode_report *report,
                                  const lode_check_options *options, lode_error *error);
lode_status lode_uft_check(const struct lode_folder *folder, const lode_check_options *options,
                           lode_check_result *result, lode_error *error);

#endif
