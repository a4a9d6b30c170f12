/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft whose metadata is experiment.xml. */
#include "format/hpctoolkit_drafts/check/check.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "format/hpctoolkit_drafts/xml/xml.h"
#include <string.h>

enum {
    BEGINNING = 1024 /* bytes that contain the first element of a document */
};

static const struct drafts_meta xml_meta = {
    .format = "HPCToolkit draft with experiment.xml",
    .file = "experiment.xml",
    .load = lode_drafts_load_xml,
};

/* Databases from before 2021-09 have an experiment.xml of another version. */
static bool says_version_4(const struct lode_folder *folder)
{
    static const char words[] = "<HPCToolkitExperiment version=\"4";
    struct lode_input source;
    bool says = false;
    if (lode_input_open(&source, folder, xml_meta.file, NULL) == LODE_OK) {
        size_t size = source.bytes.size < BEGINNING ? (size_t)source.bytes.size : BEGINNING;
        says = size > 0 && memmem(source.bytes.data, size, words, sizeof words - 1) != NULL;
    }
    lode_input_close(&source);
    return says;
}

/* A meta.db indicates another layout, even next to an experiment.xml. */
static bool probe(const struct lode_folder *folder)
{
    static const char *const binaries[] = {"profile.db", "cct.db", "trace.db"};
    if (lode_folder_has(folder, "meta.db"))
        return false;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (lode_folder_begins(folder, binaries[i], "HPCPROF-", 8))
            return true;
    return says_version_4(folder);
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
