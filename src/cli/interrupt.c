/* SPDX-License-Identifier: BSD-3-Clause */
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING_COUNT (sizeof ending / sizeof *ending)

static volatile sig_atomic_t is_held, noted;

/* The file that is to be removed. */
static const char *volatile file_name;
static volatile int file_folder = -1;

static void remove_file(void)
{
    if (file_name)
        unlinkat(file_folder, file_name, 0);
}

static void on_signal(int number)
{
    noted = number;
    if (is_held)
        return;
    remove_file();
    signal(number, SIG_DFL);
    raise(number);
}

/*
 * Who presses Ctrl-C twice does not want to wait. Schedulers send SIGTERM more than once, and
 * SIGKILL to those who take too long.
 */
static void catch_signals(void)
{
    struct sigaction before;
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        if (ending[i] == SIGINT)
            action.sa_flags |= (int)SA_RESETHAND;
        sigemptyset(&action.sa_mask);
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

void interrupt_init(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
            break;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void interrupt_hold(void)
{
    is_held = 1;
    catch_signals();
}

int interrupt_is_due(void)
{
    return is_held && noted;
}

int interrupt_leave(int status)
{
    if (!interrupt_is_due())
        return status;
    signal(noted, SIG_DFL);
    raise(noted);
    return status;
}

int interrupt_create(int folder, char *name, int (*create)(int folder, char *name))
{
    sigset_t all, before;
    sigemptyset(&all);
    for (size_t i = 0; i < ENDING_COUNT; i++)
        sigaddset(&all, ending[i]);
    sigprocmask(SIG_BLOCK, &all, &before);
    int fd = create(folder, name);
    int code = errno;
    if (fd >= 0) {
        file_folder = folder;
        file_name = name;
        catch_signals();
        atexit(remove_file);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return fd;
}

void interrupt_keep(void)
{
    file_name = NULL;
}
