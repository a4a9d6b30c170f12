/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes what there is: kinds of ids, metrics and profiles on all ranks, contexts on rank 0. */
#include "format/hpcrun/read/taxonomy.h"
#include "format/hpcrun/source/source.h"
#include "format/hpcrun/source/source_files.h"
#include "model/database/description.h"
#include <lode/context.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- kinds and profiles ---- */

static lode_status describe_kinds(struct hpcrun_source *source, lode_error *error)
{
    unsigned count = 1;
    for (unsigned i = 0; i < HPCRUN_ID_KINDS_MOST; i++)
        count = source->raw.kinds[i].name ? i + 1 : count;
    for (uint32_t i = 0; i < source->entry_count; i++)
        for (uint32_t k = 0; k < source->entries[i].id_count; k++)
            if (source->entries[i].ids[k].kind >= count)
                count = source->entries[i].ids[k].kind + 1;
    for (unsigned i = 0; i < count; i++) {
        char unnamed[32];
        snprintf(unnamed, sizeof unnamed, "KIND %u", i);
        const char *name = source->raw.kinds[i].name;
        LODE_TRY(lode_description_add_id_kind(source->about, name ? name : unnamed, NULL, error));
    }
    return LODE_OK;
}

/* How many hosts and MPI ranks there are, by the names of their kinds. */
static lode_status count_ids(const struct hpcrun_source *source, const char *kind, uint64_t *out,
                             lode_error *error)
{
    struct lode_map found;
    bool done = true;
    lode_map_init(&found);
    for (uint32_t i = 0; i < source->entry_count && done; i++)
        for (uint32_t k = 0; k < source->entries[i].id_count && done; k++) {
            const lode_id *id = &source->entries[i].ids[k];
            const char *name = source->raw.kinds[id->kind].name;
            if (name && strcmp(name, kind) == 0)
                done = lode_map_add(&found, id->physical, 0, NULL) != NULL;
        }
    *out = found.count;
    lode_map_free(&found);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

static lode_status describe_profiles(struct hpcrun_source *source, lode_error *error)
{
    struct lode_description *about = source->about;
    about->profiles =
        lode_arena_alloc(&about->arena, (size_t)source->entry_count + 1, sizeof *about->profiles);
    LODE_TRY_ALLOC(about->profiles, error);
    for (uint32_t i = 0; i < source->entry_count; i++)
        about->profiles[i] = (struct lode_id_tuple){source->entries[i].ids, source->entries[i].id_count};
    about->profile_count = about->line_count = source->entry_count;
    uint64_t bounds[2] = {UINT64_MAX, UINT64_MAX};
    for (unsigned i = 0; i < source->threads; i++) {
        const struct hpcrun_worker *worker = &source->workers[i];
        bounds[0] = worker->first < bounds[0] ? worker->first : bounds[0];
        bounds[1] = ~worker->last < bounds[1] ? ~worker->last : bounds[1];
    }
    LODE_TRY(lode_comm_allreduce(source->comm, bounds, 2, LODE_COMM_MIN, error));
    about->trace_min = bounds[0];
    about->trace_max = ~bounds[1];
    source->base.counts.profiles = source->entry_count;
    source->base.counts.metrics = source->metric_count;
    LODE_TRY(count_ids(source, "NODE", &source->base.counts.nodes, error));
    return count_ids(source, "RANK", &source->base.counts.ranks, error);
}

/* ---- metrics ---- */

enum {
    SHOW_INCLUSIVE = 2,
    SHOW_EXCLUSIVE = 3,
    SHOW_NEVER = 4
};

static bool has_scope(const struct hpcrun_raw_metric *metric, enum hpcrun_scope scope)
{
    if (metric->show == SHOW_INCLUSIVE)
        return scope == HPCRUN_SCOPE_POINT || scope == HPCRUN_SCOPE_EXECUTION;
    return metric->show != SHOW_EXCLUSIVE || scope != HPCRUN_SCOPE_EXECUTION;
}

/* What statistics are computed from. */
static const struct partial {
    const char *formula;
    int combine;
    unsigned needed_by; /* statistics */
} partials[] = {
    {"1", LODE_COMBINE_SUM, LODE_STATISTIC_MEAN | LODE_STATISTIC_STDDEV | LODE_STATISTIC_CFVAR},
    {"$$", LODE_COMBINE_SUM, ~0u},
    {"($$^2)", LODE_COMBINE_SUM, LODE_STATISTIC_STDDEV | LODE_STATISTIC_CFVAR},
    {"$$", LODE_COMBINE_MIN, LODE_STATISTIC_MIN},
    {"$$", LODE_COMBINE_MAX, LODE_STATISTIC_MAX},
};

static lode_status describe_metric(struct hpcrun_source *source, const struct hpcrun_raw_metric *metric,
                                   const uint32_t *scopes, struct hpcrun_value_ids *out, lode_error *error)
{
    unsigned statistics =
        metric->show == SHOW_NEVER ? LODE_STATISTIC_SUM : hpcrun_statistics(source->input->options);
    uint32_t number;
    LODE_TRY(lode_description_add_metric(source->about, metric->name, &number, error));
    for (unsigned i = 0; i < HPCRUN_SCOPES; i++) {
        uint16_t id;
        out->ids[i] = LODE_NONE;
        if (!has_scope(metric, (enum hpcrun_scope)i))
            continue;
        LODE_TRY(lode_description_add_metric_scope(source->about, number, scopes[i], &id, error));
        out->ids[i] = id;
    }
    for (unsigned i = 0; i < HPCRUN_SCOPES; i++)
        for (size_t k = 0; k < sizeof partials / sizeof *partials; k++)
            if (out->ids[i] != LODE_NONE && (partials[k].needed_by & statistics))
                LODE_TRY(lode_description_add_statistic(source->about, number, scopes[i], partials[k].formula,
                                                        partials[k].combine, error));
    return LODE_OK;
}

/* As in the table of the profile that has it first, then by name; measured ones before others. */
static int compare_metrics(const void *left, const void *right, void *argument)
{
    const struct hpcrun_raw *raw = argument;
    const struct hpcrun_raw_metric *a =
        LODE_ARRAY_AT(&raw->metrics, struct hpcrun_raw_metric, *(const uint32_t *)left);
    const struct hpcrun_raw_metric *b =
        LODE_ARRAY_AT(&raw->metrics, struct hpcrun_raw_metric, *(const uint32_t *)right);
    if (a->origin.position != b->origin.position)
        return a->origin.position < b->origin.position ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->formula[0] != '\0') - (b->formula[0] != '\0');
}

