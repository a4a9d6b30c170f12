/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts, notes and statements. */
#include "analysis/diagnose/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_MAX = 1024
};

__attribute__((format(printf, 2, 0))) static const char *say(struct lode_diagnosis *d, const char *format,
                                                             va_list list)
{
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, format, list);
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&d->arena, size, 1);
    return copy ? memcpy(copy, text, size) : "";
}

const char *lode_diagnose_say(struct lode_diagnosis *d, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const char *text = say(d, format, list);
    va_end(list);
    return text;
}

void lode_diagnose_set_text(struct lode_diagnosis *d, struct draft *draft, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    draft->statement.text = say(d, format, list);
    va_end(list);
}

lode_status lode_diagnose_add_note(struct lode_diagnosis *d, const char *id, lode_note_level level,
                                   double value, const char *text, lode_error *error)
{
    lode_quality_note *note = lode_array_push(&d->notes);
    LODE_TRY_ALLOC(note, error);
    *note = (lode_quality_note){id, level, text, value};
    return LODE_OK;
}

void lode_diagnose_set_gain_within(struct draft *draft, double gain, double low, double high)
{
    draft->statement.has_gain = 1;
    draft->statement.gain = fmin(1, fmax(0, gain));
    draft->statement.low = fmin(1, fmax(0, low));
    draft->statement.high = fmin(1, fmax(0, high));
}

lode_evidence *lode_diagnose_add_evidence(struct draft *draft, const char *text, double value,
                                          const char *unit)
{
    size_t count = draft->statement.evidence_count;
    if (count == EVIDENCE_MAX)
        return NULL;
    draft->statement.evidence_count++;
    draft->evidence[count] = (lode_evidence){.text = text, .value = value, .unit = unit};
    return &draft->evidence[count];
}

void lode_diagnose_show(struct lode_diagnosis *d, struct draft *draft, double value, const char *unit,
                        const char *format, ...)
{
    va_list list;
    va_start(list, format);
    draft->is_full = lode_diagnose_add_evidence(draft, say(d, format, list), value, unit) == NULL;
    va_end(list);
}

void lode_diagnose_set_command(struct draft *draft, const char *const *words)
{
    lode_evidence *evidence = &draft->evidence[draft->statement.evidence_count - 1];
    for (size_t i = 0; !draft->is_full && words[i] && i + 1 < LODE_EVIDENCE_WORDS; i++)
        evidence->command[i] = words[i];
}

void lode_diagnose_add_explains(struct draft *draft, const char *const *ids)
{
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && *ids; i++)
        if (draft->statement.explains[i] == NULL)
            draft->statement.explains[i] = *ids++;
}

lode_status lode_diagnose_add_statement(struct lode_diagnosis *d, const struct draft *draft,
                                        lode_error *error)
{
    struct draft *copy = lode_array_push(&d->statements);
    LODE_TRY_ALLOC(copy, error);
    *copy = *draft;
    return LODE_OK;
}

struct draft *lode_diagnose_find_statement(const struct lode_diagnosis *d, const char *id)
{
    for (size_t i = 0; i < d->statements.count; i++) {
        struct draft *draft = LODE_ARRAY_AT(&d->statements, struct draft, i);
        if (strcmp(draft->statement.id, id) == 0)
            return draft;
    }
    return NULL;
}
