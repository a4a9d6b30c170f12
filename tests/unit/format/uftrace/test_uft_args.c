/* SPDX-License-Identifier: BSD-3-Clause */
/* Specifications of arguments, and the values that payloads hold by them. */
#include "model/recording/argument.h"
#include "uft_specs.h"
#include <stdlib.h>
#include <time.h>

#define TEXTS(...) (&(const struct lode_uft_spec_strings){.pattern_type = "regex", __VA_ARGS__})

static const struct lode_uft_spec *find(const struct specs *specs, const char *name)
{
    return lode_uft_specs_find(specs->specs, name, "/opt/x/prog", false);
}

/* What a payload of "f@<actions>" is shown as. */
static const char *show_in(const char *actions, const void *bytes, size_t size, unsigned word,
                           bool big_endian)
{
    static char result[4096];
    struct specs specs;
    char line[512];
    snprintf(line, sizeof line, "f@%s", actions);
    specs_open(&specs, TEXTS(.argspec = line, .word = word, .big_endian = big_endian,
                             .enumauto = "enum color { RED, GREEN = 4, BLUE = 8, DARK = 0x10, };"
                                         "enum sign {MINUS=-5,NONE,PLUS=7};enum large {HUGE=4886718345};"
                                         "enum top {LOW=1,HIGH=0x80000000}"));
    const struct lode_uft_spec *spec = find(&specs, "f");
    if (spec == NULL)
        snprintf(result, sizeof result, "no specification");
    else
        snprintf(result, sizeof result, "%s", specs_show(&specs, spec, bytes, size));
    specs_close(&specs);
    return result;
}

