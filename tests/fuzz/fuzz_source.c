/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fuzzer's bytes as changes of a small directory of measurements, from which a database is
 * built: a byte says which file, two say where, one what is written there. What is built is sound.
 */
#include "minihpcrun.h"
#include <fcntl.h>
#include <ftw.h>
#include <lode/build.h>
#include <lode/check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FILES = 5,
    CHANGE = 4 /* bytes of the input for a change */
};

static const char structure[] =
    "<?xml version=\"1.0\"?>\n<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
    "<LM i=\"1\" n=\"/bin/mini\" v=\"{}\"><F i=\"2\" n=\"/f.c\"><P i=\"3\" n=\"f\" l=\"1\" v=\"{[0x1000-0x1001)}\">"
    "<L i=\"4\" l=\"2\" f=\"/f.c\" v=\"{[0x1000-0x1001)}\"><S i=\"5\" l=\"3\" v=\"{[0x1000-0x9000)}\"/></L></P></F></LM>\n"
    "</HPCToolkitStructure>\n";

static struct file {
    const char *name;
    struct lode_blob content;
} files[FILES] = {{"a.hpcrun", {0}},
                  {"a.hpctrace", {0}},
                  {"b.hpcrun", {0}},
                  {"b.hpctrace", {0}},
                  {"structs/a.hpcstruct", {0}}};
static char folder[64];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    (void)!nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void begin(void)
{
    const char *parent = getenv("TMPDIR");
    char path[128];
    snprintf(folder, sizeof folder, "%s/lode-fuzz-XXXXXX", parent && strlen(parent) < 40 ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
    atexit(remove_folder);
    for (unsigned i = 0; i < FILES - 1; i += 2) {
        minihpcrun_profile(&files[i].content);
        minihpcrun_trace(&files[i + 1].content);
    }
    struct lode_blob *last = &files[FILES - 1].content;
    if (lode_blob_extend(last, sizeof structure - 1) == LODE_BLOB_FULL)
        abort();
    memcpy(last->bytes, structure, sizeof structure - 1);
    snprintf(path, sizeof path, "%s/m", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/m/structs", folder);
    mkdir(path, 0700);
}

/* The file with its changes. */
static void write_file(unsigned number, const uint8_t *data, size_t size)
{
    const struct lode_blob *content = &files[number].content;
    char path[128];
    unsigned char *bytes = malloc(content->size + 1);
    snprintf(path, sizeof path, "%s/m/%s", folder, files[number].name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || bytes == NULL)
        abort();
    memcpy(bytes, content->bytes, content->size);
    for (size_t i = 0; i + CHANGE <= size; i += CHANGE)
        if (data[i] % FILES == number)
            bytes[((size_t)data[i + 1] << 8 | data[i + 2]) % content->size] = data[i + 3];
    if (write(fd, bytes, content->size) != (ssize_t)content->size)
        abort();
    close(fd);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char measurements[128], database[128];
    const char *paths[] = {measurements};
    lode_build_options options = LODE_BUILD_OPTIONS_INIT;
    lode_check_options full = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    if (folder[0] == '\0')
        begin();
    snprintf(measurements, sizeof measurements, "%s/m", folder);
    snprintf(database, sizeof database, "%s/db", folder);
    for (unsigned i = 0; i < FILES; i++)
        write_file(i, data, size);
    options.force = 1;
    options.threads = 1;
    options.foreign = 1;
    options.local_ranks = size > 0 && data[0] & 0x80 ? 2 : 1;
    full.level = LODE_CHECK_FULL;
    full.threads = 1;
    lode_status status = lode_build(paths, 1, database, &options, NULL, NULL);
    if (status == LODE_OK && (lode_check(database, &full, &result, NULL) != LODE_OK || result.errors > 0))
        abort();
    return 0;
}
