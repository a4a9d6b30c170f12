/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of attributes: what OpenTelemetry renamed, and what describes processes. */
#include "analysis/search/value.h"
#include <string.h>

static const struct {
    const char *before, *now;
} renamed[] = {
#define RENAMED(before, now) {before, now},
#include "analysis/search/conventions.def"
#undef RENAMED
};
#define RENAMED_COUNT (sizeof renamed / sizeof renamed[0])

/* The name of today. */
static const char *name_now(const char *name)
{
    for (size_t i = 0; i < RENAMED_COUNT; i++)
        if (strcmp(renamed[i].before, name) == 0)
            return renamed[i].now;
    return name;
}

struct lode_attribute_key lode_attribute_key_of(const char *name)
{
    struct lode_attribute_key key = {.name = name};
    const char *now = name_now(name);
    for (size_t i = 0; i < RENAMED_COUNT; i++)
        if (strcmp(renamed[i].now, now) == 0)
            key.now = now;
    return key;
}

bool lode_attribute_key_is(const struct lode_attribute_key *key, const char *name)
{
    return strcmp(key->name, name) == 0 || (key->now && strcmp(key->now, name_now(name)) == 0);
}

bool lode_is_resource_key(const char *name)
{
    static const char *const spaces[] = {"service.",    "host.",  "process.", "k8s.",
                                         "container.",  "cloud.", "os.",      "telemetry.",
                                         "deployment.", "faas.",  "device."};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (strncmp(name, spaces[i], strlen(spaces[i])) == 0)
            return true;
    return false;
}
