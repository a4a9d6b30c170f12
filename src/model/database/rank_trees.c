/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/rank_trees.h"

#include "base/error.h"
#include "base/memory/hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    ATTEMPTS_MOST = 64,
    HASH_SIZE = sizeof(uint64_t)
};

#define IS_NEW (UINT32_C(1) << 31) /* in numbers that owners send: this rank describes the node */
_Static_assert(LODE_TREE_MAX <= 1 << 30, "numbers leave a bit");

void lode_rank_trees_free(struct lode_rank_trees *self)
{
    free(self->order);
    free(self->sent);
    free(self->arrived);
    free(self->owned);
    free(self->shares);
    free(self->parents);
    free(self->contents);
    *self = (struct lode_rank_trees){0};
}

/* ---- hashes ---- */

/* One attempt to know nodes by hashes. */
struct attempt {
    struct lode_rank_trees *all;
    const struct lode_rank_tree *tree;
    size_t record; /* bytes of a node in a message: hash and content */
    uint64_t seed;
    bool is_weak;
    uint64_t *hashes; /* by node */
    uint64_t clashes;
    void *records; /* that arrived */
};

/* A bijection: the last step of splitmix64. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t key_of(const struct attempt *self, uint32_t frame)
{
    size_t size = self->tree->content_size;
    const uint8_t *content = (const uint8_t *)self->tree->contents + frame * size;
    uint64_t key = mix(self->seed);
    for (size_t at = 0; at < size; at += sizeof key) {
        uint64_t word = 0;
        memcpy(&word, content + at, size - at < sizeof word ? size - at : sizeof word);
        key = mix(key ^ word);
    }
    return self->is_weak ? (1 + key % 8) << 56 : key;
}

static uint64_t hash_of_fixed(const struct attempt *self, uint32_t node)
{
    return self->is_weak ? node : mix(self->seed + node);
}

/* For one key, a bijection of the hash of the parent: the proof that clashes are seen needs it. */
static uint64_t hash_of_child(const struct attempt *self, uint64_t parent, uint64_t key)
{
    return self->is_weak ? parent + key : mix(parent + key);
}

static lode_status hash_nodes(struct attempt *self, lode_error *error)
{
    const struct lode_content_tree *tree = self->tree->tree;
    uint32_t fixed = self->tree->fixed;
    uint64_t *keys = calloc((size_t)self->tree->frame_count + 1, sizeof *keys);
    LODE_TRY_ALLOC(keys, error);
    for (uint32_t i = 0; i < self->tree->frame_count; i++)
        keys[i] = key_of(self, i);
    for (uint32_t i = 0; i < fixed; i++)
        self->hashes[i] = hash_of_fixed(self, i);
    for (uint32_t i = fixed; i < tree->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree, i);
        self->hashes[i] = hash_of_child(self, self->hashes[node->parent], keys[node->frame]);
        for (uint32_t k = 0; k < fixed; k++)
            self->clashes += self->hashes[i] == self->hashes[k];
    }
    free(keys);
    return LODE_OK;
}

/* ---- to the owners ---- */

static uint32_t owner_of(uint64_t hash, uint32_t ranks)
{
    return (uint32_t)((lode_hash_wide)hash * ranks >> 64);
}

/* Sets `order` and `sent`. */
static lode_status sort_by_owner(struct attempt *self, lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    uint32_t ranks = all->comm->place.size, fixed = all->fixed;
    uint64_t *starts = calloc((size_t)ranks + 1, sizeof *starts);
    LODE_TRY_ALLOC(starts, error);
    memset(all->sent, 0, ranks * sizeof *all->sent);
    for (uint32_t i = 0; i < all->count; i++)
        all->sent[owner_of(self->hashes[fixed + i], ranks)]++;
    for (uint32_t i = 0; i < ranks; i++)
        starts[i + 1] = starts[i] + all->sent[i];
    for (uint32_t i = 0; i < all->count; i++)
        all->order[starts[owner_of(self->hashes[fixed + i], ranks)]++] = fixed + i;
    free(starts);
    return LODE_OK;
}

