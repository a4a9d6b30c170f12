/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/folded/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_folded_rules[FOLDED_RULES] = {
#include "format/folded/rules.def"
};
