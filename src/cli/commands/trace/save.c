/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a timeline to a file: SVG or PNG. */
#include "commands/trace/save.h"
#include "alloc.h"
#include "output/escape.h"
#include "output/place.h"
#include "output/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length > size && strcasecmp(text + length - size, end) == 0;
}

static int is_png(const char *path)
{
    return ends_with(path, ".png");
}

int trace_save_usage(const char *path, int force)
{
    if (strcmp(path, "-") == 0)
        return EXIT_DONE;
    if (!is_png(path) && !ends_with(path, ".svg"))
        return report("'%s' does not end in .svg or .png (see 'lode help trace')", path);
    return place_is_free(path, force);
}

/* ---- the legend ---- */

static void add_entry(image *i, unsigned hue, uint64_t nanoseconds, double total, const char *name)
{
    image_entry *entry = &i->entries[i->entry_count++];
    *entry = (image_entry){.hue = hue, .name = escape_text(name, escape_has_utf8())};
    format_duration(entry->time, nanoseconds);
    format_percent(entry->percent, total > 0 ? (double)nanoseconds / total : 0);
}

static void make_legend(image *i, const trace_drawing *d, trace_name_fn name)
{
    const lode_picture *picture = d->picture;
    double total = 0;
    uint64_t others = 0, idle = 0, count = 0;
    label l = {0};
    for (size_t k = 0; k < lode_picture_share_count(picture); k++)
        total += (double)lode_picture_share_at(picture, k)->nanoseconds;
    for (size_t k = 0; k < lode_picture_share_count(picture); k++) {
        const lode_picture_share *share = lode_picture_share_at(picture, k);
        lode_timeline_share shown = {
            .context = share->context, .function = share->function, .is_idle = share->is_idle};
        unsigned hue = d->hues[share->key];
        if (share->is_idle || hue == IMAGE_IDLE) {
            idle += share->nanoseconds;
        } else if (hue < IMAGE_HUES) {
            add_entry(i, hue, share->nanoseconds, total, name(&l, &shown, d->names));
        } else {
            others += share->nanoseconds;
            count++;
        }
    }
    char text[64];
    snprintf(text, sizeof text, "(%llu other functions)", (unsigned long long)count);
    if (count)
        add_entry(i, IMAGE_OTHERS, others, total, text);
    if (idle)
        add_entry(i, IMAGE_IDLE, idle, total, "(not running)");
    label_free(&l);
}

static char *make_title(const trace_drawing *d, const char *store)
{
    char begin[NUMBER_SIZE], end[NUMBER_SIZE], lines[NUMBER_SIZE], text[4200];
    uint64_t from, to;
    size_t length = strlen(store);
    while (length > 1 && store[length - 1] == '/')
        length--;
    size_t name = length;
    while (name > 0 && store[name - 1] != '/')
        name--;
    lode_picture_window(d->picture, &from, &to);
    format_duration(begin, from > d->start ? from - d->start : 0);
    format_duration(end, to > d->start ? to - d->start : 0);
    format_count(lines, d->lines.count);
    snprintf(text, sizeof text, "%.*s: %s to %s, %s %s", (int)(length - name < 4000 ? length - name : 4000),
             store + name, begin, end, lines, d->db ? "trace lines" : "tracks");
    return escape_text(text, escape_has_utf8());
}

static int save_file(const char *path, const void *bytes, size_t size)
{
    out_file file;
    if (out_file_open(&file, path) != 0)
        return EXIT_TROUBLE;
    out_place place = {.fd = file.fd};
    int problem = place_write(&place, bytes, size);
    int closed = out_file_close(&file, problem == 0);
    if (problem || closed)
        return report("%s: %s", path, strerror(problem ? problem : closed));
    return EXIT_DONE;
}

/* To standard output, whose reader may leave. */
static int save_standard(const void *bytes, size_t size)
{
    out_place place;
    if (place_open(&place, "-") != EXIT_DONE)
        return EXIT_TROUBLE;
    int problem = place_write(&place, bytes, size);
    return problem && !place.is_broken ? report("standard output: %s", strerror(problem)) : EXIT_DONE;
}

int trace_save(const trace_drawing *d, const image_plan *plan, const char *path, const char *store,
               trace_name_fn name)
{
    image i = {.plan = *plan, .drawing = d, .title = make_title(d, store)};
    size_t size;
    make_legend(&i, d, name);
    void *bytes = is_png(path) ? (void *)image_png(&i, &size) : (void *)image_svg(&i, &size);
    int status = strcmp(path, "-") == 0 ? save_standard(bytes, size) : save_file(path, bytes, size);
    free(bytes);
    free(i.title);
    for (unsigned entry = 0; entry < i.entry_count; entry++)
        free(i.entries[entry].name);
    return status;
}
