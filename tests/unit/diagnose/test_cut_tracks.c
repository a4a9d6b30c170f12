/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A diagnosis of tracks that are cut: all facts and statements are those of whole tracks, at any
 * cut, of every recording of the corpus and of random tracks, sound and damaged.
 */
#include "list_facts.h"
#include "minirec.h"
#include "model/recording/recording.h"
#include "unit.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = 16,
    RECORDS = 300,
    SEEDS = 60,
    CUTS = 6 /* sizes of pieces of a recording of the corpus */
};

static uint64_t seed;

static unsigned random_below(unsigned limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % limit;
}

/* ---- what is compared ---- */

struct listing {
    FILE *out;
    uint64_t done;     /* of the pass */
    uint64_t step_max; /* more than that at once is a whole track */
    unsigned restarts; /* passes that read tracks as a whole after all */
};

static int note_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct listing *self = user;
    (void)phase;
    (void)total;
    self->restarts += done < self->done || done - self->done > self->step_max;
    self->done = done;
    return 0;
}

/* All facts, with pieces of this size; 0: whole tracks. `is_sound`: no piece is longer. */
static char *list(lode_recording *recording, uint64_t piece, bool is_sound, unsigned *restarts)
{
    struct listing self = {.step_max = is_sound && piece ? piece : UINT64_MAX};
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    lode_error error = {0};
    lode_diagnosis *d;
    char *text = NULL;
    size_t size;
    self.out = open_memstream(&text, &size);
    assert_non_null(self.out);
    recording->piece = piece;
    options.threads = piece ? 1 + random_below(3) : 1;
    options.on_progress = note_progress;
    options.user = &self;
    lode_status status = lode_diagnose_recording(&d, recording, &options, &error);
    fprintf(self.out, "%d %s\n", (int)status, status == LODE_OK ? "" : error.text);
    if (status == LODE_OK && d->calls) {
        list_facts(self.out, d->calls);
        list_statements(self.out, d);
    }
    lode_diagnosis_free(status == LODE_OK ? d : NULL);
    fclose(self.out);
    *restarts += self.restarts;
    return text;
}

/* The first lines that differ, with what comes before them. */
static void say_difference(const char *name, uint64_t piece, const char *whole, const char *cut)
{
    size_t at = 0, line = 0;
    while (whole[at] && whole[at] == cut[at]) {
        line = whole[at] == '\n' ? at + 1 : line;
        at++;
    }
    fail_msg("%s, pieces of %llu bytes:\n%.300s\n---\n%.300s", name, (unsigned long long)piece, whole + line,
             cut + line);
}

/* How often the pieces did not fit. */
static unsigned compare(lode_recording *recording, const char *whole, uint64_t piece, bool is_sound,
                        const char *name)
{
    unsigned restarts = 0;
    char *cut = list(recording, piece, is_sound, &restarts);
    if (strcmp(whole, cut) != 0)
        say_difference(name, piece, whole, cut);
    free(cut);
    return restarts;
}

/* ---- the corpus ---- */

static uint64_t longest_track(const lode_recording *recording)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        longest = recording->tracks[i].bytes > longest ? recording->tracks[i].bytes : longest;
    return longest;
}

static unsigned try_recording(const char *path)
{
    lode_recording *recording;
    unsigned restarts = 0;
    if (lode_recording_open(&recording, path, NULL, NULL) != LODE_OK)
        return 0;
    uint64_t records = longest_track(recording) / RECORD;
    char *whole = list(recording, 0, false, &restarts);
    /* A cut at every record takes time for each of them. */
    for (unsigned i = 0; i < CUTS && records > 1; i++) {
        uint64_t least = 1 + records / 200, most = records - least + 1;
        uint64_t piece = i == 0 ? least : least + random_below(most < 4096 ? (unsigned)most : 4096);
        compare(recording, whole, piece * RECORD, false, path);
    }
    free(whole);
    lode_recording_close(recording);
    return 1;
}

