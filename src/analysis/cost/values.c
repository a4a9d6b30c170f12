/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cursor over values in order of (context, metric, profile), the order of context blocks; profile
 * blocks are merged into it. It reads whichever takes fewer bytes: a profile costs two searches for
 * its contexts, a context costs the range from the first to the last selected profile.
 */
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include <lode/values.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    BATCH = 4096,
    LOOK = 64 /* bytes per record of a block or step of a search: a cache line */
};

/* A block being read: of a profile (`id`) or of a context. */
struct stream {
    lode_block block;
    uint32_t id;
    uint32_t group, group_end; /* the next group; the end */
    uint32_t key;              /* of the current group */
    uint64_t at, end;          /* the current value; the end of its group */
};

struct lode_values {
    const lode_database *db;
    lode_values_options options;
    uint32_t context_end; /* end of contexts that have a block */
    bool *selected;       /* by profile, from options.profile_first on */
    uint32_t selected_count, first_selected, selected_end;
    lode_values_path path;
    uint64_t expected, read;

    struct stream context; /* by contexts: the current block */
    uint32_t next_context;
    struct stream *heap; /* by profiles: heap of blocks, the next value first */
    size_t heap_count;

    uint64_t last_place; /* context and metric of the last value; 0 before the first */
    uint32_t last_profile;
    size_t count;
    uint32_t contexts[BATCH], profiles[BATCH];
    uint16_t metrics[BATCH];
    double values[BATCH];
};

/* ---- selected profiles ---- */

static bool is_selected(const lode_values *self, uint32_t profile)
{
    return profile >= self->options.profile_first && profile < self->options.profile_end &&
           self->selected[profile - self->options.profile_first];
}

static lode_status select_profiles(lode_values *self, lode_error *error)
{
    uint32_t first = self->options.profile_first, end = self->options.profile_end;
    self->selected = calloc((size_t)(end - first) + 1, sizeof *self->selected);
    LODE_TRY_ALLOC(self->selected, error);
    for (uint32_t p = first; p < end; p++) {
        int has;
        LODE_TRY(lode_selection_has(self->options.selection, self->db, p, &has, error));
        self->selected[p - first] = has;
        if (!has)
            continue;
        if (self->selected_count++ == 0)
            self->first_selected = p;
        self->selected_end = p + 1;
    }
    return LODE_OK;
}

/* ---- estimated cost ---- */

/* Bytes of blocks, records and searches; may exceed the file as cache lines count repeatedly. */
struct bytes {
    uint64_t content, looks;
};

static uint64_t sum_of(const struct bytes *bytes)
{
    return bytes->content + bytes->looks;
}

/* Of a binary search in packed records: at most all of them. */
static uint64_t search_bytes(uint64_t count, uint64_t stride)
{
    uint64_t looks = LOOK;
    for (uint64_t left = count; left >>= 1;)
        looks += LOOK;
    return looks < count * stride ? looks : count * stride;
}

/* The groups of the contexts in a profile block. */
static void find_groups(const lode_values *self, const lode_block *block, uint32_t *first, uint32_t *end)
{
    *first = lode_block_seek(block, 0, self->options.context_first);
    *end = self->options.context_end ? lode_block_seek(block, *first, self->options.context_end)
                                     : block->group_count;
}

/* Groups that are not contiguous are detected when they are read. */
static uint64_t group_bytes(const lode_values *self, const lode_block *block, uint32_t first, uint32_t end)
{
    uint64_t groups = end - first, from = groups ? block_group_start(block, first) : 0;
    uint64_t to = end < block->group_count ? block_group_start(block, end) : block->value_count;
    uint64_t values = groups && from < to && to <= block->value_count ? to - from : 0;
    uint64_t stride = block_value_stride(block), bytes = values * stride;
    if (self->options.metric >= 0 && groups > 0)
        bytes = groups * search_bytes(values / groups, stride);
    return groups * block_group_stride(block) + bytes;
}

static uint64_t open_bytes(const lode_block *block)
{
    return LOOK + 2 * search_bytes(block->group_count, block_group_stride(block));
}

static lode_status add_profile(const lode_values *self, uint32_t profile, struct bytes *bytes,
                               lode_error *error)
{
    lode_block block;
    uint32_t first, end;
    if (!is_selected(self, profile))
        return LODE_OK;
    LODE_TRY(lode_profile_block(self->db, profile, &block, error));
    find_groups(self, &block, &first, &end);
    bytes->looks += open_bytes(&block);
    bytes->content += group_bytes(self, &block, first, end);
    return LODE_OK;
}

