/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/scopes/kernel.h"

#include "base/compare.h"
#include "base/io/gzip.h"
#include "base/text/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#if LODE_HAS_LZMA
#include <lzma.h>
#endif

#define LOAD_MAP_BEGIN "<vmlinux."
#define FILE_BEGIN     KERNEL_FOLDER "/vmlinux."

bool lode_kernel_begins(struct lode_range bytes)
{
    static const uint8_t magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    return bytes.size >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}

bool lode_kernel_file(const char *path, char *file, size_t capacity)
{
    size_t length = strlen(path);
    bool is_old = strncmp(path, LOAD_MAP_BEGIN, sizeof LOAD_MAP_BEGIN - 1) == 0 && path[length - 1] == '>';
    if (!is_old && strncmp(path, FILE_BEGIN, sizeof FILE_BEGIN - 1) != 0)
        return false;
    int size = is_old ? snprintf(file, capacity, KERNEL_FOLDER "/%.*s", (int)(length - 2), path + 1)
                      : snprintf(file, capacity, "%s", path);
    return size > 0 && (size_t)size < capacity && strchr(file + sizeof KERNEL_FOLDER, '/') == NULL;
}

#if LODE_HAS_LZMA

enum {
    PIECE = 1 << 16, /* bytes unpacked at once */
    FIELDS = 4
};

struct reader {
    struct lode_report *report;
    const char *file;
    struct hpcstruct_module module;
    struct lode_strings strings;
    uint64_t unpacked; /* bytes before the current line */
    uint64_t highest;  /* address */
    size_t used;       /* bytes of the current line */
    char line[KERNEL_LINE_MOST + 1];
};

#define kernel_finding(reader, rule, offset, ...)                                                            \
    lode_report_add((reader)->report, rule, (reader)->file, offset, __VA_ARGS__)

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Divides a line in place; fields after the fourth are not used. */
static unsigned split(char *line, char *fields[FIELDS])
{
    unsigned count = 0;
    char *at = line;
    for (;;) {
        while (is_blank(*at))
            *at++ = '\0';
        if (*at == '\0' || count == FIELDS)
            return count;
        fields[count++] = at;
        while (*at != '\0' && !is_blank(*at))
            at++;
    }
}

static bool parse_address(const char *text, uint64_t *address)
{
    char *end;
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 || text[digits] != '\0')
        return false;
    *address = strtoull(text, &end, 16);
    return true;
}

static lode_status add_symbol(struct reader *reader, uint64_t address, const char *name, const char *module)
{
    char full[KERNEL_LINE_MOST + 16];
    struct hpcstruct_scope scope = {.parent = LODE_NO_NUMBER, .file = LODE_NO_NUMBER, .address = address};
    struct lode_array *scopes = &reader->module.scopes, *ranges = &reader->module.ranges;
    snprintf(full, sizeof full, "%s%s%s [vmlinux]", name, module ? " " : "", module ? module : "");
    if (lode_utf8_valid_prefix(full, strlen(full)) != strlen(full))
        LODE_TRY(kernel_finding(reader, HPCRUN_RULE_UTF8, reader->unpacked, "a name is not UTF-8"));
    uint64_t most = KERNEL_SYMBOLS_FLOOR + reader->unpacked / KERNEL_SYMBOL_BYTES;
    if (scopes->count == KERNEL_SYMBOLS_MOST || scopes->count >= most)
        return hpcrun_end(kernel_finding(reader, HPCRUN_RULE_KERNEL_LIMIT, reader->unpacked,
                                         "there are more than %zu functions in %" PRIu64 " bytes",
                                         scopes->count, reader->unpacked));
    LODE_TRY_ALLOC(lode_strings_put(&reader->strings, full, &scope.name), reader->report->error);
    struct hpcstruct_scope *slot = lode_array_push(scopes);
    struct hpcstruct_range *range = lode_array_push(ranges);
    LODE_TRY_ALLOC(slot && range, reader->report->error);
    *slot = scope;
    *range = (struct hpcstruct_range){address, UINT64_MAX, (uint32_t)(scopes->count - 1)};
    reader->highest = address > reader->highest ? address : reader->highest;
    reader->module.functions++;
    return LODE_OK;
}

static lode_status take_line(struct reader *reader)
{
    char *fields[FIELDS] = {NULL};
    uint64_t address = 0;
    reader->line[reader->used] = '\0';
    bool is_whole = strlen(reader->line) == reader->used; /* without a NUL */
    unsigned count = is_whole ? split(reader->line, fields) : 0;
    if (count < 3 || strlen(fields[1]) != 1 || !parse_address(fields[0], &address))
        return kernel_finding(reader, HPCRUN_RULE_KERNEL_LINE, reader->unpacked,
                              "not an address, a type and a name");
    bool is_function = fields[1][0] == 't' || fields[1][0] == 'T';
    return is_function ? add_symbol(reader, address, fields[2], fields[3]) : LODE_OK;
}

/* Takes the lines of a piece; the last one may continue in the next. */
static lode_status take_piece(struct reader *reader, const char *bytes, size_t size, bool is_last)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\n') {
            if (reader->used == KERNEL_LINE_MOST)
                return hpcrun_end(kernel_finding(reader, HPCRUN_RULE_KERNEL_LIMIT, reader->unpacked,
                                                 "a line is longer than %d bytes", KERNEL_LINE_MOST));
            reader->line[reader->used++] = bytes[i];
            continue;
        }
        LODE_TRY(take_line(reader));
        reader->unpacked += reader->used + 1;
        reader->used = 0;
    }
    return is_last && reader->used > 0 ? take_line(reader) : LODE_OK;
}

/* ---- xz ---- */

