/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans: for each rule, a file that breaks exactly it; truncated and mutated files of all forms do
 * no harm. Also run under sanitizers.
 */
#include "hostile.h"
#include "share.h"
#include <lode/check.h>
#include <lode/unstable/search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MILLISECONDS = 4000,
    MOST_MEGABYTES = 200,
    MUTATIONS = 800, /* of each file */
    RULES_MOST = 8
};

#define TRACE "0102030405060708090a0b0c0d0e0f10"
#define TIMES "\"startTimeUnixNano\":\"1700000000000000001\",\"endTimeUnixNano\":\"1700000000009000001\""
#define NAMED "\"traceId\":\"" TRACE "\",\"name\":\"x\","
#define SPANS_OF(service, spans)                                                                             \
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"               \
    "\"stringValue\":\"" service "\"}}]},\"scopeSpans\":[{\"spans\":[" spans "]}]}]}\n"
#define SPANS(spans) SPANS_OF("web", spans)

/* ---- rules ---- */

struct rules {
    const char *names[RULES_MOST];
    unsigned count;
};

static int note_rule(void *user, const lode_finding *finding)
{
    struct rules *rules = user;
    for (unsigned i = 0; i < rules->count; i++)
        if (strcmp(rules->names[i], finding->rule) == 0)
            return 0;
    assert_true(rules->count < RULES_MOST);
    rules->names[rules->count++] = finding->rule;
    return 0;
}

static lode_check_result check_files(const lode_memory_file *files, size_t count, struct rules *rules)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    *rules = (struct rules){.count = 0};
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    options.on_finding = note_rule;
    options.user = rules;
    assert_int_equal(lode_check_memory(files, count, &options, &result, NULL), LODE_OK);
    return result;
}

static lode_check_result check(const char *name, const void *bytes, size_t size, struct rules *rules)
{
    lode_memory_file file = {name, bytes, size};
    return check_files(&file, 1, rules);
}

static const struct {
    const char *rule, *text;
} cases[] = {
    {"", SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "}")},
    {"otlp-torn", SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "}") "{\"resourceSpans\":[{"},
    {"otlp-signal",
     SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "}") "{\"resourceMetrics\":[]}\n"},
    {"otlp-bad-id", SPANS("{" NAMED "\"spanId\":\"0000000000000000\"," TIMES "}")},
    {"otlp-bad-id", SPANS("{" NAMED "\"spanId\":\"zz\"," TIMES "}")},
    {"otlp-bad-time", SPANS("{" NAMED "\"spanId\":\"0000000000000001\"}")},
    {"otlp-no-end",
     SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"startTimeUnixNano\":1700000000000000001}")},
    {"otlp-duplicate", SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "},{" NAMED
                             "\"spanId\":\"0000000000000001\"," TIMES "}")},
    {"otlp-missing-parent",
     SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"parentSpanId\":\"0000000000000009\"," TIMES "}")},
    {"otlp-remote-parent", SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"kind\":2,\"parentSpanId\":"
                                 "\"0000000000000009\"," TIMES "}")},
    {"otlp-cycle",
     SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"parentSpanId\":\"0000000000000002\"," TIMES
           "},{" NAMED "\"spanId\":\"0000000000000002\",\"parentSpanId\":\"0000000000000001\"," TIMES "}")},
    {"otlp-dropped", SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"droppedEventsCount\":3," TIMES "}")},
    {"otlp-clock",
     SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"kind\":3," TIMES "}")
         SPANS_OF("api", "{" NAMED "\"spanId\":\"0000000000000002\",\"parentSpanId\":\"0000000000000001\","
                         "\"kind\":2,\"startTimeUnixNano\":\"1600000000000000001\","
                         "\"endTimeUnixNano\":\"1600000000005000001\"}")},
    {"otlp-settled",
     SPANS("{" NAMED "\"spanId\":\"0000000000000001\",\"startTimeUnixNano\":\"1700000000000000000\","
           "\"endTimeUnixNano\":\"1700000000005000000\"},{" NAMED
           "\"spanId\":\"0000000000000002\",\"parentSpanId\":\"0000000000000001\","
           "\"startTimeUnixNano\":\"1700000000001000000\",\"endTimeUnixNano\":\"1700000000005400000\"}")},
    {"otlp-warned",
     "{\"data\":[{\"traceID\":\"1\",\"spans\":[{\"traceID\":\"1\",\"spanID\":\"2\",\"operationName\":\"x\","
     "\"startTime\":1700000000000001,\"duration\":5,\"warnings\":[\"This span's timestamps were adjusted by "
     "-37ms\"]}]}]}"},
};