static void note_kernel_metric(struct hpcrun_source *source, const char *name)
{
    static const char *const names[HPCRUN_KERNEL_METRICS] = {[HPCRUN_LAUNCHES] = "GKER:COUNT",
                                                             [HPCRUN_SAMPLED_LAUNCHES] = "GKER:SAMPLED_COUNT",
                                                             [HPCRUN_INSTRUCTIONS] = "GINS"};
    for (unsigned i = 0; i < HPCRUN_KERNEL_METRICS; i++)
        if (strcmp(name, names[i]) == 0)
            source->kernel_metrics[i] = source->metric_count;
}

/* `numbers` is by metric of the rank. */
static lode_status describe_sorted(struct hpcrun_source *source, const uint32_t *sorted, uint32_t *numbers,
                                   lode_error *error)
{
    static const struct {
        const char *name;
        int type;
    } scopes[HPCRUN_SCOPES] = {[HPCRUN_SCOPE_POINT] = {"point", LODE_SCOPE_POINT},
                               [HPCRUN_SCOPE_FUNCTION] = {"function", LODE_SCOPE_TRANSITIVE},
                               [HPCRUN_SCOPE_LEXICAL] = {"lex_aware", LODE_SCOPE_CUSTOM},
                               [HPCRUN_SCOPE_EXECUTION] = {"execution", LODE_SCOPE_EXECUTION}};
    const struct hpcrun_raw *raw = &source->raw;
    uint32_t scope_numbers[HPCRUN_SCOPES];
    for (unsigned i = 0; i < HPCRUN_SCOPES; i++)
        LODE_TRY(lode_description_add_scope(source->about, scopes[i].name, scopes[i].type, 0,
                                            &scope_numbers[i], error));
    source->value_ids = calloc(raw->metrics.count + 1, sizeof *source->value_ids);
    LODE_TRY_ALLOC(source->value_ids, error);
    for (unsigned i = 0; i < HPCRUN_KERNEL_METRICS; i++)
        source->kernel_metrics[i] = LODE_NONE;
    for (uint32_t i = 0; i < raw->metrics.count; i++) {
        const struct hpcrun_raw_metric *metric =
            LODE_ARRAY_AT(&raw->metrics, struct hpcrun_raw_metric, sorted[i]);
        numbers[sorted[i]] = LODE_NONE;
        if (metric->formula[0])
            continue;
        numbers[sorted[i]] = source->metric_count;
        note_kernel_metric(source, metric->name);
        LODE_TRY(describe_metric(source, metric, scope_numbers, &source->value_ids[source->metric_count++],
                                 error));
    }
    return source->comm->place.rank > 0 ? LODE_OK : lode_hpcrun_taxonomy(source, sorted, error);
}

