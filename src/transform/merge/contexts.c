/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules, files, functions and contexts of several databases: equal content is one item. */
#include "base/error.h"
#include "base/io/beneath.h"
#include "transform/slice/slice.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- items by content ---- */

/*
 * The items of one content are a chain: a part that has several equal ones takes the first, then
 * the second and so on, so that they stay separate, and match those of other parts.
 */
struct chain {
    uint32_t first, last; /* items; `last`: what the current part took */
    uint32_t part;        /* the current one, plus 1 */
};

struct content_set {
    struct lode_interner keys;
    struct lode_array chains; /* of struct chain, by key */
    struct lode_array next;   /* of uint32_t, by item: the next of its chain, or LODE_NONE */
};

static void set_init(struct content_set *set, size_t key_size)
{
    lode_interner_init(&set->keys, key_size);
    lode_array_init(&set->chains, sizeof(struct chain), UINT32_MAX);
    lode_array_init(&set->next, sizeof(uint32_t), UINT32_MAX);
}

static void set_free(struct content_set *set)
{
    lode_interner_free(&set->keys);
    lode_array_free(&set->chains);
    lode_array_free(&set->next);
}

/* The item for a part's next one of this content; LODE_NONE: it is new, and set_put is due. */
static lode_status set_take(struct content_set *set, const void *key, uint32_t part, uint32_t *item,
                            struct chain **chain, lode_error *error)
{
    bool added = false;
    uint32_t number = lode_interner_add(&set->keys, key, &added);
    if (number == LODE_NO_NUMBER || (added && lode_array_push(&set->chains) == NULL))
        return lode_fail_memory(error);
    struct chain *found = *chain = LODE_ARRAY_AT(&set->chains, struct chain, number);
    if (added)
        *found = (struct chain){LODE_NONE, LODE_NONE, 0};
    *item = found->part == part + 1 ? *LODE_ARRAY_AT(&set->next, uint32_t, found->last) : found->first;
    found->part = part + 1;
    if (*item != LODE_NONE)
        found->last = *item;
    return LODE_OK;
}

/* Items are put in the order of their numbers. */
static lode_status set_put(struct content_set *set, struct chain *chain, uint32_t item, lode_error *error)
{
    uint32_t *next = lode_array_push(&set->next);
    LODE_TRY_ALLOC(next, error);
    *next = LODE_NONE;
    if (chain->first == LODE_NONE)
        chain->first = item;
    else
        *LODE_ARRAY_AT(&set->next, uint32_t, chain->last) = item;
    chain->last = item;
    return LODE_OK;
}

/* ---- everything that is named ---- */

struct function_key {
    uint64_t offset;
    uint32_t name, module, file, line;
};

struct file_key {
    uint32_t path, copied;
};

struct context_key {
    struct lode_frame frame;
    uint32_t parent, unused;
};

/* The bytes of a copied file, once some part has them. */
struct copy {
    uint32_t part; /* whose file it is; LODE_NONE: no part has it */
    const char *path;
};

struct names {
    struct lode_merge_source *source;
    struct lode_description *about;
    struct lode_strings strings;
    struct content_set modules, files, functions, contexts;
    struct lode_array copies;                    /* of struct copy, by file */
    uint32_t *module_of, *file_of, *function_of; /* of the current part, by index */
};

static uint32_t map_or_none(const uint32_t *map, const void *item, uint32_t index)
{
    return item ? map[index] : LODE_NONE;
}

static lode_status add_modules(struct names *self, uint32_t p, lode_error *error)
{
    const lode_database *db = self->source->parts[p].db;
    for (uint32_t i = 0; i < db->module_count; i++) {
        struct chain *chain;
        uint32_t key = 0, *item = &self->module_of[i];
        LODE_TRY_ALLOC(lode_strings_put(&self->strings, db->modules[i].path, &key), error);
        LODE_TRY(set_take(&self->modules, &key, p, item, &chain, error));
        if (*item != LODE_NONE)
            continue;
        LODE_TRY(lode_description_add_module(self->about, db->modules[i].path, item, error));
        LODE_TRY(set_put(&self->modules, chain, *item, error));
    }
    return LODE_OK;
}

/* ---- files ---- */

