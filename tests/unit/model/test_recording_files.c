/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings in directories, read in pieces: the same as in memory for any size of pieces. */
#include "recording_text.h"
#include <fcntl.h>
#include <lode/store.h>
#include <lode/unstable/guard.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory that has the files of a recording. */
struct folder {
    char path[64];
    struct minirec rec;
};

static void write_files(const struct folder *folder)
{
    for (size_t i = 0; i < folder->rec.count; i++) {
        const struct minirec_file *file = &folder->rec.files[i];
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder->path, file->name);
        FILE *stream = fopen(path, "wb");
        assert_non_null(stream);
        assert_int_equal(fwrite(file->bytes, 1, file->size, stream), file->size);
        assert_int_equal(fclose(stream), 0);
    }
}

static void begin(struct folder *folder)
{
    const struct minirec_options options = MINIREC_OPTIONS_INIT;
    snprintf(folder->path, sizeof folder->path, "/tmp/lode-test-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    minirec_make(&folder->rec, &options);
}

static void in_folder(const struct folder *folder, const char *name, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/%s", folder->path, name);
}

static void end(struct folder *folder)
{
    char path[256];
    for (size_t i = 0; i < folder->rec.count; i++) {
        in_folder(folder, folder->rec.files[i].name, path, sizeof path);
        unlink(path);
    }
    assert_int_equal(rmdir(folder->path), 0);
    minirec_free(&folder->rec);
}

static lode_recording *open_folder(const struct folder *folder)
{
    lode_recording *recording;
    lode_error error = {0};
    write_files(folder);
    if (lode_recording_open(&recording, folder->path, NULL, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return recording;
}

/* Reads all tracks from files, with pieces of several sizes, and from memory. */
static void compare_with_memory(struct folder *folder)
{
    static const size_t buffers[] = {0, 1, 16, 100, 4096, 70000, 140000, 1 << 20};
    static struct text expected, text;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *made, *read = open_folder(folder);
    assert_int_equal(lode_recording_open_memory(&made, files, minirec_list(&folder->rec, files), NULL, NULL),
                     LODE_OK);
    assert_int_equal(lode_recording_track_count(read), lode_recording_track_count(made));
    for (uint32_t track = 0; track < lode_recording_track_count(made); track++) {
        read_text(&expected, made, track, NULL);
        for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
            lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
            options.buffer = buffers[i];
            read_text(&text, read, track, &options);
            assert_string_equal(text.bytes, expected.bytes);
        }
    }
    lode_recording_close(made);
    lode_recording_close(read);
}

static void files_are_read_like_memory(void **state)
{
    struct folder folder;
    (void)state;
    begin(&folder);
    compare_with_memory(&folder);
    end(&folder);
}

static void enter_work(struct minirec *rec, uint64_t time, const char *text)
{
    struct minirec_payload payload = {.size = 0};
    minirec_add_number(rec, &payload, 4, time);
    minirec_add_text(rec, &payload, text);
    minirec_record_with(rec, "101.dat", time, MINIREC_ENTRY, MINIREC_WORK, 0, &payload);
}

/* The search for the next record after damage moves the piece that strings are borrowed from. */
static void damage_does_not_spoil_what_was_read_before_it(void **state)
{
    enum {
        DAMAGE = 600000
    };
    struct folder folder;
    (void)state;
    begin(&folder);
    char *damage = calloc(1, DAMAGE);
    assert_non_null(damage);
    minirec_set(&folder.rec, "101.dat", NULL, 0);
    for (uint64_t i = 0; i < 200; i++) {
        enter_work(&folder.rec, 2 * i, "before the damage");
        minirec_record(&folder.rec, "101.dat", 2 * i + 1, MINIREC_EXIT, MINIREC_WORK, 0);
    }
    minirec_append(&folder.rec, "101.dat", damage, DAMAGE);
    for (uint64_t i = 200; i < 300; i++) {
        enter_work(&folder.rec, 2 * i, "behind it");
        minirec_record(&folder.rec, "101.dat", 2 * i + 1, MINIREC_EXIT, MINIREC_WORK, 0);
    }
    /* Likewise after a record whose payload has no known end. */
    minirec_record_with(&folder.rec, "101.dat", 600, MINIREC_ENTRY, MINIREC_LEAF, 0,
                        &(struct minirec_payload){.size = 8});
    minirec_append(&folder.rec, "101.dat", damage, DAMAGE);
    enter_work(&folder.rec, 700, "last");
    minirec_record(&folder.rec, "101.dat", 701, MINIREC_EXIT, MINIREC_WORK, 0);
    free(damage);
    compare_with_memory(&folder);
    end(&folder);
}

static void add_long_event(struct minirec *rec, uint64_t time, size_t size)
{
    unsigned char head[18] = {0};
    static unsigned char bytes[65536];
    minirec_record(rec, "101.dat", time, MINIREC_EVENT, 1000000, 0);
    struct minirec_file *file = minirec_file(rec, "101.dat");
    file->bytes[file->size - 8] |= 4;
    head[0] = (unsigned char)size;
    head[1] = (unsigned char)(size >> 8);
    memset(bytes, (int)(time & 0x7f), sizeof bytes);
    minirec_append(rec, "101.dat", head, 2);
    minirec_append(rec, "101.dat", bytes, size + (8 - (size + 2) % 8) % 8);
}

/* The largest events that there can be, which reach from one piece into the next. */
static void long_payloads_are_whole(void **state)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    struct folder folder;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count, seen = 0;
    (void)state;
    begin(&folder);
    minirec_set(&folder.rec, "101.dat", NULL, 0);
    for (uint64_t i = 0; i < 40; i++)
        add_long_event(&folder.rec, 1000 + i, i % 3 ? 65535 - i : 10 * i);
    lode_recording *recording = open_folder(&folder);
    for (unsigned small = 0; small < 2; small++, seen = 0) {
        options.buffer = small ? 1000 : 0;
        assert_int_equal(lode_cursor_open(&cursor, recording, 1, &options, NULL), LODE_OK);
        while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
            for (size_t i = 0; i < count; i++, seen++) {
                assert_int_equal(events[i].data_size, seen % 3 ? 65535 - seen : 10 * seen);
                for (size_t k = 0; k < events[i].data_size; k++)
                    assert_int_equal(((const unsigned char *)events[i].data)[k], (1000 + seen) & 0x7f);
            }
        assert_int_equal(seen, 40);
        lode_cursor_close(cursor);
    }
    lode_recording_close(recording);
    end(&folder);
}

/* After a long pause the following record is checked too, which also moves the piece. */
static void pauses_do_not_spoil_what_was_read_before_them(void **state)
{
    const uint64_t pause = UINT64_C(5000000000);
    struct folder folder;
    (void)state;
    begin(&folder);
    minirec_set(&folder.rec, "101.dat", NULL, 0);
    for (uint64_t i = 0; i < 200; i++) {
        enter_work(&folder.rec, i * pause, "before the pause");
        minirec_record(&folder.rec, "101.dat", i * pause + 1, MINIREC_EXIT, MINIREC_WORK, 0);
        add_long_event(&folder.rec, i * pause + 2, 30000 + i % 7 * 5000);
    }
    compare_with_memory(&folder);
    end(&folder);
}

/* ---- odd folders ---- */

static int count_missing_maps(void *user, const lode_finding *finding)
{
    *(unsigned *)user += strcmp(finding->rule, "map-missing") == 0;
    return 0;
}

/* The id of a session may be made up to lead out of the folder. */
static void a_session_does_not_lead_out_of_its_folder(void **state)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    struct folder folder;
    lode_recording *recording;
    char inside[128], outside[128], line[256];
    unsigned missing = 0;
    (void)state;
    begin(&folder);
    snprintf(outside, sizeof outside, "%s.map", folder.path);
    in_folder(&folder, "sid-..", inside, sizeof inside);
    assert_int_equal(mkdir(inside, 0700), 0);
    FILE *stream = fopen(outside, "w");
    assert_non_null(stream);
    fputs("00400000-00500000 r-xp 00000000 00:00 0 /secret\n", stream);
    fclose(stream);
    snprintf(line, sizeof line, "SESS timestamp=1.0 pid=100 sid=../../%s exename=\"/bin/prog\"\n",
             strrchr(folder.path, '/') + 1);
    minirec_set_text(&folder.rec, "task.txt", line);
    write_files(&folder);
    options.on_finding = count_missing_maps;
    options.user = &missing;
    assert_int_equal(lode_recording_open(&recording, folder.path, &options, NULL), LODE_OK);
    assert_int_equal(missing, 1);
    lode_recording_close(recording);
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(unlink(outside), 0);
    end(&folder);
}

