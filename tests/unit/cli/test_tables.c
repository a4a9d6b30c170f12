/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of all commands: a name has one meaning in the program, and so has a letter. */
#include "help.h"
#include "options/formats.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

/* The program's own; the linker renames it. */
int __real_main(int argc, char **argv); // NOLINT(bugprone-reserved-identifier)
int __wrap_main(void);                  // NOLINT(bugprone-reserved-identifier)

typedef struct use {
    const command_spec *command;
    const option_spec *option;
} use;

enum {
    USES_MAX = 1024
};
static use uses[USES_MAX];
static size_t use_count;

/* Names that mean something else in one command, and why. */
static const struct {
    const char *command, *option, *reason;
} exceptions[] = {
    {"synth", "profiles", "synth has no store to select from: it takes the numbers of what it makes"},
    {"synth", "depth", "the same: how deep the calls are that it makes"},
    {"synth", "density", "the same: how many values there are; search draws what it found"},
    {"export", "format", "formats of other tools, not of stores"},
    {"export", "force", "it replaces files and directories of exports, not stores"},
    {"flame", "force", "it replaces a picture"},
    {"trace", "force", "it replaces a picture"},
    {"report", "force", "it replaces a report"},
    {"structure", "force", "it replaces a structure file"},
    {"report", "title", "that of the report, not of a store"},
    {"search", "svg", "instead of text; runs writes both"},
    {"search", "columns", "attributes, too, that become columns of a table"},
    {"build", "only", "programs, as hpcprof has it; dump selects parts of a store"},
    {"top", "list", "it lists functions with the rules that decide; export lists its formats"},
    {"export", "table", "it selects what is exported, not a part of an answer"},
    {"export", "samples", "it has samples or has not; synth takes their number"},
    {"flame", "function", "it draws functions and what is around them; others take their costs"},
    {"diagnose", "base", "one store; compare and gate take several runs"},
    {"search", "by", "it groups, too, but by one attribute of requests instead of a list of ids"},
};
#define EXCEPTION_COUNT (sizeof exceptions / sizeof *exceptions)

/* The letters of the program: all of them. */
static const char *const letters[] = {"by",     "depth",    "errors", "force", "help",    "metric", "limit",
                                      "output", "profiles", "sort",   "task",  "verbose", NULL};

static int is_exception(const use *u)
{
    for (size_t i = 0; i < EXCEPTION_COUNT; i++)
        if (strcmp(exceptions[i].command, u->command->name) == 0 &&
            strcmp(exceptions[i].option, u->option->name) == 0)
            return 1;
    return 0;
}

static int collect(void **state)
{
    const command_spec *command;
    (void)state;
    formats_init();
    for (size_t i = 0; (command = command_at(i)); i++) {
        option_entry list[OPTION_LIST_MAX];
        size_t count = option_list(&command->options, list);
        for (size_t k = 0; k < count; k++) {
            assert_true(use_count < USES_MAX);
            uses[use_count++] = (use){command, list[k].option};
        }
    }
    return use_count > 100 ? 0 : -1;
}

/* What a text says before it comes to details: choices, defaults, the case of one command. */
static int say_the_same(const char *a, const char *b)
{
    size_t length = strcspn(a, ";:(");
    while (length > 0 && a[length - 1] == ' ')
        length--;
    size_t other = strcspn(b, ";:(");
    while (other > 0 && b[other - 1] == ' ')
        other--;
    return length > 0 && length == other && strncmp(a, b, length) == 0;
}

/* Of one shared option, a command may take one ("METRIC") or several ("METRIC[,METRIC]..."). */
static int is_same_argument(const option_spec *a, const option_spec *b)
{
    if (!a->argument || !b->argument)
        return a->argument == b->argument;
    const char *end = a->offset == b->offset ? "[" : "";
    size_t length = strcspn(a->argument, end);
    return length == strcspn(b->argument, end) && strncmp(a->argument, b->argument, length) == 0;
}

/* What two options of one name differ in; NULL: nothing. */
static const char *difference(const use *a, const use *b)
{
    const char *of_a = help_of_option(a->command, a->option), *of_b = help_of_option(b->command, b->option);
    if (a->option->kind != b->option->kind)
        return "kind";
    if (!is_same_argument(a->option, b->option))
        return "argument";
    if (a->option->letter != b->option->letter)
        return "letter";
    return say_the_same(of_a, of_b) ? NULL : "meaning";
}

