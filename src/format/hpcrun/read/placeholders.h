/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that are no instruction have a code of eight characters instead of an address. */
#ifndef LODE_FORMAT_HPCRUN_PLACEHOLDERS_H
#define LODE_FORMAT_HPCRUN_PLACEHOLDERS_H

#include <stdint.h>

/* Big-endian. */
#define HPCRUN_NO_ACTIVITY  UINT64_C(0x4e6f416374767479) /* "NoActvty" */
#define HPCRUN_PARTIAL      UINT64_C(0x5e5061727469616c) /* "^Partial" */
#define HPCRUN_UNNORMALIZED UINT64_C(0x2a556e6e6f726d20) /* "*Unnorm " */
#define HPCRUN_MAIN_FENCE   UINT64_C(0x7c204d61696e2020) /* "| Main  " */
#define HPCRUN_THREAD_FENCE UINT64_C(0x7c20546872656164) /* "| Thread" */
#define HPCRUN_TRUNCATED    UINT64_C(0x5472756e63617465) /* "Truncate"; not of hpcrun */

enum {
    HPCRUN_PLACEHOLDER_NAME = 32 /* bytes of a name, with its NUL */
};

/* What hpcprof calls it, such as "<gpu kernel>"; else its characters. */
void lode_hpcrun_placeholder_name(uint64_t code, char out[HPCRUN_PLACEHOLDER_NAME]);

#endif
