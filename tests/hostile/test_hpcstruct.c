/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure files: for each rule, some that break exactly it; truncations and bit flips; documents
 * that would take long; ranges that overlap, against a slow way to find out.
 */
#include "base/memory/blob.h"
#include "format/hpcrun/hpcrun.h"
#include "format/hpcrun/scopes/structure.h"
#include "hostile.h"
#include "rule_cases.h"
#include "share.h"
#include <lode/unstable/measurements.h>

enum {
    MOST_MILLISECONDS = 4000,
    MOST_MEGABYTES = 100,
    RANGES = 400,
    DEEP = 5000
};

#define HEAD "<?xml version=\"1.0\"?>\n<!DOCTYPE HPCToolkitStructure [\n<!ELEMENT LM (F)*>\n]>\n"
#define OPEN "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">"
#define LM   "<LM i=\"2\" n=\"/bin/app\" has-calls=\"1\" v=\"{}\"><F i=\"3\" n=\"a.c\">"
#define BODY                                                                                                    \
    "<P i=\"4\" n=\"f&lt;int&gt;\" l=\"1\" v=\"{[0x10-0x11)}\"><S i=\"5\" l=\"1\" v=\"{[0x10-0x18) "            \
    "[0x20-0x28)}\"/><L i=\"6\" l=\"2\" f=\"a.c\" v=\"{[0x30-0x31)}\"><S i=\"7\" l=\"3\" v=\"{[0x30-0x38)}\"/>" \
    "<A i=\"8\" l=\"4\" f=\"a.c\" n=\"\" v=\"{}\"><A i=\"9\" l=\"9\" f=\"b.h\" n=\"g\" v=\"{}\">"               \
    "<C i=\"10\" l=\"10\" v=\"{[0x40-0x48)}\" t=\"0x10\"/></A></A></L></P>"
#define CLOSE "</F></LM></HPCToolkitStructure>\n"

static const char sound[] = HEAD OPEN LM BODY CLOSE;

struct struct_case {
    const char *rule, *text;
};

static const struct struct_case cases[] = {
    {"hpcstruct-xml", HEAD OPEN LM BODY},
    {"hpcstruct-xml", HEAD "<Other/>"},
    {"hpcstruct-xml", HEAD OPEN LM "<P" CLOSE},
    {"hpcstruct-xml", ""},
    {"hpcstruct-declaration",
     "<!DOCTYPE HPCToolkitStructure [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>" OPEN LM BODY
         CLOSE},
    {"hpcstruct-declaration",
     "<!DOCTYPE HPCToolkitStructure [<!ATTLIST S x CDATA \"value\">]>" OPEN LM BODY CLOSE},
    {"hpcstruct-attribute", HEAD OPEN "<LM i=\"1\">"
                                      "</LM></HPCToolkitStructure>"},
    {"hpcstruct-attribute", HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{}\"/>" CLOSE},
    {"hpcstruct-attribute", HEAD OPEN LM "<P n=\"x\" l=\"-1\" v=\"{[0x1-0x2)}\"/>" CLOSE},
    {"hpcstruct-attribute", HEAD OPEN LM "<P n=\"x\" l=\"99999999999\" v=\"{[0x1-0x2)}\"/>" CLOSE},
    {"hpcstruct-attribute", HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x2-0x1)}\"/>" CLOSE},
    {"hpcstruct-attribute", HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x1-0x11111111111111111)}\"/>" CLOSE},
    {"hpcstruct-attribute", HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x1-0x2)}\"><S l=\"1\"/></P>" CLOSE},
    {"hpcstruct-attribute",
     HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x1-0x2)}\"><S l=\"1\" v=\"{[0x1-0x2) x}\"/></P>" CLOSE},
    {"hpcstruct-attribute",
     HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x1-0x2)}\"><C l=\"1\" v=\"{[0x1-0x2)}\" t=\"q\"/></P>" CLOSE},
    {"hpcstruct-element", HEAD OPEN LM BODY "<S l=\"1\" v=\"{}\"/>" CLOSE},
    {"hpcstruct-element", HEAD OPEN LM BODY "<Q><P n=\"x\" l=\"1\" v=\"{[0x10-0x11)}\"/></Q>" CLOSE},
    {"hpcstruct-twice", HEAD OPEN LM BODY BODY CLOSE},
    {"hpcstruct-callee",
     HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x1-0x2)}\"><C l=\"1\" v=\"{[0x1-0x2)}\" t=\"0x5\"/></P>" CLOSE},
    {"hpcstruct-overlap",
     HEAD OPEN LM "<P n=\"x\" l=\"1\" v=\"{[0x1-0x2)}\"><S l=\"1\" v=\"{[0x1-0x9) [0x8-0x10)}\"/></P>" CLOSE},
};
static const struct rule_cases all = {cases, sizeof *cases, sizeof cases / sizeof *cases};

static lode_memory_file file_of(const char *text, size_t size)
{
    return (lode_memory_file){"x.hpcstruct", (const unsigned char *)text, size};
}

static void breaks_exactly_one_rule(void **state)
{
    const struct struct_case *this = *state;
    lode_memory_file file = file_of(this->text, strlen(this->text));
    expect_only(&file, 1, this->rule, NULL);
    lode_measurements *measurements;
    lode_error error = {0};
    bool is_error = find_rule(this->rule)->severity == LODE_ERROR;
    lode_status status = lode_measurements_open_memory(&measurements, &file, 1, &error);
    assert_int_equal(status, is_error ? LODE_ERR_CORRUPT : LODE_OK);
    assert_true(!is_error || strstr(error.text, this->rule));
    lode_measurements_close(measurements);
}

