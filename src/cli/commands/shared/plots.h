/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of profiles as a plot needs them: bins, histogram, outliers, two kinds of ids. */
#ifndef CLI_PLOTS_H
#define CLI_PLOTS_H

#include "stores/session.h"

#define PLOT_BINS_MAX      2000
#define PLOT_HISTOGRAM_MAX 60
#define PLOT_OUTLIERS      5
#define PLOT_MATRIX_MAX    64 /* rows and columns; more ids share them */

typedef struct plot_options {
    uint64_t bins; /* 0: none */
    const char *matrix;
} plot_options;

/* Choices of --sort of profiles: lode_profile_order. */
extern const char *const profile_sort_choices[];

/* Reports options that are out of range, or needs an option that is not given. */
int plots_usage(const plot_options *options, const char *command);

/*
 * Prints what the options ask for about `values`, in the order of `sort`, and changes
 * their order. EXIT_DONE, or EXIT_TROUBLE after a message; the kinds
 * of ids are looked up first, so that nothing is printed then.
 */
int plots_find_kinds(session *s, const plot_options *options, unsigned kinds[2]);
int plots_print(out *o, session *s, const plot_options *options, const unsigned kinds[2],
                lode_profile_value *values, size_t count, lode_profile_order sort);

/* The bins, histogram and outliers of tracks, whose numbers are the `profile` of their values. */
void plots_print_tracks(out *o, const lode_recording *recording, const plot_options *options,
                        lode_profile_value *values, size_t count);

#endif
