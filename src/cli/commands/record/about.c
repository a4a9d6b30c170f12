/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/record.h"

#include "launcher.h"
#include "output/out.h"
#include "output/report.h"
#include "text/number.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_words(out *o, const char *key, char *const *items, size_t count)
{
    out_array(o, key);
    for (size_t i = 0; i < count; i++)
        OUT_ELEMENTS(o, items[i]);
    out_array_end(o);
}

/* Where the sources of the program are, if the current directory has them. */
static void write_commit(out *o)
{
    static char git[] = "git", parse[] = "rev-parse", head[] = "HEAD", diff[] = "diff-index",
                quiet[] = "--quiet";
    char *const commit_of[] = {git, parse, head, NULL};
    char *const changes[] = {git, diff, quiet, head, NULL};
    char commit[128] = "";
    int is_known = launch_read(commit_of, commit, sizeof commit) && commit[0];
    int changed = is_known ? launch_status(changes) : 0;
    OUT_FIELDS(o, "commit", out_text(is_known ? commit : NULL));
    if (is_known && (changed == 0 || changed == 1))
        out_field_bool(o, "is_modified", changed);
    else
        OUT_FIELDS(o, "is_modified", out_none());
}

static void write_time(out *o, const char *key, uint64_t time)
{
    char text[NUMBER_SIZE] = "";
    if (time)
        format_rfc3339(text, time);
    OUT_FIELDS(o, key, out_text(time ? text : NULL));
}

static void write_task(out *o)
{
    const launch task = launcher_find();
    OUT_FIELDS(o, "rank", out_u64_if(task.name != NULL, task.rank));
}

int about_write(const plan *p, const store_place *place, const words *command, const about_run *run)
{
    char host[256] = "", folder[PATH_MAX] = "";
    out *o = out_open(&(out_settings){.format = OUT_JSON, .color = COLOR_NEVER, .file = place->about});
    if (!o)
        return EXIT_TROUBLE;
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    if (!getcwd(folder, sizeof folder))
        folder[0] = '\0';
    out_begin(o, SCHEMA_RECORD, NULL);
    OUT_FIELDS(o, "store", (const char *)place->store, "tool", tool_choices[p->tool]);
    write_words(o, "tool_command", command->items, command->count);
    write_words(o, "environment", p->added.items, p->added.count);
    out_array(o, "program");
    for (size_t i = 0; i < p->program->count; i++)
        OUT_ELEMENTS(o, p->program->line[i]);
    out_array_end(o);
    OUT_FIELDS(o, "pid", out_u64_if(p->program->count == 0, p->options->pid));
    OUT_FIELDS(o, "host", (const char *)host, "directory", (const char *)folder);
    write_task(o);
    write_commit(o);
    write_time(o, "begin", run->begin);
    write_time(o, "end", run->end);
    OUT_FIELDS(o, "exit_status", out_u64_if(run->end > 0, (uint64_t)run->status));
    out_field_bool(o, "is_ended_by_time", run->is_ended);
    out_end(o);
    return out_close(o, EXIT_DONE);
}
