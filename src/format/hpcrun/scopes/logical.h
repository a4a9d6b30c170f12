/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logical files: names of frames that are no machine code, such as those of Python. An address in
 * such a module is an id of the file, and below it a line.
 */
#ifndef LODE_FORMAT_HPCRUN_LOGICAL_H
#define LODE_FORMAT_HPCRUN_LOGICAL_H

#include "format/hpcrun/scopes/structure.h"

#define LOGICAL_FOLDER "logical"
#define LOGICAL_BEGIN  "HPCLOGICAL"

enum {
    LOGICAL_BEGIN_SIZE = 10,
    LOGICAL_LINE_BITS = 32
};

/*
 * As lode_hpcstruct_read: a module whose ranges are ids; their scopes are functions or, without a
 * name, lines of a file. The line comes from the address. Equal records have one scope.
 */
lode_status lode_logical_read(const char *file, struct lode_range bytes, lode_check_level level,
                              struct lode_report *report, hpcstruct_fn on_module, void *user);

#endif