static lode_status explain(const struct reader *reader, lzma_ret code, uint64_t offset)
{
    if (code == LZMA_MEM_ERROR)
        return lode_fail_memory(reader->report->error);
    if (code == LZMA_MEMLIMIT_ERROR)
        return hpcrun_end(kernel_finding(reader, HPCRUN_RULE_KERNEL_LIMIT, offset,
                                         "unpacking takes more than %d MiB of memory",
                                         KERNEL_MEMORY_MOST >> 20));
    return hpcrun_end(kernel_finding(reader, HPCRUN_RULE_KERNEL_XZ, offset, "%s",
                                     code == LZMA_FORMAT_ERROR ? "not a file of xz"
                                     : code == LZMA_BUF_ERROR  ? "the file is cut off"
                                     : code == LZMA_STREAM_END ? "bytes follow the end of the stream"
                                                               : "the packed bytes are damaged"));
}

static lode_status unpack(struct reader *reader, lzma_stream *stream, struct lode_range packed)
{
    char piece[PIECE];
    uint64_t allowed = lode_gzip_allowed(packed.size);
    uint64_t most = allowed < KERNEL_UNPACKED_MOST ? allowed : KERNEL_UNPACKED_MOST;
    lzma_ret code = lzma_stream_decoder(stream, KERNEL_MEMORY_MOST, 0);
    stream->next_in = packed.data;
    stream->avail_in = (size_t)packed.size;
    while (code == LZMA_OK) {
        stream->next_out = (uint8_t *)piece;
        stream->avail_out = sizeof piece;
        code = lzma_code(stream, LZMA_FINISH);
        if (code != LZMA_OK && code != LZMA_STREAM_END)
            break;
        if (stream->total_out > most)
            return hpcrun_end(kernel_finding(reader, HPCRUN_RULE_KERNEL_LIMIT, stream->total_in,
                                             "%" PRIu64 " bytes unpack to more than %" PRIu64, packed.size,
                                             most));
        LODE_TRY(take_piece(reader, piece, sizeof piece - stream->avail_out, code == LZMA_STREAM_END));
    }
    return code == LZMA_STREAM_END && stream->avail_in == 0 ? LODE_OK
                                                            : explain(reader, code, stream->total_in);
}

/* ---- ranges ---- */

LODE_COMPARE_BY_2(compare_symbols, struct hpcstruct_range, start, scope);

/* Of several at one address, the first in the file counts. Each reaches to the next. */
static void settle(struct hpcstruct_module *module)
{
    struct lode_array *ranges = &module->ranges;
    size_t stored = 0;
    if (ranges->count > 0)
        qsort(ranges->items, ranges->count, sizeof(struct hpcstruct_range), compare_symbols);
    for (size_t i = 0; i < ranges->count; i++) {
        struct hpcstruct_range range = *LODE_ARRAY_AT(ranges, struct hpcstruct_range, i);
        struct hpcstruct_range *last =
            stored > 0 ? LODE_ARRAY_AT(ranges, struct hpcstruct_range, stored - 1) : NULL;
        if (range.start == UINT64_MAX || (last && last->start == range.start))
            continue;
        if (last)
            last->end = range.start;
        *LODE_ARRAY_AT(ranges, struct hpcstruct_range, stored++) = range;
    }
    module->dropped = ranges->count - stored;
    ranges->count = stored;
}

static lode_status finish(struct reader *reader, hpcstruct_fn on_module, void *user)
{
    struct hpcstruct_module *module = &reader->module;
    settle(module);
    if (module->ranges.count > 0 && reader->highest == 0) {
        LODE_TRY(kernel_finding(reader, HPCRUN_RULE_KERNEL_ADDRESS, LODE_NO_OFFSET,
                                "the addresses of all functions are 0"));
        module->ranges.count = 0;
    }
    return on_module ? on_module(user, module) : LODE_OK;
}

static lode_status read_file(const char *file, struct lode_range bytes, struct lode_report *report,
                             hpcstruct_fn on_module, void *user)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    struct reader *reader = calloc(1, sizeof *reader);
    LODE_TRY_ALLOC(reader, report->error);
    reader->report = report;
    reader->file = file;
    reader->module.path = file;
    reader->module.kind = LODE_STRUCTURE_KERNEL;
    reader->module.strings = &reader->strings;
    lode_array_init(&reader->module.scopes, sizeof(struct hpcstruct_scope), KERNEL_SYMBOLS_MOST);
    lode_array_init(&reader->module.ranges, sizeof(struct hpcstruct_range), KERNEL_SYMBOLS_MOST);
    lode_strings_init(&reader->strings);
    lode_status status = unpack(reader, &stream, bytes);
    lzma_end(&stream);
    if (status == LODE_OK)
        status = finish(reader, on_module, user);
    lode_array_free(&reader->module.scopes);
    lode_array_free(&reader->module.ranges);
    lode_strings_free(&reader->strings);
    free(reader);
    return status;
}

#else

static lode_status read_file(const char *file, struct lode_range bytes, struct lode_report *report,
                             hpcstruct_fn on_module, void *user)
{
    (void)bytes;
    (void)on_module;
    (void)user;
    LODE_TRY(lode_report_add(report, HPCRUN_RULE_KERNEL_UNREAD, file, LODE_NO_OFFSET,
                             "not read: this build has no liblzma"));
    return lode_fail(report->error, LODE_ERR_UNSUPPORTED, file, LODE_NO_OFFSET,
                     "kernel symbols are packed by xz, and this build has no liblzma");
}

#endif

lode_status lode_kernel_read(const char *file, struct lode_range bytes, lode_check_level level,
                             struct lode_report *report, hpcstruct_fn on_module, void *user)
{
    return level < LODE_CHECK_STRUCTURE ? LODE_END : read_file(file, bytes, report, on_module, user);
}
