/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From addresses to contexts, on rank 0: asks where each distinct address is, gives each node of
 * the merged tree its contexts below those of its parent, and describes them.
 */
#include "format/hpcrun/source/expand.h"
#include "base/compare.h"
#include "format/hpcrun/read/placeholders.h"
#include "model/database/description.h"
#include <lode/context.h>
#include <stdlib.h>

static const struct lode_frame no_frame = {
    .function = LODE_NO_NUMBER, .file = LODE_NO_NUMBER, .module = LODE_NO_NUMBER};

/* ---- questions ---- */

/* A point, sorted by module and offset. */
struct point {
    uint64_t offset;
    uint32_t question, frame;
};

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->question != b->question)
        return a->question < b->question ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static const struct hpcrun_module_key *module_at(const struct hpcrun_raw *raw, uint32_t number)
{
    return LODE_ARRAY_AT(&raw->modules.items, struct hpcrun_module_key, number);
}

static bool is_point(const struct hpcrun_raw_frame *frame)
{
    return frame->kind == HPCRUN_RAW_POINT || frame->kind == HPCRUN_RAW_INFERRED;
}

static bool is_inferred(const struct hpcrun_raw *raw, uint32_t frame)
{
    return lode_hpcrun_raw_frame(raw, frame)->kind == HPCRUN_RAW_INFERRED;
}

/* All points, with the questions that they belong to. */
static size_t list_points(const struct hpcrun_expanding *self, struct point *points)
{
    size_t count = 0;
    for (uint32_t i = 0; i < self->raw->frames.items.count; i++) {
        const struct hpcrun_raw_frame *frame = lode_hpcrun_raw_frame(self->raw, i);
        if (is_point(frame))
            points[count++] = (struct point){frame->offset, self->questions[frame->module], i};
    }
    if (count > 1)
        qsort(points, count, sizeof *points, compare_points);
    return count;
}

/* One question for each module, with offsets once each; `offsets` and `inferred` are scratch. */
static lode_status ask_modules(struct hpcrun_expanding *self, const uint32_t *sorted,
                               const struct point *points, size_t count, uint64_t *offsets, bool *inferred)
{
    const struct hpcrun_raw *raw = self->raw;
    size_t at = 0;
    for (uint32_t q = 0; q < raw->modules.items.count; q++) {
        const struct hpcrun_module_key *key = module_at(raw, sorted[q]);
        /* Other readers give the number another meaning. */
        const char *directory = key->directory < self->source->directories.count
                                    ? hpcrun_directory(self->source, key->directory)->path
                                    : NULL;
        uint32_t asked = 0;
        for (; at < count && points[at].question == q; at++) {
            if (asked == 0 || offsets[asked - 1] != points[at].offset) {
                offsets[asked] = points[at].offset;
                inferred[asked++] = false;
            }
            inferred[asked - 1] |= is_inferred(raw, points[at].frame);
        }
        LODE_TRY_ALLOC(lode_hpcrun_scopes_ask(&self->scopes, lode_strings_at(&raw->paths, key->path),
                                              directory, offsets, inferred, asked),
                       self->error);
        LODE_ARRAY_AT(&self->scopes.questions, struct hpcrun_question, q)->key = key->directory;
    }
    return LODE_OK;
}

/* Offsets that nobody answered are bare points: the empty chain. */
static void take_chains(const struct hpcrun_expanding *self, const struct point *points, size_t count)
{
    uint32_t within = 0;
    for (size_t i = 0; i < count; i++) {
        const struct hpcrun_question *question =
            LODE_ARRAY_AT(&self->scopes.questions, struct hpcrun_question, points[i].question);
        if (i == 0 || points[i].question != points[i - 1].question)
            within = 0;
        else if (points[i].offset != points[i - 1].offset)
            within++;
        self->chains[points[i].frame] = question->chains[within];
        self->routes[points[i].frame] = question->routes[within];
    }
}

