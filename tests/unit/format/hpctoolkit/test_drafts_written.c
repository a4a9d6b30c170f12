/* SPDX-License-Identifier: BSD-3-Clause */
/* Databases written in the drafts: documented bytes, names that XML cannot hold, rejections. */
#include "base/io/bytes.h"
#include "minidb.h"
#include "writing.h"

static const char *const targets[] = {"hpctoolkit-draft-xml", "hpctoolkit-draft-metadb"};

static lode_status write_draft(struct place *place, const lode_database *db, const char *to)
{
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    options.to = to;
    return lode_convert(db, place->target, &options, &place->error);
}

static lode_database *open_written(struct place *place)
{
    lode_database *db = NULL;
    DONE(place, lode_database_open(&db, place->target, &place->error));
    return db;
}

/* A small database, in memory. */
struct original {
    struct minidb bytes;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
};

static void open_original(struct original *original)
{
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    minidb_make(&original->bytes, &options);
    minidb_files(&original->bytes, original->files);
    assert_int_equal(lode_database_open_memory(&original->db, original->files, HPCT_FILES, NULL), LODE_OK);
}

static void close_original(struct original *original)
{
    lode_database_close(original->db);
    minidb_free(&original->bytes);
}

/* ---- bytes ---- */

/* Of one of the files that was written. */
static uint8_t *read_file(struct place *place, const char *name, size_t *size)
{
    uint8_t *bytes = (uint8_t *)get_file(place->target, name, size);
    assert_non_null(bytes);
    return bytes;
}

static void expect_header(const uint8_t *bytes, const char *magic, uint32_t count, unsigned sections,
                          unsigned record)
{
    assert_memory_equal(bytes, magic, 16);
    assert_int_equal(bytes[16], 4);
    assert_int_equal(bytes[17], 0);
    assert_int_equal(get_u32be(bytes + 18), count);
    assert_int_equal(get_u16be(bytes + 22), sections);
    assert_int_equal(get_u64be(bytes + 24), (uint64_t)count * record);
    assert_int_equal(get_u64be(bytes + 32), 128);
}

/* Looks a value up as the page says. */
static double value_in_profile(const uint8_t *bytes, uint32_t profile, uint32_t context, uint32_t metric)
{
    const uint8_t *info = bytes + 128 + (size_t)profile * 52;
    uint64_t values = get_u64be(info + 32), block = get_u64be(info + 44);
    uint32_t groups = get_u32be(info + 40);
    const uint8_t *pairs = bytes + block + values * 10;
    assert_int_equal(get_u32be(pairs + (size_t)groups * 12), 0x656E6421);
    assert_int_equal(get_u64be(pairs + (size_t)groups * 12 + 4), values);
    for (uint32_t g = 0; g < groups; g++, pairs += 12)
        if (get_u32be(pairs) == context)
            for (uint64_t i = get_u64be(pairs + 4); i < get_u64be(pairs + 16); i++)
                if (get_u16be(bytes + block + i * 10 + 8) == metric)
                    return f64_of_bits(get_u64be(bytes + block + i * 10));
    return 0.0;
}

static double value_in_context(const uint8_t *bytes, uint32_t profile, uint32_t context, uint32_t metric)
{
    const uint8_t *info = bytes + 128 + (size_t)context * 22;
    uint64_t values = get_u64be(info + 4), block = get_u64be(info + 14);
    uint32_t groups = get_u16be(info + 12);
    assert_int_equal(get_u32be(info), context);
    if (values == 0)
        return 0.0;
    const uint8_t *pairs = bytes + block + values * 12;
    assert_int_equal(get_u16be(pairs + (size_t)groups * 10), 0x6564);
    for (uint32_t g = 0; g < groups; g++, pairs += 10)
        if (get_u16be(pairs) == metric)
            for (uint64_t i = get_u64be(pairs + 2); i < get_u64be(pairs + 12); i++)
                if (get_u32be(bytes + block + i * 12 + 8) == profile)
                    return f64_of_bits(get_u64be(bytes + block + i * 12));
    return 0.0;
}

static double original_value(const lode_database *db, uint32_t profile, uint32_t context, uint16_t metric)
{
    lode_block block;
    double value;
    assert_int_equal(lode_profile_block(db, profile, &block, NULL), LODE_OK);
    lode_status status = lode_block_lookup(&block, context, metric, &value, NULL);
    assert_true(status == LODE_OK || status == LODE_NOT_FOUND);
    return value;
}

