/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: the page of `lode view` in one file, with answers about stores inside. */
#ifndef CLI_REPORT_FILE_H
#define CLI_REPORT_FILE_H

#include "output/out.h"
#include "view/view.h"

#define REPORT_MAX_SIZE (UINT64_C(5) << 20) /* bytes, unless --max-size says otherwise */

typedef struct report_settings {
    const char *title; /* NULL: the names of the stores */
    const char *notes; /* plain text; NULL: none */
    int is_anonymous;
    uint64_t max_size;
    const char *const *paths; /* of stores */
    size_t path_count;
    const lode_kind_rules *kinds; /* NULL: none */
    const char *kinds_path;
} report_settings;

/* Writes a report. EXIT_DONE, or EXIT_TROUBLE after a message. */
int report_write(out *o, const report_settings *settings);
/* The same as PDF at a path; "-" is standard output. Waits for signals to be over. */
int report_write_pdf(const char *path, const report_settings *settings);
/* Whether there is a browser that can print; else EXIT_TROUBLE after a message. */
int report_has_browser(void);

/* ---- what a report asks, questions.c ---- */

/* A question as the page asks it, and its answer as it is in the file. */
typedef struct report_answer {
    char *target; /* "top/0?limit=12" */
    unsigned status;
    char *text; /* NULL: left out */
    size_t size;
} report_answer;

typedef struct report_list {
    report_answer *items; /* the most important first */
    size_t count, capacity;
} report_list;

/* Lists all questions about the stores of a server, without answers. */
void report_list_questions(report_list *list, const view_server *server);
void report_list_free(report_list *list);

/* ---- JSON that is safe inside a page, inert.c ---- */

/* What an anonymous report does not tell. */
typedef struct report_secrets {
    const view_server *server; /* paths of its stores */
    char user[256], machine[256];
} report_secrets;

void report_secrets_find(report_secrets *secrets, const view_server *server);
/*
 * The same JSON without blanks, in ASCII, and without '<', '>' and '&': nothing in it ends the
 * element that holds it. `secrets`, if not NULL, are left out. The result is free()d by the caller.
 */
char *report_inert(const char *json, size_t size, const report_secrets *secrets, size_t *inert_size);

#endif
