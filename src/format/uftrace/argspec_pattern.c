/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns of function names: extended regular expressions, found anywhere in a name, and globs, which cover all of it. They come from a
 * file, so neither may take more than (size of the pattern) x (length of the name) steps: a pattern becomes a
 * program of a few instructions, all of whose threads advance together over the name.
 *
 * Jumps are relative, so that a piece of the program can be moved and copied: an operator works on the piece that was written last.
 */
#include "format/uftrace/argspec.h"

enum {
    PROGRAM_MAX = 512,
    SETS_MAX = 64,
    GROUPS_MAX = 32,
    TEXT_MAX = 512,
    REPEAT_MAX = 255
};

enum operation {
    OP_BYTE,  /* value */
    OP_SET,   /* value: which */
    OP_ANY,   /* one byte */
    OP_BEGIN, /* only at the beginning of the name */
    OP_END,
    OP_SPLIT, /* goes on at both jumps */
    OP_JUMP,  /* first */
    OP_FOUND
};

struct instruction {
    uint8_t operation, value;
    int16_t first, second; /* relative to this one */
};

struct set {
    uint64_t bits[4];
};

struct lode_uft_pattern {
    const struct instruction *program;
    const struct set *sets;
    uint16_t count;
};

/* A parenthesis that is open, or the whole. */
struct group {
    uint16_t start;  /* of its program */
    uint16_t branch; /* of the alternative that is being read */
    uint16_t
        pending; /* the last jump to its end that waits for it, + 1; `first` leads to the one before; 0: none */
};

struct compiler {
    struct uft_text text;
    struct instruction program[PROGRAM_MAX];
    struct set sets[SETS_MAX];
    struct group groups[GROUPS_MAX];
    uint16_t count, set_count, depth;
    int atom; /* where the piece begins that a repetition would apply to; -1: there is none */
    lode_status status;
};

static void set_add(struct set *set, unsigned char byte)
{
    set->bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static bool set_has(const struct set *set, unsigned char byte)
{
    return (set->bits[byte / 64] >> byte % 64 & 1) != 0;
}

static void fail(struct compiler *self, lode_status status)
{
    if (self->status == LODE_OK)
        self->status = status;
}

/* ---- pieces of the program ---- */

static void insert(struct compiler *self, size_t at, struct instruction instruction)
{
    if (self->count == PROGRAM_MAX) {
        fail(self, LODE_ERR_LIMIT);
        return;
    }
    memmove(&self->program[at + 1], &self->program[at], (self->count - at) * sizeof *self->program);
    self->program[at] = instruction;
    self->count++;
}

static void append(struct compiler *self, enum operation operation, size_t value, int first, int second)
{
    insert(self, self->count,
           (struct instruction){(uint8_t)operation, (uint8_t)value, (int16_t)first, (int16_t)second});
}

static void insert_split(struct compiler *self, size_t at, int first, int second)
{
    insert(self, at, (struct instruction){OP_SPLIT, 0, (int16_t)first, (int16_t)second});
}

/* Writes an atom: what a repetition behind it applies to. */
static void atom(struct compiler *self, enum operation operation, size_t value)
{
    self->atom = self->count;
    append(self, operation, value, 0, 0);
}

static struct set *new_set(struct compiler *self)
{
    if (self->set_count == SETS_MAX) {
        fail(self, LODE_ERR_LIMIT);
        return NULL;
    }
    atom(self, OP_SET, self->set_count);
    return &self->sets[self->set_count++];
}

static void repeat_any(struct compiler *self)
{
    int length = self->count - self->atom;
    insert_split(self, (size_t)self->atom, 1, length + 2);
    append(self, OP_JUMP, 0, -(length + 1), 0);
}

static void repeat_some(struct compiler *self)
{
    append(self, OP_SPLIT, 0, self->atom - self->count, 1);
}

static void repeat_maybe(struct compiler *self)
{
    insert_split(self, (size_t)self->atom, 1, self->count - self->atom + 1);
}

/* `least` times the piece, then up to `most` times; most < 0: any number. */
static void repeat_counted(struct compiler *self, int least, int most)
{
    struct instruction piece[PROGRAM_MAX];
    size_t start = (size_t)self->atom, length = self->count - start;
    int copies = most > least ? most : least + (most < 0 ? 1 : 0);
    memcpy(piece, &self->program[start], length * sizeof *piece);
    self->count = (uint16_t)start;
    for (int i = 0; i < copies && self->status == LODE_OK; i++) {
        self->atom = self->count;
        for (size_t j = 0; j < length; j++)
            insert(self, self->count, piece[j]);
        if (self->status == LODE_OK && i >= least) {
            if (most < 0)
                repeat_any(self);
            else
                repeat_maybe(self);
        }
    }
    self->atom = (int)start;
}

/* ---- brackets ---- */

static void add_range(struct set *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++)
        set_add(set, (unsigned char)byte);
}

