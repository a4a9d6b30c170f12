/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands run on each input: all that its format supports, with varying options. */
#ifndef LODE_TESTS_CAMPAIGN_COMMANDS_H
#define LODE_TESTS_CAMPAIGN_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MOST_COMMANDS = 32,
    MOST_WORDS = 24,
    COMMAND_SIZE = 256
};

struct command {
    char text[COMMAND_SIZE];  /* command line; input is `in`, output `out` */
    char words[COMMAND_SIZE]; /* what `arguments` points into */
    char *arguments[MOST_WORDS + 1];
    int count;
    bool writes;
};

/* How many there are; 0 if there is no such corpus: database, draft, recording, traces. */
size_t commands_choose(struct command *commands, const char *corpus, uint64_t *random);
/* From a line of text. */
void command_parse(struct command *command, const char *text);

#endif
