/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/read/replay.h"

#include "base/compare.h"
#include "base/text/count.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNEL_SPACE,
    NODES_FLOOR = 1 << 16, /* nodes of trees of mappings, and how many for each record */
    NODES_RECORD = 256,
    NODES_MOST = 1 << 30
};

#define KERNEL_NAME "[kernel.kallsyms]"

/* ---- times ---- */

/* From a time on. Of several at one time, the last one counts. */
static lode_status since(struct lode_array *list, uint64_t time, uint32_t value, lode_error *error)
{
    struct perf_since *last =
        list->count > 0 ? LODE_ARRAY_AT(list, struct perf_since, list->count - 1) : NULL;
    if (last && last->time == time) {
        last->value = value;
        return LODE_OK;
    }
    struct perf_since *slot = lode_array_push(list);
    LODE_TRY_ALLOC(slot, error);
    *slot = (struct perf_since){time, value};
    return LODE_OK;
}

/* The last value, or `otherwise`. */
static uint32_t newest(const struct lode_array *list, uint32_t otherwise)
{
    return list->count > 0 ? LODE_ARRAY_AT(list, struct perf_since, list->count - 1)->value : otherwise;
}

/* The value at a time; narrows [from, to) to where it holds. */
static uint32_t value_at(const struct lode_array *list, uint64_t time, uint32_t otherwise,
                         struct perf_moment *out)
{
    const struct perf_since *items = list->items;
    size_t low = 0, high = list->count;
    LODE_BISECT(low, high, items[middle].time <= time);
    if (low > 0 && items[low - 1].time > out->from)
        out->from = items[low - 1].time;
    if (low < list->count && items[low].time < out->to)
        out->to = items[low].time;
    return low > 0 ? items[low - 1].value : otherwise;
}

/* ---- modules ---- */

