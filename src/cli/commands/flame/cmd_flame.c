/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/flame/flame.h"
#include "commands/shared/costs.h"
#include "options/filter.h"
#include "output/place.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "text/label.h"
#include "view/document.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct flame_options {
    shared_options shared;
    const char *function, *focus;
    uint64_t at, depth, width;
    int bottom_up, merge_recursion, force;
    double min_width;
} flame_options;

enum {
    COLUMN_COUNT = 16,
    WIDTH_MAX = 100000,
    TITLE_SIZE = 1024
};
#define NO_CONTEXT UINT64_MAX

static const out_column columns[COLUMN_COUNT] = {
    {"box", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"parent_box", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"level", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"x", "", OUT_REAL, OUT_DATA_ONLY},
    {"width", "", OUT_REAL, OUT_DATA_ONLY},
    {"inclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"inclusive_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"exclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"exclusive_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"name", "", OUT_STRING, OUT_DATA_ONLY},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
    {"more", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"folded", "", OUT_BOOL, OUT_DATA_ONLY},
    {"calls", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"contexts", "", OUT_INTEGER, OUT_DATA_ONLY},
};

static const char *mode_of(const flame_options *options)
{
    return options->function ? "sandwich" : options->bottom_up ? "bottom-up" : "top-down";
}

/* ---- JSON ---- */

static void write_box(out *o, const flame_picture *picture, size_t index, label *l)
{
    const lode_flame_box *box = lode_flame_at(picture->flame, index);
    int is_row = box->context != NULL, has_parent = box->parent != LODE_FLAME_NO_PARENT;
    /* Levels above the function of a sandwich count from it, too. */
    int first = lode_flame_first_level(picture->flame);
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, index, out_u64_if(has_parent, box->parent), (uint64_t)(box->level - first), box->x,
              box->width, box->inclusive, out_share(box->inclusive, picture->total));
    if (is_row) {
        OUT_CELLS(o, box->exclusive, out_share(box->exclusive, picture->total));
    } else {
        OUT_CELLS(o, out_none(), out_none());
    }
    OUT_CELLS(o, is_row ? label_context_as(l, box->context, picture->names) : NULL,
              is_row ? lode_kind_name((int)box->kind) : NULL, box->more, box->folded != 0, box->calls,
              out_u64_if(is_row, is_row ? lode_context_id(box->context) : 0), box->contexts);
    out_row_end(o);
}

static void write_boxes(out *o, const flame_picture *picture, const flame_options *options)
{
    const lode_flame *flame = picture->flame;
    label l = {0};
    OUT_FIELDS(o, "mode", mode_of(options), "function", options->function, "focus", options->focus);
    if (options->at != NO_CONTEXT)
        OUT_FIELDS(o, "root", options->at);
    OUT_FIELDS(o, "whole", lode_flame_whole(flame), "width", options->width, "min_width", options->min_width);
    int levels = lode_flame_last_level(flame) - lode_flame_first_level(flame) + 1;
    OUT_FIELDS(o, "levels", (uint64_t)levels, "origin_level", (uint64_t)(-lode_flame_first_level(flame)),
               "merged_rows", lode_flame_merged(flame), "is_truncated", lode_flame_is_cut(flame));
    out_table(o, OUT_MAIN, "boxes", columns, COLUMN_COUNT, picture->unit);
    for (size_t i = 0; i < lode_flame_count(flame); i++)
        write_box(o, picture, i, &l);
    out_table_end(o);
    label_free(&l);
}

/* ---- what is drawn ---- */

