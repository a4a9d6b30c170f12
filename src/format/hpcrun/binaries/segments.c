/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/binaries/segments.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

size_t lode_binary_segments(int fd, struct binary_segment segments[BINARY_SEGMENTS_MOST])
{
    Elf64_Ehdr header;
    Elf64_Phdr entry;
    size_t count = 0;
    int own = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
    if (pread(fd, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != own || header.e_phentsize != sizeof entry ||
        header.e_phoff > INT64_MAX / 2)
        return 0;
    for (unsigned i = 0; i < header.e_phnum && i < BINARY_SEGMENTS_MOST; i++) {
        off_t at = (off_t)(header.e_phoff + i * sizeof entry);
        if (pread(fd, &entry, sizeof entry, at) != sizeof entry)
            return count;
        if (entry.p_type == PT_LOAD)
            segments[count++] = (struct binary_segment){entry.p_offset, entry.p_filesz, entry.p_vaddr};
    }
    return count;
}

bool lode_binary_address(const struct binary_segment *segments, size_t count, uint64_t offset, uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        if (offset >= segments[i].offset && offset - segments[i].offset < segments[i].size) {
            *out = offset - segments[i].offset + segments[i].address;
            return true;
        }
    return false;
}
