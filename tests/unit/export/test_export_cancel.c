/* SPDX-License-Identifier: BSD-3-Clause */
/* An export that is cancelled leaves nothing; one that is too large for viewers says so. */
#include "made_recording.h"
#include "unit.h"
#include <dirent.h>
#include <lode/unstable/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TRACKS = 3,
    EVENTS = 20000, /* several reports of each phase */
    REPORTS_MAX = 12
};

struct stop {
    unsigned left, phases;
    const char *phase; /* the last one */
};

static int count_down(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct stop *stop = user;
    assert_true(total == 0 || done <= total || stop->phases > 0);
    stop->phases += stop->phase == NULL || strcmp(stop->phase, phase) != 0;
    stop->phase = phase;
    return stop->left-- == 0;
}

static unsigned files_in(const char *folder)
{
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

/* Cancels at report `number`. Returns whether there was one. */
static bool cancel_at(const lode_recording *recording, const char *format, const char *folder,
                      unsigned number, struct stop *stop)
{
    char path[256];
    unsigned before = files_in(folder);
    lode_error error = {0};
    lode_export_options options = LODE_EXPORT_OPTIONS_INIT;
    *stop = (struct stop){.left = number};
    options.format = format;
    options.threads = 2;
    options.on_progress = count_down;
    options.user = stop;
    snprintf(path, sizeof path, "%s/%s", folder, format);
    lode_status status = lode_export_recording(recording, path, &options, &error);
    if (status == LODE_OK)
        return false;
    if (status != LODE_ERR_CANCELLED)
        fail_msg("%s: report %u: %s", format, number, error.text);
    if (files_in(folder) != before)
        fail_msg("%s: report %u, %s: something is left", format, number, stop->phase);
    return true;
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    char folder[] = "/tmp/lode-cancel-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    lode_recording *recording = made_recording(TRACKS);
    uint64_t seed = 7;
    made_batch(recording, 500);
    for (uint32_t i = 0; i < TRACKS; i++)
        made_random_track(recording, i, &seed, EVENTS);
    /* The pass that finds functions can be cancelled too. */
    struct stop first;
    assert_true(cancel_at(recording, "speedscope", folder, 0, &first));
    assert_string_equal(first.phase, "finding functions");
    lode_export_info info;
    for (size_t i = 0; lode_export_at(i, &info) == LODE_OK; i++) {
        bool is_timeline = (info.holds & LODE_EXPORT_TIMELINE) != 0;
        struct stop stop;
        unsigned cancelled = 0;
        if (!info.is_available || !is_timeline)
            continue;
        while (cancelled < REPORTS_MAX && cancel_at(recording, info.name, folder, cancelled, &stop))
            cancelled++;
        print_message("# %s: cancelled %u times, in up to %u phases\n", info.name, cancelled, stop.phases);
        assert_true(cancelled > 0);
    }
    lode_recording_close(recording);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* ---- warnings of size ---- */

static int count_sizes(void *user, const lode_finding *finding)
{
    *(unsigned *)user += strcmp(finding->rule, "export-size") == 0;
    return 0;
}

static int discard(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 0;
}

static unsigned warnings(const lode_recording *recording, const char *format, uint64_t from, uint64_t to)
{
    unsigned count = 0;
    lode_error error = {0};
    lode_slice slice = LODE_SLICE_INIT;
    lode_export_options options = LODE_EXPORT_OPTIONS_INIT;
    slice.from = from;
    slice.to = to;
    options.slice = &slice;
    options.format = format;
    options.write = discard;
    options.on_finding = count_sizes;
    options.user = &count;
    if (lode_export_recording(recording, NULL, &options, &error) != LODE_OK)
        fail_msg("%s: %s", format, error.text);
    return count;
}

static void test_sizes_are_those_of_the_time_window(void **state)
{
    static const char *const formats[] = {"perfetto", "chrome", "firefox", "speedscope"};
    (void)state;
    lode_recording *recording = made_recording(1);
    made_track(recording, 0, 1000, "main( 400 work( 100 ) 500 )");
    /* Nobody reads that many: only estimates do. */
    recording->tracks[0].bytes = UINT64_C(100) << 30;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        assert_int_equal(warnings(recording, formats[i], 0, 0), 1);
        assert_int_equal(warnings(recording, formats[i], 1000, 1900), 1);
        assert_int_equal(warnings(recording, formats[i], 1400, 1401), 0);
    }
    lode_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_sizes_are_those_of_the_time_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
