/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a database and says how long each phase took:
 * synth_phases DIRECTORY PROFILES CONTEXTS SAMPLES MEMORY THREADS wall|processor
 */
#include <lode/unstable/synth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct phases {
    const char *phase;
    double began, last;
};

static clockid_t clock_id = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec time;
    clock_gettime(clock_id, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A phase lasts from the end of the one before to its last report. */
static int note_phase(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct phases *phases = user;
    (void)done;
    (void)total;
    if (phases->phase == NULL || strcmp(phases->phase, phase) != 0) {
        if (phases->phase) {
            printf("%s %.3f\n", phases->phase, phases->last - phases->began);
            phases->began = phases->last;
        }
        phases->phase = phase;
    }
    phases->last = now();
    return 0;
}

int main(int count, char **arguments)
{
    lode_synth_options options = LODE_SYNTH_OPTIONS_INIT;
    lode_error error = {0};
    if (count != 8) {
        fprintf(stderr,
                "usage: synth_phases DIRECTORY PROFILES CONTEXTS SAMPLES MEMORY THREADS wall|processor\n");
        return 2;
    }
    if (strcmp(arguments[7], "processor") == 0)
        clock_id = CLOCK_PROCESS_CPUTIME_ID;
    struct phases phases = {.began = now()};
    options.profiles = (uint32_t)strtoul(arguments[2], NULL, 10);
    options.contexts = (uint32_t)strtoul(arguments[3], NULL, 10);
    options.samples = (uint32_t)strtoul(arguments[4], NULL, 10);
    options.memory = strtoull(arguments[5], NULL, 10);
    options.threads = (unsigned)strtoul(arguments[6], NULL, 10);
    options.force = 1;
    options.on_progress = note_phase;
    options.user = &phases;
    if (lode_synth_database(arguments[1], &options, &error) != LODE_OK) {
        fprintf(stderr, "%s: %s\n", error.file, error.text);
        return 1;
    }
    printf("%s %.3f\nending %.3f\n", phases.phase ? phases.phase : "", phases.last - phases.began,
           now() - phases.last);
    return 0;
}
