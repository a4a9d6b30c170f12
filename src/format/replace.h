/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What --force may replace: a store, and nothing else that happens to have its path. The content of
 * every file below the directory must identify it as part of one store.
 */
#ifndef LODE_FORMAT_REPLACE_H
#define LODE_FORMAT_REPLACE_H

#include "base/io/output.h"

extern const struct lode_replace lode_replace_database, lode_replace_recording, lode_replace_traces;

#endif
