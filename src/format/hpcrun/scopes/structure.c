/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure files: from XML to functions, scopes and ranges, binary by binary. */
#include "format/hpcrun/scopes/structure.h"
#include "base/text/count.h"

#include <expat.h>
#include <inttypes.h>

enum {
    MAX_PIECE = 1 << 30 /* bytes that expat parses at once, without a copy */
};

enum element {
    ROOT,
    LM,
    F,
    P,
    L,
    S,
    C,
    A,
    INNER_A, /* an A in an A: an inlined function */
    ELEMENTS
};

static const char *const element_names[] = {"HPCToolkitStructure", "LM", "F", "P", "L", "S", "C", "A"};

/* What applies inside an open element. */
struct frame {
    enum element element;
    bool is_ignored;
    uint32_t file, function, scope, line;
};

struct reader {
    struct lode_report *report;
    const char *file;
    lode_check_level level;
    XML_Parser parser;
    lode_status status;
    struct lode_array frames; /* struct frame */
    struct lode_strings strings;
    struct lode_map function_at; /* from addresses */
    struct hpcstruct_module module;
    hpcstruct_fn on_module;
    void *user;
};

static uint64_t offset_of(const struct reader *reader)
{
    XML_Index index = XML_GetCurrentByteIndex(reader->parser);
    return index < 0 ? 0 : (uint64_t)index;
}

#define struct_finding(reader, rule, ...)                                                                    \
    lode_report_add((reader)->report, rule, (reader)->file, offset_of(reader), __VA_ARGS__)

/* ---- attributes ---- */

static const char *attribute(const char **attributes, const char *name)
{
    for (const char **at = attributes; *at; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

static lode_status bad_attribute(struct reader *reader, const char *name)
{
    LODE_TRY(struct_finding(reader, HPCRUN_RULE_STRUCT_ATTRIBUTE, "the attribute '%s' is missing or invalid",
                            name));
    return LODE_END;
}

static lode_status get_line(struct reader *reader, const char **attributes, uint32_t *line)
{
    const char *text = attribute(attributes, "l");
    uint64_t number = 0;
    *line = 0;
    if (text == NULL)
        return LODE_OK;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || number > UINT32_MAX)
            return bad_attribute(reader, "l");
        number = number * 10 + (uint64_t)(*at - '0');
    }
    if (*text == '\0' || number > UINT32_MAX)
        return bad_attribute(reader, "l");
    *line = (uint32_t)number;
    return LODE_OK;
}

static lode_status get_string(struct reader *reader, const char *text, uint32_t *number)
{
    *number = LODE_NO_NUMBER;
    if (text == NULL || *text == '\0')
        return LODE_OK;
    return lode_strings_put(&reader->strings, text, number) ? LODE_OK
                                                            : lode_fail_memory(reader->report->error);
}

/* "0x12ab"; moves behind it. */
static bool parse_hex(const char **text, uint64_t *out)
{
    const char *at = *text;
    unsigned digits = 0;
    if (at[0] != '0' || at[1] != 'x')
        return false;
    *out = 0;
    for (at += 2; digits <= 16; at++, digits++) {
        char c = *at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16)
            break;
        *out = *out << 4 | digit;
    }
    *text = at;
    return digits > 0 && digits <= 16;
}

/* The next of "[0x1-0x2) [0x5-0x9)}"; false at the end. */
static bool next_range(const char **text, struct hpcstruct_range *range, bool *is_valid)
{
    const char *at = *text;
    while (*at == ' ')
        at++;
    if (*at == '}') {
        *is_valid = at[1] == '\0';
        return false;
    }
    *is_valid = false;
    if (*at++ != '[' || !parse_hex(&at, &range->start) || *at++ != '-' || !parse_hex(&at, &range->end) ||
        *at++ != ')' || range->end <= range->start)
        return false;
    *text = at;
    return true;
}

/* The first address of the ranges. */
static lode_status get_address(struct reader *reader, const char **attributes, uint64_t *address)
{
    const char *text = attribute(attributes, "v");
    struct hpcstruct_range range;
    bool is_valid;
    *address = 0;
    if (text == NULL || *text++ != '{' || !next_range(&text, &range, &is_valid))
        return bad_attribute(reader, "v");
    *address = range.start;
    return LODE_OK;
}

/* ---- elements ---- */

static lode_status add_scope(struct reader *reader, struct frame *frame, struct hpcstruct_scope scope)
{
    struct hpcstruct_scope *slot = lode_array_push(&reader->module.scopes);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = scope;
    frame->scope = (uint32_t)(reader->module.scopes.count - 1);
    return LODE_OK;
}

