/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/source/answers.h"

#include "base/comm/pack.h"
#include "base/memory/map.h"
#include <stdlib.h>

/* ---- what is needed ---- */

struct packing {
    struct lode_blob *blob;
    const struct hpcstruct_module *code;
    uint32_t *numbers;     /* by scope: its new number, plus 1; 0: it is not needed */
    struct lode_map texts; /* by string: its new number */
    struct lode_blob text;
};

static const struct hpcstruct_scope *scope_at(const struct hpcstruct_module *code, uint32_t number)
{
    return LODE_ARRAY_AT(&code->scopes, struct hpcstruct_scope, number);
}

static const struct hpcstruct_range *range_at(const struct hpcstruct_module *code, size_t number)
{
    return LODE_ARRAY_AT(&code->ranges, struct hpcstruct_range, number);
}

static void mark_scopes(const struct packing *self, uint32_t scope)
{
    for (; scope != LODE_NO_NUMBER && self->numbers[scope] == 0; scope = scope_at(self->code, scope)->parent)
        self->numbers[scope] = 1;
}

/* The first scope of a function tells its instances apart, and needs scopes around it itself. */
static void mark_functions(const struct packing *self)
{
    for (uint32_t i = (uint32_t)self->code->scopes.count; i-- > 0;) {
        uint32_t same = scope_at(self->code, i)->same_as;
        if (self->numbers[i] && same > 0)
            mark_scopes(self, same - 1);
    }
}

/* Whether a range has one of the offsets, from `*at` on: both rise. */
static bool is_asked(const struct hpcrun_question *asked, const struct hpcstruct_range *range, uint32_t *at)
{
    while (*at < asked->count && asked->offsets[*at] < range->start)
        ++*at;
    return *at < asked->count && asked->offsets[*at] < range->end;
}

/* A call graph needs all of its code. */
static bool needs_all(const struct hpcrun_question *asked)
{
    return asked->count > 0 && memchr(asked->inferred, true, asked->count) != NULL;
}

static uint32_t mark_all(const struct packing *self, const struct hpcrun_question *asked)
{
    bool is_all = needs_all(asked);
    uint32_t ranges = 0, at = 0, scopes = 0;
    for (size_t i = 0; i < self->code->ranges.count; i++)
        if (is_all || is_asked(asked, range_at(self->code, i), &at)) {
            mark_scopes(self, range_at(self->code, i)->scope);
            ranges++;
        }
    for (uint32_t i = 0; is_all && i < self->code->scopes.count; i++)
        mark_scopes(self, i);
    mark_functions(self);
    for (uint32_t i = 0; i < self->code->scopes.count; i++)
        if (self->numbers[i])
            self->numbers[i] = ++scopes;
    return ranges;
}

/* ---- packing ---- */

static bool pack_text(struct packing *self, uint32_t *number)
{
    const char *text = lode_strings_at(self->code->strings, *number);
    bool added;
    if (text == NULL)
        return true;
    const uint32_t *known = lode_map_add(&self->texts, *number, (uint32_t)self->texts.count, &added);
    if (known == NULL || (added && !pack_string(&self->text, text)))
        return false;
    *number = *known;
    return true;
}

static uint32_t new_number(const struct packing *self, uint32_t scope)
{
    return scope == LODE_NO_NUMBER ? LODE_NO_NUMBER : self->numbers[scope] - 1;
}

static bool pack_scopes(struct packing *self)
{
    uint64_t count = 0;
    bool done = true;
    for (uint32_t i = 0; i < self->code->scopes.count; i++)
        count += self->numbers[i] > 0;
    done = pack_number(self->blob, count);
    for (uint32_t i = 0; i < self->code->scopes.count && done; i++) {
        struct hpcstruct_scope scope = *scope_at(self->code, i);
        if (self->numbers[i] == 0)
            continue;
        scope.parent = new_number(self, scope.parent);
        scope.same_as = scope.same_as > 0 ? self->numbers[scope.same_as - 1] : 0;
        done = pack_text(self, &scope.name) && pack_text(self, &scope.file) &&
               pack_bytes(self->blob, &scope, sizeof scope);
    }
    return done;
}

