/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that --include and --exclude choose. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "command.h"
#include "options/option.h"
#include "output/out.h"

#include <lode/unstable.h>

/* NULL if nothing was asked for. EXIT_DONE, or EXIT_TROUBLE after a message. */
int filter_open(lode_filter **filter, const shared_options *shared);
/* Says how many functions were hidden, if any. */
void filter_say_hidden(out *o, size_t count);

#endif
