/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests need to know of boxes. */
#ifndef LODE_ANALYSIS_BOXES_H
#define LODE_ANALYSIS_BOXES_H

#include <lode/unstable/boxes.h>

/* How often a context was compared with the open calls: what the samples cost. */
uint64_t lode_boxes_steps(const lode_boxes *boxes);
/* How many events were read, also those that were read twice. */
uint64_t lode_boxes_events(const lode_boxes *boxes);

#endif
