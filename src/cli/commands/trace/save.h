/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline in a file. */
#ifndef CLI_TRACE_SAVE_H
#define CLI_TRACE_SAVE_H

#include "commands/trace/image.h"

typedef const char *(*trace_name_fn)(label *l, const lode_timeline_share *share, int names);

/* Whether a picture can be written there: EXIT_DONE, or a message. */
int trace_save_usage(const char *path, int force);
/* Writes the picture of a drawing atomically; `store` is in the title. */
int trace_save(const trace_drawing *d, const image_plan *plan, const char *path, const char *store,
               trace_name_fn name);

#endif
