/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From rank 0 to all: each rank gets the contexts of its nodes and of their ancestors. All ranks
 * get the sites, as there are few, with the contexts of their routes.
 */
#include "base/comm/pack.h"
#include "format/hpcrun/source/source.h"
#include "model/database/description.h"
#include <stdlib.h>
#include <string.h>

void lode_hpcrun_contexts_free(struct hpcrun_contexts *contexts)
{
    free(contexts->ids);
    free(contexts->above);
    free(contexts->flags);
    *contexts = (struct hpcrun_contexts){0};
}

static bool make_contexts(struct hpcrun_contexts *contexts, uint32_t count)
{
    *contexts = (struct hpcrun_contexts){.count = count,
                                         .ids = calloc((size_t)count + 1, sizeof *contexts->ids),
                                         .above = calloc((size_t)count + 1, sizeof *contexts->above),
                                         .flags = calloc((size_t)count + 1, sizeof *contexts->flags)};
    return contexts->ids && contexts->above && contexts->flags;
}

/* Marks a position and those above it. */
static uint32_t mark(const struct hpcrun_contexts *contexts, uint32_t *marks, uint32_t position)
{
    uint32_t count = 0;
    for (; marks[position] == 0; position = contexts->above[position]) {
        marks[position] = 1;
        count++;
    }
    return count;
}

/* What a rank has: contexts, sites, and where its nodes are. */
struct part {
    struct hpcrun_contexts contexts;
    struct hpcrun_sites sites;
    struct hpcrun_place *places;
    uint32_t count; /* of places */
};

/* Of the source's sites, those of the places and of calls; places get their numbers there. */
static bool restrict_sites(const struct hpcrun_source *source, struct part *part)
{
    uint32_t *marks = calloc((size_t)lode_hpcrun_sites_count(&source->sites) + 1, sizeof *marks);
    if (marks == NULL)
        return false;
    for (uint32_t i = 0; i < part->count; i++)
        if (lode_hpcrun_is_site(&part->places[i]))
            marks[part->places[i].call] = 1;
    bool done = lode_hpcrun_sites_restrict(&source->sites, marks, &part->sites);
    for (uint32_t i = 0; i < part->count && done; i++)
        if (lode_hpcrun_is_site(&part->places[i]))
            part->places[i].call = marks[part->places[i].call] - 1;
    free(marks);
    return done;
}

/* Marks what places and routes name, and what is above; returns the number. */
static uint32_t mark_part(const struct hpcrun_contexts *from, uint32_t *marks, const struct part *part)
{
    uint32_t kept = 1;
    marks[0] = 1;
    for (uint32_t i = 0; i < part->count; i++)
        if (!lode_hpcrun_is_site(&part->places[i]))
            kept += mark(from, marks, part->places[i].full) + mark(from, marks, part->places[i].call);
    for (uint32_t i = 0; i < part->sites.routes.count; i++) {
        const struct hpcrun_site_route *route = lode_hpcrun_site_route(&part->sites, i);
        kept += mark(from, marks, route->final) + mark(from, marks, route->entry);
    }
    return kept;
}

/* Of the source's contexts, those of the part and above, in their order; positions are new. */
static bool restrict_contexts(const struct hpcrun_source *source, struct part *part)
{
    const struct hpcrun_contexts *from = &source->contexts;
    struct hpcrun_contexts *out = &part->contexts;
    uint32_t *marks = calloc((size_t)from->count + 1, sizeof *marks);
    bool done = marks && restrict_sites(source, part) && make_contexts(out, mark_part(from, marks, part));
    for (uint32_t i = 0, next = 0; i < from->count && done; i++) {
        if (marks[i] == 0)
            continue;
        marks[i] = next;
        out->ids[next] = from->ids[i];
        out->above[next] = marks[from->above[i]];
        out->flags[next++] = from->flags[i];
    }
    for (uint32_t i = 0; i < part->count && done; i++)
        if (!lode_hpcrun_is_site(&part->places[i]))
            part->places[i] = (struct hpcrun_place){marks[part->places[i].full], marks[part->places[i].call]};
    if (done)
        lode_hpcrun_sites_move(&part->sites, marks);
    free(marks);
    return done;
}

/* ---- what rank 0 sends ---- */

/* A context on its way, and one that a node adds. Positions are those of rank 0. */
struct sent_context {
    uint32_t position, above, id, flags;
};

enum {
    ADDED_CONTEXT = 2 * sizeof(uint32_t) + 1, /* position, id, flags; it is below the one before */
    ANSWER_HEAD = 2 * sizeof(uint32_t)        /* how many a node adds, and the number of the call */
};

