/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns hold what the functions for single things say, for whole tables and for parts of them. */
#include "made_recording.h"
#include "minidb.h"
#include "minidraft.h"
#include "unit.h"
#include <lode/private/columns.h>
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static uint64_t number_at(const lode_column *column, uint64_t index)
{
    const unsigned char *at = (const unsigned char *)column->data + index * column->stride;
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;
    switch (column->type) {
    case LODE_COLUMN_U8:
        return *at;
    case LODE_COLUMN_U16:
        memcpy(&u16, at, sizeof u16);
        return u16;
    case LODE_COLUMN_U32:
        memcpy(&u32, at, sizeof u32);
        return u32;
    case LODE_COLUMN_U64:
    case LODE_COLUMN_F64:
    case LODE_COLUMN_STRING:
    default:
        memcpy(&u64, at, sizeof u64);
        return u64;
    }
}

static double real_at(const lode_column *column, uint64_t index)
{
    double value;
    assert_int_equal(column->type, LODE_COLUMN_F64);
    memcpy(&value, (const unsigned char *)column->data + index * column->stride, sizeof value);
    return value;
}

static const char *string_at(const lode_column *column, uint64_t index)
{
    const char *string;
    assert_int_equal(column->type, LODE_COLUMN_STRING);
    memcpy(&string, (const unsigned char *)column->data + index * column->stride, sizeof string);
    return string;
}

static lode_column read_rows(lode_table *table, const char *name, uint64_t first, uint64_t count)
{
    lode_column column = {0};
    for (unsigned i = 0; i < lode_table_columns(table); i++) {
        if (strcmp(lode_table_column_name(table, i), name) != 0)
            continue;
        lode_status status = lode_table_read(table, i, first, count, &column, NULL);
        assert_int_equal(status, lode_table_rows(table) > first ? LODE_OK : LODE_END);
        return column;
    }
    fail_msg("no column %s", name);
    return column;
}

static lode_column read_all(lode_table *table, const char *name)
{
    lode_column column = read_rows(table, name, 0, UINT64_MAX);
    assert_int_equal(column.count, lode_table_rows(table));
    return column;
}

static lode_table *open_table(const lode_database *db, lode_table_kind kind)
{
    lode_table *table;
    lode_error error = {0};
    if (lode_database_table(&table, db, kind, &error) != LODE_OK)
        fail_msg("%s: %s", lode_table_kind_name((int)kind), error.text);
    return table;
}

static void same_string(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

#define INDEX(thing, function) ((thing) ? function(thing) : LODE_NO_ROW)

/* ---- what a database has, thing by thing ---- */

static void compare_contexts(const lode_database *db)
{
    lode_table *table = open_table(db, LODE_TABLE_CONTEXTS);
    assert_int_equal(lode_table_rows(table), lode_database_context_count(db));
    lode_column id = read_all(table, "id"), parent = read_all(table, "parent"),
                parent_id = read_all(table, "parent_id"), size = read_all(table, "subtree_size"),
                depth = read_all(table, "depth"), kind = read_all(table, "kind"),
                relation = read_all(table, "relation"), flags = read_all(table, "flags"),
                propagation = read_all(table, "propagation"), function = read_all(table, "function"),
                file = read_all(table, "file"), line = read_all(table, "line"),
                module = read_all(table, "module"), offset = read_all(table, "offset"),
                entry = read_all(table, "entry"), name = read_all(table, "entry_name");
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i), *above = lode_context_parent(context);
        above = above ? above : context;
        assert_int_equal(number_at(&id, i), lode_context_id(context));
        assert_int_equal(number_at(&parent, i), lode_context_index(above));
        assert_int_equal(number_at(&parent_id, i), lode_context_id(above));
        assert_int_equal(number_at(&size, i), lode_context_subtree_size(context));
        assert_int_equal(number_at(&depth, i), lode_context_depth(context));
        assert_int_equal(number_at(&kind, i), lode_context_lexical(context));
        assert_int_equal(number_at(&relation, i), lode_context_relation(context));
        assert_int_equal(number_at(&flags, i), lode_context_flags(context));
        assert_int_equal(number_at(&propagation, i), lode_context_propagation(context));
        assert_int_equal(number_at(&function, i), INDEX(lode_context_function(context), lode_function_index));
        assert_int_equal(number_at(&file, i), INDEX(lode_context_file(context), lode_file_index));
        assert_int_equal(number_at(&line, i), lode_context_line(context));
        assert_int_equal(number_at(&module, i), INDEX(lode_context_module(context), lode_module_index));
        assert_int_equal(number_at(&offset, i), lode_context_offset(context));
        if (lode_context_entry(context) >= 0)
            assert_int_equal(number_at(&entry, i), lode_context_entry(context));
        same_string(string_at(&name, i), lode_context_entry_name(context));
    }
    lode_table_free(table);
}

