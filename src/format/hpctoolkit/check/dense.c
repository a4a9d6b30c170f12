/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure and scopes of a profile in one pass, for profiles without a defect. Values are copied
 * to a row of numbers for each context, with zeros for what is not stored, so that parents and
 * children, and the scopes of a metric, are compared without a search and without branches.
 *
 * It says only whether all is well. A profile with anything unusual is left to the passes that
 * report (blocks.c, scopes.c): with a defect, a negative number, or rows that are nearly empty.
 * What is well here is well there: sums are the same, in the same order.
 *
 * Memory per thread: two numbers per slot of a row, 4 bytes per context of the tree, and a table of
 * metric ids. Shared: 8 bytes per context of the tree.
 */
#include "format/hpctoolkit/check/dense.h"

#include "model/database/block.h"
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_PER_VALUE = 6, /* rows with fewer values are not dense */
    SLOTS_MAX = 1 << 12,
    LEAST_SLOTS = 1 << 12, /* small profiles need not be dense */
    ALWAYS = 16,           /* the bit of scopes that all contexts pass on */
    GROUP_SIZE = 12        /* of an entry of the index of a profile: context, start */
};

/* What a profile needs of a context. */
struct node {
    uint32_t parent;
    uint32_t propagation; /* and the bit ALWAYS */
};

/* The slots of a metric in a row. Slot 0 is always zero: of a scope that a metric lacks. */
struct columns {
    uint16_t execution, point;
    uint16_t first, end; /* all scopes */
};

struct scratch {
    uint16_t *slots;         /* by metric id; 0: not used so far */
    uint8_t *bits, *types;   /* by slot: the bit of contexts that pass it on; lode_scope_type */
    uint64_t *factors;       /* by slot: of sums */
    struct columns *columns; /* of the metrics used so far */
    uint32_t column_count, width;
    uint32_t *row_of;          /* by index of context: `base` + row; smaller: none */
    uint32_t base, next;       /* `next` is above all numbers in use */
    uint32_t *indices;         /* by row: index of context, or LODE_NO_INDEX */
    double *values, *children; /* [row][slot] */
    size_t row_capacity, slot_capacity;
};

struct lode_hpct_dense {
    const struct hpct_check *check;
    struct node *nodes; /* by index of context */
    struct scratch *workers;
};

/* A profile in work. */
struct profile {
    const struct lode_hpct_dense *dense;
    struct scratch *scratch;
    const lode_block *block;
    struct hpct_dense_result result;
};

/* ---- columns ---- */

/* Whether each id has one meaning, and there is one execution and one point scope at most. */
static bool is_usual(const struct hpct_check *check, const lode_metric *metric)
{
    unsigned executions = 0, points = 0;
    for (uint32_t i = 0; i < metric->scope_count; i++) {
        const struct hpct_metric_id *id = &check->values[metric->scopes[i].id];
        const lode_scope *scope = metric->scopes[i].scope;
        if (id->metric != metric->index || id->type != scope->type || id->bit != scope->propagation_index ||
            (id->type == LODE_SCOPE_TRANSITIVE && id->bit >= ALWAYS))
            return false;
        executions += id->type == LODE_SCOPE_EXECUTION;
        points += id->type == LODE_SCOPE_POINT;
    }
    return executions <= 1 && points <= 1;
}

/* Gives a metric its slots; false if this pass cannot check it. */
static bool add_columns(const struct hpct_check *check, struct scratch *scratch, const lode_metric *metric)
{
    if (scratch->width + metric->scope_count > SLOTS_MAX || !is_usual(check, metric))
        return false;
    struct columns *columns = &scratch->columns[scratch->column_count++];
    *columns = (struct columns){.first = (uint16_t)scratch->width,
                                .end = (uint16_t)(scratch->width + metric->scope_count)};
    for (uint32_t i = 0; i < metric->scope_count; i++) {
        uint16_t slot = (uint16_t)scratch->width++;
        const struct hpct_metric_id *id = &check->values[metric->scopes[i].id];
        scratch->slots[metric->scopes[i].id] = slot;
        scratch->types[slot] = id->type;
        scratch->factors[slot] = id->factor;
        scratch->bits[slot] = id->type == LODE_SCOPE_TRANSITIVE ? id->bit : ALWAYS;
        if (id->type == LODE_SCOPE_EXECUTION)
            columns->execution = slot;
        if (id->type == LODE_SCOPE_POINT)
            columns->point = slot;
    }
    return true;
}

