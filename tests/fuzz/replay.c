/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target on the files of directories, without a fuzzer; prints TAP. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return 0;
    fseek(stream, 0, SEEK_END);
    long size = ftell(stream);
    rewind(stream);
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    int done = bytes && fread(bytes, 1, (size_t)size, stream) == (size_t)size;
    if (done)
        LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    fclose(stream);
    return done;
}

static unsigned replay_directory(const char *path)
{
    struct dirent *entry;
    unsigned count = 0;
    DIR *directory = opendir(path);
    while (directory && (entry = readdir(directory)) != NULL) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            count += (unsigned)replay_file(file);
    }
    if (directory)
        closedir(directory);
    return count;
}

/* With the objects of the program, which has a main, it has another name. */
int main(int count, char **arguments);

int main(int count, char **arguments)
{
    printf("1..%d\n", count - 1);
    for (int i = 1; i < count; i++) {
        unsigned files = replay_directory(arguments[i]);
        const char *name = strrchr(arguments[i], '/');
        printf("%s %d - %u inputs of %s end without harm\n", files ? "ok" : "not ok", i, files,
               name ? name + 1 : "");
    }
    return 0;
}
