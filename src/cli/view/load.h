/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the plug-in that serves HTTP. */
#ifndef CLI_VIEW_LOAD_H
#define CLI_VIEW_LOAD_H

#include "view/transport.h"

/* NULL after a message that says what brings the plug-in. */
const view_transport *view_load_transport(void);

#endif
