/* SPDX-License-Identifier: BSD-3-Clause */
/* Address lookups that one track caches are used by others only where they apply. */
#include "minirec.h"
#include "unit.h"
#include <lode/event.h>
#include <lode/name.h>

enum {
    CALLS = 600, /* enough for a track to take over what others have learned */
    CHANGE = 3000
};

static lode_recording *open_made(const struct minirec *rec)
{
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_error error = {0};
    if (lode_recording_open_memory(&recording, files, minirec_list(rec, files), NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

static void call_often(struct minirec *rec, const char *file, uint64_t time, uint64_t address)
{
    for (unsigned i = 0; i < CALLS; i++) {
        minirec_record(rec, file, time + i * 2, MINIREC_ENTRY, address, 0);
        minirec_record(rec, file, time + i * 2 + 1, MINIREC_EXIT, address, 0);
    }
}

/* A recording without what perf saw, and without records in two tracks of one process. */
static void begin_two_tracks(struct minirec *rec)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    minirec_make(rec, &options);
    minirec_drop(rec, "perf-cpu0.dat");
    minirec_drop(rec, "perf-cpu1.dat");
    minirec_set(rec, "100.dat", NULL, 0);
    minirec_set(rec, "101.dat", NULL, 0);
}

static int count_finding(void *user, const lode_finding *finding)
{
    unsigned *count = user;
    (void)finding;
    (*count)++;
    return 0;
}

/* Reads a track of 2 x CALLS calls, of `first` before CHANGE and of `second` from then on. */
static void assert_calls(const lode_recording *recording, uint32_t track, const char *first,
                         const char *second, unsigned findings)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count, all = 0;
    unsigned found = 0;
    options.on_finding = count_finding;
    options.user = &found;
    assert_int_equal(lode_cursor_open(&cursor, recording, track, &options, NULL), LODE_OK);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK) {
        for (size_t i = 0; i < count; i++) {
            char label[64];
            lode_function_label(events[i].function, label, sizeof label);
            assert_string_equal(label, events[i].time < MINIREC_START + CHANGE ? first : second);
        }
        all += count;
    }
    lode_cursor_close(cursor);
    assert_int_equal(all, 4 * CALLS);
    assert_int_equal(found, findings);
}

static void a_library_that_is_replaced_keeps_its_names_for_what_was_before(void **state)
{
    struct minirec rec;
    (void)state;
    begin_two_tracks(&rec);
    minirec_append_text(&rec, "task.txt",
                        "DLOP timestamp=1.000003000 tid=100 sid=0123456789abcdef base=71000000 "
                        "libname=\"/lib/newer.so\"\n");
    minirec_set_text(&rec, "newer.so.sym",
                     "# symbols: 1\n# path name: /lib/newer.so\n0000000000000200 00000040 T newer\n");
    call_often(&rec, "100.dat", 1000, MINIREC_PLUG);
    call_often(&rec, "100.dat", CHANGE, MINIREC_PLUG);
    call_often(&rec, "101.dat", CHANGE, MINIREC_PLUG);
    call_often(&rec, "101.dat", CHANGE + 2 * CALLS, MINIREC_PLUG);
    lode_recording *recording = open_made(&rec);
    /* Each once after the other, and once after itself. */
    static const uint32_t tracks[] = {1, 0, 0, 1, 1};
    for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++)
        assert_calls(recording, tracks[i], "plug", "newer", 0);
    lode_recording_close(recording);
    minirec_free(&rec);
}

static void another_program_has_its_own_names(void **state)
{
    struct minirec rec;
    (void)state;
    begin_two_tracks(&rec);
    minirec_set(&rec, "102.dat", NULL, 0);
    call_often(&rec, "101.dat", 1000, MINIREC_WORK);
    call_often(&rec, "101.dat", CHANGE, MINIREC_WORK);
    call_often(&rec, "102.dat", 1000, MINIREC_HELPER);
    call_often(&rec, "102.dat", CHANGE, MINIREC_HELPER);
    assert_int_equal(MINIREC_WORK, MINIREC_HELPER);
    lode_recording *recording = open_made(&rec);
    static const uint32_t tracks[] = {1, 2, 2, 1, 1};
    for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++) {
        const char *name = tracks[i] == 1 ? "work" : "helper";
        assert_calls(recording, tracks[i], name, name, 0);
    }
    lode_recording_close(recording);
    minirec_free(&rec);
}

static void each_track_reports_the_addresses_without_a_name_that_it_has(void **state)
{
    struct minirec rec;
    (void)state;
    begin_two_tracks(&rec);
    call_often(&rec, "100.dat", 1000, MINIREC_LEAF);
    call_often(&rec, "100.dat", CHANGE, MINIREC_STATE + 0x100);
    call_often(&rec, "101.dat", 1000, MINIREC_LEAF);
    call_often(&rec, "101.dat", CHANGE, MINIREC_STATE + 0x100);
    lode_recording *recording = open_made(&rec);
    for (uint32_t i = 0; i < 4; i++)
        assert_calls(recording, i % 2, "leaf", "[prog+0x3100]", 1);
    lode_recording_close(recording);
    minirec_free(&rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_replaced_keeps_its_names_for_what_was_before),
        cmocka_unit_test(another_program_has_its_own_names),
        cmocka_unit_test(each_track_reports_the_addresses_without_a_name_that_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
