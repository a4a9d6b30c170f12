/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/kinds.h"

#include "output/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_FILE_MAX (1u << 20)

int kinds_open(lode_kind_rules **kinds, const char *path)
{
    lode_error error = {0};
    *kinds = NULL;
    if (path == NULL)
        return EXIT_DONE;
    char *text = malloc(KINDS_FILE_MAX + 1);
    if (text == NULL)
        return report("out of memory");
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, KINDS_FILE_MAX + 1, file) : 0;
    int status = EXIT_DONE;
    if (file == NULL || ferror(file))
        status = report("%s: %s", path, strerror(errno));
    else if (size > KINDS_FILE_MAX)
        status = report("%s: larger than 1 MiB", path);
    else if (lode_kind_rules_parse(kinds, text, size, &error) != LODE_OK)
        status = report_error(path, &error);
    if (file)
        fclose(file);
    free(text);
    return status;
}
