/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for names as people write them, and after a NUL the name that they apply to. */
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply(const lode_name_rules *rules, const char *name)
{
    for (int subject = LODE_SUBJECT_NAME; subject <= LODE_SUBJECT_FILE; subject++) {
        char result[256];
        uint32_t changed[4];
        size_t length = 0, count = 0;
        lode_error error;
        lode_status status = lode_name_rules_apply(rules, (lode_name_subject)subject, name, "libm.so", result,
                                                   sizeof result, &length, changed, 4, &count, &error);
        if (status == LODE_ERR_LIMIT)
            continue;
        if (status != LODE_OK || strlen(result) >= sizeof result || count > lode_name_rules_count(rules))
            abort();
        for (size_t i = 0; i < count && i < 4; i++)
            if (lode_name_rules_at(rules, changed[i]) == NULL)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
    size_t length = end ? (size_t)(end - data) : size;
    /* Exact copies, so that a sanitizer sees what is read beyond them. */
    char *text = malloc(length + 1), *name = calloc(1, size - length + 1);
    lode_name_rules *rules;
    lode_error error;
    if (text && name) {
        memcpy(text, data, length);
        if (end)
            memcpy(name, end + 1, size - length - 1);
        if (lode_name_rules_open(&rules, text, length, &error) == LODE_OK)
            apply(rules, name);
        else if (rules || error.text[0] == '\0')
            abort();
        lode_name_rules_close(rules);
    }
    free(text);
    free(name);
    return 0;
}