/* What providers are given, but for a report. */
static lode_status begin_asking(struct hpcrun_expanding *self)
{
    struct hpcrun_source *source = self->source;
    const lode_build_options *options = source->input->options;
    self->directories = calloc(source->directories.count + 1, sizeof *self->directories);
    LODE_TRY_ALLOC(self->directories, self->error);
    self->asking =
        (struct hpcrun_asking){.directories = self->directories,
                               .options = options,
                               .binaries = {.program = options->symbols_program,
                                            .helper = &self->helper,
                                            .cache = &self->cache,
                                            .replacements = options->replacements,
                                            .replacement_count = options->replacement_count,
                                            .foreign = options->foreign,
                                            .has_loops = !options->no_loops && !options->like_hpcprof,
                                            .debug_size_most = options->debug_size_most}};
    for (uint32_t i = 0; i < source->directories.count; i++)
        if (hpcrun_directory(source, i)->is_argument)
            self->directories[self->asking.directory_count++] = hpcrun_directory(source, i)->path;
    return LODE_OK;
}

static lode_status ask_reader(struct hpcrun_expanding *self)
{
    const struct hpcrun_reader *reader = self->source->reader;
    if (reader->ask)
        return reader->ask(self->source, &self->scopes, &self->asking, self->error);
    return self->source->comm->place.size > 1
               ? lode_hpcrun_ask_shared(self)
               : lode_hpcrun_ask_all(&self->scopes, &self->asking, self->error);
}

/* Structure files that are damaged are findings, which rank 0 reports. */
static lode_status ask_providers(struct hpcrun_expanding *self)
{
    const lode_build_options *options = self->asking.options;
    struct lode_report report;
    self->asking.report = self->source->report;
    if (self->asking.report)
        return ask_reader(self);
    lode_status status = lode_report_begin(&report, lode_hpcrun_rules, HPCRUN_RULE_COUNT, options->strict,
                                           options->on_finding, options->user, self->error);
    self->asking.report = &report;
    if (status == LODE_OK)
        status = ask_reader(self);
    lode_report_close(&report);
    self->asking.report = NULL;
    return status;
}

static lode_status ask_with(struct hpcrun_expanding *self, uint32_t *sorted, struct point *points,
                            uint64_t *offsets, bool *inferred)
{
    uint32_t modules = (uint32_t)self->raw->modules.items.count;
    lode_hpcrun_raw_sort_modules(&self->source->raw, sorted);
    for (uint32_t i = 0; i < modules; i++)
        self->questions[sorted[i]] = i;
    size_t count = list_points(self, points);
    LODE_TRY(ask_modules(self, sorted, points, count, offsets, inferred));
    const lode_build_options *options = self->asking.options;
    lode_binary_cache_open(&self->cache, options->structure_cache, options->symbols_program);
    lode_status status = ask_providers(self);
    lode_binary_helper_close(&self->helper);
    lode_binary_cache_close(&self->cache);
    LODE_TRY(status);
    take_chains(self, points, count);
    return LODE_OK;
}

static lode_status ask(struct hpcrun_expanding *self)
{
    size_t modules = self->raw->modules.items.count + 1, frames = self->raw->frames.items.count + 1;
    uint32_t *sorted = calloc(modules, sizeof *sorted);
    struct point *points = calloc(frames, sizeof *points);
    uint64_t *offsets = calloc(frames, sizeof *offsets);
    bool *inferred = calloc(frames, sizeof *inferred);
    self->questions = calloc(modules, sizeof *self->questions);
    self->chains = calloc(frames, sizeof *self->chains);
    self->routes = calloc(frames, sizeof *self->routes);
    bool done = sorted && points && offsets && inferred && self->questions && self->chains && self->routes;
    lode_status status =
        done ? ask_with(self, sorted, points, offsets, inferred) : lode_fail_memory(self->error);
    free(sorted);
    free(points);
    free(offsets);
    free(inferred);
    return status;
}

/* ---- contexts ---- */

static uint32_t add_child(struct hpcrun_expanding *self, uint32_t parent, const struct lode_frame *frame)
{
    uint32_t number = lode_interner_add(&self->scopes.frames, frame, NULL);
    return number == LODE_NO_NUMBER ? 0 : lode_content_tree_child(&self->tree, parent, number);
}

