/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a piece of a data file: see model/recording/cuts.h. */
#ifndef LODE_UFTRACE_CUT_H
#define LODE_UFTRACE_CUT_H

#include "model/recording/cuts.h"
#include <lode/event.h>

/* What a part of a data file leaves open, from its end to its beginning. */
lode_status lode_uft_survey(const lode_recording *recording, uint32_t track, struct lode_cut_survey *survey,
                            lode_error *error);
/* A cursor from a cut to another; NULL: from the beginning, to the end. */
lode_status lode_uft_cursor_open_piece(lode_cursor **out, const lode_recording *recording, uint32_t track,
                                       const struct lode_cut *from, const struct lode_cut *to,
                                       const lode_cursor_options *options, lode_error *error);
/* Makes a cursor that has read nothing one of a piece. */
lode_status lode_uft_cursor_to_piece(lode_cursor *cursor, const struct lode_cut *from,
                                     const struct lode_cut *to, lode_error *error);
/* Whether a cursor that has read its piece is where the next one began, and repaired nothing. */
bool lode_uft_cursor_meets(const lode_cursor *cursor, const struct lode_cut *cut);

#endif
