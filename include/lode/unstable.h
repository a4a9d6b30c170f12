/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that the library offers: the stable headers, and those that may change with any minor
 * release. A program that uses the latter runs with the release that it was compiled with, and its
 * patches; the loader refuses others (doc/abi.md).
 */
#ifndef LODE_UNSTABLE_H
#define LODE_UNSTABLE_H

#include <lode/lode.h>
#include <lode/unstable/arrow.h>
#include <lode/unstable/bins.h>
#include <lode/unstable/boxes.h>
#include <lode/unstable/comm.h>
#include <lode/unstable/compare.h>
#include <lode/unstable/density.h>
#include <lode/unstable/derived.h>
#include <lode/unstable/diagnose.h>
#include <lode/unstable/efficiency.h>
#include <lode/unstable/estimate.h>
#include <lode/unstable/export.h>
#include <lode/unstable/find.h>
#include <lode/unstable/flame.h>
#include <lode/unstable/guard.h>
#include <lode/unstable/kind.h>
#include <lode/unstable/match.h>
#include <lode/unstable/measurements.h>
#include <lode/unstable/merge.h>
#include <lode/unstable/picture.h>
#include <lode/unstable/query.h>
#include <lode/unstable/scaling.h>
#include <lode/unstable/search.h>
#include <lode/unstable/slice.h>
#include <lode/unstable/source.h>
#include <lode/unstable/spread.h>
#include <lode/unstable/synth.h>
#include <lode/unstable/timeline.h>

#endif
