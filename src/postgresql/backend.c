/* SPDX-License-Identifier: BSD-3-Clause */
/* Catalogues on a PostgreSQL server: a plug-in, so that the program does not need libpq. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static const char *library(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
    return text;
}

session *session_of(catalogue *c)
{
    return (session *)c;
}

/*
 * libpq has passwords in its memory until a connection ends, when it wipes them: meanwhile there is
 * to be no core file.
 */
static void guard_memory(int change)
{
    static int sessions, was_dumpable;
    if (sessions == 0 && change > 0)
        was_dumpable = prctl(PR_GET_DUMPABLE) == 1 && prctl(PR_SET_DUMPABLE, 0) == 0;
    sessions += change;
    if (sessions == 0 && was_dumpable)
        prctl(PR_SET_DUMPABLE, 1);
}

static void close_session(catalogue *of)
{
    session *s = session_of(of);
    PQfinish(s->connection);
    guard_memory(-1);
    server_forget_values(s);
    free(s->project);
    free(s->project_name);
    free(s->address);
    free(s->base.name);
    free(s);
}

__attribute__((visibility("default"))) extern const catalogue_backend lode_catalogue_backend;

static int open_session(catalogue **out, const catalogue_place *place, catalogue_error *error)
{
    session *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return -1;
    }
    guard_memory(1);
    s->base.backend = &lode_catalogue_backend;
    s->base.name = strdup(place->address);
    s->address = strdup(place->address);
    s->project = place->project ? strdup(place->project) : NULL;
    s->milliseconds = place->milliseconds;
    s->is_hasty = place->is_hasty;
    int status = s->base.name && s->address && (s->project || !place->project) ? 0 : -1;
    if (status != 0)
        snprintf(error->text, sizeof error->text, "out of memory");
    if (status == 0)
        status = session_check_address(s, error);
    if (status == 0)
        *out = &s->base;
    else
        close_session(&s->base);
    return status;
}

const catalogue_backend lode_catalogue_backend = {
    .version = CATALOGUE_BACKEND_VERSION,
    .needs_clean_records = 1,
    .library = library,
    .open = open_session,
    .close = close_session,
    .add = server_add,
    .read = server_read,
    .remove = server_remove,
    .list = server_list,
    .count = server_count,
    .metrics = server_metrics,
    .functions = server_functions,
    .find_function = server_find_function,
    .series = server_series,
    .run_functions = server_run_functions,
    .runs = server_runs,
    .values = server_values,
    .retain = server_retain,
    .status = server_status,
    .set_up = server_set_up,
    .grant = server_grant,
};
