/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads lines "module, tab, name" and writes what decides about each function ("name", "module" or
 * "default"), its activity and effect, the word of the rule, and its scope and name in C++, with
 * tabs between.
 */
#include "analysis/kinds/activity.h"
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char *const decided[] = {"default", "user", "name", "module"};
    char line[8192], scope[LODE_NAME_COMPARED];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *name = strchr(line, '\t');
        if (name == NULL)
            return 1;
        *name++ = '\0';
        struct lode_decision found = lode_decide_names(line, name, false);
        struct lode_text text = {name, strlen(name)}, scoped = lode_scoped_name(text, scope, sizeof scope);
        printf("%s\t%s\t%s\t%.*s\t%.*s\n", decided[found.decided], lode_activity_name((int)found.activity),
               lode_effect_name((int)found.effect), (int)found.word.length, found.word.bytes,
               (int)scoped.length, scoped.bytes);
    }
    return 0;
}
