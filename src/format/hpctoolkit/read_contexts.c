/* SPDX-License-Identifier: BSD-3-Clause */
/* meta.db: the context tree, from nested arrays in the file to one array in depth-first order. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/memory/array.h"
#include "base/text/count.h"
#include "format/hpctoolkit/read.h"
#include <inttypes.h>
#include <stdlib.h>

/* An array of sibling contexts that is being read. */
struct siblings {
    struct lode_range rest; /* not read yet */
    uint64_t offset;        /* of the rest, in the file */
    uint32_t parent;        /* index */
};

struct tree_reader {
    struct hpct_database *db;
    struct lode_report *report;
    const struct hpct_section *section;
    struct lode_array stack; /* of struct siblings: from the entry point to the current one */
    uint64_t *visited;       /* a bit per 8 bytes of the section: read as part of a context */
    uint32_t capacity;       /* of the nodes */
    uint64_t stale, stale_first;
};

static const char *meta_name(void)
{
    return lode_hpct_specs[HPCT_META].name;
}

/* Marks the bytes of a record as read; false if any of them are already. */
static bool mark_visited(struct tree_reader *reader, uint64_t offset, uint64_t size)
{
    return lode_hpct_mark(reader->visited, (offset - reader->section->offset) / 8, size / 8);
}

static lode_status push_children(struct tree_reader *reader, uint64_t size, uint64_t pointer, uint64_t offset,
                                 uint32_t parent)
{
    if (size == 0) {
        if (pointer != 0 && reader->stale++ == 0)
            reader->stale_first = offset;
        return LODE_OK;
    }
    const struct hpct_section *section = reader->section;
    struct lode_range bytes;
    if (pointer % 8 != 0 || pointer < section->offset ||
        !lode_range_part(section->bytes, pointer - section->offset, size, &bytes))
        return lode_report_add(reader->report, RULE_CONTEXT_BOUNDS, meta_name(), offset,
                               "children: %" PRIu64 " bytes at 0x%" PRIx64
                               " are not inside their section (%" PRIu64 " bytes at 0x%" PRIx64
                               "), or not aligned",
                               size, pointer, section->bytes.size, section->offset);
    struct siblings *siblings = lode_array_push(&reader->stack);
    LODE_TRY_ALLOC(siblings, reader->report->error);
    *siblings = (struct siblings){.rest = bytes, .offset = pointer, .parent = parent};
    return LODE_OK;
}

static lode_context *add_node(struct tree_reader *reader, uint32_t id, uint32_t parent)
{
    struct lode_context_tree *tree = &reader->db->base.tree;
    if (tree->count == reader->capacity)
        return NULL; /* impossible: records do not overlap, and fill the section at most */
    lode_context *node = &tree->nodes[tree->count];
    node->id = id;
    node->index = tree->count++;
    node->parent = parent;
    node->depth = tree->nodes[parent].depth + 1;
    node->subtree_size = 1;
    return node;
}

static lode_status note_enum(struct tree_reader *reader, bool known, uint64_t offset, const char *what,
                             unsigned value)
{
    if (known)
        return LODE_OK;
    return lode_report_add(reader->report, RULE_ENUM_UNKNOWN, meta_name(), offset, "a context's %s is %u",
                           what, value);
}

static lode_status bad_pointer(struct tree_reader *reader, uint64_t offset, const char *what,
                               uint64_t pointer)
{
    return lode_report_add(reader->report, RULE_RECORD_POINTER, meta_name(), offset,
                           "a context's %s pointer 0x%" PRIx64 " is not one", what, pointer);
}

/* The words after a context that its flags announce, in this order. All are inside the section. */
static lode_status read_flex(struct tree_reader *reader, lode_context *node, const uint8_t *words,
                             uint64_t offset)
{
    struct hpct_database *db = reader->db;
    unsigned at = 0;
    if (node->flags & HPCT_CONTEXT_FUNCTION) {
        uint64_t pointer = get_u64le(words);
        uint32_t index = lode_hpct_record_index(&db->functions, pointer);
        if (index == LODE_NO_INDEX)
            LODE_TRY(bad_pointer(reader, offset, "function", pointer));
        else
            node->function = &db->base.functions[index];
        at = 8;
    }
    if (node->flags & HPCT_CONTEXT_SOURCE) {
        uint64_t pointer = get_u64le(words + at);
        uint32_t index = lode_hpct_record_index(&db->source_files, pointer);
        if (index == LODE_NO_INDEX)
            LODE_TRY(bad_pointer(reader, offset + at, "source file", pointer));
        else
            node->file = &db->base.files[index];
        node->line = get_u32le(words + at + 8);
        at += 16;
    }
    if (node->flags & HPCT_CONTEXT_POINT) {
        uint64_t pointer = get_u64le(words + at);
        uint32_t index = lode_hpct_record_index(&db->modules, pointer);
        if (index == LODE_NO_INDEX)
            LODE_TRY(bad_pointer(reader, offset + at, "module", pointer));
        else
            node->module = &db->base.modules[index];
        node->offset = get_u64le(words + at + 8);
    }
    return LODE_OK;
}