static void values_are_where_the_pages_say(void **state)
{
    struct original original;
    (void)state;
    open_original(&original);
    for (size_t t = 0; t < 2; t++) {
        struct place place;
        size_t size, cct_size;
        uint16_t id;
        unsigned compared = 0;
        enter_place(&place);
        DONE(&place, write_draft(&place, original.db, targets[t]));
        uint8_t *profiles = read_file(&place, "profile.db", &size);
        uint8_t *contexts = read_file(&place, "cct.db", &cct_size);
        expect_header(profiles, "HPCPROF-profdb__", 4, 2, 52);
        assert_memory_equal(profiles + size - 8, "PROFDBft", 8);
        assert_memory_equal(contexts, "HPCPROF-cctdb___", 16);
        assert_memory_equal(contexts + cct_size - 8, "CCTDBftr", 8);
        /* The summary is SUMMARY 0. */
        const uint8_t *tuple = profiles + get_u64be(profiles + 128);
        assert_int_equal(get_u16be(tuple), 1);
        assert_int_equal(get_u16be(tuple + 2), 0);
        const lode_metric *metric = lode_database_metric(original.db, 1);
        assert_int_equal(lode_metric_id(metric, LODE_SCOPE_EXECUTION, &id), LODE_OK);
        for (uint32_t p = 1; p < 4; p++)
            for (uint32_t c = 0; c <= 12; c++) {
                double wanted = original_value(original.db, p, c, id);
                assert_true(value_in_profile(profiles, p, c, id) == wanted);
                assert_true(value_in_context(contexts, p, c, id) == wanted);
                compared += wanted != 0.0;
            }
        assert_true(compared > 10);
        free(profiles);
        free(contexts);
        leave_place(&place);
    }
    close_original(&original);
}

static void samples_are_where_the_pages_say(void **state)
{
    struct original original;
    (void)state;
    open_original(&original);
    for (size_t t = 0; t < 2; t++) {
        struct place place;
        size_t size;
        lode_trace_line line;
        lode_sample sample;
        unsigned idle = 0;
        enter_place(&place);
        DONE(&place, write_draft(&place, original.db, targets[t]));
        uint8_t *bytes = read_file(&place, "trace.db", &size);
        expect_header(bytes, "HPCPROF-tracedb_", 3, 1, 22);
        /* One page has a footer, the other bounds of time. */
        assert_int_equal(memcmp(bytes + size - 8, "TRACDBft", 8) == 0, t == 0);
        assert_int_equal(get_u64be(bytes + 40) != 0, t == 1);
        assert_int_equal(lode_database_trace_line(original.db, 0, &line, NULL), LODE_OK);
        const uint8_t *at = bytes + get_u64be(bytes + 128 + 6);
        assert_int_equal(get_u32be(bytes + 128), line.profile);
        for (uint64_t i = 0; lode_trace_line_sample(&line, i, &sample) == LODE_OK; i++, at += 12) {
            assert_int_equal(get_u64be(at), sample.time);
            /* A thread that does not run has a context of its own, after all others. */
            assert_int_equal(get_u32be(at + 8), sample.context_id ? sample.context_id : 13);
            idle += sample.context_id == 0;
        }
        assert_true(idle > 0);
        assert_int_equal(get_u64be(bytes + 128 + 14), (uint64_t)(at - bytes));
        free(bytes);
        leave_place(&place);
    }
    close_original(&original);
}

/* ---- names ---- */

/* A database in a folder whose one function has a name, called at the end of a chain of calls. */
static lode_database *made_with(struct place *made, const char *name, unsigned depth)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    lode_writer *writer;
    uint32_t scope, metric, module, function, context;
    uint16_t id;
    lode_error *error = &made->error;
    enter_place(made);
    options.title = name;
    DONE(made, lode_writer_open(&writer, made->target, &options, error));
    DONE(made, lode_writer_add_id_kind(writer, "SUMMARY", NULL, error));
    DONE(made, lode_writer_add_scope(writer, "execution", LODE_SCOPE_EXECUTION, 255, &scope, error));
    DONE(made, lode_writer_add_metric(writer, "m", &metric, error));
    DONE(made, lode_writer_add_metric_scope(writer, metric, scope, &id, error));
    DONE(made, lode_writer_add_statistic(writer, metric, scope, "$$", LODE_COMBINE_SUM, error));
    DONE(made, lode_writer_add_module(writer, name, &module, error));
    const lode_writer_function named = {name, module, LODE_NONE, 0, 64};
    DONE(made, lode_writer_add_function(writer, &named, &function, error));
    lode_writer_context next = LODE_WRITER_CONTEXT_INIT;
    next.entry = LODE_ENTRY_MAIN_THREAD;
    next.entry_name = "main thread";
    DONE(made, lode_writer_add_context(writer, &next, &context, error));
    for (unsigned i = 0; i < depth; i++) {
        next = (lode_writer_context)LODE_WRITER_CONTEXT_INIT;
        next.parent = context;
        next.relation = LODE_RELATION_CALL;
        next.function = function;
        DONE(made, lode_writer_add_context(writer, &next, &context, error));
    }
    DONE(made, lode_writer_seal(writer, error));
    DONE(made, lode_writer_finish(writer, error));
    lode_writer_close(writer);
    return open_written(made);
}