/* Opening a pipe without a writer would block. */
static void a_pipe_is_not_waited_for(void **state)
{
    struct folder folder;
    lode_recording *recording;
    char pipe[128];
    (void)state;
    begin(&folder);
    write_files(&folder);
    in_folder(&folder, "pipe.sym", pipe, sizeof pipe);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    lode_status status = lode_recording_open(&recording, folder.path, NULL, NULL);
    assert_true(status == LODE_OK || status == LODE_ERR_IO);
    lode_recording_close(recording);
    assert_int_equal(unlink(pipe), 0);
    end(&folder);
}

static void what_a_folder_holds_is_told(void **state)
{
    struct folder folder;
    lode_recording *recording;
    lode_database *db;
    lode_store_kind kind;
    char path[128];
    (void)state;
    begin(&folder);
    write_files(&folder);
    assert_int_equal(lode_store_probe(folder.path, &kind, NULL), LODE_OK);
    assert_int_equal(kind, LODE_STORE_RECORDING);
    assert_int_equal(lode_database_open(&db, folder.path, NULL), LODE_ERR_ARGUMENT);
    in_folder(&folder, "info", path, sizeof path);
    assert_int_equal(lode_recording_open(&recording, path, NULL, NULL), LODE_ERR_UNSUPPORTED);
    in_folder(&folder, "nothing", path, sizeof path);
    assert_int_equal(lode_recording_open(&recording, path, NULL, NULL), LODE_ERR_IO);
    assert_null(recording);
    end(&folder);
}

