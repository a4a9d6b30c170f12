/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a uftrace directory that every version reads: first the records of each track, by any
 * thread, then the files that describe them. Output is little-endian and reproducible: padding is
 * zero, and nothing depends on the host.
 */
#ifndef LODE_UFTRACE_WRITE_H
#define LODE_UFTRACE_WRITE_H

#include "base/io/bytes.h"
#include "base/io/output.h"
#include "format/uftrace/cursor.h"

enum {
    UFT_MAGIC_BITS = UFT_MAGIC << 3,
    UFT_MORE_BIT = 1 << 2, /* values follow */
    UFT_DEPTH_SHIFT = 6,
    UFT_ADDRESS_SHIFT = 16,
    UFT_MESSAGE_ID = 2000000,    /* the event of a line in extern.dat */
    UFT_FIRST_USER_ID = 1000000, /* events.txt names events of this id and above */
    UFT_CHUNK = 1 << 20          /* bytes that a track buffers */
};

/* An excessive depth carries over into the address, as in uftrace; readers expect that. */
static inline void uft_put_record(uint8_t *at, unsigned bits, uint64_t time, uint32_t depth, uint64_t address)
{
    put_u64le(at, time);
    put_u64le(at + 8, (UFT_MAGIC_BITS | bits) + ((uint64_t)(depth & UINT16_MAX) << UFT_DEPTH_SHIFT) +
                          (address << UFT_ADDRESS_SHIFT));
}

struct uft_writer {
    struct lode_output output;
};

/* Creates the target. With `force`, an existing recording is replaced, and nothing else. */
lode_status lode_uft_writer_create(struct uft_writer *writer, const char *path, bool force,
                                   lode_error *error);
/* Frees everything, and removes an unfinished recording. */
void lode_uft_writer_close(struct uft_writer *writer);

/* The data file of one track, used by one thread. */
struct uft_track_writer {
    struct lode_output_file file;
    char name[16];
    uint8_t *chunk;
    size_t used;
};

lode_status lode_uft_track_create(struct uft_track_writer *track, struct uft_writer *writer, int32_t tid,
                                  lode_error *error);
lode_status lode_uft_track_flush(struct uft_track_writer *track, lode_error *error);
/* Writes the rest, and waits until it is on the disk. */
lode_status lode_uft_track_close(struct uft_track_writer *track, lode_error *error);
/* Closes the file without writing the rest. Allowed after close. */
void lode_uft_track_abandon(struct uft_track_writer *track);

/* Reserves `size` bytes of the file, at most UFT_CHUNK. */
static inline lode_status lode_uft_track_room(struct uft_track_writer *track, size_t size, uint8_t **room,
                                              lode_error *error)
{
    if (size > UFT_CHUNK - track->used)
        LODE_TRY(lode_uft_track_flush(track, error));
    *room = track->chunk + track->used;
    track->used += size;
    return LODE_OK;
}

/* A module and its symbols. */
struct uft_written_module {
    const char *path;
    const char *build_id;             /* "" if not known */
    const char *file;                 /* name of its files without extension; NULL: none */
    const struct uft_symbol *symbols; /* by rising address */
    uint32_t symbol_count;
    struct lode_range debug; /* text of the .dbg file; empty: there is none */
};

/*
 * Assigns file names that readers look for: the module's base name, with a part of the build id or
 * of the path's checksum appended if another module has that name. A module gets NULL if that name
 * is taken as well, or invalid.
 */
lode_status lode_uft_name_files(struct uft_written_module *modules, uint32_t count, struct lode_arena *arena,
                                lode_error *error);

/* Events of one thread besides its records, chronological. */
struct uft_written_perf {
    int32_t pid, tid, parent;
    const struct lode_uft_perf_event *events; /* UFT_PERF_NAME: `cpu` is the index in `names` */
    size_t count;
    const char *const *names;
};

struct uft_description {
    uint64_t features;                 /* uft_feature bits; those of the description are added */
    unsigned word;                     /* bytes of a long in the program: 4 or 8 */
    uint32_t max_stack;                /* more than the depth of any record */
    const char *lines[UFT_INFO_KNOWN]; /* by kind, or NULL; tasks and version are generated */
    const int32_t *tids;               /* of all data files */
    uint32_t tid_count;
    const struct uft_written_module *modules;
    uint32_t module_count;
    const struct uft_session *sessions; /* sessions of one id share a map; ids are file names */
    uint32_t session_count;
    const struct uft_task_line *tasks;
    uint32_t task_count;
    const struct uft_fork_line *forks;
    uint32_t fork_count;
    const struct uft_dlopen *dlopens;
    uint32_t dlopen_count;
    const struct uft_event_name *event_names;
    uint32_t event_name_count;
    const lode_event *messages; /* chronological; their data are strings */
    size_t message_count;
    const struct uft_written_perf *perf;
    size_t perf_count;
    struct lode_range note;
};

/* Writes the description, and publishes the recording. */
lode_status lode_uft_writer_finish(struct uft_writer *writer, const struct uft_description *description,
                                   lode_error *error);

/* ---- parts of it ---- */

/* A text file. After an error nothing more is written, and close returns it. */
struct uft_text_file {
    struct lode_output_file file;
    struct uft_writer *writer;
    bool is_hidden;
    lode_status status;
    lode_error *error;
};

void lode_uft_text_open(struct uft_text_file *text, struct uft_writer *writer, const char *name,
                        lode_error *error);
/* The same for a file that makes a directory a recording: it appears only when complete. */
void lode_uft_text_open_hidden(struct uft_text_file *text, struct uft_writer *writer, const char *name,
                               lode_error *error);
void lode_uft_text_put(struct uft_text_file *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lode_uft_text_put_bytes(struct uft_text_file *text, const void *bytes, size_t size);
lode_status lode_uft_text_close(struct uft_text_file *text);

lode_status lode_uft_write_info(struct uft_writer *writer, const struct uft_description *description,
                                lode_error *error);
lode_status lode_uft_write_tasks(struct uft_writer *writer, const struct uft_description *description,
                                 lode_error *error);
lode_status lode_uft_write_maps(struct uft_writer *writer, const struct uft_description *description,
                                lode_error *error);
lode_status lode_uft_write_symbols(struct uft_writer *writer, const struct uft_description *description,
                                   lode_error *error);
lode_status lode_uft_write_perf(struct uft_writer *writer, const struct uft_description *description,
                                lode_error *error);

#endif
