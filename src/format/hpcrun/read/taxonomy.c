/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/taxonomy.h"

#include "format/hpcrun/read/formula.h"
#include "model/database/description.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SHOW_HIDDEN = 0,
    SHOW_NEVER = 4
};

/* Scopes as viewers order them. */
static const enum hpcrun_scope shown_scopes[] = {HPCRUN_SCOPE_EXECUTION, HPCRUN_SCOPE_LEXICAL,
                                                 HPCRUN_SCOPE_FUNCTION};

/* ---- text ---- */

void lode_hpcrun_put(struct hpcrun_text *text, const char *format, ...)
{
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    size_t at = length < 0 || (size_t)length >= sizeof buffer ? LODE_BLOB_FULL
                                                              : lode_blob_extend(&text->blob, (size_t)length);
    text->failed |= at == LODE_BLOB_FULL;
    if (at != LODE_BLOB_FULL)
        memcpy(text->blob.bytes + at, buffer, (size_t)length);
}

/* A YAML string in double quotes. */
static void put_quoted(struct hpcrun_text *text, const char *string)
{
    lode_hpcrun_put(text, "\"");
    for (; *string; string++) {
        unsigned char byte = (unsigned char)*string;
        if (byte == '"' || byte == '\\')
            lode_hpcrun_put(text, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            lode_hpcrun_put(text, "\\x%02x", byte);
        else
            lode_hpcrun_put(text, "%c", byte);
    }
    lode_hpcrun_put(text, "\"");
}

/* ---- what is described ---- */

/* The metrics of the description, before it is sealed: they have the order of `sorted`. */
struct taxonomy {
    const struct hpcrun_source *source;
    const uint32_t *sorted;
    struct hpcrun_text text;
    unsigned statistics;
};

static const struct hpcrun_raw_metric *metric_at(const struct taxonomy *self, uint32_t position)
{
    return LODE_ARRAY_AT(&self->source->raw.metrics, struct hpcrun_raw_metric, self->sorted[position]);
}

static const char *scope_name(enum hpcrun_scope scope)
{
    static const char *const names[HPCRUN_SCOPES] = {"point", "function", "lex_aware", "execution"};
    return names[scope];
}

/* Without a function scope, exclusive costs are point values. */
static enum hpcrun_scope scope_for(const struct hpcrun_value_ids *ids, enum hpcrun_scope scope)
{
    bool is_point = scope == HPCRUN_SCOPE_FUNCTION && ids->ids[scope] == LODE_NONE;
    return is_point ? HPCRUN_SCOPE_POINT : scope;
}

/* An anchor: the metric's number, the scope, and what is combined. */
static void put_anchor(struct hpcrun_text *text, char sign, uint32_t metric, enum hpcrun_scope scope,
                       const char *what)
{
    lode_hpcrun_put(text, "%cm%u-%s-%s", sign, metric, scope_name(scope), what);
}

/* ---- inputs ---- */

static const struct input {
    const char *what, *formula, *combine;
    unsigned needed_by;
} inputs[] = {
    {"count", "1", "sum", LODE_STATISTIC_MEAN | LODE_STATISTIC_STDDEV | LODE_STATISTIC_CFVAR},
    {"sum", "$$", "sum", ~0u},
    {"squares", "($$^2)", "sum", LODE_STATISTIC_STDDEV | LODE_STATISTIC_CFVAR},
    {"min", "$$", "min", LODE_STATISTIC_MIN},
    {"max", "$$", "max", LODE_STATISTIC_MAX},
};

static void put_inputs(struct taxonomy *self)
{
    struct hpcrun_text *text = &self->text;
    uint32_t number = 0;
    lode_hpcrun_put(text, "version: 0\ninputs:%s\n", self->source->metric_count ? "" : " []");
    for (uint32_t i = 0; i < self->source->raw.metrics.count; i++) {
        const struct hpcrun_raw_metric *metric = metric_at(self, i);
        if (metric->formula[0])
            continue;
        const struct hpcrun_value_ids *ids = &self->source->value_ids[number];
        unsigned statistics = metric->show == SHOW_NEVER ? LODE_STATISTIC_SUM : self->statistics;
        for (size_t s = 0; s < sizeof shown_scopes / sizeof *shown_scopes; s++) {
            enum hpcrun_scope scope = scope_for(ids, shown_scopes[s]);
            for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
                if (ids->ids[scope] == LODE_NONE || !(inputs[k].needed_by & statistics))
                    continue;
                lode_hpcrun_put(text, "  - ");
                put_anchor(text, '&', number, scope, inputs[k].what);
                lode_hpcrun_put(text, "\n    metric: ");
                put_quoted(text, metric->name);
                lode_hpcrun_put(text, "\n    scope: %s\n    formula: %s\n    combine: %s\n",
                                scope_name(scope), inputs[k].formula, inputs[k].combine);
            }
        }
        number++;
    }
}

