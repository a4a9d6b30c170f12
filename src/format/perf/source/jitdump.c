/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/jitdump.h"

#include "base/text/count.h"
#include <fcntl.h>
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HEADER_SIZE = 40, /* u32 magic, version, size, machine, padding, pid; u64 time, flags */
    RECORD_SIZE = 16, /* u32 kind, size; u64 time */
    LOAD_NAME = 56,   /* after u32 pid, tid; u64 address, start, size, index */
    MOVE_SIZE = 64,   /* u32 pid, tid; u64 address, old start, new start, size, index */
    LOADS_MOST = 1 << 22,
    BYTES_MOST = 1 << 30 /* of all dumps */
};

enum {
    KIND_LOAD,
    KIND_MOVE,
    KIND_CLOSE = 3
};

#define DUMP_MAGIC   UINT32_C(0x4a695444)
#define ORDER_OF_ALL (UINT64_C(1) << 62) /* of records at one time, those of dumps are the last */

/* A dump that is being read. */
struct dump_reading {
    struct perf_source *source;
    struct perf_dump *dump;
    struct lode_range bytes;
    bool is_big;
    bool is_timed;          /* its clock is that of the recording */
    uint64_t at;            /* of the record */
    uint64_t bad;           /* records that say nothing possible */
    struct lode_map loaded; /* from an index of code to its load */
    lode_error *error;
};

static uint64_t number_at(const struct dump_reading *self, uint64_t offset)
{
    return perf_u64(self->is_big, self->bytes.data + self->at + offset);
}

static uint32_t half_at(const struct dump_reading *self, uint64_t offset)
{
    return perf_u32(self->is_big, self->bytes.data + self->at + offset);
}

/* ---- records ---- */

static lode_status add_load(struct dump_reading *self, const struct perf_load *load)
{
    if (load->size == 0 || load->size > UINT64_MAX - load->start) {
        self->bad++;
        return LODE_OK;
    }
    struct perf_load *slot = lode_array_push(&self->dump->loads);
    LODE_TRY_ALLOC(slot, self->error);
    *slot = *load;
    return LODE_OK;
}

/* The code follows the name. */
static lode_status take_load(struct dump_reading *self, uint32_t size)
{
    const uint8_t *record = self->bytes.data + self->at;
    const uint8_t *end = size > LOAD_NAME ? memchr(record + LOAD_NAME, 0, size - LOAD_NAME) : NULL;
    if (end == NULL || number_at(self, 40) > (uint64_t)(record + size - end - 1)) {
        self->bad++;
        return LODE_OK;
    }
    struct perf_load load = {.start = number_at(self, 32),
                             .size = number_at(self, 40),
                             .offset = self->at + (uint64_t)(end + 1 - record),
                             .time = number_at(self, 8)};
    struct lode_range name = {record + LOAD_NAME, (uint64_t)(end - record) - LOAD_NAME};
    LODE_TRY(lode_perf_string(&self->source->store, name, &load.name));
    LODE_TRY(add_load(self, &load));
    uint32_t *number = lode_map_add(&self->loaded, number_at(self, 48), 0, NULL);
    LODE_TRY_ALLOC(number, self->error);
    *number = (uint32_t)self->dump->loads.count;
    return LODE_OK;
}

/* Code that was loaded before is elsewhere now. */
static lode_status take_move(struct dump_reading *self, uint32_t size)
{
    const uint32_t *number = size < MOVE_SIZE ? NULL : lode_map_get(&self->loaded, number_at(self, 56));
    if (number == NULL || *number == 0) {
        self->bad++;
        return LODE_OK;
    }
    struct perf_load load = *LODE_ARRAY_AT(&self->dump->loads, struct perf_load, *number - 1);
    load.start = number_at(self, 40);
    load.time = number_at(self, 8);
    return add_load(self, &load);
}

/* Reads records up to the end, or to one that has an impossible size: LODE_END. */
static lode_status take_records(struct dump_reading *self)
{
    while (self->at < self->bytes.size && self->dump->loads.count < LOADS_MOST) {
        uint64_t left = self->bytes.size - self->at;
        uint32_t kind = left < RECORD_SIZE ? 0 : half_at(self, 0);
        uint32_t size = left < RECORD_SIZE ? 0 : half_at(self, 4);
        if (size < RECORD_SIZE || size > left)
            return LODE_END;
        if (kind == KIND_CLOSE)
            return LODE_OK;
        if (kind == KIND_LOAD)
            LODE_TRY(take_load(self, size));
        else if (kind == KIND_MOVE)
            LODE_TRY(take_move(self, size));
        self->at += size;
    }
    return LODE_OK;
}

/* ---- the file ---- */

