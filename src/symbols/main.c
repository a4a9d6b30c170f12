/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lode-symbols MEGABYTES SECONDS inside|beside|symbols[,loops|,all]|unwind|archive|serve: reads
 * binaries for the library, which does not trust them, nor what this program says of them
 * (binary_protocol.h). Debug information is inside a binary, in a file beside it, or not wanted;
 * with loops, code is analysed: that of functions with offsets, or all. Or stacks are unwound, or
 * an archive is unpacked. The program has its files open when it starts, and can open no others; it
 * ends when memory or processor time run out, and dies with its parent. As a server it forks such a
 * process for each binary, so that none can harm another, and nothing is loaded twice.
 */
#include "binary.h"
#include "structure.h"
#include "symbols/archive/archive.h"
#include "unwind.h"

#include <errno.h>
#include <gelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static void limit(int what, rlim_t most)
{
    if (setrlimit((unsigned)what, &(struct rlimit){most, most}) != 0)
        _exit(SYMBOLS_NO_OUTPUT);
}

static void confine(unsigned long megabytes)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
#ifndef SANITIZED
    limit(RLIMIT_AS, (rlim_t)megabytes << 20);
#else
    (void)megabytes; /* the sanitizer maps terabytes */
#endif
}

/* Of a process that reads files. */
static void confine_reader(unsigned long seconds)
{
    limit(RLIMIT_CPU, seconds);
    limit(RLIMIT_NOFILE, 0); /* what is open stays open */
}

static void send_debug(Elf *elf, unsigned has)
{
    const void *id = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    GElf_Word checksum;
    answers_send_debug(has, id, size > 0 ? (size_t)size : 0, dwelf_elf_gnu_debuglink(elf, &checksum));
}

/* The checksum of .gnu_debuglink: CRC-32 of the file. */
static uint32_t checksum_of(const unsigned char *bytes, size_t size)
{
    uint32_t table[256], sum = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (size_t i = 0; i < size; i++)
        sum = table[(sum ^ bytes[i]) & 0xff] ^ sum >> 8;
    return ~sum;
}

/* By build ids if both files have one, else by the checksum of .gnu_debuglink if there is one. */
static bool is_of(Elf *elf, Elf *beside)
{
    const void *wanted, *found;
    size_t bytes = 0;
    GElf_Word checksum;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &wanted), other = dwelf_elf_gnu_build_id(beside, &found);
    if (size > 0 && other > 0)
        return size == other && memcmp(wanted, found, (size_t)size) == 0;
    if (dwelf_elf_gnu_debuglink(elf, &checksum) == NULL)
        return true;
    const char *content = elf_rawfile(beside, &bytes);
    return content && checksum_of((const unsigned char *)content, bytes) == checksum;
}

/* A file with the binary's debug information, unless it is of another one. */
static Elf *open_beside(Elf *elf)
{
    Elf *beside = elf_begin(SYMBOLS_DEBUG_FD, ELF_C_READ_MMAP, NULL);
    return beside && elf_kind(beside) == ELF_K_ELF && is_of(elf, beside) ? beside : NULL;
}

/* The instruction of each offset ends where the next one begins, or its function ends. */
static void find_lengths(const struct structure *structure, struct answers *answers)
{
    answers->lengths = must_grow(NULL, answers->count, sizeof *answers->lengths);
    for (uint32_t i = 0; i < answers->count; i++) {
        uint64_t next = i + 1 < answers->count ? answers->offsets[i + 1] : UINT64_MAX;
        uint64_t length = structure_end(structure, answers->offsets[i], next) - answers->offsets[i];
        answers->lengths[i] = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    }
}

static unsigned loops_of(const struct structure *structure)
{
    return !structure->is_open                                      ? SYMBOLS_HAS_NO_LOOPS
           : structure->image.is_spent || structure->image.has_gaps ? SYMBOLS_HAS_SOME_LOOPS
                                                                    : 0;
}

