/* SPDX-License-Identifier: BSD-3-Clause */
/* Administration: the schema, projects, roles, retention; and what the catalogue has. */
#include "schema_text.h"
#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the schema ---- */

/* What makes the tables of each version from those before; the first ones are from nothing. */
static const char *const *const migrations[SCHEMA_VERSION] = {schema_text};

/*
 * In one transaction below a lock: of several at once, one makes the tables, and the others find
 * them. "Lode" is the first key of all our locks.
 */
static const char begin_sql[] = "BEGIN; SELECT pg_advisory_xact_lock(x'4c6f6465'::int, 1); "
                                "CREATE SCHEMA IF NOT EXISTS lode; "
                                "CREATE TABLE IF NOT EXISTS lode.schema_version(version int PRIMARY KEY, "
                                "applied timestamptz NOT NULL DEFAULT now(), by name NOT NULL DEFAULT "
                                "session_user)";

static int run_script(session *s, const char *sql, catalogue_error *error)
{
    PGresult *result = session_ask(s, sql, NULL, NULL, ASK_ONCE, error);
    PQclear(result);
    return result ? 0 : -1;
}

static int find_version(session *s, int64_t *schema, catalogue_error *error)
{
    const parameters none = {.count = 0};
    PGresult *result = session_ask(s, "SELECT coalesce(max(version), 0)::int8 FROM lode.schema_version",
                                   &none, "i", ASK_ONCE, error);
    *schema = result && PQntuples(result) == 1 ? cell_integer(result, 0, 0) : 0;
    PQclear(result);
    return result ? 0 : -1;
}

static int migrate(session *s, int64_t schema, catalogue_error *error)
{
    for (; schema < SCHEMA_VERSION; schema++) {
        buffer sql = {NULL, 0, 0, 0};
        for (const char *const *line = migrations[schema]; *line; line++)
            buffer_text(&sql, *line);
        buffer_format(&sql, "INSERT INTO lode.schema_version(version) VALUES (%d)", (int)schema + 1);
        int status = sql.is_out_of_memory ? session_no_memory(s, error) : run_script(s, sql.bytes, error);
        buffer_free(&sql);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* ---- projects and roles ---- */

static int call_grant(session *s, const char *project, const char *role, const char *level,
                      catalogue_error *error)
{
    parameters p = {.count = 0};
    put_text(&p, project);
    put_text(&p, role);
    put_text(&p, level);
    /* Without a role: whoever asks. */
    PGresult *result =
        session_ask(s, "SELECT ''::text FROM lode.grant_role($1, coalesce($2, session_user::text), $3)", &p,
                    "t", ASK_ONCE, error);
    parameters_free(&p);
    PQclear(result);
    return result ? 0 : -1;
}

int server_set_up(catalogue *of, int is_new, int64_t *schema, catalogue_error *error)
{
    session *s = session_of(of);
    int status = run_script(s, begin_sql, error);
    if (status == 0)
        status = find_version(s, schema, error);
    if (status == 0 && *schema > SCHEMA_VERSION)
        status = session_fail(s, error, "the catalogue is of a later version of lode");
    if (status == 0)
        status = migrate(s, *schema, error);
    if (status == 0 && is_new)
        status = call_grant(s, s->project ? s->project : "default", NULL, "admin", error);
    /* Without a commit, all of it goes away with the connection. */
    return status == 0 ? run_script(s, "COMMIT", error) : -1;
}

int server_grant(catalogue *of, const char *role, const char *level, catalogue_error *error)
{
    session *s = session_of(of);
    if (!s->project && session_find_project(s, error) != 0)
        return -1;
    return call_grant(s, s->project ? s->project : s->project_name, role, level, error);
}

/* ---- retention ---- */

int server_retain(catalogue *of, uint64_t before, uint64_t *removed, catalogue_error *error)
{
    session *s = session_of(of);
    parameters p = {.count = 0};
    put_time(&p, before);
    PGresult *result = session_ask(s, "SELECT lode.drop_before($1)", &p, "i", ASK_ONCE, error);
    parameters_free(&p);
    *removed = result && PQntuples(result) == 1 ? cell_unsigned(result, 0, 0) : 0;
    PQclear(result);
    return result ? 0 : -1;
}

/* ---- the whole ---- */

static const char status_sql[] =
    "SELECT count(*), min(r.begun_ns), max(r.begun_ns), (SELECT count(*) FROM lode.function f WHERE f.project = "
    "$1::int4), (SELECT count(*) FROM lode.metric m WHERE m.project = $1::int4), (SELECT "
    "sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c WHERE c.relnamespace = 'lode'::regnamespace AND "
    "c.relkind IN ('r', 'm')), (SELECT max(v.version)::int8 FROM lode.schema_version v), session_user::text, "
    "pg_has_role(session_user, 'lode_writer', 'USAGE') AND $1::int4 = ANY (lode.my_projects(true)) FROM lode.run "
    "r WHERE r.project = $1::int4";

int server_status(catalogue *of, catalogue_state *state, catalogue_error *error)
{
    session *s = session_of(of);
    statement to;
    PGresult *result = NULL;
    if (statement_begin(&to, s, status_sql, error) == 0)
        result = statement_ask(&to, s, "iiiiiiitb", error);
    statement_free(&to);
    if (!result)
        return -1;
    if (PQntuples(result) == 1) {
        state->runs = cell_unsigned(result, 0, 0);
        state->first = cell_unsigned(result, 0, 1);
        state->last = cell_unsigned(result, 0, 2);
        state->functions = cell_unsigned(result, 0, 3);
        state->metrics = cell_unsigned(result, 0, 4);
        state->bytes = cell_unsigned(result, 0, 5);
        state->schema = cell_integer(result, 0, 6);
        snprintf(state->user, sizeof state->user, "%s", cell_text(result, 0, 7));
        state->can_write = cell_bool(result, 0, 8);
    }
    PQclear(result);
    snprintf(state->project, sizeof state->project, "%s", s->project_name);
    snprintf(state->library, sizeof state->library, "PostgreSQL %.60s",
             s->connection ? PQparameterStatus(s->connection, "server_version") : "");
    return 0;
}
