/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of the other files of this format where its library is missing. */
#include "export/formats.h"

static bool is_available(void)
{
    return false;
}

const struct lode_export_format lode_export_otf2 = {
    .name = "otf2",
    .description = "OTF2 archive (a directory): Vampir, Scalasca, Pipit",
    .suffix = ".otf2",
    .names = "*.otf2",
    .loses = "metrics and values; strings beyond 1024 of a thread; instants without numbers",
    .holds = LODE_EXPORT_TIMELINE,
    .is_directory = true,
    .is_available = is_available,
    .needs = "libotf2: install libotf2-trace-dev and build Lode with -Dotf2=enabled",
};
