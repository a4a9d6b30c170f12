/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns of function names: POSIX extended regular expressions that match anywhere in a name, and
 * globs that match all of it, rewritten for PCRE2. Patterns come from a file, so PCRE2's DFA
 * matcher runs them: it never backtracks, and its workspace bounds the states per byte of the name.
 */
#include "base/error.h"
#include "format/uftrace/args/argspec.h"
#include <stdio.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    TEXT_MAX = 512,
    REWRITTEN_MAX = 4 * TEXT_MAX + 64,
    GROUPS_MAX = 32,
    REPEAT_MAX = 255,
    WORKSPACE = 4096,    /* integers; a state takes three, in two lists */
    MATCH_DATA_MAX = 512 /* bytes that PCRE2 needs for one pair of offsets */
};

struct lode_uft_pattern {
    pcre2_code *code;
};

/* A pattern that is being rewritten. */
struct rewriter {
    struct uft_text text;
    char out[REWRITTEN_MAX];
    size_t length;
    size_t cost;               /* approximate number of states */
    size_t groups[GROUPS_MAX]; /* where each open group begins */
    unsigned depth;
    int atom;         /* start of the piece that a repetition applies to; -1: none */
    bool is_repeated; /* the piece has a repetition already */
    lode_status status;
};

static void fail(struct rewriter *self, lode_status status)
{
    if (self->status == LODE_OK)
        self->status = status;
}

