/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries of .eh_frame: where functions begin and end, also in stripped binaries. The table of
 * .eh_frame_hdr has their addresses; how an entry stores its length, its common entry (CIE) says.
 */
#include "image.h"

#include <string.h>

enum {
    VERSION = 1,
    TABLE_ENCODING = 0x3b, /* four bytes each, relative to the table's section */
    HEADER_SIZE = 12,
    STRING_MOST = 16
};

struct reader {
    const uint8_t *at;
    size_t size;
};

static uint64_t take(struct reader *reader, size_t size)
{
    uint64_t number = 0;
    if (size > reader->size) {
        reader->size = 0;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)reader->at[i] << 8 * i;
    reader->at += size;
    reader->size -= size;
    return number;
}

static uint64_t take_leb(struct reader *reader)
{
    uint64_t number = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && reader->size > 0; shift += 7) {
        byte = take(reader, 1);
        number |= shift < 64 ? (byte & 0x7f) << shift : 0;
    }
    return number;
}

static size_t size_of(unsigned encoding)
{
    static const uint8_t sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
    return sizes[encoding & 7];
}

/* How addresses of a common entry's functions are stored; -1: unknown. */
static int encoding_of(const struct image *image, uint64_t address)
{
    struct reader reader;
    char letters[STRING_MOST] = "";
    reader.at = image_bytes(image, address, &reader.size);
    if (reader.at == NULL || take(&reader, 4) == UINT32_MAX || take(&reader, 4) != 0)
        return -1;
    unsigned version = (unsigned)take(&reader, 1);
    for (size_t i = 0; i < sizeof letters; i++) {
        letters[i] = (char)take(&reader, 1);
        if (letters[i] == '\0')
            break;
    }
    if (letters[STRING_MOST - 1] != '\0' || letters[0] != 'z')
        return -1;
    take_leb(&reader);
    take_leb(&reader);
    if (version == 1)
        take(&reader, 1);
    else
        take_leb(&reader);
    take_leb(&reader);
    for (const char *letter = letters + 1; *letter; letter++) {
        if (*letter == 'R')
            return (int)take(&reader, 1);
        if (*letter == 'L')
            take(&reader, 1);
        else if (*letter == 'P')
            take(&reader, size_of((unsigned)take(&reader, 1)));
        else if (*letter != 'S' && *letter != 'B')
            return -1;
    }
    return -1;
}

struct common {
    uint64_t address;
    int encoding;
};

/* The number of bytes of an entry's function; 0: unknown. */
static uint64_t length_of(const struct image *image, uint64_t address, struct common *last)
{
    struct reader reader;
    reader.at = image_bytes(image, address, &reader.size);
    if (reader.at == NULL || take(&reader, 4) == UINT32_MAX)
        return 0;
    uint64_t common = address + 4 - take(&reader, 4);
    if (common != last->address)
        *last = (struct common){common, encoding_of(image, common)};
    size_t size = last->encoding < 0 ? 0 : size_of((unsigned)last->encoding);
    take(&reader, size);
    return take(&reader, size);
}

void image_read_frames(struct image *image, uint64_t header, uint64_t most)
{
    struct reader reader;
    struct common last = {0, -1};
    reader.at = image_bytes(image, header, &reader.size);
    reader.size = reader.size < most ? reader.size : (size_t)most;
    if (reader.at == NULL || reader.size < HEADER_SIZE || image->machine == MACHINE_POWER_BE)
        return;
    unsigned version = (unsigned)take(&reader, 1), pointer = (unsigned)take(&reader, 1);
    unsigned count = (unsigned)take(&reader, 1), table = (unsigned)take(&reader, 1);
    if (version != VERSION || size_of(pointer) != 4 || size_of(count) != 4 || table != TABLE_ENCODING)
        return;
    take(&reader, 4);
    uint64_t entries = take(&reader, 4);
    for (uint64_t i = 0; i < entries && reader.size >= 8; i++) {
        uint64_t start = header + (uint64_t)(int64_t)(int32_t)take(&reader, 4);
        uint64_t entry = header + (uint64_t)(int64_t)(int32_t)take(&reader, 4);
        image_add_extent(image, start, length_of(image, entry, &last), NULL);
    }
}
