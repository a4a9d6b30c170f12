/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft whose metadata is experiment.xml. */
#include "format/hpctoolkit_drafts/check.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "format/hpctoolkit_drafts/xml.h"

static const struct drafts_meta xml_meta = {
    .format = "HPCToolkit draft with experiment.xml",
    .file = "experiment.xml",
    .load = lode_drafts_load_xml,
};

static bool is_there(const struct lode_folder *folder, const char *name)
{
    struct lode_source source;
    lode_status status = lode_source_open(&source, folder, name, NULL);
    lode_source_close(&source);
    return status != LODE_ABSENT;
}

/* A meta.db says that it is another layout, whatever lies beside it. */
static bool probe(const struct lode_folder *folder)
{
    static const char *const binaries[] = {"profile.db", "cct.db", "trace.db"};
    if (is_there(folder, "meta.db"))
        return false;
    if (is_there(folder, xml_meta.file))
        return true;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (lode_drafts_begins(folder, binaries[i], "HPCPROF-", 8))
            return true;
    return false;
}

static lode_status open_xml(lode_database **out, const struct lode_folder *folder, lode_error *error)
{
    return lode_drafts_open(out, &xml_meta, folder, error);
}

static lode_status check_xml(const struct lode_folder *folder, const lode_check_options *options,
                             lode_check_result *result, lode_error *error)
{
    return lode_drafts_check(&xml_meta, folder, options, result, error);
}

const struct drafts_layout lode_drafts_xml = {
    .name = "draft XML",
    .probe = probe,
    .open = open_xml,
    .check = check_xml,
};
