/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/sql/sql.h"
#include "interrupt.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/stores.h"
#include "text/label.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_UNSAID UINT64_MAX

/* ---- operands: stores, and a statement at the end ---- */

/* A text with blanks that names nothing that is there. */
static int is_statement(const char *text)
{
    struct stat found;
    if (text[0] == '.' && isalpha((unsigned char)text[1]))
        return stat(text, &found) != 0;
    return strpbrk(text, " \t\n;(") && stat(text, &found) != 0 && !strchr(text, '/');
}

/* The statement may have slashes: 'a/b', or a division. It begins with a word of SQL then. */
static int begins_statement(const char *text)
{
    static const char *const words[] = {"select",  "with",   "values",  "explain", "create", "drop",
                                        "insert",  "update", "delete",  "pragma",  "attach", "detach",
                                        "begin",   "commit", "analyze", "vacuum",  "alter",  "reindex",
                                        "replace", "--",     "/*"};
    text += strspn(text, " \t\r\n(");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if (strncasecmp(text, words[i], size) == 0 && strpbrk(text + size, " \t\r\n(*';"))
            return 1;
    }
    return 0;
}

/* NULL: there is none among the operands. */
static const char *statement_of(const invocation *call)
{
    const char *last = call->operand_count ? call->operands[call->operand_count - 1] : NULL;
    return last && (begins_statement(last) || is_statement(last)) ? last : NULL;
}

/* ---- names of stores ---- */

static int is_name(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!(isalpha((unsigned char)text[i]) || text[i] == '_' ||
              (i > 0 && isdigit((unsigned char)text[i]))))
            return 0;
    return size > 0 && size < SCHEMA_NAME_SIZE;
}

/* The name in NAME=STORE, and where the store begins in it. */
static const char *take_name(sql_store *store, const char *operand)
{
    size_t size = strcspn(operand, "=");
    if (operand[size] != '=' || !is_name(operand, size))
        return operand;
    snprintf(store->name, sizeof store->name, "%.*s", (int)size, operand);
    return operand + size + 1;
}

/* The last part of a path, as a name. */
static void name_after(sql_store *store, const char *path)
{
    size_t size = strlen(path), used = 0;
    while (size > 1 && path[size - 1] == '/')
        size--;
    const char *slash = memrchr(path, '/', size);
    const char *first = slash && slash + 1 < path + size ? slash + 1 : path;
    if (isdigit((unsigned char)first[0]))
        store->name[used++] = '_';
    for (const char *at = first; at < path + size && used < SCHEMA_NAME_SIZE - 8; at++)
        store->name[used++] = (char)(isalnum((unsigned char)*at) && (unsigned char)*at < 128 ? *at : '_');
    store->name[used] = '\0';
}

static int is_taken(const sql_job *job, size_t count, const char *name)
{
    if (strcasecmp(name, "main") == 0 || strcasecmp(name, "temp") == 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(job->stores[i].name, name) == 0)
            return 1;
    return 0;
}

/* A name of its own: "db", "db_2". One store without a name needs none. */
static int settle_name(sql_job *job, size_t number, const char *path, size_t count)
{
    sql_store *store = &job->stores[number];
    char base[SCHEMA_NAME_SIZE];
    if (store->name[0])
        return is_taken(job, number, store->name)
                   ? report("two stores, or one of SQLite's own, are called '%s'", store->name)
                   : EXIT_DONE;
    if (count == 1) {
        snprintf(store->name, sizeof store->name, "main");
        return EXIT_DONE;
    }
    name_after(store, path);
    snprintf(base, sizeof base, "%s", store->name);
    for (unsigned i = 2; is_taken(job, number, store->name); i++)
        snprintf(store->name, sizeof store->name, "%.55s_%u", base, i);
    return EXIT_DONE;
}

/* ---- opening ---- */

static unsigned threads_of(const shared_options *shared)
{
    return (unsigned)(shared->threads < 4096 ? shared->threads : 4096);
}

