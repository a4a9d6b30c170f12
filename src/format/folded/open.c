/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and checks folded stacks with one reader: the report stops at an error, or goes on. */
#include "base/error.h"
#include "base/io/gzip.h"
#include "base/text/count.h"
#include "format/bounded.h"
#include "format/folded/folded.h"
#include "format/folded/line.h"
#include "format/folded/rules.h"
#include "model/database/database.h"
#include "model/finding.h"
#include "model/import/store.h"

#define FORMAT_NAME "folded stacks"

enum {
    BYTES_MOST = 1 << 30,     /* unpacked */
    DEPTH_MOST = 1 << 18,     /* frames of one stack */
    DESCRIBED_MOST = 1 << 12, /* bytes of comments */
    PROBED = 1 << 16,         /* bytes that are looked at */
    PROBED_LINES = 100,       /* lines that are looked at */
    PROBED_GOOD = 95          /* of which so many, in percent, are stacks */
};

struct folded_reader {
    struct lode_report *report;
    const char *file;
    struct lode_input source;
    struct lode_bounded bounds;
    struct lode_blob unpacked;
    struct lode_range text;
    struct lode_import import;
    struct lode_map frames; /* from the number of a name to its frame */
    bool has_two;
    uint32_t profile;
    uint64_t stacks, lines, bad;
};

/* ---- recognition ---- */

static const char *const suffixes[] = {".folded", ".collapsed", ".stacks", ".folded.gz", ".collapsed.gz"};

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), size = strlen(suffix);
    return length > size && strcmp(name + length - size, suffix) == 0;
}

static bool looks_folded(struct lode_range text)
{
    struct folded_line line;
    uint64_t lines = 0, good = 0, nested = 0;
    if (memchr(text.data, '\0', (size_t)text.size))
        return false;
    while (lines < PROBED_LINES && lode_folded_next(&text, &line)) {
        /* The last one may be cut off. */
        if (line.kind == FOLDED_NOTHING || line.kind == FOLDED_COMMENT || (lines > 0 && text.size == 0))
            continue;
        lines++;
        good += line.kind == FOLDED_STACK;
        nested += line.kind == FOLDED_STACK && memchr(line.stack.data, ';', (size_t)line.stack.size) != NULL;
    }
    return nested > 0 && good * 100 >= lines * PROBED_GOOD;
}

static int probe(const struct lode_folder *folder)
{
    const char *name = lode_folder_only(folder);
    struct lode_input source;
    struct lode_blob unpacked = {0};
    uint64_t offset;
    bool is_folded = false, is_named = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        is_named |= ends_with(name, suffixes[i]);
    if (lode_input_open(&source, folder, name, NULL) == LODE_OK) {
        struct lode_range text = source.bytes;
        if (lode_gzip_begins(text)) {
            lode_gzip_unpack(text, PROBED, &unpacked, &offset);
            text = (struct lode_range){unpacked.bytes, unpacked.size};
        }
        text.size = text.size > PROBED ? PROBED : text.size;
        is_folded = text.size > 0 && looks_folded(text);
    }
    lode_blob_free(&unpacked);
    lode_input_close(&source);
    return is_folded && is_named ? LODE_PROBE_MARK : is_folded || is_named ? LODE_PROBE_NAMES : LODE_PROBE_NO;
}

/* ---- reading ---- */

static const struct lode_bounded_rules bounded_rules = {
    FOLDED_RULE_GZIP, FOLDED_RULE_TRAILING, FOLDED_RULE_LIMIT, FOLDED_RULE_RATIO, FOLDED_RULE_EXPANSION};

#define finding(reader, rule, at, ...)                                                                       \
    lode_report_add((reader)->report, rule, (reader)->file, (uint64_t)((at) - (reader)->text.data),          \
                    __VA_ARGS__)

/* Two metrics if every stack has two counts. Comments before the first one are the description. */
static lode_status survey(struct folded_reader *reader)
{
    struct lode_range rest = reader->text;
    struct folded_line line;
    struct lode_blob comments = {0};
    uint64_t twos = 0;
    bool has_memory = true;
    while (lode_folded_next(&rest, &line)) {
        reader->lines += line.kind == FOLDED_STACK;
        reader->bad += line.kind == FOLDED_BAD;
        twos += line.has_two;
        if (line.kind != FOLDED_COMMENT || reader->lines > 0 ||
            comments.size + line.whole.size > DESCRIBED_MOST)
            continue;
        size_t at = lode_blob_reserve(&comments, (size_t)line.whole.size + 1, 1);
        has_memory &= at != LODE_BLOB_FULL;
        if (at == LODE_BLOB_FULL)
            break;
        memcpy(comments.bytes + at, line.whole.data, (size_t)line.whole.size);
        comments.bytes[at + line.whole.size] = ' ';
    }
    reader->has_two = reader->lines > 0 && twos == reader->lines;
    uint32_t number = 0;
    unsigned changes = 0;
    size_t length = comments.size > 0 ? comments.size - 1 : 0;
    lode_error *error = reader->report->error;
    lode_status status =
        has_memory ? lode_import_string(&reader->import, comments.bytes, length, &number, &changes, error)
                   : lode_fail_memory(error);
    if (status == LODE_OK)
        reader->import.text =
            lode_import_keep(&reader->import, lode_strings_at(&reader->import.frames.strings, number));
    lode_blob_free(&comments);
    return status == LODE_OK && reader->import.text == NULL ? lode_fail_memory(error) : status;
}

