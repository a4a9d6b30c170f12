/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that was made for another version of the library. */
#include "base/crew.h"

LODE_API extern const struct lode_crew_ops lode_crew_plugin;
const struct lode_crew_ops lode_crew_plugin = {.version = LODE_CREW_VERSION + 1, .name = "other"};