/* Searches each metric of a context for the first selected profile, and reads up to the last. */
static void add_values(const lode_values *self, const lode_block *block, uint64_t groups, uint64_t values,
                       struct bytes *bytes)
{
    uint32_t profiles = self->db->profile_count; /* none, if profile.db is missing or damaged */
    double share = profiles > 0 ? (double)(self->selected_end - self->first_selected) / profiles : 0;
    if (groups > 0)
        bytes->looks += groups * search_bytes(values / groups, block_value_stride(block));
    bytes->content += (uint64_t)(share * (double)values) * block_value_stride(block);
}

static lode_status add_context(const lode_values *self, uint32_t context, struct bytes *bytes,
                               lode_error *error)
{
    lode_block block;
    lode_group group;
    LODE_TRY(lode_context_block(self->db, context, &block, error));
    bytes->looks += LOOK;
    if (self->options.metric < 0) {
        bytes->content += block.group_count * block_group_stride(&block);
        add_values(self, &block, block.group_count, block.value_count, bytes);
        return LODE_OK;
    }
    bytes->looks += search_bytes(block.group_count, block_group_stride(&block));
    lode_status status = lode_block_find(&block, (uint32_t)self->options.metric, &group, error);
    if (status == LODE_OK)
        add_values(self, &block, 1, group.count, bytes);
    return status == LODE_NOT_FOUND ? LODE_OK : status;
}

/* The cost of a path; stops above the limit. */
static lode_status expect(const lode_values *self, lode_values_path path, uint64_t limit, struct bytes *bytes,
                          lode_error *error)
{
    bool by_profiles = path == LODE_VALUES_BY_PROFILES;
    uint32_t first = by_profiles ? self->first_selected : self->options.context_first;
    uint32_t end = by_profiles ? self->selected_end : self->context_end;
    *bytes = (struct bytes){0, 0};
    for (uint32_t i = first; i < end && sum_of(bytes) <= limit; i++)
        LODE_TRY((by_profiles ? add_profile : add_context)(self, i, bytes, error));
    return LODE_OK;
}

/* Overlapping blocks could take more time than the file justifies. */
static lode_status check_content(const lode_values *self, uint64_t content, lode_error *error)
{
    bool by_profiles = self->path == LODE_VALUES_BY_PROFILES;
    const struct lode_part_info *part = &self->db->parts[by_profiles ? LODE_PART_PROFILE : LODE_PART_CONTEXT];
    if (content <= part->size)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CORRUPT, part->file, LODE_NO_OFFSET,
                     "%s share their blocks: together these are larger than the file",
                     by_profiles ? "profiles" : "contexts");
}

/* Starts with the path that is faster to estimate; stops the other once it costs more. */
static lode_status choose_path(lode_values *self, lode_error *error)
{
    struct bytes bytes, other;
    bool both = self->options.path == LODE_VALUES_CHEAPER && lode_database_has(self->db, LODE_PART_CONTEXT);
    uint32_t first = self->options.context_first, end = self->context_end;
    bool few_contexts = end <= first || end - first <= self->selected_count;
    if (self->options.path != LODE_VALUES_CHEAPER)
        self->path = self->options.path;
    else
        self->path = both && few_contexts ? LODE_VALUES_BY_CONTEXTS : LODE_VALUES_BY_PROFILES;
    LODE_TRY(expect(self, self->path, UINT64_MAX, &bytes, error));
    if (both) {
        lode_values_path rest = few_contexts ? LODE_VALUES_BY_PROFILES : LODE_VALUES_BY_CONTEXTS;
        LODE_TRY(expect(self, rest, sum_of(&bytes), &other, error));
        if (sum_of(&other) < sum_of(&bytes)) {
            self->path = rest;
            bytes = other;
        }
    }
    self->expected = sum_of(&bytes);
    return check_content(self, bytes.content, error);
}

/* ---- streams ---- */

/* The next group. */
static lode_status next_group(lode_values *self, struct stream *stream, lode_group *group, lode_error *error)
{
    if (stream->group >= stream->group_end)
        return LODE_END;
    LODE_TRY(lode_block_group(&stream->block, stream->group++, group, error));
    self->read += block_group_stride(&stream->block);
    stream->key = group->key;
    stream->at = group->first;
    stream->end = group->first + group->count;
    return LODE_OK;
}

