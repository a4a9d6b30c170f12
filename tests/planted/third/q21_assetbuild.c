// SPDX-License-Identifier: BSD-3-Clause
// Asset build: for every asset the target name is derived from the source
// name, and the asset contents are hashed into a manifest.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NASSETS 260
#define ASSET_SIZE 65536

struct asset {
    char source[96];
    char target[96];
    uint64_t hash;
};

static struct asset assets[NASSETS];
static unsigned char content[ASSET_SIZE];

__attribute__((noinline)) static void scan_assets(void)
{
    static const char *const kind[] = { "textures", "meshes", "sounds", "levels" };

    for (int i = 0; i < NASSETS; i++)
        snprintf(assets[i].source, sizeof(assets[i].source), "src/%s/set%d/item%04d.raw",
                 kind[i % 4], i / 50, i);
}

#ifdef FIX
__attribute__((noinline)) static void target_name(const char *source, char *out, size_t n)
{
    const char *base = strrchr(source, '/');
    int len;

    base = base ? base + 1 : source;
    len = (int)strlen(base) - 4;
    snprintf(out, n, "%.*s", len, base);
}
#else
__attribute__((noinline)) static void target_name(const char *source, char *out, size_t n)
{
    char cmd[160];
    FILE *p;

    snprintf(cmd, sizeof(cmd), "basename %s .raw", source);
    p = popen(cmd, "r");
    if (!p || !fgets(out, (int)n, p))
        abort();
    pclose(p);
    out[strcspn(out, "\n")] = 0;
}
#endif

__attribute__((noinline)) static void load_asset(int i)
{
    uint32_t s = i * 2654435761u + 1;

    for (int k = 0; k < ASSET_SIZE; k++) {
        s = s * 1664525u + 1013904223u;
        content[k] = s >> 24;
    }
}

__attribute__((noinline)) static uint64_t hash_asset(void)
{
    uint64_t h = 1469598103934665603ull;

    for (int r = 0; r < 4; r++)
        for (int k = 0; k < ASSET_SIZE; k++)
            h = (h ^ content[k]) * 1099511628211ull;
    return h;
}

__attribute__((noinline)) static uint64_t build_manifest(void)
{
    uint64_t m = 0;

    for (int i = 0; i < NASSETS; i++) {
        struct asset *a = &assets[i];

        target_name(a->source, a->target, sizeof(a->target));
        load_asset(i);
        a->hash = hash_asset();
        for (const char *p = a->target; *p; p++)
            m = m * 131 + (unsigned char)*p;
        m ^= a->hash;
    }
    return m;
}

int main(void)
{
    uint64_t m;

    scan_assets();
    m = build_manifest();
    printf("assets %d last %s manifest %llx\n", NASSETS, assets[NASSETS - 1].target,
           (unsigned long long)m);
    return 0;
}
