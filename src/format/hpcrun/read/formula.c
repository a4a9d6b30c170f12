/* SPDX-License-Identifier: BSD-3-Clause */
/* A parser by recursive descent: each function puts what it reads, and wraps what is before it. */
#include "format/hpcrun/read/formula.h"

#include <string.h>

enum {
    NESTED_MOST = 64,
    LENGTH_MOST = 4096 /* bytes: wrapping takes the square of it */
};

struct parser {
    struct hpcrun_text *text;
    const char *at, *scope;
    const void *context;
    unsigned depth;
};

static bool put_sum(struct parser *self);

static char next(struct parser *self)
{
    while (*self->at == ' ')
        self->at++;
    return *self->at;
}

static bool skip(struct parser *self, char sign)
{
    bool found = next(self) == sign;
    self->at += found;
    return found;
}

/* Puts `before` at a position, and shifts what is after it. */
static void insert(struct hpcrun_text *text, size_t position, const char *before)
{
    size_t length = strlen(before), at = lode_blob_extend(&text->blob, length);
    text->failed |= at == LODE_BLOB_FULL;
    if (at == LODE_BLOB_FULL)
        return;
    memmove(text->blob.bytes + position + length, text->blob.bytes + position, at - position);
    memcpy(text->blob.bytes + position, before, length);
}

static const char *opening(char sign)
{
    return sign == '+'   ? "{+: ["
           : sign == '-' ? "{\"-\": ["
           : sign == '*' ? "{\"*\": ["
           : sign == '/' ? "{/: ["
                         : "{^: [";
}

static bool put_number(struct parser *self)
{
    size_t length = strspn(self->at, "0123456789.");
    size_t at = length > 0 && length < 32 ? lode_blob_extend(&self->text->blob, length) : LODE_BLOB_FULL;
    if (at == LODE_BLOB_FULL)
        return false;
    memcpy(self->text->blob.bytes + at, self->at, length);
    self->at += length;
    return true;
}

static bool put_metric(struct parser *self)
{
    const char *name = ++self->at, *end = strchr(name, 2);
    if (end == NULL)
        return false;
    self->at = end + 1;
    return lode_hpcrun_put_metric(self->text, name, (size_t)(end - name), self->scope, self->context);
}

/* Recursive descent: NESTED_MOST bounds it. NOLINTBEGIN(misc-no-recursion) */

/* min(a, b...) and max(a, b...). */
static bool put_call(struct parser *self)
{
    bool is_min = strncmp(self->at, "min", 3) == 0;
    if (!is_min && strncmp(self->at, "max", 3) != 0)
        return false;
    self->at += 3;
    lode_hpcrun_put(self->text, "{%s: [", is_min ? "min" : "max");
    if (!skip(self, '(') || !put_sum(self))
        return false;
    while (skip(self, ',')) {
        lode_hpcrun_put(self->text, ", ");
        if (!put_sum(self))
            return false;
    }
    lode_hpcrun_put(self->text, "]}");
    return skip(self, ')');
}

static bool put_atom(struct parser *self)
{
    char sign = next(self);
    if (sign == 1)
        return put_metric(self);
    if (sign == '(') {
        self->at++;
        return put_sum(self) && skip(self, ')');
    }
    return (sign >= '0' && sign <= '9') || sign == '.' ? put_number(self) : put_call(self);
}

/* Binds more than a sign before it, and to the right. */
static bool put_power(struct parser *self)
{
    size_t begin = self->text->blob.size;
    bool done;
    if (++self->depth > NESTED_MOST)
        return false;
    if (skip(self, '-')) {
        lode_hpcrun_put(self->text, "{\"-\": [0, ");
        done = put_power(self);
        lode_hpcrun_put(self->text, "]}");
    } else {
        done = put_atom(self);
        if (done && skip(self, '^')) {
            insert(self->text, begin, opening('^'));
            lode_hpcrun_put(self->text, ", ");
            done = put_power(self);
            lode_hpcrun_put(self->text, "]}");
        }
    }
    self->depth--;
    return done;
}

static bool put_product(struct parser *self)
{
    size_t begin = self->text->blob.size;
    bool done = put_power(self);
    for (char sign; done && ((sign = next(self)) == '*' || sign == '/');) {
        self->at++;
        insert(self->text, begin, opening(sign));
        lode_hpcrun_put(self->text, ", ");
        done = put_power(self);
        lode_hpcrun_put(self->text, "]}");
    }
    return done;
}

static bool put_sum(struct parser *self)
{
    size_t begin = self->text->blob.size;
    if (++self->depth > NESTED_MOST)
        return false;
    bool done = put_product(self);
    for (char sign; done && ((sign = next(self)) == '+' || sign == '-');) {
        self->at++;
        insert(self->text, begin, opening(sign));
        lode_hpcrun_put(self->text, ", ");
        done = put_product(self);
        lode_hpcrun_put(self->text, "]}");
    }
    self->depth--;
    return done;
}

/* NOLINTEND(misc-no-recursion) */

bool lode_hpcrun_put_formula(struct hpcrun_text *text, const char *formula, const char *scope,
                             const void *context)
{
    struct parser self = {.text = text, .at = formula, .scope = scope, .context = context};
    return strnlen(formula, LENGTH_MOST + 1) <= LENGTH_MOST && put_sum(&self) && next(&self) == '\0' &&
           !text->failed;
}
