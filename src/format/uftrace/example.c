/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example recording: `thumbs` makes thumbnails of photos with three workers. One photo is not
 * in the cache. While it is fetched, its worker holds the lock of the cache, so the others wait.
 */
#include "base/error.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "format/uftrace/uftrace.h"
#include "format/uftrace/write/write.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the story ---- */

enum {
    PHOTOS = 60,
    SLOW_PHOTO = 24, /* is not in the cache */
    WORKERS = 3,
    TRACKS = WORKERS + 1, /* the main thread first */
    MAIN_TID = 4711,
    MAX_STACK = 16,
    NAME_SIZE = 48,
    MOST_PAYLOAD = 64,
    CODE_START = 0x1000,
    PLT_SIZE = 0x10,
    FUNCTION_SIZE = 0x80
};
#define US(n)       (UINT64_C(1000) * (n))
#define START_TIME  (UINT64_C(7200) * 1000000000) /* the machine has been up for two hours */
#define UTC_OFFSET  "1772442000.000000000"        /* 2026-03-02 09:00 UTC at time 0 of the clock */
#define FETCH_TIME  US(84000)
#define APP_BASE    UINT64_C(0x558e3a400000)
#define KERNEL_BASE UINT64_C(0xffff800000000000)
#define APP_PATH    "/opt/thumbs/thumbs"
#define APP_ID      "3c1f07a95be24c4d8f5d0a5e6b1f7f02c9d4e8a1"
#define SESSION_ID  "6a1d0c7be93f2a58"

enum function {
    MUTEX_LOCK, /* PLT slots first, as linkers do it */
    MUTEX_UNLOCK,
    READ,
    WRITE,
    CONNECT,
    RECV,
    THREAD_CREATE,
    THREAD_JOIN,
    MAIN,
    LIST_PHOTOS,
    RUN,
    POP,
    GET,
    LOAD,
    FETCH,
    DECODE,
    SCALE,
    ENCODE,
    SAVE,
    FUNCTIONS
};
static const struct {
    const char *linker_name;
    const char *name; /* NULL: a PLT slot */
    unsigned line;
    const char *file;
} functions[FUNCTIONS] = {
    [MUTEX_LOCK] = {"pthread_mutex_lock", NULL, 0, NULL},
    [MUTEX_UNLOCK] = {"pthread_mutex_unlock", NULL, 0, NULL},
    [READ] = {"read", NULL, 0, NULL},
    [WRITE] = {"write", NULL, 0, NULL},
    [CONNECT] = {"connect", NULL, 0, NULL},
    [RECV] = {"recv", NULL, 0, NULL},
    [THREAD_CREATE] = {"pthread_create", NULL, 0, NULL},
    [THREAD_JOIN] = {"pthread_join", NULL, 0, NULL},
    [MAIN] = {"main", "main", 88, "thumbs.cc"},
    [LIST_PHOTOS] = {"_Z11list_photosPKc", "list_photos", 21, "thumbs.cc"},
    [RUN] = {"_ZN6Worker3runEv", "Worker::run", 52, "thumbs.cc"},
    [POP] = {"_ZN5Queue3popEv", "Queue::pop", 37, "thumbs.cc"},
    [GET] = {"_ZN5Cache3getEPKc", "Cache::get", 31, "cache.cc"},
    [LOAD] = {"_Z9load_filePKc", "load_file", 9, "cache.cc"},
    [FETCH] = {"_Z5fetchPKc", "fetch", 17, "cache.cc"},
    [DECODE] = {"_ZN5Image6decodeEv", "Image::decode", 14, "image.cc"},
    [SCALE] = {"_ZN5Image5scaleEii", "Image::scale", 40, "image.cc"},
    [ENCODE] = {"_ZN5Image6encodeEi", "Image::encode", 63, "image.cc"},
    [SAVE] = {"_Z4savePKc", "save", 80, "image.cc"},
};
static const char arguments[] =
    "argspec:lines=2\n"
    "argspec:list_photos@arg1/s;Cache::get@arg1/p,arg2/s;load_file@arg1/s;fetch@arg1/s;"
    "Image::scale@arg1/p,arg2/i32,arg3/i32;Image::encode@arg1/p,arg2/i32;save@arg1/s\n"
    "retspec:list_photos@retval/i32;load_file@retval/i32;fetch@retval/i32;Image::encode@retval/i32\n";

