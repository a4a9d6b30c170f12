/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/options.h"

#include "base/error.h"
#include <stdbool.h>
#include <string.h>

/* Larger than any options struct: a larger size is uninitialised, and must not be read. */
#define SIZE_LIMIT ((size_t)4096)

static bool is_zero(const unsigned char *bytes, size_t count)
{
    while (count > 0 && *bytes == 0) {
        bytes++;
        count--;
    }
    return count == 0;
}

lode_status lode_options_take(void *options, const void *given, lode_error *error)
{
    size_t known, size;
    if (given == NULL)
        return LODE_OK;
    memcpy(&known, options, sizeof known);
    memcpy(&size, given, sizeof size);
    /* All structs are aligned to size_t: a multiple of its size cannot split a field. */
    if (size == 0 || size % sizeof size != 0 || size > SIZE_LIMIT)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "options with a size of %zu bytes; initialise them with their INIT macro", size);
    if (size > known && !is_zero((const unsigned char *)given + known, size - known))
        return lode_fail(
            error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
            "options of %zu bytes from a later version of the library; version %s supports %zu bytes", size,
            lode_version(), known);
    memcpy(options, given, size < known ? size : known);
    memcpy(options, &known, sizeof known);
    return LODE_OK;
}

void lode_result_give(void *out, size_t size, const void *result, size_t known)
{
    if (out == NULL)
        return;
    memcpy(out, result, size < known ? size : known);
    if (size > known)
        memset((unsigned char *)out + known, 0, size - known);
}
