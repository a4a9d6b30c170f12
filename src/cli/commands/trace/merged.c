/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that add up several trace lines or tracks. */
#include "alloc.h"
#include "commands/trace/draw.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 160
#define MORE_SIZE 24

/* Letters of a row. Keys follow the order of shares, which those of letters do too. */
static void fill_row(const lode_picture *picture, const char by_key[256], uint32_t row, char *cells)
{
    unsigned columns = lode_picture_columns(picture);
    const uint8_t *keys = lode_picture_keys(picture) + (size_t)row * columns;
    for (unsigned i = 0; i < columns; i++)
        cells[i] = by_key[keys[i]];
    cells[columns] = '\0';
}

static void letters_by_key(const lode_picture *picture, const trace_key *key, char by_key[256])
{
    for (unsigned i = 0; i < 256; i++)
        by_key[i] = LETTER_OTHER;
    by_key[LODE_PICTURE_NOTHING] = LETTER_NOTHING;
    by_key[LODE_PICTURE_NOT_RUNNING] = LETTER_IDLE;
    for (size_t i = 0; i < key->count; i++) {
        int number = lode_picture_share_at(picture, i)->key;
        if (number != LODE_PICTURE_OTHERS)
            by_key[number] = key->letters[i];
    }
}

static uint32_t lines_of(const lode_picture *picture, uint32_t row)
{
    return lode_picture_row_begin(picture, row + 1) - lode_picture_row_begin(picture, row);
}

void trace_draw_picture(out *o, const trace_drawing *d, const trace_key *key)
{
    char by_key[256], *cells = alloc_array((size_t)d->columns + 1, 1);
    uint32_t rows = lode_picture_rows(d->picture);
    uint64_t window[2];
    letters_by_key(d->picture, key, by_key);
    for (uint32_t row = 0; row < rows; row++) {
        char name[NAME_SIZE + MORE_SIZE];
        uint32_t lines = lines_of(d->picture, row);
        const char *first = d->lines.items[lode_picture_row_begin(d->picture, row)].name;
        int length = snprintf(name, NAME_SIZE, "%s", first);
        if (lines > 1)
            snprintf(name + (length < NAME_SIZE ? length : NAME_SIZE - 1), MORE_SIZE, " +%u", lines - 1);
        fill_row(d->picture, by_key, row, cells);
        trace_draw_row(o, name, d->lines.width, cells);
    }
    lode_picture_window(d->picture, &window[0], &window[1]);
    if (rows)
        trace_draw_axis(o, window, d->lines.width, d->columns, d->start);
    free(cells);
}

/* Two digits for each byte. */
static void write_bytes(out *o, const char *key, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char *text = alloc_array(2 * count + 1, 1);
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    OUT_FIELDS(o, key, text);
    free(text);
}

void trace_write_picture(out *o, const trace_drawing *d, const trace_key *key)
{
    char by_key[256], *cells = alloc_array((size_t)d->columns + 1, 1);
    letters_by_key(d->picture, key, by_key);
    out_break(o);
    out_array(o, "timeline");
    for (uint32_t row = 0; row < lode_picture_rows(d->picture); row++) {
        size_t at = (size_t)row * d->columns;
        fill_row(d->picture, by_key, row, cells);
        out_break(o);
        out_object(o, NULL);
        trace_write_line(o, &d->lines.items[lode_picture_row_begin(d->picture, row)], d->db, d->recording);
        OUT_FIELDS(o, "cells", cells, "merged_lines", lines_of(d->picture, row));
        write_bytes(o, "keys", lode_picture_keys(d->picture) + at, d->columns);
        write_bytes(o, "fills", lode_picture_fills(d->picture) + at, d->columns);
        out_object_end(o);
    }
    out_array_end(o);
    free(cells);
}