static bool make_room(struct scratch *scratch, const lode_block *block)
{
    size_t rows = block->group_count, slots = rows * scratch->width;
    if (rows > scratch->row_capacity) {
        free(scratch->indices);
        scratch->indices = malloc(rows * sizeof *scratch->indices);
        scratch->row_capacity = scratch->indices ? rows : 0;
    }
    if (slots > scratch->slot_capacity) {
        free(scratch->values);
        free(scratch->children);
        scratch->values = malloc(slots * sizeof *scratch->values);
        scratch->children = malloc(slots * sizeof *scratch->children);
        scratch->slot_capacity = scratch->values && scratch->children ? slots : 0;
    }
    return rows <= scratch->row_capacity && slots <= scratch->slot_capacity;
}

/* ---- reading ---- */

enum reading {
    READ_WELL,
    READ_NOT,    /* something that this pass does not know */
    READ_METRIC, /* a metric without slots */
};

/* Positive and finite. */
static inline bool is_plain(uint64_t bits)
{
    return bits - 1 < UINT64_C(0x7ff0000000000000) - 1;
}

/* Reads the values of a context to its row, and adds them to the sum. */
static inline enum reading read_values(struct profile *self, uint32_t context, uint64_t first, uint64_t end,
                                       double *row)
{
    const uint8_t *at = self->block->values + first * WIRE_ProfileValue_SIZE;
    const uint16_t *slots = self->scratch->slots;
    const uint64_t *factors = self->scratch->factors;
    struct hpct_part part = {0};
    uint32_t least = 0;
    for (uint64_t i = first; i < end; i++, at += WIRE_ProfileValue_SIZE) {
        uint32_t metric = get_u16le(at), slot = slots[metric];
        uint64_t bits = get_u64le(at + WIRE_ProfileValue_value);
        if (metric < least || !is_plain(bits))
            return READ_NOT;
        if (slot == 0)
            return READ_METRIC;
        row[slot] = f64_of_bits(bits);
        hpct_part_add(&part, factors[slot], bits);
        least = metric + 1;
    }
    const struct hpct_factors *all = self->dense->check->factors;
    hpct_parts_add(&self->result.parts, hpct_context_factor(all, context), &part, end - first);
    return READ_WELL;
}

static enum reading read_groups(struct profile *self)
{
    const lode_block *block = self->block;
    const struct lode_context_tree *tree = &self->dense->check->db->base.tree;
    struct scratch *scratch = self->scratch;
    uint32_t width = scratch->width;
    uint64_t first = 0, least = 0;
    self->result = (struct hpct_dense_result){0};
    memset(scratch->values, 0, (size_t)block->group_count * width * sizeof *scratch->values);
    memset(scratch->children, 0, (size_t)block->group_count * width * sizeof *scratch->children);
    for (uint32_t g = 0; g < block->group_count; g++) {
        const uint8_t *at = block->groups + (size_t)g * GROUP_SIZE;
        uint64_t end = g + 1 < block->group_count ? get_u64le(at + GROUP_SIZE + 4) : block->value_count;
        uint32_t context = get_u32le(at);
        double *row = scratch->values + (size_t)g * width;
        if (context < least || end <= first || end > block->value_count)
            return READ_NOT;
        uint32_t index = scratch->indices[g] = lode_context_tree_find(tree, context);
        if (index == LODE_NO_INDEX)
            self->result.unlisted_values += end - first;
        else
            scratch->row_of[index] = scratch->base + g;
        enum reading reading = read_values(self, context, first, end, row);
        if (reading != READ_WELL)
            return reading;
        least = (uint64_t)context + 1;
        first = end;
    }
    return READ_WELL;
}

