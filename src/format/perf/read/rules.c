/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/read/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_perf_rules[PERF_RULE_COUNT] = {
#include "format/perf/read/rules.def"
};
