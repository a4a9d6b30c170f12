/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/operands.h"

#include "output/report.h"
#include "stores/stores.h"
#include "text/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* With a second operand, which is not a store, the two can be in either order. */
static int has_other(const command_spec *command)
{
    return command->stores && command->max_operands == 2 && !command->has_sides;
}

void operand_name(const command_spec *command, size_t index, char name[OPERAND_NAME_SIZE])
{
    const char *word = command->operands;
    for (size_t i = 0; i < index && strchr(word, ' '); i++)
        word = strchr(word, ' ') + 1;
    word += strspn(word, "[");
    snprintf(name, OPERAND_NAME_SIZE, "%.*s", (int)strcspn(word, " ].["), word);
}

/* A single operand that is a store, or looks like one, is not the other one. */
static int is_store_given(const invocation *call)
{
    struct stat status;
    if (call->operand_count != 1 || !has_other(call->command))
        return call->operand_count > 0;
    char *store = store_meant(call->operands[0], call->command->stores);
    free(store);
    return store || (stat(call->operands[0], &status) == 0 && S_ISDIR(status.st_mode));
}

int operands_complete(invocation *call, operand_list *list)
{
    const command_spec *command = call->command;
    char name[OPERAND_NAME_SIZE];
    int is_needed = call->operand_count < command->min_operands;
    if (!command->stores || command->has_sides || is_store_given(call) ||
        (!is_needed && call->operand_count == 0))
        return EXIT_DONE;
    operand_name(command, 0, name);
    list->found = store_default(command->stores, is_needed ? name : NULL, command->name);
    if (!list->found)
        return is_needed ? EXIT_TROUBLE : EXIT_DONE;
    memmove(list->items + 1, list->items, call->operand_count * sizeof *list->items);
    list->items[0] = list->found;
    call->operand_count++;
    return EXIT_DONE;
}

void operands_settle(invocation *call, operand_list *list)
{
    const command_spec *command = call->command;
    int is_swapped = 0;
    /* Several stores are taken as given: a job of many ranks should not look around. */
    if (!command->stores || list->found || call->operand_count == 0 ||
        (call->operand_count > 1 && !has_other(command)))
        return;
    list->found = store_meant(list->items[0], command->stores);
    if (!list->found && call->operand_count == 2) {
        list->found = store_meant(list->items[1], command->stores);
        is_swapped = list->found != NULL;
    }
    if (is_swapped)
        list->items[1] = list->items[0];
    if (list->found)
        list->items[0] = list->found;
}

int operands_missing(const invocation *call)
{
    const command_spec *command = call->command;
    char missing[OPERAND_NAME_SIZE];
    for (size_t i = 0; command->has_sides && i < call->operand_count; i++) {
        lode_error error = {0};
        lode_store_kind kind;
        char *meant = store_meant(call->operands[i], command->stores);
        int is_store = meant || lode_store_probe(call->operands[i], &kind, &error) == LODE_OK;
        free(meant);
        if (!is_store)
            return store_unopened(call->operands[i], &error);
    }
    if (call->operand_count > 0 && command->min_operands > 2)
        return report("'lode %s' takes at least %s, not %zu (see 'lode help %s')", command->name,
                      COUNTED(command->min_operands, "store", "stores"), call->operand_count, command->name);
    operand_name(command, call->operand_count, missing);
    return report("missing argument: %s (see 'lode help %s')", missing, command->name);
}