static void search(lode_values *self, struct stream *stream, const lode_group *group, uint32_t key)
{
    stream->at = lode_group_seek(&stream->block, group, key);
    self->read += search_bytes(group->count, block_value_stride(&stream->block));
}

static lode_status open_context(lode_values *self, struct stream *stream, lode_error *error)
{
    if (self->next_context >= self->context_end)
        return LODE_END;
    *stream = (struct stream){.id = self->next_context++};
    LODE_TRY(lode_context_block(self->db, stream->id, &stream->block, error));
    self->read += LOOK;
    stream->group_end = stream->block.group_count;
    if (self->options.metric < 0)
        return LODE_OK;
    uint32_t metric = (uint32_t)self->options.metric;
    self->read += search_bytes(stream->group_end, block_group_stride(&stream->block));
    stream->group = lode_block_seek(&stream->block, 0, metric);
    bool found =
        stream->group < stream->group_end && block_group_key(&stream->block, stream->group) == metric;
    stream->group_end = stream->group + found;
    return LODE_OK;
}

/* Advances to the profiles of the next metric or context. */
static lode_status next_profiles(lode_values *self, struct stream *stream, lode_error *error)
{
    lode_group group;
    lode_status status = next_group(self, stream, &group, error);
    if (status == LODE_END)
        return open_context(self, stream, error);
    if (status == LODE_OK)
        search(self, stream, &group, self->first_selected);
    return status;
}

/* Advances to the next value of a profile. */
static lode_status next_metric(lode_values *self, struct stream *stream, lode_error *error)
{
    lode_group group;
    while (stream->at >= stream->end) {
        LODE_TRY(next_group(self, stream, &group, error));
        if (self->options.metric < 0)
            continue;
        uint32_t metric = (uint32_t)self->options.metric;
        search(self, stream, &group, metric);
        bool found = stream->at < stream->end && block_value_key(&stream->block, stream->at) == metric;
        stream->end = stream->at + found;
    }
    return LODE_OK;
}

/* ---- batches ---- */

static uint64_t place_of(uint32_t context, uint32_t metric)
{
    return ((uint64_t)context << 16 | (metric & UINT16_MAX)) + 1;
}

static lode_status emit(lode_values *self, const struct stream *stream, uint64_t place, uint32_t profile,
                        lode_error *error)
{
    size_t i = self->count++;
    self->contexts[i] = (uint32_t)((place - 1) >> 16);
    self->metrics[i] = (uint16_t)(place - 1);
    self->profiles[i] = profile;
    self->values[i] = block_value(&stream->block, stream->at);
    if (place < self->last_place || (place == self->last_place && profile <= self->last_profile))
        return lode_fail(error, LODE_ERR_CORRUPT, stream->block.file, LODE_NO_OFFSET,
                         "the values of context %u are not in ascending order", self->contexts[i]);
    self->last_place = place;
    self->last_profile = profile;
    return LODE_OK;
}

static lode_status read_contexts(lode_values *self, lode_error *error)
{
    struct stream *stream = &self->context;
    while (self->count < BATCH) {
        if (stream->at >= stream->end) {
            LODE_TRY(next_profiles(self, stream, error));
            continue;
        }
        uint32_t profile = block_value_key(&stream->block, stream->at);
        self->read += block_value_stride(&stream->block);
        if (is_selected(self, profile))
            LODE_TRY(emit(self, stream, place_of(stream->id, stream->key), profile, error));
        stream->at = profile < self->selected_end ? stream->at + 1 : stream->end;
    }
    return LODE_OK;
}

/* The current value of a profile. */
static uint64_t place_in(const struct stream *stream)
{
    return place_of(stream->key, block_value_key(&stream->block, stream->at));
}

static bool comes_before(const struct stream *a, const struct stream *b)
{
    uint64_t x = place_in(a), y = place_in(b);
    return x < y || (x == y && a->id < b->id);
}

/* Restores the heap from the top. */
static void sift(lode_values *self, size_t at)
{
    struct stream moved = self->heap[at];
    for (size_t child = at * 2 + 1; child < self->heap_count; child = at * 2 + 1) {
        if (child + 1 < self->heap_count && comes_before(&self->heap[child + 1], &self->heap[child]))
            child++;
        if (!comes_before(&self->heap[child], &moved))
            break;
        self->heap[at] = self->heap[child];
        at = child;
    }
    self->heap[at] = moved;
}

