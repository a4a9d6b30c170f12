/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_HPCRUN_RULES_H
#define LODE_FORMAT_HPCRUN_RULES_H

#include <lode/check.h>

#define RULE(name, id, severity, level, summary) HPCRUN_RULE_##name,
enum hpcrun_rule {
#include "format/hpcrun/read/rules.def"
    HPCRUN_RULE_COUNT
};

extern const lode_rule lode_hpcrun_rules[HPCRUN_RULE_COUNT];

#endif
