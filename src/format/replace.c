/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/replace.h"

#include "base/compare.h"
#include "base/io/beneath.h"
#include "base/memory/arena.h"
#include "format/format.h"
#include "model/database/database.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_DEPTH = 64,
    HEAD_SIZE = 64, /* leading bytes that identify a file */
    KERNEL_PAGE = 4096,
    NOTE_MAX = 64 << 10 /* bytes of a note that a user wrote */
};

/* Layouts of stores, as bits. Each file narrows them down, until one layout is left. */
enum {
    DATABASE = 1,
    DRAFT_XML = 2,
    DRAFT_METADB = 4,
    DATABASES = DATABASE | DRAFT_XML | DRAFT_METADB,
    RECORDING = 8,
    STORE = 16,  /* one trace store */
    STORES = 32, /* several trace stores, in subdirectories */
    TRACES = STORE | STORES
};

struct head {
    uint8_t bytes[HEAD_SIZE];
    size_t size;
    uint64_t file_size;
};

/* ---- leading bytes of files ---- */

static bool is_text(const struct head *head)
{
    for (size_t i = 0; i < head->size; i++)
        if (head->bytes[i] < '\t')
            return false;
    return true;
}

/* A comment, or a line that begins with a number: symbols, maps, messages. */
static bool is_numbered_text(const struct head *head)
{
    return head->size == 0 || (is_text(head) && strchr("#0123456789abcdef", head->bytes[0]) != NULL);
}

/* Lines of a .dbg file: "# path name: ...", "F: 10 main". */
static bool is_debug_text(const struct head *head)
{
    return head->size == 0 || (is_text(head) && (head->bytes[0] == '#' || head->bytes[1] == ':'));
}

static bool is_note(const struct head *head)
{
    return head->file_size < NOTE_MAX && is_text(head);
}

/* The taxonomy of metrics, in YAML. */
static bool is_taxonomy(const struct head *head)
{
    return head->size > 0 && is_text(head) &&
           (head->bytes[0] == '#' || memcmp(head->bytes, "version:", 8) == 0);
}

/* Three bits of each record have the value 5, wherever the byte order puts them. */
static bool is_call_data(const struct head *head)
{
    return head->size == 0 ||
           (head->size >= 16 && ((head->bytes[8] >> 3 & 7) == 5 || (head->bytes[8] >> 2 & 7) == 5));
}

/* A record of perf: a small type, and its size. */
static bool is_perf_data(const struct head *head)
{
    const uint8_t *at = head->bytes;
    bool is_little = head->size >= 8 && at[1] == 0 && at[2] == 0 && at[3] == 0 && at[6] >= 8;
    bool is_big = head->size >= 8 && at[0] == 0 && at[1] == 0 && at[2] == 0 && at[7] >= 8;
    return head->size == 0 || is_little || is_big;
}

static bool is_kernel_data(const struct head *head)
{
    return head->file_size % KERNEL_PAGE == 0;
}

/* ---- the parts of stores ---- */

