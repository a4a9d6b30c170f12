/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member of a crew that crew.py starts many of:
 *   crew_member PLUGIN checks FILE        all that holds for any crew, and writes a file together
 *   crew_member PLUGIN fail WAIT RANK     one member fails while the others wait in an operation
 *   crew_member PLUGIN die WAIT RANK      one member is killed
 */
#include "crew_checks.h"
#include <lode/crew.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FAILED = 3
};

struct arguments {
    const char *what, *name;
    uint32_t rank;
};

static lode_status check(struct lode_crew *crew, const struct arguments *arguments, lode_error *error)
{
    unsigned count = 0;
    LODE_TRY(crew_check_all(crew, &count, error));
    LODE_TRY(crew_check_file(crew, arguments->name, error));
    if (crew->place.rank == 0)
        printf("%u checks hold for %u members of %s, %u of them here\n", count + 1, crew->place.size,
               crew->ops->name, crew->place.local);
    return LODE_OK;
}

static lode_status wait_in(struct lode_crew *crew, const char *name, lode_error *error)
{
    for (size_t i = 0; i < crew_wait_count; i++)
        if (strcmp(crew_waits[i].name, name) == 0)
            return crew_waits[i].run(crew, error);
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "no operation %s", name);
}

static lode_status fail_or_wait(struct lode_crew *crew, const struct arguments *arguments, lode_error *error)
{
    LODE_TRY(lode_crew_meet(crew, error));
    if (crew->place.rank != arguments->rank)
        return wait_in(crew, arguments->name, error);
    nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
    if (strcmp(arguments->what, "die") == 0)
        raise(SIGKILL);
    return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "no room at member %u", crew->place.rank);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    lode_crew *crew;
    lode_error error = {0};
    if (argc < 4)
        return 2;
    arguments.what = argv[2];
    arguments.name = argv[3];
    arguments.rank = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
    lode_status status = lode_crew_join(&crew, argv[1], &error);
    if (status != LODE_OK) {
        fprintf(stderr, "cannot join: %s: %s\n", error.file, error.text);
        return 2;
    }
    status = strcmp(arguments.what, "checks") == 0 ? check(crew, &arguments, &error)
                                                   : fail_or_wait(crew, &arguments, &error);
    if (status != LODE_OK) {
        lode_crew_raise(crew, status, &error);
        if (lode_crew_rank(crew) == 0)
            fprintf(stderr, "member 0 says: %s\n", error.text);
        lode_crew_abort(crew, FAILED);
    }
    lode_crew_leave(crew);
    return status == LODE_OK ? 0 : FAILED;
}
