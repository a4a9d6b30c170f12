/* SPDX-License-Identifier: BSD-3-Clause */
#include "image.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- segments ---- */

static int by_segment(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* What program headers load, as far as the file has it. */
static bool read_segments(struct image *image, uint64_t *frames, uint64_t *frames_size)
{
    size_t count = 0, size = 0;
    const uint8_t *file = (const uint8_t *)elf_rawfile(image->elf, &size);
    if (file == NULL || elf_getphdrnum(image->elf, &count) != 0 || count > UINT16_MAX)
        return false;
    image->segments = must_grow(NULL, count, sizeof *image->segments);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(image->elf, (int)i, &header) == NULL)
            continue;
        if (header.p_type == PT_GNU_EH_FRAME) {
            *frames = header.p_vaddr;
            *frames_size = header.p_memsz;
        }
        if (header.p_type != PT_LOAD || header.p_offset >= size)
            continue;
        uint64_t length = header.p_filesz < size - header.p_offset ? header.p_filesz : size - header.p_offset;
        if (length == 0 || header.p_vaddr > UINT64_MAX - length)
            continue;
        image->segments[image->segment_count++] = (struct segment){.start = header.p_vaddr,
                                                                   .end = header.p_vaddr + length,
                                                                   .bytes = file + header.p_offset,
                                                                   .is_code = (header.p_flags & PF_X) != 0};
    }
    return image->segment_count > 0;
}

/* Where segments overlap, the one that begins first counts. */
static void sort_segments(struct image *image)
{
    size_t count = 0;
    uint64_t done = 0;
    qsort(image->segments, image->segment_count, sizeof *image->segments, by_segment);
    for (size_t i = 0; i < image->segment_count; i++) {
        struct segment one = image->segments[i];
        if (one.end <= done)
            continue;
        if (one.start < done) {
            one.bytes += done - one.start;
            one.start = done;
        }
        done = one.end;
        if (one.is_code && image->machine == MACHINE_X86_64) {
            one.known = calloc(one.end - one.start, 1);
            if (one.known == NULL)
                _exit(SYMBOLS_NO_MEMORY);
        }
        image->segments[count++] = one;
    }
    image->segment_count = count;
}

