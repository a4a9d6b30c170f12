/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/files/archive.h"

#include "base/io/beneath.h"
#include "format/hpcrun/scopes/binary.h"
#include "format/perf/read/rules.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SECONDS = 120,  /* of processor time: bzip2 unpacks about 25 MB in one */
    LOWEST_FD = 16, /* above those that the helper gets */
    PIECE = 1 << 16
};

#define BYTES_MOST (UINT64_C(4) << 30) /* of all files */

/* Where a file is in the temporary file. */
struct perf_archived {
    uint64_t offset, size; /* size 0: there is none */
};

void lode_perf_archive_init(struct perf_archive *archive)
{
    *archive = (struct perf_archive){.spool = LODE_SPOOL_INIT};
}

void lode_perf_archive_free(struct perf_archive *archive)
{
    free(archive->wanted);
    free(archive->files);
    lode_spool_close(&archive->spool);
}

/* ---- build ids ---- */

static int compare(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct archive_wanted));
}

static struct archive_wanted wanted_of(const struct perf_build_id *id)
{
    struct archive_wanted wanted = {.size = id->size};
    memcpy(wanted.id, id->bytes, id->size);
    return wanted;
}

/* Build ids of files and of the kernel: each once, sorted. */
static bool list_wanted(struct perf_archive *self, const struct perf_replay *replay)
{
    size_t count = replay->modules.items.count, kept = 0;
    self->wanted = calloc(count + 1, sizeof *self->wanted);
    self->files = calloc(count + 1, sizeof *self->files);
    if (self->wanted == NULL || self->files == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct perf_module *module = perf_module_at(replay, i);
        bool has_file = module->kind == PERF_MODULE_FILE || module->kind == PERF_MODULE_KERNEL;
        if (has_file && module->id.size > 0)
            self->wanted[self->count++] = wanted_of(&module->id);
    }
    if (self->count > 1)
        qsort(self->wanted, self->count, sizeof *self->wanted, compare);
    for (uint32_t i = 0; i < self->count; i++)
        if (kept == 0 || compare(&self->wanted[kept - 1], &self->wanted[i]) != 0)
            self->wanted[kept++] = self->wanted[i];
    self->count = (uint32_t)kept;
    return true;
}

/* ---- what the helper sends ---- */

enum outcome {
    COMPLETE,
    CUT,
    TOO_LARGE,
    NO_ROOM
};

/* False: the helper ended. */
static bool get(int fd, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)bytes + done, size - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static enum outcome take_bytes(struct perf_archive *self, int fd, uint64_t size)
{
    unsigned char piece[PIECE];
    while (size > 0) {
        size_t part = size < PIECE ? (size_t)size : PIECE;
        if (!get(fd, piece, part))
            return CUT;
        if (lode_spool_write(&self->spool, piece, part, NULL) != LODE_OK)
            return NO_ROOM;
        size -= part;
    }
    return lode_spool_flush(&self->spool, NULL) == LODE_OK ? COMPLETE : NO_ROOM;
}

static enum outcome take_files(struct perf_archive *self, int fd)
{
    struct archive_file file;
    enum outcome outcome = COMPLETE;
    while (outcome == COMPLETE) {
        if (!get(fd, &file, sizeof file))
            return CUT;
        if (file.wanted == SYMBOLS_NONE)
            return COMPLETE;
        if (file.wanted >= self->count || self->files[file.wanted].size > 0)
            return CUT;
        if (file.size > BYTES_MOST - self->spool.size)
            return TOO_LARGE;
        uint64_t offset = self->spool.size;
        outcome = take_bytes(self, fd, file.size);
        if (outcome == COMPLETE)
            self->files[file.wanted] = (struct perf_archived){offset, file.size};
    }
    return outcome;
}

/* ---- the helper ---- */

static int raise_fd(int fd)
{
    int raised = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
    if (fd >= 0)
        close(fd);
    return raised;
}

