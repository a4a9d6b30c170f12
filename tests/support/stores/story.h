/* SPDX-License-Identifier: BSD-3-Clause */
/* A track as text: one indented line per event, with times relative to the track and all values. */
#ifndef LODE_TESTS_STORY_H
#define LODE_TESTS_STORY_H

#include <lode/event.h>

/* To be freed. */
char *story_of(const lode_recording *recording, uint32_t track);

#endif