static void compare_functions(const lode_database *db)
{
    lode_table *table = open_table(db, LODE_TABLE_FUNCTIONS);
    lode_column name = read_all(table, "name"), module = read_all(table, "module"),
                offset = read_all(table, "offset"), file = read_all(table, "file"),
                line = read_all(table, "line"), same = read_all(table, "same_as");
    assert_int_equal(lode_table_rows(table), lode_database_function_count(db));
    for (uint32_t i = 0; i < lode_database_function_count(db); i++) {
        const lode_function *function = lode_database_function(db, i);
        same_string(string_at(&name, i), lode_function_name(function));
        assert_int_equal(number_at(&module, i), INDEX(lode_function_module(function), lode_module_index));
        assert_int_equal(number_at(&offset, i), lode_function_offset(function));
        assert_int_equal(number_at(&file, i), INDEX(lode_function_file(function), lode_file_index));
        assert_int_equal(number_at(&line, i), lode_function_line(function));
        assert_true(number_at(&same, i) <= i);
    }
    lode_table_free(table);
}

static void compare_files(const lode_database *db)
{
    lode_table *files = open_table(db, LODE_TABLE_FILES), *modules = open_table(db, LODE_TABLE_MODULES);
    lode_column path = read_all(files, "path"), copied = read_all(files, "copied");
    assert_int_equal(path.count, lode_database_file_count(db));
    for (uint32_t i = 0; i < lode_database_file_count(db); i++) {
        assert_string_equal(string_at(&path, i), lode_file_path(lode_database_file(db, i)));
        assert_int_equal(number_at(&copied, i), lode_file_is_copied(lode_database_file(db, i)));
    }
    path = read_all(modules, "path");
    assert_int_equal(path.count, lode_database_module_count(db));
    for (uint32_t i = 0; i < lode_database_module_count(db); i++)
        assert_string_equal(string_at(&path, i), lode_module_path(lode_database_module(db, i)));
    lode_table_free(files);
    lode_table_free(modules);
}

static void compare_metrics(const lode_database *db)
{
    lode_table *metrics = open_table(db, LODE_TABLE_METRICS),
               *statistics = open_table(db, LODE_TABLE_STATISTICS);
    lode_column number = read_all(metrics, "metric"), name = read_all(metrics, "name"),
                scope = read_all(metrics, "scope"), kind = read_all(metrics, "scope_kind"),
                id = read_all(metrics, "id"), formula = read_all(statistics, "formula"),
                combine = read_all(statistics, "combine"), statistic_id = read_all(statistics, "id");
    uint64_t row = 0, other = 0;
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++) {
        const lode_metric *metric = lode_database_metric(db, i);
        lode_metric_scope of;
        lode_metric_statistic statistic;
        for (uint32_t k = 0; lode_metric_scope_at(metric, k, &of) == LODE_OK; k++, row++) {
            assert_int_equal(number_at(&number, row), i);
            assert_string_equal(string_at(&name, row), lode_metric_name(metric));
            assert_string_equal(string_at(&scope, row), lode_scope_name(of.scope));
            assert_int_equal(number_at(&kind, row), lode_scope_kind(of.scope));
            assert_int_equal(number_at(&id, row), of.id);
        }
        for (uint32_t k = 0; lode_metric_statistic_at(metric, k, &statistic) == LODE_OK; k++, other++) {
            assert_string_equal(string_at(&formula, other), statistic.formula);
            assert_int_equal(number_at(&combine, other), statistic.combine);
            assert_int_equal(number_at(&statistic_id, other), statistic.id);
        }
    }
    assert_int_equal(row, lode_table_rows(metrics));
    assert_int_equal(other, lode_table_rows(statistics));
    lode_table_free(metrics);
    lode_table_free(statistics);
}

