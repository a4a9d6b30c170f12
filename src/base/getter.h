/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the public headers that only give a field of an opaque struct. */
#ifndef LODE_BASE_GETTER_H
#define LODE_BASE_GETTER_H

/* type function(const object *): a field. */
#define LODE_GETTER(type, function, object, field)                                                           \
    type function(const object *self)                                                                        \
    {                                                                                                        \
        return self->field;                                                                                  \
    }                                                                                                        \
    _Static_assert(sizeof(object) > 0, #object " is complete")

/* const item *function(const object *, index): an element of an array, or NULL beyond its end. */
#define LODE_GETTER_AT(item, function, object, items, count)                                                 \
    const item *function(const object *self, uint32_t index)                                                 \
    {                                                                                                        \
        return index < self->count ? &self->items[index] : NULL;                                             \
    }                                                                                                        \
    _Static_assert(sizeof(object) > 0, #object " is complete")

#endif
