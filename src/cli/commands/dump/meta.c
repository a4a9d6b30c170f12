/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/dump/dump.h"

/* The flags of a context, as in the file. */
#define HAS_PLACE  2u
#define HAS_OFFSET 4u

/* A value by its name or, if it has none that is known, by its number. */
static void named(out *o, const char *key, const char *name, int value)
{
    if (name)
        json_text(o, key, name);
    else
        json_u64(o, key, (uint64_t)(value < 0 ? 0 : value));
}

static void index_or_null(out *o, const char *key, int is_there, uint32_t index)
{
    if (is_there)
        json_u64(o, key, index);
    else
        json_null(o, key);
}

static void function_of(out *o, const lode_function *function)
{
    index_or_null(o, "function", function != NULL, function ? lode_function_index(function) : 0);
}

static void file_of(out *o, const lode_file *file)
{
    index_or_null(o, "file", file != NULL, file ? lode_file_index(file) : 0);
}

static void module_of(out *o, const lode_module *module)
{
    index_or_null(o, "module", module != NULL, module ? lode_module_index(module) : 0);
}

static void dump_general(out *o, const lode_database *db)
{
    unsigned major, minor;
    lode_database_version(db, LODE_PART_META, &major, &minor);
    json_array(o, "version");
    json_u64(o, NULL, major);
    json_u64(o, NULL, minor);
    json_array_end(o);
    json_text(o, "title", lode_database_title(db));
    json_text(o, "description", lode_database_description(db));
    json_line(o);
    json_array(o, "id_names");
    for (unsigned i = 0; i < lode_database_id_kind_count(db); i++)
        json_text(o, NULL, lode_database_id_kind_name(db, i));
    json_array_end(o);
}

static void dump_scopes(out *o, const lode_database *db)
{
    json_line(o);
    json_array(o, "scopes");
    for (uint32_t i = 0; i < lode_database_scope_count(db); i++) {
        const lode_scope *scope = lode_database_scope(db, i);
        int kind = lode_scope_kind(scope);
        json_line(o);
        json_object(o, NULL);
        json_text(o, "name", lode_scope_name(scope));
        named(o, "type", lode_scope_type_name(kind), kind);
        json_u64(o, "propagation_index", lode_scope_propagation_index(scope));
        json_object_end(o);
    }
    json_array_end(o);
}

static void dump_metric(out *o, const lode_metric *metric)
{
    lode_metric_scope scope;
    lode_metric_statistic statistic;
    json_line(o);
    json_object(o, NULL);
    json_text(o, "name", lode_metric_name(metric));
    json_array(o, "scopes");
    for (uint32_t i = 0; lode_metric_scope_at(metric, i, &scope) == LODE_OK; i++) {
        json_object(o, NULL);
        json_u64(o, "scope", lode_scope_index(scope.scope));
        json_u64(o, "id", scope.id);
        json_object_end(o);
    }
    json_array_end(o);
    json_array(o, "statistics");
    for (uint32_t i = 0; lode_metric_statistic_at(metric, i, &statistic) == LODE_OK; i++) {
        json_object(o, NULL);
        json_u64(o, "scope", lode_scope_index(statistic.scope));
        json_text(o, "formula", statistic.formula);
        named(o, "combine", lode_combine_name(statistic.combine), statistic.combine);
        json_u64(o, "id", statistic.id);
        json_object_end(o);
    }
    json_array_end(o);
    json_object_end(o);
}

static void dump_metrics(out *o, const lode_database *db)
{
    json_line(o);
    json_array(o, "metrics");
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        dump_metric(o, lode_database_metric(db, i));
    json_array_end(o);
}

static void dump_modules(out *o, const lode_database *db)
{
    json_line(o);
    json_array(o, "modules");
    for (uint32_t i = 0; i < lode_database_module_count(db); i++) {
        json_line(o);
        json_object(o, NULL);
        json_text(o, "path", lode_module_path(lode_database_module(db, i)));
        json_object_end(o);
    }
    json_array_end(o);
}

