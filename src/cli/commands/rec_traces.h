/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces by their numbers and ids. */
#ifndef CLI_REC_TRACES_H
#define CLI_REC_TRACES_H

#include "rec_session.h"

/*
 * Marks the traces of a list: numbers that count from 1, or the first digits of ids, which may have dashes between them. EXIT_DONE, or
 * EXIT_TROUBLE after a message.
 */
int rec_mark_traces(const rec_session *s, unsigned char *is_taken, const char *list);

#endif
