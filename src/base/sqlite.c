/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite, loaded when it is needed: it resolves 1,600 symbols when it is loaded, used or not. */
#include <lode/private/libraries.h>

#if LODE_HAS_SQLITE
#define SQLITE_CORE 1 /* its functions have their own names here */
#include <pthread.h>
#include <sqlite3.h>
#include <sqlite3ext.h>
#include <stdbool.h>
#include <stddef.h>
#if !LODE_IS_STATIC
#include <dlfcn.h>
#include <string.h>
#endif

static const sqlite3_api_routines *functions;
static pthread_once_t functions_once = PTHREAD_ONCE_INIT;

/* The functions that get at all others. */
struct first {
    __typeof__(sqlite3_auto_extension) *auto_extension;
    __typeof__(sqlite3_cancel_auto_extension) *cancel_auto_extension;
    __typeof__(sqlite3_open) *open;
    __typeof__(sqlite3_close) *close;
};

#if LODE_IS_STATIC
static bool find_first(struct first *out)
{
    *out = (struct first){sqlite3_auto_extension, sqlite3_cancel_auto_extension, sqlite3_open, sqlite3_close};
    return true;
}
#else
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_first(struct first *out)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_LOCAL);
    return library && find(library, "sqlite3_auto_extension", &out->auto_extension) &&
           find(library, "sqlite3_cancel_auto_extension", &out->cancel_auto_extension) &&
           find(library, "sqlite3_open", &out->open) && find(library, "sqlite3_close", &out->close);
}
#endif

/* What SQLite calls when a connection is opened. */
static int take(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)db, (void)message;
    functions = api;
    return SQLITE_OK;
}

static void load(void)
{
    struct first first;
    sqlite3 *db = NULL;
    if (!find_first(&first) || first.auto_extension((void (*)(void))take) != SQLITE_OK)
        return;
    (void)first.open(":memory:", &db);
    (void)first.close(db);
    (void)first.cancel_auto_extension((void (*)(void))take);
}

const void *lode_library_sqlite(void)
{
    (void)pthread_once(&functions_once, load);
    return functions;
}
#else
const void *lode_library_sqlite(void)
{
    return NULL;
}
#endif
