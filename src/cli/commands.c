/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "output/report.h"
#include "text/suggest.h"

#include <string.h>
#include <sys/stat.h>

/* Commands, and titles of groups, which have no command. */
static const struct entry {
    const char *title;
    const command_spec *command;
} entries[] = {
#define COMMAND_GROUP(title) {title, NULL},
#define COMMAND(name)        {NULL, &command_##name},
#include "commands.def"
#undef COMMAND
#undef COMMAND_GROUP
};
#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

/* The entry of a command; ENTRY_COUNT past the last. */
static size_t entry_at(size_t index)
{
    size_t i = 0;
    for (; i < ENTRY_COUNT; i++)
        if (entries[i].command && index-- == 0)
            break;
    return i;
}

const command_spec *command_at(size_t index)
{
    size_t entry = entry_at(index);
    return entry < ENTRY_COUNT ? entries[entry].command : NULL;
}

const char *command_group_at(size_t index)
{
    size_t entry = entry_at(index);
    return entry > 0 && entry < ENTRY_COUNT ? entries[entry - 1].title : NULL;
}

const command_spec *command_find(const char *name)
{
    const command_spec *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

int command_unknown(const char *name)
{
    const char *names[ENTRY_COUNT];
    const command_spec *command;
    size_t count = 0;
    struct stat status;
    for (; (command = command_at(count)); count++)
        names[count] = command->name;
    const char *meant = suggest(name, names, count);
    if (name[0] == '-')
        return report("unknown option '%s'; options come after the command (see 'lode help')", name);
    if (!meant && stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        return report("'%s' is a directory, not a command; try 'lode info %s' (see 'lode help')", name, name);
    if (meant)
        return report("unknown command '%s'; did you mean '%s'? (see 'lode help')", name, meant);
    return report("unknown command '%s' (see 'lode help')", name);
}
