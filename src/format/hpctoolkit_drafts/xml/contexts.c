/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * experiment.xml: the context tree. PF is a procedure, C a call site, S a statement, L a loop. An
 * element with a negative id is no context, but represents the one with the positive id: it is
 * between that one and its children, or encloses it, and then locates an inlined call.
 */
#include "base/error.h"
#include "format/hpctoolkit_drafts/xml/xml.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_ACTIVITY       "<no activity>"
#define UNKNOWN_PROCEDURE "<unknown procedure>"

static struct xml_context *context_at(const struct xml_reader *reader, uint32_t index)
{
    return LODE_ARRAY_AT(&reader->contexts, struct xml_context, index);
}

/* The id of an element; 0 after a finding. */
static lode_status read_id(struct xml_reader *reader, const struct xml_element *element, int64_t *id)
{
    uint64_t findings = reader->report->result.errors;
    LODE_TRY(lode_xml_integer(reader, element, "i", -(int64_t)UINT32_MAX, UINT32_MAX, 0, id));
    if (*id != 0 || reader->report->result.errors != findings)
        return LODE_OK;
    return lode_xml_finding(reader, DRAFTS_RULE_XML_NUMBER, element, "a context has no id, or the id 0");
}

/* The source location of an element, by default that of the enclosing one. */
static lode_status read_place(struct xml_reader *reader, const struct xml_element *element, uint32_t *file,
                              uint32_t *line)
{
    const struct xml_entry *entry;
    int64_t number;
    LODE_TRY(lode_xml_refer(reader, element, "f", &reader->files, &entry));
    LODE_TRY(lode_xml_integer(reader, element, "l", 0, UINT32_MAX, 0, &number));
    if (entry)
        *file = entry->index;
    *line = (uint32_t)number;
    return LODE_OK;
}

static lode_status add_context(struct xml_reader *reader, struct xml_frame *frame,
                               const struct xml_context *context)
{
    void *slot;
    LODE_TRY(lode_xml_push(reader, &reader->contexts, &slot));
    struct xml_context *added = slot;
    *added = *context;
    added->parent = frame->context;
    added->depth = context_at(reader, frame->context)->depth + 1;
    /* Only entry points are children of the global context. */
    if (added->parent == 0 && added->lexical != LODE_LEXICAL_ENTRY) {
        added->lexical = LODE_LEXICAL_ENTRY;
        added->relation = LODE_RELATION_CALL;
        added->entry = LODE_ENTRY_UNKNOWN;
        added->entry_name = "unknown entry";
        added->function = added->file = added->module = LODE_NO_INDEX;
    }
    frame->context = (uint32_t)reader->contexts.count - 1;
    frame->wrapped = 0;
    return LODE_OK;
}

/* ---- procedures ---- */

static lode_status find_function(struct xml_reader *reader, const struct xml_function *function,
                                 uint32_t *index)
{
    *index = lode_interner_add(&reader->functions, function, NULL);
    return *index == LODE_NO_NUMBER ? lode_fail_memory(reader->report->error) : LODE_OK;
}

static lode_status add_entry_point(struct xml_reader *reader, uint32_t id, const struct xml_entry *procedure,
                                   struct xml_frame *frame)
{
    static const struct {
        const char *name, *shown;
        uint16_t entry;
    } known[] = {{"<program root>", "main thread", LODE_ENTRY_MAIN_THREAD},
                 {"<thread root>", "application thread", LODE_ENTRY_APPLICATION_THREAD},
                 {"<partial call paths>", "unknown entry", LODE_ENTRY_UNKNOWN}};
    struct xml_context context = {.id = id,
                                  .function = LODE_NO_INDEX,
                                  .file = LODE_NO_INDEX,
                                  .module = LODE_NO_INDEX,
                                  .lexical = LODE_LEXICAL_ENTRY,
                                  .relation = LODE_RELATION_CALL,
                                  .entry = LODE_ENTRY_UNKNOWN,
                                  .entry_name = procedure ? procedure->name : "unknown entry"};
    for (size_t i = 0; procedure && i < sizeof known / sizeof *known; i++) {
        if (strcmp(procedure->name, known[i].name) == 0) {
            context.entry = known[i].entry;
            context.entry_name = known[i].shown;
        }
    }
    return add_context(reader, frame, &context);
}

/* The attributes of a procedure's element. */
struct procedure {
    const struct xml_entry *entry;
    uint32_t module, file, line;
    bool placed; /* it has an address; others represent a single instruction, or nothing */
};

