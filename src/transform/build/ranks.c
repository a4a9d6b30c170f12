/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of profiles: nodes from host names; ranks from paths, a table or process order; threads. */
#include "base/error.h"
#include "base/memory/blob.h"
#include "transform/build/inputs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    KIND_NODE = 1, /* 0 is that of summaries */
    KIND_RANK,
    KIND_THREAD
};

/* ---- ranks from paths ---- */

/* A number that is a rank, up to `end`. */
static bool parse_rank(const char *text, const char *end, uint32_t *rank)
{
    uint64_t number = 0;
    if (text == end)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || number > UINT32_MAX)
            return false;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    *rank = (uint32_t)number;
    return number < LODE_NONE;
}

static lode_status match_path(struct lode_build_input *input, const pcre2_code *code, pcre2_match_data *data,
                              const char *pattern, lode_error *error)
{
    const size_t *groups = pcre2_get_ovector_pointer(data);
    int found = pcre2_match(code, (PCRE2_SPTR)input->path, PCRE2_ZERO_TERMINATED, 0, 0, data, NULL);
    if (found == PCRE2_ERROR_NOMEMORY)
        return lode_fail_memory(error);
    if (found < 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, input->path, LODE_NO_OFFSET,
                         "its path does not match the pattern for ranks, '%s'", pattern);
    if (found < 2 || !parse_rank(input->path + groups[2], input->path + groups[3], &input->rank))
        return lode_fail(error, LODE_ERR_ARGUMENT, input->path, LODE_NO_OFFSET,
                         "the group of the pattern for ranks, '%s', does not match a rank", pattern);
    return LODE_OK;
}

static lode_status match_paths(struct lode_build_inputs *inputs, const pcre2_code *code, const char *pattern,
                               lode_error *error)
{
    uint32_t groups = 0;
    lode_status status = LODE_OK;
    pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
    if (groups == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "the pattern for ranks, '%s', has no group, as in 'rank-(\\d+)'", pattern);
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
    LODE_TRY_ALLOC(data, error);
    for (size_t i = 0; i < inputs->count && status == LODE_OK; i++)
        status = match_path(&inputs->items[i], code, data, pattern, error);
    pcre2_match_data_free(data);
    return status;
}

static lode_status ranks_from_paths(struct lode_build_inputs *inputs, const char *pattern, lode_error *error)
{
    int reason;
    size_t offset;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &reason, &offset, NULL);
    if (code == NULL && reason == PCRE2_ERROR_HEAP_FAILED)
        return lode_fail_memory(error);
    if (code == NULL) {
        char words[128];
        pcre2_get_error_message(reason, (PCRE2_UCHAR *)words, sizeof words);
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the pattern for ranks, '%s': %s",
                         pattern, words);
    }
    lode_status status = match_paths(inputs, code, pattern, error);
    pcre2_code_free(code);
    return status;
}

/* ---- ranks from a table ---- */