static void compare_ids(const lode_database *db, lode_table *ids, uint32_t profile, uint64_t *row)
{
    lode_column of = read_all(ids, "profile"), kind = read_all(ids, "kind"), flags = read_all(ids, "flags"),
                logical = read_all(ids, "logical"), physical = read_all(ids, "physical");
    lode_id tuple[32];
    uint32_t count = 0;
    if (!lode_profile_is_summary(db, profile))
        assert_int_equal(lode_profile_ids(db, profile, tuple, 32, &count, NULL), LODE_OK);
    for (uint32_t i = 0; i < count; i++, ++*row) {
        assert_int_equal(number_at(&of, *row), profile);
        assert_int_equal(number_at(&kind, *row), tuple[i].kind);
        assert_int_equal(number_at(&flags, *row), tuple[i].flags);
        assert_int_equal(number_at(&logical, *row), tuple[i].logical);
        assert_int_equal(number_at(&physical, *row), tuple[i].physical);
    }
}

static void compare_profiles(const lode_database *db)
{
    lode_table *profiles = open_table(db, LODE_TABLE_PROFILES), *ids = open_table(db, LODE_TABLE_PROFILE_IDS),
               *kinds = open_table(db, LODE_TABLE_ID_KINDS);
    lode_column flags = read_all(profiles, "flags"), summary = read_all(profiles, "summary"),
                values = read_all(profiles, "values"), name = read_all(kinds, "name");
    uint64_t row = 0;
    assert_int_equal(lode_table_rows(profiles), lode_database_profile_count(db));
    for (uint32_t i = 0; i < lode_database_profile_count(db); i++) {
        lode_block block;
        uint32_t expected;
        assert_int_equal(lode_profile_block(db, i, &block, NULL), LODE_OK);
        assert_int_equal(lode_profile_flags(db, i, &expected, NULL), LODE_OK);
        assert_int_equal(number_at(&values, i), lode_block_value_count(&block));
        assert_int_equal(number_at(&flags, i), expected);
        assert_int_equal(number_at(&summary, i), lode_profile_is_summary(db, i));
        compare_ids(db, ids, i, &row);
    }
    assert_int_equal(row, lode_table_rows(ids));
    assert_int_equal(name.count, lode_database_id_kind_count(db));
    for (unsigned i = 0; i < name.count; i++)
        assert_string_equal(string_at(&name, i), lode_database_id_kind_name(db, i));
    lode_table_free(profiles);
    lode_table_free(ids);
    lode_table_free(kinds);
}

/* ---- blocks, samples and costs; `owner` is where the bytes must be ---- */

static void compare_values(const lode_block *block, lode_column_owner owner)
{
    lode_table *table;
    lode_value value;
    assert_int_equal(lode_block_values_table(&table, block, NULL), LODE_OK);
    assert_int_equal(lode_table_rows(table), lode_block_value_count(block));
    lode_column keys = read_all(table, "key"), values = read_all(table, "value");
    for (uint64_t i = 0; i < keys.count; i++) {
        assert_int_equal(lode_block_read(block, i, 1, &value), LODE_OK);
        assert_int_equal(number_at(&keys, i), value.key);
        assert_memory_equal(&value.value, &(double){real_at(&values, i)}, sizeof value.value);
        assert_int_equal(values.owner, owner);
    }
    lode_table_free(table);
}

static void compare_groups(const lode_block *block, lode_column_owner owner)
{
    lode_table *table;
    lode_group group;
    assert_int_equal(lode_block_groups_table(&table, block, NULL), LODE_OK);
    assert_int_equal(lode_table_rows(table), lode_block_group_count(block));
    lode_column keys = read_all(table, "key"), firsts = read_all(table, "first");
    for (uint32_t i = 0; i < keys.count; i++) {
        assert_int_equal(lode_block_group(block, i, &group, NULL), LODE_OK);
        assert_int_equal(number_at(&keys, i), group.key);
        assert_int_equal(number_at(&firsts, i), group.first);
        assert_int_equal(keys.owner, owner);
    }
    lode_table_free(table);
}

