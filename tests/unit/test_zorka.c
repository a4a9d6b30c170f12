/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks, texts and items of trace stores: files that the original program wrote and judged, and libcbor as a second opinion. */
#include "format/zorka/zorka.h"
#include "minizor.h"
#include "unit.h"
#include <cbor.h>
#include <stdlib.h>
#include <string.h>

/* ---- files of the corpus ---- */

struct loaded {
    uint8_t *bytes;
    size_t size;
};

static struct loaded load(const char *name)
{
    char path[1024];
    if (!corpus_path(path, sizeof path, "zorka"))
        skip();
    struct loaded file = {malloc(1 << 20), 0};
    FILE *stream = corpus_path(path, sizeof path, name) ? fopen(path, "rb") : NULL;
    if (stream == NULL || file.bytes == NULL)
        fail_msg("cannot read %s", name);
    else {
        file.size = fread(file.bytes, 1, (1 << 20) - 1, stream);
        fclose(stream);
    }
    return file;
}

struct unpacked {
    struct lode_array chunks;
    struct lode_report report;
    struct zor_unpacker unpacker;
    struct zor_data data;
    struct loaded file;
};

static void scan(struct unpacked *self, const char *name)
{
    *self = (struct unpacked){.file = load(name)};
    self->data = (struct zor_data){.bytes = {self->file.bytes, self->file.size}, .file = "traces.dat"};
    lode_array_init(&self->chunks, sizeof(struct zor_chunk), 1000);
    assert_int_equal(lode_report_open(&self->report, lode_zor_rules, ZOR_RULE_COUNT, 0, NULL, NULL, NULL),
                     LODE_OK);
    assert_int_equal(lode_zor_scan(&self->data, &self->chunks, 0, &self->report), LODE_OK);
}

static struct lode_span unpack(struct unpacked *self, size_t index, int *rule)
{
    struct lode_span payload;
    struct zor_damage damage;
    assert_true(lode_zor_unpack(&self->unpacker, &self->data,
                                LODE_ARRAY_AT(&self->chunks, struct zor_chunk, index), &payload, &damage));
    *rule = damage.rule;
    return payload;
}

static void release(struct unpacked *self)
{
    lode_array_free(&self->chunks);
    lode_report_close(&self->report);
    lode_zor_unpacker_free(&self->unpacker);
    free(self->file.bytes);
}

static void all_flags_give_the_same_payloads(void **state)
{
    static const char *const names[] = {"01", "02", "10", "11", "12"};
    struct unpacked plain, other;
    (void)state;
    scan(&plain, "zorka/raw/flags-00.dat");
    assert_true(plain.chunks.count > 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        int rule;
        snprintf(name, sizeof name, "zorka/raw/flags-%s.dat", names[i]);
        scan(&other, name);
        assert_int_equal(other.report.result.errors, 0);
        assert_int_equal(other.chunks.count, plain.chunks.count);
        for (size_t k = 0; k < plain.chunks.count; k++) {
            struct lode_span expected = unpack(&plain, k, &rule), payload = unpack(&other, k, &rule);
            assert_int_equal(rule, -1);
            assert_int_equal(payload.size, expected.size);
            assert_memory_equal(payload.data, expected.data, expected.size);
        }
        release(&other);
    }
    release(&plain);
}

/* What is read of a file, or the rule that says why it is not. */
static struct lode_span read_file(struct unpacked *self, const char *name, int *rule)
{
    char path[128];
    snprintf(path, sizeof path, "zorka/interop/%s", name);
    scan(self, path);
    *rule = lode_report_seen(&self->report, ZOR_DATA_FLAGS) ? ZOR_DATA_FLAGS : ZOR_CHUNK_CUT;
    return self->chunks.count > 0 ? unpack(self, 0, rule) : (struct lode_span){0};
}

static void expect_bytes(struct lode_span bytes, const char *digits)
{
    struct minizor_bytes expected = {0};
    minizor_hex(&expected, digits);
    assert_int_equal(bytes.size, expected.size);
    assert_memory_equal(bytes.data, expected.bytes, expected.size);
    free(expected.bytes);
}

