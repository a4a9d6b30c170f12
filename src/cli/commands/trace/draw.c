/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/trace/draw.h"

#include "alloc.h"
#include "commands/shared/id_tuple.h"
#include "host.h"
#include "output/escape.h"
#include "output/report.h"
#include "text/label.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTER_COUNT  52
#define NAME_WIDTH    28 /* columns that the names of the lines may take */
#define FRAME_WIDTH   3
#define DEFAULT_WIDTH 100
#define MINIMUM_WIDTH 10
#define LINE_SIZE     96 /* bytes for each line and its name, about */
#define AXIS_STEP     20 /* columns between times; the longest, "999.999 ms", takes half of it */

int trace_is_idle(const lode_timeline_share *share)
{
    return share->is_idle;
}

/* Not running has its own sign and takes no letter away. */
static void give_letters(trace_key *key, uint64_t limit)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t used = 0, bound = limit && limit < LETTER_COUNT ? (size_t)limit : LETTER_COUNT;
    key->letters = alloc_array(key->count, 1);
    for (size_t i = 0; i < key->count; i++) {
        if (trace_is_idle(&key->shares[i]))
            key->letters[i] = LETTER_IDLE;
        else
            key->letters[i] = used < bound ? letters[used++] : LETTER_OTHER;
    }
}

void trace_key_init(trace_key *key, const lode_timeline *timeline, uint64_t limit)
{
    key->count = lode_timeline_share_count(timeline);
    key->shares = alloc_array(key->count, sizeof *key->shares);
    for (size_t i = 0; i < key->count; i++)
        key->shares[i] = *lode_timeline_share_at(timeline, i);
    give_letters(key, limit);
}

void trace_key_of_picture(trace_key *key, const lode_picture *picture, uint64_t limit)
{
    key->count = lode_picture_share_count(picture);
    key->shares = alloc_array(key->count, sizeof *key->shares);
    for (size_t i = 0; i < key->count; i++) {
        const lode_picture_share *share = lode_picture_share_at(picture, i);
        key->shares[i] = (lode_timeline_share){.context = share->context,
                                               .nanoseconds = share->nanoseconds,
                                               .samples = share->samples,
                                               .function = share->function,
                                               .is_idle = share->is_idle};
    }
    give_letters(key, limit);
}

void trace_key_free(trace_key *key)
{
    free(key->letters);
    free(key->shares);
}

static char letter_of(const trace_key *key, int share)
{
    return share < 0 || (size_t)share >= key->count ? LETTER_NOTHING : key->letters[share];
}

out_style trace_style_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return (out_style)(STYLE_SERIES + (letter - 'A') % OUT_SERIES_COUNT);
    if (letter >= 'a' && letter <= 'z')
        return (out_style)(STYLE_SERIES + (letter - 'a' + 26) % OUT_SERIES_COUNT);
    return letter == LETTER_NOTHING ? STYLE_PLAIN : STYLE_DIM;
}

static lode_status gather(trace_lines *lines, const session *s, int only_sampled, lode_error *error)
{
    label l = {0};
    lode_status status = LODE_OK;
    for (uint32_t i = 0; status >= 0 && i < lode_database_trace_count(s->db); i++) {
        lode_trace_line line;
        int is_selected = 0;
        status = lode_database_trace_line(s->db, i, &line, error);
        if (status >= 0)
            status = lode_selection_has(s->selection, s->db, line.profile, &is_selected, error);
        if (status < 0 || !is_selected || (only_sampled && line.sample_count == 0))
            continue;
        char *name = escape_text(label_profile(&l, s->db, line.profile), escape_has_utf8());
        lines->items = alloc_grow(lines->items, &lines->capacity, lines->count, sizeof *lines->items);
        lines->items[lines->count] = (trace_line_name){line.profile, i, (uint32_t)lines->count, name};
        lines->count++;
    }
    label_free(&l);
    return status;
}

/* How many bytes two names have in common, in whole ids: a word and its number each. */
static size_t common_ids(const char *a, const char *b, size_t bound)
{
    size_t common = 0;
    for (size_t i = 0, spaces = 0; i < bound && a[i] && a[i] == b[i]; i++)
        if (a[i] == ' ' && ++spaces % 2 == 0)
            common = i + 1;
    return common;
}