/* ---- variants ---- */

/* A pattern of anchors: S sum, N count, Q squares, m min, M max; everything else stays. */
#define MEAN   "{/: [S, N]}"
#define STDDEV "{sqrt: [{\"-\": [{/: [Q, N]}, {^: [" MEAN ", 2]}]}]}"

static const struct variant {
    unsigned statistic;
    const char *name, *render, *pattern;
} variants[] = {
    {LODE_STATISTIC_SUM, "Sum", "[number, percent]", "S"},
    {LODE_STATISTIC_MEAN, "Mean", "[number]", MEAN},
    {LODE_STATISTIC_STDDEV, "StdDev", "[number]", STDDEV},
    {LODE_STATISTIC_CFVAR, "CfVar", "[number]", "{/: [" STDDEV ", " MEAN "]}"},
    {LODE_STATISTIC_MIN, "Min", "[number]", "m"},
    {LODE_STATISTIC_MAX, "Max", "[number]", "M"},
};

static void put_pattern(struct hpcrun_text *text, const char *pattern, uint32_t metric,
                        enum hpcrun_scope scope)
{
    static const struct {
        char sign;
        const char *what;
    } anchors[] = {{'S', "sum"}, {'N', "count"}, {'Q', "squares"}, {'m', "min"}, {'M', "max"}};
    for (; *pattern; pattern++) {
        const char *what = NULL;
        for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++)
            what = anchors[i].sign == *pattern ? anchors[i].what : what;
        if (strncmp(pattern, "sqrt", 4) == 0) {
            lode_hpcrun_put(text, "sqrt");
            pattern += 3;
        } else if (what)
            put_anchor(text, '*', metric, scope, what);
        else
            lode_hpcrun_put(text, "%c", *pattern);
    }
}

/* What is shown of a scope: a variant of a measured metric, or a formula. */
struct shown {
    const struct variant *variant; /* NULL: a formula */
    const char *formula;
    uint32_t metric;
    struct hpcrun_value_ids ids;
};

static void put_shown(struct taxonomy *self, const struct shown *shown, enum hpcrun_scope scope,
                      const char *title)
{
    scope = scope_for(&shown->ids, scope);
    if (shown->ids.ids[scope] == LODE_NONE)
        return;
    lode_hpcrun_put(&self->text, "            %s: ", title);
    if (shown->variant)
        put_pattern(&self->text, shown->variant->pattern, shown->metric, scope);
    else
        lode_hpcrun_put_formula(&self->text, shown->formula, scope_name(scope), self);
    lode_hpcrun_put(&self->text, "\n");
}

static void put_variant(struct taxonomy *self, const char *name, const char *render,
                        const struct shown *shown)
{
    struct hpcrun_text *text = &self->text;
    lode_hpcrun_put(text, "      %s:\n        render: %s\n        formula:\n", name, render);
    if (shown->ids.ids[HPCRUN_SCOPE_EXECUTION] != LODE_NONE)
        lode_hpcrun_put(text, "          inclusive:\n");
    put_shown(self, shown, HPCRUN_SCOPE_EXECUTION, "standard");
    lode_hpcrun_put(text, "          exclusive:\n");
    put_shown(self, shown, HPCRUN_SCOPE_LEXICAL, "custom");
    put_shown(self, shown, HPCRUN_SCOPE_FUNCTION, "standard");
}

/* ---- roots ---- */

static void put_head(struct taxonomy *self, const struct hpcrun_raw_metric *metric)
{
    struct hpcrun_text *text = &self->text;
    lode_hpcrun_put(text, "  - name: ");
    put_quoted(text, metric->name);
    lode_hpcrun_put(text, "\n    description: ");
    put_quoted(text, metric->description[0] || metric->formula[0] ? metric->description : metric->name);
    if (metric->format[0] && metric->formula[0]) {
        lode_hpcrun_put(text, "\n    format: ");
        put_quoted(text, metric->format);
    }
    if (metric->show == SHOW_HIDDEN)
        lode_hpcrun_put(text, "\n    visible by default: false");
    lode_hpcrun_put(text, "\n    variants:\n");
}