static const struct segment *segment_at(const struct image *image, uint64_t address)
{
    size_t low = 0, high = image->segment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->segments[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_in = low < image->segment_count && address >= image->segments[low].start;
    return is_in ? &image->segments[low] : NULL;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t *size)
{
    const struct segment *segment = segment_at(image, address);
    *size = segment ? (size_t)(segment->end - address) : 0;
    return segment ? segment->bytes + (address - segment->start) : NULL;
}

bool image_is_code(const struct image *image, uint64_t address)
{
    const struct segment *segment = segment_at(image, address);
    return segment && segment->is_code;
}

bool code_begin(struct code_reader *reader, const struct image *image, uint64_t start, uint64_t end)
{
    const struct segment *segment = segment_at(image, start);
    if (segment == NULL || end > segment->end)
        return false;
    *reader = (struct code_reader){.machine = image->machine,
                                   .bytes = segment->bytes + (start - segment->start),
                                   .known = segment->known ? segment->known + (start - segment->start) : NULL,
                                   .start = start,
                                   .at = start,
                                   .end = end};
    return true;
}

/*
 * What is known of a byte: the length of the instruction there, and 16 times its flow. That is all,
 * but for instructions with targets. Those near the end of a function may be cut.
 */
bool code_next(struct code_reader *reader)
{
    uint64_t offset = reader->at - reader->start, left = reader->end - reader->at;
    const uint8_t *bytes = reader->bytes + offset;
    uint8_t *known = reader->known ? reader->known + offset : NULL;
    if (left == 0)
        return false;
    unsigned length = known ? *known & 15 : 0, flow = known ? *known >> 4 : 0;
    bool is_enough = flow == FLOW_NEXT || flow == FLOW_PADDING || flow == FLOW_INDIRECT ||
                     flow == FLOW_RETURN || flow == FLOW_STOP;
    if (length > 0 && length <= left && is_enough)
        reader->found = (struct instruction){.length = (uint8_t)length, .flow = (uint8_t)flow};
    else {
        reader->found = decode(reader->machine, bytes, left, reader->at, offset > 0 ? &reader->found : NULL);
        if (known && left >= X86_LONGEST)
            *known = (uint8_t)(reader->found.flow << 4 | reader->found.length);
    }
    reader->found.at = (uint32_t)offset;
    reader->at += reader->found.length;
    return true;
}

bool image_spend(struct image *image, uint64_t amount)
{
    image->decoded += amount;
    image->is_spent |= image->decoded > IMAGE_BUDGET;
    return !image->is_spent;
}

/* ---- names ---- */

bool is_endless_name(const char *name)
{
    static const char *const names[] = {"abort",
                                        "exit",
                                        "_exit",
                                        "_Exit",
                                        "__assert_fail",
                                        "__assert",
                                        "__assert_perror_fail",
                                        "__stack_chk_fail",
                                        "__fortify_fail",
                                        "__chk_fail",
                                        "__libc_fatal",
                                        "__longjmp_chk",
                                        "__longjmp",
                                        "longjmp",
                                        "_longjmp",
                                        "siglongjmp",
                                        "quick_exit",
                                        "pthread_exit",
                                        "__pthread_exit",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "__cxa_call_unexpected",
                                        "_Unwind_Resume",
                                        "_ZSt9terminatev",
                                        "_ZSt10unexpectedv",
                                        "rust_panic",
                                        "_gfortran_stop_string",
                                        "_gfortran_runtime_error",
                                        "_gfortran_runtime_error_at",
                                        "_gfortran_os_error"};
    static const char *const begins[] = {"_ZSt16__throw_",  "_ZSt17__throw_", "_ZSt18__throw_",
                                         "_ZSt19__throw_",  "_ZSt2",          "__cxa_bad_",
                                         "__cxa_throw_bad_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return strcmp(begins[i], "_ZSt2") != 0 || strncmp(name + 6, "__throw_", 8) == 0;
    return false;
}

/* ---- extents ---- */

void image_add_extent(struct image *image, uint64_t start, uint64_t size, const char *name)
{
    const struct segment *segment = segment_at(image, start);
    if (segment == NULL || !segment->is_code)
        return;
    if (image->extent_count == image->extent_room) {
        image->extent_room = image->extent_room ? 2 * image->extent_room : 256;
        image->extents = must_grow(image->extents, image->extent_room, sizeof *image->extents);
    }
    uint64_t most = segment->end - start;
    image->extents[image->extent_count++] =
        (struct extent){.start = start, .end = start + (size < most ? size : most), .name = name};
}

/* The length of a PLT entry is not known from symbols: those have addresses of stubs as values. */
static bool is_function(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static void read_table(struct image *image, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 0; data && size > 0 && i < data->d_size / size && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) && is_function(&symbol)) {
            const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
            image_add_extent(image, symbol.st_value, symbol.st_size, name && *name ? name : NULL);
        }
    }
}

static void read_tables(struct image *image, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_table(image, elf, section, &header);
}

