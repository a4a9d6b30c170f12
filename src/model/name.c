/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for people. */
#include "base/utf8.h"
#include "model/context.h"
#include "model/database.h"
#include <ctype.h>
#include <inttypes.h>
#include <lode/name.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the C++ runtime: the reference implementation of the ABI's demangler. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status); // NOLINT

/* A name that is being put together: length counts what did not fit too. */
struct label {
    char *buffer;
    size_t capacity, length;
};

static void label_put(struct label *label, const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (label->length + 1 < label->capacity)
            label->buffer[label->length] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
        label->length++;
    }
}

static void label_putf(struct label *label, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void label_putf(struct label *label, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    label_put(label, text);
}

static size_t label_end(struct label *label)
{
    if (label->capacity == 0)
        return label->length;
    size_t end = label->length < label->capacity ? label->length : label->capacity - 1;
    if (end < label->length)
        end = lode_utf8_valid_prefix(label->buffer, end);
    label->buffer[end] = '\0';
    return label->length;
}

const char *lode_path_tail(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_symbol(struct label *label, const char *symbol)
{
    /* Only what begins like a mangled name: the demangler takes bare types ("i" is "int") too. */
    char *demangled = NULL;
    int status;
    if (strncmp(symbol, "_Z", 2) == 0)
        demangled = __cxa_demangle(symbol, NULL, NULL, &status);
    label_put(label, demangled ? demangled : symbol);
    free(demangled);
}

size_t lode_demangle(const char *symbol, char *buffer, size_t capacity)
{
    struct label label = {buffer, capacity, 0};
    put_symbol(&label, symbol);
    return label_end(&label);
}

static void put_address(struct label *label, const lode_module *module, uint64_t offset)
{
    label_put(label, module ? lode_path_tail(module->path) : "?");
    label_putf(label, "+0x%" PRIx64, offset);
}

static void put_place(struct label *label, const lode_file *file, uint32_t line)
{
    label_put(label, file ? lode_path_tail(file->path) : "?");
    if (line)
        label_putf(label, ":%" PRIu32, line);
}

static void put_function(struct label *label, const lode_function *function)
{
    if (function == NULL) {
        label_put(label, "<unknown function>");
    } else if (function->name && function->name[0]) {
        put_symbol(label, function->name);
    } else {
        label_put(label, "[");
        if (function->module)
            put_address(label, function->module, function->offset);
        else
            put_place(label, function->file, function->line);
        label_put(label, "]");
    }
}

size_t lode_function_label(const lode_function *function, char *buffer, size_t capacity)
{
    struct label label = {buffer, capacity, 0};
    put_function(&label, function);
    return label_end(&label);
}

size_t lode_context_label(const lode_context *context, char *buffer, size_t capacity)
{
    struct label label = {buffer, capacity, 0};
    switch (context->lexical) {
    case LODE_LEXICAL_GLOBAL:
        label_put(&label, "<program root>");
        break;
    case LODE_LEXICAL_ENTRY:
        if (context->entry_name[0])
            label_put(&label, context->entry_name);
        else
            label_putf(&label, "<entry point %u>", context->entry);
        break;
    case LODE_LEXICAL_FUNCTION:
        put_function(&label, context->function);
        break;
    case LODE_LEXICAL_LOOP:
        label_put(&label, "loop at ");
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
        label_putf(&label, "<context of type %u>", context->lexical);
    }
    return label_end(&label);
}

size_t lode_profile_label(const lode_database *db, uint32_t profile, char *buffer, size_t capacity)
{
    struct label label = {buffer, capacity, 0};
    lode_id ids[16];
    uint32_t count = 0;
    if (profile == 0)
        label_put(&label, "summary");
    else if (lode_profile_ids(db, profile, ids, 16, &count, NULL) != LODE_OK || count == 0)
        label_putf(&label, "profile %" PRIu32, profile);
    for (uint32_t i = 0; i < count && i < 16; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        char lower[32];
        size_t length = 0;
        for (; kind && kind[length] && length + 1 < sizeof lower; length++)
            lower[length] = (char)tolower((unsigned char)kind[length]);
        lower[length] = '\0';
        label_put(&label, i ? " " : "");
        if (kind)
            label_put(&label, lower);
        else
            label_putf(&label, "kind%u", ids[i].kind);
        label_putf(&label, " %" PRIu32, ids[i].logical);
    }
    return label_end(&label);
}
