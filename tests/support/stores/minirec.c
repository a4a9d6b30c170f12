/* SPDX-License-Identifier: BSD-3-Clause */
#include "minirec.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(start, size)   ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char session[] = "0123456789abcdef", other_session[] = "fedcba9876543210";

static void stop(const char *what, const char *name)
{
    fprintf(stderr, "minirec: %s: %s\n", name, what);
    abort();
}

/* ---- files ---- */

static struct minirec_file *find(struct minirec *rec, const char *name)
{
    for (size_t i = 0; i < rec->count; i++)
        if (strcmp(rec->files[i].name, name) == 0)
            return &rec->files[i];
    return NULL;
}

struct minirec_file *minirec_file(struct minirec *rec, const char *name)
{
    struct minirec_file *file = find(rec, name);
    if (file == NULL)
        stop("there is no such file", name);
    return file;
}

/* There is space to grow, but sanitizers see overruns of the file. */
static void resize(struct minirec_file *file, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(file->bytes, file->capacity);
    if (size > file->capacity || file->bytes == NULL) {
        size_t capacity = size < 64 ? 64 : size + size / 2;
        unsigned char *bytes = realloc(file->bytes, capacity);
        if (bytes == NULL)
            stop("no memory", file->name);
        file->bytes = bytes;
        file->capacity = capacity;
    }
    file->size = size;
    ASAN_POISON_MEMORY_REGION(file->bytes + size, file->capacity - size);
}

void minirec_append(struct minirec *rec, const char *name, const void *bytes, size_t size)
{
    struct minirec_file *file = find(rec, name);
    if (file == NULL) {
        if (rec->count == MINIREC_FILES || strlen(name) >= sizeof file->name)
            stop("no room", name);
        file = &rec->files[rec->count++];
        *file = (struct minirec_file){.bytes = NULL};
        snprintf(file->name, sizeof file->name, "%s", name);
    }
    size_t at = file->size;
    resize(file, at + size);
    if (size > 0)
        memcpy(file->bytes + at, bytes, size);
}

void minirec_append_text(struct minirec *rec, const char *name, const char *text)
{
    minirec_append(rec, name, text, strlen(text));
}

void minirec_set(struct minirec *rec, const char *name, const void *bytes, size_t size)
{
    struct minirec_file *file = find(rec, name);
    if (file)
        resize(file, 0);
    minirec_append(rec, name, bytes, size);
}

void minirec_set_text(struct minirec *rec, const char *name, const char *text)
{
    minirec_set(rec, name, text, strlen(text));
}

void minirec_drop(struct minirec *rec, const char *name)
{
    struct minirec_file *file = minirec_file(rec, name);
    free(file->bytes);
    *file = rec->files[--rec->count];
}

void minirec_rename(struct minirec *rec, const char *name, const char *other)
{
    struct minirec_file *file = minirec_file(rec, name);
    if (strlen(other) >= sizeof file->name)
        stop("the name is too long", other);
    snprintf(file->name, sizeof file->name, "%s", other);
}

void minirec_cut(struct minirec *rec, const char *name, size_t size)
{
    struct minirec_file *file = minirec_file(rec, name);
    if (size > file->size)
        stop("the file is shorter", name);
    resize(file, size);
}

void minirec_replace(struct minirec *rec, const char *name, const char *before, const char *after)
{
    struct minirec_file *file = minirec_file(rec, name);
    size_t old_length = strlen(before), new_length = strlen(after);
    const unsigned char *found = memmem(file->bytes, file->size, before, old_length);
    if (found == NULL)
        stop("it does not have what is to be replaced", name);
    size_t at = (size_t)(found - file->bytes), behind = file->size - at - old_length;
    if (memmem(found + 1, file->size - at - 1, before, old_length) != NULL)
        stop("it has what is to be replaced twice", name);
    if (new_length > old_length)
        resize(file, file->size + new_length - old_length);
    memmove(file->bytes + at + new_length, file->bytes + at + old_length, behind);
    memcpy(file->bytes + at, after, new_length);
    resize(file, at + new_length + behind);
}

size_t minirec_list(const struct minirec *rec, lode_memory_file *files)
{
    for (size_t i = 0; i < rec->count; i++)
        files[i] = (lode_memory_file){rec->files[i].name, rec->files[i].bytes, rec->files[i].size};
    return rec->count;
}

/* ---- numbers and records ---- */

static void put_number(const struct minirec *rec, unsigned char *at, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (unsigned char)(value >> 8 * (rec->options.big_endian ? width - 1 - i : i));
}