static lode_status read_procedure(struct xml_reader *reader, const struct xml_element *element,
                                  struct procedure *out)
{
    const struct xml_entry *module;
    *out = (struct procedure){.module = LODE_NO_INDEX, .file = LODE_NO_INDEX};
    LODE_TRY(lode_xml_refer(reader, element, lode_xml_attribute(element, "n") ? "n" : "s",
                            &reader->procedures, &out->entry));
    LODE_TRY(lode_xml_refer(reader, element, "lm", &reader->modules, &module));
    LODE_TRY(read_place(reader, element, &out->file, &out->line));
    out->module = module ? module->index : LODE_NO_INDEX;
    out->placed = lode_xml_attribute(element, "v") != NULL;
    return LODE_OK;
}

static lode_status describe_procedure(struct xml_reader *reader, const struct procedure *procedure,
                                      struct xml_context *context)
{
    const struct xml_entry *entry = procedure->entry;
    if (entry == NULL || (entry->address == 0 && strcmp(entry->name, UNKNOWN_PROCEDURE) == 0))
        return LODE_OK;
    if (!procedure->placed && entry->address != 0 && procedure->module != LODE_NO_INDEX) {
        context->lexical = LODE_LEXICAL_INSTRUCTION;
        context->module = procedure->module;
        context->offset = entry->address;
        return LODE_OK;
    }
    struct xml_function function = {.procedure = entry->index,
                                    .module = procedure->module,
                                    .file = procedure->file,
                                    .line = procedure->file == LODE_NO_INDEX ? 0 : procedure->line};
    return find_function(reader, &function, &context->function);
}

lode_status lode_xml_procedure_frame(struct xml_reader *reader, const struct xml_element *element,
                                     struct xml_frame *frame)
{
    struct procedure procedure;
    int64_t id;
    LODE_TRY(read_id(reader, element, &id));
    LODE_TRY(read_procedure(reader, element, &procedure));
    if (id == 0)
        return LODE_OK;
    uint32_t number = (uint32_t)(id < 0 ? -id : id);
    if (frame->context == 0) {
        frame->file = frame->module = LODE_NO_INDEX;
        frame->ignored = procedure.entry && strcmp(procedure.entry->name, NO_ACTIVITY) == 0;
        if (!frame->ignored)
            return add_entry_point(reader, number, procedure.entry, frame);
        reader->db->idle_id = number;
        return LODE_OK;
    }
    bool inlined = frame->wrapped == number;
    struct xml_context context = {.id = number,
                                  .function = LODE_NO_INDEX,
                                  .file = inlined ? frame->file : LODE_NO_INDEX,
                                  .line = inlined ? frame->line : 0,
                                  .module = LODE_NO_INDEX,
                                  .lexical = LODE_LEXICAL_FUNCTION,
                                  .relation = inlined ? LODE_RELATION_INLINED : LODE_RELATION_CALL};
    LODE_TRY(describe_procedure(reader, &procedure, &context));
    frame->file = procedure.file;
    frame->module = procedure.module;
    return add_context(reader, frame, &context);
}

/* ---- content of procedures ---- */

/* An element that represents another context. */
static lode_status wrap(struct xml_reader *reader, const struct xml_element *element, uint32_t id,
                        struct xml_frame *frame)
{
    if (context_at(reader, frame->context)->id == id && frame->context != 0)
        return LODE_OK;
    frame->wrapped = id;
    return read_place(reader, element, &frame->file, &frame->line);
}

/* A loop; a line without an address; an instruction without a file; else what the element is. */
static lode_status add_place(struct xml_reader *reader, const struct xml_element *element, uint8_t lexical,
                             struct xml_frame *frame)
{
    int64_t id;
    LODE_TRY(read_id(reader, element, &id));
    if (id < 0)
        return wrap(reader, element, (uint32_t)-id, frame);
    struct xml_context context = {.id = (uint32_t)id,
                                  .function = LODE_NO_INDEX,
                                  .file = frame->file,
                                  .module = LODE_NO_INDEX,
                                  .lexical = lexical,
                                  .relation = LODE_RELATION_LEXICAL};
    uint64_t address;
    LODE_TRY(read_place(reader, element, &context.file, &context.line));
    LODE_TRY(lode_xml_unsigned(reader, element, "v", &address));
    if (id == 0)
        return LODE_OK;
    bool has_address = address != 0 && frame->module != LODE_NO_INDEX;
    if (has_address) {
        context.module = frame->module;
        context.offset = address;
    }
    if (lexical == LODE_LEXICAL_LOOP)
        frame->file = context.file;
    else if (!has_address)
        context.lexical = LODE_LEXICAL_LINE;
    else if (context.file == LODE_NO_INDEX)
        context.lexical = LODE_LEXICAL_INSTRUCTION;
    return add_context(reader, frame, &context);
}

