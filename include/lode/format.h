/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats that stores can have. */
#ifndef LODE_FORMAT_H
#define LODE_FORMAT_H

#include <lode/store.h>
#include <stddef.h>

LODE_BEGIN_DECLS

/* New fields come at the end. */
typedef struct lode_format_info {
    const char *name;        /* selects it in options, such as lode_convert_options.to */
    const char *description; /* one line */
    /* Formats of one family differ in the layout of their files, which has a name, or is NULL. */
    const char *family, *layout;
    lode_store_kind kind; /* what stores of it are */
    int can_read, can_write;
    int can_synthesize; /* lode_synth_recording can make one */
} lode_format_info;

/* How many formats there are. MT: any thread. */
LODE_API size_t lode_format_count(void);
/* One of them, by its number. LODE_NOT_FOUND past the last one. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_format_at_sized(size_t index, lode_format_info *out, size_t out_size);
#define lode_format_at(index, out) lode_format_at_sized(index, out, sizeof(lode_format_info))

LODE_END_DECLS
#endif
