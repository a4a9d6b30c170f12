/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel symbols and logical files: for each rule, some that break exactly it; truncations, bit
 * flips and bombs; what is at each address, against a slow way to find out.
 */
#include "base/io/bytes.h"
#include "base/memory/blob.h"
#include "format/hpcrun/hpcrun.h"
#include "format/hpcrun/scopes/kernel.h"
#include "format/hpcrun/scopes/logical.h"
#include "hostile.h"
#include "minihpcrun.h"
#include "rule_cases.h"
#include "share.h"
#include <lode/unstable/measurements.h>
#include <stdio.h>
#if LODE_HAS_LZMA
#include <lzma.h>
#endif

enum {
    MOST_MILLISECONDS = 6000,
    MOST_MEGABYTES = 300,
    SYMBOLS = 300,
    ADDRESSES = 1000
};

/* ---- files ---- */

static void append(struct lode_blob *blob, const void *bytes, size_t size)
{
    size_t at = lode_blob_extend(blob, size);
    assert_true(at != LODE_BLOB_FULL);
    if (size > 0)
        memcpy(blob->bytes + at, bytes, size);
}

static struct lode_blob xz(const void *text, size_t size)
{
    struct lode_blob out = {0};
#if LODE_HAS_LZMA
    size_t used = 0, most = lzma_stream_buffer_bound(size);
    assert_true(lode_blob_extend(&out, most) != LODE_BLOB_FULL);
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, text, size, out.bytes, &used, most),
                     LZMA_OK);
    out.size = used;
#else
    append(&out, text, size);
#endif
    return out;
}

static void append_u32(struct lode_blob *blob, uint32_t number)
{
    uint8_t bytes[4];
    put_u32be(bytes, number);
    append(blob, bytes, sizeof bytes);
}

static void append_text(struct lode_blob *blob, const char *text)
{
    append_u32(blob, (uint32_t)strlen(text));
    append(blob, text, strlen(text));
}

static void append_record(struct lode_blob *blob, uint32_t id, const char *name, bool is_mangled,
                          const char *file, uint32_t line)
{
    uint8_t mangled = is_mangled;
    append_u32(blob, id);
    append_text(blob, name);
    append(blob, &mangled, 1);
    append_text(blob, file);
    append_u32(blob, line);
}

static void begin_logical(struct lode_blob *blob)
{
    *blob = (struct lode_blob){0};
    append(blob, LOGICAL_BEGIN, LOGICAL_BEGIN_SIZE);
    append_record(blob, 7, "_Z1fiPKc", true, "a.py", 3);
    append_record(blob, 5, "g", false, "", 0);
    append_record(blob, 6, "", false, "b.py", 0);
    append_record(blob, 8, "_Z1fiPKc", true, "a.py", 3);
}

static const char sound_lines[] = "0000000000000000 A nothing\n"
                                  "ffffffff81000100 T second\n"
                                  "ffffffff81000000 T first\n"
                                  "ffffffff81000000 t alias\n"
                                  "ffffffffc0001000 t third\t[module]\n"
                                  "ffffffff81000200 D data\n";

/* ---- cases ---- */

struct symbol_case {
    const char *rule, *lines; /* NULL: a logical file */
    void (*change)(struct lode_blob *file);
};

static void cut(struct lode_blob *file)
{
    file->size -= 3;
}

static void lengthen(struct lode_blob *file)
{
    append(file, "abcd", 4);
}

#if LODE_HAS_LZMA

static void damage(struct lode_blob *file)
{
    file->bytes[file->size / 2] ^= 4;
}

static void lengthen_line(struct lode_blob *file)
{
    char text[KERNEL_LINE_MOST + 2];
    memset(text, 'x', sizeof text);
    lode_blob_free(file);
    *file = xz(text, sizeof text);
}

#endif

static void empty(struct lode_blob *file)
{
    file->size = 0;
}

static void break_magic(struct lode_blob *file)
{
    file->bytes[0] = 'h';
}

static void repeat_id(struct lode_blob *file)
{
    append_record(file, 7, "h", false, "", 0);
}

static void add_zero_id(struct lode_blob *file)
{
    append_record(file, 0, "h", false, "", 0);
}

static void add_nul(struct lode_blob *file)
{
    file->bytes[LOGICAL_BEGIN_SIZE + 8] = '\0';
}

/* Each name is a few bytes, and a kilobyte when demangled. */
static void grow_names(struct lode_blob *file)
{
    for (uint32_t i = 0; i < 3000; i++) {
        char name[128];
        snprintf(name, sizeof name,
                 "_Z7f%06uNSt6vectorIS_IS_IS_IiSaIiEESaIS1_EESaIS3_EESaIS5_EEES6_S6_S6_S6_S6_", i);
        append_record(file, 100 + i, name, true, "", 0);
    }
}

