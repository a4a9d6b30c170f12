/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for people. */
#include "base/label.h"
#include "model/context.h"
#include "model/database.h"
#include "model/descriptor.h"
#include <ctype.h>
#include <inttypes.h>
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

/* Of the C++ runtime: the reference implementation of the ABI's demangler. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status); // NOLINT

const char *lode_path_tail(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- symbols ---- */

enum {
    REFERENCES_MAX = 512, /* different parts that a name may refer back to */
    TYPE_LETTERS = 20,    /* "unsigned long long" is one letter */
    EXPANSIONS_MAX = 32,  /* of packs, each of which repeats a pattern */
    DEMANGLED_MAX = 64 << 20,
    /* What a name becomes is at most this many times as long, and a few more. The longest of 74,000 names of a compiler is 29 times. */
    GROWTH_MAX = 32,
    GROWTH_MORE = 1024
};

/* A part of a mangled name that is referred to: S_, S0_... or T_, T0_... */
struct reference {
    bool is_parameter;
    uint32_t number;
    uint64_t size; /* written out, at most */
};

/* Reads "_", "0_", "1A_"; false if it is no number. */
static bool take_number(const char **at, uint32_t *number)
{
    uint32_t value = 0;
    const char *c = *at;
    for (; (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z'); c++)
        value = value * 36 + (uint32_t)(*c <= '9' ? *c - '0' : *c - 'A' + 10) + (c == *at);
    if (*c != '_' || c - *at > 5)
        return false;
    *at = c + 1;
    *number = value;
    return true;
}

/* How long a part can be at most that is referred to now, when `written` characters stand before it. */
static uint64_t reference_size(struct reference *known, size_t *count, bool is_parameter, uint32_t number,
                               uint64_t written)
{
    uint64_t size = written;
    for (size_t i = 0; i < *count; i++) {
        if (known[i].is_parameter != is_parameter)
            continue;
        if (known[i].number == number)
            return known[i].size;
        /* Parts are numbered as they come: an earlier one was there when a later one was first referred to. */
        if (!is_parameter && known[i].number > number && known[i].size < size)
            size = known[i].size;
    }
    if (*count < REFERENCES_MAX)
        known[(*count)++] = (struct reference){is_parameter, number, size};
    return size;
}

/*
 * Whether a name can become too long. Parts refer back to others, so that each can be twice as long as the one before: 250 bytes become
 * a gigabyte. This is an upper bound; that of real names is a few kilobytes.
 */
static bool is_bomb(const char *symbol)
{
    struct reference known[REFERENCES_MAX];
    size_t count = 0;
    unsigned expansions = 0;
    uint64_t written = 0;
    const char *at = symbol;
    while (*at && written <= DEMANGLED_MAX && expansions <= EXPANSIONS_MAX && count < REFERENCES_MAX) {
        const char *behind = at + 1;
        uint32_t number;
        expansions += (at[0] == 'D' || at[0] == 's') && at[1] == 'p';
        if ((*at == 'S' || *at == 'T') && take_number(&behind, &number)) {
            written += reference_size(known, &count, *at == 'T', number, written);
            at = behind;
        } else {
            written += TYPE_LETTERS;
            at++;
        }
    }
    return written > DEMANGLED_MAX || expansions > EXPANSIONS_MAX || count == REFERENCES_MAX;
}

static void put_symbol(struct lode_label *label, const char *symbol)
{
    /* Only what begins like a mangled name: the demangler takes bare types ("i" is "int") too. */
    char *demangled = NULL;
    const char *descriptor = lode_descriptor(symbol);
    int status;
    if (descriptor) {
        lode_label_bytes(label, symbol, (size_t)(descriptor - symbol));
        lode_descriptor_put(label, descriptor);
        return;
    }
    if (strncmp(symbol, "_Z", 2) == 0 && !is_bomb(symbol))
        demangled = __cxa_demangle(symbol, NULL, NULL, &status);
    if (demangled && strlen(demangled) > strlen(symbol) * GROWTH_MAX + GROWTH_MORE) {
        free(demangled);
        demangled = NULL;
    }
    lode_label_text(label, demangled ? demangled : symbol);
    free(demangled);
}

size_t lode_demangle(const char *symbol, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    put_symbol(&label, symbol);
    return lode_label_end(&label);
}

static void put_address(struct lode_label *label, const lode_module *module, uint64_t offset)
{
    lode_label_text(label, module ? lode_path_tail(module->path) : "?");
    lode_label_format(label, "+0x%" PRIx64, offset);
}

static void put_place(struct lode_label *label, const lode_file *file, uint32_t line)
{
    lode_label_text(label, file ? lode_path_tail(file->path) : "?");
    if (line)
        lode_label_format(label, ":%" PRIu32, line);
}

static void put_function(struct lode_label *label, const lode_function *function)
{
    if (function == NULL) {
        lode_label_text(label, "<unknown function>");
    } else if (function->name && function->name[0]) {
        put_symbol(label, function->name);
    } else {
        lode_label_text(label, "[");
        if (function->module)
            put_address(label, function->module, function->offset);
        else
            put_place(label, function->file, function->line);
        lode_label_text(label, "]");
    }
}

size_t lode_function_label(const lode_function *function, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    put_function(&label, function);
    return lode_label_end(&label);
}

size_t lode_context_label(const lode_context *context, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    switch (context->lexical) {
    case LODE_LEXICAL_GLOBAL:
        lode_label_text(&label, "<program root>");
        break;
    case LODE_LEXICAL_ENTRY:
        if (context->entry_name[0])
            lode_label_text(&label, context->entry_name);
        else
            lode_label_format(&label, "<entry point %u>", context->entry);
        break;
    case LODE_LEXICAL_FUNCTION:
        put_function(&label, context->function);
        break;
    case LODE_LEXICAL_LOOP:
        lode_label_text(&label, "loop at ");
        if (context->file)
            put_place(&label, context->file, context->line);
        else
            put_address(&label, context->module, context->offset);
        break;
    case LODE_LEXICAL_LINE:
        put_place(&label, context->file, context->line);
        break;
    case LODE_LEXICAL_INSTRUCTION:
        put_address(&label, context->module, context->offset);
        break;
    default:
        lode_label_format(&label, "<context of type %u>", context->lexical);
    }
    return lode_label_end(&label);
}

size_t lode_profile_label(const lode_database *db, uint32_t profile, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    lode_id ids[16];
    uint32_t count = 0;
    if (profile == 0)
        lode_label_text(&label, "summary");
    else if (lode_profile_ids(db, profile, ids, 16, &count, NULL) != LODE_OK || count == 0)
        lode_label_format(&label, "profile %" PRIu32, profile);
    for (uint32_t i = 0; i < count && i < 16; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        char lower[32];
        size_t length = 0;
        for (; kind && kind[length] && length + 1 < sizeof lower; length++)
            lower[length] = (char)tolower((unsigned char)kind[length]);
        lower[length] = '\0';
        lode_label_text(&label, i ? " " : "");
        if (kind)
            lode_label_text(&label, lower);
        else
            lode_label_format(&label, "kind%u", ids[i].kind);
        lode_label_format(&label, " %" PRIu32, ids[i].logical);
    }
    return lode_label_end(&label);
}
