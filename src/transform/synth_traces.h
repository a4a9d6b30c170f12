/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LODE_TRANSFORM_SYNTH_TRACES_H
#define LODE_TRANSFORM_SYNTH_TRACES_H

#include <lode/synth.h>

/* Makes a Zorka trace store, in the layout of options->to. */
lode_status lode_synth_traces(const char *path, const lode_synth_recording_options *options,
                              lode_error *error);

#endif