static lode_status on_lm(struct reader *reader, const char **attributes, struct frame *frame)
{
    const char *path = attribute(attributes, "n"), *calls = attribute(attributes, "has-calls");
    uint32_t number;
    struct hpcstruct_module *module = &reader->module;
    (void)frame;
    if (path == NULL || *path == '\0')
        return bad_attribute(reader, "n");
    LODE_TRY(get_string(reader, path, &number));
    module->scopes.count = module->ranges.count = module->calls.count = 0;
    lode_map_clear(&reader->function_at);
    *module = (struct hpcstruct_module){.path = lode_strings_at(&reader->strings, number),
                                        .strings = &reader->strings,
                                        .has_calls = calls && strcmp(calls, "1") == 0,
                                        .scopes = module->scopes,
                                        .ranges = module->ranges,
                                        .calls = module->calls};
    return LODE_OK;
}

static lode_status on_f(struct reader *reader, const char **attributes, struct frame *frame)
{
    return get_string(reader, attribute(attributes, "n"), &frame->file);
}

static lode_status on_p(struct reader *reader, const char **attributes, struct frame *frame)
{
    struct hpcstruct_scope scope = {
        .parent = LODE_NO_NUMBER, .file = frame->file, .kind = HPCSTRUCT_FUNCTION};
    bool added;
    LODE_TRY(get_string(reader, attribute(attributes, "n"), &scope.name));
    LODE_TRY(get_line(reader, attributes, &scope.line));
    LODE_TRY(get_address(reader, attributes, &scope.address));
    LODE_TRY(add_scope(reader, frame, scope));
    frame->function = frame->scope;
    LODE_TRY_ALLOC(lode_map_add(&reader->function_at, scope.address, frame->scope, &added),
                   reader->report->error);
    reader->module.functions += added;
    if (added)
        return LODE_OK;
    reader->module.is_cut = true;
    return struct_finding(reader, HPCRUN_RULE_STRUCT_TWICE, "there are two functions at 0x%" PRIx64,
                          scope.address);
}

static lode_status on_l(struct reader *reader, const char **attributes, struct frame *frame)
{
    const char *file = attribute(attributes, "f");
    struct hpcstruct_scope scope = {.parent = frame->scope, .name = LODE_NO_NUMBER, .kind = HPCSTRUCT_LOOP};
    if (file && *file)
        LODE_TRY(get_string(reader, file, &frame->file));
    scope.file = frame->file;
    LODE_TRY(get_line(reader, attributes, &scope.line));
    LODE_TRY(get_address(reader, attributes, &scope.address));
    reader->module.loops++;
    return add_scope(reader, frame, scope);
}

/* An A alone only names a file. In another one, it is a function that is inlined at its line. */
static lode_status on_a(struct reader *reader, const char **attributes, struct frame *frame)
{
    const char *file = attribute(attributes, "f");
    struct hpcstruct_scope site = {.parent = frame->scope,
                                   .name = LODE_NO_NUMBER,
                                   .file = frame->file,
                                   .line = frame->line,
                                   .kind = HPCSTRUCT_LINE};
    struct hpcstruct_scope inlined = {.kind = HPCSTRUCT_INLINED};
    if (file && *file)
        LODE_TRY(get_string(reader, file, &frame->file));
    LODE_TRY(get_line(reader, attributes, &frame->line));
    if (frame->element != INNER_A)
        return LODE_OK;
    LODE_TRY(add_scope(reader, frame, site));
    inlined.parent = frame->scope;
    inlined.file = frame->file;
    inlined.line = frame->line;
    LODE_TRY(get_string(reader, attribute(attributes, "n"), &inlined.name));
    reader->module.inlined++;
    return add_scope(reader, frame, inlined);
}

static lode_status add_ranges(struct reader *reader, const char *text, uint32_t scope)
{
    struct hpcstruct_range range;
    bool is_valid = true;
    if (text == NULL || *text++ != '{')
        return bad_attribute(reader, "v");
    while (next_range(&text, &range, &is_valid)) {
        struct hpcstruct_range *slot = lode_array_push(&reader->module.ranges);
        if (slot == NULL && reader->module.ranges.count >= HPCSTRUCT_RANGES_MOST) {
            LODE_TRY(struct_finding(reader, HPCRUN_RULE_STRUCT_LIMIT, "a binary has more than %d ranges",
                                    HPCSTRUCT_RANGES_MOST));
            return LODE_END;
        }
        LODE_TRY_ALLOC(slot, reader->report->error);
        *slot = (struct hpcstruct_range){range.start, range.end, scope};
    }
    return is_valid ? LODE_OK : bad_attribute(reader, "v");
}

static lode_status on_s(struct reader *reader, const char **attributes, struct frame *frame)
{
    struct hpcstruct_scope scope = {
        .parent = frame->scope, .name = LODE_NO_NUMBER, .file = frame->file, .kind = HPCSTRUCT_LINE};
    LODE_TRY(get_line(reader, attributes, &scope.line));
    LODE_TRY(add_scope(reader, frame, scope));
    reader->module.statements++;
    return add_ranges(reader, attribute(attributes, "v"), frame->scope);
}

