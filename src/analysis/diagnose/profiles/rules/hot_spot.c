/* SPDX-License-Identifier: BSD-3-Clause */
/* hot-spot: one function of the program has much of the time itself. Not a fault. */
#include "analysis/diagnose/profiles/facts.h"

#include <lode/name.h>

#define HOT_MIN 0.20

static const lode_module *module_of(const lode_context *holder)
{
    return holder->function && holder->function->module ? holder->function->module : holder->module;
}

static bool has_several_modules(const struct hot *hot)
{
    for (size_t i = 1; i < HOT_MODULES && hot->parts[i].holder; i++)
        if (module_of(hot->parts[i].holder) != module_of(hot->parts[0].holder))
            return true;
    return false;
}

/* A name that several load modules have is one function for `lode top`, and here. */
static void show_modules(struct lode_diagnosis *d, struct draft *draft, const struct hot *hot,
                         const char *name)
{
    for (size_t i = 0; has_several_modules(hot) && i < HOT_MODULES && hot->parts[i].holder; i++) {
        const lode_module *module = module_of(hot->parts[i].holder);
        lode_diagnose_show(d, draft, hot->parts[i].cost, lode_metric_name(d->run.metric), "%s of it in %s",
                           lode_diagnose_amount(d, hot->parts[i].cost),
                           module ? lode_path_tail(module->path) : "an unknown module");
        LODE_SET_COMMAND(draft, "top", "--by", "symbol", "--include", name);
    }
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct hot hot;
    char loop[200] = "";
    LODE_TRY(lode_diagnose_hot(d, &hot, error));
    double share = hot.holder ? hot.cost / d->run.total : 0;
    if (share - lode_diagnose_share_error(d, share) <= HOT_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "hot-spot", .confidence = LODE_SURE, .context = hot.holder}};
    const char *name = lode_diagnose_name_of(d, hot.holder);
    if (hot.loop)
        lode_context_label(hot.loop, loop, sizeof loop);
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft, "%s has %.1f%% +- %.1f%% of the time itself%s%s.", name, 100 * share,
                           100 * lode_diagnose_share_error(d, share), hot.loop ? ", most of it in the " : "",
                           loop);
    lode_diagnose_show(d, &draft, hot.cost, lode_metric_name(d->run.metric), "%s of %s",
                       lode_diagnose_amount(d, hot.cost), lode_diagnose_amount(d, d->run.total));
    LODE_SET_COMMAND(&draft, "tree", "--callers", name);
    show_modules(d, &draft, &hot, name);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_hot_spot = {
    "hot-spot", "a function of the program has more than 20% of the time itself",
    1u << NEED_METRIC | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN | 1u << NEED_NAMES, run};
