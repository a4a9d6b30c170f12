/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_zor_rules[ZOR_RULE_COUNT] = {
#include "format/zorka/rules.def"
};
