/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/files.h"

#include "base/error.h"
#include "base/io/bytes.h"
#include "format/hpcrun/read/wire.h"
#include <stdlib.h>
#include <string.h>

enum {
    LOOKS_MOST = 64 /* at contents, to find out whether there is anything */
};

static const char *const known_others[] = {".log", ".hpcstruct", ".db"};

/* ---- kinds ---- */

static bool begins_with(struct lode_range bytes, const char *text)
{
    return bytes.size >= HPCRUN_MAGIC_SIZE && memcmp(bytes.data, text, HPCRUN_MAGIC_SIZE) == 0;
}

static bool ends_like_profile(struct lode_range bytes)
{
    return bytes.size >= HPCRUN_Footer_SIZE &&
           get_u64be(bytes.data + bytes.size - sizeof(uint64_t)) == HPCRUN_FOOTER_MAGIC;
}

enum hpcrun_file lode_hpcrun_file_of(struct lode_range bytes)
{
    if (begins_with(bytes, HPCRUN_PROFILE_BEGIN) || ends_like_profile(bytes))
        return HPCRUN_FILE_PROFILE;
    return begins_with(bytes, HPCRUN_TRACE_BEGIN) ? HPCRUN_FILE_TRACE : HPCRUN_FILE_OTHER;
}

bool lode_has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), size = strlen(suffix);
    return length > size && strcmp(name + length - size, suffix) == 0;
}

static enum hpcrun_file file_by_name(const char *name)
{
    return lode_has_suffix(name, HPCRUN_PROFILE_SUFFIX) ? HPCRUN_FILE_PROFILE
           : lode_has_suffix(name, HPCRUN_TRACE_SUFFIX) ? HPCRUN_FILE_TRACE
                                                        : HPCRUN_FILE_OTHER;
}

static bool is_other_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof known_others / sizeof *known_others; i++)
        if (lode_has_suffix(name, known_others[i]))
            return true;
    return false;
}

static enum hpcrun_file file_by_content(const struct lode_folder *folder, const char *name)
{
    struct lode_input input;
    enum hpcrun_file kind = HPCRUN_FILE_OTHER;
    if (!is_other_by_name(name) && lode_input_open(&input, folder, name, NULL) == LODE_OK) {
        kind = lode_hpcrun_file_of(input.bytes);
        lode_input_close(&input);
    }
    return kind;
}

/* ---- partners ---- */

size_t lode_hpcrun_stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* By stem, then by kind, then by name. */
static int compare_stems(const void *left, const void *right)
{
    const struct hpcrun_listed *a = *(const struct hpcrun_listed *const *)left;
    const struct hpcrun_listed *b = *(const struct hpcrun_listed *const *)right;
    size_t size = lode_hpcrun_stem(a->name), other = lode_hpcrun_stem(b->name);
    int order = memcmp(a->name, b->name, size < other ? size : other);
    if (order != 0 || size != other)
        return order ? order : size < other ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool has_same_stem(const struct hpcrun_listed *a, const struct hpcrun_listed *b)
{
    size_t size = lode_hpcrun_stem(a->name);
    return size == lode_hpcrun_stem(b->name) && memcmp(a->name, b->name, size) == 0;
}

/* Profiles come before traces of the same stem: the last of the former has the first of these. */
static lode_status pair_files(struct hpcrun_listed *files, size_t count, lode_error *error)
{
    struct hpcrun_listed **sorted = malloc((count + 1) * sizeof *sorted);
    LODE_TRY_ALLOC(sorted, error);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &files[i];
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare_stems);
    for (size_t i = 0; i + 1 < count; i++)
        if (sorted[i]->kind != sorted[i + 1]->kind && has_same_stem(sorted[i], sorted[i + 1])) {
            sorted[i]->partner = sorted[i + 1];
            sorted[i + 1]->partner = sorted[i];
        }
    free(sorted);
    return LODE_OK;
}

/* ---- lists ---- */

lode_status lode_hpcrun_list_files(const struct lode_folder *folder, struct lode_arena *arena,
                                   struct hpcrun_listed **files, size_t *count, lode_error *error)
{
    const char **names;
    size_t name_count = 0;
    *count = 0;
    LODE_TRY(lode_folder_list(folder, arena, &names, &name_count, error));
    *files = lode_arena_alloc(arena, name_count + 1, sizeof **files);
    LODE_TRY_ALLOC(*files, error);
    for (size_t i = 0; i < name_count; i++) {
        struct hpcrun_listed file = {.name = names[i], .kind = file_by_name(names[i])};
        lode_status status = lode_folder_size(folder, file.name, &file.size, error);
        if (status != LODE_OK && status != LODE_ABSENT)
            return status;
        if (status == LODE_OK && file.kind == HPCRUN_FILE_OTHER)
            file.kind = file_by_content(folder, file.name);
        if (status == LODE_OK && file.kind != HPCRUN_FILE_OTHER)
            (*files)[(*count)++] = file;
    }
    return pair_files(*files, *count, error);
}

bool lode_hpcrun_has_files(const struct lode_folder *folder, bool by_content)
{
    struct lode_arena arena;
    const char **names;
    size_t count = 0, looks = 0;
    bool has_any = false;
    lode_arena_init(&arena, SIZE_MAX);
    if (lode_folder_list(folder, &arena, &names, &count, NULL) != LODE_OK)
        count = 0;
    for (size_t i = 0; i < count && !has_any && !by_content; i++)
        has_any = file_by_name(names[i]) != HPCRUN_FILE_OTHER;
    for (size_t i = 0; i < count && !has_any && by_content && looks < LOOKS_MOST; i++) {
        uint64_t size;
        if (lode_folder_size(folder, names[i], &size, NULL) != LODE_OK)
            continue;
        looks++;
        has_any = file_by_content(folder, names[i]) != HPCRUN_FILE_OTHER;
    }
    lode_arena_free(&arena);
    return has_any;
}