/* `from` counts items of one size for each rank, `to` those that arrive. The caller frees `out`. */
static lode_status exchange(const struct lode_rank_trees *all, const void *bytes, const uint64_t *from,
                            size_t size, uint64_t *to, void **out, lode_error *error)
{
    uint32_t ranks = all->comm->place.size;
    uint64_t *sizes = calloc(ranks, sizeof *sizes);
    size_t room = 0;
    *out = NULL;
    LODE_TRY_ALLOC(sizes, error);
    for (uint32_t i = 0; i < ranks; i++)
        sizes[i] = from[i] * size;
    lode_status status = lode_comm_alltoallv(all->comm, bytes, sizes, out, &room, to, error);
    for (uint32_t i = 0; i < ranks; i++)
        to[i] /= size;
    free(sizes);
    return status;
}

static lode_status send_nodes(struct attempt *self, lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    const struct lode_rank_tree *tree = self->tree;
    uint8_t *bytes = malloc(all->count * self->record + 1);
    LODE_TRY_ALLOC(bytes, error);
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t node = all->order[i], frame = lode_tree_node(tree->tree, node)->frame;
        uint8_t *at = bytes + i * self->record;
        memcpy(at, &self->hashes[node], HASH_SIZE);
        memcpy(at + HASH_SIZE, (const uint8_t *)tree->contents + frame * tree->content_size,
               tree->content_size);
    }
    lode_status status = exchange(all, bytes, all->sent, self->record, all->arrived, &self->records, error);
    free(bytes);
    all->owned_count = 0;
    for (uint32_t i = 0; i < all->comm->place.size; i++)
        all->owned_count += all->arrived[i];
    return status;
}

/* ---- the distinct ones ---- */

/* Numbers an arrived node; a slot has 1 + the first of equal ones. */
static void find_node(struct attempt *self, uint32_t *slots, uint64_t mask, uint32_t item)
{
    struct lode_rank_trees *all = self->all;
    const uint8_t *records = self->records, *own = records + item * self->record;
    uint64_t hash;
    memcpy(&hash, own, HASH_SIZE);
    uint64_t slot = mix(hash) & mask;
    for (; slots[slot] != 0; slot = (slot + 1) & mask) {
        const uint8_t *other = records + (slots[slot] - 1) * self->record;
        if (memcmp(other, own, HASH_SIZE) != 0)
            continue;
        if (memcmp(other, own, self->record) == 0) {
            all->owned[item] = all->owned[slots[slot] - 1] & ~IS_NEW;
            return;
        }
        self->clashes++;
    }
    slots[slot] = item + 1;
    all->owned[item] = all->distinct++ | IS_NEW;
}

static lode_status find_nodes(struct attempt *self, lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    uint64_t slot_count = 1;
    if (all->owned_count >= LODE_TREE_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "too many contexts for so few ranks");
    while (slot_count < all->owned_count * 2)
        slot_count *= 2;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    free(all->owned);
    all->owned = calloc(all->owned_count + 1, sizeof *all->owned);
    all->distinct = 0;
    bool done = slots && all->owned;
    for (uint32_t i = 0; i < all->owned_count && done; i++)
        find_node(self, slots, slot_count - 1, i);
    free(slots);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

/* ---- attempts ---- */

/* `before` and `totals`: distinct nodes of ranks before this one and of all, and clashes. */
static lode_status try_seed(struct attempt *self, uint64_t before[2], uint64_t totals[2], lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    self->seed = lode_hash_number(all->attempts);
    self->is_weak = all->attempts < all->weak_first;
    self->clashes = 0;
    all->attempts++;
    LODE_TRY(lode_comm_broadcast(all->comm, &self->seed, sizeof self->seed, error));
    LODE_TRY(hash_nodes(self, error));
    LODE_TRY(sort_by_owner(self, error));
    LODE_TRY(send_nodes(self, error));
    LODE_TRY(find_nodes(self, error));
    before[0] = all->distinct;
    before[1] = self->clashes;
    return lode_comm_exscan(all->comm, before, totals, 2, error);
}

static lode_status try_seeds(struct attempt *self, uint64_t before[2], uint64_t totals[2], lode_error *error)
{
    do {
        if (self->all->attempts == ATTEMPTS_MOST)
            return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "hashes of contexts collide");
        free(self->records);
        self->records = NULL;
        LODE_TRY(try_seed(self, before, totals, error));
    } while (totals[1] > 0);
    if (totals[0] > LODE_TREE_MAX - self->all->fixed)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more contexts than can be numbered");
    return LODE_OK;
}

/* ---- to rank 0 ---- */

