/* SPDX-License-Identifier: BSD-3-Clause */
/* What files of text say: maps of JIT compilers and the kernel's list of symbols. */
#include "format/perf/source/answer.h"

#include "base/compare.h"
#include "base/text/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lode/private/utf8.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    LINE_MOST = 4096,
    LINES_MOST = 1 << 22,
    NOTES_MOST = 4096,
    TEXT_MOST = 1 << 28
};

void lode_perf_answer_init(struct perf_answer *answer)
{
    *answer = (struct perf_answer){0};
    lode_strings_init(&answer->strings);
    lode_array_init(&answer->code.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&answer->code.ranges, sizeof(struct hpcstruct_range), UINT32_MAX - 1);
    answer->code.strings = &answer->strings;
}

void lode_perf_answer_free(struct perf_answer *answer)
{
    lode_strings_free(&answer->strings);
    lode_array_free(&answer->code.scopes);
    lode_array_free(&answer->code.ranges);
}

bool lode_perf_answer_add(struct perf_answer *answer, const char *name, uint64_t start, uint64_t end)
{
    struct hpcstruct_scope scope = {.parent = LODE_NO_NUMBER, .file = LODE_NO_NUMBER, .address = start};
    struct hpcstruct_scope *slot = lode_array_push(&answer->code.scopes);
    struct hpcstruct_range *range = lode_array_push(&answer->code.ranges);
    if (slot == NULL || range == NULL || !lode_strings_put(&answer->strings, name, &scope.name))
        return false;
    *slot = scope;
    *range = (struct hpcstruct_range){start, end, (uint32_t)answer->code.scopes.count - 1};
    return true;
}

/* ---- lines ---- */

int lode_perf_open_text(int directory, const char *path, const uid_t *owner)
{
    struct stat about;
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool is_fit = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size < TEXT_MOST &&
                  (about.st_uid == geteuid() || about.st_uid == 0 || (owner && about.st_uid == *owner));
    if (fd >= 0 && !is_fit)
        close(fd);
    return is_fit ? fd : -1;
}

bool lode_perf_read_text(struct lode_blob *text, int fd)
{
    enum {
        PIECE = 1 << 20
    };
    ssize_t got = 1;
    bool done = true;
    while (done && got != 0) {
        size_t at = lode_blob_extend(text, PIECE);
        done = at != LODE_BLOB_FULL && at <= TEXT_MOST;
        got = done ? read(fd, text->bytes + at, PIECE) : 0;
        if (done)
            text->size = at + (got > 0 ? (size_t)got : 0);
        done = done && (got >= 0 || errno == EINTR);
    }
    close(fd);
    return done && lode_blob_reserve(text, 1, 1) != LODE_BLOB_FULL;
}

/* Ends a line, and returns where the next one begins. */
static char *end_line(char *line)
{
    char *end = line + strcspn(line, "\n");
    bool is_last = *end == '\0';
    *end = '\0';
    return is_last ? end : end + 1;
}

/* Names are shown: what is not UTF-8 is replaced. */
static void clean(char *name)
{
    size_t length = strlen(name), valid;
    while ((valid = lode_utf8_valid_prefix(name, length)) < length) {
        name[valid] = '?';
    }
}

/* ---- maps of JIT compilers ---- */

/* "7f001000 1f0 name of it": hexadecimal, and a name to the end of the line. */
static bool parse_jit(char *line, uint64_t *start, uint64_t *size, char **name)
{
    char *end;
    *start = strtoull(line, &end, 16);
    if (end == line || *end != ' ')
        return false;
    char *at = end + 1;
    *size = strtoull(at, &end, 16);
    if (end == at || *end != ' ' || *size == 0 || *size > UINT64_MAX - *start)
        return false;
    *name = end + 1;
    return **name != '\0';
}

/* Code is replaced: of functions that overlap, the last one in the file counts. */
bool lode_perf_answer_settle(struct perf_answer *answer)
{
    struct lode_array *ranges = &answer->code.ranges;
    struct hpcstruct_range *items = ranges->items;
    uint64_t dropped;
    for (size_t i = 0, j = ranges->count; i + 1 < j; i++) {
        struct hpcstruct_range swapped = items[i];
        items[i] = items[--j];
        items[j] = swapped;
    }
    return lode_hpcstruct_settle(ranges, &dropped);
}

static int open_jit_map(const struct perf_source *source, int32_t pid)
{
    char name[64];
    int fd = -1;
    snprintf(name, sizeof name, "perf-%d.map", pid);
    if (source->folder.directory >= 0)
        fd = lode_perf_open_text(source->folder.directory, name, &source->owner);
    if (fd >= 0 || source->base.input->options->foreign)
        return fd;
    snprintf(name, sizeof name, "/tmp/perf-%d.map", pid);
    return lode_perf_open_text(AT_FDCWD, name, &source->owner);
}

lode_status lode_perf_read_jit_map(const struct perf_source *source, int32_t pid, struct perf_answer *answer,
                                   lode_error *error)
{
    int fd = open_jit_map(source, pid);
    struct lode_blob text = {0};
    uint64_t start, size;
    char *name;
    if (fd < 0)
        return LODE_END;
    bool done = lode_perf_read_text(&text, fd);
    for (char *line = (char *)text.bytes; done && *line && answer->code.ranges.count < LINES_MOST;) {
        char *next = end_line(line);
        if (parse_jit(line, &start, &size, &name)) {
            clean(name);
            done = lode_perf_answer_add(answer, name, start, start + size);
        }
        line = next;
    }
    lode_blob_free(&text);
    LODE_TRY_ALLOC(done && lode_perf_answer_settle(answer), error);
    return LODE_OK;
}

/* ---- the kernel ---- */

