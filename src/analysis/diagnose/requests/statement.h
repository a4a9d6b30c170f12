/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements without their values, so that two that differ by values only are one. */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_STATEMENT_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an attribute of this name is a statement: SQL, or the URL of a call to a service. */
bool lode_diagnose_is_statement_key(const char *key);

/*
 * Writes a statement with '?' for strings, numbers, hexadecimal ids and lists of these, without
 * comments, and with one space for any white space. At most `capacity` - 1 bytes, and a zero byte.
 * Sets `has_parameters` if values are left out in the statement itself: ?, $1, :name, %s.
 */
void lode_diagnose_normalise_statement(const char *text, size_t length, char *out, size_t capacity,
                                       bool *has_parameters);

#endif
