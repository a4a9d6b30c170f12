/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters of a scan from the values that SQLite has. It compares an integer column with a number of
 * any kind, or with text: a text that is a number is that number, any other is larger than all
 * numbers, and NULL matches nothing.
 */
#include "sql/cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value as a bound of integers. */
typedef struct bound {
    enum {
        BOUND_INTEGER,
        BOUND_BETWEEN, /* `integer` and the next one */
        BOUND_BELOW,   /* all integers are larger */
        BOUND_ABOVE,   /* all integers are smaller */
        BOUND_NULL
    } kind;
    sqlite3_int64 integer;
} bound;

static bound bound_of_real(double real)
{
    double whole = floor(real);
    if (real < -0x1p63)
        return (bound){BOUND_BELOW, 0};
    if (real >= 0x1p63)
        return (bound){BOUND_ABOVE, 0};
    /* Only whole numbers are left where the conversion could change anything. */
    return (bound){whole == real ? BOUND_INTEGER : BOUND_BETWEEN, (sqlite3_int64)whole};
}

static bound bound_of(sqlite3_value *value)
{
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
        return (bound){BOUND_INTEGER, sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
        return bound_of_real(sqlite3_value_double(value));
    case SQLITE_NULL:
        return (bound){BOUND_NULL, 0};
    default:
        return (bound){BOUND_ABOVE, 0};
    }
}

/* The integers that a column can have, as SQL sees them. */
static void range_of(const lode_field *field, sqlite3_int64 *least, sqlite3_int64 *most)
{
    *least = field->type == LODE_COLUMN_U64 ? INT64_MIN : 0;
    *most = field->type == LODE_COLUMN_U8    ? UINT8_MAX
            : field->type == LODE_COLUMN_U16 ? UINT16_MAX
            : field->type == LODE_COLUMN_U32 ? UINT32_MAX
                                             : INT64_MAX;
}

/* ---- one filter ---- */

static int take_equal(const lode_field *field, sqlite3_value *value, uint64_t *number)
{
    sqlite3_int64 least, most;
    bound b = bound_of(value);
    range_of(field, &least, &most);
    *number = (uint64_t)b.integer;
    return b.kind == BOUND_INTEGER && b.integer >= least && b.integer <= most;
}

/* Makes a bound inclusive. 1: it is one; 0: it holds for all rows; -1: for none. */
static int settle(bound *b, char test)
{
    int is_lower = test == PLAN_MORE || test == PLAN_AT_LEAST;
    switch (b->kind) {
    case BOUND_NULL:
        return -1;
    case BOUND_BELOW:
        return is_lower ? 0 : -1;
    case BOUND_ABOVE:
        return is_lower ? -1 : 0;
    case BOUND_BETWEEN:
        /* At most 2.5 is at most 2; at least 2.5 is at least 3. */
        b->integer += is_lower;
        return 1;
    case BOUND_INTEGER:
        break;
    }
    if (test == PLAN_MORE && b->integer == INT64_MAX)
        return -1;
    if (test == PLAN_LESS && b->integer == INT64_MIN)
        return -1;
    b->integer += test == PLAN_MORE ? 1 : test == PLAN_LESS ? -1 : 0;
    return 1;
}

