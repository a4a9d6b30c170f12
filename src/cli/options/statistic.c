/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/statistic.h"

#include <stddef.h>

const char *const statistic_choices[] = {"sum", "median", "min", "max", NULL};
