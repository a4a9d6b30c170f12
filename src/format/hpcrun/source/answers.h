/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers of providers and findings as messages between ranks: of an answer, what the offsets of
 * its question need. Replayed in the order of the work, they give what one rank would give.
 */
#ifndef LODE_FORMAT_HPCRUN_ANSWERS_H
#define LODE_FORMAT_HPCRUN_ANSWERS_H

#include "base/memory/blob.h"
#include "format/hpcrun/scopes/scopes.h"

bool lode_hpcrun_answer_pack(struct lode_blob *blob, const struct hpcrun_question *asked, uint32_t question,
                             const struct hpcrun_answer *answer);
/* Answers the question of `scopes`. */
lode_status lode_hpcrun_answer_replay(const unsigned char **at, struct hpcrun_scopes *scopes,
                                      lode_error *error);

#endif