/* Entry points are the children of the global context; others are calls of something unknown. */
static uint32_t add_unknown(struct hpcrun_expanding *self, uint32_t parent)
{
    struct lode_frame frame = no_frame;
    frame.kind = parent == LODE_TREE_ROOT ? LODE_LEXICAL_ENTRY : LODE_LEXICAL_FUNCTION;
    frame.relation = parent == LODE_TREE_ROOT ? LODE_RELATION_LEXICAL : LODE_RELATION_CALL;
    frame.entry = LODE_ENTRY_UNKNOWN;
    return add_child(self, parent, &frame);
}

/* An entry point of a name. */
static uint32_t add_entry(struct hpcrun_expanding *self, const struct hpcrun_raw_frame *from)
{
    const struct hpcrun_module_key *key = module_at(self->raw, from->module);
    struct lode_frame frame = no_frame;
    frame.kind = LODE_LEXICAL_ENTRY;
    frame.entry = (uint16_t)from->offset;
    if (!lode_strings_put(&self->scopes.strings, lode_strings_at(&self->raw->paths, key->path), &frame.file))
        return 0;
    return add_child(self, LODE_TREE_ROOT, &frame);
}

static uint32_t add_placeholder(struct hpcrun_expanding *self, uint32_t parent, uint64_t code)
{
    struct lode_frame frame = no_frame;
    if (parent == LODE_TREE_ROOT) {
        frame.kind = LODE_LEXICAL_ENTRY;
        frame.entry = code == HPCRUN_MAIN_FENCE ? LODE_ENTRY_MAIN_THREAD : LODE_ENTRY_APPLICATION_THREAD;
        return add_child(self, parent, &frame);
    }
    frame.kind = LODE_LEXICAL_FUNCTION;
    frame.relation = LODE_RELATION_CALL;
    frame.function = lode_hpcrun_scopes_placeholder(&self->scopes, code);
    return frame.function == LODE_NO_NUMBER ? 0 : add_child(self, parent, &frame);
}

bool lode_hpcrun_expand_point(struct hpcrun_expanding *self, uint32_t parent, uint32_t question,
                              uint64_t offset, uint32_t chain, struct hpcrun_place *out)
{
    uint32_t context = parent;
    struct hpcrun_chain links = {0};
    if (chain != LODE_NO_NUMBER)
        links = *LODE_ARRAY_AT(&self->scopes.chains, struct hpcrun_chain, chain);
    out->call = 0;
    for (uint32_t i = 0; i < links.count; i++) {
        uint32_t frame = *LODE_ARRAY_AT(&self->scopes.links, uint32_t, links.first + i);
        context = lode_content_tree_child(&self->tree, context, frame);
        if (context == 0)
            return false;
        out->call = out->call ? out->call : context;
    }
    if (!links.hides_point || links.count == 0) {
        struct lode_frame frame = no_frame;
        frame.kind = LODE_LEXICAL_INSTRUCTION;
        frame.relation = links.count > 0 ? LODE_RELATION_LEXICAL : LODE_RELATION_CALL;
        frame.module = question;
        frame.offset = offset;
        context = add_child(self, context, &frame);
        out->call = out->call ? out->call : context;
    }
    out->full = context;
    return context != 0;
}

/* Without routes, an inferred point is below an unknown call. */
static bool expand_node(struct hpcrun_expanding *self, uint32_t node, bool has_children)
{
    const struct lode_tree_node *from = lode_tree_node(&self->raw->tree, node);
    const struct hpcrun_raw_frame *frame = lode_hpcrun_raw_frame(self->raw, from->frame);
    struct hpcrun_place *out = &self->nodes[node];
    uint32_t parent = self->nodes[from->parent].full;
    if (frame->kind == HPCRUN_RAW_UNKNOWN)
        out->full = out->call = add_unknown(self, parent);
    else if (frame->kind == HPCRUN_RAW_ENTRY)
        out->full = out->call = add_entry(self, frame);
    else if (frame->kind == HPCRUN_RAW_PLACEHOLDER)
        out->full = out->call = add_placeholder(self, parent, frame->offset);
    else if (frame->kind == HPCRUN_RAW_INFERRED && self->routes[from->frame] != LODE_NO_NUMBER &&
             !has_children)
        return lode_hpcrun_expand_site(self, parent, from->frame, out);
    else {
        if (frame->kind == HPCRUN_RAW_INFERRED && (parent = add_unknown(self, parent)) == 0)
            return false;
        return lode_hpcrun_expand_point(self, parent, self->questions[frame->module], frame->offset,
                                        self->chains[from->frame], out);
    }
    return out->full != 0;
}

