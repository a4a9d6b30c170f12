/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of lode/writer.h. */
#ifndef LODE_TRANSFORM_WRITER_H
#define LODE_TRANSFORM_WRITER_H

#include "model/sink.h"

/* How a value passes from a context to its parent. */
struct lode_writer_value {
    uint8_t type, bit;
    uint32_t loopless; /* of a custom scope: the column for values without inner loops */
};

struct lode_writer {
    struct lode_description about;
    struct lode_sink *sink;
    bool sealed, finished;
    bool broken;                         /* a profile could not be appended */
    struct lode_writer_value *value_ids; /* by value id */
    uint32_t columns;                    /* of a matrix: value ids, and one more per custom one */
    bool *opaque;                        /* by metric: it has a scope whose rule is not known */
    uint32_t appended;
};

#endif
