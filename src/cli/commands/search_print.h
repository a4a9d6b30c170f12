/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found, as text, JSON and CSV. */
#ifndef CLI_SEARCH_PRINT_H
#define CLI_SEARCH_PRINT_H

#include "rec_session.h"

/* `asked` is what was searched for. The span of the recording must be known. */
void search_print(out *o, rec_session *s, const lode_search *search, const lode_search_options *asked);

#endif
