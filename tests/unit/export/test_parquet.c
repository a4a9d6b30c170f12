/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoder of Parquet files: runs against a decoder that is as plain as the specification. */
#include "export/number.h"
#include "export/parquet/parquet.h"
#include "unit.h"
#include <locale.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- chance ---- */

static uint64_t chance = 1;

static uint64_t draw(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

/* ---- runs ---- */

static uint64_t read_varint(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static uint32_t read_bits(const uint8_t *bytes, uint64_t bit, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++, bit++)
        value |= (uint32_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    return value;
}

/* Decodes `count` numbers; the bytes must end with the last run. */
static void check_runs(const uint32_t *numbers, uint64_t count, unsigned width)
{
    struct lode_wire out = {0};
    lode_parquet_runs(&out, numbers, count, width);
    assert_false(out.failed);
    const uint8_t *at = out.bytes, *end = out.count > 0 ? out.bytes + out.count : at;
    for (uint64_t done = 0; done < count;) {
        assert_true(at < end);
        uint64_t header = read_varint(&at), size = header >> 1;
        assert_true(size > 0);
        if (header & 1) {
            for (uint64_t i = 0; i < size * 8 && done + i < count; i++)
                assert_int_equal(read_bits(at, i * width, width), numbers[done + i]);
            at += size * width;
            done += size * 8;
            /* What fills the last eight is at the end only. */
            assert_true(done <= count || at == end);
        } else {
            uint32_t value = read_bits(at, 0, (width + 7) / 8 * 8);
            for (uint64_t i = 0; i < size; i++)
                assert_int_equal(numbers[done + i], value);
            at += (width + 7) / 8;
            done += size;
            assert_true(done <= count);
        }
    }
    assert_ptr_equal(at, end);
    wire_free(&out);
}

static void runs_read_back_as_they_were(void **state)
{
    uint32_t numbers[300];
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned width = 1 + (unsigned)draw(17);
        uint64_t count = draw(300), longest = 1 + draw(40);
        for (uint64_t i = 0; i < count;) {
            uint32_t number = (uint32_t)draw(UINT64_C(1) << width);
            for (uint64_t run = 1 + draw(longest); run > 0 && i < count; run--)
                numbers[i++] = number;
        }
        check_runs(numbers, count, width);
    }
}

/* Runs of every length at every place of eight, between numbers that differ. */
static void runs_of_every_length_and_place_read_back(void **state)
{
    uint32_t numbers[64];
    (void)state;
    for (unsigned before = 0; before < 18; before++)
        for (unsigned run = 0; run < 26; run++)
            for (unsigned after = 0; after < 10; after++) {
                uint64_t count = 0;
                for (unsigned i = 0; i < before; i++)
                    numbers[count++] = i % 2;
                for (unsigned i = 0; i < run; i++)
                    numbers[count++] = 3;
                for (unsigned i = 0; i < after; i++)
                    numbers[count++] = 1 + i % 2;
                check_runs(numbers, count, 2);
            }
}

static void long_runs_take_a_few_bytes(void **state)
{
    static uint32_t numbers[100000];
    struct lode_wire out = {0};
    (void)state;
    lode_parquet_runs(&out, numbers, 100000, 16);
    assert_int_equal(out.count, 3 + 2);
    wire_free(&out);
}

static void widths_are_those_of_the_largest_number(void **state)
{
    (void)state;
    assert_int_equal(lode_parquet_width(0), 0);
    assert_int_equal(lode_parquet_width(1), 1);
    assert_int_equal(lode_parquet_width(255), 8);
    assert_int_equal(lode_parquet_width(256), 9);
    assert_int_equal(lode_parquet_width(UINT32_MAX), 32);
}

/* ---- files ---- */

static const lode_field fields[] = {
    {"id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
    {"few", LODE_COLUMN_U32, LODE_FIELD_OPTIONAL, NULL},
    {"text", LODE_COLUMN_STRING, LODE_FIELD_OPTIONAL, NULL},
    {"value", LODE_COLUMN_F64, 0, NULL},
    {"flag", LODE_COLUMN_U8, LODE_FIELD_BOOLEAN, NULL},
};

static uint64_t row_count, fails_at;

static lode_status next_rows(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             lode_error *error)
{
    for (; reader->done < row_count; reader->done++, batch->rows++) {
        if (lode_batch_is_full(batch))
            return LODE_OK;
        if (reader->done == fails_at)
            return lode_fail(error, LODE_ERR_CORRUPT, "made", 17, "row %d", (int)fails_at);
        uint32_t i = (uint32_t)reader->done;
        lode_batch_u32(batch, 0, i);
        if (i % 3 == 0)
            lode_batch_null(batch, 1);
        else
            lode_batch_u32(batch, 1, i % 7);
        lode_batch_fixed(batch, 2, i % 5 == 0 ? NULL : i % 2 ? "odd" : "even");
        lode_batch_f64(batch, 3, i / 8.0);
        lode_batch_boolean(batch, 4, i % 4 == 0);
    }
    return LODE_END;
}

static const struct lode_table_def table = {.info = {"made", "", fields, 5, 0}, .next = next_rows};

struct sink {
    struct lode_wire bytes;
    size_t fails_after;
};

static lode_status take(void *user, const void *bytes, size_t size, lode_error *error)
{
    struct sink *sink = user;
    if (sink->fails_after && sink->bytes.count + size > sink->fails_after)
        return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "full");
    wire_raw(&sink->bytes, bytes, size);
    return LODE_OK;
}

static lode_status write_made(struct sink *sink, unsigned threads, uint64_t rows, int codec,
                              lode_error *error)
{
    struct lode_tables none = {0};
    struct lode_table_reader reader;
    struct lode_parquet_result result;
    struct lode_parquet_options options = {
        .codec = codec, .rows = rows, .threads = threads, .write = take, .user = sink};
    assert_int_equal(lode_table_reader_open(&reader, &none, &table, NULL, error), LODE_OK);
    lode_status status = lode_parquet_write(&reader, &options, &result, error);
    if (status == LODE_OK)
        assert_int_equal(result.rows, row_count);
    lode_table_reader_close(&reader);
    return status;
}

static void bytes_do_not_depend_on_threads(void **state)
{
    static const uint64_t counts[] = {0, 1, 99, 100, 101, 5000};
    (void)state;
    fails_at = UINT64_MAX;
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct sink one = {0};
        row_count = counts[i];
        assert_int_equal(write_made(&one, 1, 100, PARQUET_CODEC_GZIP, NULL), LODE_OK);
        for (unsigned threads = 2; threads < 9; threads += 3) {
            struct sink more = {0};
            assert_int_equal(write_made(&more, threads, 100, PARQUET_CODEC_GZIP, NULL), LODE_OK);
            assert_int_equal(more.bytes.count, one.bytes.count);
            assert_memory_equal(more.bytes.bytes, one.bytes.bytes, one.bytes.count);
            wire_free(&more.bytes);
        }
        wire_free(&one.bytes);
    }
}