static void compare_blocks(const lode_database *db, lode_column_owner owner)
{
    lode_block block;
    for (uint32_t i = 0; i < lode_database_profile_count(db); i++) {
        assert_int_equal(lode_profile_block(db, i, &block, NULL), LODE_OK);
        compare_values(&block, owner);
        compare_groups(&block, owner);
    }
    for (uint32_t i = 0; i < lode_database_context_block_count(db); i++) {
        assert_int_equal(lode_context_block(db, i, &block, NULL), LODE_OK);
        compare_values(&block, owner);
        compare_groups(&block, owner);
    }
}

static void compare_samples(const lode_database *db, lode_column_owner owner)
{
    lode_table *lines = open_table(db, LODE_TABLE_TRACE_LINES);
    lode_column profile = read_all(lines, "profile"), samples = read_all(lines, "samples");
    assert_int_equal(lode_table_rows(lines), lode_database_trace_count(db));
    for (uint32_t i = 0; i < lode_database_trace_count(db); i++) {
        lode_trace_line line;
        lode_sample sample;
        lode_table *table;
        assert_int_equal(lode_database_trace_line(db, i, &line, NULL), LODE_OK);
        assert_int_equal(lode_trace_line_table(&table, &line, NULL), LODE_OK);
        assert_int_equal(number_at(&profile, i), line.profile);
        assert_int_equal(number_at(&samples, i), line.sample_count);
        lode_column time = read_all(table, "time"), context = read_all(table, "context");
        for (uint64_t k = 0; k < line.sample_count; k++) {
            assert_int_equal(lode_trace_line_sample(&line, k, &sample), LODE_OK);
            assert_int_equal(number_at(&time, k), sample.time);
            assert_int_equal(number_at(&context, k), sample.context_id);
            assert_int_equal(time.owner, owner);
        }
        lode_table_free(table);
    }
    lode_table_free(lines);
}

static void compare_costs(const lode_database *db)
{
    lode_cost *cost;
    lode_table *table;
    assert_int_equal(lode_cost_compute(&cost, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_cost_table(&table, cost, NULL), LODE_OK);
    lode_column inclusive = read_all(table, "inclusive"), exclusive = read_all(table, "exclusive");
    assert_int_equal(inclusive.count, lode_database_context_count(db));
    assert_int_equal(inclusive.owner, LODE_OWNER_STORE);
    for (uint32_t i = 0; i < inclusive.count; i++) {
        const lode_context *context = lode_database_context_at(db, i);
        assert_true(real_at(&inclusive, i) == lode_cost_inclusive(cost, context));
        assert_true(real_at(&exclusive, i) == lode_cost_own(cost, context));
    }
    lode_table_free(table);
    lode_cost_free(cost);
}

static void compare_database(const lode_database *db, lode_column_owner owner)
{
    compare_contexts(db);
    compare_functions(db);
    compare_files(db);
    compare_metrics(db);
    compare_profiles(db);
    compare_blocks(db, owner);
    compare_samples(db, owner);
    compare_costs(db);
}

/* ---- tests ---- */

/* Where numbers of files with this byte order lie on this machine. */
static lode_column_owner owner_of(bool big_endian)
{
    bool is_ours = big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return is_ours ? LODE_OWNER_FILE : LODE_OWNER_TABLE;
}

static void open_mini(struct minidb *mini, lode_database **db)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    options.chains = 5;
    minidb_make(mini, &options);
    minidb_files(mini, files);
    assert_int_equal(lode_database_open_memory(db, files, HPCT_FILES, NULL), LODE_OK);
}

static void columns_are_what_single_functions_say(void **state)
{
    struct minidb mini;
    lode_database *db;
    (void)state;
    open_mini(&mini, &db);
    compare_database(db, owner_of(false));
    lode_database_close(db);
    minidb_free(&mini);
}

static void columns_of_another_byte_order_are_decoded(void **state)
{
    struct minidraft_options options = {0};
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    (void)state;
    minidraft_make(&mini, &options);
    minidraft_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    compare_database(db, owner_of(true));
    lode_database_close(db);
    minidraft_free(&mini);
}

