/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/record/record.h"

#include "alloc.h"
#include "launcher.h"
#include "options/shell_words.h"
#include "output/report.h"
#include "plugin.h"
#include "text/line.h"
#include "text/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEAT_MAX 1000u
#define LARGE      (UINT64_C(64) << 20)

const char *const then_choices[] = {
    [THEN_DIAGNOSE] = "diagnose", [THEN_TOP] = "top", [THEN_VIEW] = "view", [THEN_NONE] = "none", NULL};

/* ---- usage ---- */

static int record_usage(const invocation *call)
{
    const record_options *options = call->options;
    if (options->pid && call->operand_count > 0)
        return report("--pid records a process that runs: '%s' is not started (see 'lode help record')",
                      call->operands[0]);
    if (!options->pid && call->operand_count == 0)
        return report("missing argument: PROGRAM (see 'lode help record')");
    if (options->repeat > REPEAT_MAX)
        return report("--repeat takes a number up to %u (see 'lode help record')", REPEAT_MAX);
    if (options->repeat > 1 && options->pid)
        return report(
            "--repeat starts a program again: it cannot be used with --pid (see 'lode help record')");
    if (options->repeat && options->then != THEN_UNSAID && options->then != THEN_NONE)
        return report("--repeat is for comparing: --then cannot be used with it (see 'lode help record')");
    return EXIT_DONE;
}

/* ---- the commands that are shown ---- */

/* As it is typed: with what is added to the environment before it. */
static char *spell_command(const plan *p, const words *command)
{
    line typed = {0};
    for (size_t i = 0; i < p->added.count; i++) {
        const char *variable = p->added.items[i];
        size_t name = strcspn(variable, "=") + 1;
        char *value = shell_spell(variable + name);
        line_add_bytes(&typed, variable, name);
        line_add(&typed, value);
        line_add(&typed, " ");
        free(value);
    }
    char *rest = words_spell(command);
    line_add(&typed, rest);
    line_add_bytes(&typed, "", 1);
    free(rest);
    return typed.text;
}

static int rehearse(const invocation *call, const plan *p)
{
    store_place place = {0};
    words command = {0};
    int status = p->is_per_task ? EXIT_DONE : place_take(&place, p, 1);
    if (status != EXIT_DONE)
        return status;
    plan_words(p, place.store, &command);
    char *typed = spell_command(p, &command);
    out_write(call->out, typed, strlen(typed));
    out_print(call->out, "\n");
    free(typed);
    words_free(&command);
    return EXIT_DONE;
}

/* ---- one run ---- */

static uint64_t wall_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * The status of uftrace only says whether its program failed; the recording says how, unless
 * uftrace ended first.
 */
static int status_by_recording(const char *store, int otherwise)
{
    lode_recording *recording = NULL;
    lode_error error;
    static const char killed[] = "killed by signal ";
    int status = otherwise;
    if (lode_recording_open(&recording, store, NULL, &error) != LODE_OK)
        return otherwise;
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++) {
        const lode_fact *fact = lode_recording_fact(recording, i);
        if (strcmp(fact->key, "exit status") != 0)
            continue;
        if (strncmp(fact->value, killed, sizeof killed - 1) == 0)
            status = 128 + (int)(strtoul(fact->value + sizeof killed - 1, NULL, 10) & 0x7f);
        else if (isdigit((unsigned char)fact->value[0]))
            status = (int)(strtoul(fact->value, NULL, 10) & 0xff);
    }
    lode_recording_close(recording);
    return status;
}

static int status_of_program(const plan *p, const store_place *place, const launch_result *result)
{
    /* It was meant to end then, whatever signal did it. */
    if (result->is_timed_out)
        return EXIT_DONE;
    if (p->tool == TOOL_UFTRACE && !p->is_per_task)
        return status_by_recording(place->store, result->signal ? 128 + result->signal : result->status);
    /* A process that runs on has no status yet. */
    if (p->program->count == 0 && result->signal)
        return EXIT_DONE;
    return result->status;
}

static int say_failure(const plan *p, const store_place *place, const launch_result *result)
{
    const char *name = tool_choices[p->tool];
    if (result->code)
        report("%s cannot be started: %s", name, strerror(result->code));
    else
        report("%s recorded nothing that can be read (its exit status is %d)", name, result->status);
    if (place_bytes(place) > 0)
        report("%s is what it left", place->store);
    place_discard(place);
    return RECORD_FAILED;
}

static void say_written(const plan *p, const store_place *place)
{
    char size[NUMBER_SIZE];
    uint64_t bytes = place_bytes(place);
    format_bytes(size, bytes);
    report("%s (%s) is the recording; %s says how it was made", place->store, size, place->about);
    if (p->tool == TOOL_UFTRACE && bytes > LARGE)
        report(
            "short calls make it large, and the program slow: --min-time 1us leaves out those that take less");
}

