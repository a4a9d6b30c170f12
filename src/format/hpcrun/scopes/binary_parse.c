/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes what lode-symbols wrote: every number is checked, as that of a file. */
#include "format/hpcrun/scopes/binary.h"

#include "model/names/descriptor.h"
#include <lode/name.h>

enum {
    GROWTH_MOST = 16, /* of names when they are demangled, and a constant */
    GROWTH_MORE = 1 << 20
};

struct cursor {
    struct lode_range rest;
    bool is_bad;
};

static const uint8_t *take(struct cursor *cursor, uint64_t size)
{
    struct lode_range part;
    if (cursor->is_bad || !lode_range_part(cursor->rest, 0, size, &part)) {
        cursor->is_bad = true;
        return NULL;
    }
    cursor->rest = (struct lode_range){part.data + size, cursor->rest.size - size};
    return part.data;
}

/* In the byte order of this machine. */
static uint32_t take_u32(struct cursor *cursor)
{
    uint32_t number = 0;
    const uint8_t *at = take(cursor, sizeof number);
    if (at)
        memcpy(&number, at, sizeof number);
    return number;
}

static uint64_t take_u64(struct cursor *cursor)
{
    uint64_t number = 0;
    const uint8_t *at = take(cursor, sizeof number);
    if (at)
        memcpy(&number, at, sizeof number);
    return number;
}

static unsigned take_u8(struct cursor *cursor)
{
    const uint8_t *at = take(cursor, 1);
    return at ? *at : 0;
}

/* Bytes as a string; false if they hold a NUL or are too long. */
static bool take_text(struct cursor *cursor, uint32_t most, struct lode_blob *out)
{
    uint32_t length = take_u32(cursor);
    const uint8_t *at = length <= most ? take(cursor, length) : NULL;
    out->size = 0;
    if (at == NULL || memchr(at, '\0', length) || lode_blob_extend(out, (size_t)length + 1) == LODE_BLOB_FULL)
        return false;
    memcpy(out->bytes, at, length);
    out->bytes[length] = '\0';
    return true;
}

/* ---- records ---- */

struct parsing {
    struct binary_reply *reply;
    struct cursor cursor;
    struct lode_array numbers; /* uint32_t: of strings, as sent */
    struct lode_blob text, demangled;
    const struct binary_request *request;
    uint32_t next;       /* the lowest index of the next answer */
    uint64_t next_start; /* the lowest start of the next range */
    uint64_t budget;     /* bytes of demangled names */
};

/* Names of C++ are demangled here, where the demangler has its limits. */
static bool parse_string(struct parsing *parsing)
{
    uint32_t *number = lode_array_push(&parsing->numbers);
    struct lode_blob *text = &parsing->text, *to = &parsing->demangled;
    if (number == NULL || !take_text(&parsing->cursor, SYMBOLS_NAME_MOST, text) || text->size == 1)
        return false;
    const char *name = (const char *)text->bytes;
    if (strncmp(name, "_Z", 2) != 0)
        return lode_strings_put(&parsing->reply->strings, name, number);
    size_t length = lode_demangle(name, NULL, 0);
    to->size = 0;
    if (length > parsing->budget)
        return false;
    parsing->budget -= length;
    if (lode_blob_extend(to, length + 1) == LODE_BLOB_FULL)
        return false;
    lode_demangle(name, (char *)to->bytes, length + 1);
    const char *shown = (const char *)to->bytes;
    /* Other kinds of symbols are "vtable for X", "virtual thunk to X". */
    bool is_function = name[2] != 'T' && name[2] != 'G';
    return lode_strings_put(&parsing->reply->strings, is_function ? lode_without_result(shown) : shown,
                            number);
}

static bool string_of(const struct parsing *parsing, uint32_t sent, uint32_t *number)
{
    *number = LODE_NO_NUMBER;
    if (sent == SYMBOLS_NONE)
        return true;
    if (sent >= parsing->numbers.count)
        return false;
    *number = *LODE_ARRAY_AT(&parsing->numbers, uint32_t, sent);
    return true;
}

static bool parse_scope(struct parsing *parsing)
{
    static const enum hpcstruct_kind kinds[] = {[SYMBOLS_FUNCTION] = HPCSTRUCT_FUNCTION,
                                                [SYMBOLS_INLINED] = HPCSTRUCT_INLINED,
                                                [SYMBOLS_LINE] = HPCSTRUCT_LINE,
                                                [SYMBOLS_LOOP] = HPCSTRUCT_LOOP};
    struct lode_array *scopes = &parsing->reply->module.scopes;
    struct cursor *cursor = &parsing->cursor;
    uint32_t own = (uint32_t)scopes->count;
    unsigned kind = take_u8(cursor);
    struct hpcstruct_scope scope = {.parent = take_u32(cursor)};
    bool is_known = string_of(parsing, take_u32(cursor), &scope.name);
    is_known &= string_of(parsing, take_u32(cursor), &scope.file);
    scope.line = take_u32(cursor);
    uint32_t function = take_u32(cursor);
    scope.address = take_u64(cursor);
    if (cursor->is_bad || !is_known || kind >= SYMBOLS_KINDS || function > own)
        return false;
    /* A function is outermost, and others are in it. */
    bool is_outermost = scope.parent == LODE_NO_NUMBER;
    if ((kind == SYMBOLS_FUNCTION) != is_outermost || (!is_outermost && scope.parent >= own))
        return false;
    scope.kind = kinds[kind];
    scope.same_as = function == own ? 0 : function + 1;
    struct hpcstruct_scope *slot = lode_array_push(scopes);
    if (slot)
        *slot = scope;
    return slot != NULL;
}

