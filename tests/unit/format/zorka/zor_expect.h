/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores with a payload of the test's, and what their traces must say. */
#ifndef LODE_TESTS_ZOR_EXPECT_H
#define LODE_TESTS_ZOR_EXPECT_H

#include "minizor.h"
#include "story.h"
#include "unit.h"
#include <lode/recording.h>
#include <stdlib.h>
#include <string.h>

/* A call of a.B.run from tick 16 to 20 with a time stamp; tests insert what is between. */
#define STAMP "cea1051b0000016311155db8"
#define BEGIN "c89f cea10c10 cea10e04 " STAMP
#define END   "cea10d14 cea10902 ff"
#define ENTER "a.B.run()V 0 time stamp=1525000003000\n"
#define LEAVE "end 262144 calls=2\n"

static inline lode_recording *open_store(const struct minizor *store)
{
    lode_memory_file files[MINIZOR_FILES];
    lode_recording *recording;
    lode_error error = {0};
    if (lode_recording_open_memory(&recording, files, minizor_list(store, files), NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

static inline void expect_story(const lode_recording *recording, uint32_t track, const char *expected)
{
    char *story = story_of(recording, track);
    assert_string_equal(story, expected);
    free(story);
}

/* The only trace of a store with this payload. */
static inline void expect(const char *digits, const char *expected)
{
    struct minizor store;
    minizor_make(&store, 0, false);
    minizor_payload(&store, digits);
    lode_recording *recording = open_store(&store);
    assert_int_equal(lode_recording_track_count(recording), 1);
    expect_story(recording, 0, expected);
    lode_recording_close(recording);
    minizor_free(&store);
}

struct rule_count {
    const char *rule;
    unsigned count;
};

static inline int count_rule(void *user, const lode_finding *finding)
{
    struct rule_count *self = user;
    self->count += strcmp(finding->rule, self->rule) == 0;
    return 0;
}

/* How often a check finds a rule broken. */
static inline unsigned found(const struct minizor *store, const char *rule)
{
    lode_memory_file files[MINIZOR_FILES];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    struct rule_count counted = {rule, 0};
    options.on_finding = count_rule;
    options.user = &counted;
    assert_int_equal(lode_check_memory(files, minizor_list(store, files), &options, &result, NULL), LODE_OK);
    return counted.count;
}

#endif