static int by_start(const void *left, const void *right)
{
    const struct extent *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Entries of one start are one extent: the largest, with a name if one has; it may be endless. */
static void merge_extents(struct image *image)
{
    size_t count = 0;
    if (image->extent_count > 0)
        qsort(image->extents, image->extent_count, sizeof *image->extents, by_start);
    for (size_t i = 0; i < image->extent_count; i++) {
        struct extent one = image->extents[i];
        struct extent *last = count > 0 ? &image->extents[count - 1] : NULL;
        bool is_endless = one.name && is_endless_name(one.name);
        one.returns[0] = is_endless ? RETURNS_NO : RETURNS_YES;
        if (last == NULL || last->start != one.start) {
            image->extents[count++] = one;
            continue;
        }
        last->end = one.end > last->end ? one.end : last->end;
        if (last->name == NULL || (one.name && strcmp(one.name, last->name) < 0))
            last->name = one.name ? one.name : last->name;
        if (is_endless)
            last->returns[0] = RETURNS_NO;
    }
    image->extent_count = count;
    for (size_t i = 0; i < count; i++) {
        struct extent *one = &image->extents[i];
        if (one->end > one->start)
            continue;
        const struct segment *segment = segment_at(image, one->start);
        uint64_t end = segment ? segment->end : one->start;
        bool is_followed = i + 1 < count && image->extents[i + 1].start < end;
        one->end = is_followed ? image->extents[i + 1].start : end;
    }
}

struct extent *image_extent(const struct image *image, uint64_t address)
{
    size_t low = 0, high = image->extent_count, last = *image->last_extent;
    if (last < high && address >= image->extents[last].start && address < image->extents[last].end &&
        (last + 1 == high || address < image->extents[last + 1].start))
        return &image->extents[last];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->extents[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* A short symbol may begin inside a longer function. */
    for (size_t i = low; i > 0 && low - i < 8; i--)
        if (address < image->extents[i - 1].end) {
            *image->last_extent = i - 1;
            return &image->extents[i - 1];
        }
    return NULL;
}

struct extent *image_function(const struct image *image, uint64_t address)
{
    struct extent *found = image_extent(image, address);
    /* On POWER, functions of one binary call each other behind what sets the table of contents. */
    bool is_power = image->machine == MACHINE_POWER || image->machine == MACHINE_POWER_BE;
    return found && (found->start == address || (is_power && found->start + 8 == address)) ? found : NULL;
}

static void note_target(struct image *image, uint32_t from, const struct instruction *found)
{
    const struct extent *own = &image->extents[from];
    bool is_call = found->flow == FLOW_CALL, is_jump = found->flow == FLOW_JUMP || found->flow == FLOW_BRANCH;
    if (!is_call && (!is_jump || (found->target >= own->start && found->target < own->end)))
        return;
    struct extent *to = image_function(image, found->target);
    if (to == NULL)
        return;
    to->is_called |= is_call;
    if (to->jumper == 0 && is_jump)
        to->jumper = from + 1;
}

void image_find_calls(struct image *image)
{
    uint64_t done = 0; /* extents may overlap */
    if (image->has_calls)
        return;
    image->has_calls = true;
    for (uint32_t i = 0; i < image->extent_count; i++) {
        uint64_t start = image->extents[i].start, end = image->extents[i].end;
        struct code_reader reader;
        bool is_new =
            done <= start && code_begin(&reader, image, start, end) && image_spend(image, end - start);
        while (is_new && code_next(&reader))
            note_target(image, i, &reader.found);
        done = end > done ? end : done;
    }
}

/* ---- slots ---- */

static int by_slot(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static const char *name_of(Elf *elf, const GElf_Shdr *header, size_t index)
{
    GElf_Shdr symbols;
    GElf_Sym symbol;
    Elf_Scn *section = elf_getscn(elf, header->sh_link);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (index == 0 || index > INT32_MAX || data == NULL || gelf_getshdr(section, &symbols) == NULL ||
        gelf_getsym(data, (int)index, &symbol) == NULL)
        return NULL;
    return elf_strptr(elf, symbols.sh_link, symbol.st_name);
}

static void read_relocations(struct image *image, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t size = gelf_fsize(image->elf, ELF_T_RELA, 1, EV_CURRENT);
    for (size_t i = 0; data && size > 0 && i < data->d_size / size && i < INT32_MAX; i++) {
        GElf_Rela one;
        if (gelf_getrela(data, (int)i, &one) == NULL)
            continue;
        if (image->slot_count == image->slot_room) {
            image->slot_room = image->slot_room ? 2 * image->slot_room : 256;
            image->slots = must_grow(image->slots, image->slot_room, sizeof *image->slots);
        }
        image->slots[image->slot_count++] = (struct slot){
            one.r_offset, (uint64_t)one.r_addend, name_of(image->elf, header, GELF_R_SYM(one.r_info))};
    }
}

static void read_slots(struct image *image)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(image->elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            read_relocations(image, section, &header);
    if (image->slot_count > 0)
        qsort(image->slots, image->slot_count, sizeof *image->slots, by_slot);
}

const struct slot *image_slot(const struct image *image, uint64_t address)
{
    if (image->slot_count == 0)
        return NULL;
    return bsearch(&(struct slot){.address = address}, image->slots, image->slot_count, sizeof(struct slot),
                   by_slot);
}

/* adrp and ldr of x17: the slot of a stub of AArch64; 0: other instructions. */
static uint64_t arm64_slot(const uint8_t *bytes, size_t size, uint64_t address)
{
    uint32_t page, load;
    if (size < 12)
        return 0;
    memcpy(&page, bytes, sizeof page);
    memcpy(&load, bytes + 4, sizeof load);
    if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
        return 0;
    uint64_t pages = (page >> 3 & 0x1ffffc) | (page >> 29 & 3);
    pages = (pages ^ 0x100000) - 0x100000;
    return (address & ~UINT64_C(4095)) + (pages << 12) + (uint64_t)(load >> 10 & 0xfff) * 8;
}

const char *image_stub(const struct image *image, uint64_t address)
{
    uint64_t slot = 0;
    for (unsigned i = 0; i < 2 && slot == 0; i++) {
        size_t size;
        const uint8_t *bytes = image_bytes(image, address, &size);
        if (bytes == NULL)
            return NULL;
        if (image->machine == MACHINE_X86_64) {
            struct instruction found = decode_x86(bytes, size, address);
            slot = found.flow == FLOW_TAIL ? found.target : 0;
            address += found.length; /* after endbr64 */
        } else if (image->machine == MACHINE_ARM64) {
            slot = arm64_slot(bytes, size, address);
            address += 4; /* after bti */
        }
    }
    const struct slot *found = slot ? image_slot(image, slot) : NULL;
    return found ? found->name : NULL;
}

/* ---- all ---- */

static enum machine machine_of(const GElf_Ehdr *header)
{
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return MACHINE_UNKNOWN;
    switch (header->e_machine) {
    case EM_X86_64:
        return MACHINE_X86_64;
    case EM_AARCH64:
        return MACHINE_ARM64;
    case EM_PPC64:
        return header->e_ident[EI_DATA] == ELFDATA2LSB ? MACHINE_POWER : MACHINE_POWER_BE;
    case EM_RISCV:
        return MACHINE_RISCV64;
    default:
        return MACHINE_UNKNOWN;
    }
}

bool image_open(struct image *image, Elf *elf, Elf *debug)
{
    GElf_Ehdr header;
    uint64_t frames = 0, size = 0;
    *image = (struct image){.elf = elf, .last_extent = must_grow(NULL, 1, sizeof *image->last_extent)};
    *image->last_extent = 0;
    if (gelf_getehdr(elf, &header) == NULL || header.e_type == ET_REL)
        return false;
    image->machine = machine_of(&header);
    if (image->machine == MACHINE_UNKNOWN || !read_segments(image, &frames, &size))
        return false;
    sort_segments(image);
    read_slots(image);
    read_tables(image, elf);
    if (debug)
        read_tables(image, debug);
    if (frames)
        image_read_frames(image, frames, size);
    merge_extents(image);
    return image->extent_count > 0;
}

void image_close(struct image *image)
{
    for (size_t i = 0; i < image->segment_count; i++)
        free(image->segments[i].known);
    free(image->segments);
    free(image->extents);
    free(image->last_extent);
    free(image->slots);
}
