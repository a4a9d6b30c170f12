/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncated and mutated databases of the XML draft, and malicious documents: nothing crashes, hangs
 * or exhausts memory, and detectable damage is found. Also run under sanitizers.
 */
#include "corpus.h"
#include "hostile.h"
#include "minidraft.h"
#include "share.h"
#include "walk.h"
#include <lode/check.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MILLISECONDS = 4000,
    MOST_MEGABYTES = 160
};

/* Opens and walks a database, then checks it. */
static lode_check_result exercise_files(const lode_memory_file *files, size_t count, bool *opened)
{
    lode_database *db;
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    double start = now();
    *opened = lode_database_open_memory(&db, files, count, &error) == LODE_OK;
    if (*opened)
        walk_database(db, 1);
    lode_database_close(db);
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    if (lode_check_memory(files, count, &options, &result, &error) != LODE_OK)
        fail_msg("could not check: %s", error.text);
    assert_little_time(start, MOST_MILLISECONDS);
    return result;
}

/* ---- truncations and bit flips ---- */

static bool is_space(const lode_memory_file *file, size_t from)
{
    const char *text = file->data;
    for (size_t i = from; i < file->size; i++)
        if (text[i] != '\n' && text[i] != ' ')
            return false;
    return true;
}

static unsigned long truncate_all(lode_memory_file *files, size_t count, size_t step)
{
    struct share share = share_from_environment();
    unsigned long cut = 0;
    bool opened;
    assert_int_equal(exercise_files(files, count, &opened).errors, 0);
    assert_true(opened);
    for (size_t file = 0; file < count; file++) {
        lode_memory_file whole = files[file];
        for (size_t size = 0; size < whole.size; size += step) {
            if (!share_has(share, size))
                continue;
            /* A copy, so that the sanitizer sees overruns. */
            unsigned char *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, whole.data, size);
            files[file] = (lode_memory_file){whole.name, copy, size};
            bool whole_still = strcmp(whole.name, "experiment.xml") == 0 && is_space(&whole, size);
            if (exercise_files(files, count, &opened).errors == 0 && !whole_still)
                fail_msg("%s cut to %zu bytes is not reported", whole.name, size);
            free(copy);
            cut++;
        }
        files[file] = whole;
    }
    return cut;
}

static void every_truncation_is_an_error(void **state)
{
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    (void)state;
    minidraft_make(&mini, &(struct minidraft_options){.unlisted = true});
    minidraft_files(&mini, files);
    print_message("# %lu truncations, all reported\n", truncate_all(files, HPCT_FILES, 1));
    minidraft_free(&mini);
    assert_little_memory(MOST_MEGABYTES);
}

static void every_truncation_of_a_real_one_is_an_error(void **state)
{
    struct loaded_database db;
    (void)state;
    if (!load_database(&db, "hpctoolkit/draft-xml/made-small"))
        skip();
    assert_int_equal(db.count, HPCT_FILES);
    print_message("# %lu truncations, all reported\n", truncate_all(db.files, db.count, 1));
    unload_database(&db);
    assert_little_memory(MOST_MEGABYTES);
}

/* Every third: all places in a byte, in a third of the time. */
static void no_bit_flip_does_harm(void **state)
{
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    struct share share = share_from_environment();
    unsigned long count = 0, errors = 0;
    bool opened;
    (void)state;
    minidraft_make(&mini, &(struct minidraft_options){.unlisted = true});
    minidraft_files(&mini, files);
    for (size_t file = 0; file < HPCT_FILES; file++) {
        for (size_t bit = 0; bit < mini.size[file] * 8; bit += 3) {
            if (!share_has(share, bit))
                continue;
            mini.bytes[file][bit / 8] ^= (unsigned char)(1u << bit % 8);
            errors += exercise_files(files, HPCT_FILES, &opened).errors > 0;
            mini.bytes[file][bit / 8] ^= (unsigned char)(1u << bit % 8);
            count++;
        }
    }
    print_message("# %lu bit flips, %lu are errors\n", count, errors);
    assert_true(errors > count / 3);
    minidraft_free(&mini);
    assert_little_memory(MOST_MEGABYTES);
}