static unsigned flex_words_needed(unsigned flags)
{
    return ((flags & HPCT_CONTEXT_FUNCTION) ? 1 : 0) + ((flags & HPCT_CONTEXT_SOURCE) ? 2 : 0) +
           ((flags & HPCT_CONTEXT_POINT) ? 2 : 0);
}

static lode_status decode_context(struct tree_reader *reader, lode_context *node,
                                  const struct wire_Context *wire, const uint8_t *bytes, uint64_t offset)
{
    node->flags = wire->flags;
    node->relation = wire->relation;
    node->lexical = wire->lexicalType;
    node->propagation = wire->propagation;
    if (wire->nFlexWords < flex_words_needed(wire->flags)) {
        LODE_TRY(lode_report_add(reader->report, RULE_CONTEXT_FLEX, meta_name(),
                                 offset + WIRE_Context_nFlexWords,
                                 "context %" PRIu32 " has %u words; its flags 0x%x need %u", wire->ctxId,
                                 wire->nFlexWords, wire->flags, flex_words_needed(wire->flags)));
        node->flags = 0;
    }
    unsigned size = reader->db->layout->context_size;
    LODE_TRY(read_flex(reader, node, bytes + size, offset + size));
    LODE_TRY(note_enum(reader, lode_relation_name(wire->relation), offset + WIRE_Context_relation, "relation",
                       wire->relation));
    LODE_TRY(note_enum(reader, wire->lexicalType <= LODE_LEXICAL_INSTRUCTION,
                       offset + WIRE_Context_lexicalType, "lexical type", wire->lexicalType));
    unsigned known = HPCT_CONTEXT_FUNCTION | HPCT_CONTEXT_SOURCE | HPCT_CONTEXT_POINT;
    if (wire->flags & ~known)
        LODE_TRY(lode_report_add(reader->report, RULE_FLAGS_UNKNOWN, meta_name(), offset + WIRE_Context_flags,
                                 "a context's flags are 0x%x", wire->flags));
    return LODE_OK;
}

static lode_status check_id(struct tree_reader *reader, uint32_t id, uint64_t offset)
{
    if (id != 0)
        return LODE_OK;
    return lode_report_add(reader->report, RULE_CONTEXT_ID, meta_name(), offset,
                           "a context has the id 0, which is the global context's");
}

/* Reads the next context of the innermost siblings; skips the rest after an error. */
static lode_status read_context(struct tree_reader *reader)
{
    struct siblings *siblings = LODE_ARRAY_AT(&reader->stack, struct siblings, reader->stack.count - 1);
    const uint8_t *bytes = siblings->rest.data;
    uint64_t offset = siblings->offset, available = siblings->rest.size;
    uint64_t size = reader->db->layout->context_size;
    struct wire_Context wire;
    if (available >= size) {
        lode_wire_read_Context(&wire, bytes, size);
        size += (uint64_t)wire.nFlexWords * 8;
    }
    if (available < size) {
        siblings->rest.size = 0;
        return lode_report_add(
            reader->report, RULE_CONTEXT_SIZE, meta_name(), offset,
            "a context needs %" PRIu64 " bytes, its array of siblings has %" PRIu64 " left", size, available);
    }
    if (!mark_visited(reader, offset, size)) {
        siblings->rest.size = 0;
        return lode_report_add(reader->report, RULE_CONTEXT_SHARED, meta_name(), offset,
                               "context %" PRIu32 " is reached more than once", wire.ctxId);
    }
    siblings->rest = (struct lode_range){bytes + size, available - size};
    siblings->offset += size;
    lode_context *node = add_node(reader, wire.ctxId, siblings->parent);
    LODE_TRY_ALLOC(node, reader->report->error);
    LODE_TRY(decode_context(reader, node, &wire, bytes, offset));
    LODE_TRY(check_id(reader, wire.ctxId, offset + WIRE_Context_ctxId));
    return push_children(reader, wire.szChildren, wire.pChildren, offset, node->index);
}

