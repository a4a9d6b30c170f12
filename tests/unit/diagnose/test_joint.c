/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass for calls, the call tree and the diagnosis gives what three passes give: rows, contexts,
 * statements and findings of every recording of the corpus, for any number of threads.
 */
#include "analysis/calls/calltree.h"
#include "model/recording/recording.h"
#include "unit.h"
#include <dirent.h>
#include <lode/name.h>
#include <lode/private/joint.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    FILE *out;
    unsigned passes; /* progress began anew so often */
    uint64_t done;
};

static int list_finding(void *user, const lode_finding *finding)
{
    struct listing *self = user;
    fprintf(self->out, "%s %s %llu %s\n", finding->rule, finding->file, (unsigned long long)finding->offset,
            finding->text);
    return 0;
}

static int note_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct listing *self = user;
    (void)phase;
    (void)total;
    self->passes += done <= self->done;
    self->done = done;
    return 0;
}

static void list_numbers(FILE *out, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %llu", (unsigned long long)numbers[i]);
    fputc('\n', out);
}

static void list_calls(FILE *out, const lode_calls *calls)
{
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        const uint64_t numbers[] = {row->calls, row->total, row->self, row->min,    row->max,
                                    row->p50,   row->p95,   row->p99,  row->errors, row->elapsed};
        char label[256];
        lode_function_label(row->function, label, sizeof label);
        fprintf(out, "%s %a %a", label, row->mean, row->deviation);
        list_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    }
    for (uint32_t i = 0; i < lode_calls_track_count(calls); i++) {
        const lode_track_row *row = lode_calls_track(calls, i);
        const uint64_t numbers[] = {row->track,  row->calls,   row->errors, row->total, row->out,
                                    row->events, row->repairs, row->begin,  row->end};
        list_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    }
}

static void list_tree(FILE *out, const lode_calltree *tree)
{
    for (uint32_t i = 0; i < tree->contexts.count; i++) {
        const uint64_t numbers[] = {tree->contexts.nodes[i].depth, tree->calls[i], tree->total[i],
                                    tree->self[i], tree->elapsed ? tree->elapsed[i] : 0};
        char label[256];
        lode_context_label(&tree->contexts.nodes[i], label, sizeof label);
        fprintf(out, "%s", label);
        list_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    }
}

static void list_diagnosis(FILE *out, const lode_diagnosis *d)
{
    const lode_run *run = lode_diagnosis_run(d);
    const lode_quality_note *note;
    const lode_statement *statement;
    const lode_rule_state *rule;
    fprintf(out, "%u %u %u %a %a %llu %llu %s\n", run->threads, run->empty, run->helpers, run->run_time,
            run->total, (unsigned long long)run->calls, (unsigned long long)run->requests, run->program);
    for (int i = 0; i <= LODE_ACTIVITY_COUNT; i++)
        fprintf(out, "%a\n", lode_diagnosis_activity(d, i));
    for (size_t i = 0; (note = lode_diagnosis_note(d, i)) != NULL; i++)
        fprintf(out, "%s %d %a %s\n", note->id, (int)note->level, note->value, note->text);
    for (size_t i = 0; (statement = lode_diagnosis_statement(d, i)) != NULL; i++) {
        fprintf(out, "%s %d %a %a %a %s\n", statement->id, (int)statement->confidence, statement->gain,
                statement->low, statement->high, statement->text);
        for (size_t k = 0; k < statement->evidence_count; k++)
            fprintf(out, "%s %a\n", statement->evidence[k].text, statement->evidence[k].value);
    }
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++)
        fprintf(out, "%s %d %s\n", rule->id, rule->ran, rule->reason ? rule->reason : "");
}

static void say(struct listing *self, lode_status status, const lode_error *error)
{
    fprintf(self->out, "%d %s\n", (int)status, status == LODE_OK ? "" : error->text);
}

struct question {
    lode_recording *recording;
    const lode_slice *slice;
    lode_calls_options calls;
    lode_diagnose_options diagnose;
};

static void ask_each(const struct question *q, struct listing *self, bool wants_diagnosis)
{
    lode_calls *calls = NULL;
    lode_calltree *tree = NULL;
    lode_diagnosis *diagnosis = NULL;
    lode_calls_options silent = q->calls;
    lode_error error = {0};
    silent.on_finding = NULL;
    lode_status status = lode_calls_compute(&calls, q->recording, q->slice, &q->calls, &error);
    say(self, status, &error);
    if (status == LODE_OK)
        status = lode_calltree_compute(&tree, q->recording, q->slice, &silent, &error);
    if (status == LODE_OK && wants_diagnosis)
        status = lode_diagnose_recording(&diagnosis, q->recording, &q->diagnose, &error);
    if (status == LODE_OK) {
        list_calls(self->out, calls);
        list_tree(self->out, tree);
        if (diagnosis)
            list_diagnosis(self->out, diagnosis);
    }
    lode_calls_free(calls);
    lode_calltree_free(tree);
    lode_diagnosis_free(diagnosis);
}

