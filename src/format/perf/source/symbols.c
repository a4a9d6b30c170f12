/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where addresses are: of files through lode-symbols, which reads binaries for the library. A
 * binary counts only if it is the one that was recorded: by its build id or, where none was
 * recorded, by its inode and time.
 */
#include "base/compare.h"
#include "format/hpcrun/binaries/copies.h"
#include "format/hpcrun/binaries/segments.h"
#include "format/hpcrun/scopes/module_file.h"
#include "format/perf/source/answer.h"
#include "format/perf/source/jitdump.h"
#include "format/perf/source/path.h"
#include "format/perf/source/unnamed.h"
#include <fcntl.h>
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct asking {
    struct perf_source *source;
    struct hpcrun_scopes *scopes;
    const struct hpcrun_asking *all;
    uint32_t number; /* of the question */
    const struct perf_module *module;
    enum perf_lack lack; /* why there is no answer */
    lode_error *error;
};

static struct hpcrun_question *question_of(const struct asking *self)
{
    return LODE_ARRAY_AT(&self->scopes->questions, struct hpcrun_question, self->number);
}

/* Findings keep it: the question is gone when they are shown, and the recording is not. */
static const char *name_of(const struct asking *self)
{
    return lode_strings_at(&self->source->store.strings, self->module->name);
}

static lode_status answer_with(const struct asking *self, const struct hpcstruct_module *code)
{
    struct hpcrun_answer answer = {.code = code};
    return lode_hpcrun_answer(self->scopes, self->number, &answer, self->error);
}

static struct binary_id id_of(const struct perf_module *module)
{
    return (struct binary_id){module->id.bytes, module->id.size};
}

/* An offset of the question, and its address in the binary. */
struct place {
    uint64_t address, offset;
};

LODE_COMPARE_BY(compare_places, struct place, address);

/* ---- files ---- */

/*
 * Times of status are those that nobody can set. But a new link sets them, too, and perf keeps one
 * of each binary in ~/.debug.
 */
bool lode_perf_is_unchanged(const struct perf_module *module, int fd, time_t recorded)
{
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_ino == module->inode &&
           (about.st_nlink > 1 ? about.st_mtime : about.st_ctime) <= recorded;
}

/* Whether the file is the one that was mapped. */
static bool is_recorded(const struct asking *self, const struct hpcrun_module_file *file,
                        const struct binary_reply *reply)
{
    const struct perf_module *module = self->module;
    if (module->id.size > 0)
        return reply->build_id_size >= module->id.size &&
               memcmp(reply->build_id, module->id.bytes, module->id.size) == 0;
    return lode_perf_is_unchanged(module, file->fd, self->source->recorded);
}

/* What is known of addresses becomes what is known of offsets. */
static void move_ranges(struct lode_array *ranges, const struct place *places, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        struct hpcstruct_range *range = LODE_ARRAY_AT(ranges, struct hpcstruct_range, i);
        while (at < count && places[at].address < range->start)
            at++;
        if (at < count)
            *range = (struct hpcstruct_range){places[at].offset, places[at].offset + 1, range->scope};
    }
}

LODE_COMPARE_BY(compare_ranges, struct hpcstruct_range, start);

static lode_status ask_places(struct asking *self, struct binary_asking *asking, struct place *places,
                              uint64_t *addresses, size_t count)
{
    struct binary_reply reply;
    for (size_t i = 0; i < count; i++)
        addresses[i] = places[i].address;
    asking->request = (struct binary_request){.helper = self->all->binaries.helper,
                                              .debug = -1,
                                              .has_loops = true,
                                              .offsets = addresses,
                                              .count = (uint32_t)count};
    lode_status status = lode_hpcrun_ask_file(asking, &reply);
    if (status == LODE_END) {
        self->lack = PERF_LACK_READER;
    } else if (status == LODE_OK && !is_recorded(self, &asking->file, &reply)) {
        self->lack = self->module->id.size > 0 ? PERF_LACK_BUILD : PERF_LACK_TIME;
        status = LODE_END;
    }
    if (status == LODE_OK) {
        struct lode_array *ranges = &reply.module.ranges;
        move_ranges(ranges, places, count);
        if (ranges->count > 1)
            qsort(ranges->items, ranges->count, ranges->item_size, compare_ranges);
        status = answer_with(self, &reply.module);
    }
    lode_binary_free(&reply);
    return status;
}

