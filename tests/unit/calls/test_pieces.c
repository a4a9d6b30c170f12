/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks that are cut: calls, tracks, call trees and findings are those of whole tracks, at any
 * cut, of every recording of the corpus and of random tracks, sound and damaged.
 */
#include "analysis/calls/calltree.h"
#include "format/uftrace/read.h"
#include "minirec.h"
#include "model/recording/cuts.h"
#include "model/recording/open_calls.h"
#include "model/recording/recording.h"
#include "unit.h"
#include <dirent.h>
#include <lode/calls.h>
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = 16,
    RECORDS = 60,
    SEEDS = 120,
    CUTS = 24 /* sizes of pieces of a recording of the corpus */
};

static uint64_t seed;

static unsigned random_below(unsigned limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % limit;
}

/* ---- what is compared ---- */

struct listing {
    FILE *out;
    uint64_t done;     /* of the pass */
    unsigned restarts; /* passes that read tracks as a whole after all */
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
    self->restarts += done < self->done;
    self->done = done;
    return 0;
}

static void list_calls(FILE *out, const lode_calls *calls)
{
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        const uint64_t numbers[] = {row->calls, row->total,  row->self, row->min, row->max,
                                    row->p50,   row->errors, row->p95,  row->p99};
        char label[256];
        lode_function_label(row->function, label, sizeof label);
        fprintf(out, "%s %a %a", label, row->mean, row->deviation);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            fprintf(out, " %llu", (unsigned long long)numbers[k]);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < lode_calls_track_count(calls); i++) {
        const lode_track_row *row = lode_calls_track(calls, i);
        const uint64_t numbers[] = {row->track,  row->calls,   row->errors, row->total, row->out,
                                    row->events, row->repairs, row->begin,  row->end};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            fprintf(out, " %llu", (unsigned long long)numbers[k]);
        fputc('\n', out);
    }
}

static void list_tree(FILE *out, const lode_calltree *tree)
{
    for (uint32_t i = 1; i < tree->contexts.count; i++) {
        char label[256];
        lode_context_label(&tree->contexts.nodes[i], label, sizeof label);
        fprintf(out, "%u %s %llu %llu %llu\n", tree->contexts.nodes[i].depth, label,
                (unsigned long long)tree->calls[i], (unsigned long long)tree->total[i],
                (unsigned long long)tree->self[i]);
    }
}

static void list_check(struct listing *self, const lode_recording *recording, uint64_t limit)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    struct lode_report report;
    lode_error error = {0};
    options.threads = recording->piece ? 1 + random_below(3) : 1;
    assert_int_equal(
        lode_report_open(&report, recording->rules, recording->rule_count, limit, list_finding, self, &error),
        LODE_OK);
    lode_status status = lode_uft_check_tracks(recording, &report, &options, &error);
    const lode_check_result *result = &report.result;
    fprintf(self->out, "%d %llu %llu %llu %llu %llu %llu\n", (int)status, (unsigned long long)result->errors,
            (unsigned long long)result->warnings, (unsigned long long)result->notes,
            (unsigned long long)result->suppressed, (unsigned long long)result->tracks,
            (unsigned long long)result->events);
    lode_report_close(&report);
}

/* All answers, with pieces of this size; 0: whole tracks. */
static char *list(lode_recording *recording, uint64_t piece, int strict, int no_sched, unsigned *restarts)
{
    struct listing self = {.out = NULL};
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_slice slice = LODE_SLICE_INIT;
    lode_error error = {0};
    lode_calls *calls;
    lode_calltree *tree;
    char *text = NULL;
    size_t size;
    self.out = open_memstream(&text, &size);
    assert_non_null(self.out);
    recording->piece = piece;
    slice.no_sched = no_sched;
    options.threads = piece ? 1 + random_below(3) : 1;
    options.strict = strict;
    options.on_finding = list_finding;
    options.on_progress = note_progress;
    options.user = &self;
    lode_status status = lode_calls_compute(&calls, recording, &slice, &options, &error);
    fprintf(self.out, "%d %s\n", (int)status, status == LODE_OK ? "" : error.text);
    if (status == LODE_OK)
        list_calls(self.out, calls);
    lode_calls_free(status == LODE_OK ? calls : NULL);
    self.done = 0;
    status = lode_calltree_compute(&tree, recording, &slice, &options, &error);
    fprintf(self.out, "%d %s\n", (int)status, status == LODE_OK ? "" : error.text);
    if (status == LODE_OK)
        list_tree(self.out, tree);
    lode_calltree_free(status == LODE_OK ? tree : NULL);
    list_check(&self, recording, strict ? 2 : 0);
    fclose(self.out);
    *restarts += self.restarts;
    return text;
}