static bool add_class(struct set *set, struct uft_text name)
{
    static const struct {
        const char *name, *ranges; /* pairs of first and last */
    } classes[] = {
        {"alpha", "azAZ"}, {"digit", "09"},     {"alnum", "azAZ09"},  {"upper", "AZ"},
        {"lower", "az"},   {"space", "\t\r  "}, {"xdigit", "09afAF"}, {"punct", "!/:@[`{~"},
        {"print", " ~"},   {"graph", "!~"},     {"blank", "\t\t  "},  {"cntrl", "\1\37\177\177"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *range = classes[i].ranges;
        if (!uft_equals(name, classes[i].name))
            continue;
        for (; *range; range += 2)
            add_range(set, (unsigned char)range[0], (unsigned char)range[1]);
        return true;
    }
    return false;
}

/* [:alpha:], and [.x.] or [=x=] of one character, which is x. `byte` is -1 after a class. */
static bool take_named(struct compiler *self, struct set *set, int *byte)
{
    char kind = self->text.at[1];
    struct uft_text name = {self->text.at + 2, self->text.at + 2};
    while (name.end + 1 < self->text.end && !(name.end[0] == kind && name.end[1] == ']'))
        name.end++;
    if (name.end + 1 >= self->text.end)
        return false;
    self->text.at = name.end + 2;
    *byte = kind != ':' && uft_length(name) == 1 ? (unsigned char)*name.at : -1;
    return *byte >= 0 || (kind == ':' && add_class(set, name));
}

static bool take_set_item(struct compiler *self, struct set *set, int *byte)
{
    struct uft_text *text = &self->text;
    if (uft_length(*text) >= 2 && text->at[0] == '[' && strchr(":.=", text->at[1]) && text->at[1] != '\0')
        return take_named(self, set, byte);
    if (text->at == text->end)
        return false;
    *byte = (unsigned char)*text->at++;
    return true;
}

/* One byte, a range or a class. */
static bool take_set_part(struct compiler *self, struct set *set, bool is_glob)
{
    struct uft_text *text = &self->text;
    int first, last;
    if (is_glob && text->at[0] == '\\' && uft_length(*text) >= 2)
        text->at++;
    if (!take_set_item(self, set, &first))
        return false;
    last = first;
    if (uft_length(*text) >= 2 && text->at[0] == '-' && text->at[1] != ']') {
        text->at++;
        if (first < 0 || !take_set_item(self, set, &last) || last < first)
            return false;
    }
    if (first >= 0)
        add_range(set, (unsigned)first, (unsigned)last);
    return true;
}

/* What follows "[". */
static void take_set(struct compiler *self, bool is_glob)
{
    struct set *set = new_set(self);
    struct uft_text *text = &self->text;
    bool is_negated = uft_take(text, "^") || (is_glob && uft_take(text, "!"));
    bool is_good = set != NULL, is_first = true;
    /* A bracket that comes first is one of the bytes. */
    for (; is_good && text->at < text->end && (*text->at != ']' || is_first); is_first = false)
        is_good = take_set_part(self, set, is_glob);
    if (!is_good || !uft_take(text, "]")) {
        fail(self, LODE_ERR_CORRUPT);
        return;
    }
    for (size_t i = 0; is_negated && i < 4; i++)
        set->bits[i] = ~set->bits[i];
}

/* ---- regular expressions ---- */

static void end_group(struct compiler *self)
{
    struct group *group = &self->groups[self->depth - 1];
    while (group->pending) {
        struct instruction *jump = &self->program[group->pending - 1];
        uint16_t older = (uint16_t)jump->first;
        jump->first = (int16_t)(self->count - (group->pending - 1));
        group->pending = older;
    }
    self->atom = group->start;
}

static void begin_group(struct compiler *self)
{
    if (self->depth == GROUPS_MAX) {
        fail(self, LODE_ERR_LIMIT);
        return;
    }
    self->groups[self->depth++] = (struct group){self->count, self->count, 0};
    self->atom = -1;
}

static void next_alternative(struct compiler *self)
{
    struct group *group = &self->groups[self->depth - 1];
    insert_split(self, group->branch, 1, self->count - group->branch + 2);
    append(self, OP_JUMP, 0, group->pending, 0);
    group->pending = self->count;
    group->branch = self->count;
    self->atom = -1;
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

/* What follows "{". */
static void take_interval(struct compiler *self)
{
    int least = 0, most;
    if (take_limits(&self->text, &least, &most))
        repeat_counted(self, least, most);
    else
        fail(self, LODE_ERR_CORRUPT);
}

static void take_escape(struct compiler *self)
{
    struct uft_text *text = &self->text;
    if (text->at == text->end || strchr("123456789bB<>", *text->at)) {
        /* References to a group cannot be had in linear time; borders of words are not worth it. */
        fail(self, LODE_ERR_CORRUPT);
        return;
    }
    char kind = *text->at++;
    struct set *set = strchr("wWsS", kind) ? new_set(self) : NULL;
    if (set == NULL) {
        atom(self, kind == '`' ? OP_BEGIN : kind == '\'' ? OP_END : OP_BYTE, (unsigned char)kind);
        return;
    }
    bool is_word = kind == 'w' || kind == 'W';
    struct uft_text name = is_word ? (struct uft_text){"alnum", NULL} : (struct uft_text){"space", NULL};
    name.end = name.at + 5;
    add_class(set, name);
    if (is_word)
        set_add(set, '_');
    for (size_t i = 0; (kind == 'W' || kind == 'S') && i < 4; i++)
        set->bits[i] = ~set->bits[i];
}

/* An anchor is no atom: what repeats it has no meaning. */
static void anchor(struct compiler *self, enum operation operation)
{
    append(self, operation, 0, 0, 0);
    self->atom = -1;
}

static void take_repetition(struct compiler *self, char kind)
{
    if (self->atom < 0)
        fail(self, LODE_ERR_CORRUPT);
    else if (kind == '*')
        repeat_any(self);
    else if (kind == '+')
        repeat_some(self);
    else if (kind == '?')
        repeat_maybe(self);
    else
        take_interval(self);
}

static void close_group(struct compiler *self)
{
    /* One that was never opened stands for itself. */
    if (self->depth == 1) {
        atom(self, OP_BYTE, ')');
        return;
    }
    end_group(self);
    self->depth--;
}

static void compile_regex(struct compiler *self)
{
    begin_group(self);
    while (self->status == LODE_OK && self->text.at < self->text.end) {
        char c = *self->text.at++;
        if (c == '(')
            begin_group(self);
        else if (c == ')')
            close_group(self);
        else if (c == '|')
            next_alternative(self);
        else if (c == '*' || c == '+' || c == '?' || c == '{')
            take_repetition(self, c);
        else if (c == '[')
            take_set(self, false);
        else if (c == '\\')
            take_escape(self);
        else if (c == '^' || c == '$')
            anchor(self, c == '^' ? OP_BEGIN : OP_END);
        else
            atom(self, c == '.' ? OP_ANY : OP_BYTE, (unsigned char)c);
    }
    if (self->depth != 1)
        fail(self, LODE_ERR_CORRUPT);
    if (self->status == LODE_OK)
        end_group(self);
    append(self, OP_FOUND, 0, 0, 0);
}

static void compile_glob(struct compiler *self)
{
    append(self, OP_BEGIN, 0, 0, 0);
    while (self->status == LODE_OK && self->text.at < self->text.end) {
        char c = *self->text.at++;
        if (c == '[' && self->text.at < self->text.end &&
            memchr(self->text.at, ']', uft_length(self->text))) {
            take_set(self, true);
            continue;
        }
        if (c == '\\' && self->text.at < self->text.end) {
            atom(self, OP_BYTE, (unsigned char)*self->text.at++);
            continue;
        }
        atom(self, c == '*' || c == '?' ? OP_ANY : OP_BYTE, (unsigned char)c);
        if (c == '*')
            repeat_any(self);
    }
    append(self, OP_END, 0, 0, 0);
    append(self, OP_FOUND, 0, 0, 0);
}

static lode_status keep(const struct lode_uft_pattern **out, struct lode_arena *arena,
                        const struct compiler *self)
{
    struct lode_uft_pattern *pattern = lode_arena_alloc(arena, 1, sizeof *pattern);
    struct instruction *program = lode_arena_alloc(arena, self->count, sizeof *program);
    struct set *sets = lode_arena_alloc(arena, self->set_count, sizeof *sets);
    if (pattern == NULL || program == NULL || sets == NULL)
        return LODE_ERR_MEMORY;
    memcpy(program, self->program, self->count * sizeof *program);
    memcpy(sets, self->sets, self->set_count * sizeof *sets);
    *pattern = (struct lode_uft_pattern){program, sets, self->count};
    *out = pattern;
    return LODE_OK;
}

lode_status lode_uft_pattern_compile(const struct lode_uft_pattern **out, struct lode_arena *arena,
                                     struct uft_text text, bool is_glob, size_t *budget)
{
    struct compiler self = {.text = text, .atom = -1, .status = LODE_OK};
    *out = NULL;
    if (uft_length(text) > TEXT_MAX)
        return LODE_ERR_LIMIT;
    if (is_glob)
        compile_glob(&self);
    else
        compile_regex(&self);
    if (self.status != LODE_OK)
        return self.status;
    if (self.count > *budget)
        return LODE_ERR_LIMIT;
    *budget -= self.count;
    return keep(out, arena, &self);
}

/* ---- matching ---- */

/* Threads at one place of the name: a set of instructions, in the order in which they came. */
struct threads {
    uint16_t items[PROGRAM_MAX], place[PROGRAM_MAX];
    unsigned count;
};

struct matcher {
    const struct lode_uft_pattern *pattern;
    struct threads *now, *next;
    bool at_begin, at_end, is_found;
};

static void add_thread(struct threads *threads, unsigned at)
{
    if (threads->place[at] < threads->count && threads->items[threads->place[at]] == at)
        return;
    threads->place[at] = (uint16_t)threads->count;
    threads->items[threads->count++] = (uint16_t)at;
}

/* Adds what can be reached without reading a byte; the set grows while it is walked. */
static void follow(struct matcher *self)
{
    struct threads *threads = self->now;
    for (unsigned i = 0; i < threads->count; i++) {
        unsigned at = threads->items[i];
        const struct instruction *instruction = &self->pattern->program[at];
        if (instruction->operation == OP_FOUND)
            self->is_found = true;
        bool goes_on = (instruction->operation == OP_BEGIN && self->at_begin) ||
                       (instruction->operation == OP_END && self->at_end);
        if (goes_on)
            add_thread(threads, at + 1);
        if (instruction->operation == OP_SPLIT || instruction->operation == OP_JUMP)
            add_thread(threads, (unsigned)((int)at + instruction->first));
        if (instruction->operation == OP_SPLIT)
            add_thread(threads, (unsigned)((int)at + instruction->second));
    }
}

static void step(struct matcher *self, unsigned char byte)
{
    struct threads *now = self->now, *next = self->next;
    next->count = 0;
    for (unsigned i = 0; i < now->count; i++) {
        unsigned at = now->items[i];
        const struct instruction *instruction = &self->pattern->program[at];
        bool takes =
            instruction->operation == OP_ANY ||
            (instruction->operation == OP_BYTE && instruction->value == byte) ||
            (instruction->operation == OP_SET && set_has(&self->pattern->sets[instruction->value], byte));
        if (takes)
            add_thread(next, at + 1);
    }
    self->now = next;
    self->next = now;
}

bool lode_uft_pattern_matches(const struct lode_uft_pattern *pattern, const char *name, size_t length)
{
    struct threads buffers[2];
    struct matcher self = {.pattern = pattern, .now = &buffers[0], .next = &buffers[1]};
    /* `place` is believed only where `items` agrees, but it has to be something. */
    for (unsigned i = 0; i < 2; i++) {
        memset(buffers[i].place, 0, pattern->count * sizeof *buffers[i].place);
        buffers[i].count = 0;
    }
    for (size_t i = 0;; i++) {
        self.at_begin = i == 0;
        self.at_end = i == length;
        add_thread(self.now, 0);
        follow(&self);
        if (self.is_found || i == length)
            return self.is_found;
        step(&self, (unsigned char)name[i]);
    }
}
