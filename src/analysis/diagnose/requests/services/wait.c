/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of calls that wait for a lock or for a connection of a pool. */
#include "analysis/diagnose/requests/services/services.h"

#include <string.h>

enum {
    WORD_SIZE = 24,
    OF_LOCK = 1, /* what is waited for */
    OF_POOL = 2, /* the same */
    WAITING = 4, /* that it is waited for */
    TAKING = 8   /* that it is taken, which says so of pools only */
};

struct word {
    const char *text;
    unsigned meaning;
};

static const struct word words[] = {
    {"lock", OF_LOCK},    {"locks", OF_LOCK},      {"mutex", OF_LOCK},  {"semaphore", OF_LOCK},
    {"latch", OF_LOCK},   {"monitor", OF_LOCK},    {"permit", OF_LOCK}, {"queue", OF_LOCK},
    {"pool", OF_POOL},    {"connection", OF_POOL}, {"conn", OF_POOL},   {"slot", OF_POOL},
    {"wait", WAITING},    {"waiting", WAITING},    {"await", WAITING},  {"blocked", WAITING},
    {"acquire", WAITING}, {"acquiring", WAITING},  {"obtain", WAITING}, {"get", TAKING},
    {"borrow", TAKING},   {"checkout", TAKING},    {"connect", TAKING}, {"contended", WAITING},
};

static unsigned meaning_of(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].text, word) == 0)
            return words[i].meaning;
    return 0;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Words end at other characters, and before a capital letter that follows a small one. */
bool lode_diagnose_service_is_wait(const char *name)
{
    char word[WORD_SIZE];
    size_t length = 0;
    unsigned found = 0;
    /* A route, such as GET /connection: a request for it. */
    if (strchr(name, '/'))
        return false;
    for (const char *at = name;; at++) {
        bool begins = is_upper(*at) && at > name && is_lower(at[-1]);
        bool is_letter = is_lower(*at) || is_upper(*at);
        if (length > 0 && (begins || !is_letter)) {
            word[length < WORD_SIZE ? length : WORD_SIZE - 1] = '\0';
            found |= length < WORD_SIZE ? meaning_of(word) : 0;
            length = 0;
        }
        if (is_letter) {
            if (length < WORD_SIZE)
                word[length] = (char)(is_upper(*at) ? *at - 'A' + 'a' : *at);
            length++;
        }
        if (*at == '\0')
            break;
    }
    return (found & (OF_LOCK | OF_POOL) && found & WAITING) || (found & OF_POOL && found & TAKING);
}
