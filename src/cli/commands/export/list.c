/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/export/list.h"

#include "output/out.h"
#include "output/report.h"

#include <lode/unstable.h>
#include <stdio.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *name;
} parts[] = {
    {LODE_EXPORT_STACKS, "stacks"}, {LODE_EXPORT_TIMELINE, "timeline"}, {LODE_EXPORT_TABLES, "tables"}};

const char *const export_compressions[] = {[LODE_COMPRESSION_DEFAULT] = "auto",
                                           [LODE_COMPRESSION_NONE] = "none",
                                           [LODE_COMPRESSION_GZIP] = "gzip",
                                           [LODE_COMPRESSION_ZSTD] = "zstd",
                                           NULL};

enum {
    PARTS = sizeof parts / sizeof *parts
};

int export_next_name(const char **names, char pattern[EXPORT_NAME_SIZE])
{
    size_t length = strcspn(*names, " ");
    snprintf(pattern, EXPORT_NAME_SIZE, "%.*s", (int)length, *names);
    *names += length;
    *names += strspn(*names, " ");
    return length > 0;
}

static void write_format(out *o, const lode_export_info *info)
{
    char pattern[EXPORT_NAME_SIZE];
    out_object(o, NULL);
    OUT_FIELDS(o, "name", info->name, "description", info->description, "suffix", info->suffix);
    out_array(o, "names");
    for (const char *rest = info->names; export_next_name(&rest, pattern);)
        OUT_ELEMENTS(o, pattern);
    out_array_end(o);
    out_array(o, "holds");
    for (size_t i = 0; i < PARTS; i++)
        if (info->holds & parts[i].bit)
            OUT_ELEMENTS(o, parts[i].name);
    out_array_end(o);
    OUT_FIELDS(o, "loses", info->loses);
    out_array(o, "compressions");
    for (unsigned i = LODE_COMPRESSION_NONE; export_compressions[i]; i++)
        if (info->compressions >> i & 1)
            OUT_ELEMENTS(o, export_compressions[i]);
    out_array_end(o);
    OUT_FIELDS(o, "is_directory", info->is_directory, "is_available", info->is_available, "needs",
               info->needs);
    out_object_end(o);
}

static void say_format(out *o, const lode_export_info *info)
{
    char holds[64] = "";
    for (size_t i = 0; i < PARTS; i++)
        if (info->holds & parts[i].bit)
            snprintf(holds + strlen(holds), sizeof holds - strlen(holds), "%s%s", holds[0] ? ", " : "",
                     parts[i].name);
    out_entry(o, info->name, "%s", info->description);
    if (!info->is_available)
        out_entry(o, "", "not in this program; needs %s", info->needs);
    out_entry(o, "", "holds %s; loses %s", holds, info->loses);
    out_entry(o, "", "names %s", info->names);
}

/* Formats are there without zstd, too; --compression zstd is not. */
static void say_compressions(out *o)
{
    lode_export_info info;
    unsigned all = 0;
    for (size_t i = 0; lode_export_at(i, &info) == LODE_OK; i++)
        all |= info.compressions;
    if (!(all >> LODE_COMPRESSION_ZSTD & 1))
        out_entry(o, "zstd",
                  "compression that is not in this program; needs libzstd: install libzstd-dev and build "
                  "Lode with -Dzstd=enabled");
}

int export_list(out *o)
{
    lode_export_info info;
    int is_json = out_format_of(o) == OUT_JSON;
    size_t width = 0;
    for (size_t i = 0; lode_export_at(i, &info) == LODE_OK; i++)
        width = strlen(info.name) > width ? strlen(info.name) : width;
    out_begin(o, SCHEMA_EXPORT_LIST, NULL);
    out_labels(o, width + 2);
    if (is_json)
        out_array(o, "formats");
    for (size_t i = 0; lode_export_at(i, &info) == LODE_OK; i++) {
        if (is_json)
            write_format(o, &info);
        else
            say_format(o, &info);
    }
    if (is_json)
        out_array_end(o);
    else
        say_compressions(o);
    out_end(o);
    return EXIT_DONE;
}
