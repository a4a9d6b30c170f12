/* SPDX-License-Identifier: BSD-3-Clause */
/* Costly recordings: time and memory stay linear in their size, whatever they contain. */
#include "hostile.h"
#include <lode/calls.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each case would take minutes or gigabytes if any cost were quadratic. CPU time is compared with
 * that of a valid recording of SOUND_CALLS calls in the same run: the slowest case takes 40 times
 * as long.
 */
enum {
    MAX_RATIO = 150,
    MAX_MEGABYTES = 160,
#ifdef SANITIZED
    MANY = 5000,
#else
    MANY = 20000,
#endif
    SOUND_CALLS = 200000
};

struct costly {
    struct minirec rec;
    char *text; /* what is being put together */
    size_t size, capacity;
};

static void begin(struct costly *self)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    *self = (struct costly){.capacity = (size_t)16 << 20};
    minirec_make(&self->rec, &options);
    self->text = malloc(self->capacity);
    assert_non_null(self->text);
}

__attribute__((format(printf, 2, 3))) static void add(struct costly *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(self->text + self->size, self->capacity - self->size, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < self->capacity - self->size);
    self->size += (size_t)length;
}

static void add_bytes(struct costly *self, const void *bytes, size_t size)
{
    assert_true(size <= self->capacity - self->size);
    memcpy(self->text + self->size, bytes, size);
    self->size += size;
}

/* A record; times are whole, relative to the start. */
static void add_record(struct costly *self, uint64_t time, uint64_t word)
{
    unsigned char bytes[16];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(time >> 8 * i);
        bytes[i + 8] = (unsigned char)(word >> 8 * i);
    }
    add_bytes(self, bytes, sizeof bytes);
}

static uint64_t entry(uint64_t address, unsigned depth)
{
    return 0x28 | (uint64_t)depth << 6 | address << 16;
}

static uint64_t leaving(uint64_t address, unsigned depth)
{
    return entry(address, depth) | 1;
}

static void put(struct costly *self, const char *file)
{
    minirec_append(&self->rec, file, self->text, self->size);
    self->size = 0;
}

static void replace(struct costly *self, const char *file)
{
    minirec_set(&self->rec, file, self->text, self->size);
    self->size = 0;
}

/* Walks the recording without a bound. */
static struct outcome walk(const struct costly *self)
{
    lode_memory_file files[MINIREC_FILES];
    return exercise(files, minirec_list(&self->rec, files), HUGE_VAL);
}

/* Milliseconds of the valid recording; measured once. */
static double sound_milliseconds(void)
{
    static double milliseconds;
    struct costly self;
    if (milliseconds > 0)
        return milliseconds;
    begin(&self);
    for (unsigned i = 0; i < SOUND_CALLS; i++) {
        add_record(&self, MINIREC_START + i, entry(MINIREC_LEAF, 0));
        add_record(&self, MINIREC_START + i, leaving(MINIREC_LEAF, 0));
    }
    replace(&self, "100.dat");
    milliseconds = walk(&self).milliseconds;
    print_message("# %.0f ms for a sound recording\n", milliseconds);
    minirec_free(&self.rec);
    free(self.text);
    return milliseconds;
}

static void run(struct costly *self)
{
    double sound = sound_milliseconds();
    struct outcome outcome = walk(self);
    double ratio = outcome.milliseconds / sound;
    print_message("# %.0f ms, %.1f times a sound recording, %llu events, %llu errors\n", outcome.milliseconds,
                  ratio, (unsigned long long)outcome.walk.events,
                  (unsigned long long)outcome.walk.full.errors);
    if (ratio > MAX_RATIO)
        fail_msg("took %.0f times as long as a sound recording", ratio);
    minirec_free(&self->rec);
    free(self->text);
    assert_little_memory(MAX_MEGABYTES);
}

/* ---- text ---- */

static void symbols_at_one_address(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < 10 * MANY; i++)
        add(&self, "0000000000003800 T f%u\n", i);
    put(&self, "prog.sym");
    run(&self);
}

static void modules_that_share_a_file_of_symbols(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < MANY; i++)
        add(&self, "%x-%x r-xp 00000000 00:00 0 /%u/shared.so\n", 0x10000000 + i * 0x100,
            0x10000000 + i * 0x100 + 0x80, i);
    put(&self, "sid-0123456789abcdef.map");
    for (unsigned i = 0; i < MANY; i++)
        add(&self, "%016x %08x T shared%u\n", i, 1, i);
    replace(&self, "shared.so.sym");
    for (unsigned i = 0; i < MANY; i++)
        add(&self, "F: %x shared%u\nL: 1 a.c\n", i, i);
    replace(&self, "shared.so.dbg");
    run(&self);
}

static void modules_without_a_name(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < 5 * MANY; i++)
        add(&self, "%x-%x r-xp 00000000 00:00 0 /%u/\n", 0x10000000 + i * 0x100, 0x10000080 + i * 0x100, i);
    put(&self, "sid-0123456789abcdef.map");
    run(&self);
}

