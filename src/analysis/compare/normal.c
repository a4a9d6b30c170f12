/* SPDX-License-Identifier: BSD-3-Clause */
/* Normalises each distinct function, load module and file of a tree once. */
#include "analysis/compare/normal.h"

#include "analysis/cost/key.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/text/label.h"
#include "model/names/descriptor.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX ((size_t)1 << 30)    /* bytes */
#define COUNTED     UINT32_C(0x80000000) /* in place of a string: the number of a counted name */

static const char unknown_name[] = "<unknown procedure>";

/* ---- strings ---- */

lode_status lode_normal_text(struct lode_normalizer *self, const char *text, uint32_t *number,
                             lode_error *error)
{
    if (self->strings.arena.used > STRINGS_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "names of more than 1 GiB to compare");
    *number = lode_strings_add(&self->strings, text);
    return *number == LODE_NO_NUMBER || *number >= COUNTED ? lode_fail_memory(error) : LODE_OK;
}

/* Puts a name into the scratch; false if it is too long. */
static bool begin_name(struct lode_normalizer *self, const char *text)
{
    struct lode_label label = {self->scratch->text, sizeof self->scratch->text, 0};
    if (strnlen(text, LODE_NORMAL_MAX) == LODE_NORMAL_MAX)
        return false;
    lode_label_text(&label, text);
    self->scratch->length = lode_label_end(&label);
    return self->scratch->length < LODE_NORMAL_MAX;
}

/* ---- load modules and files ---- */

lode_status lode_normal_module(struct lode_normalizer *self, const struct lode_tree_names *names,
                               const lode_module *module, uint32_t *number, lode_error *error)
{
    *number = 0;
    if (module == NULL)
        return LODE_OK;
    uint32_t *known = &names->modules[module->index];
    if (*known == LODE_NO_NUMBER) {
        const char *tail = lode_path_tail(module->path);
        bool fits = begin_name(self, tail);
        if (fits)
            LODE_TRY(lode_name_rules_run(self->rules, LODE_SUBJECT_MODULE, NULL, self->scratch, error));
        LODE_TRY(lode_normal_text(self, fits ? self->scratch->text : tail, known, error));
    }
    *number = *known;
    return LODE_OK;
}

/* "[libm.so.6]" stands for the files of a load module. */
static lode_status run_file_rules(struct lode_normalizer *self, lode_error *error)
{
    struct lode_normal_name *name = self->scratch;
    bool is_module = name->length > 2 && name->text[0] == '[' && name->text[name->length - 1] == ']';
    if (!is_module)
        return lode_name_rules_run(self->rules, LODE_SUBJECT_FILE, NULL, name, error);
    name->length -= 2;
    memmove(name->text, name->text + 1, name->length);
    LODE_TRY(lode_name_rules_run(self->rules, LODE_SUBJECT_MODULE, NULL, name, error));
    if (name->length + 3 > LODE_NORMAL_MAX)
        return LODE_OK;
    memmove(name->text + 1, name->text, name->length);
    name->text[0] = '[';
    name->text[name->length + 1] = ']';
    name->length += 2;
    name->text[name->length] = '\0';
    return LODE_OK;
}

lode_status lode_normal_file(struct lode_normalizer *self, const struct lode_tree_names *names,
                             const lode_file *file, uint32_t *number, lode_error *error)
{
    *number = 0;
    if (file == NULL)
        return LODE_OK;
    uint32_t *known = &names->files[file->index];
    if (*known == LODE_NO_NUMBER) {
        const char *tail = lode_path_tail(file->path);
        bool fits = begin_name(self, tail);
        if (fits)
            LODE_TRY(run_file_rules(self, error));
        LODE_TRY(lode_normal_text(self, fits ? self->scratch->text : tail, known, error));
    }
    *number = *known;
    return LODE_OK;
}

/* ---- functions ---- */

size_t lode_normal_simple(const char *name, char *buffer, size_t capacity)
{
    /* "f(int) [region #1]": what rules put there stays. */
    const char *end = strstr(name, " [region ");
    size_t length = end ? (size_t)(end - name) : strlen(name);
    char *front = strndup(name, length);
    struct lode_label label = {buffer, capacity, 0};
    if (front)
        lode_simple_put(&label, front);
    free(front);
    lode_label_text(&label, end ? end : "");
    return lode_label_end(&label);
}

