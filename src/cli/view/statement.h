/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of SQL that a client sends. */
#ifndef CLI_VIEW_STATEMENT_H
#define CLI_VIEW_STATEMENT_H

#include "view/api.h"

/* Answers with what 'lode sql --json' prints of the statements in the body; it takes time. */
void view_run_statement(view_answer *answer, view_server *server, const view_request *request,
                        const char *store);

#endif
