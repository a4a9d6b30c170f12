/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of names: those of --name-rules, and `lode compare --explain-match`. */
#include "alloc.h"
#include "commands/compare/compare.h"
#include "output/report.h"
#include "text/label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES_SIZE_MAX  65536
#define NAME_SIZE       8192
#define CHANGED_MAX     8
#define RULES_TEXT_SIZE 256

/* ---- reading ---- */

/* Returns the size, or -1 after a message. */
static ssize_t read_file(const char *path, char text[RULES_SIZE_MAX])
{
    size_t used = 0;
    ssize_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        report("%s: %s", path, strerror(errno));
        return -1;
    }
    while (used < RULES_SIZE_MAX && (size = read(fd, text + used, RULES_SIZE_MAX - used)) != 0) {
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            break;
        used += (size_t)size;
    }
    int error = errno;
    close(fd);
    if (size < 0)
        report("%s: %s", path, strerror(error));
    else if (used == RULES_SIZE_MAX)
        report("%s: rules have at most %d bytes", path, RULES_SIZE_MAX - 1);
    return size < 0 || used == RULES_SIZE_MAX ? -1 : (ssize_t)used;
}

int compare_open_rules(lode_name_rules **rules, const char *path)
{
    lode_error error = {0};
    char *text = path ? alloc_array(RULES_SIZE_MAX, 1) : NULL;
    ssize_t size = path ? read_file(path, text) : 0;
    int status = size < 0 ? EXIT_TROUBLE : EXIT_DONE;
    if (status == EXIT_DONE && lode_name_rules_open(rules, text, (size_t)size, &error) != LODE_OK)
        status = report("%s%s%s", path ? path : "", path ? ": " : "", error.text);
    free(text);
    return status;
}

/* ---- explaining ---- */

/* A name that rules changed. */
typedef struct changed_name {
    lode_name_subject subject;
    char *name, *normal, *rules;
} changed_name;

typedef struct explanation {
    compare_job *job;
    changed_name *names;
    size_t count, capacity;
    uint64_t *uses; /* by rule */
} explanation;

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(alloc_array(size, 1), text, size);
}

static void add_change(explanation *e, changed_name *change, const uint32_t *changed, size_t count)
{
    char rules[RULES_TEXT_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const lode_name_rule *rule = lode_name_rules_at(e->job->rules, changed[i]);
        if (used < sizeof rules)
            used += (size_t)snprintf(rules + used, sizeof rules - used, "%s%s", i ? ", " : "", rule->id);
        e->uses[changed[i]]++;
    }
    change->name = copy_text(change->name);
    change->normal = copy_text(change->normal);
    change->rules = copy_text(rules);
    e->names = alloc_grow(e->names, &e->capacity, e->count, sizeof *e->names);
    e->names[e->count++] = *change;
}

static int apply(explanation *e, lode_name_subject subject, const char *name, const char *module)
{
    char normal[NAME_SIZE], copy[NAME_SIZE];
    uint32_t changed[CHANGED_MAX];
    size_t length, count = 0;
    lode_error error = {0};
    if (!name || strlen(name) >= NAME_SIZE)
        return EXIT_DONE;
    snprintf(copy, sizeof copy, "%s", name);
    if (lode_name_rules_apply(e->job->rules, subject, copy, module, normal, sizeof normal, &length, changed,
                              CHANGED_MAX, &count, &error) != LODE_OK)
        return report("--name-rules: %s", error.text);
    if (count > 0 && length < sizeof normal)
        add_change(e, &(changed_name){.subject = subject, .name = copy, .normal = normal}, changed,
                   count < CHANGED_MAX ? count : CHANGED_MAX);
    return EXIT_DONE;
}

static const char *tail_of(const char *path)
{
    return path ? lode_path_tail(path) : NULL;
}

static int explain_run(explanation *e, const lode_cost *cost)
{
    lode_hotspots *rows = NULL;
    lode_error error = {0};
    label l = {0};
    int status = lode_hotspots_compute(&rows, cost, LODE_BY_SYMBOL, LODE_SORT_NAME, &error) == LODE_OK
                     ? EXIT_DONE
                     : report("%s", error.text);
    for (size_t i = 0; status == EXIT_DONE && i < lode_hotspots_count(rows); i++) {
        const lode_hotspot *row = lode_hotspots_at(rows, i);
        const char *module = tail_of(path_of_module(row->module));
        char normal[NAME_SIZE] = "";
        if (module && strlen(module) < NAME_SIZE &&
            lode_name_rules_apply(e->job->rules, LODE_SUBJECT_MODULE, module, NULL, normal, sizeof normal,
                                  NULL, NULL, 0, NULL, &error) != LODE_OK)
            status = report("--name-rules: %s", error.text);
        if (status == EXIT_DONE && row->function)
            status = apply(e, LODE_SUBJECT_NAME, label_name(&l, row->function, NAMES_FULL), normal);
        if (status == EXIT_DONE)
            status = apply(e, LODE_SUBJECT_MODULE, module, NULL);
        if (status == EXIT_DONE)
            status = apply(e, LODE_SUBJECT_FILE, tail_of(path_of_file(row->file)), NULL);
    }
    label_free(&l);
    lode_hotspots_free(rows);
    return status;
}

