/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_hpct_rules[RULE_COUNT] = {
#include "format/hpctoolkit/rules.def"
};
