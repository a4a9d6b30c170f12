/* SPDX-License-Identifier: BSD-3-Clause */
/* What an address says, and what it must not say. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const PQconninfoOption *options, const char *name)
{
    for (const PQconninfoOption *at = options; at && at->keyword; at++)
        if (strcmp(at->keyword, name) == 0)
            return at->val && at->val[0] ? at->val : NULL;
    return NULL;
}

/* What libpq will take: of the address, else of the service, the environment, its own defaults. */
static const char *effective(const PQconninfoOption *given, const PQconninfoOption *otherwise,
                             const char *name)
{
    const char *value = value_of(given, name);
    return value ? value : value_of(otherwise, name);
}

/* Of several hosts, all. A host that begins with a slash is the directory of a socket. */
static int has_host(const char *hosts)
{
    for (const char *at = hosts; at && *at; at += strspn(at, ",")) {
        if (*at != '/' && *at != '@' && *at != ',')
            return 1;
        at += strcspn(at, ",");
    }
    return 0;
}

/*
 * libpq prefers encryption, but does without it, and without knowing who answers, and says nothing.
 * That is not for a host. "prefer" in a service file cannot be told from libpq's own default.
 */
static int is_to_be_encrypted(const PQconninfoOption *given, const PQconninfoOption *otherwise)
{
    const char *mode = effective(given, otherwise, "sslmode");
    const char *named = getenv("PGSSLMODE"); // NOLINT(concurrency-mt-unsafe): only read
    int is_said = value_of(given, "sslmode") || (named && named[0]) || (mode && strcmp(mode, "prefer") != 0);
    return !is_said &&
           (effective(given, otherwise, "hostaddr") || has_host(effective(given, otherwise, "host")));
}

int session_check_address(session *s, catalogue_error *error)
{
    char *problem = NULL;
    PQconninfoOption *given = PQconninfoParse(s->address, &problem);
    /* The problem can quote the address, and with it a password. */
    PQfreemem(problem);
    if (!given) {
        snprintf(error->text, sizeof error->text,
                 "the address of the catalogue cannot be understood (see 'lode help runs')");
        return -1;
    }
    int status = 0;
    const char *service = value_of(given, "service");
    if (value_of(given, "password") || value_of(given, "sslpassword")) {
        snprintf(error->text, sizeof error->text,
                 "the address of the catalogue has a password in it, which others can read there; write it "
                 "into ~/.pgpass (mode 0600), or into a service file");
        status = -1;
    }
    /* How libpq is told to look at a service without a connection; the address names it again. */
    if (service && status == 0)
        setenv("PGSERVICE", service, 1); // NOLINT(concurrency-mt-unsafe): a program opens one catalogue
    PQconninfoOption *otherwise = status == 0 ? PQconndefaults() : NULL;
    s->is_encrypted_by_default = status == 0 && is_to_be_encrypted(given, otherwise);
    PQconninfoFree(otherwise);
    PQconninfoFree(given);
    return status;
}
