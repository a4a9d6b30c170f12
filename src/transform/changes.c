/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/changes.h"

#include "base/error.h"
#include <stdio.h>
#include <string.h>

enum {
    PREFIX = 5, /* "read:", "diff:" */
    NAME_MAX_BYTES = 256
};

/* A call in which something was read at its beginning. */
struct read {
    uint32_t node;
    size_t depth;
    int64_t inside[LODE_BUILD_FIELDS]; /* what calls inside it were given */
};

void lode_build_changes_init(struct lode_build_changes *changes)
{
    lode_strings_init(&changes->metrics);
    lode_array_init(&changes->items, sizeof(struct lode_build_change), UINT32_MAX - 1);
    lode_interner_init(&changes->keys, sizeof(struct lode_build_change_key));
    lode_strings_init(&changes->kinds);
    lode_array_init(&changes->reads, sizeof(struct lode_array), UINT32_MAX - 1);
}

void lode_build_changes_free(struct lode_build_changes *changes)
{
    lode_strings_free(&changes->metrics);
    lode_array_free(&changes->items);
    lode_interner_free(&changes->keys);
    lode_strings_free(&changes->kinds);
    for (size_t i = 0; i < changes->reads.count; i++)
        lode_array_free(LODE_ARRAY_AT(&changes->reads, struct lode_array, i));
    lode_array_free(&changes->reads);
}

void lode_build_changes_begin(struct lode_build_changes *changes)
{
    changes->items.count = 0;
    for (size_t i = 0; i < changes->reads.count; i++)
        LODE_ARRAY_AT(&changes->reads, struct lode_array, i)->count = 0;
    lode_interner_clear(&changes->keys);
}

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The open calls in which this was read; NULL if there is no memory. */
static struct lode_array *reads_of(struct lode_build_changes *self, const char *kind)
{
    uint32_t number = lode_strings_add(&self->kinds, kind);
    if (number == LODE_NO_NUMBER)
        return NULL;
    if (number == self->reads.count) {
        struct lode_array *added = lode_array_push(&self->reads);
        if (added)
            lode_array_init(added, sizeof(struct read), SIZE_MAX);
    }
    return number < self->reads.count ? LODE_ARRAY_AT(&self->reads, struct lode_array, number) : NULL;
}

static struct read *top(const struct lode_array *reads)
{
    return reads->count > 0 ? LODE_ARRAY_AT(reads, struct read, reads->count - 1) : NULL;
}

/* Forgets the calls of `depth` and deeper: they have ended. */
static void forget(struct lode_array *reads, size_t depth)
{
    for (const struct read *read; (read = top(reads)) != NULL && read->depth >= depth;)
        lode_array_pop(reads);
}

static lode_status note_read(struct lode_array *reads, uint32_t node, size_t depth, lode_error *error)
{
    forget(reads, depth);
    struct read *read = lode_array_push(reads);
    LODE_TRY_ALLOC(read, error);
    read->node = node;
    read->depth = depth;
    return LODE_OK;
}

static lode_status add_to(struct lode_build_changes *self, const char *name, uint32_t node, int64_t value,
                          lode_error *error)
{
    uint32_t metric = lode_strings_add(&self->metrics, name);
    struct lode_build_change_key key = {node, metric};
    bool added = false;
    uint32_t number =
        metric == LODE_NO_NUMBER ? LODE_NO_NUMBER : lode_interner_add(&self->keys, &key, &added);
    if (number == LODE_NO_NUMBER)
        return lode_fail_memory(error);
    struct lode_build_change *item =
        added ? lode_array_push(&self->items) : LODE_ARRAY_AT(&self->items, struct lode_build_change, number);
    LODE_TRY_ALLOC(item, error);
    *item = (struct lode_build_change){add(item->value, value), node, metric};
    return LODE_OK;
}

static lode_status add_value(struct lode_build_changes *self, const char *name, const lode_argument *argument,
                             uint32_t node, int64_t value, lode_error *error)
{
    char text[NAME_MAX_BYTES];
    const char *unit = argument->label;
    bool has_unit = unit && unit[0];
    snprintf(text, sizeof text, "%s %s%s%s%s", name, argument->name, has_unit ? " (" : "",
             has_unit ? unit : "", has_unit ? ")" : "");
    return add_to(self, text, node, value, error);
}

lode_status lode_build_changes_fail(struct lode_build_changes *self, uint32_t node, lode_error *error)
{
    return add_to(self, "errors", node, 1, error);
}

static lode_status note_change(struct lode_build_changes *self, struct lode_array *reads, const char *kind,
                               uint32_t node, size_t depth, const lode_argument *arguments, size_t count,
                               lode_error *error)
{
    struct read own = {0};
    forget(reads, depth + 1);
    if (top(reads) && top(reads)->node == node)
        own = *top(reads);
    forget(reads, depth);
    struct read *around = top(reads);
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].kind != LODE_VALUE_CHANGE)
            continue;
        int64_t value = arguments[i].signed_value;
        if (around)
            around->inside[i] = add(around->inside[i], value);
        LODE_TRY(add_value(self, kind, &arguments[i], node, subtract(value, own.inside[i]), error));
    }
    return LODE_OK;
}

lode_status lode_build_changes_take(struct lode_build_changes *self, uint32_t node, size_t depth,
                                    const lode_recording *recording, uint32_t track, const lode_event *event,
                                    lode_error *error)
{
    lode_argument arguments[LODE_BUILD_FIELDS];
    size_t count;
    if (depth == 0)
        return LODE_OK;
    const char *name = lode_event_name(recording, event);
    bool is_read = strncmp(name, "read:", PREFIX) == 0;
    if (!is_read && strncmp(name, "diff:", PREFIX) != 0)
        return LODE_OK;
    struct lode_array *reads = reads_of(self, name + PREFIX);
    LODE_TRY_ALLOC(reads, error);
    if (is_read)
        return note_read(reads, node, depth, error);
    /* What cannot be decoded is damage that a check reports. */
    if (lode_event_arguments(recording, track, event, arguments, LODE_BUILD_FIELDS, &count, NULL) != LODE_OK)
        return LODE_OK;
    count = count < LODE_BUILD_FIELDS ? count : LODE_BUILD_FIELDS;
    return note_change(self, reads, name + PREFIX, node, depth, arguments, count, error);
}
