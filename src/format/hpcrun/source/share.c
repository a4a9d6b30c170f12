/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A route is possible if the profile launched the kernel that it begins with. Where only some
 * launches were sampled, values are scaled to all of them. Among possible routes, the number of
 * times that a call was executed decides, as far as samples tell it.
 */
#include "format/hpcrun/source/share.h"
#include "format/hpcrun/scopes/callgraph.h"
#include <stdlib.h>

/* What a profile says of a kernel. */
struct hpcrun_launch {
    double count, sampled; /* 0: not known */
};

bool lode_hpcrun_sharing_open(struct hpcrun_sharing *sharing, const struct hpcrun_source *source)
{
    uint32_t sites = lode_hpcrun_sites_count(&source->sites);
    lode_array_init(&sharing->rows, sizeof(struct hpcrun_row), SIZE_MAX / sizeof(struct hpcrun_row));
    lode_array_init(&sharing->shared, sizeof(struct hpcrun_row), SIZE_MAX / sizeof(struct hpcrun_row));
    lode_array_init(&sharing->launches, sizeof(struct hpcrun_launch), UINT32_MAX - 1);
    lode_map_init(&sharing->launch_of);
    if (sites == 0)
        return true;
    sharing->weights = calloc(sites, sizeof *sharing->weights);
    sharing->possible = calloc(HPCRUN_PATHS_MOST, sizeof *sharing->possible);
    sharing->scales = calloc(HPCRUN_PATHS_MOST, sizeof *sharing->scales);
    sharing->shares = calloc(HPCRUN_PATHS_MOST, sizeof *sharing->shares);
    return sharing->weights && sharing->possible && sharing->scales && sharing->shares;
}

void lode_hpcrun_sharing_close(struct hpcrun_sharing *sharing)
{
    lode_array_free(&sharing->rows);
    lode_array_free(&sharing->shared);
    lode_array_free(&sharing->launches);
    lode_map_free(&sharing->launch_of);
    free(sharing->weights);
    free(sharing->possible);
    free(sharing->scales);
    free(sharing->shares);
}

static bool note_launch(const struct hpcrun_source *source, struct hpcrun_sharing *sharing,
                        const struct hpcrun_row *row)
{
    bool added;
    const uint32_t *number =
        lode_map_add(&sharing->launch_of, row->node, (uint32_t)sharing->launches.count, &added);
    if (number == NULL || (added && lode_array_push(&sharing->launches) == NULL))
        return false;
    struct hpcrun_launch *launch = LODE_ARRAY_AT(&sharing->launches, struct hpcrun_launch, *number);
    if (row->metric == source->kernel_metrics[HPCRUN_LAUNCHES])
        launch->count += row->value;
    if (row->metric == source->kernel_metrics[HPCRUN_SAMPLED_LAUNCHES])
        launch->sampled += row->value;
    return true;
}

/* How many launches there are for each that was sampled; 0 if the profile has none. */
static double scale_of(const struct hpcrun_sharing *sharing, uint32_t entry)
{
    const uint32_t *number = lode_map_get(&sharing->launch_of, entry);
    if (number == NULL)
        return 0;
    const struct hpcrun_launch *launch = LODE_ARRAY_AT(&sharing->launches, struct hpcrun_launch, *number);
    return launch->count > 0 && launch->sampled > 0 ? launch->count / launch->sampled : 1;
}

static void weigh_routes(const struct hpcrun_source *source, struct hpcrun_sharing *sharing, uint32_t site)
{
    uint32_t first = lode_hpcrun_site_first(&source->sites, site);
    uint32_t count = lode_hpcrun_site_first(&source->sites, site + 1) - first;
    for (uint32_t i = 0; i < count; i++) {
        sharing->scales[i] = scale_of(sharing, lode_hpcrun_site_route(&source->sites, first + i)->entry);
        sharing->possible[i] = sharing->scales[i] > 0;
    }
    lode_hpcrun_site_share(&source->sites, site, sharing->possible, sharing->weights, sharing->shares);
}

/* A value without a possible route disappears. */
static bool share_row(const struct hpcrun_source *source, struct hpcrun_sharing *sharing,
                      const struct hpcrun_row *row)
{
    uint32_t first = lode_hpcrun_site_first(&source->sites, row->node);
    uint32_t count = lode_hpcrun_site_first(&source->sites, row->node + 1) - first;
    for (uint32_t i = 0; i < count; i++) {
        double value = sharing->scales[i] * sharing->shares[i] * row->value;
        if (value == 0)
            continue;
        struct hpcrun_row *out = lode_array_push(&sharing->shared);
        if (out == NULL)
            return false;
        uint32_t final = lode_hpcrun_site_route(&source->sites, first + i)->final;
        *out = (struct hpcrun_row){.value = value, .node = final, .metric = row->metric};
    }
    return true;
}

bool lode_hpcrun_share(const struct hpcrun_source *source, struct hpcrun_sharing *sharing,
                       const struct hpcrun_row *values, uint64_t count)
{
    const struct hpcrun_row *rows = sharing->rows.items;
    size_t row_count = sharing->rows.count;
    bool done = true;
    sharing->shared.count = sharing->launches.count = sharing->rows.count = 0;
    lode_map_clear(&sharing->launch_of);
    for (uint64_t i = 0; i < count && row_count > 0 && done; i++)
        if (source->contexts.flags[values[i].node] & HPCRUN_CONTEXT_KERNEL)
            done = note_launch(source, sharing, &values[i]);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].metric == source->kernel_metrics[HPCRUN_INSTRUCTIONS])
            sharing->weights[rows[i].node] += rows[i].value;
    for (size_t i = 0; i < row_count && done; i++) {
        if (i == 0 || rows[i].node != rows[i - 1].node)
            weigh_routes(source, sharing, rows[i].node);
        done = share_row(source, sharing, &rows[i]);
    }
    for (size_t i = 0; i < row_count; i++)
        sharing->weights[rows[i].node] = 0;
    return done;
}
