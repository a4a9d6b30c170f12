/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/binaries/notes.h"

#include "base/io/bytes.h"
#include "base/io/range.h"
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    HEADER_SIZE = 64,
    NAMES_MOST = 1 << 20, /* bytes of section names */
    NOTES_MOST = 1 << 16, /* bytes of a section with notes */
    NOTES_ALL = 1 << 20   /* of all of them: the id is in one of the first */
};

struct reading {
    struct binary_notes *notes;
    int fd;
    uint64_t size;
    uint64_t notes_left; /* bytes */
    bool is_wide, is_big;
};

/* A section: what matters of its header. */
struct section {
    uint32_t name, type;
    uint64_t offset, size;
};

/* ---- bytes ---- */

static uint16_t get16(const struct reading *self, const uint8_t *at)
{
    return self->is_big ? get_u16be(at) : get_u16le(at);
}

static uint32_t get32(const struct reading *self, const uint8_t *at)
{
    return self->is_big ? get_u32be(at) : get_u32le(at);
}

/* An address or offset. */
static uint64_t get_word(const struct reading *self, const uint8_t *at)
{
    return !self->is_wide ? get32(self, at) : self->is_big ? get_u64be(at) : get_u64le(at);
}

static bool read_at(const struct reading *self, uint64_t offset, void *bytes, size_t size)
{
    if (offset > self->size || size > self->size - offset)
        return false;
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(self->fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Bytes of the file; NULL if they are too many, or not there. The caller frees them. */
static uint8_t *load(const struct reading *self, uint64_t offset, uint64_t size, uint64_t most)
{
    uint8_t *bytes = size <= most ? malloc((size_t)size + 1) : NULL;
    if (bytes && !read_at(self, offset, bytes, (size_t)size)) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes)
        bytes[size] = '\0';
    return bytes;
}

/* ---- sections ---- */

static void take_id(const struct reading *self, struct lode_range rest)
{
    while (rest.size >= sizeof(Elf64_Nhdr)) {
        uint64_t name = get32(self, rest.data), size = get32(self, rest.data + 4);
        uint32_t type = get32(self, rest.data + 8);
        uint64_t start = sizeof(Elf64_Nhdr) + ((name + 3) & ~UINT64_C(3)),
                 past = start + ((size + 3) & ~UINT64_C(3));
        struct lode_range id;
        if (!lode_range_part(rest, start, size, &id))
            return;
        bool is_id = type == NT_GNU_BUILD_ID && name == sizeof ELF_NOTE_GNU &&
                     memcmp(rest.data + sizeof(Elf64_Nhdr), ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
        if (is_id && size > 0 && size <= sizeof self->notes->build_id) {
            memcpy(self->notes->build_id, id.data, (size_t)size);
            self->notes->build_id_size = (size_t)size;
            return;
        }
        if (past > rest.size)
            return;
        rest = (struct lode_range){rest.data + past, rest.size - past};
    }
}

static void read_id(struct reading *self, const struct section *section)
{
    uint64_t most = self->notes_left < NOTES_MOST ? self->notes_left : NOTES_MOST;
    uint8_t *bytes = load(self, section->offset, section->size, most);
    self->notes_left -= bytes ? section->size : 0;
    if (bytes)
        take_id(self, (struct lode_range){bytes, section->size});
    free(bytes);
}

static void read_link(const struct reading *self, const struct section *section)
{
    uint8_t *bytes = load(self, section->offset, section->size, sizeof self->notes->link);
    size_t length = bytes ? strnlen((const char *)bytes, (size_t)section->size) : 0;
    if (bytes && length < sizeof self->notes->link)
        memcpy(self->notes->link, bytes, length + 1);
    free(bytes);
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static void use_section(struct reading *self, const struct section *section, const char *name)
{
    if (section->type == SHT_NOBITS)
        return;
    if (section->type == SHT_NOTE && self->notes->build_id_size == 0)
        read_id(self, section);
    else if (strcmp(name, ".gnu_debuglink") == 0)
        read_link(self, section);
    else if (begins(name, ".debug_") || begins(name, ".zdebug_"))
        self->notes->has_debug = true;
}

static struct section section_at(const struct reading *self, const uint8_t *at)
{
    size_t word = self->is_wide ? 8 : 4;
    /* name, type, then words: flags, address, offset, size. */
    return (struct section){.name = get32(self, at),
                            .type = get32(self, at + 4),
                            .offset = get_word(self, at + 8 + 2 * word),
                            .size = get_word(self, at + 8 + 3 * word)};
}

static bool read_sections(struct reading *self, const uint8_t *header)
{
    size_t word = self->is_wide ? 8 : 4, entry = self->is_wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    /* After entry, program headers: section headers, flags, six numbers of 16 bits. */
    uint64_t table = get_word(self, header + 24 + 2 * word);
    const uint8_t *numbers = header + 24 + 3 * word + 4;
    uint16_t count = get16(self, numbers + 8), names_at = get16(self, numbers + 10);
    if (get16(self, numbers + 6) != entry || count == 0 || names_at >= count)
        return false;
    uint8_t *rows = load(self, table, (uint64_t)count * entry, UINT16_MAX * sizeof(Elf64_Shdr));
    if (rows == NULL)
        return false;
    struct section names = section_at(self, rows + names_at * entry);
    uint8_t *text = load(self, names.offset, names.size, NAMES_MOST);
    for (unsigned i = 0; text && i < count; i++) {
        struct section section = section_at(self, rows + i * entry);
        if (section.name < names.size)
            use_section(self, &section, (const char *)text + section.name);
    }
    bool is_read = text != NULL;
    free(text);
    free(rows);
    return is_read;
}

bool lode_binary_notes(struct binary_notes *notes, int fd, uint64_t size)
{
    struct reading self = {.notes = notes, .fd = fd, .size = size, .notes_left = NOTES_ALL};
    uint8_t header[HEADER_SIZE];
    *notes = (struct binary_notes){0};
    if (!read_at(&self, 0, header, sizeof header) || memcmp(header, ELFMAG, SELFMAG) != 0)
        return false;
    self.is_wide = header[EI_CLASS] == ELFCLASS64;
    self.is_big = header[EI_DATA] == ELFDATA2MSB;
    bool is_known =
        (self.is_wide || header[EI_CLASS] == ELFCLASS32) && (self.is_big || header[EI_DATA] == ELFDATA2LSB);
    return is_known && read_sections(&self, header);
}
