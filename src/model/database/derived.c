/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas: a recursive descent parser that writes operations for a stack. */
#include "model/database/derived.h"

#include "base/error.h"
#include "base/getter.h"
#include "model/database/database.h"
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LENGTH_MAX = 4096,
    DEPTH_MAX = 64, /* of nesting */
    OPERATIONS_MAX = 1024,
    METRICS_MAX = 32,
    STACK_MAX = 4 * DEPTH_MAX
};

enum code {
    CODE_NUMBER,
    CODE_METRIC,
    CODE_NEGATE,
    CODE_ADD,
    CODE_SUBTRACT,
    CODE_MULTIPLY,
    CODE_DIVIDE,
    CODE_MIN,
    CODE_MAX
};

struct operation {
    enum code code;
    uint32_t metric; /* position in `metrics` */
    double number;
};

struct lode_derived {
    char *name, *formula, *description;
    const lode_metric *metrics[METRICS_MAX];
    size_t metric_count;
    struct lode_array operations;
};

struct parser {
    const lode_database *db;
    lode_derived *derived;
    const char *start, *at;
    unsigned depth; /* of nesting */
    unsigned stack; /* values on the stack after the operations so far */
    lode_error *error;
};

/* ---- parsing ---- */

static lode_status wrong(struct parser *p, const char *what)
{
    return lode_fail(p->error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "%s at '%.40s' in the formula '%.80s'", what, p->at, p->start);
}

static void skip_spaces(struct parser *p)
{
    p->at += strspn(p->at, " \t");
}

static lode_status emit(struct parser *p, struct operation operation)
{
    if (operation.code == CODE_NUMBER || operation.code == CODE_METRIC)
        p->stack++;
    else if (operation.code != CODE_NEGATE)
        p->stack--;
    struct operation *added = lode_array_push(&p->derived->operations);
    if (added == NULL || p->stack > STACK_MAX)
        return wrong(p, "too many operations");
    *added = operation;
    return LODE_OK;
}

static lode_status emit_metric(struct parser *p, const lode_metric *metric)
{
    lode_derived *derived = p->derived;
    uint32_t at = 0;
    while (at < derived->metric_count && derived->metrics[at] != metric)
        at++;
    if (at == METRICS_MAX)
        return wrong(p, "too many metrics");
    if (at == derived->metric_count)
        derived->metrics[derived->metric_count++] = metric;
    return emit(p, (struct operation){.code = CODE_METRIC, .metric = at});
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '.' || c == '@' || c == '#';
}

/* The longest complete name of a metric that the text begins with. */
static const lode_metric *metric_at(const struct parser *p, size_t *length)
{
    const lode_metric *found = NULL;
    *length = 0;
    for (uint32_t i = 0; i < p->db->metric_count; i++) {
        const char *name = p->db->metrics[i].name;
        size_t size = strnlen(name, LENGTH_MAX);
        if (size <= *length || strncasecmp(p->at, name, size) != 0)
            continue;
        if (is_word(name[size - 1]) && is_word(p->at[size]))
            continue;
        found = &p->db->metrics[i];
        *length = size;
    }
    return found;
}

static lode_status parse_name(struct parser *p, const char *name, size_t length)
{
    char text[256];
    const lode_metric *metric;
    if (length == 0 || length >= sizeof text)
        return wrong(p, "a metric is expected");
    memcpy(text, name, length);
    text[length] = '\0';
    LODE_TRY(lode_database_find_metric(p->db, text, &metric, p->error));
    return emit_metric(p, metric);
}

static lode_status parse_quoted(struct parser *p)
{
    char quote = *p->at;
    const char *name = p->at + 1, *end = strchr(name, quote);
    if (end == NULL)
        return wrong(p, "a quote does not end");
    LODE_TRY(parse_name(p, name, (size_t)(end - name)));
    p->at = end + 1;
    return LODE_OK;
}

static lode_status parse_number_of_metric(struct parser *p)
{
    char *end;
    unsigned long long index = strtoull(p->at + 1, &end, 10);
    if (!isdigit((unsigned char)p->at[1]) || index >= p->db->metric_count)
        return wrong(p, "$ needs the number of a metric");
    p->at = end;
    return emit_metric(p, &p->db->metrics[index]);
}

static lode_status parse_number(struct parser *p)
{
    char *end;
    double number = strtod(p->at, &end);
    if (end == p->at || !isfinite(number))
        return wrong(p, "a number is expected");
    p->at = end;
    return emit(p, (struct operation){.code = CODE_NUMBER, .number = number});
}

/* Recursive descent: DEPTH_MAX bounds it. NOLINTBEGIN(misc-no-recursion) */

static lode_status parse_sum(struct parser *p);

static lode_status parse_inside(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return wrong(p, "nested too deeply");
    LODE_TRY(parse_sum(p));
    p->depth--;
    skip_spaces(p);
    return LODE_OK;
}

