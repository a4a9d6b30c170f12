/* SPDX-License-Identifier: BSD-3-Clause */
/* The actions of a specification, such as "arg1/i32%rdi,fparg1/64,arg2/e:color" or "retval/s". */
#include "format/uftrace/args/argspec.h"

/* ---- values ---- */

bool lode_uft_values_add(struct lode_uft_values *values, const struct lode_uft_value *value)
{
    for (uint32_t i = 0; i < values->count; i++) {
        struct lode_uft_value *known = &values->items[i];
        if (known->index != value->index || known->is_float != value->is_float)
            continue;
        if (value->is_exact || !known->is_exact)
            *known = *value;
        return true;
    }
    if (values->count == UFT_SPEC_VALUES_MAX)
        return false;
    values->items[values->count++] = *value;
    return true;
}

const struct lode_uft_spec *lode_uft_values_keep(const struct lode_uft_values *values,
                                                 struct lode_arena *arena)
{
    struct lode_uft_spec *spec = NULL;
    spec = lode_arena_alloc(arena, 1, sizeof *spec + values->count * sizeof *spec->values);
    if (spec == NULL)
        return NULL;
    spec->count = values->count;
    memcpy(spec->values, values->items, values->count * sizeof *spec->values);
    return spec;
}

/* ---- one action ---- */

/* The input, and where names are stored. */
struct parser {
    struct lode_uft_specs *specs;
    struct lode_arena *arena;
    bool has_memory;
};

static const char *keep_text(struct parser *self, struct uft_text text)
{
    const char *copy = uft_copy(self->arena, text);
    self->has_memory = self->has_memory && copy != NULL;
    return copy;
}

static bool parse_struct(struct parser *self, struct uft_text *text, struct lode_uft_value *value)
{
    uint64_t size = 0;
    if (text->at < text->end && *text->at != ':' && *text->at != '%' && !uft_take_number(text, 10, &size))
        return false;
    if (size > UFT_PAYLOAD_MAX)
        return false;
    value->kind = LODE_VALUE_BYTES;
    value->size = (uint16_t)size;
    if (!uft_take(text, ":"))
        return true;
    const char *end = memchr(text->at, '%', uft_length(*text));
    struct uft_text name = {text->at, end ? end : text->end};
    text->at = name.end;
    if (uft_length(name) > 0)
        value->label = keep_text(self, name);
    return true;
}

static bool parse_enum(struct parser *self, struct uft_text *text, struct lode_uft_value *value)
{
    if (!uft_take(text, ":"))
        return false;
    const char *end = memchr(text->at, '%', uft_length(*text));
    struct uft_text name = {text->at, end ? end : text->end};
    text->at = name.end;
    if (uft_length(name) == 0)
        return false;
    value->kind = LODE_VALUE_ENUM;
    value->enumeration = lode_uft_enum_find(self->specs, self->arena, name);
    self->has_memory = self->has_memory && value->enumeration != NULL;
    return true;
}

/* The number of bits, if specified. */
static bool parse_size(struct uft_text *text, struct lode_uft_value *value)
{
    uint64_t bits;
    if (text->at == text->end || *text->at == '%')
        return true;
    bool is_real = value->kind == LODE_VALUE_REAL;
    if (!uft_take_number(text, 10, &bits))
        return false;
    bool is_known =
        bits == 32 || bits == 64 || (is_real && bits == 80) || (!is_real && (bits == 8 || bits == 16));
    value->size = (uint16_t)(bits / 8);
    return is_known;
}

static bool parse_format(struct parser *self, struct uft_text *text, struct lode_uft_value *value)
{
    static const struct {
        char letter;
        lode_value_kind kind;
    } formats[] = {
        {'d', LODE_VALUE_SIGNED},    {'i', LODE_VALUE_SIGNED}, {'u', LODE_VALUE_UNSIGNED},
        {'x', LODE_VALUE_HEX},       {'o', LODE_VALUE_OCTAL},  {'p', LODE_VALUE_POINTER},
        {'c', LODE_VALUE_CHARACTER}, {'f', LODE_VALUE_REAL},   {'s', LODE_VALUE_TEXT},
        {'S', LODE_VALUE_TEXT},
    };
    if (text->at == text->end)
        return false;
    char letter = *text->at++;
    if (letter == 't')
        return parse_struct(self, text, value);
    if (letter == 'e')
        return parse_enum(self, text, value);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].letter != letter)
            continue;
        value->kind = formats[i].kind;
        value->label = letter == 'S' ? "s" : NULL;
        if (value->kind == LODE_VALUE_REAL || value->kind == LODE_VALUE_CHARACTER)
            value->size = value->kind == LODE_VALUE_REAL ? 8 : 1;
        if (!parse_size(text, value))
            return false;
        if (value->kind == LODE_VALUE_TEXT)
            value->size = 0;
        return true;
    }
    return false;
}