static size_t size_of_answer(const uint8_t *answer)
{
    uint32_t count;
    /* Each node has an answer. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
    memcpy(&count, answer, sizeof count);
    return ANSWER_HEAD + (size_t)count * ADDED_CONTEXT;
}

/* The contexts that a node adds below those of its parent, outermost first. A site adds none. */
static bool pack_node(const struct hpcrun_source *source, uint32_t node, struct lode_blob *blob)
{
    const struct hpcrun_contexts *contexts = &source->contexts;
    const struct hpcrun_place *place = &source->places[node];
    uint32_t head[2] = {0, place->call}, full = place->full;
    bool is_site = lode_hpcrun_is_site(place);
    uint32_t top = source->places[lode_tree_node(&source->raw.tree, node)->parent].full;
    for (uint32_t at = full; !is_site && at != top; at = contexts->above[at])
        head[0]++;
    size_t start = lode_blob_extend(blob, ANSWER_HEAD + (size_t)head[0] * ADDED_CONTEXT);
    if (start == LODE_BLOB_FULL)
        return false;
    uint8_t *out = blob->bytes + start + ANSWER_HEAD;
    for (uint32_t i = head[0], at = full; i-- > 0; at = contexts->above[at]) {
        uint8_t *context = out + (size_t)i * ADDED_CONTEXT;
        memcpy(context, &at, sizeof at);
        memcpy(context + sizeof at, &contexts->ids[at], sizeof at);
        context[2 * sizeof at] = contexts->flags[at];
        if (at == place->call)
            head[1] = i;
    }
    memcpy(blob->bytes + start, head, sizeof head);
    return true;
}

static bool pack_nodes(const struct hpcrun_source *source, struct lode_blob *blob)
{
    bool done = true;
    for (uint32_t i = source->ranks.fixed; i < source->ranks.total && done; i++)
        done = pack_node(source, source->node_of[i], blob);
    return done;
}

static bool pack_context(const struct hpcrun_contexts *contexts, uint32_t position, struct lode_blob *blob)
{
    struct sent_context sent = {position, contexts->above[position], contexts->ids[position],
                                contexts->flags[position]};
    return pack_bytes(blob, &sent, sizeof sent);
}

/* How many contexts there are, sites, and the contexts of their routes. */
static bool pack_sites(const struct hpcrun_source *source, struct lode_blob *blob)
{
    const struct hpcrun_contexts *contexts = &source->contexts;
    const struct part all = {.sites = source->sites};
    bool has_routes = all.sites.routes.count > 0, done = true;
    uint32_t *marks = has_routes ? calloc((size_t)contexts->count + 1, sizeof *marks) : NULL;
    if (has_routes && marks == NULL)
        return false;
    uint32_t count = has_routes ? mark_part(contexts, marks, &all) : 0;
    done = pack_number(blob, contexts->count) && pack_number(blob, count);
    for (uint32_t i = 0; i < contexts->count && has_routes && done; i++)
        done = marks[i] == 0 || pack_context(contexts, i, blob);
    free(marks);
    return done && lode_hpcrun_sites_pack(&source->sites, blob);
}

/* ---- what ranks take ---- */

/* What arrived, and which contexts are among it: their new positions keep the order. */
struct taking {
    struct hpcrun_source *source;
    const uint8_t **answers; /* by node */
    const struct sent_context *shared;
    uint64_t shared_count;
    uint64_t *bits;   /* by position: it arrived */
    uint32_t *before; /* by word of bits: how many are before it */
    uint32_t words;
};

static uint32_t position_of(const struct taking *self, uint32_t position)
{
    uint64_t below = self->bits[position / 64] & ((UINT64_C(1) << position % 64) - 1);
    return self->before[position / 64] + (uint32_t)__builtin_popcountll(below);
}

static void mark_position(struct taking *self, uint32_t position)
{
    self->bits[position / 64] |= UINT64_C(1) << position % 64;
}

/* Returns the number of contexts. */
static uint32_t mark_arrived(struct taking *self)
{
    uint32_t count = 0;
    mark_position(self, 0);
    for (uint64_t i = 0; i < self->shared_count; i++)
        mark_position(self, self->shared[i].position);
    for (uint32_t node = 1; node < self->source->own.count; node++) {
        const uint8_t *answer = self->answers[node], *end = answer + size_of_answer(answer);
        for (const uint8_t *at = answer + ANSWER_HEAD; at < end; at += ADDED_CONTEXT) {
            uint32_t position;
            memcpy(&position, at, sizeof position);
            mark_position(self, position);
        }
    }
    for (uint32_t i = 0; i < self->words; i++) {
        self->before[i] = count;
        count += (uint32_t)__builtin_popcountll(self->bits[i]);
    }
    return count;
}

/* Parents precede children. */
static void place_node(struct taking *self, uint32_t node)
{
    struct hpcrun_source *source = self->source;
    struct hpcrun_contexts *contexts = &source->contexts;
    uint32_t head[2], above = source->places[lode_tree_node(&source->own, node)->parent].full;
    memcpy(head, self->answers[node], sizeof head);
    source->places[node] = (struct hpcrun_place){head[0] > 0 ? above : LODE_NO_NUMBER, head[1]};
    for (uint32_t i = 0; i < head[0]; i++) {
        const uint8_t *at = self->answers[node] + ANSWER_HEAD + (size_t)i * ADDED_CONTEXT;
        uint32_t position;
        memcpy(&position, at, sizeof position);
        position = position_of(self, position);
        memcpy(&contexts->ids[position], at + sizeof position, sizeof position);
        contexts->flags[position] = at[2 * sizeof position];
        contexts->above[position] = above;
        above = source->places[node].full = position;
        if (i == head[1])
            source->places[node].call = position;
    }
}

static void place_shared(struct taking *self)
{
    struct hpcrun_contexts *contexts = &self->source->contexts;
    struct hpcrun_sites *sites = &self->source->sites;
    for (uint64_t i = 0; i < self->shared_count; i++) {
        const struct sent_context *from = &self->shared[i];
        uint32_t position = position_of(self, from->position);
        contexts->ids[position] = from->id;
        contexts->above[position] = position_of(self, from->above);
        contexts->flags[position] = (uint8_t)from->flags;
    }
    for (uint32_t i = 0; i < sites->routes.count; i++) {
        struct hpcrun_site_route *route = lode_hpcrun_site_route(sites, i);
        route->final = position_of(self, route->final);
        route->entry = position_of(self, route->entry);
    }
}

/* `answers` are in the order in which the nodes were sent. */
static bool take_answers(struct taking *self, const uint8_t *answers, uint32_t positions)
{
    struct hpcrun_source *source = self->source;
    uint32_t nodes = source->own.count;
    self->words = positions / 64 + 1;
    self->answers = calloc((size_t)nodes + 1, sizeof *self->answers);
    self->bits = calloc(self->words, sizeof *self->bits);
    self->before = calloc(self->words, sizeof *self->before);
    source->places = calloc((size_t)nodes + 1, sizeof *source->places);
    if (!self->answers || !self->bits || !self->before || !source->places)
        return false;
    for (uint32_t i = 0; i < source->ranks.count; i++) {
        self->answers[source->ranks.order[i]] = answers;
        answers += size_of_answer(answers);
    }
    if (!make_contexts(&source->contexts, mark_arrived(self)))
        return false;
    for (uint32_t node = 1; node < nodes; node++)
        place_node(self, node);
    place_shared(self);
    return true;
}

/* Replaces what rank 0 has of all by what is of this rank. */
static lode_status take(struct hpcrun_source *source, const struct lode_blob *shared, const uint8_t *answers,
                        lode_error *error)
{
    const unsigned char *at = shared->bytes;
    struct taking self = {.source = source};
    uint32_t positions = (uint32_t)unpack_number(&at);
    self.shared_count = unpack_number(&at);
    struct sent_context *contexts = calloc(self.shared_count + 1, sizeof *contexts);
    LODE_TRY_ALLOC(contexts, error);
    unpack_bytes(&at, contexts, self.shared_count * sizeof *contexts);
    self.shared = contexts;
    free(source->places);
    lode_hpcrun_contexts_free(&source->contexts);
    lode_hpcrun_sites_free(&source->sites);
    source->places = NULL;
    bool done = lode_hpcrun_sites_unpack(&source->sites, &at) && take_answers(&self, answers, positions);
    free(contexts);
    free(self.answers);
    free(self.bits);
    free(self.before);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

static lode_status exchange(struct hpcrun_source *source, lode_error *error)
{
    struct lode_blob shared = {0}, nodes = {0};
    uint8_t *answers = NULL;
    bool done = source->comm->place.rank > 0 || (pack_sites(source, &shared) && pack_nodes(source, &nodes));
    lode_status status =
        done ? lode_comm_broadcast_blob(source->comm, &shared, error) : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_rank_trees_answer(&source->ranks, &nodes, size_of_answer, &answers, error);
    lode_blob_free(&nodes);
    if (status == LODE_OK)
        status = take(source, &shared, answers, error);
    lode_blob_free(&shared);
    free(answers);
    return status;
}

/* ---- all of it ---- */

/* From handles to ids, on rank 0. */
static void number_contexts(struct hpcrun_source *source, const struct lode_description *sealed)
{
    for (uint32_t i = 0; i < source->contexts.count; i++)
        source->contexts.ids[i] = i == 0 ? 0 : description_id(sealed, source->handles[i]);
    free(source->handles);
    source->handles = NULL;
}

lode_status lode_hpcrun_spread(struct hpcrun_source *source, const struct lode_description *sealed,
                               lode_error *error)
{
    bool is_alone = source->comm->place.size == 1;
    uint32_t nodes = is_alone ? source->raw.tree.count : source->own.count;
    if (source->comm->place.rank == 0) {
        number_contexts(source, sealed);
        source->base.counts.contexts = source->contexts.count - 1;
    }
    if (!is_alone)
        LODE_TRY(exchange(source, error));
    lode_hpcrun_raw_free(&source->raw);
    lode_content_tree_close(&source->own);
    lode_rank_trees_free(&source->ranks);
    struct part own = {.places = source->places, .count = nodes};
    bool done = restrict_contexts(source, &own);
    lode_hpcrun_contexts_free(&source->contexts);
    lode_hpcrun_sites_free(&source->sites);
    source->contexts = own.contexts;
    source->sites = own.sites;
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}