/* Without parameters and template arguments, but with what rules added. */
static void simplify(struct lode_normal_name *name)
{
    size_t length = lode_normal_simple(name->text, name->other, sizeof name->other);
    if (length == 0 || length >= sizeof name->other)
        return;
    memcpy(name->text, name->other, length + 1);
    name->length = length;
}

/* The stem with a rank in place of the first thing that counts, and nothing in place of others. */
static lode_status write_rank(struct lode_normalizer *self, struct lode_counted_name *name, uint32_t rank,
                              lode_error *error)
{
    struct lode_normal_name *scratch = self->scratch;
    struct lode_label label = {scratch->text, sizeof scratch->text, 0};
    const char *stem = lode_strings_at(&self->strings, name->stem);
    bool is_written = false;
    while (stem && *stem) {
        size_t plain = strcspn(stem, (char[]){LODE_SLOT, '\0'});
        lode_label_bytes(&label, stem, plain);
        stem += plain;
        if (*stem && !is_written)
            lode_label_format(&label, "#%" PRIu32, rank);
        is_written = is_written || *stem;
        stem += *stem != '\0';
    }
    scratch->length = lode_label_end(&label);
    if (self->names == LODE_NAME_SIMPLE)
        simplify(scratch);
    return lode_normal_text(self, scratch->text, &name->final, error);
}

/* Runs the rules on a name: its string, or the number of a counted name. */
static lode_status normalise(struct lode_normalizer *self, const struct lode_tree_names *names,
                             const char *text, const lode_module *module, uint32_t *number, lode_error *error)
{
    uint32_t in = 0;
    LODE_TRY(lode_normal_module(self, names, module, &in, error));
    if (!begin_name(self, text))
        return lode_normal_text(self, text, number, error);
    LODE_TRY(lode_name_rules_run(self->rules, LODE_SUBJECT_NAME, lode_strings_at(&self->strings, in),
                                 self->scratch, error));
    if (self->names == LODE_NAME_SIMPLE && self->scratch->slots_length == 0)
        simplify(self->scratch);
    struct lode_counted_name counted = {.side = names->side, .final = LODE_NO_NUMBER};
    LODE_TRY(lode_normal_text(self, self->scratch->text, &counted.stem, error));
    *number = counted.stem;
    if (self->scratch->slots_length == 0)
        return LODE_OK;
    if (self->is_ranked) {
        LODE_TRY(write_rank(self, &counted, 1, error));
        *number = counted.final;
        return LODE_OK;
    }
    LODE_TRY(lode_normal_text(self, self->scratch->slots, &counted.slots, error));
    uint32_t item = lode_interner_add(&self->counted, &counted, NULL);
    LODE_TRY_ALLOC(item < COUNTED, error);
    *number = COUNTED | item;
    return LODE_OK;
}

static lode_status note_function(struct lode_normalizer *self, const struct lode_tree_names *names,
                                 const lode_function *function, lode_error *error)
{
    uint32_t *known = &names->functions[function->index];
    if (*known != LODE_NO_NUMBER)
        return LODE_OK;
    /* Symbols are demangled; what is too long is compared as it is. */
    char *label = malloc(LODE_NORMAL_MAX);
    bool is_named = function->name && function->name[0];
    LODE_TRY_ALLOC(label, error);
    const char *text = is_named ? function->name : unknown_name;
    if (is_named && strnlen(function->name, LODE_NORMAL_MAX) < LODE_NORMAL_MAX &&
        lode_function_label(function, label, LODE_NORMAL_MAX) < LODE_NORMAL_MAX)
        text = label;
    if (!is_named && function->module == NULL && function->file) {
        lode_function_label(function, label, LODE_NORMAL_MAX);
        text = label;
    }
    lode_status status = normalise(self, names, text, function->module, known, error);
    free(label);
    return status;
}