static void recordings_give_the_same_diagnosis_at_any_cut(void **state)
{
    static const char *const folders[] = {"uftrace/recorded", "uftrace/handmade"};
    unsigned count = 0;
    (void)state;
    seed = 1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char root[512], path[1024];
        struct dirent *entry;
        assert_true(corpus_path(root, sizeof root, folders[i]));
        DIR *directory = opendir(root);
        assert_non_null(directory);
        while ((entry = readdir(directory)) != NULL) {
            if (entry->d_name[0] == '.' || entry->d_type == DT_LNK)
                continue;
            snprintf(path, sizeof path, "%s/%.200s%s", root, entry->d_name, i == 0 ? "/uftrace.data" : "");
            count += try_recording(path);
        }
        closedir(directory);
    }
    print_message("# %u recordings\n", count);
    assert_true(count >= 10);
}

/* ---- made tracks ---- */

#define TRACK "101.dat"

/* By address, from 0x1000 on: those of the program, and those that do something beside. */
static const char *const names[] = {
    "main",
    "work",
    "leaf",
    "run._omp_fn.0",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_cond_wait",
    "pthread_join",
    "usleep",
    "pthread_barrier_wait",
    "MPI_Allreduce",
    "MPI_Wait",
    "read",
    "malloc",
    "GOMP_parallel",
    "futex_wait",
};

enum {
    NAMES = sizeof names / sizeof *names,
    MAIN = 0,
    WORK = 1,
    LEAF = 2,
    REDUCE = 10,
    WAIT = 11,
    READ = 12
};

static uint64_t address_of(unsigned name)
{
    return MINIREC_PROG + 0x1000 + 0x10 * name;
}

static void make(struct minirec *rec, bool has_sched)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    char text[2048];
    int length = snprintf(text, sizeof text, "# symbols: %u\n# path name: /bin/prog\n", (unsigned)NAMES);
    options.big_endian = random_below(2);
    minirec_make(rec, &options);
    for (unsigned i = 0; i < NAMES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%016x 00000010 T %s\n",
                           0x1000 + 0x10 * i, names[i]);
    minirec_set_text(rec, "prog.sym", text);
    minirec_replace(rec, "info", "retspec:work@retval/i32;", "retspec:read@retval/i64;");
    minirec_replace(rec, "info", "argspec:work@arg1/i32,arg2/s;", "argspec:work@arg1/i32;");
    minirec_set(rec, "100.dat", "", 0);
    minirec_set(rec, "102.dat", "", 0);
    minirec_set(rec, TRACK, "", 0);
    minirec_set(rec, "perf-cpu0.dat", "", 0);
    minirec_set(rec, "perf-cpu1.dat", "", 0);
    if (has_sched)
        return;
    minirec_drop(rec, "perf-cpu0.dat");
    minirec_drop(rec, "perf-cpu1.dat");
}

/* Steps of all sizes: most are short, some are waits, few are long calls. */
static uint64_t some_time(void)
{
    static const unsigned most[] = {1, 4, 4, 200, 200, 3000, 9000, 400000};
    return random_below(most[random_below(8)]);
}

/* Off-CPU in a part of the time, once or twice. `waits`: not only pre-empted. */
static void be_off(struct minirec *rec, uint64_t from, uint64_t to, bool waits)
{
    uint64_t quarter = (to - from) / 4;
    for (unsigned i = 0; quarter > 0 && i < 1 + random_below(2); i++, from += 2 * quarter) {
        bool is_blocked = waits && random_below(3) > 0;
        minirec_perf(rec, "perf-cpu0.dat", from + random_below(2),
                     is_blocked ? MINIREC_PERF_OUT : MINIREC_PERF_PREEMPTED, 100, 101);
        minirec_perf(rec, "perf-cpu0.dat", from + quarter, MINIREC_PERF_IN, 100, 101);
    }
}

