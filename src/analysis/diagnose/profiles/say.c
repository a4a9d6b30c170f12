/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and amounts in texts about profiles. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/cost/key.h"
#include <lode/name.h>
#include <string.h>

enum {
    NAME_MAX_SHOWN = 160
};

const char *lode_diagnose_name_of(struct lode_diagnosis *d, const lode_context *context)
{
    char name[NAME_MAX_SHOWN];
    if (context == NULL)
        return "";
    while (!begins_function(context))
        context = lode_context_parent(context);
    lode_context_label_as(context, LODE_NAME_SIMPLE, name, sizeof name);
    /* hpcprof adds the load module: "brk [libc.so.6]". */
    char *module = strstr(name, " [");
    if (module && module != name)
        *module = '\0';
    return lode_diagnose_say(d, "%s", name);
}

const char *lode_diagnose_mostly(const struct path *path)
{
    return path->part > 0.5 ? "mostly" : "the largest part";
}

const char *lode_diagnose_amount(struct lode_diagnosis *d, double value)
{
    return d->run.is_seconds ? lode_diagnose_say(d, "%.3g s", value)
                             : lode_diagnose_say(d, "%.3g %s", value, lode_metric_name(d->run.metric));
}

void lode_diagnose_set_gain_of_masters(const struct lode_diagnosis *d, struct draft *draft, double gain)
{
    double half = lode_diagnose_masters_error(d, gain);
    lode_diagnose_set_gain_within(draft, gain, gain - half, gain + half);
}

void lode_diagnose_set_gain(const struct lode_diagnosis *d, struct draft *draft, double gain)
{
    double half = lode_diagnose_share_error(d, gain);
    lode_diagnose_set_gain_within(draft, gain, gain - half, gain + half);
}

/* Or chooses it as a diagnosis does. */
static bool names_metric(const lode_evidence *evidence)
{
    if (evidence->command[0] && strcmp(evidence->command[0], "efficiency") == 0)
        return true;
    for (size_t i = 0; i < LODE_EVIDENCE_WORDS && evidence->command[i]; i++)
        if (strcmp(evidence->command[i], "--metric") == 0)
            return true;
    return false;
}

static void add_metric(lode_evidence *evidence, const char *name)
{
    size_t count = 0;
    while (count < LODE_EVIDENCE_WORDS && evidence->command[count])
        count++;
    if (count == 0 || strcmp(evidence->command[0], "trace") == 0 || count + 2 >= LODE_EVIDENCE_WORDS ||
        names_metric(evidence))
        return;
    evidence->command[count] = "--metric";
    evidence->command[count + 1] = name;
}

void lode_diagnose_add_metric_to_commands(struct lode_diagnosis *d)
{
    const lode_metric *usual = NULL;
    if (d->run.metric == NULL)
        return;
    if (lode_database_default_metric(d->profiles->db, &usual, NULL) == LODE_OK && usual == d->run.metric)
        return;
    for (size_t s = 0; s < d->statements.count; s++) {
        struct draft *draft = LODE_ARRAY_AT(&d->statements, struct draft, s);
        for (size_t i = 0; i < draft->statement.evidence_count; i++)
            add_metric(&draft->evidence[i], lode_metric_name(d->run.metric));
    }
}
