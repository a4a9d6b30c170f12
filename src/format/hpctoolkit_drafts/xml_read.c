/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"
#include "format/hpctoolkit_drafts/xml.h"

lode_status lode_drafts_load_xml(struct drafts_database *db, struct lode_report *report)
{
    return lode_fail(report->error, LODE_ERR_UNSUPPORTED, db->meta->file, LODE_NO_OFFSET, "not read yet");
}
