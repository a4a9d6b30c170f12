/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binaries as the last provider: functions, inlined functions and lines of debug information,
 * symbols, and loops of their code.
 */
#include "format/hpcrun/binaries/cache.h"
#include "format/hpcrun/scopes/binary.h"
#include "format/hpcrun/scopes/kernel.h"
#include "format/hpcrun/scopes/module_file.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    DEBUG_SIZE_MOST = 100 << 20
};

#define DEBUG_ROOT "/usr/lib/debug"

/* ---- files with debug information ---- */

/* Opens a candidate, which is absolute; -1 if there is none, or it is too large. */
static int open_candidate(const struct binary_asking *asking, const char *path)
{
    struct hpcrun_module_file file;
    int fd = -1;
    if (!lode_module_file_find(&file, asking->all, path, NULL))
        return -1;
    if (file.size < asking->size_most) {
        fd = file.fd;
        file.fd = -1;
    }
    lode_module_file_close(&file);
    return fd;
}

/* In the directory of the binary; `path` is relative to that. */
static int open_near(const struct binary_asking *asking, const char *path)
{
    struct lode_regular file;
    char whole[PATH_MAX];
    const char *slash = strrchr(asking->file.path, '/');
    int length = slash ? (int)(slash - asking->file.path) + 1 : 0;
    int size = snprintf(whole, sizeof whole, "%.*s%s", length, asking->file.path, path);
    if (size <= 0 || (size_t)size >= sizeof whole ||
        lode_regular_open(&file, asking->file.directory, whole, NULL) != LODE_OK)
        return -1;
    if ((uint64_t)file.about.st_size >= asking->size_most)
        lode_regular_close(&file);
    return file.fd;
}

static int open_by_id(const struct binary_asking *asking, const struct binary_notes *notes)
{
    char path[sizeof DEBUG_ROOT + (size_t)2 * SYMBOLS_BUILD_ID_MOST + 32];
    int used = snprintf(path, sizeof path, "%s/.build-id/", DEBUG_ROOT);
    if (notes->build_id_size < 2)
        return -1;
    for (size_t i = 0; i < notes->build_id_size; i++)
        used += snprintf(path + used, sizeof path - (size_t)used, "%02x%s", notes->build_id[i],
                         i == 0 ? "/" : "");
    snprintf(path + used, sizeof path - (size_t)used, ".debug");
    return open_candidate(asking, path);
}

static int open_by_link(const struct binary_asking *asking, const char *link)
{
    const char *slash = strrchr(asking->file.path, '/');
    char path[2 * PATH_MAX];
    if (link[0] == '/')
        return open_candidate(asking, link);
    if (!lode_is_beneath(link))
        return -1;
    int fd = open_near(asking, link);
    snprintf(path, sizeof path, ".debug/%s", link);
    fd = fd < 0 ? open_near(asking, path) : fd;
    int length = slash ? (int)(slash - asking->file.path) : 0;
    snprintf(path, sizeof path, DEBUG_ROOT "/%.*s/%s", length, asking->file.path, link);
    return fd < 0 && !asking->file.is_beneath ? open_candidate(asking, path) : fd;
}

/* The file with the debug information of a binary that has none; -1: there is none. */
static int find_debug(const struct binary_asking *asking, const struct binary_notes *notes)
{
    int fd = open_by_id(asking, notes);
    return fd < 0 && notes->link[0] ? open_by_link(asking, notes->link) : fd;
}

/* ---- asking ---- */

static lode_status note(const struct binary_asking *asking, const char *why)
{
    return lode_report_add(asking->all->report, asking->rule, asking->path, LODE_NO_OFFSET, "%s", why);
}

/*
 * The cache of a file, unless others could have chosen its build id: the author of measurements, or
 * another user of the machine.
 */
static struct binary_cache *cache_of(const struct binary_asking *asking)
{
    struct stat about;
    bool is_own = !asking->file.is_beneath && fstat(asking->file.fd, &about) == 0 &&
                  (about.st_uid == 0 || about.st_uid == geteuid()) && (about.st_mode & S_IWOTH) == 0;
    return is_own ? asking->all->binaries.cache : NULL;
}

/* Asks with the file that has the debug information. LODE_END: there is none, or it failed. */
static lode_status ask_beside(struct binary_asking *asking, const struct binary_notes *notes,
                              struct binary_reply *reply)
{
    lode_binary_init(reply);
    asking->request.debug = find_debug(asking, notes);
    if (asking->request.debug < 0)
        return LODE_END;
    lode_status status =
        lode_binary_ask_cached(cache_of(asking), notes, reply, &asking->request, asking->error);
    close(asking->request.debug);
    asking->request.debug = -1;
    if (status == LODE_END)
        LODE_TRY(note(asking, reply->why));
    else if (status == LODE_OK && !reply->has_debug)
        status = note(asking, "the file with its debug information is of another binary, or has none");
    return status;
}

/* After an answer that debug information is not where it seemed to be. */
static lode_status ask_again(struct binary_asking *asking, struct binary_reply *reply)
{
    struct binary_notes notes = {.build_id_size = reply->build_id_size};
    struct binary_reply better;
    memcpy(notes.build_id, reply->build_id, reply->build_id_size);
    snprintf(notes.link, sizeof notes.link, "%s",
             reply->link.size > 0 ? (const char *)reply->link.bytes : "");
    lode_status status = ask_beside(asking, &notes, &better);
    if (status == LODE_OK && better.has_debug) {
        struct binary_reply swapped = *reply;
        *reply = better;
        better = swapped;
        /* They refer to themselves. */
        reply->module.strings = &reply->strings;
    }
    lode_binary_free(&better);
    return status == LODE_END ? LODE_OK : status;
}

