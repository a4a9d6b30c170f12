/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/source/source.h"
#include "text/label.h"

#include <stdlib.h>
#include <string.h>

/* A line with at least this share of its file's exclusive cost is hot. */
#define HOT_SHARE 0.1
#define TAB_WIDTH 8

enum {
    COLUMN_CALLS = 4, /* only of recordings */
    COLUMN_COUNT = 9
};

static const out_column of_databases[COLUMN_COUNT] = {
    {"exclusive", "Exclusive", OUT_REAL, OUT_ALWAYS},
    {"exclusive_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"inclusive", "Inclusive", OUT_REAL, OUT_ALWAYS},
    {"inclusive_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"calls", "", OUT_INTEGER, OUT_NEVER},
    {"hot", "", OUT_BOOL, OUT_DATA_ONLY},
    {"mark", "", OUT_STRING, OUT_TEXT_ONLY},
    {"line", "Line", OUT_NUMBER, OUT_ALWAYS},
    {"text", "Source", OUT_STRING, OUT_ALWAYS},
};

static const out_column of_recordings[COLUMN_COUNT] = {
    {"self_ns", "Self", OUT_TIME, OUT_ALWAYS},   {"self_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"total_ns", "Total", OUT_TIME, OUT_ALWAYS}, {"total_percent", "%", OUT_PERCENT, OUT_NEVER},
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS}, {"hot", "", OUT_BOOL, OUT_DATA_ONLY},
    {"mark", "", OUT_STRING, OUT_TEXT_ONLY},     {"line", "Line", OUT_NUMBER, OUT_ALWAYS},
    {"text", "Source", OUT_STRING, OUT_ALWAYS},
};

/* ---- costs by line ---- */

void source_costs_add(source_costs *costs, const source_cost *cost)
{
    costs->file_exclusive += cost->exclusive;
    if (cost->line == 0) {
        costs->without_line += cost->exclusive;
        return;
    }
    costs->items = alloc_grow(costs->items, &costs->capacity, costs->count, sizeof *costs->items);
    costs->items[costs->count++] = *cost;
}

static int compare_lines(const void *left, const void *right)
{
    const source_cost *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

void source_costs_finish(source_costs *costs)
{
    size_t count = 0;
    if (costs->count)
        qsort(costs->items, costs->count, sizeof *costs->items, compare_lines);
    for (size_t i = 0; i < costs->count; i++) {
        source_cost *last = count ? &costs->items[count - 1] : NULL;
        if (last && last->line == costs->items[i].line) {
            last->exclusive += costs->items[i].exclusive;
            last->inclusive += costs->items[i].inclusive;
            last->calls += costs->items[i].calls;
        } else {
            costs->items[count++] = costs->items[i];
        }
    }
    costs->count = count;
}

/* ---- printing ---- */

typedef struct printer {
    out *o;
    const source_target *target;
    const source_costs *costs;
    const lode_source_text *text; /* NULL: there is none */
    uint64_t around;
    int all, is_recording;
    char *line; /* with tabs expanded */
    size_t capacity;
} printer;

/* A copy of a line of the source; in text, tabs are expanded. NULL if there is none. */
static const char *text_of(printer *p, uint64_t number)
{
    size_t length, used = 0;
    const char *bytes = p->text ? lode_source_text_line(p->text, number, &length) : NULL;
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        int is_tab = bytes[i] == '\t' && out_format_of(p->o) == OUT_TEXT;
        size_t width = is_tab ? TAB_WIDTH - used % TAB_WIDTH : 1;
        while (p->capacity < used + width + 1)
            p->line = alloc_grow(p->line, &p->capacity, p->capacity, 1);
        /* A NUL would end the line. */
        memset(p->line + used, is_tab ? ' ' : bytes[i] ? bytes[i] : '?', width);
        used += width;
    }
    while (p->capacity < used + 1)
        p->line = alloc_grow(p->line, &p->capacity, p->capacity, 1);
    p->line[used] = '\0';
    return p->line;
}

static void amount_cell(const printer *p, double amount, int is_there)
{
    if (!is_there)
        OUT_CELLS(p->o, out_none());
    else if (p->is_recording)
        OUT_CELLS(p->o, (uint64_t)amount);
    else
        OUT_CELLS(p->o, amount);
}

static void share_cell(const printer *p, double amount, int is_there)
{
    OUT_CELLS(p->o, is_there ? out_share(amount, p->costs->total) : out_none());
}

static void print_line(printer *p, uint64_t number, const source_cost *cost)
{
    static const source_cost none = {0};
    const char *text = text_of(p, number);
    cost = cost ? cost : &none;
    /* Text leaves out what is zero. */
    int is_data = out_format_of(p->o) != OUT_TEXT;
    int has_exclusive = is_data || cost->exclusive != 0, has_inclusive = is_data || cost != &none;
    int is_hot = cost->exclusive > 0 && cost->exclusive >= HOT_SHARE * p->costs->file_exclusive;
    out_row(p->o, is_hot ? STYLE_HOT : STYLE_PLAIN);
    amount_cell(p, cost->exclusive, has_exclusive);
    share_cell(p, cost->exclusive, has_exclusive);
    amount_cell(p, cost->inclusive, has_inclusive);
    share_cell(p, cost->inclusive, has_inclusive);
    OUT_CELLS(p->o, out_u64_if(has_inclusive, cost->calls), (uint64_t)is_hot,
              is_hot                      ? "*"
              : number == p->target->line ? ">"
                                          : "",
              number, text);
    out_row_end(p->o);
}

static void print_gap(printer *p)
{
    if (out_format_of(p->o) != OUT_TEXT)
        return;
    out_row(p->o, STYLE_DIM);
    for (int i = 0; i < COLUMN_COUNT - 1; i++)
        OUT_CELLS(p->o, out_none());
    OUT_CELLS(p->o, "...");
    out_row_end(p->o);
}

/* The last line that there is, in the text or in the costs. */
static uint64_t last_line(const printer *p)
{
    uint64_t last = p->text ? lode_source_text_line_count(p->text) : 0;
    if (p->costs->count && p->costs->items[p->costs->count - 1].line > last)
        last = p->costs->items[p->costs->count - 1].line;
    return last;
}

static uint64_t less(uint64_t number, uint64_t by)
{
    return number > by ? number - by : 1;
}

/* Prints a range of lines that begins after `*next`, which it moves on. */
static void print_range(printer *p, uint64_t first, uint64_t last, uint64_t *next, size_t *at)
{
    uint64_t end = p->text ? lode_source_text_line_count(p->text) : 0;
    if (first > *next && *next > 1)
        print_gap(p);
    for (uint64_t line = first > *next ? first : *next; line <= last; line++) {
        while (*at < p->costs->count && p->costs->items[*at].line < line)
            ++*at;
        int has_cost = *at < p->costs->count && p->costs->items[*at].line == line;
        /* Without text, only lines with costs are worth a row; they can be far apart. */
        if (has_cost || line <= end)
            print_line(p, line, has_cost ? &p->costs->items[*at] : NULL);
        else if (*at < p->costs->count && p->costs->items[*at].line <= last)
            line = p->costs->items[*at].line - 1U;
        else
            break;
    }
    *next = last + 1;
}

/* Whether a line with a cost is one of those that were asked for. Lines come in ascending order. */
static int is_wanted(const source_target *target, uint32_t line, uint64_t first, uint64_t last, size_t *at)
{
    while (*at < target->line_count && target->lines[*at] < line)
        ++*at;
    if (target->lines && (*at >= target->line_count || target->lines[*at] != line))
        return 0;
    return line >= first && line <= last;
}

/* Lines with costs inside the wanted lines, with as many around them as asked for. */
static void print_lines(printer *p)
{
    const source_target *target = p->target;
    uint64_t first = target->first ? target->first : 1, last = target->last ? target->last : last_line(p);
    uint64_t next = 1;
    size_t at = 0, own = 0;
    if (p->all) {
        print_range(p, 1, last_line(p), &next, &at);
        return;
    }
    int is_own_shown = target->line == 0 || target->line < first || target->line > last;
    for (size_t i = 0; i <= p->costs->count; i++) {
        uint32_t line = i < p->costs->count ? p->costs->items[i].line : UINT32_MAX;
        if (!is_own_shown && line >= target->line) {
            print_range(p, less(target->line, p->around), target->line + p->around, &next, &at);
            is_own_shown = 1;
        }
        if (i < p->costs->count && is_wanted(target, line, first, last, &own) && line + p->around >= next)
            print_range(p, less(line, p->around), line + p->around, &next, &at);
    }
}

static void say_source(out *o, const source_target *target, const lode_source_text *text,
                       const lode_error *error)
{
    const char *path = lode_file_path(target->file), *reason = error->text[0] ? error->text : "not found";
    label l = {0};
    OUT_FIELDS(o, "file", path, "function", target->function ? label_function(&l, target->function) : NULL,
               "target_line", target->line, "source", text ? lode_source_text_origin(text) : NULL,
               "source_problem", text ? NULL : reason);
    if (target->function)
        out_say(o, "%s, in %s", label_function(&l, target->function), path);
    else
        out_say(o, "%s", path);
    if (!text)
        out_say(o, "(no source text: %s; --source-path names a directory to look in)", reason);
    out_gap(o);
    label_free(&l);
}

/* DIRECTORY or OLD=NEW. The strings live as long as `copies`. */
static size_t read_paths(const text_list *list, lode_source_path *paths, char **copies)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        paths[i] = (lode_source_path){NULL, list->items[i]};
        copies[i] = NULL;
        if (!equals)
            continue;
        size_t length = (size_t)(equals - list->items[i]);
        copies[i] = alloc_array(length + 1, 1);
        memcpy(copies[i], list->items[i], length);
        paths[i] = (lode_source_path){copies[i], equals + 1};
    }
    return list->count;
}

