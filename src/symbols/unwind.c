/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwinds copies of user stacks by the unwind tables of binaries: frames of x86-64. Reads requests
 * until there are no more, and answers each sample at once (binary_protocol.h).
 */
#include "unwind.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* A binary, as it was given. */
struct module {
    Elf *elf; /* NULL: not opened yet, or of no use */
    bool is_tried;
};

/* A mapping of the address space of samples. */
struct mapping {
    uint64_t start, end, offset;
    struct module *module;
};

struct unwinding {
    struct module modules[UNWIND_MODULES_MOST];
    struct mapping mappings[UNWIND_MAPPINGS_MOST];
    uint32_t mapping_count;
    Dwfl *dwfl; /* of these mappings; NULL: not made yet */
    struct unwind_sample sample;
    uint8_t stack[UNWIND_STACK_MOST];
    uint64_t frames[UNWIND_FRAMES_MOST];
    uint32_t frame_count;
};

/* ---- requests and answers ---- */

static bool get(void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(UNWIND_REQUESTS_FD, (char *)bytes + done, size - done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool put(const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write(SYMBOLS_OUTPUT_FD, (const char *)bytes + done, size - done);
        if (written <= 0)
            return false;
        done += (size_t)written;
    }
    return true;
}

/* ---- binaries ---- */

/* Opens a binary, if it is the one that was recorded. */
static void open_module(struct module *module, const struct unwind_mapping *from)
{
    const void *id;
    module->is_tried = true;
    Elf *elf = elf_begin(UNWIND_MODULES_FD + (int)from->module, ELF_C_READ_MMAP, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        return;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    bool is_same =
        from->id_size == 0 || (size >= (ssize_t)from->id_size && memcmp(id, from->id, from->id_size) == 0);
    module->elf = is_same ? elf : NULL;
}

/* How far addresses of the binary are moved by a mapping. False if it has no such segment. */
static bool find_bias(Elf *elf, const struct mapping *mapping, uint64_t *bias, uint64_t *low, uint64_t *high)
{
    size_t count = 0;
    bool is_found = false;
    *low = UINT64_MAX;
    *high = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD)
            continue;
        uint64_t page = header.p_offset & ~(uint64_t)0xfff;
        if (mapping->offset >= page && mapping->offset < header.p_offset + header.p_filesz) {
            *bias = mapping->start - mapping->offset + header.p_offset - header.p_vaddr;
            is_found = true;
        }
        *low = header.p_vaddr < *low ? header.p_vaddr : *low;
        *high = header.p_vaddr + header.p_memsz > *high ? header.p_vaddr + header.p_memsz : *high;
    }
    return is_found;
}

static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file,
                    Elf **elf)
{
    const struct mapping *mapping = *user;
    (void)module, (void)name, (void)base, (void)file;
    *elf = mapping->module->elf ? elf_begin(-1, ELF_C_READ_MMAP, mapping->module->elf) : NULL;
    return -1;
}

static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word checksum, char **found)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)checksum, (void)found;
    return -1; /* unwind tables are in the binary */
}

/* ---- the stack ---- */

static pid_t next_thread(Dwfl *dwfl, void *user, void **thread)
{
    (void)dwfl;
    bool is_first = *thread == NULL;
    *thread = user;
    return is_first ? 1 : 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *user, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = user;
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *user)
{
    const struct unwinding *self = user;
    return dwfl_thread_state_registers(thread, 0, UNWIND_REGISTERS, self->sample.registers);
}

