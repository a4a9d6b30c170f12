/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagnosis as JSON. */
#include "commands/diagnose/diagnose.h"

#include "output/json.h"

static void json_command(out *o, const lode_evidence *evidence, const char *path)
{
    if (evidence->command[0] == NULL) {
        json_null(o, "command");
        return;
    }
    json_array(o, "command");
    json_text(o, NULL, "lode");
    for (size_t i = 0; i < LODE_EVIDENCE_WORDS && evidence->command[i]; i++)
        json_text(o, NULL, evidence->command[i]);
    json_text(o, NULL, path);
    json_array_end(o);
}

static void json_place(out *o, const char *key, int has, int64_t value)
{
    if (has)
        json_i64(o, key, value);
    else
        json_null(o, key);
}

/* Where a statement applies. */
static void json_subject(out *o, const lode_statement *statement)
{
    json_place(o, "rank", statement->has_rank, statement->rank);
    json_place(o, "thread", statement->has_thread, statement->thread);
    if (statement->to) {
        json_digits(o, "from_ns", statement->from);
        json_digits(o, "to_ns", statement->to);
    } else {
        json_null(o, "from_ns");
        json_null(o, "to_ns");
    }
}

/* What --base adds to a statement. */
static void json_change(out *o, const diagnose_page *page, const lode_statement *statement)
{
    const lode_statement *before = NULL;
    if (page->base)
        json_text(o, "change",
                  lode_statement_change_name((int)diagnose_change(page->base, statement, &before)));
    else
        json_null(o, "change");
    if (before && before->has_gain)
        json_real(o, "base_gain_percent", 100 * before->gain);
    else
        json_null(o, "base_gain_percent");
}

static void json_statement(out *o, const lode_statement *statement, const diagnose_page *page)
{
    json_object(o, NULL);
    json_text(o, "id", statement->id);
    json_text(o, "confidence", lode_confidence_name((int)statement->confidence));
    if (statement->has_gain) {
        json_real(o, "gain_percent", 100 * statement->gain);
        json_real(o, "low_percent", 100 * statement->low);
        json_real(o, "high_percent", 100 * statement->high);
    } else {
        json_null(o, "gain_percent");
        json_null(o, "low_percent");
        json_null(o, "high_percent");
    }
    json_bool(o, "is_bound", statement->has_gain && statement->is_bound);
    json_text(o, "text", statement->text);
    json_text(o, "advice", statement->advice);
    json_text(o, "function", statement->function);
    if (statement->context)
        json_u64(o, "context", lode_context_id(statement->context));
    else
        json_null(o, "context");
    json_subject(o, statement);
    json_array(o, "explains");
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && statement->explains[i]; i++)
        json_text(o, NULL, statement->explains[i]);
    json_array_end(o);
    json_array(o, "evidence");
    for (size_t i = 0; i < statement->evidence_count; i++) {
        const lode_evidence *evidence = &statement->evidence[i];
        json_object(o, NULL);
        json_text(o, "text", evidence->text);
        json_real(o, "value", evidence->value);
        json_text(o, "unit", evidence->unit);
        json_command(o, evidence, page->path);
        json_object_end(o);
    }
    json_array_end(o);
    json_change(o, page, statement);
    json_object_end(o);
}

static void json_gone(out *o, const diagnose_page *page)
{
    const lode_statement *before;
    json_text(o, "base", page->base_path);
    json_array(o, "gone");
    for (size_t i = 0; page->base && (before = lode_diagnosis_statement(page->base, i)) != NULL; i++)
        if (diagnose_is_gone(page, before)) {
            json_object(o, NULL);
            json_text(o, "id", before->id);
            json_text(o, "text", before->text);
            json_text(o, "function", before->function);
            json_object_end(o);
        }
    json_array_end(o);
}

static void json_run(out *o, const lode_run *run)
{
    json_object(o, "run");
    json_text(o, "program", run->program[0] ? run->program : NULL);
    json_text(o, "metric", run->metric ? lode_metric_name(run->metric) : NULL);
    json_u64(o, "ranks", run->ranks);
    json_u64(o, "threads", run->threads);
    json_u64(o, "empty", run->empty);
    json_u64(o, "helpers", run->helpers);
    json_real(o, "run_time", run->run_time);
    json_real(o, "total", run->total);
    if (run->samples)
        json_u64(o, "samples", run->samples);
    else
        json_null(o, "samples");
    json_bool(o, "can_judge", run->can_judge);
    if (run->seconds > 0)
        json_real(o, "seconds", run->seconds);
    else
        json_null(o, "seconds");
    json_u64(o, "calls", run->calls);
    json_u64(o, "requests", run->requests);
    json_u64(o, "processors", run->processors);
    if (run->source != LODE_RUN_PROFILES)
        json_u64(o, "entry_points", run->entry_points);
    json_object_end(o);
}

static void json_efficiency(out *o, const lode_efficiency *e)
{
    if (e == NULL) {
        json_null(o, "efficiency");
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
    json_object(o, "efficiency");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].is_hybrid && !e->is_hybrid)
            json_null(o, members[i].key);
        else
            json_real(o, members[i].key, members[i].value);
    json_object_end(o);
}

const char *diagnose_level_name(lode_note_level level)
{
    static const char *const names[] = {"left out", "biased", "too little", "damaged"};
    return names[level];
}

void diagnose_json_note(out *o, const lode_quality_note *note)
{
    json_object(o, NULL);
    json_text(o, "id", note->id);
    json_text(o, "level", diagnose_level_name(note->level));
    json_text(o, "text", note->text);
    json_real(o, "value", note->value);
    json_object_end(o);
}

static void json_notes(out *o, const lode_diagnosis *d)
{
    const lode_quality_note *note;
    json_array(o, "quality");
    for (size_t i = 0; (note = lode_diagnosis_note(d, i)) != NULL; i++)
        diagnose_json_note(o, note);
    json_array_end(o);
}

void diagnose_json(out *o, const diagnose_page *page)
{
    const lode_diagnosis *d = page->diagnosis;
    const lode_statement *statement;
    const lode_rule_state *rule;
    json_run(o, lode_diagnosis_run(d));
    json_efficiency(o, lode_diagnosis_efficiency(d));
    json_notes(o, d);
    json_array(o, "statements");
    for (size_t i = 0; (statement = lode_diagnosis_statement(d, i)) != NULL; i++)
        json_statement(o, statement, page);
    json_array_end(o);
    json_gone(o, page);
    json_array(o, "rules");
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++) {
        json_object(o, NULL);
        json_text(o, "id", rule->id);
        json_text(o, "summary", rule->summary);
        json_bool(o, "ran", rule->ran);
        json_text(o, "reason", rule->reason);
        json_object_end(o);
    }
    json_array_end(o);
}