/* The part after "arg1", "fparg1" or "retval". */
static bool parse_form(struct parser *self, struct uft_text text, struct lode_uft_value *value)
{
    value->kind = value->is_float ? LODE_VALUE_REAL : LODE_VALUE_AUTO;
    value->size = value->is_float ? 8 : (uint16_t)self->specs->word;
    if (uft_take(&text, "/")) {
        bool is_size = value->is_float && text.at < text.end && *text.at >= '0' && *text.at <= '9';
        if (!(is_size ? parse_size(&text, value) : parse_format(self, &text, value)))
            return false;
    }
    /* The location of the value in the recorded process is ignored. */
    return text.at == text.end || *text.at == '%';
}

static bool parse_index(struct uft_text *text, struct lode_uft_value *value)
{
    uint64_t index;
    if (!uft_take_number(text, 10, &index) || index == 0 || index > 1000)
        return false;
    value->index = (uint16_t)index;
    return true;
}

/* Trigger actions, which may occur between values; anything else is a module. */
static bool is_trigger(struct uft_text text)
{
    static const char *const words[] = {"filter", "notrace",  "depth=", "time=",     "size=",    "trace",
                                        "hide",   "caller",   "read=",  "color=",    "recover",  "finish",
                                        "if:",    "callsite", "clear",  "backtrace", "auto-args"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct uft_text rest = text;
        size_t length = strlen(words[i]);
        bool is_open =
            words[i][length - 1] == '=' || words[i][length - 1] == ':' || strcmp(words[i], "trace") == 0;
        if (uft_take(&rest, words[i]) && (is_open || rest.at == rest.end))
            return true;
    }
    return false;
}

static enum lode_uft_action parse_action(struct parser *self, struct uft_text text,
                                         struct lode_uft_value *value)
{
    bool is_good;
    if (uft_take(&text, "retval")) {
        is_good = true;
    } else if (uft_take(&text, "fparg")) {
        value->is_float = true;
        is_good = parse_index(&text, value);
    } else if (uft_take(&text, "arg")) {
        is_good = parse_index(&text, value);
    } else {
        return is_trigger(text) ? UFT_ACTION_OTHER : UFT_ACTION_MODULE;
    }
    if (!is_good || !parse_form(self, text, value))
        return UFT_ACTION_BAD;
    return self->has_memory ? UFT_ACTION_VALUE : UFT_ACTION_NO_MEMORY;
}

static bool is_wanted(const struct lode_uft_value *value, enum lode_uft_side side)
{
    return side == UFT_SIDE_BOTH || (value->index == 0) == (side == UFT_SIDE_RESULT);
}

enum lode_uft_action lode_uft_actions_parse(struct lode_uft_specs *specs, struct lode_arena *arena,
                                            struct uft_text text, enum lode_uft_side side, bool is_exact,
                                            struct lode_uft_values *values, struct uft_text *module)
{
    struct parser self = {specs, arena, true};
    *module = (struct uft_text){text.at, text.at};
    values->count = 0;
    while (text.at < text.end) {
        const char *comma = memchr(text.at, ',', uft_length(text));
        struct uft_text item = {text.at, comma ? comma : text.end};
        struct lode_uft_value value = {.is_exact = is_exact};
        enum lode_uft_action action = parse_action(&self, item, &value);
        text.at = comma ? comma + 1 : text.end;
        if (action == UFT_ACTION_MODULE)
            *module = item;
        else if (action == UFT_ACTION_BAD || action == UFT_ACTION_NO_MEMORY)
            return action;
        if (action == UFT_ACTION_VALUE && is_wanted(&value, side) && !lode_uft_values_add(values, &value))
            return UFT_ACTION_BAD;
    }
    return UFT_ACTION_VALUE;
}

/* ---- .dbg files ---- */

lode_status lode_uft_spec_read(struct lode_uft_specs *specs, struct lode_arena *arena, struct uft_text text,
                               const struct lode_uft_spec **out)
{
    struct lode_uft_values values;
    struct uft_text module;
    *out = NULL;
    if (!uft_take(&text, "@"))
        return LODE_ERR_CORRUPT;
    enum lode_uft_action action =
        lode_uft_actions_parse(specs, arena, text, UFT_SIDE_BOTH, true, &values, &module);
    if (action == UFT_ACTION_NO_MEMORY)
        return LODE_ERR_MEMORY;
    if (action != UFT_ACTION_VALUE || values.count == 0 || uft_length(module) > 0)
        return LODE_ERR_CORRUPT;
    *out = lode_uft_values_keep(&values, arena);
    return *out ? LODE_OK : LODE_ERR_MEMORY;
}

const struct lode_uft_spec *lode_uft_spec_parse(struct lode_uft_specs *specs, struct lode_arena *arena,
                                                const char *text, size_t length)
{
    const struct lode_uft_spec *spec;
    lode_status status = lode_uft_spec_read(specs, arena, (struct uft_text){text, text + length}, &spec);
    return status == LODE_OK ? spec : NULL;
}