void minirec_put(struct minirec *rec, const char *name, size_t offset, unsigned width, uint64_t value)
{
    struct minirec_file *file = minirec_file(rec, name);
    if (offset > file->size || file->size - offset < width)
        stop("the file is shorter", name);
    put_number(rec, file->bytes + offset, width, value);
}

void minirec_add_number(const struct minirec *rec, struct minirec_payload *payload, unsigned width,
                        uint64_t value)
{
    if (payload->size + width + 4 > sizeof payload->bytes)
        stop("too long", "payload");
    put_number(rec, payload->bytes + payload->size, width, value);
    payload->size += (width + 3u) / 4 * 4;
}

void minirec_add_text(const struct minirec *rec, struct minirec_payload *payload, const char *text)
{
    size_t length = strlen(text), room = (length + 2 + 3) / 4 * 4;
    if (payload->size + room > sizeof payload->bytes)
        stop("too long", "payload");
    put_number(rec, payload->bytes + payload->size, 2, length);
    memcpy(payload->bytes + payload->size + 2, text, length);
    payload->size += room;
}

static void put_record(struct minirec *rec, const char *name, uint64_t time, uint64_t word)
{
    unsigned char bytes[16];
    put_number(rec, bytes, 8, MINIREC_START + time);
    put_number(rec, bytes + 8, 8, word);
    minirec_append(rec, name, bytes, sizeof bytes);
}

static uint64_t record_word(unsigned type, uint64_t address, unsigned depth)
{
    return (type & 3) | 5u << 3 | (uint64_t)(depth & 0x3ff) << 6 | address << 16;
}

void minirec_record(struct minirec *rec, const char *name, uint64_t time, unsigned type, uint64_t address,
                    unsigned depth)
{
    put_record(rec, name, time, record_word(type, address, depth));
}

void minirec_record_with(struct minirec *rec, const char *name, uint64_t time, unsigned type,
                         uint64_t address, unsigned depth, const struct minirec_payload *payload)
{
    static const unsigned char padding[8];
    unsigned char length[2];
    size_t head = type == MINIREC_EVENT ? sizeof length : 0;
    put_record(rec, name, time, record_word(type, address, depth) | 4);
    put_number(rec, length, 2, payload->size);
    minirec_append(rec, name, length, head);
    minirec_append(rec, name, payload->bytes, payload->size);
    minirec_append(rec, name, padding, (8 - (head + payload->size) % 8) % 8);
}

/* ---- perf ---- */

enum {
    PERF_COMM = 3,
    PERF_EXIT = 4,
    PERF_FORK = 7,
    PERF_SWITCH = 14,
    PERF_OUT = 0x2000,
    PERF_PREEMPTED = 0x4000
};

static void begin_perf(struct minirec *rec, const char *name, uint64_t type, uint64_t misc, uint64_t size)
{
    unsigned char head[8];
    put_number(rec, head, 4, type);
    put_number(rec, head + 4, 2, misc);
    put_number(rec, head + 6, 2, size);
    minirec_append(rec, name, head, sizeof head);
}

static void add_number(struct minirec *rec, const char *name, unsigned width, uint64_t value)
{
    unsigned char bytes[8];
    put_number(rec, bytes, width, value);
    minirec_append(rec, name, bytes, width);
}

/* Who and when, as each record ends. */
static void end_perf(struct minirec *rec, const char *name, uint64_t time, int32_t pid, int32_t tid)
{
    add_number(rec, name, 4, (uint64_t)pid);
    add_number(rec, name, 4, (uint64_t)tid);
    add_number(rec, name, 8, MINIREC_START + time);
}

void minirec_perf(struct minirec *rec, const char *name, uint64_t time, enum minirec_perf what, int32_t pid,
                  int32_t tid)
{
    if (what == MINIREC_PERF_NEW || what == MINIREC_PERF_GONE) {
        begin_perf(rec, name, what == MINIREC_PERF_NEW ? PERF_FORK : PERF_EXIT, 0, 48);
        add_number(rec, name, 4, (uint64_t)pid);
        add_number(rec, name, 4, (uint64_t)pid);
        add_number(rec, name, 4, (uint64_t)tid);
        add_number(rec, name, 4, (uint64_t)pid);
        add_number(rec, name, 8, MINIREC_START + time);
    } else {
        static const uint64_t misc[] = {
            [MINIREC_PERF_OUT] = PERF_OUT, [MINIREC_PERF_PREEMPTED] = PERF_OUT | PERF_PREEMPTED};
        begin_perf(rec, name, PERF_SWITCH, misc[what], 24);
    }
    end_perf(rec, name, time, pid, tid);
}

