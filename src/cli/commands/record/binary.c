/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/binary.h"

#include "alloc.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX    65536u
#define STRINGS_MAX     (64u << 20)
#define SYMBOLS_MAX     (1u << 22)
#define SYMBOLS_AT_ONCE 256u
#define SEGMENTS_MAX    64u
#define SAMPLED         512u /* functions whose code is read */
#define CODE_SIZE       32u  /* bytes of each */
#define SHARE_NEEDED    4u   /* one function in so many: start-up code and stubs differ */
#define SCRIPT_LINE     256u /* as much as the kernel reads */

#if defined __x86_64__
#define MACHINE EM_X86_64
#elif defined __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE /* no code is looked at */
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2LSB
#else
#define BYTE_ORDER_HERE ELFDATA2MSB
#endif

typedef struct elf_file {
    int fd;
    uint64_t size;
    Elf64_Ehdr header;
} elf_file;

/* Whether so many bytes are there. */
static int read_at(const elf_file *file, uint64_t offset, void *into, size_t size)
{
    if (offset > file->size || size > file->size - offset)
        return 0;
    for (size_t done = 0; done < size;) {
        ssize_t count = pread(file->fd, (char *)into + done, size - done, (off_t)(offset + done));
        if (count <= 0)
            return 0;
        done += (size_t)count;
    }
    return 1;
}

/* A string table, terminated; NULL if it is not there. */
static char *read_strings(const elf_file *file, const Elf64_Shdr *section)
{
    if (section->sh_size > STRINGS_MAX || section->sh_size > file->size)
        return NULL;
    char *text = alloc_array((size_t)section->sh_size + 1, 1);
    if (read_at(file, section->sh_offset, text, (size_t)section->sh_size))
        return text;
    free(text);
    return NULL;
}

static int read_section(const elf_file *file, uint64_t index, Elf64_Shdr *section)
{
    return index < file->header.e_shnum && file->header.e_shentsize == sizeof *section &&
           read_at(file, file->header.e_shoff + index * sizeof *section, section, sizeof *section);
}

static int read_segment(const elf_file *file, uint64_t index, Elf64_Phdr *segment)
{
    return index < SEGMENTS_MAX && index < file->header.e_phnum &&
           file->header.e_phentsize == sizeof *segment &&
           read_at(file, file->header.e_phoff + index * sizeof *segment, segment, sizeof *segment);
}

/* ---- names ---- */

/* The function of a tracer that code calls; NULL if the name is not one. */
static const char *tracer_function(const char *name)
{
    static const char *const names[] = {"mcount", "_mcount", "__mcount", "__fentry__",
                                        "__cyg_profile_func_enter"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return names[i];
    return NULL;
}

/* The names that a program takes from others; dynamic ones only, since a tracer gives them. */
static const char *find_calls(const elf_file *file, const Elf64_Shdr *symbols)
{
    Elf64_Shdr section;
    Elf64_Sym some[SYMBOLS_AT_ONCE];
    const char *found = NULL;
    char *names = read_section(file, symbols->sh_link, &section) ? read_strings(file, &section) : NULL;
    uint64_t count = symbols->sh_size / sizeof *some;
    for (uint64_t i = 0; names && i < count && i < SYMBOLS_MAX && !found; i += SYMBOLS_AT_ONCE) {
        size_t here = count - i < SYMBOLS_AT_ONCE ? (size_t)(count - i) : SYMBOLS_AT_ONCE;
        if (!read_at(file, symbols->sh_offset + i * sizeof *some, some, here * sizeof *some))
            break;
        for (size_t k = 0; k < here && !found; k++)
            if (some[k].st_shndx == SHN_UNDEF && some[k].st_name < section.sh_size)
                found = tracer_function(names + some[k].st_name);
    }
    free(names);
    return found;
}

static void look_at_sections(const elf_file *file, binary *found)
{
    static const char patchable[] = "__patchable_function_entries";
    Elf64_Shdr section;
    char *names = read_section(file, file->header.e_shstrndx, &section) ? read_strings(file, &section) : NULL;
    uint64_t names_size = names ? section.sh_size : 0;
    int has_symbols = 0;
    for (uint64_t i = 0; i < SECTIONS_MAX && read_section(file, i, &section); i++) {
        /* A program has one such table. */
        int is_table = section.sh_type == SHT_DYNSYM && !has_symbols;
        const char *called = is_table ? find_calls(file, &section) : NULL;
        has_symbols |= is_table;
        const char *name = section.sh_name < names_size ? names + section.sh_name : "";
        if (called) {
            found->sites = SITES_CALLS;
            found->evidence = called;
        } else if (strcmp(name, patchable) == 0 && found->sites == SITES_NONE) {
            found->sites = SITES_NOPS;
            found->evidence = patchable;
        }
    }
    free(names);
}

/* ---- code ---- */

static int has_bytes(const unsigned char *code, size_t size, size_t at, const char *bytes, size_t count)
{
    return at + count <= size && memcmp(code + at, bytes, count) == 0;
}

/* The size of space for a call at the beginning of a function; 0 if there is none. */
static size_t nop_site(const unsigned char *code, size_t size)
{
    if (MACHINE == EM_AARCH64)
        return has_bytes(code, size, 0, "\x1f\x20\x03\xd5\x1f\x20\x03\xd5", 8) ? 8 : 0;
    if (has_bytes(code, size, 0, "\x0f\x1f\x44\x00\x00", 5) ||
        has_bytes(code, size, 0, "\x90\x90\x90\x90\x90", 5))
        return 5;
    return 0;
}

/* Compilers may put an instruction or two between those that set up a frame. */
static int sets_up_frame(const unsigned char *code, size_t size)
{
    if (MACHINE == EM_AARCH64) {
        for (size_t at = 0; at + 4 <= size && at < 12; at += 4) {
            uint32_t instruction;
            memcpy(&instruction, code + at, sizeof instruction);
            if ((instruction & 0xffc07fffu) == 0xa9807bfdu) /* stp x29, x30, [sp, #-n]! */
                return 1;
        }
        return 0;
    }
    for (size_t at = 0; code[0] == 0x55 && at < 12; at++) /* push %rbp; mov %rsp,%rbp */
        if (has_bytes(code, size, at, "\x48\x89\xe5", 3))
            return 1;
    return 0;
}

static int find_code(const elf_file *file, uint64_t address, uint64_t *offset)
{
    Elf64_Phdr segment;
    for (uint64_t i = 0; read_segment(file, i, &segment); i++)
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *offset = address - segment.p_vaddr + segment.p_offset;
            return 1;
        }
    return 0;
}

