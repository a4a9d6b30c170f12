/* SPDX-License-Identifier: BSD-3-Clause */
#include "select.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static void json_text(buffer *to, const char *text)
{
    buffer_text(to, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buffer_text(to, "\\");
        if ((unsigned char)*text < 0x20)
            buffer_format(to, "\\u%04x", (unsigned)*text);
        else
            buffer_put(to, text, 1);
    }
    buffer_text(to, "\"");
}

void json_of_labels(buffer *to, const run_label *labels, size_t count)
{
    buffer_text(to, "{");
    for (size_t i = 0; i < count; i++) {
        buffer_text(to, i ? ", " : "");
        json_text(to, labels[i].name);
        buffer_text(to, ": ");
        json_text(to, labels[i].value);
    }
    buffer_text(to, "}");
}

/* ---- statements ---- */

int statement_begin(statement *to, session *s, const char *head, catalogue_error *error)
{
    *to = (statement){.values = {.count = 0}};
    if (session_find_project(s, error) != 0)
        return -1;
    put_integer(&to->values, s->project_id);
    buffer_text(&to->sql, head);
    return 0;
}

void statement_free(statement *to)
{
    buffer_free(&to->sql);
    parameters_free(&to->values);
}

PGresult *statement_ask(statement *to, session *s, const char *types, catalogue_error *error)
{
    if (to->sql.is_out_of_memory || !to->sql.bytes) {
        session_no_memory(s, error);
        return NULL;
    }
    return session_ask(s, to->sql.bytes, &to->values, types, ASK_AGAIN, error);
}

/* ---- conditions ---- */

static int is_title(const run_label *label)
{
    return strcmp(label->name, "title") == 0;
}

static int has_name_before(const run_filter *filter, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(filter->labels[i].name, filter->labels[index].name) == 0)
            return 1;
    return 0;
}

/* Values of labels with one name are alternatives. */
static void add_label(statement *to, const run_filter *filter, size_t index)
{
    buffer_text(&to->sql, " AND (");
    for (size_t k = index; k < filter->label_count; k++) {
        buffer json = {NULL, 0, 0, 0};
        if (strcmp(filter->labels[k].name, filter->labels[index].name) != 0)
            continue;
        json_of_labels(&json, &filter->labels[k], 1);
        buffer_format(&to->sql, "%sr.labels @> $%d::jsonb", k > index ? " OR " : "",
                      put_text(&to->values, json.bytes));
        buffer_free(&json);
    }
    buffer_text(&to->sql, ")");
}

/* A title is a number of its own: a range of an index. Returns how many there are. */
static size_t add_titles(statement *to, const run_filter *filter, const char *alias)
{
    size_t count = 0;
    for (size_t i = 0; i < filter->label_count; i++)
        count += is_title(&filter->labels[i]) ? 1 : 0;
    if (count == 0)
        return 0;
    /* With "=", the index also has the order; "" would be the runs without a title. */
    buffer_format(&to->sql,
                  " AND %s.series = %s(SELECT s.id FROM lode.series s WHERE s.project = $1::int4 AND "
                  "s.title <> '' AND s.digest IN (",
                  alias, count > 1 ? "ANY(ARRAY" : "");
    for (size_t i = 0, seen = 0; i < filter->label_count; i++)
        if (is_title(&filter->labels[i]))
            buffer_format(&to->sql, "%slode.digest($%d)", seen++ ? ", " : "",
                          put_text(&to->values, filter->labels[i].value));
    buffer_text(&to->sql, count > 1 ? ")))" : "))");
    return count;
}

static int add_before(statement *to, session *s, int64_t run, catalogue_error *error)
{
    int64_t begun = 0;
    int found = session_find_run(s, run, &begun, error);
    if (found == 0) {
        int time = put_integer(&to->values, begun), number = put_integer(&to->values, run);
        buffer_format(&to->sql, " AND (r.begun_ns, r.id) < ($%d, $%d)", time, number);
    } else {
        buffer_text(&to->sql, " AND false");
    }
    return found < 0 ? -1 : 0;
}

static void add_times(statement *to, const run_filter *filter, const char *alias)
{
    if (filter->from)
        buffer_format(&to->sql, " AND %s.begun_ns >= $%d", alias,
                      put_integer(&to->values, (int64_t)(filter->from & INT64_MAX)));
    if (filter->to && filter->to < INT64_MAX)
        buffer_format(&to->sql, " AND %s.begun_ns < $%d", alias,
                      put_integer(&to->values, (int64_t)filter->to));
}

/* What is not a title or a time. */
static int add_rest(statement *to, session *s, const run_filter *filter, catalogue_error *error)
{
    if (filter->only)
        buffer_format(&to->sql, " AND r.id = $%d", put_integer(&to->values, filter->only));
    for (size_t i = 0; i < filter->label_count; i++)
        if (!is_title(&filter->labels[i]) && !has_name_before(filter, i))
            add_label(to, filter, i);
    return filter->before ? add_before(to, s, filter->before, error) : 0;
}

static int bound_labels(const session *s, const run_filter *filter, catalogue_error *error)
{
    return filter->label_count <= CATALOGUE_LABELS_MAX ? 0 : session_fail(s, error, "too many labels");
}

int select_runs(statement *to, session *s, const run_filter *filter, catalogue_error *error)
{
    if (bound_labels(s, filter, error) != 0)
        return -1;
    buffer_text(&to->sql, " WHERE r.project = $1::int4");
    add_titles(to, filter, "r");
    add_times(to, filter, "r");
    return add_rest(to, s, filter, error);
}

static int needs_runs(const run_filter *filter)
{
    for (size_t i = 0; i < filter->label_count; i++)
        if (!is_title(&filter->labels[i]))
            return 1;
    return filter->only || filter->before;
}

int select_costs(statement *to, session *s, const run_filter *filter, catalogue_error *error)
{
    if (bound_labels(s, filter, error) != 0)
        return -1;
    int has_runs = needs_runs(filter);
    if (has_runs)
        buffer_text(&to->sql, " JOIN lode.run r ON r.id = c.run");
    buffer_text(&to->sql, " WHERE c.project = $1::int4");
    /* The index on costs begins with titles. */
    if (add_titles(to, filter, "c") == 0)
        buffer_text(&to->sql, " AND c.series = ANY(ARRAY(SELECT a.id FROM lode.series a WHERE a.project = "
                              "$1::int4))");
    add_times(to, filter, "c");
    /* Months that need not be looked at. */
    if (filter->from)
        buffer_format(&to->sql, " AND c.begun >= $%d", put_time(&to->values, filter->from & INT64_MAX));
    if (filter->to && filter->to < INT64_MAX)
        buffer_format(&to->sql, " AND c.begun <= $%d", put_time(&to->values, filter->to));
    return has_runs ? add_rest(to, s, filter, error) : 0;
}

void select_order(statement *to, const run_filter *filter, const char *alias, const char *id)
{
    buffer_format(&to->sql, " ORDER BY %s.begun_ns DESC, %s.%s DESC", alias, alias, id);
    if (filter->limit)
        buffer_format(&to->sql, " LIMIT %" PRIu64, filter->limit & INT64_MAX);
}
