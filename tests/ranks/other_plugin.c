/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that was made for another version of the library. */
#include "base/comm/comm.h"

LODE_API extern const struct lode_comm_ops lode_comm_plugin;
const struct lode_comm_ops lode_comm_plugin = {.version = LODE_COMM_VERSION + 1, .name = "other"};
