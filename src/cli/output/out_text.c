/* SPDX-License-Identifier: BSD-3-Clause */
/* Text output. A table is buffered, since column widths depend on all rows. */
#include "alloc.h"
#include "output/escape.h"
#include "output/out_backend.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_GAP   2
#define LAST_MINIMUM 16 /* columns that the last column gets, however narrow the terminal is */
#define LAST_COMFORT 48 /* width that optional columns leave to the last one, or half */

typedef struct text_cell {
    size_t start; /* in the bytes */
    size_t fixed; /* bytes at its beginning that are never shortened */
    size_t width;
    size_t unit_width; /* of what follows the number, 0 if nothing does */
} text_cell;

/* A line below a row. */
typedef struct text_note {
    size_t row;   /* its index */
    size_t start; /* in the bytes */
    out_style style;
} text_note;

struct text_table {
    char *bytes; /* cells, each ended by a NUL */
    size_t byte_count, byte_capacity;
    text_cell *cells; /* row by row, one for each column */
    size_t cell_count, cell_capacity;
    out_style *styles; /* one per row */
    size_t row_count, row_capacity;
    text_note *notes; /* by rising row */
    size_t note_count, note_capacity;
    size_t *widths;
    size_t *unit_widths; /* the largest of each column */
    int *is_filled;      /* by column: some cell is not empty */
    int *is_shown;
};

static const char *const style_codes[STYLE_SERIES + OUT_SERIES_COUNT] = {
    [STYLE_PLAIN] = "",        [STYLE_HEADING] = "1",      [STYLE_HOT] = "1;31",
    [STYLE_DIM] = "2",         [STYLE_ERROR] = "1;31",     [STYLE_WARNING] = "33",
    [STYLE_SERIES] = "32",     [STYLE_SERIES + 1] = "36",  [STYLE_SERIES + 2] = "33",
    [STYLE_SERIES + 3] = "35", [STYLE_SERIES + 4] = "34",  [STYLE_SERIES + 5] = "31",
    [STYLE_SERIES + 6] = "92", [STYLE_SERIES + 7] = "96",  [STYLE_SERIES + 8] = "93",
    [STYLE_SERIES + 9] = "95", [STYLE_SERIES + 10] = "94", [STYLE_SERIES + 11] = "91",
};

/* Blanks, line feeds and codes of styles; what comes from elsewhere goes through out_write. */
static void put(out *o, const char *text)
{
    out_raw(o, text, strlen(text));
}

static void put_spaces(out *o, size_t count)
{
    while (count-- > 0)
        put(o, " ");
}

static void begin_style(out *o, out_style style)
{
    if (o->has_color && style != STYLE_PLAIN) {
        put(o, "\033[");
        put(o, style_codes[style]);
        put(o, "m");
    }
}

static void end_style(out *o, out_style style)
{
    if (o->has_color && style != STYLE_PLAIN)
        put(o, "\033[0m");
}

void out_styled(out *o, out_style style, const char *text, size_t size)
{
    if (o->format != OUT_TEXT)
        return;
    begin_style(o, style);
    out_write(o, text, size);
    end_style(o, style);
}

void out_piece(out *o, out_style style, const char *text)
{
    out_styled(o, style, text, strlen(text));
}

/* One paragraph, without line feeds. A style ends with its line, and begins again with the next. */
static void wrap_paragraph(out *o, out_style style, const char *text, size_t size, size_t indent,
                           size_t column, size_t width)
{
    int is_first = 1;
    begin_style(o, style);
    while (size > 0) {
        size_t length = 0, blanks = 0;
        while (length < size && text[length] != ' ')
            length++;
        while (length + blanks < size && text[length + blanks] == ' ')
            blanks++;
        size_t columns = utf8_width_of(text, length);
        if (!is_first && width && column + 1 + columns > width) {
            end_style(o, style);
            put(o, "\n");
            put_spaces(o, indent);
            begin_style(o, style);
            column = indent;
            is_first = 1;
        }
        if (!is_first)
            put(o, " ");
        out_write(o, text, length);
        column += columns + !is_first;
        is_first = 0;
        text += length + blanks;
        size -= length + blanks;
    }
    end_style(o, style);
}