static lode_status on_c(struct reader *reader, const char **attributes, struct frame *frame)
{
    const char *text = attribute(attributes, "t");
    struct hpcstruct_call call = {.function = frame->function};
    LODE_TRY(on_s(reader, attributes, frame));
    if (text == NULL || *text == '\0')
        return LODE_OK;
    if (!parse_hex(&text, &call.callee) || *text != '\0')
        return bad_attribute(reader, "t");
    LODE_TRY(get_address(reader, attributes, &call.address));
    struct hpcstruct_call *slot = lode_array_push(&reader->module.calls);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = call;
    return LODE_OK;
}

typedef lode_status (*element_fn)(struct reader *reader, const char **attributes, struct frame *frame);
static const element_fn element_readers[] = {
    [LM] = on_lm, [F] = on_f, [P] = on_p, [L] = on_l, [S] = on_s, [C] = on_c, [A] = on_a, [INNER_A] = on_a};

/* Which elements an element may be in, as bits. */
static const unsigned parents[ELEMENTS] = {
    [LM] = 1u << ROOT,
    [F] = 1u << LM,
    [P] = 1u << F,
    [L] = 1u << P | 1u << L | 1u << A | 1u << INNER_A,
    [S] = 1u << P | 1u << L | 1u << A | 1u << INNER_A,
    [C] = 1u << P | 1u << L | 1u << A | 1u << INNER_A,
    [A] = 1u << P | 1u << L | 1u << A | 1u << INNER_A,
};

/* ---- documents ---- */

static lode_status check_limits(struct reader *reader, const char **attributes)
{
    bool within = reader->frames.count < HPCSTRUCT_DEPTH_MOST;
    for (const char **at = attributes; *at && within; at += 2)
        within = strnlen(at[1], HPCSTRUCT_ATTRIBUTE_MOST + 1) <= HPCSTRUCT_ATTRIBUTE_MOST;
    if (within)
        return LODE_OK;
    LODE_TRY(struct_finding(reader, HPCRUN_RULE_STRUCT_LIMIT,
                            "elements are nested more than %d deep, or an attribute is too long",
                            HPCSTRUCT_DEPTH_MOST));
    return LODE_END;
}

static lode_status begin_root(struct reader *reader, const char *name)
{
    if (strcmp(name, element_names[ROOT]) != 0) {
        LODE_TRY(
            struct_finding(reader, HPCRUN_RULE_STRUCT_XML, "the document is not an %s", element_names[ROOT]));
        return LODE_END;
    }
    struct frame *slot = lode_array_push(&reader->frames);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = (struct frame){.file = LODE_NO_NUMBER, .function = LODE_NO_NUMBER, .scope = LODE_NO_NUMBER};
    return LODE_OK;
}

static lode_status begin_element(struct reader *reader, const char *name, const char **attributes)
{
    LODE_TRY(check_limits(reader, attributes));
    if (reader->frames.count == 0)
        return begin_root(reader, name);
    struct frame frame = *LODE_ARRAY_AT(&reader->frames, struct frame, reader->frames.count - 1);
    enum element outer = frame.element, element = LM;
    while (element <= A && strcmp(element_names[element], name) != 0)
        element++;
    if (!frame.is_ignored && (element > A || !(parents[element] & 1u << outer))) {
        frame.is_ignored = true;
        LODE_TRY(struct_finding(reader, HPCRUN_RULE_STRUCT_ELEMENT, "an element is unknown or misplaced"));
    }
    frame.element = element == A && outer == A ? INNER_A : element;
    if (!frame.is_ignored && !(reader->module.is_cut && element != LM))
        LODE_TRY(element_readers[frame.element](reader, attributes, &frame));
    struct frame *slot = lode_array_push(&reader->frames);
    LODE_TRY_ALLOC(slot, reader->report->error);
    *slot = frame;
    return LODE_OK;
}

static lode_status check_calls(struct reader *reader)
{
    for (size_t i = 0; i < reader->module.calls.count; i++) {
        uint64_t callee = LODE_ARRAY_AT(&reader->module.calls, struct hpcstruct_call, i)->callee;
        if (lode_map_get(&reader->function_at, callee) == NULL)
            return struct_finding(reader, HPCRUN_RULE_STRUCT_CALLEE, "there is no function at 0x%" PRIx64,
                                  callee);
    }
    return LODE_OK;
}