static int open_store(sql_job *job, sql_store *store, const char *path)
{
    lode_error error = {0};
    if (lode_store_probe(path, &store->kind, &error) != LODE_OK) {
        store->found = store_meant(path, FOR_ALL);
        if (!store->found || lode_store_probe(store->found, &store->kind, &error) != LODE_OK)
            return store_unopened(path, &error);
        path = store->found;
    }
    store->is_open = 1;
    return store->kind == LODE_STORE_RECORDING ? rec_open_slice(&store->recording, path, job->call->shared)
                                               : session_open(&store->database, path, job->call->shared);
}

static int open_tables(sql_job *job, sql_store *store)
{
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    lode_error error = {0};
    int is_recording = store->kind == LODE_STORE_RECORDING;
    int names = job->call->shared->names;
    options.path = is_recording ? store->recording.path : store->database.path;
    options.names =
        name_form(is_recording ? names_of_recordings(names) : names_of_database(store->database.db, names));
    options.selection = store->database.selection;
    options.slice = is_recording ? &store->recording.slice : NULL;
    options.pool = job->pool;
    options.kinds = job->call->kinds;
    options.on_finding = is_recording ? rec_on_finding : NULL;
    options.user = &store->recording;
    options.on_progress = sql_on_progress;
    options.progress_user = job->connection;
    /* The first store is the base of all others of its kind. */
    if (store != job->stores && store->kind == job->stores[0].kind)
        options.base = job->stores[0].tables;
    if (lode_tables_open(&store->tables, store->database.db, store->recording.recording, &options, &error) !=
        LODE_OK)
        return report_error(options.path, &error);
    return EXIT_DONE;
}

static int add_store(sql_job *job, const char *operand, size_t count)
{
    sql_error error = {.at = -1};
    sql_store *store = &job->stores[job->store_count];
    const char *path = take_name(store, operand);
    int status = settle_name(job, job->store_count++, path, count);
    if (status == EXIT_DONE)
        status = open_store(job, store, path);
    if (status == EXIT_DONE)
        status = open_tables(job, store);
    if (status != EXIT_DONE)
        return status;
    return sql_add(job->connection, store->name, store->tables, store->database.db,
                   store->recording.recording, &error) == 0
               ? EXIT_DONE
               : report("%s", error.text);
}

static int open_stores(sql_job *job, size_t count)
{
    if (count > SQL_STORES_MAX)
        return report("at most %d stores (see 'lode help sql')", SQL_STORES_MAX);
    int status = EXIT_DONE;
    char *found = count == 0 ? store_default(FOR_ALL, "STORE", "sql") : NULL;
    if (count == 0) {
        status = found ? add_store(job, found, 1) : EXIT_TROUBLE;
        /* The session refers to its path. */
        if (found)
            job->stores[0].found = job->stores[0].found ? job->stores[0].found : found;
    }
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = add_store(job, job->call->operands[i], count);
    return status;
}

static void close_stores(sql_job *job)
{
    sql_close(job->connection);
    for (size_t i = 0; i < job->store_count; i++) {
        sql_store *store = &job->stores[i];
        if (store->is_open && store->kind == LODE_STORE_RECORDING)
            rec_close(&store->recording);
        else if (store->is_open)
            session_close(&store->database);
        free(store->found);
    }
    lode_pool_free(job->pool);
}

/* ---- stopping ---- */

static volatile sig_atomic_t is_stopped;

static void on_stop(int number)
{
    (void)number;
    is_stopped = 1;
}

/* In the shell, Ctrl-C ends the statement, not the program; the next statement forgets it. */
static int is_shell_due(void)
{
    return is_stopped;
}

/* Not by exit(): the thread that runs the statement still has all that would be cleared away. */
static void end_program(const sql_error *error)
{
    report("%s", error->text);
    interrupt_leave(EXIT_TROUBLE);
    _exit(EXIT_TROUBLE);
}

void sql_forget_stop(void)
{
    is_stopped = 0;
}