static void strip_common(trace_lines *lines)
{
    size_t common = lines->count > 1 ? SIZE_MAX : 0;
    for (size_t i = 1; i < lines->count; i++)
        common = common_ids(lines->items[0].name, lines->items[i].name, common);
    for (size_t i = 0; i < lines->count; i++) {
        char *name = lines->items[i].name;
        memmove(name, name + common, strlen(name + common) + 1);
        size_t width = utf8_width(name);
        if (width > lines->width)
            lines->width = (unsigned)(width < NAME_WIDTH ? width : NAME_WIDTH);
    }
}

static int compare_lines(const void *left, const void *right)
{
    const trace_line_name *a = left, *b = right;
    int order = strverscmp(a->name, b->name);
    return order ? order : a->row < b->row ? -1 : a->row > b->row;
}

static lode_status name_lines(trace_lines *lines, const session *s, int only_sampled, lode_error *error)
{
    lode_status status = gather(lines, s, only_sampled, error);
    strip_common(lines);
    if (lines->count)
        qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
    return status;
}

static void free_lines(void *result)
{
    trace_lines_free(result);
    free(result);
}

/* A hundred thousand names take longer than a picture: a host keeps them. */
static char *key_of_lines(const session *s, int only_sampled)
{
    char *key = NULL;
    if (!s->is_borrowed || asprintf(&key, "lines %p %d %s", (const void *)s->db, only_sampled,
                                    s->shared->profiles ? s->shared->profiles : "") < 0)
        return NULL;
    return key;
}

lode_status trace_lines_init(trace_lines *lines, const session *s, int only_sampled, lode_error *error)
{
    char *key = key_of_lines(s, only_sampled);
    trace_lines *kept = key ? host_cache_take(key) : NULL;
    lode_status status = LODE_OK;
    *lines = (trace_lines){0};
    if (key && !kept) {
        kept = alloc_array(1, sizeof *kept);
        status = name_lines(kept, s, only_sampled, error);
        if (status >= 0)
            host_cache_put(key, kept, kept->count * LINE_SIZE, free_lines);
        else
            host_cache_abandon(key);
    }
    if (kept) {
        *lines = *kept;
        lines->owner = kept;
    } else {
        status = name_lines(lines, s, only_sampled, error);
    }
    free(key);
    return status;
}

void trace_lines_of_recording(trace_lines *lines, const lode_recording *recording, const lode_slice *slice)
{
    uint32_t count = slice->tracks ? slice->track_count : lode_recording_track_count(recording);
    int has_requests = lode_recording_has_requests(recording);
    *lines = (trace_lines){0};
    for (uint32_t i = 0; i < count; i++) {
        const lode_track *track = lode_recording_track(recording, slice->tracks ? slice->tracks[i] : i);
        char name[NAME_WIDTH * 4 + NUMBER_SIZE];
        snprintf(name, sizeof name, "%s%u %s", has_requests ? "#" : "",
                 has_requests ? track->index : (unsigned)track->tid, track->name);
        lines->items = alloc_grow(lines->items, &lines->capacity, lines->count, sizeof *lines->items);
        lines->items[lines->count++] =
            (trace_line_name){track->index, track->index, i, escape_text(name, escape_has_utf8())};
        size_t width = utf8_width(lines->items[i].name);
        if (width > lines->width)
            lines->width = (unsigned)(width < NAME_WIDTH ? width : NAME_WIDTH);
    }
    /* Tasks by number, as databases have threads by name; requests as they are in the store. */
    if (lines->count && !has_requests)
        qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
}

void trace_lines_free(trace_lines *lines)
{
    if (lines->owner) {
        host_cache_release(lines->owner, free_lines);
        return;
    }
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i].name);
    free(lines->items);
}

unsigned trace_columns(const out *o, const trace_lines *lines)
{
    unsigned width = out_width(o, DEFAULT_WIDTH), frame = lines->width + FRAME_WIDTH;
    if (out_format_of(o) != OUT_TEXT)
        return DEFAULT_WIDTH;
    return width > frame + MINIMUM_WIDTH ? width - frame : MINIMUM_WIDTH;
}

/* Fills `cells` with the letters of a row. Returns whether there is anything in it. */
static int fill_row(const lode_timeline *timeline, const trace_key *key, uint32_t row, unsigned columns,
                    char *cells)
{
    int is_drawn = 0;
    for (unsigned i = 0; i < columns; i++) {
        int share = lode_timeline_cell(timeline, row, i);
        cells[i] = letter_of(key, share);
        is_drawn |= share >= 0;
    }
    cells[columns] = '\0';
    return is_drawn;
}

