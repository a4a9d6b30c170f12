/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft whose metadata is a big-endian meta.db. */
#include "format/hpctoolkit_drafts/check/check.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "format/hpctoolkit_drafts/metadb.h"

static const struct drafts_meta metadb_meta = {
    .format = "HPCToolkit draft with meta.db",
    .file = "meta.db",
    .load = lode_drafts_load_metadb,
};

static bool probe(const struct lode_folder *folder)
{
    return lode_folder_begins(folder, metadb_meta.file, METADB_MAGIC, DRAFTS_MAGIC_SIZE);
}

static lode_status open_metadb(lode_database **out, const struct lode_folder *folder, lode_error *error)
{
    return lode_drafts_open(out, &metadb_meta, folder, error);
}

static lode_status check_metadb(const struct lode_folder *folder, const lode_check_options *options,
                                lode_check_result *result, lode_error *error)
{
    return lode_drafts_check(&metadb_meta, folder, options, result, error);
}

const struct drafts_layout lode_drafts_metadb = {
    .name = "draft meta.db",
    .probe = probe,
    .open = open_metadb,
    .check = check_metadb,
};
