/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/uftrace/rules.h"

#define RULE(name, id, severity, level, summary) {id, LODE_##severity, LODE_CHECK_##level, summary},
const lode_rule lode_uft_rules[UFT_RULE_COUNT] = {
#include "format/uftrace/rules.def"
};
