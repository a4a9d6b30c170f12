/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_PERF_RULES_H
#define LODE_FORMAT_PERF_RULES_H

#include <lode/check.h>

#define RULE(name, id, severity, level, summary) PERF_RULE_##name,
enum perf_rule {
#include "format/perf/read/rules.def"
    PERF_RULE_COUNT
};

extern const lode_rule lode_perf_rules[PERF_RULE_COUNT];

#endif
