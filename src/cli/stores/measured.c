/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/measured.h"

#include "alloc.h"
#include "interrupt.h"
#include "output/progress.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/stores.h"
#include "stores/tally.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_NAME "lode-XXXXXX"
#define OPEN_FILES     16 /* while a directory is removed */
#define THREADS_MAX    4096

typedef struct building {
    progress progress;
    tally findings;
} building;

const char *measured_symbols(plugin *found)
{
    plugin_find_program("symbols", found);
    if (found->state == PLUGIN_REFUSED)
        report("names in binaries are not read: %s", found->reason);
    return found->state == PLUGIN_FOUND ? found->path : NULL;
}

static plugin symbols_found;
static const char *symbols_path;

static void find_symbols(void)
{
    symbols_path = measured_symbols(&symbols_found);
}

const char *measured_symbols_found(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_symbols);
    return symbols_path;
}

/* ---- the cache ---- */

char *measured_cache(const char *named)
{
    struct stat about;
    if (named)
        return strcmp(named, "none") == 0 ? NULL : alloc_text(named);
    char *folder = store_cache(), *path = NULL;
    if (folder && asprintf(&path, "%s/structure", folder) < 0)
        path = NULL;
    free(folder);
    /* What its owner wrote is trusted. */
    if (path && stat(path, &about) == 0 && about.st_uid != geteuid()) {
        free(path);
        path = NULL;
    }
    return path;
}

/* ---- the directory ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_directory(const char *path)
{
    (void)!nftw(path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int make_directory(char directory[PATH_MAX])
{
    const char *parent = getenv("TMPDIR");
    int length =
        snprintf(directory, PATH_MAX, "%s/%s", parent && parent[0] ? parent : P_tmpdir, DIRECTORY_NAME);
    if (length < 0 || length >= PATH_MAX - 16)
        return report("TMPDIR: the path is too long");
    if (mkdtemp(directory))
        return EXIT_DONE;
    directory[length - (int)strlen("/" DIRECTORY_NAME)] = '\0';
    return report("%s: no temporary directory can be made there: %s (TMPDIR names another)", directory,
                  strerror(errno));
}

/* ---- the database ---- */

static int on_finding(void *user, const lode_finding *finding)
{
    building *b = user;
    if (finding->severity != LODE_NOTE)
        tally_add(&b->findings, finding);
    return 0;
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    building *b = user;
    return progress_report(&b->progress, phase, done, total);
}

static int failed(const char *path, const char *directory, const lode_error *error)
{
    if (error->status == LODE_ERR_CANCELLED && interrupt_is_due())
        return EXIT_TROUBLE;
    if (error->status != LODE_ERR_IO)
        return report_error(path, error);
    return report("%s: no database could be built in %s: %s%s%s (TMPDIR names another directory)", path,
                  directory, error->file, error->file[0] ? ": " : "", error->text);
}

static int build(const char *path, const char *target, const char *directory, const shared_options *shared)
{
    building b = {.findings = {.cap = 100}};
    lode_build_options settings = LODE_BUILD_OPTIONS_INIT;
    lode_error error = {0};
    plugin symbols;
    settings.strict = shared->strict;
    settings.threads = (unsigned)(shared->threads < THREADS_MAX ? shared->threads : THREADS_MAX);
    settings.symbols_program = measured_symbols(&symbols);
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = &b;
    progress_init(&b.progress);
    b.progress.byte_phase = "reading";
    lode_status status = lode_build(&path, 1, target, &settings, NULL, &error);
    progress_clear(&b.progress);
    if (status == LODE_OK)
        damage_add(path, &b.findings);
    tally_free(&b.findings);
    return status == LODE_OK ? EXIT_DONE : failed(path, directory, &error);
}

int measured_open(lode_database **db, const char *path, const shared_options *shared)
{
    char directory[PATH_MAX], target[PATH_MAX + 16];
    lode_error error = {0};
    interrupt_hold();
    if (make_directory(directory) != EXIT_DONE)
        return EXIT_TROUBLE;
    snprintf(target, sizeof target, "%s/database", directory);
    damage_check(&(damage_request){path, NULL, DAMAGE_READ_BYTES, shared->threads});
    int status = build(path, target, directory, shared);
    if (status == EXIT_DONE && lode_database_open(db, target, &error) != LODE_OK)
        status = report_error(path, &error);
    remove_directory(directory);
    return status;
}