/* At one address and at many, in this session and another; then records without any name. */
static void libraries_and_addresses(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < MANY; i++)
        add(&self, "DLOP timestamp=1.%09u tid=100 sid=%s base=%x libname=\"/lib/plugin.so\"\n", 1000 + i,
            i % 4 == 0 ? "fedcba9876543210" : "0123456789abcdef",
            i % 2 ? 0x10000000 : 0x10000000 + i * 0x1000);
    put(&self, "task.txt");
    for (unsigned i = 0; i < 3 * MANY; i++) {
        add_record(&self, MINIREC_START + 1000 + i, entry(0x20000000 + i, 0));
        add_record(&self, MINIREC_START + 1000 + i, leaving(0x20000000 + i, 0));
    }
    replace(&self, "101.dat");
    run(&self);
}

static void sessions_and_forks(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < MANY; i++) {
        add(&self, "SESS timestamp=1.%09u pid=100 sid=%x exename=\"/bin/prog\"\n", i, i / 2);
        add(&self, "FORK timestamp=1.0 pid=%u ppid=%u\n", 1000 + i, 1000 + (i + 1) % MANY);
        add(&self, "DLOP timestamp=1.%09u tid=100 sid=none base=1000 libname=\"/x%u\"\n", 2 * i, i);
    }
    put(&self, "task.txt");
    for (unsigned i = 0; i < MANY; i++) {
        add_record(&self, MINIREC_START + i, entry(MINIREC_LEAF, 0));
        add_record(&self, MINIREC_START + i, leaving(MINIREC_LEAF, 0));
    }
    replace(&self, "101.dat");
    run(&self);
}

static void tasks_without_data(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    add(&self, "taskinfo:tids=100,101,102");
    for (unsigned i = 0; i < MANY; i++)
        add(&self, ",%u", 1000 + i);
    add(&self, "\n");
    put(&self, "info");
    run(&self);
}

static void specifications(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    add(&self, "argspec:");
    for (unsigned i = 0; i < 2000; i++)
        add(&self, "((a*)*b|%u.*f)+$@arg1/i32,arg2/s;", i);
    add(&self, "\nenumauto:");
    for (unsigned i = 0; i < MANY; i++)
        add(&self, "enum e%u {A%u = %u, B%u,};", i % 100, i, i, i);
    add(&self, "\n");
    put(&self, "info");
    for (unsigned i = 0; i < 2000; i++)
        add(&self, "%016x %08x T aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%u\n", 0x2000 + i, 1, i);
    put(&self, "prog.sym");
    for (unsigned i = 0; i < 2000; i++) {
        add_record(&self, MINIREC_START + 1000, entry(MINIREC_PROG + 0x2000 + i, 0));
        add_record(&self, MINIREC_START + 1000, leaving(MINIREC_PROG + 0x2000 + i, 0));
    }
    replace(&self, "101.dat");
    run(&self);
}

/* ---- records ---- */

static void fill(struct costly *self, size_t size, const void *pattern, size_t pattern_size)
{
    while (self->size < size)
        add_bytes(self, pattern, pattern_size);
}

static void no_records_at_all(void **state)
{
    static const char zeros[8], ones[8] = "\xff\xff\xff\xff\xff\xff\xff\xff";
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct costly self;
        begin(&self);
        fill(&self, (size_t)4 << 20, i ? ones : zeros, 8);
        replace(&self, "100.dat");
        run(&self);
    }
}

static void noise(void **state)
{
    struct costly self;
    uint64_t random = 77;
    (void)state;
    begin(&self);
    while (self.size < (size_t)4 << 20) {
        uint64_t number = next_random(&random);
        add_bytes(&self, &number, sizeof number);
    }
    replace(&self, "100.dat");
    run(&self);
}

/* Each 8 bytes are both a time and a record: entry with unknown payload, loss, or event. */
static void records_everywhere(void **state)
{
    static const uint64_t words[] = {0x2c, 0x2a, 0x2e, 0x2f, 0xffffffffffffffef};
    (void)state;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        struct costly self;
        begin(&self);
        fill(&self, (size_t)1 << 20, &words[i], sizeof words[i]);
        replace(&self, "100.dat");
        run(&self);
    }
}

/* Good records, and damage between any two. */
static void damage_everywhere(void **state)
{
    static const char zeros[24];
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < 2 * MANY; i++) {
        add_record(&self, MINIREC_START + i, entry(MINIREC_LEAF, i % 1000));
        add_record(&self, MINIREC_START + i, entry(MINIREC_LEAF, i % 7));
        add_bytes(&self, zeros, sizeof zeros);
    }
    replace(&self, "100.dat");
    run(&self);
}

static void addresses_without_end(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < 10 * MANY; i++) {
        add_record(&self, MINIREC_START + i, entry(UINT64_C(0x7f0000000000) + 16 * i, 0));
        add_record(&self, MINIREC_START + i, leaving(UINT64_C(0x7f0000000000) + 16 * i, 0));
    }
    replace(&self, "100.dat");
    run(&self);
}

