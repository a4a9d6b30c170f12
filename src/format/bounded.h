/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file, packed or not, that is read at once. What it unpacks to and what it becomes is bounded by
 * its size: a finding says which bound was exceeded.
 */
#ifndef LODE_FORMAT_BOUNDED_H
#define LODE_FORMAT_BOUNDED_H

#include "base/io/range.h"
#include "base/memory/blob.h"
#include "model/finding.h"

/* Numbers of rules of the format. */
struct lode_bounded_rules {
    unsigned gzip, trailing, limit, ratio, expansion;
};

struct lode_bounded {
    struct lode_report *report;
    const struct lode_bounded_rules *rules;
    const char *file;
    const char *subject;    /* of findings: "the profile has" */
    size_t most;            /* bytes, unpacked */
    uint64_t packed, bytes; /* of the file, and what it unpacks to */
};

/*
 * `bytes` is the file and becomes what it unpacks to, which `unpacked` owns. LODE_END: there is
 * nothing to read, and a finding.
 */
lode_status lode_bounded_unpack(struct lode_bounded *self, struct lode_range *bytes,
                                struct lode_blob *unpacked);

/* Reports that there are more than `most` of something, and returns LODE_END. */
lode_status lode_bounded_limit(const struct lode_bounded *self, const char *what, uint64_t most);
/* The same for a limit that follows from the size of the file. */
lode_status lode_bounded_excess(const struct lode_bounded *self, const char *what, uint64_t most);
/* Either of them, for the smaller of a limit by size and an absolute one. */
lode_status lode_bounded_too_many(const struct lode_bounded *self, const char *what, uint64_t most,
                                  uint64_t absolute);

#endif