/* After "min(" or "max(". */
static lode_status parse_extreme(struct parser *p, enum code code)
{
    LODE_TRY(parse_inside(p));
    while (*p->at == ',') {
        p->at++;
        LODE_TRY(parse_inside(p));
        LODE_TRY(emit(p, (struct operation){.code = code}));
    }
    if (*p->at != ')')
        return wrong(p, "')' is missing");
    p->at++;
    return LODE_OK;
}

static bool take_function(struct parser *p, const char *name)
{
    size_t length = strlen(name);
    if (strncasecmp(p->at, name, length) != 0)
        return false;
    const char *after = p->at + length + strspn(p->at + length, " \t");
    if (*after != '(')
        return false;
    p->at = after + 1;
    return true;
}

static lode_status parse_metric(struct parser *p)
{
    size_t length;
    const lode_metric *metric = metric_at(p, &length);
    if (metric) {
        LODE_TRY(emit_metric(p, metric));
        p->at += length;
        return LODE_OK;
    }
    while (is_word(p->at[length]))
        length++;
    LODE_TRY(parse_name(p, p->at, length));
    p->at += length;
    return LODE_OK;
}

static lode_status parse_primary(struct parser *p)
{
    skip_spaces(p);
    if (*p->at == '\'' || *p->at == '"')
        return parse_quoted(p);
    if (*p->at == '$')
        return parse_number_of_metric(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (*p->at == '(') {
        p->at++;
        LODE_TRY(parse_inside(p));
        if (*p->at != ')')
            return wrong(p, "')' is missing");
        p->at++;
        return LODE_OK;
    }
    if (take_function(p, "min"))
        return parse_extreme(p, CODE_MIN);
    if (take_function(p, "max"))
        return parse_extreme(p, CODE_MAX);
    return parse_metric(p);
}

static lode_status parse_signed(struct parser *p)
{
    bool is_negative = false;
    skip_spaces(p);
    while (*p->at == '-') {
        is_negative = !is_negative;
        p->at++;
        skip_spaces(p);
    }
    LODE_TRY(parse_primary(p));
    return is_negative ? emit(p, (struct operation){.code = CODE_NEGATE}) : LODE_OK;
}

static lode_status parse_product(struct parser *p)
{
    LODE_TRY(parse_signed(p));
    for (skip_spaces(p); *p->at == '*' || *p->at == '/'; skip_spaces(p)) {
        enum code code = *p->at++ == '*' ? CODE_MULTIPLY : CODE_DIVIDE;
        LODE_TRY(parse_signed(p));
        LODE_TRY(emit(p, (struct operation){.code = code}));
    }
    return LODE_OK;
}

static lode_status parse_sum(struct parser *p)
{
    LODE_TRY(parse_product(p));
    for (skip_spaces(p); *p->at == '+' || *p->at == '-'; skip_spaces(p)) {
        enum code code = *p->at++ == '+' ? CODE_ADD : CODE_SUBTRACT;
        LODE_TRY(parse_product(p));
        LODE_TRY(emit(p, (struct operation){.code = code}));
    }
    return LODE_OK;
}

/* NOLINTEND(misc-no-recursion) */

static lode_status parse_formula(lode_derived *derived, const lode_database *db, const char *text,
                                 lode_error *error)
{
    struct parser p = {.db = db, .derived = derived, .start = text, .at = text, .error = error};
    if (strnlen(text, LENGTH_MAX + 1) > LENGTH_MAX)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a formula has at most %d characters", LENGTH_MAX);
    LODE_TRY(parse_sum(&p));
    return *p.at ? wrong(&p, "unexpected text") : LODE_OK;
}

/* ---- making ---- */

static bool keep(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return text == NULL || *to;
}

static lode_derived *new_derived(const char *formula, const char *name, const char *description)
{
    lode_derived *derived = calloc(1, sizeof *derived);
    if (derived)
        lode_array_init(&derived->operations, sizeof(struct operation), OPERATIONS_MAX);
    if (derived && keep(&derived->formula, formula) && keep(&derived->name, name) &&
        keep(&derived->description, description))
        return derived;
    lode_derived_free(derived);
    return NULL;
}

lode_status lode_derived_make(lode_derived **out, const lode_database *db, const char *formula,
                              const char *name, const char *description, lode_error *error)
{
    *out = NULL;
    lode_derived *derived = new_derived(formula, name, description);
    LODE_TRY_ALLOC(derived, error);
    lode_status status = parse_formula(derived, db, formula, error);
    if (status == LODE_OK)
        *out = derived;
    else
        lode_derived_free(derived);
    return status;
}

static lode_status make_metric(lode_derived **out, const lode_metric *metric, lode_error *error)
{
    *out = new_derived(metric->name, metric->name, NULL);
    LODE_TRY_ALLOC(*out, error);
    (*out)->metrics[(*out)->metric_count++] = metric;
    struct operation *operation = lode_array_push(&(*out)->operations);
    if (operation == NULL) {
        lode_derived_free(*out);
        *out = NULL;
        return lode_fail_memory(error);
    }
    *operation = (struct operation){.code = CODE_METRIC};
    return LODE_OK;
}

static const lode_metric *metric_called(const lode_database *db, const char *text)
{
    for (uint32_t i = 0; i < db->metric_count; i++)
        if (strcasecmp(db->metrics[i].name, text) == 0)
            return &db->metrics[i];
    return NULL;
}

/* By its complete name, or without the unit. */
static const lode_derived *derived_called(const lode_derived_list *list, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; list && i < list->items.count; i++) {
        const lode_derived *derived = lode_derived_list_at(list, i);
        if (strcasecmp(derived->name, text) == 0 ||
            (strncasecmp(derived->name, text, length) == 0 && strncmp(derived->name + length, " (", 2) == 0))
            return derived;
    }
    return NULL;
}

