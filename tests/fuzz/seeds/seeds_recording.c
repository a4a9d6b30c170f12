/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes seeds for one file of a recording: valid, and broken as by the tests of the rules. */
#include "../../hostile/rules/uft_cases.h"
#include <stdio.h>
#include <string.h>

enum {
    SEED_MAX = 4096 /* larger ones make fuzzing slow */
};

static const struct minirec_file *find(const struct minirec *rec, const char *name)
{
    for (size_t i = 0; i < rec->count; i++)
        if (strcmp(rec->files[i].name, name) == 0)
            return &rec->files[i];
    return NULL;
}

static int write_seed(const char *directory, const char *name, size_t number, const struct minirec_file *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%s-%zu", directory, name, number);
    FILE *stream = fopen(path, "wb");
    size_t written = stream ? fwrite(file->bytes, 1, file->size, stream) : 0;
    return stream == NULL || fclose(stream) != 0 || written < file->size;
}

static int write_all(const char *directory, const char *name)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec sound;
    minirec_make(&sound, &options);
    const struct minirec_file *whole = find(&sound, name);
    int failed = whole == NULL || write_seed(directory, "sound", 0, whole);
    for (size_t i = 0; i < uft_case_count && !failed; i++) {
        struct minirec rec;
        minirec_make(&rec, &uft_cases[i].options);
        uft_cases[i].apply(&rec);
        const struct minirec_file *file = find(&rec, name);
        bool is_other =
            file && (file->size != whole->size || memcmp(file->bytes, whole->bytes, file->size) != 0);
        if (is_other && file->size > 0 && file->size <= SEED_MAX)
            failed = write_seed(directory, uft_cases[i].rule, i, file);
        minirec_free(&rec);
    }
    minirec_free(&sound);
    return failed;
}

int main(int count, char **arguments)
{
    int failed = count != 3 || write_all(arguments[2], arguments[1]);
    if (failed)
        fprintf(stderr, "usage: seeds_recording FILE DIRECTORY\n");
    return failed;
}
