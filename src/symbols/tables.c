/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jump tables of x86-64, as gcc and clang make them. From the jump backwards: a load from the table
 * gives its address, which a lea has, and an index; a comparison of the index before the load gives
 * the number of entries. Without a comparison, entries count until one is no target.
 */
#include "answer.h"
#include "graph.h"

#include <string.h>

enum {
    STEPS_MOST = 200, /* instructions backwards */
    HOPS_MOST = 8,    /* of them, over a jump to the place */
    ENTRIES_EACH = 16 /* of tables, for each byte of a function; tables of 16,384 are read in any */
};

#define SEVERAL UINT64_MAX /* addresses of one register */

/* A walk backwards. */
struct slice {
    struct graph *graph;
    uint32_t at;
    unsigned steps, hops;
};

static uint64_t rip_target(const struct graph *graph, uint32_t index, const struct x86 *x86)
{
    return graph_address(graph, index) + x86->length + (uint64_t)(int64_t)x86->displacement;
}

static bool read_at(const struct graph *graph, uint32_t index, struct x86 *x86)
{
    uint64_t address = graph_address(graph, index);
    size_t size;
    const uint8_t *bytes = image_bytes(graph->image, address, &size);
    return bytes && x86_read(x86, bytes, size < graph->code[index].length ? size : graph->code[index].length);
}

static uint32_t exact(const struct graph *graph, uint64_t address)
{
    uint32_t index = graph_find(graph, address);
    return index != NO_INDEX && graph_address(graph, index) == address ? index : NO_INDEX;
}

static bool is_plain(const struct x86 *x86, uint8_t opcode)
{
    return !x86->is_vex && x86->map == 0 && x86->opcode == opcode;
}

/* lea of an address that is no code: tables of a register are known if there is only one such. */
static void index_lea(struct graph *graph, uint32_t index)
{
    struct x86 x86;
    if (graph->code[index].flow != FLOW_NEXT || graph->code[index].length != 7 ||
        !read_at(graph, index, &x86) || !is_plain(&x86, 0x8d) || x86.base != X86_RIP)
        return;
    uint64_t target = rip_target(graph, index, &x86), *known = &graph->leas[x86.reg & 15];
    if (image_is_code(graph->image, target))
        return;
    *known = *known == 0 || *known == target ? target : SEVERAL;
}

/*
 * Finds the first direct jump to each instruction, and addresses that registers get; once, unless
 * there is more code since.
 */
static bool index_code(struct graph *graph)
{
    if (graph->jump_count == graph->code_count)
        return true;
    if (!image_spend(graph->image, graph->code_count))
        return false;
    graph->steps += graph->code_count;
    memset(graph->leas, 0, sizeof graph->leas);
    if (graph->code_count > graph->jump_room) {
        graph->jump_room = graph->code_count;
        graph->jump_from = must_grow(graph->jump_from, graph->jump_room, sizeof *graph->jump_from);
    }
    for (uint32_t i = 0; i < graph->code_count; i++)
        graph->jump_from[i] = NO_INDEX;
    for (uint32_t i = graph->code_count; i-- > 0;) {
        bool is_jump = graph->code[i].flow == FLOW_JUMP || graph->code[i].flow == FLOW_BRANCH;
        uint32_t to = is_jump ? exact(graph, graph->code[i].target) : NO_INDEX;
        if (to != NO_INDEX)
            graph->jump_from[to] = i;
        index_lea(graph, i);
    }
    graph->jump_count = graph->code_count;
    return true;
}

/* The first direct jump to an instruction that nothing goes on to. */
static uint32_t jump_to(struct graph *graph, uint32_t to)
{
    uint32_t index = index_code(graph) ? exact(graph, graph_address(graph, to)) : NO_INDEX;
    return index == NO_INDEX ? NO_INDEX : graph->jump_from[index];
}

static bool goes_on(const struct instruction *one)
{
    return one->flow != FLOW_JUMP && one->flow != FLOW_INDIRECT && one->flow != FLOW_RETURN &&
           one->flow != FLOW_STOP && one->flow != FLOW_TAIL;
}

