/* SPDX-License-Identifier: BSD-3-Clause */
/* Files *.tally with lines "FUNCTION COUNT", read as databases. */
#include "base/error.h"
#include "format/format.h"
#include "model/database/database.h"
#include "model/import/store.h"
#include <string.h>

#define FORMAT_NAME "tally"
#define SUFFIX      ".tally"

enum {
    TALLY_RULE_LINE,
    TALLY_RULES
};

static const lode_rule rules[TALLY_RULES] = {
    {"tally-line", LODE_WARNING, LODE_CHECK_STRUCTURE, "a line is not a name and a count; it is skipped"}};

struct tally {
    struct lode_report *report;
    const char *file;
    struct lode_input input;
    struct lode_import import;
    uint32_t profile;
    uint64_t lines;
};

static int probe(const struct lode_folder *folder)
{
    const char *name = lode_folder_only(folder);
    size_t length = name ? strlen(name) : 0;
    bool fits = length >= strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
    return fits ? LODE_PROBE_MARK : LODE_PROBE_NO;
}

/* "NAME COUNT"; false: something else. */
static bool split(struct lode_range line, struct lode_range *name, lode_wide *count)
{
    uint64_t end = line.size;
    *count = 0;
    while (end > 0 && line.data[end - 1] >= '0' && line.data[end - 1] <= '9')
        end--;
    for (uint64_t i = end; i < line.size; i++)
        *count = *count * 10 + (line.data[i] - '0');
    *name = (struct lode_range){line.data, end > 0 ? end - 1 : 0};
    return end > 1 && line.data[end - 1] == ' ' && line.size > end && line.size - end < 16;
}

static lode_status add_line(struct tally *self, struct lode_range line)
{
    lode_error *error = self->report->error;
    struct lode_range name;
    lode_wide count;
    uint32_t number, context = LODE_IMPORT_ENTRY;
    unsigned changes = 0;
    if (!split(line, &name, &count))
        return lode_report_add(self->report, TALLY_RULE_LINE, self->file,
                               (uint64_t)(line.data - self->input.bytes.data), "not a name and a count");
    LODE_TRY(lode_import_string(&self->import, name.data, (size_t)name.size, &number, &changes, error));
    uint32_t function = lode_import_function(&self->import, number, LODE_NO_NUMBER, LODE_NO_NUMBER, 0);
    LODE_TRY_ALLOC(function != LODE_NO_NUMBER, error);
    uint32_t frame = lode_import_call(&self->import, function, false);
    LODE_TRY_ALLOC(frame != LODE_NO_NUMBER, error);
    LODE_TRY(lode_import_step(&self->import, frame, &context, error));
    return lode_import_add(&self->import, self->profile, context, &count, error);
}

static lode_status read_lines(struct tally *self)
{
    static const lode_id only = {.kind = 2 /* RANK */};
    lode_error *error = self->report->error;
    struct lode_range rest = self->input.bytes;
    LODE_TRY(lode_import_metric(&self->import, "count", error));
    LODE_TRY(lode_import_profile(&self->import, &only, &self->profile, error));
    while (rest.size > 0) {
        const uint8_t *end = memchr(rest.data, '\n', (size_t)rest.size);
        struct lode_range line = {rest.data, end ? (uint64_t)(end - rest.data) : rest.size};
        uint64_t taken = line.size + (end != NULL);
        LODE_TRY(add_line(self, line));
        self->lines++;
        rest = (struct lode_range){rest.data + taken, rest.size - taken};
    }
    return LODE_OK;
}

static bool open_reader(void *state, struct lode_report *report)
{
    struct tally *self = state;
    *self = (struct tally){.report = report};
    return lode_import_open(&self->import);
}

static lode_status read_file(void *state, const struct lode_folder *folder, lode_check_level level,
                             lode_database **out)
{
    struct tally *self = state;
    lode_error *error = self->report->error;
    self->file = lode_folder_only(folder);
    LODE_TRY(lode_input_open(&self->input, folder, self->file, error));
    uint64_t size = self->input.bytes.size;
    lode_import_limit(&self->import, size, size);
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    LODE_TRY(read_lines(self));
    self->import.title = self->file;
    return lode_import_finish(&self->import, out, FORMAT_NAME, self->file, size, error);
}

static uint64_t count_samples(const void *state)
{
    return ((const struct tally *)state)->lines;
}

static void close_reader(void *state)
{
    struct tally *self = state;
    lode_import_close(&self->import);
    lode_input_close(&self->input);
}

static const struct lode_import_form form = {
    .reader_size = sizeof(struct tally),
    .open = open_reader,
    .read = read_file,
    .samples = count_samples,
    .close = close_reader,
};

const struct lode_format lode_format_tally = {
    .name = FORMAT_NAME,
    .mark = "lines of names and counts (*.tally)",
    .is_file = true,
    .probe = probe,
    .import = &form,
    .rules = rules,
    .rule_count = TALLY_RULES,
};