/* A line of java-results.txt: a name and "OK", a size and digits, or an exception. */
static void expect_verdict(char *line)
{
    /* What is not read, and why; the last is read by the original, which cuts off what is more without a word. */
    static const struct {
        const char *name;
        int rule;
    } refused[] = {{"badcrc.dat", ZOR_CHUNK_CHECKSUM},  {"flags3.dat", ZOR_DATA_FLAGS},
                   {"lsize-long.dat", ZOR_CHUNK_CODEC}, {"rfc1950.dat", ZOR_CHUNK_CODEC},
                   {"truncated.dat", ZOR_CHUNK_CUT},    {"lsize-short.dat", ZOR_CHUNK_CODEC}};
    char *verdict = strstr(line, ": ");
    assert_non_null(verdict);
    *verdict = '\0';
    verdict += 2;
    struct unpacked self;
    int rule, expected = strcmp(line, "csize-ne-lsize-plain.dat") == 0 ? ZOR_CHUNK_SIZE : -1;
    bool is_ok = strncmp(verdict, "OK ", 3) == 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(line, refused[i].name) == 0)
            expected = refused[i].rule;
    bool is_read = expected < 0 || expected == ZOR_CHUNK_SIZE;
    assert_true(is_read == is_ok || strcmp(line, "lsize-short.dat") == 0);
    struct lode_span payload = read_file(&self, line, &rule);
    if (rule != expected)
        fail_msg("%s: rule %d, not %d", line, rule, expected);
    if (is_read)
        expect_bytes(payload, strchr(verdict + 3, ' ') + 1);
    release(&self);
}

