/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of limits, which come with the repository of whoever asks for a review. */
#include "alloc.h"
#include "options/gate_limits.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The program ends with a message where memory does. */
void *alloc_array(size_t count, size_t element_size)
{
    void *array = calloc(count, element_size);
    if (array == NULL)
        abort();
    return array;
}

static void check_limit(const gate_limit *limit)
{
    char text[GATE_LINE_MAX + 100];
    gate_limit_text(limit, text, sizeof text);
    if (!(limit->amount >= 0) || text[0] == '\0' || (limit->name && limit->name[0] == '\0'))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gate_limits limits;
    /* An exact copy, so that a sanitizer sees what is read beyond it. */
    char *text = malloc(size ? size : 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    gate_limits_init(&limits);
    int status = gate_limits_read(&limits, text, size);
    free(text);
    if (status != 0 && limits.problem[0] == '\0')
        abort();
    if (status == 0) {
        gate_limits_complete(&limits);
        if (limits.count == 0 || !(limits.level > 0 && limits.level < 1) || !(limits.min_share <= 1))
            abort();
    }
    for (size_t i = 0; i < limits.count; i++)
        check_limit(&limits.limits[i]);
    gate_limits_free(&limits);
    return 0;
}
