/* SPDX-License-Identifier: BSD-3-Clause */
/* What cmocka needs, in the order it needs it. */
#ifndef LODE_TESTS_UNIT_H
#define LODE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