static const struct symbol_case cases[] = {
#if LODE_HAS_LZMA
    {"kernel-xz", sound_lines, cut},
    {"kernel-xz", sound_lines, lengthen},
    {"kernel-xz", sound_lines, damage},
    {"kernel-xz", sound_lines, empty},
    {"kernel-limit", sound_lines, lengthen_line},
    {"kernel-line", "ffffffff81000000 T first\nsecond\n", NULL},
    {"kernel-line", "ffffffff81000000 T first\n\n", NULL},
    {"kernel-line", "ffffffff81000000 T first\nffffffff8100000000 T x\n", NULL},
    {"kernel-line", "ffffffff81000000 T first\n0xff T x\n", NULL},
    {"kernel-line", "ffffffff81000000 T first\nffffffff81000000 TT x\n", NULL},
    {"kernel-address", "0000000000000000 T first\n0000000000000000 t second\n", NULL},
    {"hpcrun-utf8", "ffffffff81000000 T fir\xffst\n", NULL},
#else
    {"kernel-unread", sound_lines, NULL},
#endif
    {"logical-header", NULL, break_magic},
    {"logical-header", NULL, empty},
    {"logical-cut", NULL, cut},
    {"logical-cut", NULL, lengthen},
    {"logical-id", NULL, repeat_id},
    {"logical-id", NULL, add_zero_id},
    {"logical-limit", NULL, grow_names},
    {"hpcrun-string", NULL, add_nul},
};
static const struct rule_cases all = {cases, sizeof *cases, sizeof cases / sizeof *cases};

static lode_memory_file file_of(const struct lode_blob *blob, bool is_kernel)
{
    return (lode_memory_file){is_kernel ? "kernel_symbols/vmlinux.1" : "logical/x.0123abcd", blob->bytes,
                              blob->size};
}

static void breaks_exactly_one_rule(void **state)
{
    const struct symbol_case *this = *state;
    struct lode_blob file, profile;
    lode_measurements *measurements;
    if (this->lines)
        file = xz(this->lines, strlen(this->lines));
    else
        begin_logical(&file);
    if (this->change)
        this->change(&file);
    minihpcrun_profile(&profile);
    lode_memory_file files[] = {file_of(&file, this->lines != NULL),
                                {"x.hpcrun", profile.bytes, profile.size}};
    expect_only(files, 2, this->rule, NULL);
    bool is_lost = find_rule(this->rule)->severity == LODE_ERROR || (this->lines && !LODE_HAS_LZMA);
    assert_int_equal(lode_measurements_open_memory(&measurements, files, 2, NULL), LODE_OK);
    assert_int_equal(lode_measurements_profile_count(measurements), 1);
    assert_int_equal(lode_measurements_structure_count(measurements), !is_lost);
    assert_int_equal(lode_measurements_skip_count(measurements), is_lost);
    lode_measurements_close(measurements);
    lode_blob_free(&profile);
    lode_blob_free(&file);
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < lode_format_hpcrun.rule_count; i++) {
        const char *id = lode_format_hpcrun.rules[i].id;
        bool is_kernel = strncmp(id, "kernel-", 7) == 0, is_unread = strcmp(id, "kernel-unread") == 0;
        bool is_found = strncmp(id, "logical-", 8) != 0 && (!is_kernel || is_unread == (bool)LODE_HAS_LZMA);
        for (size_t k = 0; k < all.count; k++)
            is_found |= strcmp(cases[k].rule, id) == 0;
        if (!is_found)
            fail_msg("no case for %s", id);
    }
}

/* ---- what is where ---- */

struct found {
    char text[512];
    const uint64_t *addresses;
    size_t count;
};

/* Notes the name, file and line of each wanted address. */
static lode_status note(void *user, const struct hpcstruct_module *module)
{
    struct found *found = user;
    size_t used = 0;
    for (size_t i = 0; i < found->count; i++) {
        const char *name = "-", *file = "-";
        uint32_t line = 0;
        for (size_t k = 0; k < module->ranges.count; k++) {
            const struct hpcstruct_range *range = LODE_ARRAY_AT(&module->ranges, struct hpcstruct_range, k);
            if (found->addresses[i] < range->start || found->addresses[i] >= range->end)
                continue;
            const struct hpcstruct_scope *scope =
                LODE_ARRAY_AT(&module->scopes, struct hpcstruct_scope, range->scope);
            name = scope->name == LODE_NO_NUMBER ? "" : lode_strings_at(module->strings, scope->name);
            file = scope->file == LODE_NO_NUMBER ? "" : lode_strings_at(module->strings, scope->file);
            line = scope->line;
        }
        used +=
            (size_t)snprintf(found->text + used, sizeof found->text - used, "%s|%s|%u\n", name, file, line);
    }
    if (module->name)
        snprintf(found->text + used, sizeof found->text - used, "%s", module->name);
    return LODE_OK;
}

