/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/otlp/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_otlp_rules[OTLP_RULE_COUNT] = {
#include "format/otlp/rules.def"
};
