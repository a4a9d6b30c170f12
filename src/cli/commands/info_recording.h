/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode info` on recordings. */
#ifndef CLI_INFO_RECORDING_H
#define CLI_INFO_RECORDING_H

#include "command.h"

int info_recording(const invocation *call, int is_verbose);

#endif
