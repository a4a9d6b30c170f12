/* SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"

#include "output/report.h"

#include <stdio.h>
#include <string.h>

#define HELP_WIDTH 79

const help_page *help_find(const char *name)
{
    const help_page *page = help_pages;
    while (page->name && strcmp(page->name, name) != 0)
        page++;
    return page;
}

void help_option_term(const option_spec *option, char *buffer, size_t capacity)
{
    char argument[96], letter[8] = "";
    option_argument(option, argument, sizeof argument);
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(buffer, capacity, "%s--%s%s%s", letter, option->name, argument[0] ? " " : "", argument);
}

static const char *meaning_of(const help_term *terms, const char *term)
{
    while (terms->term && strcmp(terms->term, term) != 0)
        terms++;
    return terms->meaning;
}

const char *help_of_option(const command_spec *command, const option_spec *option)
{
    char term[192];
    help_option_term(option, term, sizeof term);
    const char *own = meaning_of(help_find(command->name)->options, term);
    const char *shared = own ? own : meaning_of(help_find("shared")->options, term);
    return shared ? shared : "";
}

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

static void print_option(out *o, const command_spec *command, const option_spec *option)
{
    char term[192], line[200];
    help_option_term(option, term, sizeof term);
    snprintf(line, sizeof line, "%s%s", option->letter ? "  " : "      ", term);
    print_term(o, line, help_of_option(command, option), 26);
}

/* A command that is for one kind of store needs no headings to say so. */
static int is_grouped(const command_spec *command)
{
    return (command->stores & FOR_ALL) == FOR_ALL || command->stores == 0;
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
            is_filled |= is_grouped(command) && (list[k].stores & FOR_ALL) == all[i].stores;
        if (is_filled)
            groups[group_count++] = all[i];
    }
    return group_count;
}

int help_is_in_group(const command_spec *command, const option_entry *entry, const help_group *group)
{
    return is_grouped(command) ? (entry->stores & FOR_ALL) == group->stores : group->stores == FOR_ALL;
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
                print_option(o, command, list[k].option);
    }
}

size_t help_item(const char *text)
{
    if (text[0] != ' ')
        return 0;
    const char *gap = strstr(text + 2, "  ");
    return gap ? (size_t)(gap - text) + strspn(gap, " ") : 2;
}

/* Paragraphs are separated by an empty line, items are not. */
static void print_description(out *o, const char *const *texts)
{
    for (size_t i = 0; texts[i]; i++) {
        size_t indent = help_item(texts[i]);
        if (i > 0 && !indent)
            out_print(o, "\n");
        out_print(o, "%.*s", (int)indent, texts[i]);
        out_wrap(o, texts[i] + indent, indent, indent, HELP_WIDTH);
    }
}

int help_command(out *o, const command_spec *command)
{
    const help_page *page = help_find(command->name);
    out_print(o, "lode %s: %s\n\n", command->name, page->summary);
    out_print(o, "Usage: lode %s [OPTION]...%s%s\n", command->name, command->operands[0] ? " " : "",
              command->operands);
    out_print(o, "\n");
    print_description(o, page->description);
    print_options(o, command);
    if (page->examples->term) {
        out_print(o, "\n");
        out_heading(o, "Examples");
    }
    for (const help_term *example = page->examples; example->term; example++) {
        out_print(o, "  %s\n      ", example->term);
        out_wrap(o, example->meaning, 6, 6, HELP_WIDTH);
    }
    if (page->exit_statuses->term) {
        out_print(o, "\n");
        out_heading(o, "Exit status");
    }
    for (const help_term *status = page->exit_statuses; status->term; status++) {
        char term[64];
        snprintf(term, sizeof term, "  %s", status->term);
        print_term(o, term, status->meaning, 10);
    }
    return EXIT_DONE;
}

int help_overview(out *o)
{
    const command_spec *command;
    const help_page *page = help_find("lode");
    out_print(o, "Usage: lode COMMAND [OPTION]... [STORE]\n\n");
    out_wrap(o, page->description[0], 0, 0, HELP_WIDTH);
    for (size_t i = 0; (command = command_at(i)); i++) {
        char term[64];
        if (command_group_at(i)) {
            out_print(o, "\n");
            out_heading(o, command_group_at(i));
        }
        snprintf(term, sizeof term, "  %s", command->name);
        print_term(o, term, help_find(command->name)->summary, 14);
    }
    out_print(o, "\n'lode help COMMAND' shows the options and examples of a command.\n\n");
    print_description(o, page->description + 1);
    return EXIT_DONE;
}
