/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synthetic recordings. A track is a random walk over a call graph around a usual depth; it depends
 * on the seed and the track number only.
 */
#include "base/error.h"
#include "base/memory/arena.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/uftrace/uftrace.h"
#include "format/uftrace/write/write.h"
#include "model/recording/synth_program.h"
#include <inttypes.h>
#include <lode/unstable/synth.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LIBRARY_SHARE = 8,
    FUNCTION_SIZE = 0x40,
    PLT_SIZE = 0x10,
    CODE_START = 0x1000,
    FIRST_TID = 1000,
    ARGUMENT_SHARE = 16, /* one of so many functions has arguments */
    WITH_ARGUMENTS = 5,  /* not a root */
    MOST_PAYLOAD = 40
};

#define APP_BASE     UINT64_C(0x555555554000)
#define LIBRARY_BASE UINT64_C(0x7f5500000000)
#define KERNEL_BASE  UINT64_C(0xffff800000000000)
#define START_TIME   UINT64_C(1000000000000)
#define APP_ID       "5eed00000000000000000000000000000000a001"
#define LIBRARY_ID   "5eed00000000000000000000000000000000b002"
#define SESSION_ID   "5eed5e5500000001"

struct made_function {
    uint64_t address;
    bool has_arguments;
};

struct synthesis {
    const lode_synth_recording_options *options;
    struct lode_arena arena;
    struct made_function *functions;
    struct synth_program program; /* roots: main, and the start function of other threads */
    struct uft_written_module modules[2];
    struct uft_writer writer;
    struct lode_progress progress;
    uint64_t *ends; /* time of the last record by task */
};

/* ---- the program ---- */

static const char *const plt_names[] = {
    "memcpy", "malloc", "free", "strlen", "memset", "pthread_mutex_lock", "pthread_mutex_unlock", "write"};
enum {
    PLT_COUNT = sizeof plt_names / sizeof *plt_names
};

static uint32_t plt_count(const struct synthesis *self)
{
    return self->options->functions >= 8 * PLT_COUNT ? PLT_COUNT : 0;
}

static uint32_t library_count(const struct synthesis *self)
{
    return self->options->functions / LIBRARY_SHARE;
}

/* Functions in this order: of the program, of the library, and PLT slots. */
static bool in_library(const struct synthesis *self, uint32_t index)
{
    uint32_t own = self->options->functions - library_count(self) - plt_count(self);
    return index >= own && index < own + library_count(self);
}

static lode_status make_symbol(struct synthesis *self, struct uft_symbol *symbol, uint32_t index,
                               lode_error *error)
{
    char text[32];
    uint32_t plt = self->options->functions - plt_count(self);
    if (index >= plt)
        snprintf(text, sizeof text, "%s", plt_names[index - plt]);
    else if (index < SYNTH_ROOTS)
        snprintf(text, sizeof text, "%s", index == 0 ? "main" : "worker");
    else
        snprintf(text, sizeof text, "%s%" PRIu32, in_library(self, index) ? "work" : "function", index);
    size_t length = strlen(text);
    char *name = lode_arena_alloc(&self->arena, length + 1, 1);
    LODE_TRY_ALLOC(name, error);
    memcpy(name, text, length);
    symbol->name = name;
    symbol->name_length = (uint32_t)length;
    symbol->type = index >= plt ? 'P' : index % 3 == 2 ? 't' : 'T';
    return LODE_OK;
}

