/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one profile: its nodes into the tree of the worker, values and samples into its spools. */
#include "base/io/bytes.h"
#include "format/hpcrun/read/placeholders.h"
#include "format/hpcrun/source/source.h"
#include <stdlib.h>

/* What is under way. */
struct reading {
    struct hpcrun_source *source;
    struct hpcrun_worker *worker;
    const struct hpcrun_entry *entry;
    uint32_t number; /* in the order of profiles */
    struct hpcrun_read *out;
    lode_error *error;
};

/* ---- what cannot be used ---- */

/* The rule that a strict reader names at the end of its text, which is cut off. */
static uint32_t take_rule(char *text)
{
    char *open = strrchr(text, '(');
    size_t length = open ? strlen(open) : 0;
    for (uint32_t i = 0; i < HPCRUN_RULE_COUNT && length > 2; i++) {
        const char *id = lode_hpcrun_rules[i].id;
        if (strlen(id) != length - 2 || memcmp(open + 1, id, length - 2) != 0)
            continue;
        open[open > text ? -1 : 0] = '\0';
        return i;
    }
    return HPCRUN_RULE_FOOTER;
}

static char *keep(struct lode_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Notes why a file is not used; an error if the caller wants no damage at all. */
static lode_status skip(const struct reading *self, bool is_trace, const char *file, const lode_error *why)
{
    struct hpcrun_worker *worker = self->worker;
    if (self->source->input->options->strict) {
        if (self->error)
            *self->error = *why;
        return LODE_ERR_CORRUPT;
    }
    struct hpcrun_skip *skip = lode_array_push(&worker->skips);
    LODE_TRY_ALLOC(skip, self->error);
    char *text = keep(&worker->raw.arena, why->text);
    *skip = (struct hpcrun_skip){.profile = is_trace ? LODE_NONE : self->number,
                                 .file = keep(&worker->raw.arena, file),
                                 .text = text,
                                 .offset = why->offset};
    LODE_TRY_ALLOC(text && skip->file, self->error);
    skip->rule = take_rule(text);
    return LODE_END;
}

/* Of what a strict reader returned: LODE_END if the file is skipped. */
static lode_status judge(const struct reading *self, lode_status status, bool is_trace, const char *file,
                         const lode_error *why)
{
    if (status == LODE_ERR_CORRUPT)
        return skip(self, is_trace, file, why);
    if (status != LODE_OK && self->error)
        *self->error = *why;
    return status;
}

/* ---- tables ---- */

/* Whether a table has the bytes of the last one; else it has them now. */
static bool is_known(struct lode_blob *known, struct lode_range bytes, lode_status *status, lode_error *error)
{
    if (known->size == bytes.size && bytes.size > 0 && memcmp(known->bytes, bytes.data, known->size) == 0)
        return true;
    known->size = 0;
    if (lode_blob_extend(known, (size_t)bytes.size) == LODE_BLOB_FULL)
        *status = lode_fail_memory(error);
    else if (bytes.size > 0)
        memcpy(known->bytes, bytes.data, (size_t)bytes.size);
    return false;
}

static bool make_room(uint32_t **numbers, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return true;
    free(*numbers);
    *numbers = calloc(wanted, sizeof **numbers);
    *room = *numbers ? wanted : 0;
    return *numbers != NULL;
}

/* A string of bytes without NUL: in a buffer that the caller frees. */
static const char *text_of(struct lode_blob *buffer, struct lode_range bytes)
{
    size_t at = lode_blob_reserve(buffer, (size_t)bytes.size + 1, 1);
    if (at == LODE_BLOB_FULL)
        return NULL;
    if (bytes.size > 0)
        memcpy(buffer->bytes + at, bytes.data, (size_t)bytes.size);
    return (const char *)buffer->bytes + at;
}

static lode_status read_modules(const struct reading *self)
{
    struct hpcrun_worker *worker = self->worker;
    const struct hpcrun_profile *profile = &worker->profile;
    lode_status status = LODE_OK;
    struct lode_blob buffer = {0};
    bool known = is_known(&worker->load_map, profile->sections[HPCRUN_LOAD_MAP], &status, self->error);
    LODE_TRY(status);
    if (known && worker->load_map_directory == self->entry->directory)
        return LODE_OK;
    worker->load_map_directory = self->entry->directory;
    LODE_TRY_ALLOC(make_room(&worker->modules, &worker->module_room, profile->modules.count + 1),
                   self->error);
    for (size_t i = 0; i < profile->modules.count && status == LODE_OK; i++) {
        buffer.size = 0;
        const char *path = text_of(&buffer, LODE_ARRAY_AT(&profile->modules, struct hpcrun_module, i)->path);
        uint32_t number =
            path ? lode_hpcrun_raw_module(&worker->raw, path, self->entry->directory) : LODE_NO_NUMBER;
        worker->modules[i + 1] = number;
        if (number == LODE_NO_NUMBER)
            status = lode_fail_memory(self->error);
    }
    lode_blob_free(&buffer);
    return status;
}

/* A formula with the names of metrics for their numbers; "0" if it names none. */
static bool put_formula(const struct hpcrun_profile *profile, struct lode_range from,
                        struct lode_blob *buffer, size_t *out)
{
    bool done = (*out = buffer->size, true);
    for (uint64_t i = 0; i < from.size && done;) {
        uint64_t number = 0, digits = 0;
        if (from.data[i] != '#') {
            size_t at = lode_blob_extend(buffer, 1);
            done = at != LODE_BLOB_FULL;
            if (done)
                buffer->bytes[at] = from.data[i];
            i++;
            continue;
        }
        for (i++; i < from.size && from.data[i] >= '0' && from.data[i] <= '9' && digits < 6; i++, digits++)
            number = number * 10 + (from.data[i] - '0');
        struct lode_range name = {0};
        if (digits > 0 && number < profile->metrics.count)
            name = LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, number)->name;
        size_t at = lode_blob_extend(buffer, (size_t)name.size + 2);
        done = at != LODE_BLOB_FULL;
        if (done) {
            buffer->bytes[at] = 1;
            if (name.size > 0)
                memcpy(buffer->bytes + at + 1, name.data, (size_t)name.size);
            buffer->bytes[at + 1 + name.size] = 2;
        }
    }
    return done && lode_blob_reserve(buffer, 1, 1) != LODE_BLOB_FULL;
}

