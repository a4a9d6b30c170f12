/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/record.h"

#include "alloc.h"
#include "output/report.h"
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not a round number, so that samples do not fall in step with something periodic. */
#define FREQUENCY 999u

const char *const stacks_choices[] = {
    [STACKS_FP] = "fp", [STACKS_DWARF] = "dwarf", [STACKS_LBR] = "lbr", [STACKS_NONE] = "none", NULL};

/* ---- interpreters ---- */

/* Variables do not change the line, reach what it starts, and older versions ignore them. */
void plan_interpreter(plan *p, int is_said)
{
    const program *found = p->program;
    const char *before = getenv("NODE_OPTIONS");
    if (p->tool != TOOL_PERF)
        return;
    if (found->interpreter == INTERPRETER_PYTHON) {
        words_add(&p->added, "PYTHONPERFSUPPORT=1");
        if (is_said && found->version && found->version < 312)
            report("Python %d.%d cannot name its functions for perf (3.12 can): functions of the interpreter "
                   "are shown",
                   found->version / 100, found->version % 100);
        else if (is_said)
            report("Python names its functions for perf in /tmp/perf-PID.map (from 3.12 on)");
    } else if (found->interpreter == INTERPRETER_NODE) {
        words_print(&p->added, "NODE_OPTIONS=%s%s--perf-basic-prof --interpreted-frames-native-stack",
                    before ? before : "", before && before[0] ? " " : "");
        if (is_said)
            report(
                "node names its functions for perf in /tmp/perf-PID.map, and leaves a log beside the program's "
                "files (isolate-*-v8.log)");
    }
}

/* ---- call stacks ---- */

/*
 * Frame pointers cost nothing, but most programs have none. A copy of the stack, from which DWARF
 * finds the callers, has 8 KiB for each sample; compressed, a fifteenth of that.
 */
static record_stacks choose_stacks(const plan *p, const binary *file)
{
    if (p->options->stacks != STACKS_UNSAID)
        return (record_stacks)p->options->stacks;
    if (p->program->interpreter)
        return STACKS_FP;
    if (file->is_elf && (file->has_frame_pointers || !file->has_unwind_tables))
        return STACKS_FP;
    return STACKS_DWARF;
}

static void say_stacks(const plan *p, const binary *file)
{
    if (p->options->stacks != STACKS_UNSAID)
        return;
    if (p->stacks == STACKS_DWARF)
        report(
            "call stacks by DWARF, since %s: about 0.6 MB for each second of a processor; --call-graph fp is "
            "smaller",
            file->is_elf ? "the program has no frame pointers"
                         : "it is not known whether programs have frame pointers");
    else
        report("call stacks by frame pointers%s",
               p->program->interpreter    ? ", the only way to those of an interpreter"
               : file->has_frame_pointers ? ", which the program has"
                                          : ": the program has no unwind tables");
}

static void say_rate(const plan *p)
{
    if (p->permitted.max_rate > 0 && p->options->frequency > (uint64_t)p->permitted.max_rate)
        report("the kernel takes at most %d samples a second: 'sudo sysctl "
               "kernel.perf_event_max_sample_rate=%llu' permits more",
               p->permitted.max_rate, (unsigned long long)p->options->frequency);
}

static void plan_perf(plan *p, int is_said)
{
    binary process;
    const binary *file = p->program->count ? &p->program->file : &process;
    if (p->program->count == 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)p->options->pid);
        binary_look(path, &process);
    }
    p->stacks = choose_stacks(p, file);
    if (!is_said)
        return;
    say_stacks(p, file);
    say_rate(p);
    permit_say(&p->permitted, p->options->off_cpu);
}

int plan_make(plan *p, const record_options *options, const program *found, int is_said)
{
    *p = (plan){.options = options, .program = found, .stacks = STACKS_NONE};
    int status = choose_tool(p, is_said);
    if (status != EXIT_DONE || p->is_per_task)
        return status;
    plan_interpreter(p, is_said);
    if (p->tool == TOOL_PERF)
        plan_perf(p, is_said);
    return EXIT_DONE;
}

void plan_free(plan *p)
{
    words_free(&p->added);
}

/* ---- argument vectors ---- */

static uint64_t frequency_of(const plan *p)
{
    return p->options->frequency ? p->options->frequency : FREQUENCY;
}

