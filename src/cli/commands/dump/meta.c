/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/dump/dump.h"

/* The flags of a context, as in the file. */
#define HAS_PLACE  2u
#define HAS_OFFSET 4u

/* A value by its name or, if it has none that is known, by its number. */
static out_value named(const char *name, int value)
{
    return name ? out_text(name) : out_u64((uint64_t)(value < 0 ? 0 : value));
}

static out_value function_of(const lode_function *function)
{
    return function ? out_u64(lode_function_index(function)) : out_none();
}

static out_value file_of(const lode_file *file)
{
    return file ? out_u64(lode_file_index(file)) : out_none();
}

static out_value module_of(const lode_module *module)
{
    return module ? out_u64(lode_module_index(module)) : out_none();
}

static void dump_general(out *o, const lode_database *db)
{
    unsigned major, minor;
    lode_database_version(db, LODE_PART_META, &major, &minor);
    OUT_ARRAY(o, "version", major, minor);
    OUT_FIELDS(o, "title", lode_database_title(db), "description", lode_database_description(db));
    out_break(o);
    out_array(o, "id_names");
    for (unsigned i = 0; i < lode_database_id_kind_count(db); i++)
        OUT_ELEMENTS(o, lode_database_id_kind_name(db, i));
    out_array_end(o);
}

static void dump_scopes(out *o, const lode_database *db)
{
    out_break(o);
    out_array(o, "scopes");
    for (uint32_t i = 0; i < lode_database_scope_count(db); i++) {
        const lode_scope *scope = lode_database_scope(db, i);
        int kind = lode_scope_kind(scope);
        out_break(o);
        OUT_OBJECT(o, NULL, "name", lode_scope_name(scope), "type", named(lode_scope_type_name(kind), kind),
                   "propagation_index", lode_scope_propagation_index(scope));
    }
    out_array_end(o);
}

static void dump_metric(out *o, const lode_metric *metric)
{
    lode_metric_scope scope;
    lode_metric_statistic statistic;
    out_break(o);
    out_object(o, NULL);
    OUT_FIELDS(o, "name", lode_metric_name(metric));
    out_array(o, "scopes");
    for (uint32_t i = 0; lode_metric_scope_at(metric, i, &scope) == LODE_OK; i++) {
        OUT_OBJECT(o, NULL, "scope", lode_scope_index(scope.scope), "id", scope.id);
    }
    out_array_end(o);
    out_array(o, "statistics");
    for (uint32_t i = 0; lode_metric_statistic_at(metric, i, &statistic) == LODE_OK; i++) {
        OUT_OBJECT(o, NULL, "scope", lode_scope_index(statistic.scope), "formula", statistic.formula,
                   "combine", named(lode_combine_name(statistic.combine), statistic.combine), "id",
                   statistic.id);
    }
    out_array_end(o);
    out_object_end(o);
}

static void dump_metrics(out *o, const lode_database *db)
{
    out_break(o);
    out_array(o, "metrics");
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        dump_metric(o, lode_database_metric(db, i));
    out_array_end(o);
}

static void dump_modules(out *o, const lode_database *db)
{
    out_break(o);
    out_array(o, "modules");
    for (uint32_t i = 0; i < lode_database_module_count(db); i++) {
        out_break(o);
        OUT_OBJECT(o, NULL, "path", lode_module_path(lode_database_module(db, i)));
    }
    out_array_end(o);
}

static void dump_files(out *o, const lode_database *db)
{
    out_break(o);
    out_array(o, "files");
    for (uint32_t i = 0; i < lode_database_file_count(db); i++) {
        const lode_file *file = lode_database_file(db, i);
        out_break(o);
        OUT_OBJECT(o, NULL, "path", lode_file_path(file), "copied", lode_file_is_copied(file));
    }
    out_array_end(o);
}

static void dump_functions(out *o, const lode_database *db)
{
    out_break(o);
    out_array(o, "functions");
    for (uint32_t i = 0; i < lode_database_function_count(db); i++) {
        const lode_function *function = lode_database_function(db, i);
        out_break(o);
        OUT_OBJECT(o, NULL, "name", lode_function_name(function), "module",
                   module_of(lode_function_module(function)), "offset",
                   out_digits(lode_function_offset(function)), "file", file_of(lode_function_file(function)),
                   "line", lode_function_line(function));
    }
    out_array_end(o);
}

/* Members of a context, up to the children, which are left open. */
static void open_context(out *o, const lode_context *context)
{
    int relation = lode_context_relation(context), lexical = lode_context_lexical(context);
    unsigned flags = lode_context_flags(context);
    out_break(o);
    out_object(o, NULL);
    OUT_FIELDS(o, "id", lode_context_id(context), "flags", flags, "relation",
               named(lode_relation_name(relation), relation), "lexical",
               named(lode_lexical_name(lexical), lexical), "propagation", lode_context_propagation(context),
               "function", function_of(lode_context_function(context)), "file",
               file_of(lode_context_file(context)));
    /* Flags are those of a database; imported profiles have none. */
    int has_place = (flags & HAS_PLACE) || lode_context_file(context);
    int has_offset = (flags & HAS_OFFSET) || lode_context_module(context);
    OUT_FIELDS(o, "line", out_u64_if(has_place, lode_context_line(context)), "module",
               module_of(lode_context_module(context)), "offset",
               has_offset ? out_digits(lode_context_offset(context)) : out_none());
    out_array(o, "children");
}

static void open_entry(out *o, const lode_context *context)
{
    int entry = lode_context_entry(context);
    out_break(o);
    out_object(o, NULL);
    OUT_FIELDS(o, "id", lode_context_id(context), "entry", named(lode_entry_name(entry), entry), "name",
               lode_context_entry_name(context));
    out_array(o, "children");
}

/*
 * Contexts come in depth-first order; the depth of each says how many to close before it. No
 * recursion: call chains can be arbitrarily deep.
 */
static void dump_tree(out *o, const lode_database *db)
{
    uint32_t open = 0, count = lode_database_context_count(db);
    out_break(o);
    out_array(o, "entry_points");
    for (uint32_t i = 1; i <= count && !out_has_failed(o); i++) {
        const lode_context *context = i < count ? lode_database_context_at(db, i) : NULL;
        uint32_t depth = context ? lode_context_depth(context) : 1;
        for (; open >= depth; open--) {
            out_array_end(o);
            out_object_end(o);
        }
        if (!context)
            break;
        if (lode_context_lexical(context) == LODE_LEXICAL_ENTRY)
            open_entry(o, context);
        else
            open_context(o, context);
        open = depth;
    }
    out_array_end(o);
}

void dump_meta(out *o, const lode_database *db)
{
    out_break(o);
    out_object(o, "meta");
    dump_general(o, db);
    dump_scopes(o, db);
    dump_metrics(o, db);
    dump_modules(o, db);
    dump_files(o, db);
    dump_functions(o, db);
    dump_tree(o, db);
    out_object_end(o);
}
