/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/plan.h"

#include <lode/private/scan_plan.h>
#include <string.h>

/* A constraint of SQLite that a scan could apply. */
typedef struct candidate {
    int constraint; /* its index */
    char test;
    int is_argument;
} candidate;

typedef struct planner {
    const sql_table *table;
    sqlite3_index_info *info;
    candidate candidates[PLAN_FILTERS];
    lode_scan_filter filters[PLAN_FILTERS];
    size_t count;
    int limit, offset; /* constraints, or -1 */
    int has_others;    /* constraints that SQLite has to check */
    unsigned order[PLAN_ORDER + PLAN_FILTERS];
    size_t order_count;
    lode_scan_plan plan;
} planner;

static const lode_field *field_of(const planner *p, int column)
{
    return &p->table->info->fields[column];
}

/* ---- what can be applied ---- */

static char operator_of(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return PLAN_EQUAL;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return PLAN_LESS;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return PLAN_AT_MOST;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return PLAN_MORE;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return PLAN_AT_LEAST;
    default:
        return 0;
    }
}

static lode_filter_kind kind_of(char test)
{
    switch (test) {
    case PLAN_LESS:
    case PLAN_AT_MOST:
        return LODE_FILTER_AT_MOST;
    case PLAN_MORE:
    case PLAN_AT_LEAST:
        return LODE_FILTER_AT_LEAST;
    case PLAN_IN:
        return LODE_FILTER_IN;
    default:
        return LODE_FILTER_EQUAL;
    }
}

/* With a number instead, only SQLite knows whether that becomes text, or the column a number. */
static int is_text_constant(const planner *p, int constraint)
{
    sqlite3_value *value = NULL;
    return sqlite3_vtab_rhs_value(p->info, constraint, &value) == SQLITE_OK && value &&
           sqlite3_value_type(value) == SQLITE_TEXT;
}

/*
 * Integers by any comparison, text by equality of bytes. Bounds of 64-bit numbers are those of
 * signed numbers in SQL, which an unsigned column does not have.
 */
static int is_pushable(const planner *p, int constraint, char test)
{
    const lode_field *field = field_of(p, p->info->aConstraint[constraint].iColumn);
    if (field->type == LODE_COLUMN_F64)
        return 0;
    if (field->type == LODE_COLUMN_STRING)
        return test == PLAN_EQUAL && is_text_constant(p, constraint) &&
               sqlite3_stricmp(sqlite3_vtab_collation(p->info, constraint), "BINARY") == 0;
    return test == PLAN_EQUAL || field->type != LODE_COLUMN_U64 || (field->flags & LODE_FIELD_SIGNED);
}

/* One equality or one bound of each kind is enough; SQLite checks what is left. */
static int is_covered(const planner *p, unsigned column, lode_filter_kind kind)
{
    for (size_t i = 0; i < p->count; i++) {
        const lode_scan_filter *f = &p->filters[i];
        if (f->column == column &&
            (f->kind == kind || f->kind == LODE_FILTER_EQUAL || f->kind == LODE_FILTER_IN))
            return 1;
    }
    return 0;
}

static void take(planner *p, int constraint, char test, int is_argument)
{
    unsigned column = (unsigned)p->info->aConstraint[constraint].iColumn;
    lode_filter_kind kind = kind_of(test);
    if (p->count == PLAN_FILTERS || column >= PLAN_COLUMNS || is_covered(p, column, kind)) {
        p->has_others = 1;
        return;
    }
    p->candidates[p->count] = (candidate){constraint, test, is_argument};
    p->filters[p->count++] = (lode_scan_filter){.column = column, .kind = kind, .count = 1};
}

/* All values of an IN list at once, if SQLite can hand them over. */
static char widen(const planner *p, int constraint, char test)
{
    const lode_field *field = field_of(p, p->info->aConstraint[constraint].iColumn);
    int is_list =
        test == PLAN_EQUAL && field->type != LODE_COLUMN_STRING && sqlite3_vtab_in(p->info, constraint, -1);
    return is_list ? PLAN_IN : test;
}

static int consider(planner *p, int constraint)
{
    const struct sqlite3_index_constraint *c = &p->info->aConstraint[constraint];
    char test = operator_of(c->op);
    int is_argument = c->iColumn >= 0 && (field_of(p, c->iColumn)->flags & LODE_FIELD_ARGUMENT);
    /* Another order of the join may know the argument. */
    if (is_argument && test == PLAN_EQUAL && !c->usable)
        return SQLITE_CONSTRAINT;
    if (c->usable && c->op == SQLITE_INDEX_CONSTRAINT_LIMIT)
        p->limit = constraint;
    else if (c->usable && c->op == SQLITE_INDEX_CONSTRAINT_OFFSET)
        p->offset = constraint;
    else if (is_argument && test == PLAN_EQUAL)
        take(p, constraint, test, 1);
    else if (is_argument || !c->usable || !test || c->iColumn < 0 || !is_pushable(p, constraint, test))
        p->has_others = 1;
    else
        take(p, constraint, widen(p, constraint, test), 0);
    return SQLITE_OK;
}