lode_status lode_derived_parse(lode_derived **out, const lode_database *db, const lode_derived_list *named,
                               const char *text, lode_error *error)
{
    const lode_metric *metric = metric_called(db, text);
    const lode_derived *derived = metric ? NULL : derived_called(named, text);
    *out = NULL;
    if (derived)
        return lode_derived_make(out, db, derived->formula, derived->name, derived->description, error);
    lode_status status = metric ? LODE_OK : lode_database_find_metric(db, text, &metric, error);
    if (status == LODE_OK)
        return make_metric(out, metric, error);
    if (strpbrk(text, "+-*/()'\"$") == NULL)
        return status;
    return lode_derived_make(out, db, text, NULL, NULL, error);
}

void lode_derived_free(lode_derived *derived)
{
    if (derived == NULL)
        return;
    free(derived->name);
    free(derived->formula);
    free(derived->description);
    lode_array_free(&derived->operations);
    free(derived);
}

const char *lode_derived_name(const lode_derived *derived)
{
    return derived->name ? derived->name : derived->formula;
}

LODE_GETTER(const char *, lode_derived_formula, lode_derived, formula);
LODE_GETTER(const char *, lode_derived_description, lode_derived, description);
LODE_GETTER(size_t, lode_derived_metric_count, lode_derived, metric_count);

int lode_derived_is_metric(const lode_derived *derived)
{
    return derived->operations.count == 1 &&
           LODE_ARRAY_AT(&derived->operations, struct operation, 0)->code == CODE_METRIC;
}

const lode_metric *lode_derived_metric(const lode_derived *derived, size_t index)
{
    return index < derived->metric_count ? derived->metrics[index] : NULL;
}

/* ---- evaluation ---- */

/* No value is a NaN, which every operation preserves. */
static double apply(enum code code, double left, double right)
{
    switch (code) {
    case CODE_ADD:
        return left + right;
    case CODE_SUBTRACT:
        return left - right;
    case CODE_MULTIPLY:
        return left * right;
    case CODE_DIVIDE:
        return right != 0.0 ? left / right : (double)NAN;
    case CODE_MIN:
        return isnan(left) || isnan(right) ? (double)NAN : left < right ? left : right;
    case CODE_MAX:
        return isnan(left) || isnan(right) ? (double)NAN : left > right ? left : right;
    case CODE_NUMBER:
    case CODE_METRIC:
    case CODE_NEGATE:
    default:
        return (double)NAN;
    }
}

int lode_derived_value(const lode_derived *derived, const double *values, double *out)
{
    double stack[STACK_MAX + 1] = {0};
    size_t top = 0;
    for (size_t i = 0; i < derived->operations.count; i++) {
        const struct operation *operation = LODE_ARRAY_AT(&derived->operations, struct operation, i);
        if (operation->code == CODE_NUMBER) {
            stack[top++] = operation->number;
        } else if (operation->code == CODE_METRIC) {
            stack[top++] = values[operation->metric];
        } else if (operation->code == CODE_NEGATE) {
            stack[top - 1] = -stack[top - 1];
        } else {
            top--;
            stack[top - 1] = apply(operation->code, stack[top - 1], stack[top]);
        }
    }
    int has_value = top == 1 && isfinite(stack[0]);
    *out = has_value ? stack[0] : 0.0;
    return has_value;
}

/* ---- accumulators ---- */

#define ACCUMULATED "_ACUMU"

const lode_metric *lode_metric_counted_by(const lode_database *db, const lode_metric *metric)
{
    const char *colon = strchr(metric->name, ':'), *suffix = strstr(metric->name, ACCUMULATED);
    char count[64];
    if (colon == NULL || suffix == NULL || suffix < colon || colon - metric->name > 40 ||
        (suffix[sizeof ACCUMULATED - 1] != '\0' && suffix[sizeof ACCUMULATED - 1] != ' '))
        return NULL;
    snprintf(count, sizeof count, "%.*s:COUNT", (int)(colon - metric->name), metric->name);
    return metric_called(db, count);
}
