/* SPDX-License-Identifier: BSD-3-Clause */
/* Display names. */
#include "base/text/label.h"
#include "model/database/context.h"
#include "model/database/database.h"
#include "model/names/descriptor.h"
#include <ctype.h>
#include <inttypes.h>
#include <lode/name.h>
#include <string.h>

const char *lode_path_tail(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
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

static void put_name(struct lode_label *label, const char *name, lode_name_form form)
{
    if (form == LODE_NAME_RAW)
        lode_label_text(label, name);
    else if (form == LODE_NAME_SIMPLE)
        lode_simple_put(label, name);
    else
        lode_symbol_put(label, name);
}

static void put_function(struct lode_label *label, const lode_function *function, lode_name_form form)
{
    if (function == NULL) {
        lode_label_text(label, "<unknown function>");
    } else if (function->is_operation) {
        lode_label_text(label, function->module->path);
        lode_label_text(label, ": ");
        lode_label_text(label, function->name);
    } else if (function->name && function->name[0]) {
        put_name(label, function->name, form);
    } else {
        lode_label_text(label, "[");
        if (function->module)
            put_address(label, function->module, function->offset);
        else
            put_place(label, function->file, function->line);
        lode_label_text(label, "]");
    }
}

size_t lode_function_label_as(const lode_function *function, lode_name_form form, char *buffer,
                              size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    put_function(&label, function, form);
    return lode_label_end(&label);
}

size_t lode_function_label(const lode_function *function, char *buffer, size_t capacity)
{
    return lode_function_label_as(function, LODE_NAME_FULL, buffer, capacity);
}

size_t lode_context_label_as(const lode_context *context, lode_name_form form, char *buffer, size_t capacity)
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
        put_function(&label, context->function, form);
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

size_t lode_context_label(const lode_context *context, char *buffer, size_t capacity)
{
    return lode_context_label_as(context, LODE_NAME_FULL, buffer, capacity);
}

static void put_thread_name(struct lode_label *label, const lode_database *db, uint32_t profile)
{
    const char *name = db->profile_names && profile < db->profile_count ? db->profile_names[profile] : NULL;
    if (name == NULL)
        return;
    lode_label_text(label, " (");
    lode_label_text(label, name);
    lode_label_text(label, ")");
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
    put_thread_name(&label, db, profile);
    return lode_label_end(&label);
}