static lode_status describe_metrics(struct hpcrun_source *source, lode_error *error)
{
    const struct hpcrun_raw *raw = &source->raw;
    uint32_t count = (uint32_t)raw->metrics.count;
    uint32_t *sorted = calloc((size_t)count + 1, sizeof *sorted);
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    lode_status status = sorted && numbers ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        sorted[i] = i;
    if (status == LODE_OK && count > 1)
        qsort_r(sorted, count, sizeof *sorted, compare_metrics, &source->raw);
    if (status == LODE_OK)
        status = describe_sorted(source, sorted, numbers, error);
    for (unsigned w = 0; w < source->threads && status == LODE_OK; w++)
        for (uint32_t i = 0; i < source->metric_counts[w]; i++)
            source->metrics[w][i] = numbers[source->metrics[w][i]];
    free(sorted);
    free(numbers);
    return status;
}

lode_status lode_hpcrun_describe_facts(struct hpcrun_source *source, lode_error *error)
{
    const char *title = source->input->options->title;
    title = title ? title : source->raw.title ? source->raw.title : "";
    char *copy = lode_arena_alloc(&source->about->arena, strlen(title) + 1, 1);
    LODE_TRY_ALLOC(copy, error);
    source->about->title = title[0] ? memcpy(copy, title, strlen(title) + 1) : NULL;
    source->about->folds_squares = source->input->options->like_hpcprof;
    LODE_TRY(describe_kinds(source, error));
    LODE_TRY(describe_metrics(source, error));
    return describe_profiles(source, error);
}

/* ---- contexts ---- */

/* Numbers of what is described, by number of questions, strings and functions; else LODE_NONE. */
struct naming {
    struct lode_description *about;
    const struct hpcrun_scopes *scopes;
    uint32_t *modules, *other_modules, *files, *functions;
    struct hpcrun_source_files *sources;
};

static lode_status name_module(struct naming *self, uint32_t question, uint32_t *out, lode_error *error)
{
    *out = LODE_NONE;
    if (question == LODE_NO_NUMBER)
        return LODE_OK;
    uint32_t *number = &self->modules[question];
    if (*number == LODE_NONE) {
        const char *path = LODE_ARRAY_AT(&self->scopes->questions, struct hpcrun_question, question)->path;
        LODE_TRY(lode_description_add_module(self->about, path, number, error));
    }
    *out = *number;
    return LODE_OK;
}