/* Several bytes at once, in all files, with numbers that are likely to hurt. */
static void no_random_mutation_does_harm(void **state)
{
    static const uint64_t nasty[] = {0,         1, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_C(1) << 40,
                                     UINT64_MAX};
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    struct share share = share_from_environment();
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        bool opened;
        minidraft_make(&mini, &(struct minidraft_options){.unpadded = i & 1, .old_ids = i & 2});
        minidraft_files(&mini, files);
        for (uint64_t hits = 1 + next_random(&random) % 4; hits > 0; hits--) {
            size_t file = next_random(&random) % HPCT_FILES;
            size_t at = next_random(&random) % (mini.size[file] - 8);
            uint64_t value = nasty[next_random(&random) % (sizeof nasty / sizeof *nasty)];
            size_t width = (size_t)1 << next_random(&random) % 4;
            for (size_t k = 0; k < width; k++)
                mini.bytes[file][at + k] = (unsigned char)(value >> 8 * (width - 1 - k));
        }
        if (share_has(share, i))
            exercise_files(files, HPCT_FILES, &opened);
        minidraft_free(&mini);
    }
    assert_little_memory(MOST_MEGABYTES);
}

/* ---- documents ---- */

/* Exercises the mini database with another document. */
static lode_check_result exercise_document(const void *text, size_t size, bool *opened)
{
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    minidraft_make(&mini, &(struct minidraft_options){0});
    minidraft_files(&mini, files);
    files[HPCT_META].data = text;
    files[HPCT_META].size = size;
    lode_check_result result = exercise_files(files, HPCT_FILES, opened);
    minidraft_free(&mini);
    return result;
}

/* Replaces something in the mini document. */
static lode_check_result exercise_change(const char *old, const char *new, bool *opened)
{
    struct minidraft mini;
    minidraft_make(&mini, &(struct minidraft_options){0});
    minidraft_replace(&mini, old, new);
    lode_check_result result = exercise_document(mini.bytes[HPCT_META], mini.size[HPCT_META], opened);
    minidraft_free(&mini);
    return result;
}

struct text {
    char *bytes;
    size_t size;
};

static FILE *begin_text(struct text *text)
{
    FILE *stream = open_memstream(&text->bytes, &text->size);
    assert_non_null(stream);
    return stream;
}

static void bombs_of_entities_do_not_go_off(void **state)
{
    static const char bomb[] =
        "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
        "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">\n<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\">\n"
        "<!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\">\n<!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\">\n"
        "<!ENTITY g \"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\">]>\n<HPCToolkitExperiment a=\"&g;\"";
    static const char *const declarations[] = {
        bomb,
        "<!DOCTYPE x [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]>\n<HPCToolkitExperiment",
        "<!DOCTYPE x SYSTEM \"file:///etc/passwd\">\n<HPCToolkitExperiment",
        "<!DOCTYPE x [<!ATTLIST S a CDATA \"something that every statement gets\">]>\n<HPCToolkitExperiment",
        "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n<HPCToolkitExperiment a=\"1\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        bool opened;
        assert_int_equal(exercise_change("<HPCToolkitExperiment", declarations[i], &opened).errors, 1);
        assert_false(opened);
    }
    bool opened;
    assert_true(exercise_change("n=\"main\"", "n=\"&main;\"", &opened).errors > 0);
    assert_false(opened);
    assert_int_equal(exercise_change("n=\"main\"", "n=\"&amp;&#109;&#x61;&quot;\"", &opened).errors, 0);
    assert_true(opened);
}

/* A chain of procedures inside main. */
static struct text nested(unsigned depth)
{
    struct text text, document;
    struct minidraft mini;
    FILE *stream = begin_text(&text);
    fputs("<S i=\"4\"", stream);
    fputs(" l=\"1\"/>", stream);
    for (unsigned i = 0; i < depth; i++)
        fprintf(stream, "<PF i=\"%u\" n=\"5\" v=\"0x1\" f=\"0\" l=\"1\" lm=\"2\">", 100 + i);
    for (unsigned i = 0; i < depth; i++)
        fputs("</PF>", stream);
    fputs("<S i=\"99\"", stream);
    fclose(stream);
    minidraft_make(&mini, &(struct minidraft_options){0});
    minidraft_replace(&mini, "<S i=\"4\"", text.bytes);
    document = (struct text){(char *)mini.bytes[HPCT_META], mini.size[HPCT_META]};
    mini.bytes[HPCT_META] = NULL;
    minidraft_free(&mini);
    free(text.bytes);
    return document;
}