static void put_call(struct minirec *rec, uint64_t time, unsigned type, unsigned name, unsigned depth,
                     bool has_values)
{
    struct minirec_payload payload = {.size = 0};
    bool is_work = has_values && name == WORK && type == MINIREC_ENTRY;
    bool is_read = has_values && name == READ && type == MINIREC_EXIT;
    if (is_work)
        minirec_add_number(rec, &payload, 4, random_below(6));
    if (is_read)
        minirec_add_number(rec, &payload, 8, random_below(1000));
    if (payload.size)
        minirec_record_with(rec, TRACK, time, type, address_of(name), depth, &payload);
    else
        minirec_record(rec, TRACK, time, type, address_of(name), depth);
}

/* Where a track ends so far. */
struct course {
    uint64_t time;
    unsigned depth;
};

/* Which calls a track has. */
struct taste {
    bool has_sched, waits, has_values;
    unsigned records;
    unsigned least; /* depth that is not left */
    const unsigned *loved;
};

/* Nested calls; runs of the same call are long enough for their numbers to count. */
static struct course make_calls(struct minirec *rec, const struct taste *taste)
{
    unsigned open[8], depth = 0, favourite = random_below(NAMES), reach = taste->least + 2 + random_below(5);
    uint64_t time = 1000;
    for (unsigned i = 0; i < taste->records; i++) {
        uint64_t next = time + some_time();
        bool begins = depth <= taste->least || (depth < reach && random_below(100) < 52);
        if (taste->has_sched && random_below(3) == 0)
            be_off(rec, time, next, taste->waits);
        time = next;
        if (random_below(40) == 0)
            favourite = taste->loved ? taste->loved[random_below(4)] : random_below(NAMES);
        if (begins)
            open[depth] = depth == 0 && random_below(4)         ? MAIN
                          : random_below(taste->loved ? 20 : 3) ? favourite
                                                                : random_below(NAMES);
        else
            depth--;
        put_call(rec, time, begins ? MINIREC_ENTRY : MINIREC_EXIT, open[depth], depth, taste->has_values);
        depth += begins;
    }
    if (taste->has_sched)
        be_off(rec, time + 10, time + 20000, taste->waits);
    return (struct course){time, depth};
}

/* A wait, and a record that is not complete: calls that are open end there. */
static void end_in_wait(struct minirec *rec, const struct course *course)
{
    put_call(rec, course->time + 100, MINIREC_ENTRY, WAIT, course->depth, false);
    put_call(rec, course->time + 30000, MINIREC_EXIT, WAIT, course->depth, false);
    minirec_append(rec, TRACK, "incomplet", 8);
}

static void damage(struct minirec *rec)
{
    size_t size = minirec_file(rec, TRACK)->size, at = random_below((unsigned)(size / RECORD)) * RECORD;
    switch (random_below(4)) {
    case 0:
        minirec_put(rec, TRACK, at, 8, MINIREC_START + random_below(900000));
        break;
    case 1:
        minirec_put(rec, TRACK, at + 8, 8, random_below(1u << 30));
        break;
    case 2:
        minirec_put(rec, TRACK, at + 8, 8,
                    5u << 3 | 1 | random_below(8) << 6 | address_of(random_below(NAMES)) << 16);
        break;
    default:
        minirec_cut(rec, TRACK, size - random_below(80));
    }
}

