/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2 archives; private to the format. Locations are written at once by several threads. What
 * their events refer to has numbers of the location, in order of first use; when all locations are
 * written, each gets a table that maps them to the numbers of the archive.
 */
#ifndef LODE_EXPORT_OTF2_H
#define LODE_EXPORT_OTF2_H

#include "base/memory/intern.h"
#include "export/export.h"
#include "export/timelines/tracks.h"
#include <otf2/otf2.h>
#include <pthread.h>
#include <stdatomic.h>

/* What has numbers. Texts name all but regions: see the functions below. */
enum {
    OTF2_REGIONS,
    OTF2_STRINGS,
    OTF2_ATTRIBUTES,
    OTF2_METRICS,
    OTF2_TABLES
};

/* The first character of the text of an attribute or of a member of a metric. */
enum {
    OTF2_IS_SIGNED = 'i',
    OTF2_IS_UNSIGNED = 'u',
    OTF2_IS_REAL = 'd',
    OTF2_IS_TEXT = 's'
};
#define OTF2_MEMBER "\n" /* before each member in the text of a metric */

/* What a location used: by its own number, the shared one. */
struct otf2_location {
    uint64_t events;
    uint32_t *numbers[OTF2_TABLES];
    uint32_t counts[OTF2_TABLES];
};

struct otf2 {
    struct lode_timeline base;
    OTF2_Archive *archive;
    struct otf2_location *locations; /* by line */
    /* Shared numbers, which depend on which thread was first: they are never written. */
    pthread_mutex_t lock;
    struct lode_strings texts[OTF2_TABLES];
    const lode_function **frames; /* by index */
    size_t frame_capacity;
    /* Numbers of the archive, by shared number, plus 1. */
    uint32_t *finals[OTF2_TABLES];
    atomic_uint_fast64_t lost_texts, lost_instants;
};

/* The result of a call, as a status. */
lode_status lode_otf2_check(OTF2_ErrorCode code, const char *what, lode_error *error);
OTF2_Type lode_otf2_type(char kind);

/* Writes the events of all locations. */
lode_status lode_otf2_write_events(struct otf2 *self, lode_error *error);
/* Writes the definitions of all locations and those of the archive. */
lode_status lode_otf2_define(struct otf2 *self, lode_error *error);

#endif
