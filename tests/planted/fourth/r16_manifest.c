// SPDX-License-Identifier: BSD-3-Clause
/* Makes a manifest: base name and check of each path. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATHS 350

__attribute__((noinline)) static void make_path(char *path, size_t size, int i)
{
    snprintf(path, size, "/srv/data/set%02d/part%d/file%04d.dat", i % 17, i % 5, i);
}

__attribute__((noinline)) static void base_name(const char *path, char *out, size_t size)
{
#ifdef FIX
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%s", slash ? slash + 1 : path);
#else
    char command[256];
    snprintf(command, sizeof command, "basename '%s'", path);
    FILE *pipe = popen(command, "r");
    out[0] = 0;
    if (!pipe)
        return;
    if (!fgets(out, (int)size, pipe))
        out[0] = 0;
    pclose(pipe);
    out[strcspn(out, "\n")] = 0;
#endif
}

__attribute__((noinline)) static uint32_t checksum_entry(const char *name)
{
    uint32_t h = 5381;
    for (int round = 0; round < 20000; round++)
        for (const char *p = name; *p; p++)
            h = h * 33 + (uint8_t)*p;
    return h;
}

__attribute__((noinline)) static uint64_t build_manifest(void)
{
    uint64_t sum = 0;
    char path[128], name[128];
    for (int i = 0; i < PATHS; i++) {
        make_path(path, sizeof path, i);
        base_name(path, name, sizeof name);
        sum += checksum_entry(name);
    }
    return sum;
}

int main(void)
{
    printf("manifest %lu\n", (unsigned long)build_manifest());
    return 0;
}
