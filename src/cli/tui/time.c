/* SPDX-License-Identifier: BSD-3-Clause */
/* What `lode trace` shows: only the lines on the screen are read. */
#include "alloc.h"
#include "text/utf8.h"
#include "tui/app.h"
#include "tui/paint.h"

#include <lode/unstable.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH  24
#define NAME_NARROW 20 /* the same on terminals below 100 columns */
#define SHARES_MOST 8
#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define LETTERS_END 52

static int is_there(const tui_app *app)
{
    return app->rec ? lode_recording_track_count(app->rec->recording) > 0
                    : lode_database_trace_count(app->db->db) > 0;
}

/* ---- lines ---- */

/* Lines of a database in the order of their ids. */
static int list_lines(tui_app *app)
{
    lode_error error = {0};
    uint32_t count = lode_database_trace_count(app->db->db);
    lode_profile_value *values = alloc_array(count, sizeof *values);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++) {
        lode_trace_line line;
        status = lode_database_trace_line(app->db->db, i, &line, &error);
        values[i].profile = line.profile;
    }
    if (status == LODE_OK)
        status = lode_profile_values_sort(values, count, app->db->db, LODE_PROFILES_BY_IDS, &error);
    app->time.lines = alloc_array(count, sizeof *app->time.lines);
    for (uint32_t i = 0; i < count; i++)
        app->time.lines[i] = values[i].profile;
    app->time.count = count;
    free(values);
    if (status == LODE_OK)
        status = lode_database_trace_bounds(app->db->db, &app->time.begin, &app->time.end);
    app->time.end += app->time.end < UINT64_MAX;
    return status == LODE_OK ? 0 : tui_fail(app, &error);
}

static int list_tracks(tui_app *app)
{
    uint32_t count = lode_recording_track_count(app->rec->recording);
    if (rec_find_interval(app->rec) != 0)
        return -1;
    app->time.lines = alloc_array(count, sizeof *app->time.lines);
    for (uint32_t i = 0; i < count; i++)
        app->time.lines[i] = i;
    app->time.count = count;
    app->time.begin = app->rec->begin;
    app->time.end = app->rec->end + 1;
    return 0;
}

static int load(tui_app *app)
{
    if (app->time.lines)
        return 0;
    if ((app->rec ? list_tracks(app) : list_lines(app)) < 0)
        return -1;
    app->time.from = app->time.begin;
    app->time.to = app->time.end;
    return 0;
}

static size_t count(const tui_app *app)
{
    return app->time.count;
}

static const char *line_name(tui_app *app, size_t index)
{
    static char text[TUI_TEXT_SIZE];
    if (app->db)
        return label_profile(&app->name, app->db->db, app->time.lines[index]);
    const lode_track *track = lode_recording_track(app->rec->recording, app->time.lines[index]);
    int has_requests = lode_recording_has_requests(app->rec->recording);
    snprintf(text, sizeof text, "%s%u %.200s", has_requests ? "#" : "",
             has_requests ? track->index + 1 : (unsigned)track->tid, track->name);
    return text;
}

static void fill_row(tui_app *app, size_t index, tui_row *row)
{
    row->text = line_name(app, index);
}

static const tui_column *columns(const tui_app *app)
{
    static const tui_column none[] = {{"", 0}};
    (void)app;
    return none;
}

/* ---- the picture ---- */

