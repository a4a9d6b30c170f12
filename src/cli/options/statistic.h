/* SPDX-License-Identifier: BSD-3-Clause */
/* The number that stands for all profiles of a run. */
#ifndef CLI_STATISTIC_H
#define CLI_STATISTIC_H

enum {
    STATISTIC_SUM,
    STATISTIC_MEDIAN,
    STATISTIC_MIN,
    STATISTIC_MAX
};
extern const char *const statistic_choices[];

#endif