static lode_status name_other(struct naming *self, uint32_t string, uint32_t *out, lode_error *error)
{
    uint32_t *number = &self->other_modules[string];
    if (*number == LODE_NONE)
        LODE_TRY(lode_description_add_module(self->about, lode_strings_at(&self->scopes->strings, string),
                                             number, error));
    *out = *number;
    return LODE_OK;
}

static lode_status name_file(struct naming *self, uint32_t string, uint32_t *out, lode_error *error)
{
    *out = LODE_NONE;
    if (string == LODE_NO_NUMBER)
        return LODE_OK;
    uint32_t *number = &self->files[string];
    if (*number == LODE_NONE) {
        const char *path = lode_strings_at(&self->scopes->strings, string);
        char copy[PATH_MAX], source[PATH_MAX];
        bool is_copied = lode_hpcrun_find_source_file(self->sources, path, copy, source);
        LODE_TRY(lode_description_add_file(self->about, is_copied ? copy : path, is_copied,
                                           is_copied ? source : NULL, number, error));
    }
    *out = *number;
    return LODE_OK;
}

static lode_status name_function(struct naming *self, uint32_t function, lode_error *error)
{
    const struct hpcrun_function *from =
        LODE_ARRAY_AT(&self->scopes->functions, struct hpcrun_function, function);
    lode_writer_function wanted = {.name = lode_strings_at(&self->scopes->strings, from->name),
                                   .line = from->line,
                                   .offset = from->address};
    LODE_TRY(from->module == LODE_NO_NUMBER ? name_module(self, from->question, &wanted.module, error)
                                            : name_other(self, from->module, &wanted.module, error));
    LODE_TRY(name_file(self, from->file, &wanted.file, error));
    return lode_description_add_function(self->about, &wanted, &self->functions[function], error);
}

static const struct lode_frame *frame_of(const struct hpcrun_scopes *scopes,
                                         const struct lode_content_tree *tree, uint32_t node)
{
    return LODE_ARRAY_AT(&scopes->frames.items, struct lode_frame, lode_tree_node(tree, node)->frame);
}

