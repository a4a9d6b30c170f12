/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit_drafts/write.h"
lode_status lode_drafts_write_xml(const lode_database *db, const char *path,
                                  const lode_convert_options *options, lode_error *error)
{
    (void)db;
    (void)path;
    (void)options;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET, "not yet");
}