/* Whether some row can match. A bound that all numbers meet stays: NULL does not meet it. */
static int take_bound(const lode_field *field, char test, sqlite3_value *value, uint64_t *number)
{
    sqlite3_int64 least, most;
    bound b = bound_of(value);
    int is_lower = test == PLAN_MORE || test == PLAN_AT_LEAST;
    int found = settle(&b, test);
    range_of(field, &least, &most);
    if (found == 0)
        b.integer = is_lower ? least : most;
    if (found < 0 || (is_lower ? b.integer > most : b.integer < least))
        return 0;
    *number = (uint64_t)(b.integer < least ? least : b.integer > most ? most : b.integer);
    return 1;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_signed_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int add_number(sql_operand *operand, size_t *capacity, uint64_t number)
{
    if (operand->count == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 16;
        uint64_t *grown = sqlite3_realloc64(operand->numbers, wanted * sizeof *grown);
        if (!grown)
            return SQLITE_NOMEM;
        operand->numbers = grown;
        *capacity = wanted;
    }
    operand->numbers[operand->count++] = number;
    return SQLITE_OK;
}

static int take_list(const lode_field *field, sqlite3_value *list, sql_operand *operand)
{
    sqlite3_value *value = NULL;
    size_t capacity = 0, kept = 0;
    int code = sqlite3_vtab_in_first(list, &value);
    for (; code == SQLITE_OK && value; code = sqlite3_vtab_in_next(list, &value)) {
        uint64_t number;
        if (take_equal(field, value, &number) && add_number(operand, &capacity, number) != SQLITE_OK)
            return SQLITE_NOMEM;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE)
        return code;
    if (operand->count > 1)
        qsort(operand->numbers, operand->count, sizeof *operand->numbers,
              field->flags & LODE_FIELD_SIGNED ? by_signed_number : by_number);
    for (size_t i = 0; i < operand->count; i++)
        if (kept == 0 || operand->numbers[i] != operand->numbers[kept - 1])
            operand->numbers[kept++] = operand->numbers[i];
    operand->count = kept;
    return SQLITE_OK;
}

static int copy_text(sql_operand *operand, sqlite3_value *value)
{
    const unsigned char *text = sqlite3_value_text(value);
    operand->text = text ? sqlite3_mprintf("%s", text) : NULL;
    return operand->text ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- arguments of table functions ---- */

static int wrong_argument(sql_cursor *cursor, const lode_field *field, const char *wanted)
{
    sqlite3_free(cursor->base.pVtab->zErrMsg);
    cursor->base.pVtab->zErrMsg =
        sqlite3_mprintf("%s: the argument '%s' is %s", cursor->table->info->name, field->name, wanted);
    return SQLITE_ERROR;
}

/* NULL is an argument that was not given. */
static int take_argument(sql_cursor *cursor, unsigned column, sqlite3_value *value)
{
    const lode_field *field = &cursor->table->info->fields[column];
    lode_scan_filter *filter = &cursor->filters[cursor->filter_count];
    sql_operand *operand = &cursor->operands[cursor->filter_count];
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL)
        return SQLITE_OK;
    *filter = (lode_scan_filter){.column = column, .kind = LODE_FILTER_EQUAL, .count = 1};
    if (field->type == LODE_COLUMN_STRING) {
        int code = copy_text(operand, value);
        if (code != SQLITE_OK)
            return code;
        filter->strings = (const char *const *)&operand->text;
    } else if (field->type == LODE_COLUMN_F64) {
        type = sqlite3_value_numeric_type(value);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            return wrong_argument(cursor, field, "a number");
        operand->real = sqlite3_value_double(value);
        filter->reals = &operand->real;
    } else {
        if (!take_equal(field, value, &operand->number) || operand->number > INT64_MAX)
            return wrong_argument(cursor, field, "an integer that is not negative");
        filter->numbers = &operand->number;
    }
    cursor->filter_count++;
    return SQLITE_OK;
}

/* ---- all of them ---- */

/* The plan has only what is known to be text. */
static int take_text(sql_cursor *cursor, unsigned column, sqlite3_value *value)
{
    sql_operand *operand = &cursor->operands[cursor->filter_count];
    int code = copy_text(operand, value);
    if (code != SQLITE_OK)
        return code;
    cursor->filters[cursor->filter_count++] =
        (lode_scan_filter){.column = column,
                           .kind = LODE_FILTER_EQUAL,
                           .strings = (const char *const *)&operand->text,
                           .count = 1};
    return SQLITE_OK;
}

static int take_number(sql_cursor *cursor, char test, unsigned column, sqlite3_value *value)
{
    const lode_field *field = &cursor->table->info->fields[column];
    lode_scan_filter *filter = &cursor->filters[cursor->filter_count];
    sql_operand *operand = &cursor->operands[cursor->filter_count];
    int found, code = SQLITE_OK;
    *filter = (lode_scan_filter){.column = column, .numbers = &operand->number, .count = 1};
    if (test == PLAN_IN) {
        code = take_list(field, value, operand);
        filter->kind = LODE_FILTER_IN;
        filter->numbers = operand->numbers;
        filter->count = operand->count;
        found = operand->count > 0;
    } else if (test == PLAN_EQUAL) {
        filter->kind = LODE_FILTER_EQUAL;
        found = take_equal(field, value, &operand->number);
    } else {
        int is_lower = test == PLAN_MORE || test == PLAN_AT_LEAST;
        filter->kind = is_lower ? LODE_FILTER_AT_LEAST : LODE_FILTER_AT_MOST;
        found = take_bound(field, test, value, &operand->number);
    }
    cursor->filter_count++;
    cursor->is_empty |= !found;
    return code;
}

static int take_filter(sql_cursor *cursor, char test, unsigned column, sqlite3_value *value)
{
    const lode_field *field = &cursor->table->info->fields[column];
    if (field->flags & LODE_FIELD_ARGUMENT)
        return take_argument(cursor, column, value);
    if (field->type == LODE_COLUMN_STRING)
        return take_text(cursor, column, value);
    return take_number(cursor, test, column, value);
}

/* What is asked for beyond the filters: a batch holds no more rows than will be read. */
static void take_limits(sql_cursor *cursor, const char *flags, sqlite3_value **values)
{
    if (flags[0] != PLAN_LIMIT)
        return;
    sqlite3_int64 limit = sqlite3_value_int64(values[0]);
    if (limit >= 0 && (uint64_t)limit < cursor->options.rows)
        cursor->options.rows = limit > 0 ? (uint64_t)limit : 1;
    if (flags[1] != PLAN_OFFSET)
        return;
    sqlite3_int64 offset = sqlite3_value_int64(values[1]);
    cursor->options.skip = offset > 0 ? (uint64_t)offset : 0;
}

uint64_t sql_identity_of(const lode_table_info *info)
{
    uint64_t keys = 0, all = 0;
    for (unsigned i = 0; i < info->field_count && i < 64; i++) {
        unsigned flags = info->fields[i].flags;
        keys |= flags & LODE_FIELD_KEY ? UINT64_C(1) << i : 0;
        all |= flags & LODE_FIELD_ARGUMENT ? 0 : UINT64_C(1) << i;
    }
    return keys ? keys : all;
}

int sql_filters_read(sql_cursor *cursor, const char *plan, int batch, int count, sqlite3_value **values)
{
    int taken = 0, code = SQLITE_OK;
    const char *at = plan;
    cursor->options = (lode_scan_options)LODE_SCAN_OPTIONS_INIT;
    cursor->options.rows = (uint64_t)batch;
    cursor->is_empty = false;
    for (; *at != ';' && taken < count && code == SQLITE_OK; at += 2)
        code = take_filter(cursor, at[0], (unsigned)(at[1] - PLAN_FIRST_COLUMN), values[taken++]);
    if (code != SQLITE_OK)
        return code;
    for (at++; *at != ';'; at++)
        cursor->order[cursor->options.order_count++] = (unsigned)(*at - PLAN_FIRST_COLUMN);
    take_limits(cursor, at + 1, values + taken);
    at = strchr(at + 1, ';') + 1;
    cursor->options.filters = cursor->filters;
    cursor->options.filter_count = cursor->filter_count;
    cursor->options.order = cursor->order;
    cursor->options.columns = strtoull(at, NULL, 16) | sql_identity_of(cursor->table->info);
    if (cursor->table->info->field_count < 64)
        cursor->options.columns &= (UINT64_C(1) << cursor->table->info->field_count) - 1;
    return SQLITE_OK;
}

void sql_filters_free(sql_cursor *cursor)
{
    for (size_t i = 0; i < PLAN_FILTERS; i++) {
        sqlite3_free(cursor->operands[i].numbers);
        sqlite3_free(cursor->operands[i].text);
        cursor->operands[i] = (sql_operand){0};
    }
    cursor->filter_count = 0;
}
