/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores with deceptive names: hostile_stores FOLDER makes FOLDER/database, FOLDER/recording,
 * FOLDER/traces and FOLDER/spans. Every string is a spreadsheet formula, begins with a word by
 * which a test finds it again, and goes on with terminal controls or with characters that hide or
 * reorder text. Compiled with MARKUP, it goes on with what a browser would run.
 */
#include "minirec.h"
#include "minizor.h"
#include <errno.h>
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef MARKUP
#define NASTY "<img src=x onerror=pwned=1><script>pwned=1</script>'\"><svg onload=pwned=1>"
#define LINES "\n<img src=x onerror=pwned=1>"
#define SHORT "<img src=x onerror=pwned=1>"
#else
/* Set title, clear screen, backspace, DEL, C1, overrides, isolates, separators, marks, tags. */
#define NASTY                                                                                                \
    "\x1b]0;owned\x07\x1b[2J\b\x7f\xc2\x9b"                                                                  \
    "31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x8f\xd8\x9c\xe2\x80\x8b\xef\xbb\xbf\xf3"    \
    "\xa0\x81\x81"
/* A second line that imitates the program's own, for fields that may contain newlines. */
#define LINES "\r\nlode: all is well\t."
/* Part of a file's name. */
#define SHORT "\x1b[2J\xe2\x80\xae\xe2\x80\xac"
#endif
#define NAMED(word)  "=" word NASTY
#define LINED(word)  "=" word NASTY LINES
#define BROKEN(word) "=" word NASTY "\xff\x9b"