#define SHOW(actions, ...)                                                                                   \
    show_in(actions, (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, 8, false)
#define SHOW_BIG(actions, ...)                                                                               \
    show_in(actions, (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, 8, true)

static const char *show_number(const char *actions, uint64_t value)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    return show_in(actions, bytes, sizeof bytes, 8, false);
}

/* ---- values ---- */

static void numbers_have_the_size_and_sign_of_their_format(void **state)
{
    (void)state;
    assert_string_equal(show_number("arg1/i8", 0x80), "-128");
    assert_string_equal(show_number("arg1/d16", 0x8000), "-32768");
    assert_string_equal(show_number("arg1/i32", UINT64_C(0x180000000)), "-2147483648");
    assert_string_equal(show_number("arg1/i64", UINT64_C(1) << 63), "-9223372036854775808");
    assert_string_equal(show_number("arg1/i", 100001), "100001");
    assert_string_equal(show_number("arg1/u16", 0xffff), "65535");
    assert_string_equal(show_number("arg1/u8", 0xff), "255");
    assert_string_equal(show_number("arg1/x8", 0x1ff), "0xff");
    assert_string_equal(show_number("arg1/x", 0), "0");
    assert_string_equal(show_number("arg1/x32", UINT64_MAX), "0xffffffff");
    assert_string_equal(show_number("arg1/o", 0644), "0644");
    assert_string_equal(show_number("arg1/p", 1), "0x1");
    assert_string_equal(show_number("arg1/p", 0), "0");
}

static void numbers_of_no_format_are_decimal_while_they_are_small(void **state)
{
    (void)state;
    assert_string_equal(show_number("arg1", 100000), "100000");
    assert_string_equal(show_number("arg1", 100001), "0x186a1");
    assert_string_equal(show_number("arg1", 0 - UINT64_C(100000)), "-100000");
    assert_string_equal(show_number("arg1", 0 - UINT64_C(100001)), "0xfffffffffffe795f");
    assert_string_equal(show_number("arg1", UINT32_MAX), "-1");
    assert_string_equal(show_number("arg1", 0xffff0001), "-65535");
    assert_string_equal(show_number("arg1", 0xffff0000), "0xffff0000");
    assert_string_equal(show_number("arg1/u", 100000), "100000");
    assert_string_equal(show_number("arg1/u", 100001), "0x186a1");
    assert_string_equal(show_number("arg1/u32", UINT64_MAX), "0xffffffff");
}

static void byte_order_and_word_are_those_of_the_recording(void **state)
{
    (void)state;
    assert_string_equal(SHOW_BIG("arg1/i32,arg2/x16", 0, 0, 0, 5, 1, 2, 0, 0), "5, 0x102");
    assert_string_equal(SHOW_BIG("arg1/s", 0, 2, 'h', 'i'), "\"hi\"");
    assert_string_equal(SHOW_BIG("fparg1/32", 0x3f, 0xc0, 0, 0), "1.500000");
    const uint8_t words[] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    assert_string_equal(show_in("arg1,arg2", words, sizeof words, 4, false), "1, -1");
    assert_string_equal(show_in("arg1/p,arg2/e:sign", words, sizeof words, 4, false), "0x1, -1");
    assert_string_equal(show_in("arg1,arg2", words, sizeof words, 8, false), "cut");
}

static void reals_of_all_sizes_are_read(void **state)
{
    (void)state;
    assert_string_equal(SHOW("fparg1", 0, 0, 0, 0, 0, 0, 0x04, 0x40), "2.500000");
    assert_string_equal(SHOW("fparg1/64", 0, 0, 0, 0, 0, 0, 0xf0, 0x7f), "inf");
    assert_string_equal(SHOW("fparg1/32", 0, 0, 0xc0, 0xbf), "-1.500000");
    assert_string_equal(SHOW("arg1/f32", 0, 0, 0xc0, 0x3f), "1.500000");
    assert_string_equal(SHOW("fparg1/80,arg1/i32", 0, 0, 0, 0, 0, 0, 0, 0x90, 0, 0x40, 9, 9, 7, 0, 0, 0),
                        "2.250000, 7");
    assert_string_equal(SHOW("fparg1/80", 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0xff), "-inf");
    assert_string_equal(SHOW("fparg1/80", 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x7f), "nan");
    assert_string_equal(SHOW("fparg1/80", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80), "-0.000000");
    assert_string_equal(SHOW_BIG("fparg1/80", 0x40, 0, 0x90, 0, 0, 0, 0, 0, 0, 0), "2.250000");
}

static void strings_are_quoted_and_safe(void **state)
{
    (void)state;
    assert_string_equal(SHOW("arg1/s", 2, 0, 'a', 'b'), "\"ab\"");
    assert_string_equal(SHOW("arg1/S", 2, 0, 'a', 'b'), "\"ab\"s");
    assert_string_equal(SHOW("arg1/s", 0, 0), "\"\"");
    assert_string_equal(SHOW("arg1/s", 4, 0, 'N', 'U', 'L', 'L'), "\"NULL\"");
    assert_string_equal(SHOW("arg1/s", 4, 0, 0xff, 0xff, 0xff, 0xff), "NULL");
    assert_string_equal(SHOW("arg1/s", 6, 0, '\n', '\t', 0, 0x1b, '"', '\\'), "\"\\n\\t\\0\\x1b\"\\\"");
    assert_string_equal(SHOW("arg1/s", 4, 0, 0xc3, 0xa9, 0xff, 0xc3), "\"\xc3\xa9\\xff\\xc3\"");
    assert_string_equal(SHOW("arg1/c,arg2/c", 'a', 9, 9, 9, 0, 9, 9, 9), "'a', '\\0'");
    assert_string_equal(SHOW("arg1/c,arg2/c", '\n', 0, 0, 0, 0xc8, 0, 0, 0), "'\\n', '\\xc8'");
}

static void every_value_is_padded_to_four_bytes(void **state)
{
    (void)state;
    assert_string_equal(SHOW("arg1/s,arg2/i8,arg3/i16,arg4/i32", 3, 0, 'a', 'b', 'c', 9, 9, 9, 1, 9, 9, 9, 2,
                             0, 9, 9, 3, 0, 0, 0),
                        "\"abc\", 1, 2, 3");
    assert_string_equal(SHOW("arg1/t3:point,arg2/t0:tag,arg3/i32", 1, 2, 3, 9, 7, 0, 0, 0),
                        "point{...}, tag{}, 7");
    assert_string_equal(SHOW("arg1/t,arg2/t4", 1, 2, 3, 4), "{}, {...}");
}

static void enumerations_are_shown_by_name(void **state)
{
    (void)state;
    assert_string_equal(show_number("arg1/e:color", 0), "RED");
    assert_string_equal(show_number("arg1/e:color", 4), "GREEN");
    assert_string_equal(show_number("arg1/e:color", 12), "BLUE|GREEN");
    assert_string_equal(show_number("arg1/e:color", 0x1d), "DARK|BLUE|GREEN+0x1");
    /* None of the bits has a name. */
    assert_string_equal(show_number("arg1/e:color", 3), "3");
    assert_string_equal(show_number("arg1/e:color", 0xfffe795f), "0xfffe795f");
    assert_string_equal(show_number("arg1/e:sign", 0xfffffffb), "MINUS");
    assert_string_equal(show_number("arg1/e:sign", 0xfffffffc), "NONE");
    assert_string_equal(show_number("arg1/e:sign", UINT64_MAX), "-1");
    /* What else is in the register does not count. */
    assert_string_equal(show_number("arg1/e:color", UINT64_C(0x7700000004)), "GREEN");
    assert_string_equal(show_number("arg1/e:top", UINT64_C(0x7780000001)), "HIGH|LOW");
    assert_string_equal(show_number("arg1/e:large", UINT64_C(4886718345)), "HUGE");
    assert_string_equal(show_number("arg1/e:nobody", 3), "3");
}

static void an_enumeration_may_come_later_or_twice(void **state)
{
    struct specs specs;
    const uint8_t one[8] = {1};
    (void)state;
    specs_open(&specs, TEXTS(.word = 8, .argspec = "f@arg1/e:color"));
    struct lode_arena *arena = &specs.arena;
    const struct lode_uft_spec *spec = find(&specs, "f");
    assert_string_equal(specs_show(&specs, spec, one, 8), "1");
    assert_true(lode_uft_enum_parse(specs.specs, arena, "enum color {RED=1,PINK=1}", 25));
    assert_string_equal(specs_show(&specs, spec, one, 8), "RED");
    const struct lode_uft_spec *first = lode_uft_spec_parse(specs.specs, arena, "@arg1/e:color%rdi", 17);
    assert_true(lode_uft_enum_parse(specs.specs, arena, "enum color {BLACK=1}", 20));
    const struct lode_uft_spec *second = lode_uft_spec_parse(specs.specs, arena, "@arg1/e:color", 13);
    assert_string_equal(specs_show(&specs, first, one, 8), "RED");
    assert_string_equal(specs_show(&specs, second, one, 8), "BLACK");
    static const char *const bad[] = {
        "enum",       "enum {A}",       "enum x {A",    "enum x {A=}",
        "enum x {,}", "enum x {A=1|2}", "struct x {A}", "enum x {A=99999999999999999999}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(lode_uft_enum_parse(specs.specs, arena, bad[i], strlen(bad[i])));
    specs_close(&specs);
}

static void text_is_cut_at_the_capacity(void **state)
{
    char buffer[8] = "xxxxxxx";
    lode_argument argument = {.name = "", .kind = LODE_VALUE_TEXT, .bytes = "a\xc3\xa9\xc3\xa9", .length = 5};
    (void)state;
    assert_int_equal(lode_argument_text(&argument, NULL, 0), 7);
    assert_int_equal(lode_argument_text(&argument, buffer, 4), 7);
    assert_string_equal(buffer, "\"a");
    assert_int_equal(lode_argument_text(&argument, buffer, sizeof buffer), 7);
    assert_string_equal(buffer, "\"a\xc3\xa9\xc3\xa9\"");
    argument = (lode_argument){.kind = LODE_VALUE_POINTER, .bits = 64, .unsigned_value = 16, .label = "main"};
    assert_int_equal(lode_argument_text(&argument, buffer, sizeof buffer), 5);
    assert_string_equal(buffer, "&main");
}

/* ---- payloads ---- */

static void a_payload_that_is_cut_has_no_size(void **state)
{
    struct specs specs;
    const uint8_t bytes[] = {3, 0, 'a', 'b', 'c', 9, 9, 9, 1, 0, 0, 0, 0, 0, 0, 0, 7};
    uint64_t size;
    (void)state;
    specs_open(&specs, TEXTS(.word = 8, .argspec = "f@arg1/s,arg2,arg3/i8"));
    const struct lode_uft_spec *spec = find(&specs, "f");
    for (size_t length = 0; length < sizeof bytes; length++) {
        assert_false(lode_uft_payload_size(specs.specs, spec, (struct lode_range){bytes, length}, &size));
        assert_string_equal(specs_show(&specs, spec, bytes, length), "cut");
    }
    assert_true(lode_uft_payload_size(specs.specs, spec, (struct lode_range){bytes, sizeof bytes}, &size));
    assert_int_equal(size, sizeof bytes);
    assert_string_equal(specs_show(&specs, spec, bytes, sizeof bytes), "\"abc\", 1, 7");
    specs_close(&specs);
}

static void absurd_sizes_are_refused(void **state)
{
    struct specs specs;
    static uint8_t bytes[70000];
    uint64_t size;
    (void)state;
    memset(bytes, 'x', sizeof bytes);
    specs_open(&specs,
               TEXTS(.word = 8,
                     .argspec = "f@arg1/s;g@arg1/t1024,arg2/t4;h@arg1/t1025;i@arg1/t99999999999999999999"));
    struct lode_range all = {bytes, sizeof bytes};
    /* A text of 0x7878 bytes, though they are there, is longer than a record. */
    assert_false(lode_uft_payload_size(specs.specs, find(&specs, "f"), all, &size));
    assert_false(lode_uft_payload_size(specs.specs, find(&specs, "g"), all, &size));
    assert_null(find(&specs, "h"));
    assert_null(find(&specs, "i"));
    assert_int_equal(specs.findings, 2);
    specs_close(&specs);
}

static void a_count_is_told_though_there_is_no_room(void **state)
{
    struct specs specs;
    const uint8_t bytes[8] = {1, 0, 0, 0, 2, 0, 0, 0};
    lode_argument one = {0};
    size_t count;
    (void)state;
    specs_open(&specs, TEXTS(.word = 8, .argspec = "f@arg1/i32,arg2/i32"));
    struct lode_range payload = {bytes, sizeof bytes};
    const struct lode_uft_spec *spec = find(&specs, "f");
    assert_int_equal(lode_uft_payload_decode(specs.specs, spec, payload, NULL, 0, &count, NULL), LODE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(lode_uft_payload_decode(specs.specs, spec, payload, &one, 1, &count, NULL), LODE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(one.signed_value, 1);
    assert_int_equal(one.bits, 32);
    specs_close(&specs);
}

static void known_events_have_fields(void **state)
{
    struct specs specs;
    lode_argument fields[4];
    char text[32];
    size_t count;
    const uint8_t memory[24] = {0x84, 0x3c, [8] = 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, [17] = 1};
    struct lode_range bytes = {memory, sizeof memory};
    (void)state;
    specs_open(&specs, TEXTS(.word = 8));
    assert_int_equal(lode_uft_event_decode(specs.specs, 100003, bytes, fields, 4, &count, NULL), LODE_OK);
    assert_int_equal(count, 3);
    assert_string_equal(fields[1].name, "vmrss");
    lode_argument_text(&fields[1], text, sizeof text);
    assert_string_equal(text, "-4KB");
    lode_argument_text(&fields[0], text, sizeof text);
    assert_string_equal(text, "+15492KB");
    bytes.size = 23;
    assert_int_equal(lode_uft_event_decode(specs.specs, 100003, bytes, fields, 4, &count, NULL),
                     LODE_ERR_CORRUPT);
    bytes.size = 12;
    assert_int_equal(lode_uft_event_decode(specs.specs, 100012, bytes, fields, 4, &count, NULL), LODE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(fields[0].unsigned_value, 0x3c84);
    assert_int_equal(fields[1].signed_value, -4);
    bytes.size = 7;
    assert_int_equal(lode_uft_event_decode(specs.specs, 100012, bytes, fields, 4, &count, NULL),
                     LODE_ERR_CORRUPT);
    assert_int_equal(lode_uft_event_decode(specs.specs, 1000000, bytes, fields, 4, &count, NULL), LODE_OK);
    assert_int_equal(count, 0);
    assert_string_equal(lode_uft_event_name(100002), "read:page-fault");
    assert_null(lode_uft_event_name(1000000));
    specs_close(&specs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_the_size_and_sign_of_their_format),
        cmocka_unit_test(numbers_of_no_format_are_decimal_while_they_are_small),
        cmocka_unit_test(byte_order_and_word_are_those_of_the_recording),
        cmocka_unit_test(reals_of_all_sizes_are_read),
        cmocka_unit_test(strings_are_quoted_and_safe),
        cmocka_unit_test(every_value_is_padded_to_four_bytes),
        cmocka_unit_test(enumerations_are_shown_by_name),
        cmocka_unit_test(an_enumeration_may_come_later_or_twice),
        cmocka_unit_test(text_is_cut_at_the_capacity),
        cmocka_unit_test(a_payload_that_is_cut_has_no_size),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(a_count_is_told_though_there_is_no_room),
        cmocka_unit_test(known_events_have_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
