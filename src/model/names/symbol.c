/* SPDX-License-Identifier: BSD-3-Clause */
/* The public API of functions, files and modules. */
#include "base/error.h"
#include "base/getter.h"
#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "model/database/context.h"
#include "model/database/database.h"
#include <string.h>

enum {
    NAME_HASHED = 1024, /* bytes: a hostile file can have many references to one huge name */
    NAME_TRIED = 8      /* functions of equal hash that are compared */
};

static uint64_t function_hash(const lode_function *function)
{
    uint64_t module = function->module ? function->module->index + UINT64_C(1) : 0;
    uint64_t file = function->file ? function->file->index + UINT64_C(1) : 0;
    size_t length = function->name ? strnlen(function->name, NAME_HASHED) : 0;
    uint64_t source = lode_hash_pair(file, function->line);
    uint64_t code = lode_hash_pair(function->offset, module);
    return lode_hash_pair(lode_hash_pair(source, code), lode_hash_bytes(function->name, length));
}

static bool same_function(const lode_function *a, const lode_function *b)
{
    bool same_name = a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0);
    return a->offset == b->offset && a->line == b->line && a->module == b->module && a->file == b->file &&
           same_name;
}

/* Finds the first equal function. */
static bool identify(struct lode_index *first, struct lode_function *functions, uint32_t index)
{
    uint64_t hash = function_hash(&functions[index]);
    struct lode_index_probe probe = lode_index_begin(first, hash);
    unsigned tried = 0;
    functions[index].identity = index;
    for (uint32_t number; tried < NAME_TRIED && lode_index_next(&probe, &number); tried++)
        if (same_function(&functions[index], &functions[number])) {
            functions[index].identity = number;
            return true;
        }
    if (!lode_index_reserve(first))
        return false;
    if (tried < NAME_TRIED)
        lode_index_put(first, hash, index);
    return true;
}

lode_status lode_identify_functions(struct lode_function *functions, uint32_t count, lode_error *error)
{
    struct lode_index first = {0};
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        if (!identify(&first, functions, i))
            status = lode_fail_memory(error);
    lode_index_free(&first);
    return status;
}

LODE_GETTER(uint32_t, lode_database_function_count, lode_database, function_count);
LODE_GETTER_AT(lode_function, lode_database_function, lode_database, functions, function_count);
LODE_GETTER(uint32_t, lode_function_index, lode_function, index);
LODE_GETTER(const char *, lode_function_name, lode_function, name);
LODE_GETTER(const lode_module *, lode_function_module, lode_function, module);
LODE_GETTER(uint64_t, lode_function_offset, lode_function, offset);
LODE_GETTER(const lode_file *, lode_function_file, lode_function, file);
LODE_GETTER(uint32_t, lode_function_line, lode_function, line);
LODE_GETTER(uint32_t, lode_database_file_count, lode_database, file_count);
LODE_GETTER_AT(lode_file, lode_database_file, lode_database, files, file_count);
LODE_GETTER(uint32_t, lode_file_index, lode_file, index);
LODE_GETTER(const char *, lode_file_path, lode_file, path);
LODE_GETTER(int, lode_file_is_copied, lode_file, copied);
LODE_GETTER(uint32_t, lode_database_module_count, lode_database, module_count);
LODE_GETTER_AT(lode_module, lode_database_module, lode_database, modules, module_count);
LODE_GETTER(uint32_t, lode_module_index, lode_module, index);
LODE_GETTER(const char *, lode_module_path, lode_module, path);
