/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/costs.h"

/* A time window of trace lines. */
static void window_heading(out *o, const session *s, const lode_cost *cost)
{
    char total[NUMBER_SIZE], idle[NUMBER_SIZE];
    format_amount(total, lode_cost_total(cost), UNIT_SECONDS);
    format_amount(idle, lode_cost_idle(cost), UNIT_SECONDS);
    OUT_FIELDS(o, "is_sampled", 1, "samples", lode_cost_samples(cost), "idle", lode_cost_idle(cost));
    out_say(o, "time in the time window: %s, sampled, from %s in %s%s%s", total,
            COUNTED(lode_cost_samples(cost), "sample", "samples"),
            COUNTED(lode_cost_profiles(cost), "trace line", "trace lines"), s->shared->profiles ? ", " : "",
            s->shared->profiles ? s->shared->profiles : "");
    if (lode_cost_idle(cost) > 0)
        out_say(o, "not running: %s", idle);
    out_gap(o);
}

void costs_heading(out *o, const session *s, const lode_cost *cost)
{
    const char *name = lode_metric_name(lode_cost_metric(cost));
    char total[NUMBER_SIZE];
    format_amount(total, lode_cost_total(cost), unit_of_metric(name));
    OUT_FIELDS(o, "metric", name, "total", lode_cost_total(cost), "profiles", lode_cost_profiles(cost),
               "selection", s->shared->profiles, "unlisted_contexts", lode_cost_unlisted_contexts(cost),
               "unlisted_values", lode_cost_unlisted_values(cost));
    if (session_has_window(s)) {
        window_heading(o, s, cost);
        return;
    }
    out_say(o, "%s: %s in %s%s%s", name, total, COUNTED(lode_cost_profiles(cost), "profile", "profiles"),
            s->shared->profiles ? ", " : "", s->shared->profiles ? s->shared->profiles : "");
    session_say_default(o, s);
    out_gap(o);
}

void costs_footing(out *o, const session *s, const lode_cost *cost)
{
    char contexts[NUMBER_SIZE], values[NUMBER_SIZE];
    if (lode_cost_unlisted_contexts(cost) == 0 || !s->shared->verbose)
        return;
    if (session_has_window(s)) {
        format_count(values, lode_cost_unlisted_values(cost));
        out_say(o, "%s samples at contexts that %s does not list are at the program root", values,
                lode_database_part_file(s->db, LODE_PART_META));
        return;
    }
    format_count(contexts, lode_cost_unlisted_contexts(cost));
    format_count(values, lode_cost_unlisted_values(cost));
    out_say(o, "%s values at %s contexts that %s does not list are included in their listed ancestors",
            values, contexts, lode_database_part_file(s->db, LODE_PART_META));
}