/* `numbers` gets those of this rank's nodes, with IS_NEW. */
static lode_status take_numbers(struct attempt *self, uint64_t before, uint32_t *numbers, lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    uint32_t *replies = calloc(all->owned_count + 1, sizeof *replies);
    uint64_t *sizes = calloc(all->comm->place.size, sizeof *sizes);
    void *got = NULL;
    for (uint64_t i = 0; i < all->owned_count && replies; i++)
        replies[i] = all->owned[i] + all->fixed + (uint32_t)before;
    for (uint64_t i = 0; i < all->owned_count; i++)
        all->owned[i] &= ~IS_NEW;
    lode_status status = replies && sizes
                             ? exchange(all, replies, all->arrived, sizeof *replies, sizes, &got, error)
                             : lode_fail_memory(error);
    const uint32_t *from = got;
    for (uint32_t i = 0; i < all->count && status == LODE_OK; i++)
        numbers[all->order[i]] = from[i];
    free(got);
    free(replies);
    free(sizes);
    return status;
}

/* The number of nodes that this rank owns, then those that it is to describe. */
static bool pack_new(const struct attempt *self, const uint32_t *numbers, struct lode_blob *blob)
{
    const struct lode_rank_trees *all = self->all;
    const struct lode_rank_tree *tree = self->tree;
    size_t size = 2 * sizeof(uint32_t) + tree->content_size, count = 0;
    for (uint32_t i = all->fixed; i < tree->tree->count; i++)
        count += (numbers[i] & IS_NEW) != 0;
    size_t at = lode_blob_extend(blob, sizeof(uint32_t) + count * size);
    if (at == LODE_BLOB_FULL)
        return false;
    uint8_t *out = blob->bytes + at;
    memcpy(out, &all->distinct, sizeof(uint32_t));
    out += sizeof(uint32_t);
    for (uint32_t i = all->fixed; i < tree->tree->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree->tree, i);
        uint32_t two[2] = {numbers[i] & ~IS_NEW, numbers[node->parent] & ~IS_NEW};
        if (!(numbers[i] & IS_NEW))
            continue;
        memcpy(out, two, sizeof two);
        memcpy(out + sizeof two, (const uint8_t *)tree->contents + node->frame * tree->content_size,
               tree->content_size);
        out += size;
    }
    return true;
}

/* What all ranks have packed, on rank 0. */
static lode_status unpack_new(struct attempt *self, const uint8_t *at, const uint64_t *sizes,
                              lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    size_t content = self->tree->content_size, size = 2 * sizeof(uint32_t) + content;
    all->shares = calloc(all->comm->place.size, sizeof *all->shares);
    all->parents = calloc(all->total, sizeof *all->parents);
    all->contents = calloc(all->total, content);
    LODE_TRY_ALLOC(all->shares && all->parents && all->contents, error);
    for (uint32_t rank = 0; rank < all->comm->place.size; rank++) {
        const uint8_t *end = at + sizes[rank];
        memcpy(&all->shares[rank], at, sizeof(uint32_t));
        for (at += sizeof(uint32_t); at < end; at += size) {
            uint32_t two[2];
            memcpy(two, at, sizeof two);
            all->parents[two[0]] = two[1];
            memcpy(all->contents + two[0] * content, at + sizeof two, content);
        }
    }
    return LODE_OK;
}

static lode_status give_new(struct attempt *self, const uint32_t *numbers, lode_error *error)
{
    struct lode_comm *comm = self->all->comm;
    struct lode_blob blob = {0};
    uint64_t *sizes = calloc(comm->place.size, sizeof *sizes), total;
    void *got = NULL;
    lode_status status =
        sizes && pack_new(self, numbers, &blob)
            ? lode_comm_gather(comm, blob.bytes, blob.size, false, &got, &total, sizes, error)
            : lode_fail_memory(error);
    lode_blob_free(&blob);
    if (status == LODE_OK && comm->place.rank == 0)
        status = unpack_new(self, got, sizes, error);
    free(got);
    free(sizes);
    return status;
}

