/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/gather.h"

#include <stdlib.h>

/* A file's name. */
static const char *keep_name(lode_measurements *all, const char *file)
{
    return lode_measurements_string(all, (struct lode_range){(const uint8_t *)file, strlen(file)}, NULL);
}

/* ---- ids ---- */

/* What hpcrun leaves to be numbered has the logical id 0. */
static lode_id id_of(const struct hpcrun_Id *from)
{
    unsigned meaning = from->kind >> HPCRUN_ID_MEANING_SHIFT;
    bool is_physical = meaning != HPCRUN_ID_LOGICAL_ONLY, is_numbered = meaning == 0 || !is_physical;
    uint64_t logical = is_numbered ? from->logical : 0;
    return (lode_id){.kind = from->kind & HPCRUN_ID_KIND,
                     .flags = is_physical ? LODE_ID_PHYSICAL : 0,
                     .logical = logical < UINT32_MAX ? (uint32_t)logical : UINT32_MAX,
                     .physical = is_physical ? from->physical : from->logical};
}

static bool gather_ids(lode_measurements *all, const struct hpcrun_profile *profile,
                       lode_measured_profile *out)
{
    lode_id *ids = lode_arena_alloc(&all->arena, profile->ids.count, sizeof *ids);
    for (size_t i = 0; i < profile->ids.count && ids; i++)
        ids[i] = id_of(LODE_ARRAY_AT(&profile->ids, struct hpcrun_Id, i));
    out->ids = ids;
    out->id_count = (uint32_t)profile->ids.count;
    for (size_t i = 0; i < profile->id_kinds.count; i++) {
        const struct hpcrun_id_kind *kind = LODE_ARRAY_AT(&profile->id_kinds, struct hpcrun_id_kind, i);
        if (!lode_measurements_add_id_kind(all, kind->kind, kind->name))
            return false;
    }
    return ids != NULL;
}

/* ---- nodes ---- */

static bool count_modules(lode_measurements *all, const struct hpcrun_profile *profile,
                          const uint64_t *nodes_of)
{
    for (size_t i = 0; i < profile->modules.count; i++) {
        struct lode_range path = LODE_ARRAY_AT(&profile->modules, struct hpcrun_module, i)->path;
        lode_measured_module *module = lode_measurements_add_module(all, path);
        if (module == NULL)
            return false;
        module->nodes += nodes_of[i + 1];
        module->profiles += nodes_of[i + 1] > 0;
    }
    return true;
}

static bool gather_nodes(lode_measurements *all, const struct hpcrun_profile *profile,
                         lode_measured_profile *out)
{
    uint64_t *nodes_of = calloc(profile->modules.count + 1, sizeof *nodes_of);
    if (nodes_of == NULL)
        return false;
    for (uint64_t i = 0; i < profile->node_count; i++) {
        struct hpcrun_Node node = lode_hpcrun_node(profile, i);
        nodes_of[node.module]++;
        out->inferred += !(node.flags & HPCRUN_NODE_UNWOUND);
    }
    out->nodes = profile->node_count;
    out->placeholders = nodes_of[0];
    bool done = count_modules(all, profile, nodes_of);
    free(nodes_of);
    return done;
}

/* ---- metrics ---- */

/* The first profile that has a metric describes it. */
static bool describe_metric(lode_measurements *all, const struct hpcrun_metric *from,
                            lode_measured_metric *metric)
{
    metric->description = lode_measurements_string(all, from->description, NULL);
    metric->formula = lode_measurements_string(all, from->formula, NULL);
    metric->period = from->flags.period;
    metric->is_integer = from->flags.format == HPCRUN_FORMAT_INTEGER;
    metric->is_relation = from->flags.relation;
    metric->visibility = from->flags.show;
    return metric->description && metric->formula;
}

