/* SPDX-License-Identifier: BSD-3-Clause */
/* perf files: records made by hand, and damaged ones. */
#include "base/io/bytes.h"
#include "format/uftrace/perf.h"
#include "format/uftrace/rules.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum {
    COMM = 3,
    EXIT = 4,
    FORK = 7,
    SWITCH = 14,
    OUT = 0x2000,
    PREEMPTED = 0x4000,
    MANY = 4300000 /* 16 bytes each are more than 64 MiB */
};

/* A file that is being made. */
struct made {
    uint8_t bytes[4096];
    size_t size;
    bool big_endian;
};

static void put(struct made *made, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        made->bytes[made->size + i] = (uint8_t)(value >> 8 * (made->big_endian ? size - 1 - i : i));
    made->size += size;
}

static void put_header(struct made *made, unsigned type, unsigned misc, unsigned size)
{
    put(made, type, 4);
    put(made, misc, 2);
    put(made, size, 2);
}

static void put_switch(struct made *made, uint64_t time, int tid, unsigned misc)
{
    put_header(made, SWITCH, misc, 24);
    put(made, 1, 4);
    put(made, (uint64_t)tid, 4);
    put(made, time, 8);
}

static void put_task(struct made *made, unsigned type, uint64_t time, int tid)
{
    put_header(made, type, 0, 48);
    put(made, 1, 4);
    put(made, 2, 4);
    put(made, (uint64_t)tid, 4);
    put(made, 3, 4);
    put(made, time, 8);
    put(made, 4, 8);
    put(made, 5, 8);
}

static void put_name(struct made *made, uint64_t time, int tid, const char *name)
{
    size_t room = (strlen(name) + 8) / 8 * 8;
    put_header(made, COMM, 0x2000, (unsigned)(32 + room));
    put(made, 1, 4);
    put(made, (uint64_t)tid, 4);
    memcpy(made->bytes + made->size, name, strlen(name));
    made->size += room;
    put(made, 6, 8);
    put(made, time, 8);
}

struct seen {
    unsigned count;
    char rule[64];
    uint64_t offset;
};

static int on_finding(void *user, const lode_finding *finding)
{
    struct seen *seen = user;
    seen->count++;
    seen->offset = finding->offset;
    snprintf(seen->rule, sizeof seen->rule, "%s", finding->rule);
    return 0;
}

static struct seen read_files(struct lode_uft_perf *perf, const struct lode_uft_perf_file *files,
                              size_t count, const int32_t *tids, size_t tid_count, bool big_endian)
{
    struct seen seen = {0};
    struct lode_report report;
    assert_int_equal(lode_report_open(&report, lode_uft_rules, UFT_RULE_COUNT, 0, on_finding, &seen, NULL),
                     LODE_OK);
    assert_int_equal(lode_uft_perf_read(perf, files, count, tids, tid_count, big_endian, &report, NULL),
                     LODE_OK);
    lode_report_close(&report);
    return seen;
}

static struct seen read_made(struct lode_uft_perf *perf, const struct made *made)
{
    static const int32_t tids[] = {5, 7, 9};
    struct lode_uft_perf_file file = {"perf-cpu3.dat", {made->bytes, made->size}, 3};
    return read_files(perf, &file, 1, tids, 3, made->big_endian);
}

static void assert_event(const struct lode_uft_perf *perf, int32_t tid, uint64_t index, uint64_t time,
                         uint32_t kind, uint32_t cpu)
{
    const struct lode_uft_perf_thread *thread = lode_uft_perf_find(perf, tid);
    assert_non_null(thread);
    assert_true(index < thread->count);
    const struct lode_uft_perf_event *event = &perf->events[thread->first + index];
    assert_int_equal(event->time, time);
    assert_int_equal(event->kind, kind);
    assert_int_equal(event->cpu, cpu);
}