void out_wrap(out *o, const char *text, size_t indent, size_t column, size_t width)
{
    for (;;) {
        size_t size = strcspn(text, "\n");
        wrap_paragraph(o, STYLE_PLAIN, text, size, indent, column, width);
        put(o, "\n");
        if (text[size] == '\0')
            break;
        text += size + 1;
        column = 0;
    }
}

void out_heading(out *o, const char *title)
{
    if (o->format != OUT_TEXT)
        return;
    out_piece(o, STYLE_HEADING, title);
    put(o, "\n");
}

static void text_begin(out *o, out_schema schema, const char *store)
{
    (void)o;
    (void)schema;
    (void)store;
}

static void text_end(out *o)
{
    (void)o;
}

static void text_table_begin(out *o, const char *key)
{
    (void)key;
    text_table *table = alloc_array(1, sizeof *table);
    table->widths = alloc_array(o->column_count, sizeof *table->widths);
    table->unit_widths = alloc_array(o->column_count, sizeof *table->unit_widths);
    table->is_filled = alloc_array(o->column_count, sizeof *table->is_filled);
    table->is_shown = alloc_array(o->column_count, sizeof *table->is_shown);
    for (size_t i = 0; i < o->column_count; i++) {
        table->widths[i] = utf8_width(o->columns[i].title);
        table->is_shown[i] = out_shows(o, &o->columns[i]);
    }
    o->text = table;
}

static void text_row(out *o, out_style style)
{
    text_table *table = o->text;
    table->styles = alloc_grow(table->styles, &table->row_capacity, table->row_count, sizeof *table->styles);
    table->styles[table->row_count++] = style;
    for (size_t i = 0; i < o->column_count; i++) {
        table->cells =
            alloc_grow(table->cells, &table->cell_capacity, table->cell_count, sizeof *table->cells);
        table->cells[table->cell_count++] = (text_cell){.start = SIZE_MAX};
    }
}

/* What follows the space in "1.000 ms". */
static size_t unit_width_of(const char *number)
{
    const char *space = strrchr(number, ' ');
    return space ? strlen(space + 1) : 0;
}

static int is_text(const out_column *column)
{
    return column->kind == OUT_STRING || column->kind == OUT_PROSE || column->kind == OUT_DIGITS;
}

/* "+3.1%", "x12", "new", "gone". */
static void format_ratio(char buffer[NUMBER_SIZE], double ratio)
{
    if (ratio > 1e6 || ratio <= 0)
        snprintf(buffer, NUMBER_SIZE, "%s", ratio <= 0 ? "gone" : "new");
    else if (ratio >= 10)
        snprintf(buffer, NUMBER_SIZE, "x%.*f", ratio < 100 ? 1 : 0, ratio);
    else
        snprintf(buffer, NUMBER_SIZE, "%+.1f%%", (ratio - 1) * 100);
}

static void format_change(char buffer[NUMBER_SIZE], double value, metric_unit unit)
{
    buffer[0] = '+';
    format_amount(buffer + (value > 0), value, unit);
}

void out_format_number(const out *o, const out_column *column, const out_value *value,
                       char buffer[NUMBER_SIZE])
{
    switch (column->kind) {
    case OUT_STRING:
    case OUT_DIGITS:
    case OUT_PROSE:
        break;
    case OUT_INTEGER:
        format_count(buffer, value->integer);
        break;
    case OUT_NUMBER:
    case OUT_MOMENT:
    case OUT_ADDRESS:
        snprintf(buffer, NUMBER_SIZE, "%llu", (unsigned long long)value->integer);
        break;
    case OUT_REAL:
        format_amount(buffer, value->real, o->unit);
        break;
    case OUT_CHANGE:
        format_change(buffer, value->real, o->unit);
        break;
    case OUT_RATIO:
        format_ratio(buffer, value->real);
        break;
    case OUT_PERCENT:
        format_percent(buffer, value->real);
        break;
    case OUT_TIME:
        format_duration(buffer, value->integer);
        break;
    case OUT_BYTES:
        format_bytes(buffer, value->integer);
        break;
    case OUT_BOOL:
        snprintf(buffer, NUMBER_SIZE, "%s", value->integer ? "yes" : "no");
        break;
    }
}