/* The name identifies a file, together with a magic number or a test of its first bytes. */
static const struct part {
    const char *pattern;
    unsigned layouts;
    bool is_mark; /* every store has at least one of these */
    const char *magic;
    bool (*test)(const struct head *head);
} parts[] = {
    {"meta.db", DATABASE, true, "HPCTOOLKITmeta", NULL},
    {"profile.db", DATABASE, true, "HPCTOOLKITprof", NULL},
    {"cct.db", DATABASE, true, "HPCTOOLKITctxt", NULL},
    {"trace.db", DATABASE, true, "HPCTOOLKITtrce", NULL},
    {"meta.db", DRAFT_METADB, true, "HPCTOOLKIT_expmt", NULL},
    {"experiment.xml", DRAFT_XML, true, "<?xml", NULL},
    {"profile.db", DRAFT_XML | DRAFT_METADB, true, "HPCPROF-profdb", NULL},
    {"cct.db", DRAFT_XML | DRAFT_METADB, true, "HPCPROF-cctdb", NULL},
    {"trace.db", DRAFT_XML | DRAFT_METADB, true, "HPCPROF-tracedb", NULL},
    {"FORMATS.md", DATABASES, false, NULL, is_text},
    {"metrics/*.yaml", DATABASES, false, NULL, is_taxonomy},
    {"metrics/*.yaml.ex", DATABASES, false, NULL, is_taxonomy},
    {"info", RECORDING, true, "Ftrace!", NULL},
    {"task.txt", RECORDING, true, "SESS ", NULL},
    {"task.txt", RECORDING, true, "TASK ", NULL},
    {"task.txt", RECORDING, true, "FORK ", NULL},
    {"default.opts", RECORDING, false, NULL, is_note},
    {"sid-*.map", RECORDING, false, NULL, is_numbered_text},
    {"*.sym", RECORDING, false, NULL, is_numbered_text},
    {"*.dbg", RECORDING, false, NULL, is_debug_text},
    {"perf-cpu[0-9]*.dat", RECORDING, false, NULL, is_perf_data},
    {"kernel-cpu[0-9]*.dat", RECORDING, false, NULL, is_kernel_data},
    {"extern.dat", RECORDING, false, NULL, is_numbered_text},
    {"[0-9]*.dat", RECORDING, false, NULL, is_call_data},
    {"events.txt", RECORDING, false, "EVENT:", NULL},
    {"kernel_header", RECORDING, false, "PAGE_SIZE:", NULL},
    {"kallsyms", RECORDING, false, NULL, is_numbered_text},
    {"note.txt", RECORDING, false, NULL, is_note},
    {"traces.dat", TRACES, true, "ZTS0", NULL},
    {"text-*.wal", TRACES, false, "WAL\3", NULL},
    {"meta-*.wal", TRACES, false, "WAL\3", NULL},
    {"text-*.fmi", TRACES, false, "0MFZ", NULL},
    {"meta-*.fmi", TRACES, false, "0MFZ", NULL},
    {"text-*.fmi", TRACES, false, "ZFM0", NULL},
    {"meta-*.fmi", TRACES, false, "ZFM0", NULL},
    {"qmeta.idx", TRACES, false, "MQI0", NULL},
    {"meta.db", TRACES, false, "\r\xf6\x45\x9a", NULL},
    {"meta.db.[pt]", TRACES, false, "\r\xf6\x45\x9a", NULL},
    {"config.props", TRACES, false, NULL, is_note},
    {"store.props", TRACES, false, NULL, is_note},
};

/* Several trace stores may share a directory; the files of each are then below this one. */
static const char store_pattern[] = "[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]";

static bool matches(const struct part *part, const char *path, const struct head *head)
{
    if (fnmatch(part->pattern, path, FNM_PATHNAME) != 0)
        return false;
    if (part->magic == NULL)
        return part->test(head);
    size_t length = strlen(part->magic);
    return head->size >= length && memcmp(head->bytes, part->magic, length) == 0;
}

/* ---- contents of a directory ---- */

struct look {
    const struct lode_replace *what;
    int directory;      /* the top level */
    const char *target; /* its path */
    unsigned layouts;   /* still possible */
    bool has_mark, has_any;
    lode_database *db;   /* opened for the first file below src/ */
    const char **copied; /* sorted paths of the files that it lists */
    size_t copied_count;
    lode_error *error;
};

static lode_status refuse(const struct look *look, const char *path)
{
    return lode_fail(look->error, LODE_ERR_UNSUPPORTED, look->target, LODE_NO_OFFSET,
                     "it contains %s, which is not part of the %s, so it is not replaced", path,
                     look->what->kind);
}

static lode_status read_head(int fd, const char *path, struct head *head, lode_error *error)
{
    struct stat status;
    ssize_t got = fstat(fd, &status) == 0 ? pread(fd, head->bytes, HEAD_SIZE, 0) : -1;
    if (got < 0)
        return lode_fail_errno(error, path, "cannot read the existing directory");
    head->size = (size_t)got;
    head->file_size = (uint64_t)status.st_size;
    return LODE_OK;
}

/* The source files that the database lists. None if it does not open. */
static lode_status list_copied(struct look *look)
{
    struct lode_folder folder = {.directory = look->directory};
    const struct lode_format *format = lode_format_of(&folder);
    if (format == NULL || !lode_format_has_databases(format) ||
        lode_format_open(format, &look->db, &folder, NULL) != LODE_OK)
        look->db = NULL;
    size_t count = look->db ? look->db->file_count : 0;
    look->copied = calloc(count + 1, sizeof *look->copied);
    LODE_TRY_ALLOC(look->copied, look->error);
    for (size_t i = 0; i < count; i++)
        if (look->db->files[i].copied)
            look->copied[look->copied_count++] = look->db->files[i].path;
    qsort(look->copied, look->copied_count, sizeof *look->copied, lode_compare_strings);
    return LODE_OK;
}

