/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the state on a screen. */
#ifndef CLI_TUI_PAINT_H
#define CLI_TUI_PAINT_H

#include "tui/app.h"

/* Computes what the page needs, and draws all of it. */
void paint_app(tui_app *app, const tui_screen *screen);
/* A line about work under way. */
void paint_progress(tui_app *app, const tui_screen *screen, const char *phase, uint64_t done, uint64_t total);
/* Text of any origin: made safe, cut in the middle to the width, and filled with blanks to it. */
void paint_text(const tui_app *app, const tui_screen *screen, int row, int column, int width, tui_style style,
                const char *text);

#endif
