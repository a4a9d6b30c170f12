/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chrome trace events; private to the format. chrome.c writes the file and its head,
 * chrome_events.c the events of threads.
 */
#ifndef LODE_EXPORT_CHROME_H
#define LODE_EXPORT_CHROME_H

#include "export/export.h"
#include "export/timelines/tracks.h"

enum {
    CHROME_LEVELS_MAX = 512 /* that Perfetto keeps: see perfetto.c */
};

/* What an encoder does with the events of a thread; its user is a timeline. */
void lode_chrome_encode(struct lode_timeline *self, struct lode_encoder *encoder);

#endif