/* Every switch is recorded, and not so many a second: the frequency is that of one event. */
static void add_events(const plan *p, words *list)
{
    const permit *permitted = &p->permitted;
    const char *event = permitted->has_cycles ? "cycles" : "cpu-clock";
    const char *part = permitted->state == PERMIT_USER ? "u" : "";
    unsigned long long frequency = frequency_of(p);
    words_add(list, "-e");
    if (p->options->off_cpu) {
        words_print(list, "%s/freq=%llu,name=%s/%s", event, frequency, event, part);
        words_add(list, "--switch-events");
    } else {
        words_print(list, "%s%s%s", event, part[0] ? ":" : "", part);
        words_add(list, "-F");
        words_print(list, "%llu", frequency);
    }
    if (p->options->off_cpu && permitted->has_sched) {
        const char *waking = permitted->has_waking ? "sched:sched_waking" : "sched:sched_wakeup";
        words_add_all(list, (const char *const[]){"-e", "sched:sched_switch", "-e", waking}, 4);
    }
}

static void perf_words(const plan *p, const char *store, words *list)
{
    words_add_all(list, (const char *const[]){"perf", "record", "-o", store}, 4);
    add_events(p, list);
    if (p->stacks != STACKS_NONE)
        words_add_all(list, (const char *const[]){"--call-graph", stacks_choices[p->stacks]}, 2);
    if (p->stacks == STACKS_DWARF)
        words_add(list, "-z");
    if (p->program->count) {
        words_add(list, "--");
    } else {
        words_add(list, "-p");
        words_print(list, "%llu", (unsigned long long)p->options->pid);
    }
}

/* uftrace reads three digits before the point, and three after it. */
static void add_uftrace_time(words *list, uint64_t nanoseconds)
{
    static const struct {
        uint64_t nanoseconds;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && nanoseconds < units[i].nanoseconds)
        i++;
    uint64_t unit = units[i].nanoseconds, whole = nanoseconds / unit, rest = nanoseconds % unit * 1000 / unit;
    if (rest)
        words_print(list, "%llu.%03llu%s", (unsigned long long)whole, (unsigned long long)rest,
                    units[i].name);
    else
        words_print(list, "%llu%s", (unsigned long long)whole, units[i].name);
}

/* Switches between tasks are recorded, too, if the kernel permits it. */
static void uftrace_words(const plan *p, const char *store, words *list)
{
    words_add_all(list, (const char *const[]){"uftrace", "record", "-d", store}, 4);
    /* Without call sites, uftrace refuses a program unless it is told to go on. */
    if (p->program->launcher || p->program->file.sites == SITES_NONE)
        words_add(list, "--force");
    if (p->program->file.sites == SITES_NOPS)
        words_add_all(list, (const char *const[]){"-P", "."}, 2);
    if (p->options->min_time) {
        words_add(list, "-t");
        add_uftrace_time(list, p->options->min_time);
    }
}

/* CPUTIME leaves out the time of waiting. */
static void hpcrun_words(const plan *p, const char *store, words *list)
{
    const char *event = p->options->off_cpu ? "REALTIME" : "CPUTIME";
    words_add_all(list, (const char *const[]){"hpcrun", "-o", store, "-t", "-e"}, 5);
    if (p->options->frequency)
        words_print(list, "%s@f%llu", event, (unsigned long long)p->options->frequency);
    else
        words_add(list, event);
}

static void task_words(const plan *p, words *list)
{
    char self[PATH_MAX];
    const record_options *options = p->options;
    words_add(list, plugin_program(self) ? self : "lode");
    words_add_all(list, (const char *const[]){"record", "--with", tool_choices[p->tool], "--then", "none"},
                  5);
    if (options->frequency) {
        words_add(list, "--freq");
        words_print(list, "%llu", (unsigned long long)options->frequency);
    }
    if (options->stacks != STACKS_UNSAID)
        words_add_all(list, (const char *const[]){"--call-graph", stacks_choices[options->stacks]}, 2);
    if (options->off_cpu)
        words_add(list, "--off-cpu");
    if (options->min_time) {
        words_add(list, "--min-time");
        words_print(list, "%lluns", (unsigned long long)options->min_time);
    }
    if (options->time) {
        words_add(list, "--for");
        words_print(list, "%lluns", (unsigned long long)options->time);
    }
    words_add(list, "--");
}

/* A name that looks like an option is one for tools that do not know "--". */
static void add_program(const plan *p, size_t from, size_t to, words *list)
{
    for (size_t i = from; i < to; i++) {
        int is_option = i == p->program->first && p->program->line[i][0] == '-';
        words_add(list, is_option ? p->program->path : p->program->line[i]);
    }
}

void plan_words(const plan *p, const char *store, words *list)
{
    const program *found = p->program;
    int is_inside = found->launcher && (p->tool == TOOL_HPCRUN || p->is_per_task);
    size_t before = is_inside ? found->first : 0;
    add_program(p, 0, before, list);
    if (p->is_per_task)
        task_words(p, list);
    else if (p->tool == TOOL_PERF)
        perf_words(p, store, list);
    else if (p->tool == TOOL_UFTRACE)
        uftrace_words(p, store, list);
    else
        hpcrun_words(p, store, list);
    add_program(p, before, found->count, list);
}
