/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What --force may replace: a store, and nothing that only lies where one is expected. Every file below the directory must be known for a
 * part of one store by what is in it.
 */
#ifndef LODE_FORMAT_REPLACE_H
#define LODE_FORMAT_REPLACE_H

#include "base/output.h"

extern const struct lode_replace lode_replace_database, lode_replace_recording, lode_replace_traces;

#endif