static lode_status unite(struct attempt *self, lode_error *error)
{
    struct lode_rank_trees *all = self->all;
    uint32_t nodes = self->tree->tree->count;
    uint64_t before[2], totals[2];
    LODE_TRY(try_seeds(self, before, totals, error));
    all->total = all->fixed + (uint32_t)totals[0];
    free(self->records);
    self->records = NULL;
    /* Hashes are needed no more. */
    free(self->hashes);
    self->hashes = NULL;
    uint32_t *numbers = calloc(nodes, sizeof *numbers);
    LODE_TRY_ALLOC(numbers, error);
    for (uint32_t i = 0; i < all->fixed; i++)
        numbers[i] = i;
    lode_status status = take_numbers(self, before[0], numbers, error);
    if (status == LODE_OK)
        status = give_new(self, numbers, error);
    free(numbers);
    return status;
}

lode_status lode_rank_trees_unite(struct lode_rank_trees *self, struct lode_comm *comm,
                                  const struct lode_rank_tree *tree, lode_error *error)
{
    uint32_t nodes = tree->tree->count, ranks = comm->place.size;
    self->comm = comm;
    self->fixed = tree->fixed;
    self->count = nodes - tree->fixed;
    self->order = calloc((size_t)self->count + 1, sizeof *self->order);
    self->sent = calloc(ranks, sizeof *self->sent);
    self->arrived = calloc(ranks, sizeof *self->arrived);
    struct attempt attempt = {.all = self,
                              .tree = tree,
                              .record = HASH_SIZE + tree->content_size,
                              .hashes = calloc(nodes, sizeof *attempt.hashes)};
    lode_status status = self->order && self->sent && self->arrived && attempt.hashes
                             ? unite(&attempt, error)
                             : lode_fail_memory(error);
    free(attempt.hashes);
    free(attempt.records);
    return status;
}

/* ---- one tree ---- */

/*
 * A stable counting sort of numbers from `first` to `count`, by keys below `key_count`. `from` NULL
 * means rising. `ends` has room for `key_count` and gets, by key, where its numbers end.
 */
static void sort_numbers(const uint32_t *keys, uint32_t key_count, uint32_t first, uint32_t count,
                         const uint32_t *from, uint32_t *to, uint32_t *ends)
{
    memset(ends, 0, key_count * sizeof *ends);
    for (uint32_t i = first; i < count; i++)
        ends[keys[i]]++;
    for (uint32_t i = 0, at = 0; i < key_count; i++) {
        uint32_t size = ends[i];
        ends[i] = at;
        at += size;
    }
    for (uint32_t i = first; i < count; i++) {
        uint32_t number = from ? from[i - first] : i;
        to[ends[keys[number]]++] = number;
    }
}

/* Breadth-first: node `at` of the tree has the number queue[at]. */
static bool append_nodes(const struct lode_rank_trees *self, const uint32_t *frames, const uint32_t *siblings,
                         const uint32_t *ends, struct lode_content_tree *tree, uint32_t *queue)
{
    for (uint32_t i = 0; i < self->fixed; i++)
        queue[i] = i;
    for (uint32_t at = 0; at < tree->count; at++) {
        uint32_t number = queue[at];
        for (uint32_t i = number > 0 ? ends[number - 1] : 0; i < ends[number]; i++) {
            uint32_t node = lode_content_tree_append(tree, at, frames[siblings[i]]);
            if (node == 0)
                return false;
            queue[node] = siblings[i];
        }
    }
    return true;
}

lode_status lode_rank_trees_build(struct lode_rank_trees *self, const uint32_t *frames, uint32_t frame_count,
                                  struct lode_content_tree *tree, uint32_t **nodes, lode_error *error)
{
    uint32_t total = self->total, keys = total > frame_count ? total : frame_count;
    uint32_t *by_frame = calloc(total, sizeof *by_frame), *siblings = calloc(total, sizeof *siblings);
    uint32_t *ends = calloc((size_t)keys + 1, sizeof *ends);
    *nodes = NULL;
    bool done = by_frame && siblings && ends;
    if (done) {
        sort_numbers(frames, frame_count, self->fixed, total, NULL, by_frame, ends);
        sort_numbers(self->parents, total, self->fixed, total, by_frame, siblings, ends);
        done = append_nodes(self, frames, siblings, ends, tree, by_frame);
    }
    free(siblings);
    free(ends);
    free(self->parents);
    free(self->contents);
    self->parents = NULL;
    self->contents = NULL;
    *nodes = done ? calloc(total, sizeof **nodes) : NULL;
    for (uint32_t i = 0; *nodes && i < total; i++)
        (*nodes)[by_frame[i]] = i;
    free(by_frame);
    LODE_TRY_ALLOC(*nodes, error);
    return LODE_OK;
}