static lode_status end_module(struct reader *reader)
{
    struct hpcstruct_module *module = &reader->module;
    LODE_TRY_ALLOC(lode_hpcstruct_settle(&module->ranges, &module->dropped), reader->report->error);
    LODE_TRY(check_calls(reader));
    if (module->dropped > 0 && reader->level == LODE_CHECK_FULL)
        LODE_TRY(struct_finding(reader, HPCRUN_RULE_STRUCT_OVERLAP, "%s of %s overlapping others",
                                LODE_COUNTED(module->dropped, "range", "ranges"), module->path));
    LODE_TRY(reader->on_module ? reader->on_module(reader->user, module) : LODE_OK);
    module->is_cut = false;
    return LODE_OK;
}

/* ---- expat ---- */

static void stop(struct reader *reader, lode_status status)
{
    if (status == LODE_OK)
        return;
    reader->status = status;
    XML_StopParser(reader->parser, XML_FALSE);
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *reader = user;
    if (reader->status == LODE_OK)
        stop(reader, begin_element(reader, name, attributes));
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct reader *reader = user;
    (void)name;
    if (reader->status != LODE_OK || reader->frames.count == 0)
        return;
    struct frame frame = *LODE_ARRAY_AT(&reader->frames, struct frame, reader->frames.count - 1);
    lode_array_pop(&reader->frames);
    if (frame.element == LM && !frame.is_ignored)
        stop(reader, end_module(reader));
}

static void refuse(struct reader *reader, const char *what)
{
    if (reader->status != LODE_OK)
        return;
    lode_status status =
        struct_finding(reader, HPCRUN_RULE_STRUCT_DECLARATION, "the document declares %s", what);
    stop(reader, status == LODE_OK ? LODE_END : status);
}

/* Entities and default attributes expand unboundedly; hpcstruct declares neither. */
static void XMLCALL on_entity(void *user, const XML_Char *name, int is_parameter, const XML_Char *value,
                              int length, const XML_Char *base, const XML_Char *system_id,
                              const XML_Char *public_id, const XML_Char *notation)
{
    (void)name;
    (void)is_parameter;
    (void)value;
    (void)length;
    (void)base;
    (void)system_id;
    (void)public_id;
    (void)notation;
    refuse(user, "an entity");
}

static void XMLCALL on_attlist(void *user, const XML_Char *element, const XML_Char *name,
                               const XML_Char *type, const XML_Char *value, int is_required)
{
    (void)element;
    (void)name;
    (void)type;
    (void)is_required;
    if (value)
        refuse(user, "the value of an attribute");
}

static lode_status parse(struct reader *reader, struct lode_range rest)
{
    do {
        int size = rest.size > MAX_PIECE ? MAX_PIECE : (int)rest.size;
        bool last = (uint64_t)size == rest.size;
        enum XML_Status status = XML_Parse(reader->parser, (const char *)rest.data, size, last);
        if (reader->status != LODE_OK)
            return reader->status;
        if (status == XML_STATUS_ERROR) {
            if (XML_GetErrorCode(reader->parser) == XML_ERROR_NO_MEMORY)
                return lode_fail_memory(reader->report->error);
            LODE_TRY(struct_finding(reader, HPCRUN_RULE_STRUCT_XML, "not XML: %s",
                                    XML_ErrorString(XML_GetErrorCode(reader->parser))));
            return LODE_END;
        }
        rest = (struct lode_range){rest.data + size, rest.size - (uint64_t)size};
    } while (rest.size > 0);
    return LODE_OK;
}

lode_status lode_hpcstruct_read(const char *file, struct lode_range bytes, lode_check_level level,
                                struct lode_report *report, hpcstruct_fn on_module, void *user)
{
    struct reader reader = {
        .report = report, .file = file, .level = level, .on_module = on_module, .user = user};
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    lode_array_init(&reader.frames, sizeof(struct frame), HPCSTRUCT_DEPTH_MOST + 1);
    lode_array_init(&reader.module.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&reader.module.ranges, sizeof(struct hpcstruct_range), HPCSTRUCT_RANGES_MOST);
    lode_array_init(&reader.module.calls, sizeof(struct hpcstruct_call), UINT32_MAX - 1);
    lode_strings_init(&reader.strings);
    lode_map_init(&reader.function_at);
    reader.parser = XML_ParserCreate(NULL);
    lode_status status = reader.parser ? LODE_OK : lode_fail_memory(report->error);
    if (status == LODE_OK) {
        XML_SetUserData(reader.parser, &reader);
        XML_SetElementHandler(reader.parser, on_start, on_end);
        XML_SetEntityDeclHandler(reader.parser, on_entity);
        XML_SetAttlistDeclHandler(reader.parser, on_attlist);
        status = parse(&reader, bytes);
        XML_ParserFree(reader.parser);
    }
    lode_array_free(&reader.frames);
    lode_array_free(&reader.module.scopes);
    lode_array_free(&reader.module.ranges);
    lode_array_free(&reader.module.calls);
    lode_strings_free(&reader.strings);
    lode_map_free(&reader.function_at);
    return status;
}