/* Whether times of the recording are those of the clock that compilers use. */
static bool is_monotonic(const struct perf_store *store)
{
    for (size_t i = 0; i < store->events.count; i++) {
        const struct perf_event *event = perf_event_at(store, i);
        if (!perf_event_flag(event, PERF_FLAG_CLOCKID) || event->attr.clock != CLOCK_MONOTONIC)
            return false;
    }
    return true;
}

static bool read_header(struct dump_reading *self)
{
    enum {
        VERSION = 1,
        OTHER_CLOCK = 1 /* a flag: that of the processor */
    };
    if (self->bytes.size < HEADER_SIZE)
        return false;
    self->is_big = get_u32be(self->bytes.data) == DUMP_MAGIC;
    uint32_t size = half_at(self, 8);
    if (half_at(self, 0) != DUMP_MAGIC || half_at(self, 4) != VERSION || size < HEADER_SIZE ||
        size > self->bytes.size)
        return false;
    self->is_timed = !(number_at(self, 32) & OTHER_CLOCK) && is_monotonic(&self->source->store);
    self->at = size;
    return true;
}

static lode_status report_dump(const struct dump_reading *self, lode_status status)
{
    struct lode_report *report = self->source->store.report;
    const char *path = lode_strings_at(&self->source->store.strings, self->dump->path);
    if (status == LODE_END)
        LODE_TRY(lode_report_add(report, PERF_RULE_JITDUMP, path, self->at,
                                 "a record is cut off, or has an impossible size"));
    if (self->bad > 0)
        LODE_TRY(lode_report_add(report, PERF_RULE_JITDUMP, path, LODE_NO_OFFSET, "%s impossible",
                                 LODE_COUNTED(self->bad, "record is", "records are")));
    return LODE_OK;
}

/* Code becomes side records, which are sorted later. */
static lode_status add_sides(const struct dump_reading *self)
{
    struct perf_store *store = &self->source->store;
    const struct perf_dump *dump = self->dump;
    for (size_t i = 0; i < dump->loads.count; i++) {
        const struct perf_load *load = LODE_ARRAY_AT(&dump->loads, struct perf_load, i);
        struct perf_code *code = lode_arena_alloc(&store->arena, 1, sizeof *code);
        struct perf_side *side = code ? lode_array_push(&store->sides) : NULL;
        LODE_TRY_ALLOC(side, self->error);
        *code = (struct perf_code){load->start, load->size, load->offset, dump->pid, dump->path};
        *side = (struct perf_side){.time = load->time == UINT64_MAX ? 0 : load->time,
                                   .order = ORDER_OF_ALL + store->sides.count,
                                   .bytes = (const uint8_t *)code,
                                   .part = LODE_NONE};
    }
    LODE_TRY_ALLOC(lode_map_add(&self->source->replay.dumped, (uint32_t)dump->pid, 1, NULL), self->error);
    return LODE_OK;
}

static lode_status read_dump(struct perf_source *source, struct perf_dump *dump, struct lode_range bytes,
                             lode_error *error)
{
    struct dump_reading self = {.source = source, .dump = dump, .bytes = bytes, .error = error};
    if (!read_header(&self))
        return lode_report_add(source->store.report, PERF_RULE_JITDUMP,
                               lode_strings_at(&source->store.strings, dump->path), 0,
                               "it does not begin like a dump of version 1");
    lode_map_init(&self.loaded);
    lode_status status = take_records(&self);
    lode_map_free(&self.loaded);
    if (status != LODE_END)
        LODE_TRY(status);
    LODE_TRY(report_dump(&self, status));
    return self.is_timed ? add_sides(&self) : LODE_OK;
}

/* ---- which dumps there are ---- */

/* "/tmp/jit-45.dump" */
static bool is_dump(const char *path)
{
    const char *tail = lode_path_tail(path), *digits = tail + strlen("jit-");
    if (path[0] != '/' || strncmp(tail, "jit-", strlen("jit-")) != 0)
        return false;
    size_t count = strspn(digits, "0123456789");
    return count > 0 && strcmp(digits + count, ".dump") == 0;
}

/* Beside the recording, else where it was. */
static int open_dump(const struct perf_source *source, const char *path)
{
    int fd = -1;
    if (source->folder.directory >= 0)
        fd = lode_perf_open_text(source->folder.directory, lode_path_tail(path), &source->owner);
    return fd >= 0 || source->base.input->options->foreign
               ? fd
               : lode_perf_open_text(AT_FDCWD, path, &source->owner);
}