/* hpcrun records nothing below an inferred point; else its callers stay unknown. */
static lode_status expand_nodes(struct hpcrun_expanding *self)
{
    size_t count = (size_t)self->raw->tree.count + 1;
    bool *has_children = calloc(count, sizeof *has_children);
    self->nodes = calloc(count, sizeof *self->nodes);
    bool done =
        has_children && self->nodes && lode_content_tree_open(&self->tree, sizeof(struct lode_tree_node));
    for (uint32_t i = 1; i < self->raw->tree.count && done; i++)
        has_children[lode_tree_node(&self->raw->tree, i)->parent] = true;
    for (uint32_t i = 1; i < self->raw->tree.count && done; i++)
        done = expand_node(self, i, has_children[i]);
    free(has_children);
    LODE_TRY_ALLOC(done, self->error);
    return lode_hpcrun_expand_routes(self);
}

/* ---- order ---- */

static int compare_text(const struct lode_strings *strings, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (a == LODE_NO_NUMBER || b == LODE_NO_NUMBER)
        return a == LODE_NO_NUMBER ? -1 : 1;
    return strcmp(lode_strings_at(strings, a), lode_strings_at(strings, b));
}

static int compare_functions(const struct hpcrun_scopes *scopes, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (a == LODE_NO_NUMBER || b == LODE_NO_NUMBER)
        return a == LODE_NO_NUMBER ? -1 : 1;
    const struct hpcrun_function *x = LODE_ARRAY_AT(&scopes->functions, struct hpcrun_function, a),
                                 *y = LODE_ARRAY_AT(&scopes->functions, struct hpcrun_function, b);
    int order = LODE_COMPARE(x->question, y->question);
    order = order ? order : LODE_COMPARE(x->answer, y->answer);
    return order ? order : LODE_COMPARE(x->scope, y->scope);
}

/* By content, and functions by identity. */
static int compare_frames(uint32_t left, uint32_t right, const void *argument)
{
    const struct hpcrun_scopes *scopes = argument;
    const struct lode_frame *a = LODE_ARRAY_AT(&scopes->frames.items, struct lode_frame, left),
                            *b = LODE_ARRAY_AT(&scopes->frames.items, struct lode_frame, right);
    int order = LODE_COMPARE(a->kind, b->kind);
    order = order ? order : LODE_COMPARE(a->relation, b->relation);
    order = order ? order : LODE_COMPARE(a->entry, b->entry);
    order = order ? order : compare_functions(scopes, a->function, b->function);
    order = order ? order : compare_text(&scopes->strings, a->file, b->file);
    order = order ? order : LODE_COMPARE(a->line, b->line);
    order = order ? order : LODE_COMPARE(a->module, b->module);
    return order ? order : LODE_COMPARE(a->offset, b->offset);
}

/* Contexts in their order; `places` of nodes become positions. */
static lode_status order_contexts(struct hpcrun_expanding *self, uint32_t **node_at)
{
    struct hpcrun_source *source = self->source;
    struct hpcrun_contexts *contexts = &source->contexts;
    struct lode_tree_order order;
    uint32_t count = self->tree.count;
    LODE_TRY_ALLOC(lode_tree_order_compare(&order, &self->tree, compare_frames, &self->scopes), self->error);
    contexts->count = count;
    contexts->ids = calloc(count, sizeof *contexts->ids);
    contexts->above = calloc(count, sizeof *contexts->above);
    contexts->flags = calloc(count, sizeof *contexts->flags);
    *node_at = calloc(count, sizeof **node_at);
    bool done = contexts->ids && contexts->above && contexts->flags && *node_at;
    for (uint32_t i = 0; i < count && done; i++)
        (*node_at)[order.positions[i]] = i;
    for (uint32_t i = 0; i < count && done; i++)
        contexts->above[order.positions[i]] = order.positions[lode_tree_node(&self->tree, i)->parent];
    for (uint32_t i = 0; i < self->raw->tree.count && done; i++)
        if (!lode_hpcrun_is_site(&self->nodes[i]))
            self->nodes[i] = (struct hpcrun_place){order.positions[self->nodes[i].full],
                                                   order.positions[self->nodes[i].call]};
    lode_hpcrun_sites_move(&source->sites, order.positions);
    lode_tree_order_free(&order);
    LODE_TRY_ALLOC(done, self->error);
    return LODE_OK;
}