static void every_rule_has_a_file_that_breaks_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules rules;
        check("traces.json", cases[i].text, strlen(cases[i].text), &rules);
        const char *found = rules.count > 0 ? rules.names[0] : "";
        if (rules.count > 1 || strcmp(found, cases[i].rule) != 0)
            fail_msg("%s: %u rules, the first is %s", cases[i].rule, rules.count, found);
    }
}

static void conflicting_spans_are_reported(void **state)
{
    static const char text[] = SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "},{" NAMED
                                     "\"spanId\":\"0000000000000001\",\"kind\":1," TIMES "}");
    struct rules rules;
    (void)state;
    check("traces.json", text, strlen(text), &rules);
    assert_int_equal(rules.count, 2);
    assert_string_equal(rules.names[1], "otlp-conflict");
}

static void assert_only(const struct rules *rules, const char *rule)
{
    assert_int_equal(rules->count, 1);
    assert_string_equal(rules->names[0], rule);
}

#define PAIR(client, server, begin, end)                                                                     \
    SPANS("{" NAMED "\"spanId\":\"" client "\",\"kind\":3," TIMES "}")                                       \
    SPANS_OF("api", "{" NAMED "\"spanId\":\"" server "\",\"parentSpanId\":\"" client "\",\"kind\":2,"        \
                    "\"startTimeUnixNano\":\"" begin "\",\"endTimeUnixNano\":\"" end "\"}")

/* A queue on one side looks like a clock, but not in most calls. */
static void few_spans_outside_of_their_callers_are_no_clock(void **state)
{
    static const char text[] =
        PAIR("00000000000000a1", "00000000000000b1", "1700000000001000001", "1700000000002000001")
            PAIR("00000000000000a2", "00000000000000b2", "1700000000001000001", "1700000000002000001")
                PAIR("00000000000000a3", "00000000000000b3", "1600000000000000001", "1600000000005000001");
    struct rules rules;
    (void)state;
    check("traces.json", text, strlen(text), &rules);
    assert_only(&rules, "otlp-outside");
}

static void a_file_of_something_else_is_unknown(void **state)
{
    static const char good[] = SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "}");
    static const char other[] = "{\"settings\": 1}\n";
    lode_memory_file files[] = {{"a.json", good, sizeof good - 1}, {"b.json", other, sizeof other - 1}};
    struct rules rules;
    (void)state;
    assert_int_equal(check_files(files, 2, &rules).tracks, 1);
    assert_only(&rules, "otlp-unknown");
}

/* A gzip file that stores its content as it is; its check sum is wrong. */
static void damaged_compression_is_reported(void **state)
{
    static const char text[] = SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "}");
    unsigned char bytes[sizeof text + 32] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1};
    size_t size = sizeof text - 1, at = 11;
    struct rules rules;
    (void)state;
    bytes[at++] = (unsigned char)size;
    bytes[at++] = (unsigned char)(size >> 8);
    bytes[at++] = (unsigned char)~size;
    bytes[at++] = (unsigned char)(~size >> 8);
    memcpy(bytes + at, text, size);
    at += size + 4;
    bytes[at++] = (unsigned char)size;
    bytes[at++] = (unsigned char)(size >> 8);
    assert_int_equal(check("traces.json", bytes, at + 2, &rules).tracks, 1);
    assert_only(&rules, "otlp-unpack");
}

/* A block of zstd: 3 bytes, then its content, or the byte that it repeats. */
static size_t put_block(unsigned char *out, unsigned type, size_t size, const void *content, size_t stored)
{
    unsigned head = type << 1 | (unsigned)size << 3;
    out[0] = (unsigned char)head;
    out[1] = (unsigned char)(head >> 8);
    out[2] = (unsigned char)(head >> 16);
    memcpy(out + 3, content, stored);
    return 3 + stored;
}

