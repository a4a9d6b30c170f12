/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks, strings and errors of trace stores, in files that the original program wrote. */
#include "format/zorka/zorka.h"
#include "minizor.h"
#include "story.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* ---- files of the corpus ---- */

struct loaded {
    uint8_t *bytes;
    size_t size;
};

/* Files of the original program, and what it said of them, are in the larger corpus. */
static void need_larger_corpus(void)
{
    if (corpus_is_own())
        skip();
}

static struct loaded load(const char *name)
{
    need_larger_corpus();
    char path[1024];
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

static struct lode_range unpack(struct unpacked *self, size_t index, int *rule)
{
    struct lode_range payload;
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
            struct lode_range expected = unpack(&plain, k, &rule), payload = unpack(&other, k, &rule);
            assert_int_equal(rule, -1);
            assert_int_equal(payload.size, expected.size);
            assert_memory_equal(payload.data, expected.data, expected.size);
        }
        release(&other);
    }
    release(&plain);
}

/* What is read of a file, or the rule that says why it is not. */
static struct lode_range read_file(struct unpacked *self, const char *name, int *rule)
{
    char path[128];
    snprintf(path, sizeof path, "zorka/interop/%s", name);
    scan(self, path);
    *rule = lode_report_seen(&self->report, ZOR_DATA_FLAGS) ? ZOR_DATA_FLAGS : ZOR_CHUNK_CUT;
    return self->chunks.count > 0 ? unpack(self, 0, rule) : (struct lode_range){0};
}

static void expect_bytes(struct lode_range bytes, const char *digits)
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
    /* Unreadable inputs and why; the original reads the last one and silently truncates it. */
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
    struct lode_range payload = read_file(&self, line, &rule);
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

/* The strings were made by number: every 97th has all bytes that are escaped. */
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

static void merged_strings_are_unchanged(void **state)
{
    struct loaded fmi = load("zorka/text-merged/text-00000001-0000020f.fmi");
    struct loaded wal = load("zorka/text-merged/text-00000210.wal"),
                  expected = load("zorka/text-merged/expected.txt");
    struct lode_report report;
    struct lode_arena arena;
    struct zor_strings strings;
    size_t count = 0;
    (void)state;
    lode_arena_init(&arena, SIZE_MAX);
    lode_zor_texts_init(&strings, &arena);
    assert_int_equal(lode_report_open(&report, lode_zor_rules, ZOR_RULE_COUNT, 0, NULL, NULL, NULL), LODE_OK);
    assert_int_equal(lode_zor_read_fmi(&strings, (struct lode_range){fmi.bytes, fmi.size}, "fmi", &report),
                     LODE_OK);
    assert_int_equal(lode_zor_read_wal(&strings, (struct lode_range){wal.bytes, wal.size}, "wal", &report),
                     LODE_OK);
    assert_int_equal(report.result.errors + report.result.warnings, 0);
    expected.bytes[expected.size] = '\0';
    for (const char *line = strtok((char *)expected.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        /* The string with bytes ff has a line of its own; other lines have id and string. */
        bool is_apart = strncmp(line, "ffid=", 5) == 0;
        const struct zor_text *text = lode_zor_text(&strings, strtoul(line + (is_apart ? 5 : 0), NULL, 10));
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
    assert_int_equal(strings.items.count, count + 1);
    lode_report_close(&report);
    lode_zor_texts_free(&strings);
    lode_arena_free(&arena);
    free(fmi.bytes);
    free(wal.bytes);
    free(expected.bytes);
}

/* ---- traces ---- */

static unsigned count_failed(const lode_recording *recording, uint32_t track)
{
    unsigned count = 0;
    char *story = story_of(recording, track);
    for (const char *at = story; (at = strstr(at, " failed\n")) != NULL; at++)
        count++;
    free(story);
    return count;
}

static void failures_of_real_stores_are_those_of_their_readers(void **state)
{
    static const struct {
        const char *name;
        unsigned
            /* Of each trace: calls with an exception or an error flag in the expected strings. */
            failed[5];
    } stores[] = {{"zorka/stores/first", {0, 0, 2, 0, 0}}, {"zorka/stores/master", {0, 0, 3, 0, 0}}};
    (void)state;
    need_larger_corpus();
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        char path[1024];
        lode_recording *recording;
        assert_true(corpus_path(path, sizeof path, stores[i].name));
        assert_int_equal(lode_recording_open(&recording, path, NULL, NULL), LODE_OK);
        assert_int_equal(lode_recording_track_count(recording), 5);
        for (uint32_t k = 0; k < 5; k++)
            assert_int_equal(count_failed(recording, k), stores[i].failed[k]);
        lode_recording_close(recording);
    }
}

/* Traces begin a second apart, from 0 on, and last 0.013, 2.9998, 1.311, 1.966 and 1.311 s. */
static void traces_of_a_real_store_are_on_the_lowest_thread_that_is_free(void **state)
{
    static const int32_t threads[5] = {1, 1, 2, 3, 1};
    char path[1024];
    lode_recording *recording;
    (void)state;
    need_larger_corpus();
    assert_true(corpus_path(path, sizeof path, "zorka/stores/master"));
    assert_int_equal(lode_recording_open(&recording, path, NULL, NULL), LODE_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(lode_recording_track(recording, i)->tid, threads[i]);
        assert_int_equal(lode_recording_track(recording, i)->pid, 0);
    }
    lode_recording_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_flags_give_the_same_payloads),
        cmocka_unit_test(verdicts_are_those_of_the_original),
        cmocka_unit_test(merged_strings_are_unchanged),
        cmocka_unit_test(failures_of_real_stores_are_those_of_their_readers),
        cmocka_unit_test(traces_of_a_real_store_are_on_the_lowest_thread_that_is_free),
    };
    correct_skips();
    return run_with_corpus("trace stores", tests, sizeof tests / sizeof *tests);
}
