/* SPDX-License-Identifier: BSD-3-Clause */
/* Specifications for tests: opened from strings, and payloads shown as text. */
#ifndef LODE_TESTS_UFT_SPECS_H
#define LODE_TESTS_UFT_SPECS_H

#include "format/uftrace/args/args.h"
#include "format/uftrace/rules.h"
#include "unit.h"
#include <string.h>

struct specs {
    struct lode_arena arena;
    struct lode_report report;
    struct lode_uft_specs *specs;
    uint64_t findings;
    char last[512]; /* the text of the last finding */
};

static inline int on_spec_finding(void *user, const lode_finding *finding)
{
    struct specs *self = user;
    self->findings++;
    snprintf(self->last, sizeof self->last, "%s", finding->text);
    return 0;
}

static inline void specs_open(struct specs *self, const struct lode_uft_spec_strings *strings)
{
    self->findings = 0;
    self->last[0] = '\0';
    lode_arena_init(&self->arena, SIZE_MAX);
    assert_int_equal(
        lode_report_open(&self->report, lode_uft_rules, UFT_RULE_COUNT, 0, on_spec_finding, self, NULL),
        LODE_OK);
    assert_int_equal(lode_uft_specs_open(&self->specs, &self->arena, strings, &self->report), LODE_OK);
}

static inline void specs_close(struct specs *self)
{
    lode_uft_specs_close(self->specs);
    lode_arena_free(&self->arena);
    lode_report_close(&self->report);
}

/* All values of a payload, between ", ". */
static inline const char *specs_show(const struct specs *self, const struct lode_uft_spec *spec,
                                     const void *bytes, size_t size)
{
    static char text[4096];
    lode_argument arguments[64];
    size_t count, at = 0;
    struct lode_range payload = {bytes, size};
    if (lode_uft_payload_decode(self->specs, spec, payload, arguments, 64, &count, NULL) != LODE_OK)
        return "cut";
    text[0] = '\0';
    for (size_t i = 0; i < count && i < 64; i++) {
        if (i > 0)
            at += (size_t)snprintf(text + at, sizeof text - at, ", ");
        at += lode_argument_text(&arguments[i], text + at, sizeof text - at);
        assert_true(at < sizeof text);
    }
    return text;
}

#endif
