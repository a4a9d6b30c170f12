/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/conditions.h"

#include "base/compare.h"
#include "base/error.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct parser {
    struct lode_conditions *conditions;
    const lode_table_info *table;
    const char *text, *at;
    lode_error *error;
};

enum test {
    TEST_AT_MOST,
    TEST_AT_LEAST,
    TEST_EQUAL,
    TEST_LESS,
    TEST_MORE
};

void lode_conditions_init(struct lode_conditions *conditions)
{
    *conditions = (struct lode_conditions){0};
    lode_array_init(&conditions->filters, sizeof(lode_scan_filter), LODE_SCAN_FILTERS);
    lode_arena_init(&conditions->arena, SIZE_MAX);
}

void lode_conditions_free(struct lode_conditions *conditions)
{
    lode_array_free(&conditions->filters);
    lode_arena_free(&conditions->arena);
}

int lode_table_column(const lode_table_info *table, const char *name, size_t length)
{
    for (unsigned i = 0; i < table->field_count; i++)
        if (strlen(table->fields[i].name) == length && strncmp(table->fields[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

/* ---- words ---- */

static lode_status fail(const struct parser *p, const char *wanted)
{
    return lode_fail(p->error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "in the condition '%s': expected %s before '%s'", p->text, wanted, p->at);
}

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool take_sign(struct parser *p, const char *sign)
{
    skip_blanks(p);
    if (strncmp(p->at, sign, strlen(sign)) != 0)
        return false;
    p->at += strlen(sign);
    return true;
}

static bool take_word(struct parser *p, const char *word)
{
    skip_blanks(p);
    if (word_length(p->at) != strlen(word) || strncasecmp(p->at, word, strlen(word)) != 0)
        return false;
    p->at += strlen(word);
    return true;
}

static bool take_test(struct parser *p, enum test *test)
{
    static const char *const signs[] = {"<=", ">=", "=", "<", ">"};
    for (unsigned i = 0; i < sizeof signs / sizeof *signs; i++)
        if (take_sign(p, signs[i])) {
            *test = (enum test)i;
            return true;
        }
    return false;
}

/* ---- constants ---- */

static lode_scan_filter *add_filter(struct parser *p, unsigned column, enum test test)
{
    lode_scan_filter *filter = lode_array_push(&p->conditions->filters);
    if (filter)
        *filter =
            (lode_scan_filter){.column = column,
                               .kind = test == TEST_EQUAL                           ? LODE_FILTER_EQUAL
                                       : test == TEST_AT_LEAST || test == TEST_MORE ? LODE_FILTER_AT_LEAST
                                                                                    : LODE_FILTER_AT_MOST,
                               .count = 1};
    return filter;
}

static lode_status take_integer(struct parser *p, int64_t *number)
{
    char *end;
    skip_blanks(p);
    errno = 0;
    long long found = strtoll(p->at, &end, 10);
    if (end == p->at || errno != 0 || word_length(end) > 0 || *end == '.')
        return fail(p, "an integer");
    *number = found;
    p->at = end;
    return LODE_OK;
}

/* The integers that a column has, as SQL sees them. */
static void range_of(const lode_field *field, int64_t *least, int64_t *most)
{
    *least = field->type == LODE_COLUMN_U64 ? INT64_MIN : 0;
    *most = field->type == LODE_COLUMN_U8    ? UINT8_MAX
            : field->type == LODE_COLUMN_U32 ? UINT32_MAX
                                             : INT64_MAX;
}

/* A bound beyond all numbers is met by all rows that have one, or by none. */
static lode_status take_integer_test(struct parser *p, unsigned column, enum test test)
{
    const lode_field *field = &p->table->fields[column];
    int64_t number = 0, least, most;
    range_of(field, &least, &most);
    LODE_TRY(take_integer(p, &number));
    if ((test == TEST_LESS && number == INT64_MIN) || (test == TEST_MORE && number == INT64_MAX)) {
        p->conditions->is_empty = true;
        return LODE_OK;
    }
    number += test == TEST_MORE ? 1 : test == TEST_LESS ? -1 : 0;
    bool is_lower = test == TEST_MORE || test == TEST_AT_LEAST, is_equal = test == TEST_EQUAL;
    if ((number < least && (is_equal || !is_lower)) || (number > most && (is_equal || is_lower))) {
        p->conditions->is_empty = true;
        return LODE_OK;
    }
    lode_scan_filter *filter = add_filter(p, column, test);
    uint64_t *kept = lode_arena_alloc(&p->conditions->arena, sizeof *kept, sizeof *kept);
    LODE_TRY_ALLOC(filter && kept, p->error);
    *kept = (uint64_t)(number < least ? least : number > most ? most : number);
    filter->numbers = kept;
    return LODE_OK;
}

/* Names of numbers and hexadecimal ones are none here, as in SQL. */
static lode_status take_real(struct parser *p, double *number)
{
    char *end;
    skip_blanks(p);
    *number = strtod(p->at, &end);
    size_t length = (size_t)(end - p->at);
    if (length == 0 || strspn(p->at, "+-.0123456789eE") < length || word_length(end) > 0)
        return fail(p, "a number");
    p->at = end;
    return LODE_OK;
}

/* Nothing is beyond a bound that is infinite. */
static lode_status take_real_test(struct parser *p, unsigned column, enum test test)
{
    double number;
    LODE_TRY(take_real(p, &number));
    p->conditions->is_empty |=
        (test == TEST_LESS && number == -HUGE_VAL) || (test == TEST_MORE && number == HUGE_VAL);
    lode_scan_filter *filter = add_filter(p, column, test);
    double *kept = lode_arena_alloc(&p->conditions->arena, sizeof *kept, sizeof *kept);
    LODE_TRY_ALLOC(filter && kept, p->error);
    *kept = test == TEST_LESS   ? nextafter(number, -HUGE_VAL)
            : test == TEST_MORE ? nextafter(number, HUGE_VAL)
                                : number;
    filter->reals = kept;
    return LODE_OK;
}

/* Two quotes in a text are one. */
static lode_status take_text_test(struct parser *p, unsigned column, enum test test)
{
    if (test != TEST_EQUAL || !take_sign(p, "'"))
        return fail(p, "= and a text in quotes");
    lode_scan_filter *filter = add_filter(p, column, test);
    char *kept = lode_arena_alloc(&p->conditions->arena, strlen(p->at) + 1, 1), *to = kept;
    const char **texts = lode_arena_alloc(&p->conditions->arena, sizeof *texts, sizeof *texts);
    LODE_TRY_ALLOC(filter && kept && texts, p->error);
    for (; *p->at && (p->at[0] != '\'' || p->at[1] == '\''); p->at++) {
        p->at += p->at[0] == '\'';
        *to++ = *p->at;
    }
    if (!take_sign(p, "'"))
        return fail(p, "a closing quote");
    *to = '\0';
    *texts = kept;
    filter->strings = texts;
    return LODE_OK;
}

/* ---- lists ---- */

static int by_signed_number(const void *a, const void *b)
{
    return LODE_COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

/* Integers that no row has are left out: the others fit the type of the column. */
static lode_status keep_list(struct parser *p, unsigned column, struct lode_array *list)
{
    int64_t least, most, *numbers = list->items;
    size_t kept = 0;
    range_of(&p->table->fields[column], &least, &most);
    if (list->count > 1)
        qsort(numbers, list->count, sizeof *numbers, by_signed_number);
    for (size_t i = 0; i < list->count; i++)
        if (numbers[i] >= least && numbers[i] <= most && (kept == 0 || numbers[i] != numbers[kept - 1]))
            numbers[kept++] = numbers[i];
    p->conditions->is_empty |= kept == 0;
    lode_scan_filter *filter = add_filter(p, column, TEST_EQUAL);
    uint64_t *copy = lode_arena_alloc(&p->conditions->arena, (kept + 1) * sizeof *copy, sizeof *copy);
    LODE_TRY_ALLOC(filter && copy, p->error);
    if (kept > 0)
        memcpy(copy, numbers, kept * sizeof *copy);
    filter->kind = LODE_FILTER_IN;
    filter->numbers = copy;
    filter->count = kept;
    return LODE_OK;
}

static lode_status take_list(struct parser *p, unsigned column)
{
    struct lode_array list;
    lode_status status = LODE_OK;
    if (p->table->fields[column].type == LODE_COLUMN_F64 ||
        p->table->fields[column].type == LODE_COLUMN_STRING)
        return fail(p, "a list for a column of integers");
    lode_array_init(&list, sizeof(int64_t), SIZE_MAX);
    if (!take_sign(p, "("))
        status = fail(p, "a list in parentheses");
    while (status == LODE_OK) {
        int64_t *number = lode_array_push(&list);
        status = number ? take_integer(p, number) : lode_fail_memory(p->error);
        if (status != LODE_OK || !take_sign(p, ","))
            break;
    }
    if (status == LODE_OK && !take_sign(p, ")"))
        status = fail(p, "a closing parenthesis");
    if (status == LODE_OK)
        status = keep_list(p, column, &list);
    lode_array_free(&list);
    return status;
}

/* ---- conditions ---- */

static lode_status take_condition(struct parser *p)
{
    enum test test;
    skip_blanks(p);
    size_t length = word_length(p->at);
    int column = lode_table_column(p->table, p->at, length);
    if (column < 0)
        return fail(p, "a column");
    if (p->conditions->filters.count == LODE_SCAN_FILTERS)
        return fail(p, "fewer conditions");
    p->at += length;
    if (take_word(p, "in"))
        return take_list(p, (unsigned)column);
    if (!take_test(p, &test))
        return fail(p, "=, <, <=, >, >= or in");
    lode_column_type type = p->table->fields[column].type;
    return type == LODE_COLUMN_STRING ? take_text_test(p, (unsigned)column, test)
           : type == LODE_COLUMN_F64  ? take_real_test(p, (unsigned)column, test)
                                      : take_integer_test(p, (unsigned)column, test);
}

lode_status lode_conditions_parse(struct lode_conditions *conditions, const lode_table_info *table,
                                  const char *text, lode_error *error)
{
    struct parser parser = {conditions, table, text, text, error};
    do
        LODE_TRY(take_condition(&parser));
    while (take_word(&parser, "and"));
    skip_blanks(&parser);
    return *parser.at ? fail(&parser, "'and', or the end,") : LODE_OK;
}