void minirec_perf_name(struct minirec *rec, const char *name, uint64_t time, int32_t pid, int32_t tid,
                       const char *text)
{
    static const char padding[8];
    size_t length = strlen(text), room = (length + 8) / 8 * 8;
    begin_perf(rec, name, PERF_COMM, 0, 32 + room);
    add_number(rec, name, 4, (uint64_t)pid);
    add_number(rec, name, 4, (uint64_t)tid);
    minirec_append(rec, name, text, length);
    minirec_append(rec, name, padding, room - length);
    end_perf(rec, name, time, pid, tid);
}

static void make_perf(struct minirec *rec)
{
    static const char first[] = "perf-cpu0.dat", second[] = "perf-cpu1.dat";
    uint64_t end = 1000000 + UINT64_C(20) * rec->options.calls;
    minirec_perf(rec, first, 20, MINIREC_PERF_NEW, 100, 101);
    minirec_perf_name(rec, first, 30, 100, 101, "worker");
    minirec_perf(rec, first, 150, MINIREC_PERF_OUT, 100, 100);
    minirec_perf(rec, second, 180, MINIREC_PERF_IN, 100, 100);
    minirec_perf(rec, second, 1003, MINIREC_PERF_PREEMPTED, 100, 101);
    minirec_perf(rec, second, 1006, MINIREC_PERF_IN, 100, 101);
    minirec_perf(rec, second, end, MINIREC_PERF_GONE, 100, 101);
}

/* ---- the info file ---- */

static void make_info(struct minirec *rec)
{
    static const unsigned char header[40] = "Ftrace!";
    const uint64_t features = 0x17fb, lines = 0x7fff;
    minirec_set(rec, "info", header, sizeof header);
    minirec_put(rec, "info", 8, 4, 4);
    minirec_put(rec, "info", 12, 2, sizeof header);
    minirec_put(rec, "info", 14, 1, rec->options.big_endian ? 2 : 1);
    minirec_put(rec, "info", 15, 1, rec->options.is_32_bit ? 1 : 2);
    minirec_put(rec, "info", 16, 8, rec->options.has_old_symbols ? features & ~UINT64_C(0x1000) : features);
    minirec_put(rec, "info", 24, 8, lines);
    minirec_put(rec, "info", 32, 2, 1024);
    minirec_append_text(
        rec, "info",
        "exename:/bin/prog\n"
        "build_id:1111111111111111111111111111111111111111\n"
        "exit_status:256\n"
        "cmdline:uftrace record ./prog \"-n\"\n"
        "cpuinfo:lines=2\ncpuinfo:nr_cpus=2 / 2 (online/possible)\ncpuinfo:desc=A processor\n"
        "meminfo:1.0 / 2.0 GB (free / total)\n"
        "osinfo:lines=3\nosinfo:kernel=Linux 6.1\nosinfo:hostname=host\nosinfo:distro=\"Debian\"\n"
        "taskinfo:lines=2\ntaskinfo:nr_tid=3\ntaskinfo:tids=100,101,102\n"
        "usageinfo:lines=6\nusageinfo:systime=0.1\nusageinfo:usrtime=0.2\nusageinfo:ctxsw=1 / 2\n"
        "usageinfo:maxrss=1000\nusageinfo:pagefault=0 / 1\nusageinfo:iops=0 / 0\n"
        "loadinfo:0.1 / 0.2 / 0.3\n"
        "argspec:lines=6\n"
        "argspec:work@arg1/i32,arg2/s;scale@fparg1/64,fparg2/32;paint@arg1/e:color,arg2/p,arg3/c,arg4/t12\n"
        "retspec:work@retval/i32;scale@retval/f64\n"
        "argauto:lib.*@lib.so,arg1/u\n"
        "retauto:lib.*@lib.so,retval/x\n"
        "enumauto:enum color {RED = 1, GREEN = 2,};\n"
        "auto-args:1\n"
        "record_date:Mon Jan  1 00:00:00 2024\nelapsed_time:0.1 sec\n"
        "pattern_type:regex\n"
        "uftrace_version:v0.19\n"
        "utc_offset:1700000000\n");
}

/* ---- tasks and maps ---- */

