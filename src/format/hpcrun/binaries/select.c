/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/binaries/cache.h"
#include <stdlib.h>

struct selecting {
    const struct hpcstruct_module *from;
    struct lode_array scopes, ranges;
    struct lode_array missing; /* uint32_t: scopes that are to be taken, innermost first */
    uint32_t *numbers;         /* by scope: its new number plus 1; 0: not taken */
    uint32_t *firsts;          /* by first scope of a function: that of the new ones, plus 1 */
};

static bool take_scope(struct selecting *self, uint32_t number)
{
    const struct hpcstruct_scope *from = LODE_ARRAY_AT(&self->from->scopes, struct hpcstruct_scope, number);
    uint32_t function = from->same_as > 0 ? from->same_as - 1 : number, own = (uint32_t)self->scopes.count;
    struct hpcstruct_scope *scope = lode_array_push(&self->scopes);
    if (scope == NULL)
        return false;
    *scope = *from;
    if (from->parent != LODE_NO_NUMBER)
        scope->parent = self->numbers[from->parent] - 1;
    scope->same_as = self->firsts[function];
    if (self->firsts[function] == 0)
        self->firsts[function] = own + 1;
    self->numbers[number] = own + 1;
    return true;
}

/* Takes a scope and those around it, from the outermost one on. */
static bool take_chain(struct selecting *self, uint32_t number)
{
    bool done = true;
    while (number != LODE_NO_NUMBER && self->numbers[number] == 0) {
        uint32_t *missing = lode_array_push(&self->missing);
        if (missing == NULL)
            return false;
        *missing = number;
        number = LODE_ARRAY_AT(&self->from->scopes, struct hpcstruct_scope, number)->parent;
    }
    while (self->missing.count > 0 && done) {
        done = take_scope(self, *LODE_ARRAY_AT(&self->missing, uint32_t, self->missing.count - 1));
        lode_array_pop(&self->missing);
    }
    return done;
}

static bool take_ranges(struct selecting *self, const uint64_t *offsets, uint32_t count)
{
    const struct hpcstruct_range *ranges = self->from->ranges.items;
    size_t at = 0, past = self->from->ranges.count;
    for (uint32_t i = 0; i < count; i++) {
        while (at < past && ranges[at].start < offsets[i])
            at++;
        if (at == past || ranges[at].start != offsets[i])
            continue;
        struct hpcstruct_range *range = lode_array_push(&self->ranges);
        if (range == NULL || !take_chain(self, ranges[at].scope))
            return false;
        *range = ranges[at];
        range->scope = self->numbers[ranges[at].scope] - 1;
    }
    return true;
}

bool lode_binary_select(struct binary_reply *reply, const uint64_t *offsets, uint32_t count)
{
    struct selecting self = {.from = &reply->module};
    size_t scopes = reply->module.scopes.count;
    lode_array_init(&self.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&self.ranges, sizeof(struct hpcstruct_range), UINT32_MAX - 1);
    lode_array_init(&self.missing, sizeof(uint32_t), UINT32_MAX - 1);
    self.numbers = calloc(scopes + 1, sizeof *self.numbers);
    self.firsts = calloc(scopes + 1, sizeof *self.firsts);
    bool done = self.numbers && self.firsts && take_ranges(&self, offsets, count);
    if (done) {
        lode_array_free(&reply->module.scopes);
        lode_array_free(&reply->module.ranges);
        reply->module.scopes = self.scopes;
        reply->module.ranges = self.ranges;
    } else {
        lode_array_free(&self.scopes);
        lode_array_free(&self.ranges);
    }
    lode_array_free(&self.missing);
    free(self.numbers);
    free(self.firsts);
    return done;
}