/* Takes a new range of numbers for `row_of`, which makes those in it old. */
static void advance_base(struct profile *self)
{
    struct scratch *scratch = self->scratch;
    uint32_t rows = self->block->group_count;
    if (scratch->next > UINT32_MAX - rows) {
        memset(scratch->row_of, 0, self->dense->check->db->base.tree.count * sizeof *scratch->row_of);
        scratch->next = 1;
    }
    scratch->base = scratch->next;
    scratch->next += rows;
}

/* Gives all metrics of the profile their slots. */
static bool add_all_columns(const struct profile *self)
{
    const struct hpct_check *check = self->dense->check;
    const uint8_t *at = self->block->values;
    for (uint64_t i = 0; i < self->block->value_count; i++, at += WIRE_ProfileValue_SIZE) {
        const struct hpct_metric_id *id = &check->values[get_u16le(at)];
        if (self->scratch->slots[get_u16le(at)] == 0 &&
            (!id->known || !add_columns(check, self->scratch, &check->db->base.metrics[id->metric])))
            return false;
    }
    return true;
}

static enum reading read_once(struct profile *self)
{
    const lode_block *block = self->block;
    uint64_t slots = (uint64_t)block->group_count * self->scratch->width;
    if ((slots > LEAST_SLOTS && slots / SLOTS_PER_VALUE > block->value_count) ||
        !make_room(self->scratch, block))
        return READ_NOT;
    advance_base(self);
    return read_groups(self);
}

static bool read_profile(struct profile *self)
{
    const lode_block *block = self->block;
    if (block->group_count == 0)
        return block->value_count == 0;
    if (get_u64le(block->groups + 4) != 0)
        return false;
    enum reading reading = read_once(self);
    if (reading == READ_METRIC && add_all_columns(self))
        reading = read_once(self);
    return reading == READ_WELL;
}

/* ---- comparing ---- */

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* As in scopes.c, for `a` and `scale` that are not negative. */
static inline bool is_close(double a, double b, double scale)
{
    double difference = a > b ? a - b : b - a, size = b < 0.0 ? -b : b;
    return (a == b) | (difference <= 1e-9 * larger(scale, larger(a, size)));
}

static bool add_to_parents(const struct profile *self)
{
    const struct scratch *scratch = self->scratch;
    uint32_t width = scratch->width;
    static const double factors[] = {0.0, 1.0};
    for (uint32_t g = 0; g < self->block->group_count; g++) {
        uint32_t index = scratch->indices[g];
        if (index == LODE_NO_INDEX || index == 0)
            continue;
        const struct node *node = &self->dense->nodes[index];
        uint32_t parent = scratch->row_of[node->parent];
        if (parent < scratch->base)
            return false;
        const double *from = scratch->values + (size_t)g * width;
        double *to = scratch->children + (size_t)(parent - scratch->base) * width;
        for (uint32_t s = 1; s < width; s++)
            to[s] += from[s] * factors[node->propagation >> scratch->bits[s] & 1];
    }
    return true;
}

/* Whether a metric adds up at a context. `is_exact`: nothing is missing among its children. */
static inline bool adds_up(const struct scratch *scratch, const struct columns *columns, const double *values,
                           const double *children, bool is_exact)
{
    double inclusive = values[columns->execution], below = children[columns->execution];
    double parts = below + values[columns->point];
    bool is_lower = !(is_exact && columns->point) && inclusive > parts;
    bool good = (is_close(inclusive, parts, 0.0) | is_lower) & ((inclusive != 0.0) | (below == 0.0));
    for (uint32_t s = columns->first; s < columns->end; s++) {
        if (scratch->types[s] != LODE_SCOPE_TRANSITIVE)
            continue;
        bool same = is_close(values[s], inclusive - below + children[s], inclusive);
        good &= (same | !columns->execution) & ((values[s] != 0.0) | (children[s] == 0.0));
    }
    return good;
}