static lode_status read_metric(const struct reading *self, size_t index)
{
    struct hpcrun_worker *worker = self->worker;
    const struct hpcrun_profile *profile = &worker->profile;
    const struct hpcrun_metric *from = LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, index);
    struct lode_blob buffer = {0};
    size_t formula = 0, description = (size_t)from->name.size + 1,
           format = description + (size_t)from->description.size + 1;
    bool done = text_of(&buffer, from->name) && text_of(&buffer, from->description) &&
                text_of(&buffer, from->format) && put_formula(profile, from->formula, &buffer, &formula);
    struct hpcrun_raw_metric metric = {
        .origin = {self->number, (uint32_t)index}, .show = from->flags.show, .percent = from->flags.percent};
    if (done) {
        metric.name = (const char *)buffer.bytes;
        metric.description = (const char *)buffer.bytes + description;
        metric.format = (const char *)buffer.bytes + format;
        metric.formula = (const char *)buffer.bytes + formula;
        worker->metrics[index] = lode_hpcrun_raw_metric(&worker->raw, &metric);
        done = worker->metrics[index] != LODE_NO_NUMBER;
    }
    lode_blob_free(&buffer);
    LODE_TRY_ALLOC(done, self->error);
    return LODE_OK;
}

/* The first profile that has a metric describes it: an earlier one may come later. */
static lode_status read_metrics(const struct reading *self)
{
    struct hpcrun_worker *worker = self->worker;
    size_t count = worker->profile.metrics.count;
    lode_status status = LODE_OK;
    bool known =
        is_known(&worker->metric_table, worker->profile.sections[HPCRUN_METRICS], &status, self->error);
    LODE_TRY(status);
    for (size_t i = 0; i < count && known; i++) {
        const struct hpcrun_raw_metric *metric =
            LODE_ARRAY_AT(&worker->raw.metrics, struct hpcrun_raw_metric, worker->metrics[i]);
        known = metric->origin.profile < self->number;
    }
    if (known)
        return LODE_OK;
    LODE_TRY_ALLOC(make_room(&worker->metrics, &worker->metric_room, count + 1), self->error);
    for (size_t i = 0; i < count; i++)
        LODE_TRY(read_metric(self, i));
    return LODE_OK;
}