static void dump_files(out *o, const lode_database *db)
{
    json_line(o);
    json_array(o, "files");
    for (uint32_t i = 0; i < lode_database_file_count(db); i++) {
        const lode_file *file = lode_database_file(db, i);
        json_line(o);
        json_object(o, NULL);
        json_text(o, "path", lode_file_path(file));
        json_bool(o, "copied", lode_file_is_copied(file));
        json_object_end(o);
    }
    json_array_end(o);
}

static void dump_functions(out *o, const lode_database *db)
{
    json_line(o);
    json_array(o, "functions");
    for (uint32_t i = 0; i < lode_database_function_count(db); i++) {
        const lode_function *function = lode_database_function(db, i);
        json_line(o);
        json_object(o, NULL);
        json_text(o, "name", lode_function_name(function));
        module_of(o, lode_function_module(function));
        json_digits(o, "offset", lode_function_offset(function));
        file_of(o, lode_function_file(function));
        json_u64(o, "line", lode_function_line(function));
        json_object_end(o);
    }
    json_array_end(o);
}

/* Members of a context, up to the children, which are left open. */
static void open_context(out *o, const lode_context *context)
{
    int relation = lode_context_relation(context), lexical = lode_context_lexical(context);
    unsigned flags = lode_context_flags(context);
    json_line(o);
    json_object(o, NULL);
    json_u64(o, "id", lode_context_id(context));
    json_u64(o, "flags", flags);
    named(o, "relation", lode_relation_name(relation), relation);
    named(o, "lexical", lode_lexical_name(lexical), lexical);
    json_u64(o, "propagation", lode_context_propagation(context));
    function_of(o, lode_context_function(context));
    file_of(o, lode_context_file(context));
    /* Flags are those of a database; imported profiles have none. */
    int has_place = (flags & HAS_PLACE) || lode_context_file(context);
    int has_offset = (flags & HAS_OFFSET) || lode_context_module(context);
    index_or_null(o, "line", has_place, lode_context_line(context));
    module_of(o, lode_context_module(context));
    if (has_offset)
        json_digits(o, "offset", lode_context_offset(context));
    else
        json_null(o, "offset");
    json_array(o, "children");
}

static void open_entry(out *o, const lode_context *context)
{
    int entry = lode_context_entry(context);
    json_line(o);
    json_object(o, NULL);
    json_u64(o, "id", lode_context_id(context));
    named(o, "entry", lode_entry_name(entry), entry);
    json_text(o, "name", lode_context_entry_name(context));
    json_array(o, "children");
}

/*
 * Contexts come in depth-first order; the depth of each says how many to close before it. No
 * recursion: call chains can be arbitrarily deep.
 */
static void dump_tree(out *o, const lode_database *db)
{
    uint32_t open = 0, count = lode_database_context_count(db);
    json_line(o);
    json_array(o, "entry_points");
    for (uint32_t i = 1; i <= count && !out_has_failed(o); i++) {
        const lode_context *context = i < count ? lode_database_context_at(db, i) : NULL;
        uint32_t depth = context ? lode_context_depth(context) : 1;
        for (; open >= depth; open--) {
            json_array_end(o);
            json_object_end(o);
        }
        if (!context)
            break;
        if (lode_context_lexical(context) == LODE_LEXICAL_ENTRY)
            open_entry(o, context);
        else
            open_context(o, context);
        open = depth;
    }
    json_array_end(o);
}

void dump_meta(out *o, const lode_database *db)
{
    json_line(o);
    json_object(o, "meta");
    dump_general(o, db);
    dump_scopes(o, db);
    dump_metrics(o, db);
    dump_modules(o, db);
    dump_files(o, db);
    dump_functions(o, db);
    dump_tree(o, db);
    json_object_end(o);
}
