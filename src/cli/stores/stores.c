/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/stores.h"

#include "alloc.h"
#include "options/option.h"
#include "options/shell_words.h"
#include "output/report.h"
#include "text/number.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A look into a directory ends here, however much is in it. */
#define ENTRIES_MAX 4096
#define PROBES_MAX  512
#define LISTED_MAX  8

typedef struct found_store {
    char *path;
    lode_store_kind kind;
    struct stat status;
    int is_link;
} found_store;

/* What is in a directory. */
typedef struct look {
    found_store *stores;
    size_t count, capacity;
    char *measurements; /* a directory with measurements of HPCToolkit, or NULL */
    size_t probes;
    int is_cut; /* there was too much to look at */
} look;

static unsigned kind_bit(lode_store_kind kind)
{
    return kind == LODE_STORE_RECORDING      ? FOR_RECORDINGS
           : kind == LODE_STORE_MEASUREMENTS ? FOR_MEASUREMENTS
                                             : FOR_DATABASES;
}

static const char *word_of_kinds(unsigned kinds)
{
    return kinds == FOR_DATABASES ? "database" : kinds == FOR_RECORDINGS ? "recording" : "store";
}

static int probe(const char *path, lode_store_kind *kind)
{
    lode_error error;
    return lode_store_probe(path, kind, &error) == LODE_OK;
}

/* Whether it is a store; measurements are one for those who ask for them. */
static int is_store(const char *path, unsigned kinds)
{
    lode_store_kind kind;
    return probe(path, &kind) && (kind != LODE_STORE_MEASUREMENTS || (kinds & FOR_MEASUREMENTS));
}

static char *join(const char *directory, const char *name)
{
    int is_here = strcmp(directory, ".") == 0, has_slash = directory[strlen(directory) - 1] == '/';
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = alloc_array(size, 1);
    snprintf(path, size, "%s%s%s", is_here ? "" : directory, is_here || has_slash ? "" : "/", name);
    return path;
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length > wanted && strcmp(text + length - wanted, end) == 0;
}

/* readdir needs no lock: each stream is used by one thread only. */
static const struct dirent *next_entry(DIR *stream)
{
    const struct dirent *entry;
    do
        entry = readdir(stream); /* NOLINT(concurrency-mt-unsafe) */
    while (entry && entry->d_name[0] == '.');
    return entry;
}

/* Files that hpcrun wrote; hpcprof makes a database from them. */
static size_t count_measurements(const char *path)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    size_t count = 0;
    for (size_t i = 0; stream && i < ENTRIES_MAX && (entry = next_entry(stream)); i++)
        count += (size_t)ends_with(entry->d_name, ".hpcrun");
    if (stream)
        closedir(stream);
    return count;
}

/* ---- looking into a directory ---- */

/* A link to another entry is not another store. */
static int is_known(look *l, found_store *store)
{
    for (size_t i = 0; i < l->count; i++) {
        found_store *other = &l->stores[i];
        if (other->status.st_dev != store->status.st_dev || other->status.st_ino != store->status.st_ino)
            continue;
        if (other->is_link && !store->is_link) {
            found_store swap = *other;
            *other = *store;
            *store = swap;
        }
        return 1;
    }
    return 0;
}

/* The first one by name: an order of its own makes no sense to people. */
static void keep_measurements(look *l, char *path)
{
    int is_first = !l->measurements || strcmp(path, l->measurements) < 0;
    free(is_first ? l->measurements : path);
    if (is_first)
        l->measurements = path;
}

static void look_at(look *l, const char *directory, const char *name)
{
    found_store store = {.path = join(directory, name)};
    struct stat link;
    int is_directory = stat(store.path, &store.status) == 0 && S_ISDIR(store.status.st_mode);
    store.is_link = lstat(store.path, &link) == 0 && S_ISLNK(link.st_mode);
    if (is_directory && l->probes++ >= PROBES_MAX) {
        l->is_cut = 1;
    } else if (is_directory && probe(store.path, &store.kind)) {
        if (store.kind == LODE_STORE_MEASUREMENTS)
            keep_measurements(l, join(directory, name));
        l->stores = alloc_grow(l->stores, &l->capacity, l->count + 1, sizeof *l->stores);
        if (!is_known(l, &store)) {
            l->stores[l->count++] = store;
            return;
        }
    }
    free(store.path);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const found_store *)a)->path, ((const found_store *)b)->path);
}