static lode_status add_module(struct perf_replay *self, const struct perf_module *module, uint32_t *number)
{
    *number = lode_interner_add(&self->modules, module, NULL);
    LODE_TRY_ALLOC(*number != LODE_NO_NUMBER, self->store->report->error);
    return LODE_OK;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_anonymous(const char *name)
{
    static const char *const beginnings[] = {"//anon", "/dev/zero", "/anon_hugepage", "[stack", "/SYSV"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins_with(name, beginnings[i]))
            return true;
    return strcmp(name, "[heap]") == 0;
}

/* The build id that the list has for a name. */
static void take_named_id(const struct perf_replay *self, struct perf_module *module)
{
    const uint32_t *number = lode_map_get(&self->named_ids, module->name);
    if (number && module->id.size == 0)
        module->id = LODE_ARRAY_AT(&self->store->build_ids, struct perf_named_id, *number)->id;
}

/* ---- spaces and threads ---- */

static struct perf_space *space_at(const struct perf_replay *self, uint32_t number)
{
    return LODE_ARRAY_AT(&self->spaces, struct perf_space, number);
}

static struct perf_thread *thread_at(const struct perf_replay *self, uint32_t number)
{
    return LODE_ARRAY_AT(&self->threads, struct perf_thread, number);
}

static lode_status add_space(struct perf_replay *self, uint32_t *number)
{
    struct perf_space *space = lode_array_push(&self->spaces);
    LODE_TRY_ALLOC(space, self->store->report->error);
    lode_array_init(&space->roots, sizeof(struct perf_since), SIZE_MAX);
    space->edition = lode_perf_maps_edition(&self->maps);
    *number = (uint32_t)self->spaces.count - 1;
    return LODE_OK;
}

/* The list of threads of an id; added if new. */
static lode_status find_task(struct perf_replay *self, int32_t tid, struct perf_task **out)
{
    bool added;
    uint32_t *number = lode_map_add(&self->task_of, (uint32_t)tid, (uint32_t)self->tasks.count, &added);
    struct perf_task *task = number && added ? lode_array_push(&self->tasks) : NULL;
    LODE_TRY_ALLOC(number && (task || !added), self->store->report->error);
    if (task)
        lode_array_init(&task->threads, sizeof(uint32_t), UINT32_MAX - 1);
    *out = LODE_ARRAY_AT(&self->tasks, struct perf_task, *number);
    return LODE_OK;
}

/* A first thread needs no other one. NOLINTBEGIN(misc-no-recursion) */

static lode_status find_thread(struct perf_replay *self, int32_t pid, int32_t tid, uint32_t *out);

/* Threads of a process share the space of its first thread. */
static lode_status join_process(struct perf_replay *self, uint32_t number, int32_t pid, int32_t tid)
{
    uint32_t leader = number, space;
    if (pid != tid && pid != -1) {
        LODE_TRY(find_thread(self, pid, pid, &leader));
        space = thread_at(self, leader)->space;
    } else {
        LODE_TRY(add_space(self, &space));
    }
    thread_at(self, number)->leader = leader;
    thread_at(self, number)->space = space;
    return LODE_OK;
}

static lode_status add_thread(struct perf_replay *self, int32_t pid, int32_t tid, uint64_t begin,
                              uint32_t *out)
{
    struct perf_task *task;
    uint32_t number = (uint32_t)self->threads.count;
    struct perf_thread *thread = lode_array_push(&self->threads);
    LODE_TRY_ALLOC(thread, self->store->report->error);
    *thread = (struct perf_thread){.begin = begin, .pid = pid, .tid = tid, .leader = number};
    lode_array_init(&thread->names, sizeof(struct perf_since), SIZE_MAX);
    LODE_TRY(find_task(self, tid, &task));
    uint32_t *slot = lode_array_push(&task->threads);
    LODE_TRY_ALLOC(slot, self->store->report->error);
    *slot = *out = number;
    return join_process(self, number, pid, tid);
}

/* The newest thread of an id. One that no record created is there from the beginning. */
static lode_status find_thread(struct perf_replay *self, int32_t pid, int32_t tid, uint32_t *out)
{
    struct perf_task *task;
    LODE_TRY(find_task(self, tid, &task));
    if (task->threads.count == 0)
        return add_thread(self, pid, tid, 0, out);
    *out = *LODE_ARRAY_AT(&task->threads, uint32_t, task->threads.count - 1);
    struct perf_thread *thread = thread_at(self, *out);
    if (thread->pid != -1 || pid == -1)
        return LODE_OK;
    thread->pid = pid;
    return pid == tid ? LODE_OK : join_process(self, *out, pid, tid);
}

/* NOLINTEND(misc-no-recursion) */

/* ---- mappings ---- */

/* A version that may have been looked at is not changed any more. */
static lode_status begin_version(struct perf_replay *self, struct perf_space *space, uint64_t time,
                                 uint32_t *root)
{
    const struct lode_array *roots = &space->roots;
    *root = newest(roots, 0);
    if (roots->count > 0 && LODE_ARRAY_AT(roots, struct perf_since, roots->count - 1)->time != time)
        space->edition = lode_perf_maps_edition(&self->maps);
    return LODE_OK;
}

static lode_status map(struct perf_replay *self, uint32_t number, uint64_t time,
                       const struct perf_mapping *mapping)
{
    struct perf_space *space = space_at(self, number);
    uint32_t root;
    LODE_TRY(begin_version(self, space, time, &root));
    if (!lode_perf_maps_insert(&self->maps, &root, space->edition, mapping)) {
        if (self->maps.nodes.count < self->maps.nodes.max)
            return lode_fail_memory(self->store->report->error);
        LODE_TRY(perf_finding(self->store, PERF_RULE_LIMIT, perf_part_at(self->store, 0)->name,
                              LODE_NO_OFFSET, "mappings take more than %zu nodes", self->maps.nodes.max));
        return LODE_END;
    }
    return since(&space->roots, time, root, self->store->report->error);
}

/* A record of a mapping, decoded. */
struct mapped {
    struct perf_mapping mapping;
    struct perf_module module;
    uint64_t offset; /* in the file */
    uint32_t protection, flags;
    int32_t pid, tid;
    unsigned mode;
    const char *name;
};

enum {
    MAP_HUGETLB = 0x40000,
    PROT_EXEC_BIT = 4,
    MMAP_NAME = 40,
    MMAP2_PROTECTION = 64,
    MMAP2_NAME = 72,
    MMAP2_ID = 40
};

/* LODE_END: the record is too short, or the mapping impossible. */
static lode_status decode_mapping(struct perf_replay *self, const struct perf_side *side, uint32_t size,
                                  struct mapped *out)
{
    const struct perf_store *store = self->store;
    bool is_big = store->is_big, is_second = perf_u32(is_big, side->bytes) == PERF_MMAP2;
    uint16_t misc = perf_u16(is_big, side->bytes + 4);
    const uint8_t *bytes = side->bytes;
    uint32_t name_at = is_second ? MMAP2_NAME : MMAP_NAME;
    *out = (struct mapped){.mode = misc & PERF_MODE, .protection = PROT_EXEC_BIT};
    if (size < name_at) {
        self->short_records++;
        return LODE_END;
    }
    out->pid = (int32_t)perf_u32(is_big, bytes + 8);
    out->tid = (int32_t)perf_u32(is_big, bytes + 12);
    uint64_t start = perf_u64(is_big, bytes + 16), length = perf_u64(is_big, bytes + 24);
    out->offset = perf_u64(is_big, bytes + 32);
    if (length == 0 || length > UINT64_MAX - start) {
        self->bad_mappings++;
        return LODE_END;
    }
    out->mapping = (struct perf_mapping){.start = start, .end = start + length};
    if (is_second && misc & PERF_MISC_BUILD_ID) {
        out->module.id.size = bytes[MMAP2_ID] < PERF_BUILD_ID ? bytes[MMAP2_ID] : PERF_BUILD_ID;
        memcpy(out->module.id.bytes, bytes + MMAP2_ID + 4, out->module.id.size);
    } else if (is_second) {
        out->module.device_major = perf_u32(is_big, bytes + MMAP2_ID);
        out->module.device_minor = perf_u32(is_big, bytes + MMAP2_ID + 4);
        out->module.inode = perf_u64(is_big, bytes + MMAP2_ID + 8);
        out->module.generation = perf_u64(is_big, bytes + MMAP2_ID + 16);
    }
    if (is_second) {
        out->protection = perf_u32(is_big, bytes + MMAP2_PROTECTION);
        out->flags = perf_u32(is_big, bytes + MMAP2_PROTECTION + 4);
    } else if (misc & PERF_MISC_DATA) {
        out->protection = 0;
    }
    LODE_TRY(lode_perf_string(self->store, (struct lode_range){bytes + name_at, size - name_at},
                              &out->module.name));
    out->name = lode_strings_at(&store->strings, out->module.name);
    return LODE_OK;
}

/* The kernel moves between boots: offsets in it count from its mapping. */
static lode_status map_kernel(struct perf_replay *self, uint64_t time, struct mapped *mapped)
{
    bool is_image = begins_with(mapped->name, KERNEL_NAME);
    mapped->module.kind = is_image ? PERF_MODULE_KERNEL : PERF_MODULE_KERNEL_MODULE;
    mapped->module.inode = mapped->module.generation = 0;
    if (is_image) {
        mapped->module.name = lode_strings_add(&self->store->strings, KERNEL_NAME);
        LODE_TRY_ALLOC(mapped->module.name != LODE_NO_NUMBER, self->store->report->error);
        self->kernel_start = mapped->mapping.start;
        self->kernel_mark = mapped->offset;
        self->kernel_symbol = lode_strings_add(&self->store->strings, mapped->name + strlen(KERNEL_NAME));
        LODE_TRY_ALLOC(self->kernel_symbol != LODE_NO_NUMBER, self->store->report->error);
    }
    take_named_id(self, &mapped->module);
    mapped->mapping.shift = mapped->mapping.start;
    LODE_TRY(add_module(self, &mapped->module, &mapped->mapping.module));
    return map(self, KERNEL_SPACE, time, &mapped->mapping);
}

/* Code without a file has its own addresses as offsets. */
static lode_status map_user(struct perf_replay *self, uint64_t time, struct mapped *mapped)
{
    bool has_no_file = is_anonymous(mapped->name) || mapped->flags & MAP_HUGETLB;
    bool is_code = mapped->protection & PROT_EXEC_BIT;
    uint32_t thread;
    mapped->module.kind = !has_no_file ? PERF_MODULE_FILE : is_code ? PERF_MODULE_JIT : PERF_MODULE_MEMORY;
    /* Later mappings of memory, as for another protection, do not end what is in it. */
    if (mapped->module.kind == PERF_MODULE_JIT && lode_map_get(&self->dumped, (uint32_t)mapped->pid))
        return LODE_OK;
    if (has_no_file)
        mapped->module = (struct perf_module){
            .name = mapped->module.name, .kind = mapped->module.kind, .pid = is_code ? mapped->pid : 0};
    else if (mapped->module.id.size > 0)
        mapped->module.inode = mapped->module.generation = 0;
    else
        take_named_id(self, &mapped->module);
    if (begins_with(mapped->name, "[vdso"))
        mapped->offset = 0;
    mapped->mapping.shift = has_no_file ? 0 : mapped->mapping.start - mapped->offset;
    mapped->mapping.is_code = is_code;
    self->zero_mappings += mapped->pid == 0;
    LODE_TRY(add_module(self, &mapped->module, &mapped->mapping.module));
    LODE_TRY(find_thread(self, mapped->pid, mapped->tid, &thread));
    return map(self, thread_at(self, thread)->space, time, &mapped->mapping);
}

static lode_status take_mapping(struct perf_replay *self, const struct perf_side *side, uint32_t size)
{
    struct mapped mapped;
    lode_status status = decode_mapping(self, side, size, &mapped);
    if (status != LODE_OK)
        return status == LODE_END ? LODE_OK : status;
    bool is_kernel = mapped.mode == PERF_MODE_KERNEL || mapped.mode == PERF_MODE_GUEST_KERNEL;
    return is_kernel ? map_kernel(self, side->time, &mapped) : map_user(self, side->time, &mapped);
}

/* ---- the other records ---- */

static lode_status take_name(struct perf_replay *self, const struct perf_side *side, uint32_t size)
{
    enum {
        AT_NAME = 16
    };
    bool is_big = self->store->is_big;
    uint32_t thread, name;
    if (size < AT_NAME) {
        self->short_records++;
        return LODE_OK;
    }
    LODE_TRY(find_thread(self, (int32_t)perf_u32(is_big, side->bytes + 8),
                         (int32_t)perf_u32(is_big, side->bytes + 12), &thread));
    LODE_TRY(
        lode_perf_string(self->store, (struct lode_range){side->bytes + AT_NAME, size - AT_NAME}, &name));
    return since(&thread_at(self, thread)->names, side->time, name, self->store->report->error);
}

/* A child has its parent's name and, in another process, its mappings. */
static lode_status take_fork(struct perf_replay *self, const struct perf_side *side, uint32_t size)
{
    bool is_big = self->store->is_big;
    lode_error *error = self->store->report->error;
    uint32_t parent, child;
    if (size < PERF_RECORD_HEADER + 16) {
        self->short_records++;
        return LODE_OK;
    }
    int32_t ids[4];
    for (unsigned i = 0; i < 4; i++)
        ids[i] = (int32_t)perf_u32(is_big, side->bytes + PERF_RECORD_HEADER + (size_t)i * 4);
    int32_t pid = ids[0], parent_pid = ids[1], tid = ids[2], parent_tid = ids[3];
    self->own_parents += tid == parent_tid && tid != 0;
    LODE_TRY(find_thread(self, parent_pid, parent_tid, &parent));
    if (thread_at(self, parent)->pid != parent_pid)
        LODE_TRY(add_thread(self, parent_pid, parent_tid, side->time, &parent));
    LODE_TRY(add_thread(self, pid, tid, side->time, &child));
    uint32_t name = newest(&thread_at(self, parent)->names, LODE_NO_NUMBER);
    if (name != LODE_NO_NUMBER)
        LODE_TRY(since(&thread_at(self, child)->names, side->time, name, error));
    uint32_t from = thread_at(self, parent)->space, to = thread_at(self, child)->space;
    if (pid == parent_pid || from == to || perf_u16(is_big, side->bytes + 4) & PERF_MISC_FORK_EXEC)
        return LODE_OK;
    space_at(self, from)->edition = lode_perf_maps_edition(&self->maps);
    return since(&space_at(self, to)->roots, side->time, newest(&space_at(self, from)->roots, 0), error);
}

/* Kernel code that comes and goes. */
static lode_status take_symbol(struct perf_replay *self, const struct perf_side *side, uint32_t size)
{
    enum {
        AT_LENGTH = 16,
        AT_FLAGS = 22,
        AT_NAME = 24,
        IS_GONE = 1
    };
    bool is_big = self->store->is_big;
    struct perf_module module = {.kind = PERF_MODULE_SYMBOL};
    struct perf_mapping mapping = {0};
    uint32_t root;
    if (size < AT_NAME) {
        self->short_records++;
        return LODE_OK;
    }
    mapping.start = mapping.shift = perf_u64(is_big, side->bytes + 8);
    mapping.end = mapping.start + perf_u32(is_big, side->bytes + AT_LENGTH);
    if (mapping.end <= mapping.start) {
        self->bad_mappings++;
        return LODE_OK;
    }
    LODE_TRY(lode_perf_string(self->store, (struct lode_range){side->bytes + AT_NAME, size - AT_NAME},
                              &module.name));
    LODE_TRY(add_module(self, &module, &mapping.module));
    if (!(perf_u16(is_big, side->bytes + AT_FLAGS) & IS_GONE))
        return map(self, KERNEL_SPACE, side->time, &mapping);
    struct perf_space *space = space_at(self, KERNEL_SPACE);
    LODE_TRY(begin_version(self, space, side->time, &root));
    LODE_TRY_ALLOC(lode_perf_maps_remove(&self->maps, &root, space->edition, mapping.start, mapping.module),
                   self->store->report->error);
    return since(&space->roots, side->time, root, self->store->report->error);
}

/* Code of a JIT compiler, which replaces what was there before. */
static lode_status take_code(struct perf_replay *self, const struct perf_side *side)
{
    struct perf_code code;
    uint32_t thread;
    memcpy(&code, side->bytes, sizeof code);
    struct perf_module module = {.name = code.dump, .pid = code.pid, .kind = PERF_MODULE_DUMP};
    struct perf_mapping mapping = {.start = code.start,
                                   .end = code.start + code.size,
                                   .shift = code.start - code.offset,
                                   .is_code = true};
    LODE_TRY(add_module(self, &module, &mapping.module));
    LODE_TRY(find_thread(self, code.pid, code.pid, &thread));
    return map(self, thread_at(self, thread)->space, side->time, &mapping);
}

static lode_status take_side(struct perf_replay *self, const struct perf_side *side)
{
    if (side->part == LODE_NONE)
        return take_code(self, side);
    bool is_big = self->store->is_big;
    uint32_t size = perf_u16(is_big, side->bytes + 6);
    uint32_t trailer = perf_event_at(self->store, side->event)->layout.trailer;
    size = size - PERF_RECORD_HEADER < trailer ? 0 : size - trailer;
    switch (perf_u32(is_big, side->bytes)) {
    case PERF_MMAP:
    case PERF_MMAP2:
        return take_mapping(self, side, size);
    case PERF_COMM:
        return take_name(self, side, size);
    case PERF_FORK:
        return take_fork(self, side, size);
    default:
        return take_symbol(self, side, size);
    }
}

/* ---- all of it ---- */

static lode_status begin(struct perf_replay *self)
{
    struct perf_store *store = self->store;
    lode_error *error = store->report->error;
    struct perf_module unknown = {.name = lode_strings_add(&store->strings, "[unknown]")};
    uint32_t number, idle;
    uint32_t name = lode_strings_add(&store->strings, "swapper");
    LODE_TRY_ALLOC(unknown.name != LODE_NO_NUMBER && name != LODE_NO_NUMBER, error);
    LODE_TRY(add_module(self, &unknown, &number));
    for (size_t i = 0; i < store->build_ids.count; i++) {
        const struct perf_named_id *id = LODE_ARRAY_AT(&store->build_ids, struct perf_named_id, i);
        LODE_TRY_ALLOC(lode_map_add(&self->named_ids, id->name, (uint32_t)i, NULL), error);
    }
    LODE_TRY(add_space(self, &number));
    LODE_TRY(find_thread(self, 0, 0, &idle));
    return since(&thread_at(self, idle)->names, 0, name, error);
}

static lode_status report_counts(const struct perf_replay *self)
{
    struct perf_store *store = self->store;
    const char *file = perf_part_at(store, 0)->name;
    if (self->short_records > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_SIDE_RECORD, file, LODE_NO_OFFSET, "%s too short",
                              LODE_COUNTED(self->short_records, "record is", "records are")));
    if (self->bad_mappings > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_MAPPING, file, LODE_NO_OFFSET,
                              "%s empty or leave the address space",
                              LODE_COUNTED(self->bad_mappings, "mapping is", "mappings are")));
    if (self->own_parents > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_FORK, file, LODE_NO_OFFSET, "%s its own parent",
                              LODE_COUNTED(self->own_parents, "thread is", "threads are")));
    if (self->zero_mappings > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_PID_ZERO, file, LODE_NO_OFFSET,
                              "process 0 has %s: processes of other PID namespaces look alike",
                              LODE_COUNTED(self->zero_mappings, "mapping", "mappings")));
    return LODE_OK;
}