lode_status lode_xml_call(struct xml_reader *reader, const struct xml_element *element,
                          struct xml_frame *frame)
{
    return add_place(reader, element, LODE_LEXICAL_LINE, frame);
}

lode_status lode_xml_statement(struct xml_reader *reader, const struct xml_element *element,
                               struct xml_frame *frame)
{
    return add_place(reader, element, LODE_LEXICAL_INSTRUCTION, frame);
}

lode_status lode_xml_loop(struct xml_reader *reader, const struct xml_element *element,
                          struct xml_frame *frame)
{
    return add_place(reader, element, LODE_LEXICAL_LOOP, frame);
}

/* ---- conversion to the model ---- */

static lode_status place_functions(struct xml_reader *reader)
{
    struct lode_database *db = &reader->db->base;
    size_t count = reader->functions.items.count;
    db->functions = lode_arena_alloc(&db->arena, count, sizeof *db->functions);
    LODE_TRY_ALLOC(db->functions, reader->report->error);
    for (size_t i = 0; i < count; i++) {
        const struct xml_function *function = LODE_ARRAY_AT(&reader->functions.items, struct xml_function, i);
        const struct xml_entry *procedure =
            LODE_ARRAY_AT(&reader->procedures.entries, struct xml_entry, function->procedure);
        db->functions[i] = (struct lode_function){
            .index = (uint32_t)i,
            .line = function->line,
            .name = procedure->name,
            .module = function->module == LODE_NO_INDEX ? NULL : &db->modules[function->module],
            .offset = procedure->address,
            .file = function->file == LODE_NO_INDEX ? NULL : &db->files[function->file]};
    }
    db->function_count = (uint32_t)count;
    return lode_identify_functions(db->functions, db->function_count, reader->report->error);
}

static lode_context context_of(const struct lode_database *db, const struct xml_context *from, uint32_t index)
{
    lode_context to = {.id = from->id,
                       .index = index,
                       .parent = from->parent,
                       .subtree_size = 1,
                       .depth = from->depth,
                       .lexical = from->lexical,
                       .propagation = from->relation == LODE_RELATION_LEXICAL && index != 0,
                       .entry = from->entry,
                       .relation = from->relation};
    if (from->lexical == LODE_LEXICAL_ENTRY) {
        to.entry_name = from->entry_name;
        return to;
    }
    if (from->function != LODE_NO_INDEX) {
        to.flags |= HPCT_CONTEXT_FUNCTION;
        to.function = &db->functions[from->function];
    }
    if (from->file != LODE_NO_INDEX) {
        to.flags |= HPCT_CONTEXT_SOURCE;
        to.file = &db->files[from->file];
        to.line = from->line;
    }
    if (from->module != LODE_NO_INDEX) {
        to.flags |= HPCT_CONTEXT_POINT;
        to.module = &db->modules[from->module];
        to.offset = from->offset;
    }
    return to;
}

static lode_status on_duplicate(void *user, const lode_context *context)
{
    struct xml_reader *reader = user;
    return lode_report_add(reader->report, DRAFTS_RULE_XML_DUPLICATE, reader->db->meta->file, LODE_NO_OFFSET,
                           "two contexts have the id %" PRIu32, context->id);
}

lode_status lode_xml_finish_contexts(struct xml_reader *reader)
{
    struct lode_database *db = &reader->db->base;
    size_t count = reader->contexts.count;
    LODE_TRY(place_functions(reader));
    db->tree.nodes = calloc(count, sizeof *db->tree.nodes);
    LODE_TRY_ALLOC(db->tree.nodes, reader->report->error);
    for (size_t i = 0; i < count; i++)
        db->tree.nodes[i] = context_of(db, context_at(reader, (uint32_t)i), (uint32_t)i);
    /* Children follow their parents. */
    for (size_t i = count - 1; i > 0; i--)
        db->tree.nodes[db->tree.nodes[i].parent].subtree_size += db->tree.nodes[i].subtree_size;
    db->tree.count = (uint32_t)count;
    return lode_context_tree_index_ids(&db->tree, on_duplicate, reader, reader->report->error);
}
