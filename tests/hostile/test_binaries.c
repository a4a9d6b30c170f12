/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers about binaries: what another process says is checked like a file; processes that crash,
 * lie or do not exist are no answer; where binaries are looked for.
 */
#include "corpus.h"
#include "format/hpcrun/hpcrun.h"
#include "format/hpcrun/scopes/binary.h"
#include "format/hpcrun/scopes/module_file.h"
#include "hostile.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SYMBOLS_PROGRAM "LODE_TEST_SYMBOLS" /* a variable of the environment */

static const uint64_t offsets[] = {0x10, 0x20, 0x30, UINT64_MAX};
static const struct binary_request asked_four = {.offsets = offsets, .count = 4};
static const struct binary_request asked_all = {.is_all = true};

static void append(struct lode_blob *blob, const void *bytes, size_t size)
{
    size_t at = lode_blob_extend(blob, size);
    assert_true(at != LODE_BLOB_FULL);
    memcpy(blob->bytes + at, bytes, size);
}

static void append_u32(struct lode_blob *blob, uint32_t number)
{
    append(blob, &number, sizeof number);
}

static void append_string(struct lode_blob *blob, const char *text)
{
    append(blob, "S", 1);
    append_u32(blob, (uint32_t)strlen(text));
    append(blob, text, strlen(text));
}

static void append_scope(struct lode_blob *blob, uint8_t kind, uint32_t parent, uint32_t name, uint32_t file,
                         uint32_t function)
{
    append(blob, "C", 1);
    append(blob, &kind, 1);
    append_u32(blob, parent);
    append_u32(blob, name);
    append_u32(blob, file);
    append_u32(blob, 7);
    append_u32(blob, function);
    append(blob, &(uint64_t){0x10}, sizeof(uint64_t));
}

/* f at a.c:7, and g inlined there; two offsets. */
static void make_reply(struct lode_blob *out)
{
    *out = (struct lode_blob){0};
    append(out, SYMBOLS_BEGIN, SYMBOLS_BEGIN_SIZE);
    append(out, "D\0\2\0\0\0\xab\xcd\5\0\0\0x.dbg", 17);
    append_string(out, "_Z1fi");
    append_string(out, "/a.c");
    append_string(out, "g");
    append_scope(out, SYMBOLS_FUNCTION, SYMBOLS_NONE, 0, 1, 0);
    append_scope(out, SYMBOLS_LINE, 0, SYMBOLS_NONE, 1, 1);
    append_scope(out, SYMBOLS_INLINED, 1, 2, SYMBOLS_NONE, 2);
    for (uint32_t i = 0; i < 2; i++) {
        append(out, "A", 1);
        append_u32(out, 2 * i);
        append_u32(out, 2 * i);
    }
    append(out, "E", 1);
    append_u32(out, 3);
    append_u32(out, 3);
    append_u32(out, 2);
}

/* A loop in f at a.c:7, and two ranges. */
static void make_ranges(struct lode_blob *out)
{
    static const uint64_t bounds[] = {0x10, 0x18, 0x18, 0x20};
    *out = (struct lode_blob){0};
    append(out, SYMBOLS_BEGIN, SYMBOLS_BEGIN_SIZE);
    append_string(out, "f");
    append_string(out, "/a.c");
    append_scope(out, SYMBOLS_FUNCTION, SYMBOLS_NONE, 0, 1, 0);
    append_scope(out, SYMBOLS_LOOP, 0, SYMBOLS_NONE, 1, 1);
    for (uint32_t i = 0; i < 2; i++) {
        append(out, "R", 1);
        append(out, bounds + (size_t)2 * i, 2 * sizeof *bounds);
        append_u32(out, i);
    }
    append(out, "E", 1);
    append_u32(out, 2);
    append_u32(out, 2);
    append_u32(out, 2);
}

static bool parses_as(const struct lode_blob *blob, size_t size, struct binary_reply *reply,
                      const struct binary_request *asked)
{
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, blob->bytes, size);
    lode_binary_init(reply);
    bool is_sound = lode_binary_parse(reply, (struct lode_range){copy, size}, asked);
    free(copy);
    return is_sound;
}

static bool parses(const struct lode_blob *blob, size_t size, struct binary_reply *reply)
{
    return parses_as(blob, size, reply, &asked_four);
}

