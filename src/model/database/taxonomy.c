/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas of a metric taxonomy, a YAML file that every writer of databases lays out in the
 * same way: one key per line, formulas in one line each. Only that layout is read, line by line: no
 * aliases are expanded and nothing is nested but formulas, so that a hostile file costs no more
 * than its size. What is laid out otherwise is skipped.
 */
#include "base/compare.h"
#include "base/error.h"
#include "model/database/database.h"
#include "model/database/derived.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    WORD_SIZE = 256, /* of names, with the NUL; longer ones are cut */
    INPUTS_MAX = 16384,
    FORMULA_SIZE = 4096,
    FORMULAS_MAX = 16384,
    SCOPES_MAX = 64,
    FLOW_DEPTH = 32
};

/* A statistic that formulas refer to by its anchor: the sum of a metric under a scope. */
struct input {
    char anchor[WORD_SIZE];
    uint32_t metric, scope;
};

struct reader {
    const lode_database *db;
    lode_derived_list *list;
    const lode_metric **metrics; /* by name */
    unsigned formulas;           /* read so far */
    struct lode_array inputs;    /* of struct input; sorted when the inputs end */
    bool in_inputs, in_roots, in_variants;
    size_t variants_indent;
    char anchor[WORD_SIZE], metric[WORD_SIZE], scope[WORD_SIZE], formula[WORD_SIZE], combine[WORD_SIZE];
    char name[WORD_SIZE], description[WORD_SIZE], variant[WORD_SIZE];
};

/* One line: its indentation, and what follows. */
struct line {
    size_t indent;
    const char *text;
    size_t length;
};

/* ---- scalars ---- */

/* A scalar without its quotes; escapes are not resolved. */
static void copy_scalar(char to[WORD_SIZE], const char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length >= 2 && (*text == '"' || *text == '\'') && text[length - 1] == *text) {
        text++;
        length -= 2;
    }
    length = length < WORD_SIZE - 1 ? length : WORD_SIZE - 1;
    memcpy(to, text, length);
    to[length] = '\0';
}

/* The value of a line "key: value", or NULL. */
static const char *value_of(const struct line *line, const char *key, size_t *length)
{
    size_t size = strlen(key);
    if (line->length < size + 1 || memcmp(line->text, key, size) != 0 || line->text[size] != ':')
        return NULL;
    const char *at = line->text + size + 1, *end = line->text + line->length;
    while (at < end && isspace((unsigned char)*at))
        at++;
    *length = (size_t)(end - at);
    return at;
}

static bool take(const struct line *line, const char *key, char to[WORD_SIZE])
{
    size_t length;
    const char *value = value_of(line, key, &length);
    if (value)
        copy_scalar(to, value, length);
    return value != NULL;
}

/* ---- inputs ---- */

static int compare_inputs(const void *left, const void *right)
{
    return strcmp(((const struct input *)left)->anchor, ((const struct input *)right)->anchor);
}

