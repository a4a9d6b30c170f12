/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagnosis as JSON. */
#include "commands/diagnose/diagnose.h"

#include "output/out.h"

static void json_command(out *o, const lode_evidence *evidence, const diagnose_page *page)
{
    const char *words[DIAGNOSE_WORDS];
    size_t count = diagnose_command(page, evidence, words);
    if (count == 0) {
        OUT_FIELDS(o, "command", out_none());
        return;
    }
    out_array(o, "command");
    for (size_t i = 0; i < count; i++)
        OUT_ELEMENTS(o, words[i]);
    out_array_end(o);
}

static void json_statement(out *o, const lode_statement *s, const diagnose_page *page)
{
    const lode_statement *before = NULL;
    const char *change =
        page->base ? lode_statement_change_name((int)diagnose_change(page->base, s, &before)) : NULL;
    out_object(o, NULL);
    OUT_FIELDS(o, "id", s->id, "confidence", lode_confidence_name((int)s->confidence), "gain_percent",
               out_real_if(s->has_gain, 100 * s->gain), "low_percent", out_real_if(s->has_gain, 100 * s->low),
               "high_percent", out_real_if(s->has_gain, 100 * s->high), "is_bound",
               s->has_gain && s->is_bound, "text", s->text, "advice", s->advice, "function", s->function,
               "context", s->context ? out_u64(lode_context_id(s->context)) : out_none());
    OUT_FIELDS(o, "rank", s->has_rank ? out_i64(s->rank) : out_none(), "thread",
               s->has_thread ? out_i64(s->thread) : out_none(), "from_ns",
               s->to ? out_digits(s->from) : out_none(), "to_ns", s->to ? out_digits(s->to) : out_none());
    out_array(o, "explains");
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && s->explains[i]; i++)
        OUT_ELEMENTS(o, s->explains[i]);
    out_array_end(o);
    out_array(o, "evidence");
    for (size_t i = 0; i < s->evidence_count; i++) {
        const lode_evidence *evidence = &s->evidence[i];
        out_object(o, NULL);
        OUT_FIELDS(o, "text", evidence->text, "value", evidence->value, "unit", evidence->unit);
        json_command(o, evidence, page);
        out_object_end(o);
    }
    out_array_end(o);
    OUT_FIELDS(o, "change", change, "base_gain_percent",
               before && before->has_gain ? out_real(100 * before->gain) : out_none());
    out_object_end(o);
}

static void json_gone(out *o, const diagnose_page *page)
{
    const lode_statement *before;
    OUT_FIELDS(o, "base", page->base_path);
    out_array(o, "gone");
    for (size_t i = 0; page->base && (before = lode_diagnosis_statement(page->base, i)) != NULL; i++)
        if (diagnose_is_gone(page, before)) {
            OUT_OBJECT(o, NULL, "id", before->id, "text", before->text, "function", before->function);
        }
    out_array_end(o);
}

static void json_run(out *o, const lode_run *run)
{
    out_object(o, "run");
    OUT_FIELDS(o, "program", run->program[0] ? run->program : NULL, "metric",
               run->metric ? lode_metric_name(run->metric) : NULL, "ranks", run->ranks, "threads",
               run->threads, "empty", run->empty, "helpers", run->helpers, "run_time", run->run_time);
    OUT_FIELDS(o, "total", run->total, "samples", run->samples ? out_u64(run->samples) : out_none(),
               "can_judge", run->can_judge, "seconds", run->seconds > 0 ? out_real(run->seconds) : out_none(),
               "calls", run->calls, "requests", run->requests, "processors", run->processors);
    if (run->source != LODE_RUN_PROFILES)
        OUT_FIELDS(o, "entry_points", run->entry_points);
    out_object_end(o);
}

static void json_efficiency(out *o, const lode_efficiency *e)
{
    if (e == NULL) {
        OUT_FIELDS(o, "efficiency", out_none());
        return;
    }
    const struct {
        const char *key;
        double value;
        int is_hybrid;
    } members[] = {{"parallel", e->parallel, 0},
                   {"low", e->useful_low, 0},
                   {"high", e->useful_high, 0},
                   {"load_balance", e->load_balance, 0},
                   {"communication", e->communication, 0},
                   {"process", e->process, 1},
                   {"serial", e->serial, 1},
                   {"openmp", e->openmp, 1},
                   {"rank_balance", e->rank_balance, 1},
                   {"rank_communication", e->rank_communication, 1}};
    out_object(o, "efficiency");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        OUT_FIELDS(o, members[i].key,
                   members[i].is_hybrid && !e->is_hybrid ? out_none() : out_real(members[i].value));
    out_object_end(o);
}

const char *diagnose_level_name(lode_note_level level)
{
    static const char *const names[] = {"left out", "biased", "too little", "damaged"};
    return names[level];
}

void diagnose_json_note(out *o, const lode_quality_note *note)
{
    OUT_OBJECT(o, NULL, "id", note->id, "level", diagnose_level_name(note->level), "text", note->text,
               "value", note->value);
}

static void json_notes(out *o, const lode_diagnosis *d)
{
    const lode_quality_note *note;
    out_array(o, "quality");
    for (size_t i = 0; (note = lode_diagnosis_note(d, i)) != NULL; i++)
        diagnose_json_note(o, note);
    out_array_end(o);
}

void diagnose_json(out *o, const diagnose_page *page)
{
    const lode_diagnosis *d = page->diagnosis;
    const lode_statement *statement;
    const lode_rule_state *rule;
    json_run(o, lode_diagnosis_run(d));
    json_efficiency(o, lode_diagnosis_efficiency(d));
    json_notes(o, d);
    out_array(o, "statements");
    for (size_t i = 0; (statement = lode_diagnosis_statement(d, i)) != NULL; i++)
        json_statement(o, statement, page);
    out_array_end(o);
    json_gone(o, page);
    out_array(o, "rules");
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++) {
        OUT_OBJECT(o, NULL, "id", rule->id, "summary", rule->summary, "ran", rule->ran, "reason",
                   rule->reason);
    }
    out_array_end(o);
}