static void a_name_has_one_meaning(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < use_count; i++)
        for (size_t k = 0; k < i; k++) {
            if (strcmp(uses[i].option->name, uses[k].option->name) != 0 || is_exception(&uses[i]) ||
                is_exception(&uses[k]))
                continue;
            const char *other = difference(&uses[i], &uses[k]);
            if (other)
                print_error("--%s: another %s in '%s' than in '%s'\n", uses[i].option->name, other,
                            uses[i].command->name, uses[k].command->name);
            wrong += other != NULL;
        }
    assert_int_equal(wrong, 0);
}

static void a_command_has_no_name_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < use_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(uses[i].command == uses[k].command &&
                         strcmp(uses[i].option->name, uses[k].option->name) == 0);
}

static void a_letter_has_one_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < use_count; i++)
        for (size_t k = 0; k < i; k++)
            if (uses[i].option->letter && uses[i].option->letter == uses[k].option->letter)
                assert_string_equal(uses[i].option->name, uses[k].option->name);
}

static int is_lettered(const char *name)
{
    size_t i = 0;
    while (letters[i] && strcmp(letters[i], name) != 0)
        i++;
    return letters[i] != NULL;
}

static void the_letters_are_those_of_the_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < use_count; i++)
        if (uses[i].option->letter && !is_lettered(uses[i].option->name))
            fail_msg("-%c, --%s of '%s' is not in the list", uses[i].option->letter, uses[i].option->name,
                     uses[i].command->name);
    for (size_t i = 0; letters[i]; i++) {
        size_t k = 0;
        while (k < use_count && (strcmp(uses[k].option->name, letters[i]) != 0 || !uses[k].option->letter))
            k++;
        assert_true(k < use_count);
    }
}

/* Choices that the help does not show as such are in its text. */
static void every_choice_is_in_the_help(void **state)
{
    (void)state;
    for (size_t i = 0; i < use_count; i++) {
        const option_spec *option = uses[i].option;
        const char *meaning = help_of_option(uses[i].command, option);
        char argument[96];
        option_argument(option, argument, sizeof argument);
        for (size_t k = 0; option->choices && option->choices[k]; k++)
            if (!strstr(argument, option->choices[k]) && !strstr(meaning, option->choices[k]))
                fail_msg("--%s of '%s': no help for '%s'", option->name, uses[i].command->name,
                         option->choices[k]);
    }
}

/* An exception that is none any more would hide the next one. */
static void every_exception_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXCEPTION_COUNT; i++) {
        const use *excepted = NULL;
        int is_needed = 0;
        for (size_t k = 0; k < use_count; k++)
            if (strcmp(uses[k].command->name, exceptions[i].command) == 0 &&
                strcmp(uses[k].option->name, exceptions[i].option) == 0)
                excepted = &uses[k];
        assert_non_null(excepted);
        for (size_t k = 0; k < use_count; k++)
            is_needed |= strcmp(uses[k].option->name, exceptions[i].option) == 0 && !is_exception(&uses[k]) &&
                         difference(excepted, &uses[k]) != NULL;
        assert_true(is_needed);
    }
}

static int has_option(const char *name)
{
    for (size_t i = 0; i < use_count; i++)
        if (strcmp(uses[i].option->name, name) == 0)
            return 1;
    return 0;
}

/* The list of the server of 'lode view'. */
static void options_of_requests_exist(void **state)
{
    static const char *const names[] = {
#define ALLOWED(name, most) name,
#include "view/allowed.def"
#undef ALLOWED
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!has_option(names[i]))
            fail_msg("no command has --%s", names[i]);
        if (i > 0 && strcmp(names[i - 1], names[i]) >= 0)
            fail_msg("%s is not in order", names[i]);
    }
}

int __wrap_main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_one_meaning),      cmocka_unit_test(a_command_has_no_name_twice),
        cmocka_unit_test(a_letter_has_one_name),       cmocka_unit_test(the_letters_are_those_of_the_list),
        cmocka_unit_test(every_choice_is_in_the_help), cmocka_unit_test(every_exception_is_needed),
        cmocka_unit_test(options_of_requests_exist),
    };
    return cmocka_run_group_tests(tests, collect, NULL);
}
