/* SPDX-License-Identifier: BSD-3-Clause */
/* A few closed cursors, whose memory others use. */
#ifndef LODE_ZORKA_IDLE_H
#define LODE_ZORKA_IDLE_H

#include "format/zorka/zorka.h"

struct zor_cursor;

/* One that was kept, the last one first; NULL if there is none. MT: any thread. */
struct zor_cursor *lode_zor_cursors_take(struct zor_cursors *cursors);
/* False if there are enough. MT: any thread. */
bool lode_zor_cursors_keep(struct zor_cursors *cursors, struct zor_cursor *cursor);
/* All are taken. NULL is allowed. */
void lode_zor_cursors_end(struct zor_cursors *cursors);

#endif