/* Spans, then blank lines: 4 bytes for each 128 KiB of them. */
static void what_unpacks_to_very_much_is_not_read(void **state)
{
    enum {
        BLOCKS = 80,
        BLOCK = 1 << 17
    };
    static const char text[] = SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "}");
    unsigned char bytes[sizeof text + 16 + 4 * BLOCKS] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x38};
    size_t at = 6;
    struct rules rules;
    (void)state;
    at += put_block(bytes + at, 0, sizeof text - 1, text, sizeof text - 1);
    for (unsigned i = 0; i < BLOCKS; i++)
        at += put_block(bytes + at, 1, BLOCK, "\n", 1);
    bytes[at - 4] |= 1; /* the last one */
    lode_check_result result = check("traces.json", bytes, at, &rules);
    bool has_zstd = rules.count != 1 || strcmp(rules.names[0], "otlp-zstd") != 0;
    assert_only(&rules, has_zstd ? "otlp-ratio" : "otlp-zstd");
    assert_int_equal(result.tracks, has_zstd);
    print_message("# %s\n", has_zstd ? "not tested: otlp-zstd, since this build knows zstd"
                                     : "not tested: otlp-ratio, since this build does not know zstd");
}

/* ---- concurrent calls ---- */

/* A sibling that lies inside the time of another one was not called by it. */
static void a_concurrent_sibling_is_on_a_side_track(void **state)
{
    static const char text[] =
        SPANS("{" NAMED "\"spanId\":\"0000000000000001\"," TIMES "},"
              "{" NAMED "\"spanId\":\"0000000000000002\",\"parentSpanId\":\"0000000000000001\","
              "\"startTimeUnixNano\":\"1700000000001000001\",\"endTimeUnixNano\":\"1700000000008000001\"},"
              "{" NAMED "\"spanId\":\"0000000000000003\",\"parentSpanId\":\"0000000000000001\","
              "\"startTimeUnixNano\":\"1700000000002000001\",\"endTimeUnixNano\":\"1700000000003000001\"}");
    lode_memory_file file = {"traces.json", text, strlen(text)};
    lode_recording *recording;
    const lode_function *callers[4];
    size_t count;
    (void)state;
    assert_int_equal(lode_recording_open_memory(&recording, &file, 1, NULL, NULL), LODE_OK);
    assert_int_equal(lode_recording_track_count(recording), 2);
    assert_int_equal(lode_recording_request_count(recording), 1);
    assert_int_equal(lode_track_main(recording, 1), 0);
    assert_int_equal(lode_track_callers(recording, 1, callers, 4, &count, NULL), LODE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(lode_function_name(callers[0]), "x");
    assert_int_equal(lode_recording_utc_offset(recording), 1700000000000000001);
    lode_recording_close(recording);
}

/* A chain of callers, as long as a file of this size can hold, is followed without recursion. */
static void deep_traces_do_no_harm(void **state)
{
    enum {
        DEPTH = 70000,
        SIZE = 200
    };
    char *text = malloc((size_t)DEPTH * SIZE + 100);
    struct rules rules;
    (void)state;
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[");
    for (unsigned i = 1; i <= DEPTH; i++)
        at += (size_t)sprintf(text + at,
                              "%s{\"traceId\":\"" TRACE
                              "\",\"spanId\":\"%016x\",\"parentSpanId\":\"%016x\"," TIMES "}",
                              i > 1 ? "," : "", i, i - 1);
    at += (size_t)sprintf(text + at, "]}]}]}");
    lode_check_result result = check("traces.json", text, at, &rules);
    assert_int_equal(result.tracks, 1);
    assert_int_equal(rules.count, 1);
    assert_string_equal(rules.names[0], "otlp-depth");
    free(text);
}

/* ---- order of fields ---- */

/*
 * Fields of protobuf may come in any order: a scope after its spans, and a resource after scopes.
 */
static void what_comes_after_spans_is_theirs(void **state)
{
    /*
     * Resource spans, scope spans, a span with trace, id, begin, end and no state; the scope, the
     * resource.
     */
    static const unsigned char message[] = "\x0a\x50\x12\x39\x12\x30"
                                           "\x0a\x10\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20"
                                           "\x12\x08\0\0\0\0\0\0\0\1"
                                           "\x39\1\0\0\0\0\0\0\1\x41\2\0\0\0\0\0\0\1"
                                           "\x1a\0"
                                           "\x0a\x05\x0a\x03lib"
                                           "\x0a\x13\x0a\x11\x0a\x0cservice.name\x12\1\0";
    enum {
        LENGTH = sizeof message - 1
    };
    lode_memory_file file = {"traces.pb", message, LENGTH};
    lode_recording *recording;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    (void)state;
    assert_int_equal(lode_recording_open_memory(&recording, &file, 1, NULL, NULL), LODE_OK);
    assert_int_equal(lode_recording_track_count(recording), 1);
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, NULL, NULL), LODE_OK);
    assert_int_equal(lode_cursor_next(cursor, &events, &count, NULL), LODE_OK);
    assert_string_equal(lode_file_path(lode_function_file(events[0].function)), "lib");
    lode_cursor_close(cursor);
    lode_recording_close(recording);
}