static lode_status report_changes(struct folded_reader *reader, const uint8_t *at, unsigned changes)
{
    if (changes & LODE_IMPORT_IS_CUT)
        LODE_TRY(
            finding(reader, FOLDED_RULE_NAME_LENGTH, at, "a name is longer than %d bytes", LODE_IMPORT_NAME));
    if (changes & LODE_IMPORT_IS_INVALID)
        LODE_TRY(finding(reader, FOLDED_RULE_UTF8, at, "a name is not UTF-8, or holds a NUL"));
    if (changes & LODE_IMPORT_HAS_CONTROL)
        LODE_TRY(finding(reader, FOLDED_RULE_CONTROL, at, "a name holds control characters"));
    return LODE_OK;
}

/* The frame of a name; what is odd about the name is reported once. */
static lode_status frame_of(struct folded_reader *reader, struct lode_range name, uint32_t *frame)
{
    lode_error *error = reader->report->error;
    uint32_t number = 0;
    unsigned changes = 0;
    bool added;
    LODE_TRY(lode_import_string(&reader->import, name.data, (size_t)name.size, &number, &changes, error));
    uint32_t *slot = lode_map_add(&reader->frames, number, LODE_NO_NUMBER, &added);
    LODE_TRY_ALLOC(slot, error);
    if (added) {
        uint32_t function = lode_import_function(&reader->import, number, LODE_NO_NUMBER, LODE_NO_NUMBER, 0);
        *slot =
            function == LODE_NO_NUMBER ? LODE_NO_NUMBER : lode_import_call(&reader->import, function, false);
        LODE_TRY_ALLOC(*slot != LODE_NO_NUMBER, error);
        *frame = *slot;
        if (name.data[0] == ' ')
            LODE_TRY(finding(reader, FOLDED_RULE_BLANK, name.data, "a frame begins with a blank"));
        return report_changes(reader, name.data, changes);
    }
    *frame = *slot;
    return LODE_OK;
}

static bool is_blank_name(struct lode_range name)
{
    for (uint64_t i = 0; i < name.size; i++)
        if (name.data[i] != ' ' && name.data[i] != '\t')
            return false;
    return true;
}

/* Frames that are empty or blank are omitted. */
static lode_status walk_stack(struct folded_reader *reader, struct lode_range stack, uint32_t *context)
{
    lode_error why = {0};
    unsigned depth = 0;
    while (stack.size > 0) {
        const uint8_t *end = memchr(stack.data, ';', (size_t)stack.size);
        struct lode_range name = {stack.data, end ? (uint64_t)(end - stack.data) : stack.size};
        uint32_t frame = 0;
        stack.data += name.size + (end != NULL);
        stack.size -= name.size + (end != NULL);
        if (is_blank_name(name))
            continue;
        if (++depth > DEPTH_MOST)
            return finding(reader, FOLDED_RULE_DEPTH, name.data, "a stack is more than %d frames deep",
                           DEPTH_MOST);
        LODE_TRY(frame_of(reader, name, &frame));
        lode_status status = lode_import_step(&reader->import, frame, context, &why);
        if (status == LODE_ERR_LIMIT)
            return lode_bounded_too_many(&reader->bounds, "calling contexts", reader->import.most_contexts,
                                         LODE_IMPORT_CONTEXTS);
        if (status != LODE_OK)
            return lode_fail_memory(reader->report->error);
    }
    return LODE_OK;
}

static lode_status read_line(struct folded_reader *reader, const struct folded_line *line)
{
    lode_wide values[2] = {line->count, 0};
    uint32_t context = LODE_IMPORT_ENTRY;
    lode_error why = {0};
    if (line->kind == FOLDED_BAD)
        return finding(reader, FOLDED_RULE_LINE, line->whole.data, "not a stack with a count");
    if (line->kind != FOLDED_STACK)
        return LODE_OK;
    if (line->is_large)
        LODE_TRY(finding(reader, FOLDED_RULE_COUNT, line->whole.data, "a count is beyond 2^53"));
    if (reader->has_two) {
        values[0] = line->before;
        values[1] = line->count;
    }
    reader->stacks++;
    LODE_TRY(walk_stack(reader, reader->has_two ? line->rest : line->stack, &context));
    if (context == LODE_IMPORT_ENTRY)
        context = LODE_TREE_ROOT;
    lode_status status = lode_import_add(&reader->import, reader->profile, context, values, &why);
    if (status == LODE_ERR_LIMIT)
        return lode_bounded_too_many(&reader->bounds, "values", reader->import.most_cells, LODE_IMPORT_CELLS);
    return status == LODE_OK ? LODE_OK : lode_fail_memory(reader->report->error);
}