static lode_status look_at_source(struct look *look, const char *path)
{
    if (look->copied == NULL)
        LODE_TRY(list_copied(look));
    bool is_listed =
        bsearch(&path, look->copied, look->copied_count, sizeof *look->copied, lode_compare_strings) != NULL;
    look->layouts &= DATABASES;
    return is_listed ? LODE_OK : refuse(look, path);
}

static lode_status look_at_file(struct look *look, int folder, const char *name, const char *path)
{
    struct head head = {0};
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return lode_fail_errno(look->error, path, "cannot read the existing directory");
    lode_status status = read_head(fd, path, &head, look->error);
    close(fd);
    LODE_TRY(status);
    if ((look->layouts & DATABASES) && strncmp(path, "src/", 4) == 0)
        return look_at_source(look, path);
    const char *slash = strchr(path, '/');
    bool is_in_store = slash && fnmatch(store_pattern, path, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
    unsigned layouts = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool is_inner = is_in_store && parts[i].layouts == TRACES;
        unsigned other = parts[i].layouts != TRACES ? 0 : is_inner ? STORE : STORES;
        if (!matches(&parts[i], is_inner ? slash + 1 : path, &head))
            continue;
        layouts |= parts[i].layouts & look->layouts & ~other;
        look->has_mark |= layouts && parts[i].is_mark;
    }
    look->layouts &= layouts;
    return layouts ? LODE_OK : refuse(look, path);
}

/* Directories that a store may have, whatever they contain. */
static bool is_known_folder(const struct look *look, const char *path)
{
    bool is_of_database =
        strcmp(path, "metrics") == 0 || strcmp(path, "src") == 0 || strncmp(path, "src/", 4) == 0;
    return (is_of_database && (look->layouts & DATABASES)) ||
           ((look->layouts & STORES) && fnmatch(store_pattern, path, FNM_PATHNAME) == 0);
}

static lode_status look_inside(struct look *look, int directory, const char *prefix, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static lode_status look_at_folder(struct look *look, int folder, const char *name, const char *path,
                                  unsigned depth)
{
    if (depth >= MAX_DEPTH || !is_known_folder(look, path))
        return refuse(look, path);
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return lode_fail_errno(look->error, path, "cannot read the existing directory");
    lode_status status = look_inside(look, fd, path, depth + 1);
    close(fd);
    return status;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static lode_status look_at(struct look *look, int folder, const char *prefix, const char *name,
                           unsigned depth)
{
    struct stat found;
    char *path;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return LODE_OK;
    if (asprintf(&path, "%s%s%s", prefix, prefix[0] ? "/" : "", name) < 0)
        return lode_fail_memory(look->error);
    lode_status status = LODE_OK;
    look->has_any = true;
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
        status = lode_fail_errno(look->error, path, "cannot read the existing directory");
    else if (S_ISDIR(found.st_mode))
        status = look_at_folder(look, folder, name, path, depth);
    else
        status = S_ISREG(found.st_mode) ? look_at_file(look, folder, name, path) : refuse(look, path);
    free(path);
    return status;
}

/* In the order of names, so that findings are reproducible. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static lode_status look_inside(struct look *look, int directory, const char *prefix, unsigned depth)
{
    struct lode_folder folder = {.directory = directory};
    struct lode_arena arena;
    const char **names;
    size_t count = 0;
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status = lode_folder_list(&folder, &arena, &names, &count, look->error);
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        status = look_at(look, directory, prefix, names[i], depth);
    lode_arena_free(&arena);
    return status;
}

static lode_status check_store(const struct lode_replace *what, unsigned layouts, int directory,
                               const char *path, lode_error *error)
{
    struct look look = {
        .what = what, .directory = directory, .target = path, .layouts = layouts, .error = error};
    lode_status status = look_inside(&look, directory, "", 0);
    if (status == LODE_OK && look.has_any && !look.has_mark)
        status = lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                           "it is not a %s, so it is not replaced", what->kind);
    free(look.copied);
    lode_database_close(look.db);
    return status;
}

static lode_status check_database(int directory, const char *path, lode_error *error)
{
    return check_store(&lode_replace_database, DATABASES, directory, path, error);
}

static lode_status check_recording(int directory, const char *path, lode_error *error)
{
    return check_store(&lode_replace_recording, RECORDING, directory, path, error);
}

static lode_status check_traces(int directory, const char *path, lode_error *error)
{
    return check_store(&lode_replace_traces, TRACES, directory, path, error);
}

const struct lode_replace lode_replace_database = {"database", check_database};
const struct lode_replace lode_replace_recording = {"recording", check_recording};
const struct lode_replace lode_replace_traces = {"trace store", check_traces};
