/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rules, and joins symptom, cause and place into one statement. */
#include "analysis/diagnose/work.h"

#include "base/compare.h"
#include "base/options.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Causes after symptoms: they look at what these said. */
static const struct rule *const rules[] = {
    &lode_rule_efficiency,  &lode_rule_omp_serial, &lode_rule_omp_imbalance, &lode_rule_mpi,
    &lode_rule_mpi_startup, &lode_rule_imbalance,  &lode_rule_allocation,    &lode_rule_file_io,
    &lode_rule_ipc,         &lode_rule_gpu_copies, &lode_rule_gpu_runtime,   &lode_rule_hot_spot,
};

static const char *const reasons[NEED_COUNT] = {
    [NEED_METRIC] = "no metric of time on the processor",
    [NEED_SAMPLES] = "too few samples",
    [NEED_ONE_RUN] = "several runs in one store",
    [NEED_CONSISTENT] = "metric and trace lines do not belong together",
    [NEED_THREADS] = "one thread",
    [NEED_RANKS] = "one rank",
    [NEED_REGIONS] = "no function is the body of an OpenMP region",
    [NEED_MPI] = "no time in MPI",
    [NEED_NAMES] = "functions without names",
    [NEED_PROCESSORS] = "fewer processors than threads",
    [NEED_COUNTERS] = "cycles and instructions were not counted",
    [NEED_GPU] = "no metric of GPU operations",
    [NEED_SECONDS] = "the run time in seconds is not known",
};

static void find_lacks(struct lode_diagnosis *d)
{
    bool has_metric = !d->lacks[NEED_METRIC];
    /* Values of a damaged file can be anything. */
    bool is_sound =
        isfinite(d->run.total) && d->run.total > 0 && isfinite(d->run.run_time) && d->run.run_time > 0;
    d->lacks[NEED_SAMPLES] |= !has_metric || !is_sound;
    d->lacks[NEED_THREADS] = d->thread_count < 2;
    d->lacks[NEED_RANKS] = d->rank_count < 2;
    d->lacks[NEED_REGIONS] = !has_metric || !(lode_time_of_threads(d, ALL, INSIDE) > 0);
    d->lacks[NEED_MPI] =
        !has_metric || !(lode_time_of_threads(d, SET(MPI) | SET(MPI_STARTUP), EVERYWHERE) > 0);
    d->lacks[NEED_COUNTERS] =
        !lode_diagnose_metric(d, "cycles", NULL) || !lode_diagnose_metric(d, "instructions", NULL);
    d->lacks[NEED_GPU] = !lode_diagnose_metric(d, "GPUOP (sec)", NULL);
    d->lacks[NEED_SECONDS] = !(d->seconds > 0);
    d->run.can_judge = !d->lacks[NEED_SAMPLES] && !d->lacks[NEED_ONE_RUN];
}

static const char *find_reason(const struct lode_diagnosis *d, const struct rule *rule)
{
    for (unsigned i = 0; i < NEED_COUNT; i++)
        if (rule->needs >> i & 1 && d->lacks[i])
            return reasons[i];
    return NULL;
}

static lode_status run_rules(struct lode_diagnosis *d, lode_error *error)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *reason = find_reason(d, rules[i]);
        lode_rule_state *state = lode_array_push(&d->rules);
        LODE_TRY_ALLOC(state, error);
        *state = (lode_rule_state){rules[i]->id, rules[i]->summary, reason == NULL, reason};
        if (reason == NULL)
            LODE_TRY(rules[i]->run(d, error));
    }
    return LODE_OK;
}

static bool explains(const struct draft *cause, const char *id)
{
    for (size_t i = 0; i < LODE_EXPLAINS_MAX && cause->statement.explains[i]; i++)
        if (strcmp(cause->statement.explains[i], id) == 0)
            return true;
    return false;
}

/* What a symptom says becomes evidence of its cause. */
static void fold(struct draft *cause, const struct draft *symptom)
{
    for (size_t i = 0; i < symptom->statement.evidence_count && i < 1; i++) {
        const lode_evidence *given = &symptom->evidence[i];
        lode_evidence *copy = lode_add_evidence(cause, given->text, given->value, given->unit);
        lode_set_command(copy, given->command);
    }
}