/* ---- records ---- */

struct thread {
    struct uft_track_writer track;
    uint64_t now;
    uint32_t depth;
    enum function stack[MAX_STACK];
    struct lode_array switches; /* struct lode_uft_perf_event */
    uint64_t image;             /* the object that it works on */
};

struct thumbs {
    struct lode_arena arena;
    struct uft_writer writer;
    struct thread threads[TRACKS];
    struct uft_symbol symbols[FUNCTIONS];
    uint64_t cache_free; /* when the lock of the cache is released */
};

/* Arguments or results of a call. */
struct payload {
    uint8_t bytes[MOST_PAYLOAD];
    size_t size;
};

static void add_pointer(struct payload *payload, uint64_t value)
{
    put_u64le(payload->bytes + payload->size, value);
    payload->size += 8;
}

static void add_int(struct payload *payload, uint32_t value)
{
    put_u32le(payload->bytes + payload->size, value);
    payload->size += 4;
}

static void add_text(struct payload *payload, const char *text)
{
    size_t length = strlen(text);
    put_u16le(payload->bytes + payload->size, (uint16_t)length);
    memcpy(payload->bytes + payload->size + 2, text, length);
    payload->size += (2 + length + 3) / 4 * 4;
}

/* A number from 0 to `below` - 1 that depends on its arguments only. */
static uint64_t draw(uint64_t a, uint64_t b, uint64_t below)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03) + 1;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

static lode_status put(struct thread *thread, unsigned type, enum function function,
                       const struct payload *payload, lode_error *error)
{
    uint8_t *at;
    size_t size = payload ? (payload->size + 7) / 8 * 8 : 0;
    uint64_t address = APP_BASE + CODE_START + (uint64_t)function * FUNCTION_SIZE;
    LODE_TRY(lode_uft_track_room(&thread->track, UFT_RECORD_SIZE + size, &at, error));
    uft_put_record(at, size ? type | UFT_MORE_BIT : type, thread->now, thread->depth, address);
    if (size)
        memcpy(at + UFT_RECORD_SIZE, payload->bytes, size);
    return LODE_OK;
}

static lode_status enter_with(struct thread *thread, enum function function, const struct payload *payload,
                              lode_error *error)
{
    thread->now += 120;
    LODE_TRY(put(thread, UFT_ENTRY, function, payload, error));
    thread->stack[thread->depth++] = function;
    return LODE_OK;
}

static lode_status enter(struct thread *thread, enum function function, lode_error *error)
{
    return enter_with(thread, function, NULL, error);
}

static lode_status leave_with(struct thread *thread, const struct payload *payload, lode_error *error)
{
    thread->now += 90;
    thread->depth--;
    return put(thread, UFT_EXIT, thread->stack[thread->depth], payload, error);
}

static lode_status leave(struct thread *thread, lode_error *error)
{
    return leave_with(thread, NULL, error);
}

/* A call that takes some time and calls nothing. */
static lode_status call(struct thread *thread, enum function function, uint64_t duration, lode_error *error)
{
    LODE_TRY(enter(thread, function, error));
    thread->now += duration;
    return leave(thread, error);
}

/* Off-CPU until then. */
static lode_status wait_until(struct thread *thread, uint64_t end, lode_error *error)
{
    struct lode_uft_perf_event events[2] = {{thread->now + 400, UFT_PERF_OUT, 0}, {end, UFT_PERF_IN, 0}};
    for (size_t i = 0; i < 2; i++) {
        struct lode_uft_perf_event *event = lode_array_push(&thread->switches);
        LODE_TRY_ALLOC(event, error);
        *event = events[i];
    }
    thread->now = end + 600;
    return LODE_OK;
}