/* Whether it is what a killed run left, .NAME.partial: a store in it is not complete. */
static int is_unfinished(const char *directory)
{
    static const char end[] = ".partial";
    size_t length = strlen(directory), wanted = sizeof end - 1;
    while (length > 1 && directory[length - 1] == '/')
        length--;
    const char *slash = memrchr(directory, '/', length);
    const char *name = slash ? slash + 1 : directory;
    return name[0] == '.' && length > wanted && memcmp(directory + length - wanted, end, wanted) == 0;
}

static look look_into(const char *directory)
{
    look l = {0};
    DIR *stream = is_unfinished(directory) ? NULL : opendir(directory);
    const struct dirent *entry;
    size_t entries = 0;
    while (stream && !l.is_cut && (entry = next_entry(stream))) {
        l.is_cut = ++entries > ENTRIES_MAX;
        if (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
            look_at(&l, directory, entry->d_name);
    }
    if (stream)
        closedir(stream);
    if (l.count > 1)
        qsort(l.stores, l.count, sizeof *l.stores, by_path);
    return l;
}

static void look_free(look *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->stores[i].path);
    free(l->stores);
    free(l->measurements);
}

/*
 * Takes the stores of other kinds out of the list. Measurements often lie beside their database,
 * which is meant then.
 */
static void look_only(look *l, unsigned kinds)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (kind_bit(l->stores[i].kind) & kinds & ~(unsigned)FOR_MEASUREMENTS)
            kinds &= ~(unsigned)FOR_MEASUREMENTS;
    for (size_t i = 0; i < l->count; i++) {
        if (kind_bit(l->stores[i].kind) & kinds)
            l->stores[kept++] = l->stores[i];
        else
            free(l->stores[i].path);
    }
    l->count = kept;
}

/* The only store, if there is exactly one for sure; the look has no more use for it. */
static char *take_only(look *l)
{
    if (l->count != 1 || l->is_cut)
        return NULL;
    l->count = 0;
    return l->stores[0].path;
}

/* "a, b and c", or "a, b and 17 more". */
static void list_stores(char *text, size_t capacity, const look *l)
{
    size_t used = 0, shown = l->count <= LISTED_MAX ? l->count : LISTED_MAX - 1;
    text[0] = '\0';
    for (size_t i = 0; i < shown && used < capacity; i++) {
        const char *before = i == 0 ? "" : i + 1 == l->count ? " and " : ", ";
        used += (size_t)snprintf(text + used, capacity - used, "%s%s", before, l->stores[i].path);
    }
    if (shown < l->count && used < capacity)
        snprintf(text + used, capacity - used, " and %zu more", l->count - shown);
}

/* ---- what is meant ---- */

/* The directory of a file, if that is a store. */
static char *store_of_file(const char *path, unsigned kinds)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char *directory = alloc_array(length + 2, 1);
    memcpy(directory, path, length);
    if (length == 0)
        directory[0] = slash ? '/' : '.';
    if (is_store(directory, kinds))
        return directory;
    free(directory);
    return NULL;
}

char *store_meant(const char *path, unsigned kinds)
{
    struct stat status;
    if (path[0] == '\0' || stat(path, &status) != 0)
        return NULL;
    if (S_ISREG(status.st_mode))
        return store_of_file(path, kinds);
    if (!S_ISDIR(status.st_mode))
        return NULL;
    if (is_store(path, kinds)) {
        size_t size = strlen(path) + 1;
        return memcpy(alloc_array(size, 1), path, size);
    }
    look l = look_into(path);
    look_only(&l, kinds);
    char *only = take_only(&l);
    look_free(&l);
    return only;
}

