/* SPDX-License-Identifier: BSD-3-Clause */
/* The API of recordings, with all events known (minirec.h), in memory and in files. */
#include "base/io/bytes.h"
#include "recording_text.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static lode_recording *open_made(const struct minirec *rec)
{
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_error error = {0};
    if (lode_recording_open_memory(&recording, files, minirec_list(rec, files), NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

static lode_recording *open_variant(struct minirec *rec, const struct minirec_options *options)
{
    minirec_make(rec, options);
    return open_made(rec);
}

static lode_recording *open_sound(struct minirec *rec)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    return open_variant(rec, &options);
}

static void close_made(struct minirec *rec, lode_recording *recording)
{
    lode_recording_close(recording);
    minirec_free(rec);
}

/* ---- what is known of a recording ---- */

static const char *fact(const lode_recording *recording, const char *key)
{
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++)
        if (strcmp(lode_recording_fact(recording, i)->key, key) == 0)
            return lode_recording_fact(recording, i)->value;
    return "";
}

static void facts_are_what_the_recorder_noted(void **state)
{
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    (void)state;
    assert_string_equal(lode_recording_format(recording), "uftrace 4");
    assert_int_equal(lode_recording_utc_offset(recording), INT64_C(1700000000) * 1000000000);
    assert_string_equal(fact(recording, "program"), "/bin/prog");
    assert_string_equal(fact(recording, "command line"), "uftrace record ./prog \"-n\"");
    assert_string_equal(fact(recording, "exit status"), "1");
    assert_string_equal(fact(recording, "host"), "host");
    assert_string_equal(fact(recording, "note"), "a note");
    assert_null(lode_recording_fact(recording, lode_recording_fact_count(recording)));
    close_made(&rec, recording);
}

static void tracks_are_tasks_with_their_names(void **state)
{
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    const lode_track *track;
    (void)state;
    assert_int_equal(lode_recording_track_count(recording), 3);
    for (uint32_t i = 0; i < 3; i++) {
        track = lode_recording_track(recording, i);
        assert_int_equal(track->index, i);
        assert_int_equal(track->tid, 100 + i);
        assert_true(track->bytes > 0);
    }
    track = lode_recording_track(recording, 1);
    assert_int_equal(track->pid, 100);
    assert_int_equal(track->parent, 0);
    assert_string_equal(track->name, "worker");
    assert_string_equal(track->program, "/bin/prog");
    track = lode_recording_track(recording, 2);
    assert_int_equal(track->pid, 102);
    assert_int_equal(track->parent, 100);
    assert_string_equal(track->name, "other");
    assert_string_equal(track->program, "/bin/prog");
    assert_null(lode_recording_track(recording, 3));
    close_made(&rec, recording);
}

static void modules_are_those_of_maps_and_loaded_ones(void **state)
{
    static const char *const paths[] = {"/bin/prog", "/bin/other", "/lib/lib.so", "/lib/plugin.so"};
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    (void)state;
    assert_int_equal(lode_recording_module_count(recording), 4);
    for (size_t i = 0; i < 4; i++) {
        unsigned found = 0;
        for (uint32_t k = 0; k < 4; k++)
            found += strcmp(lode_module_path(lode_recording_module(recording, k)), paths[i]) == 0;
        assert_int_equal(found, 1);
    }
    assert_null(lode_recording_module(recording, 4));
    close_made(&rec, recording);
}

static void intervals_go_from_the_first_to_the_last_event(void **state)
{
    static const uint64_t spans[][2] = {{100, 900}, {1000, 1000063}, {520, 880}};
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    uint64_t begin, end;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(lode_track_interval(recording, i, &begin, &end, NULL), LODE_OK);
        assert_int_equal(begin - MINIREC_START, spans[i][0]);
        /* Of a thread that perf saw end, that is the end. */
        assert_true(end - MINIREC_START >= (i == 1 ? 1100 : spans[i][1]));
    }
    close_made(&rec, recording);
}

static void the_interval_of_a_track_ends_before_a_truncated_record(void **state)
{
    uint8_t records[3 * 16] = {0};
    uint64_t begin, end;
    lode_recording *recording;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        put_u64le(records + (size_t)16 * i, 1000 + 10 * i);
        put_u64le(records + (size_t)16 * i + 8, UINT64_C(0x400000) << 16 | (i % 2 ? 0x29 : 0x28));
    }
    static const char tasks[] = "TASK timestamp=0.0 tid=7 pid=7\n";
    const lode_memory_file files[] = {{"task.txt", tasks, sizeof tasks - 1}, {"7.dat", records, 2 * 16 + 9}};
    assert_int_equal(lode_recording_open_memory(&recording, files, 2, NULL, NULL), LODE_OK);
    assert_int_equal(lode_track_interval(recording, 0, &begin, &end, NULL), LODE_OK);
    assert_int_equal(begin, 1000);
    assert_int_equal(end, 1010);
    lode_recording_close(recording);
}

