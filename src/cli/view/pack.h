/* SPDX-License-Identifier: BSD-3-Clause */
/* Large answers are sent packed to clients that say that they can unpack them. */
#ifndef CLI_VIEW_PACK_H
#define CLI_VIEW_PACK_H

#include <stddef.h>

#define PACK_LEAST 16384 /* bytes; what is smaller gains nothing that anybody notices */

/* Whether a value of Accept-Encoding allows gzip; NULL: there is none, and it does not. */
int pack_is_accepted(const char *accepted);
/* The bytes in gzip; free() them. NULL: they would not be smaller, or out of memory. */
void *pack_gzip(const void *bytes, size_t size, size_t *packed_size);
/*
 * The bytes of gzip, of which there are `size`; free() them. NULL: there are not, or out of
 * memory.
 */
char *pack_unpack(const void *packed, size_t packed_size, size_t size);

#endif
