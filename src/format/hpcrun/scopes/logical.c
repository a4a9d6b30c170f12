/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/scopes/logical.h"

#include "base/compare.h"
#include "base/io/bytes.h"
#include "base/memory/blob.h"
#include "base/text/utf8.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    GROWTH_MOST = 16, /* of names when they are demangled, and a constant */
    GROWTH_MORE = 1 << 20
};

/* What makes two records one function. Without padding. */
struct identity {
    uint32_t name, file, line;
};

struct reader {
    struct lode_report *report;
    const char *file;
    struct lode_range bytes, rest;
    bool is_cut;
    uint64_t budget; /* bytes of names */
    struct hpcstruct_module module;
    struct lode_strings strings;
    struct lode_interner identities; /* the number is that of the scope */
    struct lode_map range_of;        /* from ids */
    struct lode_blob text, demangled;
};

#define logical_finding(reader, rule, ...)                                                                   \
    lode_report_add((reader)->report, rule, (reader)->file,                                                  \
                    (uint64_t)((reader)->rest.data - (reader)->bytes.data), __VA_ARGS__)

/* ---- fields ---- */

/* NULL if there are fewer bytes. */
static const uint8_t *take(struct reader *reader, uint64_t size)
{
    struct lode_range part;
    if (reader->is_cut || !lode_range_part(reader->rest, 0, size, &part)) {
        reader->is_cut = true;
        return NULL;
    }
    reader->rest = (struct lode_range){part.data + size, reader->rest.size - size};
    return part.data;
}

static uint32_t take_u32(struct reader *reader)
{
    const uint8_t *at = take(reader, sizeof(uint32_t));
    return at ? get_u32be(at) : 0;
}

/* A string, with its NUL, in the reader's buffer. */
static lode_status take_text(struct reader *reader)
{
    uint32_t length = take_u32(reader);
    const uint8_t *at = take(reader, length);
    reader->text.size = 0;
    if (at && (length > HPCRUN_STRING_MOST || memchr(at, '\0', length)))
        return hpcrun_end(logical_finding(reader, HPCRUN_RULE_STRING, "a string of %" PRIu32 " bytes %s",
                                          length,
                                          length > HPCRUN_STRING_MOST ? "is too long" : "holds a NUL"));
    size_t size = at ? length : 0;
    LODE_TRY_ALLOC(lode_blob_extend(&reader->text, size + 1) != LODE_BLOB_FULL, reader->report->error);
    if (size > 0)
        memcpy(reader->text.bytes, at, size);
    reader->text.bytes[size] = '\0';
    if (lode_utf8_valid_prefix((const char *)reader->text.bytes, size) < size)
        return logical_finding(reader, HPCRUN_RULE_UTF8, "a name is not UTF-8");
    return LODE_OK;
}

/* The number of a text; none if it is empty. */
static lode_status put_text(struct reader *reader, const char *text, uint32_t *number)
{
    size_t length;
    *number = LODE_NO_NUMBER;
    if (*text == '\0')
        return LODE_OK;
    if (!lode_string_take(&reader->budget, text, &length))
        return hpcrun_end(logical_finding(reader, HPCRUN_RULE_LOGICAL_LIMIT,
                                          "demangled names take more than %d times the file", GROWTH_MOST));
    LODE_TRY_ALLOC(lode_strings_put(&reader->strings, text, number), reader->report->error);
    return LODE_OK;
}

/* The name in the buffer, demangled if it is that of a C++ function. */
static lode_status put_name(struct reader *reader, bool is_mangled, uint32_t *number)
{
    const char *name = (const char *)reader->text.bytes;
    struct lode_blob *to = &reader->demangled;
    if (!is_mangled || strncmp(name, "_Z", 2) != 0)
        return put_text(reader, name, number);
    size_t length = lode_demangle(name, NULL, 0);
    to->size = 0;
    LODE_TRY_ALLOC(lode_blob_extend(to, length + 1) != LODE_BLOB_FULL, reader->report->error);
    lode_demangle(name, (char *)to->bytes, length + 1);
    return put_text(reader, (const char *)to->bytes, number);
}

/* ---- records ---- */

static lode_status add_scope(struct reader *reader, const struct identity *identity, uint32_t *scope)
{
    bool added, is_named = identity->name != LODE_NO_NUMBER;
    *scope = lode_interner_add(&reader->identities, identity, &added);
    LODE_TRY_ALLOC(*scope != LODE_NO_NUMBER, reader->report->error);
    if (!added)
        return LODE_OK;
    struct hpcstruct_scope *slot = lode_array_push(&reader->module.scopes);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = (struct hpcstruct_scope){.parent = LODE_NO_NUMBER,
                                     .name = identity->name,
                                     .file = identity->file,
                                     .line = identity->line,
                                     .kind = is_named ? HPCSTRUCT_FUNCTION : HPCSTRUCT_LINE};
    reader->module.functions += is_named;
    return LODE_OK;
}