static void make_task_text(struct minirec *rec)
{
    char text[1024];
    snprintf(text, sizeof text,
             "SESS timestamp=1.000000000 pid=100 sid=%s exename=\"/bin/prog\"\n"
             "TASK timestamp=1.000000010 tid=100 pid=100\n"
             "TASK timestamp=1.000000020 tid=101 pid=100\n"
             "FORK timestamp=1.000000510 pid=102 ppid=100\n"
             "DLOP timestamp=1.000000600 tid=100 sid=%s base=%x libname=\"/lib/plugin.so\"\n"
             "SESS timestamp=1.000000800 pid=102 sid=%s exename=\"/bin/other\"\n"
             "TASK timestamp=1.000000810 tid=102 pid=102\n",
             session, session, (unsigned)MINIREC_PLUGIN, other_session);
    minirec_set_text(rec, "task.txt", text);
}

enum {
    MESSAGE_TASK = 3,
    MESSAGE_FORK = 6,
    MESSAGE_SESSION = 7
};

void minirec_task_message(struct minirec *rec, unsigned type, const void *body, size_t size)
{
    add_number(rec, "task", 2, 0xface);
    add_number(rec, "task", 2, type);
    add_number(rec, "task", 4, size);
    minirec_append(rec, "task", body, size);
}

static void add_task(struct minirec *rec, unsigned type, uint64_t time, uint32_t pid, uint32_t tid)
{
    unsigned char body[16];
    put_number(rec, body, 8, MINIREC_START + time);
    put_number(rec, body + 8, 4, pid);
    put_number(rec, body + 12, 4, tid);
    minirec_task_message(rec, type, body, sizeof body);
}

static void add_session(struct minirec *rec, uint64_t time, uint32_t pid, const char *id, const char *program)
{
    unsigned char body[64] = {0};
    size_t length = strlen(program);
    put_number(rec, body, 8, MINIREC_START + time);
    put_number(rec, body + 8, 4, pid);
    put_number(rec, body + 12, 4, pid);
    memcpy(body + 16, id, 16);
    put_number(rec, body + 36, 4, length);
    memcpy(body + 40, program, length);
    minirec_task_message(rec, MESSAGE_SESSION, body, 40 + (length + 7) / 8 * 8);
}

/* There is no message for a library that is loaded, so it is in the map. */
static void make_task_messages(struct minirec *rec)
{
    char line[128];
    add_session(rec, 0, 100, session, "/bin/prog");
    add_task(rec, MESSAGE_TASK, 10, 100, 100);
    add_task(rec, MESSAGE_TASK, 20, 100, 101);
    add_task(rec, MESSAGE_FORK, 510, 100, 102);
    add_session(rec, 800, 102, other_session, "/bin/other");
    add_task(rec, MESSAGE_TASK, 810, 102, 102);
    snprintf(line, sizeof line, "%x-%x r-xp 00000000 00:00 0 /lib/plugin.so\n", (unsigned)MINIREC_PLUGIN,
             (unsigned)MINIREC_PLUGIN + 0x1000);
    minirec_append_text(rec, "sid-0123456789abcdef.map", line);
}

static void make_map(struct minirec *rec, const char *id, const char *program, char digit)
{
    char name[64], text[1024], build_id[41];
    memset(build_id, digit, 40);
    build_id[40] = '\0';
    snprintf(name, sizeof name, "sid-%s.map", id);
    snprintf(text, sizeof text,
             "# a map\n"
             "%08x-%08x r-xp 00000000 00:00 0                          %s build-id:%s\n"
             "%08x-%08x r-xp 00000000 08:01 77                         /lib/lib.so\n"
             "%08x-%08x rw-p 00001000 08:01 77                         /lib/lib.so\n"
             "7ffe0000-7fff0000 rw-p 00000000 00:00 0                  [stack]\n",
             (unsigned)MINIREC_PROG, (unsigned)MINIREC_PROG + 0x4000, program, build_id,
             (unsigned)MINIREC_LIB, (unsigned)MINIREC_LIB + 0x1000, (unsigned)MINIREC_LIB + 0x1000,
             (unsigned)MINIREC_LIB + 0x2000);
    minirec_set_text(rec, name, text);
}

/* ---- symbols ---- */

struct symbol {
    unsigned offset, size;
    const char *type_and_name;
};

