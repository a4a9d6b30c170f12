/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft's meta.db: the context tree, from nested blocks to an array in depth-first order. */
#include "base/io/bytes.h"
#include "base/memory/array.h"
#include "base/text/count.h"
#include "format/hpctoolkit/read.h"
#include "format/hpctoolkit_drafts/metadb_read.h"
#include "format/hpctoolkit_drafts/recover.h"
#include <inttypes.h>
#include <stdlib.h>

/* A block of siblings that is being read. */
struct siblings {
    struct lode_range rest;
    uint64_t offset; /* of the rest, in the file */
    uint32_t parent; /* index */
};

struct tree_reader {
    struct metadb_reader *reader;
    const struct metadb_part *part;
    struct lode_array stack; /* of struct siblings */
    uint64_t *visited;       /* a bit per byte of the section: read as part of a context */
    uint64_t callers, callers_first;
};

/* Marks the bytes of a node as read; false if any of them are already. */
static bool mark_visited(struct tree_reader *self, uint64_t offset, uint64_t size)
{
    return lode_hpct_mark(self->visited, offset - self->part->offset, size);
}

static lode_status push_children(struct tree_reader *self, uint64_t pointer, uint64_t size, uint64_t offset,
                                 uint32_t parent)
{
    const struct metadb_part *part = self->part;
    struct lode_range bytes;
    if (size == 0)
        return LODE_OK;
    if (pointer < part->offset || !lode_range_part(part->bytes, pointer - part->offset, size, &bytes))
        return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_BOUNDS, offset,
                                   "children: %" PRIu64 " bytes at 0x%" PRIx64
                                   " are not inside the section of contexts",
                                   size, pointer);
    struct siblings *siblings = lode_array_push(&self->stack);
    LODE_TRY_ALLOC(siblings, self->reader->report->error);
    *siblings = (struct siblings){.rest = bytes, .offset = pointer, .parent = parent};
    return LODE_OK;
}

static lode_status bad_pointer(struct tree_reader *self, uint64_t offset, uint64_t pointer, const char *what)
{
    return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_POINTER, offset,
                               "a context's pointer 0x%" PRIx64 " is not a %s", pointer, what);
}

/* ---- the content of a node ---- */

static lode_status read_function(struct tree_reader *self, lode_context *node, const uint8_t *bytes,
                                 uint64_t offset)
{
    uint64_t pointer = get_u64be(bytes);
    uint32_t index = lode_metadb_index(&self->reader->functions, pointer);
    if (index == LODE_NO_INDEX)
        return bad_pointer(self, offset, pointer, "function");
    node->function = &self->reader->db->base.functions[index];
    node->flags |= HPCT_CONTEXT_FUNCTION;
    return LODE_OK;
}

static lode_status read_line(struct tree_reader *self, lode_context *node, const uint8_t *bytes,
                             uint64_t offset)
{
    uint64_t pointer = get_u64be(bytes);
    uint32_t index = lode_metadb_index(&self->reader->files, pointer);
    if (index == LODE_NO_INDEX)
        return bad_pointer(self, offset, pointer, "source file");
    node->file = &self->reader->db->base.files[index];
    node->line = get_u32be(bytes + sizeof pointer);
    node->flags |= HPCT_CONTEXT_SOURCE;
    return LODE_OK;
}

static lode_status read_point(struct tree_reader *self, lode_context *node, const uint8_t *bytes,
                              uint64_t offset)
{
    uint64_t pointer = get_u64be(bytes);
    uint32_t index = lode_metadb_index(&self->reader->binaries, pointer);
    if (index == LODE_NO_INDEX)
        return bad_pointer(self, offset, pointer, "binary");
    node->module = &self->reader->db->base.modules[index];
    node->offset = get_u64be(bytes + sizeof pointer);
    node->flags |= HPCT_CONTEXT_POINT;
    return LODE_OK;
}

static unsigned lexical_size(unsigned flags)
{
    return (unsigned)DRAFTS_MetaLexical_SIZE + ((flags & METADB_HAS_FUNCTION) ? METADB_FUNCTION_SIZE : 0) +
           ((flags & METADB_HAS_LINE) ? METADB_LINE_SIZE : 0) +
           ((flags & METADB_HAS_POINT) ? METADB_POINT_SIZE : 0);
}

