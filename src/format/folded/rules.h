/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_FOLDED_RULES_H
#define LODE_FORMAT_FOLDED_RULES_H

#include <lode/check.h>

#define RULE(name, id, severity, level, summary) FOLDED_RULE_##name,
enum folded_rule {
#include "format/folded/rules.def"
    FOLDED_RULES
};

extern const lode_rule lode_folded_rules[FOLDED_RULES];

#endif
