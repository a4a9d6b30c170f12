/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges several recordings: ids and names in the merged recording. */
#ifndef LODE_UFTRACE_WRITE_MERGE_H
#define LODE_UFTRACE_WRITE_MERGE_H

#include "base/memory/map.h"
#include "format/uftrace/write/events.h"

/* One of the recordings. */
struct uft_origin {
    const struct uft_recording *rec;
    int64_t clock;             /* added to its times */
    uint64_t *shifts;          /* of its symbols, or NULL */
    bool drops_values;         /* its arguments are specified differently than those of another */
    struct lode_map ids;       /* of processes and threads, to new ones */
    struct lode_map event_ids; /* of user events, to new ones */
    uint32_t *modules;         /* to new indices */
    uint32_t first_session;    /* new index of its first session */
    struct uft_written_track *tracks;
    uint32_t track_count;
};

struct uft_merge {
    struct uft_origin *sources;
    size_t count;
    struct lode_arena arena; /* owns what follows */
    struct uft_written_module *modules;
    uint32_t module_count;
    struct uft_session *sessions;
    uint32_t session_count;
    struct uft_session nobody; /* without maps, for processes of unknown session */
    struct uft_event_name *event_names;
    uint32_t event_name_count;
    size_t specified; /* the source whose arguments are kept; `count`: none */
    unsigned word;    /* bytes of a long in the output */
    lode_finding_fn on_finding;
    void *user;
};

/* Borrows `recordings`. on_finding may be NULL; findings tell what cannot be copied. */
lode_status lode_uft_merge_open(struct uft_merge *merge, const lode_recording *const *recordings,
                                size_t count, lode_finding_fn on_finding, void *user, lode_error *error);
void lode_uft_merge_close(struct uft_merge *merge);

/* How the events of a source are written, without a time window. */
struct uft_event_changes lode_uft_merge_changes(const struct uft_merge *merge, size_t source);
/* The new id of a process or thread of a source. */
int32_t lode_uft_merge_id(const struct uft_origin *source, int32_t id);
/* Writes the description. Copies messages from `from` to `to`, in the clock of the first source. */
lode_status lode_uft_merge_finish(const struct uft_merge *merge, struct uft_writer *writer, uint64_t from,
                                  uint64_t to, lode_error *error);

/* ---- parts of it ---- */

enum uft_merge_loss {
    UFT_MERGE_CLOCK,     /* no offset from UTC */
    UFT_MERGE_ARGUMENTS, /* arguments are specified differently */
    UFT_MERGE_NAMES,     /* a module is renamed, or its symbols have no file */
    UFT_MERGE_EVENTS     /* events or data that uftrace does not read */
};

lode_status lode_uft_merge_find(const struct uft_merge *merge, enum uft_merge_loss rule, const char *file,
                                lode_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

lode_status lode_uft_merge_modules(struct uft_merge *merge, lode_error *error);
lode_status lode_uft_merge_sessions(struct uft_merge *merge, lode_error *error);
/* Copies lines of info into `lines`. */
lode_status lode_uft_merge_lines(const struct uft_merge *merge, const char **lines, struct lode_arena *arena,
                                 lode_error *error);

#endif
