/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode tui` on small stores and on a screen that only looks at what is put on it. */
#ifndef LODE_TESTS_TUI_BENCH_H
#define LODE_TESTS_TUI_BENCH_H

#include "minidb.h"
#include "minirec.h"
#include "minizor.h"
#include "tui/paint.h"
#include "unit.h"
#include "writing.h"

enum kind {
    DATABASE,
    RECORDING,
    TRACES,
    KINDS,
    LARGE /* a database whose tree has more rows than a screen */
};

struct bench {
    tui_app app;
    session db;
    rec_session rec;
    shared_options shared;
    struct minidb minidb;
    struct minirec minirec;
    struct minizor minizor;
    struct place place;
    enum kind kind;
};

/* Fails a test if a text is put beside it, or is not safe to show. */
extern const tui_screen screen;
extern unsigned long texts_put;

struct bench *begin(enum kind kind);
void end(struct bench *b);
/* The terminal has another size from now on. */
void resize(struct bench *b, int rows, int columns);
/* What holds after every key and every picture; the first is a part of the second. */
void check_list(tui_app *app);
void check_state(struct bench *b);
/* A key, and the picture after it. */
void press(struct bench *b, int key);
void type(struct bench *b, const char *text);

#endif