/* A mixer without a seed, as the table of addresses once had. */
static uint64_t unkeyed(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    return key ^ key >> 32;
}

/* 80,000 addresses; if `collide`, they would share 64 of 2^18 slots of an unkeyed hash table. */
static double milliseconds_of_addresses(bool collide)
{
    struct costly self;
    uint64_t address = UINT64_C(0x100000000);
    begin(&self);
    add(&self, "100000000-7f0000000000 r-xp 00000000 00:00 0 /lib/large.so\n");
    put(&self, "sid-0123456789abcdef.map");
    for (unsigned i = 0; i < 4 * MANY; i++) {
        do
            address += collide ? 16 : 16 * 4099;
        while (collide && (unkeyed(address) & 0x3ffff) >= 64);
        add_record(&self, MINIREC_START + i, entry(address, 0));
        add_record(&self, MINIREC_START + i, leaving(address, 0));
    }
    replace(&self, "100.dat");
    double milliseconds = walk(&self).milliseconds;
    minirec_free(&self.rec);
    free(self.text);
    return milliseconds;
}

static void addresses_that_collide_without_a_seed(void **state)
{
    (void)state;
    double spread = milliseconds_of_addresses(false), colliding = milliseconds_of_addresses(true);
    print_message("# %.0f ms for addresses that spread, %.0f ms for those that collide\n", spread, colliding);
    assert_true(colliding < 5 * spread);
}

/* All rows in one number. */
static uint64_t rows(const struct costly *self, unsigned threads)
{
    lode_memory_file files[MINIREC_FILES];
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_recording *recording;
    lode_calls *calls;
    uint64_t hash = 0;
    options.threads = threads;
    options.sort = LODE_CALLS_BY_NAME;
    assert_int_equal(
        lode_recording_open_memory(&recording, files, minirec_list(&self->rec, files), NULL, NULL), LODE_OK);
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, &options, NULL), LODE_OK);
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        const char *name = lode_function_name(row->function);
        for (size_t k = 0; name && name[k]; k++)
            hash = (hash ^ (unsigned char)name[k]) * UINT64_C(0x100000001b3);
        hash = (hash ^ row->calls) * UINT64_C(0x100000001b3) + row->total;
    }
    lode_calls_free(calls);
    lode_recording_close(recording);
    return hash;
}

/* More addresses than become functions: which ones do must not depend on who comes first. */
static void which_addresses_count_does_not_depend_on_threads(void **state)
{
    static const char *const names[] = {"100.dat", "101.dat", "102.dat"};
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned track = 0; track < 3; track++) {
        for (unsigned i = 0; i < MANY; i++) {
            uint64_t address = UINT64_C(0x7f0000000000) + 16 * (i + track * 1000);
            add_record(&self, MINIREC_START + i, entry(address, 0));
            add_record(&self, MINIREC_START + i + track, leaving(address, 0));
        }
        replace(&self, names[track]);
    }
    uint64_t expected = rows(&self, 1);
    for (unsigned i = 0; i < 10; i++)
        assert_true(rows(&self, 4) == expected);
    run(&self);
}

static void calls_that_go_down_and_up(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < 10 * MANY; i++)
        add_record(&self, MINIREC_START + i, entry(i % 3 ? MINIREC_LEAF : MINIREC_LONGJMP, i % 1024));
    replace(&self, "100.dat");
    run(&self);
}

static void the_last_time_of_all(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < 2 * MANY; i++) {
        add_record(&self, UINT64_MAX, entry(MINIREC_LEAF, 0));
        add_record(&self, UINT64_MAX, leaving(MINIREC_LEAF, 0));
    }
    replace(&self, "100.dat");
    run(&self);
}

static void threads_that_come_and_go(void **state)
{
    struct costly self;
    (void)state;
    begin(&self);
    for (unsigned i = 0; i < MANY / 4; i++) {
        minirec_perf(&self.rec, "perf-cpu2.dat", 2 * MANY - i, MINIREC_PERF_OUT, 100, 100);
        minirec_perf_name(&self.rec, "perf-cpu3.dat", i, 100, 100, "name");
    }
    run(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_at_one_address),
        cmocka_unit_test(modules_that_share_a_file_of_symbols),
        cmocka_unit_test(modules_without_a_name),
        cmocka_unit_test(libraries_and_addresses),
        cmocka_unit_test(sessions_and_forks),
        cmocka_unit_test(tasks_without_data),
        cmocka_unit_test(specifications),
        cmocka_unit_test(no_records_at_all),
        cmocka_unit_test(noise),
        cmocka_unit_test(records_everywhere),
        cmocka_unit_test(damage_everywhere),
        cmocka_unit_test(addresses_without_end),
        cmocka_unit_test(which_addresses_count_does_not_depend_on_threads),
        cmocka_unit_test(calls_that_go_down_and_up),
        cmocka_unit_test(the_last_time_of_all),
        cmocka_unit_test(threads_that_come_and_go),
        /* Last: it takes more memory than the others may. */
        cmocka_unit_test(addresses_that_collide_without_a_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