static void add_to_environment(const plan *p)
{
    for (size_t i = 0; i < p->added.count; i++) {
        char *name = alloc_text(p->added.items[i]), *equals = strchr(name, '=');
        *equals = '\0';
        setenv(name, equals + 1, 1); /* NOLINT(concurrency-mt-unsafe): the only thread */
        free(name);
    }
}

static void start(const plan *p, const words *command, launch_result *result)
{
    launch_settings settings = {.nanoseconds = p->options->time,
                                .target = p->tool == TOOL_UFTRACE ? TARGET_PROGRAM : TARGET_TOOL};
    char *typed = spell_command(p, command), length[NUMBER_SIZE];
    report_whole(typed);
    if (p->options->time) {
        format_duration(length, p->options->time);
        report("it is ended after %s, or by Ctrl-C", length);
    }
    free(typed);
    add_to_environment(p);
    launch_run(command->items, &settings, result);
}

/* Records once. Returns the exit status of the program; *is_recorded: whether there is a store. */
static int record_once(const plan *p, store_place *place, int *is_recorded)
{
    words command = {0};
    launch_result result = {0};
    about_run run = {0};
    *is_recorded = 0;
    int status = place_take(place, p, 0);
    if (status != EXIT_DONE)
        return status;
    plan_words(p, place->store, &command);
    run.begin = wall_clock();
    if (about_write(p, place, &command, &run) != EXIT_DONE) {
        place_discard(place);
        words_free(&command);
        return RECORD_FAILED;
    }
    start(p, &command, &result);
    run.end = wall_clock();
    if (result.code || !place_is_filled(place, p->tool)) {
        status = say_failure(p, place, &result);
    } else {
        *is_recorded = 1;
        status = run.status = status_of_program(p, place, &result);
        run.is_ended = result.is_timed_out;
        if (about_write(p, place, &command, &run) != EXIT_DONE)
            status = RECORD_FAILED;
        say_written(p, place);
    }
    words_free(&command);
    return status;
}

/* ---- afterwards ---- */

/* Runs this program again. 0 if it did what was asked for. */
static int run_again(const char *const *arguments, size_t count)
{
    char self[PATH_MAX];
    words command = {0};
    launch_result result = {0};
    words_add(&command, "lode");
    words_add_all(&command, arguments, count);
    char *typed = words_spell(&command);
    report_whole(typed);
    free(typed);
    if (plugin_program(self)) {
        free(command.items[0]);
        command.items[0] = alloc_text(self);
    }
    /* The program has standard output; what is said about it is a message. */
    launch_run(command.items, &(launch_settings){.is_message = 1}, &result);
    words_free(&command);
    return result.code || (result.status != EXIT_DONE && result.status != EXIT_FINDINGS && !result.signal);
}

/* Measurements have no answers yet: the database that is built from them has. */
static int go_on(const plan *p, const store_place *place, int status)
{
    char database[PATH_MAX];
    const char *store = place->store;
    int then = p->options->then == THEN_UNSAID ? THEN_DIAGNOSE : p->options->then, failed = 0;
    const launch task = launcher_find();
    int is_task = task.name && launcher_has_others(&task);
    if (then == THEN_NONE || (is_task && p->options->then == THEN_UNSAID))
        return status;
    if (p->tool == TOOL_HPCRUN) {
        snprintf(database, sizeof database, "%.*s.db", PATH_MAX - 16, place->name);
        failed = run_again((const char *const[]){"build", store, "-o", database}, 4);
        store = database;
    }
    if (!failed)
        failed = run_again((const char *const[]){then_choices[then], store}, 2);
    return failed && status == EXIT_DONE ? RECORD_FAILED : status;
}

/* The runs before, or those that come next, are the other side. */
static void say_comparison(const plan *p, const store_place *last, unsigned first, unsigned count)
{
    words command = {0};
    char store[PATH_MAX];
    store_place before = *last;
    unsigned base = first;
    if (first > count) {
        place_sibling(last, p, first - count, before.store);
        base = place_is_filled(&before, p->tool) ? first - count : first;
    }
    words_add_all(&command, (const char *const[]){"lode", "compare", "--base"}, 3);
    for (unsigned i = 0; i < 2 * count; i++) {
        if (i == count)
            words_add(&command, "--new");
        place_sibling(last, p, base + i, store);
        words_add(&command, store);
    }
    char *typed = words_spell(&command);
    if (base == first)
        report("when the same command has recorded another version, compare the two sets:");
    else
        report("compare with the runs before:");
    report_whole(typed);
    free(typed);
    words_free(&command);
}

