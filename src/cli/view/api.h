/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are commands: GET /api/1/COMMAND/STORE?OPTION=VALUE. */
#ifndef CLI_VIEW_API_H
#define CLI_VIEW_API_H

#include "view/target.h"
#include "view/view.h"

/* As view_answer_request, for a request that is allowed to ask. */
int view_run_command(view_answer *answer, view_server *server, const view_request *request, const target *t,
                     int may_work);

/* NULL: none. */
const char *view_header_of(const view_request *request, const char *name);
/* Parts of answers. A message of NULL is the usual one for the status. */
void view_add_header(view_answer *answer, const char *name, const char *value);
void view_give_output(view_answer *answer, view_call *call, unsigned status);
/* The bytes, of malloc(), take the place of those that are there. */
void view_replace_body(view_answer *answer, void *bytes, size_t size);
void view_give_error(view_answer *answer, view_server *server, unsigned status, const char *message);

#endif