/* Gives all functions an address in their modules: the PLT comes first, as linkers do it. */
static lode_status make_module(struct synthesis *self, unsigned module, lode_error *error)
{
    uint32_t count = self->options->functions, plt = count - plt_count(self), placed = 0;
    struct uft_symbol *symbols = lode_arena_alloc(&self->arena, count, sizeof *symbols);
    LODE_TRY_ALLOC(symbols, error);
    uint64_t offset = CODE_START, base = module ? LIBRARY_BASE : APP_BASE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = i < plt_count(self) ? plt + i : i - plt_count(self);
        if (in_library(self, index) != (module == 1))
            continue;
        struct uft_symbol *symbol = &symbols[placed++];
        LODE_TRY(make_symbol(self, symbol, index, error));
        symbol->address = offset;
        symbol->size = index >= plt ? PLT_SIZE : FUNCTION_SIZE;
        self->functions[index].address = base + offset;
        offset += symbol->size;
    }
    self->modules[module] = (struct uft_written_module){.path = module ? "/opt/synthetic/lib/libwork.so"
                                                                       : "/opt/synthetic/bin/app",
                                                        .build_id = module ? LIBRARY_ID : APP_ID,
                                                        .symbols = symbols,
                                                        .symbol_count = placed};
    return LODE_OK;
}

static lode_status make_program(struct synthesis *self, lode_error *error)
{
    const lode_synth_recording_options *options = self->options;
    uint32_t count = options->functions;
    self->functions = lode_arena_alloc(&self->arena, count, sizeof *self->functions);
    self->ends = lode_arena_alloc(&self->arena, options->tasks, sizeof *self->ends);
    if (!self->functions || !self->ends ||
        !lode_synth_program_make(&self->program, &self->arena, count, options->depth, options->seed))
        return lode_fail_memory(error);
    for (uint32_t i = 0; options->arguments && i < count - plt_count(self); i++)
        self->functions[i].has_arguments = i % ARGUMENT_SHARE == WITH_ARGUMENTS;
    LODE_TRY(make_module(self, 0, error));
    LODE_TRY(make_module(self, 1, error));
    return lode_uft_name_files(self->modules, 2, &self->arena, error);
}

/* ---- records ---- */

/* A track being written. */
struct walk {
    const struct synthesis *self;
    struct uft_track_writer *track;
    uint64_t time;
    struct synth_walk over;
};

/* Two arguments, an int and a string of up to 15 letters; or a result, an int. */
static size_t put_values(uint8_t *at, unsigned type, uint64_t random)
{
    static const char letters[] = "the quick brown fox";
    size_t length = random >> 60;
    memset(at, 0, MOST_PAYLOAD);
    put_u32le(at, (uint32_t)(random & 0xffff));
    if (type == UFT_EXIT)
        return 8;
    put_u16le(at + 4, (uint16_t)length);
    memcpy(at + 6, letters, length);
    return (6 + length + 7) / 8 * 8;
}

static lode_status put_with_values(struct walk *walk, unsigned type, uint32_t depth, uint64_t address,
                                   lode_error *error)
{
    uint8_t *at, values[MOST_PAYLOAD];
    size_t size = put_values(values, type, synth_draw(walk->time, 4, address));
    LODE_TRY(lode_uft_track_room(walk->track, UFT_RECORD_SIZE + size, &at, error));
    uft_put_record(at, type | UFT_MORE_BIT, walk->time, depth, address);
    memcpy(at + UFT_RECORD_SIZE, values, size);
    return LODE_OK;
}

static inline lode_status put(struct walk *walk, unsigned type, uint32_t index, uint32_t depth,
                              uint64_t random, lode_error *error)
{
    const struct made_function *function = &walk->self->functions[index];
    uint8_t *at;
    walk->time += synth_step(random);
    walk->over.left--;
    if (__builtin_expect(function->has_arguments, 0))
        return put_with_values(walk, type, depth, function->address, error);
    LODE_TRY(lode_uft_track_room(walk->track, UFT_RECORD_SIZE, &at, error));
    uft_put_record(at, type, walk->time, depth, function->address);
    return LODE_OK;
}

/* All remaining records. */
static lode_status walk_graph(struct walk *walk, lode_error *error)
{
    uint32_t function = 0;
    uint64_t random;
    while (walk->over.left > 0) {
        uint32_t depth = walk->over.depth;
        switch (synth_move(&walk->over, &function, &random)) {
        case SYNTH_ENTER:
            LODE_TRY(put(walk, UFT_ENTRY, function, depth, random, error));
            break;
        case SYNTH_LEAF:
            LODE_TRY(put(walk, UFT_ENTRY, function, depth, random, error));
            LODE_TRY(put(walk, UFT_EXIT, function, depth, random >> 22, error));
            break;
        case SYNTH_LEAVE:
            LODE_TRY(put(walk, UFT_EXIT, function, depth - 1, random, error));
            break;
        case SYNTH_STAY:
            break;
        }
    }
    return LODE_OK;
}

