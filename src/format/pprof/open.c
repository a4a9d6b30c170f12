/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and checks profiles: the same reader, with a strict report or with one that goes on. */
#include "format/pprof/pprof.h"

#include "base/text/count.h"
#include "format/pprof/probe.h"
#include "format/pprof/read.h"
#include "model/database/database.h"
#include "model/import/store.h"
#include <inttypes.h>
#include <stdlib.h>

#define FORMAT_NAME "pprof"

static bool open_reader(void *state, struct lode_report *report)
{
    struct pprof_reader *reader = state;
    *reader = (struct pprof_reader){.report = report};
    lode_map_init(&reader->names);
    lode_map_init(&reader->carried_names);
    lode_map_init(&reader->mapping_of);
    lode_map_init(&reader->function_of);
    lode_map_init(&reader->location_of);
    lode_map_init(&reader->label_of);
    lode_map_init(&reader->led_to);
    lode_array_init(&reader->types, sizeof(struct pprof_value_type), LODE_IMPORT_METRICS);
    lode_array_init(&reader->comments, sizeof(int64_t), SIZE_MAX);
    lode_array_init(&reader->mappings, sizeof(struct pprof_mapping), PPROF_RECORDS_MOST);
    lode_array_init(&reader->functions, sizeof(struct pprof_function), PPROF_RECORDS_MOST);
    lode_array_init(&reader->locations, sizeof(struct pprof_location), PPROF_RECORDS_MOST);
    lode_array_init(&reader->frames, sizeof(uint32_t), PPROF_LINES_MOST);
    lode_array_init(&reader->lines, sizeof(struct pprof_line), SIZE_MAX);
    lode_array_init(&reader->codes, sizeof(struct binary_reply *), PPROF_BINARIES_MOST);
    lode_array_init(&reader->chain, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&reader->stack, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&reader->path, sizeof(struct pprof_taken), SIZE_MAX);
    lode_interner_init(&reader->labels, sizeof(struct pprof_label));
    lode_array_init(&reader->label_counts, sizeof(uint64_t), SIZE_MAX);
    return lode_import_open(&reader->import);
}

static void close_reader(void *state)
{
    struct pprof_reader *reader = state;
    struct lode_array *arrays[] = {&reader->types,     &reader->comments,    &reader->mappings,
                                   &reader->functions, &reader->locations,   &reader->frames,
                                   &reader->lines,     &reader->chain,       &reader->stack,
                                   &reader->path,      &reader->label_counts};
    lode_pprof_free_binaries(reader);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        lode_array_free(arrays[i]);
    lode_map_free(&reader->names);
    lode_map_free(&reader->carried_names);
    lode_map_free(&reader->mapping_of);
    lode_map_free(&reader->function_of);
    lode_map_free(&reader->location_of);
    lode_map_free(&reader->label_of);
    lode_map_free(&reader->led_to);
    lode_interner_free(&reader->labels);
    lode_import_close(&reader->import);
    lode_blob_free(&reader->unpacked);
    lode_input_close(&reader->source);
    free(reader->strings);
    free(reader->values);
}

static lode_status finish(struct pprof_reader *reader, lode_check_level level, lode_database **out)
{
    lode_error why = {0};
    LODE_TRY(lode_pprof_describe(reader));
    lode_status status =
        lode_import_finish(&reader->import, out, FORMAT_NAME, reader->file, reader->source.bytes.size, &why);
    if (status == LODE_ERR_LIMIT)
        return lode_bounded_too_many(&reader->bounds, "contexts times metrics", reader->import.most_cells,
                                     LODE_IMPORT_CELLS);
    if (status != LODE_OK)
        return lode_fail_memory(reader->report->error);
    if (reader->is_named)
        (*out)->usual_names = LODE_NAME_SIMPLE;
    if (level < LODE_CHECK_FULL || reader->import.inexact == 0)
        return LODE_OK;
    return lode_report_add(reader->report, PPROF_RULE_PRECISION, reader->file, LODE_NO_OFFSET,
                           "%s beyond 2^53", LODE_COUNTED(reader->import.inexact, "sum is", "sums are"));
}

/* LODE_END: after a finding that leaves nothing to read. */
static lode_status read_profile(void *state, const struct lode_folder *folder, lode_check_level level,
                                lode_database **out)
{
    struct pprof_reader *reader = state;
    LODE_TRY(lode_pprof_unpack(reader, folder));
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    LODE_TRY(lode_pprof_read_tables(reader));
    LODE_TRY(lode_pprof_check_lines(reader));
    LODE_TRY(lode_pprof_add_metrics(reader));
    LODE_TRY(lode_pprof_match_frames(reader));
    if (level == LODE_CHECK_FULL)
        LODE_TRY(lode_pprof_ask_binaries(reader, folder));
    LODE_TRY(lode_pprof_read_samples(reader));
    return finish(reader, level, out);
}

static uint64_t count_samples(const void *state)
{
    const struct pprof_reader *reader = state;
    return reader->samples;
}

static const struct lode_import_form form = {
    .reader_size = sizeof(struct pprof_reader),
    .open = open_reader,
    .read = read_profile,
    .samples = count_samples,
    .close = close_reader,
};

const struct lode_format lode_format_pprof = {
    .name = FORMAT_NAME,
    .mark = "pprof profile (.pb.gz)",
    .is_file = true,
    .probe = lode_pprof_probe,
    .explain = lode_pprof_explain,
    .import = &form,
    .rules = lode_pprof_rules,
    .rule_count = PPROF_RULE_COUNT,
};
