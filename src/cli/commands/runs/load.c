/* SPDX-License-Identifier: BSD-3-Clause */
/* The back end of catalogues on servers is a plug-in. */
#include "commands/runs/runs.h"

#include "output/report.h"
#include "plugin.h"
#include "runs/backend.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS       30 /* that a server may take for an answer */
#define HASTY_SECONDS 5  /* the same for what can be kept in the spool */

static int say_missing(const plugin *found)
{
    const char *why = found->state == PLUGIN_FOUND ? dlerror() : NULL;
    if (why && strstr(why, "libpq"))
        return report("the plug-in for PostgreSQL cannot be loaded, as libpq is missing: install libpq5 "
                      "(Debian) or libpq (Fedora)");
    if (why)
        return report("the plug-in for PostgreSQL cannot be loaded: %s", why);
    return report("the plug-in for PostgreSQL is not installed (looked for %s): install lode-postgresql "
                  "(Debian), or libpq-dev and build Lode with -Dpostgresql=enabled",
                  found->path);
}

/* NULL after a message. */
static const struct catalogue_backend *load(void)
{
    plugin found;
    if (!plugin_is_possible()) {
        report("this static program has no plug-ins, and so no catalogues on servers");
        return NULL;
    }
    plugin_find("postgresql", &found);
    if (found.state == PLUGIN_REFUSED) {
        report("refused to load the plug-in for PostgreSQL: %s", found.reason);
        return NULL;
    }
    void *library = found.state == PLUGIN_FOUND ? dlopen(found.path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const catalogue_backend *backend = library ? dlsym(library, CATALOGUE_BACKEND_SYMBOL) : NULL;
    if (backend && backend->version == CATALOGUE_BACKEND_VERSION)
        return backend;
    if (library)
        report("%s is of another version of Lode", found.path);
    else
        say_missing(&found);
    return NULL;
}

/* LODE_CATALOGUE_TIMEOUT is in seconds. */
static unsigned patience(int is_hasty)
{
    const char *named = getenv("LODE_CATALOGUE_TIMEOUT");
    char *end = NULL;
    unsigned long seconds = named && named[0] ? strtoul(named, &end, 10) : 0;
    int is_number = end && *end == '\0' && seconds > 0 && seconds <= 3600;
    return 1000 * (is_number ? (unsigned)seconds : is_hasty ? HASTY_SECONDS : SECONDS);
}

const char *runs_project(const runs_options *options)
{
    const char *project = options->project ? options->project : getenv("LODE_PROJECT");
    return project && project[0] ? project : NULL;
}

int runs_open_server(catalogue **c, const char *address, const runs_options *options, int is_hasty)
{
    catalogue_error error;
    const catalogue_place place = {.address = address,
                                   .mode = CATALOGUE_WRITE,
                                   .project = runs_project(options),
                                   .milliseconds = patience(is_hasty),
                                   .is_hasty = is_hasty};
    const struct catalogue_backend *backend = load();
    if (!backend)
        return EXIT_TROUBLE;
    return catalogue_open_server(c, backend, &place, &error) == 0 ? EXIT_DONE : runs_failed(&error);
}