/* A call that waits. */
static lode_status call_waiting(struct thread *thread, enum function function, uint64_t end,
                                lode_error *error)
{
    LODE_TRY(enter(thread, function, error));
    if (end > thread->now + US(2))
        LODE_TRY(wait_until(thread, end, error));
    return leave(thread, error);
}

/* ---- one photo ---- */

static lode_status load(struct thread *thread, unsigned photo, const char *name, lode_error *error)
{
    struct payload argument = {.size = 0}, result = {.size = 0};
    int is_slow = photo == SLOW_PHOTO;
    add_text(&argument, name);
    add_int(&result, (uint32_t)(1800000 + draw(photo, 1, 900000)));
    LODE_TRY(enter_with(thread, is_slow ? FETCH : LOAD, &argument, error));
    if (is_slow) {
        LODE_TRY(call_waiting(thread, CONNECT, thread->now + US(11000), error));
        for (unsigned i = 0; i < 6; i++)
            LODE_TRY(
                call_waiting(thread, RECV, thread->now + FETCH_TIME / 7 + draw(i, photo, US(2000)), error));
    } else {
        LODE_TRY(call(thread, READ, US(260) + draw(photo, 2, US(90)), error));
    }
    return leave_with(thread, &result, error);
}

static lode_status get(struct thumbs *self, struct thread *thread, unsigned photo, const char *name,
                       lode_error *error)
{
    struct payload argument = {.size = 0};
    add_pointer(&argument, UINT64_C(0x558e3bd01a40));
    add_text(&argument, name);
    LODE_TRY(enter_with(thread, GET, &argument, error));
    LODE_TRY(call_waiting(thread, MUTEX_LOCK, self->cache_free, error));
    LODE_TRY(load(thread, photo, name, error));
    LODE_TRY(call(thread, MUTEX_UNLOCK, 150, error));
    self->cache_free = thread->now;
    return leave(thread, error);
}

static lode_status convert(struct thread *thread, unsigned photo, lode_error *error)
{
    struct payload size = {.size = 0}, quality = {.size = 0}, result = {.size = 0};
    add_pointer(&size, thread->image);
    add_int(&size, 320);
    add_int(&size, photo % 3 ? 240 : 180);
    add_pointer(&quality, thread->image);
    add_int(&quality, 85);
    add_int(&result, (uint32_t)(14000 + draw(photo, 3, 6000)));
    LODE_TRY(call(thread, DECODE, US(2900) + draw(photo, 4, US(800)), error));
    LODE_TRY(enter_with(thread, SCALE, &size, error));
    thread->now += US(1100) + draw(photo, 5, US(300));
    LODE_TRY(leave(thread, error));
    LODE_TRY(enter_with(thread, ENCODE, &quality, error));
    thread->now += US(700) + draw(photo, 6, US(200));
    return leave_with(thread, &result, error);
}

static lode_status process(struct thumbs *self, struct thread *thread, unsigned photo, lode_error *error)
{
    char name[NAME_SIZE];
    struct payload argument = {.size = 0};
    snprintf(name, sizeof name, photo == SLOW_PHOTO ? "panorama.jpg" : "img_%04u.jpg", 1200 + photo);
    LODE_TRY(enter(thread, POP, error));
    LODE_TRY(call(thread, MUTEX_LOCK, 130, error));
    LODE_TRY(call(thread, MUTEX_UNLOCK, 110, error));
    LODE_TRY(leave(thread, error));
    LODE_TRY(get(self, thread, photo, name, error));
    LODE_TRY(convert(thread, photo, error));
    snprintf(name, sizeof name, "thumbs/%04u.jpg", 1200 + photo);
    add_text(&argument, name);
    LODE_TRY(enter_with(thread, SAVE, &argument, error));
    LODE_TRY(call(thread, WRITE, US(45) + draw(photo, 7, US(20)), error));
    return leave(thread, error);
}

/* ---- the run ---- */