/* EXIT_DONE, or EXIT_TROUBLE after a message. */
static int build(lode_flame **flame, const invocation *call, const lode_cost *cost, int names)
{
    const flame_options *options = call->options;
    lode_flame_options settings = LODE_FLAME_OPTIONS_INIT;
    lode_filter *filter = NULL;
    lode_error error = {0};
    settings.mode = options->function    ? LODE_FLAME_SANDWICH
                    : options->bottom_up ? LODE_FLAME_BOTTOM_UP
                                         : LODE_FLAME_TOP_DOWN;
    settings.focus = options->function ? options->function : options->focus;
    settings.names = name_form(names);
    settings.merge_recursion = options->merge_recursion;
    settings.width = (double)options->width;
    settings.min_width = options->min_width;
    settings.depth = (unsigned)(options->depth < UINT32_MAX ? options->depth : 0);
    settings.max_boxes = (size_t)options->shared.limit;
    settings.kinds = call->kinds;
    if (options->at != NO_CONTEXT)
        settings.at = options->at <= UINT32_MAX ? lode_cost_context(cost, (uint32_t)options->at) : NULL;
    if (options->at != NO_CONTEXT && !settings.at)
        return report("%s: there is no context %llu", call->operands[0], (unsigned long long)options->at);
    if (filter_open(&filter, &options->shared) != EXIT_DONE)
        return EXIT_TROUBLE;
    settings.filter = filter;
    lode_status status = lode_flame_build(flame, cost, &settings, &error);
    lode_filter_close(filter);
    return status == LODE_OK ? EXIT_DONE : report_error(call->operands[0], &error);
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length > size && strcasecmp(text + length - size, end) == 0;
}

static int is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* "CPUTIME (sec), callers and callees of main": names are text of the store. */
static void set_title(flame_picture *picture, char title[TITLE_SIZE], const char *metric,
                      const flame_options *options)
{
    const char *name = options->function ? options->function : options->focus;
    const char *what = options->function    ? ", callers and callees of "
                       : options->bottom_up ? ", bottom-up"
                       : options->focus     ? ", from "
                                            : "";
    snprintf(title, TITLE_SIZE, "%.400s%s%.400s", metric, what, name ? name : "");
    picture->title = title;
}

/* Of a database or a recording; the other is NULL. */
typedef struct answer {
    const flame_options *options;
    const flame_picture *picture;
    const session *database;
    const lode_cost *cost;
    const rec_session *recording;
} answer;

static void write_answer(out *o, const void *user)
{
    const answer *a = user;
    out_begin(o, a->recording ? SCHEMA_FLAME_RECORDING : SCHEMA_FLAME_DATABASE, a->picture->path);
    if (a->recording) {
        rec_write_slice(o, a->recording);
        OUT_FIELDS(o, "total_ns", a->picture->total);
    } else {
        costs_heading(o, a->database, a->cost);
    }
    write_boxes(o, a->picture, a->options);
    if (a->recording)
        damage_write(o);
    out_end(o);
}

static int draw(const invocation *call, const answer *a)
{
    if (call->shared->json)
        write_answer(call->out, a);
    else if (ends_with(call->shared->output, ".html"))
        return flame_html(call->out, a->recording ? "recording" : "database", write_answer, a);
    else
        flame_svg(call->out, a->picture);
    return EXIT_DONE;
}

static int flame_database(const invocation *call)
{
    const flame_options *options = call->options;
    session s;
    lode_cost *cost = NULL;
    lode_flame *flame = NULL;
    int status = session_open(&s, call->operands[0], call->shared);
    int names = status == EXIT_DONE ? names_of_database(s.db, call->shared->names) : NAMES_FULL;
    if (status == EXIT_DONE)
        status = session_cost(&s, &cost);
    if (status == EXIT_DONE)
        status = build(&flame, call, cost, names);
    if (status == EXIT_DONE) {
        const char *metric = lode_metric_name(lode_cost_metric(cost));
        char title[TITLE_SIZE];
        flame_picture picture = {.flame = flame,
                                 .path = s.path,
                                 .width = (double)options->width,
                                 .total = lode_cost_total(cost),
                                 .unit = unit_of_metric(metric),
                                 .names = names,
                                 .is_bottom_up = options->bottom_up};
        set_title(&picture, title, metric, options);
        status = draw(call, &(answer){.options = options, .picture = &picture, .database = &s, .cost = cost});
    }
    lode_flame_free(flame);
    session_free_cost(cost);
    session_close(&s);
    return status;
}

