/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/* ---- starting ---- */

/* What this program changed for itself is as it was: ignored signals (interrupt.h), the mask. */
static int start(pid_t *pid, char *const *arguments, const posix_spawn_file_actions_t *actions,
                 const sigset_t *mask)
{
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    int code = posix_spawnattr_init(&attributes);
    if (code)
        return code;
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    code = posix_spawnp(pid, arguments[0], actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return code;
}

static int status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status_of(status);
}

/* ---- signals ---- */

/* Sends a signal to what a process has started; returns to how many. */
static size_t signal_children(pid_t parent, int number)
{
    char path[64], list[1024] = "";
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    FILE *file = fopen(path, "re");
    char *at = file ? fgets(list, sizeof list, file) : NULL;
    while (at) {
        char *end;
        long child = strtol(at, &end, 10);
        /* A blank follows each number, unless the list was cut there. */
        at = end != at && *end == ' ' ? end : NULL;
        count += at && child > 0 && kill((pid_t)child, number) == 0;
    }
    if (file)
        fclose(file);
    return count;
}

static void pass_on(pid_t tool, launch_target target, int number)
{
    if (target == TARGET_TOOL || signal_children(tool, number) == 0)
        kill(tool, number);
}

/* A tool ends what it records if it is interrupted; a program ends without a word. */
static void end(pid_t tool, launch_target target)
{
    pass_on(tool, target, target == TARGET_TOOL ? SIGINT : SIGTERM);
}

/* Signals that were ignored stay ignored, by the tool and its program, too. */
static void list_signals(sigset_t *set)
{
    struct sigaction action;
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (sigaction(passed[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, passed[i]);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The next signal, or 0 when the time is over. */
static int next_signal(const sigset_t *set, uint64_t deadline, siginfo_t *info)
{
    for (;;) {
        uint64_t time = now(), left = deadline > time ? deadline - time : 0;
        struct timespec wait = {.tv_sec = (time_t)(left / 1000000000u),
                                .tv_nsec = (long)(left % 1000000000u)};
        int number = deadline ? sigtimedwait(set, info, &wait) : sigwaitinfo(set, info);
        if (number > 0)
            return number;
        if (errno == EAGAIN)
            return 0;
    }
}

/* The terminal sends its signals to the whole process group; others send them to us alone. */
static void wait_and_pass(pid_t tool, const sigset_t *set, const launch_settings *settings,
                          launch_result *result)
{
    uint64_t deadline = settings->nanoseconds ? now() + settings->nanoseconds : 0;
    int status = 0;
    while (waitpid(tool, &status, WNOHANG) == 0) {
        siginfo_t info;
        int number = next_signal(set, deadline, &info);
        if (number == 0) {
            result->is_timed_out = 1;
            deadline = 0;
            end(tool, settings->target);
        } else if (number != SIGCHLD) {
            if (number != SIGUSR1 && number != SIGUSR2)
                result->signal = number;
            if (info.si_code <= 0)
                pass_on(tool, settings->target, number);
        }
    }
    result->status = status_of(status);
}

void launch_run(char *const *arguments, const launch_settings *settings, launch_result *result)
{
    posix_spawn_file_actions_t actions;
    sigset_t set, before;
    pid_t pid;
    *result = (launch_result){0};
    list_signals(&set);
    /* A program that asked for it would never see the end of its children. */
    signal(SIGCHLD, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    posix_spawn_file_actions_init(&actions);
    if (settings->is_message)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    result->code = start(&pid, arguments, &actions, &before);
    posix_spawn_file_actions_destroy(&actions);
    if (result->code == 0)
        wait_and_pass(pid, &set, settings, result);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- small programs ---- */

static int start_quietly(pid_t *pid, char *const *arguments, int output)
{
    posix_spawn_file_actions_t actions;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int code = start(pid, arguments, &actions, &none);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int launch_read(char *const *arguments, char *line, size_t size)
{
    int ends[2];
    pid_t pid;
    size_t used = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    int code = start_quietly(&pid, arguments, ends[1]);
    close(ends[1]);
    while (code == 0 && used + 1 < size) {
        ssize_t count = read(ends[0], line + used, size - used - 1);
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    close(ends[0]);
    line[used] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return code == 0 && wait_for(pid) == 0;
}

int launch_status(char *const *arguments)
{
    pid_t pid;
    return start_quietly(&pid, arguments, -1) == 0 ? wait_for(pid) : -1;
}
