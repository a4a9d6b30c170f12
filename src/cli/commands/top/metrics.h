/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode top` with several metrics, or with formulas. */
#ifndef CLI_TOP_METRICS_H
#define CLI_TOP_METRICS_H

#include "command.h"
#include "stores/session.h"

/* Rows by the metrics of a session, sorted by the first. EXIT_TROUBLE after a message. */
int top_metrics(const invocation *call, session *s, const lode_hotspot_options *asked, const char *by_name);

#endif