static void names_survive_as_far_as_xml_can_hold_them(void **state)
{
    static const struct {
        const char *name, *in_xml; /* NULL: the same */
    } cases[] = {
        {"operator<< <a&b>(\"x\", 'y')", NULL},
        {" tab\t line\n return\r ]]> &amp; &#10;", NULL},
        {"Gr\xc3\xbc\xc3\x9f"
         "e \xf0\x9f\x8e\x89",
         NULL},
        {"bell\a here", "bell\xef\xbf\xbd here"},
        {"cut \xc3", "cut \xef\xbf\xbd"},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"no character \xef\xbf\xbf.", "no character \xef\xbf\xbd."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t t = 0; t < 2; t++) {
            struct place made, place;
            lode_database *db = made_with(&made, cases[i].name, 1);
            const char *wanted = t == 0 && cases[i].in_xml ? cases[i].in_xml : cases[i].name;
            enter_place(&place);
            DONE(&place, write_draft(&place, db, targets[t]));
            lode_database *draft = open_written(&place);
            assert_string_equal(lode_database_title(draft), wanted);
            assert_string_equal(lode_module_path(lode_database_module(draft, 0)), wanted);
            assert_int_equal(lode_database_function_count(draft), 1);
            assert_string_equal(lode_function_name(lode_database_function(draft, 0)), wanted);
            lode_database_close(draft);
            lode_database_close(db);
            leave_place(&place);
            leave_place(&made);
        }
}

static void a_metric_may_have_no_name(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        struct original original;
        struct place place;
        lode_check_result result = {0};
        lode_check_options options = LODE_CHECK_OPTIONS_INIT;
        options.level = LODE_CHECK_FULL;
        enter_place(&place);
        open_original(&original);
        lode_database_close(original.db);
        uint64_t name = get_u64le(minidb_at(&original.bytes, HPCT_META, original.bytes.metrics));
        *minidb_at(&original.bytes, HPCT_META, name) = '\0';
        DONE(&place, lode_database_open_memory(&original.db, original.files, HPCT_FILES, &place.error));
        assert_string_equal(lode_metric_name(lode_database_metric(original.db, 0)), "");
        DONE(&place, write_draft(&place, original.db, targets[t]));
        DONE(&place, lode_check(place.target, &options, &result, &place.error));
        assert_int_equal(result.errors, 0);
        assert_int_equal(result.warnings, 0);
        leave_place(&place);
        close_original(&original);
    }
}

static void deep_trees_are_written_and_read(void **state)
{
    enum {
        DEPTH = 30000
    };
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        struct place made, place;
        lode_database *db = made_with(&made, "f", DEPTH);
        enter_place(&place);
        DONE(&place, write_draft(&place, db, targets[t]));
        lode_database *draft = open_written(&place);
        assert_int_equal(lode_database_context_count(draft), DEPTH + 2);
        assert_int_equal(lode_context_depth(lode_database_context_at(draft, DEPTH + 1)), DEPTH + 1);
        lode_database_close(draft);
        lode_database_close(db);
        leave_place(&place);
        leave_place(&made);
    }
}

/* ---- what is refused ---- */

static void what_cannot_be_written_is_refused_and_leaves_nothing(void **state)
{
    struct original original;
    struct place place;
    lode_database *without;
    (void)state;
    open_original(&original);
    enter_place(&place);
    REFUSED(&place, LODE_ERR_ARGUMENT, write_draft(&place, original.db, "hpctoolkit-draft"));
    original.files[HPCT_CCT] = original.files[HPCT_TRACE];
    DONE(&place, lode_database_open_memory(&without, original.files, HPCT_FILES - 1, &place.error));
    for (size_t t = 0; t < 2; t++)
        REFUSED(&place, LODE_ERR_UNSUPPORTED, write_draft(&place, without, targets[t]));
    lode_database_close(without);
    assert_int_equal(count_entries(place.folder), 0);
    DONE(&place, write_draft(&place, original.db, targets[0]));
    lode_status status = write_draft(&place, original.db, targets[1]);
    assert_true(status < 0);
    assert_int_equal(count_entries(place.folder), 1);
    size_t size;
    free(read_file(&place, "experiment.xml", &size));
    leave_place(&place);
    close_original(&original);
}

/* cct.db of a draft has a record for every id up to the largest. */
static void an_id_far_beyond_the_contexts_is_refused(void **state)
{
    struct original original;
    struct place place;
    (void)state;
    enter_place(&place);
    open_original(&original);
    lode_database_close(original.db);
    put_u32le(minidb_at(&original.bytes, HPCT_META, original.bytes.contexts[12] + 0x10), 1u << 29);
    DONE(&place, lode_database_open_memory(&original.db, original.files, HPCT_FILES, &place.error));
    for (size_t t = 0; t < 2; t++)
        REFUSED(&place, LODE_ERR_LIMIT, write_draft(&place, original.db, targets[t]));
    assert_int_equal(count_entries(place.folder), 0);
    leave_place(&place);
    close_original(&original);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_where_the_pages_say),
        cmocka_unit_test(samples_are_where_the_pages_say),
        cmocka_unit_test(names_survive_as_far_as_xml_can_hold_them),
        cmocka_unit_test(a_metric_may_have_no_name),
        cmocka_unit_test(deep_trees_are_written_and_read),
        cmocka_unit_test(what_cannot_be_written_is_refused_and_leaves_nothing),
        cmocka_unit_test(an_id_far_beyond_the_contexts_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
