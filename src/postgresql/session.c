/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SQLSTATE_SIZE 5
#define FIRST_PAUSE   500 /* milliseconds; each one is up to twice as long as the one before */

/* ---- errors ---- */

int session_fail(const session *s, catalogue_error *error, const char *said)
{
    size_t used = (size_t)snprintf(error->text, sizeof error->text, "%s: %s", s->base.name, said);
    used = used < sizeof error->text ? used : sizeof error->text - 1;
    /* Messages of libpq have lines; the last one says where in the server it was. */
    char *place = strstr(error->text, "\nLOCATION:");
    if (place)
        used = (size_t)(place - error->text);
    error->text[used] = '\0';
    while (used > 0 && error->text[used - 1] == '\n')
        error->text[--used] = '\0';
    for (size_t i = 0; i < used; i++)
        if (error->text[i] == '\n' || error->text[i] == '\t')
            error->text[i] = ' ';
    return -1;
}

int session_no_memory(const session *s, catalogue_error *error)
{
    return session_fail(s, error, "out of memory");
}

/* Reasons that pass. */
static int is_passing(const char *state)
{
    static const char *const states[] = {"57P01", "57P02", "57P03", "53300", "40001", "40P01", "55P03"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i], SQLSTATE_SIZE) == 0)
            return 1;
    return strncmp(state, "08", 2) == 0;
}

/* libpq does not say why a connection failed but in a text: "FATAL:  28P01: password ...". */
static const char *state_in(const char *text)
{
    static const char *const words[] = {"FATAL:  ", "ERROR:  "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(text, words[i]);
        if (at && strlen(at) > strlen(words[i]) + SQLSTATE_SIZE &&
            at[strlen(words[i]) + SQLSTATE_SIZE] == ':')
            return at + strlen(words[i]);
    }
    return NULL;
}

/* ---- time ---- */

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* 1: the socket is ready; 0: the time is over. */
static int wait_for(session *s, short events, int64_t deadline)
{
    struct pollfd socket = {.fd = PQsocket(s->connection), .events = events};
    for (;;) {
        int64_t left = deadline - now();
        int found = left > 0 ? poll(&socket, 1, (int)left) : 0;
        if (found >= 0)
            return found > 0;
        if (errno != EINTR)
            return 0;
    }
}

/* A random time, so that those who failed together do not return together. */
static void pause_for(unsigned attempt, int64_t deadline)
{
    uint32_t chance = 0;
    int64_t most = (int64_t)FIRST_PAUSE << (attempt < 6 ? attempt : 6), left = deadline - now();
    if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
        chance = 0;
    int64_t time = most / 2 + chance % (uint32_t)most;
    time = time < left ? time : left;
    if (time > 0)
        nanosleep(&(struct timespec){time / 1000, time % 1000 * 1000000}, NULL);
}

/* ---- connecting ---- */

/* What a failed attempt means for the next one. */
typedef enum outcome {
    DONE,
    FAILED, /* for good */
    AWAY    /* another attempt can help */
} outcome;

static void disconnect(session *s)
{
    PQfinish(s->connection);
    s->connection = NULL;
}

static outcome give_up(session *s, catalogue_error *error, const char *said, outcome kind)
{
    session_fail(s, error, said);
    error->is_away = kind == AWAY;
    disconnect(s);
    return kind;
}

static const char no_answer[] = "the server does not answer";

static outcome fail_to_connect(session *s, catalogue_error *error)
{
    const char *text = PQerrorMessage(s->connection), *state = state_in(text);
    /* What no server has said: nobody is there. But what is encrypted wrongly stays so. */
    int is_passing_reason = state ? is_passing(state)
                                  : !strstr(text, "no password supplied") && !strstr(text, "certificate") &&
                                        !strstr(text, "service") && !strstr(text, "SSL");
    return give_up(s, error, text, is_passing_reason ? AWAY : FAILED);
}

/* Notices are about what is as it should be. */
static void ignore_notice(void *user, const PGresult *result)
{
    (void)user;
    (void)result;
}

