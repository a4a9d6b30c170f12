/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/recording.h"

#include "alloc.h"
#include "output/escape.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/damage.h"
#include "text/label.h"
#include "text/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_WIDTH 60 /* columns that a value takes in text */
#define DAY_SIZE    10 /* of a date as RFC 3339 has it */
#define CLOCK_SIZE  12 /* and of a time, with milliseconds */

/* ---- strings that are put together ---- */

/* Starts as all zero. */
typedef struct sentence {
    char *text;
    size_t used, capacity;
} sentence;

static void add(sentence *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(sentence *to, const char *format, ...)
{
    va_list arguments;
    char *piece = NULL;
    va_start(arguments, format);
    int length = vasprintf(&piece, format, arguments);
    va_end(arguments);
    if (length < 0)
        exit(report("out of memory"));
    to->text = alloc_grow(to->text, &to->capacity, to->used + (size_t)length, 1);
    memcpy(to->text + to->used, piece, (size_t)length + 1);
    to->used += (size_t)length;
    free(piece);
}

static const char *joint(const sentence *to, const char *between)
{
    return to->used > 0 ? between : "";
}

/* ---- the heading ---- */

static void add_durations(sentence *to, const lode_search_options *asked)
{
    char least[NUMBER_SIZE], most[NUMBER_SIZE];
    format_duration(least, asked->min_duration);
    format_duration(most, asked->max_duration);
    if (asked->min_duration && asked->max_duration)
        add(to, "took from %s to %s", least, most);
    else if (asked->min_duration)
        add(to, "took %s or more", least);
    else if (asked->max_duration)
        add(to, "took %s or less", most);
}

/* What was asked, in words that follow "requests". */
static void add_question(sentence *to, const lode_search_options *asked)
{
    add_durations(to, asked);
    if (asked->from || asked->to)
        add(to, "%sran in the time window", joint(to, " and "));
    if (asked->errors_only)
        add(to, "%shad errors", joint(to, " and "));
    for (size_t i = 0; i < asked->attribute_count; i++) {
        const lode_search_attribute *attribute = &asked->attributes[i];
        static const char *const signs[] = {"=", "~", "!=", "<", "<=", ">", ">="};
        const char *relation = attribute->value ? signs[attribute->is_part] : "";
        add(to, "%shad %s%s%s", joint(to, " and "), attribute->key, relation,
            attribute->value ? attribute->value : "");
    }
    for (size_t i = 0; i < asked->where_count; i++)
        add(to, "%shad %s", joint(to, " and "), asked->where[i]);
    if (asked->method)
        add(to, "%scalled '%s'", joint(to, " and "), asked->method);
    if (asked->text)
        add(to, "%scontained '%s'", joint(to, " and "), asked->text);
}

static const char *noun_of(const rec_session *s)
{
    return lode_recording_has_requests(s->recording) ? "requests" : "tasks";
}

void search_heading(out *o, const rec_session *s, uint64_t found, const lode_search_options *asked)
{
    sentence question = {0};
    char words[COUNTED_SIZE], all[COUNTED_SIZE];
    rec_count_tracks(all, s, rec_track_count(s));
    add_question(&question, asked);
    if (question.used == 0 && found == 0)
        out_say(o, "No %s.", noun_of(s));
    else if (question.used == 0)
        out_say(o, "%s\n", rec_count_tracks(words, s, found));
    else if (found == 0)
        out_say(o, "None of %s %s.", all, question.text);
    else
        out_say(o, "%s of %s %s\n", GROUPED(found), all, question.text);
    free(question.text);
}

/* ---- rows ---- */

enum {
    COLUMN_TID = 4,
    COLUMN_WHEN = 8,
    COLUMN_SINCE = 9,
    COLUMN_ERRORS = 12,
    COLUMN_NAME = 13,
    COLUMN_ATTRIBUTES = 15,
    COLUMN_COUNT = 16
};

/* Attributes are a column of CSV; in JSON they are an object at the same place. */
static const out_column all_columns[COLUMN_COUNT] = {
    {"number", "#", OUT_NUMBER, OUT_ALWAYS},
    {"track", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"id", "Id", OUT_STRING, OUT_IF_WIDE},
    {"pid", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"tid", "Task", OUT_NUMBER, OUT_DATA_ONLY},
    {"time_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"time", "", OUT_STRING, OUT_DATA_ONLY},
    {"date", "", OUT_STRING, OUT_DATA_ONLY},
    {"when", "When (UTC)", OUT_STRING, OUT_TEXT_ONLY},
    {"since", "Begins", OUT_TIME, OUT_NEVER},
    {"duration_ns", "Duration", OUT_TIME, OUT_ALWAYS},
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},
    {"errors", "Errors", OUT_INTEGER, OUT_DATA_ONLY},
    {"name", "Method", OUT_STRING, OUT_ALWAYS},
    {"exception", "", OUT_STRING, OUT_DATA_ONLY},
    {"attributes", "", OUT_STRING, OUT_NEVER},
};

typedef struct printer {
    out *out;
    rec_session *session;
    const lode_search_options *asked;
    out_column columns[COLUMN_COUNT + LODE_SEARCH_VALUES];
    size_t column_count;
    char *names[LODE_SEARCH_VALUES]; /* of columns of attributes */
    int is_one_day;                  /* of all rows: the title of a column says which */
    char title[32];
    label label;
} printer;

/* The time as RFC 3339 has it; "" if the recording does not know. */
static void time_of(const rec_session *s, const lode_search_row *row, char buffer[NUMBER_SIZE])
{
    uint64_t utc;
    buffer[0] = '\0';
    if (rec_utc(s, row->begin, &utc))
        format_rfc3339(buffer, utc);
}

/* A day that all rows are of is said once. */
static void find_day(printer *p, const lode_search *search)
{
    char first[NUMBER_SIZE] = "", time[NUMBER_SIZE];
    size_t count = lode_search_count(search);
    if (count == 0)
        return;
    time_of(p->session, lode_search_at(search, 0), first);
    p->is_one_day = first[0] != '\0';
    for (size_t i = 1; i < count && p->is_one_day; i++) {
        time_of(p->session, lode_search_at(search, i), time);
        p->is_one_day = strncmp(first, time, DAY_SIZE) == 0;
    }
    snprintf(p->title, sizeof p->title, "%.*s UTC", DAY_SIZE, first);
    if (p->is_one_day)
        p->columns[COLUMN_WHEN].title = p->title;
    if (first[0] == '\0') {
        p->columns[COLUMN_WHEN].visibility = OUT_NEVER;
        p->columns[COLUMN_SINCE].visibility = OUT_TEXT_ONLY;
    }
}

/* Each attribute that was asked for is a column, instead of one for all. */
static void add_columns(printer *p)
{
    p->columns[COLUMN_ATTRIBUTES].visibility = OUT_NEVER;
    for (size_t i = 0; i < p->asked->key_count; i++) {
        sentence name = {0};
        add(&name, "attribute.%s", p->asked->keys[i]);
        p->names[i] = name.text;
        p->columns[p->column_count++] = (out_column){name.text, "", OUT_STRING, OUT_DATA_ONLY};
    }
}

static void set_columns(printer *p, const lode_search *search)
{
    memcpy(p->columns, all_columns, sizeof all_columns);
    find_day(p, search);
    for (size_t i = 0; i < lode_search_count(search); i++)
        if (lode_search_at(search, i)->errors > 0)
            p->columns[COLUMN_ERRORS].visibility = OUT_ALWAYS;
    p->column_count = COLUMN_COUNT;
    if (out_format_of(p->out) == OUT_CSV)
        p->columns[COLUMN_ATTRIBUTES].visibility = OUT_DATA_ONLY;
    if (out_format_of(p->out) == OUT_CSV && p->asked->key_count)
        add_columns(p);
    if (lode_recording_has_requests(p->session->recording))
        return;
    p->columns[COLUMN_TID].visibility = OUT_ALWAYS;
    p->columns[COLUMN_NAME].title = "Name";
}

static void time_cells(printer *p, const lode_search_row *row)
{
    char time[NUMBER_SIZE], when[NUMBER_SIZE];
    time_of(p->session, row, time);
    const char *clock = time + DAY_SIZE + 1;
    if (p->is_one_day)
        snprintf(when, sizeof when, "%.*s", CLOCK_SIZE, clock);
    else
        snprintf(when, sizeof when, "%.*s %.*s", DAY_SIZE, time, time[0] ? CLOCK_SIZE : 0, clock);
    char date[NUMBER_SIZE];
    snprintf(date, sizeof date, "%.*s %.*s", DAY_SIZE, time, time[0] ? CLOCK_SIZE : 0, clock);
    OUT_CELLS(p->out, row->begin, time[0] ? time : NULL, time[0] ? date : NULL, when,
              row->begin - p->session->begin);
}

static const char *name_of(printer *p, const lode_search_row *row)
{
    if (!lode_recording_has_requests(p->session->recording))
        return lode_recording_track(p->session->recording, row->track)->name;
    return row->function ? label_name(&p->label, row->function, p->session->shared->names) : NULL;
}

/* For machines: values are whole. */
static void list_values(sentence *to, const lode_search_row *row)
{
    for (size_t i = 0; i < row->value_count; i++)
        add(to, "%s%s=%s", joint(to, "; "), row->values[i].key, row->values[i].value);
}

/* Numbers, Booleans and null are what the recording says they are; lists and maps are text. */
static void write_value(out *o, const lode_search_value *pair, const lode_search_type *type)
{
    const char *key = pair->key, *value = pair->value;
    switch (type->kind) {
    case LODE_VALUE_SIGNED:
        OUT_FIELDS(o, key, (int64_t)strtoll(value, NULL, 10));
        return;
    case LODE_VALUE_REAL:
        OUT_FIELDS(o, key, type->real);
        return;
    case LODE_VALUE_ENUM:
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
            OUT_FIELDS(o, key, value[0] == 't');
            return;
        }
        break;
    case LODE_VALUE_STRUCTURE:
        if (strcmp(value, "null") == 0) {
            OUT_FIELDS(o, key, out_none());
            return;
        }
        break;
    case LODE_VALUE_UNSIGNED: /* above 2^63, shown in hexadecimal */
    case LODE_VALUE_HEX:
    case LODE_VALUE_OCTAL:
    case LODE_VALUE_AUTO:
    case LODE_VALUE_CHARACTER:
    case LODE_VALUE_TEXT:
    case LODE_VALUE_POINTER:
    case LODE_VALUE_BYTES:
    case LODE_VALUE_CHANGE:
        break;
    }
    OUT_FIELDS(o, key, value);
}