void lode_perf_replay_init(struct perf_replay *self, struct perf_store *store)
{
    *self = (struct perf_replay){.store = store, .kernel_symbol = LODE_NO_NUMBER};
    lode_interner_init(&self->modules, sizeof(struct perf_module));
    lode_array_init(&self->spaces, sizeof(struct perf_space), UINT32_MAX - 1);
    lode_array_init(&self->threads, sizeof(struct perf_thread), UINT32_MAX - 1);
    lode_array_init(&self->tasks, sizeof(struct perf_task), UINT32_MAX - 1);
    lode_map_init(&self->task_of);
    lode_map_init(&self->named_ids);
    lode_map_init(&self->dumped);
}

lode_status lode_perf_replay(struct perf_replay *self)
{
    struct perf_store *store = self->store;
    uint64_t most = NODES_FLOOR + (uint64_t)store->sides.count * NODES_RECORD;
    LODE_TRY_ALLOC(lode_perf_maps_init(&self->maps, (size_t)(most < NODES_MOST ? most : NODES_MOST)),
                   store->report->error);
    LODE_TRY(begin(self));
    for (size_t i = 0; i < store->sides.count; i++)
        LODE_TRY(take_side(self, LODE_ARRAY_AT(&store->sides, struct perf_side, i)));
    return report_counts(self);
}

