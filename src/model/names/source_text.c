/* SPDX-License-Identifier: BSD-3-Clause */
/* Source files that a store names, found and read without trusting its paths. */
#include "base/getter.h"
#include "base/io/beneath.h"
#include "base/memory/array.h"
#include "base/options.h"
#include "model/database/context.h"
#include <fcntl.h>
#include <lode/unstable/source.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPIES "src/"

enum {
    SUFFIXES_MAX = 32, /* leading components are removed from at most so many */
    LINE_STRIDE = 64   /* lines from one indexed line to the next */
};

struct lode_source_text {
    struct lode_blob bytes;
    char *origin;
    uint64_t line_count;
    struct lode_array marks; /* size_t: where every LINE_STRIDE-th line begins */
};

/* ---- paths ---- */

/* Removes empty components and ".", and ".." with what is before it. Never longer than the path. */
static char *normalized(const char *path)
{
    char *result = malloc(strlen(path) + 1);
    size_t length = 0;
    if (result == NULL)
        return NULL;
    while (*path) {
        size_t size = strcspn(path, "/");
        bool is_up = size == 2 && memcmp(path, "..", 2) == 0;
        if (is_up) {
            while (length > 0 && result[length - 1] != '/')
                length--;
            length -= length > 0;
        } else if (size > 0 && !(size == 1 && *path == '.')) {
            if (length > 0)
                result[length++] = '/';
            memcpy(result + length, path, size);
            length += size;
        }
        path += size + (path[size] == '/');
    }
    result[length] = '\0';
    return result;
}

/* What follows a prefix of complete components; NULL if it is not one. */
static const char *after_prefix(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);
    if (length == 0)
        return path;
    if (strncmp(path, prefix, length) != 0 || path[length] != '/')
        return NULL;
    return path + length + 1;
}

/* The part of a path with its last SUFFIXES_MAX components. */
static const char *last_components(const char *path)
{
    const char *at = path + strlen(path);
    for (int count = 0; at > path; at--)
        if (at[-1] == '/' && ++count == SUFFIXES_MAX)
            break;
    return at;
}

static lode_status keep_origin(lode_source_text *text, const char *directory, const char *path,
                               lode_error *error)
{
    size_t size = strlen(directory) + strlen(path) + 2;
    text->origin = malloc(size);
    LODE_TRY_ALLOC(text->origin, error);
    size_t length = strlen(directory);
    memcpy(text->origin, directory, length);
    if (length > 0 && directory[length - 1] != '/')
        text->origin[length++] = '/';
    memcpy(text->origin + length, path, strlen(path) + 1);
    return LODE_OK;
}

/* Notes the first error; LODE_ABSENT is none. */
struct outcome {
    lode_status status;
    lode_error error;
};

static void note_error(struct outcome *outcome, lode_status status, const lode_error *error)
{
    if (outcome->status != LODE_ABSENT || status == LODE_ABSENT)
        return;
    outcome->status = status;
    outcome->error = *error;
}

/* Tries the path and, with `in_suffixes`, what is left of it without leading components. */
static bool read_beneath(lode_source_text *text, const char *directory, const char *path, bool in_suffixes,
                         struct outcome *outcome)
{
    lode_error error = {0};
    int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lode_status status =
        at < 0 ? lode_fail_errno(&error, directory, "cannot open the directory") : LODE_ABSENT;
    note_error(outcome, status, &error);
    for (const char *rest = in_suffixes ? last_components(path) : path; at >= 0 && rest && *rest;) {
        status = lode_companion_read(&text->bytes, at, rest, &error);
        if (status == LODE_OK) {
            status = keep_origin(text, directory, rest, &error);
            note_error(outcome, status, &error);
            break;
        }
        note_error(outcome, status, &error);
        const char *slash = in_suffixes ? strchr(rest, '/') : NULL;
        rest = slash ? slash + 1 : NULL;
    }
    if (at >= 0)
        close(at);
    return status == LODE_OK;
}