/*
 * The table of a .eh_frame_hdr has the address of every function, also of stripped programs. Every
 * linker writes the one encoding that is read here.
 */
static void look_at_functions(const elf_file *file, const Elf64_Phdr *table, binary *found)
{
    unsigned char head[12], code[CODE_SIZE];
    uint32_t count, frames = 0, nops = 0, seen = 0;
    if (MACHINE == EM_NONE || !read_at(file, table->p_offset, head, sizeof head) ||
        memcmp(head, "\x01\x1b\x03\x3b", 4) != 0)
        return;
    memcpy(&count, head + 8, sizeof count);
    found->has_unwind_tables = count > 0;
    uint32_t step = count > SAMPLED ? count / SAMPLED : 1;
    for (uint64_t i = 0; i < count && seen < SAMPLED; i += step, seen++) {
        int32_t relative;
        uint64_t offset;
        if (!read_at(file, table->p_offset + sizeof head + 8 * i, &relative, sizeof relative))
            return;
        if (!find_code(file, table->p_vaddr + (uint64_t)(int64_t)relative, &offset) ||
            !read_at(file, offset, code, sizeof code))
            continue;
        size_t at = has_bytes(code, sizeof code, 0, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0; /* endbr64 */
        size_t site = nop_site(code + at, sizeof code - at);
        nops += site > 0;
        frames += (uint32_t)sets_up_frame(code + at + site, sizeof code - at - site);
    }
    found->has_frame_pointers = frames > 0 && frames >= seen / SHARE_NEEDED;
    if (found->sites == SITES_NONE && nops > 0 && nops >= seen / SHARE_NEEDED) {
        found->sites = SITES_NOPS;
        found->evidence = "no-operation instructions at the beginning of functions";
    }
}

static void look_at_elf(elf_file *file, binary *found)
{
    Elf64_Phdr segment;
    const unsigned char *ident = file->header.e_ident;
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != BYTE_ORDER_HERE ||
        (MACHINE != EM_NONE && file->header.e_machine != MACHINE))
        return;
    found->is_elf = 1;
    look_at_sections(file, found);
    for (uint64_t i = 0; read_segment(file, i, &segment); i++) {
        found->is_dynamic |= segment.p_type == PT_INTERP;
        if (segment.p_type == PT_GNU_EH_FRAME && !found->has_unwind_tables)
            look_at_functions(file, &segment, found);
    }
}

/* ---- scripts ---- */

/* "#!/usr/bin/env -S python3 -u" is a script of python3. */
static void look_at_script(const char *line, binary *found)
{
    const char *at = line + 2;
    for (;;) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, " \t\n");
        if (length == 0)
            return;
        int is_option = at[0] == '-' || (memchr(at, '=', length) && found->interpreter[0]);
        if (!is_option)
            snprintf(found->interpreter, sizeof found->interpreter, "%.*s", (int)length, at);
        const char *slash = strrchr(found->interpreter, '/');
        int is_env = strcmp(slash ? slash + 1 : found->interpreter, "env") == 0;
        if (!is_option && !is_env)
            return;
        at += length;
    }
}

void binary_look(const char *path, binary *found)
{
    struct stat status;
    char line[SCRIPT_LINE + 1] = "";
    elf_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    *found = (binary){0};
    if (file.fd < 0)
        return;
    if (fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode)) {
        file.size = (uint64_t)status.st_size;
        if (read_at(&file, 0, &file.header, sizeof file.header) &&
            memcmp(file.header.e_ident, ELFMAG, SELFMAG) == 0)
            look_at_elf(&file, found);
        else if (pread(file.fd, line, SCRIPT_LINE, 0) > 2 && line[0] == '#' && line[1] == '!')
            look_at_script(line, found);
    }
    close(file.fd);
}