static void ranges_of_all_code_are_taken_if_they_were_asked_for(void **state)
{
    struct lode_blob blob;
    struct binary_reply reply;
    (void)state;
    make_ranges(&blob);
    assert_false(parses(&blob, blob.size, &reply));
    lode_binary_free(&reply);
    assert_true(parses_as(&blob, blob.size, &reply, &asked_all));
    const struct hpcstruct_scope *scopes = reply.module.scopes.items;
    const struct hpcstruct_range *ranges = reply.module.ranges.items;
    assert_true(scopes[1].kind == HPCSTRUCT_LOOP && scopes[1].line == 7 && scopes[1].address == 0x10);
    assert_true(ranges[1].start == 0x18 && ranges[1].end == 0x20 && ranges[1].scope == 1);
    lode_binary_free(&reply);
    uint8_t *overlap = blob.bytes + blob.size - 13 - 20; /* the start of the second range */
    assert_true(*overlap == 0x18);
    *overlap = 0x17;
    assert_false(parses_as(&blob, blob.size, &reply, &asked_all));
    lode_binary_free(&reply);
    lode_blob_free(&blob);
}

static void a_sound_answer_is_taken(void **state)
{
    struct lode_blob blob;
    struct binary_reply reply;
    (void)state;
    make_reply(&blob);
    assert_true(parses(&blob, blob.size, &reply));
    const struct hpcstruct_scope *scopes = reply.module.scopes.items;
    const struct hpcstruct_range *ranges = reply.module.ranges.items;
    assert_true(reply.module.scopes.count == 3 && reply.module.ranges.count == 2);
    assert_string_equal(lode_strings_at(&reply.strings, scopes[0].name), "f(int)");
    assert_true(scopes[2].kind == HPCSTRUCT_INLINED && scopes[2].parent == 1 && scopes[2].same_as == 0);
    assert_true(ranges[1].start == 0x30 && ranges[1].end == 0x31 && ranges[1].scope == 2);
    assert_true(!reply.has_debug && reply.build_id_size == 2 && reply.build_id[1] == 0xcd);
    assert_string_equal((const char *)reply.link.bytes, "x.dbg");
    lode_binary_free(&reply);
    lode_blob_free(&blob);
}

/* What parses has parents before children, and numbers of what is there. */
static void check_reply(const struct binary_reply *reply)
{
    const struct hpcstruct_scope *scopes = reply->module.scopes.items;
    const struct hpcstruct_range *ranges = reply->module.ranges.items;
    for (size_t i = 0; i < reply->module.scopes.count; i++) {
        assert_true((scopes[i].kind == HPCSTRUCT_FUNCTION) == (scopes[i].parent == LODE_NO_NUMBER));
        assert_true(scopes[i].parent == LODE_NO_NUMBER || scopes[i].parent < i);
        assert_true(scopes[i].same_as <= i);
        assert_true(scopes[i].name == LODE_NO_NUMBER || scopes[i].name < reply->strings.items.count);
    }
    for (size_t i = 0; i < reply->module.ranges.count; i++) {
        assert_true(ranges[i].scope < reply->module.scopes.count);
        assert_true(i == 0 || ranges[i].start >= ranges[i - 1].end);
    }
}