/* Files beyond the budget are left out. */
static lode_status read_file(struct perf_source *source, struct perf_dump *dump, int fd, uint64_t *budget,
                             lode_error *error)
{
    struct lode_blob bytes = {0};
    lode_status status = lode_perf_read_text(&bytes, fd) ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK && bytes.size <= *budget) {
        *budget -= bytes.size;
        /* Without the NUL at the end. */
        status = read_dump(source, dump, (struct lode_range){bytes.bytes, bytes.size - 1}, error);
    }
    lode_blob_free(&bytes);
    return status;
}

/* LODE_END: there is no such file. */
static lode_status add_dump(struct perf_source *source, int32_t pid, const char *path, uint64_t *budget,
                            lode_error *error)
{
    struct perf_dump dump = {.pid = pid, .path = lode_strings_add(&source->store.strings, path)};
    LODE_TRY_ALLOC(dump.path != LODE_NO_NUMBER, error);
    struct perf_dump *slot = lode_array_push(&source->dumps);
    LODE_TRY_ALLOC(slot, error);
    *slot = dump;
    lode_array_init(&slot->loads, sizeof(struct perf_load), LOADS_MOST);
    int fd = open_dump(source, path);
    if (fd >= 0)
        return read_file(source, slot, fd, budget, error);
    source->dumps.count--;
    return LODE_END;
}

/* A mapping of a dump: its process and path. False if it is none. */
static bool names_dump(const struct perf_store *store, const struct perf_side *side, int32_t *pid,
                       char path[PATH_MAX])
{
    enum {
        MMAP_NAME = 40,
        MMAP2_NAME = 72
    };
    uint32_t type = perf_u32(store->is_big, side->bytes), size = perf_u16(store->is_big, side->bytes + 6);
    uint32_t at = type == PERF_MMAP2 ? MMAP2_NAME : MMAP_NAME;
    if ((type != PERF_MMAP && type != PERF_MMAP2) || size <= at || size - at > PATH_MAX)
        return false;
    *pid = (int32_t)perf_u32(store->is_big, side->bytes + 8);
    memcpy(path, side->bytes + at, size - at);
    path[size - at - 1] = '\0';
    return is_dump(path);
}

/* The dump of a process, if it is not known yet. */
static lode_status find_dump(struct perf_source *source, const struct perf_side *side, uint64_t *budget,
                             lode_error *error)
{
    char path[PATH_MAX];
    int32_t pid;
    bool is_new = false;
    if (!names_dump(&source->store, side, &pid, path))
        return LODE_OK;
    uint32_t *number = lode_map_add(&source->dump_of, (uint32_t)pid, LODE_NONE, &is_new);
    LODE_TRY_ALLOC(number, error);
    lode_status status = is_new ? add_dump(source, pid, path, budget, error) : LODE_END;
    if (status == LODE_OK)
        *number = (uint32_t)source->dumps.count - 1;
    return status == LODE_END ? LODE_OK : status;
}

lode_status lode_perf_read_dumps(struct perf_source *source, lode_error *error)
{
    struct perf_store *store = &source->store;
    size_t count = store->sides.count;
    uint64_t budget = BYTES_MOST;
    for (size_t i = 0; i < count; i++)
        LODE_TRY(find_dump(source, LODE_ARRAY_AT(&store->sides, struct perf_side, i), &budget, error));
    if (store->sides.count > count)
        lode_perf_sort_sides(store);
    return LODE_OK;
}

void lode_perf_free_dumps(struct perf_source *source)
{
    for (size_t i = 0; i < source->dumps.count; i++)
        lode_array_free(&LODE_ARRAY_AT(&source->dumps, struct perf_dump, i)->loads);
    lode_array_free(&source->dumps);
    lode_map_free(&source->dump_of);
}

/* ---- names ---- */

lode_status lode_perf_name_dump(const struct perf_source *source, const struct perf_module *module,
                                struct perf_answer *answer, lode_error *error)
{
    const uint32_t *number = lode_map_get(&source->dump_of, (uint32_t)module->pid);
    const struct perf_dump *dump =
        number && *number != LODE_NONE ? LODE_ARRAY_AT(&source->dumps, struct perf_dump, *number) : NULL;
    if (dump == NULL || dump->loads.count == 0)
        return LODE_END;
    for (size_t i = 0; i < dump->loads.count; i++) {
        const struct perf_load *load = LODE_ARRAY_AT(&dump->loads, struct perf_load, i);
        uint64_t start = module->kind == PERF_MODULE_DUMP ? load->offset : load->start;
        const char *name = lode_strings_at(&source->store.strings, load->name);
        LODE_TRY_ALLOC(lode_perf_answer_add(answer, name, start, start + load->size), error);
    }
    LODE_TRY_ALLOC(lode_perf_answer_settle(answer), error);
    return LODE_OK;
}
