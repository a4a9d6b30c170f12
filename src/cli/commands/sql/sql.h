/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode sql`: the stores, what runs statements, and the shell. */
#ifndef CLI_SQL_H
#define CLI_SQL_H

#include "command.h"
#include "stores/rec_session.h"
#include "stores/session.h"

#include "sql/sql.h"

enum {
    SCHEMA_NAME_SIZE = 64
};

typedef struct sql_options {
    shared_options shared;
    const char *file;
    int script, explain;
    uint64_t timeout, memory, limit;
} sql_options;

/* A store that is open, under a name. */
typedef struct sql_store {
    char name[SCHEMA_NAME_SIZE];
    char *found; /* the path, if it is not as given */
    lode_store_kind kind;
    int is_open;
    session database;
    rec_session recording;
    lode_tables *tables; /* those of the connection */
} sql_store;

typedef struct sql_job {
    const invocation *call;
    const sql_options *options;
    out *out;
    sql *connection;
    lode_pool *pool;
    sql_store stores[SQL_STORES_MAX];
    size_t store_count;
    uint64_t results; /* of statements with columns, so far */
    int has_ended;    /* .quit */
} sql_job;

/* Runs one statement, or all of a text. EXIT_DONE, or EXIT_TROUBLE after a message. */
int sql_run_one(sql_job *job, const char *text);
int sql_run_all(sql_job *job, const char *text);
/* Runs a line that begins with a dot. */
int sql_run_dot(sql_job *job, const char *line);

/* Prints the questions that the stores have answers to. */
void sql_show_questions(const sql_job *job);

/* Forgets a Ctrl-C that came before a statement of the shell. */
void sql_forget_stop(void);
/* Reads statements line by line, from a terminal or something else, until its end. */
int sql_shell(sql_job *job);
/* The words that could come next; free() each and the list. NULL ends it. */
char **sql_words(const sql_job *job, const char *beginning);

/* A line without its line feed, by the editor of lines; NULL at the end; free() it. */
char *sql_edit_line(sql_job *job, const char *prompt);

/* All of a file, or of standard input ("-"), with a NUL; NULL after a message. free() it. */
char *sql_read_file(const char *path);

#endif
