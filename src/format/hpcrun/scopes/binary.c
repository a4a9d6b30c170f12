/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts lode-symbols with an empty environment, gives it files, and collects what it writes. */
#include "format/hpcrun/scopes/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16
};

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool lode_binary_write(int fd, const void *bytes, size_t size)
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
    int fd = memfd_create("lode-offsets", MFD_CLOEXEC);
    if (fd >= 0 && !lode_binary_write(fd, offsets, count * sizeof *offsets)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- the process ---- */

bool lode_binary_start(const char *path, const char *mode, unsigned limit,
                       const posix_spawn_file_actions_t *actions, pid_t *pid)
{
    posix_spawnattr_t attributes;
    char megabytes[16], seconds[16], program[] = "lode-symbols", words[SYMBOLS_MODE_SIZE];
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

static bool spawn(struct binary_helper *helper, int socket)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool started = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                   posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, socket, SYMBOLS_SOCKET_FD) == 0 &&
                   lode_binary_start(helper->program, "serve", BINARY_SECONDS, &actions, &helper->pid);
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

static bool start(struct binary_helper *helper)
{
    int ends[2];
    if (helper->socket >= 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    /* Above the number that it gets: a file that is already there would not stay open. */
    int other = fcntl(ends[1], F_DUPFD_CLOEXEC, SYMBOLS_SOCKET_FD + 1);
    bool started = other >= 0 && spawn(helper, other);
    close_fd(other);
    close(ends[1]);
    if (started)
        helper->socket = ends[0];
    else
        close(ends[0]);
    return started;
}

void lode_binary_helper_close(struct binary_helper *helper)
{
    int status;
    if (helper->socket < 0)
        return;
    close(helper->socket);
    helper->socket = -1;
    kill(helper->pid, SIGKILL);
    while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR) {
    }
}

static bool send_request(const struct binary_helper *helper, const char *mode, const int files[SYMBOLS_FILES])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(SYMBOLS_FILES * sizeof(int))];
    } control = {0};
    char words[SYMBOLS_MODE_SIZE] = {0};
    struct iovec part = {words, sizeof words};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    snprintf(words, sizeof words, "%s", mode);
    *first = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(SYMBOLS_FILES * sizeof(int))};
    memcpy(CMSG_DATA(first), files, SYMBOLS_FILES * sizeof(int));
    return sendmsg(helper->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof words;
}

/* Sends a request; a helper that has ended starts again. */
static bool order(struct binary_helper *helper, const char *mode, const int files[SYMBOLS_FILES])
{
    if (!start(helper))
        return false;
    if (send_request(helper, mode, files))
        return true;
    lode_binary_helper_close(helper);
    return start(helper) && send_request(helper, mode, files);
}

/* How the process that read the binary ended; a helper that cannot say has crashed. */
static int receive_status(struct binary_helper *helper)
{
    int status;
    ssize_t size;
    do
        size = recv(helper->socket, &status, sizeof status, 0);
    while (size < 0 && errno == EINTR);
    if (size == (ssize_t)sizeof status)
        return status;
    lode_binary_helper_close(helper);
    return SIGABRT;
}

/* ---- answers ---- */

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

static lode_status talk(struct binary_reply *reply, const struct binary_request *request, int reading)
{
    struct lode_blob output = {0};
    bool is_whole = collect(reading, &output);
    /* A process that writes on ends by a signal, and one that does not when time is up. */
    close(reading);
    int status = receive_status(request->helper);
    bool is_sound = is_whole && status == 0 &&
                    lode_binary_parse(reply, (struct lode_range){output.bytes, output.size}, request);
    if (is_sound && request->raw)
        *request->raw = output;
    else
        lode_blob_free(&output);
    if (!is_sound)
        explain(reply, status, is_whole);
    return is_sound ? LODE_OK : LODE_END;
}

lode_status lode_binary_ask(struct binary_reply *reply, const struct binary_request *request,
                            lode_error *error)
{
    const char *debug = request->symbols_only ? "symbols" : request->debug >= 0 ? "beside" : "inside";
    char mode[SYMBOLS_MODE_SIZE];
    int ends[2];
    snprintf(mode, sizeof mode, "%s%s", debug, request->is_all ? ",all" : request->has_loops ? ",loops" : "");
    lode_binary_init(reply);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lode_fail_errno(error, request->helper->program, "cannot start");
    int offsets = offsets_file(request->offsets, request->count);
    int files[SYMBOLS_FILES] = {request->binary, offsets,
                                request->debug >= 0 ? request->debug : request->binary, ends[1]};
    bool is_sent = offsets >= 0 && order(request->helper, mode, files);
    close_fd(offsets);
    close(ends[1]);
    if (is_sent)
        return talk(reply, request, ends[0]);
    close(ends[0]);
    snprintf(reply->why, sizeof reply->why, "%s", "the program that reads binaries does not start");
    return LODE_END;
}
