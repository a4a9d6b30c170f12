/* SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"
#include "output/report.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text for troff: escapes backslashes and dashes; no line begins with a control character. */
static void man_text(out *o, const char *text)
{
    if (*text == '.' || *text == '\'')
        out_write(o, "\\&", 2);
    for (;;) {
        size_t plain = strcspn(text, "\\-'");
        out_write(o, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        out_print(o, "%s", *text == '\\' ? "\\e" : *text == '-' ? "\\-" : "\\(aq");
        text++;
    }
}

static void man_line(out *o, const char *text)
{
    man_text(o, text);
    out_print(o, "\n");
}

static void man_term(out *o, const char *term, const char *meaning)
{
    out_print(o, ".TP\n.B ");
    man_line(o, term);
    man_line(o, meaning);
}

static void man_terms(out *o, const char *title, const help_term *terms)
{
    if (!terms->term)
        return;
    out_print(o, ".SH %s\n", title);
    for (; terms->term; terms++)
        man_term(o, terms->term, terms->meaning);
}

static void man_title(out *o, const char *name)
{
    char title[64];
    size_t i = 0;
    for (; name[i] && i + 1 < sizeof title; i++)
        title[i] = (char)toupper((unsigned char)name[i]);
    title[i] = '\0';
    out_print(o, ".TH ");
    man_text(o, title);
    out_print(o, " 1 \"\" \"Lode %s\" \"Lode\"\n", lode_version());
}

/* The term of an item, without the blanks around it. */
static void man_item(out *o, const char *text, size_t meaning)
{
    char term[64];
    while (meaning > 0 && text[meaning - 1] == ' ')
        meaning--;
    (void)snprintf(term, sizeof term, "%.*s", (int)(meaning - 2), text + 2);
    out_print(o, ".TP\n.B ");
    man_line(o, term);
}

static void man_paragraphs(out *o, const char *const *paragraphs)
{
    for (size_t i = 0; paragraphs[i]; i++) {
        size_t item = help_item(paragraphs[i]);
        if (item > 2)
            man_item(o, paragraphs[i], item);
        else if (item)
            out_print(o, ".IP\n");
        else if (i > 0)
            out_print(o, ".PP\n");
        man_line(o, paragraphs[i] + item);
    }
}

static void man_option(out *o, const command_spec *command, const option_spec *option)
{
    char argument[96];
    option_argument(option, argument, sizeof argument);
    out_print(o, ".TP\n");
    if (option->letter)
        out_print(o, "\\fB\\-%c\\fR, ", option->letter);
    out_print(o, "\\fB\\-\\-");
    man_text(o, option->name);
    out_print(o, "\\fR%s\\fI", argument[0] ? " " : "");
    man_text(o, argument);
    out_print(o, "\\fR\n");
    man_line(o, help_of_option(command, option));
}

static void man_options(out *o, const command_spec *command)
{
    option_entry list[OPTION_LIST_MAX];
    help_group groups[HELP_GROUP_COUNT];
    size_t count = option_list(&command->options, list);
    int group_count = help_option_groups(command, groups);
    out_print(o, ".SH OPTIONS\n");
    for (int i = 0; i < group_count; i++) {
        if (i > 0)
            out_print(o, ".SS %s\n", groups[i].title);
        for (size_t k = 0; k < count; k++)
            if (help_is_in_group(command, &list[k], &groups[i]))
                man_option(o, command, list[k].option);
    }
}

static void man_see_also(out *o, const command_spec *except)
{
    const command_spec *other;
    out_print(o, ".SH SEE ALSO\n");
    if (except)
        out_print(o, ".BR lode (1)");
    for (size_t i = 0, written = except != NULL; (other = command_at(i)); i++) {
        if (other == except)
            continue;
        out_print(o, "%s.BR lode\\-%s (1)", written ? ",\n" : "", other->name);
        written = 1;
    }
    out_print(o, "\n");
}

static void man_ending(out *o, const command_spec *command)
{
    const help_page *program = help_find("lode"), *own = command ? help_find(command->name) : program;
    /* A command that runs another program has statuses of its own. */
    man_terms(o, "EXIT STATUS", (own->exit_statuses->term ? own : program)->exit_statuses);
    man_terms(o, "ENVIRONMENT", program->environment);
    man_see_also(o, command);
}

static void man_program(out *o)
{
    const command_spec *command;
    const help_page *page = help_find("lode");
    man_title(o, "lode");
    out_print(o, ".SH NAME\nlode \\- ");
    man_line(o, page->summary);
    out_print(o, ".SH SYNOPSIS\n.B lode\n.I COMMAND\n[\\fIOPTION\\fR]...\n.I STORE\n");
    out_print(o, ".SH DESCRIPTION\n");
    man_paragraphs(o, page->description);
    out_print(o, ".SH COMMANDS\n");
    for (size_t i = 0; (command = command_at(i)); i++) {
        if (command_group_at(i))
            out_print(o, ".SS %s\n", command_group_at(i));
        man_term(o, command->name, help_find(command->name)->summary);
    }
    man_ending(o, NULL);
}

static void man_command(out *o, const command_spec *command)
{
    char name[64];
    const help_page *page = help_find(command->name);
    snprintf(name, sizeof name, "lode-%s", command->name);
    man_title(o, name);
    out_print(o, ".SH NAME\n");
    man_text(o, name);
    out_print(o, " \\- ");
    man_line(o, page->summary);
    out_print(o, ".SH SYNOPSIS\n.B lode %s\n[\\fIOPTION\\fR]...\n", command->name);
    if (command->operands[0])
        out_print(o, ".I %s\n", command->operands);
    out_print(o, ".SH DESCRIPTION\n");
    man_paragraphs(o, page->description);
    man_options(o, command);
    man_terms(o, "EXAMPLES", page->examples);
    man_ending(o, command);
}

int man_page(out *o, const command_spec *command)
{
    if (command)
        man_command(o, command);
    else
        man_program(o);
    return EXIT_DONE;
}
