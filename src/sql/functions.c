/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of one row: names, times, patterns. */
#include "sql/opened.h"

#include <stdlib.h>
#include <string.h>

enum {
    PATTERN_MAX = 1024, /* bytes of an expression */
    NAME_SIZE = 512
};

typedef size_t (*name_fn)(const char *symbol, char *buffer, size_t capacity);

/* A name of any length; most fit into the buffer. */
static void result_name(sqlite3_context *context, sqlite3_value *value, name_fn name)
{
    char buffer[NAME_SIZE];
    const char *symbol = (const char *)sqlite3_value_text(value);
    if (!symbol)
        return;
    size_t length = name(symbol, buffer, sizeof buffer);
    if (length < sizeof buffer) {
        sqlite3_result_text(context, buffer, (int)length, SQLITE_TRANSIENT);
        return;
    }
    char *large = sqlite3_malloc64(length + 1);
    if (!large) {
        sqlite3_result_error_nomem(context);
        return;
    }
    name(symbol, large, length + 1);
    sqlite3_result_text64(context, large, length, sqlite3_free, SQLITE_UTF8);
}

static void call_simple_name(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    result_name(context, values[0], lode_simple_name);
}

static void call_demangle(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    result_name(context, values[0], lode_demangle);
}

static void call_seconds(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        sqlite3_result_double(context, sqlite3_value_double(values[0]) / 1e9);
}

/* ---- hex: addresses are signed integers in SQL ---- */

static void call_hex(sqlite3_context *context, int count, sqlite3_value **values)
{
    static const char digits[] = "0123456789ABCDEF";
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
        char *text = sqlite3_mprintf("0x%llx", sqlite3_value_int64(values[0]));
        sqlite3_result_text(context, text, -1, sqlite3_free);
        return;
    }
    /* As SQLite has it: the bytes. */
    const unsigned char *bytes = sqlite3_value_blob(values[0]);
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    char *text = sqlite3_malloc64(2 * size + 1);
    if (!text) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    sqlite3_result_text64(context, text, 2 * size, sqlite3_free, SQLITE_UTF8);
}

/* ---- regexp ---- */

static void result_error(sqlite3_context *context, lode_error *error)
{
    sql_clean_message(error->text);
    sqlite3_result_error(context, error->text, -1);
}

static void close_matcher(void *matcher)
{
    lode_matcher_close(matcher);
}

/* NULL after an error; SQLite may forget it at once. */
static lode_matcher *open_matcher(sqlite3_context *context, sqlite3_value *value)
{
    lode_error error = {0};
    lode_matcher *matcher = NULL;
    const char *expression = (const char *)sqlite3_value_text(value);
    if (!expression || sqlite3_value_bytes(value) > PATTERN_MAX) {
        if (expression)
            sqlite3_result_error(context, "regexp: the expression is too long", -1);
        return NULL;
    }
    char *text = sqlite3_mprintf("/%s/", expression[0] ? expression : "(?:)");
    if (!text)
        sqlite3_result_error_nomem(context);
    else if (lode_matcher_open(&matcher, text, LODE_NAME_FULL, &error) != LODE_OK)
        result_error(context, &error);
    sqlite3_free(text);
    return matcher;
}

/* X regexp Y is regexp(Y, X). */
static void call_regexp(sqlite3_context *context, int count, sqlite3_value **values)
{
    lode_error error = {0};
    lode_matcher *matcher = sqlite3_get_auxdata(context, 0);
    const char *text = (const char *)sqlite3_value_text(values[1]);
    int is_new = matcher == NULL;
    (void)count;
    if (is_new)
        matcher = open_matcher(context, values[0]);
    if (!matcher)
        return;
    if (text) {
        int found = lode_matcher_text(matcher, text) != LODE_MATCH_NONE;
        if (lode_matcher_status(matcher, &error) != LODE_OK)
            result_error(context, &error);
        else
            sqlite3_result_int(context, found);
    }
    if (is_new)
        sqlite3_set_auxdata(context, 0, matcher, close_matcher);
}

/* ---- path ---- */

static void append_label(sqlite3_str *path, const lode_context *context)
{
    char label[NAME_SIZE];
    lode_context_label(context, label, sizeof label);
    sqlite3_str_appendf(path, "%s%s", sqlite3_str_length(path) ? " > " : "", label);
}

/* Functions and entry points only: what people call a call path. */
static int is_frame(const lode_context *context)
{
    return lode_context_function(context) != NULL || lode_context_entry(context) != 0;
}

static char *path_text(const lode_database *db, uint32_t id)
{
    const lode_context *context = lode_database_context(db, id);
    sqlite3_str *path = sqlite3_str_new(NULL);
    uint32_t depth = context ? lode_context_depth(context) : 0, count = 0;
    const lode_context **frames = context ? sqlite3_malloc64((depth + 1ULL) * sizeof *frames) : NULL;
    for (const lode_context *at = context; frames && at && count <= depth; at = lode_context_parent(at))
        if (at == context || is_frame(at))
            frames[count++] = at;
    while (count > 0)
        append_label(path, frames[--count]);
    sqlite3_free((void *)frames);
    return sqlite3_str_finish(path);
}

void sql_result_path(sqlite3_context *context, const lode_database *db, sqlite3_value *value)
{
    sqlite3_int64 id = sqlite3_value_int64(value);
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return;
    if (!db)
        sqlite3_result_error(context, "path: there is no such database", -1);
    else if (id >= 0 && id <= UINT32_MAX && lode_database_context(db, (uint32_t)id))
        sqlite3_result_text(context, path_text(db, (uint32_t)id), -1, sqlite3_free);
}

/* ---- registration ---- */

static int add_function(sqlite3 *db, const char *name, int count,
                        void (*call)(sqlite3_context *, int, sqlite3_value **))
{
    return sqlite3_create_function_v2(db, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                      NULL, call, NULL, NULL, NULL);
}

int sql_functions_add(sqlite3 *db, int is_own)
{
    int code = add_function(db, "simple_name", 1, call_simple_name);
    if (code == SQLITE_OK)
        code = add_function(db, "demangle", 1, call_demangle);
    if (code == SQLITE_OK)
        code = add_function(db, "seconds", 1, call_seconds);
    if (code == SQLITE_OK)
        code = add_function(db, is_own ? "hex" : "lode_hex", 1, call_hex);
    /* That of the host is found where a statement with it can be prepared. */
    if (code == SQLITE_OK &&
        (is_own || sqlite3_exec(db, "select 'a' regexp 'a' where 0", NULL, NULL, NULL) != SQLITE_OK))
        code = add_function(db, "regexp", 2, call_regexp);
    return code == SQLITE_OK ? sql_quantiles_add(db, is_own) : code;
}