static int compare_u32(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* "profile=1+7+9" of the lines on the screen. */
static int select_lines(tui_app *app, size_t top, size_t rows, lode_selection **selection, lode_error *error)
{
    size_t capacity = rows * 12 + 16, used = 0;
    char *text = alloc_array(capacity, 1);
    used += (size_t)snprintf(text, capacity, "profile=");
    for (size_t i = 0; i < rows; i++)
        used +=
            (size_t)snprintf(text + used, capacity - used, "%s%u", i ? "+" : "", app->time.lines[top + i]);
    lode_status status = lode_selection_parse(selection, app->db->db, text, error);
    free(text);
    return status;
}

static lode_status draw_lines(tui_app *app, size_t top, size_t rows, lode_timeline_options *options,
                              lode_error *error)
{
    lode_selection *selection = NULL;
    lode_status status = select_lines(app, top, rows, &selection, error);
    options->selection = selection;
    if (status == LODE_OK)
        status = lode_timeline_compute(&app->time.timeline, app->db->db, options, error);
    lode_selection_free(selection);
    return status;
}

static lode_status draw_tracks(tui_app *app, size_t top, size_t rows, lode_timeline_options *options,
                               lode_error *error)
{
    lode_slice slice = LODE_SLICE_INIT;
    uint32_t *tracks = alloc_array(rows, sizeof *tracks);
    memcpy(tracks, &app->time.lines[top], rows * sizeof *tracks);
    qsort(tracks, rows, sizeof *tracks, compare_u32);
    slice.tracks = tracks;
    slice.track_count = (uint32_t)rows;
    lode_status status =
        lode_timeline_compute_recording(&app->time.timeline, app->rec->recording, &slice, options, error);
    free(tracks);
    return status;
}

static int is_drawn(const tui_time *t, size_t top, size_t rows, int width)
{
    return t->timeline && t->drawn_from == t->from && t->drawn_to == t->to && t->drawn_top == top &&
           t->drawn_rows == rows && t->drawn_depth == t->depth && t->drawn_columns == width;
}

void tui_time_forget(tui_time *t)
{
    lode_timeline_free(t->timeline);
    free(t->kinds);
    t->timeline = NULL;
    t->kinds = NULL;
}

/* Computes the picture again, if it is another one. */
static void draw(tui_app *app, size_t top, size_t rows, int width)
{
    tui_time *t = &app->time;
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    lode_error error = {0};
    if (is_drawn(t, top, rows, width) || rows == 0)
        return;
    tui_time_forget(t);
    options.from = t->from;
    options.to = t->to;
    options.columns = (unsigned)width;
    options.depth = t->depth;
    options.on_progress = app->on_progress;
    options.user = app->user;
    lode_status status = app->rec ? draw_tracks(app, top, rows, &options, &error)
                                  : draw_lines(app, top, rows, &options, &error);
    if (status != LODE_OK)
        tui_fail(app, &error);
    if (t->timeline)
        t->kinds = alloc_array(lode_timeline_share_count(t->timeline), sizeof *t->kinds);
    t->drawn_from = t->from;
    t->drawn_to = t->to;
    t->drawn_top = top;
    t->drawn_rows = rows;
    t->drawn_depth = t->depth;
    t->drawn_columns = width;
}

/* The row of the picture that a profile or track has; UINT32_MAX if none. */
static uint32_t row_of(const tui_time *t, uint32_t line)
{
    uint32_t rows = lode_timeline_row_count(t->timeline);
    for (uint32_t i = 0; i < rows; i++)
        if (lode_timeline_row_profile(t->timeline, i) == line)
            return i;
    return UINT32_MAX;
}

static tui_time_kind kind_of(const lode_timeline_share *share)
{
    int idles =
        share->is_idle || ((share->context || share->function) &&
                           lode_kind_by_rules(NULL, share->context, share->function) == LODE_KIND_IDLE);
    return idles ? TUI_TIME_IDLE : TUI_TIME_BUSY;
}

/* A letter that stands for waiting in a picture of threads. The rules are asked once for each. */
static int is_idle(const tui_time *t, int share)
{
    if (share < 0)
        return 0;
    if (t->kinds[share] == TUI_TIME_UNKNOWN)
        t->kinds[share] = kind_of(lode_timeline_share_at(t->timeline, (size_t)share));
    return t->kinds[share] == TUI_TIME_IDLE;
}

/* Not running takes no letter away. */
static char letter_of(const tui_time *t, int share)
{
    int used = 0;
    if (share < 0)
        return ' ';
    if (lode_timeline_share_at(t->timeline, (size_t)share)->is_idle)
        return '.';
    for (int i = 0; i < share && used < LETTERS_END; i++)
        used += !lode_timeline_share_at(t->timeline, (size_t)i)->is_idle;
    return used < LETTERS_END ? LETTERS[used] : '+';
}

static tui_style style_of(char letter)
{
    const char *found = letter == ' ' ? NULL : strchr(LETTERS, letter);
    if (!found)
        return letter == ' ' ? TUI_PLAIN : TUI_DIM;
    return (tui_style)(TUI_SERIES + (int)(found - LETTERS) % TUI_SERIES_COUNT);
}

static int width_of_names(const tui_app *app)
{
    return app->columns < 100 ? NAME_NARROW : NAME_WIDTH;
}

static void paint_line(tui_app *app, const tui_screen *screen, int row, size_t index, int width)
{
    const tui_time *t = &app->time;
    int is_cursor = index == app->lists[TUI_TIME].cursor;
    uint32_t at = t->timeline ? row_of(t, t->lines[index]) : UINT32_MAX;
    paint_text(app, screen, row, 0, width_of_names(app), is_cursor ? TUI_CURSOR : TUI_PLAIN,
               line_name(app, index));
    /* A terminal that is smaller than names and frame has no room for the picture. */
    int room = row < app->rows ? app->columns - width_of_names(app) - 1 : 0;
    for (int column = 0; at != UINT32_MAX && column < width && column < room; column++) {
        int share = lode_timeline_cell(t->timeline, at, (unsigned)column);
        char text[2] = {letter_of(t, share), '\0'};
        int is_cross = is_cursor && column == t->column, idles = is_idle(t, share);
        screen->put(row, width_of_names(app) + 1 + column,
                    is_cross ? TUI_CURSOR
                    : idles  ? TUI_DIM
                             : style_of(text[0]),
                    idles ? tui_idle_mark(app) : text);
    }
}

static const char *share_name(tui_app *app, const lode_timeline_share *share)
{
    if (share->is_idle && !share->function)
        return "<not running>";
    if (share->context && lode_context_index(share->context) == 0)
        return "<not running>";
    if (share->context)
        return label_context_as(&app->name, share->context, names_of_database(app->db->db, NAMES_BY_STORE));
    if (share->function)
        return label_name(&app->name, share->function, names_of_recordings(NAMES_BY_STORE));
    return "<unlisted>";
}

static void paint_shares(tui_app *app, const tui_screen *screen, int first, int height)
{
    const tui_time *t = &app->time;
    size_t shares = t->timeline ? lode_timeline_share_count(t->timeline) : 0;
    double whole = 0;
    for (size_t i = 0; i < shares; i++)
        whole += (double)lode_timeline_share_at(t->timeline, i)->nanoseconds;
    for (int i = 0; i < height && (size_t)i < shares; i++) {
        const lode_timeline_share *share = lode_timeline_share_at(t->timeline, (size_t)i);
        char text[TUI_TEXT_SIZE], percent[NUMBER_SIZE], time[NUMBER_SIZE];
        format_percent(percent, whole > 0 ? (double)share->nanoseconds / whole : 0);
        format_duration(time, share->nanoseconds);
        char letter[2] = {letter_of(t, i), '\0'};
        int idles = is_idle(t, i);
        snprintf(text, sizeof text, "%s %7s %12s  ", idles ? tui_idle_mark(app) : letter, percent, time);
        paint_text(app, screen, first + i, 0, 24, idles ? TUI_DIM : style_of(letter[0]), text);
        paint_text(app, screen, first + i, 24, app->columns - 24, TUI_PLAIN, share_name(app, share));
    }
}

static int picture_width(const tui_app *app)
{
    int width = app->columns - width_of_names(app) - 2;
    return width < 1 ? 1 : width;
}

/* What is at the crosshair. */
static void say_crosshair(tui_app *app)
{
    tui_time *t = &app->time;
    size_t cursor = app->lists[TUI_TIME].cursor;
    char time[NUMBER_SIZE];
    if (!t->timeline || app->message[0] || cursor >= t->count)
        return;
    uint32_t at = row_of(t, t->lines[cursor]);
    int share = at == UINT32_MAX ? -1 : lode_timeline_cell(t->timeline, at, (unsigned)t->column);
    uint64_t into = (uint64_t)((double)(t->to - t->from) * t->column / picture_width(app));
    format_duration(time, t->from - t->begin + into);
    tui_say(app, "%s: %s", time,
            share < 0 ? "" : share_name(app, lode_timeline_share_at(t->timeline, (size_t)share)));
}

static void paint(tui_app *app, const tui_screen *screen, int first, int height)
{
    int shares = height / 3 < SHARES_MOST ? height / 3 : SHARES_MOST, lines = height - shares - 1;
    tui_list *list = &app->lists[TUI_TIME];
    tui_time *t = &app->time;
    int width = picture_width(app);
    if (lines < 1)
        lines = 1;
    if (list->cursor >= list->top + (size_t)lines)
        list->top = list->cursor - (size_t)lines + 1;
    size_t shown = t->count - list->top < (size_t)lines ? t->count - list->top : (size_t)lines;
    if (t->column >= width)
        t->column = width - 1;
    draw(app, list->top, shown, width);
    for (size_t i = 0; i < shown; i++)
        paint_line(app, screen, first + (int)i, list->top + i, width);
    paint_shares(app, screen, first + lines + 1, shares);
    say_crosshair(app);
}

/* ---- words ---- */

static void heading(const tui_app *app, char *text, size_t capacity)
{
    const tui_time *t = &app->time;
    char from[NUMBER_SIZE], to[NUMBER_SIZE], rows[NUMBER_SIZE], depth[32] = "innermost calls";
    format_duration(from, t->from - t->begin);
    format_duration(to, t->to - t->begin);
    format_count(rows, t->count);
    if (t->depth)
        snprintf(depth, sizeof depth, "call depth %u", t->depth);
    snprintf(text, capacity, "%s to %s, %s, %s lines; shares of the lines shown", from, to, depth, rows);
}

static int add_text(char *text, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int add_text(char *text, size_t capacity, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text + used, capacity - used, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < capacity - used;
}

/* What a line is to --task, --id or --profiles. */
static unsigned number_of(const tui_app *app, uint32_t line)
{
    if (app->db)
        return line;
    const lode_track *track = lode_recording_track(app->rec->recording, line);
    return lode_recording_has_requests(app->rec->recording) ? track->index + 1 : (unsigned)track->tid;
}

/* Shares are those of the lines on the screen: all, or these. */
static int add_lines(const tui_app *app, char *text, size_t capacity)
{
    const tui_time *t = &app->time;
    int is_good = 1;
    if (t->drawn_rows >= t->count)
        return 1;
    int has_requests = !app->db && lode_recording_has_requests(app->rec->recording);
    is_good = add_text(text, capacity, app->db ? " -p profile=" : has_requests ? " --id " : " -t ");
    for (size_t i = 0, end; i < t->drawn_rows && is_good; i = end) {
        unsigned first = number_of(app, t->lines[t->drawn_top + i]);
        for (end = i + 1; app->db && end < t->drawn_rows; end++)
            if (t->lines[t->drawn_top + end] != first + (end - i))
                break;
        is_good = add_text(text, capacity, "%s%u", i == 0 ? "" : app->db ? "+" : ",", first);
        if (is_good && end > i + 1)
            is_good = add_text(text, capacity, "-%u", first + (unsigned)(end - i - 1));
    }
    return is_good;
}

static void command(const tui_app *app, char *text, size_t capacity)
{
    const tui_time *t = &app->time;
    snprintf(text, capacity, "trace --from %lluns --to %lluns", (unsigned long long)(t->from - t->begin),
             (unsigned long long)(t->to - t->begin));
    if (t->depth)
        add_text(text, capacity, " -d %u", t->depth);
    size_t used = strlen(text);
    /* Without a list that does not fit, the command is one of all lines. */
    if (!add_lines(app, text, capacity))
        text[used] = '\0';
}

/* ---- keys ---- */

static void zoom(tui_app *app, int is_in)
{
    tui_time *t = &app->time;
    int width = picture_width(app);
    uint64_t length = t->to - t->from, whole = t->end - t->begin;
    /* The terminal may have become narrower since the crosshair was drawn. */
    double share = ((t->column < width ? t->column : width - 1) + 0.5) / width;
    uint64_t center = t->from + (uint64_t)((double)length * share);
    uint64_t wanted = is_in ? length / 2 : length * 2;
    if (wanted < (uint64_t)width)
        wanted = (uint64_t)width;
    if (length > whole / 2 && !is_in)
        wanted = whole;
    if (wanted >= whole) {
        t->from = t->begin;
        t->to = t->end;
        return;
    }
    uint64_t before = (uint64_t)((double)wanted * share);
    t->from = center - t->begin > before ? center - before : t->begin;
    if (t->end - t->from < wanted)
        t->from = t->end - wanted;
    t->to = t->from + wanted;
}

static void pan(tui_app *app, int is_right)
{
    tui_time *t = &app->time;
    uint64_t length = t->to - t->from, step = length / 4 ? length / 4 : 1;
    uint64_t room = is_right ? t->end - t->to : t->from - t->begin;
    step = step < room ? step : room;
    t->from = is_right ? t->from + step : t->from - step;
    t->to = t->from + length;
}

static void move_crosshair(tui_app *app, int step)
{
    tui_time *t = &app->time;
    int column = t->column + step;
    if (column < 0 || column >= picture_width(app))
        pan(app, step > 0);
    else
        t->column = column;
}

static int on_key(tui_app *app, int key)
{
    tui_time *t = &app->time;
    if (key == 'w' || key == '+' || key == '=' || key == 's' || key == '-')
        zoom(app, key != 's' && key != '-');
    else if (key == 'a' || key == 'd')
        pan(app, key == 'd');
    else if (key == TUI_KEY_LEFT || key == TUI_KEY_RIGHT)
        move_crosshair(app, key == TUI_KEY_RIGHT ? 1 : -1);
    else if (key == '[')
        t->depth -= t->depth > 0;
    else if (key == ']')
        t->depth += t->depth < 10000;
    else if (key == '0') {
        t->from = t->begin;
        t->to = t->end;
    } else
        return 0;
    return 1;
}

const tui_page_ops tui_time_ops = {TUI_PAGE('5', "Time"), .paint = paint};
