/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerations, such as "enum color { RED, GREEN = 4, }". */
#include "base/compare.h"
#include "base/memory/array.h"
#include "format/uftrace/args/argspec.h"
#include <stdlib.h>

enum {
    /* A value may be printed as the union of all its enumerators. */
    ENUMERATORS_MAX = 4096
};

static struct lode_uft_enum *enum_at(const struct lode_uft_specs *specs, uint32_t number)
{
    return *LODE_ARRAY_AT(&specs->enums, struct lode_uft_enum *, number - 1);
}

/* The newest one of a name, or NULL. */
static struct lode_uft_enum *newest(const struct lode_uft_specs *specs, struct uft_text name)
{
    const uint32_t *slot = lode_map_get(&specs->enum_index, uft_hash(name));
    for (uint32_t number = slot ? *slot : 0; number != 0; number = enum_at(specs, number)->older)
        if (uft_equals(name, enum_at(specs, number)->name))
            return enum_at(specs, number);
    return NULL;
}

static struct lode_uft_enum *add_enum(struct lode_uft_specs *specs, struct lode_arena *arena,
                                      struct uft_text name)
{
    struct lode_uft_enum *made = lode_arena_alloc(arena, 1, sizeof *made);
    const char *copy = uft_copy(arena, name);
    uint32_t *slot = lode_map_add(&specs->enum_index, uft_hash(name), 0, NULL);
    if (made == NULL || copy == NULL || slot == NULL)
        return NULL;
    struct lode_uft_enum **item = lode_array_push(&specs->enums);
    if (item == NULL)
        return NULL;
    *item = made;
    *made = (struct lode_uft_enum){.name = copy, .older = *slot};
    *slot = (uint32_t)specs->enums.count;
    return made;
}

const struct lode_uft_enum *lode_uft_enum_find(struct lode_uft_specs *specs, struct lode_arena *arena,
                                               struct uft_text name)
{
    struct lode_uft_enum *found = newest(specs, name);
    return found ? found : add_enum(specs, arena, name);
}

/* ---- parsing ---- */

static void trim(struct uft_text *text)
{
    uft_skip_blanks(text);
    while (text->end > text->at && (text->end[-1] == ' ' || text->end[-1] == '\t'))
        text->end--;
}

/* As in C: decimal, octal or hexadecimal, with a sign. */
static bool parse_value(struct uft_text text, int64_t *out)
{
    uint64_t value;
    trim(&text);
    bool is_negative = uft_take(&text, "-");
    unsigned base = 10;
    if (uft_take(&text, "0x") || uft_take(&text, "0X"))
        base = 16;
    else if (uft_length(text) > 1 && *text.at == '0')
        base = 8;
    if (!uft_take_number(&text, base, &value) || text.at != text.end)
        return false;
    *out = (int64_t)(is_negative ? 0 - value : value);
    return true;
}

/* One enumerator; `next` is its value by default. The name is terminated in place. */
static bool parse_item(struct uft_text text, char *base, const char *start, int64_t *next,
                       struct lode_enumerator *item)
{
    const char *equals = memchr(text.at, '=', uft_length(text));
    struct uft_text name = {text.at, equals ? equals : text.end};
    trim(&name);
    if (uft_length(name) == 0)
        return false;
    if (equals && !parse_value((struct uft_text){equals + 1, text.end}, next))
        return false;
    base[name.end - start] = '\0';
    *item = (struct lode_enumerator){base + (name.at - start), *next};
    *next = (int64_t)((uint64_t)*next + 1);
    return true;
}

static size_t count_items(struct uft_text text)
{
    size_t count = 1;
    for (const char *c = text.at; c < text.end; c++)
        count += *c == ',';
    return count;
}

/* All names are in one buffer, so that equal values keep the order of the definition. */
LODE_COMPARE_BY_2(compare_enumerators, struct lode_enumerator, value, name);

/* The list between the braces. */
static lode_status parse_items(struct lode_arena *arena, struct uft_text text, struct lode_enumeration *out)
{
    const char *start = text.at;
    size_t room = count_items(text), count = 0;
    int64_t next = 0;
    if (room > ENUMERATORS_MAX)
        return LODE_ERR_CORRUPT;
    struct lode_enumerator *items = lode_arena_alloc(arena, room, sizeof *items);
    char *base = lode_arena_alloc(arena, uft_length(text) + 1, 1);
    if (items == NULL || base == NULL)
        return LODE_ERR_MEMORY;
    memcpy(base, text.at, uft_length(text));
    while (text.at < text.end) {
        const char *comma = memchr(text.at, ',', uft_length(text));
        struct uft_text item = {text.at, comma ? comma : text.end};
        text.at = comma ? comma + 1 : text.end;
        trim(&item);
        /* A comma may follow the last one. */
        if (uft_length(item) == 0 && comma == NULL)
            break;
        if (!parse_item(item, base, start, &next, &items[count++]))
            return LODE_ERR_CORRUPT;
    }
    qsort(items, count, sizeof *items, compare_enumerators);
    *out = (struct lode_enumeration){items, count};
    return LODE_OK;
}

static lode_status define(struct lode_uft_specs *specs, struct lode_arena *arena, struct uft_text name,
                          struct uft_text items)
{
    struct lode_enumeration type;
    lode_status status = parse_items(arena, items, &type);
    if (status != LODE_OK)
        return status;
    struct lode_uft_enum *known = newest(specs, name);
    /* Values that refer to an earlier definition keep it: another module may have its own. */
    if (known == NULL || known->is_defined)
        known = add_enum(specs, arena, name);
    if (known == NULL)
        return LODE_ERR_MEMORY;
    known->type = type;
    known->is_defined = true;
    return LODE_OK;
}

static lode_status parse_enum(struct lode_uft_specs *specs, struct lode_arena *arena, struct uft_text text)
{
    trim(&text);
    if (text.at == text.end)
        return LODE_OK;
    const char *brace = memchr(text.at, '{', uft_length(text));
    if (!uft_take(&text, "enum ") || brace == NULL || brace < text.at || text.end[-1] != '}')
        return LODE_ERR_CORRUPT;
    struct uft_text name = {text.at, brace};
    trim(&name);
    if (uft_length(name) == 0)
        return LODE_ERR_CORRUPT;
    return define(specs, arena, name, (struct uft_text){brace + 1, text.end - 1});
}

lode_status lode_uft_enums_parse(struct lode_uft_specs *specs, struct lode_arena *arena, struct uft_text text)
{
    lode_status result = LODE_OK;
    while (text.at < text.end) {
        const char *end = memchr(text.at, ';', uft_length(text));
        struct uft_text item = {text.at, end ? end : text.end};
        text.at = end ? end + 1 : text.end;
        lode_status status = parse_enum(specs, arena, item);
        if (status == LODE_ERR_MEMORY)
            return status;
        if (status != LODE_OK)
            result = status;
    }
    return result;
}

bool lode_uft_enum_parse(struct lode_uft_specs *specs, struct lode_arena *arena, const char *text,
                         size_t length)
{
    return lode_uft_enums_parse(specs, arena, (struct uft_text){text, text + length}) == LODE_OK;
}