/* ---- events ---- */

static const char main_events[] = "100 > main\n"
                                  "110 > work 42, \"hello\"\n"
                                  "120 > leaf\n"
                                  "125 ! read:proc/statm 1000KB, 2000KB, 3000KB\n"
                                  "130 < leaf\n"
                                  "135 ! app:begin\n"
                                  "140 < work 43\n"
                                  "150 [ linux:schedule\n"
                                  "180 ] linux:schedule\n"
                                  "200 > scale 2.500000, 1.500000\n"
                                  "210 < scale 3.750000\n"
                                  "300 > paint GREEN, &state, 'x', {...}\n"
                                  "320 < paint\n"
                                  "330 > name \"lode\"\n"
                                  "340 < name \"LODE\"\n"
                                  "400 > libfn\n"
                                  "410 < libfn\n"
                                  "500 > fork\n"
                                  "510 < fork\n"
                                  "650 > plug\n"
                                  "660 < plug\n"
                                  "900 < main\n";
static const char worker_events[] = "1000 > _ZN4Base3runEi\n"
                                    "1003 [ linux:schedule (pre-empted)\n"
                                    "1006 ] linux:schedule (pre-empted)\n"
                                    "1020 > leaf\n"
                                    "1030 < leaf\n"
                                    "1040 > leaf\n"
                                    "1050 < leaf\n"
                                    "1060 > leaf\n"
                                    "1070 < leaf\n"
                                    "1100 < _ZN4Base3runEi\n";
static const char child_events[] = "520 > work 7, \"child\"\n"
                                   "530 < work 8\n"
                                   "850 > start\n"
                                   "860 > helper\n"
                                   "870 < helper\n"
                                   "880 < start\n";

static void all_variants_have_the_same_events(void **state)
{
    const struct minirec_options variants[] = {
        MINIREC_OPTIONS_INIT,
        {.calls = 3, .big_endian = true},
        {.calls = 3, .is_32_bit = true},
        {.calls = 3, .has_old_symbols = true},
        {.calls = 3, .has_binary_tasks = true},
        {.calls = 3, .big_endian = true, .is_32_bit = true, .has_binary_tasks = true},
    };
    static const char *const expected[] = {main_events, worker_events, child_events};
    static struct text text;
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct minirec rec;
        lode_recording *recording = open_variant(&rec, &variants[i]);
        for (uint32_t track = 0; track < 3; track++) {
            read_text(&text, recording, track, NULL);
            assert_string_equal(text.bytes, expected[track]);
        }
        close_made(&rec, recording);
    }
}

