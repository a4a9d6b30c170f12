/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of --kinds, and after a NUL each the load module and the name that their rules apply to. */
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of the bytes until a NUL, which are no longer part of the rest. */
static char *take(const uint8_t **data, size_t *size, size_t *length)
{
    const uint8_t *end = *size ? memchr(*data, '\0', *size) : NULL;
    *length = end ? (size_t)(end - *data) : *size;
    char *copy = calloc(1, *length + 1);
    if (copy && *length)
        memcpy(copy, *data, *length);
    *data += *length + (end != NULL);
    *size -= *length + (end != NULL);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length, other;
    lode_kind_rules *rules = NULL;
    lode_error error;
    char *text = take(&data, &size, &length);
    char *module = take(&data, &size, &other), *name = take(&data, &size, &other);
    if (text && module && name) {
        if (lode_kind_rules_parse(&rules, text, length, &error) != LODE_OK && error.text[0] == '\0')
            abort();
        lode_activity activity = lode_activity_of(rules, module, name);
        if (lode_activity_name((int)activity) == NULL)
            abort();
        if (lode_effect_name((int)lode_effect_of(rules, module, name)) == NULL)
            abort();
    }
    lode_kind_rules_free(rules);
    free(text);
    free(module);
    free(name);
    return 0;
}