static bool add_totals(lode_measurements *all, const struct hpcrun_profile *profile, const double *totals,
                       const uint64_t *counts)
{
    for (size_t i = 0; i < profile->metrics.count; i++) {
        const struct hpcrun_metric *from = LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, i);
        bool added;
        lode_measured_metric *metric = lode_measurements_add_metric(all, from->name, &added);
        if (metric == NULL || (added && !describe_metric(all, from, metric)))
            return false;
        metric->total += totals[i] * (double)from->flags.period;
        metric->values += counts[i];
    }
    return true;
}

static bool gather_metrics(lode_measurements *all, const struct hpcrun_profile *profile)
{
    double *totals = calloc(profile->metrics.count + 1, sizeof *totals);
    uint64_t *counts = calloc(profile->metrics.count + 1, sizeof *counts);
    for (uint64_t i = 0; i < profile->value_count && totals && counts; i++) {
        struct hpcrun_Value value = lode_hpcrun_value(profile, i);
        totals[value.metric] += lode_hpcrun_number(
            LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, value.metric), value.bits);
        counts[value.metric]++;
    }
    bool done = totals && counts && add_totals(all, profile, totals, counts);
    free(totals);
    free(counts);
    return done;
}

/* ---- all of it ---- */

static bool gather_names(lode_measurements *all, const struct hpcrun_profile *profile,
                         lode_measured_profile *out)
{
    out->file = keep_name(all, profile->file);
    out->program = lode_measurements_string(all, profile->attributes[HPCRUN_PROGRAM_NAME], NULL);
    out->job = lode_measurements_string(all, profile->attributes[HPCRUN_JOB_ID], NULL);
    out->host = lode_measurements_string(all, profile->attributes[HPCRUN_HOST_ID], NULL);
    return out->file && out->program && out->job && out->host;
}

lode_status lode_hpcrun_gather(lode_measurements *all, const struct hpcrun_profile *profile,
                               lode_error *error)
{
    lode_measured_profile out = {
        .bytes = profile->bytes.size, .valued = profile->valued, .values = profile->value_count};
    bool done = gather_names(all, profile, &out) && gather_ids(all, profile, &out) &&
                gather_nodes(all, profile, &out) && gather_metrics(all, profile);
    lode_measured_profile *slot = done ? lode_array_push(&all->profiles) : NULL;
    LODE_TRY_ALLOC(slot, error);
    *slot = out;
    return LODE_OK;
}

lode_status lode_hpcrun_gather_trace(lode_measurements *all, const struct hpcrun_trace *trace,
                                     const char *file, uint64_t bytes, bool is_alone, lode_error *error)
{
    lode_measured_profile *profile =
        is_alone ? lode_array_push(&all->profiles)
                 : LODE_ARRAY_AT(&all->profiles, lode_measured_profile, all->profiles.count - 1);
    LODE_TRY_ALLOC(profile, error);
    if (is_alone)
        *profile = (lode_measured_profile){.program = "", .job = "", .host = ""};
    profile->trace_file = keep_name(all, file);
    profile->trace_bytes = bytes;
    profile->samples = trace->count;
    profile->begin = trace->begin;
    profile->end = trace->end;
    profile->is_call_trace = (trace->flags & HPCRUN_TRACE_CALLS) != 0;
    LODE_TRY_ALLOC(profile->trace_file, error);
    return LODE_OK;
}

lode_status lode_hpcrun_gather_structure(lode_measurements *all, const struct hpcstruct_module *module,
                                         const char *file, lode_error *error)
{
    lode_measured_structure *slot = lode_array_push(&all->structures);
    LODE_TRY_ALLOC(slot, error);
    *slot = (lode_measured_structure){.file = keep_name(all, file),
                                      .path = keep_name(all, module->path),
                                      .functions = module->functions,
                                      .inlined = module->inlined,
                                      .loops = module->loops,
                                      .statements = module->statements,
                                      .ranges = module->ranges.count,
                                      .dropped = module->dropped,
                                      .calls = module->calls.count,
                                      .has_calls = module->has_calls,
                                      .is_cut = module->is_cut,
                                      .kind = module->kind};
    LODE_TRY_ALLOC(slot->file && slot->path, error);
    return LODE_OK;
}
