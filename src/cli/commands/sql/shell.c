/* SPDX-License-Identifier: BSD-3-Clause */
/* The shell: statements line by line. It goes on after errors. */
#include "alloc.h"
#include "commands/sql/sql.h"
#include "interrupt.h"
#include "output/report.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    FILE_MOST = 16 << 20 /* bytes of statements */
};

/* ---- reading all at once ---- */

char *sql_read_file(const char *path)
{
    int is_standard = strcmp(path, "-") == 0;
    int fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = NULL;
    size_t used = 0, capacity = 0;
    ssize_t size = fd < 0 ? -1 : 1;
    while (size > 0 && used < FILE_MOST) {
        bytes = alloc_grow(bytes, &capacity, used + 65536, 1);
        size = read(fd, bytes + used, 65536);
        used += size > 0 ? (size_t)size : 0;
        if (size < 0 && errno == EINTR && !interrupt_is_due())
            size = 1;
    }
    if (size < 0)
        report("%s: %s", is_standard ? "standard input" : path, strerror(errno));
    else if (size > 0)
        report("%s: more than %d MB of statements", is_standard ? "standard input" : path, FILE_MOST >> 20);
    if (fd >= 0 && !is_standard)
        close(fd);
    if (size != 0) {
        free(bytes);
        return NULL;
    }
    bytes = alloc_grow(bytes, &capacity, used + 1, 1);
    bytes[used] = '\0';
    return bytes;
}

/* ---- words that can be completed ---- */

typedef struct word_list {
    char **words;
    size_t count, capacity;
    const char *beginning;
} word_list;

static void offer(word_list *list, const char *word)
{
    if (strncasecmp(word, list->beginning, strlen(list->beginning)) != 0)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcasecmp(list->words[i], word) == 0)
            return;
    list->words = alloc_grow(list->words, &list->capacity, list->count + 2, sizeof *list->words);
    list->words[list->count] = strdup(word);
    list->count += list->words[list->count] != NULL;
}

static void offer_store(word_list *list, const sql_job *job, const sql_store *store)
{
    const lode_table_info *info;
    char name[2 * SCHEMA_NAME_SIZE];
    for (unsigned i = 0; (info = lode_tables_at(store->tables, i)); i++) {
        offer(list, info->name);
        if (job->store_count > 1) {
            snprintf(name, sizeof name, "%s.%s", store->name, info->name);
            offer(list, name);
        }
        for (unsigned k = 0; k < info->field_count; k++)
            offer(list, info->fields[k].name);
    }
}

char **sql_words(const sql_job *job, const char *beginning)
{
    static const char *const known[] = {
        "select",   "from",      "where",     "group by",     "order by",     "limit",        "offset",
        "join",     "left join", "having",    "distinct",     "count(*)",     "sum(",         "avg(",
        "min(",     "max(",      "like",      "glob",         "regexp",       "between",      "desc",
        "asc",      "with",      "recursive", "union all",    "case",         "when",         "then",
        "else",     "end",       "over",      "partition by", "row_number()", "simple_name(", "demangle(",
        "seconds(", "path(",     "hex(",      ".tables",      ".schema",      ".questions",   ".help",
        ".quit"};
    word_list list = {.beginning = beginning};
    for (size_t i = 0; i < job->store_count; i++)
        offer_store(&list, job, &job->stores[i]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        offer(&list, known[i]);
    if (list.words)
        list.words[list.count] = NULL;
    return list.words;
}

/* ---- lines ---- */

typedef struct statement_text {
    char *bytes;
    size_t used, capacity;
} statement_text;

static void add_line(statement_text *text, const char *line)
{
    size_t size = strlen(line);
    text->bytes = alloc_grow(text->bytes, &text->capacity, text->used + size + 2, 1);
    memcpy(text->bytes + text->used, line, size);
    text->used += size;
    text->bytes[text->used++] = '\n';
    text->bytes[text->used] = '\0';
}

/* A dot begins a command only where a statement could begin. */
static void run_line(sql_job *job, statement_text *text, const char *line)
{
    sql_forget_stop();
    if (text->used == 0 && line[strspn(line, " \t")] == '.') {
        sql_run_dot(job, line + strspn(line, " \t"));
        out_flush(job->out);
        return;
    }
    if (text->used == 0 && line[strspn(line, " \t;")] == '\0')
        return;
    add_line(text, line);
    if (!sql_is_complete(text->bytes))
        return;
    sql_run_all(job, text->bytes);
    out_flush(job->out);
    text->used = 0;
}

int sql_shell(sql_job *job)
{
    statement_text text = {0};
    char *line;
    out_say(job->out, "%s on %s; .help lists commands", sql_library(),
            COUNTED(job->store_count, "store", "stores"));
    out_flush(job->out);
    while (!job->has_ended && !out_has_failed(job->out) &&
           (line = sql_edit_line(job, text.used ? "   ...> " : "lode> "))) {
        run_line(job, &text, line);
        free(line);
    }
    free(text.bytes);
    return EXIT_DONE;
}
