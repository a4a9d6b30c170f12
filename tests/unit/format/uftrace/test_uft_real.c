/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads and perf files of real recordings. Records are printed like uftrace replay, and each
 * line must be equal. The test reads one task and its program itself, so that only specifications
 * and values are tested.
 */
#include "base/io/bytes.h"
#include "format/uftrace/args/debug.h"
#include "format/uftrace/perf.h"
#include "uft_specs.h"
#include <dirent.h>
#include <glob.h>
#include <inttypes.h>
#include <lode/name.h>
#include <stdlib.h>
#include <unistd.h>

struct bytes {
    char *data; /* terminated */
    size_t size;
};

struct symbol {
    uint64_t address;
    const char *name;
};

struct call {
    char name[256];
    const struct lode_uft_spec *arguments, *result;
};

struct replay {
    struct specs specs;
    struct bytes info, symbols, debug_text, map, data, golden;
    struct lode_uft_debug debug;
    struct symbol *symbol;
    size_t symbol_count;
    uint64_t base;
    char program[256];
    char text[1 << 16]; /* what was written out */
    size_t length;
};

/* Of uftrace, which listed what is in a recording. */
static int version(void)
{
    return corpus_is_own() ? 13 : 19;
}

static struct bytes load(const char *recording, const char *name)
{
    if (corpus_is_own())
        skip(); /* what the arguments are is known of recordings of the larger corpus */
    char pattern[512], path[1024];
    glob_t found;
    struct bytes bytes = {calloc(1, 1 << 20), 0};
    snprintf(pattern, sizeof pattern, "uftrace/recorded/%s", recording);
    assert_true(corpus_path(path, sizeof path, pattern));
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", name);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    FILE *stream = fopen(found.gl_pathv[0], "rb");
    assert_non_null(stream);
    bytes.size = fread(bytes.data, 1, (1 << 20) - 1, stream);
    fclose(stream);
    globfree(&found);
    return bytes;
}

/* ---- what records need ---- */

/* The rest of a line of the info file, terminated in place; NULL if there is none. */
static const char *info_line(struct replay *self, const char *key)
{
    char *line = self->info.data + 40;
    for (;;) {
        char *end = strchr(line, '\n');
        size_t length = strlen(key);
        if (strncmp(line, key, length) == 0 && strncmp(line + length, "lines=", 6) != 0) {
            if (end)
                *end = '\0';
            return line + length;
        }
        if (end == NULL)
            return NULL;
        line = end + 1;
    }
}

static void open_specs(struct replay *self)
{
    struct lode_uft_spec_strings strings = {.word = 8};
    const char *keys[] = {"pattern_type:", "enumauto:", "retauto:", "argauto:", "retspec:", "argspec:"};
    const char **lines[] = {&strings.pattern_type, &strings.enumauto, &strings.retauto,
                            &strings.argauto,      &strings.retspec,  &strings.argspec};
    /* From the last line to the first: finding one hides those after it. */
    for (size_t i = 0; i < 6; i++)
        *lines[i] = info_line(self, keys[i]);
    specs_open(&self->specs, &strings);
    assert_int_equal(self->specs.findings, 0);
}

