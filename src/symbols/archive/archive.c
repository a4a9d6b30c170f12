/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of 'perf archive', which tar made: of a directory that has each binary below its build
 * id. Paths only tell build ids. Nothing is written anywhere, and links and devices mean nothing.
 */
#include "symbols/archive/archive.h"

#include "symbols/answer.h"
#include "symbols/archive/unpack.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 512,
    PIECE = 1 << 16,
    NAME_MOST = 2 * PATH_MAX /* longer ones are not looked at */
};

/* The header of a member, as POSIX has it. */
struct header {
    char name[100], mode[8], owner[8], group[8], size[12], time[12], sum[8], type, link[100], magic[8];
    char user[32], users[32], major[8], minor[8], prefix[155], rest[12];
};

struct archive {
    struct unpacker unpacker;
    struct archive_wanted *wanted; /* sorted */
    bool *is_sent;
    uint32_t count, sent;
    char name[NAME_MOST]; /* of the next member, if records before its header have it; or "" */
    uint64_t size;        /* the same; UINT64_MAX: none */
};

/* ---- bytes ---- */

/* An archive that ends early, or cannot be unpacked, ends the work. */
static void must_read(struct archive *self, void *bytes, size_t size)
{
    if (unpacker_read(&self->unpacker, bytes, size) != (ssize_t)size)
        _exit(SYMBOLS_DAMAGED);
}

static void must_write(const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write(SYMBOLS_OUTPUT_FD, (const char *)bytes + done, size - done);
        if (written < 0 && errno != EINTR)
            _exit(SYMBOLS_NO_OUTPUT);
        done += written > 0 ? (size_t)written : 0;
    }
}

/* Reads the content of a member, and sends it if it is wanted. It fills whole blocks. */
static void pass(struct archive *self, uint64_t size, bool is_wanted)
{
    static unsigned char piece[PIECE];
    while (size > 0) {
        size_t part = size < PIECE ? (size_t)size : PIECE;
        must_read(self, piece, (part + BLOCK - 1) / BLOCK * BLOCK);
        if (is_wanted)
            must_write(piece, part);
        size -= part;
    }
}

/* ---- headers ---- */

/* Octal digits, or a number of 8 bytes at the end if the first byte says so. */
static uint64_t number_of(const char *field, size_t size)
{
    uint64_t number = 0;
    if ((unsigned char)field[0] == 0x80) {
        for (size_t i = size - 8; i < size; i++)
            number = number << 8 | (unsigned char)field[i];
        return number;
    }
    for (size_t i = 0; i < size && field[i]; i++)
        if (field[i] >= '0' && field[i] <= '7')
            number = number << 3 | (uint64_t)(field[i] - '0');
        else if (field[i] != ' ')
            _exit(SYMBOLS_DAMAGED);
    return number;
}

/* The sum of all bytes, where those of the sum itself count as blanks. */
static bool is_sound(const struct header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    size_t first = offsetof(struct header, sum), last = first + sizeof header->sum;
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= first && i < last ? ' ' : bytes[i];
    return sum == number_of(header->sum, sizeof header->sum);
}

/* Records of a member's own: "LENGTH NAME=VALUE\n", where the length is that of all of it. */
static void take_records(struct archive *self, char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        char *end;
        uint64_t length = strtoull(text + at, &end, 10);
        size_t used = (size_t)(end - (text + at));
        if (length > size - at || length < used + 2 || text[at + length - 1] != '\n')
            return;
        text[at + length - 1] = '\0';
        if (strncmp(end, " path=", 6) == 0)
            memcpy(self->name, end + 6, strlen(end + 6) + 1);
        else if (strncmp(end, " size=", 6) == 0)
            self->size = strtoull(end + 6, NULL, 10);
        at += (size_t)length;
    }
}

/* What comes before the header of a member: its name if that is long, or records. */
static void take_before(struct archive *self, char type, uint64_t size)
{
    char text[NAME_MOST + BLOCK];
    if (size >= NAME_MOST) {
        pass(self, size, false);
        return;
    }
    must_read(self, text, ((size_t)size + BLOCK - 1) / BLOCK * BLOCK);
    text[size] = '\0';
    if (type == 'L')
        memcpy(self->name, text, strlen(text) + 1);
    else
        take_records(self, text, (size_t)size);
}

static void take_name(struct archive *self, const struct header *header)
{
    bool has_prefix = memcmp(header->magic, "ustar", 6) == 0 && header->prefix[0];
    size_t length = 0;
    if (self->name[0])
        return;
    if (has_prefix) {
        length = strnlen(header->prefix, sizeof header->prefix);
        memcpy(self->name, header->prefix, length);
        self->name[length++] = '/';
    }
    size_t rest = strnlen(header->name, sizeof header->name);
    memcpy(self->name + length, header->name, rest);
    self->name[length + rest] = '\0';
}

