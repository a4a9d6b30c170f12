/* SPDX-License-Identifier: BSD-3-Clause */
/* Id tuples of profiles, as fields. */
#ifndef CLI_ID_TUPLE_H
#define CLI_ID_TUPLE_H

#include "output/out.h"

#include <lode/profile.h>
#include <lode/unstable/spread.h>

/* A member "id_tuple" of the row that is under way; nothing in text and CSV. */
void id_tuple_write(out *o, const lode_database *db, const lode_id *ids, size_t count);
/* The same of a profile. None if the ids cannot be read. */
void id_tuple_of_profile(out *o, const lode_database *db, uint32_t profile);

/* The column of id_tuple_cell: "RANK=3; THREAD=0" in CSV. */
#define ID_TUPLE_COLUMN                                                                                      \
    {                                                                                                        \
        "id_tuple", "", OUT_STRING, OUT_CSV_ONLY                                                             \
    }
/* The ids of a profile; in JSON as id_tuple_write has them. */
void id_tuple_cell(out *o, const lode_database *db, uint32_t profile);

#define ID_TUPLE_NAME_SIZE ((size_t)LODE_GROUP_KINDS * 128)
/* Names a group: "rank 3", "node 0 (0x7f0101) rank 3". Returns the length. */
size_t id_tuple_name(char name[ID_TUPLE_NAME_SIZE], const lode_database *db, const lode_id *ids,
                     size_t count);

#endif