static bool pack_ranges(const struct packing *self, const struct hpcrun_question *asked, uint32_t count)
{
    bool done = pack_number(self->blob, count), is_all = needs_all(asked);
    uint32_t at = 0;
    for (size_t i = 0; i < self->code->ranges.count && done; i++) {
        struct hpcstruct_range range = *range_at(self->code, i);
        if (!is_all && !is_asked(asked, &range, &at))
            continue;
        range.scope = new_number(self, range.scope);
        done = pack_bytes(self->blob, &range, sizeof range);
    }
    return done;
}

static bool pack_calls(const struct packing *self, bool is_all)
{
    bool done = pack_number(self->blob, is_all ? self->code->calls.count : 0);
    for (size_t i = 0; i < self->code->calls.count && is_all && done; i++) {
        struct hpcstruct_call call = *LODE_ARRAY_AT(&self->code->calls, struct hpcstruct_call, i);
        call.function = new_number(self, call.function);
        done = pack_bytes(self->blob, &call, sizeof call);
    }
    return done;
}

static bool pack_code(struct packing *self, const struct hpcrun_question *asked)
{
    uint32_t ranges = mark_all(self, asked);
    return pack_number(self->blob, self->code->has_calls) && pack_scopes(self) &&
           pack_ranges(self, asked, ranges) && pack_calls(self, needs_all(asked)) &&
           pack_number(self->blob, self->texts.count) &&
           pack_bytes(self->blob, self->text.bytes, self->text.size);
}

bool lode_hpcrun_answer_pack(struct lode_blob *blob, const struct hpcrun_question *asked, uint32_t question,
                             const struct hpcrun_answer *answer)
{
    struct packing self = {.blob = blob,
                           .code = answer->code,
                           .numbers = calloc(answer->code->scopes.count + 1, sizeof *self.numbers)};
    lode_map_init(&self.texts);
    bool done = self.numbers && pack_number(blob, question) && pack_number(blob, answer->is_complete) &&
                pack_number(blob, answer->hides_points) && pack_number(blob, answer->module != NULL) &&
                pack_string(blob, answer->module ? answer->module : "") && pack_code(&self, asked);
    free(self.numbers);
    lode_map_free(&self.texts);
    lode_blob_free(&self.text);
    return done;
}

/* ---- replaying ---- */

static bool unpack_items(const unsigned char **at, struct lode_array *items)
{
    for (uint64_t left = unpack_number(at); left > 0; left--) {
        void *item = lode_array_push(items);
        if (item == NULL)
            return false;
        unpack_bytes(at, item, items->item_size);
    }
    return true;
}

/* Strings are sent once each, in the order of their numbers. */
static bool unpack_texts(const unsigned char **at, struct lode_strings *strings)
{
    bool done = true;
    for (uint64_t left = unpack_number(at); left > 0 && done; left--) {
        uint32_t number;
        done = lode_strings_put(strings, unpack_string(at), &number);
    }
    return done;
}

lode_status lode_hpcrun_answer_replay(const unsigned char **at, struct hpcrun_scopes *scopes,
                                      lode_error *error)
{
    struct lode_strings strings;
    struct hpcstruct_module code = {.path = "", .strings = &strings};
    struct hpcrun_answer answer = {.code = &code};
    uint32_t question = (uint32_t)unpack_number(at);
    answer.is_complete = unpack_number(at) != 0;
    answer.hides_points = unpack_number(at) != 0;
    bool has_module = unpack_number(at) != 0;
    const char *module = unpack_string(at);
    answer.module = has_module ? module : NULL;
    code.has_calls = unpack_number(at) != 0;
    lode_strings_init(&strings);
    lode_array_init(&code.scopes, sizeof(struct hpcstruct_scope), UINT32_MAX - 1);
    lode_array_init(&code.ranges, sizeof(struct hpcstruct_range), UINT32_MAX - 1);
    lode_array_init(&code.calls, sizeof(struct hpcstruct_call), UINT32_MAX - 1);
    bool done = unpack_items(at, &code.scopes) && unpack_items(at, &code.ranges) &&
                unpack_items(at, &code.calls) && unpack_texts(at, &strings);
    lode_status status =
        done ? lode_hpcrun_answer(scopes, question, &answer, error) : lode_fail_memory(error);
    lode_array_free(&code.scopes);
    lode_array_free(&code.ranges);
    lode_array_free(&code.calls);
    lode_strings_free(&strings);
    return status;
}