static void flag_contexts(struct hpcrun_expanding *self, const uint32_t *node_at)
{
    struct hpcrun_contexts *contexts = &self->source->contexts;
    for (uint32_t i = 1; i < contexts->count; i++) {
        uint32_t number = lode_tree_node(&self->tree, node_at[i])->frame;
        const struct lode_frame *frame = LODE_ARRAY_AT(&self->scopes.frames.items, struct lode_frame, number);
        bool is_enclosed = frame->kind != LODE_LEXICAL_ENTRY && frame->relation == LODE_RELATION_LEXICAL;
        bool is_unlisted = is_enclosed && frame->kind == LODE_LEXICAL_INSTRUCTION;
        contexts->flags[i] = (uint8_t)((is_enclosed ? HPCRUN_CONTEXT_ENCLOSED : 0) |
                                       (frame->kind == LODE_LEXICAL_LOOP ? HPCRUN_CONTEXT_LOOP : 0) |
                                       (is_unlisted ? HPCRUN_CONTEXT_UNLISTED : 0));
    }
    for (uint32_t i = 0; i < self->source->sites.routes.count; i++)
        contexts->flags[lode_hpcrun_site_route(&self->source->sites, i)->entry] |= HPCRUN_CONTEXT_KERNEL;
}

/* ---- all of it ---- */

#define EXPANDING_INIT(from, why)                                                                            \
    {                                                                                                        \
        .source = (from), .raw = &(from)->raw,                                                               \
        .helper = BINARY_HELPER_INIT((from)->input->options->symbols_program), .cache = BINARY_CACHE_NONE,   \
        .error = (why)                                                                                       \
    }

lode_status lode_hpcrun_assist(struct hpcrun_source *source, lode_error *error)
{
    struct hpcrun_expanding self = EXPANDING_INIT(source, error);
    const lode_build_options *options = source->input->options;
    lode_status status = begin_asking(&self);
    lode_binary_cache_open(&self.cache, options->structure_cache, options->symbols_program);
    if (status == LODE_OK)
        status = lode_hpcrun_ask_share(&self);
    lode_binary_helper_close(&self.helper);
    lode_binary_cache_close(&self.cache);
    free(self.directories);
    return status;
}

lode_status lode_hpcrun_expand(struct hpcrun_source *source, lode_error *error)
{
    struct hpcrun_expanding self = EXPANDING_INIT(source, error);
    uint32_t *node_at = NULL;
    lode_hpcrun_scopes_init(&self.scopes);
    lode_interner_init(&self.site_keys, sizeof(struct hpcrun_site_key));
    lode_array_init(&self.site_lists, sizeof(uint32_t), UINT32_MAX - 1);
    lode_status status = begin_asking(&self);
    if (status == LODE_OK)
        status = ask(&self);
    if (status == LODE_OK)
        status = expand_nodes(&self);
    if (status == LODE_OK)
        status = order_contexts(&self, &node_at);
    if (status == LODE_OK) {
        flag_contexts(&self, node_at);
        source->places = self.nodes;
        self.nodes = NULL;
        source->handles = calloc(source->contexts.count, sizeof *source->handles);
        status = source->handles ? lode_hpcrun_describe_contexts(source, &self.scopes, &self.asking,
                                                                 &self.tree, node_at, error)
                                 : lode_fail_memory(error);
    }
    source->base.counts.functions = self.scopes.functions.count;
    free(node_at);
    free(self.nodes);
    free(self.questions);
    free(self.chains);
    free(self.routes);
    lode_interner_free(&self.site_keys);
    lode_array_free(&self.site_lists);
    free(self.directories);
    lode_content_tree_close(&self.tree);
    lode_hpcrun_scopes_free(&self.scopes);
    return status;
}
