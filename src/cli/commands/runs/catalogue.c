/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the catalogue is, and which of its runs are meant. */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "output/report.h"
#include "text/calendar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

int runs_failed(const catalogue_error *error)
{
    return report("%s", error->text);
}

/* ---- the file ---- */

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = alloc_array(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* As the XDG base directory specification has it. */
char *runs_data_directory(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && data[0] == '/')
        return join(data, "lode");
    return home && home[0] == '/' ? join(home, ".local/share/lode") : NULL;
}

/* The one that is named; NULL: the usual one. */
static const char *named_catalogue(const runs_options *options)
{
    const char *named = getenv("LODE_CATALOGUE");
    return options->catalogue ? options->catalogue : named && named[0] ? named : NULL;
}

char *runs_catalogue_path(const runs_options *options)
{
    if (named_catalogue(options))
        return runs_copy(named_catalogue(options));
    char *folder = runs_data_directory();
    if (!folder) {
        report("there is no home directory for a catalogue: use --catalogue FILE (see 'lode help runs')");
        return NULL;
    }
    char *path = join(folder, "runs.sqlite");
    free(folder);
    return path;
}

int runs_make_folders(const char *path)
{
    char *folder = runs_copy(path);
    for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
            int status = report("%s: %s", folder, strerror(errno));
            free(folder);
            return status;
        }
        *at = '/';
    }
    free(folder);
    return EXIT_DONE;
}

int runs_open_at(catalogue **c, const char *address, const runs_options *options, catalogue_mode mode)
{
    catalogue_error error;
    *c = NULL;
    if (catalogue_is_server(address))
        return runs_open_server(c, address, options, 0);
    return catalogue_open(c, address, mode, &error) == 0 ? EXIT_DONE : runs_failed(&error);
}

int runs_open(catalogue **c, const runs_options *options, catalogue_mode mode)
{
    *c = NULL;
    char *path = runs_catalogue_path(options);
    int status = path ? EXIT_DONE : EXIT_TROUBLE;
    if (status == EXIT_DONE && mode == CATALOGUE_WRITE && !named_catalogue(options) && catalogue_library())
        status = runs_make_folders(path);
    if (status == EXIT_DONE)
        status = runs_open_at(c, path, options, mode);
    free(path);
    return status;
}

int runs_try(const char *address, const char *project)
{
    const runs_options options = {.catalogue = address, .project = project};
    catalogue *c = NULL;
    int status = runs_open(&c, &options, CATALOGUE_READ);
    catalogue_close(c);
    return status;
}

/* ---- times ---- */

uint64_t runs_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* "30d": that long ago. */
static int parse_age(const char *text, uint64_t *nanoseconds)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return 0;
    errno = 0;
    unsigned long long count = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units && errno == 0; i++)
        if (end[0] == units[i].unit && end[1] == '\0') {
            uint64_t now = runs_now(), most = now / SECOND / units[i].seconds;
            *nanoseconds = count > most ? 0 : now - count * units[i].seconds * SECOND;
            return 1;
        }
    return 0;
}

int runs_time(const char *option, const char *text, uint64_t *nanoseconds)
{
    calendar_time time;
    uint64_t now = runs_now();
    if (parse_age(text, nanoseconds))
        return EXIT_DONE;
    if (calendar_is_meant(text) && calendar_parse(text, &time) &&
        calendar_resolve(&time, now - 86400 * SECOND, now, nanoseconds))
        return EXIT_DONE;
    return report(
        "--%s is a date, such as 2026-03-02 or 2026-03-02T09:00Z, or a time ago, such as 30d or 12h, "
        "not '%s' (see 'lode help runs')",
        option, text);
}

int runs_filter(run_filter *filter, runs_labels *labels, const runs_options *options)
{
    *filter = (run_filter){.limit = options->shared.limit == RUNS_NO_LIMIT ? 0 : options->shared.limit};
    *labels = (runs_labels){.count = 0};
    if (runs_labels_parse(labels, &options->labels, 1) != EXIT_DONE)
        return EXIT_TROUBLE;
    filter->labels = labels->items;
    filter->label_count = labels->count;
    if (options->since && runs_time("since", options->since, &filter->from) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (options->until && runs_time("until", options->until, &filter->to) != EXIT_DONE)
        return EXIT_TROUBLE;
    return EXIT_DONE;
}
