/* SPDX-License-Identifier: BSD-3-Clause */
/* What a track says, as text: one line for each event, indented, with times from the track's beginning on and all values. */
#ifndef LODE_TESTS_STORY_H
#define LODE_TESTS_STORY_H

#include <lode/event.h>

/* To be freed. */
char *story_of(const lode_recording *recording, uint32_t track);

#endif
