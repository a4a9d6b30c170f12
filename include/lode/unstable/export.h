/* SPDX-License-Identifier: BSD-3-Clause */
/* Exporting: what a store contains, in the formats of other tools. */
#ifndef LODE_UNSTABLE_EXPORT_H
#define LODE_UNSTABLE_EXPORT_H

#include <lode/recording.h>
#include <lode/selection.h>
#include <lode/unstable/match.h>

LODE_BEGIN_DECLS

/* What a format can hold. */
enum {
    LODE_EXPORT_STACKS = 1,   /* call paths and what each cost */
    LODE_EXPORT_TIMELINE = 2, /* what each thread did, and when */
    LODE_EXPORT_TABLES = 4    /* the contents of the store, as tables */
};

typedef enum lode_compression {
    LODE_COMPRESSION_DEFAULT, /* as is usual for the format */
    LODE_COMPRESSION_NONE,
    LODE_COMPRESSION_GZIP,
    LODE_COMPRESSION_ZSTD
} lode_compression;

/* A format to export to. New fields come at the end. */
typedef struct lode_export_info {
    const char *name;        /* selects it in options */
    const char *description; /* one line: which tools read it */
    const char *suffix;      /* of file names, such as ".pb.gz" */
    unsigned holds;          /* LODE_EXPORT_STACKS... */
    const char *loses;       /* one line: what it cannot hold */
    int is_directory;        /* it is a directory of files */
    unsigned compressions;   /* bit n: lode_compression n can be asked for */
    int is_available;        /* this library was built with it */
    const char *needs;       /* if not: the library that it needs, and how to get it; else NULL */
    const char *names;       /* usual file names: patterns such as "*.pb.gz *.pprof" */
} lode_export_info;

/* How many formats there are. MT: any thread. */
LODE_API size_t lode_export_count(void);
/* One of them, by its number. LODE_NOT_FOUND past the last one. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_export_at_sized(size_t index, lode_export_info *out, size_t out_size);
#define lode_export_at(index, out) lode_export_at_sized(index, out, sizeof(lode_export_info))

/* Gets bytes in order. 0: they were written; else errno. */
typedef int (*lode_write_fn)(void *user, const void *bytes, size_t size);

/* Options without a meaning for a format or a store are ignored. */
typedef struct lode_export_options {
    size_t size;
    const char *format; /* its name; NULL: "pprof" */
    int force;          /* replace a file, or a directory that an export wrote */
    /* If there is no path: where bytes go, in order. `fd` if `write` is NULL. */
    lode_write_fn write;
    void *write_user;
    int fd;
    const char *title; /* of the profile, for people; NULL: that of the store */
    lode_compression compression;
    /* Of databases: the metrics of stacks; NULL: lode_database_default_metric. */
    const lode_metric *const *metrics;
    size_t metric_count;
    const lode_selection *selection; /* profiles; NULL: all */
    /*
     * A time window of trace lines, in nanoseconds since the epoch; `to` is exclusive; both 0: all.
     * Stacks get the time of the samples in it instead of metrics, as lode_cost_compute_window has
     * it.
     */
    uint64_t from, to;
    const lode_slice *slice; /* of recordings; NULL: all */
    lode_name_form names;
    const char *focus; /* stacks begin at what this text means (lode/unstable/match.h); NULL: all */
    uint32_t depth;    /* call levels; 0: all. The cost of deeper ones is with the last level */
    int by_profile;    /* stacks by profile or track, instead of their sum */
    int lines;         /* lines in stacks, where that is optional */
    int loops;         /* loops are frames of their own */
    int no_entries;    /* stacks begin below the entry points */
    int no_inline;     /* inlined functions are frames like others */
    int samples;       /* samples too, in formats that have samples and slices */
    int no_arguments;  /* no arguments, results and attributes of calls */
    const char *table; /* one table of tabular formats; NULL: all */
    unsigned threads;  /* 0: one per processor */
    lode_pool *pool;   /* NULL: threads are started for this call */
    /* What was lost or changed, one line each; LODE_NOTE or LODE_WARNING. May be NULL. */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    int strict; /* fail at the first error in a recording, instead of repairing it */
    int reserved;
    const lode_kind_rules *kinds; /* of tables: rules that decide first; NULL: none */
} lode_export_options;
#define LODE_EXPORT_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_export_options), NULL, 0, NULL, NULL, -1, NULL, LODE_COMPRESSION_DEFAULT, NULL, 0, NULL, \
            0, 0, NULL, LODE_NAME_FULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, \
            NULL                                                                                             \
    }

/*
 * Writes a store in a format, to a file or directory that appears when it is complete. `path` may
 * be NULL if the options say where bytes go. Memory grows with contexts, functions and the depth of
 * calls, not with values or events. Output is reproducible: it does not depend on the number of
 * threads. LODE_ERR_ARGUMENT if there is no such format, LODE_ERR_UNSUPPORTED if it was left out of
 * this library or needs a path, LODE_ABSENT if the store has nothing that the format can hold.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_export_database(const lode_database *db, const char *path,
                                                       const lode_export_options *options, lode_error *error);
/* MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_export_recording(const lode_recording *recording, const char *path,
                                                        const lode_export_options *options,
                                                        lode_error *error);

LODE_END_DECLS
#endif