/* Equalities first: they make bounds of the same column superfluous. */
static int collect(planner *p)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < p->info->nConstraint; i++) {
            int is_equal = p->info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
            int code = is_equal == (pass == 0) ? consider(p, i) : SQLITE_OK;
            if (code != SQLITE_OK)
                return code;
        }
    return SQLITE_OK;
}

/* ---- order ---- */

static lode_status make(planner *p, const unsigned *order, size_t order_count, lode_error *error)
{
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    options.filters = p->filters;
    options.filter_count = p->count;
    options.order = order;
    options.order_count = order_count;
    return lode_scan_plan_make(&p->plan, p->table->source->tables, p->table->info, &options, 0, error);
}

/* Whether rows come in this order, alone or after the columns that are equal in all rows. */
static int has_order(planner *p, const unsigned *order, size_t count)
{
    lode_error error;
    p->order_count = 0;
    for (int is_prefixed = 0; is_prefixed < 2; is_prefixed++) {
        size_t n = 0;
        for (size_t i = 0; is_prefixed && i < p->count; i++)
            if (p->filters[i].kind == LODE_FILTER_EQUAL && !p->candidates[i].is_argument)
                p->order[n++] = p->filters[i].column;
        if (is_prefixed && n == 0)
            return 0;
        memcpy(p->order + n, order, count * sizeof *order);
        if (make(p, p->order, n + count, &error) == LODE_OK && p->plan.order_used) {
            p->order_count = n + count;
            return 1;
        }
    }
    return 0;
}

/* The permutation of this number: its digits, in bases that count down, are the next columns. */
static void permute(unsigned *out, const unsigned *columns, size_t count, unsigned number)
{
    unsigned rest[PLAN_ORDER];
    memcpy(rest, columns, count * sizeof *columns);
    for (size_t left = count; left > 0; left--) {
        size_t chosen = number % left;
        number /= (unsigned)left;
        out[count - left] = rest[chosen];
        memmove(rest + chosen, rest + chosen + 1, (left - chosen - 1) * sizeof *rest);
    }
}

/* Tries all orders of some columns: equal rows need only be adjacent. */
static int has_some_order(planner *p, const unsigned *columns, size_t count)
{
    unsigned order[PLAN_ORDER], permutations = 1;
    for (unsigned i = 2; i <= count; i++)
        permutations *= i;
    for (unsigned i = 0; i < permutations; i++) {
        permute(order, columns, count, i);
        if (has_order(p, order, count))
            return 1;
    }
    return 0;
}

/*
 * GROUP BY and DISTINCT ask for rows that are adjacent; their directions mean nothing. But where
 * ORDER BY has the same columns, SQLite takes the rows for sorted, unless it is told not to.
 */
static int delivers_order(planner *p)
{
    const sqlite3_index_info *info = p->info;
    unsigned order[PLAN_ORDER];
    int distinct = sqlite3_vtab_distinct(p->info);
    int is_adjacent = distinct == 2 || (distinct == 1 && p->table->source->has_true_order);
    int most = is_adjacent ? 4 : PLAN_ORDER;
    if (info->nOrderBy == 0 || info->nOrderBy > most)
        return 0;
    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        if (column < 0 || column >= PLAN_COLUMNS || (info->aOrderBy[i].desc && !is_adjacent))
            return 0;
        order[i] = (unsigned)column;
    }
    return is_adjacent ? has_some_order(p, order, (size_t)info->nOrderBy)
                       : has_order(p, order, (size_t)info->nOrderBy);
}

/* ---- the plan as text ---- */

static const char *words_of(char test)
{
    return test == PLAN_EQUAL     ? "="
           : test == PLAN_IN      ? "in"
           : test == PLAN_LESS    ? "<"
           : test == PLAN_MORE    ? ">"
           : test == PLAN_AT_MOST ? "<="
                                  : ">=";
}

/* Filters of a mask, after a word; arguments are no filters to people. */
static void add_filter_words(sqlite3_str *t, const planner *p, uint64_t filters, const char *before)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!(filters >> i & 1) || p->candidates[i].is_argument)
            continue;
        sqlite3_str_appendf(t, "%s%s %s", before, field_of(p, (int)p->filters[i].column)->name,
                            words_of(p->candidates[i].test));
        before = ", ";
    }
}

