/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statements of SQL: POST /api/1/sql/STORE, with the statements as the body. They run in a process
 * of their own, as 'lode sql --json --file -': one call of printf() in a statement may take hours,
 * and only the end of a process ends it.
 */
#include "view/statement.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROWS_MOST       "1000"
#define STATEMENT_TIME  "10s"
#define MEMORY_MOST     "256M"
#define PROCESS_SECONDS 60 /* with the time to open the store */
#define OUTPUT_MOST     ((off_t)16 << 20)
#define MESSAGE_MOST    ((size_t)4096)
#define LOOK_NS         5000000

extern char **environ;

/* Files in memory: what the process reads, and what it writes. */
typedef struct files {
    int input, output, messages;
} files;

static void close_files(files *f)
{
    int *all[] = {&f->input, &f->output, &f->messages};
    for (size_t i = 0; i < 3; i++)
        if (*all[i] >= 0)
            close(*all[i]);
}

static int open_files(files *f, const char *text, size_t size)
{
    *f = (files){memfd_create("statement", MFD_CLOEXEC), memfd_create("rows", MFD_CLOEXEC),
                 memfd_create("messages", MFD_CLOEXEC)};
    if (f->input < 0 || f->output < 0 || f->messages < 0)
        return -1;
    /* The process reads from the beginning. */
    return pwrite(f->input, text, size, 0) == (ssize_t)size ? 0 : -1;
}

/* ---- the process ---- */

static int start(pid_t *pid, const files *f, char *const *arguments)
{
    return process_start(pid, &(process_settings){.program = "/proc/self/exe",
                                                  .arguments = arguments,
                                                  .variables = environ,
                                                  .input = f->input,
                                                  .output = f->output,
                                                  .messages = f->messages});
}

/* Why a process has to end; NULL: it may go on. */
static const char *reason_to_end(const files *f, const view_request *request, time_t begin)
{
    struct stat found;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (request->is_gone && request->is_gone(request->connection))
        return "the request was given up";
    if (fstat(f->output, &found) == 0 && found.st_size > OUTPUT_MOST)
        return "the rows have more than 16 MiB; ask for fewer";
    return now.tv_sec - begin > PROCESS_SECONDS ? "the statement took too long" : NULL;
}

/* Waits for the end of the process. NULL: it ended by itself, with *status. */
static const char *wait_for(pid_t pid, const files *f, const view_request *request, int *status)
{
    struct timespec begin;
    struct rlimit limit = {PROCESS_SECONDS, PROCESS_SECONDS};
    const char *reason = NULL;
    prlimit(pid, RLIMIT_CPU, &limit, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        pid_t ended = waitpid(pid, status, reason ? 0 : WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return reason;
        if (!reason && (reason = reason_to_end(f, request, begin.tv_sec)))
            kill(pid, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

/* ---- its answer ---- */

/* All of a file, at most `most` bytes, with a NUL; NULL: out of memory. */
static char *read_all(int file, size_t most, size_t *size)
{
    struct stat found;
    *size = fstat(file, &found) == 0 && found.st_size > 0 ? (size_t)found.st_size : 0;
    *size = *size < most ? *size : most;
    char *text = calloc(*size + 1, 1);
    if (!text)
        return NULL;
    ssize_t read = *size ? pread(file, text, *size, 0) : 0;
    *size = read > 0 ? (size_t)read : 0;
    return text;
}

static void give_rows(view_answer *answer, view_server *server, const files *f)
{
    view_call call;
    view_call_begin(&call, server, NULL);
    call.output.bytes = read_all(f->output, (size_t)OUTPUT_MOST, &call.output.used);
    if (call.output.bytes)
        view_give_output(answer, &call, 200);
    view_call_end(&call);
    if (!answer->body)
        view_give_error(answer, server, 500, "out of memory");
}

/* The first line that the process said, without the name of the program. */
static void give_message(view_answer *answer, view_server *server, const files *f)
{
    static const char name[] = "lode: ";
    size_t size;
    char *text = read_all(f->messages, MESSAGE_MOST, &size);
    char *first = text && strncmp(text, name, sizeof name - 1) == 0 ? text + sizeof name - 1 : text;
    if (first)
        first[strcspn(first, "\n")] = '\0';
    view_give_error(answer, server, 400, first && first[0] ? first : "the statement failed");
    free(text);
}

/* As a path: a name with '=' would be one of a store with a name. */
static char *path_of(const char *store)
{
    char *path = NULL;
    return asprintf(&path, "%s%s", store[0] == '/' ? "" : "./", store) < 0 ? NULL : path;
}

static void run(view_answer *answer, view_server *server, const view_request *request, const files *f,
                const char *path)
{
    const char *words[] = {"lode",
                           "sql",
                           "--json",
                           "--file",
                           "-",
                           "--limit",
                           ROWS_MOST,
                           "--timeout",
                           STATEMENT_TIME,
                           "--memory",
                           MEMORY_MOST,
                           "--kinds",
                           server->kinds_path ? server->kinds_path : "",
                           "--",
                           path,
                           NULL};
    char *arguments[sizeof words / sizeof *words];
    size_t count = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!server->kinds_path && words[i] && strcmp(words[i], "--kinds") == 0)
            i += 2;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): nobody writes to them */
        arguments[count++] = (char *)(uintptr_t)words[i];
    }
    pid_t pid;
    int status = 0;
    if (start(&pid, f, arguments) != 0) {
        view_give_error(answer, server, 500, "no process can be started");
        return;
    }
    const char *reason = wait_for(pid, f, request, &status);
    if (reason)
        view_give_error(answer, server, 400, reason);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        give_rows(answer, server, f);
    else
        give_message(answer, server, f);
}

void view_run_statement(view_answer *answer, view_server *server, const view_request *request,
                        const char *store)
{
    files f;
    char *path = path_of(store);
    if (path && open_files(&f, request->body, request->body_size) == 0)
        run(answer, server, request, &f, path);
    else
        view_give_error(answer, server, 500, "out of memory");
    if (path)
        close_files(&f);
    free(path);
}
