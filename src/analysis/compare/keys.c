/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of rows: the public normalizer, and what is shared with comparisons. */
#include "analysis/compare/keys.h"

#include "base/error.h"
#include "base/options.h"
#include "base/text/label.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool lode_normal_groups(lode_group_by by)
{
    return by == LODE_BY_FUNCTION || by == LODE_BY_SYMBOL || by == LODE_BY_MODULE || by == LODE_BY_FILE;
}

/* A function with its load module and file. */
static lode_status symbol_name(struct lode_normalizer *self, const struct lode_tree_names *names,
                               const lode_hotspot *row, uint32_t *number, lode_error *error)
{
    uint32_t module, file;
    LODE_TRY(lode_normal_module(self, names, row->module, &module, error));
    LODE_TRY(lode_normal_file(self, names, row->file, &file, error));
    uint32_t numbers[] = {*number, module, file};
    const char *parts[3];
    size_t size = 8;
    for (size_t i = 0; i < 3; i++) {
        const char *part = lode_strings_at(&self->strings, numbers[i]);
        parts[i] = part ? part : "";
        size += strlen(parts[i]);
    }
    char *text = malloc(size);
    LODE_TRY_ALLOC(text, error);
    struct lode_label label = {text, size, 0};
    for (size_t i = 0; i < 3; i++) {
        lode_label_text(&label, i > 0 && parts[i][0] ? " @" : "");
        lode_label_text(&label, parts[i]);
    }
    lode_label_end(&label);
    lode_status status = lode_normal_text(self, text, number, error);
    free(text);
    return status;
}

lode_status lode_normal_row(struct lode_normalizer *self, const struct lode_tree_names *names,
                            lode_group_by by, const lode_context *context, const lode_hotspot *row,
                            uint32_t *number, lode_error *error)
{
    /* Not the row's: it has none if several were put together. */
    const lode_function *function = lode_context_function(context);
    if (by == LODE_BY_MODULE)
        return lode_normal_module(
            self, names, function && function->module ? function->module : context->module, number, error);
    if (by == LODE_BY_FILE)
        return lode_normal_file(self, names,
                                context->file ? context->file
                                : function    ? function->file
                                              : NULL,
                                number, error);
    LODE_TRY(lode_normal_function(self, names, context, number, error));
    return by == LODE_BY_SYMBOL ? symbol_name(self, names, row, number, error) : LODE_OK;
}

/* Lines relative to the first line of their function, if that is known; else lines of the file. */
static lode_status location_name(struct lode_normalizer *self, const struct lode_tree_names *names,
                                 const lode_hotspot *row, lode_group_by by, uint32_t file, uint32_t *number,
                                 lode_error *error)
{
    struct lode_label label = {self->scratch->other, sizeof self->scratch->other, 0};
    const lode_function *function = function_identity(row->function);
    if (row->file == NULL) {
        if (row->sample->lexical != LODE_LEXICAL_LOOP)
            return lode_normal_function(self, names, row->sample, number, error);
        uint32_t module;
        LODE_TRY(lode_normal_module(self, names, row->sample->module, &module, error));
        lode_label_text(&label, "<unknown loops of ");
        lode_label_text(&label, lode_strings_at(&self->strings, module));
        lode_label_text(&label, ">");
        lode_label_end(&label);
        return lode_normal_text(self, self->scratch->other, number, error);
    }
    bool is_relative = function && function->file == row->file && function->line > 0 &&
                       row->line >= function->line && names->functions[function->index] != LODE_NO_NUMBER;
    lode_label_text(&label, by == LODE_BY_LOOP ? "loop at " : "");
    lode_label_text(&label, lode_strings_at(&self->strings, file));
    if (is_relative) {
        lode_label_text(&label, ":");
        lode_label_text(&label, lode_strings_at(&self->strings, names->functions[function->index]));
        lode_label_format(&label, "+%" PRIu32, row->line - function->line);
    } else {
        lode_label_format(&label, ":%" PRIu32, row->line);
    }
    lode_label_end(&label);
    return lode_normal_text(self, self->scratch->other, number, error);
}

lode_status lode_normal_key_of(struct lode_normalizer *self, const lode_hotspot *hotspot, lode_group_by by,
                               struct lode_normal_numbers *key, lode_error *error)
{
    const struct lode_tree_names *names = lode_normalizer_tree(self, hotspot->sample);
    if (names == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a row of other costs");
    LODE_TRY(lode_normal_module(self, names, hotspot->module, &key->module, error));
    LODE_TRY(lode_normal_file(self, names, hotspot->file, &key->file, error));
    if (!lode_normal_groups(by))
        return location_name(self, names, hotspot, by, key->file, &key->name, error);
    lode_hotspot row = *hotspot;
    if (by == LODE_BY_SYMBOL && hotspot->function) {
        row.module = hotspot->function->module;
        row.file = hotspot->function->file;
    }
    return lode_normal_row(self, names, by, hotspot->sample, &row, &key->name, error);
}

/* ---- public API ---- */

lode_status lode_normalizer_open(lode_normalizer **out, const lode_name_rules *rules,
                                 const lode_cost *const *costs, size_t count, lode_error *error)
{
    lode_normalizer *self = malloc(sizeof *self);
    *out = NULL;
    LODE_TRY_ALLOC(self, error);
    lode_status status = lode_normalizer_begin(self, rules, error);
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        status = lode_normalizer_add(self, costs[i]->tree, LODE_BASE, error);
    if (status == LODE_OK)
        status = lode_normalizer_rank(self, error);
    if (status == LODE_OK)
        *out = self;
    else
        lode_normalizer_close(self);
    return status;
}

void lode_normalizer_close(lode_normalizer *normalizer)
{
    if (normalizer == NULL)
        return;
    lode_normalizer_end(normalizer);
    free(normalizer);
}

lode_status lode_normalizer_key(lode_normalizer *normalizer, const lode_hotspot *hotspot, lode_group_by by,
                                lode_normal_key *key, size_t key_size, lode_error *error)
{
    struct lode_normal_numbers numbers;
    LODE_TRY(lode_normal_key_of(normalizer, hotspot, by, &numbers, error));
    const struct lode_strings *strings = &normalizer->strings;
    lode_normal_key result = {lode_strings_at(strings, numbers.name),
                              lode_strings_at(strings, numbers.module),
                              lode_strings_at(strings, numbers.file)};
    lode_result_give(key, key_size, &result, sizeof result);
    return LODE_OK;
}
