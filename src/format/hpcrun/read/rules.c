/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_hpcrun_rules[HPCRUN_RULE_COUNT] = {
#include "format/hpcrun/read/rules.def"
};