/* The build id of the kernel that runs, from its ELF notes; its size, or 0. */
static size_t running_id(uint8_t id[PERF_BUILD_ID])
{
    enum {
        NT_BUILD_ID = 3
    };
    uint8_t notes[NOTES_MOST];
    int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, notes, sizeof notes);
    if (fd >= 0)
        close(fd);
    for (size_t at = 0; size > 0 && at + 12 <= (size_t)size;) {
        uint32_t fields[3]; /* sizes of name and content, and the type */
        memcpy(fields, notes + at, sizeof fields);
        size_t content = at + 12 + ((size_t)fields[0] + 3) / 4 * 4;
        size_t end = content + ((size_t)fields[1] + 3) / 4 * 4;
        if (fields[0] > NOTES_MOST || fields[1] > NOTES_MOST || end > (size_t)size)
            return 0;
        if (fields[2] == NT_BUILD_ID && fields[0] == 4 && memcmp(notes + at + 12, "GNU", 4) == 0 &&
            fields[1] <= PERF_BUILD_ID) {
            memcpy(id, notes + content, fields[1]);
            return fields[1];
        }
        at = end;
    }
    return 0;
}

/* By build id or, if none was recorded, by the names of the host and of the release. */
static bool is_running(const struct perf_store *store, const struct perf_module *module)
{
    uint8_t id[PERF_BUILD_ID];
    struct utsname here;
    if (module->id.size > 0) {
        size_t size = running_id(id);
        return size == module->id.size && memcmp(id, module->id.bytes, size) == 0;
    }
    return uname(&here) == 0 && store->release && store->host && strcmp(here.release, store->release) == 0 &&
           strcmp(here.nodename, store->host) == 0;
}

/* A function, and where its name begins in the text. */
struct symbol {
    uint64_t address;
    size_t name;
};

LODE_COMPARE_BY_2(compare_symbols, struct symbol, address, name);

/* The list of symbols, which is read once. */
struct kernel_list {
    struct lode_blob text;
    struct lode_array symbols; /* struct symbol */
    uint64_t mark;             /* the address of the symbol that the recording names; 0: none */
};

/* "ffffffff81000000 T name": the end of the line, which becomes that of the name. */
static char *take_symbol(struct kernel_list *list, char *line, const char *wanted, bool *is_full)
{
    char *next = end_line(line), *end;
    uint64_t address = strtoull(line, &end, 16);
    bool is_whole = end != line && *end == ' ' && end[1] != '\0' && end[2] == ' ' && address > 0;
    /* Symbols of modules have the name of theirs after a tab; modules have their own mappings. */
    if (is_whole && strchr(end + 3, '\t') == NULL) {
        if (strcmp(end + 3, wanted) == 0)
            list->mark = address;
        struct symbol *slot = strchr("tTwW", end[1]) ? lode_array_push(&list->symbols) : NULL;
        *is_full |= slot == NULL && strchr("tTwW", end[1]);
        if (slot)
            *slot = (struct symbol){address, (size_t)(end + 3 - (char *)list->text.bytes)};
    }
    return next;
}

/*
 * From offsets in the mapping to addresses of now: the kernel may be elsewhere since it was
 * recorded. Only functions that are asked about are named.
 */
static bool add_symbols(const struct perf_replay *replay, const struct kernel_list *list,
                        const struct hpcrun_question *question, struct perf_answer *answer)
{
    const struct symbol *items = list->symbols.items;
    uint64_t moved = replay->kernel_mark - replay->kernel_start - list->mark;
    size_t count = list->symbols.count, last = SIZE_MAX;
    for (uint32_t i = 0; i < question->count; i++) {
        uint64_t address = question->offsets[i] - moved;
        size_t low = 0, high = count;
        LODE_BISECT(low, high, items[middle].address <= address);
        if (low == 0 || low - 1 == last)
            continue;
        last = low - 1;
        char *name = (char *)list->text.bytes + items[last].name;
        uint64_t end = low < count ? items[low].address : items[last].address + LINE_MOST;
        clean(name);
        if (address < end && !lode_perf_answer_add(answer, name, items[last].address + moved, end + moved))
            return false;
    }
    return true;
}

static bool list_symbols(struct kernel_list *list, int fd, const char *wanted)
{
    bool is_full = false;
    if (!lode_perf_read_text(&list->text, fd))
        return false;
    for (char *line = (char *)list->text.bytes; *line;)
        line = take_symbol(list, line, wanted, &is_full);
    if (list->symbols.count > 1)
        qsort(list->symbols.items, list->symbols.count, list->symbols.item_size, compare_symbols);
    return !is_full;
}

int lode_perf_open_kernel(const struct perf_source *source, const struct perf_module *module)
{
    return !source->base.input->options->foreign && is_running(&source->store, module)
               ? lode_perf_open_text(AT_FDCWD, "/proc/kallsyms", NULL)
               : -1;
}

lode_status lode_perf_read_kernel(const struct perf_source *source, int fd,
                                  const struct hpcrun_question *question, struct perf_answer *answer,
                                  lode_error *error)
{
    const struct perf_replay *replay = &source->replay;
    const char *wanted = lode_strings_at(&source->store.strings, replay->kernel_symbol);
    struct kernel_list list = {.mark = 0};
    if (wanted == NULL) {
        close(fd);
        return LODE_END;
    }
    lode_array_init(&list.symbols, sizeof(struct symbol), LINES_MOST);
    bool is_listed = list_symbols(&list, fd, wanted) && list.mark > 0;
    bool done = !is_listed || add_symbols(replay, &list, question, answer);
    lode_array_free(&list.symbols);
    lode_blob_free(&list.text);
    LODE_TRY_ALLOC(done, error);
    return is_listed ? LODE_OK : LODE_END;
}
