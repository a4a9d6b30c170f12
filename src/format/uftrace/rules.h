/* SPDX-License-Identifier: BSD-3-Clause */
/* The check rules of uftrace recordings, as numbers for lode_report_add. */
#ifndef LODE_UFTRACE_RULES_H
#define LODE_UFTRACE_RULES_H

#include <lode/check.h>

enum uft_rule {
#define RULE(name, id, severity, level, summary) UFT_##name,
#include "format/uftrace/rules.def"
#undef RULE
    UFT_RULE_COUNT
};

extern const lode_rule lode_uft_rules[UFT_RULE_COUNT];

#endif
