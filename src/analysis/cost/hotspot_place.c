/* SPDX-License-Identifier: BSD-3-Clause */
/* Which row a context belongs to: its key by function, line, loop, module, file or kind. */
#include "analysis/cost/hotspot.h"

#include "model/database/database.h"

static enum lode_hotspot_place function_place(const lode_context *context, struct lode_key *key,
                                              lode_hotspot *names)
{
    if (!begins_function(context))
        return LODE_PLACE_INHERITS;
    *key = lode_key_of_function(context);
    names->function = key->function;
    names->module = key->function ? key->function->module : key->module;
    names->file = key->function ? key->function->file : key->file;
    names->line = key->function ? key->function->line : key->file ? context->line : 0;
    names->functions = 1;
    return LODE_PLACE_KEY;
}

static enum lode_hotspot_place line_place(const lode_context *context, struct lode_key *key,
                                          lode_hotspot *names)
{
    /* Costs directly at a function have only the line of its definition. */
    if (context->file == NULL)
        return function_place(context, key, names);
    *key = lode_key_of_line(context);
    names->file = context->file;
    names->line = context->line;
    return LODE_PLACE_KEY;
}

/* The cost of a function without lines is at its definition, if that is known. */
static enum lode_hotspot_place source_place(const lode_context *context, struct lode_key *key,
                                            lode_hotspot *names)
{
    const lode_function *function = function_identity(lode_context_function(context));
    if (context->file || !begins_function(context) || function == NULL || function->file == NULL)
        return line_place(context, key, names);
    *key = (struct lode_key){.kind = LODE_KEY_LINE, .file = function->file, .number = function->line};
    names->file = function->file;
    names->line = function->line;
    return LODE_PLACE_KEY;
}

static enum lode_hotspot_place loop_place(const lode_context *context, struct lode_key *key,
                                          lode_hotspot *names)
{
    if (context->lexical != LODE_LEXICAL_LOOP)
        return begins_function(context) ? LODE_PLACE_NONE : LODE_PLACE_INHERITS;
    *key = lode_key_of_loop(context);
    names->file = context->file;
    names->line = context->line;
    names->module = context->module;
    return LODE_PLACE_KEY;
}

static enum lode_hotspot_place module_place(const lode_context *context, struct lode_key *key,
                                            lode_hotspot *names)
{
    const lode_function *function = lode_context_function(context);
    names->module = function && function->module ? function->module : context->module;
    *key = (struct lode_key){.kind = LODE_KEY_MODULE, .module = names->module};
    return names->module || begins_function(context) ? LODE_PLACE_KEY : LODE_PLACE_INHERITS;
}

static enum lode_hotspot_place file_place(const lode_context *context, struct lode_key *key,
                                          lode_hotspot *names)
{
    const lode_function *function = lode_context_function(context);
    names->file = context->file ? context->file : function ? function->file : NULL;
    *key = (struct lode_key){.kind = LODE_KEY_FILE, .file = names->file};
    return names->file || begins_function(context) ? LODE_PLACE_KEY : LODE_PLACE_INHERITS;
}

/* The functions of a row are of one kind, and have nothing else in common. */
static enum lode_hotspot_place kind_place(const lode_context *context, struct lode_key *key,
                                          lode_hotspot *names)
{
    lode_hotspot unused = {0};
    enum lode_hotspot_place place = function_place(context, key, &unused);
    names->functions = key->kind != LODE_KEY_ENTRY && key->kind != LODE_KEY_GLOBAL;
    return place;
}

enum lode_hotspot_place lode_hotspot_find_place(lode_group_by by, const lode_context *context,
                                                struct lode_key *key, lode_hotspot *names)
{
    switch (by) {
    case LODE_BY_LINE:
        return line_place(context, key, names);
    case LODE_BY_SOURCE_LINE:
        return source_place(context, key, names);
    case LODE_BY_LOOP:
        return loop_place(context, key, names);
    case LODE_BY_MODULE:
        return module_place(context, key, names);
    case LODE_BY_FILE:
        return file_place(context, key, names);
    case LODE_BY_KIND:
        return kind_place(context, key, names);
    case LODE_BY_FUNCTION:
    case LODE_BY_SYMBOL:
    default:
        return function_place(context, key, names);
    }
}
