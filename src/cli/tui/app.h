/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of `lode tui`: what is shown, and what keys change. It knows no terminal: paint.h
 * hands out text, and keys are numbers (screen.h).
 */
#ifndef CLI_TUI_APP_H
#define CLI_TUI_APP_H

#include "host.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "text/label.h"
#include "tui/screen.h"

typedef enum tui_page {
    TUI_DIAGNOSIS,
    TUI_FUNCTIONS,
    TUI_TREE,
    TUI_FLAME,
    TUI_TIME,
    TUI_PROFILES,
    TUI_REQUESTS,
    TUI_FINDINGS,
    TUI_PAGE_COUNT
} tui_page;

#define TUI_CELLS     5
#define TUI_CELL_SIZE NUMBER_SIZE
#define TUI_TEXT_SIZE 512

/* One row: numbers in columns, then a text that may be indented. */
typedef struct tui_row {
    char cells[TUI_CELLS][TUI_CELL_SIZE];
    unsigned indent;  /* columns */
    const char *mark; /* before the text */
    const char *text; /* as in the store; valid until the next row */
    tui_style style;
} tui_row;

/* Columns of numbers of a page; `width` 0 ends them. */
typedef struct tui_column {
    const char *title;
    int width;
} tui_column;

/* A position in rows. */
typedef struct tui_list {
    size_t cursor, top;
} tui_list;

struct tui_tree_row;

typedef struct tui_tree {
    lode_outline *outline;
    struct tui_tree_row *rows;
    size_t count, capacity;
    int is_inverted; /* callers below functions */
    double total;
} tui_tree;

typedef enum tui_time_kind {
    TUI_TIME_UNKNOWN,
    TUI_TIME_BUSY,
    TUI_TIME_IDLE
} tui_time_kind;

typedef struct tui_time {
    lode_timeline *timeline; /* of the lines that are on the screen */
    tui_time_kind *kinds;    /* of its shares, as far as they were drawn */
    uint32_t *lines;         /* profiles or tracks in the order to show */
    size_t count;
    uint64_t begin, end; /* of everything */
    uint64_t from, to;   /* the time window */
    unsigned depth;      /* 0: the innermost call */
    int column;          /* of the crosshair */
    /* What the timeline was computed for. */
    uint64_t drawn_from, drawn_to;
    size_t drawn_top, drawn_rows;
    unsigned drawn_depth;
    int drawn_columns;
} tui_time;

typedef struct tui_flame {
    lode_flame *flame;
    int columns;     /* of the terminal for which it was made */
    int is_inverted; /* callers below functions */
    int is_zoomed;   /* to what `root` called */
    uint32_t root;   /* the id of a context */
    size_t box;      /* at the cursor */
    int top;         /* the first level that is shown */
} tui_flame;

/* What a command prints. */
typedef struct tui_report {
    char *text;
    const char **lines; /* in it */
    size_t count;
} tui_report;

typedef struct tui_profile {
    uint32_t profile; /* or track */
    double value;
    uint64_t calls, errors;
} tui_profile;

typedef struct tui_app {
    const char *path;
    session *db; /* one of the two */
    rec_session *rec;
    int is_utf8;
    int rows, columns; /* of the terminal */
    tui_page page;
    tui_list lists[TUI_PAGE_COUNT];
    int sorts[TUI_PAGE_COUNT];
    char search[TUI_TEXT_SIZE], typed[TUI_TEXT_SIZE];
    int is_typing, is_help, is_done;
    int is_command; /* the whole command is shown */
    char message[TUI_TEXT_SIZE];
    char chosen[TUI_TEXT_SIZE]; /* the profile or track that is selected everywhere, by name; "" */
    uint32_t metric;            /* index of the metric that is shown */
    label name;
    /* What was computed; NULL: not yet. */
    lode_cost *cost;
    lode_calltree *calltree;
    lode_hotspots *hotspots;
    lode_calls *calls;
    double total;
    tui_tree tree;
    tui_time time;
    tui_flame flame;
    tui_report reports[2]; /* diagnosis, findings */
    tui_profile *profiles;
    size_t profile_count;
    lode_distribution distribution;
    lode_search *requests;
    uint32_t chosen_track;
    /* Called while something takes long. Other than 0: stop it. */
    lode_progress_fn on_progress;
    void *user;
} tui_app;