/* A file that is gone, or shorter, when it is read. */
static void files_that_change_do_no_harm(void **state)
{
    struct folder folder;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    char path[128];
    static struct text text;
    (void)state;
    begin(&folder);
    lode_recording *recording = open_folder(&folder);
    in_folder(&folder, "100.dat", path, sizeof path);
    assert_int_equal(lode_cursor_open(&cursor, recording, 0, NULL, NULL), LODE_OK);
    assert_int_equal(truncate(path, 24), 0);
    assert_int_equal(lode_cursor_next(cursor, &events, &count, NULL), LODE_OK);
    lode_cursor_close(cursor);
    assert_int_equal(unlink(path), 0);
    read_text(&text, recording, 0, NULL);
    assert_string_equal(text.bytes, "");
    lode_recording_close(recording);
    end(&folder);
}

/* Libraries of one name in different directories share a symbol file and a line file. */
static void modules_may_share_the_files_of_their_symbols(void **state)
{
    static const char map[] = "sid-0123456789abcdef.map", symbols[] = "0000000000000010 00000008 T shared\n",
                      lines[] = "F: 10 shared\nL: 1 a.c\n";
    struct folder folder;
    char line[128];
    (void)state;
    begin(&folder);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "%x-%x r-xp 00000000 00:00 0 /%u/shared.so\n", 0x10000000 + i * 0x1000,
                 0x10000000 + i * 0x1000 + 0x800, i);
        minirec_append_text(&folder.rec, map, line);
    }
    minirec_set(&folder.rec, "shared.so.sym", symbols, strlen(symbols));
    minirec_set(&folder.rec, "shared.so.dbg", lines, strlen(lines));
    lode_recording *recording = open_folder(&folder);
    lode_recording *again = open_folder(&folder);
    lode_recording_close(recording);
    assert_int_equal(lode_recording_intact(again, NULL), LODE_OK);
    lode_recording_close(again);
    end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_like_memory),
        cmocka_unit_test(damage_does_not_spoil_what_was_read_before_it),
        cmocka_unit_test(long_payloads_are_whole),
        cmocka_unit_test(pauses_do_not_spoil_what_was_read_before_them),
        cmocka_unit_test(a_session_does_not_lead_out_of_its_folder),
        cmocka_unit_test(a_pipe_is_not_waited_for),
        cmocka_unit_test(what_a_folder_holds_is_told),
        cmocka_unit_test(files_that_change_do_no_harm),
        cmocka_unit_test(modules_may_share_the_files_of_their_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
