/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagnosis as CSV: tables with the names and fields of the JSON document. */
#include "commands/diagnose/diagnose.h"

#define COUNT(columns) (sizeof(columns) / sizeof *(columns))

static const out_column efficiency_columns[] = {
    {"parallel", "", OUT_REAL, OUT_DATA_ONLY},      {"low", "", OUT_REAL, OUT_DATA_ONLY},
    {"high", "", OUT_REAL, OUT_DATA_ONLY},          {"load_balance", "", OUT_REAL, OUT_DATA_ONLY},
    {"communication", "", OUT_REAL, OUT_DATA_ONLY}, {"process", "", OUT_REAL, OUT_DATA_ONLY},
    {"serial", "", OUT_REAL, OUT_DATA_ONLY},        {"openmp", "", OUT_REAL, OUT_DATA_ONLY},
    {"rank_balance", "", OUT_REAL, OUT_DATA_ONLY},  {"rank_communication", "", OUT_REAL, OUT_DATA_ONLY},
};

static void put_efficiency(out *o, const lode_efficiency *e)
{
    out_table(o, OUT_SIDE, "efficiency", efficiency_columns, COUNT(efficiency_columns), UNIT_COUNT);
    if (e) {
        const double all[] = {e->parallel, e->useful_low, e->useful_high, e->load_balance, e->communication};
        const double hybrid[] = {e->process, e->serial, e->openmp, e->rank_balance, e->rank_communication};
        out_row(o, STYLE_PLAIN);
        for (size_t i = 0; i < COUNT(all); i++)
            OUT_CELLS(o, all[i]);
        for (size_t i = 0; i < COUNT(hybrid); i++)
            OUT_CELLS(o, out_real_if(e->is_hybrid, hybrid[i]));
        out_row_end(o);
    }
    out_table_end(o);
}

static const out_column quality_columns[] = {
    {"id", "", OUT_STRING, OUT_DATA_ONLY},
    {"level", "", OUT_STRING, OUT_DATA_ONLY},
    {"text", "", OUT_STRING, OUT_DATA_ONLY},
    {"value", "", OUT_REAL, OUT_DATA_ONLY},
};

static void put_quality(out *o, const lode_diagnosis *d)
{
    const lode_quality_note *note;
    out_table(o, OUT_SIDE, "quality", quality_columns, COUNT(quality_columns), UNIT_COUNT);
    for (size_t i = 0; (note = lode_diagnosis_note(d, i)) != NULL; i++) {
        OUT_ROW(o, STYLE_PLAIN, note->id, diagnose_level_name(note->level), note->text, note->value);
    }
    out_table_end(o);
}

static const out_column statement_columns[] = {
    {"id", "", OUT_STRING, OUT_DATA_ONLY},
    {"confidence", "", OUT_STRING, OUT_DATA_ONLY},
    {"gain_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"low_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"high_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"text", "", OUT_STRING, OUT_DATA_ONLY},
    {"advice", "", OUT_STRING, OUT_DATA_ONLY},
    {"function", "", OUT_STRING, OUT_DATA_ONLY},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"rank", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"thread", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"from_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"to_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"change", "", OUT_STRING, OUT_DATA_ONLY},
    {"base_gain_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"is_bound", "", OUT_BOOL, OUT_DATA_ONLY},
};

static void put_statement(out *o, const diagnose_page *page, const lode_statement *s)
{
    const lode_statement *before = NULL;
    const char *change =
        page->base ? lode_statement_change_name((int)diagnose_change(page->base, s, &before)) : NULL;
    OUT_ROW(o, STYLE_PLAIN, s->id, lode_confidence_name((int)s->confidence),
            out_real_if(s->has_gain, s->gain), out_real_if(s->has_gain, s->low),
            out_real_if(s->has_gain, s->high), s->text, s->advice, s->function,
            s->context ? out_u64(lode_context_id(s->context)) : out_none(), out_u64_if(s->has_rank, s->rank),
            out_u64_if(s->has_thread && s->thread >= 0, (uint64_t)s->thread), out_u64_if(s->to != 0, s->from),
            out_u64_if(s->to != 0, s->to), change,
            before && before->has_gain ? out_real(before->gain) : out_none(), s->has_gain && s->is_bound);
}

static void put_statements(out *o, const diagnose_page *page)
{
    const lode_statement *statement;
    out_table(o, OUT_SIDE, "statements", statement_columns, COUNT(statement_columns), UNIT_COUNT);
    for (size_t i = 0; (statement = lode_diagnosis_statement(page->diagnosis, i)) != NULL; i++)
        put_statement(o, page, statement);
    out_table_end(o);
}

static const out_column gone_columns[] = {
    {"id", "", OUT_STRING, OUT_DATA_ONLY},
    {"text", "", OUT_STRING, OUT_DATA_ONLY},
    {"function", "", OUT_STRING, OUT_DATA_ONLY},
};

static void put_gone(out *o, const diagnose_page *page)
{
    const lode_statement *before;
    out_table(o, OUT_SIDE, "gone", gone_columns, COUNT(gone_columns), UNIT_COUNT);
    for (size_t i = 0; page->base && (before = lode_diagnosis_statement(page->base, i)) != NULL; i++) {
        if (!diagnose_is_gone(page, before))
            continue;
        OUT_ROW(o, STYLE_PLAIN, before->id, before->text, before->function);
    }
    out_table_end(o);
}

static const out_column rule_columns[] = {
    {"id", "", OUT_STRING, OUT_DATA_ONLY},
    {"summary", "", OUT_STRING, OUT_DATA_ONLY},
    {"ran", "", OUT_BOOL, OUT_DATA_ONLY},
    {"reason", "", OUT_STRING, OUT_DATA_ONLY},
};

static void put_rules(out *o, const lode_diagnosis *d)
{
    const lode_rule_state *rule;
    out_table(o, OUT_SIDE, "rules", rule_columns, COUNT(rule_columns), UNIT_COUNT);
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++) {
        OUT_ROW(o, STYLE_PLAIN, rule->id, rule->summary, rule->ran != 0, rule->reason);
    }
    out_table_end(o);
}

void diagnose_csv(out *o, const diagnose_page *page)
{
    put_efficiency(o, lode_diagnosis_efficiency(page->diagnosis));
    put_quality(o, page->diagnosis);
    put_statements(o, page);
    put_gone(o, page);
    put_rules(o, page->diagnosis);
}