/* A file with the build ids that are wanted. */
static int wanted_file(const struct perf_archive *self)
{
    int fd = raise_fd(memfd_create("lode-wanted", MFD_CLOEXEC));
    size_t size = self->count * sizeof *self->wanted;
    if (fd >= 0 && write(fd, self->wanted, size) != (ssize_t)size) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool start(const char *program, int output, int archive, int wanted, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool started = output >= 0 && archive >= 0 && wanted >= 0 &&
                   posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                   posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, output, SYMBOLS_OUTPUT_FD) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, archive, SYMBOLS_BINARY_FD) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, wanted, SYMBOLS_OFFSETS_FD) == 0 &&
                   lode_binary_start(program, "archive", SECONDS, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

/* Why not all of it was read; NULL: it was. */
static const char *explain(enum outcome outcome, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (outcome == COMPLETE)
        return NULL;
    return outcome == TOO_LARGE                     ? "its files have more than 4 GiB"
           : outcome == NO_ROOM                     ? "there is no room for it in the temporary directory"
           : code == SYMBOLS_NO_READER              ? "this build of Lode cannot unpack it"
           : code == SYMBOLS_DAMAGED                ? "it is damaged"
           : code == SYMBOLS_NO_MEMORY              ? "it takes too much memory"
           : signal == SIGXCPU || signal == SIGKILL ? "it takes too long"
                                                    : "reading it crashed";
}

static const char *unpack(struct perf_archive *self, const char *program, int archive)
{
    int ends[2] = {-1, -1}, status = 0;
    pid_t pid;
    int wanted = wanted_file(self);
    bool has_pipe = pipe2(ends, O_CLOEXEC) == 0;
    int output = raise_fd(ends[1]);
    archive = raise_fd(archive);
    bool started = has_pipe && start(program, output, archive, wanted, &pid);
    for (const int *fd = (int[]){output, archive, wanted, -2}; *fd != -2; fd++)
        if (*fd >= 0)
            close(*fd);
    enum outcome outcome = started ? take_files(self, ends[0]) : CUT;
    if (ends[0] >= 0)
        close(ends[0]);
    if (!started)
        return "the program that reads it does not start";
    if (outcome == TOO_LARGE || outcome == NO_ROOM)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return explain(outcome, status);
}

/* ---- the archive ---- */

/* The archive of a recording that is one file; -1: there is none. */
static int find(struct perf_archive *self, const struct perf_replay *replay, int directory)
{
    static const char *const ends[] = {".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst", ".tar"};
    struct lode_regular file = {.fd = -1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && file.fd < 0 && directory >= 0; i++) {
        int length =
            snprintf(self->name, sizeof self->name, "%s%s", perf_part_at(replay->store, 0)->name, ends[i]);
        if (length > 0 && (size_t)length < sizeof self->name)
            lode_regular_open(&file, directory, self->name, NULL);
    }
    return file.fd;
}

static lode_status open_spool(struct lode_spool *spool, lode_error *error)
{
    struct lode_scratch scratch;
    LODE_TRY(lode_scratch_open(&scratch, error));
    lode_status status = lode_spool_open(spool, scratch.fd, "archive", error);
    lode_scratch_close(&scratch);
    return status;
}

lode_status lode_perf_archive_read(struct perf_archive *self, const struct perf_replay *replay, int directory,
                                   const char *program, lode_error *error)
{
    int fd = self->is_read || program == NULL ? -1 : find(self, replay, directory);
    self->is_read = true;
    if (fd < 0)
        return LODE_OK;
    if (!list_wanted(self, replay)) {
        close(fd);
        return lode_fail_memory(error);
    }
    lode_status status = open_spool(&self->spool, error);
    if (status != LODE_OK) {
        close(fd);
        return status;
    }
    const char *why = unpack(self, program, fd);
    return why ? lode_report_add(replay->store->report, PERF_RULE_ARCHIVE, self->name, LODE_NO_OFFSET,
                                 "%s (by hand: mkdir .debug && tar xf %s -C .debug)", why, self->name)
               : LODE_OK;
}

/* The helper wants a file that begins with the binary. */
static bool copy(const struct lode_spool *from, const struct perf_archived *file, const struct lode_spool *to)
{
    off_t offset = (off_t)file->offset, end = (off_t)(file->offset + file->size);
    ssize_t moved = 1;
    while (offset < end && moved > 0)
        moved = sendfile(to->fd, from->fd, &offset, (size_t)(end - offset));
    return offset == end && lseek(to->fd, 0, SEEK_SET) == 0;
}

bool lode_perf_archive_find(const struct perf_archive *self, const struct perf_build_id *id,
                            struct hpcrun_module_file *file)
{
    struct archive_wanted wanted = wanted_of(id);
    const struct archive_wanted *found =
        self->count > 0 ? bsearch(&wanted, self->wanted, self->count, sizeof wanted, compare) : NULL;
    const struct perf_archived *from = found ? &self->files[found - self->wanted] : NULL;
    struct lode_spool spool = LODE_SPOOL_INIT;
    file->fd = file->directory = -1;
    file->path[0] = file->root[0] = '\0';
    file->is_beneath = true;
    if (from && from->size > 0 && open_spool(&spool, NULL) == LODE_OK && copy(&self->spool, from, &spool)) {
        file->fd = spool.fd;
        file->size = from->size;
        spool.fd = -1;
    }
    lode_spool_close(&spool);
    return file->fd >= 0;
}