static void need(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "hostile_stores: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void must(lode_status status, const lode_error *error)
{
    if (status >= 0)
        return;
    fprintf(stderr, "hostile_stores: %s\n", error->text);
    exit(1);
}

static char *join(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    need(path != NULL, "memory");
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char *path = join(folder, name);
    FILE *file = fopen(path, "wb");
    need(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
    free(path);
}

static void write_files(const char *folder, const char *name, const lode_memory_file *files, size_t count)
{
    char *path = join(folder, name);
    need(mkdir(path, 0777) == 0, path);
    for (size_t i = 0; i < count; i++)
        write_file(path, files[i].name, files[i].data, files[i].size);
    free(path);
}

/* ---- a database ---- */

enum {
    FORMULAS = 15
};

struct description {
    lode_writer *writer;
    lode_error error;
    uint16_t id;
    uint32_t metric, module, file, contexts[4], formulas[FORMULAS];
};

static void add_metric(struct description *d)
{
    uint32_t scopes[2];
    unsigned kind;
    must(lode_writer_add_id_kind(d->writer, LINED("IDKIND"), &kind, &d->error), &d->error);
    must(lode_writer_add_scope(d->writer, "point", LODE_SCOPE_POINT, 255, &scopes[0], &d->error), &d->error);
    must(lode_writer_add_scope(d->writer, "execution", LODE_SCOPE_EXECUTION, 255, &scopes[1], &d->error),
         &d->error);
    must(lode_writer_add_metric(d->writer, LINED("metric"), &d->metric, &d->error), &d->error);
    for (int i = 0; i < 2; i++) {
        must(lode_writer_add_metric_scope(d->writer, d->metric, scopes[i], &d->id, &d->error), &d->error);
        must(lode_writer_add_statistic(d->writer, d->metric, scopes[i], "$$", LODE_COMBINE_SUM, &d->error),
             &d->error);
    }
}

static void add_context(struct description *d, int index, const lode_writer_context *context)
{
    must(lode_writer_add_context(d->writer, context, &d->contexts[index], &d->error), &d->error);
}

/* An entry point, a function in it, a line of that, and a loop. */
static void add_contexts(struct description *d)
{
    lode_writer_function function = {LINED("function"), d->module, d->file, 10, 0x40};
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    context.entry = LODE_ENTRY_MAIN_THREAD;
    context.entry_name = LINED("entry");
    add_context(d, 0, &context);
    context = (lode_writer_context)LODE_WRITER_CONTEXT_INIT;
    context.parent = d->contexts[0];
    context.lexical = LODE_LEXICAL_FUNCTION;
    context.relation = LODE_RELATION_CALL;
    must(lode_writer_add_function(d->writer, &function, &context.function, &d->error), &d->error);
    add_context(d, 1, &context);
    context.parent = d->contexts[1];
    context.lexical = LODE_LEXICAL_LOOP;
    context.relation = LODE_RELATION_LEXICAL;
    context.function = LODE_NONE;
    context.file = d->file;
    context.line = 11;
    add_context(d, 2, &context);
    context.parent = d->contexts[2];
    context.lexical = LODE_LEXICAL_LINE;
    context.line = 12;
    add_context(d, 3, &context);
}

/* Functions with names that spreadsheets run, and with some that they do not; each has a cost. */
static void add_formulas(struct description *d)
{
    static const char *const names[FORMULAS] = {"=1+1",      "+1+1",      "-1+1",      "@SUM(1)", "\uff1d1+1",
                                                "\uff0b1+1", "\uff0d1+1", "\uff201+1", "  =1+1",  "-12.5e+3",
                                                "a=b",       "\"=1+1",    "'=1+1",     "-",       "e,=1+1"};
    for (int i = 0; i < FORMULAS; i++) {
        lode_writer_function function = {names[i], LODE_NONE, LODE_NONE, 0, 0};
        lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
        context.parent = d->contexts[0];
        context.lexical = LODE_LEXICAL_FUNCTION;
        context.relation = LODE_RELATION_CALL;
        must(lode_writer_add_function(d->writer, &function, &context.function, &d->error), &d->error);
        must(lode_writer_add_context(d->writer, &context, &d->formulas[i], &d->error), &d->error);
    }
}

static void add_profiles(struct description *d)
{
    lode_profile_builder *builder;
    must(lode_profile_builder_create(&builder, d->writer, &d->error), &d->error);
    for (uint32_t i = 0; i < 3; i++) {
        lode_id id = {.kind = 0, .logical = i, .physical = i};
        must(lode_profile_builder_begin(builder, &id, 1, &d->error), &d->error);
        must(lode_profile_builder_point(builder, d->contexts[3], d->metric, 1 + i, &d->error), &d->error);
        for (int k = 0; k < FORMULAS; k++)
            must(lode_profile_builder_point(builder, d->formulas[k], d->metric, 1, &d->error), &d->error);
        for (uint64_t time = 1; time < 9; time++)
            must(lode_profile_builder_sample(builder, UINT64_C(1700000000000000000) + time * 1000,
                                             d->contexts[time % 4], &d->error),
                 &d->error);
        must(lode_profile_builder_end(builder, &d->error), &d->error);
        must(lode_writer_append(d->writer, builder, &d->error), &d->error);
    }
    lode_profile_builder_free(builder);
}

static void make_database(const char *folder)
{
    struct description d = {.error = {0}};
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    char *path = join(folder, "database");
    options.traces = 1;
    options.title = LINED("title");
    options.description = LINED("description");
    must(lode_writer_open(&d.writer, path, &options, &d.error), &d.error);
    add_metric(&d);
    must(lode_writer_add_module(d.writer, "/m/" LINED("module"), &d.module, &d.error), &d.error);
    must(lode_writer_add_file(d.writer, "/f/" LINED("file"), 0, NULL, &d.file, &d.error), &d.error);
    add_contexts(&d);
    add_formulas(&d);
    must(lode_writer_seal(d.writer, &d.error), &d.error);
    add_profiles(&d);
    must(lode_writer_finish(d.writer, &d.error), &d.error);
    lode_writer_close(d.writer);
    free(path);
}

/* ---- a recording ---- */

static void rename_symbols(struct minirec *rec)
{
    minirec_replace(rec, "prog.sym", "t leaf", "t " BROKEN("symbol"));
    minirec_replace(rec, "prog.sym", "D state", "D " BROKEN("variable"));
    minirec_replace(rec, "plugin.so.sym", "T plug", "T " NAMED("plug"));
    minirec_rename(rec, "prog.sym", "prog" SHORT ".sym");
    minirec_rename(rec, "prog.dbg", "prog" SHORT ".dbg");
    minirec_replace(rec, "prog" SHORT ".dbg", "/bin/prog", "/bin/prog" SHORT);
    minirec_replace(rec, "prog" SHORT ".dbg", "12 prog.c", "12 " NAMED("source"));
    minirec_replace(rec, "task.txt", "exename=\"/bin/prog\"", "exename=\"/bin/prog" SHORT "\"");
    minirec_replace(rec, "sid-0123456789abcdef.map", "/bin/prog", "/bin/prog" SHORT);
    minirec_replace(rec, "prog" SHORT ".sym", "/bin/prog", "/bin/prog" SHORT);
}

/* Metadata of the run, arguments, names of events and of tasks, messages. */
static void rename_others(struct minirec *rec)
{
    struct minirec_payload payload = {.size = 0};
    minirec_replace(rec, "info", "desc=A processor", "desc=" BROKEN("processor"));
    minirec_replace(rec, "info", "hostname=host", "hostname=" NAMED("host"));
    minirec_replace(rec, "info", "./prog \"-n\"", NAMED("cmdline"));
    minirec_replace(rec, "info", "RED = 1", "=enumeration\xe2\x80\xae\xe2\x80\xac\xc2\x9b = 1");
    minirec_replace(rec, "events.txt", "app:begin", "app:" NAMED("event"));
    minirec_replace(rec, "extern.dat", "half way", "=message\xe2\x80\xae\xe2\x80\xac\xc2\x9b");
    minirec_perf_name(rec, "perf-cpu0.dat", 40, 100, 100, NAMED("comm"));
    minirec_append_text(rec, "task.txt", "TASK " NAMED("garbage") "\n");
    minirec_add_number(rec, &payload, 4, 42);
    minirec_add_text(rec, &payload, BROKEN("argument") LINES);
    minirec_record_with(rec, "100.dat", 910, MINIREC_ENTRY, MINIREC_WORK, 0, &payload);
}

static void make_recording(const char *folder)
{
    struct minirec rec;
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    minirec_make(&rec, &options);
    rename_symbols(&rec);
    rename_others(&rec);
    write_files(folder, "recording", files, minirec_list(&rec, files));
    minirec_free(&rec);
}

/* ---- a trace store ---- */

static void add_inline(char *digits, const char *text)
{
    size_t length = strlen(text);
    sprintf(digits + strlen(digits), "78%02x", (unsigned)length);
    for (size_t i = 0; i < length; i++)
        sprintf(digits + strlen(digits), "%02x", (unsigned char)text[i]);
}

/* Ids from 10 on, as ':', ';', '<', '=': class, method, signature, all three, key, value, stack. */
static void add_texts(struct minizor *store)
{
    minizor_text(store, 10, "\5" NAMED("class") "\5");
    minizor_text(store, 11, "\6" NAMED("method") "\6");
    minizor_text(store, 12, "\10(L" NAMED("type") ";)V\10");
    minizor_text(store, 13, "\13:\13;\13<\13");
    minizor_text(store, 14, NAMED("key"));
    minizor_text(store, 15, NAMED("value"));
    minizor_text(store, 16, "\16:\16;\16>\16:\16");
    minizor_text(store, 17, "\15@\15");
    minizor_text(store, 18,
                 "\14:\14?\14A\14"
                 "0\14");
}

static void make_traces(const char *folder)
{
    static const char properties[] = "\\=property" NASTY "=" NAMED("property-value") "\\u202e\n";
    struct minizor store;
    lode_memory_file files[MINIZOR_FILES];
    char digits[2048] = "c89f cea10c10 cea10e0d cea1051b0000016311155db8 c9a1c60ec60f c9a1";
    minizor_make(&store, 0x10, false);
    add_texts(&store);
    add_inline(digits, LINED("inline-key"));
    add_inline(digits, BROKEN("inline-value") LINES);
    strcat(digits, "c89f cea10c11 cea10e0d d82312 cea10b01 cea10d12 cea10901 ff cea10d14 cea10902 ff");
    minizor_payload(&store, digits);
    minizor_add(minizor_file(&store, "store.props"), properties, sizeof properties - 1);
    write_files(folder, "traces", files, minizor_list(&store, files));
    minizor_free(&store);
}

/* ---- spans ---- */

/* A string of JSON. What is no UTF-8 stays as it is. */
static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == '"' || byte == '\\')
            fprintf(out, "\\u%04x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}

static void put_pair(FILE *out, const char *key, const char *value)
{
    fputs("{\"key\":", out);
    put_string(out, key);
    fputs(",\"value\":{\"stringValue\":", out);
    put_string(out, value);
    fputs("}}", out);
}

static void put_span(FILE *out, unsigned number, const char *name)
{
    fprintf(out, "{\"traceId\":\"5eed0000000000000000000000000001\",\"spanId\":\"%016x\"", number);
    if (number > 1)
        fprintf(out, ",\"parentSpanId\":\"%016x\"", 1);
    /* The last two run at the same time. */
    fprintf(out, ",\"kind\":%u,\"startTimeUnixNano\":\"1700000000%03u000000\"", number == 1 ? 2 : 3,
            number == 1 ? 0 : 9 + number);
    fprintf(out, ",\"endTimeUnixNano\":\"1700000000%03u000000\",\"traceState\":", 100 - 10 * number);
    put_string(out, NAMED("state"));
    fputs(",\"name\":", out);
    put_string(out, name);
    fputs(",\"status\":{\"code\":2,\"message\":", out);
    put_string(out, LINED("status"));
    fputs("},\"attributes\":[", out);
    put_pair(out, NAMED("key"), LINED("value"));
    fputc(',', out);
    put_pair(out, "broken", BROKEN("broken") LINES);
    fprintf(out, "],\"events\":[{\"timeUnixNano\":\"1700000000%03u000000\",\"name\":", 90 - 10 * number);
    put_string(out, NAMED("event"));
    fputs(",\"attributes\":[", out);
    put_pair(out, NAMED("detail"), LINED("detail-value"));
    fprintf(out, "]},{\"timeUnixNano\":\"1700000000%03u000000\",\"name\":\"exception\",\"attributes\":[",
            90 - 10 * number);
    put_pair(out, "exception.type", NAMED("class"));
    fputc(',', out);
    put_pair(out, "exception.message", LINED("message"));
    fputc(',', out);
    put_pair(out, "exception.stacktrace", "Error: x\n    at " NAMED("frame") " (/srv/" SHORT ".js:1:2)\n");
    fputs("]}]}", out);
}

static void make_spans(const char *folder)
{
    static const char *const names[] = {NAMED("operation"), NAMED("inner"), BROKEN("broken-name")};
    char *directory = join(folder, "spans"), *path;
    need(mkdir(directory, 0777) == 0, directory);
    path = join(directory, "traces.json");
    FILE *out = fopen(path, "w");
    need(out != NULL, path);
    fputs("{\"resourceSpans\":[", out);
    for (unsigned i = 0; i < 3; i++) {
        fputs(i > 0 ? ",{\"resource\":{\"attributes\":[" : "{\"resource\":{\"attributes\":[", out);
        put_pair(out, "service.name", i == 0 ? NAMED("service") : NAMED("other"));
        fputc(',', out);
        put_pair(out, NAMED("resource"), LINED("resource-value"));
        fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":", out);
        put_string(out, NAMED("scope"));
        fputs("},\"spans\":[", out);
        put_span(out, i + 1, names[i]);
        fputs("]}]}", out);
    }
    fputs("]}\n", out);
    need(fclose(out) == 0, path);
    free(path);
    free(directory);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: hostile_stores FOLDER\n");
        return 2;
    }
    make_database(argv[1]);
    make_recording(argv[1]);
    make_traces(argv[1]);
    make_spans(argv[1]);
    return 0;
}
