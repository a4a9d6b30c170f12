/* SPDX-License-Identifier: BSD-3-Clause */
/* Logical files and kernel symbols as providers. */
#include "format/hpcrun/scopes/kernel.h"
#include "format/hpcrun/scopes/logical.h"
#include "format/hpcrun/scopes/module_file.h"
#include <unistd.h>

struct reading {
    struct hpcrun_scopes *scopes;
    uint32_t question;
    lode_error *error;
};

/* ---- files ---- */

/* Reads a file that is found; one that is too large is no answer. */
static lode_status read_module(struct reading *reading, const struct hpcrun_asking *asking,
                               struct hpcrun_module_file *file, hpcstruct_reader_fn read, hpcstruct_fn use)
{
    struct lode_blob bytes = {0};
    lode_status status = file->size > LODE_COMPANION_MAX
                             ? LODE_ERR_LIMIT
                             : lode_regular_read(&bytes, file->fd, file->path, NULL);
    struct lode_range range = {bytes.bytes, bytes.size};
    if (status == LODE_OK)
        status = read(file->path, range, LODE_CHECK_STRUCTURE, asking->report, use, reading);
    else if (status == LODE_ERR_MEMORY)
        status = lode_fail_memory(reading->error);
    else
        status = LODE_OK;
    lode_blob_free(&bytes);
    return status == LODE_END || status == LODE_ERR_UNSUPPORTED ? LODE_OK : status;
}

/* ---- kernel symbols ---- */

static lode_status use_kernel(void *user, const struct hpcstruct_module *module)
{
    const struct reading *reading = user;
    return lode_hpcrun_answer(reading->scopes, reading->question, &(struct hpcrun_answer){.code = module},
                              reading->error);
}

lode_status lode_hpcrun_ask_kernels(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                    lode_error *error)
{
    for (uint32_t i = 0; i < scopes->questions.count; i++) {
        const struct hpcrun_question *question = LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, i);
        struct reading reading = {scopes, i, error};
        struct hpcrun_module_file file;
        char name[PATH_MAX];
        if (question->is_complete || question->directory == NULL ||
            !lode_kernel_file(question->path, name, sizeof name) ||
            !lode_module_file_find(&file, asking, name, question->directory))
            continue;
        lode_status status = read_module(&reading, asking, &file, lode_kernel_read, use_kernel);
        lode_module_file_close(&file);
        LODE_TRY(status);
    }
    return LODE_OK;
}

/* ---- logical files ---- */

/* Code of its own for each offset: a function and a line of its file, or less. */
struct frames {
    struct hpcstruct_module module;
    const struct hpcstruct_module *from;
    lode_error *error;
};

static lode_status add_scope(struct frames *frames, struct hpcstruct_scope scope, uint32_t *number)
{
    struct hpcstruct_scope *slot = lode_array_push(&frames->module.scopes);
    LODE_TRY_ALLOC(slot, frames->error);
    *slot = scope;
    *number = (uint32_t)(frames->module.scopes.count - 1);
    return LODE_OK;
}

/* The scopes of the file come first, with the same numbers; lines are added. */
static lode_status add_frame(struct frames *frames, uint64_t offset, const struct hpcstruct_range *range)
{
    struct hpcstruct_scope none = {.parent = LODE_NO_NUMBER, .kind = HPCSTRUCT_UNKNOWN};
    struct hpcstruct_scope named =
        range ? *LODE_ARRAY_AT(&frames->module.scopes, struct hpcstruct_scope, range->scope) : none;
    uint32_t line = (uint32_t)offset, scope = range ? range->scope : LODE_NO_NUMBER;
    bool is_function = range && named.kind == HPCSTRUCT_FUNCTION;
    if (!range || (!is_function && named.file == LODE_NO_NUMBER))
        LODE_TRY(add_scope(frames, none, &scope));
    else if (!is_function || (line > 0 && named.file != LODE_NO_NUMBER))
        LODE_TRY(add_scope(frames,
                           (struct hpcstruct_scope){.parent = is_function ? scope : LODE_NO_NUMBER,
                                                    .name = LODE_NO_NUMBER,
                                                    .file = named.file,
                                                    .line = line,
                                                    .kind = HPCSTRUCT_LINE},
                           &scope));
    struct hpcstruct_range *slot = lode_array_push(&frames->module.ranges);
    LODE_TRY_ALLOC(slot, frames->error);
    *slot = (struct hpcstruct_range){offset, offset == UINT64_MAX ? offset : offset + 1, scope};
    return LODE_OK;
}

static lode_status add_frames(struct frames *frames, const struct hpcrun_question *question)
{
    const struct lode_array *ranges = &frames->from->ranges;
    size_t at = 0;
    for (size_t i = 0; i < frames->from->scopes.count; i++) {
        uint32_t number;
        LODE_TRY(
            add_scope(frames, *LODE_ARRAY_AT(&frames->from->scopes, struct hpcstruct_scope, i), &number));
    }
    for (uint32_t i = 0; i < question->count; i++) {
        uint64_t offset = question->offsets[i];
        while (at < ranges->count && LODE_ARRAY_AT(ranges, struct hpcstruct_range, at)->end <= offset)
            at++;
        const struct hpcstruct_range *range =
            at < ranges->count ? LODE_ARRAY_AT(ranges, struct hpcstruct_range, at) : NULL;
        LODE_TRY(add_frame(frames, offset, range && range->start <= offset ? range : NULL));
    }
    return LODE_OK;
}

static lode_status use_logical(void *user, const struct hpcstruct_module *module)
{
    const struct reading *reading = user;
    const struct hpcrun_question *question =
        LODE_ARRAY_AT(&reading->scopes->questions, struct hpcrun_question, reading->question);
    struct frames frames = {.module = {.strings = module->strings}, .from = module, .error = reading->error};
    struct hpcrun_answer answer = {
        .code = &frames.module, .module = module->name, .is_complete = true, .hides_points = true};
    lode_array_init(&frames.module.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&frames.module.ranges, sizeof(struct hpcstruct_range), UINT32_MAX - 1);
    lode_status status = add_frames(&frames, question);
    if (status == LODE_OK)
        status = lode_hpcrun_answer(reading->scopes, reading->question, &answer, reading->error);
    lode_array_free(&frames.module.scopes);
    lode_array_free(&frames.module.ranges);
    return status;
}

/* Recognised by its first bytes, wherever it is. */
static bool is_logical(const struct hpcrun_module_file *file)
{
    char begin[LOGICAL_BEGIN_SIZE];
    return pread(file->fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
           memcmp(begin, LOGICAL_BEGIN, sizeof begin) == 0;
}

lode_status lode_hpcrun_ask_logical(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                    lode_error *error)
{
    for (uint32_t i = 0; i < scopes->questions.count; i++) {
        const struct hpcrun_question *question = LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, i);
        struct reading reading = {scopes, i, error};
        struct hpcrun_module_file file;
        if (question->is_complete ||
            !lode_module_file_find(&file, asking, question->path, question->directory))
            continue;
        lode_status status = is_logical(&file)
                                 ? read_module(&reading, asking, &file, lode_logical_read, use_logical)
                                 : LODE_OK;
        lode_module_file_close(&file);
        LODE_TRY(status);
    }
    return LODE_OK;
}