uint64_t trace_empty_lines(const lode_timeline *timeline, const trace_lines *lines, unsigned columns)
{
    uint64_t empty = 0;
    for (size_t i = 0; i < lines->count; i++) {
        unsigned column = 0;
        while (column < columns && lode_timeline_cell(timeline, lines->items[i].row, column) < 0)
            column++;
        empty += column == columns;
    }
    return empty;
}

void trace_draw_row(out *o, const char *text, unsigned name_width, char *cells)
{
    char name[NAME_WIDTH * 4 + 8];
    snprintf(name, sizeof name, "%s", text);
    utf8_elide(name, sizeof name, name_width, out_is_utf8(o) ? "…" : "...");
    out_piece(o, STYLE_PLAIN, name);
    for (size_t width = utf8_width(name); width < name_width; width++)
        out_piece(o, STYLE_PLAIN, " ");
    out_piece(o, STYLE_DIM, " |");
    for (char *run = cells; *run;) {
        size_t length = strspn(run, (char[]){*run, '\0'});
        char next = run[length];
        run[length] = '\0';
        out_piece(o, trace_style_of(*run), run);
        run += length;
        *run = next;
    }
    out_piece(o, STYLE_DIM, "|");
    out_gap(o);
}

void trace_draw_axis(out *o, const uint64_t window[2], unsigned name_width, unsigned columns, uint64_t start)
{
    size_t margin = name_width + FRAME_WIDTH - 1, used = 0;
    char *line = alloc_array(margin + columns + 1, 1);
    for (unsigned column = 0; column < columns; column += AXIS_STEP) {
        char time[NUMBER_SIZE];
        uint64_t begin = window[0] + (uint64_t)((double)(window[1] - window[0]) / columns * column);
        format_duration(time, begin > start ? begin - start : 0);
        if (column + strlen(time) > columns)
            break;
        memset(line + used, ' ', margin + column - used);
        used = margin + column + strlen(time);
        memcpy(line + margin + column, time, strlen(time));
    }
    if (used > 0)
        out_line(o, "%s", line);
    free(line);
}

void trace_draw(out *o, const lode_timeline *timeline, const trace_lines *lines, const trace_key *key,
                unsigned columns, uint64_t limit, uint64_t start)
{
    char *cells = alloc_array((size_t)columns + 1, 1);
    uint64_t drawn = 0, empty = 0, left_out = 0;
    for (size_t i = 0; i < lines->count; i++) {
        if (!fill_row(timeline, key, lines->items[i].row, columns, cells)) {
            empty++;
        } else if (limit && drawn >= limit) {
            left_out++;
        } else {
            trace_draw_row(o, lines->items[i].name, lines->width, cells);
            drawn++;
        }
    }
    uint64_t window[2];
    lode_timeline_window(timeline, &window[0], &window[1]);
    if (drawn)
        trace_draw_axis(o, window, lines->width, columns, start);
    if (left_out)
        out_say(o, "%s not shown (see --rows)", COUNTED(left_out, "more row is", "more rows are"));
    if (empty)
        out_say(o, "%s no samples in this time window", COUNTED(empty, "row has", "rows have"));
    free(cells);
}

static void write_track(out *o, const lode_track *track)
{
    OUT_FIELDS(o, "tid", (uint64_t)track->tid, "name", track->name, "id", track->id[0] ? track->id : NULL);
}

void trace_write_line(out *o, const trace_line_name *line, const lode_database *db,
                      const lode_recording *recording)
{
    label l = {0};
    OUT_FIELDS(o, db ? "profile" : "track", line->profile);
    if (db) {
        OUT_FIELDS(o, "name", label_profile(&l, db, line->profile));
        id_tuple_of_profile(o, db, line->profile);
    } else {
        write_track(o, lode_recording_track(recording, line->profile));
    }
    label_free(&l);
}

void trace_write(out *o, const lode_timeline *timeline, const trace_lines *lines, const trace_key *key,
                 unsigned columns, uint64_t limit, const lode_database *db, const lode_recording *recording)
{
    char *cells = alloc_array((size_t)columns + 1, 1);
    uint64_t written = 0;
    out_break(o);
    out_array(o, "timeline");
    for (size_t i = 0; i < lines->count && (limit == 0 || written < limit); i++) {
        if (!fill_row(timeline, key, lines->items[i].row, columns, cells))
            continue;
        out_break(o);
        out_object(o, NULL);
        trace_write_line(o, &lines->items[i], db, recording);
        OUT_FIELDS(o, "cells", cells);
        out_object_end(o);
        written++;
    }
    out_array_end(o);
    free(cells);
}
