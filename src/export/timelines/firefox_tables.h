/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a Firefox profile that all threads share: names, functions, stacks. */
#ifndef LODE_EXPORT_FIREFOX_TABLES_H
#define LODE_EXPORT_FIREFOX_TABLES_H

#include "base/memory/intern.h"
#include "base/memory/map.h"
#include "export/file.h"
#include "export/json.h"
#include "export/timelines/tracks.h"

#define FIREFOX_NONE UINT32_MAX /* no stack, no module, no file */

struct firefox_tables {
    struct lode_strings strings, libraries, files;
    struct lode_interner functions, stacks;
    struct lode_map by_frame; /* address of the frame to function */
};

void lode_firefox_tables_init(struct firefox_tables *tables);
void lode_firefox_tables_free(struct firefox_tables *tables);

/* The number of a text in the array of strings; it is clean already. False if out of memory. */
bool lode_firefox_string(struct firefox_tables *tables, const char *text, uint32_t *number);
/* The number of the stack that `frame` makes above the stack `prefix`. */
lode_status lode_firefox_stack(struct firefox_tables *tables, struct lode_tracks *tracks, uint32_t prefix,
                               const lode_function *frame, uint8_t category, uint32_t *number,
                               lode_error *error);

/* Writes all tables. `out` is used for it, and empty after it. */
lode_status lode_firefox_tables_write(const struct firefox_tables *tables, struct lode_wire *out,
                                      struct lode_export_file *file, lode_error *error);

/* ---- for columns of any table ---- */

/* N times the same. */
static inline void firefox_constant(struct lode_wire *out, const char *name, const char *value,
                                    uint64_t count)
{
    json_text(out, name);
    for (uint64_t i = 0; i < count; i++) {
        json_text(out, i ? "," : "");
        json_text(out, value);
    }
    json_text(out, "]");
}

static inline void firefox_length(struct lode_wire *out, uint64_t count)
{
    json_text(out, ",\"length\":");
    json_number(out, count);
    json_text(out, "}");
}

#endif