static void logical_records_have_names_files_and_lines(void **state)
{
    const uint64_t addresses[] = {UINT64_C(7) << 32 | 12,         UINT64_C(5) << 32, UINT64_C(6) << 32 | 4,
                                  UINT64_C(8) << 32 | UINT32_MAX, UINT64_C(9) << 32, 1};
    struct found found = {.addresses = addresses, .count = 6};
    struct lode_blob file;
    struct lode_report report;
    (void)state;
    begin_logical(&file);
    append_record(&file, UINT32_MAX, "last", false, "", 0);
    lode_report_strict(&report, lode_format_hpcrun.rules, NULL);
    struct lode_range bytes = {file.bytes, file.size};
    assert_int_equal(lode_logical_read("logical/a.b.0123", bytes, LODE_CHECK_FULL, &report, note, &found),
                     LODE_OK);
    assert_string_equal(found.text, "f(int, char const*)|a.py|3\ng||0\n|b.py|0\nf(int, char const*)|a.py|3\n"
                                    "-|-|0\n-|-|0\n<logical a.b>");
    lode_blob_free(&file);
}

static void modules_of_kernels_have_two_names(void **state)
{
    static const struct {
        const char *path, *file;
    } names[] = {{"<vmlinux.11ac>", "kernel_symbols/vmlinux.11ac"},
                 {"kernel_symbols/vmlinux.11ac", "kernel_symbols/vmlinux.11ac"},
                 {"<vmlinux.11ac", NULL},
                 {"vmlinux.11ac", NULL},
                 {"<vmlinux.../../x>", NULL},
                 {"kernel_symbols/vmlinux.1/../x", NULL},
                 {"/boot/vmlinux.11ac", NULL},
                 {"<vmlinux.0123456789012345678901234567890123456789>", NULL},
                 {"", NULL}};
    char file[40];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_kernel = lode_kernel_file(names[i].path, file, sizeof file);
        assert_int_equal(is_kernel, names[i].file != NULL);
        if (is_kernel)
            assert_string_equal(file, names[i].file);
    }
}

#if LODE_HAS_LZMA

struct symbol {
    uint64_t address;
    bool is_function;
};

struct expected {
    const struct symbol *symbols;
    unsigned addresses; /* that have a name */
};

/* The highest address not above the wanted one; of several, the first. By looking at all. */
static lode_status compare_addresses(void *user, const struct hpcstruct_module *module)
{
    struct expected *expected = user;
    for (uint64_t address = 0; address < ADDRESSES; address++) {
        const struct symbol *symbols = expected->symbols;
        size_t best = SYMBOLS;
        for (size_t i = 0; i < SYMBOLS; i++)
            if (symbols[i].is_function && symbols[i].address <= address &&
                (best == SYMBOLS || symbols[i].address > symbols[best].address))
                best = i;
        char wanted[64] = "";
        if (best < SYMBOLS)
            snprintf(wanted, sizeof wanted, "f%zu%s [vmlinux]", best, best % 3 ? "" : " [m]");
        const char *name = "";
        for (size_t k = 0; k < module->ranges.count; k++) {
            const struct hpcstruct_range *range = LODE_ARRAY_AT(&module->ranges, struct hpcstruct_range, k);
            if (address >= range->start && address < range->end)
                name = lode_strings_at(
                    module->strings,
                    LODE_ARRAY_AT(&module->scopes, struct hpcstruct_scope, range->scope)->name);
        }
        assert_string_equal(name, wanted);
        expected->addresses += best < SYMBOLS;
    }
    return LODE_OK;
}

static void kernel_functions_reach_to_the_next(void **state)
{
    struct symbol symbols[SYMBOLS];
    struct expected expected = {symbols, 0};
    struct lode_blob lines = {0};
    struct lode_report report;
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned i = 0; i < SYMBOLS; i++) {
        char line[64];
        symbols[i] =
            (struct symbol){10 + next_random(&random) % (ADDRESSES - 100), next_random(&random) % 3 != 0};
        char type = "Dd"[i % 2];
        if (symbols[i].is_function)
            type = "Tt"[i % 2];
        int length = snprintf(line, sizeof line, "%016llx %c f%u%s%s", (unsigned long long)symbols[i].address,
                              type, i, i % 3 ? "" : "\t[m]", i + 1 < SYMBOLS ? "\n" : "");
        append(&lines, line, (size_t)length);
    }
    struct lode_blob packed = xz(lines.bytes, lines.size);
    lode_report_strict(&report, lode_format_hpcrun.rules, NULL);
    struct lode_range bytes = {packed.bytes, packed.size};
    assert_int_equal(lode_kernel_read("kernel_symbols/vmlinux.1", bytes, LODE_CHECK_FULL, &report,
                                      compare_addresses, &expected),
                     LODE_OK);
    assert_true(expected.addresses > ADDRESSES / 2);
    lode_blob_free(&lines);
    lode_blob_free(&packed);
}