static void write_values(out *o, const lode_search_row *row)
{
    out_object(o, "attributes");
    for (size_t i = 0; i < row->value_count; i++)
        write_value(o, &row->values[i], &row->types[i]);
    out_object_end(o);
}

/* For people: values are short, and those with blanks in quotes. */
static void show_value(printer *p, sentence *to, const lode_search_value *pair)
{
    char *shown = escape_text(pair->value, out_is_utf8(p->out));
    size_t length = strlen(shown);
    char *value = alloc_array(length + 4, 1);
    memcpy(value, shown, length);
    free(shown);
    utf8_elide(value, length + 4, VALUE_WIDTH, out_is_utf8(p->out) ? "…" : "...");
    const char *quote = strchr(value, ' ') || !value[0] ? "\"" : "";
    add(to, "%s%s=%s%s%s", joint(to, ", "), pair->key, quote, value, quote);
    free(value);
}

static void add_notes(printer *p, const lode_search_row *row)
{
    sentence values = {0}, thrown = {0};
    for (size_t i = 0; i < row->value_count; i++)
        show_value(p, &values, &row->values[i]);
    if (values.text)
        out_note(p->out, STYLE_DIM, values.text);
    if (row->exception[0])
        add(&thrown, "threw %s", row->exception);
    if (thrown.text)
        out_note(p->out, STYLE_ERROR, thrown.text);
    free(values.text);
    free(thrown.text);
}