/* How often the pieces did not fit. */
static unsigned compare(lode_recording *recording, uint64_t piece, const char *name)
{
    unsigned restarts = 0;
    for (int i = 0; i < 4; i++) {
        char *whole = list(recording, 0, i & 1, i >> 1, &restarts);
        char *cut = list(recording, piece, i & 1, i >> 1, &restarts);
        if (strcmp(whole, cut) != 0)
            fail_msg("%s, pieces of %llu bytes, strict %d, no sched %d:\n%s---\n%s", name,
                     (unsigned long long)piece, i & 1, i >> 1, whole, cut);
        free(whole);
        free(cut);
    }
    return restarts;
}

/* ---- the corpus ---- */

static uint64_t longest_track(const lode_recording *recording)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        longest = recording->tracks[i].bytes > longest ? recording->tracks[i].bytes : longest;
    return longest;
}

static unsigned try_recording(const char *path)
{
    lode_recording *recording;
    if (lode_recording_open(&recording, path, NULL, NULL) != LODE_OK)
        return 0;
    uint64_t records = longest_track(recording) / RECORD;
    /* A cut at every record takes time for each of them. */
    for (unsigned i = 0; i < CUTS && records > 1; i++) {
        uint64_t least = 1 + records / 200, most = records - least + 1;
        uint64_t piece = i == 0 ? least : least + random_below(most < 4096 ? (unsigned)most : 4096);
        compare(recording, piece * RECORD, path);
    }
    lode_recording_close(recording);
    return 1;
}

static void recordings_give_the_same_answers_at_any_cut(void **state)
{
    static const char *const folders[] = {"uftrace/recorded", "uftrace/handmade"};
    unsigned count = 0;
    (void)state;
    seed = 1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char root[512], path[1024];
        struct dirent *entry;
        assert_true(corpus_path(root, sizeof root, folders[i]));
        DIR *directory = opendir(root);
        assert_non_null(directory);
        while ((entry = readdir(directory)) != NULL) {
            if (entry->d_name[0] == '.' || entry->d_type == DT_LNK)
                continue;
            snprintf(path, sizeof path, "%s/%.200s%s", root, entry->d_name, i == 0 ? "/uftrace.data" : "");
            count += try_recording(path);
        }
        closedir(directory);
    }
    print_message("# %u recordings\n", count);
    assert_true(count >= 10);
}

/* ---- random tracks ---- */

#define TRACK "101.dat"

struct step {
    uint64_t time, address;
    unsigned type, depth;
};

/* Nested calls of few functions, so that there is recursion; the last ones stay open. */
static void make_steps(struct step *steps)
{
    static const uint64_t functions[] = {MINIREC_RUN, MINIREC_LEAF, MINIREC_WORK, MINIREC_LIBFN};
    uint64_t open[RECORDS], time = 990;
    unsigned depth = 0;
    for (unsigned i = 0; i < RECORDS; i++) {
        bool begins = depth == 0 || random_below(100) < 52;
        time += random_below(4);
        time = time > 1003 && time <= 1006 ? 1007 : time; /* the thread is off-CPU */
        if (begins)
            open[depth] = functions[random_below(4)];
        depth -= begins ? 0 : 1;
        steps[i] = (struct step){time, open[depth], begins ? MINIREC_ENTRY : MINIREC_EXIT, depth};
        depth += begins ? 1 : 0;
    }
}

static void damage(struct step *step)
{
    switch (random_below(8)) {
    case 0:
        step->type = MINIREC_LOST;
        break;
    case 1:
        step->type = MINIREC_EVENT;
        break;
    case 2:
        step->type ^= MINIREC_ENTRY ^ MINIREC_EXIT;
        break;
    case 3:
        step->depth = random_below(12);
        break;
    case 4:
        step->time = random_below(3000);
        break;
    case 5:
        step->address = random_below(2) ? MINIREC_LONGJMP : MINIREC_SCALE;
        break;
    case 6:
        step->address = 0x123400 + random_below(3); /* without a name */
        break;
    default:
        step->depth += 1;
    }
}

static void make_random(struct minirec *rec, unsigned damages)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct step steps[RECORDS];
    options.big_endian = random_below(2);
    minirec_make(rec, &options);
    make_steps(steps);
    for (unsigned i = 0; i < damages; i++)
        damage(&steps[random_below(RECORDS)]);
    minirec_set(rec, TRACK, "", 0);
    for (unsigned i = 0; i < RECORDS; i++)
        minirec_record(rec, TRACK, steps[i].time, steps[i].type, steps[i].address, steps[i].depth);
    if (damages > 0 && random_below(4) == 0)
        minirec_put(rec, TRACK, random_below(RECORDS) * RECORD + random_below(2) * 8, 8,
                    random_below(1 << 30));
    if (damages > 0 && random_below(4) == 0)
        minirec_cut(rec, TRACK, RECORDS * RECORD - random_below(40));
}

