/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was built without SQLite has no catalogue in a file. */
#include "runs/backend.h"

const catalogue_backend *const catalogue_sqlite = NULL;
