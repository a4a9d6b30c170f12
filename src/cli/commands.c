/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "output/report.h"
#include "text/suggest.h"

#include <string.h>
#include <sys/stat.h>

/* In the order in which a person meets them. */
static const command_spec *const commands[] = {
    &command_info,   &command_check,    &command_diagnose, &command_efficiency, &command_top,
    &command_tree,   &command_profiles, &command_compare,  &command_gate,       &command_scaling,
    &command_search, &command_replay,   &command_context,  &command_source,     &command_trace,
    &command_dump,   &command_build,    &command_convert,  &command_merge,      &command_slice,
    &command_export, &command_runs,     &command_example,  &command_synth,      &command_flame,
    &command_view,   &command_tui,      &command_sql,      &command_help,       &command_version,
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

const command_spec *command_at(size_t index)
{
    return index < COMMAND_COUNT ? commands[index] : NULL;
}

const command_spec *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_unknown(const char *name)
{
    const char *names[COMMAND_COUNT];
    struct stat status;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *meant = suggest(name, names, COMMAND_COUNT);
    if (name[0] == '-')
        return report("unknown option '%s'; options come after the command (see 'lode help')", name);
    if (!meant && stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        return report("'%s' is a directory, not a command; try 'lode info %s' (see 'lode help')", name, name);
    if (meant)
        return report("unknown command '%s'; did you mean '%s'? (see 'lode help')", name, meant);
    return report("unknown command '%s' (see 'lode help')", name);
}