static lode_status read_names(const struct reading *self)
{
    const struct hpcrun_profile *profile = &self->worker->profile;
    struct hpcrun_raw *raw = &self->worker->raw;
    struct lode_blob buffer = {0};
    const char *title = text_of(&buffer, profile->attributes[HPCRUN_PROGRAM_NAME]);
    bool done = title && lode_hpcrun_raw_title(raw, title, (struct hpcrun_origin){self->number, 0});
    for (size_t i = 0; i < profile->id_kinds.count && done; i++) {
        const struct hpcrun_id_kind *kind = LODE_ARRAY_AT(&profile->id_kinds, struct hpcrun_id_kind, i);
        buffer.size = 0;
        const char *name = text_of(&buffer, kind->name);
        done = name && (kind->kind >= HPCRUN_ID_KINDS_MOST ||
                        lode_hpcrun_raw_kind(raw, kind->kind, name, (struct hpcrun_origin){self->number, 0}));
    }
    lode_blob_free(&buffer);
    LODE_TRY_ALLOC(done, self->error);
    return LODE_OK;
}

/* ---- nodes ---- */

static uint32_t child(struct hpcrun_raw *raw, uint32_t parent, uint32_t kind, uint32_t module,
                      uint64_t offset)
{
    struct hpcrun_raw_frame frame = {offset, module, kind};
    uint32_t number = lode_interner_add(&raw->frames, &frame, NULL);
    return number == LODE_NO_NUMBER ? 0 : lode_content_tree_child(&raw->tree, parent, number);
}

/* Only entry points are at the top: others are below the unknown one. */
static uint32_t place_node(struct hpcrun_worker *worker, uint32_t parent, const struct hpcrun_Node *node)
{
    struct hpcrun_raw *raw = &worker->raw;
    bool is_placeholder = node->module == 0;
    bool is_unknown =
        is_placeholder && (node->offset == HPCRUN_PARTIAL || node->offset == HPCRUN_UNNORMALIZED);
    bool is_fence =
        is_placeholder && (node->offset == HPCRUN_MAIN_FENCE || node->offset == HPCRUN_THREAD_FENCE);
    if (parent == LODE_TREE_ROOT && !is_unknown && !is_fence)
        parent = child(raw, parent, HPCRUN_RAW_UNKNOWN, LODE_NO_NUMBER, 0);
    if (parent == LODE_TREE_ROOT && !is_unknown && !is_fence)
        return 0; /* out of memory */
    if (is_unknown)
        return child(raw, parent, HPCRUN_RAW_UNKNOWN, LODE_NO_NUMBER, 0);
    if (is_placeholder)
        return child(raw, parent, HPCRUN_RAW_PLACEHOLDER, LODE_NO_NUMBER, node->offset);
    return child(raw, parent, node->flags & HPCRUN_NODE_UNWOUND ? HPCRUN_RAW_POINT : HPCRUN_RAW_INFERRED,
                 worker->modules[node->module], node->offset);
}

