/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/timelines/firefox_tables.h"
#include "base/error.h"

enum {
    FLUSH = 64 * 1024
};

/* Without padding: compared byte by byte. */
struct stack {
    uint32_t prefix, frame;
};
struct function {
    uint32_t name, library, file, line, category;
};

struct writer {
    const struct firefox_tables *tables;
    struct lode_wire *out;
    struct lode_export_file *file;
};

void lode_firefox_tables_init(struct firefox_tables *tables)
{
    lode_strings_init(&tables->strings);
    lode_strings_init(&tables->libraries);
    lode_strings_init(&tables->files);
    lode_interner_init(&tables->functions, sizeof(struct function));
    lode_interner_init(&tables->stacks, sizeof(struct stack));
    lode_map_init(&tables->by_frame);
}

void lode_firefox_tables_free(struct firefox_tables *tables)
{
    lode_strings_free(&tables->strings);
    lode_strings_free(&tables->libraries);
    lode_strings_free(&tables->files);
    lode_interner_free(&tables->functions);
    lode_interner_free(&tables->stacks);
    lode_map_free(&tables->by_frame);
}

bool lode_firefox_string(struct firefox_tables *tables, const char *text, uint32_t *number)
{
    return lode_strings_put(&tables->strings, text, number);
}

static bool number_text(struct firefox_tables *self, struct lode_strings *table, const char *text,
                        uint32_t *number)
{
    struct lode_wire clean = {0};
    uint32_t string;
    *number = FIREFOX_NONE;
    if (text[0] == '\0')
        return true;
    lode_wire_clean(&clean, text, strlen(text));
    wire_raw(&clean, "", 1);
    bool done = !clean.failed && lode_strings_put(table, (const char *)clean.bytes, number) &&
                lode_strings_put(&self->strings, (const char *)clean.bytes, &string);
    wire_free(&clean);
    return done;
}

static lode_status function_of(struct firefox_tables *self, struct lode_tracks *tracks,
                               const lode_function *frame, uint8_t category, uint32_t *number,
                               lode_error *error)
{
    bool added;
    uint32_t *known = lode_map_add(&self->by_frame, (uintptr_t)frame, 0, &added);
    LODE_TRY_ALLOC(known, error);
    if (!added) {
        *number = *known;
        return LODE_OK;
    }
    const struct lode_frame_name *name = lode_tracks_name(tracks, frame);
    const lode_file *file = lode_function_file(frame);
    const lode_module *module = lode_function_module(frame);
    struct function function = {.line = lode_function_line(frame), .category = category};
    bool done =
        name && lode_strings_put(&self->strings, name->text, &function.name) &&
        number_text(self, &self->files, file ? lode_file_path(file) : "", &function.file) &&
        number_text(self, &self->libraries, module ? lode_module_path(module) : "", &function.library);
    LODE_TRY_ALLOC(done, error);
    *known = *number = lode_interner_add(&self->functions, &function, NULL);
    return *number == LODE_NO_NUMBER ? lode_fail_memory(error) : LODE_OK;
}

lode_status lode_firefox_stack(struct firefox_tables *tables, struct lode_tracks *tracks, uint32_t prefix,
                               const lode_function *frame, uint8_t category, uint32_t *number,
                               lode_error *error)
{
    struct stack stack = {.prefix = prefix};
    LODE_TRY(function_of(tables, tracks, frame, category, &stack.frame, error));
    *number = lode_interner_add(&tables->stacks, &stack, NULL);
    return *number == LODE_NO_NUMBER ? lode_fail_memory(error) : LODE_OK;
}

/* ---- writing ---- */

static void put_optional(struct lode_wire *out, uint32_t number, const char *none)
{
    if (number == FIREFOX_NONE)
        json_text(out, none);
    else
        json_number(out, number);
}

/* A field of all functions. */
enum field {
    FIELD_NAME,
    FIELD_LIBRARY,
    FIELD_FILE,
    FIELD_LINE,
    FIELD_CATEGORY
};

static lode_status put_functions(const struct writer *self, const char *name, enum field field,
                                 lode_error *error)
{
    struct lode_wire *out = self->out;
    json_text(out, name);
    for (size_t i = 0; i < self->tables->functions.items.count; i++) {
        const struct function *function = LODE_ARRAY_AT(&self->tables->functions.items, struct function, i);
        json_text(out, i ? "," : "");
        if (field == FIELD_NAME)
            json_number(out, function->name);
        else if (field == FIELD_LIBRARY)
            put_optional(out, function->library, "-1");
        else if (field == FIELD_FILE)
            put_optional(out, function->file, "null");
        else if (field == FIELD_LINE)
            put_optional(out, function->line ? function->line : FIREFOX_NONE, "null");
        else
            json_number(out, function->category);
        LODE_TRY(lode_wire_flush(out, self->file, FLUSH, error));
    }
    json_text(out, "]");
    return LODE_OK;
}

static lode_status put_function_table(const struct writer *self, lode_error *error)
{
    struct lode_wire *out = self->out;
    uint64_t count = self->tables->functions.items.count;
    LODE_TRY(put_functions(self, ",\n\"funcTable\":{\"name\":[", FIELD_NAME, error));
    LODE_TRY(put_functions(self, ",\"resource\":[", FIELD_LIBRARY, error));
    LODE_TRY(put_functions(self, ",\"source\":[", FIELD_FILE, error));
    LODE_TRY(put_functions(self, ",\"lineNumber\":[", FIELD_LINE, error));
    firefox_constant(out, ",\"columnNumber\":[", "null", count);
    firefox_constant(out, ",\"isJS\":[", "false", count);
    firefox_constant(out, ",\"relevantForJS\":[", "false", count);
    firefox_length(out, count);
    return LODE_OK;
}

