/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates of calls: from all parts they are what the calls are, from some of them the same for
 * any number of threads and near what the calls are, and what cannot be estimated says so.
 */
#include "analysis/calls/calltree.h"
#include "minirec.h"
#include "model/recording/recording.h"
#include "unit.h"
#include "writing.h"
#include <lode/unstable.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 4096,
    LARGE_PIECE = 32768,
    ALL = 1 << 30, /* more parts than there are */
    SOME = 64,
    TOP = 100
};

static struct place place; /* of the recording that is open */

static lode_recording *make(const char *to, uint64_t records)
{
    lode_synth_recording_options options = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    lode_recording *recording = NULL;
    lode_error error = {0};
    options.records = records;
    options.functions = 200;
    options.to = to;
    options.calls_per_request = 20;
    enter_place(&place);
    if (lode_synth_recording(place.target, &options, &error) != LODE_OK ||
        lode_recording_open(&recording, place.target, NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

static void drop(lode_recording *recording)
{
    lode_recording_close(recording);
    leave_place(&place);
}

static lode_calls *calls_of(const lode_recording *recording, uint64_t parts, unsigned threads)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls;
    lode_error error = {0};
    options.parts = parts;
    options.threads = threads;
    if (lode_calls_compute(&calls, recording, NULL, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return calls;
}

static lode_calltree *tree_of(const lode_recording *recording, uint64_t parts, unsigned threads)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calltree *tree;
    lode_error error = {0};
    options.parts = parts;
    options.threads = threads;
    if (lode_calltree_compute(&tree, recording, NULL, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return tree;
}

/* A row without a function if there is none. */
static const lode_call_row *row_of(const lode_calls *calls, const lode_function *function)
{
    static const lode_call_row none;
    for (size_t i = 0; i < lode_calls_count(calls); i++)
        if (lode_calls_at(calls, i)->function == function)
            return lode_calls_at(calls, i);
    return &none;
}

/* ---- all parts ---- */

static void compare_calls(const lode_calls *exact, const lode_calls *estimate)
{
    uint64_t total = 0, estimated = 0;
    assert_null(lode_calls_estimate(exact));
    assert_null(lode_calls_margin(exact, 0));
    const lode_calls_sample *sample = lode_calls_estimate(estimate);
    assert_int_equal(sample->parts, sample->parts_read);
    assert_int_equal(sample->bytes, sample->bytes_read);
    assert_true(sample->parts >= 16);
    assert_int_equal(lode_calls_count(exact), lode_calls_count(estimate));
    for (size_t i = 0; i < lode_calls_count(exact); i++) {
        const lode_call_row *row = lode_calls_at(estimate, i), *same = row_of(exact, row->function);
        assert_ptr_equal(same->function, row->function);
        assert_int_equal(row->self, same->self);
        assert_int_equal(row->total, same->total);
        assert_int_equal(row->calls, same->calls);
        assert_int_equal(row->errors, same->errors);
        assert_true(lode_calls_margin(estimate, i)->self == 0);
    }
    for (uint32_t i = 0; i < lode_calls_track_count(exact); i++) {
        total += lode_calls_track(exact, i)->total;
        estimated += lode_calls_track(estimate, i)->total;
        assert_int_equal(lode_calls_track(exact, i)->begin, lode_calls_track(estimate, i)->begin);
        assert_int_equal(lode_calls_track(exact, i)->end, lode_calls_track(estimate, i)->end);
    }
    assert_int_equal(total, estimated);
}

static void compare_trees(const lode_calltree *exact, const lode_calltree *estimate)
{
    assert_null(lode_calltree_estimate(exact));
    assert_non_null(lode_calltree_estimate(estimate));
    assert_int_equal(exact->contexts.count, estimate->contexts.count);
    for (uint32_t i = 0; i < exact->contexts.count; i++) {
        assert_int_equal(exact->self[i], estimate->self[i]);
        assert_int_equal(exact->total[i], estimate->total[i]);
        assert_int_equal(exact->calls[i], estimate->calls[i]);
    }
}

static void compare_all(lode_recording *recording)
{
    recording->piece = 0;
    lode_calls *exact = calls_of(recording, 0, 1);
    lode_calltree *tree = tree_of(recording, 0, 1);
    recording->piece = PIECE;
    lode_calls *estimate = calls_of(recording, ALL, 2);
    lode_calltree *estimated = tree_of(recording, ALL, 2);
    compare_calls(exact, estimate);
    compare_trees(tree, estimated);
    lode_calls_free(exact);
    lode_calls_free(estimate);
    lode_calltree_free(tree);
    lode_calltree_free(estimated);
    drop(recording);
}

static void from_all_parts_calls_are_exact(void **state)
{
    (void)state;
    compare_all(make("uftrace", 100000));
    compare_all(make("zorka", 100000));
    compare_all(make("otlp", 20000));
}

/* ---- some parts ---- */

/* How many of the functions with most time are within their margin, self and total. */
static unsigned count_within(const lode_calls *exact, const lode_calls *estimate)
{
    unsigned within = 0;
    for (size_t i = 0; i < TOP; i++) {
        const lode_call_row *row = lode_calls_at(estimate, i), *same = row_of(exact, row->function);
        const lode_call_margin *margin = lode_calls_margin(estimate, i);
        within += fabs((double)row->self - (double)same->self) <= margin->self + 1;
        within += fabs((double)row->total - (double)same->total) <= margin->total + 1;
    }
    return within;
}

static void margins_have_most_exact_values(void **state)
{
    (void)state;
    lode_recording *recording = make("uftrace", 2000000);
    lode_calls *exact = calls_of(recording, 0, 0);
    recording->piece = LARGE_PIECE;
    lode_calls *estimate = calls_of(recording, SOME, 0);
    const lode_calls_sample *sample = lode_calls_estimate(estimate);
    assert_true(sample->parts_read >= SOME / 2 && sample->parts_read <= SOME * 2);
    assert_true(sample->bytes_read < sample->bytes / 8);
    unsigned within = count_within(exact, estimate);
    print_message("# %u of %d values are within their margins\n", within, 2 * TOP);
    assert_true(within >= 2 * TOP * 85 / 100 && within < 2 * TOP);
    lode_calls_free(exact);
    lode_calls_free(estimate);
    drop(recording);
}

static void the_same_parts_for_any_number_of_threads(void **state)
{
    (void)state;
    lode_recording *recording = make("uftrace", 200000);
    recording->piece = PIECE;
    lode_calls *first = calls_of(recording, SOME, 1);
    lode_calltree *tree = tree_of(recording, SOME, 1);
    for (unsigned threads = 2; threads < 5; threads++) {
        lode_calls *calls = calls_of(recording, SOME, threads);
        lode_calltree *again = tree_of(recording, SOME, threads);
        assert_int_equal(lode_calls_count(calls), lode_calls_count(first));
        for (size_t i = 0; i < lode_calls_count(calls); i++) {
            assert_memory_equal(lode_calls_at(calls, i), lode_calls_at(first, i), sizeof(lode_call_row));
            assert_memory_equal(lode_calls_margin(calls, i), lode_calls_margin(first, i),
                                sizeof(lode_call_margin));
        }
        assert_int_equal(again->contexts.count, tree->contexts.count);
        assert_memory_equal(again->self, tree->self, tree->contexts.count * sizeof *tree->self);
        lode_calls_free(calls);
        lode_calltree_free(again);
    }
    lode_calls_free(first);
    lode_calltree_free(tree);
    drop(recording);
}

/* ---- what has no estimate ---- */

static lode_status status_of(const lode_recording *recording, const lode_slice *slice, uint64_t parts)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls = NULL;
    options.parts = parts;
    lode_status status = lode_calls_compute(&calls, recording, slice, &options, NULL);
    lode_calls_free(calls);
    return status;
}

static void a_part_of_tracks_is_not_estimated(void **state)
{
    lode_slice window = LODE_SLICE_INIT, depth = LODE_SLICE_INIT;
    (void)state;
    lode_recording *recording = make("uftrace", 100000);
    recording->piece = PIECE;
    window.from = 1;
    depth.depth = 2;
    assert_int_equal(status_of(recording, &window, ALL), LODE_ABSENT);
    assert_int_equal(status_of(recording, &depth, ALL), LODE_ABSENT);
    recording->piece = 0;
    assert_int_equal(status_of(recording, &window, SOME), LODE_OK);
    /* Too little to estimate. */
    lode_calls *calls = calls_of(recording, SOME, 1);
    assert_null(lode_calls_estimate(calls));
    lode_calls_free(calls);
    drop(recording);
}

/* Calls of one function, and in place of one of them a call of another one that waits. */
struct waiting {
    struct minirec rec;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
};

/* A recording of one thread, 101, whose records follow. */
static void make_single(struct minirec *rec)
{
    static const char *const others[] = {"100.dat", "101.dat", "102.dat", "perf-cpu0.dat", "perf-cpu1.dat"};
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    minirec_make(rec, &options);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        minirec_set(rec, others[i], "", 0);
}

static void open_waiting(struct waiting *self, unsigned calls, unsigned at, int64_t wait)
{
    lode_error error = {0};
    uint64_t time = 1000;
    make_single(&self->rec);
    for (unsigned i = 0; i < calls; i++, time += 50) {
        uint64_t address = i == at ? MINIREC_LEAF : MINIREC_RUN;
        minirec_record(&self->rec, "101.dat", time, MINIREC_ENTRY, address, 0);
        time += 90 + i % 21 + (i == at ? (uint64_t)wait : 0);
        minirec_record(&self->rec, "101.dat", time, MINIREC_EXIT, address, 0);
    }
    if (lode_recording_open_memory(&self->recording, self->files, minirec_list(&self->rec, self->files), NULL,
                                   &error) != LODE_OK)
        fail_msg("%s", error.text);
    self->recording->piece = 1024;
}

static void close_waiting(struct waiting *self)
{
    lode_recording_close(self->recording);
    minirec_free(&self->rec);
}

/* Each function but for a hundredth of all time, and what the margin allows. */
static void compare_within(const lode_calls *exact, const lode_calls *estimate)
{
    double all = 0;
    for (size_t i = 0; i < lode_calls_count(exact); i++)
        all += (double)lode_calls_at(exact, i)->self;
    assert_true(lode_calls_estimate(estimate)->parts_read * 4 < lode_calls_estimate(estimate)->parts);
    for (size_t i = 0; i < lode_calls_count(estimate); i++) {
        const lode_call_row *row = lode_calls_at(estimate, i), *same = row_of(exact, row->function);
        double off = fabs((double)row->self - (double)same->self);
        assert_true(off <= 0.01 * all + lode_calls_margin(estimate, i)->self);
        assert_true(off <= 0.1 * (double)same->self);
        assert_true(row->mean == 0 && row->max == 0 && lode_calls_percentile(estimate, i, 0.5) == 0);
    }
}

static void a_long_wait_is_found_wherever_it_is(void **state)
{
    (void)state;
    for (unsigned at = 200; at < 15000; at += 977) {
        struct waiting self;
        open_waiting(&self, 15000, at, 1000000000);
        lode_calls *estimate = calls_of(self.recording, 32, 2);
        lode_calltree *estimated = tree_of(self.recording, 32, 2);
        self.recording->piece = 0;
        lode_calls *exact = calls_of(self.recording, 0, 1);
        lode_calltree *tree = tree_of(self.recording, 0, 1);
        const lode_call_row *longest = lode_calls_at(estimate, 0);
        assert_ptr_equal(longest->function, lode_calls_at(exact, 0)->function);
        assert_true(longest->self == lode_calls_at(exact, 0)->self && longest->calls == 1);
        compare_within(exact, estimate);
        assert_true(fabs((double)estimated->total[0] - (double)tree->total[0]) <
                    0.01 * (double)tree->total[0]);
        lode_calls_free(exact);
        lode_calls_free(estimate);
        lode_calltree_free(tree);
        lode_calltree_free(estimated);
        close_waiting(&self);
    }
}

static void times_that_go_back_at_a_cut_are_not_estimated(void **state)
{
    struct waiting self;
    (void)state;
    open_waiting(&self, 15000, 7000, -500000);
    assert_int_equal(status_of(self.recording, NULL, 32), LODE_ABSENT);
    close_waiting(&self);
}

static void strict_reads_all(void **state)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    struct waiting self;
    lode_calls *calls;
    (void)state;
    options.parts = 32;
    options.strict = 1;
    open_waiting(&self, 15000, 7000, 0);
    assert_int_equal(lode_calls_compute(&calls, self.recording, NULL, &options, NULL), LODE_OK);
    assert_null(lode_calls_estimate(calls));
    lode_calls_free(calls);
    close_waiting(&self);
}

static void check_repaired(uint64_t piece)
{
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording = NULL;
    struct minirec rec;
    lode_error error = {0};
    make_single(&rec);
    for (unsigned i = 0; i < 400; i++)
        minirec_record(&rec, "101.dat", 1000 + i, i % 2 || i == 200 ? MINIREC_EXIT : MINIREC_ENTRY,
                       MINIREC_RUN, 0);
    assert_int_equal(lode_recording_open_memory(&recording, files, minirec_list(&rec, files), NULL, &error),
                     LODE_OK);
    recording->piece = piece;
    assert_int_equal(status_of(recording, NULL, ALL), LODE_ABSENT);
    lode_recording_close(recording);
    minirec_free(&rec);
}

static void what_needs_repairs_is_not_estimated(void **state)
{
    (void)state;
    check_repaired(64);
    /* In tracks that are read whole. */
    check_repaired(1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_all_parts_calls_are_exact),
        cmocka_unit_test(margins_have_most_exact_values),
        cmocka_unit_test(the_same_parts_for_any_number_of_threads),
        cmocka_unit_test(a_part_of_tracks_is_not_estimated),
        cmocka_unit_test(a_long_wait_is_found_wherever_it_is),
        cmocka_unit_test(times_that_go_back_at_a_cut_are_not_estimated),
        cmocka_unit_test(strict_reads_all),
        cmocka_unit_test(what_needs_repairs_is_not_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