uint32_t lode_normal_function_known(const struct lode_normalizer *self, const struct lode_tree_names *names,
                                    const lode_context *context)
{
    const lode_function *function = function_identity(lode_context_function(context));
    bool is_code = context->lexical != LODE_LEXICAL_ENTRY && context->lexical != LODE_LEXICAL_GLOBAL;
    if (function)
        return names->functions[function->index];
    if (is_code && context->module)
        return names->unknown[context->module->index];
    char label[1024];
    lode_context_label(context, label, sizeof label);
    return lode_strings_find(&self->strings, label);
}

lode_status lode_normal_function(struct lode_normalizer *self, const struct lode_tree_names *names,
                                 const lode_context *context, uint32_t *number, lode_error *error)
{
    *number = lode_normal_function_known(self, names, context);
    if (*number != LODE_NO_NUMBER)
        return LODE_OK;
    if (context->lexical != LODE_LEXICAL_ENTRY && context->lexical != LODE_LEXICAL_GLOBAL &&
        context->module) {
        LODE_TRY(normalise(self, names, unknown_name, context->module, number, error));
        names->unknown[context->module->index] = *number;
        return LODE_OK;
    }
    char label[1024];
    lode_context_label(context, label, sizeof label);
    return lode_normal_text(self, label, number, error);
}

/* ---- ranks ---- */

/* Compares the first number of what counts, then its text. */
static int compare_slots(const char *a, const char *b)
{
    size_t i = strcspn(a, "0123456789"), k = strcspn(b, "0123456789");
    uint64_t x = strtoull(a + i, NULL, 10), y = strtoull(b + k, NULL, 10);
    if (x != y)
        return x < y ? -1 : 1;
    return strcmp(a, b);
}

static int compare_counted(const void *left, const void *right, void *argument)
{
    const struct lode_normalizer *self = argument;
    const struct lode_counted_name *a = LODE_ARRAY_AT(&self->counted.items, struct lode_counted_name,
                                                      *(const uint32_t *)left),
                                   *b = LODE_ARRAY_AT(&self->counted.items, struct lode_counted_name,
                                                      *(const uint32_t *)right);
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->stem != b->stem)
        return a->stem < b->stem ? -1 : 1;
    return compare_slots(lode_strings_at(&self->strings, a->slots),
                         lode_strings_at(&self->strings, b->slots));
}

static void patch(const struct lode_normalizer *self, uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] != LODE_NO_NUMBER && numbers[i] & COUNTED)
            numbers[i] =
                LODE_ARRAY_AT(&self->counted.items, struct lode_counted_name, numbers[i] & ~COUNTED)->final;
}

lode_status lode_normalizer_rank(struct lode_normalizer *self, lode_error *error)
{
    uint32_t count = (uint32_t)self->counted.items.count, rank = 0;
    struct lode_counted_name *items = self->counted.items.items;
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    LODE_TRY_ALLOC(order, error);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_counted, self);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++) {
        const struct lode_counted_name *before = i ? &items[order[i - 1]] : NULL;
        struct lode_counted_name *name = &items[order[i]];
        rank = before && before->side == name->side && before->stem == name->stem ? rank + 1 : 1;
        status = write_rank(self, name, rank, error);
    }
    free(order);
    self->is_ranked = true;
    for (size_t i = 0; i < self->trees.count && status == LODE_OK; i++) {
        const struct lode_tree_names *names = LODE_ARRAY_AT(&self->trees, struct lode_tree_names, i);
        patch(self, names->functions, names->function_count);
    }
    return status;
}

/* ---- trees ---- */

const struct lode_tree_names *lode_normalizer_tree(const struct lode_normalizer *self,
                                                   const lode_context *context)
{
    for (size_t i = 0; i < self->trees.count; i++) {
        const struct lode_tree_names *names = LODE_ARRAY_AT(&self->trees, struct lode_tree_names, i);
        if (names->tree->nodes == lode_tree_of(context))
            return names;
    }
    return NULL;
}

static void note_index(uint32_t *count, uint32_t index)
{
    *count = index + 1 > *count ? index + 1 : *count;
}

static uint32_t *make_numbers(uint32_t count)
{
    uint32_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (numbers)
        memset(numbers, 0xff, ((size_t)count + 1) * sizeof *numbers);
    return numbers;
}