static int compare_metrics(const void *left, const void *right)
{
    const lode_metric *a = *(const lode_metric *const *)left, *b = *(const lode_metric *const *)right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

/* The first metric of a name. */
static const lode_metric *find_metric(const struct reader *self, const char *name)
{
    size_t low = 0, high = self->db->metric_count;
    LODE_BISECT(low, high, strcmp(self->metrics[middle]->name, name) < 0);
    return low < self->db->metric_count && strcmp(self->metrics[low]->name, name) == 0 ? self->metrics[low]
                                                                                       : NULL;
}

static lode_status sort_metrics(struct reader *self, lode_error *error)
{
    const lode_database *db = self->db;
    self->metrics = calloc((size_t)db->metric_count + 1, sizeof(lode_metric *));
    LODE_TRY_ALLOC(self->metrics, error);
    for (uint32_t i = 0; i < db->metric_count; i++)
        self->metrics[i] = &db->metrics[i];
    if (db->metric_count)
        qsort(self->metrics, db->metric_count, sizeof *self->metrics, compare_metrics);
    return LODE_OK;
}

static bool find_scope(const lode_database *db, const char *name, uint32_t *scope)
{
    for (*scope = 0; *scope < db->scope_count && *scope < SCOPES_MAX; ++*scope)
        if (strcmp(db->scopes[*scope].name, name) == 0)
            return true;
    return false;
}

/* Other statistics than sums are not costs. */
static void end_input(struct reader *self)
{
    uint32_t scope = 0;
    bool is_sum = strcmp(self->formula, "$$") == 0 && strcmp(self->combine, "sum") == 0 &&
                  find_scope(self->db, self->scope, &scope);
    const lode_metric *metric = self->anchor[0] && is_sum ? find_metric(self, self->metric) : NULL;
    struct input *input = metric ? lode_array_push(&self->inputs) : NULL;
    if (input) {
        memcpy(input->anchor, self->anchor, sizeof input->anchor);
        input->metric = metric->index;
        input->scope = scope;
    }
    self->anchor[0] = self->metric[0] = self->scope[0] = self->formula[0] = self->combine[0] = '\0';
}

static void read_input(struct reader *self, const struct line *line)
{
    if (line->length > 1 && line->text[0] == '&') {
        end_input(self);
        copy_scalar(self->anchor, line->text + 1, line->length - 1);
        return;
    }
    if (!take(line, "metric", self->metric) && !take(line, "scope", self->scope) &&
        !take(line, "formula", self->formula))
        (void)take(line, "combine", self->combine);
}

/* ---- formulas ---- */

/* A formula in flow style, rewritten in the language of lode_derived_parse. */
struct flow {
    const struct reader *reader;
    const char *at, *end;
    char *to;
    size_t used;
    unsigned depth;
    const struct input *input; /* any one of the formula */
    bool is_wrong;
};

static void put(struct flow *flow, const char *text)
{
    size_t length = strlen(text);
    if (flow->used + length >= FORMULA_SIZE) {
        flow->is_wrong = true;
        return;
    }
    memcpy(flow->to + flow->used, text, length + 1);
    flow->used += length;
}

static void skip(struct flow *flow)
{
    while (flow->at < flow->end && isspace((unsigned char)*flow->at))
        flow->at++;
}

static bool accept(struct flow *flow, char c)
{
    skip(flow);
    if (flow->at == flow->end || *flow->at != c)
        return false;
    flow->at++;
    return true;
}

static void expect(struct flow *flow, char c)
{
    if (!accept(flow, c))
        flow->is_wrong = true;
}

/* A plain or quoted scalar, up to a flow indicator. */
static void read_word(struct flow *flow, char word[WORD_SIZE])
{
    skip(flow);
    const char *start = flow->at;
    char quote = '\0';
    if (start < flow->end && (*start == '"' || *start == '\''))
        quote = *flow->at++;
    while (flow->at < flow->end && (quote ? *flow->at != quote : strchr(",:[]{}", *flow->at) == NULL))
        flow->at++;
    if (quote && flow->at < flow->end)
        flow->at++;
    copy_scalar(word, start, (size_t)(flow->at - start));
}

static void rewrite_alias(struct flow *flow)
{
    struct input key;
    char text[24];
    flow->at++;
    const char *start = flow->at;
    while (flow->at < flow->end && strchr(" ,[]{}", *flow->at) == NULL)
        flow->at++;
    copy_scalar(key.anchor, start, (size_t)(flow->at - start));
    const struct input *found = flow->reader->inputs.count
                                    ? bsearch(&key, flow->reader->inputs.items, flow->reader->inputs.count,
                                              sizeof key, compare_inputs)
                                    : NULL;
    /* One scope: costs of a row are all inclusive or all exclusive. */
    if (found == NULL || (flow->input && flow->input->scope != found->scope)) {
        flow->is_wrong = true;
        return;
    }
    flow->input = found;
    snprintf(text, sizeof text, "$%u", (unsigned)found->metric);
    put(flow, text);
}

/* FLOW_DEPTH bounds the recursion. NOLINTBEGIN(misc-no-recursion) */

static void rewrite(struct flow *flow);

static bool is_operator(const char *word)
{
    return strlen(word) == 1 && strchr("+-*/", word[0]) != NULL;
}

/* {operator: [a, b, ...]} */
static void rewrite_map(struct flow *flow)
{
    char word[WORD_SIZE];
    bool is_function;
    read_word(flow, word);
    is_function = strcasecmp(word, "min") == 0 || strcasecmp(word, "max") == 0;
    if (!is_operator(word) && !is_function)
        flow->is_wrong = true;
    expect(flow, ':');
    expect(flow, '[');
    put(flow, is_function ? word : "");
    put(flow, "(");
    for (unsigned count = 0; !flow->is_wrong && !accept(flow, ']'); count++) {
        if (count > 0) {
            expect(flow, ',');
            put(flow, is_function ? "," : word);
        }
        rewrite(flow);
    }
    put(flow, ")");
    expect(flow, '}');
}

/* [a, operator, b, ...] */
static void rewrite_sequence(struct flow *flow)
{
    put(flow, "(");
    for (unsigned count = 0; !flow->is_wrong && !accept(flow, ']'); count++) {
        if (count > 0)
            expect(flow, ',');
        rewrite(flow);
    }
    put(flow, ")");
}

static void rewrite_scalar(struct flow *flow)
{
    char word[WORD_SIZE];
    read_word(flow, word);
    /* Names mean nothing here, and what the parser does not know it rejects. */
    flow->is_wrong |= word[0] == '\0' || word[strspn(word, "0123456789.eE+-*/")] != '\0';
    put(flow, word);
}

static void rewrite(struct flow *flow)
{
    skip(flow);
    if (flow->is_wrong || flow->at == flow->end || flow->depth == FLOW_DEPTH) {
        flow->is_wrong = true;
        return;
    }
    flow->depth++;
    if (accept(flow, '{'))
        rewrite_map(flow);
    else if (accept(flow, '['))
        rewrite_sequence(flow);
    else if (*flow->at == '*' && flow->at + 1 < flow->end && strchr(" ,]}", flow->at[1]) == NULL)
        rewrite_alias(flow);
    else
        rewrite_scalar(flow);
    flow->depth--;
}

/* NOLINTEND(misc-no-recursion) */

static lode_status add_formula(struct reader *self, const char *text, size_t length, lode_error *error)
{
    char formula[FORMULA_SIZE] = "", name[2 * WORD_SIZE];
    struct flow flow = {.reader = self, .at = text, .end = text + length, .to = formula};
    bool has_variant = self->variant[0] && strcmp(self->variant, "Sum") != 0;
    lode_error ignored;
    lode_derived *derived;
    if (self->formulas++ >= FORMULAS_MAX)
        return LODE_OK;
    rewrite(&flow);
    if (flow.is_wrong || self->name[0] == '\0')
        return LODE_OK;
    snprintf(name, sizeof name, "%s%s%s", self->name, has_variant ? " " : "",
             has_variant ? self->variant : "");
    lode_status status = lode_derived_make(&derived, self->db, formula, name,
                                           self->description[0] ? self->description : NULL, &ignored);
    if (status == LODE_ERR_MEMORY)
        return lode_fail_memory(error);
    if (status == LODE_OK)
        lode_derived_list_add(self->list, derived);
    return LODE_OK;
}

/* ---- metrics as they are shown ---- */

static void read_variant(struct reader *self, const struct line *line)
{
    if (line->indent <= self->variants_indent)
        self->in_variants = false;
    else if (line->indent == self->variants_indent + 2 && line->length > 1 &&
             line->text[line->length - 1] == ':')
        copy_scalar(self->variant, line->text, line->length - 1);
}

static lode_status read_root(struct reader *self, const struct line *line, lode_error *error)
{
    size_t length;
    const char *value;
    if (take(line, "name", self->name)) {
        self->description[0] = self->variant[0] = '\0';
        self->in_variants = false;
        return LODE_OK;
    }
    if (take(line, "description", self->description))
        return LODE_OK;
    if (value_of(line, "variants", &length)) {
        self->in_variants = true;
        self->variants_indent = line->indent;
        return LODE_OK;
    }
    if (self->in_variants)
        read_variant(self, line);
    /* The inclusive and the exclusive formula are the same one, of other scopes; some have one. */
    value = value_of(line, "standard", &length);
    if (value && length > 0 && (*value == '{' || *value == '['))
        return add_formula(self, value, length, error);
    return LODE_OK;
}

static lode_status read_line(struct reader *self, const struct line *line, lode_error *error)
{
    size_t length;
    if (line->indent == 0 && line->length > 0 && line->text[0] != '#') {
        if (self->in_inputs) {
            end_input(self);
            if (self->inputs.count)
                qsort(self->inputs.items, self->inputs.count, sizeof(struct input), compare_inputs);
        }
        self->in_inputs = value_of(line, "inputs", &length) != NULL;
        self->in_roots = value_of(line, "roots", &length) != NULL;
        return LODE_OK;
    }
    if (self->in_inputs)
        read_input(self, line);
    return self->in_roots ? read_root(self, line, error) : LODE_OK;
}

/* "- " before the first key of an item counts as indentation. */
static struct line cut_line(const char *text, size_t length)
{
    struct line line = {.text = text, .length = length};
    while (line.length > 0 &&
           (*line.text == ' ' || (*line.text == '-' && line.length > 1 && line.text[1] == ' '))) {
        line.text++;
        line.length--;
        line.indent++;
    }
    while (line.length > 0 && isspace((unsigned char)line.text[line.length - 1]))
        line.length--;
    return line;
}

lode_status lode_taxonomy_read(lode_derived_list *list, const lode_database *db, const char *text,
                               size_t size, lode_error *error)
{
    struct reader *self = calloc(1, sizeof *self);
    lode_status status = LODE_OK;
    LODE_TRY_ALLOC(self, error);
    self->db = db;
    self->list = list;
    lode_array_init(&self->inputs, sizeof(struct input), INPUTS_MAX);
    status = sort_metrics(self, error);
    for (size_t at = 0; at < size && status == LODE_OK;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        struct line line = cut_line(text + at, length);
        status = read_line(self, &line, error);
        at += length + 1;
    }
    lode_array_free(&self->inputs);
    free(self->metrics);
    free(self);
    return status;
}