/* Whether the time window has that part of the whole, except pauses outside of visible calls. */
static void add_window(struct text *expected, const char *whole, uint64_t from, uint64_t to)
{
    expected->size = 0;
    expected->bytes[0] = '\0';
    for (const char *line = whole; *line; line = strchr(line, '\n') + 1) {
        uint64_t time = strtoull(line, NULL, 10);
        if (time >= from && time < to)
            add(expected, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
    }
}

static void drop_pauses(struct text *text)
{
    static struct text kept;
    kept.size = 0;
    kept.bytes[0] = '\0';
    for (const char *line = text->bytes; *line; line = strchr(line, '\n') + 1)
        if (memchr("[]", strchr(line, ' ')[1], 2) == NULL)
            add(&kept, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
    *text = kept;
}

static void windows_have_what_happened_in_them(void **state)
{
    static struct text text, expected;
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    (void)state;
    for (uint64_t from = 90; from < 950; from += 10)
        for (uint64_t to = from + 10; to < 950; to += 70) {
            lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
            options.from = MINIREC_START + from;
            options.to = MINIREC_START + to;
            read_text(&text, recording, 0, &options);
            add_window(&expected, main_events, from, to);
            drop_pauses(&text);
            drop_pauses(&expected);
            assert_string_equal(text.bytes, expected.bytes);
        }
    close_made(&rec, recording);
}

/* The same in a long file, where a window is looked for by cutting it in half. */
static void windows_of_long_tracks_are_found(void **state)
{
    const struct minirec_options options = {.calls = 50000};
    static struct text text;
    struct minirec rec;
    lode_recording *recording = open_variant(&rec, &options);
    (void)state;
    for (uint64_t i = 0; i < options.calls; i += 997) {
        lode_cursor_options window = LODE_CURSOR_OPTIONS_INIT;
        char expected[128];
        uint64_t time = 1020 + 20 * i;
        window.from = MINIREC_START + time;
        window.to = window.from + 20;
        read_text(&text, recording, 1, &window);
        snprintf(expected, sizeof expected, "%llu > leaf\n%llu < leaf\n", (unsigned long long)time,
                 (unsigned long long)time + 10);
        assert_string_equal(text.bytes, expected);
    }
    close_made(&rec, recording);
}

/* A record whose values nothing specifies is still one, also at the beginning of a window. */
static void a_window_may_begin_with_a_record_that_cannot_be_decoded(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    lode_cursor_options window = LODE_CURSOR_OPTIONS_INIT;
    struct minirec_payload payload = {.size = 8};
    static struct text text;
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    minirec_set(&rec, "101.dat", NULL, 0);
    minirec_record(&rec, "101.dat", 1000, MINIREC_ENTRY, MINIREC_RUN, 0);
    minirec_record_with(&rec, "101.dat", 1020, MINIREC_ENTRY, MINIREC_LEAF, 1, &payload);
    minirec_record(&rec, "101.dat", 1030, MINIREC_EXIT, MINIREC_LEAF, 1);
    minirec_record(&rec, "101.dat", 1100, MINIREC_EXIT, MINIREC_RUN, 0);
    lode_recording *recording = open_made(&rec);
    window.from = MINIREC_START + 1010;
    window.to = MINIREC_START + 1050;
    read_text(&text, recording, 1, &window);
    assert_string_equal(text.bytes, "1020 > leaf\n1030 < leaf\n");
    close_made(&rec, recording);
}

static void merged_tracks_are_chronological(void **state)
{
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    lode_merge *merge;
    const lode_event *event;
    uint32_t track;
    uint64_t last = 0, count = 0, messages = 0;
    lode_status status;
    (void)state;
    assert_int_equal(lode_merge_open(&merge, recording, NULL, NULL, NULL), LODE_OK);
    while ((status = lode_merge_next(merge, &event, &track, NULL)) == LODE_OK) {
        assert_true(event->time >= last);
        last = event->time;
        count++;
        if (track != LODE_NO_TRACK)
            continue;
        messages++;
        assert_int_equal(event->time - MINIREC_START, 450);
        assert_int_equal(event->data_size, 8);
        assert_memory_equal(event->data, "half way", 8);
    }
    assert_int_equal(status, LODE_END);
    assert_int_equal(count, 22 + 10 + 6 + 1);
    assert_int_equal(messages, 1);
    lode_merge_close(merge);
    close_made(&rec, recording);
}

/* ---- addresses ---- */

/* Another library at the same place: from then on its names count, from the first record on. */
static void a_library_that_replaces_another_has_its_own_names(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    static struct text text;
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    minirec_append_text(&rec, "task.txt",
                        "DLOP timestamp=1.000000700 tid=100 sid=0123456789abcdef base=71000000 "
                        "libname=\"/lib/newer.so\"\n");
    minirec_set_text(&rec, "newer.so.sym",
                     "# symbols: 1\n# path name: /lib/newer.so\n0000000000000200 00000040 T newer\n");
    minirec_set(&rec, "101.dat", NULL, 0);
    for (uint64_t time = 640; time < 760; time += 60) {
        minirec_record(&rec, "101.dat", time, MINIREC_ENTRY, MINIREC_PLUG, 0);
        minirec_record(&rec, "101.dat", time + 10, MINIREC_EXIT, MINIREC_PLUG, 0);
    }
    lode_recording *recording = open_made(&rec);
    read_text(&text, recording, 1, NULL);
    assert_string_equal(text.bytes, "640 > plug\n650 < plug\n700 > newer\n710 < newer\n");
    close_made(&rec, recording);
}

static void source_lines_come_with_functions(void **state)
{
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    (void)state;
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, NULL, NULL), LODE_OK);
    assert_int_equal(lode_cursor_next(cursor, &events, &count, NULL), LODE_OK);
    const lode_function *function = events[0].function;
    assert_string_equal(lode_function_name(function), "main");
    assert_int_equal(lode_function_line(function), 12);
    assert_string_equal(lode_file_path(lode_function_file(function)), "prog.c");
    assert_string_equal(lode_module_path(lode_function_module(function)), "/bin/prog");
    lode_cursor_close(cursor);
    close_made(&rec, recording);
}

/* ---- errors ---- */