static void read_symbols(struct replay *self)
{
    char *next;
    self->symbol = calloc(10000, sizeof *self->symbol);
    for (char *line = strtok_r(self->symbols.data, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
        char *end;
        uint64_t address = strtoull(line, &end, 16);
        if (line[0] == '#' || end == line)
            continue;
        /* There may be a size between address and type. */
        const char *type = strlen(end) > 9 && end[9] == ' ' && end[3] != ' ' && end[2] != ' ' ? end + 9 : end;
        assert_true(self->symbol_count < 10000);
        self->symbol[self->symbol_count++] = (struct symbol){address, type + 3};
    }
}

static struct symbol find_symbol(const struct replay *self, uint64_t address)
{
    struct symbol best = {0, NULL};
    for (size_t i = 0; i < self->symbol_count; i++)
        if (self->symbol[i].address <= address && self->symbol[i].address >= best.address)
            best = self->symbol[i];
    assert_non_null(best.name);
    return best;
}

static void find_call(const struct replay *self, uint64_t address, struct call *call)
{
    struct symbol symbol = find_symbol(self, address - self->base);
    const struct lode_uft_debug_entry *debug = lode_uft_debug_find(&self->debug, symbol.address);
    lode_simple_name(symbol.name, call->name, sizeof call->name);
    call->arguments = lode_uft_specs_choose(self->specs.specs, symbol.name, self->program, false,
                                            debug ? debug->arguments : NULL);
    call->result = lode_uft_specs_choose(self->specs.specs, symbol.name, self->program, true,
                                         debug ? debug->result : NULL);
}

static void open_replay(struct replay *self, const char *name, bool has_debug)
{
    char pattern[300];
    *self = (struct replay){.info = load(name, "uftrace.data/info")};
    self->map = load(name, "uftrace.data/sid-*.map");
    self->data = load(name, "uftrace.data/[0-9]*.dat");
    self->golden = load(name, "golden19/replay.txt");
    open_specs(self);
    self->base = strtoull(self->map.data, NULL, 16);
    assert_int_equal(sscanf(strchr(self->map.data, '/'), "%255s", self->program), 1);
    snprintf(pattern, sizeof pattern, "uftrace.data/%s.sym", strrchr(self->program, '/') + 1);
    self->symbols = load(name, pattern);
    read_symbols(self);
    if (!has_debug)
        return;
    snprintf(pattern, sizeof pattern, "uftrace.data/%s.dbg", strrchr(self->program, '/') + 1);
    self->debug_text = load(name, pattern);
    struct lode_range text = {(const uint8_t *)self->debug_text.data, self->debug_text.size};
    assert_int_equal(lode_uft_debug_read(&self->debug, text, "x.dbg", self->specs.specs, &self->specs.arena,
                                         &self->specs.report),
                     LODE_OK);
    assert_int_equal(self->specs.findings, 0);
}

static void close_replay(struct replay *self)
{
    specs_close(&self->specs);
    free(self->info.data);
    free(self->symbols.data);
    free(self->debug_text.data);
    free(self->map.data);
    free(self->data.data);
    free(self->golden.data);
    free(self->symbol);
}

/* ---- writing out ---- */

static void put(struct replay *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct replay *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    self->length +=
        (size_t)vsnprintf(self->text + self->length, sizeof self->text - self->length, format, arguments);
    va_end(arguments);
    assert_true(self->length < sizeof self->text);
}

struct record {
    unsigned kind; /* 0 enter, 1 leave, 3 event */
    bool has_payload;
    unsigned depth;
    uint64_t address;
    struct lode_range payload; /* with its padding */
    struct call call;
};

/* The values of the payload, and how many bytes it takes. */
static void take_payload(const struct replay *self, struct record *record, struct lode_range rest)
{
    uint64_t size;
    if (record->kind == 3) {
        size = get_u16le(rest.data);
        assert_true(lode_range_part(rest, 2, size, &record->payload));
        size += 2;
    } else {
        const struct lode_uft_spec *spec = record->kind == 0 ? record->call.arguments : record->call.result;
        assert_non_null(spec);
        assert_true(lode_uft_payload_size(self->specs.specs, spec, rest, &size));
        assert_true(lode_range_part(rest, 0, size, &record->payload));
    }
}

static bool next_record(const struct replay *self, uint64_t *at, struct record *record)
{
    struct lode_range data = {(const uint8_t *)self->data.data, self->data.size}, rest;
    if (!lode_range_part(data, *at, data.size - *at, &rest) || rest.size < 16)
        return false;
    uint64_t word = get_u64le(rest.data + 8);
    assert_int_equal(word >> 3 & 7, 5);
    *record = (struct record){.kind = word & 3, .has_payload = word >> 2 & 1, .depth = word >> 6 & 1023};
    record->address = word >> 16;
    if (record->kind < 2)
        find_call(self, record->address, &record->call);
    *at += 16;
    if (!record->has_payload)
        return true;
    rest = (struct lode_range){rest.data + 16, rest.size - 16};
    take_payload(self, record, rest);
    uint64_t size = record->payload.size + (record->kind == 3 ? 2 : 0);
    *at += (size + 7) / 8 * 8;
    return true;
}

static const char *show(const struct replay *self, const struct record *record,
                        const struct lode_uft_spec *spec)
{
    return record->has_payload
               ? specs_show(&self->specs, spec, record->payload.data, (size_t)record->payload.size)
               : "";
}

static void put_event(struct replay *self, const struct record *record, unsigned depth)
{
    lode_argument fields[4];
    size_t count;
    char text[64];
    assert_int_equal(
        lode_uft_event_decode(self->specs.specs, record->address, record->payload, fields, 4, &count, NULL),
        LODE_OK);
    put(self, "%*s/* %s (", 2 * (int)depth, "", lode_uft_event_name(record->address));
    for (size_t i = 0; i < count; i++) {
        const char *name = fields[i].name;
        if (record->address == 100012 && i == 0)
            continue;
        if (record->address == 100012)
            name = find_symbol(self, fields[0].unsigned_value - self->base).name;
        lode_argument_text(&fields[i], text, sizeof text);
        put(self, "%s%s=%s", i > 0 && record->address != 100012 ? " " : "", name, text);
    }
    put(self, ") */\n");
}

/* A call that nothing happens in takes one line. */
static void write_out(struct replay *self)
{
    uint64_t at = 0, ahead;
    unsigned depth = 0;
    struct record record, next;
    while (next_record(self, &at, &record)) {
        const char *equals = record.has_payload ? " = " : "";
        if (record.kind == 3) {
            if (record.address != 100013)
                put_event(self, &record, depth);
        } else if (record.kind == 1) {
            depth = record.depth;
            put(self, "%*s}%s%s%s /* %s */\n", 2 * (int)depth, "", equals,
                show(self, &record, record.call.result), record.has_payload ? ";" : "", record.call.name);
        } else {
            put(self, "%*s%s(%s)", 2 * (int)record.depth, "", record.call.name,
                show(self, &record, record.call.arguments));
            ahead = at;
            depth = record.depth + 1;
            if (next_record(self, &ahead, &next) && next.kind == 1 && next.depth == record.depth) {
                put(self, "%s%s;\n", next.has_payload ? " = " : "", show(self, &next, next.call.result));
                at = ahead;
                depth = record.depth;
            } else {
                put(self, " {\n");
            }
        }
    }
}

/* ---- comparing ---- */

/* The part of a golden line after the bar; newlines and tabs of strings are literal there. */
static void clean(const struct bytes *golden, char *out)
{
    const char *line = golden->data;
    char *start = out;
    while (*line) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        const char *bar = strstr(line, "] | ");
        if (line[0] == '#') {
            line += length + 1;
            continue;
        }
        if (bar && bar < line + length) {
            length -= (size_t)(bar + 4 - line);
            line = bar + 4;
        } else {
            /* The line before went on. */
            memcpy(out - 1, "\\n", 2);
            out++;
        }
        for (size_t i = 0; i < length; i++) {
            if (line[i] == '\t')
                *out++ = '\\';
            *out++ = line[i] == '\t' ? 't' : line[i];
        }
        *out = '\0';
        char *from = strstr(out - length, " /* from ");
        if (from)
            out = from;
        *out++ = '\n';
        line += length + (end ? 1 : 0);
    }
    *out = '\0';
    assert_true(out - start > 100);
}

