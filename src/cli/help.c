/* SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"

#include "report.h"

#include <stdio.h>
#include <string.h>

#define HELP_WIDTH 79

const char *const help_about[] = {
    "Lode reads the performance databases that HPCToolkit writes (format 4.0): directories with a meta.db, a "
    "profile.db and, if they were made, a cct.db and a trace.db. It checks that they are whole, and shows "
    "where "
    "the time went, by function, by call path, by profile and over time.",
    NULL,
};

const help_term help_exit_statuses[] = {
    {"0", "what was asked for was done; a check found no error"},
    {"1", "a check found errors in the database"},
    {"2", "wrong usage, a file that could not be read, or output that could not be written"},
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
        out_write(o, "\n", 1);
        length = 0;
    }
    for (; length < indent; length++)
        out_write(o, " ", 1);
    out_wrap(o, meaning, indent, indent, HELP_WIDTH);
}

static void print_options(out *o, const option_set *set)
{
    const option_spec *list[OPTION_LIST_MAX];
    size_t count = option_list(set, list);
    out_heading(o, "Options");
    for (size_t i = 0; i < count; i++) {
        char argument[96], term[192], letter[8] = "    ";
        option_argument(list[i], argument, sizeof argument);
        if (list[i]->letter)
            snprintf(letter, sizeof letter, "-%c, ", list[i]->letter);
        snprintf(term, sizeof term, "  %s--%s%s%s", letter, list[i]->name, argument[0] ? " " : "", argument);
        print_term(o, term, list[i]->help, 26);
    }
}

int help_command(out *o, const command_spec *command)
{
    out_print(o, "lode %s: %s\n\n", command->name, command->summary);
    out_print(o, "Usage: lode %s [OPTION]...%s%s\n", command->name, command->operands[0] ? " " : "",
              command->operands);
    for (size_t i = 0; command->description[i]; i++) {
        out_write(o, "\n", 1);
        out_wrap(o, command->description[i], 0, 0, HELP_WIDTH);
    }
    out_write(o, "\n", 1);
    print_options(o, &command->options);
    if (command->examples) {
        out_write(o, "\n", 1);
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
    out_print(o, "Usage: lode COMMAND [OPTION]... DATABASE\n\n");
    for (size_t i = 0; help_about[i]; i++) {
        out_wrap(o, help_about[i], 0, 0, HELP_WIDTH);
        out_write(o, "\n", 1);
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
