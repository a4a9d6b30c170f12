/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules about services share: the sums of a kind, by what they account for, and texts. */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_SPEAK_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_SPEAK_H

#include "analysis/diagnose/requests/facts.h"
#include "analysis/diagnose/requests/services/services.h"

/* A sum that a rule may speak of. */
struct service_found {
    const struct service_key *key;
    const struct service_sum *sum;
    struct share gain; /* of the time of all requests */
    double of_caller;  /* what could go, of the time of the caller; 0: there is none */
};

/*
 * The sums of a kind, those that account for most first; equal ones by name. For free(); NULL if
 * out of memory.
 */
struct service_found *lode_diagnose_service_list(const struct request_facts *facts,
                                                 enum service_sum_kind kind, size_t *count);
/* All calls of a function; NULL: there are too many functions. */
const struct service_sum *lode_diagnose_service_calls_of(const struct request_facts *facts,
                                                         uint32_t function);
/*
 * A gain that is worth a place of its own; smaller ones are told as evidence, so that a problem of
 * one endpoint among many is shown.
 */
void lode_diagnose_service_set_gain(struct draft *draft, const struct share *gain);
const char *lode_diagnose_service_name(struct lode_diagnosis *d, uint32_t function);
/* A text of the tables; it is cut if it is long. */
const char *lode_diagnose_service_quote(struct lode_diagnosis *d, uint32_t text);

/* What spans say about repeated calls, for the rules of this name. */
lode_status lode_diagnose_service_say_rounds(struct lode_diagnosis *d, enum service_sum_kind kind,
                                             lode_error *error);
lode_status lode_diagnose_service_say_retries(struct lode_diagnosis *d, lode_error *error);

#endif