/* LODE_END: it is another binary, or none. */
static lode_status ask_open(struct asking *self, struct binary_asking *asking)
{
    const struct hpcrun_question *question = question_of(self);
    struct binary_segment segments[BINARY_SEGMENTS_MOST];
    size_t segment_count = lode_binary_segments(asking->file.fd, segments), count = 0;
    struct place *places = calloc((size_t)question->count + 1, sizeof *places);
    uint64_t *addresses = calloc((size_t)question->count + 1, sizeof *addresses);
    lode_status status = places && addresses ? LODE_OK : lode_fail_memory(self->error);
    for (uint32_t i = 0; i < question->count && status == LODE_OK; i++) {
        places[count].offset = question->offsets[i];
        count += lode_binary_address(segments, segment_count, question->offsets[i], &places[count].address);
    }
    if (status == LODE_OK && count > 1)
        qsort(places, count, sizeof *places, compare_places);
    if (status == LODE_OK)
        status = ask_places(self, asking, places, addresses, count);
    free(places);
    free(addresses);
    return status;
}

/* At a path or, if that is NULL, in the archive. */
static lode_status try_path(struct asking *self, const char *path)
{
    struct binary_asking asking = {
        .all = self->all, .path = name_of(self), .rule = PERF_RULE_BINARY_UNREAD, .error = self->error};
    if (path ? !lode_module_file_find(&asking.file, self->all, path, NULL)
             : !lode_perf_archive_find(&self->source->archive, &self->module->id, &asking.file))
        return LODE_END;
    lode_status status = ask_open(self, &asking);
    lode_module_file_close(&asking.file);
    return status;
}

/* What 'perf archive' made of the binaries is unpacked when the first one is missing. */
static lode_status read_archive(const struct asking *self)
{
    struct perf_source *source = self->source;
    return lode_perf_archive_read(&source->archive, &source->replay, source->folder.directory,
                                  self->all->binaries.program, self->error);
}

static lode_status try_archive(struct asking *self)
{
    if (self->module->id.size == 0)
        return LODE_END;
    LODE_TRY(read_archive(self));
    return try_path(self, NULL);
}

/* Where the binary was, then where copies are by build id. */
static lode_status ask_file(struct asking *self)
{
    const char *path = question_of(self)->path;
    char copy[PATH_MAX];
    self->lack = PERF_LACK_HELPER;
    if (self->all->binaries.program == NULL)
        return LODE_END;
    self->lack = PERF_LACK_BINARY;
    lode_status status = path[0] == '/' ? try_path(self, path) : LODE_END;
    for (unsigned i = 0; i < BINARY_COPIES && status == LODE_END; i++)
        if (lode_binary_copy_path(copy, (enum binary_copy)i, id_of(self->module),
                                  self->source->folder.directory))
            status = try_path(self, copy);
    return status == LODE_END ? try_archive(self) : status;
}

/* ---- other modules ---- */

/* The kernel's list of symbols: of the one that runs, or a copy by build id. */
static lode_status ask_kernel(struct asking *self, struct perf_answer *answer)
{
    struct perf_source *source = self->source;
    const struct perf_build_id *id = &self->module->id;
    struct hpcrun_module_file file = {.fd = lode_perf_open_kernel(source, self->module), .directory = -1};
    char path[PATH_MAX];
    for (unsigned i = 0; i < BINARY_COPY_WITH_CODE && file.fd < 0; i++)
        if (lode_binary_kernel_path(path, (enum binary_copy)i, id_of(self->module), source->folder.directory))
            lode_module_file_find(&file, self->all, path, NULL);
    if (file.fd < 0 && id->size > 0) {
        LODE_TRY(read_archive(self));
        lode_perf_archive_find(&source->archive, id, &file);
    }
    if (file.fd < 0)
        return LODE_END;
    int fd = file.fd;
    file.fd = -1;
    lode_module_file_close(&file);
    return lode_perf_read_kernel(source, fd, question_of(self), answer, self->error);
}

static lode_status ask_text(struct asking *self)
{
    struct perf_answer answer;
    const struct perf_module *module = self->module;
    lode_status status = LODE_END;
    lode_perf_answer_init(&answer);
    if (module->kind == PERF_MODULE_JIT)
        status = lode_perf_read_jit_map(self->source, module->pid, &answer, self->error);
    if (status == LODE_END && (module->kind == PERF_MODULE_JIT || module->kind == PERF_MODULE_DUMP))
        status = lode_perf_name_dump(self->source, module, &answer, self->error);
    if (module->kind == PERF_MODULE_KERNEL)
        status = ask_kernel(self, &answer);
    else if (module->kind == PERF_MODULE_SYMBOL)
        status = lode_perf_answer_add(&answer, question_of(self)->path, 0, UINT64_MAX)
                     ? LODE_OK
                     : lode_fail_memory(self->error);
    if (status == LODE_OK)
        status = answer_with(self, &answer.code);
    lode_perf_answer_free(&answer);
    return status;
}

