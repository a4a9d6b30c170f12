/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/unwind.h"

#include "format/hpcrun/binaries/copies.h"
#include "format/hpcrun/scopes/binary.h"
#include "format/hpcrun/scopes/module_file.h"
#include "format/perf/source/source.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOWEST_FD = UNWIND_MODULES_FD + UNWIND_MODULES_MOST, /* above those that the helper gets */
    SECONDS = 24 * 3600                                  /* of processor time: stacks are many */
};

void lode_perf_unwinder_open(struct perf_unwinder *self, const struct perf_replay *replay,
                             const struct hpcrun_asking *asking, time_t recorded, int directory,
                             const struct perf_archive *archive)
{
    *self = (struct perf_unwinder){.replay = replay,
                                   .asking = asking,
                                   .recorded = recorded,
                                   .directory = directory,
                                   .archive = archive,
                                   .requests = -1,
                                   .answers = -1};
}

static void stop(struct perf_unwinder *self)
{
    int status;
    if (self->requests >= 0)
        close(self->requests);
    if (self->answers >= 0)
        close(self->answers);
    self->requests = self->answers = -1;
    if (self->pid > 0) {
        kill(self->pid, SIGKILL);
        while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    self->pid = -1;
}

void lode_perf_unwinder_close(struct perf_unwinder *self)
{
    stop(self);
    free(self->numbers);
    self->numbers = NULL;
}

/* ---- starting ---- */

/* The files of binaries, under numbers that do not collide with those of the helper. */
struct files {
    int fds[UNWIND_MODULES_MOST];
    uint32_t count;
    int requests[2], answers[2];
};

/* Copies by build id are whole binaries, and what is at the path may be another one by now. */
static bool find_module(const struct perf_unwinder *self, const struct perf_module *module,
                        struct hpcrun_module_file *file)
{
    const char *path = lode_strings_at(&self->replay->store->strings, module->name);
    struct binary_id id = {module->id.bytes, module->id.size};
    char copy[PATH_MAX];
    for (unsigned i = 0; i < BINARY_COPY_WITH_CODE; i++)
        if (lode_binary_copy_path(copy, (enum binary_copy)i, id, self->directory) &&
            lode_module_file_find(file, self->asking, copy, NULL))
            return true;
    if (lode_perf_archive_find(self->archive, &module->id, file))
        return true;
    return path[0] == '/' && lode_module_file_find(file, self->asking, path, NULL);
}

/* The file of a module if it may be the one that was recorded: the helper compares build ids. */
static int open_module(const struct perf_unwinder *self, const struct perf_module *module)
{
    struct hpcrun_module_file file;
    int fd = -1;
    if (module->kind != PERF_MODULE_FILE || !find_module(self, module, &file))
        return -1;
    if (module->id.size > 0 || lode_perf_is_unchanged(module, file.fd, self->recorded))
        fd = fcntl(file.fd, F_DUPFD_CLOEXEC, LOWEST_FD);
    lode_module_file_close(&file);
    return fd;
}

static bool open_modules(struct perf_unwinder *self, struct files *files)
{
    size_t count = self->replay->modules.items.count;
    self->numbers = calloc(count + 1, sizeof *self->numbers);
    for (uint32_t i = 0; self->numbers && i < count; i++) {
        int fd = files->count < UNWIND_MODULES_MOST ? open_module(self, perf_module_at(self->replay, i)) : -1;
        self->numbers[i] = fd < 0 ? LODE_NONE : files->count;
        if (fd >= 0)
            files->fds[files->count++] = fd;
    }
    return self->numbers != NULL;
}

static int raise_fd(int fd)
{
    int raised = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
    if (fd >= 0)
        close(fd);
    return raised;
}

static bool open_pipes(struct files *files)
{
    bool done = pipe2(files->requests, O_CLOEXEC) == 0 && pipe2(files->answers, O_CLOEXEC) == 0;
    for (unsigned i = 0; i < 2; i++) {
        files->requests[i] = raise_fd(files->requests[i]);
        files->answers[i] = raise_fd(files->answers[i]);
        done = done && files->requests[i] >= 0 && files->answers[i] >= 0;
    }
    return done;
}

static bool add_actions(posix_spawn_file_actions_t *actions, const struct files *files)
{
    bool done = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn_file_actions_adddup2(actions, files->answers[1], SYMBOLS_OUTPUT_FD) == 0 &&
                posix_spawn_file_actions_adddup2(actions, files->requests[0], UNWIND_REQUESTS_FD) == 0;
    for (uint32_t i = 0; i < files->count && done; i++)
        done = posix_spawn_file_actions_adddup2(actions, files->fds[i], UNWIND_MODULES_FD + (int)i) == 0;
    return done;
}

static bool spawn(const struct perf_unwinder *self, const struct files *files, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool started = add_actions(&actions, files) &&
                   lode_binary_start(self->asking->binaries.program, "unwind", SECONDS, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void start(struct perf_unwinder *self)
{
    struct files files = {.requests = {-1, -1}, .answers = {-1, -1}};
    self->pid = -1;
    bool started = self->asking->binaries.program && open_modules(self, &files) && open_pipes(&files) &&
                   spawn(self, &files, &self->pid);
    for (uint32_t i = 0; i < files.count; i++)
        close(files.fds[i]);
    close_fd(files.requests[0]);
    close_fd(files.answers[1]);
    self->requests = files.requests[1];
    self->answers = files.answers[0];
    if (!started) {
        self->pid = 0;
        stop(self);
    }
}

/* ---- asking ---- */

/* A helper that died is no reason to die: SIGPIPE is not wanted. */
static bool put(const struct perf_unwinder *self, const void *bytes, size_t size)
{
    sigset_t broken, before;
    struct timespec now = {0};
    size_t done = 0;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    while (done < size) {
        ssize_t written = write(self->requests, (const char *)bytes + done, size - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    if (done < size)
        sigtimedwait(&broken, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done == size;
}

static bool get(const struct perf_unwinder *self, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(self->answers, (char *)bytes + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

struct telling {
    const struct perf_unwinder *unwinder;
    bool is_told;
};

static bool tell_mapping(void *user, const struct perf_mapping *mapping)
{
    struct telling *self = user;
    const struct perf_module *module = perf_module_at(self->unwinder->replay, mapping->module);
    struct unwind_mapping to = {.start = mapping->start,
                                .end = mapping->end,
                                .offset = mapping->start - mapping->shift,
                                .module = self->unwinder->numbers[mapping->module],
                                .id_size = module->id.size};
    char kind = UNWIND_MAPPING;
    if (!mapping->is_code || to.module == LODE_NONE)
        return true;
    memcpy(to.id, module->id.bytes, sizeof to.id);
    self->is_told = put(self->unwinder, &kind, 1) && put(self->unwinder, &to, sizeof to);
    return self->is_told;
}

/* Tells the mappings of a space, if it is another one than before. */
static bool tell_space(struct perf_unwinder *self, uint32_t root)
{
    struct telling telling = {self, true};
    char kind = UNWIND_SPACE;
    if (self->root == root)
        return true;
    if (!put(self, &kind, 1))
        return false;
    lode_perf_maps_each(&self->replay->maps, root, tell_mapping, &telling);
    self->root = root;
    return telling.is_told;
}

/* ---- registers ---- */

/* Registers of perf, by number of those of DWARF. */
static const uint8_t register_of[UNWIND_REGISTERS] = {0,  3,  2,  1,  4,  5,  6,  7, 16,
                                                      17, 18, 19, 20, 21, 22, 23, 8};

static bool take_registers(const struct perf_event *event, const struct perf_sample *sample,
                           uint64_t registers[UNWIND_REGISTERS])
{
    uint64_t mask = event->attr.regs_user;
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++) {
        uint64_t bit = UINT64_C(1) << register_of[i];
        uint64_t at = (uint64_t)__builtin_popcountll(mask & (bit - 1)) * 8;
        if (!(mask & bit) || at + 8 > sample->registers.size)
            return false;
        memcpy(&registers[i], sample->registers.data + at, 8);
    }
    return true;
}

bool lode_perf_has_registers(const struct perf_event *event, const struct perf_sample *sample)
{
    uint64_t registers[UNWIND_REGISTERS];
    return take_registers(event, sample, registers);
}

bool lode_perf_can_unwind(const struct perf_store *store)
{
    return store->is_big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) &&
           (store->machine == NULL || strcmp(store->machine, "x86_64") == 0);
}

static bool ask(struct perf_unwinder *self, const struct unwind_sample *request, const uint8_t *stack,
                uint32_t *count)
{
    char kind = UNWIND_SAMPLE;
    return put(self, &kind, 1) && put(self, request, sizeof *request) && put(self, stack, request->size) &&
           get(self, count, sizeof *count) && *count <= UNWIND_FRAMES_MOST &&
           get(self, self->frames, *count * sizeof *self->frames);
}

uint32_t lode_perf_unwind(struct perf_unwinder *self, const struct perf_event *event,
                          const struct perf_sample *sample, uint32_t root)
{
    struct unwind_sample request = {.size = 0};
    uint32_t count = 0;
    if (!sample->has_stack || !take_registers(event, sample, request.registers))
        return 0;
    request.size = sample->stack.size < UNWIND_STACK_MOST ? (uint32_t)sample->stack.size : UNWIND_STACK_MOST;
    if (self->pid == 0)
        start(self);
    if (self->pid <= 0)
        return 0;
    if (!tell_space(self, root) || !ask(self, &request, sample->stack.data, &count)) {
        stop(self);
        return 0;
    }
    return count;
}
