/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs that a server could not take: a job must neither fail nor wait for it. Each is a catalogue
 * of one run, a file whose name is what the server will recognise the run by. Each server and
 * project has a directory of its own.
 */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "output/out.h"
#include "output/report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX      ".run"
#define HEX_SIZE    ((size_t)2 * RUN_IDENTITY_SIZE)
#define FILES_MAX   10000 /* a server that never returns does not fill the disk */
#define WITH_AN_ADD 16    /* that the next add delivers */

/* ---- names ---- */

static char *join(const char *first, const char *second, const char *third)
{
    size_t size = strlen(first) + strlen(second) + strlen(third) + 1;
    char *text = alloc_array(size, 1);
    snprintf(text, size, "%s%s%s", first, second, third);
    return text;
}

static void to_hex(const unsigned char bytes[RUN_IDENTITY_SIZE], char hex[HEX_SIZE + 1])
{
    for (size_t i = 0; i < RUN_IDENTITY_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

/* 0: not the name of a run. */
static int of_name(const char *name, unsigned char bytes[RUN_IDENTITY_SIZE])
{
    if (strlen(name) != HEX_SIZE + sizeof SUFFIX - 1 || strcmp(name + HEX_SIZE, SUFFIX) != 0 ||
        strspn(name, "0123456789abcdef") != HEX_SIZE)
        return 0;
    for (size_t i = 0; i < RUN_IDENTITY_SIZE; i++) {
        char pair[3] = {name[2 * i], name[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return 1;
}

/* LODE_SPOOL names the directory, or no spool if it is empty. */
static char *base_directory(void)
{
    const char *named = getenv("LODE_SPOOL");
    if (named)
        return named[0] ? runs_copy(named) : NULL;
    char *data = runs_data_directory(), *base = data ? join(data, "/spool", "") : NULL;
    free(data);
    return base;
}

char *runs_spool(const char *address, const runs_options *options)
{
    unsigned char identity[RUN_IDENTITY_SIZE];
    char hex[HEX_SIZE + 1];
    const char *project = runs_project(options);
    char *base = catalogue_is_server(address) ? base_directory() : NULL;
    if (!base)
        return NULL;
    char *meant = join(address, "\n", project ? project : "");
    catalogue_identity(&(run_record){.path = meant}, RUN_OF_SAME_ADD, identity);
    to_hex(identity, hex);
    char *folder = join(base, "/", hex);
    free(meant);
    free(base);
    return folder;
}

/* ---- putting ---- */

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

/* Complete when it has its name: a rename is all or nothing. */
static int write_file(const char *folder, const char *hex, run_record *run)
{
    char process[32];
    catalogue *c = NULL;
    catalogue_error error;
    snprintf(process, sizeof process, ".%ld.new", (long)getpid());
    char *stem = join(folder, "/.", hex), *temporary = join(stem, process, "");
    char *path = join(folder, "/", hex), *final = join(path, SUFFIX, "");
    unlink(temporary);
    int status = catalogue_open(&c, temporary, CATALOGUE_WRITE, &error) == 0 &&
                         catalogue_add(c, run, RUN_NEVER_SAME, &error) == 0
                     ? EXIT_DONE
                     : runs_failed(&error);
    catalogue_close(c);
    if (status == EXIT_DONE && rename(temporary, final) != 0)
        status = report("%s: %s", final, strerror(errno));
    if (status != EXIT_DONE)
        unlink(temporary);
    free(stem);
    free(temporary);
    free(path);
    free(final);
    return status;
}

static void say_spooled(const invocation *call, const char *folder, const run_record *run, const char *why)
{
    out *o = call->out;
    char *path = runs_catalogue_path(call->options);
    out_begin(o, SCHEMA_RUNS_SPOOL, NULL);
    OUT_FIELDS(o, "catalogue", path, "path", run->path, "spool", folder, "reason", why);
    out_say(o, "%s", why);
    out_say(o, "the run waits in %s; 'lode runs flush' or the next 'lode runs add' delivers it", folder);
    out_end(o);
    free(path);
}

int runs_spool_add(const invocation *call, const char *folder, const run_record *run, run_sameness sameness,
                   const char *why)
{
    unsigned char identity[RUN_IDENTITY_SIZE];
    char hex[HEX_SIZE + 1];
    run_record record = *run;
    char *inside = join(folder, "/", ""); /* all directories up to the last slash */
    int status = runs_make_folders(inside);
    free(inside);
    if (status == EXIT_DONE && count_files(folder) >= FILES_MAX)
        status = report("%s; and %s is full, with %d runs", why, folder, FILES_MAX);
    if (status != EXIT_DONE)
        return status;
    catalogue_identity(run, sameness, identity);
    to_hex(identity, hex);
    status = write_file(folder, hex, &record);
    if (status == EXIT_DONE)
        say_spooled(call, folder, run, why);
    return status;
}

/* ---- delivering ---- */

typedef struct delivery {
    catalogue *to;
    unsigned char identity[RUN_IDENTITY_SIZE];
    catalogue_error error;
    uint64_t delivered, failed, left;
} delivery;

static int deliver_record(void *user, const run_record *run)
{
    delivery *d = user;
    run_record record = *run;
    record.identity = d->identity;
    return catalogue_add(d->to, &record, RUN_OF_SAME_STORE, &d->error) < 0;
}

/* 0: the server has it; -1 and the error. */
static int deliver_file(delivery *d, const char *path)
{
    catalogue *from = NULL;
    run_set set = {NULL, 0, NULL, 0, 0};
    const run_filter all = {.limit = 1};
    d->error = (catalogue_error){{0}, 0};
    int status = catalogue_open(&from, path, CATALOGUE_READ, &d->error);
    if (status == 0)
        status = catalogue_runs(from, &all, &set, &d->error);
    if (status == 0 && set.count == 1)
        status = catalogue_read(from, set.runs[0], deliver_record, d, &d->error);
    run_set_free(&set);
    catalogue_close(from);
    if (status == 0)
        unlink(path);
    return status;
}

/* Not 0 ends it: the server is away. */
static int deliver_one(delivery *d, const char *folder, const char *name, int is_quiet)
{
    char *path = join(folder, "/", name);
    int status = deliver_file(d, path);
    d->delivered += status == 0;
    d->failed += status != 0;
    if (status != 0 && !is_quiet)
        report("%s: %s", name, d->error.text);
    free(path);
    return status != 0 && d->error.is_away;
}

static void deliver(delivery *d, const char *folder, uint64_t limit, int is_quiet)
{
    DIR *directory = opendir(folder);
    int is_over = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (!of_name(entry->d_name, d->identity))
            continue;
        if (is_over || d->delivered + d->failed >= limit)
            d->left++;
        else
            is_over = deliver_one(d, folder, entry->d_name, is_quiet);
    }
    if (directory)
        closedir(directory);
}

void runs_spool_deliver(catalogue *c, const char *folder)
{
    delivery d = {.to = c};
    deliver(&d, folder, WITH_AN_ADD, 1);
}

int runs_flush(const invocation *call)
{
    delivery d = {.to = NULL};
    char *address = runs_catalogue_path(call->options);
    if (!address)
        return EXIT_TROUBLE;
    char *folder = runs_spool(address, call->options);
    int status = EXIT_DONE;
    if (!folder)
        status = report(catalogue_is_server(address)
                            ? "there is no spool: LODE_SPOOL is empty"
                            : "a file needs no spool: 'lode runs flush' is for the catalogue of a server");
    if (status == EXIT_DONE)
        status = runs_open_at(&d.to, address, call->options, CATALOGUE_WRITE);
    if (status == EXIT_DONE) {
        out *o = call->out;
        deliver(&d, folder, UINT64_MAX, 0);
        out_begin(o, SCHEMA_RUNS_FLUSH, NULL);
        OUT_FIELDS(o, "catalogue", address, "spool", folder, "delivered_count", d.delivered, "left_count",
                   d.failed + d.left);
        out_say(o, "%s delivered to %s", COUNTED(d.delivered, "run", "runs"), address);
        if (d.failed + d.left)
            out_say(o, "%s left in %s", COUNTED(d.failed + d.left, "run is", "runs are"), folder);
        out_end(o);
        status = d.failed ? EXIT_TROUBLE : EXIT_DONE;
    }
    catalogue_close(d.to);
    free(folder);
    free(address);
    return status;
}
