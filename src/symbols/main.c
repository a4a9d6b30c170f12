/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lode-symbols MEGABYTES SECONDS inside|beside|symbols: reads a binary for the library, which does
 * not trust it, nor what this program says of it (binary_protocol.h). Debug information is inside
 * it, in a file beside it, or not wanted. The program has its files open when it starts, and can
 * open no others; it ends when memory or processor time run out, and dies with its parent.
 */
#include "binary.h"

#include <errno.h>
#include <gelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

static void confine(unsigned long megabytes, unsigned long seconds)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, seconds);
#ifndef SANITIZED
    limit(RLIMIT_AS, (rlim_t)megabytes << 20);
#else
    (void)megabytes; /* the sanitizer maps terabytes */
#endif
    limit(RLIMIT_NOFILE, 0); /* what is open stays open */
}

static void send_debug(Elf *elf, bool has_debug)
{
    const void *id = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    GElf_Word checksum;
    answers_send_debug(has_debug, id, size > 0 ? (size_t)size : 0, dwelf_elf_gnu_debuglink(elf, &checksum));
}

/* A file with the binary's debug information, unless its build id is another. */
static Dwarf *open_beside(Elf *elf)
{
    const void *wanted, *found;
    Elf *beside = elf_begin(SYMBOLS_DEBUG_FD, ELF_C_READ_MMAP, NULL);
    ssize_t size = dwelf_elf_gnu_build_id(elf, &wanted);
    if (beside == NULL || elf_kind(beside) != ELF_K_ELF)
        return NULL;
    ssize_t other = dwelf_elf_gnu_build_id(beside, &found);
    bool is_other = size > 0 && other > 0 && (size != other || memcmp(wanted, found, (size_t)size) != 0);
    return is_other ? NULL : dwarf_begin_elf(beside, DWARF_C_READ, NULL);
}

int main(int count, char **arguments)
{
    struct answers answers;
    if (count != 4)
        return SYMBOLS_NO_OUTPUT; /* the library starts it, nobody else */
    bool is_beside = strcmp(arguments[3], "beside") == 0, is_inside = strcmp(arguments[3], "inside") == 0;
    confine(strtoul(arguments[1], NULL, 10), strtoul(arguments[2], NULL, 10));
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(SYMBOLS_BINARY_FD, ELF_C_READ_MMAP, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        return SYMBOLS_NO_BINARY;
    answers_begin(&answers, SYMBOLS_OFFSETS_FD);
    errno = 0;
    Dwarf *dwarf = is_beside ? open_beside(elf) : is_inside ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (dwarf)
        read_debug(&answers, dwarf);
    else
        must_have_memory();
    send_debug(elf, dwarf != NULL);
    read_symbols(&answers, elf);
    answers_send(&answers);
    /* What libdw holds is not worth the time to free it. */
    _exit(SYMBOLS_DONE);
}