static lode_status start(struct thumbs *self, lode_error *error)
{
    struct thread *main_thread = &self->threads[0];
    struct payload argument = {.size = 0}, result = {.size = 0};
    add_text(&argument, "photos");
    add_int(&result, PHOTOS);
    main_thread->now = START_TIME;
    LODE_TRY(enter(main_thread, MAIN, error));
    LODE_TRY(enter_with(main_thread, LIST_PHOTOS, &argument, error));
    main_thread->now += US(380);
    LODE_TRY(leave_with(main_thread, &result, error));
    for (unsigned i = 1; i < TRACKS; i++) {
        LODE_TRY(call(main_thread, THREAD_CREATE, US(36), error));
        self->threads[i].now = main_thread->now + US(20);
        LODE_TRY(enter(&self->threads[i], RUN, error));
    }
    return LODE_OK;
}

/* The photos in order, each by the first worker that has nothing to do. */
static lode_status work(struct thumbs *self, lode_error *error)
{
    for (unsigned photo = 0; photo < PHOTOS; photo++) {
        struct thread *next = &self->threads[1];
        for (unsigned i = 2; i < TRACKS; i++)
            next = self->threads[i].now < next->now ? &self->threads[i] : next;
        next->image = UINT64_C(0x7f1c40000b20) + photo * UINT64_C(0x40);
        LODE_TRY(process(self, next, photo, error));
    }
    for (unsigned i = 1; i < TRACKS; i++)
        LODE_TRY(leave(&self->threads[i], error));
    for (unsigned i = 1; i < TRACKS; i++)
        LODE_TRY(call_waiting(&self->threads[0], THREAD_JOIN, self->threads[i].now + US(30), error));
    return leave(&self->threads[0], error);
}

static int32_t tid_of(unsigned track)
{
    return MAIN_TID + (int32_t)track;
}

static lode_status record(struct thumbs *self, lode_error *error)
{
    for (unsigned i = 0; i < TRACKS; i++)
        LODE_TRY(lode_uft_track_create(&self->threads[i].track, &self->writer, tid_of(i), error));
    LODE_TRY(start(self, error));
    LODE_TRY(work(self, error));
    for (unsigned i = 0; i < TRACKS; i++)
        LODE_TRY(lode_uft_track_close(&self->threads[i].track, error));
    return LODE_OK;
}

/* ---- metadata ---- */

static void describe_symbols(struct thumbs *self)
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        self->symbols[i] = (struct uft_symbol){.address = CODE_START + (uint64_t)i * FUNCTION_SIZE,
                                               .size = functions[i].name ? FUNCTION_SIZE : PLT_SIZE,
                                               .name = functions[i].linker_name,
                                               .name_length = (uint32_t)strlen(functions[i].linker_name),
                                               .type = functions[i].name ? 'T' : 'P'};
}

/* Where each function begins in its source file. */
static struct lode_range debug_text(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "# path name: %s\n# build-id: %s\n", APP_PATH, APP_ID);
    for (unsigned i = MAIN; i < FUNCTIONS; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "F: %x %s\nL: %u %s\n", CODE_START + i * FUNCTION_SIZE,
                             functions[i].name, functions[i].line, functions[i].file);
    return (struct lode_range){(const uint8_t *)text, used};
}

/* Names and switches of all threads. */
static lode_status describe_switches(struct thumbs *self, struct uft_written_perf perf[TRACKS],
                                     lode_error *error)
{
    static const char *const names[] = {"thumbs", "worker 1", "worker 2", "worker 3"};
    for (unsigned i = 0; i < TRACKS; i++) {
        const struct lode_array *switches = &self->threads[i].switches;
        struct lode_uft_perf_event *events =
            lode_arena_alloc(&self->arena, switches->count + 1, sizeof *events);
        LODE_TRY_ALLOC(events, error);
        events[0] = (struct lode_uft_perf_event){START_TIME + i * US(40), UFT_PERF_NAME, i};
        for (size_t k = 0; k < switches->count; k++)
            events[k + 1] = *LODE_ARRAY_AT(switches, struct lode_uft_perf_event, k);
        perf[i] =
            (struct uft_written_perf){MAIN_TID, tid_of(i), MAIN_TID, events, switches->count + 1, names};
    }
    return LODE_OK;
}