typedef struct tui_page_ops {
    char digit; /* of the tab of the page */
    const char *title;
    int (*is_there)(const tui_app *app);
    /* Computes what is missing. 0, or -1 and a message. */
    int (*load)(tui_app *app);
    size_t (*count)(const tui_app *app);
    const tui_column *(*columns)(const tui_app *app);
    void (*row)(tui_app *app, size_t index, tui_row *row);
    /* A line about all rows. */
    void (*heading)(const tui_app *app, char *text, size_t capacity);
    /* The command that prints the same numbers, without its store. */
    void (*command)(const tui_app *app, char *text, size_t capacity);
    /* 1 if the key was for this page. */
    int (*key)(tui_app *app, int key);
    /* May be NULL: paints the rows itself. */
    void (*paint)(tui_app *app, const tui_screen *screen, int first, int height);
    /* May be NULL: looks further than the rows. Moves the cursor, or returns 0. */
    int (*find)(tui_app *app, int direction);
} tui_page_ops;

/* Of a page whose functions have these names. */
#define TUI_PAGE(of_digit, of_title)                                                                         \
    .digit = (of_digit), .title = (of_title), .is_there = is_there, .load = load, .count = count,            \
    .columns = columns, .row = fill_row, .heading = heading, .command = command, .key = on_key

extern const tui_page_ops tui_diagnosis_ops, tui_functions_ops, tui_tree_ops, tui_flame_ops, tui_time_ops,
    tui_profiles_ops, tui_requests_ops, tui_findings_ops;

void tui_app_init(tui_app *app, const char *path, session *db, rec_session *rec);
void tui_app_free(tui_app *app);
/* Forgets all results, as after a change of the metric or of what is selected. */
void tui_app_forget(tui_app *app);
const tui_page_ops *tui_ops(const tui_app *app);
const tui_page_ops *tui_ops_of(tui_page page);
tui_list *tui_list_of(tui_app *app);
/* Rows of the terminal that show rows of a page. */
int tui_height(const tui_app *app);
/* Does what a key asks for. */
void tui_key(tui_app *app, int key);
/* Keeps cursor and first row inside. */
void tui_settle(tui_app *app);
/* Says what the library said. Always -1. */
int tui_fail(tui_app *app, const lode_error *error);
void tui_say(tui_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The command line that prints the same numbers, as a shell reads it. free() it. */
char *tui_command(const tui_app *app);
/* A column of time in which a thread idles. */
const char *tui_idle_mark(const tui_app *app);
void tui_flame_forget(tui_app *app);
void tui_report_forget(tui_app *app);
void tui_time_forget(tui_time *t);
/* Moves to a page. */
void tui_go(tui_app *app, tui_page page);
/* Whether a text has what is searched for, in any case of letters; 0 if nothing is. */
int tui_matches(const tui_app *app, const char *text);
/* The unit of costs. */
metric_unit tui_unit(const tui_app *app);
/* The metric that is shown; NULL for recordings. */
const lode_metric *tui_metric(const tui_app *app);
/* " -m NAME" of a database. */
void tui_metric_option(const tui_app *app, char *text, size_t capacity);
/* " -m NAME -p SELECTION" as far as they are not the defaults. */
void tui_options(const tui_app *app, char *text, size_t capacity);
/* Costs of contexts: of the metric, or the call tree. 0, or -1 and a message. */
int tui_load_cost(tui_app *app);
/* Selects one profile or track everywhere; UINT32_MAX: all. */
void tui_choose(tui_app *app, uint32_t number, const char *name);

#endif