static void put(struct rewriter *self, const char *text)
{
    size_t length = strlen(text);
    if (length >= sizeof self->out - self->length) {
        fail(self, LODE_ERR_LIMIT);
        return;
    }
    memcpy(self->out + self->length, text, length + 1);
    self->length += length;
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A literal byte. */
static void put_byte(struct rewriter *self, char byte)
{
    char text[3] = {'\\', byte, '\0'};
    put(self, is_letter_or_digit(byte) ? text + 1 : text);
}

static void begin_atom(struct rewriter *self)
{
    self->atom = (int)self->length;
    self->is_repeated = false;
}

/* ---- brackets ---- */

/* [:alpha:], or [.x.] and [=x=] of one character: these set `byte` to it. */
static bool take_named(struct rewriter *self, int *byte)
{
    char kind = self->text.at[1], name[16];
    const char *start = self->text.at + 2, *end = start;
    while (end + 1 < self->text.end && !(end[0] == kind && end[1] == ']'))
        end++;
    if (end + 1 >= self->text.end || end - start >= (ptrdiff_t)sizeof name - 4)
        return false;
    self->text.at = end + 2;
    *byte = kind != ':' && end - start == 1 ? (unsigned char)*start : -1;
    if (*byte >= 0)
        return true;
    snprintf(name, sizeof name, "[:%.*s:]", (int)(end - start), start);
    put(self, name);
    return kind == ':';
}

static bool take_set_item(struct rewriter *self, int *byte)
{
    struct uft_text *text = &self->text;
    if (uft_length(*text) >= 2 && text->at[0] == '[' && strchr(":.=", text->at[1]) && text->at[1] != '\0')
        return take_named(self, byte);
    if (text->at == text->end)
        return false;
    *byte = (unsigned char)*text->at++;
    return true;
}

/* One byte, a range or a class. */
static bool take_set_part(struct rewriter *self, bool is_glob)
{
    struct uft_text *text = &self->text;
    int first, last;
    if (is_glob && text->at[0] == '\\' && uft_length(*text) >= 2)
        text->at++;
    if (!take_set_item(self, &first))
        return false;
    if (first >= 0)
        put_byte(self, (char)first);
    if (uft_length(*text) < 2 || text->at[0] != '-' || text->at[1] == ']')
        return true;
    text->at++;
    put(self, "-");
    if (first < 0 || !take_set_item(self, &last) || last < first)
        return false;
    put_byte(self, (char)last);
    return true;
}

/* The part after "[". */
static void take_set(struct rewriter *self, bool is_glob)
{
    struct uft_text *text = &self->text;
    bool is_negated = uft_take(text, "^") || (is_glob && uft_take(text, "!"));
    bool is_good = true, is_first = true;
    begin_atom(self);
    put(self, is_negated ? "[^" : "[");
    /* A leading "]" is a literal. */
    for (; is_good && text->at < text->end && (*text->at != ']' || is_first); is_first = false)
        is_good = take_set_part(self, is_glob);
    if (!is_good || !uft_take(text, "]"))
        fail(self, LODE_ERR_CORRUPT);
    put(self, "]");
}

/* ---- regular expressions ---- */

static void begin_group(struct rewriter *self)
{
    if (self->depth == GROUPS_MAX) {
        fail(self, LODE_ERR_LIMIT);
        return;
    }
    self->groups[self->depth++] = self->length;
    self->atom = -1;
    put(self, "(?:");
}

static void end_group(struct rewriter *self)
{
    begin_atom(self);
    /* An unmatched ")" is a literal. */
    if (self->depth == 0) {
        put_byte(self, ')');
        return;
    }
    self->atom = (int)self->groups[--self->depth];
    put(self, ")");
}

static bool take_count(struct uft_text *text, int *out)
{
    uint64_t value;
    if (!uft_take_number(text, 10, &value) || value > REPEAT_MAX)
        return false;
    *out = (int)value;
    return true;
}

/* {2}, {2,}, {2,3} or {,3}; most < 0: any number. */
static bool take_limits(struct uft_text *text, int *least, int *most)
{
    bool has_least = take_count(text, least), has_most = false;
    *most = has_least ? *least : -1;
    if (uft_take(text, ",")) {
        *most = -1;
        has_most = take_count(text, most);
    }
    bool is_good = (has_least || has_most) && (*most < 0 || *most >= *least);
    return is_good && uft_take(text, "}");
}

/* A repetition of a repetition; PCRE2 would read it as a modifier of the first. */
static void enclose_atom(struct rewriter *self)
{
    static const char open[] = "(?:";
    size_t start = (size_t)self->atom, length = self->length - start;
    put(self, "(?:)");
    if (self->status != LODE_OK)
        return;
    memmove(self->out + start + sizeof open - 1, self->out + start, length);
    memcpy(self->out + start, open, sizeof open - 1);
    self->out[self->length - 1] = ')';
}

static void take_repetition(struct rewriter *self, char kind)
{
    char text[32] = {kind, '\0'};
    int least = 0, most = 0;
    if (self->atom < 0 || (kind == '{' && !take_limits(&self->text, &least, &most))) {
        fail(self, LODE_ERR_CORRUPT);
        return;
    }
    if (self->is_repeated)
        enclose_atom(self);
    if (kind == '{' && most < 0)
        snprintf(text, sizeof text, "{%d,}", least);
    else if (kind == '{')
        snprintf(text, sizeof text, "{%d,%d}", least, most);
    self->cost += (self->length - (size_t)self->atom) * (size_t)(most > least ? most : least);
    put(self, text);
    self->is_repeated = true;
}

static void take_escape(struct rewriter *self)
{
    struct uft_text *text = &self->text;
    if (text->at == text->end || strchr("123456789bB<>", *text->at)) {
        /* Back references need backtracking; word boundaries are not supported. */
        fail(self, LODE_ERR_CORRUPT);
        return;
    }
    char kind = *text->at++;
    char same[3] = {'\\', kind, '\0'};
    begin_atom(self);
    if (kind == '`' || kind == '\'')
        put(self, kind == '`' ? "(?:\\A)" : "(?:\\z)");
    else if (strchr("wWsS", kind))
        put(self, same);
    else
        put_byte(self, kind);
}

static void take_regex_byte(struct rewriter *self, char c)
{
    const char special[2] = {c, '\0'};
    if (c == '^' || c == '$' || c == '|') {
        /* An anchor cannot be repeated. */
        self->atom = -1;
        put(self, special);
        return;
    }
    begin_atom(self);
    if (c == '.')
        put(self, special);
    else
        put_byte(self, c);
}

static void rewrite_regex(struct rewriter *self)
{
    put(self, ".*?(?:");
    while (self->status == LODE_OK && self->text.at < self->text.end) {
        char c = *self->text.at++;
        if (c == '(')
            begin_group(self);
        else if (c == ')')
            end_group(self);
        else if (c == '*' || c == '+' || c == '?' || c == '{')
            take_repetition(self, c);
        else if (c == '[')
            take_set(self, false);
        else if (c == '\\')
            take_escape(self);
        else
            take_regex_byte(self, c);
    }
    if (self->depth != 0)
        fail(self, LODE_ERR_CORRUPT);
    put(self, ")");
}

static void rewrite_glob(struct rewriter *self)
{
    while (self->status == LODE_OK && self->text.at < self->text.end) {
        char c = *self->text.at++;
        bool is_last = self->text.at == self->text.end;
        if (c == '[' && !is_last && memchr(self->text.at, ']', uft_length(self->text)))
            take_set(self, true);
        else if (c == '\\' && !is_last)
            put_byte(self, *self->text.at++);
        else if (c == '*' || c == '?')
            put(self, c == '*' ? ".*" : ".");
        else
            put_byte(self, c);
    }
    put(self, "\\z");
}

/* ---- compiling and matching ---- */

static void *alloc_in_arena(size_t size, void *arena)
{
    return lode_arena_alloc(arena, size, 1);
}

/* The arena frees everything at once. */
static void free_nothing(void *memory, void *data)
{
    (void)memory;
    (void)data;
}

static lode_status status_of(int code)
{
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return LODE_ERR_MEMORY;
    return code == PCRE2_ERROR_PATTERN_TOO_LARGE ? LODE_ERR_LIMIT : LODE_ERR_CORRUPT;
}

static lode_status compile(struct lode_uft_pattern *pattern, struct lode_arena *arena,
                           const struct rewriter *from)
{
    const uint32_t options =
        PCRE2_ANCHORED | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_UTF;
    int code = PCRE2_ERROR_HEAP_FAILED;
    size_t offset;
    pcre2_general_context *general = pcre2_general_context_create(alloc_in_arena, free_nothing, arena);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    if (context)
        pattern->code = pcre2_compile((PCRE2_SPTR)from->out, from->length, options, &code, &offset, context);
    return pattern->code ? LODE_OK : status_of(code);
}

lode_status lode_uft_pattern_compile(const struct lode_uft_pattern **out, struct lode_arena *arena,
                                     struct uft_text text, bool is_glob, size_t *budget)
{
    struct rewriter self = {.text = text, .atom = -1, .status = LODE_OK};
    *out = NULL;
    if (uft_length(text) > TEXT_MAX)
        return LODE_ERR_LIMIT;
    if (is_glob)
        rewrite_glob(&self);
    else
        rewrite_regex(&self);
    self.cost += uft_length(text);
    if (self.status == LODE_OK && self.cost > *budget)
        return LODE_ERR_LIMIT;
    if (self.status != LODE_OK)
        return self.status;
    struct lode_uft_pattern *pattern = lode_arena_alloc(arena, 1, sizeof *pattern);
    if (pattern == NULL)
        return LODE_ERR_MEMORY;
    LODE_TRY(compile(pattern, arena, &self));
    *budget -= self.cost;
    *out = pattern;
    return LODE_OK;
}

/* Memory of the caller, for a few small allocations of PCRE2. */
struct pieces {
    _Alignas(max_align_t) unsigned char bytes[MATCH_DATA_MAX];
    size_t used;
};

static void *take_piece(size_t size, void *data)
{
    struct pieces *pieces = data;
    size_t start = pieces->used;
    if (size > sizeof pieces->bytes - start)
        return NULL;
    pieces->used = (start + size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    return pieces->bytes + start;
}

bool lode_uft_pattern_matches(const struct lode_uft_pattern *pattern, const char *name, size_t length)
{
    struct pieces pieces;
    int workspace[WORKSPACE];
    pieces.used = 0;
    pcre2_general_context *general = pcre2_general_context_create(take_piece, free_nothing, &pieces);
    pcre2_match_data *data = general ? pcre2_match_data_create(1, general) : NULL;
    return data && pcre2_dfa_match(pattern->code, (PCRE2_SPTR)name, length, 0, PCRE2_DFA_SHORTEST, data, NULL,
                                   workspace, WORKSPACE) >= 0;
}