static void every_number_is_there(void **state)
{
    lode_memory_file file = file_of(sound, strlen(sound));
    lode_measurements *m;
    (void)state;
    assert_int_equal(check_files(&file, 1, NULL, NULL, LODE_CHECK_FULL).others, 0);
    assert_int_equal(lode_measurements_open_memory(&m, &file, 1, NULL), LODE_OK);
    const lode_measured_structure *s = lode_measurements_structure(m, 0);
    assert_string_equal(s->path, "/bin/app");
    assert_true(s->functions == 1 && s->inlined == 1 && s->loops == 1 && s->statements == 3);
    assert_true(s->ranges == 4 && s->dropped == 0 && s->calls == 1 && s->has_calls && !s->is_cut);
    lode_measurements_close(m);
}

/* Nested, or a bomb; the second is deeper than what is read. */
static void what_would_take_long_ends_soon(void **state)
{
    struct lode_blob text = {0};
    double start = now();
    (void)state;
    for (unsigned i = 0; i < DEEP; i++) {
        size_t at = lode_blob_reserve(&text, 24, 1);
        assert_true(at != LODE_BLOB_FULL);
        memcpy(text.bytes + at, i == 0 ? "<HPCToolkitStructure n=\"" : "\"> <A l=\"1\"><A l=\"1\" n=\"", 24);
    }
    lode_memory_file file = {"x.hpcstruct", text.bytes, text.size};
    struct rule_findings found =
        check_files(&file, 1, "hpcstruct-limit", "hpcstruct-element", LODE_CHECK_FULL);
    assert_true(found.of_rule == 1 && found.others == 0);
    assert_little_time(start, MOST_MILLISECONDS);
    assert_little_memory(MOST_MEGABYTES);
    lode_blob_free(&text);
}

static bool exercise_text(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    lode_memory_file file = {"x.hpcstruct", copy, size};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_measurements *measurements;
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool opened = lode_measurements_open_memory(&measurements, &file, 1, NULL) == LODE_OK;
    bool has_module = opened && lode_measurements_structure_count(measurements) > 0;
    lode_measurements_close(measurements);
    options.level = LODE_CHECK_FULL;
    assert_int_equal(lode_check_memory(&file, 1, &options, &result, NULL), LODE_OK);
    if (result.errors > 0 && opened)
        fail_msg("%s", "a file with errors opened");
    free(copy);
    return has_module;
}

static void truncations_and_bit_flips_do_no_harm(void **state)
{
    struct share share = share_from_environment();
    unsigned char bytes[sizeof sound];
    unsigned long opened = 0;
    size_t size = sizeof sound - 1;
    (void)state;
    memcpy(bytes, sound, sizeof sound);
    for (size_t i = 0; i + 1 < size; i++)
        assert_false(exercise_text(bytes, i));
    for (size_t bit = 0; bit < size * 8; bit++) {
        if (!share_has(share, bit))
            continue;
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        opened += exercise_text(bytes, size);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    print_message("# %lu flipped documents open\n", opened);
    assert_little_memory(MOST_MEGABYTES);
}

/* The first of overlapping ranges stays, by comparing each with all before. */
static void overlapping_ranges_are_dropped(void **state)
{
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        struct lode_array ranges, wanted;
        uint64_t dropped;
        lode_array_init(&ranges, sizeof(struct hpcstruct_range), RANGES);
        lode_array_init(&wanted, sizeof(struct hpcstruct_range), RANGES);
        for (unsigned i = 0; i < RANGES; i++) {
            struct hpcstruct_range range = {next_random(&random) % (100 * (round + 1)), 0, i};
            bool overlaps = false;
            range.end = range.start + 1 + next_random(&random) % 20;
            for (size_t k = 0; k < wanted.count; k++) {
                const struct hpcstruct_range *other = LODE_ARRAY_AT(&wanted, struct hpcstruct_range, k);
                overlaps |= other->start < range.end && range.start < other->end;
            }
            *(struct hpcstruct_range *)lode_array_push(&ranges) = range;
            if (!overlaps)
                *(struct hpcstruct_range *)lode_array_push(&wanted) = range;
        }
        assert_true(lode_hpcstruct_settle(&ranges, &dropped));
        assert_int_equal(ranges.count, wanted.count);
        assert_int_equal(dropped, RANGES - wanted.count);
        uint64_t before = 0, sum = 0, wanted_sum = 0;
        for (size_t i = 0; i < ranges.count; i++) {
            const struct hpcstruct_range *range = LODE_ARRAY_AT(&ranges, struct hpcstruct_range, i);
            assert_true(range->start >= before);
            before = range->end;
            sum += (uint64_t)range->scope * range->scope;
            uint32_t scope = LODE_ARRAY_AT(&wanted, struct hpcstruct_range, i)->scope;
            wanted_sum += (uint64_t)scope * scope;
        }
        assert_int_equal(sum, wanted_sum);
        lode_array_free(&ranges);
        lode_array_free(&wanted);
    }
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < lode_format_hpcrun.rule_count; i++) {
        const char *id = lode_format_hpcrun.rules[i].id;
        bool is_found = strncmp(id, "hpcstruct-", 10) != 0 || strcmp(id, "hpcstruct-limit") == 0;
        for (size_t k = 0; k < all.count; k++)
            is_found |= strcmp(cases[k].rule, id) == 0;
        if (!is_found)
            fail_msg("no case for %s", id);
    }
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(every_number_is_there),
        cmocka_unit_test(what_would_take_long_ends_soon),
        cmocka_unit_test(truncations_and_bit_flips_do_no_harm),
        cmocka_unit_test(overlapping_ranges_are_dropped),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
