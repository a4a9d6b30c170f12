/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hatchet literals: nested lists of nodes in JSON, with own and inclusive cost. Its reader calls
 * itself for each level, and the JSON of Python ends at 499 nested nodes: stacks are cut at 450.
 */
#include "export/formats.h"
#include "export/json.h"
#include "export/stacks/stacks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEEPEST = 450
};

struct hatchet {
    struct lode_stacks stacks;
    struct lode_export_file *file;
    struct lode_wire text;
    int64_t *sums;    /* inclusive, by position */
    uint32_t open;    /* nodes whose children are being written */
    bool has_sibling; /* a node of the same list precedes */
};

static lode_status write_text(struct hatchet *h, const char *text, lode_error *error)
{
    h->text.count = 0;
    json_string(&h->text, text);
    LODE_TRY_ALLOC(!h->text.failed, error);
    return lode_export_write(h->file, h->text.bytes, h->text.count, error);
}

/* Times are in seconds and called "time": that is what Hatchet looks for. */
static bool is_time(const struct lode_stack_metric *metric)
{
    return strcmp(metric->unit, "nanoseconds") == 0;
}

static lode_status write_value(struct hatchet *h, size_t metric, const char *more, int64_t value,
                               lode_error *error)
{
    const struct lode_stack_metric *m = &h->stacks.metrics[metric];
    const char *name = metric == 0 && is_time(m) ? "time" : m->name;
    uint64_t amount = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char key[sizeof m->name + 8];
    snprintf(key, sizeof key, "%s%s", name, more);
    LODE_TRY(write_text(h, key, error));
    LODE_TRY(lode_export_print(h->file, error, ": "));
    if (is_time(m))
        return lode_export_print(h->file, error, "%s%llu.%09llu", value < 0 ? "-" : "",
                                 (unsigned long long)(amount / 1000000000),
                                 (unsigned long long)(amount % 1000000000));
    return lode_export_print(h->file, error, "%lld", (long long)value);
}

static lode_status write_values(struct hatchet *h, uint32_t position, lode_error *error)
{
    size_t metrics = h->stacks.metric_count;
    LODE_TRY(lode_export_print(h->file, error, ", \"metrics\": {"));
    for (size_t i = 0; i < metrics; i++) {
        if (i > 0)
            LODE_TRY(lode_export_print(h->file, error, ", "));
        LODE_TRY(write_value(h, i, "", h->stacks.values[position * metrics + i], error));
        LODE_TRY(lode_export_print(h->file, error, ", "));
        LODE_TRY(write_value(h, i, " (inc)", h->sums[position * metrics + i], error));
    }
    return lode_export_print(h->file, error, "}");
}

static lode_status write_node(struct hatchet *h, uint32_t position, lode_error *error)
{
    const struct lode_position *at = &h->stacks.positions[position];
    struct lode_export_frame frame = {.name = "<no stack>", .file = ""};
    if (position > 0)
        frame = lode_export_frames_at(&h->stacks.frames, at->frame);
    LODE_TRY(lode_export_print(h->file, error, "%s{\"frame\": {\"name\": ", h->has_sibling ? ",\n" : ""));
    h->has_sibling = false;
    LODE_TRY(write_text(h, frame.name, error));
    LODE_TRY(lode_export_print(h->file, error, ", \"type\": \"function\""));
    if (frame.file[0]) {
        LODE_TRY(lode_export_print(h->file, error, ", \"file\": "));
        LODE_TRY(write_text(h, frame.file, error));
        LODE_TRY(lode_export_print(h->file, error, ", \"line\": %lu", (unsigned long)frame.line));
    }
    LODE_TRY(lode_export_print(h->file, error, "}"));
    LODE_TRY(write_values(h, position, error));
    return lode_export_print(h->file, error, ", \"children\": [");
}

/* Closes nodes down to a depth. */
static lode_status close_nodes(struct hatchet *h, uint32_t depth, lode_error *error)
{
    for (; h->open > depth; h->open--) {
        LODE_TRY(lode_export_print(h->file, error, "]}"));
        h->has_sibling = true;
    }
    return LODE_OK;
}

static bool has_cost(const struct hatchet *h, uint32_t position)
{
    size_t metrics = h->stacks.metric_count;
    for (size_t i = 0; i < metrics; i++)
        if (h->sums[position * metrics + i] != 0)
            return true;
    return false;
}

/* What has no stack is a root of its own, without the others below it. */
static lode_status write_rootless(struct hatchet *h, lode_error *error)
{
    if (!lode_stacks_has_value(&h->stacks, 0))
        return LODE_OK;
    memcpy(h->sums, h->stacks.values, h->stacks.metric_count * sizeof *h->sums);
    LODE_TRY(write_node(h, 0, error));
    h->open = 1;
    return close_nodes(h, 0, error);
}

static lode_status write_tree(struct hatchet *h, lode_error *error)
{
    LODE_TRY(write_rootless(h, error));
    for (uint32_t i = 1; i < h->stacks.count; i++) {
        const struct lode_position *at = &h->stacks.positions[i];
        if (!has_cost(h, i) && at->end == i + 1)
            continue;
        LODE_TRY(close_nodes(h, at->depth - 1, error));
        LODE_TRY(write_node(h, i, error));
        h->open = at->depth;
    }
    return close_nodes(h, 0, error);
}

static lode_status write_all(struct hatchet *h, lode_error *error)
{
    lode_status status;
    LODE_TRY(lode_export_print(h->file, error, "["));
    while ((status = lode_stacks_next(&h->stacks, error)) == LODE_OK) {
        free(h->sums);
        h->sums = lode_stacks_inclusive(&h->stacks);
        LODE_TRY_ALLOC(h->sums, error);
        LODE_TRY(write_tree(h, error));
    }
    if (status != LODE_END)
        return status;
    LODE_TRY(lode_export_print(h->file, error, "]\n"));
    return lode_stacks_report(&h->stacks, error);
}

static lode_status run_hatchet(struct lode_export *job, lode_error *error)
{
    static const struct lode_stack_form form = {.depth = DEEPEST};
    struct hatchet h = {.file = job->file};
    lode_status status = lode_stacks_open(&h.stacks, job, &form, error);
    if (status == LODE_OK)
        status = write_all(&h, error);
    lode_stacks_close(&h.stacks);
    free(h.sums);
    wire_free(&h.text);
    return status;
}

const struct lode_export_format lode_export_hatchet = {
    .name = "hatchet",
    .description = "Hatchet literals (JSON): GraphFrame.from_literal of Hatchet and Thicket",
    .suffix = ".hatchet.json",
    .names = "*.hatchet.json",
    .loses = "profiles, which are added up; lines; levels below 450",
    .holds = LODE_EXPORT_STACKS,
    .usual = LODE_COMPRESSION_NONE,
    .run = run_hatchet,
};
