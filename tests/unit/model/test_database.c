/* SPDX-License-Identifier: BSD-3-Clause */
/* The database API, on a database whose every number is known. */
#include "base/io/bytes.h"
#include "minidb.h"
#include "model/names/descriptor.h"
#include "unit.h"
#include "walk.h"
#include <lode/unstable.h>
#include <string.h>

enum {
    POINT,
    FUNCTION,
    LEX_AWARE,
    EXECUTION
};

struct fixture {
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
};

static void open_with(struct fixture *fixture, const struct minidb_options *options)
{
    lode_error error = {0};
    minidb_make(&fixture->mini, options);
    minidb_files(&fixture->mini, fixture->files);
    if (lode_database_open_memory(&fixture->db, fixture->files, HPCT_FILES, &error) != LODE_OK)
        fail_msg("%s: %s", error.file, error.text);
}

static void open_default(struct fixture *fixture)
{
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    open_with(fixture, &options);
}

static void close_fixture(struct fixture *fixture)
{
    lode_database_close(fixture->db);
    minidb_free(&fixture->mini);
}

static void metadata_is_as_written(void **state)
{
    struct fixture f;
    unsigned major, minor;
    (void)state;
    open_default(&f);
    assert_string_equal(lode_database_title(f.db), "mini");
    assert_string_equal(lode_database_description(f.db), "A database made by a test");
    assert_string_equal(lode_database_format(f.db), "HPCToolkit 4.0");
    lode_database_version(f.db, LODE_PART_META, &major, &minor);
    assert_int_equal(major, 4);
    assert_int_equal(minor, 0);
    assert_int_equal(lode_database_id_kind_count(f.db), 4);
    assert_string_equal(lode_database_id_kind_name(f.db, 2), "RANK");
    assert_null(lode_database_id_kind_name(f.db, 4));
    assert_int_equal(lode_database_module_count(f.db), 2);
    assert_string_equal(lode_module_path(lode_database_module(f.db, 1)), "/lib/lib.so");
    assert_int_equal(lode_database_file_count(f.db), 2);
    assert_true(lode_file_is_copied(lode_database_file(f.db, 0)));
    assert_false(lode_file_is_copied(lode_database_file(f.db, 1)));
    const lode_function *work = lode_database_function(f.db, 1);
    assert_string_equal(lode_function_name(work), "_Z4workPd");
    assert_ptr_equal(lode_function_module(work), lode_database_module(f.db, 0));
    assert_int_equal(lode_function_offset(work), 0x1100);
    assert_ptr_equal(lode_function_file(work), lode_database_file(f.db, 1));
    assert_int_equal(lode_function_line(work), 5);
    assert_null(lode_database_function(f.db, 3));
    for (unsigned part = 0; part < LODE_PART_COUNT; part++)
        assert_int_equal(lode_database_part_size(f.db, (lode_part)part), f.files[part].size);
    close_fixture(&f);
}

static void metrics_have_scopes_and_statistics(void **state)
{
    struct fixture f;
    lode_metric_scope scope;
    lode_metric_statistic statistic;
    uint16_t id;
    (void)state;
    open_default(&f);
    assert_int_equal(lode_database_scope_count(f.db), 4);
    assert_int_equal(lode_scope_kind(lode_database_scope(f.db, 1)), LODE_SCOPE_TRANSITIVE);
    assert_int_equal(lode_scope_propagation_index(lode_database_scope(f.db, 1)), 0);
    assert_int_equal(lode_database_metric_count(f.db), 2);
    const lode_metric *cycles = lode_database_metric(f.db, 1);
    assert_string_equal(lode_metric_name(cycles), "cycles");
    assert_int_equal(lode_metric_scope_count(cycles), 4);
    assert_int_equal(lode_metric_statistic_count(cycles), 20);
    assert_int_equal(lode_metric_scope_at(cycles, EXECUTION, &scope), LODE_OK);
    assert_int_equal(scope.id, 7);
    assert_string_equal(lode_scope_name(scope.scope), "execution");
    assert_int_equal(lode_metric_scope_at(cycles, 4, &scope), LODE_NOT_FOUND);
    assert_int_equal(lode_metric_statistic_at(cycles, 12, &statistic), LODE_OK);
    assert_string_equal(statistic.formula, "$$");
    assert_int_equal(statistic.combine, LODE_COMBINE_MIN);
    assert_int_equal(lode_metric_id(cycles, LODE_SCOPE_TRANSITIVE, &id), LODE_OK);
    assert_int_equal(id, 5);
    assert_int_equal(lode_metric_sum_id(cycles, LODE_SCOPE_EXECUTION, &id), LODE_OK);
    assert_int_equal(id, 7);
    close_fixture(&f);
}

