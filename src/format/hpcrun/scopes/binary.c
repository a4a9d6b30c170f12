/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts lode-symbols with open files and an empty environment, and collects what it writes. */
#include "format/hpcrun/scopes/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOWEST_FD = 16, /* above those that the process gets */
    PIECE = 1 << 16
};

/* Files that the process inherits, under numbers that do not collide with its own. */
struct files {
    int output, binary, offsets, debug;
};

static int raise_fd(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static bool write_all(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write(fd, (const char *)bytes + done, size - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

static int offsets_file(const uint64_t *offsets, uint32_t count)
{
    int fd = memfd_create("lode-offsets", MFD_CLOEXEC), raised = raise_fd(fd);
    close_fd(fd);
    if (raised >= 0 && !write_all(raised, offsets, count * sizeof *offsets)) {
        close(raised);
        raised = -1;
    }
    return raised;
}

static bool add_actions(posix_spawn_file_actions_t *actions, const struct files *files)
{
    bool done = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn_file_actions_adddup2(actions, files->output, SYMBOLS_OUTPUT_FD) == 0 &&
                posix_spawn_file_actions_adddup2(actions, files->binary, SYMBOLS_BINARY_FD) == 0 &&
                posix_spawn_file_actions_adddup2(actions, files->offsets, SYMBOLS_OFFSETS_FD) == 0;
    /* Whatever the caller has there is not meant. */
    return done &&
           (files->debug >= 0
                ? posix_spawn_file_actions_adddup2(actions, files->debug, SYMBOLS_DEBUG_FD) == 0
                : posix_spawn_file_actions_addopen(actions, SYMBOLS_DEBUG_FD, "/dev/null", O_RDONLY, 0) == 0);
}

bool lode_binary_start(const char *path, const char *mode, unsigned limit,
                       const posix_spawn_file_actions_t *actions, pid_t *pid)
{
    posix_spawnattr_t attributes;
    char megabytes[16], seconds[16], program[] = "lode-symbols", words[BINARY_MODE_SIZE];
    char *arguments[] = {program, megabytes, seconds, words, NULL}, *environment[] = {NULL};
    sigset_t all, none;
    snprintf(megabytes, sizeof megabytes, "%d", BINARY_MEGABYTES);
    snprintf(seconds, sizeof seconds, "%u", limit);
    snprintf(words, sizeof words, "%s", mode);
    if (posix_spawnattr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    bool started = posix_spawn(pid, path, actions, &attributes, arguments, environment) == 0;
    posix_spawnattr_destroy(&attributes);
    return started;
}

static bool start(const struct binary_request *request, const struct files *files, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    const char *debug = request->symbols_only ? "symbols" : files->debug >= 0 ? "beside" : "inside";
    char mode[BINARY_MODE_SIZE];
    snprintf(mode, sizeof mode, "%s%s", debug, request->is_all ? ",all" : request->has_loops ? ",loops" : "");
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool started = add_actions(&actions, files) &&
                   lode_binary_start(request->program, mode, BINARY_SECONDS, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

/* All that the process writes; false if it is too much, or out of memory. */
static bool collect(int fd, struct lode_blob *out)
{
    for (;;) {
        size_t at = lode_blob_extend(out, PIECE);
        if (at == LODE_BLOB_FULL || at > SYMBOLS_OUTPUT_MOST)
            return false;
        ssize_t got = read(fd, out->bytes + at, PIECE);
        out->size = at + (got > 0 ? (size_t)got : 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return got == 0;
    }
}

static void explain(struct binary_reply *reply, int status, bool is_whole)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const char *why = !is_whole                                ? "the answer is too long"
                      : code == SYMBOLS_NO_BINARY              ? BINARY_NOT_ELF
                      : code == SYMBOLS_NO_MEMORY              ? "it takes too much memory"
                      : signal == SIGXCPU || signal == SIGKILL ? "it takes too long"
                      : signal != 0 || code != 0               ? "reading it crashed"
                                                               : "the answer is not valid";
    snprintf(reply->why, sizeof reply->why, "%s", why);
}

static lode_status talk(struct binary_reply *reply, const struct binary_request *request, int reading,
                        pid_t pid)
{
    struct lode_blob output = {0};
    int status = 0;
    bool is_whole = collect(reading, &output);
    close(reading);
    if (!is_whole)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    bool is_sound = is_whole && status == 0 &&
                    lode_binary_parse(reply, (struct lode_range){output.bytes, output.size}, request);
    lode_blob_free(&output);
    if (!is_sound)
        explain(reply, status, is_whole);
    return is_sound ? LODE_OK : LODE_END;
}

lode_status lode_binary_ask(struct binary_reply *reply, const struct binary_request *request,
                            lode_error *error)
{
    int ends[2] = {-1, -1};
    pid_t pid;
    lode_binary_init(reply);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lode_fail_errno(error, request->program, "cannot start");
    struct files files = {.output = raise_fd(ends[1]),
                          .binary = raise_fd(request->binary),
                          .offsets = offsets_file(request->offsets, request->count),
                          .debug = raise_fd(request->debug)};
    close(ends[1]);
    bool started =
        files.output >= 0 && files.binary >= 0 && files.offsets >= 0 && start(request, &files, &pid);
    close_fd(files.output);
    close_fd(files.binary);
    close_fd(files.offsets);
    close_fd(files.debug);
    if (started)
        return talk(reply, request, ends[0], pid);
    close(ends[0]);
    snprintf(reply->why, sizeof reply->why, "%s", "the program that reads binaries does not start");
    return LODE_END;
}