static outcome connect_to(session *s, int64_t deadline, catalogue_error *error)
{
    /* The address comes after what it may change. The time to connect is ours to watch. */
    const char *names[] = {"sslmode", "application_name", "options", "dbname", "client_encoding", NULL};
    const char *values[] = {
        s->is_encrypted_by_default ? "verify-full" : NULL,
        "lode",
        "-c statement_timeout=60s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s -c jit=off",
        s->address,
        "UTF8",
        NULL};
    s->connection = PQconnectStartParams(names, values, 1);
    if (!s->connection) {
        session_no_memory(s, error);
        return FAILED;
    }
    PQsetErrorVerbosity(s->connection, PQERRORS_VERBOSE);
    PQsetNoticeReceiver(s->connection, ignore_notice, NULL);
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (PQstatus(s->connection) != CONNECTION_BAD && status != PGRES_POLLING_OK) {
        if (!wait_for(s, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline))
            return give_up(s, error, no_answer, AWAY);
        status = PQconnectPoll(s->connection);
        if (status == PGRES_POLLING_FAILED)
            break;
    }
    if (PQstatus(s->connection) != CONNECTION_OK)
        return fail_to_connect(s, error);
    PQsetErrorVerbosity(s->connection, PQERRORS_DEFAULT);
    PQsetnonblocking(s->connection, 1);
    return DONE;
}

/* ---- asking ---- */

/* Sends all that is to be sent, and reads until there is a result. */
static outcome exchange(session *s, int64_t deadline, catalogue_error *error)
{
    int flushed;
    while ((flushed = PQflush(s->connection)) == 1) {
        if (!wait_for(s, POLLIN | POLLOUT, deadline))
            return give_up(s, error, no_answer, AWAY);
        if (!PQconsumeInput(s->connection))
            return give_up(s, error, PQerrorMessage(s->connection), AWAY);
    }
    if (flushed < 0)
        return give_up(s, error, PQerrorMessage(s->connection), AWAY);
    while (PQisBusy(s->connection)) {
        if (!wait_for(s, POLLIN, deadline))
            return give_up(s, error, no_answer, AWAY);
        if (!PQconsumeInput(s->connection))
            return give_up(s, error, PQerrorMessage(s->connection), AWAY);
    }
    return DONE;
}

/* What people can do about it, if that is not what the server says. */
static const char *advice_on(const char *state)
{
    if (strcmp(state, "3F000") == 0 || strcmp(state, "42P01") == 0)
        return "there is no catalogue of runs; 'lode runs init' creates it";
    if (strcmp(state, "42883") == 0)
        return "the catalogue is of another version of lode; see 'lode runs status' and 'lode runs migrate'";
    return NULL;
}

static outcome judge(session *s, const PGresult *result, const char *types, catalogue_error *error)
{
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        if (!types || (status == PGRES_TUPLES_OK && result_fits(result, types)))
            return DONE;
        return give_up(s, error, "the server gave an answer of an unexpected form", FAILED);
    }
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    /* A connection that is cut has no state. */
    if (!state || PQstatus(s->connection) != CONNECTION_OK)
        return give_up(s, error, text ? text : PQresultErrorMessage(result), AWAY);
    const char *advice = advice_on(state);
    session_fail(s, error, advice ? advice : text ? text : "the server refused");
    error->is_away = is_passing(state);
    return error->is_away ? AWAY : FAILED;
}

/* One attempt. */
static outcome ask(session *s, const char *sql, const parameters *p, const char *types, int64_t deadline,
                   PGresult **result, catalogue_error *error)
{
    outcome kind = s->connection ? DONE : connect_to(s, deadline, error);
    if (kind != DONE)
        return kind;
    s->is_sent = 1;
    int sent = p ? parameters_send(p, s->connection, sql) : PQsendQuery(s->connection, sql) == 1 ? 0 : -1;
    if (sent != 0) {
        int is_lost = PQstatus(s->connection) != CONNECTION_OK;
        return give_up(s, error, is_lost ? PQerrorMessage(s->connection) : "out of memory",
                       is_lost ? AWAY : FAILED);
    }
    for (PGresult *next = NULL;; *result = next) {
        if ((kind = exchange(s, deadline, error)) != DONE)
            return kind;
        if (!(next = PQgetResult(s->connection)))
            break;
        PQclear(*result);
    }
    return *result ? judge(s, *result, types, error) : give_up(s, error, no_answer, AWAY);
}