static void verdicts_are_those_of_the_original(void **state)
{
    struct loaded results = load("zorka/interop/java-results.txt");
    unsigned count = 0;
    char *rest;
    (void)state;
    results.bytes[results.size] = '\0';
    for (char *line = strtok_r((char *)results.bytes, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        expect_verdict(line);
        count++;
    }
    assert_int_equal(count, 12);
    free(results.bytes);
}

/* The texts were made by number: every 97th has all bytes that are escaped. */
static void expect_text(const struct zor_text *text, size_t number)
{
    char expected[64] = "esc\0\1\2\3\4 \xc3\xbf ";
    size_t begin = number % 97 == 0 ? 12 : 0;
    int length = begin > 0
                     ? snprintf(expected + begin, sizeof expected - begin, "%zu", number)
                     : snprintf(expected, sizeof expected, "com.example.pkg%zu.Class%zu", number % 7, number);
    assert_int_equal(text->length, begin + (size_t)length);
    assert_memory_equal(text->text, expected, text->length);
}

static void merged_texts_are_what_they_were(void **state)
{
    struct loaded fmi = load("zorka/text-merged/text-00000001-0000020f.fmi");
    struct loaded wal = load("zorka/text-merged/text-00000210.wal"),
                  expected = load("zorka/text-merged/expected.txt");
    struct lode_report report;
    struct lode_arena arena;
    struct zor_texts texts;
    size_t count = 0;
    (void)state;
    lode_arena_init(&arena, SIZE_MAX);
    lode_zor_texts_init(&texts, &arena);
    assert_int_equal(lode_report_open(&report, lode_zor_rules, ZOR_RULE_COUNT, 0, NULL, NULL, NULL), LODE_OK);
    assert_int_equal(lode_zor_read_fmi(&texts, (struct lode_span){fmi.bytes, fmi.size}, "fmi", &report),
                     LODE_OK);
    assert_int_equal(lode_zor_read_wal(&texts, (struct lode_span){wal.bytes, wal.size}, "wal", &report),
                     LODE_OK);
    assert_int_equal(report.result.errors + report.result.warnings, 0);
    expected.bytes[expected.size] = '\0';
    for (const char *line = strtok((char *)expected.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        /* The id of a text with bytes ff is written apart; all others are said to be what they were. */
        bool is_apart = strncmp(line, "ffid=", 5) == 0;
        const struct zor_text *text = lode_zor_text(&texts, strtoul(line + (is_apart ? 5 : 0), NULL, 10));
        if (text == NULL)
            fail_msg("id %s", line);
        else if (is_apart)
            assert_memory_equal(text->text, "\xff\x41\xff", 4);
        else {
            assert_non_null(strstr(line, "\ttrue"));
            expect_text(text, count++);
        }
    }
    assert_int_equal(count, 600);
    assert_int_equal(texts.items.count, count + 1);
    lode_report_close(&report);
    lode_zor_texts_free(&texts);
    lode_arena_free(&arena);
    free(fmi.bytes);
    free(wal.bytes);
    free(expected.bytes);
}

/* ---- items ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* What libcbor takes as one whole item is passed over at the same length, and the other way round. */
static void items_are_what_libcbor_takes_for_them(void **state)
{
    static const uint8_t firsts[] = {0x00, 0x18, 0x1b, 0x20, 0x38, 0x41, 0x5f, 0x61, 0x7f, 0x80, 0x82, 0x9f,
                                     0xa0, 0xa1, 0xbf, 0xc6, 0xd8, 0xf4, 0xf6, 0xf9, 0xfa, 0xfb, 0xff, 0x01};
    uint64_t random = 7;
    unsigned whole = 0;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t bytes[12];
        struct cbor_load_result result;
        for (size_t k = 0; k < sizeof bytes; k++) {
            uint64_t number = next_random(&random) >> 20;
            bytes[k] = number & 1 ? firsts[(number >> 1) % sizeof firsts] : (uint8_t)(number >> 8);
            /* libcbor wants text to be UTF-8; here, that is for those who print it. */
            if (bytes[k] >> 5 == ZOR_TEXT)
                bytes[k] ^= 0x20;
            /* It allocates what a length says: only short ones. */
            if (bytes[k] >> 5 >= ZOR_BYTES && bytes[k] >> 5 <= ZOR_MAP && (bytes[k] & 0x1f) >= 24 &&
                (bytes[k] & 0x1f) < 31)
                bytes[k] ^= 0x1b;
            /* libcbor 0.8 knows no tags from 6 to 20. */
            if (bytes[k] >= 0xc6 && bytes[k] <= 0xd4)
                bytes[k] = 0xc1;
        }
        struct zor_input in = {bytes, sizeof bytes, 0};
        cbor_item_t *item = cbor_load(bytes, sizeof bytes, &result);
        bool is_item = lode_zor_skip(&in);
        bool differs = (item != NULL) != is_item || (item && in.at != result.read);
        /* It has no simple values but the known ones, and takes f8 with any of those. */
        for (size_t k = 0; differs && k < sizeof bytes; k++)
            if (bytes[k] >= 0xe0 && bytes[k] <= 0xf8 && !(bytes[k] >= 0xf4 && bytes[k] <= 0xf7))
                differs = false;
        if (differs)
            fail_msg("item %u: %d bytes by libcbor, %d here; begins %02x %02x %02x %02x", i,
                     item ? (int)result.read : -1, is_item ? (int)in.at : -1, bytes[0], bytes[1], bytes[2],
                     bytes[3]);
        whole += is_item;
        if (item)
            cbor_decref(&item);
    }
    assert_true(whole > 1000);
}

static void nesting_and_lengths_are_bounded(void **state)
{
    static uint8_t deep[4096];
    (void)state;
    for (unsigned first = 0; first < 4; first++) {
        static const uint8_t nesting[] = {0x81, 0x9f, 0xc6, 0xbf};
        memset(deep, nesting[first], sizeof deep);
        struct zor_input in = {deep, sizeof deep, 0};
        assert_false(lode_zor_skip(&in));
        assert_int_equal(in.at, 0);
    }
    memset(deep, 0x81, ZOR_NESTING_MAX);
    deep[ZOR_NESTING_MAX] = 0x00;
    struct zor_input in = {deep, sizeof deep, 0};
    assert_true(lode_zor_skip(&in));
    assert_int_equal(in.at, ZOR_NESTING_MAX + 1);
    for (unsigned first = 2; first < 6; first++) {
        const uint8_t huge[] = {
            (uint8_t)(first << 5 | 27), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0};
        struct zor_input long_one = {huge, sizeof huge, 0};
        assert_false(lode_zor_skip(&long_one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_what_libcbor_takes_for_them),
        cmocka_unit_test(nesting_and_lengths_are_bounded),
        cmocka_unit_test(all_flags_give_the_same_payloads),
        cmocka_unit_test(verdicts_are_those_of_the_original),
        cmocka_unit_test(merged_texts_are_what_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