static lode_status write_track(struct walk *walk, uint64_t item, lode_error *error)
{
    const lode_synth_recording_options *options = walk->self->options;
    struct synth_walk *over = &walk->over;
    uint64_t pairs = options->records / 2;
    over->left = 2 * (pairs / options->tasks + (item < pairs % options->tasks));
    over->state = synth_draw(options->seed, 5, item);
    walk->time = START_TIME + item * 1000;
    if (over->left == 0)
        return LODE_OK;
    over->stack[over->depth++] = item == 0 ? 0 : 1;
    LODE_TRY(put(walk, UFT_ENTRY, over->stack[0], 0, synth_next(over), error));
    return walk_graph(walk, error);
}

static int32_t tid_of(uint64_t item)
{
    return FIRST_TID + (int32_t)item;
}

static lode_status make_track(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct synthesis *self = context;
    struct uft_track_writer track;
    struct walk walk = {.self = self, .track = &track, .over.program = &self->program};
    (void)worker;
    walk.over.stack = calloc((size_t)self->options->depth + 1, sizeof *walk.over.stack);
    LODE_TRY_ALLOC(walk.over.stack, error);
    lode_status status = lode_uft_track_create(&track, &self->writer, tid_of(item), error);
    if (status == LODE_OK)
        status = write_track(&walk, item, error);
    if (status == LODE_OK)
        status = lode_uft_track_close(&track, error);
    lode_uft_track_abandon(&track);
    self->ends[item] = walk.time;
    free(walk.over.stack);
    return status;
}

static lode_status count_track(void *context, uint64_t item, lode_error *error)
{
    struct synthesis *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- metadata ---- */

/* The names of functions with arguments, with their argument specifications. */
static char *make_specification(struct synthesis *self, const char *key, const char *values)
{
    size_t size = strlen(key) + 3, used = 0;
    for (unsigned m = 0; m < 2; m++)
        for (uint32_t i = 0; i < self->modules[m].symbol_count; i++)
            size += self->modules[m].symbols[i].name_length + strlen(values) + 2;
    char *text = lode_arena_alloc(&self->arena, size, 1);
    if (text == NULL)
        return NULL;
    used += (size_t)snprintf(text, size, "%s:", key);
    for (unsigned m = 0; m < 2; m++)
        for (uint32_t i = 0; i < self->modules[m].symbol_count; i++) {
            const struct uft_symbol *symbol = &self->modules[m].symbols[i];
            const char *digits = symbol->name + strcspn(symbol->name, "0123456789");
            if (*digits && strtoul(digits, NULL, 10) % ARGUMENT_SHARE == WITH_ARGUMENTS)
                used += (size_t)snprintf(text + used, size - used, "%s@%s;", symbol->name, values);
        }
    return text;
}

static lode_status describe_arguments(struct synthesis *self, struct uft_description *description,
                                      lode_error *error)
{
    if (!self->options->arguments)
        return LODE_OK;
    const char *arguments = make_specification(self, "argspec", "arg1/i32,arg2/s");
    const char *results = make_specification(self, "retspec", "retval/i32");
    if (!arguments || !results)
        return lode_fail_memory(error);
    size_t size = strlen(arguments) + strlen(results) + 32;
    char *lines = lode_arena_alloc(&self->arena, size, 1);
    LODE_TRY_ALLOC(lines, error);
    snprintf(lines, size, "argspec:lines=2\n%s\n%s\n", arguments, results);
    description->lines[UFT_LINE_ARGUMENTS] = lines;
    description->lines[UFT_LINE_PATTERN] = "pattern_type:simple\n";
    description->features |= UFT_FEATURE_ARGUMENTS | UFT_FEATURE_RESULTS;
    return LODE_OK;
}

static lode_status describe_tasks(struct synthesis *self, struct uft_description *description,
                                  lode_error *error)
{
    uint32_t count = self->options->tasks;
    int32_t *tids = lode_arena_alloc(&self->arena, count, sizeof *tids);
    struct uft_task_line *tasks = lode_arena_alloc(&self->arena, count, sizeof *tasks);
    if (!tids || !tasks)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        tids[i] = tid_of(i);
        tasks[i] = (struct uft_task_line){
            .time = START_TIME + (uint64_t)i * 1000, .tid = tid_of(i), .pid = FIRST_TID};
    }
    description->tids = tids;
    description->tid_count = count;
    description->tasks = tasks;
    description->task_count = count;
    return LODE_OK;
}

