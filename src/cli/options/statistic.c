/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/statistic.h"

#include <stddef.h>

const char *const statistic_choices[] = {[STATISTIC_SUM] = "sum",
                                         [STATISTIC_MEDIAN] = "median",
                                         [STATISTIC_MIN] = "min",
                                         [STATISTIC_MAX] = "max",
                                         NULL};