/* What the contexts of a tree name: one pass, each function looked at once. */
struct survey {
    struct lode_tree_names *names;
    struct lode_array functions; /* const lode_function *, in the order of contexts */
    unsigned char *is_seen;      /* by index of function */
    uint32_t capacity;
};

static bool see_function(struct survey *self, const lode_function *function)
{
    uint32_t index = function->index;
    if (index >= self->capacity) {
        uint32_t capacity = index < 512 ? 1024 : index <= UINT32_MAX / 2 ? 2 * index : UINT32_MAX;
        if (index == UINT32_MAX || !LODE_GROW_ZEROED(self->is_seen, self->capacity, capacity))
            return false;
    }
    if (self->is_seen[index])
        return true;
    const lode_function **item = lode_array_push(&self->functions);
    if (item == NULL)
        return false;
    *item = function;
    self->is_seen[index] = 1;
    note_index(&self->names->function_count, index);
    if (function->module)
        note_index(&self->names->module_count, function->module->index);
    if (function->file)
        note_index(&self->names->file_count, function->file->index);
    return true;
}

static bool survey_tree(struct survey *self)
{
    const struct lode_context_tree *tree = self->names->tree;
    const lode_module *module = NULL;
    const lode_file *file = NULL;
    for (uint32_t i = 0; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[i];
        const lode_function *function = lode_context_function(context);
        if (tree->count - i > LODE_AHEAD)
            __builtin_prefetch(context[LODE_AHEAD].function);
        if (function && !see_function(self, function))
            return false;
        if (context->module && context->module != module)
            note_index(&self->names->module_count, context->module->index);
        if (context->file && context->file != file)
            note_index(&self->names->file_count, context->file->index);
        module = context->module;
        file = context->file;
    }
    return true;
}

lode_status lode_normalizer_add(struct lode_normalizer *self, const struct lode_context_tree *tree,
                                lode_compare_side side, lode_error *error)
{
    if (lode_normalizer_tree(self, tree->nodes))
        return LODE_OK;
    struct lode_tree_names *names = lode_array_push(&self->trees);
    LODE_TRY_ALLOC(names, error);
    names->tree = tree;
    names->side = side;
    struct survey survey = {.names = names};
    lode_array_init(&survey.functions, sizeof(const lode_function *), SIZE_MAX);
    bool done = survey_tree(&survey);
    free(survey.is_seen);
    names->functions = make_numbers(names->function_count);
    names->modules = make_numbers(names->module_count);
    names->files = make_numbers(names->file_count);
    names->unknown = make_numbers(names->module_count);
    done = done && names->functions && names->modules && names->files && names->unknown;
    lode_status status = done ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; i < survey.functions.count && status == LODE_OK; i++) {
        const lode_function *first =
            function_identity(*LODE_ARRAY_AT(&survey.functions, const lode_function *, i));
        status = first ? note_function(self, names, first, error) : LODE_OK;
    }
    lode_array_free(&survey.functions);
    return status;
}

lode_status lode_normalizer_begin(struct lode_normalizer *self, const lode_name_rules *rules,
                                  lode_error *error)
{
    uint32_t empty;
    *self = (struct lode_normalizer){.rules = rules};
    lode_strings_init(&self->strings);
    lode_interner_init(&self->counted, sizeof(struct lode_counted_name));
    lode_array_init(&self->trees, sizeof(struct lode_tree_names), SIZE_MAX);
    if (rules == NULL) {
        LODE_TRY(lode_name_rules_open(&self->own_rules, NULL, 0, error));
        self->rules = self->own_rules;
    }
    self->scratch = calloc(1, sizeof *self->scratch);
    LODE_TRY_ALLOC(self->scratch, error);
    return lode_normal_text(self, "", &empty, error);
}

void lode_normalizer_end(struct lode_normalizer *self)
{
    for (size_t i = 0; i < self->trees.count; i++) {
        struct lode_tree_names *names = LODE_ARRAY_AT(&self->trees, struct lode_tree_names, i);
        free(names->functions);
        free(names->modules);
        free(names->files);
        free(names->unknown);
    }
    lode_array_free(&self->trees);
    lode_strings_free(&self->strings);
    lode_interner_free(&self->counted);
    lode_name_rules_close(self->own_rules);
    free(self->scratch);
}
