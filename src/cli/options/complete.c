/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/complete.h"

#include "alloc.h"
#include "command.h"
#include "help.h"
#include "options/metric_list.h"
#include "options/operands.h"
#include "options/option.h"
#include "options/shell_words.h"
#include "output/escape.h"
#include "output/report.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A key is pressed: the answer must come at once, whatever the store is like. */
#define CANDIDATES_MAX    1000
#define META_BYTES_MAX    (UINT64_C(64) << 20)
#define DESCRIPTION_WIDTH 72

typedef struct completion {
    out *out;
    int is_bash;
    const command_spec *command;
    const char *store;  /* the first operand, or NULL */
    const char *lead;   /* what precedes the text to complete in its word, such as "--metric=" */
    size_t lead_length; /* how much of it */
    const char *typed;  /* the text to complete */
    size_t trim;        /* bytes of a candidate, with its lead, that bash does not replace */
    char quote;         /* that is open, or 0 */
    size_t count;
} completion;

/* ---- output ---- */

/* A name that a terminal must not see cannot be typed either. */
static int is_safe(const char *text)
{
    size_t size = strlen(text);
    return size > 0 && escape_plain(text, size, escape_has_utf8()) == size;
}

/* The beginning of what the help says: up to its details. */
static void print_description(out *o, const char *text)
{
    size_t length = strcspn(text, ";(");
    char *safe = escape_text(text, escape_has_utf8());
    if (strlen(safe) < length)
        length = strlen(safe);
    if (length > DESCRIPTION_WIDTH) {
        length = DESCRIPTION_WIDTH;
        while (length > 0 && safe[length] != ' ')
            length--;
    }
    while (length > 0 && strchr(" ,:", safe[length - 1]))
        length--;
    out_write(o, safe, length);
    out_print(o, "\n");
    free(safe);
}

static void offer(completion *c, const char *candidate, const char *description)
{
    if (c->count >= CANDIDATES_MAX || !is_safe(candidate) ||
        strncasecmp(candidate, c->typed, strlen(c->typed)) != 0)
        return;
    size_t size = c->lead_length + strlen(candidate) + 1;
    char *word = alloc_array(size, 1), *quoted = NULL;
    snprintf(word, size, "%.*s%s", (int)c->lead_length, c->lead, candidate);
    if (c->is_bash)
        quoted = shell_quote(word + (c->trim < size ? c->trim : 0), c->quote);
    const char *text = quoted ? quoted : word;
    out_write(c->out, text, strlen(text));
    out_print(c->out, "\n");
    print_description(c->out, description);
    free(quoted);
    free(word);
    c->count++;
}

static void direct(const completion *c, const char *directive)
{
    out_print(c->out, "\n%s\n", directive);
}

/* ---- what is in the store ---- */

static char *store_at_hand(const completion *c)
{
    if (c->store)
        return store_meant(c->store, c->command->stores);
    return store_default(c->command->stores, NULL, c->command->name);
}

/* NULL if there is none, or opening it takes long. */
static lode_database *open_database(const completion *c)
{
    char *path = store_at_hand(c);
    lode_database *db = NULL;
    lode_error error;
    lode_store_kind kind;
    if (path && lode_store_probe(path, &kind, &error) == LODE_OK && kind == LODE_STORE_DATABASE &&
        store_bytes(path) <= META_BYTES_MAX && lode_database_open(&db, path, &error) != LODE_OK)
        db = NULL;
    free(path);
    return db;
}

static void offer_metrics(completion *c, int takes_several)
{
    lode_database *db = open_database(c);
    for (uint32_t i = 0; db && i < lode_database_metric_count(db); i++)
        offer(c, lode_metric_name(lode_database_metric(db, i)), "");
    if (db && takes_several && lode_database_metric_count(db) > 1)
        offer(c, metric_word_all, "");
    lode_database_close(db);
}

static void offer_functions(completion *c)
{
    lode_database *db = open_database(c);
    for (uint32_t i = 0; db && i < lode_database_function_count(db); i++) {
        const lode_function *function = lode_database_function(db, i);
        const char *name = lode_function_name(function);
        offer(c, name ? name : "", "");
    }
    lode_database_close(db);
}

static void offer_scopes(completion *c)
{
    lode_database *db = open_database(c);
    for (uint32_t i = 0; db && i < lode_database_scope_count(db); i++)
        offer(c, lode_scope_name(lode_database_scope(db, i)), "");
    lode_database_close(db);
}