/* Whether there was a diagnosis. */
static bool ask_together(const struct question *q, struct listing *self)
{
    lode_joint joint;
    lode_error error = {0};
    lode_status status = lode_joint_compute(&joint, q->recording, q->slice, &q->calls, &q->diagnose, &error);
    say(self, status, &error);
    if (status == LODE_OK) {
        list_calls(self->out, joint.calls);
        list_tree(self->out, joint.tree);
        if (joint.diagnosis)
            list_diagnosis(self->out, joint.diagnosis);
    }
    bool has_diagnosis = joint.diagnosis != NULL;
    lode_calls_free(joint.calls);
    lode_calltree_free(joint.tree);
    lode_diagnosis_free(joint.diagnosis);
    return has_diagnosis;
}

static void prepare(struct question *q, struct listing *self, char **text, size_t *size, unsigned threads)
{
    *self = (struct listing){.out = open_memstream(text, size)};
    assert_non_null(self->out);
    q->calls.threads = q->diagnose.threads = threads;
    q->calls.user = q->diagnose.user = self;
}

static bool compare(struct question *q, const char *path)
{
    struct listing self;
    char *apart = NULL, *together = NULL;
    size_t size;
    prepare(q, &self, &together, &size, 3);
    q->recording->piece = 4096;
    bool has_diagnosis = ask_together(q, &self);
    fclose(self.out);
    prepare(q, &self, &apart, &size, 1);
    q->recording->piece = 0;
    ask_each(q, &self, has_diagnosis);
    fclose(self.out);
    if (strcmp(together, apart) != 0)
        fail_msg("%s:\n%s---\n%s", path, together, apart);
    free(apart);
    free(together);
    return has_diagnosis;
}

struct counts {
    unsigned recordings, diagnoses;
};

static void try_recording(struct counts *counts, const char *path)
{
    lode_slice slice = LODE_SLICE_INIT;
    struct question q = {
        .slice = &slice, .calls = LODE_CALLS_OPTIONS_INIT, .diagnose = LODE_DIAGNOSE_OPTIONS_INIT};
    if (lode_recording_open(&q.recording, path, NULL, NULL) != LODE_OK)
        return;
    q.calls.on_finding = list_finding;
    q.calls.on_progress = q.diagnose.on_progress = note_progress;
    /* All eight kinds of questions take their turn. */
    for (unsigned ask = 0; ask < 2; ask++) {
        unsigned i = (counts->recordings * 3 + ask * 5) % 8;
        i = ask ? i : i % 2;
        q.calls.merge = i & 1;
        slice.no_sched = i >> 1 & 1;
        slice.depth = i >> 2 ? 2 : 0;
        counts->diagnoses += compare(&q, path);
    }
    counts->recordings++;
    lode_recording_close(q.recording);
}

static void try_folder(struct counts *counts, const char *folder)
{
    char root[512], path[1100];
    struct dirent *entry;
    DIR *directory = corpus_path(root, sizeof root, folder) ? opendir(root) : NULL;
    while (directory && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.' || entry->d_type == DT_LNK)
            continue;
        snprintf(path, sizeof path, "%s/%.255s", root, entry->d_name);
        try_recording(counts, path);
        snprintf(path, sizeof path, "%s/%.255s/uftrace.data", root, entry->d_name);
        try_recording(counts, path);
    }
    if (directory)
        closedir(directory);
}

static void calls_of_threads(void **state)
{
    struct counts counts = {0, 0};
    (void)state;
    try_folder(&counts, "uftrace/recorded");
    try_folder(&counts, "uftrace/handmade");
    print_message("# %u recordings, %u diagnoses\n", counts.recordings, counts.diagnoses);
    assert_true(counts.recordings >= 10 && counts.diagnoses >= counts.recordings);
}

static void requests(void **state)
{
    static const char *const folders[] = {"zorka", "zorka/stores", "zorka/raw", "otlp", "jaeger", "zipkin"};
    struct counts counts = {0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        try_folder(&counts, folders[i]);
    print_message("# %u recordings, %u diagnoses\n", counts.recordings, counts.diagnoses);
    assert_true(counts.recordings >= 3 && counts.diagnoses >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_threads),
        cmocka_unit_test(requests),
    };
    return run_with_corpus("joint", tests, sizeof tests / sizeof *tests);
}