static void describe_lines(struct uft_description *description, char *dates, size_t size, uint64_t end)
{
    uint64_t elapsed = end - START_TIME;
    snprintf(dates, size,
             "record_date:Mon Mar  2 11:00:00 2026\nelapsed_time:%" PRIu64 ".%09" PRIu64 " sec\n",
             elapsed / 1000000000, elapsed % 1000000000);
    description->lines[UFT_LINE_EXE] = "exename:" APP_PATH "\n";
    description->lines[UFT_LINE_BUILD_ID] = "build_id:" APP_ID "\n";
    description->lines[UFT_LINE_EXIT] = "exit_status:0\n";
    description->lines[UFT_LINE_COMMAND] = "cmdline:uftrace record -a ./thumbs photos\n";
    description->lines[UFT_LINE_ARGUMENTS] = arguments;
    description->lines[UFT_LINE_DATE] = dates;
    description->lines[UFT_LINE_PATTERN] = "pattern_type:simple\n";
    description->lines[UFT_LINE_UTC_OFFSET] = "utc_offset:" UTC_OFFSET "\n";
}

static lode_status describe(struct thumbs *self, lode_error *error)
{
    char dates[96], debug[2048];
    int32_t tids[TRACKS];
    struct uft_task_line tasks[TRACKS];
    struct uft_written_perf perf[TRACKS];
    describe_symbols(self);
    struct uft_written_module module = {.path = APP_PATH,
                                        .build_id = APP_ID,
                                        .symbols = self->symbols,
                                        .symbol_count = FUNCTIONS,
                                        .debug = debug_text(debug, sizeof debug)};
    struct uft_map map = {APP_BASE, APP_BASE + 0x3000, 0};
    struct uft_session session = {.id = SESSION_ID,
                                  .program = APP_PATH,
                                  .pid = MAIN_TID,
                                  .time = START_TIME - 1000,
                                  .maps = &map,
                                  .map_count = 1,
                                  .kernel_base = KERNEL_BASE};
    struct uft_description description = {.features =
                                              UFT_FEATURE_PLT | UFT_FEATURE_ARGUMENTS | UFT_FEATURE_RESULTS,
                                          .word = 8,
                                          .max_stack = MAX_STACK,
                                          .modules = &module,
                                          .module_count = 1,
                                          .sessions = &session,
                                          .session_count = 1,
                                          .tids = tids,
                                          .tid_count = TRACKS,
                                          .tasks = tasks,
                                          .task_count = TRACKS,
                                          .perf = perf,
                                          .perf_count = TRACKS};
    for (unsigned i = 0; i < TRACKS; i++) {
        tids[i] = tid_of(i);
        tasks[i] = (struct uft_task_line){START_TIME + i * US(40), tid_of(i), MAIN_TID};
    }
    describe_lines(&description, dates, sizeof dates, self->threads[0].now);
    LODE_TRY(lode_uft_name_files(&module, 1, &self->arena, error));
    LODE_TRY(describe_switches(self, perf, error));
    return lode_uft_writer_finish(&self->writer, &description, error);
}

lode_status lode_uft_example(const char *path, lode_error *error)
{
    struct thumbs self = {.writer.output = LODE_OUTPUT_INIT};
    lode_arena_init(&self.arena, SIZE_MAX);
    for (unsigned i = 0; i < TRACKS; i++) {
        self.threads[i].track.file.fd = -1;
        lode_array_init(&self.threads[i].switches, sizeof(struct lode_uft_perf_event), SIZE_MAX);
    }
    lode_status status = lode_uft_writer_create(&self.writer, path, false, error);
    if (status == LODE_OK)
        status = record(&self, error);
    if (status == LODE_OK)
        status = describe(&self, error);
    for (unsigned i = 0; i < TRACKS; i++) {
        lode_uft_track_abandon(&self.threads[i].track);
        lode_array_free(&self.threads[i].switches);
    }
    lode_uft_writer_close(&self.writer);
    lode_arena_free(&self.arena);
    return status;
}
