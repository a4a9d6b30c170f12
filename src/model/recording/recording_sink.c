/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/recording_sink.h"

/* A time of the first recording's clock in that of another, no earlier than its beginning. */
static uint64_t unmove_time(uint64_t time, int64_t clock)
{
    uint64_t moved;
    if (!__builtin_sub_overflow(time, clock, &moved))
        return moved;
    return clock > 0 ? 0 : UINT64_MAX;
}

bool lode_recording_sink_slice(const struct lode_recording_sink *self, size_t index, lode_slice *out)
{
    int64_t clock = self->ops->clock(self, index);
    *out = self->slice;
    out->from = self->slice.from ? unmove_time(self->slice.from, clock) : 0;
    out->to = self->slice.to ? unmove_time(self->slice.to, clock) : 0;
    return self->slice.to == 0 || out->to > 0;
}
