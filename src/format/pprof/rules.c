/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/pprof/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_pprof_rules[PPROF_RULE_COUNT] = {
#include "format/pprof/rules.def"
};
