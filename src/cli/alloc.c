/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"

#include "host.h"
#include "output/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *or_exit(void *memory)
{
    if (!memory) {
        host_set(NULL); /* nobody is there to be told but the user */
        exit(report("out of memory"));
    }
    return memory;
}

void *alloc_array(size_t count, size_t element_size)
{
    return or_exit(calloc(count ? count : 1, element_size));
}

char *alloc_text(const char *text)
{
    return or_exit(strdup(text));
}

void *alloc_grow(void *array, size_t *capacity, size_t count, size_t element_size)
{
    if (count < *capacity)
        return array;
    size_t larger = *capacity ? *capacity * 2 : 64;
    if (larger <= count)
        larger = count + 1;
    if (larger > SIZE_MAX / element_size)
        return or_exit(NULL);
    *capacity = larger;
    return or_exit(realloc(array, larger * element_size));
}