static void metrics_are_found_as_people_name_them(void **state)
{
    struct fixture f;
    const lode_metric *metric;
    lode_error error = {0};
    (void)state;
    open_default(&f);
    const char *const ways[] = {"cycles", "CYCLES", "cyc", "1"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(lode_database_find_metric(f.db, ways[i], &metric, &error), LODE_OK);
        assert_string_equal(lode_metric_name(metric), "cycles");
    }
    assert_int_equal(lode_database_find_metric(f.db, "flops", &metric, &error), LODE_NOT_FOUND);
    assert_non_null(strstr(error.text, "'time (sec)', 'cycles'"));
    assert_int_equal(lode_database_find_metric(f.db, "c", &metric, &error), LODE_NOT_FOUND);
    assert_non_null(strstr(error.text, "more than one"));
    close_fixture(&f);
}

static void the_tree_is_in_depth_first_order(void **state)
{
    static const uint32_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12};
    static const uint32_t parents[] = {0, 0, 1, 2, 3, 4, 5, 4, 7, 9, 0, 11};
    static const uint32_t sizes[] = {12, 9, 8, 7, 6, 2, 1, 3, 2, 1, 2, 1};
    struct fixture f;
    (void)state;
    open_default(&f);
    assert_int_equal(lode_database_context_count(f.db), 12);
    for (uint32_t i = 0; i < 12; i++) {
        const lode_context *context = lode_database_context_at(f.db, i);
        assert_int_equal(lode_context_id(context), ids[i]);
        assert_int_equal(lode_context_index(context), i);
        assert_int_equal(lode_context_subtree_size(context), sizes[i]);
        assert_ptr_equal(lode_database_context(f.db, ids[i]), context);
        if (i > 0)
            assert_int_equal(lode_context_id(lode_context_parent(context)), parents[i]);
    }
    assert_null(lode_context_parent(lode_database_root(f.db)));
    assert_null(lode_database_context_at(f.db, 12));
    assert_null(lode_database_context(f.db, 8));
    assert_null(lode_database_context(f.db, UINT32_MAX));
    const lode_context *loop = lode_database_context(f.db, 5);
    assert_int_equal(lode_context_id(lode_context_next_sibling(loop)), 7);
    assert_null(lode_context_next_sibling(lode_context_next_sibling(loop)));
    assert_null(lode_context_first_child(lode_database_context(f.db, 6)));
    close_fixture(&f);
}

static void contexts_say_what_they_are(void **state)
{
    struct fixture f;
    (void)state;
    open_default(&f);
    const lode_context *entry = lode_database_context(f.db, 11);
    assert_int_equal(lode_context_lexical(entry), LODE_LEXICAL_ENTRY);
    assert_int_equal(lode_context_entry(entry), LODE_ENTRY_APPLICATION_THREAD);
    assert_string_equal(lode_context_entry_name(entry), "application thread");
    assert_null(lode_context_function(entry));
    const lode_context *loop = lode_database_context(f.db, 5);
    assert_int_equal(lode_context_lexical(loop), LODE_LEXICAL_LOOP);
    assert_int_equal(lode_context_relation(loop), LODE_RELATION_LEXICAL);
    assert_int_equal(lode_context_flags(loop), 6);
    assert_int_equal(lode_context_propagation(loop), 1);
    assert_int_equal(lode_context_line(loop), 5);
    assert_int_equal(lode_context_offset(loop), 0x100);
    assert_ptr_equal(lode_context_module(loop), lode_database_module(f.db, 0));
    assert_int_equal(lode_context_entry(loop), -1);
    const lode_context *inlined = lode_database_context(f.db, 9);
    assert_int_equal(lode_context_relation(inlined), LODE_RELATION_INLINED);
    assert_ptr_equal(lode_context_function(inlined), lode_database_function(f.db, 2));
    close_fixture(&f);
}