/* "rank=": the kinds of ids of a selection, or of groups, after its last comma. */
static void offer_id_kinds(completion *c, const char *suffix)
{
    lode_database *db = open_database(c);
    const char *comma = strrchr(c->typed, ',');
    size_t before = comma ? (size_t)(comma - c->typed) + 1 : 0;
    char kind[128], *lead = alloc_array(c->lead_length + before + 1, 1);
    snprintf(lead, c->lead_length + before + 1, "%.*s%s", (int)c->lead_length, c->lead, c->typed);
    completion list = *c;
    list.lead = lead;
    list.lead_length += before;
    list.typed += before;
    for (unsigned i = 0; db && i < lode_database_id_kind_count(db); i++) {
        const char *name = lode_database_id_kind_name(db, i);
        snprintf(kind, sizeof kind, "%s%s", name ? name : "", suffix);
        /* The name of a kind in a selection is in small letters, and one word. */
        for (char *at = kind; *at; at++)
            *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        if (name && !strchr(kind, ' '))
            offer(&list, kind, "");
    }
    if (db && suffix[0])
        offer(&list, "profile=", "");
    if (suffix[0])
        direct(c, "nospace");
    lode_database_close(db);
    free(lead);
}

/* ---- options and their values ---- */

static void offer_options(completion *c)
{
    option_entry list[OPTION_LIST_MAX];
    size_t count = option_list(&c->command->options, list);
    for (size_t i = 0; i < count; i++) {
        char name[80];
        snprintf(name, sizeof name, "--%s", list[i].option->name);
        offer(c, name, help_of_option(c->command, list[i].option));
    }
}

/* Choices; of a list, after its last comma. */
static void offer_choices(completion *c, const option_spec *option)
{
    const char *comma = option->kind == OPTION_CHOICES ? strrchr(c->typed, ',') : NULL;
    size_t before = comma ? (size_t)(comma - c->typed) + 1 : 0;
    char *lead = alloc_array(c->lead_length + before + 1, 1);
    snprintf(lead, c->lead_length + before + 1, "%.*s%s", (int)c->lead_length, c->lead, c->typed);
    completion list = *c;
    list.lead = lead;
    list.lead_length += before;
    list.typed += before;
    for (size_t i = 0; option->choices[i]; i++)
        offer(&list, option->choices[i], "");
    free(lead);
}

/* The word for an argument says what it is. */
static void offer_value(completion *c, const option_spec *option)
{
    const char *word = option->argument ? option->argument : "";
    if (option->choices)
        offer_choices(c, option);
    if (strncmp(word, "KEY[,", 5) == 0)
        offer_id_kinds(c, "");
    else if (strncmp(word, "METRIC", 6) == 0)
        offer_metrics(c, strcmp(word, "METRIC") != 0);
    else if (strcmp(word, "SELECTION") == 0)
        offer_id_kinds(c, "=");
    else if (strcmp(word, "NAME") == 0 || strcmp(word, "FUNCTION") == 0)
        offer_functions(c);
    else if (strcmp(word, "SCOPE") == 0)
        offer_scopes(c);
    else if (strcmp(word, "PATH") == 0 || strcmp(word, "STORE...") == 0 || strcmp(word, "FILE") == 0 ||
             strncmp(word, "DIR", 3) == 0)
        direct(c, "files");
}

/* ---- operands ---- */

static void offer_commands(completion *c)
{
    const command_spec *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        offer(c, command->name, help_find(command->name)->summary);
}

/* "database|recording" */
static void offer_words(completion *c, const char *words)
{
    while (*words) {
        char word[OPERAND_NAME_SIZE];
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        offer(c, word, "");
        words += length + (words[length] == '|');
    }
}

static void offer_operand(completion *c, size_t index)
{
    char name[OPERAND_NAME_SIZE];
    if (index >= c->command->max_operands)
        return;
    operand_name(c->command, index, name);
    if (strcmp(name, "COMMAND") == 0)
        offer_commands(c);
    else if (strcmp(name, "CONTEXT") == 0 || strncmp(name, "FUNCTION", 8) == 0)
        offer_functions(c);
    else if (!c->command->stores && !c->command->options.ends_at_operand)
        offer_words(c, name);
    else
        direct(c, "files");
}

/* ---- the words ---- */

static const option_spec *find_option(const command_spec *command, const char *name, size_t length,
                                      char letter)
{
    option_entry list[OPTION_LIST_MAX];
    size_t count = option_list(&command->options, list);
    for (size_t i = 0; i < count; i++) {
        const option_spec *option = list[i].option;
        int is_named = name && strlen(option->name) == length && strncmp(option->name, name, length) == 0;
        if (is_named || (letter && option->letter == letter))
            return option;
    }
    return NULL;
}

