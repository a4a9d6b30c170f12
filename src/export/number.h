/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text, the same in every locale. */
#ifndef LODE_EXPORT_NUMBER_H
#define LODE_EXPORT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum {
    LODE_NUMBER_SIZE = 40 /* of any of these, with a NUL */
};

/* Each writes a NUL-terminated text of at most LODE_NUMBER_SIZE bytes and returns its length. */
size_t lode_number_u64(char *text, uint64_t number);
size_t lode_number_i64(char *text, int64_t number);
/* "0x1c20". */
size_t lode_number_hex(char *text, uint64_t number);
/*
 * The fewest digits that read back as the same number, with a fraction or an exponent, so that a
 * column of whole numbers does not look like integers: "3.0", "0.1", "1e300", "nan", "inf", "-inf".
 */
size_t lode_number_f64(char *text, double number);

#endif