static lode_status read_lexical(struct tree_reader *self, lode_context *node, const uint8_t *bytes,
                                unsigned size, uint64_t offset)
{
    struct drafts_MetaLexical lexical = {0};
    if (size >= DRAFTS_MetaLexical_SIZE)
        lode_drafts_read_MetaLexical(&lexical, bytes);
    if (size < lexical_size(lexical.lex_flags))
        return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_SIZE, offset,
                                   "a lexical specification has %u bytes, and needs %u", size,
                                   lexical_size(lexical.lex_flags));
    node->lexical = lexical.lex_type;
    unsigned at = DRAFTS_MetaLexical_SIZE;
    if (lexical.lex_flags & METADB_HAS_FUNCTION) {
        LODE_TRY(read_function(self, node, bytes + at, offset + at));
        at += METADB_FUNCTION_SIZE;
    }
    if (lexical.lex_flags & METADB_HAS_LINE) {
        LODE_TRY(read_line(self, node, bytes + at, offset + at));
        at += METADB_LINE_SIZE;
    }
    if (lexical.lex_flags & METADB_HAS_POINT)
        LODE_TRY(read_point(self, node, bytes + at, offset + at));
    if (lexical.lex_type <= LODE_LEXICAL_INSTRUCTION)
        return LODE_OK;
    return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_ENUM, offset, "a lexical type is %u",
                               lexical.lex_type);
}

static lode_status read_callee(struct tree_reader *self, lode_context *node, const uint8_t *bytes,
                               unsigned size, uint64_t offset)
{
    struct drafts_MetaCallee callee;
    node->relation = LODE_RELATION_LEXICAL;
    if (size == 0)
        return LODE_OK;
    node->relation = LODE_RELATION_CALL;
    if (size < DRAFTS_MetaCallee_SIZE)
        return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_SIZE, offset,
                                   "a callee specification has %u bytes, and needs %d", size,
                                   DRAFTS_MetaCallee_SIZE);
    lode_drafts_read_MetaCallee(&callee, bytes);
    if (callee.call_type == METADB_INLINED)
        node->relation = LODE_RELATION_INLINED;
    if (callee.call_flags & METADB_CALLER_LINE && self->callers++ == 0)
        self->callers_first = offset;
    if (callee.call_type <= METADB_INLINED)
        return LODE_OK;
    return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_ENUM, offset, "a call type is %u",
                               callee.call_type);
}

/* ---- the tree ---- */

/* The array is large enough: nodes do not overlap, and fill the section at most. */
static lode_context *add_node(struct tree_reader *self, uint32_t id, uint32_t parent)
{
    struct lode_context_tree *tree = &self->reader->db->base.tree;
    lode_context *node = &tree->nodes[tree->count];
    node->id = id;
    node->index = tree->count++;
    node->parent = parent;
    node->depth = tree->nodes[parent].depth + 1;
    node->subtree_size = 1;
    return node;
}

/* The next node of the innermost siblings, and its size; 0 after an error. */
static lode_status take_node(struct tree_reader *self, struct siblings *siblings,
                             struct drafts_MetaNode *wire, uint64_t *size)
{
    uint64_t available = siblings->rest.size;
    *size = DRAFTS_MetaNode_SIZE;
    if (available >= *size) {
        lode_drafts_read_MetaNode(wire, siblings->rest.data);
        *size += (uint64_t)wire->callee_size + wire->lexical_size;
    }
    uint64_t needed = *size, offset = siblings->offset;
    if (needed <= available && mark_visited(self, offset, needed)) {
        siblings->rest = (struct lode_range){siblings->rest.data + needed, available - needed};
        siblings->offset += needed;
        return LODE_OK;
    }
    *size = 0;
    siblings->rest.size = 0;
    if (needed > available)
        return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_BOUNDS, offset,
                                   "a context needs %" PRIu64 " bytes, its siblings have %" PRIu64 " left",
                                   needed, available);
    return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_SHARED, offset,
                               "a context is reached more than once");
}