static void errors_of_reading_and_writing_come_through(void **state)
{
    (void)state;
    row_count = 5000;
    for (unsigned threads = 1; threads < 6; threads++) {
        struct sink sink = {0};
        lode_error error = {0};
        fails_at = 2345;
        assert_int_equal(write_made(&sink, threads, 100, PARQUET_CODEC_NONE, &error), LODE_ERR_CORRUPT);
        assert_string_equal(error.text, "row 2345");
        wire_free(&sink.bytes);
        fails_at = UINT64_MAX;
        sink = (struct sink){.fails_after = 10000};
        assert_int_equal(write_made(&sink, threads, 100, PARQUET_CODEC_NONE, &error), LODE_ERR_IO);
        assert_string_equal(error.text, "full");
        wire_free(&sink.bytes);
    }
}

/* ---- numbers as text ---- */

static void check_text(double number, const char *expected)
{
    char text[LODE_NUMBER_SIZE];
    size_t length = lode_number_f64(text, number);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, expected);
}

static void numbers_have_the_fewest_digits(void **state)
{
    (void)state;
    check_text(0.0, "0.0");
    check_text(-0.0, "-0.0");
    check_text(3.0, "3.0");
    check_text(-1.5, "-1.5");
    check_text(0.1, "0.1");
    check_text(0.000001, "0.000001");
    check_text(638.016958, "638.016958");
    check_text(1e300, "1e+300");
    check_text(0.1 + 0.2, "0.30000000000000004");
    check_text(1.0 / 3, "0.3333333333333333");
    check_text(5e-324, "5e-324");
    check_text(9007199254740993.0, "9007199254740992.0");
    check_text((double)NAN, "nan");
    check_text((double)INFINITY, "inf");
    check_text(-(double)INFINITY, "-inf");
}