/* Whether the points of a metric are the execution value of the global context. */
static bool points_add_up(const struct profile *self, const struct columns *columns)
{
    const struct scratch *scratch = self->scratch;
    uint32_t width = scratch->width, global = scratch->row_of[0];
    double sum = 0.0, total = 0.0;
    if (columns->execution == 0 || columns->point == 0)
        return true;
    for (uint32_t g = 0; g < self->block->group_count; g++)
        sum += scratch->values[(size_t)g * width + columns->point];
    if (global >= scratch->base)
        total = scratch->values[(size_t)(global - scratch->base) * width + columns->execution];
    return lode_hpct_close_enough(sum, total);
}

static bool all_adds_up(const struct profile *self)
{
    const struct scratch *scratch = self->scratch;
    size_t width = scratch->width;
    bool good = add_to_parents(self);
    for (uint32_t g = 0; g < self->block->group_count && good; g++) {
        uint32_t index = scratch->indices[g];
        bool is_exact = self->result.unlisted_values == 0 || index == 0;
        for (uint32_t i = 0; i < scratch->column_count && index != LODE_NO_INDEX; i++)
            good &= adds_up(scratch, &scratch->columns[i], scratch->values + g * width,
                            scratch->children + g * width, is_exact);
    }
    for (uint32_t i = 0; i < scratch->column_count && good; i++)
        good = points_add_up(self, &scratch->columns[i]);
    return good;
}

bool lode_hpct_dense_read(struct lode_hpct_dense *dense, unsigned worker, const lode_block *block,
                          struct hpct_dense_result *result)
{
    struct profile self = {.dense = dense, .scratch = &dense->workers[worker], .block = block};
    if (!read_profile(&self))
        return false;
    self.result.adds_up = all_adds_up(&self);
    *result = self.result;
    return true;
}

/* ---- memory ---- */

static bool open_scratch(const struct hpct_check *check, struct scratch *scratch)
{
    const lode_database *db = &check->db->base;
    scratch->slots = calloc(UINT16_MAX + 1, sizeof *scratch->slots);
    size_t slots = check->value_ids < SLOTS_MAX ? check->value_ids + 1 : SLOTS_MAX;
    scratch->bits = calloc(slots, 1);
    scratch->types = calloc(slots, 1);
    scratch->factors = calloc(slots, sizeof *scratch->factors);
    scratch->columns = calloc((size_t)db->metric_count + 1, sizeof *scratch->columns);
    scratch->row_of = calloc((size_t)db->tree.count + 1, sizeof *scratch->row_of);
    scratch->width = scratch->next = 1;
    return scratch->slots && scratch->bits && scratch->types && scratch->factors && scratch->columns &&
           scratch->row_of;
}

lode_status lode_hpct_dense_open(const struct hpct_check *check, struct lode_hpct_dense **out)
{
    const struct lode_context_tree *tree = &check->db->base.tree;
    struct lode_hpct_dense *dense = *out = calloc(1, sizeof *dense);
    LODE_TRY_ALLOC(dense, check->report.error);
    dense->check = check;
    dense->nodes = malloc(((size_t)tree->count + 1) * sizeof *dense->nodes);
    dense->workers = calloc(check->threads, sizeof *dense->workers);
    bool enough = dense->nodes && dense->workers;
    for (unsigned i = 0; i < check->threads && enough; i++)
        enough = open_scratch(check, &dense->workers[i]);
    LODE_TRY_ALLOC(enough, check->report.error);
    for (uint32_t i = 0; i < tree->count; i++)
        dense->nodes[i] =
            (struct node){tree->nodes[i].parent, tree->nodes[i].propagation | UINT32_C(1) << ALWAYS};
    return LODE_OK;
}

void lode_hpct_dense_close(struct lode_hpct_dense *dense)
{
    for (unsigned i = 0; dense && dense->workers && i < dense->check->threads; i++) {
        struct scratch *scratch = &dense->workers[i];
        free(scratch->slots);
        free(scratch->bits);
        free(scratch->types);
        free(scratch->factors);
        free(scratch->columns);
        free(scratch->row_of);
        free(scratch->indices);
        free(scratch->values);
        free(scratch->children);
    }
    if (dense) {
        free(dense->nodes);
        free(dense->workers);
    }
    free(dense);
}