PGresult *session_ask(session *s, const char *sql, const parameters *p, const char *types, ask_mode mode,
                      catalogue_error *error)
{
    int64_t deadline = now() + s->milliseconds;
    for (unsigned attempt = 0;; attempt++) {
        PGresult *result = NULL;
        s->is_sent = 0;
        outcome kind = ask(s, sql, p, types, deadline, &result, error);
        if (kind == DONE)
            return result;
        PQclear(result);
        /* What was sent may have been done. */
        int may_repeat = mode == ASK_AGAIN || !s->is_sent;
        if (kind == FAILED || s->is_hasty || !may_repeat || now() >= deadline)
            return NULL;
        pause_for(attempt, deadline);
        if (now() >= deadline) /* what was wrong says more than that the time is over */
            return NULL;
    }
}

/* ---- the project ---- */

static int choose_project(session *s, const PGresult *result, catalogue_error *error)
{
    char text[640];
    int count = PQntuples(result);
    int64_t schema = count ? cell_integer(result, 0, 0) : SCHEMA_VERSION;
    if (schema != SCHEMA_VERSION)
        return session_fail(s, error,
                            schema > SCHEMA_VERSION ? "the catalogue is of a later version of lode"
                                                    : "the catalogue is of an earlier version of lode; an "
                                                      "administrator can run 'lode runs migrate'");
    if (count == 1 && !PQgetisnull(result, 0, 1)) {
        s->project_id = cell_integer(result, 0, 1);
        s->project_name = strdup(cell_text(result, 0, 2));
        return s->project_name ? 0 : session_no_memory(s, error);
    }
    if (count <= 1) {
        snprintf(text, sizeof text, "there is no project %s%s%sthat you may see", s->project ? "'" : "",
                 s->project ? s->project : "", s->project ? "' " : "");
        return session_fail(s, error, text);
    }
    snprintf(text, sizeof text, "which project? --project %s, %s%s", cell_text(result, 0, 2),
             cell_text(result, 1, 2), count > 2 ? " and others" : "");
    return session_fail(s, error, text);
}

int session_find_project(session *s, catalogue_error *error)
{
    static const char sql[] =
        "SELECT v.version::int8, p.id::int8, p.name FROM (SELECT max(version) AS version FROM "
        "lode.schema_version) v LEFT JOIN lode.project p ON $1 IS NULL OR p.name = $1 ORDER BY p.name LIMIT 3";
    parameters p = {.count = 0};
    if (s->project_name)
        return 0;
    put_text(&p, s->project);
    PGresult *result = session_ask(s, sql, &p, "iit", ASK_AGAIN, error);
    parameters_free(&p);
    int status = result ? choose_project(s, result, error) : -1;
    PQclear(result);
    return status;
}

int session_find_run(session *s, int64_t run, int64_t *begun, catalogue_error *error)
{
    parameters p = {.count = 0};
    *begun = s->found_begun;
    if (s->found_run == run)
        return 0;
    put_integer(&p, run);
    put_integer(&p, s->project_id);
    PGresult *result = session_ask(s, "SELECT begun_ns FROM lode.run WHERE id = $1 AND project = $2::int4",
                                   &p, "i", ASK_AGAIN, error);
    parameters_free(&p);
    int found = !result ? -1 : PQntuples(result) == 1 ? 0 : 1;
    *begun = found == 0 ? cell_integer(result, 0, 0) : 0;
    if (found == 0) {
        s->found_run = run;
        s->found_begun = *begun;
    }
    PQclear(result);
    return found;
}
