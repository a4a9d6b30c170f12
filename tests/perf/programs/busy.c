/* SPDX-License-Identifier: BSD-3-Clause */
/* busy [threads | fork | forever]: works for 0.2 s, or on and on, in functions never inlined. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void inner(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        sink += i * i;
}

__attribute__((noinline)) static void outer(unsigned long count)
{
    for (unsigned i = 0; i < 10; i++) {
        inner(count);
        sink++;
    }
}

static void *work(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 8; i++) {
        outer(500000);
        usleep(2000);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[3];
    if (count > 1 && strcmp(arguments[1], "threads") == 0) {
        for (unsigned i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (unsigned i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    if (count > 1 && strcmp(arguments[1], "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            execl("/proc/self/exe", "other", (char *)NULL);
        work(NULL);
        waitpid(child, NULL, 0);
        return 0;
    }
    do {
        work(NULL);
    } while (count > 1 && strcmp(arguments[1], "forever") == 0);
    return 0;
}
