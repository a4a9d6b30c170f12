/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrow: tables as streams of the Arrow C data interface, for pyarrow, polars and others. */
#ifndef LODE_UNSTABLE_ARROW_H
#define LODE_UNSTABLE_ARROW_H

#include <lode/table.h>

LODE_BEGIN_DECLS

/* The structs of the interface, as its specification has them; other headers may have them too. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/*
 * A scan as a stream of record batches. Columns are those of the options, without arguments of
 * table functions: uint8 (boolean where the field says so), uint32, uint64, int64, float64, and
 * strings as int32 indices of a dictionary, which each batch has its own of. Buffers are aligned
 * and padded to 64 bytes. Batches live on after the stream, which keeps the tables but not the
 * store; anything may be released on any thread. Errors are errno codes; get_last_error has the
 * text. MT: any thread; a stream is read by one thread at a time.
 */
LODE_API LODE_CHECKED lode_status lode_arrow_stream(struct ArrowArrayStream *out, lode_tables *tables,
                                                    const lode_table_info *table,
                                                    const lode_scan_options *options, lode_error *error);

LODE_END_DECLS
#endif