/* ---- answers ---- */

/* Where answers end that begin at `at`. */
static const uint8_t *skip(const uint8_t *at, uint32_t count, lode_answer_size_fn size_of)
{
    for (uint32_t i = 0; i < count; i++)
        at += size_of(at);
    return at;
}

/* From rank 0 to the owners; the caller frees `*share`, this rank's. */
static lode_status share_answers(const struct lode_rank_trees *self, const struct lode_blob *answers,
                                 lode_answer_size_fn size_of, uint8_t **share, lode_error *error)
{
    struct lode_comm *comm = self->comm;
    uint64_t size;
    if (comm->place.rank > 0) {
        LODE_TRY(lode_comm_receive(comm, 0, &size, sizeof size, error));
        *share = malloc((size_t)size + 1);
        LODE_TRY_ALLOC(*share, error);
        return lode_comm_receive(comm, 0, *share, (size_t)size, error);
    }
    const uint8_t *at = answers->bytes;
    for (uint32_t rank = 0; rank < comm->place.size; rank++) {
        const uint8_t *end = skip(at, self->shares[rank], size_of);
        size = (uint64_t)(end - at);
        if (rank > 0) {
            LODE_TRY(lode_comm_send(comm, rank, &size, sizeof size, error));
            LODE_TRY(lode_comm_send(comm, rank, at, (size_t)size, error));
        } else {
            *share = malloc((size_t)size + 1);
            LODE_TRY_ALLOC(*share, error);
            if (size > 0)
                memcpy(*share, at, (size_t)size);
        }
        at = end;
    }
    return LODE_OK;
}

/* By owned number: where its answer begins; and where the last one ends. */
static size_t *find_answers(const struct lode_rank_trees *self, const uint8_t *share,
                            lode_answer_size_fn size_of)
{
    size_t *starts = calloc((size_t)self->distinct + 1, sizeof *starts);
    for (uint32_t i = 0; starts && i < self->distinct; i++)
        starts[i + 1] = starts[i] + size_of(share + starts[i]);
    return starts;
}

/* Answers in the order of arrived nodes; `sizes` by rank. */
static lode_status copy_answers(const struct lode_rank_trees *self, const uint8_t *share,
                                const size_t *starts, struct lode_blob *blob, uint64_t *sizes,
                                lode_error *error)
{
    uint64_t item = 0, total = 0;
    for (uint32_t rank = 0; rank < self->comm->place.size; rank++) {
        for (uint64_t end = item + self->arrived[rank]; item < end; item++)
            sizes[rank] += starts[self->owned[item] + 1] - starts[self->owned[item]];
        total += sizes[rank];
    }
    LODE_TRY_ALLOC(lode_blob_prepare(blob, (size_t)total + 1), error);
    uint8_t *at = blob->bytes;
    for (item = 0; item < self->owned_count; item++) {
        size_t start = starts[self->owned[item]], size = starts[self->owned[item] + 1] - start;
        memcpy(at, share + start, size);
        at += size;
    }
    return LODE_OK;
}

/* From the owners to all. */
static lode_status spread_answers(const struct lode_rank_trees *self, const uint8_t *share,
                                  lode_answer_size_fn size_of, uint8_t **out, lode_error *error)
{
    uint32_t ranks = self->comm->place.size;
    uint64_t *sizes = calloc((size_t)ranks * 2, sizeof *sizes);
    size_t *starts = find_answers(self, share, size_of), room = 0;
    struct lode_blob blob = {0};
    void *got = NULL;
    lode_status status =
        sizes && starts ? copy_answers(self, share, starts, &blob, sizes, error) : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_comm_alltoallv(self->comm, blob.bytes, sizes, &got, &room, sizes + ranks, error);
    lode_blob_free(&blob);
    free(starts);
    free(sizes);
    *out = got;
    return status;
}

lode_status lode_rank_trees_answer(const struct lode_rank_trees *self, const struct lode_blob *answers,
                                   lode_answer_size_fn size_of, uint8_t **out, lode_error *error)
{
    uint8_t *share = NULL;
    *out = NULL;
    lode_status status = share_answers(self, answers, size_of, &share, error);
    if (status == LODE_OK)
        status = spread_answers(self, share, size_of, out, error);
    free(share);
    return status;
}