static void records_are_sorted_out_by_thread(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 2; order++) {
        struct made made = {.big_endian = order == 1};
        struct lode_uft_perf perf;
        put_name(&made, 10, 5, "program");
        put_switch(&made, 20, 5, OUT | PREEMPTED);
        put_task(&made, FORK, 21, 7);
        put_switch(&made, 22, 8, 0);
        put_header(&made, 999, 1, 16);
        put(&made, 1, 8);
        put_switch(&made, 30, 5, 0);
        put_switch(&made, 40, 7, OUT);
        put_name(&made, 50, 7, "a longer name");
        put_task(&made, EXIT, 60, 7);
        assert_int_equal(read_made(&perf, &made).count, 0);
        assert_int_equal(perf.thread_count, 2);
        assert_event(&perf, 5, 0, 10, UFT_PERF_NAME, 0);
        assert_event(&perf, 5, 1, 20, UFT_PERF_OUT_PREEMPTED, 3);
        assert_event(&perf, 5, 2, 30, UFT_PERF_IN, 3);
        assert_event(&perf, 7, 0, 21, UFT_PERF_NEW, 3);
        assert_event(&perf, 7, 1, 40, UFT_PERF_OUT, 3);
        assert_event(&perf, 7, 2, 50, UFT_PERF_NAME, 1);
        assert_event(&perf, 7, 3, 60, UFT_PERF_EXIT, 3);
        assert_int_equal(perf.name_count, 2);
        assert_string_equal(perf.names[0], "program");
        assert_string_equal(perf.names[1], "a longer name");
        assert_null(lode_uft_perf_find(&perf, 8));
        assert_null(lode_uft_perf_find(&perf, 9));
        lode_uft_perf_free(&perf);
    }
}

static void files_are_merged_by_time_then_cpu_then_position(void **state)
{
    struct made made[3] = {{.size = 0}};
    const int32_t tid = 5;
    struct lode_uft_perf perf;
    (void)state;
    put_switch(&made[0], 10, 5, OUT);
    put_switch(&made[0], 30, 5, 0);
    put_switch(&made[1], 10, 5, 0);
    put_switch(&made[1], 10, 5, OUT);
    put_switch(&made[1], 20, 5, 0);
    /* Cpu 10 comes before cpu 2 where names are listed. */
    struct lode_uft_perf_file files[] = {{"perf-cpu10.dat", {made[0].bytes, made[0].size}, 10},
                                         {"perf-cpu2.dat", {made[1].bytes, made[1].size}, 2},
                                         {"perf-cpu3.dat", {NULL, 0}, 3}};
    assert_int_equal(read_files(&perf, files, 3, &tid, 1, false).count, 0);
    assert_int_equal(lode_uft_perf_find(&perf, 5)->count, 5);
    assert_event(&perf, 5, 0, 10, UFT_PERF_IN, 2);
    assert_event(&perf, 5, 1, 10, UFT_PERF_OUT, 2);
    assert_event(&perf, 5, 2, 10, UFT_PERF_OUT, 10);
    assert_event(&perf, 5, 3, 20, UFT_PERF_IN, 2);
    assert_event(&perf, 5, 4, 30, UFT_PERF_IN, 10);
    lode_uft_perf_free(&perf);
}

static void late_records_are_put_in_order(void **state)
{
    struct lode_uft_perf perf;
    (void)state;
    /* A little late, and in the worst order; equal times stay as they came. */
    for (unsigned worst = 0; worst < 2; worst++) {
        struct made made = {.size = 0};
        uint64_t last = 0;
        for (unsigned i = 0; i < 150; i++)
            put_switch(&made, worst ? 1000 - i / 2 : 1000 + (i ^ 1) / 2 * 2 + i % 3, 5, i % 2 ? OUT : 0);
        read_made(&perf, &made);
        const struct lode_uft_perf_thread *thread = lode_uft_perf_find(&perf, 5);
        assert_int_equal(thread->count, 150);
        for (uint64_t i = 0; i < thread->count; i++) {
            const struct lode_uft_perf_event *event = &perf.events[thread->first + i];
            assert_true(event->time >= last);
            if (worst)
                assert_int_equal(event->kind, i % 2 ? UFT_PERF_OUT : UFT_PERF_IN);
            last = event->time;
        }
        lode_uft_perf_free(&perf);
    }
}

static void nothing_is_something(void **state)
{
    struct lode_uft_perf perf;
    const int32_t tid = 1;
    (void)state;
    assert_int_equal(read_files(&perf, NULL, 0, NULL, 0, false).count, 0);
    assert_null(lode_uft_perf_find(&perf, 1));
    lode_uft_perf_free(&perf);
    struct made made = {.size = 0};
    put_switch(&made, 1, 2, 0);
    struct lode_uft_perf_file file = {"perf-cpu0.dat", {made.bytes, made.size}, 0};
    assert_int_equal(read_files(&perf, &file, 1, &tid, 1, false).count, 0);
    assert_int_equal(perf.thread_count, 0);
    lode_uft_perf_free(&perf);
}

/* ---- damage ---- */