static lode_recording *open_made(const struct minirec *rec)
{
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_error error = {0};
    if (lode_recording_open_memory(&recording, files, minirec_list(rec, files), NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

static unsigned compare_random(unsigned damages)
{
    unsigned restarts = 0;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct minirec rec;
        char name[64];
        seed = i + 1000 * damages;
        snprintf(name, sizeof name, "seed %u, %u damages", i, damages);
        make_random(&rec, damages);
        lode_recording *recording = open_made(&rec);
        restarts += compare(recording, RECORD, name);
        restarts += compare(recording, RECORD * (2 + random_below(RECORDS)), name);
        lode_recording_close(recording);
        minirec_free(&rec);
    }
    return restarts;
}

static void sound_tracks_are_read_once(void **state)
{
    (void)state;
    assert_int_equal(compare_random(0), 0);
}

static void damaged_tracks_are_repaired_the_same_way(void **state)
{
    unsigned restarts = 0;
    (void)state;
    for (unsigned damages = 1; damages < 4; damages++)
        restarts += compare_random(damages);
    print_message("# %u passes were read again as a whole\n", restarts);
    assert_true(restarts > 0);
}

/* ---- what is open at a cut ---- */

static uint32_t track_of(const lode_recording *recording)
{
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        if (recording->tracks[i].tid == 101)
            return i;
    fail_msg("no track");
    return 0;
}

/* The calls that are open after a record: a follower of the events has them. */
static void compare_cut(struct lode_open_calls *open, const struct lode_cut *cut, const lode_event *event)
{
    assert_int_equal(open_calls_count(open), cut->count);
    assert_int_equal(event->time, cut->time);
    for (size_t i = 0; i < cut->count; i++) {
        const lode_event *begin = OPEN_CALLS_AT(open, lode_event, i);
        assert_ptr_equal(begin->function, cut->calls[i].function);
        assert_int_equal(begin->time, cut->calls[i].begin);
    }
}

static void follow(const lode_recording *recording, uint32_t track, const struct lode_cuts *cuts)
{
    struct lode_open_calls open;
    const lode_event *events;
    lode_cursor *cursor;
    size_t count, record = 0;
    open_calls_init(&open, sizeof(lode_event), SIZE_MAX);
    assert_int_equal(lode_cursor_open(&cursor, recording, track, NULL, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
        for (size_t i = 0; i < count && record < cuts->count; i++) {
            enum lode_call_step step = open_calls_take(&open, &events[i]);
            if (step == LODE_CALL_BEGINS)
                *(lode_event *)open_calls_push(&open) = events[i];
            else if (step == LODE_CALL_ENDS)
                open_calls_pop(&open);
            if (events[i].kind <= LODE_EVENT_LEAVE)
                compare_cut(&open, &cuts->items[record++], &events[i]);
        }
    lode_cursor_close(cursor);
    open_calls_free(&open);
}

static void a_cut_knows_the_calls_that_are_open(void **state)
{
    (void)state;
    for (seed = 1; seed < 1000000; seed += 10007) {
        struct lode_cuts cuts;
        struct minirec rec;
        make_random(&rec, 0);
        lode_recording *recording = open_made(&rec);
        uint32_t track = track_of(recording);
        recording->piece = RECORD;
        assert_int_equal(lode_cuts_make(&cuts, recording, track, RECORD, 2, NULL, NULL), LODE_OK);
        assert_int_equal(cuts.count, RECORDS - 1);
        follow(recording, track, &cuts);
        lode_cuts_free(&cuts);
        lode_recording_close(recording);
        minirec_free(&rec);
    }
}

static void a_track_is_not_cut_after_what_is_not_regular(void **state)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct lode_cuts cuts;
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    minirec_set(&rec, TRACK, "", 0);
    for (unsigned i = 0; i < 10; i++)
        minirec_record(&rec, TRACK, 1000 + i,
                       i == 6  ? MINIREC_LOST
                       : i % 2 ? MINIREC_EXIT
                               : MINIREC_ENTRY,
                       MINIREC_RUN, 0);
    lode_recording *recording = open_made(&rec);
    recording->piece = RECORD;
    assert_int_equal(lode_cuts_make(&cuts, recording, track_of(recording), RECORD, 1, NULL, NULL), LODE_OK);
    assert_int_equal(cuts.count, 6);
    lode_cuts_free(&cuts);
    lode_recording_close(recording);
    minirec_free(&rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_knows_the_calls_that_are_open),
        cmocka_unit_test(a_track_is_not_cut_after_what_is_not_regular),
        cmocka_unit_test(sound_tracks_are_read_once),
        cmocka_unit_test(damaged_tracks_are_repaired_the_same_way),
        cmocka_unit_test(recordings_give_the_same_answers_at_any_cut),
    };
    return run_with_corpus("pieces", tests, sizeof tests / sizeof *tests);
}
