/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy [threads | fork | forever | dlopen LIBRARY...]: works for 0.2 s, or on and on, in functions
 * never inlined; with libraries, in one after the other, each closed before the next.
 */
#include <dlfcn.h>
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

static int work_in(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void *found = library ? dlsym(library, "plugin_work") : NULL;
    void (*function)(unsigned long);
    if (found == NULL)
        return 1;
    memcpy(&function, &found, sizeof function);
    function(20000000);
    return dlclose(library);
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
    if (count > 2 && strcmp(arguments[1], "dlopen") == 0) {
        for (int i = 0; i < 6; i++)
            if (work_in(arguments[2 + i % (count - 2)]) != 0)
                return 1;
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