/* The instruction before, if there is one. */
static bool step_back(struct slice *slice, struct x86 *x86)
{
    struct graph *graph = slice->graph;
    for (; slice->steps < STEPS_MOST; slice->steps++, graph->steps++) {
        uint32_t at = slice->at;
        if (at > 0 && graph->code[at].at != 0 && goes_on(&graph->code[at - 1]))
            slice->at = at - 1;
        else {
            uint32_t from = slice->hops++ < HOPS_MOST ? jump_to(graph, at) : NO_INDEX;
            if (from == NO_INDEX)
                return false;
            slice->at = from;
        }
        if (read_at(graph, slice->at, x86)) {
            slice->steps++;
            return true;
        }
    }
    return false;
}

/* ---- operands ---- */

/* A load of one register: mov, movslq, movzbl, movzwl, movsbl, movswl. */
static bool is_load(const struct x86 *x86)
{
    return is_plain(x86, 0x8b) || is_plain(x86, 0x63) ||
           (!x86->is_vex && x86->map == 1 && (x86->opcode & 0xf6) == 0xb6);
}

/* The register that an instruction writes, of those that matter here. */
static uint8_t written(const struct x86 *x86)
{
    if (x86->is_vex || x86->map > 1)
        return X86_NO_REGISTER;
    if (is_load(x86) || is_plain(x86, 0x8d) || is_plain(x86, 0x03))
        return x86->reg;
    if (x86->map == 1)
        return X86_NO_REGISTER;
    /* Two operands, the second is written; comparisons write none. */
    if (x86->opcode < 0x40 && (x86->opcode & 7) < 4 && x86->opcode < 0x38)
        return x86->opcode & 2 ? x86->reg : x86->mod == 3 ? x86->rm : X86_NO_REGISTER;
    bool is_first = x86->opcode == 0x89 ||
                    (x86->opcode >= 0x80 && x86->opcode <= 0x83 && (x86->reg & 7) != 7) ||
                    x86->opcode == 0xc7 || x86->opcode == 0xc1 || x86->opcode == 0xd1;
    return is_first && x86->mod == 3 ? x86->rm : X86_NO_REGISTER;
}

/* ---- the table's address ---- */

/* The address in a register before an instruction; 0: unknown. */
static uint64_t address_in(struct slice slice, uint8_t reg)
{
    struct x86 x86;
    while (step_back(&slice, &x86)) {
        if (written(&x86) != reg)
            continue;
        if (is_plain(&x86, 0x8d) && x86.base == X86_RIP)
            return rip_target(slice.graph, slice.at, &x86);
        if (is_plain(&x86, 0x89) && x86.mod == 3)
            reg = x86.reg;
        else if (is_plain(&x86, 0x8b) && x86.mod == 3)
            reg = x86.rm;
        else
            break;
    }
    uint64_t only = index_code(slice.graph) ? slice.graph->leas[reg & 15] : 0;
    return only == SEVERAL ? 0 : only;
}

/* ---- the number of entries ---- */

static bool same_memory(const struct x86 *a, const struct x86 *b)
{
    return a->mod != 3 && b->mod != 3 && a->base == b->base && a->index == b->index && a->scale == b->scale &&
           a->displacement == b->displacement;
}

/* cmp or and with a constant. */
static bool is_immediate(const struct x86 *x86, unsigned operation)
{
    bool is_group =
        !x86->is_vex && x86->map == 0 && (x86->opcode == 0x80 || x86->opcode == 0x81 || x86->opcode == 0x83);
    return is_group && (x86->reg & 7) == operation;
}

static bool is_accumulator(const struct x86 *x86, uint8_t byte)
{
    return is_plain(x86, byte) || is_plain(x86, (uint8_t)(byte + 1));
}

