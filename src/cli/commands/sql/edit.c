/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of the shell: by libedit, with history and completion, or as the terminal gives them.
 * libedit is loaded when the shell begins: no other command pays for it, and it need not be there.
 */
#include "commands/sql/sql.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* What is used of libedit's interface of readline. */
typedef char *(*generator_fn)(const char *text, int state);
typedef char **(*completion_fn)(const char *text, int start, int end);

typedef struct editor {
    int was_sought;
    char *(*read)(const char *prompt);
    int (*remember)(const char *line);
    char **(*matches)(const char *text, generator_fn generator);
    completion_fn *completion;
    int *completion_over;
} editor;

static editor lines; /* of the process: libedit has one terminal, too */
static const sql_job *editing;
static char **offered;
static size_t offered_next;

static char *next_word(const char *text, int state)
{
    if (state == 0) {
        offered = sql_words(editing, text);
        offered_next = 0;
    }
    char *word = offered ? offered[offered_next++] : NULL;
    if (!word) {
        free(offered);
        offered = NULL;
    }
    return word;
}

static char **complete(const char *text, int start, int end)
{
    (void)start;
    (void)end;
    *lines.completion_over = 1;
    return lines.matches(text, next_word);
}

/* A function pointer is no object pointer in C, but for POSIX it is one here. */
static void find(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
}

static void seek_editor(void)
{
    lines.was_sought = 1;
    void *library = PLUGINS_CAN_BE_LOADED ? dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return;
    find(library, "add_history", &lines.remember);
    find(library, "rl_completion_matches", &lines.matches);
    find(library, "rl_attempted_completion_function", &lines.completion);
    find(library, "rl_attempted_completion_over", &lines.completion_over);
    if (lines.remember && lines.matches && lines.completion && lines.completion_over) {
        find(library, "readline", &lines.read);
        *lines.completion = complete;
    }
}

static char *read_plainly(const sql_job *job, const char *prompt)
{
    char *line = NULL;
    size_t capacity = 0;
    out_print(job->out, "%s", prompt);
    out_flush(job->out);
    if (getline(&line, &capacity, stdin) < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

char *sql_edit_line(sql_job *job, const char *prompt)
{
    if (!lines.was_sought)
        seek_editor();
    if (!lines.read)
        return read_plainly(job, prompt);
    editing = job;
    char *line = lines.read(prompt);
    if (line && line[0])
        lines.remember(line);
    return line;
}
