/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_RULES_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_RULES_H

#include <lode/check.h>

#define RULE(name, id, severity, level, summary) DRAFTS_RULE_##name,
enum drafts_rule {
#include "format/hpctoolkit_drafts/rules.def"
    DRAFTS_RULE_COUNT
};

extern const lode_rule lode_drafts_rules[DRAFTS_RULE_COUNT];

#endif
