/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation fails once while a trace store is searched. */
#include "fail_each.h"
#include "minizor.h"
#include <lode/unstable/search.h>
#include <string.h>

struct question {
    lode_recording *recording;
    lode_search_options options;
};

static lode_status search(void *user, lode_error *error)
{
    struct question *question = user;
    lode_search *found;
    lode_status status = lode_search_run(&found, question->recording, &question->options, error);
    lode_search_free(found);
    return status;
}

/* Sixteen attributes whose values are lists, the last one long, and an exception. */
static void make_store(struct minizor *store)
{
    char digits[4096] = "c89f cea10c10 cea10e04 cea1051b0000016311155db8";
    minizor_make(store, 0, false);
    for (int i = 0; i < 16; i++) {
        char attribute[32], text[8] = "";
        memset(text, 'a' + i, 5);
        minizor_text(store, 20 + i, text);
        snprintf(attribute, sizeof attribute, "c9a1c618%02x98%02x", 20 + i, i < 15 ? 1 : 99);
        strcat(digits, attribute);
        for (int k = i < 15 ? 98 : 0; k < 99; k++)
            strcat(digits, "c605");
    }
    strcat(digits, "d82309 cea10d14 cea10902 ff");
    minizor_payload(store, digits);
}

static void check_row(struct question *question)
{
    lode_search *found;
    assert_int_equal(lode_search_run(&found, question->recording, &question->options, NULL), LODE_OK);
    const lode_search_row *row = lode_search_at(found, 0);
    assert_non_null(row);
    assert_int_equal(row->value_count, LODE_SEARCH_VALUES);
    assert_string_equal(row->values[1].key, "bbbbb");
    assert_string_equal(row->values[1].value, "[\"key\"]");
    assert_int_equal(strlen(row->values[15].value), 99 * strlen("\"key\", "));
    assert_string_equal(row->exception, "a.B: a value");
    lode_search_free(found);
}

static void searching_survives_every_failing_allocation(void **state)
{
    static const lode_search_attribute attribute = {"ddddd", "x", 1};
    struct question question = {.options = LODE_SEARCH_OPTIONS_INIT};
    struct minizor store;
    lode_memory_file files[MINIZOR_FILES];
    (void)state;
    make_store(&store);
    assert_int_equal(
        lode_recording_open_memory(&question.recording, files, minizor_list(&store, files), NULL, NULL),
        LODE_OK);
    question.options.threads = 1;
    check_row(&question);
    question.options.limit = 1;
    /* By intervals, then by events: one search that finds something, one that reads all. */
    fail_each(search, &question);
    question.options.text = "a value";
    fail_each(search, &question);
    question.options.text = question.options.method = "nobody";
    question.options.attributes = &attribute;
    question.options.attribute_count = 1;
    fail_each(search, &question);
    lode_recording_close(question.recording);
    minizor_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searching_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