/* ---- mutations ---- */

static const char *const data_files[] = {"otlp/small/traces.json", "otlp/small/traces.pb",
                                         "otlp/small/traces.json.gz", "jaeger/traces.json",
                                         "zipkin/small.jsonl"};

static unsigned char *read_data(const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", DATA, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Of a copy, so that the sanitizer sees overruns. */
static void walk_bytes(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    lode_memory_file file = {"traces.json", copy, size};
    lode_recording *recording;
    /* What is no longer known as a file of spans is refused. */
    lode_status status = lode_recording_open_memory(&recording, &file, 1, NULL, NULL);
    lode_recording_close(recording);
    if (status != LODE_ERR_UNSUPPORTED)
        exercise(&file, 1, MOST_MILLISECONDS);
    free(copy);
}

static void mutate(unsigned char *bytes, size_t size, uint64_t *random)
{
    static const unsigned char nasty[] = {0,   1,   0x7f, 0x80, 0xff, 0x0a, 0x12, '"', '\\', '{',
                                          '}', '[', ']',  ',',  ':',  '\n', '9',  '-', 'e',  'n'};
    for (uint64_t hits = 1 + next_random(random) % 6; hits > 0; hits--)
        bytes[next_random(random) % size] = nasty[next_random(random) % sizeof nasty];
    if (next_random(random) % 4 == 0) { /* a part somewhere else */
        size_t length = next_random(random) % 64, from = next_random(random) % size,
               to = next_random(random) % size;
        length = length < size - from ? length : size - from;
        length = length < size - to ? length : size - to;
        memmove(bytes + to, bytes + from, length);
    }
}

/* Files are cut to their first spans: what follows is more of the same. */
static void no_mutation_does_harm(void **state)
{
    struct share share = share_from_environment();
    const char *wanted = getenv("LODE_SPANS_MUTANTS"); // NOLINT(concurrency-mt-unsafe): only read
    unsigned long count = wanted ? strtoul(wanted, NULL, 10) : MUTATIONS;
    (void)state;
    for (size_t i = 0; i < sizeof data_files / sizeof *data_files; i++) {
        size_t size;
        unsigned char *bytes = read_data(data_files[i], &size), *copy = malloc(size);
        uint64_t random = 0x5eed + i;
        size_t used = size < 4000 ? size : 4000;
        assert_non_null(copy);
        for (unsigned long k = 0; k < count; k++) {
            memcpy(copy, bytes, used);
            mutate(copy, used, &random);
            size_t length = k % 8 ? used : next_random(&random) % used;
            if (share_has(share, k))
                walk_bytes(copy, length);
        }
        free(copy);
        free(bytes);
    }
    assert_little_memory(MOST_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_a_file_that_breaks_it),
        cmocka_unit_test(conflicting_spans_are_reported),
        cmocka_unit_test(few_spans_outside_of_their_callers_are_no_clock),
        cmocka_unit_test(a_file_of_something_else_is_unknown),
        cmocka_unit_test(damaged_compression_is_reported),
        cmocka_unit_test(what_unpacks_to_very_much_is_not_read),
        cmocka_unit_test(a_concurrent_sibling_is_on_a_side_track),
        cmocka_unit_test(deep_traces_do_no_harm),
        cmocka_unit_test(what_comes_after_spans_is_theirs),
        cmocka_unit_test(no_mutation_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
