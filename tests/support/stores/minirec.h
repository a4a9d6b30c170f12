/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small valid uftrace recordings in memory for tests: every rule of the checker holds without
 * findings, so that a test can break one thing and see exactly that reported. All parts can be
 * changed.
 */
#ifndef LODE_TESTS_MINIREC_H
#define LODE_TESTS_MINIREC_H

#include <lode/database.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Process 100 is /bin/prog with the threads 100 and 101; 102 is forked from it and then executes
 * /bin/other. /lib/lib.so is mapped in both, 100 loads /lib/plugin.so at +600. Times are in
 * nanoseconds from MINIREC_START on.
 *
 *   100  +100 main                                 101  +1000 Base::run
 *          +110 work(42, "hello") = 43                    leaf, as often as the options say
 *            +120 leaf, with an event at +125             preempted from +1003 to +1006
 *          a user event at +135, off-CPU from +150 to +180
 *          +200 scale(2.5, 1.5) = 3.75            102  at depth 2, in /bin/prog:
 *          +300 paint(GREEN, &state, 'x', {...})          +520 work(7, "child") = 8
 *          +330 name("lode") = "LODE"                   at depth 0, in /bin/other:
 *          +400 libfn                                     +850 start
 *          +500 fork                                        +860 helper
 *          +650 plug
 */
#define MINIREC_START UINT64_C(1000000000)

enum {
    MINIREC_FILES = 32,
    MINIREC_PROG = 0x400000,
    MINIREC_LIB = 0x70000000,
    MINIREC_PLUGIN = 0x71000000,

    /* Functions, where records have them. */
    MINIREC_LONGJMP = MINIREC_PROG + 0x900,
    MINIREC_SETJMP = MINIREC_PROG + 0x910,
    MINIREC_FORK = MINIREC_PROG + 0x920,
    MINIREC_MAIN = MINIREC_PROG + 0x1000,
    MINIREC_WORK = MINIREC_PROG + 0x1100,
    MINIREC_LEAF = MINIREC_PROG + 0x1200,
    MINIREC_SCALE = MINIREC_PROG + 0x1300,
    MINIREC_PAINT = MINIREC_PROG + 0x1400,
    MINIREC_NAME = MINIREC_PROG + 0x1500,
    MINIREC_RUN = MINIREC_PROG + 0x1600,
    MINIREC_STATE = MINIREC_PROG + 0x3000,  /* data */
    MINIREC_HELPER = MINIREC_PROG + 0x1100, /* of /bin/other, with `start` at the address of main */
    MINIREC_LIBFN = MINIREC_LIB + 0x100,
    MINIREC_PLUG = MINIREC_PLUGIN + 0x200
};

/* Types of records. */
enum {
    MINIREC_ENTRY,
    MINIREC_EXIT,
    MINIREC_LOST,
    MINIREC_EVENT
};

/* What happens to a thread, in perf files. */
enum minirec_perf {
    MINIREC_PERF_IN,
    MINIREC_PERF_OUT,
    MINIREC_PERF_PREEMPTED,
    MINIREC_PERF_NEW,
    MINIREC_PERF_GONE
};

struct minirec_options {
    uint32_t calls; /* of leaf on track 101 */
    bool big_endian;
    bool is_32_bit;
    bool has_old_symbols;  /* as up to version 0.13: without sizes, with end markers */
    bool has_binary_tasks; /* a task file instead of task.txt; this is noted */
};
#define MINIREC_OPTIONS_INIT                                                                                 \
    {                                                                                                        \
        .calls = 3                                                                                           \
    }

struct minirec_file {
    char name[64];
    unsigned char *bytes;
    size_t size, capacity;
};

struct minirec {
    struct minirec_file files[MINIREC_FILES];
    size_t count;
    struct minirec_options options;
};

/* Bytes that a record carries, as they are put together. */
struct minirec_payload {
    unsigned char bytes[1024];
    size_t size;
};

/* All exit on failure: out of memory, or nothing to change. */
void minirec_make(struct minirec *rec, const struct minirec_options *options);
/* Only an empty list of files, with the options that its pieces will have. */
void minirec_begin(struct minirec *rec, const struct minirec_options *options);
void minirec_free(struct minirec *rec);
/* For lode_recording_open_memory: fills up to MINIREC_FILES entries, and returns how many. */
size_t minirec_list(const struct minirec *rec, lode_memory_file *files);

/* A file, which must be there. */
struct minirec_file *minirec_file(struct minirec *rec, const char *name);
/* Makes a file, or gives it another content. */
void minirec_set(struct minirec *rec, const char *name, const void *bytes, size_t size);
void minirec_set_text(struct minirec *rec, const char *name, const char *text);
void minirec_drop(struct minirec *rec, const char *name);
void minirec_rename(struct minirec *rec, const char *name, const char *other);
void minirec_cut(struct minirec *rec, const char *name, size_t size);
/* At the end of a file, which is made if it is not there. */
void minirec_append(struct minirec *rec, const char *name, const void *bytes, size_t size);
void minirec_append_text(struct minirec *rec, const char *name, const char *text);
/* Replaces the only occurrence of `before`. */
void minirec_replace(struct minirec *rec, const char *name, const char *before, const char *after);
/* Writes a number of 1, 2, 4 or 8 bytes over others, in the byte order of the recording. */
void minirec_put(struct minirec *rec, const char *name, size_t offset, unsigned width, uint64_t value);

/* Numbers in the byte order of the recording, each padded to 4 as arguments are. */
void minirec_add_number(const struct minirec *rec, struct minirec_payload *payload, unsigned width,
                        uint64_t value);
void minirec_add_text(const struct minirec *rec, struct minirec_payload *payload, const char *text);

/* A record at the end of a data file, `time` after the start. */
void minirec_record(struct minirec *rec, const char *name, uint64_t time, unsigned type, uint64_t address,
                    unsigned depth);
/* The same, with what it carries; of an event without the two bytes of its length. */
void minirec_record_with(struct minirec *rec, const char *name, uint64_t time, unsigned type,
                         uint64_t address, unsigned depth, const struct minirec_payload *payload);
/* Records at the end of a perf file. */
void minirec_perf(struct minirec *rec, const char *name, uint64_t time, enum minirec_perf what, int32_t pid,
                  int32_t tid);
void minirec_perf_name(struct minirec *rec, const char *name, uint64_t time, int32_t pid, int32_t tid,
                       const char *text);
/* A message at the end of the binary task file. */
void minirec_task_message(struct minirec *rec, unsigned type, const void *body, size_t size);

#endif