/* Such as "value by context_id = where metric_id = in the order of profile_id (30 rows)". */
static void add_words(sqlite3_str *t, const planner *p, int has_ordered)
{
    const lode_scan_plan *plan = &p->plan;
    sqlite3_str_appendf(t, " %s", p->table->info->name);
    add_filter_words(t, p, plan->filters_found & plan->filters_used, " by ");
    add_filter_words(t, p, plan->filters_used & ~plan->filters_found, " where ");
    for (int i = 0; has_ordered && i < p->info->nOrderBy; i++)
        sqlite3_str_appendf(t, "%s%s", i ? ", " : " in the order of ",
                            field_of(p, p->info->aOrderBy[i].iColumn)->name);
    sqlite3_str_appendf(t, " (%.0f rows)", plan->cost);
}

/* Hands the filters over, and says which of them SQLite need not check. */
static void add_filters(sqlite3_str *t, planner *p, int *argument)
{
    for (size_t i = 0; i < p->count; i++) {
        candidate *c = &p->candidates[i];
        if (!(p->plan.filters_used >> i & 1)) {
            p->has_others = 1;
            continue;
        }
        struct sqlite3_index_constraint_usage *usage = &p->info->aConstraintUsage[c->constraint];
        int is_text = field_of(p, (int)p->filters[i].column)->type == LODE_COLUMN_STRING;
        usage->argvIndex = ++*argument;
        usage->omit = c->is_argument || !is_text;
        p->has_others |= !usage->omit;
        if (c->test == PLAN_IN)
            sqlite3_vtab_in(p->info, c->constraint, 1);
        sqlite3_str_appendf(t, "%c%c", c->test, (char)(PLAN_FIRST_COLUMN + p->filters[i].column));
    }
}

/* The scan applies an offset if no row is left out after it, and no other row order is made. */
static void add_limits(sqlite3_str *t, planner *p, int *argument, int has_ordered)
{
    struct sqlite3_index_constraint_usage *usage = p->info->aConstraintUsage;
    if (p->has_others || (p->info->nOrderBy > 0 && !has_ordered) || p->limit < 0)
        return;
    usage[p->limit].argvIndex = ++*argument;
    sqlite3_str_appendf(t, "%c", PLAN_LIMIT);
    if (p->offset < 0)
        return;
    usage[p->offset].argvIndex = ++*argument;
    usage[p->offset].omit = 1;
    sqlite3_str_appendf(t, "%c", PLAN_OFFSET);
}

/* SQLite counts in powers of two: one row more than none. */
static void estimate(const planner *p)
{
    double rows = p->plan.rows < 1 ? 1 : p->plan.rows;
    p->info->estimatedCost = p->plan.cost < 1 ? 1 : p->plan.cost;
    p->info->estimatedRows = rows < 9e18 ? (sqlite3_int64)rows : INT64_MAX;
    if (p->plan.is_unique)
        p->info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    p->info->idxNum = rows <= PLAN_SMALL ? PLAN_SMALL : rows < PLAN_BATCH ? (int)rows : PLAN_BATCH;
}

int sql_plan_choose(sqlite3_vtab *vtab, const sql_table *table, sqlite3_index_info *info)
{
    planner p = {.table = table, .info = info, .limit = -1, .offset = -1};
    lode_error error = {0};
    int argument = 0;
    int code = collect(&p);
    if (code != SQLITE_OK)
        return code;
    int has_ordered = delivers_order(&p);
    lode_status status = has_ordered ? LODE_OK : make(&p, NULL, 0, &error);
    if (status != LODE_OK) {
        sql_vtab_fail(vtab, &error);
        return sql_code_of(status);
    }
    /* Arguments are always handed over: without them there is no such table. */
    for (size_t i = 0; i < p.count; i++)
        if (p.candidates[i].is_argument)
            p.plan.filters_used |= UINT64_C(1) << i;
    sqlite3_str *t = sqlite3_str_new(NULL);
    add_filters(t, &p, &argument);
    sqlite3_str_appendf(t, ";");
    for (size_t i = 0; i < p.order_count; i++)
        sqlite3_str_appendf(t, "%c", (char)(PLAN_FIRST_COLUMN + p.order[i]));
    sqlite3_str_appendf(t, ";");
    add_limits(t, &p, &argument, has_ordered);
    sqlite3_str_appendf(t, ";%llx", (unsigned long long)info->colUsed);
    add_words(t, &p, has_ordered);
    estimate(&p);
    info->orderByConsumed = has_ordered;
    info->idxStr = sqlite3_str_finish(t);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