/* From the copy of the stack, else from the file that is mapped there. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *out, void *user)
{
    const struct unwinding *self = user;
    uint64_t from = self->sample.registers[UNWIND_SP];
    (void)dwfl;
    if (address >= from && address - from <= self->sample.size && self->sample.size - (address - from) >= 8) {
        memcpy(out, self->stack + (address - from), sizeof *out);
        return true;
    }
    for (uint32_t i = 0; i < self->mapping_count; i++) {
        const struct mapping *mapping = &self->mappings[i];
        size_t size = 0;
        if (address < mapping->start || address >= mapping->end || mapping->module->elf == NULL)
            continue;
        const char *bytes = elf_rawfile(mapping->module->elf, &size);
        uint64_t at = address - mapping->start + mapping->offset;
        if (bytes == NULL || size < 8 || at > size - 8)
            return false;
        memcpy(out, bytes + at, sizeof *out);
        return true;
    }
    return false;
}

/* Callers are told as return addresses, as in call chains. */
static int take_frame(Dwfl_Frame *frame, void *user)
{
    struct unwinding *self = user;
    Dwarf_Addr pc;
    bool is_activation;
    if (!dwfl_frame_pc(frame, &pc, &is_activation) || self->frame_count == UNWIND_FRAMES_MOST)
        return DWARF_CB_ABORT;
    /* One that a signal interrupted is no return address; the reader takes one byte off. */
    self->frames[self->frame_count] = is_activation && self->frame_count > 0 ? pc + 1 : pc;
    self->frame_count++;
    return DWARF_CB_OK;
}

/* ---- all of it ---- */

static void make_dwfl(struct unwinding *self)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = find_debuginfo};
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_memory,
                                                  .set_initial_registers = set_registers};
    self->dwfl = dwfl_begin(&callbacks);
    if (self->dwfl == NULL)
        return;
    dwfl_report_begin(self->dwfl);
    for (uint32_t i = 0; i < self->mapping_count; i++) {
        struct mapping *mapping = &self->mappings[i];
        uint64_t bias = 0, low, high;
        void **user;
        if (mapping->module->elf == NULL || !find_bias(mapping->module->elf, mapping, &bias, &low, &high))
            continue;
        Dwfl_Module *module = dwfl_report_module(self->dwfl, "binary", low + bias, high + bias);
        if (module && dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
            *user = mapping;
    }
    dwfl_report_end(self->dwfl, NULL, NULL);
    dwfl_attach_state(self->dwfl, NULL, 1, &threads, self);
}

static void forget(struct unwinding *self)
{
    if (self->dwfl)
        dwfl_end(self->dwfl);
    self->dwfl = NULL;
}

static bool take_mapping(struct unwinding *self)
{
    struct unwind_mapping from;
    if (!get(&from, sizeof from) || from.module >= UNWIND_MODULES_MOST || from.id_size > sizeof from.id)
        return false;
    struct module *module = &self->modules[from.module];
    if (!module->is_tried)
        open_module(module, &from);
    forget(self);
    if (self->mapping_count < UNWIND_MAPPINGS_MOST)
        self->mappings[self->mapping_count++] = (struct mapping){from.start, from.end, from.offset, module};
    return true;
}

static bool answer_sample(struct unwinding *self)
{
    if (!get(&self->sample, sizeof self->sample) || self->sample.size > UNWIND_STACK_MOST ||
        !get(self->stack, self->sample.size))
        return false;
    if (self->dwfl == NULL)
        make_dwfl(self);
    self->frame_count = 0;
    if (self->dwfl)
        dwfl_getthread_frames(self->dwfl, 1, take_frame, self);
    return put(&self->frame_count, sizeof self->frame_count) &&
           put(self->frames, self->frame_count * sizeof *self->frames);
}

bool unwind_all(void)
{
    static struct unwinding state; /* large, and of the whole process */
    struct unwinding *self = &state;
    bool is_sound = true;
    char kind;
    while (is_sound && read(UNWIND_REQUESTS_FD, &kind, 1) == 1) {
        if (kind == UNWIND_SPACE) {
            forget(self);
            self->mapping_count = 0;
        } else if (kind == UNWIND_MAPPING) {
            is_sound = take_mapping(self);
        } else {
            is_sound = kind == UNWIND_SAMPLE && answer_sample(self);
        }
    }
    return is_sound;
}
