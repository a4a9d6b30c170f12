/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/bounded.h"

#include "base/error.h"
#include "base/io/gzip.h"
#include "base/text/count.h"

lode_status lode_bounded_limit(const struct lode_bounded *self, const char *what, uint64_t most)
{
    LODE_TRY(lode_report_add(self->report, self->rules->limit, self->file, LODE_NO_OFFSET, "%s more than %s",
                             self->subject, LODE_COUNTED(most, what, what)));
    return LODE_END;
}

lode_status lode_bounded_excess(const struct lode_bounded *self, const char *what, uint64_t most)
{
    LODE_TRY(lode_report_add(self->report, self->rules->expansion, self->file, LODE_NO_OFFSET,
                             "%s more than %s, the limit for a file of %s (%s)", self->subject,
                             LODE_COUNTED(most, what, what), LODE_COUNTED(self->packed, "byte", "bytes"),
                             LODE_COUNTED(self->bytes, "unpacked", "unpacked")));
    return LODE_END;
}

lode_status lode_bounded_too_many(const struct lode_bounded *self, const char *what, uint64_t most,
                                  uint64_t absolute)
{
    return most < absolute ? lode_bounded_excess(self, what, most) : lode_bounded_limit(self, what, absolute);
}

/* There is more in the gzip stream than was unpacked. */
static lode_status beyond_ratio(const struct lode_bounded *self, size_t unpacked)
{
    if (unpacked >= self->most)
        return lode_bounded_limit(self, "unpacked bytes", self->most);
    LODE_TRY(lode_report_add(self->report, self->rules->ratio, self->file, LODE_NO_OFFSET,
                             "%s to more than %s; to read them, unpack the file",
                             LODE_COUNTED(self->packed, "byte unpacks", "bytes unpack"),
                             LODE_COUNTED(unpacked, "byte", "bytes")));
    return LODE_END;
}

static lode_status report_end(const struct lode_bounded *self, enum lode_gzip_end end, uint64_t offset,
                              size_t unpacked)
{
    switch (end) {
    case LODE_GZIP_SOUND:
        return LODE_OK;
    case LODE_GZIP_TRAILING:
        return lode_report_add(self->report, self->rules->trailing, self->file, offset,
                               "%s after the end of the gzip stream",
                               LODE_COUNTED(self->packed - offset, "byte", "bytes"));
    case LODE_GZIP_LIMIT:
        return beyond_ratio(self, unpacked);
    case LODE_GZIP_MEMORY:
        return lode_fail_memory(self->report->error);
    case LODE_GZIP_CUT:
    case LODE_GZIP_CORRUPT:
    default:
        LODE_TRY(lode_report_add(self->report, self->rules->gzip, self->file, offset, "the gzip stream is %s",
                                 end == LODE_GZIP_CUT ? "cut off" : "damaged"));
        return LODE_END;
    }
}

lode_status lode_bounded_unpack(struct lode_bounded *self, struct lode_range *bytes,
                                struct lode_blob *unpacked)
{
    static const uint8_t none[1];
    uint64_t allowed = lode_gzip_allowed(bytes->size), offset = 0;
    self->packed = self->bytes = bytes->size;
    if (!lode_gzip_begins(*bytes))
        return self->bytes > self->most ? lode_bounded_limit(self, "bytes", self->most) : LODE_OK;
    enum lode_gzip_end end =
        lode_gzip_unpack(*bytes, allowed < self->most ? (size_t)allowed : self->most, unpacked, &offset);
    LODE_TRY(report_end(self, end, offset, unpacked->size));
    *bytes = (struct lode_range){unpacked->size > 0 ? unpacked->bytes : none, unpacked->size};
    self->bytes = unpacked->size;
    return LODE_OK;
}
