/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived metrics of a database, as `lode info` shows them. */
#include "commands/info/info.h"
#include "output/out.h"
#include "output/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMULA_SIZE 512

int info_open_derived(session *s, lode_derived_list **list)
{
    lode_error error = {0};
    if (lode_derived_list_open(list, s->db, s->path, &error) != LODE_OK)
        return session_error(s, &error);
    return EXIT_DONE;
}

/* Over all profiles, at the root; NaN if there is no value. */
static double total_of(const session *s, const lode_derived *derived)
{
    double values[32], value;
    for (size_t i = 0; i < lode_derived_metric_count(derived); i++)
        values[i] = session_metric_total(s, lode_derived_metric(derived, i));
    return lode_derived_value(derived, values, &value) ? value : (double)NAN;
}

/* Formulas of a database refer to metrics by number; people know them by name. */
static void name_metrics(char text[FORMULA_SIZE], const lode_database *db, const char *formula)
{
    size_t used = 0;
    while (*formula && used + 1 < FORMULA_SIZE) {
        char *end;
        const lode_metric *metric = NULL;
        if (formula[0] == '$' && formula[1] >= '0' && formula[1] <= '9')
            metric = lode_database_metric(db, (uint32_t)strtoul(formula + 1, &end, 10));
        int length = metric ? snprintf(text + used, FORMULA_SIZE - used, "'%.100s'", lode_metric_name(metric))
                            : snprintf(text + used, FORMULA_SIZE - used, "%c", *formula);
        used += length > 0 ? (size_t)length : 0;
        formula = metric ? end : formula + 1;
    }
    text[used < FORMULA_SIZE ? used : FORMULA_SIZE - 1] = '\0';
}

static const out_column columns[] = {
    {"value", "Value", OUT_REAL, OUT_ALWAYS},
    {"name", "Derived metric", OUT_STRING, OUT_ALWAYS},
    {"description", "Meaning", OUT_STRING, OUT_IF_WIDE},
    {"formula", "Formula", OUT_STRING, OUT_IF_WIDE},
};

static int has_any(const session *s, const lode_derived_list *list)
{
    for (size_t i = 0; i < lode_derived_list_count(list); i++)
        if (total_of(s, lode_derived_list_at(list, i)) > 0)
            return 1;
    return 0;
}

void info_say_derived(out *o, const session *s, const lode_derived_list *list, int is_verbose)
{
    if (lode_derived_list_count(list) == 0 || (!is_verbose && !has_any(s, list)))
        return;
    out_gap(o);
    out_table(o, OUT_SIDE, "derived", columns, 4, UNIT_COUNT);
    for (size_t i = 0; i < lode_derived_list_count(list); i++) {
        const lode_derived *derived = lode_derived_list_at(list, i);
        char formula[FORMULA_SIZE];
        double value = total_of(s, derived);
        if (!is_verbose && !(value > 0))
            continue;
        name_metrics(formula, s->db, lode_derived_formula(derived));
        out_row(o, STYLE_PLAIN);
        out_unit(o, unit_of_metric(lode_derived_name(derived)));
        OUT_CELLS(o, isfinite(value) ? out_real(value) : out_none(), lode_derived_name(derived),
                  lode_derived_description(derived), formula);
        out_row_end(o);
    }
    out_table_end(o);
}

void info_json_derived(out *o, const session *s, const lode_derived_list *list)
{
    out_break(o);
    out_array(o, "derived_metrics");
    for (size_t i = 0; i < lode_derived_list_count(list); i++) {
        const lode_derived *derived = lode_derived_list_at(list, i);
        out_break(o);
        OUT_OBJECT(o, NULL, "name", lode_derived_name(derived), "description",
                   lode_derived_description(derived), "formula", lode_derived_formula(derived), "value",
                   total_of(s, derived));
    }
    out_array_end(o);
}