static int compare_changes(const void *left, const void *right)
{
    const changed_name *a = left, *b = right;
    int order = (int)a->subject - (int)b->subject;
    order = order ? order : strcmp(a->normal, b->normal);
    return order ? order : strcmp(a->name, b->name);
}

static void free_change(changed_name *change)
{
    free(change->name);
    free(change->normal);
    free(change->rules);
}

/* Each name once. */
static void sort_changes(explanation *e)
{
    size_t kept = 0;
    if (e->count)
        qsort(e->names, e->count, sizeof *e->names, compare_changes);
    for (size_t i = 0; i < e->count; i++) {
        if (kept && compare_changes(&e->names[kept - 1], &e->names[i]) == 0)
            free_change(&e->names[i]);
        else
            e->names[kept++] = e->names[i];
    }
    e->count = kept;
}

static const char *const subjects[] = {"name", "module", "file"};

static const out_column rule_columns[] = {
    {"rule", "Rule", OUT_STRING, OUT_ALWAYS},
    {"subject", "Of", OUT_STRING, OUT_ALWAYS},
    {"uses", "Uses", OUT_INTEGER, OUT_ALWAYS},
    {"pattern", "Pattern", OUT_STRING, OUT_DATA_ONLY},
    {"replacement", "Replacement", OUT_STRING, OUT_DATA_ONLY},
    {"is_builtin", "", OUT_BOOL, OUT_DATA_ONLY},
    {"description", "Description", OUT_PROSE, OUT_ALWAYS},
};

static void write_rules(out *o, const explanation *e)
{
    out_table(o, OUT_SIDE, "rules", rule_columns, sizeof rule_columns / sizeof *rule_columns, UNIT_COUNT);
    for (size_t i = 0; i < lode_name_rules_count(e->job->rules); i++) {
        const lode_name_rule *rule = lode_name_rules_at(e->job->rules, i);
        OUT_ROW(o, e->uses[i] ? STYLE_PLAIN : STYLE_DIM, rule->id, subjects[rule->subject], e->uses[i],
                rule->pattern, rule->replacement, rule->is_builtin != 0, rule->description);
    }
    out_table_end(o);
}

static const out_column name_columns[] = {
    {"subject", "Of", OUT_STRING, OUT_ALWAYS},
    {"rules", "Rules", OUT_STRING, OUT_ALWAYS},
    {"normalized", "", OUT_STRING, OUT_DATA_ONLY},
    {"name", "Name", OUT_STRING, OUT_ALWAYS},
};

static void write_name(out *o, const char *subject, const char *rules, const char *normal, const char *name)
{
    OUT_ROW(o, STYLE_PLAIN, subject, rules, normal, name);
}

static void write_names(out *o, const explanation *e)
{
    uint64_t limit = e->job->call->shared->limit;
    size_t shown = limit && limit < e->count ? (size_t)limit : e->count;
    out_fact_rows(o, shown, e->count);
    out_table(o, OUT_MAIN, "rows", name_columns, sizeof name_columns / sizeof *name_columns, UNIT_COUNT);
    for (size_t i = 0; i < shown; i++) {
        write_name(o, subjects[e->names[i].subject], e->names[i].rules, e->names[i].normal, e->names[i].name);
        /* Text has what becomes of a name below it: both are long. */
        if (out_is_prose(o))
            write_name(o, "", "becomes", "", e->names[i].normal);
    }
    out_table_end(o);
    out_shown(o, shown, e->count, "names");
    if (e->count == 0)
        out_say(o, "No rule changes a name.");
}

int compare_print_rules(compare_job *job)
{
    explanation e = {.job = job, .uses = alloc_array(lode_name_rules_count(job->rules) + 1, sizeof *e.uses)};
    int status = EXIT_DONE;
    for (size_t i = 0; i < job->sides.count && status == EXIT_DONE; i++)
        status = explain_run(&e, job->sides.runs[i].costs[0].cost);
    if (status == EXIT_DONE) {
        out *o = job->call->out;
        sort_changes(&e);
        out_begin(o, SCHEMA_COMPARE_RULES, NULL);
        compare_heading(o, job);
        out_gap(o);
        write_rules(o, &e);
        out_gap(o);
        write_names(o, &e);
        out_end(o);
    }
    for (size_t i = 0; i < e.count; i++)
        free_change(&e.names[i]);
    free(e.names);
    free(e.uses);
    return status;
}