static void truncations_and_bit_flips_do_no_harm(void **state)
{
    struct lode_blob blob;
    struct binary_reply reply;
    (void)state;
    make_reply(&blob);
    for (size_t size = 0; size < blob.size; size++) {
        assert_false(parses(&blob, size, &reply));
        lode_binary_free(&reply);
    }
    for (size_t bit = 0; bit < blob.size * 8; bit++) {
        blob.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (parses(&blob, blob.size, &reply))
            check_reply(&reply);
        lode_binary_free(&reply);
        blob.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    lode_blob_free(&blob);
}

static void prefixes_are_replaced_by_component(void **state)
{
    static const struct {
        const char *replacement, *path, *wanted;
    } cases[] = {{"/a/b=/c", "/a/b/x", "/c/x"},
                 {"/a/b=/c", "/a/bb/x", NULL},
                 {"/a/b=/c", "/a/b", "/c"},
                 {"/a/b/=/c/", "/a/b/x", "/c/x"},
                 {"/a/b/=/c", "/a/b/x", "/c/x"},
                 {"/a/*=/c", "/a/1/x", "/c/x"},
                 {"/a/*/b=/c", "/a/1/b/x", "/c/x"},
                 {"/a/*/b=/c", "/a/1/2/b/x", NULL},
                 {"/a/r*=/c", "/a/run7/x", "/c/x"},
                 {"=/c", "/a", NULL},
                 {"/a", "/a", NULL},
                 {"/=/c", "/x", "/c/x"}};
    char out[PATH_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool applies = lode_replace_prefix(cases[i].replacement, cases[i].path, out);
        if (applies != (cases[i].wanted != NULL) || (applies && strcmp(out, cases[i].wanted) != 0))
            fail_msg("%s of %s is %s", cases[i].replacement, cases[i].path, applies ? out : "nothing");
    }
}

/* ---- processes ---- */

static int count_finding(void *user, const lode_finding *finding)
{
    (void)finding;
    ++*(unsigned *)user;
    return 0;
}

/* Asks about an address of this program; the number of frames, and of findings. */
static uint32_t ask(const char *program, bool foreign, uint64_t offset, unsigned *findings, char name[256])
{
    struct hpcrun_scopes scopes;
    struct lode_report report;
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    struct binary_helper helper = BINARY_HELPER_INIT(program);
    struct hpcrun_asking asking = {.report = &report,
                                   .binaries = {.program = program, .helper = &helper, .foreign = foreign}};
    assert_true(length > 0);
    path[length] = '\0';
    *findings = 0;
    lode_hpcrun_scopes_init(&scopes);
    assert_true(lode_hpcrun_scopes_ask(&scopes, path, NULL, &offset, &(bool){false}, 1));
    assert_int_equal(
        lode_report_open(&report, lode_hpcrun_rules, HPCRUN_RULE_COUNT, 100, count_finding, findings, NULL),
        LODE_OK);
    assert_int_equal(lode_hpcrun_ask_binaries(&scopes, &asking, NULL), LODE_OK);
    lode_binary_helper_close(&helper);
    lode_report_close(&report);
    uint32_t number = LODE_ARRAY_AT(&scopes.questions, struct hpcrun_question, 0)->chains[0], count = 0;
    if (number != LODE_NO_NUMBER)
        count = LODE_ARRAY_AT(&scopes.chains, struct hpcrun_chain, number)->count;
    if (count > 0) {
        const struct hpcrun_function *function = LODE_ARRAY_AT(&scopes.functions, struct hpcrun_function, 0);
        snprintf(name, 256, "%s", lode_strings_at(&scopes.strings, function->name));
    }
    lode_hpcrun_scopes_free(&scopes);
    return count;
}

/* Where a function is in the file that this program is. */
static uint64_t own_offset(uintptr_t function)
{
    extern const char __executable_start[];
    return (uint64_t)(function - (uintptr_t)__executable_start);
}

static void own_functions_have_names_and_lines(void **state)
{
    const char *program = getenv(SYMBOLS_PROGRAM);
    uint64_t offset = own_offset((uintptr_t)a_sound_answer_is_taken);
    unsigned findings;
    char name[256] = "";
    (void)state;
    if (program == NULL || *program == '\0')
        skip();
    uint32_t count = ask(program, false, offset, &findings, name);
    print_message("# %s, %u frames\n", name, (unsigned)count);
    assert_true(count >= 1 && findings == 0);
    assert_string_equal(name, "a_sound_answer_is_taken");
    /* Foreign: this program is not below measurements. */
    assert_int_equal(ask(program, true, offset, &findings, name), 0);
    assert_int_equal(findings, 0);
}

static void processes_that_fail_are_findings(void **state)
{
    static const char *const programs[] = {"/bin/false", "/bin/true", "/bin/echo", "/nowhere/lode-symbols"};
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        unsigned findings;
        char name[256];
        assert_int_equal(ask(programs[i], false, 0x1000, &findings, name), 0);
        assert_true(findings > 0);
    }
    unsigned findings;
    char name[256];
    assert_int_equal(ask(NULL, false, 0x1000, &findings, name), 0);
    assert_int_equal(findings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_answer_is_taken),
        cmocka_unit_test(ranges_of_all_code_are_taken_if_they_were_asked_for),
        cmocka_unit_test(truncations_and_bit_flips_do_no_harm),
        cmocka_unit_test(prefixes_are_replaced_by_component),
        cmocka_unit_test(own_functions_have_names_and_lines),
        cmocka_unit_test(processes_that_fail_are_findings),
    };
    correct_skips();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
