/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/group_choices.h"

#include <string.h>
#include <strings.h>

#define CODE_GROUPS "function", "line", "loop", "module", "file"

const char *const group_choices[] = {CODE_GROUPS, "symbol", "kind", NULL};
const char *const code_group_choices[] = {CODE_GROUPS, NULL};

static const char *const names[] = {
    [LODE_BY_FUNCTION] = "function", [LODE_BY_LINE] = "line", [LODE_BY_LOOP] = "loop",
    [LODE_BY_MODULE] = "module",     [LODE_BY_FILE] = "file", [LODE_BY_SOURCE_LINE] = "",
    [LODE_BY_SYMBOL] = "symbol",     [LODE_BY_KIND] = "kind",
};

const char *group_name(lode_group_by by)
{
    return names[by];
}

int group_find(const char *text, const char *const *choices, lode_group_by *by)
{
    while (*choices && text && strcasecmp(text, *choices) != 0)
        choices++;
    for (size_t i = 0; *choices && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], *choices) == 0)
            *by = (lode_group_by)i;
    return *choices != NULL;
}