static int compare_functions(const void *left, const void *right, void *argument)
{
    const struct hpcrun_function *functions = argument, *a = &functions[*(const uint32_t *)left],
                                 *b = &functions[*(const uint32_t *)right];
    if (a->question != b->question)
        return a->question < b->question ? -1 : 1;
    if (a->answer != b->answer)
        return a->answer < b->answer ? -1 : 1;
    return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* Only modules and functions that contexts use; functions of equal content keep this order. */
static lode_status name_all(struct naming *self, const struct lode_content_tree *tree, uint32_t *sorted,
                            lode_error *error)
{
    const struct hpcrun_scopes *scopes = self->scopes;
    uint32_t count = (uint32_t)scopes->functions.count, module;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct lode_frame *frame = frame_of(scopes, tree, i);
        if (frame->function != LODE_NO_NUMBER)
            self->functions[frame->function] = 0;
        if (frame->module != LODE_NO_NUMBER)
            self->modules[frame->module] = 0;
    }
    for (uint32_t i = 0; i < scopes->questions.count; i++) {
        bool is_used = self->modules[i] != LODE_NONE;
        self->modules[i] = LODE_NONE;
        if (is_used)
            LODE_TRY(name_module(self, i, &module, error));
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    if (count > 1)
        qsort_r(sorted, count, sizeof *sorted, compare_functions, scopes->functions.items);
    for (uint32_t i = 0; i < count; i++)
        if (self->functions[sorted[i]] != LODE_NONE)
            LODE_TRY(name_function(self, sorted[i], error));
    return LODE_OK;
}

static lode_status describe_context(struct naming *self, const struct lode_frame *frame, uint32_t parent,
                                    uint32_t *out, lode_error *error)
{
    static const char *const entries[] = {[LODE_ENTRY_UNKNOWN] = "unknown entry",
                                          [LODE_ENTRY_MAIN_THREAD] = "main thread",
                                          [LODE_ENTRY_APPLICATION_THREAD] = "application thread"};
    lode_writer_context context = LODE_WRITER_CONTEXT_INIT;
    context.parent = parent;
    if (frame->kind == LODE_LEXICAL_ENTRY) {
        context.entry = frame->entry;
        const char *name = lode_strings_at(&self->scopes->strings, frame->file);
        context.entry_name = name ? name : entries[frame->entry];
        return lode_description_add_context(self->about, &context, out, error);
    }
    context.lexical = frame->kind;
    context.relation = frame->relation;
    context.propagation = frame->relation == LODE_RELATION_LEXICAL;
    context.line = frame->line;
    context.offset = frame->offset;
    if (frame->function != LODE_NO_NUMBER)
        context.function = self->functions[frame->function];
    LODE_TRY(name_file(self, frame->file, &context.file, error));
    LODE_TRY(name_module(self, frame->module, &context.module, error));
    return lode_description_add_context(self->about, &context, out, error);
}

/* Children of an unlisted context are listed below its parent. */
static lode_status describe_all(struct naming *self, struct hpcrun_source *source,
                                const struct lode_content_tree *tree, const uint32_t *node_at,
                                lode_error *error)
{
    const struct hpcrun_contexts *contexts = &source->contexts;
    uint32_t *handles = source->handles;
    handles[0] = LODE_NONE;
    for (uint32_t i = 1; i < contexts->count; i++) {
        uint32_t parent = contexts->above[i];
        if (contexts->flags[parent] & HPCRUN_CONTEXT_UNLISTED)
            parent = contexts->above[parent];
        if (contexts->flags[i] & HPCRUN_CONTEXT_UNLISTED)
            LODE_TRY(lode_description_add_unlisted(self->about, &handles[i], error));
        else
            LODE_TRY(describe_context(self, frame_of(self->scopes, tree, node_at[i]), handles[parent],
                                      &handles[i], error));
    }
    return LODE_OK;
}

static uint32_t *no_numbers(size_t count)
{
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = LODE_NONE;
    return numbers;
}

static void count_sources(struct hpcrun_source *source)
{
    const uint64_t *counts = source->sources.counts;
    source->base.counts.sources = (lode_build_sources){.from_roots = counts[SOURCE_FROM_ROOTS],
                                                       .from_measurements = counts[SOURCE_FROM_MEASUREMENTS],
                                                       .from_public = counts[SOURCE_FROM_PUBLIC],
                                                       .from_anywhere = counts[SOURCE_FROM_ANYWHERE],
                                                       .absent = counts[SOURCE_ABSENT],
                                                       .restricted = counts[SOURCE_RESTRICTED],
                                                       .outside = counts[SOURCE_OUTSIDE],
                                                       .unfit = counts[SOURCE_UNFIT]};
}

lode_status lode_hpcrun_describe_contexts(struct hpcrun_source *source, const struct hpcrun_scopes *scopes,
                                          const struct hpcrun_asking *asking,
                                          const struct lode_content_tree *tree, const uint32_t *node_at,
                                          lode_error *error)
{
    struct naming self = {.about = source->about,
                          .scopes = scopes,
                          .sources = &source->sources,
                          .modules = no_numbers(scopes->questions.count),
                          .other_modules = no_numbers(scopes->strings.items.count),
                          .files = no_numbers(scopes->strings.items.count),
                          .functions = no_numbers(scopes->functions.count)};
    uint32_t *sorted = calloc(scopes->functions.count + 1, sizeof *sorted);
    bool done = self.modules && self.other_modules && self.files && self.functions && sorted;
    lode_status status = lode_hpcrun_source_files_init(&source->sources, asking, error);
    if (status == LODE_OK)
        status = done ? name_all(&self, tree, sorted, error) : lode_fail_memory(error);
    if (status == LODE_OK)
        status = describe_all(&self, source, tree, node_at, error);
    count_sources(source);
    free(self.modules);
    free(self.other_modules);
    free(self.files);
    free(self.functions);
    free(sorted);
    return status;
}