static void write_row(printer *p, const lode_search_row *row)
{
    const lode_track *track = lode_recording_track(p->session->recording, row->track);
    sentence values = {0};
    out *o = p->out;
    list_values(&values, row);
    out_row(o, STYLE_PLAIN);
    uint32_t number = lode_track_number(p->session->recording, row->track);
    OUT_CELLS(o, (uint64_t)number + 1, number, track->id[0] ? track->id : NULL, (uint64_t)track->pid,
              (uint64_t)track->tid);
    time_cells(p, row);
    OUT_CELLS(o, row->duration, row->calls, row->errors, name_of(p, row),
              row->exception[0] ? row->exception : NULL, values.text);
    for (size_t i = COLUMN_COUNT; i < p->column_count; i++)
        OUT_CELLS(o, search_value(row, p->asked->keys[i - COLUMN_COUNT]));
    if (out_format_of(o) == OUT_JSON)
        write_values(o, row);
    if (out_format_of(o) == OUT_TEXT)
        add_notes(p, row);
    out_row_end(o);
    free(values.text);
}

/* ---- all ---- */

static void say_next_step(out *o, const rec_session *s, const lode_search_row *first)
{
    const lode_track *track = lode_recording_track(s->recording, first->track);
    out_gap(o);
    if (lode_recording_has_requests(s->recording))
        out_say(o, "'lode replay --id %u %s' shows the calls of the first",
                lode_track_number(s->recording, first->track) + 1, s->path);
    else
        out_say(o, "'lode replay --task %d %s' shows the calls of the first", (int)track->tid, s->path);
}

void search_print(out *o, rec_session *s, const lode_search *search, const lode_search_options *asked)
{
    size_t count = lode_search_count(search);
    printer p = {.out = o, .session = s, .asked = asked};
    out_begin(o, SCHEMA_SEARCH, s->path);
    rec_write_slice(o, s);
    out_fact_rows(o, count, lode_search_found(search));
    search_heading(o, s, lode_search_found(search), asked);
    set_columns(&p, search);
    out_table(o, OUT_MAIN, "rows", p.columns, p.column_count, UNIT_NANOSECONDS);
    for (size_t i = 0; i < count; i++)
        write_row(&p, lode_search_at(search, i));
    out_table_end(o);
    out_shown(o, count, lode_search_found(search), noun_of(s));
    if (count > 0)
        say_next_step(o, s, lode_search_at(search, 0));
    damage_write(o);
    out_end(o);
    label_free(&p.label);
    for (size_t i = 0; i < LODE_SEARCH_VALUES; i++)
        free(p.names[i]);
}
