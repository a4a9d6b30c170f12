/* SPDX-License-Identifier: BSD-3-Clause */
/* Which events begin and end calls. Off-CPU time is a call of its pseudo function. */
#ifndef LODE_PRIVATE_CALL_EVENTS_H
#define LODE_PRIVATE_CALL_EVENTS_H

#include <lode/event.h>

static inline int lode_event_begins(const lode_event *event)
{
    return event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT;
}

static inline int lode_event_ends(const lode_event *event)
{
    return event->kind == LODE_EVENT_LEAVE || event->kind == LODE_EVENT_SCHED_IN;
}

#endif
