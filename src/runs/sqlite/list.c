/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/sqlite/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which runs ---- */

typedef struct text {
    char *bytes;
    size_t length;
} text;

/* Never fails silently: without memory the text becomes NULL, and no statement. */
static void add(text *t, const char *more)
{
    size_t length = strlen(more);
    char *grown = t->length == 0 || t->bytes ? realloc(t->bytes, t->length + length + 1) : NULL;
    if (!grown)
        free(t->bytes);
    else
        memcpy(grown + t->length, more, length + 1);
    t->bytes = grown;
    t->length += length;
}

static int has_name_before(const run_filter *filter, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(filter->labels[i].name, filter->labels[index].name) == 0)
            return 1;
    return 0;
}

/* Values of labels with one name are alternatives. */
static void add_labels(text *t, const run_filter *filter)
{
    for (size_t i = 0; i < filter->label_count; i++) {
        char part[160];
        if (has_name_before(filter, i))
            continue;
        snprintf(part, sizeof part,
                 " AND EXISTS(SELECT 1 FROM label WHERE label.run = run.id AND label.name = ?%zu AND "
                 "label.value IN (",
                 SELECT_FIRST_LABEL + 2 * i);
        add(t, part);
        for (size_t k = i; k < filter->label_count; k++) {
            if (strcmp(filter->labels[k].name, filter->labels[i].name) != 0)
                continue;
            snprintf(part, sizeof part, "%s?%zu", k > i ? ", " : "", SELECT_FIRST_LABEL + 2 * k + 1);
            add(t, part);
        }
        add(t, "))");
    }
}

sqlite3_stmt *select_runs(database *c, const char *head, const run_filter *filter, const char *tail,
                          catalogue_error *error)
{
    text t = {0};
    add(&t, head);
    add(&t, " WHERE run.begun >= ?1 AND run.begun < ?2");
    if (filter->only)
        add(&t, " AND run.id = ?6");
    if (filter->before)
        add(&t, " AND (run.begun, run.id) < (SELECT begun, id FROM run WHERE id = ?3)");
    add_labels(&t, filter);
    add(&t, tail);
    sqlite3_stmt *statement = NULL;
    if (t.bytes)
        statement = database_prepare(c, t.bytes, error);
    else
        snprintf(error->text, sizeof error->text, "%s: out of memory", c->base.name);
    free(t.bytes);
    if (!statement)
        return NULL;
    sqlite3_bind_int64(statement, 1, (int64_t)(filter->from & INT64_MAX));
    sqlite3_bind_int64(statement, 2, filter->to && filter->to < INT64_MAX ? (int64_t)filter->to : INT64_MAX);
    if (filter->only)
        sqlite3_bind_int64(statement, 6, filter->only);
    if (filter->before)
        sqlite3_bind_int64(statement, 3, filter->before);
    for (size_t i = 0; i < filter->label_count; i++) {
        int index = (int)(SELECT_FIRST_LABEL + 2 * i);
        if (!has_name_before(filter, i))
            sqlite3_bind_text(statement, index, filter->labels[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, index + 1, filter->labels[i].value, -1, SQLITE_STATIC);
    }
    return statement;
}

/* ---- the labels of one ---- */

typedef struct labels {
    run_label *items;
    char **texts; /* two of each, to free */
    size_t count, capacity;
    sqlite3_stmt *statement;
} labels;

static void clear(labels *l)
{
    for (size_t i = 0; i < 2 * l->count; i++)
        free(l->texts[i]);
    l->count = 0;
}

static int keep(labels *l, const char *name, const char *value)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 16;
        run_label *items = realloc(l->items, capacity * sizeof *items);
        l->items = items ? items : l->items;
        char **texts = items ? realloc(l->texts, 2 * capacity * sizeof *texts) : NULL;
        if (!texts)
            return -1;
        l->texts = texts;
        l->capacity = capacity;
    }
    char **texts = l->texts + 2 * l->count;
    texts[0] = strdup(name);
    texts[1] = strdup(value);
    l->items[l->count++] = (run_label){texts[0], texts[1]};
    return texts[0] && texts[1] ? 0 : -1;
}

static int read_labels(database *c, labels *l, int64_t run, catalogue_error *error)
{
    int found;
    clear(l);
    sqlite3_reset(l->statement);
    sqlite3_bind_int64(l->statement, 1, run);
    while ((found = database_step(c, l->statement, error)) == 1)
        if (keep(l, database_text(l->statement, 0), database_text(l->statement, 1)) != 0) {
            snprintf(error->text, sizeof error->text, "%s: out of memory", c->base.name);
            return -1;
        }
    return found;
}

/* ---- the list ---- */

static run_row row_of(sqlite3_stmt *s)
{
    int has_total = sqlite3_column_type(s, 8) != SQLITE_NULL;
    return (run_row){.id = sqlite3_column_int64(s, 0),
                     .begun = database_unsigned(s, 1),
                     .added = database_unsigned(s, 2),
                     .bytes = database_unsigned(s, 3),
                     .profiles = database_unsigned(s, 4),
                     .path = database_text(s, 5),
                     .format = database_text(s, 6),
                     .metric = has_total ? database_text(s, 7) : NULL,
                     .total = has_total ? sqlite3_column_double(s, 8) : 0};
}

static int list_rows(database *c, sqlite3_stmt *statement, labels *l, run_row_fn on_run, void *user,
                     catalogue_error *error)
{
    int found;
    while ((found = database_step(c, statement, error)) == 1) {
        run_row row = row_of(statement);
        if (read_labels(c, l, row.id, error) < 0)
            return -1;
        row.labels = l->items;
        row.label_count = l->count;
        if (on_run(user, &row) != 0)
            return 0;
    }
    return found;
}

#define LIST_HEAD                                                                                            \
    "SELECT run.id, run.begun, run.added, run.bytes, run.profiles, run.path, run.format, metric.name, "      \
    "total.value FROM run LEFT JOIN metric ON "
#define LIST_JOIN " LEFT JOIN total ON total.metric = metric.id AND total.run = run.id"

int database_list(catalogue *of, const run_filter *filter, run_row_fn on_run, void *user,
                  catalogue_error *error)
{
    database *c = database_of(of);
    labels l = {0};
    const char *head = filter->metric ? LIST_HEAD "metric.name = ?4" LIST_JOIN
                                      : LIST_HEAD "metric.id = run.metric" LIST_JOIN;
    sqlite3_stmt *statement =
        select_runs(c, head, filter, " ORDER BY run.begun DESC, run.id DESC LIMIT ?5", error);
    if (!statement)
        return -1;
    if (filter->metric)
        sqlite3_bind_text(statement, 4, filter->metric, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, filter->limit ? (int64_t)(filter->limit & INT64_MAX) : -1);
    l.statement = database_prepare(c, "SELECT name, value FROM label WHERE run = ?1 ORDER BY name", error);
    int status = l.statement ? list_rows(c, statement, &l, on_run, user, error) : -1;
    sqlite3_finalize(statement);
    sqlite3_finalize(l.statement);
    clear(&l);
    free(l.items);
    free(l.texts);
    return status;
}

int database_count(catalogue *of, const run_filter *filter, uint64_t *count, catalogue_error *error)
{
    database *c = database_of(of);
    sqlite3_stmt *statement = select_runs(c, "SELECT count(*) FROM run", filter, "", error);
    int found = statement ? database_step(c, statement, error) : -1;
    *count = found == 1 ? database_unsigned(statement, 0) : 0;
    sqlite3_finalize(statement);
    return found < 0 ? -1 : 0;
}