static void report_default(const look *l, unsigned kinds, const char *argument, const char *command)
{
    char list[2048];
    const char *word = word_of_kinds(kinds);
    const char *found = count_measurements(".") > 0 ? "." : l->measurements;
    char *measurements = found ? shell_quote(found, 0) : NULL;
    list_stores(list, sizeof list, l);
    if (l->is_cut)
        report("missing argument: %s; the current directory has too many entries to look for it (see 'lode "
               "help %s')",
               argument, command);
    else if (l->count > 0)
        report("missing argument: %s; the current directory has %zu %ss: %s", argument, l->count, word, list);
    else if (measurements && (kinds & FOR_DATABASES))
        report(
            "missing argument: %s; there is no %s in the current directory, but measurements of HPCToolkit: "
            "run 'lode build %s -o DATABASE' and open the result",
            argument, word, measurements);
    else
        report("missing argument: %s; there is no %s in the current directory (see 'lode help %s')", argument,
               word, command);
    free(measurements);
}

char *store_default(unsigned kinds, const char *argument, const char *command)
{
    if (is_store(".", kinds))
        return memcpy(alloc_array(2, 1), ".", 2);
    look l = look_into(".");
    look_only(&l, kinds);
    char *only = take_only(&l);
    if (!only && argument)
        report_default(&l, kinds, argument, command);
    look_free(&l);
    return only;
}

/* Metadata are in files of their own; others are read where they are needed. */
uint64_t store_bytes(const char *path)
{
    static const char *const names[] = {"meta.db", "experiment.xml"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *file = join(path, names[i]);
        struct stat status;
        if (stat(file, &status) == 0 && status.st_size > 0)
            bytes += (uint64_t)status.st_size;
        free(file);
    }
    return bytes;
}

/* ---- what is wrong ---- */

static int is_missing(const char *directory, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) != 0 && errno == ENOENT;
}

int store_unanalysed(const char *path)
{
    static const char may[] = "('lode info', 'lode check', 'lode dump' and 'lode export' take measurements)";
    size_t count = count_measurements(path);
    if (count == 0)
        return report(
            "%s: a measurement of HPCToolkit, not a database; run 'lode build' on its directory and "
            "open the result %s",
            path, may);
    char *quoted = shell_quote(path, 0);
    report("%s: %s of HPCToolkit (.hpcrun), not a database; run 'lode build %s -o "
           "DATABASE' and open the result %s",
           path, COUNTED(count, "measurement", "measurements"), quoted, may);
    free(quoted);
    return EXIT_TROUBLE;
}

/* A directory that is no store; often the one that is meant is near. */
static int report_no_store(const char *path, const lode_error *error)
{
    char list[2048];
    if (!is_missing(path, "experiment.xml"))
        return report("%s: an HPCToolkit database older than 4.0 (experiment.xml); not supported", path);
    look l = look_into(path);
    size_t count = l.count;
    list_stores(list, sizeof list, &l);
    look_free(&l);
    if (count == 1)
        return report("%s: not a database or recording; try %s", path, list);
    if (count > 1)
        return report("%s: not a database or recording, but a directory with %zu: %s", path, count, list);
    return report_error(path, error);
}

int store_unopened(const char *path, const lode_error *error)
{
    struct stat status;
    lode_store_kind kind;
    if (stat(path, &status) != 0)
        return report("%s: %s", path, errno == ENOENT ? "no such file or directory" : strerror(errno));
    if (error->status == LODE_ERR_ARGUMENT && probe(path, &kind) && kind == LODE_STORE_MEASUREMENTS)
        return store_unanalysed(path);
    if (!S_ISDIR(status.st_mode) && strncmp(error->text, "unknown store", 13) == 0)
        return report(
            "%s: neither a profile of pprof nor folded stacks, nor a directory with meta.db, info and "
            "task.txt, or traces.dat",
            path);
    if (error->status == LODE_ERR_UNSUPPORTED && is_missing(path, "meta.db") && is_missing(path, "info"))
        return report_no_store(path, error);
    return report_error(path, error);
}

static char *below(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* As the XDG base directory specification has it. */
char *store_cache(void)
{
    const char *named = getenv("LODE_CACHE"), *user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (named)
        return named[0] == '/' ? alloc_text(named) : NULL;
    if (user && user[0] == '/')
        return below(user, "lode");
    return home && home[0] == '/' ? below(home, ".cache/lode") : NULL;
}
