/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds overlaps in a file. */
#include "base/compare.h"
#include "format/hpctoolkit/check/check.h"
#include <inttypes.h>
#include <stdlib.h>

struct extent {
    uint64_t start, end;
    uint64_t index; /* of the object that it is a piece of */
};

struct extents {
    struct hpct_check *check;
    enum hpct_file_id file;
    unsigned rule;
    const char *what;
    uint64_t count; /* of extents */
    unsigned pieces;
    hpct_extent_fn extent;
};

LODE_COMPARE_BY_2(compare_extents, struct extent, start, index);

static lode_status against_sections(const struct extents *extents, const struct extent *extent)
{
    const struct hpct_file_spec *spec = &lode_hpct_specs[extents->file];
    if (extent->start < WIRE_FileHeader_SIZE + (uint64_t)spec->section_count * WIRE_Section_SIZE)
        return lode_report_add(&extents->check->report, extents->rule, spec->name, extent->start,
                               "%s %" PRIu64 " (0x%" PRIx64 " to 0x%" PRIx64 ") overlaps the header",
                               extents->what, extent->index, extent->start, extent->end);
    for (unsigned i = 0; i < spec->section_count; i++) {
        const struct hpct_section *section = &extents->check->db->files[extents->file].sections[i];
        if (section->bytes.size && extent->start < section->offset + section->bytes.size &&
            section->offset < extent->end)
            return lode_report_add(&extents->check->report, extents->rule, spec->name, extent->start,
                                   "%s %" PRIu64 " (0x%" PRIx64 " to 0x%" PRIx64 ") overlaps section %s",
                                   extents->what, extent->index, extent->start, extent->end,
                                   spec->sections[i].name);
    }
    return LODE_OK;
}

/* One pass without extra memory, which suffices if objects are in the order of their indices. */
static lode_status scan_extents(const struct extents *extents, bool *in_order)
{
    uint64_t last = 0;
    *in_order = true;
    for (uint64_t i = 0; i < extents->count; i++) {
        struct extent extent = {.index = i / extents->pieces};
        if (!extents->extent(extents->check->db, i, &extent.start, &extent.end))
            continue;
        LODE_TRY(against_sections(extents, &extent));
        *in_order = *in_order && extent.start >= last;
        last = extent.end;
    }
    return LODE_OK;
}

static lode_status report_overlaps(const struct extents *extents, struct extent *sorted, size_t count)
{
    qsort(sorted, count, sizeof *sorted, compare_extents);
    for (size_t i = 1; i < count; i++) {
        const struct extent *a = &sorted[i - 1], *b = &sorted[i];
        if (b->start < a->end)
            LODE_TRY(lode_report_add(
                &extents->check->report, extents->rule, lode_hpct_specs[extents->file].name, b->start,
                "%s %" PRIu64 " (0x%" PRIx64 " to 0x%" PRIx64 ") overlaps %s %" PRIu64 " (0x%" PRIx64
                " to 0x%" PRIx64 ")",
                extents->what, b->index, b->start, b->end, extents->what, a->index, a->start, a->end));
    }
    return LODE_OK;
}

static lode_status sort_extents(const struct extents *extents)
{
    struct extent *sorted = calloc((size_t)extents->count, sizeof *sorted);
    LODE_TRY_ALLOC(sorted, extents->check->report.error);
    size_t count = 0;
    for (uint64_t i = 0; i < extents->count; i++) {
        sorted[count].index = i / extents->pieces;
        count += extents->extent(extents->check->db, i, &sorted[count].start, &sorted[count].end);
    }
    lode_status status = report_overlaps(extents, sorted, count);
    free(sorted);
    return status;
}

lode_status lode_hpct_check_extents(struct hpct_check *check, enum hpct_file_id file, unsigned rule,
                                    const char *what, uint64_t count, unsigned pieces, hpct_extent_fn extent)
{
    struct extents extents = {check, file, rule, what, count * pieces, pieces, extent};
    bool in_order;
    LODE_TRY(scan_extents(&extents, &in_order));
    return in_order ? LODE_OK : sort_extents(&extents);
}
