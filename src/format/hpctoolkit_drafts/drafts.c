/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies the draft in a folder. */
#include "format/hpctoolkit_drafts/drafts.h"

#include "base/error.h"
#include "format/hpctoolkit_drafts/rules.h"
#include "format/hpctoolkit_drafts/write/write.h"
#include <string.h>

static const struct drafts_layout *const layouts[] = {&lode_drafts_xml, &lode_drafts_metadb,
                                                      &lode_drafts_pre_a};

static const struct drafts_layout *layout_of(const struct lode_folder *folder)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i]->probe(folder))
            return layouts[i];
    return NULL;
}

static int probe(const struct lode_folder *folder)
{
    return layout_of(folder) ? LODE_PROBE_CONTENT : LODE_PROBE_NO;
}

static lode_status open_database(lode_database **out, const struct lode_folder *folder, lode_error *error)
{
    const struct drafts_layout *layout = layout_of(folder);
    if (layout == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET, "not a known draft");
    return layout->open(out, folder, error);
}

static lode_status check(const struct lode_folder *folder, const lode_check_options *options,
                         lode_check_result *result, lode_error *error)
{
    const struct drafts_layout *layout = layout_of(folder);
    if (layout == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET, "not a known draft");
    return layout->check(folder, options, result, error);
}

static const struct lode_target targets[] = {
    {.name = "hpctoolkit-draft-xml",
     .family = "hpctoolkit-draft-xml",
     .description = "an HPCToolkit database of 2021, with experiment.xml",
     .sink = &lode_drafts_xml_sink},
    {.name = "hpctoolkit-draft-metadb",
     .family = "hpctoolkit-draft-metadb",
     .description = "an HPCToolkit database of winter 2021/22",
     .sink = &lode_drafts_metadb_sink},
};

const struct lode_format lode_format_hpctoolkit_drafts = {
    .name = "HPCToolkit drafts",
    .probe = probe,
    .open = open_database,
    .check = check,
    .rules = lode_drafts_rules,
    .rule_count = DRAFTS_RULE_COUNT,
    .targets = targets,
    .target_count = sizeof targets / sizeof *targets,
};