/* A frame is a function: lines of calls are not known in a timeline. */
static lode_status put_frame_table(const struct writer *self, lode_error *error)
{
    struct lode_wire *out = self->out;
    uint64_t count = self->tables->functions.items.count;
    json_text(out, ",\n\"frameTable\":{\"func\":[");
    for (uint64_t i = 0; i < count; i++) {
        json_text(out, i ? "," : "");
        json_number(out, i);
    }
    json_text(out, "]");
    LODE_TRY(put_functions(self, ",\"category\":[", FIELD_CATEGORY, error));
    firefox_constant(out, ",\"subcategory\":[", "0", count);
    firefox_constant(out, ",\"address\":[", "-1", count);
    firefox_constant(out, ",\"inlineDepth\":[", "0", count);
    firefox_constant(out, ",\"nativeSymbol\":[", "null", count);
    firefox_constant(out, ",\"innerWindowID\":[", "0", count);
    firefox_constant(out, ",\"line\":[", "null", count);
    firefox_constant(out, ",\"column\":[", "null", count);
    firefox_length(out, count);
    return LODE_OK;
}

/* Callers come before what they call: a prefix is an earlier stack. */
static lode_status put_stack_table(const struct writer *self, lode_error *error)
{
    struct lode_wire *out = self->out;
    const struct stack *stacks = self->tables->stacks.items.items;
    size_t count = self->tables->stacks.items.count;
    json_text(out, ",\n\"stackTable\":{\"frame\":[");
    for (size_t i = 0; i < count; i++) {
        json_text(out, i ? "," : "");
        json_number(out, stacks[i].frame);
        LODE_TRY(lode_wire_flush(out, self->file, FLUSH, error));
    }
    json_text(out, "],\"prefix\":[");
    for (size_t i = 0; i < count; i++) {
        json_text(out, i ? "," : "");
        put_optional(out, stacks[i].prefix, "null");
        LODE_TRY(lode_wire_flush(out, self->file, FLUSH, error));
    }
    json_text(out, "]");
    firefox_length(out, count);
    return LODE_OK;
}

/* Numbers of texts in the array of strings. */
static void put_texts(const struct writer *self, const char *name, const struct lode_strings *texts)
{
    json_text(self->out, name);
    for (uint32_t i = 0; i < texts->items.count; i++) {
        json_text(self->out, i ? "," : "");
        json_number(self->out, lode_strings_find(&self->tables->strings, lode_strings_at(texts, i)));
    }
    json_text(self->out, "]");
}

static void put_resource_table(const struct writer *self)
{
    struct lode_wire *out = self->out;
    uint64_t count = self->tables->libraries.items.count;
    json_text(out, ",\n\"resourceTable\":{\"lib\":[");
    for (uint64_t i = 0; i < count; i++) {
        json_text(out, i ? "," : "");
        json_number(out, i);
    }
    json_text(out, "]");
    put_texts(self, ",\"name\":[", &self->tables->libraries);
    firefox_constant(out, ",\"host\":[", "null", count);
    firefox_constant(out, ",\"type\":[", "1", count);
    firefox_length(out, count);
    json_text(out, ",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]");
    firefox_length(out, 0);
    json_text(out, ",\n\"sources\":{\"uuid\":[");
    for (uint64_t i = 0; i < self->tables->files.items.count; i++)
        json_text(out, i ? ",null" : "null");
    json_text(out, "]");
    put_texts(self, ",\"filename\":[", &self->tables->files);
    firefox_length(out, self->tables->files.items.count);
}

lode_status lode_firefox_tables_write(const struct firefox_tables *tables, struct lode_wire *out,
                                      struct lode_export_file *file, lode_error *error)
{
    struct writer writer = {tables, out, file};
    const struct writer *self = &writer;
    json_text(out, "],\n\"shared\":{\"stringArray\":[");
    for (uint32_t i = 0; i < self->tables->strings.items.count; i++) {
        json_text(out, i ? ",\n" : "\n");
        json_string(out, lode_strings_at(&self->tables->strings, i));
        LODE_TRY(lode_wire_flush(out, self->file, FLUSH, error));
    }
    json_text(out, "]");
    LODE_TRY(put_stack_table(self, error));
    LODE_TRY(put_frame_table(self, error));
    LODE_TRY(put_function_table(self, error));
    put_resource_table(self);
    json_text(out, "},\n\"libs\":[");
    for (uint32_t i = 0; i < self->tables->libraries.items.count; i++) {
        const char *path = lode_strings_at(&self->tables->libraries, i), *tail = strrchr(path, '/');
        tail = tail && tail[1] ? tail + 1 : path;
        json_text(out, i ? ",\n{\"arch\":\"\",\"name\":" : "\n{\"arch\":\"\",\"name\":");
        json_string(out, tail);
        json_text(out, ",\"path\":");
        json_string(out, path);
        json_text(out, ",\"debugName\":");
        json_string(out, tail);
        json_text(out, ",\"debugPath\":");
        json_string(out, path);
        json_text(out, ",\"breakpadId\":\"\",\"codeId\":null}");
    }
    json_text(out, "]}\n");
    return lode_wire_flush(out, self->file, 1, error);
}
