/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_HPCTOOLKIT_RULES_H
#define LODE_FORMAT_HPCTOOLKIT_RULES_H

#include <lode/check.h>

#define RULE(name, id, severity, level, summary) RULE_##name,
enum hpct_rule {
#include "format/hpctoolkit/rules.def"
    RULE_COUNT
};

extern const lode_rule lode_hpct_rules[RULE_COUNT];

#endif