static void compare(const char *name, bool has_debug)
{
    struct replay *self = malloc(sizeof *self);
    char *expected = malloc(1 << 18);
    assert_true(self && expected);
    open_replay(self, name, has_debug);
    write_out(self);
    clean(&self->golden, expected);
    const char *a = self->text, *b = expected;
    while (*a || *b) {
        int left = (int)strcspn(a, "\n"), right = (int)strcspn(b, "\n");
        if (left != right || memcmp(a, b, (size_t)left) != 0)
            fail_msg("%s:\n%.*s\n%.*s", name, left, a, right, b);
        a += left + (a[left] != '\0');
        b += right + (b[right] != '\0');
    }
    close_replay(self);
    free(expected);
    free(self);
}

static void arguments_that_were_asked_for(void **state)
{
    (void)state;
    compare("pg_args", false);
}

static void automatic_arguments(void **state)
{
    (void)state;
    compare("autoargs", true);
    compare("n_autoargs", true);
}

static void automatic_arguments_of_cplusplus(void **state)
{
    (void)state;
    compare("n_exc", true);
}

static void events_of_functions(void **state)
{
    (void)state;
    compare("events", false);
    compare("n_watchvar", false);
    compare("n_callsite", true);
}

/* ---- perf files ---- */

struct real {
    char folder[1024];
    int32_t tids[64];
    size_t tid_count, file_count;
    struct lode_uft_perf_file files[8];
    char names[8][64];
    uint8_t *bytes[8];
    struct lode_uft_perf perf;
};