static lode_status read_nodes(const struct reading *self)
{
    struct hpcrun_worker *worker = self->worker;
    const struct hpcrun_profile *profile = &worker->profile;
    uint32_t last_parent = 0, above = LODE_TREE_ROOT;
    LODE_TRY_ALLOC(make_room(&worker->nodes, &worker->node_room, (size_t)profile->node_count + 1),
                   self->error);
    for (uint64_t i = 0; i < profile->node_count; i++) {
        struct hpcrun_Node node = lode_hpcrun_node(profile, i);
        worker->nodes[i] = LODE_TREE_ROOT;
        if (node.parent == 0 || (node.module == 0 && node.offset == HPCRUN_NO_ACTIVITY))
            continue;
        if (node.parent != last_parent) {
            const uint32_t *parent = lode_map_get(&profile->node_of, node.parent);
            above = parent ? worker->nodes[*parent] : LODE_TREE_ROOT;
            last_parent = node.parent;
        }
        worker->nodes[i] = place_node(worker, above, &node);
        LODE_TRY_ALLOC(worker->nodes[i], self->error);
    }
    return LODE_OK;
}

/* ---- values and samples ---- */

static lode_status read_values(const struct reading *self)
{
    struct hpcrun_worker *worker = self->worker;
    const struct hpcrun_profile *profile = &worker->profile;
    self->out->rows_at = worker->rows.size;
    self->out->row_count = profile->value_count;
    for (uint32_t i = 0; i < profile->valued; i++) {
        struct hpcrun_Index entry = lode_hpcrun_index(profile, i);
        uint64_t end = lode_hpcrun_index(profile, i + 1).start;
        const uint32_t *number = lode_map_get(&profile->node_of, entry.node);
        for (uint64_t k = entry.start; k < end; k++) {
            struct hpcrun_Value value = lode_hpcrun_value(profile, k);
            const struct hpcrun_metric *metric =
                LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, value.metric);
            struct hpcrun_row row = {
                .value = lode_hpcrun_number(metric, value.bits) * (double)metric->flags.period,
                .node = number ? worker->nodes[*number] : LODE_TREE_ROOT,
                .metric = worker->metrics[value.metric] | (metric->flags.relation ? HPCRUN_ROW_CALL : 0)};
            LODE_TRY(lode_spool_write(&worker->rows, &row, sizeof row, self->error));
        }
    }
    return LODE_OK;
}

struct sample {
    uint64_t time, index;
    uint32_t node;
};

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* A pause right after a pause is dropped. */
static lode_status put_sample(const struct reading *self, uint64_t time, uint32_t node, bool *is_paused)
{
    struct hpcrun_worker *worker = self->worker;
    if (node == LODE_TREE_ROOT && *is_paused)
        return LODE_OK;
    *is_paused = node == LODE_TREE_ROOT;
    LODE_TRY(lode_spool_reserve(&worker->samples, HPCRUN_SAMPLE_SIZE, self->error));
    unsigned char *at = worker->samples.buffer + worker->samples.used;
    memcpy(at, &time, sizeof time);
    memcpy(at + sizeof time, &node, sizeof node);
    worker->samples.used += HPCRUN_SAMPLE_SIZE;
    worker->samples.size += HPCRUN_SAMPLE_SIZE;
    self->out->sample_count++;
    return LODE_OK;
}

static lode_status sort_samples(const struct reading *self, const struct hpcrun_trace *trace)
{
    struct lode_array *sorted = &self->worker->sorted;
    sorted->count = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        struct hpcrun_TraceRecord record;
        lode_hpcrun_read_TraceRecord(&record, trace->records.data + i * HPCRUN_TraceRecord_SIZE);
        struct sample *sample = lode_array_push(sorted);
        LODE_TRY_ALLOC(sample, self->error);
        *sample = (struct sample){record.time, i, record.node};
    }
    qsort(sorted->items, sorted->count, sizeof(struct sample), compare_samples);
    return LODE_OK;
}