static lode_status read_copy(const struct lode_merge_part *part, const char *path, struct lode_blob *out,
                             lode_error *error)
{
    lode_error reason = {0};
    int directory = part->directory ? open(part->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        return LODE_ABSENT;
    lode_status status = lode_companion_read(out, directory, path, &reason);
    close(directory);
    if (status == LODE_ERR_MEMORY)
        return lode_fail_memory(error);
    return status == LODE_OK ? LODE_OK : LODE_ABSENT;
}

/* LODE_ABSENT if a part has no such file; LODE_NOT_FOUND if it has another. */
static lode_status compare_copy(const struct names *self, const struct copy *copy, uint32_t p,
                                const char *path, lode_error *error)
{
    struct lode_blob own = {0}, other = {0};
    lode_status status = read_copy(&self->source->parts[p], path, &own, error);
    if (status == LODE_OK && copy->part != LODE_NONE)
        status = read_copy(&self->source->parts[copy->part], copy->path, &other, error);
    if (status == LODE_OK && copy->part != LODE_NONE &&
        (own.size != other.size || memcmp(own.bytes, other.bytes, own.size) != 0))
        status = LODE_NOT_FOUND;
    lode_blob_free(&own);
    lode_blob_free(&other);
    return status;
}

/* A label as a directory: one component that is not hidden. */
static void put_label(char *at, const char *label)
{
    for (size_t i = 0; label[i]; i++) {
        bool is_odd = label[i] == '/' || (label[i] == '.' && i == 0) || (unsigned char)label[i] < ' ';
        *at++ = label[i];
        if (is_odd)
            at[-1] = '_';
    }
    *at = '\0';
}

/* src/LABEL/REST for src/REST; without a label, its number. */
static lode_status path_of_run(const struct names *self, uint32_t p, const char *path, const char **out,
                               lode_error *error)
{
    const struct lode_merge_part *part = &self->source->parts[p];
    char number[16];
    snprintf(number, sizeof number, "%u", part->run);
    const char *label = part->label && part->label[0] ? part->label : number;
    const char *rest = strncmp(path, "src/", 4) == 0 ? path + 4 : path;
    size_t size = strlen(label) + strlen(path) + sizeof "src//";
    char *changed = lode_arena_alloc(&self->about->arena, size, 1);
    LODE_TRY_ALLOC(changed, error);
    memcpy(changed, "src/", 4);
    put_label(changed + 4, label);
    size_t length = strlen(changed);
    snprintf(changed + length, size - length, "/%s", rest);
    *out = changed;
    return LODE_OK;
}

static lode_status add_file(struct names *self, const lode_file *file, const char *path, struct chain *chain,
                            uint32_t *item, lode_error *error)
{
    struct copy *copy = lode_array_push(&self->copies);
    LODE_TRY_ALLOC(copy, error);
    *copy = (struct copy){LODE_NONE, file->path};
    LODE_TRY(lode_description_add_file(self->about, path, file->copied, NULL, item, error));
    return set_put(&self->files, chain, *item, error);
}

/* The file is copied from the first part that has it; the sink says why none can be read. */
static void set_origin(struct names *self, uint32_t item, uint32_t p, const char *path, bool is_read)
{
    struct lode_file *file = LODE_ARRAY_AT(&self->about->file_list, struct lode_file, item);
    struct copy *copy = LODE_ARRAY_AT(&self->copies, struct copy, item);
    if (copy->part != LODE_NONE || self->source->parts[p].directory == NULL)
        return;
    *copy = (struct copy){is_read ? p : LODE_NONE, path};
    file->source = path;
    file->origin = p;
}

static lode_status take_file(struct names *self, uint32_t p, const lode_file *file, const char *path,
                             uint32_t *item, lode_error *error)
{
    struct chain *chain;
    struct file_key key = {0, file->copied};
    LODE_TRY_ALLOC(lode_strings_put(&self->strings, path, &key.path), error);
    LODE_TRY(set_take(&self->files, &key, p, item, &chain, error));
    return *item == LODE_NONE ? add_file(self, file, path, chain, item, error) : LODE_OK;
}

static lode_status report_conflict(const struct names *self, const char *path, const char *changed,
                                   lode_error *error)
{
    char text[512];
    snprintf(text, sizeof text, "the databases have different copies of this file; one is stored as %.300s",
             changed);
    return lode_merge_report(self->source, "source-conflict", path, text, error);
}

static lode_status place_file(struct names *self, uint32_t p, const lode_file *file, uint32_t *item,
                              lode_error *error)
{
    const char *path = file->path;
    LODE_TRY(take_file(self, p, file, path, item, error));
    if (!file->copied)
        return LODE_OK;
    lode_status status =
        compare_copy(self, LODE_ARRAY_AT(&self->copies, struct copy, *item), p, file->path, error);
    if (status == LODE_NOT_FOUND) {
        LODE_TRY(path_of_run(self, p, file->path, &path, error));
        LODE_TRY(take_file(self, p, file, path, item, error));
        LODE_TRY(report_conflict(self, file->path, path, error));
        status = LODE_OK;
    }
    if (status != LODE_OK && status != LODE_ABSENT)
        return status;
    set_origin(self, *item, p, file->path, status == LODE_OK);
    return LODE_OK;
}

static lode_status add_files(struct names *self, uint32_t p, lode_error *error)
{
    const lode_database *db = self->source->parts[p].db;
    for (uint32_t i = 0; i < db->file_count; i++)
        LODE_TRY(place_file(self, p, &db->files[i], &self->file_of[i], error));
    return LODE_OK;
}

/* ---- functions ---- */

static lode_status add_functions(struct names *self, uint32_t p, lode_error *error)
{
    const lode_database *db = self->source->parts[p].db;
    for (uint32_t i = 0; i < db->function_count; i++) {
        const lode_function *old = &db->functions[i];
        struct function_key key = {
            .name = LODE_NONE,
            .module = map_or_none(self->module_of, old->module, old->module ? old->module->index : 0),
            .file = map_or_none(self->file_of, old->file, old->file ? old->file->index : 0),
            .line = old->line,
            .offset = old->offset};
        struct chain *chain;
        uint32_t *item = &self->function_of[i];
        LODE_TRY_ALLOC(old->name == NULL || lode_strings_put(&self->strings, old->name, &key.name), error);
        LODE_TRY(set_take(&self->functions, &key, p, item, &chain, error));
        if (*item != LODE_NONE)
            continue;
        lode_writer_function function = {.name = old->name,
                                         .module = key.module,
                                         .file = key.file,
                                         .line = old->line,
                                         .offset = old->offset};
        LODE_TRY(lode_description_add_function(self->about, &function, item, error));
        LODE_TRY(set_put(&self->functions, chain, *item, error));
    }
    return LODE_OK;
}

/* ---- contexts ---- */

static lode_writer_context context_of(const struct names *self, const lode_context *old, uint32_t parent)
{
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    const lode_function *function = lode_context_function(old);
    context.parent = parent;
    context.propagation = old->propagation;
    if (old->lexical == LODE_LEXICAL_ENTRY) {
        context.entry = old->entry;
        context.entry_name = old->entry_name;
    } else {
        context.lexical = old->lexical;
        context.relation = old->relation;
    }
    context.function = map_or_none(self->function_of, function, function ? function->index : 0);
    context.file = map_or_none(self->file_of, old->file, old->file ? old->file->index : 0);
    context.line = old->line;
    context.module = map_or_none(self->module_of, old->module, old->module ? old->module->index : 0);
    context.offset = old->offset;
    return context;
}

/* As the description compares them. */
static lode_status key_of(struct names *self, const lode_writer_context *context, struct context_key *key,
                          lode_error *error)
{
    *key = (struct context_key){.parent = context->parent};
    LODE_TRY_ALLOC(lode_description_frame(&self->strings, context, &key->frame), error);
    return LODE_OK;
}

/* Below a focus, contexts with different callers become one: each is the first of its chain. */
static lode_status take_context(struct names *self, const struct context_key *key, uint32_t p, uint32_t *item,
                                struct chain **chain, lode_error *error)
{
    LODE_TRY(set_take(&self->contexts, key, p, item, chain, error));
    const struct lode_merge_filter *filter = self->source->parts[p].filter;
    if (filter && filter->is_top)
        *item = (*chain)->first;
    return LODE_OK;
}

/* The number of the parent of a context that stays. */
static uint32_t parent_of(const struct lode_merge_part *part, const lode_context *old)
{
    const struct lode_merge_filter *filter = part->filter;
    if (filter && filter->is_top && filter->is_top[old->index])
        return filter->focus_entry;
    uint32_t parent = filter ? filter->target[old->parent] : old->parent;
    return parent ? part->contexts[parent] : LODE_NONE;
}

/* Contexts of one part stay as they are, also equal ones, unless they are moved below a focus. */
static bool needs_keys(const struct names *self, const struct lode_merge_part *part)
{
    return self->source->count > 1 || (part->filter && part->filter->is_top);
}

static lode_status add_context(struct names *self, uint32_t p, const lode_context *old, uint32_t *item,
                               lode_error *error)
{
    const struct lode_merge_part *part = &self->source->parts[p];
    lode_writer_context context = context_of(self, old, parent_of(part, old));
    struct context_key key;
    if (!needs_keys(self, part))
        return lode_description_add_context(self->about, &context, item, error);
    struct chain *chain;
    LODE_TRY(key_of(self, &context, &key, error));
    LODE_TRY(take_context(self, &key, p, item, &chain, error));
    if (*item != LODE_NONE)
        return LODE_OK;
    LODE_TRY(lode_description_add_context(self->about, &context, item, error));
    return set_put(&self->contexts, chain, *item, error);
}

/* The entry point that the contexts of a focus are below. */
static lode_status add_focus(struct names *self, const struct lode_merge_part *part, lode_error *error)
{
    struct lode_merge_filter *filter = part->filter;
    if (filter == NULL || filter->is_top == NULL)
        return LODE_OK;
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    context.parent = LODE_NONE;
    context.entry = LODE_ENTRY_UNKNOWN;
    context.entry_name = filter->slice->focus;
    LODE_TRY(lode_description_add_context(self->about, &context, &filter->focus_entry, error));
    uint32_t *next = lode_array_push(&self->contexts.next);
    LODE_TRY_ALLOC(next, error);
    *next = LODE_NONE;
    return LODE_OK;
}

static lode_status add_contexts(struct names *self, uint32_t p, lode_error *error)
{
    struct lode_merge_part *part = &self->source->parts[p];
    const struct lode_context_tree *tree = &part->db->tree;
    part->contexts = calloc((size_t)tree->count + 1, sizeof *part->contexts);
    LODE_TRY_ALLOC(part->contexts, error);
    part->contexts[0] = LODE_NONE;
    LODE_TRY(add_focus(self, part, error));
    for (uint32_t i = 1; i < tree->count; i++)
        if (part->filter == NULL || part->filter->target[i] == i)
            LODE_TRY(add_context(self, p, &tree->nodes[i], &part->contexts[i], error));
    return LODE_OK;
}

static lode_status add_part(struct names *self, uint32_t p, lode_error *error)
{
    const lode_database *db = self->source->parts[p].db;
    self->module_of = calloc((size_t)db->module_count + 1, sizeof *self->module_of);
    self->file_of = calloc((size_t)db->file_count + 1, sizeof *self->file_of);
    self->function_of = calloc((size_t)db->function_count + 1, sizeof *self->function_of);
    lode_status status = LODE_OK;
    if (!self->module_of || !self->file_of || !self->function_of)
        status = lode_fail_memory(error);
    if (status == LODE_OK)
        status = add_modules(self, p, error);
    if (status == LODE_OK)
        status = add_files(self, p, error);
    if (status == LODE_OK)
        status = add_functions(self, p, error);
    if (status == LODE_OK)
        status = add_contexts(self, p, error);
    free(self->module_of);
    free(self->file_of);
    free(self->function_of);
    return status;
}

lode_status lode_merge_describe_tree(struct lode_merge_source *source, struct lode_description *out,
                                     lode_error *error)
{
    struct names self = {.source = source, .about = out};
    lode_status status = LODE_OK;
    lode_strings_init(&self.strings);
    set_init(&self.modules, sizeof(uint32_t));
    set_init(&self.files, sizeof(struct file_key));
    set_init(&self.functions, sizeof(struct function_key));
    set_init(&self.contexts, sizeof(struct context_key));
    lode_array_init(&self.copies, sizeof(struct copy), UINT32_MAX);
    for (uint32_t p = 0; p < source->count && status == LODE_OK; p++)
        status = add_part(&self, p, error);
    lode_strings_free(&self.strings);
    set_free(&self.modules);
    set_free(&self.files);
    set_free(&self.functions);
    set_free(&self.contexts);
    lode_array_free(&self.copies);
    return status;
}