/* A copy that may be shown, among the bytes of the table. Returns where it is. */
static size_t keep_text(text_table *table, const char *text, int has_utf8)
{
    size_t size = strlen(text), start = table->byte_count;
    char *shown = escape_plain(text, size, has_utf8) < size ? escape_text(text, has_utf8) : NULL;
    size = (shown ? strlen(shown) : size) + 1;
    table->bytes = alloc_grow(table->bytes, &table->byte_capacity, start + size, 1);
    memcpy(table->bytes + start, shown ? shown : text, size);
    table->byte_count += size;
    free(shown);
    return start;
}

void out_note(out *o, out_style style, const char *text)
{
    text_table *table = o->text;
    if (table == NULL || table->row_count == 0)
        return;
    table->notes = alloc_grow(table->notes, &table->note_capacity, table->note_count, sizeof *table->notes);
    table->notes[table->note_count++] =
        (text_note){table->row_count - 1, keep_text(table, text, o->is_utf8), style};
}

static void text_cell_add(out *o, const out_column *column, const out_value *value)
{
    text_table *table = o->text;
    char number[NUMBER_SIZE] = "";
    if (value->type != VALUE_NONE && !is_text(column))
        out_format_number(o, column, value, number);
    const char *text = value->type != VALUE_NONE && is_text(column) ? value->text : number;
    size_t index = (size_t)(column - o->columns);
    text_cell *cell = &table->cells[table->cell_count - o->column_count + index];
    cell->start = keep_text(table, text, o->is_utf8);
    cell->fixed = value->fixed;
    cell->width = utf8_width(table->bytes + cell->start);
    cell->unit_width = unit_width_of(number);
    if (cell->unit_width > table->unit_widths[index])
        table->unit_widths[index] = cell->unit_width;
}

static void text_row_end(out *o)
{
    (void)o;
}

/* Sets the widths. Pads short units to the longest of the column, to align decimal points. */
static void measure(out *o)
{
    text_table *table = o->text;
    for (size_t i = 0; i < table->cell_count; i++) {
        text_cell *cell = &table->cells[i];
        size_t column = i % o->column_count;
        table->is_filled[column] |= cell->width > 0;
        if (cell->unit_width)
            cell->width += table->unit_widths[column] - cell->unit_width;
        if (cell->width > table->widths[column])
            table->widths[column] = cell->width;
    }
}

/* The columns that all but the last shown one take; sets `last`. */
static size_t fixed_width(const out *o, size_t *last)
{
    const text_table *table = o->text;
    size_t width = 0;
    *last = 0;
    for (size_t i = 0; i < o->column_count; i++)
        if (table->is_shown[i])
            *last = i;
    for (size_t i = 0; i < *last; i++)
        if (table->is_shown[i])
            width += table->widths[i] + COLUMN_GAP;
    return width;
}

static int is_optional(const out_column *column)
{
    return column->visibility == OUT_IF_WIDE || column->visibility == OUT_TEXT_IF_WIDE;
}

/* Drops empty optional columns, then others from the right, to fit. Returns the last width. */
static size_t fit_columns(out *o, size_t *last)
{
    text_table *table = o->text;
    for (size_t i = 0; i < o->column_count; i++)
        table->is_shown[i] &= table->is_filled[i] || !is_optional(&o->columns[i]);
    size_t fixed = fixed_width(o, last);
    if (o->width == 0)
        return SIZE_MAX;
    for (size_t i = o->column_count; i-- > 0;) {
        size_t most = is_optional(&o->columns[*last]) ? LAST_MINIMUM + LAST_MINIMUM / 2 : LAST_COMFORT;
        size_t comfort = o->width / 2 < most ? o->width / 2 : most;
        size_t wanted = table->widths[*last] < comfort ? table->widths[*last] : comfort;
        if (fixed + wanted <= o->width)
            break;
        if (table->is_shown[i] && is_optional(&o->columns[i])) {
            table->is_shown[i] = 0;
            fixed = fixed_width(o, last);
        }
    }
    size_t left = o->width > fixed ? o->width - fixed : 0;
    return left > LAST_MINIMUM ? left : LAST_MINIMUM;
}

