/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMBOLS_ARCHIVE_H
#define SYMBOLS_ARCHIVE_H

#include "format/hpcrun/scopes/binary_protocol.h"

/* Sends the files of an archive that are wanted: the mode "archive" of binary_protocol.h. */
enum symbols_exit archive_send(void);

#endif