static void deep_nesting_is_read_up_to_a_limit(void **state)
{
    static const struct {
        unsigned depth;
        bool opens;
    } cases[] = {{1000, true}, {60000, true}, {70000, false}, {300000, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text document = nested(cases[i].depth);
        bool opened;
        lode_check_result result = exercise_document(document.bytes, document.size, &opened);
        assert_int_equal(opened, cases[i].opens);
        assert_int_equal(result.errors, cases[i].opens ? 0 : 1);
        free(document.bytes);
    }
    assert_little_memory(MOST_MEGABYTES);
}

static void long_attributes_are_read_up_to_a_limit(void **state)
{
    static const struct {
        size_t length;
        bool opens;
    } cases[] = {{1 << 20, true}, {(1 << 20) + 1, false}, {20 << 20, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text;
        bool opened;
        FILE *stream = begin_text(&text);
        fputs("n=\"", stream);
        for (size_t k = 0; k < cases[i].length; k++)
            fputc('x', stream);
        fputs("\" v=\"0x118b\"", stream);
        fclose(stream);
        lode_check_result result = exercise_change("n=\"main\" v=\"0x118b\"", text.bytes, &opened);
        assert_int_equal(opened, cases[i].opens);
        assert_int_equal(result.errors, cases[i].opens ? 0 : 1);
        free(text.bytes);
    }
}

static void many_attributes_are_an_error(void **state)
{
    struct text text;
    bool opened;
    (void)state;
    FILE *stream = begin_text(&text);
    fputs("<Info", stream);
    for (unsigned i = 0; i < 100000; i++)
        fprintf(stream, " a%u=\"\"", i);
    fputs("/>", stream);
    fclose(stream);
    assert_int_equal(exercise_change("<Info/>", text.bytes, &opened).errors, 1);
    assert_false(opened);
    free(text.bytes);
}

/* The mini document in UTF-16, with a byte order mark. */
static struct text in_utf16(bool big)
{
    struct minidraft mini;
    struct text text;
    FILE *stream = begin_text(&text);
    minidraft_make(&mini, &(struct minidraft_options){0});
    fputs(big ? "\xfe\xff" : "\xff\xfe", stream);
    for (size_t i = 0; i < mini.size[HPCT_META]; i++) {
        fputc(big ? 0 : mini.bytes[HPCT_META][i], stream);
        fputc(big ? mini.bytes[HPCT_META][i] : 0, stream);
    }
    fclose(stream);
    minidraft_free(&mini);
    return text;
}

static void encodings_are_what_they_say_or_an_error(void **state)
{
    bool opened;
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct text text = in_utf16(big);
        assert_int_equal(exercise_document(text.bytes, text.size, &opened).errors, 0);
        assert_true(opened);
        free(text.bytes);
    }
    static const struct {
        const char *old, *new;
        bool opens;
    } cases[] = {
        {"version=\"1.0\"?", "version=\"1.0\" encoding=\"ISO-8859-1\"?", true},
        {"version=\"1.0\"?", "version=\"1.0\" encoding=\"UTF-16\"?", false},
        {"version=\"1.0\"?", "version=\"1.0\" encoding=\"no-such-code\"?", false},
        {"n=\"main\"", "n=\"m\xff\xfein\"", false},
        {"n=\"main\"", "n=\"m\xc0\xafin\"", false},
        {"n=\"main\"", "n=\"m\xed\xa0\x80in\"", false},
        {"n=\"main\"", "n=\"m&#0;in\"", false},
        {"n=\"main\"", "n=\"m\x01in\"", false},
        {"<?xml", "\xef\xbb\xbf<?xml", true},
        {"<?xml", " <?xml", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lode_check_result result = exercise_change(cases[i].old, cases[i].new, &opened);
        assert_int_equal(opened, cases[i].opens);
        assert_int_equal(result.errors > 0, !cases[i].opens);
    }
    assert_int_equal(exercise_document("", 0, &opened).errors, 1);
    assert_int_equal(exercise_document("\0\0\0\0", 4, &opened).errors, 1);
}

static void numbers_out_of_range_are_errors(void **state)
{
    static const struct {
        const char *old, *new;
    } cases[] = {
        {"<S i=\"4\"", "<S i=\"4294967296\""},
        {"<S i=\"4\"", "<S i=\"-4294967296\""},
        {"<S i=\"4\"", "<S i=\"99999999999999999999\""},
        {"<S i=\"4\"", "<S i=\"-0\""},
        {"<S i=\"4\"", "<S i=\"\""},
        {"<S i=\"4\"", "<S i=\"0x\""},
        {"<S i=\"4\"", "<S i=\" 4\""},
        {"<S i=\"4\"", "<S i=\"4 \""},
        {"<S i=\"4\"", "<S i=\"--4\""},
        {"l=\"11\"", "l=\"-1\""},
        {"l=\"11\"", "l=\"11-\""},
        {"l=\"11\"", "l=\"4294967296\""},
        {"<MetricDB i=\"2\"", "<MetricDB i=\"65536\""},
        {"<MetricDB i=\"2\"", "<MetricDB i=\"-2\""},
        {"<Identifier i=\"3\"", "<Identifier i=\"256\""},
        {"<Metric i=\"2\"", "<Metric i=\"70000\""},
        {"<LoadModule i=\"2\"", "<LoadModule i=\"-2\""},
        {"db-min-time=\"100\"", "db-min-time=\"18446744073709551616\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool opened;
        if (exercise_change(cases[i].old, cases[i].new, &opened).errors == 0 || opened)
            fail_msg("%s is not an error", cases[i].new);
    }
}

/* Wrappers around their target, inside it, and of absent ones. */
static void wrappers_in_circles_do_no_harm(void **state)
{
    static const char *const statements[] = {
        "<C i=\"-3\"><PF i=\"3\" n=\"5\"><C i=\"-3\"><PF i=\"50\" n=\"5\"/></C></PF></C><S i=\"4\"",
        "<C i=\"-51\"><C i=\"-50\"><PF i=\"50\" n=\"5\"><C i=\"-51\"/></PF></C></C><S i=\"4\"",
        "<S i=\"-60\"/><L i=\"-61\"><L i=\"-61\"/></L><S i=\"4\"",
        "<PF i=\"-52\" n=\"5\"/><S i=\"4\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        bool opened;
        exercise_change("<S i=\"4\"", statements[i], &opened);
    }
    bool opened;
    assert_int_equal(exercise_change("<S i=\"4\"", statements[1], &opened).errors, 0);
    assert_true(opened);
    assert_true(exercise_change("<S i=\"4\"", statements[0], &opened).errors > 0);
}

/* Writes `count` elements in front of `before`; # in them is their number. */
static lode_check_result exercise_many(const char *before, const char *element, unsigned count, bool *opened)
{
    struct text text;
    FILE *stream = begin_text(&text);
    for (unsigned i = 0; i < count; i++) {
        for (const char *at = element; *at; at++) {
            if (*at == '#')
                fprintf(stream, "%u", 1000 + i);
            else
                fputc(*at, stream);
        }
    }
    fputs(before, stream);
    fclose(stream);
    lode_check_result result = exercise_change(before, text.bytes, opened);
    free(text.bytes);
    return result;
}

static void many_of_a_kind_take_linear_time(void **state)
{
    static const struct {
        const char *before, *element;
        unsigned count;
    } cases[] = {
        {"<S i=\"4\"", "<S i=\"#\" l=\"1\"/>", 100000},
        {"<S i=\"4\"", "<PF i=\"#\" n=\"5\" v=\"1\" f=\"0\" l=\"#\" lm=\"2\"/>", 50000},
        {"</MetricDBTable>", "<MetricDB i=\"#\" n=\"x# (I)\"/>", 2000},
        {"</MetricDBTable>", "<MetricDB i=\"#\" n=\"the same (I)\"/>", 60000},
        {"</ProcedureTable>", "<Procedure i=\"#\" n=\"f\"/>", 100000},
    };
    bool opened;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lode_check_result result = exercise_many(cases[i].before, cases[i].element, cases[i].count, &opened);
        assert_int_equal(result.errors, 0);
        assert_true(opened);
    }
    /* All with one id. */
    assert_int_equal(exercise_many("<S i=\"4\"", "<S i=\"7\" l=\"#\"/>", 50000, &opened).errors, 50000);
    assert_false(opened);
    assert_little_memory(MOST_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(every_truncation_of_a_real_one_is_an_error),
        cmocka_unit_test(no_bit_flip_does_harm),
        cmocka_unit_test(no_random_mutation_does_harm),
        cmocka_unit_test(bombs_of_entities_do_not_go_off),
        cmocka_unit_test(deep_nesting_is_read_up_to_a_limit),
        cmocka_unit_test(long_attributes_are_read_up_to_a_limit),
        cmocka_unit_test(many_attributes_are_an_error),
        cmocka_unit_test(encodings_are_what_they_say_or_an_error),
        cmocka_unit_test(numbers_out_of_range_are_errors),
        cmocka_unit_test(wrappers_in_circles_do_no_harm),
        cmocka_unit_test(many_of_a_kind_take_linear_time),
    };
    correct_skips();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