static void make_symbols(struct minirec *rec, const char *path, char digit, const struct symbol *symbols,
                         unsigned count)
{
    char name[64], text[256], build_id[41];
    bool is_old = rec->options.has_old_symbols;
    unsigned end = symbols[count - 1].offset + symbols[count - 1].size;
    memset(build_id, digit, 40);
    build_id[40] = '\0';
    snprintf(name, sizeof name, "%s.sym", strrchr(path, '/') + 1);
    snprintf(text, sizeof text, "# symbols: %u\n# path name: %s\n", count, path);
    minirec_append_text(rec, name, text);
    snprintf(text, sizeof text, "# build-id: %s\n", build_id);
    if (digit)
        minirec_append_text(rec, name, text);
    for (unsigned i = 0; i < count; i++) {
        if (is_old)
            snprintf(text, sizeof text, "%016x %s\n", symbols[i].offset, symbols[i].type_and_name);
        else
            snprintf(text, sizeof text, "%016x %08x %s\n", symbols[i].offset, symbols[i].size,
                     symbols[i].type_and_name);
        minirec_append_text(rec, name, text);
    }
    snprintf(text, sizeof text, "%016x ? __sym_end\n", end);
    if (is_old)
        minirec_append_text(rec, name, text);
}

static void make_all_symbols(struct minirec *rec)
{
    static const struct symbol prog[] = {
        {0x900, 0x10, "P longjmp"},          {0x910, 0x10, "P setjmp"},  {0x920, 0x10, "P fork"},
        {0x1000, 0x100, "T main"},           {0x1100, 0x100, "T work"},  {0x1200, 0x100, "t leaf"},
        {0x1300, 0x100, "T scale"},          {0x1400, 0x100, "T paint"}, {0x1500, 0x100, "w name"},
        {0x1600, 0x100, "T _ZN4Base3runEi"}, {0x3000, 0x10, "D state"},
    };
    static const struct symbol other[] = {{0x1000, 0x100, "T start"}, {0x1100, 0x100, "T helper"}};
    static const struct symbol lib[] = {{0x100, 0x40, "T libfn"}};
    static const struct symbol plugin[] = {{0x200, 0x40, "T plug"}};
    make_symbols(rec, "/bin/prog", '1', prog, sizeof prog / sizeof *prog);
    make_symbols(rec, "/bin/other", '2', other, sizeof other / sizeof *other);
    make_symbols(rec, "/lib/lib.so", 0, lib, sizeof lib / sizeof *lib);
    make_symbols(rec, "/lib/plugin.so", 0, plugin, sizeof plugin / sizeof *plugin);
    minirec_set_text(rec, "prog.dbg",
                     "# path name: /bin/prog\n"
                     "# build-id: 1111111111111111111111111111111111111111\n"
                     "E: enum shape {ROUND=0,SQUARE=1}\n"
                     "F: 1000 main\nL: 12 prog.c\n"
                     "F: 1500 name\nL: 40 name.c\nA: @arg1/s%rdi\nR: @retval/s\n");
}

/* ---- data ---- */

static void call(struct minirec *rec, const char *name, uint64_t from, uint64_t to, uint64_t address,
                 unsigned depth)
{
    minirec_record(rec, name, from, MINIREC_ENTRY, address, depth);
    minirec_record(rec, name, to, MINIREC_EXIT, address, depth);
}

static void enter_work(struct minirec *rec, const char *name, uint64_t time, uint64_t number,
                       const char *text, unsigned depth)
{
    struct minirec_payload payload = {.size = 0};
    minirec_add_number(rec, &payload, 4, number);
    minirec_add_text(rec, &payload, text);
    minirec_record_with(rec, name, time, MINIREC_ENTRY, MINIREC_WORK, depth, &payload);
}

static void leave_work(struct minirec *rec, const char *name, uint64_t time, uint64_t number, unsigned depth)
{
    struct minirec_payload payload = {.size = 0};
    minirec_add_number(rec, &payload, 4, number);
    minirec_record_with(rec, name, time, MINIREC_EXIT, MINIREC_WORK, depth, &payload);
}

static void add_points(struct minirec *rec, const char *name)
{
    struct minirec_payload memory = {.size = 0}, user = {.size = 0};
    for (unsigned i = 1; i <= 3; i++)
        minirec_add_number(rec, &memory, 8, 1000 * i);
    minirec_record_with(rec, name, 125, MINIREC_EVENT, 100001, 0, &memory);
    minirec_record(rec, name, 130, MINIREC_EXIT, MINIREC_LEAF, 2);
    minirec_add_number(rec, &user, 4, 5);
    minirec_record_with(rec, name, 135, MINIREC_EVENT, 1000000, 0, &user);
}

