/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM    "{|--json|--csv}"
#define METRIC  "{|||-m 0|-m 1}"
#define SUBSET  "{||||-p profile=0|-p profile=1-2}"
#define WINDOW  "{|||--from 1us|--to 1ms|--from 10us --to 1s|--depth 2|--min-time 1us|--strict}"
#define TIMES   "{|||--from 1us|--to 1ms|--from 10us --to 1s|--min-time 1us|--strict}"
#define CONVERT "convert --threads {1|2} "
#define BY      "{--by function|--by line|--by loop|--by module|--by file}"
#define OF_CALLS                                                                                             \
    "{|--sort calls|--sort mean|--sort max|--sort name|--sort total|--callers main|--callees main}"
#define OF_TRACES                                                                                            \
    "{|--errors|--text a|--method a|--attribute k|--sort calls|--sort duration|--min-duration 1us}"

/* `{a|b}` is one of them. */
static const char *const of_databases[] = {
    "info {|-v} " FORM " in",
    "check --level quick " FORM " in",
    "check --level structure {|--json} --threads 1 in",
    "check --level full -v -n 5 {|--json} --threads {1|2} in",
    "top -n 0 --threads 1 " BY " {|--sort inclusive|--sort name} " METRIC " " SUBSET " " FORM " in",
    "top --threads 2 " BY " {|--sort inclusive} " METRIC " " SUBSET " " FORM " in",
    "tree -n 0 --min-percent 0 --threads 1 {|--lines} {|--depth 3} " METRIC " " SUBSET " " FORM " in",
    "tree -n 0 --min-percent 0 --threads 1 --bottom-up {|--lines} " METRIC " " SUBSET " " FORM " in",
    "tree --threads 1 {|--focus a|--focus main|--bottom-up --depth 2|--callers main} " METRIC " {|--json} in",
    "profiles -n 0 {|--sort name|--sort index} " METRIC " " SUBSET " " FORM " in",
    "context --threads 1 {|--all} {||--scope point|--scope function} " METRIC " " FORM
    " in {0|1|2|3|5|8|13|main|a}",
    "trace --threads 1 -n {0|15} {|--depth 1|--depth 3} {|--from 1us|--to 1s|--from 10us --to 1ms} " SUBSET
    " " FORM " in",
    "dump in",
    CONVERT "{||--drop-unlisted} {||--memory 1M} -o out in",
    CONVERT "--format hpctoolkit-draft-xml -o out in",
    CONVERT "--format hpctoolkit-draft-metadb -o out in",
    NULL};

static const char *const of_recordings[] = {
    "info {|-v} {|--strict} " FORM " in",
    "check --level quick " FORM " in",
    "check --level structure {|--json} --threads 1 in",
    "check --level full -v -n 5 {|--json} --threads {1|2} in",
    "top -n 0 --threads 1 " OF_CALLS " " WINDOW " {|--names raw|--names full} " FORM " in",
    "top --threads 2 " WINDOW " {|--json} in",
    "tree -n 0 --min-percent 0 --threads 1 " TIMES " " FORM " in",
    "tree -n 0 --min-percent 0 --threads 1 --bottom-up " TIMES " " FORM " in",
    "profiles -n 0 --threads 1 " WINDOW " " FORM " in",
    "search -n 0 --threads 1 " OF_TRACES " {|--json} in",
    "replay {|--times} " WINDOW " {|--names full} in",
    "replay " WINDOW " {--json|--csv} in",
    "build --threads {1|2} {|--trace none|--trace 10us} {|--per thread} {||--strict} -o out in",
    CONVERT WINDOW " --format uftrace -o out in",
    CONVERT WINDOW " --format zorka --layout {page|zico} -o out in",
    NULL};

/* A few of many questions to each, for stores that are cheap to mutate and costly to open. */
static const char *const of_spans[] = {
    "info {|-v} {|--strict} " FORM " in",
    "check --level full -v -n 5 {|--json} --threads {1|2} in",
    "{top --threads 1 -n 0|tree --threads 1 -n 0 --min-percent 0|"
    "tree --threads 1 -n 0 --min-percent 0 --bottom-up|profiles --threads 1 -n 0|replay|replay --times} " FORM
    " in",
    "search -n 0 --threads 1 {--calls --by service,name|--over 1ms|--over 1s --by http.route|--map|--critical-path|"
    "--density|--where failed|--errors|--text a|--columns http.route,service.name|--sort duration|"
    "--where duration>=1us} " FORM " in",
    "search -n 0 --threads 1 --id {1|2|3|7} {|--critical-path} {|--json} in",
    "diagnose --threads 1 {|--json} in",
    "{convert --format otlp|convert --format zorka|slice --to 1ms|slice --id 1|build} -o out in",
    NULL};

static const struct {
    const char *name;
    const char *const *templates;
} corpora[] = {{"database", of_databases},
               {"draft", of_databases},
               {"recording", of_recordings},
               {"traces", of_recordings},
               {"spans", of_spans}};

/* Copies the text after the `wanted`th bar; returns the number of alternatives. */
static size_t alternative(char *to, const char *from, size_t wanted)
{
    size_t bars = 0, used = 0;
    for (; *from != '}'; from++) {
        if (*from == '|')
            bars++;
        else if (bars == wanted)
            to[used++] = *from;
    }
    to[used] = '\0';
    return bars + 1;
}

static void fill_in(char *to, const char *from, uint64_t *random)
{
    char chosen[COMMAND_SIZE];
    size_t used = 0;
    for (; *from; from++) {
        if (*from != '{') {
            to[used++] = *from;
            continue;
        }
        size_t count = alternative(chosen, from + 1, 0);
        alternative(chosen, from + 1, random_below(random, count));
        memcpy(to + used, chosen, strlen(chosen));
        used += strlen(chosen);
        from = strchr(from, '}');
    }
    to[used] = '\0';
}

void command_parse(struct command *command, const char *text)
{
    static char program[] = "lode";
    char *rest = NULL;
    *command = (struct command){.count = 1, .arguments = {program}};
    snprintf(command->words, sizeof command->words, "%s", text);
    for (char *word = strtok_r(command->words, " ", &rest); word && command->count < MOST_WORDS;
         word = strtok_r(NULL, " ", &rest)) {
        command->writes |= strcmp(word, "out") == 0;
        command->arguments[command->count++] = word;
    }
    for (int i = 0; i < command->count; i++) {
        size_t used = strlen(command->text);
        snprintf(command->text + used, sizeof command->text - used, "%s%s", i ? " " : "",
                 command->arguments[i]);
    }
}

size_t commands_choose(struct command *commands, const char *corpus, uint64_t *random)
{
    const char *const *templates = NULL;
    size_t count = 0;
    for (size_t i = 0; i < sizeof corpora / sizeof *corpora; i++)
        if (strcmp(corpora[i].name, corpus) == 0)
            templates = corpora[i].templates;
    for (; templates && templates[count] && count < MOST_COMMANDS; count++) {
        char text[2 * COMMAND_SIZE];
        fill_in(text, templates[count], random);
        command_parse(&commands[count], text);
    }
    return count;
}
