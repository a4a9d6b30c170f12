/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recovers point values that were not stored. Writers of 2022 omitted the values of instructions
 * that the metadata does not list: an inclusive value minus its parts is the context's own.
 */
#ifndef LODE_TRANSFORM_POINTS_H
#define LODE_TRANSFORM_POINTS_H

#include "base/error.h"
#include "model/database/database.h"

/* One point value of the context with this index, under the metric's id of the scope. */
typedef lode_status (*lode_point_fn)(void *user, uint32_t context, uint16_t id, double value,
                                     lode_error *error);

/* Finds those of a profile. There are none where unlisted contexts have values. */
lode_status lode_points_recover(const lode_database *db, uint32_t profile, lode_point_fn found, void *user,
                                lode_error *error);

#endif