/* Entries after a comparison: with `ja` up to and with the constant, with `jae` below it. */
static uint32_t bounded(const struct graph *graph, uint32_t compare, int64_t constant)
{
    struct x86 next;
    uint32_t at = compare + 1;
    if (constant < 0 || constant >= TABLE_MOST)
        return 0;
    for (; at < graph->code_count && at < compare + 8 && graph->code[at].flow != FLOW_BRANCH; at++) {
    }
    if (at == graph->code_count || graph->code[at].flow != FLOW_BRANCH || !read_at(graph, at, &next))
        return 0;
    switch (next.opcode & 15) {
    case 7: /* above, not above */
    case 6:
        return (uint32_t)constant + 1;
    case 2:
    case 3:
        return (uint32_t)constant;
    default:
        return 0;
    }
}

/* Whether a comparison before an instruction that changes the index may still bound it. */
static bool keeps_bound(const struct x86 *x86)
{
    bool is_sum = is_plain(x86, 0x8d) && (x86->base == X86_RIP || x86->index != X86_NO_REGISTER);
    return is_sum || is_plain(x86, 0x83) || is_plain(x86, 0x2b);
}

/* The number of values of an index before a load; 0: unknown. */
static uint32_t count_of(struct slice slice, uint8_t index)
{
    struct x86 x86, memory = {.mod = 3};
    while (step_back(&slice, &x86)) {
        bool is_register = x86.mod == 3 && x86.rm == index && memory.mod == 3;
        bool is_same = (x86.has_modrm && is_register) || same_memory(&x86, &memory);
        if ((is_immediate(&x86, 7) && is_same) ||
            (is_accumulator(&x86, 0x3c) && index == 0 && memory.mod == 3)) {
            uint32_t count = bounded(slice.graph, slice.at, x86.immediate);
            if (count > 0)
                return count;
            continue;
        }
        bool is_mask = (is_immediate(&x86, 4) && is_register) || (is_accumulator(&x86, 0x24) && index == 0);
        if (is_mask && memory.mod == 3)
            return x86.immediate > 0 && x86.immediate < TABLE_MOST ? (uint32_t)x86.immediate + 1 : 0;
        if (memory.mod != 3 || written(&x86) != index)
            continue;
        if (is_load(&x86) && x86.mod == 3)
            index = x86.rm;
        else if (is_plain(&x86, 0x89))
            index = x86.reg;
        else if (is_load(&x86))
            memory = x86;
        else if (!keeps_bound(&x86))
            return 0;
    }
    return 0;
}

/* ---- entries ---- */

struct table {
    uint64_t address, base; /* base: what entries are relative to */
    uint32_t count;         /* 0: unknown */
    unsigned entry;         /* bytes: 4, relative, or 8 */
};

static bool read_entry(const struct image *image, const struct table *table, uint32_t number, uint64_t *out)
{
    uint64_t address = table->address + (uint64_t)number * table->entry;
    size_t size;
    const uint8_t *bytes = image_bytes(image, address, &size);
    int32_t relative;
    if (bytes == NULL || size < table->entry)
        return false;
    const struct slot *slot = table->entry == 8 ? image_slot(image, address) : NULL;
    if (slot) {
        *out = slot->value;
        return slot->name == NULL || slot->name[0] == '\0';
    }
    if (table->entry == 8)
        memcpy(out, bytes, sizeof *out);
    else {
        memcpy(&relative, bytes, sizeof relative);
        *out = table->base + (uint64_t)(int64_t)relative;
    }
    return true;
}

/* The instruction that an entry leads to. Without a known number, entries are in the function. */
static uint32_t target_of(struct graph *graph, const struct table *table, uint64_t target)
{
    const struct extent *own = graph->function;
    bool is_own = target >= own->start && target < own->end;
    if (table->count > 0 && !is_own && image_is_code(graph->image, target))
        return graph_resolve(graph, target);
    return is_own ? exact(graph, target) : NO_INDEX;
}

/* Tables overlap in hostile code only: there are not many entries for each byte of a function. */
static bool may_read(struct graph *graph)
{
    uint64_t most = (uint64_t)TABLE_MOST + ENTRIES_EACH * (graph->function->end - graph->function->start);
    bool is_possible = graph->entry_count < most && graph->jumps.count < EDGES_MOST;
    graph->entry_count += is_possible;
    graph->image->has_gaps |= !is_possible;
    return is_possible;
}

