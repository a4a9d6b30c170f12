/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure files, as hpcstruct writes them: files F, functions P, loops L, statements S with all
 * their ranges. An inlined call is an A with file and line of the call around an A with the
 * function; an A alone is code of another file than that of the scope around it.
 */
#include "format/hpcrun/scopes/structure_write.h"

#include "base/compare.h"
#include "base/text/xml.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BEGIN "<?xml version=\"1.0\"?>\n<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
#define END   "</HPCToolkitStructure>\n"

/* A binary that is written. Children and ranges of a scope are contiguous in these arrays. */
struct writing {
    struct hpcstruct_writer *out;
    const struct hpcstruct_module *module;
    lode_structure_result *result;
    uint32_t *children, *first_child; /* by scope, and one more */
    uint32_t *ranges, *first_range;   /* by scope, and one more */
    uint64_t *address;                /* of functions, by scope: different ones */
    uint8_t *is_used;                 /* by scope: it has ranges, or something in it has */
    const char *name;                 /* of the binary, without directories */
};

/* ---- text ---- */

static void put_bytes(struct hpcstruct_writer *out, const char *bytes, size_t size)
{
    if (out && out->status == LODE_OK)
        out->status = lode_output_write(&out->file, bytes, size, out->error);
}

__attribute__((format(printf, 2, 3))) static void put(struct hpcstruct_writer *out, const char *format, ...)
{
    char text[256]; /* names are written by put_text */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        put_bytes(out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static void put_part(void *user, const char *bytes, size_t size)
{
    put_bytes(user, bytes, size);
}

static void put_text(struct hpcstruct_writer *out, const char *text)
{
    lode_xml_escape(text, put_part, out);
}

/* ---- elements ---- */

static const struct hpcstruct_scope *scope_at(const struct writing *self, uint32_t number)
{
    return LODE_ARRAY_AT(&self->module->scopes, struct hpcstruct_scope, number);
}

static const char *string_at(const struct writing *self, uint32_t number)
{
    return number == LODE_NO_NUMBER ? NULL : lode_strings_at(self->module->strings, number);
}

static void open_element(const struct writing *self, const char *element)
{
    if (self->out)
        put(self->out, "<%s i=\"%" PRIu32 "\"", element, self->out->next++);
}

static void put_file(const struct writing *self, const char *attribute, uint32_t file)
{
    const char *text = string_at(self, file);
    put(self->out, " %s=\"", attribute);
    if (text)
        put_text(self->out, text);
    else {
        put(self->out, "[");
        put_text(self->out, self->name);
        put(self->out, "]");
    }
    put(self->out, "\"");
}

static void put_ranges(const struct writing *self, uint32_t scope)
{
    put(self->out, " v=\"{");
    for (uint32_t i = self->first_range[scope]; i < self->first_range[scope + 1]; i++) {
        const struct hpcstruct_range *range =
            LODE_ARRAY_AT(&self->module->ranges, struct hpcstruct_range, self->ranges[i]);
        put(self->out, "%s[0x%" PRIx64 "-0x%" PRIx64 ")", i == self->first_range[scope] ? "" : " ",
            range->start, range->end);
    }
    put(self->out, "}\"");
}

/* The file that applies inside a scope. */
static uint32_t file_around(const struct writing *self, uint32_t scope)
{
    while (scope_at(self, scope)->file == LODE_NO_NUMBER && scope_at(self, scope)->parent != LODE_NO_NUMBER)
        scope = scope_at(self, scope)->parent;
    return scope_at(self, scope)->file;
}

static void put_statement(const struct writing *self, uint32_t scope)
{
    const struct hpcstruct_scope *at = scope_at(self, scope);
    bool is_line = at->kind == HPCSTRUCT_LINE;
    uint32_t line = is_line ? at->line : 0;
    bool is_alien = is_line && at->file != file_around(self, at->parent);
    if (self->first_range[scope] == self->first_range[scope + 1])
        return;
    if (is_alien) {
        open_element(self, "A");
        put(self->out, " l=\"%" PRIu32 "\"", line);
        put_file(self, "f", at->file);
        put(self->out, " n=\"&lt;inline&gt;\">\n");
    }
    open_element(self, "S");
    put(self->out, " l=\"%" PRIu32 "\"", line);
    put_ranges(self, scope);
    put(self->out, is_alien ? "/>\n</A>\n" : "/>\n");
    self->result->statements++;
}

static void begin_function(const struct writing *self, uint32_t scope)
{
    const struct hpcstruct_scope *at = scope_at(self, scope);
    const char *name = string_at(self, at->name);
    uint64_t address = self->address[scope];
    open_element(self, "P");
    put(self->out, " n=\"");
    if (name)
        put_text(self->out, name);
    else {
        put(self->out, "&lt;unknown procedure&gt; 0x%" PRIx64 " [", address);
        put_text(self->out, self->name);
        put(self->out, "]");
    }
    put(self->out, "\" l=\"%" PRIu32 "\" v=\"{[0x%" PRIx64 "-0x%" PRIx64 ")}\">\n", at->line, address,
        address + 1);
    self->result->functions++;
}

static void begin_loop(const struct writing *self, uint32_t scope)
{
    const struct hpcstruct_scope *at = scope_at(self, scope);
    open_element(self, "L");
    put(self->out, " l=\"%" PRIu32 "\"", at->line);
    put_file(self, "f", at->file);
    put(self->out, " v=\"{[0x%" PRIx64 "-0x%" PRIx64 ")}\">\n", at->address, at->address + 1);
    self->result->loops++;
}

static void begin_inlined(const struct writing *self, uint32_t scope)
{
    const struct hpcstruct_scope *at = scope_at(self, scope), *site = scope_at(self, at->parent);
    const char *name = string_at(self, at->name);
    open_element(self, "A");
    put(self->out, " l=\"%" PRIu32 "\"", site->line);
    put_file(self, "f", site->file);
    put(self->out, " n=\"\">\n");
    open_element(self, "A");
    put(self->out, " l=\"%" PRIu32 "\"", at->line);
    put_file(self, "f", at->file != LODE_NO_NUMBER ? at->file : site->file);
    put(self->out, " n=\"");
    put_text(self->out, name ? name : "");
    put(self->out, "\">\n");
    self->result->inlined++;
}

/* ---- the tree ---- */

static void begin_scope(const struct writing *self, uint32_t scope)
{
    switch (scope_at(self, scope)->kind) {
    case HPCSTRUCT_FUNCTION:
        begin_function(self, scope);
        break;
    case HPCSTRUCT_LOOP:
        begin_loop(self, scope);
        break;
    case HPCSTRUCT_INLINED:
        begin_inlined(self, scope);
        break;
    case HPCSTRUCT_LINE:
    case HPCSTRUCT_UNKNOWN:
        break;
    }
    put_statement(self, scope);
}

static void end_scope(const struct writing *self, uint32_t scope)
{
    static const char *const ends[] = {[HPCSTRUCT_FUNCTION] = "</P>\n",
                                       [HPCSTRUCT_INLINED] = "</A>\n</A>\n",
                                       [HPCSTRUCT_LOOP] = "</L>\n",
                                       [HPCSTRUCT_LINE] = "",
                                       [HPCSTRUCT_UNKNOWN] = ""};
    put(self->out, "%s", ends[scope_at(self, scope)->kind]);
}

/* A function and all in it. `next` is by scope: the child that comes next. */
static void write_function(const struct writing *self, uint32_t function, uint32_t *next)
{
    uint32_t at = function;
    begin_scope(self, at);
    for (;;) {
        if (next[at] < self->first_child[at + 1]) {
            at = self->children[next[at]++];
            begin_scope(self, at);
            continue;
        }
        end_scope(self, at);
        if (at == function)
            return;
        at = scope_at(self, at)->parent;
    }
}

/* Lists of the functions of each file: where they begin, and by function the next one, plus 1. */
static void list_functions(const struct writing *self, uint32_t *last, uint32_t *after, uint8_t *is_first)
{
    size_t unknown = self->module->strings->items.count;
    for (uint32_t i = 0; i < self->module->scopes.count; i++) {
        const struct hpcstruct_scope *scope = scope_at(self, i);
        if (scope->parent != LODE_NO_NUMBER || !self->is_used[i])
            continue;
        uint32_t *end = &last[scope->file == LODE_NO_NUMBER ? unknown : scope->file];
        is_first[i] = *end == 0;
        if (*end)
            after[*end - 1] = i + 1;
        *end = i + 1;
    }
}

/* Functions by file, in the order of the first function of each file. */
static void write_functions(const struct writing *self, const uint32_t *after, const uint8_t *is_first,
                            uint32_t *next)
{
    for (uint32_t i = 0; i < self->module->scopes.count; i++) {
        if (!is_first[i])
            continue;
        open_element(self, "F");
        put_file(self, "n", scope_at(self, i)->file);
        put(self->out, ">\n");
        for (uint32_t k = i + 1; k; k = after[k - 1])
            write_function(self, k - 1, next);
        put(self->out, "</F>\n");
    }
}

/* ---- before writing ---- */

/* From the numbers of items by scope to where each scope's items begin. */
static void sum_up(uint32_t *firsts, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t own = firsts[i];
        firsts[i] = sum;
        sum += own;
    }
}

/* Scopes that only say which function another one is an instance of are not written. */
static bool is_child(const struct writing *self, uint32_t scope)
{
    return scope_at(self, scope)->parent != LODE_NO_NUMBER && self->is_used[scope];
}

static void list_children(const struct writing *self, uint32_t *next)
{
    uint32_t count = (uint32_t)self->module->scopes.count;
    for (size_t i = 0; i < self->module->ranges.count; i++)
        self->is_used[LODE_ARRAY_AT(&self->module->ranges, struct hpcstruct_range, i)->scope] = 1;
    for (uint32_t i = count; i-- > 0;)
        if (is_child(self, i))
            self->is_used[scope_at(self, i)->parent] = 1;
    for (uint32_t i = 0; i < count; i++)
        if (is_child(self, i))
            self->first_child[scope_at(self, i)->parent]++;
    sum_up(self->first_child, count);
    memcpy(next, self->first_child, count * sizeof *next);
    for (uint32_t i = 0; i < count; i++)
        if (is_child(self, i))
            self->children[next[scope_at(self, i)->parent]++] = i;
}

static void list_ranges(const struct writing *self, uint32_t *next)
{
    const struct lode_array *ranges = &self->module->ranges;
    uint32_t count = (uint32_t)self->module->scopes.count;
    for (size_t i = 0; i < ranges->count; i++)
        self->first_range[LODE_ARRAY_AT(ranges, struct hpcstruct_range, i)->scope]++;
    sum_up(self->first_range, count);
    memcpy(next, self->first_range, count * sizeof *next);
    for (uint32_t i = 0; i < ranges->count; i++)
        self->ranges[next[LODE_ARRAY_AT(ranges, struct hpcstruct_range, i)->scope]++] = i;
}

/*
 * Two functions of one address end what reads the file. So a function has its own address if that
 * is in its ranges, which no other has; else that of its first range.
 */
static void find_addresses(const struct writing *self)
{
    for (size_t i = self->module->ranges.count; i-- > 0;) {
        const struct hpcstruct_range *range = LODE_ARRAY_AT(&self->module->ranges, struct hpcstruct_range, i);
        uint32_t at = range->scope;
        while (scope_at(self, at)->parent != LODE_NO_NUMBER)
            at = scope_at(self, at)->parent;
        uint64_t own = scope_at(self, at)->address, known = self->address[at];
        bool is_own = own >= range->start && own < range->end;
        if (is_own || known != own || known == 0)
            self->address[at] = is_own ? own : range->start;
    }
}

/* What writing needs besides. */
struct scratch {
    uint32_t *next, *last, *after;
    uint8_t *is_first;
};

static lode_status write_module(struct writing *self, const struct scratch *scratch)
{
    uint32_t count = (uint32_t)self->module->scopes.count;
    list_children(self, scratch->next);
    list_ranges(self, scratch->next);
    find_addresses(self);
    list_functions(self, scratch->last, scratch->after, scratch->is_first);
    memcpy(scratch->next, self->first_child, count * sizeof *scratch->next);
    open_element(self, "LM");
    put(self->out, " n=\"");
    put_text(self->out, self->module->path);
    put(self->out, "\" has-calls=\"0\" v=\"{}\">\n");
    write_functions(self, scratch->after, scratch->is_first, scratch->next);
    put(self->out, "</LM>\n");
    return self->out ? self->out->status : LODE_OK;
}

void lode_hpcstruct_begin(struct hpcstruct_writer *writer)
{
    writer->next = 1;
    put_bytes(writer, BEGIN, sizeof BEGIN - 1);
}

void lode_hpcstruct_end(struct hpcstruct_writer *writer)
{
    put_bytes(writer, END, sizeof END - 1);
}

lode_status lode_hpcstruct_write(struct hpcstruct_writer *writer, const struct hpcstruct_module *module,
                                 lode_structure_result *result, lode_error *error)
{
    size_t scopes = module->scopes.count, ranges = module->ranges.count;
    const char *slash = strrchr(module->path, '/');
    struct writing self = {.out = writer,
                           .module = module,
                           .result = result,
                           .name = slash ? slash + 1 : module->path,
                           .children = calloc(scopes + 1, sizeof *self.children),
                           .first_child = calloc(scopes + 1, sizeof *self.first_child),
                           .ranges = calloc(ranges + 1, sizeof *self.ranges),
                           .first_range = calloc(scopes + 1, sizeof *self.first_range),
                           .address = calloc(scopes + 1, sizeof *self.address),
                           .is_used = calloc(scopes + 1, sizeof *self.is_used)};
    struct scratch scratch = {.next = calloc(scopes + 1, sizeof *scratch.next),
                              .last = calloc(module->strings->items.count + 1, sizeof *scratch.last),
                              .after = calloc(scopes + 1, sizeof *scratch.after),
                              .is_first = calloc(scopes + 1, sizeof *scratch.is_first)};
    bool has_all = self.children && self.first_child && self.ranges && self.first_range && self.address &&
                   self.is_used && scratch.next && scratch.last && scratch.after && scratch.is_first;
    lode_status status = has_all ? write_module(&self, &scratch) : lode_fail_memory(error);
    free(self.children);
    free(self.first_child);
    free(self.ranges);
    free(self.first_range);
    free(self.address);
    free(self.is_used);
    free(scratch.next);
    free(scratch.last);
    free(scratch.after);
    free(scratch.is_first);
    return status;
}
