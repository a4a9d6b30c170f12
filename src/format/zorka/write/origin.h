/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts recordings to trace stores. From trace stores, everything is copied: a track is a trace,
 * and strings get new ids. From other recordings, each outermost call of a track becomes a trace.
 */
#ifndef LODE_ZORKA_WRITE_ORIGIN_H
#define LODE_ZORKA_WRITE_ORIGIN_H

#include "format/zorka/write/write.h"

/* The first use of each function, as far as one thread knows. */
struct zor_uses {
    uint64_t *firsts; /* by function index */
    uint32_t count;
};

struct zor_origin {
    const lode_recording *recording;
    struct zor_dictionary *dictionary;
    bool is_store;              /* the recording is a trace store */
    struct zor_entry **methods; /* by function index; other recordings: set after noting */
    uint32_t method_count;

    /* Trace stores: entries by store and index of the string. */
    _Atomic(struct zor_entry *) **strings, **tuples;
    struct zor_entry *unknown_text, *unknown_key, *unknown_exception;

    /* Other recordings. */
    struct zor_uses *uses; /* by encoder */
    uint32_t use_count;
    struct zor_entry *host, *command; /* NULL: not known */
    struct zor_entry *keys[5];        /* of attributes of all traces */
};

/* Borrows the recording and the dictionary; `encoders` is the number of threads. */
lode_status lode_zor_origin_open(struct zor_origin *source, const lode_recording *recording,
                                 struct zor_dictionary *strings, uint32_t encoders, lode_error *error);
void lode_zor_origin_close(struct zor_origin *source);
/* All events were noted: names the functions. */
lode_status lode_zor_origin_name(struct zor_origin *source, lode_error *error);
/* Encodes an event of a track. One encoder takes the events of a track, in order. */
lode_status lode_zor_origin_take(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                                 const lode_event *event, lode_error *error);

/* ---- parts of it ---- */

lode_status lode_zor_translation_open(struct zor_origin *source, lode_error *error);
void lode_zor_translation_close(struct zor_origin *source);
lode_status lode_zor_take_translated(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                                     const lode_event *event, lode_error *error);
/* A string of a store; NULL if out of memory. Id 0 is the empty string. */
struct zor_entry *lode_zor_translate_string(struct zor_origin *source, uint32_t store, uint64_t id,
                                            struct zor_entry *unknown);
/* An exception; NULL if out of memory. */
struct zor_entry *lode_zor_translate_exception(struct zor_origin *source, uint32_t store, uint64_t id);

lode_status lode_zor_calls_open(struct zor_origin *source, uint32_t encoders, lode_error *error);
void lode_zor_calls_close(struct zor_origin *source);
lode_status lode_zor_calls_name(struct zor_origin *source, lode_error *error);
lode_status lode_zor_take_call(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                               const lode_event *event, lode_error *error);
/* Splits a C++ name into class, method and signature. Missing parts are unchanged. */
void lode_zor_split_name(const char *name, struct lode_range parts[3]);

#endif
