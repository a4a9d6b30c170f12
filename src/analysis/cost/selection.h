/* SPDX-License-Identifier: BSD-3-Clause */
/* Selections that are kept and compared. NULL is the selection of all profiles. */
#ifndef LODE_ANALYSIS_SELECTION_H
#define LODE_ANALYSIS_SELECTION_H

#include <lode/selection.h>
#include <stdbool.h>

lode_status lode_selection_copy(lode_selection **out, const lode_selection *selection, lode_error *error);
/* Whether the same terms were written, in the same order. */
bool lode_selection_equal(const lode_selection *a, const lode_selection *b);

#endif
