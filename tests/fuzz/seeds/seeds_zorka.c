/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes seeds for one file of a trace store: valid, and broken as by the tests of the rules. */
#include "../../hostile/rules/zor_cases.h"
#include <stdio.h>
#include <string.h>

/* A file of a case by name, or by suffix for compressed indexes, whose names vary. */
static const struct minizor_bytes *find(const struct minizor *store, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < store->count; i++) {
        const char *found = store->files[i].name;
        if (strlen(found) >= length && strcmp(found + strlen(found) - length, name) == 0)
            return &store->files[i].content;
    }
    return NULL;
}

static int write_seed(const char *directory, const char *name, const struct minizor_bytes *content)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%s", directory, name);
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(content->bytes, 1, content->size, stream) : 0;
    return stream == NULL || fclose(stream) != 0 || written < content->size;
}

static int write_all(const char *directory, const char *name)
{
    struct minizor sound;
    minizor_make(&sound, 0, false);
    minizor_describe(&sound);
    if (strcmp(name, ".fmi") == 0)
        minizor_compress(&sound, false);
    const struct minizor_bytes *whole = find(&sound, name);
    int failed = whole ? write_seed(directory, "sound", whole) : 0;
    for (size_t i = 0; i < zor_case_count && !failed; i++) {
        struct minizor store;
        minizor_make(&store, 0, false);
        zor_cases[i].apply(&store);
        const struct minizor_bytes *content = find(&store, name);
        bool is_other = content && (whole == NULL || content->size != whole->size ||
                                    memcmp(content->bytes, whole->bytes, content->size) != 0);
        /* Larger ones make fuzzing slow. */
        if (is_other && content->size > 0 && content->size <= 4096)
            failed = write_seed(directory, zor_cases[i].rule, content);
        minizor_free(&store);
    }
    minizor_free(&sound);
    return failed;
}

int main(int count, char **arguments)
{
    int failed = count != 3 || write_all(arguments[2], arguments[1]);
    if (failed)
        fprintf(stderr, "usage: seeds_zorka FILE DIRECTORY\n");
    return failed;
}