static void catch_stop(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* ---- running ---- */

static void begin_json(sql_job *job)
{
    out *o = job->out;
    out_begin(o, SCHEMA_SQL, NULL);
    if (out_format_of(o) != OUT_JSON)
        return;
    out_array(o, "stores");
    for (size_t i = 0; i < job->store_count; i++) {
        const sql_store *store = &job->stores[i];
        int is_recording = store->kind == LODE_STORE_RECORDING;
        OUT_OBJECT(o, NULL, "name", store->name, "kind", is_recording ? "recording" : "database", "path",
                   is_recording ? store->recording.path : store->database.path);
    }
    out_array_end(o);
    out_array(o, "results");
}

static int run_text(sql_job *job, const char *statement)
{
    const char *file = job->options->file ? job->options->file : statement ? NULL : "-";
    char *text = file ? sql_read_file(file) : NULL;
    int status = EXIT_TROUBLE;
    /* Until here, a signal ends the program at once: it may wait for what nobody types. */
    interrupt_hold();
    begin_json(job);
    if (text || (!file && job->options->script))
        status = sql_run_all(job, text ? text : statement);
    else if (!file)
        status = sql_run_one(job, statement);
    free(text);
    if (out_format_of(job->out) == OUT_JSON)
        out_array_end(job->out);
    out_end(job->out);
    return status;
}

static int is_shell(const sql_job *job, const char *statement)
{
    return !statement && !job->options->file && isatty(STDIN_FILENO) && out_format_of(job->out) == OUT_TEXT &&
           out_is_terminal(job->out);
}

static int run_sql(const invocation *call)
{
    sql_job job = {.call = call, .options = call->options, .out = call->out};
    const char *statement = statement_of(call);
    int has_shell = is_shell(&job, statement);
    sql_settings settings = {.memory = job.options->memory,
                             .timeout = job.options->timeout,
                             .is_due = has_shell ? is_shell_due : interrupt_is_due,
                             .on_stuck = end_program};
    sql_error error = {.at = -1};
    lode_error failure = {0};
    if (sql_open(&job.connection, &settings, &error) != 0) {
        sql_close(job.connection);
        return report("%s", error.text);
    }
    int status = EXIT_DONE;
    if (lode_pool_create(&job.pool, threads_of(call->shared), &failure) != LODE_OK)
        status = report_error(NULL, &failure);
    if (status == EXIT_DONE)
        status = open_stores(&job, call->operand_count - (statement != NULL));
    if (status == EXIT_DONE && sql_seal(job.connection, &error) != 0)
        status = report("%s", error.text);
    if (status == EXIT_DONE && has_shell) {
        catch_stop();
        status = sql_shell(&job);
    } else if (status == EXIT_DONE) {
        status = run_text(&job, statement);
    }
    close_stores(&job);
    return status;
}

static int sql_usage(const invocation *call)
{
    const sql_options *options = call->options;
    const char *statement = statement_of(call);
    if (options->file && statement)
        return report("a statement and --file cannot be used together (see 'lode help sql')");
    if (options->explain && (!statement || call->shared->json || call->shared->csv))
        return report("--explain is for one statement, as text (see 'lode help sql')");
    return EXIT_DONE;
}

static const option_spec sql_own[] = {
    {"file", 0, OPTION_TEXT, "FILE", NULL, offsetof(sql_options, file)},
    {"script", 0, OPTION_FLAG, NULL, NULL, offsetof(sql_options, script)},
    {"explain", 0, OPTION_FLAG, NULL, NULL, offsetof(sql_options, explain)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(sql_options, limit)},
    {"timeout", 0, OPTION_SPAN, "TIME", NULL, offsetof(sql_options, timeout)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(sql_options, memory)},
    {0},
};

static const sql_options sql_defaults = {
    .shared.names = NAMES_BY_STORE, .limit = LIMIT_UNSAID, .memory = UINT64_C(1) << 30};

const command_spec command_sql = {
    .name = "sql",
    .operands = "[[NAME=]STORE]... [STATEMENT]",
    .min_operands = 0,
    .max_operands = SQL_STORES_MAX + 1,
    .stores = FOR_ALL,
    .has_sides = 1,
    .options = {.own = sql_own,
                .shared = SHARED_NAMES | SHARED_THREADS | SHARED_JSON | SHARED_CSV | SHARED_MARKDOWN |
                          SHARED_COLOR | SHARED_KINDS},
    .options_size = sizeof(sql_options),
    .defaults = &sql_defaults,
    .usage = sql_usage,
    .run = run_sql,
};