static bool use_table(struct graph *graph, uint32_t jump, const struct table *table)
{
    uint32_t count = table->count > 0 ? table->count : TABLE_MOST, found = 0;
    uint64_t address = 0;
    for (uint32_t i = 0; i < count && read_entry(graph->image, table, i, &address) && may_read(graph); i++) {
        uint32_t to = target_of(graph, table, address);
        graph->steps++;
        if (to == NO_INDEX && table->count == 0)
            break;
        if (to == NO_INDEX)
            continue;
        edges_add(&graph->jumps, jump, to);
        found++;
    }
    return found > 0;
}

/* ---- patterns ---- */

/* A load of a whole address, by a jump or a mov. */
static bool find_absolute(struct slice slice, const struct x86 *load, struct table *table)
{
    if (load->index == X86_NO_REGISTER || load->scale != 8)
        return false;
    uint64_t base = load->base == X86_NO_REGISTER ? 0 : address_in(slice, load->base);
    if (load->base != X86_NO_REGISTER && base == 0)
        return false;
    *table = (struct table){.address = base + (uint64_t)(int64_t)load->displacement,
                            .count = count_of(slice, load->index),
                            .entry = 8};
    return true;
}

/* `sum` is a register to which an address was added: one of both is loaded from the table. */
static bool find_relative(struct slice slice, uint8_t sum, uint8_t other, struct table *table)
{
    struct slice from = slice;
    struct x86 x86;
    while (step_back(&slice, &x86)) {
        uint8_t to = written(&x86);
        if (to != sum && to != other)
            continue;
        if (!is_plain(&x86, 0x63) || x86.mod == 3) {
            if (is_plain(&x86, 0x8d) && x86.base == X86_RIP)
                continue;
            return false;
        }
        if (x86.index == X86_NO_REGISTER || x86.scale != 4)
            return false;
        uint64_t base = x86.base == X86_NO_REGISTER ? 0 : address_in(slice, x86.base);
        uint8_t added = to == sum ? other : sum;
        uint64_t relative = added == x86.base ? base : address_in(from, added);
        if (base == 0)
            return false;
        *table = (struct table){.address = base + (uint64_t)(int64_t)x86.displacement,
                                .base = relative ? relative : base,
                                .count = count_of(slice, x86.index),
                                .entry = 4};
        return true;
    }
    return false;
}

/* What a register was computed from before a jump to it. */
static bool find_table(struct slice slice, uint8_t reg, struct table *table)
{
    struct x86 x86;
    while (step_back(&slice, &x86)) {
        if (written(&x86) != reg)
            continue;
        if (is_plain(&x86, 0x8b) && x86.mod != 3)
            return find_absolute(slice, &x86, table);
        if (is_plain(&x86, 0x03) && x86.mod == 3)
            return find_relative(slice, reg, x86.rm, table);
        if (is_plain(&x86, 0x01) && x86.mod == 3)
            return find_relative(slice, reg, x86.reg, table);
        if (is_plain(&x86, 0x8d) && x86.index != X86_NO_REGISTER && x86.scale == 1)
            return find_relative(slice, x86.base, x86.index, table);
        if (is_plain(&x86, 0x89) && x86.mod == 3)
            reg = x86.reg;
        else if (is_plain(&x86, 0x8b) && x86.mod == 3)
            reg = x86.rm;
        else
            return false;
    }
    return false;
}

bool graph_read_table(struct graph *graph, uint32_t index)
{
    struct slice slice = {.graph = graph, .at = index};
    struct table table;
    struct x86 jump;
    if (!read_at(graph, index, &jump))
        return false;
    bool is_found = jump.mod == 3 ? find_table(slice, jump.rm, &table) : find_absolute(slice, &jump, &table);
    return is_found && use_table(graph, index, &table);
}
