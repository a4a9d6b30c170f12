/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal through ncurses. */
#define NCURSES_WIDECHAR 1
#include "cli/tui/screen.h"

#include <curses.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static SCREEN *terminal;
static attr_t attributes[TUI_SERIES + TUI_SERIES_COUNT];
static short pairs[TUI_SERIES + TUI_SERIES_COUNT];

/* Styles without colours, so that nothing depends on them. */
static void set_plain_styles(void)
{
    memset(pairs, 0, sizeof pairs);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        attributes[i] = A_NORMAL;
    attributes[TUI_BAR] = A_REVERSE;
    attributes[TUI_TAB] = A_BOLD;
    attributes[TUI_TITLE] = A_UNDERLINE;
    attributes[TUI_CURSOR] = A_REVERSE;
    attributes[TUI_HOT] = A_BOLD;
    attributes[TUI_MATCH] = A_BOLD | A_UNDERLINE;
    attributes[TUI_DIM] = A_DIM;
}

static void set_color(int style, short color)
{
    short pair = (short)(style + 1);
    if (init_pair(pair, color, -1) == OK)
        pairs[style] = pair;
}

/* The colours of kinds of functions, as near as the terminal has them. */
static void set_colors(void)
{
    static const short few[TUI_SERIES_COUNT] = {COLOR_CYAN,    COLOR_RED,   COLOR_YELLOW,
                                                COLOR_MAGENTA, COLOR_GREEN, COLOR_BLUE};
    static const short many[TUI_SERIES_COUNT] = {45, 166, 221, 140, 36, 25};
    if (!has_colors() || start_color() != OK || use_default_colors() != OK)
        return;
    for (int i = 0; i < TUI_SERIES_COUNT; i++)
        set_color(TUI_SERIES + i, COLORS >= 256 ? many[i] : few[i]);
    set_color(TUI_HOT, COLORS >= 256 ? 166 : COLOR_RED);
    set_color(TUI_MATCH, COLORS >= 256 ? 36 : COLOR_GREEN);
}

/* Whether the terminal can move its cursor. What is not a string is NULL or -1. */
static int can_move(void)
{
    intptr_t motion = (intptr_t)tigetstr("cup");
    return motion != 0 && motion != -1;
}

static int screen_open(int has_color, char *problem, size_t capacity)
{
    const char *type = getenv("TERM"); /* NOLINT(concurrency-mt-unsafe): before any other thread */
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        snprintf(problem, capacity, "standard input and output must be a terminal");
        return -1;
    }
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal || !can_move()) {
        if (terminal)
            endwin();
        snprintf(problem, capacity, "cannot use a terminal of type '%.60s'", type ? type : "");
        return -1;
    }
    set_term(terminal);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    /* An escape sequence arrives at once. */
    set_escdelay(50);
    curs_set(0);
    set_plain_styles();
    if (has_color)
        set_colors();
    return 0;
}

static void screen_close(void)
{
    if (!terminal)
        return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

static void screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

static void screen_clear(void)
{
    erase();
}

static void screen_put(int row, int column, tui_style style, const char *text)
{
    (void)wattr_set(stdscr, attributes[style], pairs[style], NULL);
    (void)mvaddstr(row, column, text);
    (void)wattr_set(stdscr, A_NORMAL, 0, NULL);
}

static void screen_show(void)
{
    refresh();
}

static int key_of(int found)
{
    static const struct {
        int code, key;
    } codes[] = {
        {KEY_UP, TUI_KEY_UP},         {KEY_DOWN, TUI_KEY_DOWN},       {KEY_LEFT, TUI_KEY_LEFT},
        {KEY_RIGHT, TUI_KEY_RIGHT},   {KEY_HOME, TUI_KEY_HOME},       {KEY_END, TUI_KEY_END},
        {KEY_PPAGE, TUI_KEY_PAGE_UP}, {KEY_NPAGE, TUI_KEY_PAGE_DOWN}, {KEY_BACKSPACE, TUI_KEY_BACKSPACE},
        {KEY_BTAB, TUI_KEY_BACK_TAB}, {KEY_RESIZE, TUI_KEY_RESIZE},   {KEY_ENTER, TUI_KEY_ENTER},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == found)
            return codes[i].key;
    return TUI_KEY_NONE;
}

static int screen_key(int milliseconds)
{
    wint_t found = 0;
    timeout(milliseconds);
    int kind = get_wch(&found);
    if (kind == KEY_CODE_YES)
        return key_of((int)found);
    if (kind != OK)
        return TUI_KEY_NONE;
    if (found == '\r' || found == '\n')
        return TUI_KEY_ENTER;
    return found == 127 || found == 8 ? TUI_KEY_BACKSPACE : (int)found;
}

extern const tui_screen lode_tui_screen;
__attribute__((visibility("default")))
const tui_screen lode_tui_screen = {TUI_SCREEN_VERSION, screen_open, screen_close, screen_size,
                                    screen_clear,       screen_put,  screen_show,  screen_key};
