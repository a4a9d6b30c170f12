/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit_drafts/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_drafts_rules[DRAFTS_RULE_COUNT] = {
#include "format/hpctoolkit_drafts/rules.def"
};
