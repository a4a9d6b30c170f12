/* SPDX-License-Identifier: BSD-3-Clause */
/* Passing over the parts of mangled names (the C++ ABI of Itanium) that a simple name leaves out. */
#include "format/uftrace/args_mangled.h"

enum {
    NESTING_MAX = 256
};

struct frame {
    uint8_t kind;    /* lode_uft_mangled_kind */
    bool is_done;    /* LITERAL: the type is behind; ENCODING: the name is */
    bool wants_type; /* letters mean types, though expressions or names are usual here */
    bool is_cast;    /* "_" behind the type opens a list of expressions */
};

struct skipper {
    struct uft_text *text;
    struct frame frames[NESTING_MAX];
    unsigned depth;
    bool failed;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The byte at a distance, or NUL behind the end. */
static char peek(const struct uft_text *text, size_t distance)
{
    return distance < uft_length(*text) ? text->at[distance] : '\0';
}

static void advance(struct skipper *self, size_t count)
{
    size_t left = uft_length(*self->text);
    self->failed = self->failed || count > left;
    self->text->at += count > left ? left : count;
}

static void skip_digits(struct skipper *self)
{
    while (is_digit(peek(self->text, 0)))
        self->text->at++;
}

bool lode_uft_mangled_source_name(struct uft_text *text, struct uft_text *name)
{
    uint64_t length;
    if (!uft_take_number(text, 10, &length) || length == 0 || length > uft_length(*text))
        return false;
    *name = (struct uft_text){text->at, text->at + length};
    text->at = name->end;
    return true;
}

bool lode_uft_mangled_sequence(struct uft_text *text, int64_t *number)
{
    uint64_t value;
    *number = -1;
    if (is_digit(peek(text, 0))) {
        if (!uft_take_number(text, 10, &value) || value > INT32_MAX)
            return false;
        *number = (int64_t)value;
    }
    return uft_take(text, "_");
}

static struct frame *top(struct skipper *self)
{
    return &self->frames[self->depth - 1];
}

static void push(struct skipper *self, enum lode_uft_mangled_kind kind, size_t letters)
{
    advance(self, letters);
    if (self->depth == NESTING_MAX)
        self->failed = true;
    else
        self->frames[self->depth++] = (struct frame){.kind = (uint8_t)kind};
}

/* A type, or a name, is complete, unless template arguments follow. */
static void complete(struct skipper *self)
{
    struct frame *frame = top(self);
    frame->wants_type = false;
    frame->is_done = true;
    if (!frame->is_cast || peek(self->text, 0) == 'I')
        return;
    frame->is_cast = false;
    if (peek(self->text, 0) == '_')
        push(self, UFT_MANGLED_EXPRESSION, 1);
}

static void skip_sequence(struct skipper *self)
{
    int64_t number;
    self->failed = self->failed || !lode_uft_mangled_sequence(self->text, &number);
}

static void end_frame(struct skipper *self)
{
    enum lode_uft_mangled_kind kind = top(self)->kind;
    advance(self, 1);
    self->depth--;
    if (kind == UFT_MANGLED_LAMBDA)
        skip_sequence(self);
    if (self->depth > 0)
        complete(self);
}

static void skip_substitution(struct skipper *self)
{
    char next = peek(self->text, 1);
    advance(self, 2);
    if (next == 't')
        return;
    /* S_, or a number in base 36. */
    if (!is_lower(next))
        while (next != '_' && !self->failed) {
            next = peek(self->text, 0);
            advance(self, 1);
        }
    complete(self);
}

static void skip_parameter(struct skipper *self)
{
    char next = peek(self->text, 1);
    advance(self, 1);
    if (is_lower(next) || next == 'V' || next == 'T' || next == 'I' || next == 'S') {
        advance(self, 1);
        return;
    }
    if (next == 'L') {
        advance(self, 1);
        skip_sequence(self);
    }
    skip_sequence(self);
    complete(self);
}

static void skip_array(struct skipper *self)
{
    advance(self, 1);
    skip_digits(self);
    if (peek(self->text, 0) == '_')
        advance(self, 1);
}

/* What begins with D: destructors, decltype, vectors and newer types. */
static void skip_d(struct skipper *self)
{
    char next = peek(self->text, 1);
    if (next == 'T' || next == 't' || next == 'O') {
        push(self, UFT_MANGLED_EXPRESSION, 2);
        return;
    }
    if (next == 'w' || next == 'C') {
        push(self, UFT_MANGLED_TYPES, 2);
        return;
    }
    advance(self, 2);
    if (next == 'o' || next == 'p' || next == 'x')
        return;
    if (next == 'v' || next == 'F' || next == 'B' || next == 'U') {
        skip_digits(self);
        advance(self, 1);
        if (next == 'v')
            return;
    }
    complete(self);
}

static void skip_u(struct skipper *self)
{
    char next = peek(self->text, 1);
    if (next == 'l') {
        push(self, UFT_MANGLED_LAMBDA, 2);
    } else if (next == 't') {
        advance(self, 2);
        skip_sequence(self);
        complete(self);
    } else {
        advance(self, 1);
    }
}

/* L of a name that others cannot see, or of a literal. */
static void skip_l(struct skipper *self)
{
    const struct frame *frame = top(self);
    bool is_name =
        frame->kind == UFT_MANGLED_NESTED || (frame->kind == UFT_MANGLED_ENCODING && !frame->is_done);
    if (is_name && is_digit(peek(self->text, 1)))
        advance(self, 1);
    else if (peek(self->text, 1) == '_' && peek(self->text, 2) == 'Z')
        push(self, UFT_MANGLED_ENCODING, 3);
    else
        push(self, UFT_MANGLED_LITERAL, 1);
}

/* "_" that tells entities of one name apart, or ends the size of an array. */
static void skip_underscore(struct skipper *self)
{
    advance(self, 1);
    if (top(self)->kind == UFT_MANGLED_NEW) {
        top(self)->wants_type = true;
    } else if (peek(self->text, 0) == '_') {
        advance(self, 1);
        skip_digits(self);
        advance(self, 1);
    } else if (is_digit(peek(self->text, 0))) {
        advance(self, 1);
    }
}

/* A parameter of a function in an expression: fp_, fp0_, fL0p_. */
static void skip_function_parameter(struct skipper *self)
{
    char kind = peek(self->text, 1);
    advance(self, 2);
    if (kind == 'L') {
        skip_digits(self);
        advance(self, 1);
    }
    while (peek(self->text, 0) == 'K' || peek(self->text, 0) == 'V' || peek(self->text, 0) == 'r')
        self->text->at++;
    if (peek(self->text, 0) == 'T')
        advance(self, 1);
    else
        skip_sequence(self);
}

static bool is_one_of(const char *codes, char first, char second)
{
    for (; codes[0]; codes += 2)
        if (codes[0] == first && codes[1] == second)
            return true;
    return false;
}

/* Two letters of an expression. */
static void skip_operator(struct skipper *self)
{
    char first = peek(self->text, 0), second = peek(self->text, 1);
    if (first == 'f' && (second == 'p' || (second == 'L' && is_digit(peek(self->text, 2))))) {
        skip_function_parameter(self);
    } else if (is_one_of("flfrfLfRon", first, second)) {
        advance(self, 4);
    } else if (is_one_of("clilcpsP", first, second)) {
        push(self, UFT_MANGLED_EXPRESSION, 2);
    } else if (is_one_of("tl", first, second)) {
        push(self, UFT_MANGLED_EXPRESSION, 2);
        top(self)->wants_type = true;
    } else if (is_one_of("nwna", first, second)) {
        push(self, UFT_MANGLED_NEW, 2);
    } else {
        advance(self, 2);
        top(self)->is_cast = first == 'c' && second == 'v';
        top(self)->wants_type = is_one_of("cvstattiscdcrcccsr", first, second);
        if (is_one_of("ppmm", first, second) && peek(self->text, 0) == '_')
            advance(self, 1);
    }
}

/* A small letter is a type, part of a name, or part of an expression. */
static void skip_lower(struct skipper *self)
{
    struct frame *frame = top(self);
    char c = peek(self->text, 0), next = peek(self->text, 1);
    bool is_expression = frame->kind == UFT_MANGLED_EXPRESSION || frame->kind == UFT_MANGLED_NEW;
    bool is_name =
        frame->kind == UFT_MANGLED_NESTED || (frame->kind == UFT_MANGLED_ENCODING && !frame->is_done);
    if (is_expression && !frame->wants_type) {
        skip_operator(self);
    } else if (is_name && !frame->wants_type && !(c == 'r' && strchr("SmMs", next) == NULL)) {
        advance(self, 2);
        if (c == 'c' && next == 'v')
            frame->wants_type = true;
        else
            frame->is_done = true;
    } else {
        advance(self, 1);
        if (c != 'r' && c != 'u')
            complete(self);
    }
}

static void skip_upper(struct skipper *self, char c)
{
    char next = peek(self->text, 1);
    if (c == 'I' || c == 'J' || c == 'F')
        push(self, UFT_MANGLED_TYPES, 1);
    else if (c == 'N')
        push(self, UFT_MANGLED_NESTED, 1);
    else if (c == 'X')
        push(self, UFT_MANGLED_EXPRESSION, 1);
    else if (c == 'Z')
        push(self, UFT_MANGLED_ENCODING, 1);
    else if (c == 'L')
        skip_l(self);
    else if (c == 'S')
        skip_substitution(self);
    else if (c == 'T')
        skip_parameter(self);
    else if (c == 'D')
        skip_d(self);
    else if (c == 'A')
        skip_array(self);
    else if (c == 'U')
        skip_u(self);
    else if (c == 'C' && (is_digit(next) || next == 'I'))
        advance(self, next == 'I' ? 3 : 2);
    else if (strchr("PROKVGMBYC", c))
        advance(self, 1);
    else
        self->failed = true;
}

static void skip_token(struct skipper *self)
{
    const struct frame *frame = top(self);
    struct uft_text name;
    char c = peek(self->text, 0);
    if (c == 'E') {
        end_frame(self);
    } else if (frame->kind == UFT_MANGLED_LITERAL && frame->is_done && c != 'I') {
        const char *end = memchr(self->text->at, 'E', uft_length(*self->text));
        self->failed = end == NULL;
        self->text->at = end ? end : self->text->end;
    } else if (is_digit(c)) {
        self->failed = !lode_uft_mangled_source_name(self->text, &name);
        complete(self);
    } else if (is_lower(c)) {
        skip_lower(self);
    } else if (c == '_') {
        skip_underscore(self);
    } else if (c >= 'A' && c <= 'Z') {
        skip_upper(self, c);
    } else {
        self->failed = true;
    }
}

bool lode_uft_mangled_skip(struct uft_text *text, enum lode_uft_mangled_kind kind, bool has_name)
{
    struct skipper self = {.text = text};
    push(&self, kind, 0);
    top(&self)->is_done = has_name;
    top(&self)->wants_type = has_name && kind == UFT_MANGLED_NESTED;
    while (self.depth > 0 && !self.failed)
        skip_token(&self);
    return !self.failed;
}
