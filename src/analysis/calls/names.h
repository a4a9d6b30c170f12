/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of one name, for calls by name. Functions are met while workers read events. */
#ifndef LODE_ANALYSIS_CALLS_NAMES_H
#define LODE_ANALYSIS_CALLS_NAMES_H

#include "base/memory/array.h"
#include "base/memory/intern.h"
#include "model/recording/recording.h"
#include <lode/calls.h>
#include <pthread.h>

/* Which function stands for a name depends on who meets it first; results do not. */
struct lode_call_names {
    const lode_recording *recording;
    bool merges;
    lode_name_form form;
    const lode_filter *filter;
    pthread_mutex_t lock;    /* protects the rest */
    struct lode_index index; /* of functions that stand for their name, by hash of the name */
    struct lode_array items; /* of struct lode_diagnose_call_name, by index of function */
    char *label, *other;
};

struct lode_diagnose_call_name {
    uint32_t group; /* index of the function that stands for it, plus 1; 0: not met */
    bool is_hidden;
};

lode_status lode_call_names_init(struct lode_call_names *names, const lode_recording *recording,
                                 const lode_calls_options *options, lode_error *error);
void lode_call_names_free(struct lode_call_names *names);
/* The group of a function, plus 1; 0 if out of memory. MT: any thread. */
uint32_t lode_call_names_group(struct lode_call_names *names, const lode_function *function);

#endif
