/* SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"

#include "output/report.h"

#include <stdio.h>
#include <string.h>

#define HELP_WIDTH 79

const char *const help_about[] = {
    "Lode reads what profilers and tracers leave behind, checks that it is whole, and shows where the time "
    "went. A "
    "store is a directory of one of two kinds:",
    "A database is what HPCToolkit's hpcprof writes (format 4.0): a meta.db, a profile.db and, if they were "
    "made, a "
    "cct.db and a trace.db. It holds costs by function, call path, profile and time.",
    "A recording is what 'uftrace record' writes, a directory such as uftrace.data: every call of a program, "
    "with "
    "its time and, if they were recorded, its arguments. Damaged recordings are repaired while they are "
    "read, and "
    "each repair is counted. So is a Zorka trace store, a directory with a traces.dat or with such "
    "directories: the requests that a service has served, each a trace with its calls, attributes and "
    "exceptions.",
    NULL,
};

const help_term help_exit_statuses[] = {
    {"0", "what was asked for was done; a check found no error"},
    {"1", "a check found errors in the store"},
    {"2", "wrong usage, a file that could not be read, or output that could not be written"},
    {"128 + N", "signal N ended the program, as shells report it; no unfinished output is left"},
    {NULL, NULL},
};

const help_term help_environment[] = {
    {"NO_COLOR", "if it is set to anything, colours are used only with --color=always"},
    {"COLUMNS", "the width to fit text into, where standard output is not a terminal"},
    {NULL, NULL},
};

/* A term and its meaning: side by side, or one below the other if the term is long. */
static void print_term(out *o, const char *term, const char *meaning, size_t indent)
{
    size_t length = strlen(term);
    out_write(o, term, length);
    if (length + 2 > indent) {
        out_print(o, "\n");
        length = 0;
    }
    for (; length < indent; length++)
        out_write(o, " ", 1);
    out_wrap(o, meaning, indent, indent, HELP_WIDTH);
}

static void print_option(out *o, const option_spec *option)
{
    char argument[96], term[192], letter[8] = "    ";
    option_argument(option, argument, sizeof argument);
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(term, sizeof term, "  %s--%s%s%s", letter, option->name, argument[0] ? " " : "", argument);
    print_term(o, term, option->help, 26);
}

/* A command that is for one kind of store needs no headings to say so. */
static int is_grouped(const command_spec *command)
{
    return command->stores == FOR_ALL || command->stores == 0;
}

int help_option_groups(const command_spec *command, help_group groups[HELP_GROUP_COUNT])
{
    static const help_group all[HELP_GROUP_COUNT] = {{"Options", FOR_ALL},
                                                     {"Options for databases", FOR_DATABASES},
                                                     {"Options for recordings", FOR_RECORDINGS}};
    option_entry list[OPTION_LIST_MAX];
    size_t count = option_list(&command->options, list);
    int group_count = 0;
    for (int i = 0; i < HELP_GROUP_COUNT; i++) {
        int is_filled = i == 0;
        for (size_t k = 0; k < count; k++)
            is_filled |= is_grouped(command) && list[k].stores == all[i].stores;
        if (is_filled)
            groups[group_count++] = all[i];
    }
    return group_count;
}

int help_is_in_group(const command_spec *command, const option_entry *entry, const help_group *group)
{
    return is_grouped(command) ? entry->stores == group->stores : group->stores == FOR_ALL;
}

static void print_options(out *o, const command_spec *command)
{
    option_entry list[OPTION_LIST_MAX];
    help_group groups[HELP_GROUP_COUNT];
    size_t count = option_list(&command->options, list);
    int group_count = help_option_groups(command, groups);
    for (int i = 0; i < group_count; i++) {
        out_print(o, "\n");
        out_heading(o, groups[i].title);
        for (size_t k = 0; k < count; k++)
            if (help_is_in_group(command, &list[k], &groups[i]))
                print_option(o, list[k].option);
    }
}

int help_command(out *o, const command_spec *command)
{
    out_print(o, "lode %s: %s\n\n", command->name, command->summary);
    out_print(o, "Usage: lode %s [OPTION]...%s%s\n", command->name, command->operands[0] ? " " : "",
              command->operands);
    for (size_t i = 0; command->description[i]; i++) {
        out_print(o, "\n");
        out_wrap(o, command->description[i], 0, 0, HELP_WIDTH);
    }
    print_options(o, command);
    if (command->examples) {
        out_print(o, "\n");
        out_heading(o, "Examples");
    }
    for (const command_example *e = command->examples; e && e->line; e++) {
        out_print(o, "  %s\n      ", e->line);
        out_wrap(o, e->meaning, 6, 6, HELP_WIDTH);
    }
    return EXIT_DONE;
}

int help_overview(out *o)
{
    const command_spec *command;
    out_print(o, "Usage: lode COMMAND [OPTION]... STORE\n\n");
    for (size_t i = 0; help_about[i]; i++) {
        out_wrap(o, help_about[i], 0, 0, HELP_WIDTH);
        out_print(o, "\n");
    }
    out_heading(o, "Commands");
    for (size_t i = 0; (command = command_at(i)); i++) {
        char term[64];
        snprintf(term, sizeof term, "  %s", command->name);
        print_term(o, term, command->summary, 12);
    }
    out_print(o, "\n'lode help COMMAND' says more about one of them.\n");
    return EXIT_DONE;
}
