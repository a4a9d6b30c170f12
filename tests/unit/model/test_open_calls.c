/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The follower of calls: its own rules, and that all who count calls agree with it on every
 * recording of the corpus: the two loops that do without it, slices and boxes.
 */
#include "analysis/calls/calltree.h"
#include "analysis/calls/slice.h"
#include "model/recording/recording.h"
#include "unit.h"
#include <dirent.h>
#include <lode/calls.h>
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTHS = 4096,
    FUNCTIONS = 1 << 16
};

/* ---- rules ---- */

static enum lode_call_step step(struct lode_open_calls *calls, unsigned kind)
{
    enum lode_call_step step = open_calls_take(calls, &(lode_event){.kind = (uint8_t)kind});
    if (step == LODE_CALL_BEGINS)
        *(uint32_t *)open_calls_push(calls) = kind;
    else if (step == LODE_CALL_ENDS)
        open_calls_pop(calls);
    return step;
}

static void off_cpu_time_is_a_call(void **state)
{
    struct lode_open_calls calls;
    (void)state;
    open_calls_init(&calls, sizeof(uint32_t), SIZE_MAX);
    assert_int_equal(step(&calls, LODE_EVENT_ENTER), LODE_CALL_BEGINS);
    assert_int_equal(step(&calls, LODE_EVENT_SCHED_OUT), LODE_CALL_BEGINS);
    assert_int_equal(step(&calls, LODE_EVENT_INSTANT), LODE_CALL_NONE);
    assert_int_equal(step(&calls, LODE_EVENT_LOST), LODE_CALL_NONE);
    assert_int_equal(open_calls_count(&calls), 2);
    assert_int_equal(*OPEN_CALLS_AT(&calls, uint32_t, 0), LODE_EVENT_ENTER);
    assert_int_equal(*OPEN_CALLS_TOP(&calls, uint32_t), LODE_EVENT_SCHED_OUT);
    assert_int_equal(step(&calls, LODE_EVENT_SCHED_IN), LODE_CALL_ENDS);
    assert_int_equal(step(&calls, LODE_EVENT_LEAVE), LODE_CALL_ENDS);
    open_calls_free(&calls);
}

static void an_end_of_nothing_is_ignored(void **state)
{
    struct lode_open_calls calls;
    (void)state;
    open_calls_init(&calls, sizeof(uint32_t), SIZE_MAX);
    assert_int_equal(step(&calls, LODE_EVENT_LEAVE), LODE_CALL_NONE);
    assert_int_equal(step(&calls, LODE_EVENT_SCHED_IN), LODE_CALL_NONE);
    assert_int_equal(step(&calls, LODE_EVENT_ENTER), LODE_CALL_BEGINS);
    assert_int_equal(step(&calls, LODE_EVENT_LEAVE), LODE_CALL_ENDS);
    assert_int_equal(step(&calls, LODE_EVENT_LEAVE), LODE_CALL_NONE);
    assert_int_equal(open_calls_count(&calls), 0);
    open_calls_free(&calls);
}

static void calls_below_the_deepest_level_are_hidden_with_their_ends(void **state)
{
    static const uint8_t kinds[] = {LODE_EVENT_ENTER, LODE_EVENT_ENTER,     LODE_EVENT_ENTER,
                                    LODE_EVENT_LEAVE, LODE_EVENT_SCHED_OUT, LODE_EVENT_ENTER,
                                    LODE_EVENT_LEAVE, LODE_EVENT_SCHED_IN,  LODE_EVENT_LEAVE,
                                    LODE_EVENT_ENTER, LODE_EVENT_LEAVE,     LODE_EVENT_LEAVE};
    static const uint8_t steps[] = {LODE_CALL_BEGINS, LODE_CALL_BEGINS, LODE_CALL_HIDES, LODE_CALL_NONE,
                                    LODE_CALL_HIDES,  LODE_CALL_HIDES,  LODE_CALL_NONE,  LODE_CALL_NONE,
                                    LODE_CALL_ENDS,   LODE_CALL_BEGINS, LODE_CALL_ENDS,  LODE_CALL_ENDS};
    struct lode_open_calls calls;
    (void)state;
    open_calls_init(&calls, sizeof(uint32_t), 2);
    for (size_t i = 0; i < sizeof kinds; i++)
        assert_int_equal(step(&calls, kinds[i]), steps[i]);
    assert_int_equal(open_calls_count(&calls) + calls.hidden, 0);
    step(&calls, LODE_EVENT_ENTER);
    step(&calls, LODE_EVENT_ENTER);
    step(&calls, LODE_EVENT_ENTER);
    open_calls_reset(&calls);
    assert_int_equal(step(&calls, LODE_EVENT_LEAVE), LODE_CALL_NONE);
    open_calls_free(&calls);
}

/* ---- agreement ---- */

struct call {
    uint64_t begin, inside;
    uint32_t function;
};

/* By function index, and by depth. */
struct sums {
    uint64_t calls[FUNCTIONS], total[FUNCTIONS], self[FUNCTIONS], active[FUNCTIONS];
    uint64_t depth_calls[DEPTHS], depth_time[DEPTHS];
};

static void add_call(struct sums *sums, struct lode_open_calls *open, uint64_t time)
{
    const struct call *call = open_calls_pop(open);
    uint64_t took = time - call->begin;
    size_t depth = open_calls_count(open);
    sums->calls[call->function]++;
    sums->self[call->function] += took - call->inside;
    sums->total[call->function] += --sums->active[call->function] == 0 ? took : 0;
    if (depth > 0)
        OPEN_CALLS_TOP(open, struct call)->inside += took;
    assert_true(depth < DEPTHS);
    sums->depth_calls[depth]++;
    sums->depth_time[depth] += took;
}