/* Addresses without a name are one function of their module: "[libc.so.6]". */
static lode_status name_rest(const struct asking *self)
{
    const char *tail = lode_path_tail(question_of(self)->path);
    struct perf_answer answer;
    bool is_bracketed = tail[0] == '[';
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s%s", is_bracketed ? "" : "[", tail, is_bracketed ? "" : "]");
    lode_perf_answer_init(&answer);
    lode_status status = lode_perf_answer_add(&answer, name, 0, UINT64_MAX) ? answer_with(self, &answer.code)
                                                                            : lode_fail_memory(self->error);
    lode_perf_answer_free(&answer);
    return status;
}

/* ---- what stays without a name ---- */

static uint32_t count_unnamed(const struct hpcrun_question *question)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < question->count; i++)
        count += question->chains[i] == LODE_NO_NUMBER;
    return count;
}

/* Why addresses of a module have no names; PERF_LACK_NOTHING: nothing is to be said of it. */
static enum perf_lack lack_of(const struct asking *self, bool is_answered, bool is_all)
{
    const char *name = name_of(self);
    uint32_t kind = self->module->kind;
    if (kind == PERF_MODULE_FILE && (name[0] != '/' || strncmp(name, "/memfd:", strlen("/memfd:")) == 0))
        return PERF_LACK_FILE;
    if (kind == PERF_MODULE_FILE && is_answered)
        return is_all ? PERF_LACK_SYMBOLS : PERF_LACK_SOME_SYMBOLS;
    if (kind == PERF_MODULE_FILE)
        return self->all->binaries.foreign ? PERF_LACK_PERMISSION : self->lack;
    if (kind == PERF_MODULE_KERNEL_MODULE)
        return PERF_LACK_KERNEL_MODULE;
    if (is_answered)
        return PERF_LACK_NOTHING;
    return kind == PERF_MODULE_KERNEL ? PERF_LACK_KERNEL
           : kind == PERF_MODULE_JIT  ? PERF_LACK_JIT_MAP
                                      : PERF_LACK_NOTHING;
}

static lode_status note_unnamed(const struct asking *self, bool is_answered, struct lode_array *list)
{
    const struct hpcrun_question *question = question_of(self);
    uint32_t count = count_unnamed(question);
    enum perf_lack lack = lack_of(self, is_answered, count == question->count);
    if (count == 0 || lack == PERF_LACK_NOTHING)
        return LODE_OK;
    struct perf_unnamed *slot = lode_array_push(list);
    LODE_TRY_ALLOC(slot, self->error);
    *slot = (struct perf_unnamed){.module = name_of(self),
                                  .addresses = count,
                                  .number = self->number,
                                  .samples = self->source->module_samples[question->key],
                                  .lack = lack};
    return LODE_OK;
}

/* What is no address has its name. */
static lode_status name_waker(const struct asking *self)
{
    struct perf_answer made;
    struct hpcrun_answer answer = {.code = &made.code, .module = "[waker]", .hides_points = true};
    lode_perf_answer_init(&made);
    lode_status status = lode_perf_answer_add(&made, question_of(self)->path, 0, UINT64_MAX)
                             ? lode_hpcrun_answer(self->scopes, self->number, &answer, self->error)
                             : lode_fail_memory(self->error);
    lode_perf_answer_free(&made);
    return status;
}

static lode_status ask_all(struct perf_source *source, struct hpcrun_scopes *scopes,
                           const struct hpcrun_asking *all, struct lode_array *unnamed, lode_error *error)
{
    for (uint32_t i = 0; i < scopes->questions.count; i++) {
        const struct hpcrun_question *question = LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, i);
        struct asking self = {.source = source, .scopes = scopes, .all = all, .number = i, .error = error};
        if (question->count > 0 && question->key == PERF_KEY_WAKER)
            LODE_TRY(name_waker(&self));
        if (question->count == 0 || question->key >= source->replay.modules.items.count)
            continue;
        self.module = perf_module_at(&source->replay, question->key);
        lode_status status = self.module->kind == PERF_MODULE_FILE ? ask_file(&self) : ask_text(&self);
        if (status != LODE_END)
            LODE_TRY(status);
        LODE_TRY(note_unnamed(&self, status == LODE_OK, unnamed));
        LODE_TRY(name_rest(&self));
    }
    return LODE_OK;
}

lode_status lode_perf_ask(struct hpcrun_source *base, struct hpcrun_scopes *scopes,
                          const struct hpcrun_asking *all, lode_error *error)
{
    struct perf_source *source = perf_source_of(base);
    struct lode_array unnamed; /* struct perf_unnamed */
    lode_array_init(&unnamed, sizeof(struct perf_unnamed), UINT32_MAX - 1);
    lode_status status = ask_all(source, scopes, all, &unnamed, error);
    if (status == LODE_OK)
        status = lode_perf_report_unnamed(all->report, &unnamed, source->counts.samples);
    lode_array_free(&unnamed);
    return status;
}