static bool try_path(lode_source_text *text, const lode_source_path *path, const char *recorded,
                     struct outcome *outcome)
{
    if (path->prefix == NULL)
        return read_beneath(text, path->directory, recorded, true, outcome);
    char *prefix = normalized(path->prefix);
    if (prefix == NULL) {
        lode_error error;
        note_error(outcome, lode_fail_memory(&error), &error);
        return false;
    }
    const char *rest = after_prefix(recorded, prefix);
    free(prefix);
    return rest && read_beneath(text, path->directory, rest, false, outcome);
}

static lode_status find_text(lode_source_text *text, const char *path, const lode_file *file,
                             const lode_source_options *options, lode_error *error)
{
    struct outcome outcome = {.status = LODE_ABSENT};
    bool is_copy = file->copied && strncmp(path, COPIES, strlen(COPIES)) == 0;
    const char *recorded = is_copy ? path + strlen(COPIES) : path;
    for (size_t i = 0; i < options->path_count; i++)
        if (try_path(text, &options->paths[i], recorded, &outcome))
            return LODE_OK;
    if (is_copy && options->database && read_beneath(text, options->database, path, false, &outcome))
        return LODE_OK;
    if (outcome.status == LODE_ABSENT)
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "not found");
    if (error)
        *error = outcome.error;
    return outcome.status;
}

/* ---- lines ---- */

/* Where the line after the one at `at` begins. */
static size_t next_line(const lode_source_text *text, size_t at)
{
    const unsigned char *end = memchr(text->bytes.bytes + at, '\n', text->bytes.size - at);
    return end ? (size_t)(end - text->bytes.bytes) + 1 : text->bytes.size;
}

static lode_status index_lines(lode_source_text *text, lode_error *error)
{
    lode_array_init(&text->marks, sizeof(size_t), SIZE_MAX);
    for (size_t at = 0; at < text->bytes.size; at = next_line(text, at)) {
        if (text->line_count++ % LINE_STRIDE != 0)
            continue;
        size_t *mark = lode_array_push(&text->marks);
        LODE_TRY_ALLOC(mark, error);
        *mark = at;
    }
    return LODE_OK;
}

lode_status lode_source_text_open(lode_source_text **out, const lode_file *file,
                                  const lode_source_options *given, lode_error *error)
{
    lode_source_options options = LODE_SOURCE_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    char *path = normalized(file->path ? file->path : "");
    LODE_TRY_ALLOC(path, error);
    lode_source_text *text = calloc(1, sizeof *text);
    lode_status status = text ? find_text(text, path, file, &options, error) : lode_fail_memory(error);
    if (status == LODE_OK)
        status = index_lines(text, error);
    free(path);
    if (status == LODE_OK)
        *out = text;
    else
        lode_source_text_close(text);
    return status;
}

void lode_source_text_close(lode_source_text *text)
{
    if (text == NULL)
        return;
    lode_blob_free(&text->bytes);
    lode_array_free(&text->marks);
    free(text->origin);
    free(text);
}

LODE_GETTER(const char *, lode_source_text_origin, lode_source_text, origin);
LODE_GETTER(uint64_t, lode_source_text_line_count, lode_source_text, line_count);

const char *lode_source_text_line(const lode_source_text *text, uint64_t number, size_t *length)
{
    *length = 0;
    if (number == 0 || number > text->line_count)
        return NULL;
    size_t at = *LODE_ARRAY_AT(&text->marks, size_t, (size_t)((number - 1) / LINE_STRIDE));
    for (uint64_t i = (number - 1) % LINE_STRIDE; i > 0; i--)
        at = next_line(text, at);
    const char *line = (const char *)text->bytes.bytes + at;
    size_t size = next_line(text, at) - at;
    size -= size > 0 && line[size - 1] == '\n';
    size -= size > 0 && line[size - 1] == '\r';
    *length = size;
    return line;
}