static void every_cut_keeps_what_is_before_it(void **state)
{
    struct made made = {.size = 0};
    (void)state;
    put_switch(&made, 1, 5, 0);
    put_name(&made, 2, 5, "name");
    put_task(&made, EXIT, 3, 5);
    for (size_t size = 0; size <= made.size; size++) {
        struct made cut = made;
        struct lode_uft_perf perf;
        cut.size = size;
        struct seen seen = read_made(&perf, &cut);
        uint64_t whole = size >= made.size ? 3 : size >= 64 ? 2 : size >= 24 ? 1 : 0;
        uint64_t end = whole == 3 ? made.size : whole == 2 ? 64 : whole == 1 ? 24 : 0;
        const struct lode_uft_perf_thread *thread = lode_uft_perf_find(&perf, 5);
        assert_int_equal(thread ? thread->count : 0, whole);
        assert_int_equal(seen.count, size == end ? 0 : 1);
        if (seen.count) {
            assert_string_equal(seen.rule, "perf-cut");
            assert_int_equal(seen.offset, end);
        }
        lode_uft_perf_free(&perf);
    }
}

static void a_malformed_record_ends_the_file(void **state)
{
    static const struct {
        unsigned type, size;
    } bad[] = {{SWITCH, 0}, {SWITCH, 7}, {SWITCH, 16}, {COMM, 24}, {FORK, 24}, {EXIT, 31}, {999, 4}, {0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct made made = {.size = 0};
        struct lode_uft_perf perf;
        put_switch(&made, 1, 5, 0);
        put_header(&made, bad[i].type, 0, bad[i].size);
        for (unsigned j = 0; j < 8; j++)
            put_switch(&made, 2, 5, OUT);
        struct seen seen = read_made(&perf, &made);
        assert_int_equal(seen.count, 1);
        assert_string_equal(seen.rule, "perf-record");
        assert_int_equal(seen.offset, 24);
        assert_int_equal(lode_uft_perf_find(&perf, 5)->count, 1);
        lode_uft_perf_free(&perf);
        struct lode_report strict;
        lode_error error;
        const int32_t tid = 5;
        struct lode_uft_perf_file file = {"perf-cpu0.dat", {made.bytes, made.size}, 0};
        lode_report_strict(&strict, lode_uft_rules, &error);
        assert_int_equal(lode_uft_perf_read(&perf, &file, 1, &tid, 1, false, &strict, &error),
                         LODE_ERR_CORRUPT);
        assert_int_equal(error.offset, 24);
        assert_null(perf.events);
    }
}

static void names_end_where_the_record_does(void **state)
{
    struct made made = {.size = 0};
    struct lode_uft_perf perf;
    (void)state;
    put_name(&made, 2, 5, "12345678");
    /* No NUL at all. */
    memset(made.bytes + 16, 'x', 16);
    assert_int_equal(read_made(&perf, &made).count, 0);
    assert_string_equal(perf.names[0], "xxxxxxxxxxxxxxxx");
    lode_uft_perf_free(&perf);
}

/* ---- size ---- */

static void many_events_are_not_kept_in_memory(void **state)
{
    static const int32_t tids[] = {5, 6};
    uint8_t *bytes = malloc((size_t)MANY * 24);
    struct lode_uft_perf perf;
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < MANY; i++) {
        uint8_t *record = bytes + i * 24;
        put_u32le(record, SWITCH);
        put_u16le(record + 4, i % 2 ? OUT : 0);
        put_u16le(record + 6, 24);
        put_u64le(record + 8, (uint64_t)(i % 3 ? 5 : 6) << 32);
        put_u64le(record + 16, i);
    }
    struct lode_uft_perf_file file = {"perf-cpu0.dat", {bytes, (size_t)MANY * 24}, 0};
    assert_int_equal(read_files(&perf, &file, 1, tids, 2, false).count, 0);
    if (perf.mapped == 0)
        print_message("# no temporary files here\n");
    assert_int_equal(perf.threads[0].count + perf.threads[1].count, MANY);
    for (uint64_t i = 0; i < perf.threads[1].count; i++)
        assert_true(perf.events[perf.threads[1].first + i].time == 3 * i);
    lode_uft_perf_free(&perf);
    assert_null(perf.events);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_sorted_out_by_thread),
        cmocka_unit_test(files_are_merged_by_time_then_cpu_then_position),
        cmocka_unit_test(late_records_are_put_in_order),
        cmocka_unit_test(nothing_is_something),
        cmocka_unit_test(every_cut_keeps_what_is_before_it),
        cmocka_unit_test(a_malformed_record_ends_the_file),
        cmocka_unit_test(names_end_where_the_record_does),
        cmocka_unit_test(many_events_are_not_kept_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
