/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injects disk faults: preloaded, it wraps the calls that change the file system, counts them over
 * all threads, and disturbs one of them.
 *
 *   LODE_FAULT_LOG    a file that gets a line per call: number, name of the call, class, object
 *   LODE_FAULT_MODE   fail    the call fails with LODE_FAULT_ERRNO
 *                     full    it fails, and so do all later ones that need disk space
 *                     list    from it on, directories open but cannot be listed
 *                     short   a write takes half of its bytes
 *                     lie     a write succeeds and writes nothing: tests must detect it
 *                     kill    SIGKILL instead of the call
 *                     stop    SIGSTOP before the call
 *   LODE_FAULT_AT     the number of the call, from 1
 *   LODE_FAULT_ERRNO  a number
 *   LODE_FAULT_PLAIN  a file system that cannot exchange names, lock files or sync directories
 *   LODE_FAULT_ALL    files count that are opened for writing by a path, too
 *   LODE_FAULT_FAST   counts fsync but skips it: tests do not simulate power failures
 *
 * Calls that only read are not counted, except for opening directories, which writing and removing
 * need. Calls on files that the program neither created nor opened for writing in a directory that
 * it holds, such as its standard output, are not counted either.
 */
/* Both the plain names and those of large files are defined here. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHIM __attribute__((visibility("default")))

enum {
    MAX_FD = 1024
};

enum mode {
    MODE_NONE,
    MODE_FAIL,
    MODE_FULL,
    MODE_SHORT,
    MODE_LIE,
    MODE_KILL,
    MODE_STOP,
    MODE_LIST
};

/* What a call needs: a full disk refuses only those that need room. */
enum class {
    CLASS_ROOM,
    CLASS_WRITE, /* room, and may be short */
    CLASS_OTHER
};

static struct {
    enum mode mode;
    unsigned at;
    int code;
    bool plain, fast, all;
    int log;
} settings = {.log = -1};

static atomic_uint calls;
static atomic_bool written[MAX_FD];

/* ---- settings ---- */

static unsigned number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static enum mode mode_of(const char *name)
{
    static const char *const names[] = {"none", "fail", "full", "short", "lie", "kill", "stop", "list"};
    const char *text = getenv(name);
    for (unsigned i = 0; text && i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum mode)i;
    return MODE_NONE;
}