/* Paths are compared without slashes at their ends. */
static size_t path_length(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static bool is_same_path(const char *a, size_t a_length, const char *b)
{
    size_t length = path_length(b, strlen(b));
    return path_length(a, a_length) == length && memcmp(a, b, length) == 0;
}

static int compare_paths(const void *left, const void *right)
{
    const struct lode_build_input *const *a = left, *const *b = right;
    return strcmp((*a)->path, (*b)->path);
}

/* Of the inputs, sorted by path, those that have this one: usually it is one. */
static void set_rank(struct lode_build_input *const *sorted, size_t count, const char *path, size_t length,
                     uint32_t rank)
{
    size_t low = 0, high = count, least = path_length(path, length);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strncmp(sorted[middle]->path, path, least) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* Longer paths may lie between one and the same with a slash. */
    for (; low < count && strncmp(sorted[low]->path, path, least) == 0; low++)
        if (is_same_path(path, length, sorted[low]->path))
            sorted[low]->rank = rank;
}

static lode_status read_line(struct lode_build_input *const *sorted, size_t count, const char *table,
                             uint64_t number, const char *line, lode_error *error)
{
    static const char spaces[] = " \t\r\n";
    size_t length = strlen(line), start = strspn(line, spaces);
    while (length > start && strchr(spaces, line[length - 1]))
        length--;
    if (length == start || line[start] == '#')
        return LODE_OK;
    size_t word = length;
    while (word > start && !strchr(spaces, line[word - 1]))
        word--;
    size_t end = word;
    while (end > start && strchr(spaces, line[end - 1]))
        end--;
    uint32_t rank;
    if (end == start || !parse_rank(line + word, line + length, &rank))
        return lode_fail(error, LODE_ERR_ARGUMENT, table, LODE_NO_OFFSET, "line %llu is not PATH RANK",
                         (unsigned long long)number);
    set_rank(sorted, count, line + start, end - start, rank);
    return LODE_OK;
}

/* The whole file, with a NUL after it. */
static lode_status read_text(const char *path, int fd, struct lode_blob *text, lode_error *error)
{
    enum {
        PIECE = 1 << 16
    };
    for (;;) {
        size_t at = text->size;
        if (lode_blob_reserve(text, PIECE, 1) == LODE_BLOB_FULL)
            return lode_fail_memory(error);
        ssize_t got = read(fd, text->bytes + at, PIECE - 1);
        if (got < 0 && errno != EINTR)
            return lode_fail_errno(error, path, "cannot read the table of ranks");
        text->size = at + (got > 0 ? (size_t)got : 0);
        text->bytes[text->size] = '\0';
        if (got == 0)
            return LODE_OK;
    }
}

static lode_status read_lines(struct lode_build_input *const *sorted, size_t count, const char *table,
                              char *text, lode_error *error)
{
    uint64_t number = 1;
    for (char *line = text, *next; *line; line = next, number++) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        LODE_TRY(read_line(sorted, count, table, number, line, error));
    }
    return LODE_OK;
}

static lode_status read_table(struct lode_build_input *const *sorted, size_t count, const char *table,
                              lode_error *error)
{
    struct lode_blob text = {0};
    int fd = open(table, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return lode_fail_errno(error, table, "cannot open the table of ranks");
    lode_status status = read_text(table, fd, &text, error);
    close(fd);
    if (status == LODE_OK)
        status = read_lines(sorted, count, table, (char *)text.bytes, error);
    lode_blob_free(&text);
    return status;
}

static lode_status ranks_from_table(struct lode_build_inputs *inputs, const char *table, lode_error *error)
{
    struct lode_build_input **sorted = calloc(inputs->count, sizeof(struct lode_build_input *));
    LODE_TRY_ALLOC(sorted, error);
    for (size_t i = 0; i < inputs->count; i++)
        sorted[i] = &inputs->items[i];
    qsort(sorted, inputs->count, sizeof(struct lode_build_input *), compare_paths);
    lode_status status = read_table(sorted, inputs->count, table, error);
    free(sorted);
    for (size_t i = 0; i < inputs->count && status == LODE_OK; i++)
        if (inputs->items[i].rank == LODE_NONE)
            status = lode_fail(error, LODE_ERR_ARGUMENT, inputs->items[i].path, LODE_NO_OFFSET,
                               "it is not in the table of ranks, %s", table);
    return status;
}

lode_status lode_build_find_ranks(struct lode_build_inputs *inputs, lode_error *error)
{
    const lode_build_options *options = inputs->options;
    if (options->rank_pattern && options->rank_table)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "ranks come from a pattern or from a table, not from both");
    if (options->rank_pattern)
        return ranks_from_paths(inputs, options->rank_pattern, error);
    return options->rank_table ? ranks_from_table(inputs, options->rank_table, error) : LODE_OK;
}

/* ---- nodes ---- */