/* Shortens what follows the first `fixed` bytes. */
static void put_elided(out *o, const char *text, size_t fixed, size_t width)
{
    size_t capacity = strlen(text) + 4;
    char *copy = alloc_array(capacity, 1);
    memcpy(copy, text, fixed);
    size_t taken = utf8_width(copy);
    memcpy(copy + fixed, text + fixed, strlen(text + fixed));
    utf8_elide(copy + fixed, capacity - fixed, width > taken ? width - taken : 0, o->is_utf8 ? "…" : "...");
    out_write(o, copy, strlen(copy));
    free(copy);
}

/* Text after the blanks that are due before it; blanks at the end of a line are never written. */
static void put_after(out *o, size_t *blanks, const char *text, size_t fixed, size_t width)
{
    if (text[0] == '\0')
        return;
    put_spaces(o, *blanks);
    *blanks = 0;
    put_elided(o, text, fixed, width);
}

/* The last column as prose: lines of `width` columns below each other. */
static void put_prose(out *o, size_t blanks, const char *text, size_t width)
{
    size_t indent = width < o->width ? o->width - width : 0;
    put_spaces(o, text[0] ? blanks : 0);
    wrap_paragraph(o, STYLE_PLAIN, text, strlen(text), indent, indent, o->width);
}

/* One line of a table; `cells` NULL: the titles. Numbers are right-aligned, units aligned. */
static void put_line(out *o, const text_cell *cells, size_t last, size_t last_width)
{
    const text_table *table = o->text;
    size_t blanks = 0;
    for (size_t i = 0; i <= last; i++) {
        text_cell cell = {.start = SIZE_MAX,
                          .width = cells ? cells[i].width : utf8_width(o->columns[i].title)};
        const char *text = cells ? "" : o->columns[i].title;
        if (!table->is_shown[i])
            continue;
        if (cells && cells[i].start != SIZE_MAX) {
            cell = cells[i];
            text = table->bytes + cell.start;
        }
        size_t padding = table->widths[i] - cell.width;
        int is_string = is_text(&o->columns[i]) && o->columns[i].kind != OUT_DIGITS;
        blanks += is_string ? 0 : padding;
        if (i == last && o->columns[i].kind == OUT_PROSE)
            put_prose(o, blanks, text, last_width);
        else
            put_after(o, &blanks, text, cell.fixed, i == last ? last_width : SIZE_MAX);
        blanks += COLUMN_GAP + (is_string ? padding : 0);
        if (cell.unit_width)
            blanks += table->unit_widths[i] - cell.unit_width;
    }
}

static void put_styled_line(out *o, out_style style, const text_cell *cells, size_t last, size_t last_width)
{
    begin_style(o, style);
    put_line(o, cells, last, last_width);
    end_style(o, style);
    put(o, "\n");
}

/* Notes stand below the second column, so that the first one leads from row to row. */
static void put_note(out *o, const text_note *note)
{
    const text_table *table = o->text;
    const char *text = table->bytes + note->start;
    size_t first = 0;
    while (first + 1 < o->column_count && !table->is_shown[first])
        first++;
    size_t indent = table->widths[first] + COLUMN_GAP;
    put_spaces(o, indent);
    wrap_paragraph(o, note->style, text, strlen(text), indent, indent, o->width);
    put(o, "\n");
}

static void put_rows(out *o)
{
    const text_table *table = o->text;
    size_t last = 0, last_width, note = 0;
    measure(o);
    last_width = fit_columns(o, &last);
    if (table->row_count > 0)
        put_styled_line(o, STYLE_HEADING, NULL, last, last_width);
    for (size_t row = 0; row < table->row_count; row++) {
        put_styled_line(o, table->styles[row], &table->cells[row * o->column_count], last, last_width);
        for (; note < table->note_count && table->notes[note].row == row; note++)
            put_note(o, &table->notes[note]);
    }
}

static void text_table_end(out *o)
{
    put_rows(o);
    free(o->text->bytes);
    free(o->text->cells);
    free(o->text->styles);
    free(o->text->notes);
    free(o->text->widths);
    free(o->text->unit_widths);
    free(o->text->is_filled);
    free(o->text->is_shown);
    free(o->text);
    o->text = NULL;
}

const out_backend out_backend_text = {
    .begin = text_begin,
    .end = text_end,
    .table = text_table_begin,
    .row = text_row,
    .cell = text_cell_add,
    .row_end = text_row_end,
    .table_end = text_table_end,
};
