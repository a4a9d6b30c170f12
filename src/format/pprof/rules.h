/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_PPROF_RULES_H
#define LODE_FORMAT_PPROF_RULES_H

#include <lode/check.h>

#define RULE(name, id, severity, level, summary) PPROF_RULE_##name,
enum pprof_rule {
#include "format/pprof/rules.def"
    PPROF_RULE_COUNT
};

extern const lode_rule lode_pprof_rules[PPROF_RULE_COUNT];

#endif
