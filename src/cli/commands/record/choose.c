/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/record.h"

#include "output/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tool_choices[] = {
    [TOOL_PERF] = "perf", [TOOL_UFTRACE] = "uftrace", [TOOL_HPCRUN] = "hpcrun", NULL};

static int is_installed(record_tool tool)
{
    char path[PATH_MAX];
    return program_find(tool_choices[tool], path);
}

/* Whether uftrace can see the calls of the program. */
static int can_trace(const program *found)
{
    return found->file.sites != SITES_NONE && found->file.is_dynamic;
}

/* Options that only samples have a meaning for. */
static const char *sampling_option(const record_options *options)
{
    return options->frequency ? "--freq" : options->stacks != STACKS_UNSAID ? "--call-graph" : NULL;
}

static int say_missing(const plan *p, record_tool tool)
{
    static const char *const packages[] = {
        "'apt install linux-perf' on Debian, linux-tools on Ubuntu, perf elsewhere",
        "'apt install uftrace', or from source", "it is a part of HPCToolkit"};
    (void)p;
    report("%s is not installed: %s", tool_choices[tool], packages[tool]);
    return RECORD_FAILED;
}

/* ---- why ---- */

static const char *word_of(const plan *p)
{
    return p->program->line[p->program->first];
}

static void say_uftrace(const plan *p)
{
    const binary *file = &p->program->file;
    if (!can_trace(p->program))
        report("uftrace records calls of library functions only: functions of %s %s", word_of(p),
               file->is_elf && !file->is_dynamic ? "cannot be traced, since it is linked statically"
                                                 : "have no call sites (compile with -pg)");
    else
        report("uftrace records every call: functions of %s %s (%s)", word_of(p),
               file->sites == SITES_CALLS ? "call a tracer when they begin"
                                          : "have space for a call of a tracer",
               file->evidence);
}

static void say_perf(const plan *p)
{
    const program *found = p->program;
    const char *option = sampling_option(p->options);
    if (found->count == 0)
        report("perf takes samples of process %llu", (unsigned long long)p->options->pid);
    else if (found->interpreter)
        report("perf takes samples of %s, and of what it calls",
               found->interpreter == INTERPRETER_PYTHON ? "Python" : "node");
    else if (can_trace(found) && option)
        report("perf takes samples, as %s asks; uftrace would record every call of %s", option, word_of(p));
    else if (can_trace(found) && !is_installed(TOOL_UFTRACE))
        report("perf takes samples; %s has call sites, for which uftrace is not installed", word_of(p));
    else if (found->file.sites != SITES_NONE && !found->file.is_dynamic)
        report("perf takes samples: %s has call sites, but is linked statically, so uftrace cannot use them",
               word_of(p));
    else if (can_trace(found))
        report("perf takes samples");
    else if (found->file.interpreter[0])
        report("perf takes samples: %s is a script, and what it starts is recorded, too", word_of(p));
    else
        report("perf takes samples: functions of %s have no call sites (gcc -pg) for uftrace", word_of(p));
}

/* What a tool that starts the launcher does not see. */
static void say_launcher(const plan *p)
{
    const program *found = p->program;
    if (p->is_per_task)
        report(
            "%s starts tasks where %s cannot follow: each task is recorded by 'lode record', into a store of "
            "its own",
            found->launcher, tool_choices[p->tool]);
    else if (p->tool != TOOL_HPCRUN)
        report(
            "hpcrun, which records ranks, is not %s: %s records %s and the processes that it starts on this "
            "machine; they have process ids instead of ranks",
            is_installed(TOOL_HPCRUN) ? "asked for" : "installed", tool_choices[p->tool], found->launcher);
}

static void say(const plan *p)
{
    if (p->tool == TOOL_PERF)
        say_perf(p);
    else if (p->tool == TOOL_UFTRACE)
        say_uftrace(p);
    else
        report("hpcrun takes samples%s%s",
               p->program->launcher ? ": it records the ranks that are started by " : "",
               p->program->launcher ? p->program->launcher : "");
    if (p->program->launcher)
        say_launcher(p);
}

/* ---- the choice ---- */

static record_tool prefer(const plan *p)
{
    const program *found = p->program;
    if (found->count == 0)
        return TOOL_PERF;
    if (found->launcher && is_installed(TOOL_HPCRUN))
        return TOOL_HPCRUN;
    if (can_trace(found) && is_installed(TOOL_UFTRACE) && !sampling_option(p->options))
        return TOOL_UFTRACE;
    return TOOL_PERF;
}

static int refuse_options(const plan *p)
{
    const record_options *options = p->options;
    const char *name = tool_choices[p->tool];
    if (p->tool != TOOL_PERF && options->pid)
        return report("--pid is for perf: %s starts the program (see 'lode help record')", name);
    if (p->tool != TOOL_PERF && options->stacks != STACKS_UNSAID)
        return report("--call-graph is for perf, not for %s (see 'lode help record')", name);
    if (p->tool != TOOL_UFTRACE && options->min_time)
        return report("--min-time is for uftrace: %s takes samples (see 'lode help record')", name);
    if (p->tool == TOOL_UFTRACE && options->frequency)
        return report("--freq is for samples: uftrace records every call (see 'lode help record')");
    return EXIT_DONE;
}

/* Perf may be installed, and of no use. */
static int check_perf(plan *p)
{
    int pid = p->options->pid <= INT_MAX ? (int)p->options->pid : INT_MAX;
    permit_ask(pid, &p->permitted);
    if (p->permitted.state != PERMIT_NONE)
        return EXIT_DONE;
    permit_say_refused(&p->permitted, pid);
    return RECORD_FAILED;
}

int choose_tool(plan *p, int is_said)
{
    int is_asked = p->options->tool != TOOL_UNSAID;
    p->tool = is_asked ? (record_tool)p->options->tool : prefer(p);
    if (refuse_options(p) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (!is_asked && p->tool == TOOL_PERF && p->program->count && !is_installed(TOOL_PERF) &&
        is_installed(TOOL_HPCRUN))
        p->tool = TOOL_HPCRUN;
    if (!is_installed(p->tool))
        return say_missing(p, p->tool);
    p->is_per_task = p->tool != TOOL_HPCRUN && p->program->launcher && p->program->is_elsewhere;
    if (is_said)
        say(p);
    return p->tool == TOOL_PERF && !p->is_per_task ? check_perf(p) : EXIT_DONE;
}