static lode_status read_subtree(struct tree_reader *reader)
{
    struct lode_context_tree *tree = &reader->db->base.tree;
    while (reader->stack.count > 0) {
        struct siblings *siblings = LODE_ARRAY_AT(&reader->stack, struct siblings, reader->stack.count - 1);
        if (siblings->rest.size > 0) {
            LODE_TRY(read_context(reader));
            continue;
        }
        tree->nodes[siblings->parent].subtree_size = tree->count - siblings->parent;
        lode_array_pop(&reader->stack);
    }
    return LODE_OK;
}

static lode_status read_entry(struct tree_reader *reader, uint32_t index)
{
    struct hpct_database *db = reader->db;
    uint64_t offset = db->entries.offset + index * db->entries.stride;
    struct wire_EntryPoint wire;
    lode_wire_read_EntryPoint(&wire, hpct_record(&db->entries, index), db->entries.stride);
    if (!mark_visited(reader, offset, WIRE_EntryPoint_SIZE))
        return lode_report_add(reader->report, RULE_CONTEXT_SHARED, meta_name(), offset,
                               "entry point %" PRIu32 " lies inside the children of another", index);
    lode_context *node = add_node(reader, wire.ctxId, 0);
    LODE_TRY_ALLOC(node, reader->report->error);
    node->lexical = LODE_LEXICAL_ENTRY;
    node->relation = LODE_RELATION_CALL;
    node->entry = wire.entryPoint;
    LODE_TRY(lode_hpct_string(db, META_STRINGS, wire.pPrettyName, "the name of an entry point",
                              &node->entry_name, reader->report));
    LODE_TRY(check_id(reader, wire.ctxId, offset + WIRE_EntryPoint_ctxId));
    LODE_TRY(note_enum(reader, lode_entry_name(wire.entryPoint), offset + WIRE_EntryPoint_entryPoint,
                       "entry point", wire.entryPoint));
    LODE_TRY(push_children(reader, wire.szChildren, wire.pChildren, offset, node->index));
    return read_subtree(reader);
}

static lode_status on_duplicate(void *user, const lode_context *context)
{
    struct tree_reader *reader = user;
    /* Id 0 is already reported. */
    if (context->id == 0)
        return LODE_OK;
    return lode_report_add(reader->report, RULE_CONTEXT_ID, meta_name(), LODE_NO_OFFSET,
                           "two contexts have the id %" PRIu32, context->id);
}

static lode_status read_tree(struct tree_reader *reader)
{
    struct hpct_database *db = reader->db;
    struct lode_context_tree *tree = &db->base.tree;
    tree->nodes[0] = (lode_context){.lexical = LODE_LEXICAL_GLOBAL, .subtree_size = 1};
    tree->count = 1;
    for (uint32_t i = 0; i < db->entries.count; i++)
        LODE_TRY(read_entry(reader, i));
    LODE_TRY(push_children(reader, db->roots_size, db->roots_pointer, reader->section->offset, 0));
    LODE_TRY(read_subtree(reader));
    tree->nodes[0].subtree_size = tree->count;
    if (reader->stale > 0)
        LODE_TRY(lode_report_add(reader->report, RULE_CHILDREN_STALE, meta_name(), reader->stale_first,
                                 "%s to some",
                                 LODE_COUNTED(reader->stale, "context without children refers",
                                              "contexts without children refer")));
    if (db->layout->arrange)
        db->layout->arrange(db);
    return lode_context_tree_index_ids(tree, on_duplicate, reader, reader->report->error);
}

lode_status lode_hpct_load_contexts(struct hpct_database *db, struct lode_report *report)
{
    struct tree_reader reader = {
        .db = db, .report = report, .section = &db->files[HPCT_META].sections[META_CONTEXT]};
    uint64_t size = reader.section->bytes.size;
    /* Records do not overlap, so the section bounds their number; untouched pages cost nothing. */
    uint64_t most = 1 + size / db->layout->context_size;
    if (most >= LODE_NO_INDEX)
        return lode_fail(report->error, LODE_ERR_LIMIT, meta_name(), reader.section->offset,
                         "a context tree of %" PRIu64 " bytes has more contexts than ids", size);
    reader.capacity = (uint32_t)most;
    lode_array_init(&reader.stack, sizeof(struct siblings), (size_t)most);
    reader.visited = calloc((size_t)(size / 512 + 2), sizeof *reader.visited);
    db->base.tree.nodes = calloc((size_t)most, sizeof *db->base.tree.nodes);
    lode_status status =
        reader.visited && db->base.tree.nodes ? read_tree(&reader) : lode_fail_memory(report->error);
    free(reader.visited);
    lode_array_free(&reader.stack);
    return status;
}
