/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `lode replay` of recordings of traces, as text: one trace after the other, each as a call tree with shares, attributes and exceptions.
 *
 * A call's line says how long the call took, which is known when it ends. So a trace is read twice: first to note times, 16 bytes for each call
 * that may be shown, then to print.
 */
#ifndef CLI_REPLAY_TRACE_H
#define CLI_REPLAY_TRACE_H

#include "commands/replay_words.h"
#include "rec_session.h"

typedef struct replay_trace_options {
    double min_fraction; /* calls with a smaller share of their trace are folded; 0: none are */
    int shows_times;
    uint64_t limit; /* of lines; 0: none */
} replay_trace_options;

int replay_traces(out *o, rec_session *s, replay_words *words, const replay_trace_options *settings);

#endif