/* The option of a word whose argument is the next word; NULL if there is none. */
static const option_spec *option_with_argument(const command_spec *command, const char *word)
{
    const option_spec *option = NULL;
    if (strncmp(word, "--", 2) == 0) {
        option = strchr(word, '=') ? NULL : find_option(command, word + 2, strlen(word + 2), 0);
        return option && option->kind != OPTION_FLAG ? option : NULL;
    }
    for (word++; *word; word++) {
        option = find_option(command, NULL, 0, *word);
        if (!option || option->kind != OPTION_FLAG)
            return option && !word[1] ? option : NULL;
    }
    return NULL;
}

static void complete_words(completion *c, char **words, size_t count)
{
    const option_spec *option = NULL;
    const char *last = words[count - 1], *equals = strchr(last, '=');
    size_t operands = 0;
    int is_over = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        if (option && (option->kind != OPTION_STORES || words[i][0] != '-')) {
            /* Some take words up to the next option. */
            option = option->kind == OPTION_STORES ? option : NULL;
        } else if (is_over || words[i][0] != '-' || !words[i][1]) {
            if (operands++ == 0)
                c->store = words[i];
            is_over |= c->command->options.ends_at_operand;
        } else if (strcmp(words[i], "--") == 0) {
            is_over = 1;
        } else {
            option = option_with_argument(c->command, words[i]);
        }
    }
    c->typed = last;
    if (option && (option->kind != OPTION_STORES || last[0] != '-')) {
        offer_value(c, option);
    } else if (!is_over && equals && strncmp(last, "--", 2) == 0) {
        c->lead = last;
        c->lead_length = (size_t)(equals - last) + 1;
        c->typed = equals + 1;
        option = find_option(c->command, last + 2, (size_t)(equals - last) - 2, 0);
        if (option)
            offer_value(c, option);
    } else if (!is_over && last[0] == '-') {
        offer_options(c);
    } else {
        offer_operand(c, operands);
    }
}

static void complete(completion *c, char **words, size_t count)
{
    if (count == 0)
        return;
    c->lead = "";
    c->typed = words[count - 1];
    if (count == 1) {
        offer_commands(c);
        return;
    }
    c->command = command_find(words[0]);
    if (c->command)
        complete_words(c, words, count);
}

/* Assignments may precede the program in a line. */
static size_t count_before_command(const shell_words *words)
{
    size_t i = 0;
    while (i + 1 < words->count && strchr(words->items[i], '=') && words->items[i][0] != '-')
        i++;
    return i + 1;
}

/* bash splits words at '=' and ':', too, and replaces only what follows them. */
static void complete_line(out *o, const char *line, const char *cursor, const char *word)
{
    completion c = {.out = o, .is_bash = 1};
    shell_words words;
    size_t length = strlen(line), end = (size_t)strtoull(cursor, NULL, 10);
    end = end < length ? end : length;
    shell_words_read(&words, line, end);
    size_t typed = strlen(word), last = end - words.last;
    if (strspn(word, "=:") == typed)
        typed = 0;
    if (typed <= last) {
        char *kept = shell_unquote(line + words.last, last - typed);
        c.trim = strlen(kept);
        free(kept);
    }
    c.quote = words.quote;
    size_t before = count_before_command(&words);
    if (before < words.count)
        complete(&c, words.items + before, words.count - before);
    shell_words_free(&words);
}

/* fish hands over the last word as it is typed. */
static void complete_for_fish(completion *c, char **words, size_t count)
{
    char *last = shell_unquote(words[count - 1], strlen(words[count - 1]));
    words[count - 1] = last;
    complete(c, words, count);
    free(last);
}

int complete_run(int count, char **arguments)
{
    const char *shell = count > 0 ? arguments[0] : "";
    int is_bash = strcmp(shell, "bash") == 0 && count == 4, is_zsh = strcmp(shell, "zsh") == 0 && count > 1;
    int is_fish = strcmp(shell, "fish") == 0 && count > 1;
    report_quietly(1);
    if (!is_bash && !is_zsh && !is_fish)
        return EXIT_TROUBLE;
    out *o = out_open(&(out_settings){.color = COLOR_NEVER, .format = OUT_TEXT});
    if (!o)
        return EXIT_TROUBLE;
    completion c = {.out = o};
    if (is_bash)
        complete_line(o, arguments[1], arguments[2], arguments[3]);
    else if (is_zsh)
        complete(&c, arguments + 1, (size_t)count - 1);
    else
        complete_for_fish(&c, arguments + 1, (size_t)count - 1);
    return out_close(o, EXIT_DONE);
}
