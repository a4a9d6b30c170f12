/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an export writes its bytes: an atomic file, a file of a directory, a descriptor or a
 * callback; compressed on the way, if that is asked for.
 */
#ifndef LODE_EXPORT_FILE_H
#define LODE_EXPORT_FILE_H

#include "base/io/output.h"
#include <lode/unstable/export.h>
#include <stdbool.h>

struct lode_export_file;
struct lode_wire;

/* How to get zstd where it is missing. */
#define LODE_ZSTD_FROM "install libzstd-dev and build Lode with -Dzstd=enabled"

/* Whether this library can write it. */
bool lode_compression_is_available(lode_compression compression);

/* A file of an output; `name` is not used if the output is a single file. */
lode_status lode_export_file_create(struct lode_export_file **out, struct lode_output *output,
                                    const char *name, lode_compression compression, lode_error *error);
/* The callback or descriptor of the options. */
lode_status lode_export_file_to(struct lode_export_file **out, const lode_export_options *options,
                                lode_compression compression, lode_error *error);
/* Appends. Small pieces are cheap. */
lode_status lode_export_write(struct lode_export_file *file, const void *bytes, size_t size,
                              lode_error *error);
lode_status lode_export_print(struct lode_export_file *file, lode_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends what a buffer holds and empties it, once that is at least `least` bytes. */
lode_status lode_wire_flush(struct lode_wire *wire, struct lode_export_file *file, size_t least,
                            lode_error *error);
/* Bytes appended, before compression. */
uint64_t lode_export_written(const struct lode_export_file *file);
/* Completes the stream and closes the file. Frees it in any case; sets it to NULL. */
lode_status lode_export_file_finish(struct lode_export_file **file, lode_error *error);
/* Frees it, unfinished. NULL is allowed. */
void lode_export_file_abandon(struct lode_export_file *file);

#endif