static int compare_tids(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void add_file(struct real *real, const char *name)
{
    char path[2048];
    size_t index = real->file_count++;
    assert_true(index < 8);
    snprintf(path, sizeof path, "%s/uftrace.data/%s", real->folder, name);
    snprintf(real->names[index], sizeof real->names[index], "%.60s", name);
    FILE *stream = fopen(path, "rb");
    real->bytes[index] = malloc(1 << 20);
    assert_true(stream && real->bytes[index]);
    size_t size = fread(real->bytes[index], 1, 1 << 20, stream);
    fclose(stream);
    uint32_t cpu = (uint32_t)strtoul(name + 8, NULL, 10);
    real->files[index] = (struct lode_uft_perf_file){real->names[index], {real->bytes[index], size}, cpu};
}

static void open_real(struct real *real)
{
    char path[2048];
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/uftrace.data", real->folder);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, "perf-cpu", 8) == 0)
            add_file(real, entry->d_name);
        else if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
                 strcmp(entry->d_name + length - 4, ".dat") == 0)
            real->tids[real->tid_count++] = (int32_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(directory);
    qsort(real->tids, real->tid_count, sizeof *real->tids, compare_tids);
    struct lode_report report;
    assert_int_equal(lode_report_open(&report, lode_uft_rules, UFT_RULE_COUNT, 0, NULL, NULL, NULL), LODE_OK);
    assert_int_equal(lode_uft_perf_read(&real->perf, real->files, real->file_count, real->tids,
                                        real->tid_count, false, &report, NULL),
                     LODE_OK);
    assert_int_equal(report.result.errors + report.result.warnings, 0);
    lode_report_close(&report);
}

/* Finds an event of the list, which has each once, and takes it out. */
static void take_out(struct real *real, uint64_t time, int32_t tid, uint32_t kind)
{
    const struct lode_uft_perf_thread *thread = lode_uft_perf_find(&real->perf, tid);
    for (uint64_t i = 0; thread && i < thread->count; i++) {
        struct lode_uft_perf_event *event = &real->perf.events[thread->first + i];
        if (event->time == time && event->kind == kind) {
            event->kind = UINT32_MAX;
            return;
        }
    }
    fail_msg("%s: no event of kind %u at %" PRIu64 " of %d", real->folder, kind, time, tid);
}

static unsigned compare_with_list(struct real *real)
{
    static const unsigned kinds[] = {
        0, UFT_PERF_IN, UFT_PERF_OUT, 0, UFT_PERF_NEW, UFT_PERF_EXIT, UFT_PERF_NAME, UFT_PERF_OUT_PREEMPTED};
    char line[4096], path[2048];
    unsigned listed = 0;
    snprintf(path, sizeof path, "%s/golden%d/dump.txt", real->folder, version());
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream)) {
        char *end;
        const char *id = strrchr(line, '(');
        if (strstr(line, "[event] linux:") == NULL)
            continue;
        uint64_t seconds = strtoull(line, &end, 10), nanoseconds = strtoull(end + 1, &end, 10);
        int32_t tid = (int32_t)strtol(end, NULL, 10);
        take_out(real, seconds * 1000000000 + nanoseconds, tid, kinds[strtoul(id + 1, NULL, 10) - 200000]);
        listed++;
    }
    fclose(stream);
    return listed;
}

/* Whether it is known what uftrace lists. */
static bool is_listed(const struct real *real)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/golden%d/dump.txt", real->folder, version());
    return access(path, F_OK) == 0;
}

static void real_events_are_those_that_uftrace_lists(void **state)
{
    char root[1024];
    unsigned recordings = 0, listed = 0;
    struct dirent *entry;
    (void)state;
    assert_true(corpus_path(root, sizeof root, "uftrace/recorded"));
    DIR *directory = opendir(root);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        struct real real = {.tid_count = 0};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(real.folder, sizeof real.folder, "%.500s/%.200s", root, entry->d_name);
        /* The corpus may have more than this test knows. */
        if (!is_listed(&real))
            continue;
        open_real(&real);
        uint64_t events = 0;
        for (uint32_t i = 0; i < real.perf.thread_count; i++)
            events += real.perf.threads[i].count;
        unsigned count = compare_with_list(&real);
        assert_int_equal(count, events);
        listed += count;
        recordings++;
        lode_uft_perf_free(&real.perf);
        for (size_t i = 0; i < real.file_count; i++)
            free(real.bytes[i]);
    }
    closedir(directory);
    print_message("# %u events of %u recordings\n", listed, recordings);
    assert_true(recordings >= (corpus_is_own() ? 7 : 30));
    assert_true(listed > (corpus_is_own() ? 10 : 500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_that_were_asked_for),
        cmocka_unit_test(automatic_arguments),
        cmocka_unit_test(automatic_arguments_of_cplusplus),
        cmocka_unit_test(events_of_functions),
        cmocka_unit_test(real_events_are_those_that_uftrace_lists),
    };
    correct_skips();
    return run_with_corpus("real", tests, sizeof tests / sizeof *tests);
}