static lode_status read_lines(struct folded_reader *reader)
{
    static const lode_id only = {.kind = 2 /* RANK */};
    lode_error *error = reader->report->error;
    struct folded_line line;
    LODE_TRY(survey(reader));
    if (reader->lines == 0 && reader->bad > 0) {
        LODE_TRY(finding(reader, FOLDED_RULE_NONE, reader->text.data, "no line is a stack with a count"));
        return LODE_END;
    }
    LODE_TRY(lode_import_metric(&reader->import, reader->has_two ? "before" : "samples", error));
    if (reader->has_two)
        LODE_TRY(lode_import_metric(&reader->import, "after", error));
    reader->import.default_metric = reader->has_two;
    LODE_TRY(lode_import_profile(&reader->import, &only, &reader->profile, error));
    struct lode_range rest = reader->text;
    while (lode_folded_next(&rest, &line))
        LODE_TRY(read_line(reader, &line));
    return LODE_OK;
}

static lode_status finish(struct folded_reader *reader, lode_check_level level, lode_database **out)
{
    lode_error why = {0};
    reader->import.title = reader->file;
    lode_status status =
        lode_import_finish(&reader->import, out, FORMAT_NAME, reader->file, reader->source.bytes.size, &why);
    if (status == LODE_ERR_LIMIT)
        return lode_bounded_too_many(&reader->bounds, "contexts times metrics", reader->import.most_cells,
                                     LODE_IMPORT_CELLS);
    if (status != LODE_OK)
        return lode_fail_memory(reader->report->error);
    if (level < LODE_CHECK_FULL || reader->import.inexact == 0)
        return LODE_OK;
    return lode_report_add(reader->report, FOLDED_RULE_PRECISION, reader->file, LODE_NO_OFFSET,
                           "%s beyond 2^53", LODE_COUNTED(reader->import.inexact, "sum is", "sums are"));
}

/* LODE_END: after a finding that leaves nothing to read. */
static lode_status read_stacks(void *state, const struct lode_folder *folder, lode_check_level level,
                               lode_database **out)
{
    struct folded_reader *reader = state;
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    lode_error *error = reader->report->error;
    reader->file = lode_folder_only(folder);
    lode_status status = lode_input_open(&reader->source, folder, reader->file, error);
    if (status == LODE_ABSENT)
        return lode_fail(error, LODE_ERR_IO, reader->file, LODE_NO_OFFSET, "there is no such file");
    LODE_TRY(status);
    reader->text = reader->source.bytes;
    reader->bounds = (struct lode_bounded){.report = reader->report,
                                           .rules = &bounded_rules,
                                           .file = reader->file,
                                           .subject = "the stacks have",
                                           .most = BYTES_MOST};
    LODE_TRY(lode_bounded_unpack(&reader->bounds, &reader->text, &reader->unpacked));
    lode_import_limit(&reader->import, reader->bounds.packed, reader->bounds.bytes);
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    if (reader->text.size >= sizeof mark && memcmp(reader->text.data, mark, sizeof mark) == 0)
        reader->text = (struct lode_range){reader->text.data + sizeof mark, reader->text.size - sizeof mark};
    LODE_TRY(read_lines(reader));
    return finish(reader, level, out);
}

static bool open_reader(void *state, struct lode_report *report)
{
    struct folded_reader *reader = state;
    *reader = (struct folded_reader){.report = report};
    lode_map_init(&reader->frames);
    bool done = lode_import_open(&reader->import);
    reader->import.shift = FOLDED_SHIFT;
    return done;
}

static void close_reader(void *state)
{
    struct folded_reader *reader = state;
    lode_map_free(&reader->frames);
    lode_import_close(&reader->import);
    lode_blob_free(&reader->unpacked);
    lode_input_close(&reader->source);
}

static uint64_t count_samples(const void *state)
{
    const struct folded_reader *reader = state;
    return reader->stacks;
}

static const struct lode_import_form form = {
    .reader_size = sizeof(struct folded_reader),
    .open = open_reader,
    .read = read_stacks,
    .samples = count_samples,
    .close = close_reader,
};

const struct lode_format lode_format_folded = {
    .name = FORMAT_NAME,
    .mark = "folded stacks",
    .is_file = true,
    .probe = probe,
    .import = &form,
    .rules = lode_folded_rules,
    .rule_count = FOLDED_RULES,
};