static bool parse_answer(struct parsing *parsing)
{
    struct hpcstruct_module *module = &parsing->reply->module;
    uint32_t index = take_u32(&parsing->cursor), scope = take_u32(&parsing->cursor);
    if (parsing->cursor.is_bad || parsing->request->is_all || index < parsing->next ||
        index >= parsing->request->count || scope >= module->scopes.count)
        return false;
    uint64_t offset = parsing->request->offsets[index];
    struct hpcstruct_range *range = lode_array_push(&module->ranges);
    if (range)
        *range = (struct hpcstruct_range){offset, offset == UINT64_MAX ? offset : offset + 1, scope};
    parsing->next = index + 1;
    return range != NULL;
}

static bool parse_range(struct parsing *parsing)
{
    struct hpcstruct_module *module = &parsing->reply->module;
    struct hpcstruct_range found = {.start = take_u64(&parsing->cursor)};
    found.end = take_u64(&parsing->cursor);
    found.scope = take_u32(&parsing->cursor);
    if (parsing->cursor.is_bad || !parsing->request->is_all || found.start < parsing->next_start ||
        found.end <= found.start || found.scope >= module->scopes.count)
        return false;
    struct hpcstruct_range *range = lode_array_push(&module->ranges);
    if (range)
        *range = found;
    parsing->next_start = found.end;
    return range != NULL;
}

static bool parse_debug(struct parsing *parsing)
{
    struct binary_reply *reply = parsing->reply;
    unsigned has = take_u8(&parsing->cursor);
    reply->has_debug = (has & SYMBOLS_HAS_DEBUG) != 0;
    reply->is_partial = (has & SYMBOLS_HAS_OTHERS) != 0;
    reply->lacks_loops = (has & SYMBOLS_HAS_NO_LOOPS) != 0;
    reply->has_some_loops = (has & SYMBOLS_HAS_SOME_LOOPS) != 0;
    uint32_t size = take_u32(&parsing->cursor);
    const uint8_t *id = size <= sizeof reply->build_id ? take(&parsing->cursor, size) : NULL;
    if (id == NULL)
        return false;
    memcpy(reply->build_id, id, size);
    reply->build_id_size = size;
    return take_text(&parsing->cursor, SYMBOLS_NAME_MOST, &reply->link);
}

static bool parse_end(struct parsing *parsing)
{
    const struct hpcstruct_module *module = &parsing->reply->module;
    uint32_t strings = take_u32(&parsing->cursor), scopes = take_u32(&parsing->cursor),
             answers = take_u32(&parsing->cursor);
    return !parsing->cursor.is_bad && parsing->cursor.rest.size == 0 && strings == parsing->numbers.count &&
           scopes == module->scopes.count && answers == module->ranges.count;
}

static bool parse_records(struct parsing *parsing)
{
    const uint8_t *begin = take(&parsing->cursor, SYMBOLS_BEGIN_SIZE);
    bool is_sound = begin && memcmp(begin, SYMBOLS_BEGIN, SYMBOLS_BEGIN_SIZE) == 0;
    while (is_sound) {
        switch (take_u8(&parsing->cursor)) {
        case SYMBOLS_STRING:
            is_sound = parse_string(parsing);
            break;
        case SYMBOLS_SCOPE:
            is_sound = parse_scope(parsing);
            break;
        case SYMBOLS_ANSWER:
            is_sound = parse_answer(parsing);
            break;
        case SYMBOLS_RANGE:
            is_sound = parse_range(parsing);
            break;
        case SYMBOLS_DEBUG:
            is_sound = parse_debug(parsing);
            break;
        case SYMBOLS_END:
            return parse_end(parsing);
        default:
            return false;
        }
    }
    return false;
}

bool lode_binary_parse(struct binary_reply *reply, struct lode_range bytes,
                       const struct binary_request *request)
{
    struct parsing parsing = {.reply = reply, .cursor = {.rest = bytes}, .request = request};
    parsing.budget = bytes.size * GROWTH_MOST + GROWTH_MORE;
    lode_array_init(&parsing.numbers, sizeof(uint32_t), UINT32_MAX - 1);
    bool is_sound = parse_records(&parsing);
    lode_array_free(&parsing.numbers);
    lode_blob_free(&parsing.text);
    lode_blob_free(&parsing.demangled);
    return is_sound;
}

void lode_binary_init(struct binary_reply *reply)
{
    *reply = (struct binary_reply){0};
    lode_strings_init(&reply->strings);
    lode_array_init(&reply->module.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&reply->module.ranges, sizeof(struct hpcstruct_range), UINT32_MAX - 1);
    reply->module.strings = &reply->strings;
}

void lode_binary_free(struct binary_reply *reply)
{
    lode_strings_free(&reply->strings);
    lode_array_free(&reply->module.scopes);
    lode_array_free(&reply->module.ranges);
    lode_blob_free(&reply->link);
}