static lode_recording *open_made(const struct minirec *rec)
{
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    lode_error error = {0};
    if (lode_recording_open_memory(&recording, files, minirec_list(rec, files), NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

/* With cuts at every record, and others. */
static unsigned compare_pieces(const struct minirec *rec, bool is_sound, const char *name)
{
    unsigned restarts = 0;
    lode_recording *recording = open_made(rec);
    char *whole = list(recording, 0, false, &restarts);
    for (unsigned k = 1; k < 7; k++)
        restarts +=
            compare(recording, whole, RECORD * (k < 5 ? k : 2 + random_below(RECORDS)), is_sound, name);
    free(whole);
    lode_recording_close(recording);
    return restarts;
}

static unsigned compare_random(unsigned damages, bool has_values)
{
    unsigned restarts = 0;
    for (unsigned i = 0; i < SEEDS; i++) {
        const struct taste taste = {i % 4 > 0, true, has_values, RECORDS, i % 3 == 0, NULL};
        struct minirec rec;
        char name[64];
        seed = i + 1000 * damages + 10000 * has_values;
        snprintf(name, sizeof name, "seed %u, %u damages, values %d", i, damages, has_values);
        make(&rec, taste.has_sched);
        struct course course = make_calls(&rec, &taste);
        if (damages > 0 && i % 3 == 0)
            end_in_wait(&rec, &course);
        for (unsigned k = i % 3 == 0; k < damages; k++)
            damage(&rec);
        restarts += compare_pieces(&rec, damages == 0 && !has_values, name);
        minirec_free(&rec);
    }
    return restarts;
}

/* More than are known, taken and not released, and released and not taken. */
static void locks_are_held_over_cuts(void **state)
{
    static const unsigned locks[] = {4, 5, 5, 6};
    (void)state;
    for (unsigned i = 0; i < SEEDS / 3; i++) {
        const struct taste taste = {i % 2, i % 4 > 1, false, 5 * RECORDS, 1 + i % 2, locks};
        struct minirec rec;
        char name[64];
        seed = i;
        snprintf(name, sizeof name, "seed %u, locks", i);
        make(&rec, taste.has_sched);
        make_calls(&rec, &taste);
        lode_recording *recording = open_made(&rec);
        unsigned restarts = 0;
        char *whole = list(recording, 0, false, &restarts);
        for (unsigned k = 2; k < 9; k++)
            restarts += compare(recording, whole, 5 * RECORDS / k * RECORD, true, name);
        assert_int_equal(restarts, 0);
        free(whole);
        lode_recording_close(recording);
        minirec_free(&rec);
    }
}

static void sound_tracks_are_read_once(void **state)
{
    (void)state;
    assert_int_equal(compare_random(0, false), 0);
}

static void arguments_and_results_are_those_of_whole_tracks(void **state)
{
    (void)state;
    print_message("# %u passes were read again as a whole\n", compare_random(0, true));
}

static void damaged_tracks_are_repaired_the_same_way(void **state)
{
    unsigned restarts = 0;
    (void)state;
    for (unsigned damages = 1; damages < 4; damages++)
        restarts += compare_random(damages, false);
    print_message("# %u passes were read again as a whole\n", restarts);
    assert_true(restarts > 0);
}

/* ---- long tracks ---- */

static unsigned compare_long(const struct minirec *rec, const char *name)
{
    unsigned restarts = 0;
    lode_recording *recording = open_made(rec);
    char *whole = list(recording, 0, false, &restarts);
    for (unsigned pieces = 2; pieces < 6; pieces += 3)
        restarts +=
            compare(recording, whole, longest_track(recording) / pieces / RECORD * RECORD, true, name);
    free(whole);
    lode_recording_close(recording);
    return restarts;
}

/* Many records, which are appended at once. */
struct block {
    struct minirec *rec;
    unsigned char *bytes;
    size_t size;
    uint64_t time;
};

static void put_word(struct block *block, uint64_t word)
{
    for (unsigned i = 0; i < 8; i++)
        block->bytes[block->size++] =
            (unsigned char)(word >> 8 * (block->rec->options.big_endian ? 7 - i : i));
}

static void put_record(struct block *block, unsigned type, unsigned name, unsigned depth)
{
    put_word(block, MINIREC_START + block->time);
    put_word(block, type | 5u << 3 | depth << 6 | address_of(name) << 16);
}

static void begin_block(struct block *block, struct minirec *rec, unsigned calls)
{
    make(rec, false);
    *block = (struct block){rec, malloc((2 * (size_t)calls + 2) * RECORD), 0, 1000};
    assert_non_null(block->bytes);
    put_record(block, MINIREC_ENTRY, MAIN, 0);
}

static void put_leaf(struct block *block, unsigned name, uint64_t took)
{
    block->time += 5;
    put_record(block, MINIREC_ENTRY, name, 1);
    block->time += took;
    put_record(block, MINIREC_EXIT, name, 1);
}

/* How often the pieces did not fit. */
static unsigned end_block(struct block *block, const char *name)
{
    put_record(block, MINIREC_EXIT, MAIN, 0);
    minirec_append(block->rec, TRACK, block->bytes, block->size);
    unsigned restarts = compare_long(block->rec, name);
    minirec_free(block->rec);
    free(block->bytes);
    return restarts;
}

/* The last step of growth begins at 2^19 calls. */
static void numbers_of_calls_go_on(void **state)
{
    enum {
        CALLS = 1100000
    };
    struct minirec rec;
    struct block block;
    (void)state;
    seed = 1;
    begin_block(&block, &rec, CALLS);
    for (unsigned i = 0; i < CALLS; i++)
        put_leaf(&block, i < 1000 && i % 3 == 0 ? WORK : LEAF, random_below(300));
    assert_int_equal(end_block(&block, "numbers"), 0);
}

/* More waits, long calls and collectives than are kept. */
static void the_longest_waits_are_kept(void **state)
{
    enum {
        CALLS = 90000
    };
    struct minirec rec;
    struct block block;
    (void)state;
    seed = 2;
    begin_block(&block, &rec, CALLS);
    for (unsigned i = 0; i < CALLS; i++)
        if (i % 8)
            put_leaf(&block, REDUCE, 1900 + random_below(20000));
        else
            put_leaf(&block, WORK, 50000 + random_below(1000000));
    assert_int_equal(end_block(&block, "waits"), 0);
}

/* Only the last piece has too many, but it decides which ones of the first stay. */
static void limits_are_those_of_the_track(void **state)
{
    enum {
        CALLS = 150000
    };
    struct minirec rec;
    struct block block;
    (void)state;
    seed = 3;
    begin_block(&block, &rec, CALLS);
    for (unsigned i = 0; i < CALLS; i++)
        if (i < CALLS / 2)
            put_leaf(&block, i % 100 ? LEAF : i % 200 ? WAIT : WORK, i % 100 ? 20 : i % 200 ? 3000 : 150000);
        else
            put_leaf(&block, i % 12 ? REDUCE : WORK,
                     i % 12 ? 2000 + random_below(3500) : 101000 + random_below(150000));
    assert_int_equal(end_block(&block, "limits"), 0);
}

/* Waits of which no record says yet that they count: their limit is above that of waits that do. */
static void put_waits(struct block *block)
{
    enum {
        WAITS = 200000
    };
    for (unsigned i = 0; i < WAITS; i++) {
        minirec_perf(block->rec, "perf-cpu0.dat", block->time += 10, MINIREC_PERF_OUT, 100, 101);
        block->time += 2500 + random_below(8000);
        minirec_perf(block->rec, "perf-cpu0.dat", block->time, MINIREC_PERF_IN, 100, 101);
    }
}

static void waits_between_two_records_have_a_limit(void **state)
{
    enum {
        CALLS = 4000
    };
    struct minirec rec;
    struct block block;
    (void)state;
    seed = 4;
    begin_block(&block, &rec, CALLS);
    minirec_set(&rec, "perf-cpu0.dat", "", 0);
    for (unsigned i = 0; i < CALLS; i++) {
        if (i == CALLS - CALLS / 4)
            put_waits(&block);
        put_leaf(&block, i % 100 ? LEAF : WORK, i % 100 ? 20 : 3000);
    }
    assert_int_equal(end_block(&block, "between"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_tracks_are_read_once),
        cmocka_unit_test(locks_are_held_over_cuts),
        cmocka_unit_test(arguments_and_results_are_those_of_whole_tracks),
        cmocka_unit_test(damaged_tracks_are_repaired_the_same_way),
        cmocka_unit_test(numbers_of_calls_go_on),
        cmocka_unit_test(the_longest_waits_are_kept),
        cmocka_unit_test(limits_are_those_of_the_track),
        cmocka_unit_test(waits_between_two_records_have_a_limit),
        cmocka_unit_test(recordings_give_the_same_diagnosis_at_any_cut),
    };
    return run_with_corpus("cut_tracks", tests, sizeof tests / sizeof *tests);
}
