/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recordings that become trace stores. Of trace stores everything is taken over that a store can hold: a track is a trace, and strings get new
 * ids. Of other recordings each outermost call of a track becomes a trace.
 */
#ifndef LODE_ZORKA_WRITE_SOURCE_H
#define LODE_ZORKA_WRITE_SOURCE_H

#include "format/zorka/write.h"

/* Where each function is used first, as far as one thread knows. */
struct zor_uses {
    uint64_t *firsts; /* by index of function */
    uint32_t count;
};

struct zor_source {
    const lode_recording *recording;
    struct zor_dictionary *dictionary;
    bool is_store;              /* the recording is a trace store */
    struct zor_entry **methods; /* by index of function; of other recordings, known when all were noted */
    uint32_t method_count;

    /* Of trace stores: entries by store and place of the text. */
    _Atomic(struct zor_entry *) **strings, **tuples;
    struct zor_entry *unknown_text, *unknown_key, *unknown_exception;

    /* Of others. */
    struct zor_uses *uses; /* by encoder */
    uint32_t use_count;
    struct zor_entry *host, *command; /* NULL: not known */
    struct zor_entry *keys[5];        /* of attributes of all traces */
};

/* The recording and the dictionary are borrowed; `encoders` says how many threads there will be. */
lode_status lode_zor_source_open(struct zor_source *source, const lode_recording *recording,
                                 struct zor_dictionary *strings, uint32_t encoders, lode_error *error);
void lode_zor_source_close(struct zor_source *source);
/* All events were noted: gives functions their names. */
lode_status lode_zor_source_name(struct zor_source *source, lode_error *error);
/* Encodes an event of a track. Events of a track come in their order, to one encoder. */
lode_status lode_zor_source_take(struct zor_source *source, struct zor_encoder *encoder, uint32_t track,
                                 const lode_event *event, lode_error *error);

/* ---- parts of it ---- */

lode_status lode_zor_translation_open(struct zor_source *source, lode_error *error);
void lode_zor_translation_close(struct zor_source *source);
lode_status lode_zor_take_translated(struct zor_source *source, struct zor_encoder *encoder, uint32_t track,
                                     const lode_event *event, lode_error *error);
/* A text of a store as a string; NULL if there is no memory. Id 0 is the empty string. */
struct zor_entry *lode_zor_translate_string(struct zor_source *source, uint32_t store, uint64_t id,
                                            struct zor_entry *unknown);
/* An exception; NULL if there is no memory. */
struct zor_entry *lode_zor_translate_exception(struct zor_source *source, uint32_t store, uint64_t id);

lode_status lode_zor_calls_open(struct zor_source *source, uint32_t encoders, lode_error *error);
void lode_zor_calls_close(struct zor_source *source);
lode_status lode_zor_calls_name(struct zor_source *source, lode_error *error);
lode_status lode_zor_take_call(struct zor_source *source, struct zor_encoder *encoder, uint32_t track,
                               const lode_event *event, lode_error *error);
/*
 * The parts of a name in C++: class, method and signature. Those that it has point into `name`; others stay as they are.
 */
void lode_zor_split_name(const char *name, struct lode_range parts[3]);

#endif