static lode_status read_profiles(lode_values *self, lode_error *error)
{
    while (self->count < BATCH) {
        struct stream *stream = self->heap;
        if (self->heap_count == 0)
            return LODE_END;
        LODE_TRY(emit(self, stream, place_in(stream), stream->id, error));
        self->read += block_value_stride(&stream->block);
        stream->at++;
        lode_status status = next_metric(self, stream, error);
        if (status == LODE_END)
            *stream = self->heap[--self->heap_count];
        else if (status != LODE_OK)
            return status;
        if (self->heap_count > 0)
            sift(self, 0);
    }
    return LODE_OK;
}

lode_status lode_values_next(lode_values *self, lode_column columns[LODE_VALUES_COLUMNS], lode_error *error)
{
    self->count = 0;
    lode_status status =
        self->path == LODE_VALUES_BY_PROFILES ? read_profiles(self, error) : read_contexts(self, error);
    if (status != LODE_OK && (status != LODE_END || self->count == 0))
        return status;
    columns[0] = (lode_column){"context", LODE_COLUMN_U32, LODE_OWNER_TABLE, self->contexts, self->count, 4};
    columns[1] = (lode_column){"metric", LODE_COLUMN_U16, LODE_OWNER_TABLE, self->metrics, self->count, 2};
    columns[2] = (lode_column){"profile", LODE_COLUMN_U32, LODE_OWNER_TABLE, self->profiles, self->count, 4};
    columns[3] = (lode_column){"value", LODE_COLUMN_F64, LODE_OWNER_TABLE, self->values, self->count, 8};
    return LODE_OK;
}

/* ---- opening ---- */

static lode_status open_profile(lode_values *self, uint32_t profile, lode_error *error)
{
    struct stream *stream = &self->heap[self->heap_count];
    *stream = (struct stream){.id = profile};
    LODE_TRY(lode_profile_block(self->db, profile, &stream->block, error));
    find_groups(self, &stream->block, &stream->group, &stream->group_end);
    self->read += open_bytes(&stream->block);
    lode_status status = next_metric(self, stream, error);
    if (status == LODE_OK)
        self->heap_count++;
    return status == LODE_END ? LODE_OK : status;
}

static lode_status open_profiles(lode_values *self, lode_error *error)
{
    self->heap = calloc((size_t)self->selected_count + 1, sizeof *self->heap);
    LODE_TRY_ALLOC(self->heap, error);
    for (uint32_t p = self->first_selected; p < self->selected_end; p++)
        if (is_selected(self, p))
            LODE_TRY(open_profile(self, p, error));
    for (size_t i = self->heap_count / 2; i-- > 0;)
        sift(self, i);
    return LODE_OK;
}

static lode_status begin(lode_values *self, lode_error *error)
{
    lode_values_options *options = &self->options;
    const lode_database *db = self->db;
    if (options->path == LODE_VALUES_BY_CONTEXTS && !lode_database_has(db, LODE_PART_CONTEXT))
        return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET, "the database has no values by context");
    if (options->profile_end == 0 || options->profile_end > db->profile_count)
        options->profile_end = db->profile_count;
    if (options->profile_first > options->profile_end)
        options->profile_first = options->profile_end;
    self->context_end = db->context_block_count;
    if (options->context_end && options->context_end < self->context_end)
        self->context_end = options->context_end;
    self->next_context = options->context_first;
    LODE_TRY(select_profiles(self, error));
    LODE_TRY(choose_path(self, error));
    return self->path == LODE_VALUES_BY_PROFILES ? open_profiles(self, error) : LODE_OK;
}

lode_status lode_values_open(lode_values **out, const lode_database *db, const lode_values_options *given,
                             lode_error *error)
{
    lode_values_options options = LODE_VALUES_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_values *self = calloc(1, sizeof *self);
    LODE_TRY_ALLOC(self, error);
    self->db = db;
    self->options = options;
    lode_status status = begin(self, error);
    if (status == LODE_OK)
        *out = self;
    else
        lode_values_close(self);
    return status;
}

void lode_values_close(lode_values *self)
{
    if (self == NULL)
        return;
    free(self->selected);
    free(self->heap);
    free(self);
}

LODE_GETTER(lode_values_path, lode_values_chosen, lode_values, path);
LODE_GETTER(uint64_t, lode_values_bytes_expected, lode_values, expected);
LODE_GETTER(uint64_t, lode_values_bytes_read, lode_values, read);
