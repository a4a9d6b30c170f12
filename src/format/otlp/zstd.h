/* SPDX-License-Identifier: BSD-3-Clause */
/* zstd, as a stream or as one frame for each message. */
#ifndef LODE_OTLP_ZSTD_H
#define LODE_OTLP_ZSTD_H

#include "base/io/gzip.h"

/* Whether Lode was built with zstd. */
bool lode_otlp_has_zstd(void);
/* A zstd stream, or a length of 4 bytes and a frame. */
bool lode_otlp_is_zstd(struct lode_range bytes);
/*
 * As lode_gzip_unpack. Frames that have a length each are unpacked to messages that do, or, if they
 * are JSON, to lines.
 */
enum lode_gzip_end lode_otlp_unzstd(struct lode_range packed, size_t most, struct lode_blob *out,
                                    uint64_t *offset);

#endif