/* Of several records with one id, the last one counts. */
static lode_status add_range(struct reader *reader, uint32_t id, uint32_t scope)
{
    struct lode_array *ranges = &reader->module.ranges;
    bool added;
    const uint32_t *number = lode_map_add(&reader->range_of, id, (uint32_t)ranges->count, &added);
    LODE_TRY_ALLOC(number, reader->report->error);
    if (!added) {
        LODE_ARRAY_AT(ranges, struct hpcstruct_range, *number)->scope = scope;
        reader->module.dropped++;
        return logical_finding(reader, HPCRUN_RULE_LOGICAL_ID, "two records have the id %" PRIu32, id);
    }
    struct hpcstruct_range *range = lode_array_push(ranges);
    LODE_TRY_ALLOC(range, reader->report->error);
    uint64_t start = (uint64_t)id << LOGICAL_LINE_BITS, next = start + (UINT64_C(1) << LOGICAL_LINE_BITS);
    *range = (struct hpcstruct_range){start, next > start ? next : UINT64_MAX, scope};
    return LODE_OK;
}

static lode_status take_record(struct reader *reader)
{
    struct identity identity = {LODE_NO_NUMBER, LODE_NO_NUMBER, 0};
    uint32_t id = take_u32(reader), scope;
    LODE_TRY(take_text(reader));
    const uint8_t *mangled = take(reader, 1);
    if (mangled)
        LODE_TRY(put_name(reader, *mangled != 0, &identity.name));
    LODE_TRY(take_text(reader));
    identity.line = take_u32(reader);
    if (reader->is_cut)
        return hpcrun_end(logical_finding(reader, HPCRUN_RULE_LOGICAL_CUT, "the last record is cut off"));
    LODE_TRY(put_text(reader, (const char *)reader->text.bytes, &identity.file));
    if (id == 0)
        return logical_finding(reader, HPCRUN_RULE_LOGICAL_ID, "a record has the id 0");
    LODE_TRY(add_scope(reader, &identity, &scope));
    return add_range(reader, id, scope);
}

/* ---- files ---- */

LODE_COMPARE_BY(compare_starts, struct hpcstruct_range, start);

/* Functions of logical/python.0123abcd are in a module "<logical python>". */
static lode_status name_module(struct reader *reader)
{
    const char *slash = strrchr(reader->file, '/'), *base = slash ? slash + 1 : reader->file;
    const char *dot = strrchr(base, '.');
    int length = (int)(dot ? (size_t)(dot - base) : strlen(base));
    uint32_t number;
    reader->text.size = 0;
    LODE_TRY_ALLOC(lode_blob_extend(&reader->text, strlen(base) + sizeof "<logical >") != LODE_BLOB_FULL,
                   reader->report->error);
    snprintf((char *)reader->text.bytes, reader->text.size, "<logical %.*s>", length, base);
    LODE_TRY_ALLOC(lode_strings_put(&reader->strings, (const char *)reader->text.bytes, &number),
                   reader->report->error);
    reader->module.name = lode_strings_at(&reader->strings, number);
    return LODE_OK;
}

static lode_status read_records(struct reader *reader)
{
    struct lode_array *ranges = &reader->module.ranges;
    const uint8_t *magic = take(reader, LOGICAL_BEGIN_SIZE);
    if (magic == NULL || memcmp(magic, LOGICAL_BEGIN, LOGICAL_BEGIN_SIZE) != 0) {
        reader->rest = reader->bytes;
        return hpcrun_end(logical_finding(reader, HPCRUN_RULE_LOGICAL_HEADER,
                                          "the file does not begin with " LOGICAL_BEGIN));
    }
    while (reader->rest.size > 0)
        LODE_TRY(take_record(reader));
    LODE_TRY(name_module(reader));
    if (ranges->count > 0)
        qsort(ranges->items, ranges->count, sizeof(struct hpcstruct_range), compare_starts);
    return LODE_OK;
}

lode_status lode_logical_read(const char *file, struct lode_range bytes, lode_check_level level,
                              struct lode_report *report, hpcstruct_fn on_module, void *user)
{
    struct reader reader = {.report = report, .file = file, .bytes = bytes, .rest = bytes};
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    reader.budget = bytes.size * GROWTH_MOST + GROWTH_MORE;
    reader.module.path = file;
    reader.module.kind = LODE_STRUCTURE_LOGICAL;
    reader.module.strings = &reader.strings;
    lode_array_init(&reader.module.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&reader.module.ranges, sizeof(struct hpcstruct_range), UINT32_MAX - 1);
    lode_interner_init(&reader.identities, sizeof(struct identity));
    lode_strings_init(&reader.strings);
    lode_map_init(&reader.range_of);
    lode_status status = read_records(&reader);
    if (status == LODE_OK && on_module)
        status = on_module(user, &reader.module);
    lode_array_free(&reader.module.scopes);
    lode_array_free(&reader.module.ranges);
    lode_interner_free(&reader.identities);
    lode_strings_free(&reader.strings);
    lode_map_free(&reader.range_of);
    lode_blob_free(&reader.text);
    lode_blob_free(&reader.demangled);
    return status;
}