static void numbers_read_back_as_they_were(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        char text[LODE_NUMBER_SIZE];
        uint64_t bits = draw(UINT64_C(1) << 31) << 33 ^ draw(UINT64_C(1) << 31) << 10 ^ draw(1024);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (i % 2)
            number = (double)draw(1u << 30) / (double)(i % 4 == 1 ? 1000000 : 1 + draw(1000));
        if (!isfinite(number))
            continue;
        assert_true(lode_number_f64(text, number) < sizeof text);
        assert_true(strtod(text, NULL) == number);
    }
}

/* The exit status of a program; 1 if it cannot be run. */
static int run(char *const arguments[])
{
    pid_t child;
    int status = 1;
    if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
        return 1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

/* A locale with a decimal comma, compiled here. */
static void numbers_are_the_same_in_every_locale(void **state)
{
    char folder[] = "/tmp/lode-locale-XXXXXX", target[64], comma[16];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(target, sizeof target, "%s/de_DE.UTF-8", folder);
    char compile[] = "localedef", quiet[] = "--quiet", input[] = "--inputfile=de_DE",
         map[] = "--charmap=UTF-8";
    char *const compiler[] = {compile, quiet, input, map, target, NULL};
    int compiled = run(compiler);
    setenv("LOCPATH", folder, 1);
    const char *set = setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    if (set) {
        assert_string_equal(comma, "0,5");
        check_text(0.1 + 0.2, "0.30000000000000004");
        check_text(1.0 / 3, "0.3333333333333333");
        check_text(1.5e300, "1.5e+300");
        check_text(0.5, "0.5");
        check_text(12345678901234567890.0, "1.2345678901234567e+19");
    }
    setlocale(LC_ALL, "C");
    char remove[] = "rm", all[] = "-rf";
    char *const remover[] = {remove, all, folder, NULL};
    run(remover);
    /* Meson takes what cmocka prints for a skipped test for a failure. */
    if (compiled != 0 || set == NULL)
        print_message("skip: there is no locale with a decimal comma here\n");
}

static void integers_are_exact(void **state)
{
    char text[LODE_NUMBER_SIZE];
    (void)state;
    lode_number_i64(text, INT64_MIN);
    assert_string_equal(text, "-9223372036854775808");
    lode_number_u64(text, UINT64_MAX);
    assert_string_equal(text, "18446744073709551615");
    lode_number_hex(text, UINT64_MAX);
    assert_string_equal(text, "0xffffffffffffffff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_read_back_as_they_were),
        cmocka_unit_test(runs_of_every_length_and_place_read_back),
        cmocka_unit_test(long_runs_take_a_few_bytes),
        cmocka_unit_test(widths_are_those_of_the_largest_number),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(errors_of_reading_and_writing_come_through),
        cmocka_unit_test(numbers_have_the_fewest_digits),
        cmocka_unit_test(numbers_read_back_as_they_were),
        cmocka_unit_test(numbers_are_the_same_in_every_locale),
        cmocka_unit_test(integers_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