/* Parts of any size are the same as the whole, decoded or not. */
static void parts_of_a_column_are_parts_of_the_whole(void **state)
{
    static const char *const names[] = {"id", "function", "parent_id"};
    struct minidb mini;
    lode_database *db;
    (void)state;
    open_mini(&mini, &db);
    lode_table *whole = open_table(db, LODE_TABLE_CONTEXTS), *parts = open_table(db, LODE_TABLE_CONTEXTS);
    for (size_t n = 0; n < 3; n++) {
        lode_column all = read_all(whole, names[n]);
        for (uint64_t size = 1; size < all.count + 2; size++) {
            for (uint64_t first = 0; first < all.count; first += size) {
                lode_column part = read_rows(parts, names[n], first, size);
                assert_int_equal(part.count, size < all.count - first ? size : all.count - first);
                for (uint64_t i = 0; i < part.count; i++)
                    assert_int_equal(number_at(&part, i), number_at(&all, first + i));
            }
        }
    }
    lode_table_free(whole);
    lode_table_free(parts);
    lode_database_close(db);
    minidb_free(&mini);
}

static void what_is_not_there_is_refused(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_table *table;
    lode_column column;
    lode_error error = {0};
    (void)state;
    open_mini(&mini, &db);
    assert_int_equal(lode_database_table(&table, db, (lode_table_kind)LODE_TABLE_COUNT, &error),
                     LODE_ERR_ARGUMENT);
    assert_null(table);
    assert_null(lode_table_kind_name(-1));
    table = open_table(db, LODE_TABLE_MODULES);
    assert_int_equal(lode_table_read(table, lode_table_columns(table), 0, 1, &column, &error),
                     LODE_ERR_ARGUMENT);
    assert_int_equal(lode_table_read(table, 0, lode_table_rows(table), 1, &column, &error), LODE_END);
    assert_int_equal(lode_table_read(table, 0, UINT64_MAX, UINT64_MAX, &column, &error), LODE_END);
    assert_null(lode_table_column_name(table, lode_table_columns(table)));
    lode_table_free(table);
    lode_table_free(NULL);
    lode_database_close(db);
    minidb_free(&mini);
}

static void statistics_of_calls_are_those_of_their_rows(void **state)
{
    lode_recording *recording = made_recording(1);
    lode_calls *calls;
    lode_table *table;
    (void)state;
    made_track(recording, 0, 0, "f( 1 g( 2 ) 3 ) g( 4 )");
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, NULL, NULL), LODE_OK);
    assert_int_equal(lode_calls_table(&table, calls, NULL), LODE_OK);
    assert_int_equal(lode_table_rows(table), 2);
    lode_column name = read_all(table, "name"), count = read_all(table, "calls"),
                total = read_all(table, "total"), self = read_all(table, "self"),
                mean = read_all(table, "mean"), p99 = read_all(table, "p99"),
                function = read_all(table, "function");
    for (size_t i = 0; i < 2; i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        assert_string_equal(string_at(&name, i), lode_function_name(row->function));
        assert_int_equal(number_at(&function, i), lode_function_index(row->function));
        assert_int_equal(number_at(&count, i), row->calls);
        assert_int_equal(number_at(&total, i), row->total);
        assert_int_equal(number_at(&self, i), row->self);
        assert_int_equal(number_at(&p99, i), row->p99);
        assert_true(real_at(&mean, i) == row->mean);
    }
    lode_table_free(table);
    lode_calls_free(calls);
    lode_recording_close(recording);
}

static void columns_of_real_databases_are_what_single_functions_say(void **state)
{
    static const char *const names[] = {"hpctoolkit/final/made-small",
                                        "hpctoolkit/final/viewer-lmp-openmp-v0"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        lode_database *db = NULL;
        if (!corpus_path(path, sizeof path, names[i]) || lode_database_open(&db, path, NULL) != LODE_OK)
            skip();
        compare_database(db, owner_of(false));
        lode_database_close(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_what_single_functions_say),
        cmocka_unit_test(columns_of_another_byte_order_are_decoded),
        cmocka_unit_test(parts_of_a_column_are_parts_of_the_whole),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(statistics_of_calls_are_those_of_their_rows),
        cmocka_unit_test(columns_of_real_databases_are_what_single_functions_say),
    };
    correct_skips();
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