static int repeat(const plan *p, unsigned count)
{
    store_place place = {0};
    unsigned first = 0;
    int status = EXIT_DONE, is_recorded = 1;
    for (unsigned i = 0; i < count && status == EXIT_DONE && is_recorded; i++) {
        report("run %u of %u", i + 1, count);
        status = record_once(p, &place, &is_recorded);
        first = first ? first : place.number;
    }
    if (status != EXIT_DONE || !is_recorded)
        report("the runs that are left were not made: the exit status is %d", status);
    else if (place.number == first + count - 1)
        say_comparison(p, &place, first, count);
    return status;
}

/* ---- the command ---- */

/* The name of a program is made of letters that mean nothing to a shell (program_name). */
static void say_tasks(const plan *p)
{
    const char *name = p->program->name;
    if (p->tool == TOOL_UFTRACE)
        report("one database of all: lode build --rank-from 'rank([0-9]+)' lode-%s-rank*-1 -o lode-%s.db",
               name, name);
    else
        report("each store has an answer: lode diagnose lode-%s-rank0-1.data", name);
}

/* A launcher whose tasks record themselves has no store of its own. */
static int run_tasks(const plan *p)
{
    words command = {0};
    launch_result result = {0};
    plan_words(p, "", &command);
    char *typed = words_spell(&command);
    report_whole(typed);
    free(typed);
    launch_run(command.items, &(launch_settings){0}, &result);
    if (result.code)
        report("%s cannot be started: %s", command.items[0], strerror(result.code));
    else if (result.status == EXIT_DONE)
        say_tasks(p);
    words_free(&command);
    return result.code ? RECORD_FAILED : result.status;
}

static int run_plan(const invocation *call, const plan *p)
{
    const record_options *options = call->options;
    store_place place = {0};
    int is_recorded;
    if (options->dry_run)
        return rehearse(call, p);
    if (p->is_per_task)
        return run_tasks(p);
    if (options->repeat)
        return repeat(p, (unsigned)options->repeat);
    int status = record_once(p, &place, &is_recorded);
    return is_recorded ? go_on(p, &place, status) : status;
}

static int refuse_program(const program *found)
{
    const char *word = found->line[found->first];
    char first[PATH_MAX], path[PATH_MAX];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(word, " "), word);
    if (!found->is_denied && strchr(word, ' ') && program_find(first, path))
        report(
            "%s: there is no such program; words that follow %s are arguments of their own, not in one pair of "
            "quotes",
            word, first);
    else
        report("%s: %s", word, found->is_denied ? "is not executable" : "there is no such program");
    return found->is_denied ? RECORD_DENIED : RECORD_NOT_FOUND;
}

static int run_record(const invocation *call)
{
    const record_options *options = call->options;
    const launch task = launcher_find();
    static program found;
    plan p;
    if (call->operand_count > 0) {
        program_look(call->operands, call->operand_count, &found);
        if (!found.path[0])
            return refuse_program(&found);
    }
    /* Of all tasks of a launcher, one says what all do. */
    int status = plan_make(&p, options, &found, !task.name || task.rank == 0);
    if (status == EXIT_DONE)
        status = run_plan(call, &p);
    plan_free(&p);
    return status;
}

static const option_spec record_own[] = {
    {"with", 0, OPTION_CHOICE, NULL, tool_choices, offsetof(record_options, tool)},
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(record_options, name)},
    {"for", 0, OPTION_SPAN, "TIME", NULL, offsetof(record_options, time)},
    {"pid", 0, OPTION_COUNT, "PID", NULL, offsetof(record_options, pid)},
    {"freq", 0, OPTION_COUNT, "N", NULL, offsetof(record_options, frequency)},
    {"min-time", 0, OPTION_SPAN, "TIME", NULL, offsetof(record_options, min_time)},
    {"call-graph", 0, OPTION_CHOICE, NULL, stacks_choices, offsetof(record_options, stacks)},
    {"off-cpu", 0, OPTION_FLAG, NULL, NULL, offsetof(record_options, off_cpu)},
    {"repeat", 0, OPTION_COUNT, "N", NULL, offsetof(record_options, repeat)},
    {"then", 0, OPTION_CHOICE, NULL, then_choices, offsetof(record_options, then)},
    {"dry-run", 0, OPTION_FLAG, NULL, NULL, offsetof(record_options, dry_run)},
    {0},
};

static const record_options record_defaults = {
    .tool = TOOL_UNSAID, .stacks = STACKS_UNSAID, .then = THEN_UNSAID};

const command_spec command_record = {
    .name = "record",
    .operands = "PROGRAM [ARGUMENT]...",
    .max_operands = SIZE_MAX,
    .options = {.own = record_own, .ends_at_operand = 1},
    .options_size = sizeof(record_options),
    .defaults = &record_defaults,
    .usage = record_usage,
    .run = run_record,
};