lode_status lode_perf_begin(struct perf_store *store, const struct lode_folder *folder)
{
    LODE_TRY(lode_perf_open(store, folder));
    LODE_TRY(lode_perf_survey(store));
    lode_perf_read_formats(store);
    return LODE_OK;
}

lode_status lode_perf_read(struct perf_store *store, struct perf_replay *replay,
                           const struct lode_folder *folder)
{
    LODE_TRY(lode_perf_begin(store, folder));
    return lode_perf_replay(replay);
}

void lode_perf_replay_free(struct perf_replay *self)
{
    for (size_t i = 0; i < self->spaces.count; i++)
        lode_array_free(&space_at(self, (uint32_t)i)->roots);
    for (size_t i = 0; i < self->threads.count; i++)
        lode_array_free(&thread_at(self, (uint32_t)i)->names);
    for (size_t i = 0; i < self->tasks.count; i++)
        lode_array_free(&LODE_ARRAY_AT(&self->tasks, struct perf_task, i)->threads);
    lode_perf_maps_free(&self->maps);
    lode_interner_free(&self->modules);
    lode_array_free(&self->spaces);
    lode_array_free(&self->threads);
    lode_array_free(&self->tasks);
    lode_map_free(&self->task_of);
    lode_map_free(&self->named_ids);
    lode_map_free(&self->dumped);
}