/* What HPCToolkit has there is a number that the host is given. */
static uint64_t host_id(const char *host)
{
    uint32_t hash = UINT32_C(0x811c9dc5);
    for (; *host; host++)
        hash = (hash ^ (unsigned char)*host) * UINT32_C(0x01000193);
    return hash;
}

/* Hosts are numbered in the order of recordings. */
static lode_status name_nodes(struct lode_build_inputs *inputs, lode_error *error)
{
    struct lode_strings hosts;
    lode_status status = LODE_OK;
    lode_strings_init(&hosts);
    for (size_t i = 0; i < inputs->count && status == LODE_OK; i++) {
        const struct lode_build_input *input = &inputs->items[i];
        uint32_t node = lode_strings_add(&hosts, input->host);
        if (node == LODE_NONE)
            status = lode_fail_memory(error);
        lode_id id = {KIND_NODE, LODE_ID_PHYSICAL, node, host_id(input->host)};
        for (uint32_t k = input->first; k < input->first + input->count; k++)
            inputs->tracks[k].ids[0] = id;
    }
    inputs->nodes = (uint32_t)hosts.items.count;
    lode_strings_free(&hosts);
    return status;
}

/* ---- ranks and threads ---- */

/* Processes without a rank of their own count over all recordings. */
static void name_ranks(struct lode_build_inputs *inputs)
{
    uint64_t next = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        const struct lode_build_input *input = &inputs->items[i];
        uint32_t processes = 0;
        for (uint32_t k = input->first; k < input->first + input->count; k++) {
            struct lode_build_track *track = &inputs->tracks[k];
            uint32_t rank = input->rank != LODE_NONE ? input->rank : (uint32_t)(next + track->process);
            track->ids[1] = (lode_id){KIND_RANK, 0, rank, rank};
            processes = track->process >= processes ? track->process + 1 : processes;
        }
        next += processes;
    }
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By rank; of a rank, by recording, process, the main thread first. */
static int compare_threads(const void *left, const void *right, void *argument)
{
    const struct lode_build_track *tracks = argument;
    const struct lode_build_track *a = &tracks[*(const uint32_t *)left],
                                  *b = &tracks[*(const uint32_t *)right];
    int order = compare_numbers(a->ids[1].logical, b->ids[1].logical);
    if (order == 0)
        order = compare_numbers(a->input, b->input);
    if (order == 0)
        order = compare_numbers(a->process, b->process);
    if (order == 0)
        order = compare_numbers(a->entry, b->entry);
    if (order == 0 && a->tid != b->tid)
        order = a->tid < b->tid ? -1 : 1;
    return order ? order : compare_numbers(a->track, b->track);
}

static int compare_ids(const void *left, const void *right, void *argument)
{
    const struct lode_build_track *tracks = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = 0;
    for (unsigned i = 0; i < LODE_BUILD_IDS && order == 0; i++)
        order = compare_numbers(tracks[a].ids[i].logical, tracks[b].ids[i].logical);
    return order ? order : compare_numbers(a, b);
}

lode_status lode_build_name_tracks(struct lode_build_inputs *inputs, lode_error *error)
{
    uint32_t count = inputs->track_count;
    LODE_TRY(name_nodes(inputs, error));
    name_ranks(inputs);
    uint32_t *order = inputs->profiles = calloc((size_t)count + 1, sizeof *order);
    LODE_TRY_ALLOC(order, error);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_threads, inputs->tracks);
    uint32_t thread = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct lode_build_track *track = &inputs->tracks[order[i]];
        bool is_new = i == 0 || track->ids[1].logical != inputs->tracks[order[i - 1]].ids[1].logical;
        thread = is_new ? 0 : thread + 1;
        inputs->ranks += is_new;
        track->ids[2] = (lode_id){KIND_THREAD, 0, thread, thread};
    }
    qsort_r(order, count, sizeof *order, compare_ids, inputs->tracks);
    return LODE_OK;
}