static void names_are_for_people(void **state)
{
    struct fixture f;
    char label[64];
    (void)state;
    open_default(&f);
    const struct {
        uint32_t id;
        const char *label;
    } expected[] = {{0, "<program root>"}, {1, "main thread"},      {2, "main"},   {3, "main.c:10"},
                    {4, "work(double*)"},  {5, "loop at work.c:5"}, {9, "helper"}, {12, "lib.so+0x40"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t length = lode_context_label(lode_database_context(f.db, expected[i].id), label, sizeof label);
        assert_string_equal(label, expected[i].label);
        assert_int_equal(length, strlen(label));
    }
    lode_profile_label(f.db, 3, label, sizeof label);
    assert_string_equal(label, "node 0 rank 1 thread 0");
    lode_profile_label(f.db, 0, label, sizeof label);
    assert_string_equal(label, "summary");
    /* Cut, but never inside a character. */
    assert_int_equal(lode_demangle("gr\xc3\xbc\xc3\x9f", label, 4), 6);
    assert_string_equal(label, "gr");
    assert_int_equal(lode_demangle("a\nb", label, sizeof label), 3);
    assert_string_equal(label, "a?b");
    assert_int_equal(lode_demangle("i", label, sizeof label), 1);
    assert_string_equal(label, "i");
    assert_int_equal(lode_demangle("main", NULL, 0), 4);
    assert_string_equal(lode_path_tail("/a/b.c"), "b.c");
    assert_string_equal(lode_path_tail("b.c"), "b.c");
    close_fixture(&f);
}

static void methods_have_parameters_as_people_write_them(void **state)
{
    static const struct {
        const char *symbol, *full, *simple;
    } names[] = {
        {"app.Shop.find(I[Ljava/lang/String;)V", "app.Shop.find(int, java.lang.String[])", "app.Shop.find"},
        {"a.b.<init>()V", "a.b.<init>()", "a.b.<init>"},
        {"a.b([[JBCDFSZ)La/B;", "a.b(long[][], byte, char, double, float, short, boolean)", "a.b"},
        {"a.b(I)[[La/B;", "a.b(int)", "a.b"},
        /* No descriptors. */
        {"a.b(I)", "a.b(I)", NULL},
        {"a.b(I)VV", "a.b(I)VV", NULL},
        {"a.b(L;)V", "a.b(L;)V", NULL},
        {"a.b(La/B)V", "a.b(La/B)V", NULL},
        {"a.b([)V", "a.b([)V", NULL},
        {"a.b(V)V", "a.b(V)V", NULL},
        {"a.b(", "a.b(", NULL},
        {"(I)V", "(I)V", NULL},
    };
    char label[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(lode_demangle(names[i].symbol, label, sizeof label), strlen(names[i].full));
        assert_string_equal(label, names[i].full);
        if (names[i].simple == NULL)
            continue;
        assert_int_equal(lode_simple_name(names[i].symbol, label, sizeof label), strlen(names[i].simple));
        assert_string_equal(label, names[i].simple);
    }
    assert_int_equal(lode_demangle("a.b(I)V", label, 6), 8);
    assert_string_equal(label, "a.b(i");
}

static void result_types_are_no_part_of_a_name(void **state)
{
    static const struct {
        const char *demangled, *name;
    } names[] = {
        {"void std::swap<int>(int&, int&)", "std::swap<int>(int&, int&)"},
        {"unsigned long f<int>(int)", "f<int>(int)"},
        {"std::enable_if<std::is_same<int, int>::value, void>::type a::g<int>(int (*)(char))",
         "a::g<int>(int (*)(char))"},
        {"std::string const& (anonymous namespace)::h<int>() const", "(anonymous namespace)::h<int>() const"},
        {"decltype ({parm#1}->x()) f<A>(A)", "f<A>(A)"},
        {"auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
         "main::{lambda(auto:1)#1}::operator()<int>(int) const"},
        {"bool a::operator< <int>(a::B<int> const&)", "a::operator< <int>(a::B<int> const&)"},
        {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>(std::ostream&, char)"},
        {"int f<int>(int) [clone .constprop.0]", "f<int>(int) [clone .constprop.0]"},
        /* Without a result, or not a function. */
        {"a::B<int>::B(int)", "a::B<int>::B(int)"},
        {"a::B<int>::operator unsigned long() const", "a::B<int>::operator unsigned long() const"},
        {"operator new(unsigned long)", "operator new(unsigned long)"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)"},
        {"f(int) [clone .cold]", "f(int) [clone .cold]"},
        {"a::operators(int)", "a::operators(int)"},
        {"a::table", "a::table"},
        {"", ""},
        /* The name is inside. */
        {"void (*f<int>(int))(char)", "void (*f<int>(int))(char)"},
        /* Not closed. */
        {"void f<int(", "void f<int("},
        {"decltype", "decltype"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(lode_without_result(names[i].demangled), names[i].name);
}

/* A function of A<A<...>, A<...>>, each level of which holds the one before twice. */
static void doubling_name(char *name, size_t capacity, unsigned levels)
{
    size_t length = (size_t)snprintf(name, capacity, "_Z1f1AIiiES_IS0_S0_E");
    for (unsigned i = 1; i < levels; i++) {
        char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);
        length += (size_t)snprintf(name + length, capacity - length, "S_IS%c_S%c_E", digit, digit);
    }
}

static void names_that_would_grow_without_bound_stay_mangled(void **state)
{
    char name[512], label[256];
    (void)state;
    doubling_name(name, sizeof name, 3);
    assert_true(lode_demangle(name, label, sizeof label) > 100);
    assert_memory_equal(label, "f(A<int, int>, A<A<int, int>, ", 30);
    /* 100 bytes that expand to 17 kilobytes. */
    doubling_name(name, sizeof name, 9);
    assert_int_equal(lode_demangle(name, label, sizeof label), strlen(name));
    assert_memory_equal(label, name, strlen(name));
    /* 280 bytes that expand to 60 gigabytes. */
    doubling_name(name, sizeof name, 30);
    assert_int_equal(lode_demangle(name, label, sizeof label), strlen(name));
    assert_memory_equal(label, name, sizeof label - 1);
}

/* Point values of the test database, as written in tests/support/stores/minidb.c. */
static double point(uint32_t profile, uint32_t context)
{
    return (double)((profile * 7 + context * 3) % 50 + 1);
}

static double inclusive_of_main(uint32_t profile)
{
    return point(profile, 6) + point(profile, 7) + point(profile, 10) +
           (profile == 1 ? point(profile, 3) : 0.0);
}

static void values_are_found_by_profile_and_by_context(void **state)
{
    struct fixture f;
    lode_block profile, context;
    double value;
    (void)state;
    open_default(&f);
    for (uint32_t p = 1; p <= 3; p++) {
        assert_int_equal(lode_profile_block(f.db, p, &profile, NULL), LODE_OK);
        assert_int_equal(lode_block_lookup(&profile, 2, EXECUTION, &value, NULL), LODE_OK);
        assert_true(value == inclusive_of_main(p));
        assert_int_equal(lode_block_lookup(&profile, 6, POINT, &value, NULL), LODE_OK);
        assert_true(value == point(p, 6));
        assert_int_equal(lode_context_block(f.db, 2, &context, NULL), LODE_OK);
        assert_int_equal(lode_block_lookup(&context, EXECUTION, p, &value, NULL), LODE_OK);
        assert_true(value == inclusive_of_main(p));
    }
    /* What is zero is not there. */
    assert_int_equal(lode_block_lookup(&profile, 2, POINT, &value, NULL), LODE_NOT_FOUND);
    assert_true(value == 0.0);
    assert_int_equal(lode_block_lookup(&profile, 8, POINT, &value, NULL), LODE_NOT_FOUND);
    assert_int_equal(lode_profile_block(f.db, 4, &profile, NULL), LODE_NOT_FOUND);
    assert_int_equal(lode_context_block(f.db, 13, &context, NULL), LODE_NOT_FOUND);
    assert_int_equal(lode_database_context_block_count(f.db), 13);
    close_fixture(&f);
}

static void blocks_are_read_in_pieces(void **state)
{
    struct fixture f;
    lode_block block;
    lode_group group;
    lode_value values[8];
    (void)state;
    open_default(&f);
    assert_int_equal(lode_profile_block(f.db, 1, &block, NULL), LODE_OK);
    assert_int_equal(lode_block_find(&block, 6, &group, NULL), LODE_OK);
    assert_int_equal(group.count, 8);
    assert_int_equal(lode_block_read(&block, group.first, group.count, values), LODE_OK);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(values[i].key, i);
    assert_int_equal(lode_block_read(&block, lode_block_value_count(&block), 1, values), LODE_ERR_ARGUMENT);
    assert_int_equal(lode_block_read(&block, 1, UINT64_MAX, values), LODE_ERR_ARGUMENT);
    assert_int_equal(lode_block_group(&block, lode_block_group_count(&block), &group, NULL), LODE_END);
    close_fixture(&f);
}

static void profiles_have_id_tuples(void **state)
{
    struct fixture f;
    lode_id ids[3];
    uint32_t count;
    (void)state;
    open_default(&f);
    assert_int_equal(lode_database_profile_count(f.db), 4);
    assert_true(lode_profile_is_summary(f.db, 0));
    assert_false(lode_profile_is_summary(f.db, 1));
    assert_int_equal(lode_profile_ids(f.db, 3, ids, 3, &count, NULL), LODE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ids[0].physical, 0xabcdef);
    assert_int_equal(ids[0].flags & LODE_ID_PHYSICAL, LODE_ID_PHYSICAL);
    assert_int_equal(ids[1].kind, 2);
    assert_int_equal(ids[1].logical, 1);
    assert_int_equal(lode_profile_ids(f.db, 0, ids, 3, &count, NULL), LODE_OK);
    assert_int_equal(count, 0);
    /* Fewer than there are may be asked for. */
    assert_int_equal(lode_profile_ids(f.db, 3, ids, 1, &count, NULL), LODE_OK);
    assert_int_equal(count, 3);
    close_fixture(&f);
}

static void traces_are_searched_by_time(void **state)
{
    struct fixture f;
    lode_trace_line line;
    lode_sample sample;
    uint64_t min, max;
    (void)state;
    open_default(&f);
    assert_int_equal(lode_database_trace_count(f.db), 3);
    assert_int_equal(lode_database_trace_bounds(f.db, &min, &max), LODE_OK);
    assert_int_equal(min, 1000001);
    assert_int_equal(lode_database_trace_line(f.db, 1, &line, NULL), LODE_OK);
    assert_int_equal(line.profile, 2);
    assert_int_equal(line.sample_count, 6);
    assert_int_equal(lode_trace_line_sample(&line, 1, &sample), LODE_OK);
    assert_int_equal(sample.time, 1000012);
    assert_int_equal(sample.context_id, 0);
    assert_int_equal(lode_trace_line_seek(&line, 0), 0);
    assert_int_equal(lode_trace_line_seek(&line, 1000012), 1);
    assert_int_equal(lode_trace_line_seek(&line, 1000013), 2);
    assert_int_equal(lode_trace_line_seek(&line, UINT64_MAX), 6);
    assert_int_equal(lode_trace_line_sample(&line, 6, &sample), LODE_END);
    assert_int_equal(lode_database_trace_line(f.db, 3, &line, NULL), LODE_NOT_FOUND);
    close_fixture(&f);
}

static void optional_parts_may_be_absent(void **state)
{
    struct fixture f;
    lode_block block;
    lode_trace_line line;
    uint64_t min, max;
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    (void)state;
    minidb_make(&f.mini, &options);
    minidb_files(&f.mini, f.files);
    assert_int_equal(lode_database_open_memory(&f.db, f.files, 2, NULL), LODE_OK);
    assert_true(lode_database_has(f.db, LODE_PART_PROFILE));
    assert_false(lode_database_has(f.db, LODE_PART_CONTEXT));
    assert_false(lode_database_has(f.db, LODE_PART_TRACE));
    assert_int_equal(lode_context_block(f.db, 0, &block, NULL), LODE_ABSENT);
    assert_int_equal(lode_database_trace_bounds(f.db, &min, &max), LODE_ABSENT);
    assert_int_equal(lode_database_trace_line(f.db, 0, &line, NULL), LODE_NOT_FOUND);
    lode_database_close(f.db);
    assert_int_equal(lode_database_open_memory(&f.db, f.files + 1, 1, NULL), LODE_ERR_CORRUPT);
    assert_null(f.db);
    minidb_free(&f.mini);
}

/* A newer minor version has larger records; what it adds is passed over. */
static void larger_records_of_a_newer_version_open_the_same(void **state)
{
    struct fixture old, new;
    unsigned major, minor;
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    (void)state;
    open_with(&old, &options);
    options.extra = 24;
    open_with(&new, &options);
    lode_database_version(new.db, LODE_PART_META, &major, &minor);
    assert_int_equal(minor, 1);
    assert_true(walk_database(old.db, 1) == walk_database(new.db, 1));
    close_fixture(&old);
    close_fixture(&new);
}

static void unknown_enumerations_are_shown_not_refused(void **state)
{
    struct fixture f;
    char label[64];
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    (void)state;
    minidb_make(&f.mini, &options);
    minidb_files(&f.mini, f.files);
    unsigned char *context = minidb_at(&f.mini, HPCT_META, f.mini.contexts[6]);
    context[WIRE_Context_lexicalType] = 77;
    context[WIRE_Context_relation] = 9;
    minidb_at(&f.mini, HPCT_META, f.mini.scopes)[WIRE_Scope_type] = 44;
    assert_int_equal(lode_database_open_memory(&f.db, f.files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_context_lexical(lode_database_context(f.db, 6)), 77);
    assert_int_equal(lode_context_relation(lode_database_context(f.db, 6)), 9);
    assert_null(lode_lexical_name(77));
    assert_null(lode_relation_name(9));
    assert_null(lode_scope_type_name(44));
    lode_context_label(lode_database_context(f.db, 6), label, sizeof label);
    assert_string_equal(label, "<context of type 77>");
    close_fixture(&f);
}

static void ids_may_be_anything(void **state)
{
    struct fixture f;
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    (void)state;
    minidb_make(&f.mini, &options);
    minidb_files(&f.mini, f.files);
    put_u32le(minidb_at(&f.mini, HPCT_META, f.mini.contexts[6] + WIRE_Context_ctxId), UINT32_MAX);
    assert_int_equal(lode_database_open_memory(&f.db, f.files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_context_line(lode_database_context(f.db, UINT32_MAX)), 6);
    assert_int_equal(lode_context_id(lode_database_context(f.db, 12)), 12);
    assert_null(lode_database_context(f.db, 6));
    close_fixture(&f);
}

static void what_is_not_a_store_is_said_so(void **state)
{
    lode_database *db;
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_database_open(&db, "/nonexistent", &error), LODE_ERR_IO);
    assert_null(db);
    assert_int_equal(lode_database_open(&db, "/dev/null", &error), LODE_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "not a directory"));
    assert_int_equal(lode_database_open(&db, "/proc/self/fd", &error), LODE_ERR_UNSUPPORTED);
    assert_int_equal(lode_database_open_memory(&db, NULL, 0, &error), LODE_ERR_UNSUPPORTED);
}

static void errors_name_the_file_and_the_place(void **state)
{
    struct fixture f;
    lode_error error = {0};
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    (void)state;
    minidb_make(&f.mini, &options);
    minidb_files(&f.mini, f.files);
    f.files[HPCT_CCT].size -= 1;
    assert_int_equal(lode_database_open_memory(&f.db, f.files, HPCT_FILES, &error), LODE_ERR_CORRUPT);
    assert_string_equal(error.file, "cct.db");
    assert_int_equal(error.offset, f.files[HPCT_CCT].size - 8);
    assert_non_null(strstr(error.text, "truncated"));
    minidb_free(&f.mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_is_as_written),
        cmocka_unit_test(metrics_have_scopes_and_statistics),
        cmocka_unit_test(metrics_are_found_as_people_name_them),
        cmocka_unit_test(the_tree_is_in_depth_first_order),
        cmocka_unit_test(contexts_say_what_they_are),
        cmocka_unit_test(names_are_for_people),
        cmocka_unit_test(values_are_found_by_profile_and_by_context),
        cmocka_unit_test(blocks_are_read_in_pieces),
        cmocka_unit_test(profiles_have_id_tuples),
        cmocka_unit_test(traces_are_searched_by_time),
        cmocka_unit_test(optional_parts_may_be_absent),
        cmocka_unit_test(larger_records_of_a_newer_version_open_the_same),
        cmocka_unit_test(unknown_enumerations_are_shown_not_refused),
        cmocka_unit_test(ids_may_be_anything),
        cmocka_unit_test(methods_have_parameters_as_people_write_them),
        cmocka_unit_test(result_types_are_no_part_of_a_name),
        cmocka_unit_test(names_that_would_grow_without_bound_stay_mangled),
        cmocka_unit_test(what_is_not_a_store_is_said_so),
        cmocka_unit_test(errors_name_the_file_and_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