__attribute__((constructor)) static void read_settings(void)
{
    settings.mode = mode_of("LODE_FAULT_MODE");
    settings.at = number_of("LODE_FAULT_AT");
    settings.code = (int)number_of("LODE_FAULT_ERRNO");
    settings.plain = number_of("LODE_FAULT_PLAIN") != 0;
    settings.all = number_of("LODE_FAULT_ALL") != 0;
    settings.fast = number_of("LODE_FAULT_FAST") != 0;
    const char *log = getenv("LODE_FAULT_LOG");
    if (log)
        settings.log =
            (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* ---- disturbing ---- */

enum verdict {
    PASS,
    FAIL,
    HALVE,
    PRETEND
};

static void note(unsigned number, const char *call, enum class class, const char *about)
{
    static const char *const names[] = {"room", "write", "other"};
    char line[512];
    int length = snprintf(line, sizeof line, "%u %s %s %s\n", number, call, names[class], about);
    if (settings.log >= 0 && length > 0)
        syscall(SYS_write, settings.log, line,
                (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* Counts a call and says what is to happen to it; errno is set if it fails. */
static enum verdict judge(const char *call, enum class class, const char *about)
{
    unsigned number = atomic_fetch_add(&calls, 1) + 1;
    note(number, call, class, about);
    bool now = number == settings.at;
    if (settings.mode == MODE_FULL && settings.at != 0 && number >= settings.at && class != CLASS_OTHER)
        now = true;
    if (settings.mode == MODE_LIST && settings.at != 0)
        now = number >= settings.at && strcmp(about, ".") == 0;
    if (!now || settings.mode == MODE_NONE)
        return PASS;
    if (settings.mode == MODE_KILL || settings.mode == MODE_STOP) {
        syscall(SYS_kill, getpid(), settings.mode == MODE_KILL ? SIGKILL : SIGSTOP);
        return PASS;
    }
    if (settings.mode == MODE_SHORT || settings.mode == MODE_LIE)
        return class != CLASS_WRITE ? PASS : settings.mode == MODE_SHORT ? HALVE : PRETEND;
    errno = settings.code;
    return FAIL;
}

static bool is_written(int fd)
{
    return fd >= 0 && fd < MAX_FD && atomic_load(&written[fd]);
}

static const char *name_of(int fd, char *buffer, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, size - 1);
    buffer[length > 0 ? length : 0] = '\0';
    return buffer;
}

static enum verdict judge_fd(const char *call, enum class class, int fd)
{
    char name[256];
    return is_written(fd) ? judge(call, class, name_of(fd, name, sizeof name)) : PASS;
}

/* The wrapped function of the C library. */
#define REAL(type, name)                                                                                     \
    static __typeof__(type) *real;                                                                           \
    if (real == NULL)                                                                                        \
        *(void **)&real = dlsym(RTLD_NEXT, name);

/* ---- opening and closing ---- */

typedef int openat_function(int, const char *, int, ...);

static int open_any(openat_function *real, const char *call, int directory, const char *path, int flags,
                    mode_t mode)
{
    bool creates = (flags & O_CREAT) != 0;
    bool writes = creates || ((settings.all || directory != AT_FDCWD) && (flags & O_ACCMODE) != O_RDONLY);
    if ((creates || (flags & O_DIRECTORY)) && judge(call, creates ? CLASS_ROOM : CLASS_OTHER, path) == FAIL)
        return -1;
    int fd = real(directory, path, flags, mode);
    if (writes && fd >= 0 && fd < MAX_FD)
        atomic_store(&written[fd], true);
    return fd;
}

static mode_t mode_argument(int flags, va_list arguments)
{
    return flags & O_CREAT ? (mode_t)va_arg(arguments, unsigned) : 0;
}

#define OPENAT(name)                                                                                         \
    SHIM int name(int directory, const char *path, int flags, ...)                                           \
    {                                                                                                        \
        REAL(openat_function, #name)                                                                         \
        va_list arguments;                                                                                   \
        va_start(arguments, flags);                                                                          \
        mode_t mode = mode_argument(flags, arguments);                                                       \
        va_end(arguments);                                                                                   \
        return open_any(real, #name, directory, path, flags, mode);                                          \
    }

#define OPEN(name, at)                                                                                       \
    SHIM int name(const char *path, int flags, ...)                                                          \
    {                                                                                                        \
        REAL(openat_function, #at)                                                                           \
        va_list arguments;                                                                                   \
        va_start(arguments, flags);                                                                          \
        mode_t mode = mode_argument(flags, arguments);                                                       \
        va_end(arguments);                                                                                   \
        return open_any(real, #name, AT_FDCWD, path, flags, mode);                                           \
    }

OPENAT(openat)
OPENAT(openat64)
OPEN(open, openat)
OPEN(open64, openat64)

SHIM int close(int fd)
{
    REAL(int(int), "close")
    enum verdict verdict = judge_fd("close", CLASS_ROOM, fd);
    if (fd >= 0 && fd < MAX_FD)
        atomic_store(&written[fd], false);
    int code = errno, result = real(fd);
    if (verdict != FAIL)
        return result;
    /* The descriptor is gone all the same. */
    errno = code;
    return -1;
}

/* ---- names ---- */

SHIM int mkdirat(int directory, const char *path, mode_t mode)
{
    REAL(int(int, const char *, mode_t), "mkdirat")
    return judge("mkdirat", CLASS_ROOM, path) == FAIL ? -1 : real(directory, path, mode);
}

SHIM int mkdir(const char *path, mode_t mode)
{
    REAL(int(const char *, mode_t), "mkdir")
    return judge("mkdir", CLASS_ROOM, path) == FAIL ? -1 : real(path, mode);
}

SHIM int unlinkat(int directory, const char *path, int flags)
{
    REAL(int(int, const char *, int), "unlinkat")
    return judge("unlinkat", CLASS_OTHER, path) == FAIL ? -1 : real(directory, path, flags);
}

SHIM int renameat(int from, const char *old, int to, const char *new)
{
    REAL(int(int, const char *, int, const char *), "renameat")
    return judge("renameat", CLASS_ROOM, new) == FAIL ? -1 : real(from, old, to, new);
}

SHIM int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    REAL(int(int, const char *, int, const char *, unsigned), "renameat2")
    if (judge("renameat2", CLASS_ROOM, new) == FAIL)
        return -1;
    if (!settings.plain || flags == 0)
        return real(from, old, to, new, flags);
    errno = EINVAL;
    return -1;
}

SHIM int rename(const char *old, const char *new)
{
    REAL(int(const char *, const char *), "rename")
    return judge("rename", CLASS_ROOM, new) == FAIL ? -1 : real(old, new);
}

SHIM int unlink(const char *path)
{
    REAL(int(const char *), "unlink")
    return judge("unlink", CLASS_OTHER, path) == FAIL ? -1 : real(path);
}

SHIM int flock(int fd, int operation)
{
    REAL(int(int, int), "flock")
    char name[256];
    if (judge("flock", CLASS_OTHER, name_of(fd, name, sizeof name)) == FAIL)
        return -1;
    if (!settings.plain)
        return real(fd, operation);
    errno = ENOSYS;
    return -1;
}

/* ---- bytes ---- */

typedef ssize_t pwrite_function(int, const void *, size_t, off64_t);

static ssize_t pwrite_any(pwrite_function *real, const char *call, int fd, const void *bytes, size_t size,
                          off64_t offset)
{
    enum verdict verdict = judge_fd(call, CLASS_WRITE, fd);
    if (verdict == FAIL)
        return -1;
    if (verdict == PRETEND)
        return (ssize_t)size;
    return real(fd, bytes, verdict == HALVE ? (size + 1) / 2 : size, offset);
}

SHIM ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    REAL(pwrite_function, "pwrite64")
    return pwrite_any(real, "pwrite64", fd, bytes, size, offset);
}

SHIM ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    REAL(pwrite_function, "pwrite64")
    return pwrite_any(real, "pwrite", fd, bytes, size, offset);
}

SHIM ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(ssize_t(int, const void *, size_t), "write")
    enum verdict verdict = judge_fd("write", CLASS_WRITE, fd);
    if (verdict == FAIL)
        return -1;
    return verdict == PRETEND ? (ssize_t)size : real(fd, bytes, verdict == HALVE ? (size + 1) / 2 : size);
}

/* Vectors are cut to their first piece when they are to be short. */
SHIM ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset)
{
    REAL(ssize_t(int, const struct iovec *, int, off64_t), "pwritev64")
    enum verdict verdict = judge_fd("pwritev64", CLASS_WRITE, fd);
    return verdict == FAIL ? -1 : real(fd, pieces, verdict == HALVE ? 1 : count, offset);
}

SHIM ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    REAL(ssize_t(int, const struct iovec *, int), "writev")
    enum verdict verdict = judge_fd("writev", CLASS_WRITE, fd);
    return verdict == FAIL ? -1 : real(fd, pieces, verdict == HALVE ? 1 : count);
}

SHIM ssize_t sendfile64(int to, int from, off64_t *offset, size_t count)
{
    REAL(ssize_t(int, int, off64_t *, size_t), "sendfile64")
    enum verdict verdict = judge_fd("sendfile64", CLASS_WRITE, to);
    return verdict == FAIL ? -1 : real(to, from, offset, verdict == HALVE ? count / 2 + 1 : count);
}

SHIM int utimensat(int directory, const char *path, const struct timespec times[2], int flags)
{
    REAL(int(int, const char *, const struct timespec[2], int), "utimensat")
    return judge("utimensat", CLASS_OTHER, path) == FAIL ? -1 : real(directory, path, times, flags);
}

SHIM int ftruncate64(int fd, off64_t size)
{
    REAL(int(int, off64_t), "ftruncate64")
    return judge_fd("ftruncate64", CLASS_ROOM, fd) == FAIL ? -1 : real(fd, size);
}

SHIM int fchmod(int fd, mode_t mode)
{
    REAL(int(int, mode_t), "fchmod")
    return judge_fd("fchmod", CLASS_OTHER, fd) == FAIL ? -1 : real(fd, mode);
}

SHIM int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    REAL(int(int, int, off64_t, off64_t), "fallocate64")
    return judge_fd("fallocate64", CLASS_ROOM, fd) == FAIL ? -1 : real(fd, mode, offset, size);
}

SHIM int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
    REAL(int(int, off64_t, off64_t), "posix_fallocate64")
    return judge_fd("posix_fallocate64", CLASS_ROOM, fd) == FAIL ? settings.code : real(fd, offset, size);
}

typedef void *mmap_function(void *, size_t, int, int, int, off64_t);

SHIM void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t offset)
{
    REAL(mmap_function, "mmap64")
    if (judge_fd("mmap64", CLASS_OTHER, fd) == FAIL)
        return MAP_FAILED;
    return real(where, size, protection, flags, fd, offset);
}

/* ---- waiting for the disk ---- */

static bool is_directory(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

static int sync_any(int (*real)(int), const char *call, int fd)
{
    char name[256];
    if (judge(call, CLASS_ROOM, name_of(fd, name, sizeof name)) == FAIL)
        return -1;
    if (settings.plain && is_directory(fd)) {
        errno = EINVAL;
        return -1;
    }
    return settings.fast ? 0 : real(fd);
}

SHIM int fsync(int fd)
{
    REAL(int(int), "fsync")
    return sync_any(real, "fsync", fd);
}

SHIM int fdatasync(int fd)
{
    REAL(int(int), "fdatasync")
    return sync_any(real, "fdatasync", fd);
}