static uint64_t last_end(const struct synthesis *self)
{
    uint64_t end = START_TIME;
    for (uint32_t i = 0; i < self->options->tasks; i++)
        end = self->ends[i] > end ? self->ends[i] : end;
    return end;
}

static lode_status describe(struct synthesis *self, lode_error *error)
{
    struct uft_map maps[2];
    char dates[96];
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t base = i ? LIBRARY_BASE : APP_BASE;
        uint64_t size = CODE_START + (uint64_t)(self->modules[i].symbol_count + 1) * FUNCTION_SIZE;
        maps[i] = (struct uft_map){base, base + (size + 0xfff) / 0x1000 * 0x1000, i};
    }
    struct uft_session session = {.id = SESSION_ID,
                                  .program = self->modules[0].path,
                                  .pid = FIRST_TID,
                                  .time = START_TIME - 1000,
                                  .maps = maps,
                                  .map_count = 2,
                                  .kernel_base = KERNEL_BASE};
    struct uft_description description = {.features = UFT_FEATURE_PLT,
                                          .word = 8,
                                          .max_stack = self->options->depth + 1,
                                          .modules = self->modules,
                                          .module_count = 2,
                                          .sessions = &session,
                                          .session_count = 1};
    uint64_t elapsed = last_end(self) - START_TIME;
    snprintf(dates, sizeof dates,
             "record_date:Thu Jan  1 00:00:00 1970\nelapsed_time:%" PRIu64 ".%09" PRIu64 " sec\n",
             elapsed / 1000000000, elapsed % 1000000000);
    description.lines[UFT_LINE_EXE] = "exename:/opt/synthetic/bin/app\n";
    description.lines[UFT_LINE_BUILD_ID] = "build_id:" APP_ID "\n";
    description.lines[UFT_LINE_EXIT] = "exit_status:0\n";
    description.lines[UFT_LINE_COMMAND] = "cmdline:made from parameters, not recorded\n";
    description.lines[UFT_LINE_DATE] = dates;
    LODE_TRY(describe_tasks(self, &description, error));
    LODE_TRY(describe_arguments(self, &description, error));
    return lode_uft_writer_finish(&self->writer, &description, error);
}

/* ---- public API ---- */

static lode_status synthesise(struct synthesis *self, const char *path, lode_error *error)
{
    const lode_synth_recording_options *options = self->options;
    struct lode_job job = {
        .items = options->tasks, .work = make_track, .finish = count_track, .context = self};
    LODE_TRY(make_program(self, error));
    LODE_TRY(lode_uft_writer_create(&self->writer, path, options->force, error));
    LODE_TRY(lode_pool_run(options->threads, &job, error));
    return describe(self, error);
}

lode_status lode_uft_synth(const char *path, const lode_synth_recording_options *options, lode_error *error)
{
    struct synthesis self = {.options = options,
                             .writer.output = LODE_OUTPUT_INIT,
                             .progress = {.report = options->on_progress,
                                          .user = options->user,
                                          .phase = "making tracks",
                                          .total = options->tasks}};
    lode_arena_init(&self.arena, SIZE_MAX);
    lode_status status = synthesise(&self, path, error);
    lode_uft_writer_close(&self.writer);
    lode_arena_free(&self.arena);
    return status;
}
