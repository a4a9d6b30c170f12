/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What draws on a terminal and reads its keys: a plug-in, so that the program does not need the
 * library for it. Its variable LODE_TUI_SYMBOL is a tui_screen.
 */
#ifndef CLI_TUI_SCREEN_H
#define CLI_TUI_SCREEN_H

#include <stddef.h>

#define LODE_TUI_SYMBOL    "lode_tui_screen"
#define TUI_SCREEN_VERSION 1
#define TUI_SERIES_COUNT   6
#define TUI_SCREEN_COLUMNS 1024 /* more of a terminal is not used */
#define TUI_SCREEN_ROWS    512
#define TUI_KEYS_BEYOND(x) (0x110000 + (x)) /* after all characters */

typedef enum tui_style {
    TUI_PLAIN,
    TUI_BAR,    /* the first and the last line */
    TUI_TAB,    /* the page that is shown, in the bar */
    TUI_TITLE,  /* of columns */
    TUI_CURSOR, /* the selected row */
    TUI_HOT,
    TUI_DIM,
    TUI_MATCH,
    TUI_SERIES /* and the next TUI_SERIES_COUNT - 1: colours to tell things apart */
} tui_style;

/* Keys are characters, or one of these. */
enum {
    TUI_KEY_NONE = 0,
    TUI_KEY_TAB = 9,
    TUI_KEY_ENTER = 10,
    TUI_KEY_ESCAPE = 27,
    TUI_KEY_UP = TUI_KEYS_BEYOND(0),
    TUI_KEY_DOWN,
    TUI_KEY_LEFT,
    TUI_KEY_RIGHT,
    TUI_KEY_HOME,
    TUI_KEY_END,
    TUI_KEY_PAGE_UP,
    TUI_KEY_PAGE_DOWN,
    TUI_KEY_BACKSPACE,
    TUI_KEY_BACK_TAB,
    TUI_KEY_RESIZE
};

typedef struct tui_screen {
    unsigned version;
    /* Takes the terminal. 0, or -1 and what is wrong. */
    int (*open)(int has_color, char *problem, size_t capacity);
    /* Gives it back as it was. */
    void (*close)(void);
    void (*size)(int *rows, int *columns);
    void (*clear)(void);
    /* The text is safe to show and ends before the last column. */
    void (*put)(int row, int column, tui_style style, const char *text);
    void (*show)(void);
    /* The next key; TUI_KEY_NONE if there is none for this long. */
    int (*key)(int milliseconds);
} tui_screen;

#endif
