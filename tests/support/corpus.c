/* SPDX-License-Identifier: BSD-3-Clause */
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool corpus_path(char *buffer, size_t capacity, const char *name)
{
    const char *root = getenv("LODE_CORPUS");
    if (root == NULL || root[0] == '\0')
        root = getenv("LODE_CORPUS_DEFAULT");
    if (root == NULL)
        return false;
    int length = snprintf(buffer, capacity, "%s/%s", root, name);
    return length > 0 && (size_t)length < capacity && access(buffer, R_OK) == 0;
}

bool corpus_is_own(void)
{
    char path[1024];
    return corpus_path(path, sizeof path, "make.py");
}

static bool load_file(lode_memory_file *file, const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return false;
    size_t capacity = 0, got;
    unsigned char *data = NULL;
    do {
        capacity = capacity ? capacity * 2 : 1 << 16;
        unsigned char *larger = realloc(data, capacity);
        if (larger == NULL)
            abort();
        data = larger;
        got = fread(data + file->size, 1, capacity - file->size, stream);
        file->size += got;
    } while (got > 0);
    fclose(stream);
    file->data = data;
    return true;
}

static bool load_part(struct loaded_database *db, const char *corpus_name, const char *part)
{
    char name[512], path[1024];
    snprintf(name, sizeof name, "%s/%s", corpus_name, part);
    lode_memory_file *file = &db->files[db->count];
    *file = (lode_memory_file){.name = part};
    if (!corpus_path(path, sizeof path, name) || !load_file(file, path))
        return false;
    db->count++;
    return true;
}

bool load_database(struct loaded_database *db, const char *corpus_name)
{
    *db = (struct loaded_database){0};
    for (unsigned i = 0; i < HPCT_FILES; i++)
        if (!load_part(db, corpus_name, lode_hpct_specs[i].name) && i == HPCT_META)
            load_part(db, corpus_name, "experiment.xml");
    return db->count > 0;
}

void unload_database(struct loaded_database *db)
{
    for (size_t i = 0; i < db->count; i++)
        free((void *)(uintptr_t)db->files[i].data);
    db->count = 0;
}