static bool is_sorted(const struct hpcrun_trace *trace)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t time = get_u64be(trace->records.data + i * HPCRUN_TraceRecord_SIZE);
        if (time < last)
            return false;
        last = time;
    }
    return true;
}

/* The node of a record; LODE_NO_NUMBER: the profile has none, or not the calls that led to it. */
static uint32_t sampled_node(const struct hpcrun_worker *worker, uint32_t id)
{
    const uint32_t *number = lode_map_get(&worker->profile.node_of, id);
    uint32_t node = number ? worker->nodes[*number] : LODE_NO_NUMBER;
    if (node == LODE_NO_NUMBER || node == LODE_TREE_ROOT)
        return node;
    uint32_t frame = lode_tree_node(&worker->raw.tree, node)->frame;
    return lode_hpcrun_raw_frame(&worker->raw, frame)->kind == HPCRUN_RAW_INFERRED ? LODE_NO_NUMBER : node;
}

/* Records without a node are dropped. */
static lode_status put_samples(const struct reading *self, const struct hpcrun_trace *trace)
{
    struct hpcrun_worker *worker = self->worker;
    bool in_order = is_sorted(trace), is_paused = false;
    uint32_t last = 0, node = LODE_TREE_ROOT;
    if (!in_order)
        LODE_TRY(sort_samples(self, trace));
    for (uint64_t i = 0; i < trace->count; i++) {
        struct hpcrun_TraceRecord record;
        lode_hpcrun_read_TraceRecord(&record, trace->records.data + i * HPCRUN_TraceRecord_SIZE);
        if (!in_order) {
            const struct sample *sample = LODE_ARRAY_AT(&worker->sorted, struct sample, i);
            record = (struct hpcrun_TraceRecord){sample->time, sample->node};
        }
        if (record.node != last || i == 0) {
            node = sampled_node(worker, record.node);
            last = record.node;
        }
        if (node == LODE_NO_NUMBER)
            continue;
        worker->first = record.time < worker->first ? record.time : worker->first;
        worker->last = record.time > worker->last ? record.time : worker->last;
        LODE_TRY(put_sample(self, record.time, node, &is_paused));
    }
    worker->records += trace->count;
    return LODE_OK;
}

static lode_status read_trace(const struct reading *self)
{
    const struct hpcrun_entry *entry = self->entry;
    const char *name = entry->trace;
    struct lode_input file;
    struct hpcrun_trace trace;
    struct lode_report report;
    lode_error why = {0};
    if (*name == '\0')
        return LODE_OK;
    lode_report_strict(&report, lode_hpcrun_rules, &why);
    lode_status status =
        lode_input_open(&file, &hpcrun_directory(self->source, entry->directory)->folder, name, self->error);
    if (status == LODE_OK) {
        /* Nodes are looked up once, when samples are put. */
        status = lode_hpcrun_read_trace(&trace, NULL, name, file.bytes, LODE_CHECK_STRUCTURE, &report);
        status = judge(self, status, true, name, &why);
        self->out->is_call_trace = status == LODE_OK && (trace.flags & HPCRUN_TRACE_CALLS);
        if (status == LODE_OK)
            status = put_samples(self, &trace);
    }
    lode_input_close(&file);
    return status == LODE_END || status == LODE_ABSENT ? LODE_OK : status;
}

/* ---- programs ---- */

/* By the last part of the path. */
static bool is_wanted(const struct reading *self)
{
    const lode_build_options *options = self->source->input->options;
    struct lode_range name = self->worker->profile.attributes[HPCRUN_PROGRAM_NAME];
    const uint8_t *slash = name.data ? memrchr(name.data, '/', (size_t)name.size) : NULL;
    if (slash)
        name = (struct lode_range){slash + 1, (uint64_t)(name.data + name.size - slash) - 1};
    for (size_t i = 0; i < options->program_count; i++) {
        const char *last = strrchr(options->programs[i], '/'),
                   *wanted = last ? last + 1 : options->programs[i];
        if (name.data && strlen(wanted) == name.size && memcmp(wanted, name.data, (size_t)name.size) == 0)
            return true;
    }
    return options->program_count == 0;
}