/*
 * Loops, debug information and symbols; if that fails, symbols. The analysis of code has bounds of
 * its own: what takes too long or too much is debug information.
 */
static lode_status ask_all(struct binary_asking *asking, struct binary_reply *reply)
{
    struct binary_notes notes = {0};
    uint64_t most = asking->all->binaries.debug_size_most;
    asking->size_most = most ? most : DEBUG_SIZE_MOST;
    asking->request.symbols_only = asking->file.size >= asking->size_most;
    bool is_bare = !asking->request.symbols_only &&
                   lode_binary_notes(&notes, asking->file.fd, asking->file.size) && !notes.has_debug;
    if (is_bare) {
        lode_status found = ask_beside(asking, &notes, reply);
        if (found != LODE_END)
            return found;
        lode_binary_free(reply);
    }
    lode_status status =
        lode_binary_ask_cached(cache_of(asking), &notes, reply, &asking->request, asking->error);
    if (status == LODE_OK && !reply->has_debug && !asking->request.symbols_only && !is_bare)
        return ask_again(asking, reply);
    if (status != LODE_END || strcmp(reply->why, BINARY_NOT_ELF) == 0)
        return status;
    LODE_TRY(note(asking, reply->why));
    if (asking->request.symbols_only || asking->request.is_all)
        return LODE_END;
    asking->request.symbols_only = true;
    asking->request.has_loops = false;
    lode_binary_free(reply);
    return lode_binary_ask_cached(NULL, &notes, reply, &asking->request, asking->error);
}

/* Names and lines that are there are used. */
static lode_status note_partial(const struct binary_asking *asking, const struct binary_reply *reply)
{
    return reply->is_partial
               ? note(asking,
                      "a part of its debug information is in further files, which are not read: split "
                      "DWARF (.dwo, .dwp), or dwz")
               : LODE_OK;
}

static lode_status note_loops(const struct binary_asking *asking, const struct binary_reply *reply)
{
    const char *why = reply->lacks_loops      ? "its loops are not known: it has no code, or of a processor "
                                                "whose instructions are not known"
                      : reply->has_some_loops ? "it has more code than is analysed: some loops are missing"
                                              : NULL;
    return why ? note(asking, why) : LODE_OK;
}

lode_status lode_hpcrun_ask_file(struct binary_asking *asking, struct binary_reply *reply)
{
    asking->request.binary = asking->file.fd;
    LODE_TRY(ask_all(asking, reply));
    LODE_TRY(note_loops(asking, reply));
    return note_partial(asking, reply);
}

static lode_status ask_binary(struct hpcrun_scopes *scopes, uint32_t number, struct binary_asking *asking)
{
    struct binary_reply reply;
    lode_status status = lode_hpcrun_ask_file(asking, &reply);
    if (status == LODE_OK && !reply.has_debug && !asking->request.symbols_only)
        status = lode_report_add(asking->all->report, HPCRUN_RULE_BINARY_BARE, asking->path, LODE_NO_OFFSET,
                                 "it has no debug information, and there is none for it on this machine");
    if (status == LODE_OK)
        status =
            lode_hpcrun_answer(scopes, number, &(struct hpcrun_answer){.code = &reply.module}, asking->error);
    lode_binary_free(&reply);
    return status == LODE_END ? LODE_OK : status;
}

/* Finds the binary of a question that wants one. Most modules of a run have no samples. */
static bool find_binary(const struct hpcrun_scopes *scopes, const struct hpcrun_asking *all, uint32_t number,
                        struct hpcrun_module_file *out)
{
    const struct hpcrun_question *question =
        LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, number);
    char kernel[PATH_MAX];
    return all->binaries.program && !question->is_complete && question->count > 0 &&
           !lode_kernel_file(question->path, kernel, sizeof kernel) &&
           lode_module_file_find(out, all, question->path, question->directory);
}

uint64_t lode_hpcrun_binary_size(const struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                 uint32_t question)
{
    struct hpcrun_module_file file;
    if (!find_binary(scopes, asking, question, &file))
        return 0;
    lode_module_file_close(&file);
    return file.size > 0 ? file.size : 1;
}

lode_status lode_hpcrun_ask_binary(struct hpcrun_scopes *scopes, const struct hpcrun_asking *all,
                                   uint32_t number, lode_error *error)
{
    const struct hpcrun_question *question =
        LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, number);
    struct binary_asking asking = {
        .all = all, .path = question->path, .rule = HPCRUN_RULE_BINARY_UNREAD, .error = error};
    if (!find_binary(scopes, all, number, &asking.file))
        return LODE_ABSENT;
    asking.request = (struct binary_request){.helper = all->binaries.helper,
                                             .debug = -1,
                                             .has_loops = all->binaries.has_loops,
                                             .offsets = question->offsets,
                                             .count = question->count};
    lode_status status = ask_binary(scopes, number, &asking);
    lode_module_file_close(&asking.file);
    return status;
}

lode_status lode_hpcrun_ask_binaries(struct hpcrun_scopes *scopes, const struct hpcrun_asking *all,
                                     lode_error *error)
{
    for (uint32_t i = 0; i < scopes->questions.count; i++) {
        lode_status status = lode_hpcrun_ask_binary(scopes, all, i, error);
        if (status != LODE_ABSENT)
            LODE_TRY(status);
    }
    return LODE_OK;
}