/* ---- questions ---- */

/* The thread that had an id at a time; LODE_NONE if none had, or no record tells. */
static uint32_t thread_then(const struct perf_replay *self, int32_t tid, uint64_t time,
                            struct perf_moment *out)
{
    const uint32_t *number = lode_map_get(&self->task_of, (uint32_t)tid);
    if (number == NULL)
        return LODE_NONE;
    const struct lode_array *threads = &LODE_ARRAY_AT(&self->tasks, struct perf_task, *number)->threads;
    const uint32_t *numbers = threads->items;
    size_t low = 0, high = threads->count;
    LODE_BISECT(low, high, thread_at(self, numbers[middle])->begin <= time);
    if (low > 0 && thread_at(self, numbers[low - 1])->begin > out->from)
        out->from = thread_at(self, numbers[low - 1])->begin;
    if (low < threads->count && thread_at(self, numbers[low])->begin < out->to)
        out->to = thread_at(self, numbers[low])->begin;
    return low > 0 ? numbers[low - 1] : LODE_NONE;
}

void lode_perf_moment_find(const struct perf_replay *self, int32_t pid, int32_t tid, uint64_t time,
                           struct perf_moment *out)
{
    *out = (struct perf_moment){.to = UINT64_MAX, .name = LODE_NO_NUMBER, .process_name = LODE_NO_NUMBER};
    out->thread = thread_then(self, tid, time, out);
    uint32_t leader = LODE_NONE, space = LODE_NONE;
    if (out->thread != LODE_NONE) {
        const struct perf_thread *thread = perf_thread_at(self, out->thread);
        leader = thread->leader;
        space = thread->space;
        out->name = value_at(&thread->names, time, LODE_NO_NUMBER, out);
    } else if (pid != tid && pid != -1) {
        leader = thread_then(self, pid, time, out);
        space = leader == LODE_NONE ? LODE_NONE : perf_thread_at(self, leader)->space;
    }
    if (leader != LODE_NONE)
        out->process_name = value_at(&perf_thread_at(self, leader)->names, time, LODE_NO_NUMBER, out);
    if (space != LODE_NONE)
        out->root = value_at(&space_at(self, space)->roots, time, 0, out);
    out->kernel = value_at(&space_at(self, KERNEL_SPACE)->roots, time, 0, out);
}
