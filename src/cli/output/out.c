/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/out.h"

#include "alloc.h"
#include "host.h"
#include "options/option.h"
#include "output/escape.h"
#include "output/out_backend.h"
#include "output/report.h"
#include "text/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LABEL_WIDTH 11

static unsigned columns_of_environment(void)
{
    const char *text = getenv("COLUMNS");
    unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
    return columns >= 20 && columns <= 10000 ? (unsigned)columns : 0;
}

static void find_terminal(out *o, int color)
{
    struct winsize size;
    int is_terminal = isatty(o->fd);
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    int is_dumb = terminal && strcmp(terminal, "dumb") == 0;
    int is_wanted = color == COLOR_AUTO && is_terminal && !(no_color && no_color[0]) && !is_dumb;
    o->has_color = color == COLOR_ALWAYS || is_wanted;
    o->is_utf8 = escape_has_utf8();
    if (is_terminal && ioctl(o->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        o->width = size.ws_col;
    else
        o->width = columns_of_environment();
}

out *out_open(const out_settings *settings)
{
    static const out_backend *const backends[] = {&out_backend_text, &out_backend_json, &out_backend_csv,
                                                  &out_backend_markdown};
    out *o = alloc_array(1, sizeof *o);
    o->format = settings->format;
    o->is_raw = settings->is_raw;
    o->table = settings->table;
    o->backend = backends[settings->format];
    o->is_silent = settings->is_silent;
    o->file = settings->file && strcmp(settings->file, "-") != 0 && !o->is_silent ? settings->file : NULL;
    o->store_key = settings->store;
    o->on_end = settings->on_end;
    o->label_width = LABEL_WIDTH;
    o->is_first = 1;
    if (o->file && out_file_open(&o->target, o->file) != 0) {
        free(o);
        return NULL;
    }
    o->host = o->file ? NULL : host_current();
    o->fd = o->file ? o->target.fd : o->host ? -1 : STDOUT_FILENO;
    find_terminal(o, settings->color);
    return o;
}

/* A file is written atomically. */
static int finish_file(out *o, int status)
{
    int is_complete = status != EXIT_TROUBLE && !o->error;
    if (o->host)
        return o->error;
    int error = o->file ? out_file_close(&o->target, is_complete) : close(o->fd) != 0 ? errno : 0;
    return o->error ? o->error : error;
}

/* Whether the reader of standard output has left. */
static int has_left(const out *o, int error)
{
    return error == EPIPE && !o->file;
}

int out_close(out *o, int status)
{
    if (o->format == OUT_CSV && o->table && !o->has_table && status != EXIT_TROUBLE)
        status = report("the answer has no table '%s'; there are: %s", o->table, o->tables);
    out_flush(o);
    int error = finish_file(o, status);
    if (error && !has_left(o, error))
        status = report("%s: %s",
                        o->file   ? o->file
                        : o->host ? "the answer"
                                  : "standard output",
                        strerror(error));
    free(o);
    return status;
}

out_format out_format_of(const out *o)
{
    return o->format;
}

int out_is_prose(const out *o)
{
    return o->format == OUT_TEXT || o->format == OUT_MARKDOWN;
}

int out_has_failed(const out *o)
{
    return o->error != 0;
}

int out_is_lost(const out *o)
{
    return o->error != 0 && !has_left(o, o->error);
}

int out_is_utf8(const out *o)
{
    return o->is_utf8;
}

int out_is_terminal(const out *o)
{
    return isatty(o->fd);
}

unsigned out_width(const out *o, unsigned otherwise)
{
    return o->width ? o->width : otherwise;
}

void out_flush(out *o)
{
    size_t done = o->is_silent ? o->used : 0;
    if (o->host && o->used && !o->error) {
        o->error = o->host->on_output(o->host->user, o->buffer, o->used);
        done = o->used;
    }
    while (done < o->used && !o->error) {
        ssize_t size = write(o->fd, o->buffer + done, o->used - done);
        if (size >= 0)
            done += (size_t)size;
        else if (errno != EINTR)
            o->error = errno;
    }
    o->used = 0;
}

void out_raw(out *o, const char *bytes, size_t size)
{
    while (size && !o->error) {
        size_t room = sizeof o->buffer - o->used;
        size_t part = size < room ? size : room;
        memcpy(o->buffer + o->used, bytes, part);
        o->used += part;
        bytes += part;
        size -= part;
        if (o->used == sizeof o->buffer)
            out_flush(o);
    }
}

void out_write(out *o, const char *text, size_t size)
{
    char escape[ESCAPE_SIZE];
    while (size) {
        size_t plain = escape_plain(text, size, o->is_utf8);
        out_raw(o, text, plain);
        text += plain;
        size -= plain;
        if (size == 0)
            break;
        size_t length = escape_first(text, size, escape);
        out_raw(o, escape, strlen(escape));
        text += length;
        size -= length;
    }
}

/* Formats into memory that the caller frees. */
static char *format_text(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        exit(report("out of memory"));
    return text;
}

/* Lines of the program, each of them written as text. */
static void write_lines(out *o, const char *text)
{
    for (;;) {
        size_t size = strcspn(text, "\n");
        out_write(o, text, size);
        if (text[size] == '\0')
            return;
        out_raw(o, "\n", 1);
        text += size + 1;
    }
}

void out_print(out *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    write_lines(o, text);
    free(text);
}

typedef struct sentence {
    char *text;           /* safe to show */
    size_t before, after; /* line feeds at the ends of the format, which the text does not have */
} sentence;

static sentence format_sentence(int has_utf8, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static sentence format_sentence(int has_utf8, const char *format, va_list arguments)
{
    char *text = format_text(format, arguments);
    size_t length = strlen(text), format_length = strlen(format);
    sentence s = {.before = strspn(format, "\n")};
    while (s.before + s.after < format_length && format[format_length - 1 - s.after] == '\n')
        s.after++;
    text[length - s.after] = '\0';
    s.text = escape_text(text + s.before, has_utf8);
    free(text);
    return s;
}

static void put_feeds(out *o, size_t count)
{
    while (count-- > 0)
        out_raw(o, "\n", 1);
}

/* A sentence, wrapped, or a line as it is. */
static void __attribute__((format(printf, 3, 0)))
say(out *o, int is_line, const char *format, va_list arguments)
{
    if (!out_is_prose(o))
        return;
    sentence s = format_sentence(o->is_utf8, format, arguments);
    put_feeds(o, s.before);
    if (o->format == OUT_MARKDOWN) {
        out_markdown_text(o, s.text);
        put_feeds(o, 2); /* a paragraph */
    } else if (is_line)
        out_write(o, s.text, strlen(s.text));
    else
        out_wrap(o, s.text, 0, 0, o->width);
    put_feeds(o, s.after + (is_line ? 1 : 0));
    free(s.text);
}

void out_say(out *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(o, 0, format, arguments);
    va_end(arguments);
}

void out_line(out *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(o, 1, format, arguments);
    va_end(arguments);
}

void out_labels(out *o, size_t width)
{
    o->label_width = width;
}

void out_entry(out *o, const char *label, const char *format, ...)
{
    if (!out_is_prose(o))
        return;
    va_list arguments;
    va_start(arguments, format);
    sentence s = format_sentence(o->is_utf8, format, arguments);
    va_end(arguments);
    char *shown = escape_text(label, o->is_utf8);
    if (o->format == OUT_MARKDOWN) {
        out_markdown_text(o, shown);
        out_raw(o, " ", 1);
        out_markdown_text(o, s.text);
        put_feeds(o, 2);
        free(shown);
        free(s.text);
        return;
    }
    size_t width = utf8_width(shown);
    size_t column = width < o->label_width ? o->label_width : width;
    out_print(o, "%s%*s", shown, (int)(column - width), "");
    out_wrap(o, s.text, o->label_width, column, o->width);
    put_feeds(o, s.after);
    free(shown);
    free(s.text);
}

void out_shown(out *o, uint64_t shown, uint64_t count, const char *noun)
{
    char part[NUMBER_SIZE], all[NUMBER_SIZE];
    format_count(part, shown);
    format_count(all, count);
    if (shown < count)
        out_say(o, "showing %s of %s %s (--limit 0 shows all)", part, all, noun);
}

void out_gap(out *o)
{
    if (o->format == OUT_TEXT)
        out_raw(o, "\n", 1);
}

void out_begin(out *o, out_schema schema, const char *store)
{
    o->has_begun = 1;
    o->backend->begin(o, schema, store);
}

void out_end(out *o)
{
    if (o->on_end)
        o->on_end(o);
    o->backend->end(o);
}

void out_fact_rows(out *o, uint64_t shown, uint64_t count)
{
    OUT_FIELDS(o, "row_count", count, "is_truncated", shown < count);
}

int out_has_table(const out *o, out_rank rank, const char *key)
{
    if (o->format != OUT_CSV)
        return 1;
    return o->table ? strcmp(o->table, key) == 0 : rank == OUT_MAIN;
}

/* For the message that there is no table of a name. */
static void note_table(out *o, const char *key)
{
    size_t used = strlen(o->tables);
    snprintf(o->tables + used, sizeof o->tables - used, "%s%s", used ? ", " : "", key);
}

void out_table(out *o, out_rank rank, const char *key, const out_column *columns, size_t column_count,
               metric_unit unit)
{
    o->columns = columns;
    o->column_count = column_count;
    o->unit = unit;
    o->is_table_hidden = !out_has_table(o, rank, key);
    o->has_table |= !o->is_table_hidden;
    if (o->is_table_hidden)
        note_table(o, key);
    else
        o->backend->table(o, key);
}

void out_unit(out *o, metric_unit unit)
{
    o->unit = unit;
}

void out_row(out *o, out_style style)
{
    o->column = 0;
    if (!o->is_table_hidden)
        o->backend->row(o, style);
}

void out_row_end(out *o)
{
    if (!o->is_table_hidden)
        o->backend->row_end(o);
}

void out_table_end(out *o)
{
    if (!o->is_table_hidden)
        o->backend->table_end(o);
}

int out_shows(const out *o, const out_column *column)
{
    switch (column->visibility) {
    case OUT_ALWAYS:
    case OUT_IF_WIDE:
        return 1;
    case OUT_TEXT_ONLY:
    case OUT_TEXT_IF_WIDE:
        return out_is_prose(o);
    case OUT_DATA_ONLY:
        return !out_is_prose(o);
    case OUT_CSV_ONLY:
        return o->format == OUT_CSV;
    case OUT_NEVER:
        break;
    }
    return 0;
}

void out_cell_value(out *o, out_value value)
{
    if (o->column >= o->column_count)
        return;
    const out_column *column = &o->columns[o->column++];
    if (!o->is_table_hidden && out_shows(o, column))
        o->backend->cell(o, column, &value);
}

out_value out_none(void)
{
    return (out_value){.type = VALUE_NONE};
}

out_value out_text(const char *value)
{
    return (out_value){.type = value ? VALUE_TEXT : VALUE_NONE, .text = value};
}

out_value out_branch(const char *value, size_t fixed)
{
    return (out_value){.type = VALUE_TEXT, .text = value, .fixed = fixed};
}

out_value out_u64(uint64_t value)
{
    return (out_value){.type = VALUE_U64, .integer = value, .real = (double)value};
}

out_value out_u64_if(int is_there, uint64_t value)
{
    return is_there ? out_u64(value) : out_none();
}

out_value out_i64(int64_t value)
{
    return (out_value){.type = VALUE_I64, .integer = (uint64_t)value, .real = (double)value};
}

out_value out_real(double value)
{
    /* What no integer holds is the next one: none below zero, none of 2^64 and more. */
    uint64_t integer = !(value > 0) ? 0 : value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
    return (out_value){.type = VALUE_REAL, .real = value, .integer = integer};
}

out_value out_real_if(int is_there, double value)
{
    return is_there ? out_real(value) : out_none();
}

out_value out_finite(double value)
{
    return out_real_if(isfinite(value), value);
}

out_value out_share(double part, double whole)
{
    return whole > 0 ? out_real(part / whole) : out_none();
}

out_value out_digits(uint64_t value)
{
    return (out_value){.type = VALUE_DIGITS, .integer = value, .real = (double)value};
}

void out_cell_text(out *o, const char *value)
{
    out_cell_value(o, out_text(value));
}

void out_cell_u64(out *o, uint64_t value)
{
    out_cell_value(o, out_u64(value));
}

void out_cell_real(out *o, double value)
{
    out_cell_value(o, out_real(value));
}