static void follow(struct sums *sums, struct lode_open_calls *open, const lode_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum lode_call_step step = open_calls_take(open, &events[i]);
        if (step == LODE_CALL_BEGINS) {
            uint32_t function = events[i].function->index;
            assert_true(function < FUNCTIONS);
            sums->active[function]++;
            *(struct call *)open_calls_push(open) = (struct call){events[i].time, 0, function};
        } else if (step == LODE_CALL_ENDS) {
            add_call(sums, open, events[i].time);
        }
    }
}

/* Follows a track, as it is and as a slice of everything. */
static void follow_track(struct sums *plain, struct sums *sliced, const lode_recording *recording,
                         uint32_t track)
{
    const lode_slice everything = {.size = sizeof everything, .depth = DEPTHS};
    struct lode_open_calls open[2];
    struct lode_slicer slicer;
    const lode_event *events, *kept;
    lode_cursor *cursor;
    size_t count, kept_count;
    for (unsigned i = 0; i < 2; i++)
        open_calls_init(&open[i], sizeof(struct call), SIZE_MAX);
    lode_slicer_init(&slicer, &everything);
    assert_int_equal(lode_cursor_open(&cursor, recording, track, NULL, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK) {
        follow(plain, &open[0], events, count);
        assert_int_equal(lode_slicer_push(&slicer, events, count, &kept, &kept_count, NULL), LODE_OK);
        follow(sliced, &open[1], kept, kept_count);
    }
    assert_int_equal(lode_slicer_finish(&slicer, &kept, &kept_count, NULL), LODE_OK);
    follow(sliced, &open[1], kept, kept_count);
    lode_cursor_close(cursor);
    lode_slicer_free(&slicer);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(open_calls_count(&open[i]), 0);
        open_calls_free(&open[i]);
    }
}

static void compare_tally(const struct sums *sums, const lode_recording *recording)
{
    lode_calls *calls;
    uint64_t found = 0, known = 0;
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, NULL, NULL), LODE_OK);
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        uint32_t function = row->function->index;
        assert_int_equal(row->calls, sums->calls[function]);
        assert_int_equal(row->total, sums->total[function]);
        assert_int_equal(row->self, sums->self[function]);
        found += row->calls;
    }
    for (size_t i = 0; i < FUNCTIONS; i++)
        known += sums->calls[i];
    assert_int_equal(found, known);
    lode_calls_free(calls);
}

static void compare_tree(const struct sums *sums, const lode_recording *recording)
{
    lode_calltree *tree;
    uint64_t *calls = calloc(FUNCTIONS, sizeof *calls), *self = calloc(FUNCTIONS, sizeof *self);
    assert_int_equal(lode_calltree_compute(&tree, recording, NULL, NULL, NULL), LODE_OK);
    for (uint32_t i = 1; i < lode_calltree_context_count(tree); i++) {
        uint32_t function = lode_context_function(&tree->contexts.nodes[i])->index;
        calls[function] += tree->calls[i];
        self[function] += tree->self[i];
    }
    assert_memory_equal(calls, sums->calls, sizeof sums->calls);
    assert_memory_equal(self, sums->self, sizeof sums->self);
    lode_calltree_free(tree);
    free(calls);
    free(self);
}

static void add_boxes(uint64_t *calls, uint64_t *time, const lode_recording *recording, uint32_t track)
{
    lode_boxes *boxes;
    assert_int_equal(lode_boxes_compute_recording(&boxes, recording, track, NULL, NULL), LODE_OK);
    for (size_t i = 0; i < lode_boxes_count(boxes); i++) {
        const lode_box *box = lode_boxes_at(boxes, i);
        calls[box->depth - 1] += box->calls;
        time[box->depth - 1] += box->duration;
    }
    lode_boxes_free(boxes);
}

static void compare_boxes(const struct sums *sums, const lode_recording *recording)
{
    uint64_t *calls = calloc(DEPTHS, sizeof *calls), *time = calloc(DEPTHS, sizeof *time);
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        add_boxes(calls, time, recording, i);
    assert_memory_equal(calls, sums->depth_calls, sizeof sums->depth_calls);
    assert_memory_equal(time, sums->depth_time, sizeof sums->depth_time);
    free(calls);
    free(time);
}

/* Whether it is a recording that can be read. */
static bool agree_on(const char *path)
{
    lode_recording *recording;
    if (lode_recording_open(&recording, path, NULL, NULL) != LODE_OK)
        return false;
    struct sums *plain = calloc(1, sizeof *plain), *sliced = calloc(1, sizeof *sliced);
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        follow_track(plain, sliced, recording, i);
    assert_memory_equal(plain, sliced, sizeof *plain);
    compare_tally(plain, recording);
    compare_tree(plain, recording);
    compare_boxes(plain, recording);
    free(plain);
    free(sliced);
    lode_recording_close(recording);
    return true;
}

static void all_who_count_calls_agree_on_every_recording(void **state)
{
    static const char *const folders[] = {"uftrace/recorded", "uftrace/handmade", "zorka/stores"};
    unsigned count = 0;
    (void)state;
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
            count += agree_on(path);
        }
        closedir(directory);
    }
    print_message("# %u recordings\n", count);
    assert_true(count >= 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_cpu_time_is_a_call),
        cmocka_unit_test(an_end_of_nothing_is_ignored),
        cmocka_unit_test(calls_below_the_deepest_level_are_hidden_with_their_ends),
        cmocka_unit_test(all_who_count_calls_agree_on_every_recording),
    };
    return run_with_corpus("open calls", tests, sizeof tests / sizeof *tests);
}
