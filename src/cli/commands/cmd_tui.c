/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode tui`: views of a store in a terminal. */
#include "command.h"
#include "interrupt.h"
#include "output/escape.h"
#include "output/report.h"
#include "plugin.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "tui/paint.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEY_WAIT      200 /* milliseconds after which signals are looked at */
#define PROGRESS_WAIT 100 /* milliseconds between looks at keys while something is computed */

#define PENDING_MOST 64

typedef struct tui_options {
    shared_options shared;
} tui_options_given;

typedef struct terminal {
    tui_app app;
    const tui_screen *screen;
    struct timespec last;
    /* Keys that were pressed while something was computed. */
    int pending[PENDING_MOST];
    int pending_count;
} terminal;

static int is_due(struct timespec *last)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long passed = (now.tv_sec - last->tv_sec) * 1000 + (now.tv_nsec - last->tv_nsec) / 1000000;
    if (passed < PROGRESS_WAIT)
        return 0;
    *last = now;
    return 1;
}

/* May run on another thread than the one that draws, which waits; on one at a time. */
static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    terminal *t = user;
    if (interrupt_is_due())
        return 1;
    if (!is_due(&t->last))
        return 0;
    paint_progress(&t->app, t->screen, phase, done, total);
    int key = t->screen->key(0);
    if (key == 'q')
        t->app.is_done = 1;
    if (key == TUI_KEY_ESCAPE || key == 'q')
        return 1;
    if (key != TUI_KEY_NONE && t->pending_count < PENDING_MOST)
        t->pending[t->pending_count++] = key;
    return 0;
}

static int next_key(terminal *t)
{
    if (t->pending_count == 0)
        return t->screen->key(KEY_WAIT);
    int key = t->pending[0];
    memmove(t->pending, t->pending + 1, (size_t)--t->pending_count * sizeof *t->pending);
    return key;
}

#ifdef TUI_IS_LINKED
extern const tui_screen lode_tui_screen;

static const tui_screen *load_screen(void)
{
    return &lode_tui_screen;
}
#else
static const tui_screen *load_screen(void)
{
    plugin found;
    if (!plugin_is_possible()) {
        report("this static program was built without ncurses, and so without 'lode tui'");
        return NULL;
    }
    plugin_find("tui", &found);
    if (found.state == PLUGIN_REFUSED) {
        report("refused to load the plug-in for terminals: %s", found.reason);
        return NULL;
    }
    void *library = found.state == PLUGIN_FOUND ? dlopen(found.path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const tui_screen *screen = library ? dlsym(library, LODE_TUI_SYMBOL) : NULL;
    if (screen && screen->version == TUI_SCREEN_VERSION)
        return screen;
    report(library ? "%s is of another version of Lode"
                   : "the plug-in for terminals is not installed (looked for %s); build "
                     "Lode with ncurses",
           found.path);
    return NULL;
}
#endif

static int run_views(const char *path, session *db, rec_session *rec)
{
    terminal t = {0};
    char problem[256];
    t.screen = load_screen();
    if (!t.screen)
        return EXIT_TROUBLE;
    const char *no_color = getenv("NO_COLOR");
    int has_color = (db ? db->shared : rec->shared)->color == COLOR_ALWAYS ||
                    ((db ? db->shared : rec->shared)->color == COLOR_AUTO && !(no_color && no_color[0]));
    interrupt_hold();
    if (t.screen->open(has_color, problem, sizeof problem) < 0)
        return report("%s", problem);
    tui_app_init(&t.app, path, db, rec);
    t.app.is_utf8 = escape_has_utf8();
    t.app.on_progress = on_progress;
    t.app.user = &t;
    int is_new = 1;
    while (!t.app.is_done && !interrupt_is_due()) {
        if (is_new)
            paint_app(&t.app, t.screen);
        int key = next_key(&t);
        is_new = key != TUI_KEY_NONE;
        tui_key(&t.app, key);
    }
    t.screen->close();
    tui_app_free(&t.app);
    return EXIT_DONE;
}

static int tui_database(const invocation *call)
{
    session s;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = session_need_metric(&s);
    if (status == EXIT_DONE)
        status = run_views(call->operands[0], &s, NULL);
    session_close(&s);
    return status;
}

static int tui_recording(const invocation *call)
{
    rec_session s;
    int status = rec_open(&s, call->operands[0], call->shared);
    s.slice.no_sched = 1;
    if (status == EXIT_DONE)
        status = run_views(call->operands[0], NULL, &s);
    rec_close(&s);
    return status;
}

static int run_tui(const invocation *call)
{
    int status = call->kind == LODE_STORE_RECORDING ? tui_recording(call) : tui_database(call);
    return interrupt_leave(status);
}

const command_spec command_tui = {
    .name = "tui",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.shared = SHARED_METRIC | SHARED_PROFILES | SHARED_COLOR},
    .options_size = sizeof(tui_options_given),
    .run = run_tui,
};