static void strict_opening_says_what_is_wrong_and_where(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    lode_recording_options strict = LODE_RECORDING_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_error error = {0};
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    minirec_put(&rec, "info", 8, 4, 5);
    strict.strict = 1;
    lode_status status =
        lode_recording_open_memory(&recording, files, minirec_list(&rec, files), &strict, &error);
    assert_int_equal(status, LODE_ERR_CORRUPT);
    assert_null(recording);
    assert_non_null(strstr(error.text, "info-version"));
    minirec_free(&rec);
}

static int stop_at_once(void *user, const lode_finding *finding)
{
    (void)finding;
    ++*(unsigned *)user;
    return 1;
}

static void a_callback_can_end_opening_and_reading(void **state)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    lode_recording_options open_options = LODE_RECORDING_OPTIONS_INIT;
    lode_cursor_options cursor_options = LODE_CURSOR_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    unsigned calls = 0;
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &options);
    minirec_append_text(&rec, "events.txt", "wrong\nwrong\n");
    minirec_append(&rec, "101.dat", "cut", 3);
    open_options.on_finding = cursor_options.on_finding = stop_at_once;
    open_options.user = cursor_options.user = &calls;
    assert_int_equal(
        lode_recording_open_memory(&recording, files, minirec_list(&rec, files), &open_options, NULL),
        LODE_ERR_CANCELLED);
    assert_null(recording);
    assert_int_equal(calls, 1);
    recording = open_made(&rec);
    assert_int_equal(lode_cursor_open(&cursor, recording, 1, &cursor_options, NULL), LODE_OK);
    assert_int_equal(lode_cursor_next(cursor, &events, &count, NULL), LODE_ERR_CANCELLED);
    assert_int_equal(calls, 2);
    lode_cursor_close(cursor);
    close_made(&rec, recording);
}

static void what_is_not_there_is_refused(void **state)
{
    lode_memory_file other = {"readme", "", 0};
    struct minirec rec;
    lode_recording *recording = open_sound(&rec), *none;
    lode_cursor *cursor;
    uint64_t begin, end;
    (void)state;
    assert_int_equal(lode_cursor_open(&cursor, recording, 3, NULL, NULL), LODE_ERR_ARGUMENT);
    assert_null(cursor);
    assert_int_equal(lode_track_interval(recording, 3, &begin, &end, NULL), LODE_ERR_ARGUMENT);
    assert_int_equal(lode_recording_open_memory(&none, &other, 1, NULL, NULL), LODE_ERR_UNSUPPORTED);
    assert_int_equal(lode_recording_open_memory(&none, NULL, 0, NULL, NULL), LODE_ERR_UNSUPPORTED);
    assert_null(none);
    lode_cursor_close(NULL);
    lode_merge_close(NULL);
    lode_recording_close(NULL);
    close_made(&rec, recording);
}

/* ---- threads ---- */

struct reader {
    const lode_recording *recording;
    struct text text;
};

static void *read_all_tracks(void *user)
{
    struct reader *reader = user;
    static const char *const expected[] = {main_events, worker_events, child_events};
    for (unsigned i = 0; i < 30; i++) {
        uint32_t track = i % 3;
        read_text(&reader->text, reader->recording, track, NULL);
        if (strcmp(reader->text.bytes, expected[track]) != 0)
            return user;
    }
    return NULL;
}

static void several_threads_may_read_at_once(void **state)
{
    enum {
        READERS = 4
    };
    static struct reader readers[READERS];
    pthread_t threads[READERS];
    struct minirec rec;
    lode_recording *recording = open_sound(&rec);
    (void)state;
    for (unsigned i = 0; i < READERS; i++) {
        readers[i].recording = recording;
        assert_int_equal(pthread_create(&threads[i], NULL, read_all_tracks, &readers[i]), 0);
    }
    for (unsigned i = 0; i < READERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    close_made(&rec, recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_what_the_recorder_noted),
        cmocka_unit_test(tracks_are_tasks_with_their_names),
        cmocka_unit_test(modules_are_those_of_maps_and_loaded_ones),
        cmocka_unit_test(intervals_go_from_the_first_to_the_last_event),
        cmocka_unit_test(the_interval_of_a_track_ends_before_a_truncated_record),
        cmocka_unit_test(all_variants_have_the_same_events),
        cmocka_unit_test(windows_have_what_happened_in_them),
        cmocka_unit_test(windows_of_long_tracks_are_found),
        cmocka_unit_test(a_window_may_begin_with_a_record_that_cannot_be_decoded),
        cmocka_unit_test(merged_tracks_are_chronological),
        cmocka_unit_test(a_library_that_replaces_another_has_its_own_names),
        cmocka_unit_test(source_lines_come_with_functions),
        cmocka_unit_test(strict_opening_says_what_is_wrong_and_where),
        cmocka_unit_test(a_callback_can_end_opening_and_reading),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(several_threads_may_read_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
