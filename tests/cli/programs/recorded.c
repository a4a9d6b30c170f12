/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What 'lode record' records in tests: recorded work|exit N|signal N|wait|read. It works for a
 * moment in functions that call each other, and then does what it is told to.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS  40
#define PATIENT 60 /* seconds; whoever waits is ended before */

static volatile double sum;

__attribute__((noinline)) static void inner(int count)
{
    for (int i = 1; i < count; i++)
        sum += 1.0 / i;
}

__attribute__((noinline)) static void outer(int count)
{
    for (int i = 0; i < 10; i++)
        inner(count + i);
}

/* What comes from standard input, and where the streams lead. */
static int read_all(void)
{
    char line[256];
    printf("terminals %d %d %d\n", isatty(0), isatty(1), isatty(2));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        printf("read %s", line);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "work";
    int number = argc > 2 ? atoi(argv[2]) : 0;
#pragma omp parallel for
    for (int i = 0; i < ROUNDS; i++)
        outer(20000);
    if (strcmp(mode, "signal") == 0)
        raise(number);
    if (strcmp(mode, "wait") == 0) {
        printf("ready %d\n", (int)getpid());
        fflush(stdout);
        sleep(PATIENT);
    }
    if (strcmp(mode, "read") == 0)
        return read_all();
    puts("done");
    return strcmp(mode, "exit") == 0 ? number : 0;
}