/* A line, repeated: a few kilobytes that unpack to more than what is read. */
static struct lode_blob repeat_line(const char *line, size_t bytes)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    struct lode_blob lines = {0}, out = {0};
    lzma_ret code = lzma_easy_encoder(&stream, 0, LZMA_CHECK_CRC64);
    while (lines.size < 1 << 16)
        append(&lines, line, strlen(line));
    assert_true(lode_blob_extend(&out, 1 << 20) != LODE_BLOB_FULL);
    stream.next_out = out.bytes;
    stream.avail_out = out.size;
    while (code == LZMA_OK) {
        bool is_last = stream.total_in >= bytes;
        if (!is_last) {
            stream.next_in = lines.bytes;
            stream.avail_in = lines.size;
        }
        code = lzma_code(&stream, is_last ? LZMA_FINISH : LZMA_RUN);
    }
    assert_int_equal(code, LZMA_STREAM_END);
    out.size = stream.total_out;
    lzma_end(&stream);
    lode_blob_free(&lines);
    return out;
}

static void bombs_end_soon(void **state)
{
    static const char *const lines[] = {"ffffffff81000000 T f\n",
                                        "ffffffff81000000 D data that belongs to the kernel\n", "0 t a\n"};
    static const size_t sizes[] = {KERNEL_UNPACKED_MOST + 1, KERNEL_UNPACKED_MOST + 1, 1 << 20};
    double start = now();
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct lode_blob packed = repeat_line(lines[i], sizes[i]);
        lode_memory_file file = {"vmlinux.1", packed.bytes, packed.size};
        struct rule_findings found = check_files(&file, 1, "kernel-limit", NULL, LODE_CHECK_FULL);
        assert_true(found.of_rule == 1 && found.others == 0);
        lode_blob_free(&packed);
    }
    assert_little_time(start, MOST_MILLISECONDS);
    assert_little_memory(MOST_MEGABYTES);
}

#endif

/* ---- damage ---- */

static bool opens(const struct lode_blob *file, size_t size, bool is_kernel)
{
    unsigned char *copy = malloc(size ? size : 1);
    lode_memory_file one = {is_kernel ? "vmlinux.1" : "x.0123abcd", copy, size};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_measurements *measurements;
    assert_non_null(copy);
    memcpy(copy, file->bytes, size);
    bool opened = lode_measurements_open_memory(&measurements, &one, 1, NULL) == LODE_OK;
    lode_measurements_close(measurements);
    options.level = LODE_CHECK_FULL;
    if (lode_check_memory(&one, 1, &options, &result, NULL) == LODE_OK && (result.errors == 0) != opened)
        fail_msg("%s", "opening and checking disagree");
    free(copy);
    return opened;
}

static void truncations_and_bit_flips_do_no_harm(void **state)
{
    struct share share = share_from_environment();
    (void)state;
    for (unsigned is_kernel = 0; is_kernel <= LODE_HAS_LZMA; is_kernel++) {
        struct lode_blob file;
        unsigned long opened = 0;
        if (is_kernel)
            file = xz(sound_lines, strlen(sound_lines));
        else
            begin_logical(&file);
        assert_true(opens(&file, file.size, is_kernel));
        for (size_t size = 0; size < file.size; size++)
            opened += opens(&file, size, is_kernel);
        assert_true(opened <= (is_kernel ? 0 : 4)); /* records that are whole */
        opened = 0;
        for (size_t bit = 0; bit < file.size * 8; bit++) {
            if (!share_has(share, bit))
                continue;
            file.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            opened += opens(&file, file.size, is_kernel);
            file.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        /* The checksums of xz find all. */
        assert_true(!is_kernel || opened == 0);
        lode_blob_free(&file);
    }
    assert_little_memory(MOST_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(logical_records_have_names_files_and_lines),
        cmocka_unit_test(modules_of_kernels_have_two_names),
#if LODE_HAS_LZMA
        cmocka_unit_test(kernel_functions_reach_to_the_next),
        cmocka_unit_test(bombs_end_soon),
#endif
        cmocka_unit_test(truncations_and_bit_flips_do_no_harm),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