static lode_status leave_out(const struct reading *self)
{
    struct hpcrun_skip *skip = lode_array_push(&self->worker->skips);
    LODE_TRY_ALLOC(skip, self->error);
    *skip = (struct hpcrun_skip){
        .profile = self->number, .rule = HPCRUN_NOT_WANTED, .file = self->entry->name, .text = ""};
    return LODE_END;
}

/* ---- all of it ---- */

/* Kinds of ids have few numbers; the file may have changed since its ids were read. */
static lode_status check_ids(const struct reading *self)
{
    const struct lode_array *ids = &self->worker->profile.ids;
    lode_error why = {0};
    bool is_same = ids->count == self->entry->id_count;
    for (size_t i = 0; i < ids->count && is_same; i++) {
        const struct hpcrun_Id *id = LODE_ARRAY_AT(ids, struct hpcrun_Id, i), *was = &self->entry->raw_ids[i];
        is_same = id->kind == was->kind && id->physical == was->physical && id->logical == was->logical &&
                  (id->kind & HPCRUN_ID_KIND) < HPCRUN_ID_KINDS_MOST;
    }
    if (is_same)
        return LODE_OK;
    lode_describe(&why, LODE_ERR_CORRUPT, self->entry->name, LODE_NO_OFFSET,
                  "its ids have kinds of %d and more, or they changed (hpcrun-id-kind)",
                  HPCRUN_ID_KINDS_MOST);
    return skip(self, false, self->entry->name, &why);
}

static lode_status read_profile(const struct reading *self, struct lode_range bytes)
{
    struct lode_report report;
    lode_error why = {0};
    lode_report_strict(&report, lode_hpcrun_rules, &why);
    lode_status status =
        lode_hpcrun_read(&self->worker->profile, self->entry->name, bytes, LODE_CHECK_STRUCTURE, &report);
    LODE_TRY(judge(self, status, false, self->entry->name, &why));
    if (!is_wanted(self))
        return leave_out(self);
    LODE_TRY(check_ids(self));
    LODE_TRY(read_modules(self));
    LODE_TRY(read_metrics(self));
    LODE_TRY(read_names(self));
    LODE_TRY(read_nodes(self));
    LODE_TRY(read_values(self));
    self->out->samples_at = self->worker->samples.size;
    if (self->entry->trace_bytes == 0 || self->source->input->options->trace == LODE_TRACE_NONE)
        return LODE_OK;
    return read_trace(self);
}

lode_status lode_hpcrun_read_item(struct hpcrun_source *source, struct hpcrun_worker *worker, uint32_t item,
                                  lode_error *error)
{
    struct reading self = {.source = source,
                           .worker = worker,
                           .entry = &source->entries[source->first + item],
                           .number = source->first + item,
                           .out = &source->reads[item],
                           .error = error};
    struct lode_input file;
    self.out->worker = (unsigned)(worker - source->workers);
    lode_status status = lode_input_open(&file, &hpcrun_directory(source, self.entry->directory)->folder,
                                         self.entry->name, error);
    if (status == LODE_OK) {
        lode_hpcrun_init(&worker->profile);
        status = read_profile(&self, file.bytes);
        lode_hpcrun_free(&worker->profile);
    } else if (status == LODE_ABSENT) {
        lode_error why = {0};
        lode_describe(&why, LODE_ERR_CORRUPT, self.entry->name, LODE_NO_OFFSET, "the file is gone");
        status = skip(&self, false, self.entry->name, &why);
    }
    lode_input_close(&file);
    return status == LODE_END ? LODE_OK : status;
}
