/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what is known of a binary as an element LM of a structure file. */
#ifndef LODE_FORMAT_HPCRUN_STRUCTURE_WRITE_H
#define LODE_FORMAT_HPCRUN_STRUCTURE_WRITE_H

#include "base/io/output.h"
#include "format/hpcrun/scopes/structure.h"
#include <lode/private/structure.h>

struct hpcstruct_writer {
    struct lode_output_file file;
    uint32_t next; /* number of an element */
    lode_status status;
    lode_error *error;
};

void lode_hpcstruct_begin(struct hpcstruct_writer *writer);
/* Counts what is written into `result`. `writer` may be NULL: nothing is written. */
lode_status lode_hpcstruct_write(struct hpcstruct_writer *writer, const struct hpcstruct_module *module,
                                 lode_structure_result *result, lode_error *error);
void lode_hpcstruct_end(struct hpcstruct_writer *writer);

#endif