static void put_measured(struct taxonomy *self, const struct hpcrun_raw_metric *metric, uint32_t number)
{
    put_head(self, metric);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct shown shown = {
            .variant = &variants[i], .metric = number, .ids = self->source->value_ids[number]};
        if (variants[i].statistic & self->statistics)
            put_variant(self, variants[i].name, variants[i].render, &shown);
    }
}

/* The scopes that all metrics of a formula have; false if it cannot be computed. */
static bool find_scopes(struct taxonomy *self, const struct hpcrun_raw_metric *metric, struct shown *shown)
{
    *shown = (struct shown){.formula = metric->formula};
    for (unsigned i = 0; i < HPCRUN_SCOPES; i++) {
        struct hpcrun_text scratch = {0};
        bool is_hidden = metric->show == 3 && i == HPCRUN_SCOPE_EXECUTION;
        bool is_point = i == HPCRUN_SCOPE_POINT;
        bool done =
            !is_hidden && !is_point &&
            lode_hpcrun_put_formula(&scratch, metric->formula, scope_name((enum hpcrun_scope)i), self);
        shown->ids.ids[i] = done ? i : LODE_NONE;
        lode_blob_free(&scratch.blob);
    }
    return shown->ids.ids[HPCRUN_SCOPE_FUNCTION] != LODE_NONE;
}

static void put_roots(struct taxonomy *self)
{
    uint32_t number = 0, count = 0;
    lode_hpcrun_put(&self->text, "roots:");
    for (uint32_t i = 0; i < self->source->raw.metrics.count; i++) {
        const struct hpcrun_raw_metric *metric = metric_at(self, i);
        struct shown shown;
        bool is_shown =
            metric->show != SHOW_NEVER && (metric->formula[0] ? find_scopes(self, metric, &shown)
                                                              : !(self->statistics & LODE_STATISTIC_NONE));
        if (is_shown)
            lode_hpcrun_put(&self->text, "%s", count++ == 0 ? "\n" : "");
        if (is_shown && metric->formula[0]) {
            put_head(self, metric);
            put_variant(self, "\"\"", metric->percent ? "[number, percent]" : "[number]", &shown);
        } else if (is_shown) {
            put_measured(self, metric, number);
        }
        number += metric->formula[0] == '\0';
    }
    lode_hpcrun_put(&self->text, "%s", count == 0 ? " []\n" : "");
}

/* For formulas: the sum of a metric under a scope. False if there is none. */
bool lode_hpcrun_put_metric(struct hpcrun_text *text, const char *name, size_t length, const char *scope,
                            const void *context)
{
    const struct taxonomy *self = context;
    uint32_t number = 0;
    for (uint32_t i = 0; i < self->source->raw.metrics.count; i++) {
        const struct hpcrun_raw_metric *metric = metric_at(self, i);
        if (metric->formula[0])
            continue;
        bool is_it = strlen(metric->name) == length && memcmp(metric->name, name, length) == 0;
        for (unsigned k = 0; k < HPCRUN_SCOPES && is_it; k++)
            if (strcmp(scope, scope_name((enum hpcrun_scope)k)) == 0 &&
                self->source->value_ids[number].ids[k] != LODE_NONE) {
                put_anchor(text, '*', number, (enum hpcrun_scope)k, "sum");
                return true;
            }
        number++;
    }
    return false;
}

lode_status lode_hpcrun_taxonomy(struct hpcrun_source *source, const uint32_t *sorted, lode_error *error)
{
    struct taxonomy self = {
        .source = source, .sorted = sorted, .statistics = hpcrun_statistics(source->input->options)};
    put_inputs(&self);
    put_roots(&self);
    char *copy =
        self.text.failed ? NULL : lode_arena_alloc(&source->about->arena, self.text.blob.size + 1, 1);
    if (copy && self.text.blob.size > 0)
        memcpy(copy, self.text.blob.bytes, self.text.blob.size);
    source->about->taxonomy = copy;
    lode_blob_free(&self.text.blob);
    LODE_TRY_ALLOC(copy, error);
    return LODE_OK;
}
