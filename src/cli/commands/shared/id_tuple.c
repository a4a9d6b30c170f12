/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/id_tuple.h"

#include "alloc.h"
#include "output/out.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tuples of real databases have up to six ids; what a file has beyond that is left out. */
#define IDS_MAX 64

void id_tuple_write(out *o, const lode_database *db, const lode_id *ids, size_t count)
{
    if (out_format_of(o) != OUT_JSON)
        return;
    out_array(o, "id_tuple");
    for (size_t i = 0; i < count; i++) {
        OUT_OBJECT(o, NULL, "kind", lode_database_id_kind_name(db, ids[i].kind), "kind_number", ids[i].kind,
                   "id", ids[i].logical, "physical",
                   ids[i].flags & LODE_ID_PHYSICAL ? out_digits(ids[i].physical) : out_none());
    }
    out_array_end(o);
}

/* "RANK=3; THREAD=0", for the caller to free. */
static char *text_of(const lode_database *db, const lode_id *ids, size_t count)
{
    size_t capacity = 1, used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        capacity += (kind ? strlen(kind) : 0) + 32;
    }
    char *text = alloc_array(capacity, 1);
    for (size_t i = 0; i < count; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind), *joint = i ? "; " : "";
        if (kind)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s=%u", joint, kind, ids[i].logical);
        else
            used +=
                (size_t)snprintf(text + used, capacity - used, "%s%u=%u", joint, ids[i].kind, ids[i].logical);
    }
    return text;
}

static uint32_t read_ids(lode_id ids[IDS_MAX], const lode_database *db, uint32_t profile)
{
    uint32_t count = 0;
    if (lode_profile_ids(db, profile, ids, IDS_MAX, &count, NULL) != LODE_OK)
        return 0;
    return count < IDS_MAX ? count : IDS_MAX;
}

void id_tuple_of_profile(out *o, const lode_database *db, uint32_t profile)
{
    lode_id ids[IDS_MAX];
    if (out_format_of(o) == OUT_JSON)
        id_tuple_write(o, db, ids, read_ids(ids, db, profile));
}

void id_tuple_cell(out *o, const lode_database *db, uint32_t profile)
{
    lode_id ids[IDS_MAX];
    char *text = out_format_of(o) == OUT_CSV ? text_of(db, ids, read_ids(ids, db, profile)) : NULL;
    OUT_CELLS(o, text);
    free(text);
    id_tuple_of_profile(o, db, profile);
}

/* "rank 3"; a thing with a physical number of its own has both: "node 0 (0x7f0101)". */
static size_t name_id(char *name, size_t capacity, const lode_database *db, const lode_id *id)
{
    const char *kind = lode_database_id_kind_name(db, id->kind);
    size_t length = (size_t)snprintf(name, capacity, "%.60s", kind ? kind : "id");
    for (size_t i = 0; i < length; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    length += (size_t)snprintf(name + length, capacity - length, " %" PRIu32, id->logical);
    if (id->flags & LODE_ID_PHYSICAL && id->physical != id->logical)
        length += (size_t)snprintf(name + length, capacity - length, " (0x%" PRIx64 ")", id->physical);
    return length;
}

size_t id_tuple_name(char name[ID_TUPLE_NAME_SIZE], const lode_database *db, const lode_id *ids, size_t count)
{
    size_t length = 0;
    name[0] = '\0';
    for (size_t i = 0; i < count && i < LODE_GROUP_KINDS; i++) {
        length += (size_t)snprintf(name + length, ID_TUPLE_NAME_SIZE - length, "%s", i ? " " : "");
        length += name_id(name + length, ID_TUPLE_NAME_SIZE - length, db, &ids[i]);
    }
    return length;
}