static lode_status read_node(struct tree_reader *self)
{
    struct siblings *siblings = LODE_ARRAY_AT(&self->stack, struct siblings, self->stack.count - 1);
    const uint8_t *bytes = siblings->rest.data;
    uint64_t offset = siblings->offset, size;
    struct drafts_MetaNode wire = {0};
    LODE_TRY(take_node(self, siblings, &wire, &size));
    if (size == 0)
        return LODE_OK;
    lode_context *node = add_node(self, wire.ctx_id, siblings->parent);
    uint64_t callee = DRAFTS_MetaNode_SIZE, lexical = callee + wire.callee_size;
    LODE_TRY(read_callee(self, node, bytes + callee, wire.callee_size, offset + callee));
    LODE_TRY(read_lexical(self, node, bytes + lexical, wire.lexical_size, offset + lexical));
    if (wire.ctx_id == 0)
        LODE_TRY(lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_ID, offset,
                                     "a context has the id 0, which is the global context's"));
    return push_children(self, wire.block_ptr, wire.block_size, offset, node->index);
}

static lode_status read_nodes(struct tree_reader *self)
{
    struct lode_context_tree *tree = &self->reader->db->base.tree;
    while (self->stack.count > 0) {
        struct siblings *siblings = LODE_ARRAY_AT(&self->stack, struct siblings, self->stack.count - 1);
        if (siblings->rest.size > 0) {
            LODE_TRY(read_node(self));
            continue;
        }
        tree->nodes[siblings->parent].subtree_size = tree->count - siblings->parent;
        lode_array_pop(&self->stack);
    }
    return LODE_OK;
}

static lode_status on_duplicate(void *user, const lode_context *context)
{
    const struct tree_reader *self = user;
    /* Id 0 is already reported. */
    if (context->id == 0)
        return LODE_OK;
    return lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_ID, LODE_NO_OFFSET,
                               "two contexts have the id %" PRIu32, context->id);
}

static lode_status read_tree(struct tree_reader *self)
{
    struct lode_database *base = &self->reader->db->base;
    struct lode_context_tree *tree = &base->tree;
    const struct metadb_part *part = self->part;
    tree->nodes[0] = (lode_context){.lexical = LODE_LEXICAL_GLOBAL, .subtree_size = 1};
    tree->count = 1;
    if (part->bytes.size >= METADB_ROOTS_SIZE)
        LODE_TRY(push_children(self, part->offset + METADB_ROOTS_SIZE, get_u64be(part->bytes.data),
                               part->offset, 0));
    LODE_TRY(read_nodes(self));
    if (self->callers > 0)
        LODE_TRY(lode_metadb_finding(self->reader, DRAFTS_RULE_METADB_CALLER, self->callers_first,
                                     "%s the line of the caller",
                                     LODE_COUNTED(self->callers, "call has", "calls have")));
    lode_drafts_propagation(tree);
    self->reader->db->idle_id = lode_drafts_entries(tree);
    lode_drafts_trim_functions(base);
    return lode_context_tree_index_ids(tree, on_duplicate, self, self->reader->report->error);
}

lode_status lode_metadb_load_contexts(struct metadb_reader *reader)
{
    struct tree_reader self = {.reader = reader, .part = &reader->parts[METADB_TREE]};
    struct lode_context_tree *tree = &reader->db->base.tree;
    uint64_t size = self.part->bytes.size, most = 1 + size / DRAFTS_MetaNode_SIZE;
    if (most >= LODE_NO_INDEX)
        return lode_fail(reader->report->error, LODE_ERR_LIMIT, reader->db->meta->file, self.part->offset,
                         "a context tree of %" PRIu64 " bytes has more contexts than ids", size);
    lode_array_init(&self.stack, sizeof(struct siblings), (size_t)most);
    self.visited = calloc((size_t)(size / 64 + 1), sizeof *self.visited);
    tree->nodes = calloc((size_t)most, sizeof *tree->nodes);
    lode_status status =
        self.visited && tree->nodes ? read_tree(&self) : lode_fail_memory(reader->report->error);
    free(self.visited);
    lode_array_free(&self.stack);
    return status;
}