void source_print(const invocation *call, const source_target *target, const source_costs *costs,
                  metric_unit unit)
{
    const source_settings *settings = call->options;
    lode_source_options options = LODE_SOURCE_OPTIONS_INIT;
    lode_source_path paths[TEXT_LIST_MAX];
    char *copies[TEXT_LIST_MAX];
    lode_source_text *text = NULL;
    lode_error error = {0};
    out *o = call->out;
    options.database = call->kind == LODE_STORE_DATABASE ? call->operands[0] : NULL;
    options.paths = paths;
    options.path_count = read_paths(&settings->source_paths, paths, copies);
    /* Costs are worth showing without the text. */
    if (lode_source_text_open(&text, target->file, &options, &error) != LODE_OK)
        text = NULL;
    printer p = {.o = o, .target = target, .costs = costs, .text = text, .all = settings->all};
    p.around = settings->around < UINT32_MAX ? settings->around : UINT32_MAX;
    p.is_recording = call->kind == LODE_STORE_RECORDING;
    say_source(o, target, text, &error);
    OUT_FIELDS(o, p.is_recording ? "file_self_ns" : "file_exclusive", costs->file_exclusive,
               p.is_recording ? "without_line_ns" : "without_line", costs->without_line);
    out_table(o, OUT_MAIN, "rows", p.is_recording ? of_recordings : of_databases, COLUMN_COUNT, unit);
    print_lines(&p);
    out_table_end(o);
    if (costs->count == 0)
        out_say(o, "No line has a cost.");
    free(p.line);
    lode_source_text_close(text);
    for (size_t i = 0; i < settings->source_paths.count; i++)
        free(copies[i]);
}
