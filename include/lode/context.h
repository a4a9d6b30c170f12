/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: the nodes of the calling context tree, and the functions, files and modules they name.
 */
#ifndef LODE_CONTEXT_H
#define LODE_CONTEXT_H

#include <lode/database.h>

LODE_BEGIN_DECLS

typedef struct lode_context lode_context;
typedef struct lode_function lode_function;
typedef struct lode_file lode_file;
typedef struct lode_module lode_module;

/* Values as in the files; a value beyond the known ones is an unknown one, not an error. */
typedef enum lode_lexical {
    LODE_LEXICAL_FUNCTION = 0,
    LODE_LEXICAL_LOOP = 1,
    LODE_LEXICAL_LINE = 2,
    LODE_LEXICAL_INSTRUCTION = 3,
    LODE_LEXICAL_ENTRY = 256, /* an entry point: a child of the global context */
    LODE_LEXICAL_GLOBAL = 257 /* the global context, id 0, above all entry points */
} lode_lexical;

typedef enum lode_relation {
    LODE_RELATION_LEXICAL = 0, /* enclosed by the parent; no call */
    LODE_RELATION_CALL = 1,
    LODE_RELATION_INLINED = 2
} lode_relation;

typedef enum lode_entry {
    LODE_ENTRY_UNKNOWN = 0,
    LODE_ENTRY_MAIN_THREAD = 1,
    LODE_ENTRY_APPLICATION_THREAD = 2
} lode_entry;

/* The names of such values; NULL for one that is not known. MT: any thread. */
LODE_API const char *lode_lexical_name(int lexical);
LODE_API const char *lode_relation_name(int relation);
LODE_API const char *lode_entry_name(int entry);

/*
 * The tree. Contexts are numbered twice: by id, as in the files (arbitrary, with gaps), and by
 * index, which counts 0, 1, 2... in depth-first order, so that a subtree is the range of indices
 * from its root's index to its root's index + lode_context_subtree_size. Index 0 is the global
 * context. All of these: MT: any thread.
 */
LODE_API uint32_t lode_database_context_count(const lode_database *db);
LODE_API const lode_context *lode_database_root(const lode_database *db);
/* NULL if the index is out of range. */
LODE_API const lode_context *lode_database_context_at(const lode_database *db, uint32_t index);
/* NULL if the metadata lists no context of this id. */
LODE_API const lode_context *lode_database_context(const lode_database *db, uint32_t id);

LODE_API uint32_t lode_context_id(const lode_context *context);
LODE_API uint32_t lode_context_index(const lode_context *context);
LODE_API uint32_t lode_context_depth(const lode_context *context);
LODE_API uint32_t lode_context_subtree_size(const lode_context *context);
/* NULL for the global context. */
LODE_API const lode_context *lode_context_parent(const lode_context *context);
/* NULL where there is none; children come in the order of the file. */
LODE_API const lode_context *lode_context_first_child(const lode_context *context);
LODE_API const lode_context *lode_context_next_sibling(const lode_context *context);

LODE_API int lode_context_lexical(const lode_context *context);
LODE_API int lode_context_relation(const lode_context *context);
/* The raw flags of the file: what the context names. */
LODE_API unsigned lode_context_flags(const lode_context *context);
/* Bit i is set if scopes of propagation index i pass this context's value on to its parent. */
LODE_API unsigned lode_context_propagation(const lode_context *context);
/* NULL where the context names none. */
LODE_API const lode_function *lode_context_function(const lode_context *context);
LODE_API const lode_file *lode_context_file(const lode_context *context);
LODE_API const lode_module *lode_context_module(const lode_context *context);
/* 0 where it is not known. */
LODE_API uint32_t lode_context_line(const lode_context *context);
LODE_API uint64_t lode_context_offset(const lode_context *context);
/* For entry points: the kind (lode_entry), and the name for people. -1 and NULL for others. */
LODE_API int lode_context_entry(const lode_context *context);
LODE_API const char *lode_context_entry_name(const lode_context *context);

/* Functions. NULL and 0 where not known. MT: any thread. */
LODE_API uint32_t lode_database_function_count(const lode_database *db);
LODE_API const lode_function *lode_database_function(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_function_index(const lode_function *function);
LODE_API const char *lode_function_name(const lode_function *function);
LODE_API const lode_module *lode_function_module(const lode_function *function);
LODE_API uint64_t lode_function_offset(const lode_function *function);
LODE_API const lode_file *lode_function_file(const lode_function *function);
LODE_API uint32_t lode_function_line(const lode_function *function);

/*
 * Source files. A copied one lies inside the database, and its path is relative to it. MT: any
 * thread.
 */
LODE_API uint32_t lode_database_file_count(const lode_database *db);
LODE_API const lode_file *lode_database_file(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_file_index(const lode_file *file);
LODE_API const char *lode_file_path(const lode_file *file);
LODE_API int lode_file_is_copied(const lode_file *file);

/* Load modules: the binaries that ran. MT: any thread. */
LODE_API uint32_t lode_database_module_count(const lode_database *db);
LODE_API const lode_module *lode_database_module(const lode_database *db, uint32_t index);
LODE_API uint32_t lode_module_index(const lode_module *module);
LODE_API const char *lode_module_path(const lode_module *module);

LODE_END_DECLS
#endif
