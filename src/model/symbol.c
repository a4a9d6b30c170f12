/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions, files and modules: the public face. */
#include "model/context.h"
#include "model/database.h"

uint32_t lode_database_function_count(const lode_database *db)
{
    return db->function_count;
}

const lode_function *lode_database_function(const lode_database *db, uint32_t index)
{
    return index < db->function_count ? &db->functions[index] : NULL;
}

uint32_t lode_function_index(const lode_function *function)
{
    return function->index;
}

const char *lode_function_name(const lode_function *function)
{
    return function->name;
}

const lode_module *lode_function_module(const lode_function *function)
{
    return function->module;
}

uint64_t lode_function_offset(const lode_function *function)
{
    return function->offset;
}

const lode_file *lode_function_file(const lode_function *function)
{
    return function->file;
}

uint32_t lode_function_line(const lode_function *function)
{
    return function->line;
}

uint32_t lode_database_file_count(const lode_database *db)
{
    return db->file_count;
}

const lode_file *lode_database_file(const lode_database *db, uint32_t index)
{
    return index < db->file_count ? &db->files[index] : NULL;
}

uint32_t lode_file_index(const lode_file *file)
{
    return file->index;
}

const char *lode_file_path(const lode_file *file)
{
    return file->path;
}

int lode_file_is_copied(const lode_file *file)
{
    return file->copied;
}

uint32_t lode_database_module_count(const lode_database *db)
{
    return db->module_count;
}

const lode_module *lode_database_module(const lode_database *db, uint32_t index)
{
    return index < db->module_count ? &db->modules[index] : NULL;
}

uint32_t lode_module_index(const lode_module *module)
{
    return module->index;
}

const char *lode_module_path(const lode_module *module)
{
    return module->path;
}
