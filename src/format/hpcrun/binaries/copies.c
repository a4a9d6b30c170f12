/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/binaries/copies.h"

#include "format/hpcrun/scopes/binary_protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where directories by build id are. */
static bool find_root(char root[PATH_MAX], enum binary_copy copy, int directory)
{
    const char *home = getenv("HOME"); // NOLINT(concurrency-mt-unsafe): only read
    int length = -1;
    if (copy == BINARY_COPY_BESIDE && directory >= 0)
        length = snprintf(root, PATH_MAX, "/proc/self/fd/%d/.debug", directory);
    else if (copy == BINARY_COPY_CACHE && home && home[0] == '/')
        length = snprintf(root, PATH_MAX, "%s/.debug", home);
    else if (copy == BINARY_COPY_PACKAGE)
        length = snprintf(root, PATH_MAX, "/usr/lib/debug");
    return length > 0 && length < PATH_MAX;
}

/* `rest` is what a file is called there. */
static bool find_path(char path[PATH_MAX], enum binary_copy copy, struct binary_id id, int directory,
                      const char *rest)
{
    char root[PATH_MAX], digits[2 * SYMBOLS_BUILD_ID_MOST + 2] = "";
    size_t used = 0;
    if (id.size < 2 || id.size > SYMBOLS_BUILD_ID_MOST || !find_root(root, copy, directory))
        return false;
    for (unsigned i = 0; i < id.size; i++)
        used +=
            (size_t)snprintf(digits + used, sizeof digits - used, "%02x%s", id.bytes[i], i == 0 ? "/" : "");
    int length = snprintf(path, PATH_MAX, "%s/.build-id/%s%s", root, digits, rest);
    return length > 0 && length < PATH_MAX;
}

bool lode_binary_copy_path(char path[PATH_MAX], enum binary_copy copy, struct binary_id id, int directory)
{
    return find_path(path, copy, id, directory, copy == BINARY_COPY_PACKAGE ? ".debug" : "/elf");
}

bool lode_binary_kernel_path(char path[PATH_MAX], enum binary_copy copy, struct binary_id id, int directory)
{
    return find_path(path, copy, id, directory, "/kallsyms");
}