/* `debug`: the file that has the debug information; NULL: none. */
static void answer(Elf *elf, Elf *debug, bool has_loops, bool is_all)
{
    struct answers answers;
    struct structure structure;
    answers_begin(&answers, SYMBOLS_OFFSETS_FD);
    if (has_loops) {
        structure_open(&structure, elf, debug != elf ? debug : NULL);
        if (is_all)
            structure_take_all(&structure, &answers);
        structure_analyse(&structure, &answers);
    }
    unsigned has = has_loops ? loops_of(&structure) : 0;
    Elf *again =
        debug ? elf_begin(debug == elf ? SYMBOLS_BINARY_FD : SYMBOLS_DEBUG_FD, ELF_C_READ_MMAP, NULL) : NULL;
    has |= again ? read_debug(&answers, again) : 0;
    send_debug(elf, has);
    read_symbols(&answers, elf);
    read_mini_symbols(&answers, elf);
    if (has_loops)
        structure_apply(&structure, &answers);
    if (has_loops && !is_all)
        name_stubs(&structure, &answers);
    if (is_all)
        find_lengths(&structure, &answers);
    answers_send(&answers);
}

/* What libdw holds is not worth the time to free it. */
static _Noreturn void read_binary(char *mode)
{
    char *more = strchr(mode, ',');
    if (more)
        *more++ = '\0';
    bool is_beside = strcmp(mode, "beside") == 0, is_inside = strcmp(mode, "inside") == 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(SYMBOLS_BINARY_FD, ELF_C_READ_MMAP, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        _exit(SYMBOLS_NO_BINARY);
    answer(elf,
           is_beside   ? open_beside(elf)
           : is_inside ? elf
                       : NULL,
           more != NULL, more && strcmp(more, "all") == 0);
    _exit(SYMBOLS_DONE);
}

/* ---- a server ---- */

/* The files of a request are the first that are open besides 0, 1 and 2. */
static bool receive(char mode[SYMBOLS_MODE_SIZE])
{
    static const int wanted[] = {SYMBOLS_BINARY_FD, SYMBOLS_OFFSETS_FD, SYMBOLS_DEBUG_FD,
                                 SYMBOLS_DEBUG_FD + 1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof wanted)];
    } control;
    struct iovec part = {mode, SYMBOLS_MODE_SIZE};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t size;
    do
        size = recvmsg(SYMBOLS_SOCKET_FD, &message, 0);
    while (size < 0 && errno == EINTR);
    struct cmsghdr *first = size == SYMBOLS_MODE_SIZE ? CMSG_FIRSTHDR(&message) : NULL;
    mode[SYMBOLS_MODE_SIZE - 1] = '\0';
    return first && first->cmsg_len == CMSG_LEN(sizeof wanted) &&
           memcmp(CMSG_DATA(first), wanted, sizeof wanted) == 0;
}

/* In the fork: the answer goes to the usual place, and the server's socket is out of reach. */
static _Noreturn void read_forked(char *mode, unsigned long seconds)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(SYMBOLS_DEBUG_FD + 1, SYMBOLS_OUTPUT_FD) < 0)
        _exit(SYMBOLS_NO_OUTPUT);
    close(SYMBOLS_DEBUG_FD + 1);
    close(SYMBOLS_SOCKET_FD);
    confine_reader(seconds);
    read_binary(mode);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* Until nobody asks any more. */
static void serve(unsigned long seconds)
{
    char mode[SYMBOLS_MODE_SIZE];
    while (receive(mode)) {
        pid_t child = fork();
        if (child == 0)
            read_forked(mode, seconds);
        for (int fd = SYMBOLS_BINARY_FD; fd <= SYMBOLS_DEBUG_FD + 1; fd++)
            close(fd);
        int status = child < 0 ? SIGABRT : wait_for(child);
        if (send(SYMBOLS_SOCKET_FD, &status, sizeof status, MSG_NOSIGNAL) != sizeof status)
            return;
    }
}

int main(int count, char **arguments)
{
    if (count != 4)
        return SYMBOLS_NO_OUTPUT; /* the library starts it, nobody else */
    unsigned long seconds = strtoul(arguments[2], NULL, 10);
    confine(strtoul(arguments[1], NULL, 10));
    if (strcmp(arguments[3], "serve") == 0) {
        serve(seconds);
        _exit(SYMBOLS_DONE);
    }
    confine_reader(seconds);
    if (strcmp(arguments[3], "unwind") == 0) {
        elf_version(EV_CURRENT);
        _exit(unwind_all() ? SYMBOLS_DONE : SYMBOLS_NO_OUTPUT);
    }
    if (strcmp(arguments[3], "archive") == 0)
        _exit((int)archive_send());
    read_binary(arguments[3]);
}
