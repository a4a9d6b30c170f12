/* SPDX-License-Identifier: BSD-3-Clause */
/* The check rules of span stores, as numbers for lode_report_add. */
#ifndef LODE_OTLP_RULES_H
#define LODE_OTLP_RULES_H

#include <lode/check.h>

enum otlp_rule {
#define RULE(name, id, severity, level, summary) OTLP_##name,
#include "format/otlp/rules.def"
    OTLP_RULE_COUNT
};

extern const lode_rule lode_otlp_rules[OTLP_RULE_COUNT];

#endif