static int flame_recording(const invocation *call)
{
    const flame_options *options = call->options;
    rec_session s;
    lode_flame *flame = NULL;
    int names = names_of_recordings(call->shared->names);
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    const lode_calltree *tree = status == EXIT_DONE ? rec_calltree(&s) : NULL;
    status = tree ? EXIT_DONE : EXIT_TROUBLE;
    if (status == EXIT_DONE)
        status = build(&flame, call, lode_calltree_cost(tree), names);
    if (status == EXIT_DONE) {
        char title[TITLE_SIZE];
        flame_picture picture = {.flame = flame,
                                 .path = s.path,
                                 .width = (double)options->width,
                                 .total = lode_cost_total(lode_calltree_cost(tree)),
                                 .unit = UNIT_NANOSECONDS,
                                 .names = names,
                                 .is_bottom_up = options->bottom_up};
        set_title(&picture, title, s.is_running ? "running time of calls" : "time of calls", options);
        status = draw(call, &(answer){.options = options, .picture = &picture, .recording = &s});
    }
    lode_flame_free(flame);
    rec_close(&s);
    return status;
}

/* ---- the command ---- */

static int flame_usage(const invocation *call)
{
    const flame_options *options = call->options;
    const char *path = call->shared->output;
    if (!call->shared->json && !path)
        return report(
            "missing option: -o/--output ('-' is standard output), or --json (see 'lode help flame')");
    if (!call->shared->json && !is_standard(path) && !ends_with(path, ".svg") && !ends_with(path, ".html"))
        return report("'%s' does not end in .svg or .html (see 'lode help flame')", path);
    if (!call->shared->json && ends_with(path, ".html") && document_is_possible() != EXIT_DONE)
        return EXIT_TROUBLE;
    if (options->function && (options->focus || options->bottom_up))
        return report("--function and %s cannot be used together (see 'lode help flame')",
                      options->focus ? "--focus" : "--bottom-up");
    if (options->at != NO_CONTEXT && (options->function || options->focus || options->bottom_up))
        return report(
            "--root cannot be used with --function, --focus and --bottom-up (see 'lode help flame')");
    if (!(options->width >= 100 && options->width <= WIDTH_MAX))
        return report("--width must be from 100 to %d (see 'lode help flame')", WIDTH_MAX);
    if (!(options->min_width >= 0.01))
        return report("--min-width must be at least 0.01 (see 'lode help flame')");
    if (call->shared->limit == 0 || call->shared->limit > 1000000)
        return report("--limit must be from 1 to 1000000 (see 'lode help flame')");
    return path && !is_standard(path) ? place_is_free(path, options->force) : EXIT_DONE;
}

static int run_flame(const invocation *call)
{
    return call->kind == LODE_STORE_RECORDING ? flame_recording(call) : flame_database(call);
}

static const option_spec flame_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(shared_options, output)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(flame_options, force)},
    {"function", 0, OPTION_TEXT, "NAME", NULL, offsetof(flame_options, function)},
    {"bottom-up", 0, OPTION_FLAG, NULL, NULL, offsetof(flame_options, bottom_up)},
    {"focus", 0, OPTION_TEXT, "NAME", NULL, offsetof(flame_options, focus)},
    {"root", 0, OPTION_COUNT, "CONTEXT", NULL, offsetof(flame_options, at)},
    {"merge-recursion", 0, OPTION_FLAG, NULL, NULL, offsetof(flame_options, merge_recursion)},
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(flame_options, depth)},
    {"width", 0, OPTION_COUNT, "PIXELS", NULL, offsetof(flame_options, width)},
    {"min-width", 0, OPTION_REAL, "PIXELS", NULL, offsetof(flame_options, min_width)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {0},
};

static const flame_options flame_defaults = {
    .shared = {.limit = 20000, .names = NAMES_BY_STORE, .no_sched = 1},
    .at = NO_CONTEXT,
    .width = 1200,
    .min_width = 0.5};

const command_spec command_flame = {
    .name = "flame",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = flame_own,
                .shared = SHARED_ANY_METRIC | SHARED_PROFILES | SHARED_PART | SHARED_NAMES | SHARED_FILTER |
                          SHARED_SCHED | SHARED_STRICT | SHARED_MEMORY | SHARED_THREADS | SHARED_JSON |
                          SHARED_KINDS},
    .options_size = sizeof(flame_options),
    .defaults = &flame_defaults,
    .usage = flame_usage,
    .run = run_flame,
};