/* ---- build ids ---- */

static bool cut(char *name, const char *end)
{
    size_t length = strlen(name), size = strlen(end);
    bool has_end = length > size && strcmp(name + length - size, end) == 0;
    if (has_end)
        name[length - size] = '\0';
    return has_end;
}

static unsigned digit_of(char digit)
{
    return (unsigned)(isdigit((unsigned char)digit) ? digit - '0' : tolower((unsigned char)digit) - 'a' + 10);
}

/* "PATH/ID/elf", as perf has it, "PATH/ID", as it had it, or ".build-id/AB/CDEF.../elf". */
static bool id_of(char *name, struct archive_wanted *id)
{
    if (!cut(name, "/elf"))
        cut(name, "/kallsyms");
    char *slash = strrchr(name, '/'), *folder = strstr(name, ".build-id/"),
         *digits = slash ? slash + 1 : name;
    if (folder && slash == folder + strlen(".build-id/") + 2) {
        memmove(slash, slash + 1, strlen(slash));
        digits = slash - 2;
    }
    size_t length = strlen(digits);
    *id = (struct archive_wanted){.size = (uint8_t)(length / 2)};
    if (length < 4 || length > 2 * sizeof id->id || length % 2 != 0 ||
        strspn(digits, "0123456789abcdefABCDEF") != length)
        return false;
    for (size_t i = 0; i < length; i += 2)
        id->id[i / 2] = (uint8_t)(digit_of(digits[i]) << 4 | digit_of(digits[i + 1]));
    return true;
}

static int compare(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct archive_wanted));
}

/* ---- members ---- */

/* A file is sent if it is the first of a build id that is wanted. */
static void take_file(struct archive *self, uint64_t size)
{
    struct archive_wanted id;
    struct archive_wanted *found =
        id_of(self->name, &id) ? bsearch(&id, self->wanted, self->count, sizeof id, compare) : NULL;
    uint32_t index = found ? (uint32_t)(found - self->wanted) : 0;
    bool is_wanted = found && !self->is_sent[index] && size > 0;
    if (is_wanted) {
        must_write(&(struct archive_file){.wanted = index, .size = size}, sizeof(struct archive_file));
        self->is_sent[index] = true;
        self->sent++;
    }
    pass(self, size, is_wanted);
}

/* False: the archive ends. */
static bool take_member(struct archive *self)
{
    static const struct header zero;
    struct header header;
    ssize_t got = unpacker_read(&self->unpacker, &header, sizeof header);
    if (got == 0 || (got == BLOCK && memcmp(&header, &zero, BLOCK) == 0))
        return false;
    if (got != BLOCK || !is_sound(&header))
        _exit(SYMBOLS_DAMAGED);
    uint64_t size = number_of(header.size, sizeof header.size);
    if (header.type == 'L' || header.type == 'x') {
        take_before(self, header.type, size);
        return true;
    }
    if (header.type == 'K' || header.type == 'g') {
        pass(self, size, false);
        return true;
    }
    size = self->size != UINT64_MAX ? self->size : size;
    take_name(self, &header);
    if (header.type == '0' || header.type == '\0')
        take_file(self, size);
    else
        pass(self, size, false);
    self->name[0] = '\0';
    self->size = UINT64_MAX;
    return true;
}

static void read_wanted(struct archive *self)
{
    off_t size = lseek(SYMBOLS_OFFSETS_FD, 0, SEEK_END);
    self->count = size > 0 ? (uint32_t)((size_t)size / sizeof *self->wanted) : 0;
    self->wanted = must_grow(NULL, self->count, sizeof *self->wanted);
    self->is_sent = must_grow(NULL, self->count, sizeof *self->is_sent);
    memset(self->is_sent, 0, self->count * sizeof *self->is_sent);
    size_t bytes = self->count * sizeof *self->wanted;
    if (pread(SYMBOLS_OFFSETS_FD, self->wanted, bytes, 0) != (ssize_t)bytes)
        _exit(SYMBOLS_NO_OUTPUT);
}

enum symbols_exit archive_send(void)
{
    static struct archive self = {.size = UINT64_MAX};
    read_wanted(&self);
    if (!unpacker_open(&self.unpacker, SYMBOLS_BINARY_FD))
        return SYMBOLS_NO_READER;
    while (self.sent < self.count && take_member(&self)) {
    }
    must_write(&(struct archive_file){.wanted = SYMBOLS_NONE}, sizeof(struct archive_file));
    return SYMBOLS_DONE;
}
