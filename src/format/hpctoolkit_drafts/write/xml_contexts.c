/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes procedures and contexts of experiment.xml. A function is a PF, a loop an L, a line or an
 * instruction a C if it has children and an S if not. A called instruction is a PF with a procedure
 * of its own. A C with a negative id encloses each call that does not come from a line: its number
 * is the id of the caller or, around an inlined function, that of the function itself.
 */
#include "format/hpctoolkit_drafts/recover.h"
#include "format/hpctoolkit_drafts/write/xml.h"
#include <inttypes.h>
#include <string.h>

/* An open element, with the C around it. */
struct open_element {
    const char *name; /* NULL: it is already closed */
    bool wrapped;
    uint32_t procedure;        /* that its content belongs to */
    const lode_module *module; /* of that procedure: addresses of lines and loops are in it */
};

/* ---- procedures ---- */

static bool is_called_instruction(const lode_context *node)
{
    return node->lexical == LODE_LEXICAL_INSTRUCTION && node->relation != LODE_RELATION_LEXICAL &&
           node->module && node->offset != 0;
}

static uint32_t procedure_of(const struct xml_writer *self, const lode_context *node)
{
    const lode_function *function = lode_context_function(node);
    if (function)
        return XML_FIRST_FUNCTION + function->index;
    return self->procedure_of[node->index];
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_procedure(struct xml_writer *self, uint32_t id, const char *name, uint64_t offset,
                          bool placeholder)
{
    lode_xml_put(self, "<Procedure i=\"%" PRIu32 "\" n=\"", id);
    lode_xml_put_text(self, name);
    lode_xml_put(self, offset ? "\" v=\"0x%" PRIx64 "\"" : "\" v=\"%" PRIx64 "\"", offset);
    lode_xml_put(self, placeholder ? " f=\"1\"/>\n" : "/>\n");
}

/* A procedure without a name, but with a location. */
static void put_nameless(struct xml_writer *self, uint32_t id, const lode_module *module, uint64_t offset)
{
    lode_xml_put(self, "<Procedure i=\"%" PRIu32 "\" n=\"&lt;unknown procedure&gt; 0x%" PRIx64 " [", id,
                 offset);
    lode_xml_put_text(self, module ? last_part(module->path) : "");
    lode_xml_put(self, "]\" v=\"0x%" PRIx64 "\" f=\"1\"/>\n", offset);
}

/* Entry points with a name of their own and called instructions have procedures of their own. */
static void put_own_procedure(struct xml_writer *self, const lode_context *node)
{
    uint32_t *own = &self->procedure_of[node->index];
    if (node->lexical == LODE_LEXICAL_ENTRY) {
        const char *name = lode_drafts_entry_function(node->entry, node->entry_name);
        if (node->entry <= LODE_ENTRY_APPLICATION_THREAD &&
            name == lode_drafts_entry_function(node->entry, NULL)) {
            *own = XML_FIRST_ENTRY + node->entry;
            return;
        }
        *own = self->procedures++;
        put_procedure(self, *own, name, 0, true);
    } else if (is_called_instruction(node)) {
        struct xml_instruction instruction = {node->offset, node->module->index};
        uint32_t known = (uint32_t)self->instructions.items.count, first = self->procedures - known;
        uint32_t number = lode_xml_number(self, &self->instructions, &instruction);
        *own = first + number;
        if (number < known)
            return;
        self->procedures++;
        put_nameless(self, *own, node->module, node->offset);
    }
}

void lode_xml_put_procedures(struct xml_writer *self)
{
    const struct lode_description *about = self->about;
    lode_xml_put(self, "<ProcedureTable>\n");
    put_procedure(self, XML_UNKNOWN_PROCEDURE, XML_UNKNOWN_PROCEDURE_NAME, 0, true);
    put_procedure(self, XML_NO_ACTIVITY, DRAFTS_NO_ACTIVITY, 0, true);
    for (unsigned kind = 0; kind <= LODE_ENTRY_APPLICATION_THREAD; kind++)
        put_procedure(self, XML_FIRST_ENTRY + kind, lode_drafts_entry_function(kind, NULL), 0, true);
    for (uint32_t i = 0; i < about->function_count; i++) {
        const lode_function *function = &about->functions[i];
        if (function->name)
            put_procedure(self, XML_FIRST_FUNCTION + i, function->name, function->offset, false);
        else
            put_nameless(self, XML_FIRST_FUNCTION + i, function->module, function->offset);
    }
    self->procedures = XML_FIRST_FUNCTION + about->function_count;
    /* Entry points come first: instructions are numbered after them. */
    for (uint32_t i = 1; i < about->tree.count; i += about->tree.nodes[i].subtree_size)
        put_own_procedure(self, &about->tree.nodes[i]);
    for (uint32_t i = 1; i < about->tree.count; i++)
        if (about->tree.nodes[i].lexical != LODE_LEXICAL_ENTRY)
            put_own_procedure(self, &about->tree.nodes[i]);
    lode_xml_put(self, "</ProcedureTable>\n");
}

/* ---- contexts ---- */

static uint32_t file_id(const lode_file *file)
{
    return file ? file->index : XML_UNKNOWN_FILE;
}

static uint32_t module_id(const lode_module *module)
{
    return module ? XML_FIRST_MODULE + module->index : XML_NO_MODULE;
}

/* The module of a function without a name: that of an instruction inside. */
static const lode_module *module_inside(const struct xml_writer *self, const lode_context *node)
{
    const lode_context *nodes = self->about->tree.nodes;
    uint32_t end = node->index + node->subtree_size;
    for (uint32_t i = node->index + 1; i < end;) {
        bool enclosed =
            nodes[i].relation == LODE_RELATION_LEXICAL && nodes[i].lexical != LODE_LEXICAL_FUNCTION;
        if (enclosed && nodes[i].module)
            return nodes[i].module;
        i += enclosed ? 1 : nodes[i].subtree_size;
    }
    return NULL;
}

/* The module of what a PF is; NULL: none. */
static const lode_module *module_of(const struct xml_writer *self, const lode_context *node)
{
    const lode_function *function = lode_context_function(node);
    if (function)
        return function->module;
    if (is_called_instruction(node))
        return node->module;
    return procedure_of(self, node) == XML_UNKNOWN_PROCEDURE ? module_inside(self, node) : NULL;
}

/* The number of a line or a loop of a procedure, the same for all its calls. */
static uint32_t static_scope(struct xml_writer *self, const lode_context *node, uint32_t procedure)
{
    struct xml_static_scope scope = {procedure, file_id(node->file), node->line, node->lexical};
    return self->procedures + lode_xml_number(self, &self->static_scopes, &scope);
}

/* Writes the C around a call; false if there is none. */
static bool put_wrapper(struct xml_writer *self, const lode_context *node)
{
    const lode_context *parent = &self->about->tree.nodes[node->parent];
    bool inlined = node->relation == LODE_RELATION_INLINED;
    bool at_line = parent->lexical == LODE_LEXICAL_LINE || parent->lexical == LODE_LEXICAL_INSTRUCTION;
    if (node->parent == 0 || (at_line && !inlined))
        return false;
    uint32_t id = inlined ? node->id : parent->id;
    lode_xml_put(self,
                 "<C i=\"-%" PRIu32 "\" s=\"%" PRIu32 "\" v=\"0\" f=\"%" PRIu32 "\" l=\"%" PRIu32
                 "\" it=\"%" PRIu32 "\">\n",
                 id, procedure_of(self, parent), inlined ? file_id(node->file) : XML_UNKNOWN_FILE,
                 inlined ? node->line : 0, id);
    return true;
}

static const char *put_function(struct xml_writer *self, const lode_context *node)
{
    const lode_function *function = lode_context_function(node);
    uint32_t procedure = procedure_of(self, node);
    lode_xml_put(self, "<PF i=\"%" PRIu32 "\" s=\"%" PRIu32 "\" n=\"%" PRIu32 "\"", node->id, procedure,
                 procedure);
    lode_xml_put(self, " v=\"0x%" PRIx64 "\" f=\"%" PRIu32 "\" l=\"%" PRIu32 "\" lm=\"%" PRIu32 "\"",
                 function ? function->offset : 0, file_id(function ? function->file : NULL),
                 function ? function->line : 0, module_id(module_of(self, node)));
    return "PF";
}

/* The procedure has no address here; the called instruction has it. */
static const char *put_called_instruction(struct xml_writer *self, const lode_context *node)
{
    uint32_t procedure = procedure_of(self, node);
    lode_xml_put(
        self, "<PF i=\"%" PRIu32 "\" s=\"%" PRIu32 "\" n=\"%" PRIu32 "\" f=\"%d\" l=\"0\" lm=\"%" PRIu32 "\"",
        node->id, procedure, procedure, XML_UNKNOWN_FILE, module_id(node->module));
    return "PF";
}

static const char *put_place(struct xml_writer *self, const lode_context *node, uint32_t procedure)
{
    const char *name = node->lexical == LODE_LEXICAL_LOOP ? "L" : "C";
    bool line = node->lexical == LODE_LEXICAL_LINE;
    /* With an address, an S is an instruction, and a C with a known file a line. */
    if (node->lexical != LODE_LEXICAL_LOOP &&
        (line ? node->subtree_size == 1 && node->module == NULL : node->subtree_size == 1 || node->file))
        name = "S";
    lode_xml_put(self, "<%s i=\"%" PRIu32 "\"", name, node->id);
    if (node->lexical != LODE_LEXICAL_LOOP)
        lode_xml_put(self, " it=\"%" PRIu32 "\"", node->id);
    uint64_t offset = node->module ? node->offset : 0;
    lode_xml_put(self, " s=\"%" PRIu32 "\" v=\"%s%" PRIx64 "\" f=\"%" PRIu32 "\" l=\"%" PRIu32 "\"",
                 static_scope(self, node, procedure), offset ? "0x" : "", offset, file_id(node->file),
                 node->line);
    return name;
}

/* A called context is written as a procedure, whatever it is: the call matters more. */
static bool is_place(const lode_context *node)
{
    return node->relation == LODE_RELATION_LEXICAL &&
           (node->lexical == LODE_LEXICAL_LOOP || node->lexical == LODE_LEXICAL_LINE ||
            node->lexical == LODE_LEXICAL_INSTRUCTION);
}

/* Writes the start of an element inside a procedure; returns its name. */
static const char *put_element(struct xml_writer *self, const lode_context *node, uint32_t procedure)
{
    if (is_place(node))
        return put_place(self, node, procedure);
    return is_called_instruction(node) ? put_called_instruction(self, node) : put_function(self, node);
}

static void close_element(struct xml_writer *self, struct lode_array *open)
{
    const struct open_element *last = LODE_ARRAY_AT(open, struct open_element, open->count - 1);
    if (last->name)
        lode_xml_put(self, "</%s>\n", last->name);
    if (last->wrapped)
        lode_xml_put(self, "</C>\n");
    lode_array_pop(open);
}

static void put_context(struct xml_writer *self, const lode_context *node, struct lode_array *open)
{
    while (open->count >= node->depth)
        close_element(self, open);
    struct open_element around = {0};
    if (open->count > 0)
        around = *LODE_ARRAY_AT(open, struct open_element, open->count - 1);
    bool place = is_place(node), leaf = node->subtree_size == 1;
    bool wrapped = !place && put_wrapper(self, node);
    const char *name = put_element(self, node, around.procedure);
    self->misplaced += place && node->module && (node->offset == 0 || node->module != around.module);
    lode_xml_put(self, leaf ? "/>\n" : ">\n");
    struct open_element *element = lode_array_push(open);
    if (element == NULL) {
        self->status = lode_fail_memory(self->error);
        return;
    }
    *element = (struct open_element){.name = leaf ? NULL : name,
                                     .wrapped = wrapped,
                                     .procedure = place ? around.procedure : procedure_of(self, node),
                                     .module = place ? around.module : module_of(self, node)};
}

void lode_xml_put_contexts(struct xml_writer *self)
{
    const struct lode_context_tree *tree = &self->about->tree;
    struct lode_array open;
    lode_array_init(&open, sizeof(struct open_element), (size_t)tree->count + 1);
    for (uint32_t i = 1; i < tree->count && self->status == LODE_OK; i++)
        put_context(self, &tree->nodes[i], &open);
    while (open.count > 0)
        close_element(self, &open);
    lode_array_free(&open);
    uint32_t idle = self->out->idle;
    if (idle)
        lode_xml_put(self,
                     "<PF i=\"%" PRIu32 "\" n=\"%d\" s=\"%d\" f=\"%d\" l=\"0\" lm=\"%d\">\n<S i=\"-%" PRIu32
                     "\" s=\"%d\" v=\"0\" f=\"%d\" l=\"0\" it=\"%" PRIu32 "\"/>\n</PF>\n",
                     idle, XML_NO_ACTIVITY, XML_NO_ACTIVITY, XML_UNKNOWN_FILE, XML_NO_MODULE, idle,
                     XML_NO_ACTIVITY, XML_UNKNOWN_FILE, idle);
}
