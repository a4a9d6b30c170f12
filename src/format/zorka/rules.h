/* SPDX-License-Identifier: BSD-3-Clause */
/* The check rules of Zorka trace stores, as numbers for lode_report_add. */
#ifndef LODE_ZORKA_RULES_H
#define LODE_ZORKA_RULES_H

#include <lode/check.h>

enum zor_rule {
#define RULE(name, id, severity, level, summary) ZOR_##name,
#include "format/zorka/rules.def"
#undef RULE
    ZOR_RULE_COUNT
};

extern const lode_rule lode_zor_rules[ZOR_RULE_COUNT];

#endif