static void join(struct lode_diagnosis *d)
{
    struct draft *items = d->statements.items;
    size_t kept = 0;
    bool *gone = calloc(d->statements.count + 1, sizeof *gone);
    for (size_t s = 0; gone && s < d->statements.count; s++)
        for (size_t c = d->statements.count; c-- > 0 && !gone[s];)
            if (c != s && explains(&items[c], items[s].statement.id)) {
                fold(&items[c], &items[s]);
                gone[s] = true;
            }
    for (size_t s = 0; gone && s < d->statements.count; s++)
        if (!gone[s])
            items[kept++] = items[s];
    if (gone)
        d->statements.count = kept;
    free(gone);
}

static int compare_statements(const void *left, const void *right)
{
    const lode_statement *a = &((const struct draft *)left)->statement;
    const lode_statement *b = &((const struct draft *)right)->statement;
    if (a->has_gain != b->has_gain)
        return a->has_gain ? -1 : 1;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return strcmp(a->id, b->id);
}

static int compare_notes(const void *left, const void *right)
{
    const lode_quality_note *a = left, *b = right;
    return a->level != b->level ? LODE_COMPARE(b->level, a->level) : strcmp(a->id, b->id);
}

static void arrange(struct lode_diagnosis *d)
{
    join(d);
    if (d->statements.count)
        qsort(d->statements.items, d->statements.count, d->statements.item_size, compare_statements);
    if (d->notes.count)
        qsort(d->notes.items, d->notes.count, d->notes.item_size, compare_notes);
    for (size_t i = 0; i < d->statements.count; i++) {
        struct draft *draft = LODE_ARRAY_AT(&d->statements, struct draft, i);
        draft->statement.evidence = draft->evidence;
    }
}

static lode_status diagnose(struct lode_diagnosis *d, lode_error *error)
{
    LODE_TRY(lode_diagnose_threads(d, error));
    LODE_TRY(lode_diagnose_time(d, error));
    LODE_TRY(lode_diagnose_quality(d, error));
    find_lacks(d);
    lode_diagnose_efficiency(d);
    LODE_TRY(run_rules(d, error));
    arrange(d);
    return LODE_OK;
}

lode_status lode_diagnose(lode_diagnosis **out, const lode_database *db, const lode_diagnose_options *given,
                          lode_error *error)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_diagnosis *d = calloc(1, sizeof *d);
    LODE_TRY_ALLOC(d, error);
    d->db = db;
    d->options = options;
    lode_arena_init(&d->arena, SIZE_MAX);
    lode_array_init(&d->notes, sizeof(lode_quality_note), 1000);
    lode_array_init(&d->statements, sizeof(struct draft), 1000);
    lode_array_init(&d->rules, sizeof(lode_rule_state), 1000);
    lode_status status = diagnose(d, error);
    if (status != LODE_OK) {
        lode_diagnosis_free(d);
        return status;
    }
    *out = d;
    return LODE_OK;
}

void lode_diagnosis_free(lode_diagnosis *d)
{
    if (d == NULL)
        return;
    free(d->activities_of);
    free(d->places);
    free(d->functions);
    free(d->holders);
    free(d->entries);
    free(d->threads);
    free(d->ranks);
    lode_cost_free(d->cost);
    lode_cost_free(d->master_cost);
    lode_array_free(&d->notes);
    lode_array_free(&d->statements);
    lode_array_free(&d->rules);
    lode_arena_free(&d->arena);
    free(d);
}

const lode_run *lode_diagnosis_run(const lode_diagnosis *diagnosis)
{
    return &diagnosis->run;
}

double lode_diagnosis_activity(const lode_diagnosis *diagnosis, int activity)
{
    return activity >= 0 && activity < ACTIVITIES ? diagnosis->activities[activity] : 0;
}

const lode_efficiency *lode_diagnosis_efficiency(const lode_diagnosis *diagnosis)
{
    return diagnosis->has_efficiency ? &diagnosis->efficiency : NULL;
}

const lode_quality_note *lode_diagnosis_note(const lode_diagnosis *d, size_t index)
{
    return index < d->notes.count ? LODE_ARRAY_AT(&d->notes, lode_quality_note, index) : NULL;
}

const lode_statement *lode_diagnosis_statement(const lode_diagnosis *d, size_t index)
{
    return index < d->statements.count ? &LODE_ARRAY_AT(&d->statements, struct draft, index)->statement
                                       : NULL;
}

const lode_rule_state *lode_diagnosis_rule(const lode_diagnosis *d, size_t index)
{
    return index < d->rules.count ? LODE_ARRAY_AT(&d->rules, lode_rule_state, index) : NULL;
}

const char *lode_confidence_name(int confidence)
{
    static const char *const names[] = {"weak", "possible", "likely", "sure"};
    return confidence >= 0 && confidence < 4 ? names[confidence] : NULL;
}