static void add_values(struct minirec *rec, const char *name)
{
    struct minirec_payload scale = {.size = 0}, scaled = {.size = 0}, paint = {.size = 0};
    unsigned word = rec->options.is_32_bit ? 4 : 8;
    minirec_add_number(rec, &scale, 8, UINT64_C(0x4004000000000000)); /* 2.5 */
    minirec_add_number(rec, &scale, 4, 0x3fc00000);                   /* 1.5 */
    minirec_record_with(rec, name, 200, MINIREC_ENTRY, MINIREC_SCALE, 1, &scale);
    minirec_add_number(rec, &scaled, 8, UINT64_C(0x400e000000000000)); /* 3.75 */
    minirec_record_with(rec, name, 210, MINIREC_EXIT, MINIREC_SCALE, 1, &scaled);
    minirec_add_number(rec, &paint, word, 2);
    minirec_add_number(rec, &paint, word, MINIREC_STATE);
    minirec_add_number(rec, &paint, 1, 'x');
    for (unsigned i = 0; i < 3; i++)
        minirec_add_number(rec, &paint, 4, i);
    minirec_record_with(rec, name, 300, MINIREC_ENTRY, MINIREC_PAINT, 1, &paint);
    minirec_record(rec, name, 320, MINIREC_EXIT, MINIREC_PAINT, 1);
}

static void add_names(struct minirec *rec, const char *name)
{
    struct minirec_payload before = {.size = 0}, after = {.size = 0};
    minirec_add_text(rec, &before, "lode");
    minirec_record_with(rec, name, 330, MINIREC_ENTRY, MINIREC_NAME, 1, &before);
    minirec_add_text(rec, &after, "LODE");
    minirec_record_with(rec, name, 340, MINIREC_EXIT, MINIREC_NAME, 1, &after);
}

static void make_main_thread(struct minirec *rec)
{
    static const char name[] = "100.dat";
    minirec_record(rec, name, 100, MINIREC_ENTRY, MINIREC_MAIN, 0);
    enter_work(rec, name, 110, 42, "hello", 1);
    minirec_record(rec, name, 120, MINIREC_ENTRY, MINIREC_LEAF, 2);
    add_points(rec, name);
    leave_work(rec, name, 140, 43, 1);
    add_values(rec, name);
    add_names(rec, name);
    call(rec, name, 400, 410, MINIREC_LIBFN, 1);
    call(rec, name, 500, 510, MINIREC_FORK, 1);
    call(rec, name, 650, 660, MINIREC_PLUG, 1);
    minirec_record(rec, name, 900, MINIREC_EXIT, MINIREC_MAIN, 0);
}

static void make_threads(struct minirec *rec)
{
    uint64_t time = 1000;
    make_main_thread(rec);
    minirec_record(rec, "101.dat", time, MINIREC_ENTRY, MINIREC_RUN, 0);
    for (uint32_t i = 0; i < rec->options.calls; i++, time += 20)
        call(rec, "101.dat", time + 20, time + 30, MINIREC_LEAF, 1);
    minirec_record(rec, "101.dat", time + 40, MINIREC_EXIT, MINIREC_RUN, 0);
    enter_work(rec, "102.dat", 520, 7, "child", 2);
    leave_work(rec, "102.dat", 530, 8, 2);
    minirec_record(rec, "102.dat", 850, MINIREC_ENTRY, MINIREC_MAIN, 0);
    call(rec, "102.dat", 860, 870, MINIREC_HELPER, 1);
    minirec_record(rec, "102.dat", 880, MINIREC_EXIT, MINIREC_MAIN, 0);
}

/* ---- all ---- */

void minirec_begin(struct minirec *rec, const struct minirec_options *options)
{
    *rec = (struct minirec){.options = *options};
}

void minirec_make(struct minirec *rec, const struct minirec_options *options)
{
    minirec_begin(rec, options);
    make_info(rec);
    make_map(rec, session, "/bin/prog", '1');
    make_map(rec, other_session, "/bin/other", '2');
    if (options->has_binary_tasks)
        make_task_messages(rec);
    else
        make_task_text(rec);
    make_all_symbols(rec);
    make_threads(rec);
    make_perf(rec);
    minirec_set_text(rec, "events.txt", "EVENT: 1000000 app:begin\n");
    minirec_set_text(rec, "extern.dat", "# TIMESTAMP MESSAGE\n1.000000450 half way\n");
    minirec_set_text(rec, "note.txt", "a note\n");
    minirec_set_text(rec, "default.opts", "");
}

void minirec_free(struct minirec *rec)
{
    for (size_t i = 0; i < rec->count; i++)
        free(rec->files[i].bytes);
    rec->count = 0;
}
