/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of profiles by parts of their id tuples. */
#include "analysis/spread/spread.h"
#include "base/error.h"
#include "base/getter.h"
#include "model/database/database.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    IDS_MAX = 64, /* of a tuple; more are not looked at */
    KINDS_MAX = 256
};

struct lode_spread_groups {
    lode_spread_group *items;
    size_t count;
    uint32_t without;
};

/* A profile and its ids of the kinds that were asked for. */
struct member {
    lode_id ids[LODE_GROUP_KINDS];
    const lode_spread_row *row;
};

static int compare_ids(const lode_id *a, const lode_id *b)
{
    if (a->logical != b->logical)
        return a->logical < b->logical ? -1 : 1;
    uint64_t x = a->flags & LODE_ID_PHYSICAL ? a->physical : 0;
    uint64_t y = b->flags & LODE_ID_PHYSICAL ? b->physical : 0;
    return x < y ? -1 : x > y;
}

int lode_compare_group_ids(const lode_id *a, const lode_id *b)
{
    int order = 0;
    for (size_t i = 0; i < LODE_GROUP_KINDS && order == 0; i++)
        order = compare_ids(&a[i], &b[i]);
    return order;
}

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = lode_compare_group_ids(a->ids, b->ids);
    if (order != 0)
        return order;
    return a->row->profile < b->row->profile ? -1 : a->row->profile > b->row->profile;
}

lode_status lode_group_ids(lode_id out[LODE_GROUP_KINDS], const lode_database *db, uint32_t profile,
                           const unsigned *kinds, size_t kind_count, bool *has_all, lode_error *error)
{
    lode_id ids[IDS_MAX];
    uint32_t count;
    LODE_TRY(lode_profile_ids(db, profile, ids, IDS_MAX, &count, error));
    count = count < IDS_MAX ? count : IDS_MAX;
    *has_all = true;
    for (size_t k = 0; k < kind_count; k++) {
        uint32_t at = count;
        while (at > 0 && ids[at - 1].kind != kinds[k])
            at--;
        *has_all = *has_all && at > 0;
        if (at > 0)
            out[k] = ids[at - 1];
    }
    return LODE_OK;
}

static void add_member(lode_spread_groups *groups, const struct member *member, bool is_new)
{
    const lode_spread_row *row = member->row;
    if (is_new) {
        lode_spread_group *group = &groups->items[groups->count++];
        *group = (lode_spread_group){.first = row->profile, .min = row->inclusive, .max = row->inclusive};
        memcpy(group->ids, member->ids, sizeof group->ids);
    }
    lode_spread_group *group = &groups->items[groups->count - 1];
    group->profiles++;
    group->inclusive += row->inclusive;
    group->exclusive += row->exclusive;
    group->total += row->total;
    group->min = row->inclusive < group->min ? row->inclusive : group->min;
    group->max = row->inclusive > group->max ? row->inclusive : group->max;
}

static lode_status group(lode_spread_groups *groups, const lode_spread *spread, struct member *members,
                         const unsigned *kinds, size_t kind_count, lode_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < spread->count; i++) {
        bool has_all;
        members[count] = (struct member){.row = &spread->rows[i]};
        LODE_TRY(lode_group_ids(members[count].ids, spread->db, spread->rows[i].profile, kinds, kind_count,
                                &has_all, error));
        groups->without += !has_all;
        count += has_all;
    }
    qsort(members, count, sizeof *members, compare_members);
    for (size_t i = 0; i < count; i++)
        add_member(groups, &members[i],
                   i == 0 || lode_compare_group_ids(members[i - 1].ids, members[i].ids) != 0);
    return LODE_OK;
}

lode_status lode_spread_group_by(lode_spread_groups **out, const lode_spread *spread, const unsigned *kinds,
                                 size_t kind_count, lode_error *error)
{
    *out = NULL;
    if (kind_count == 0 || kind_count > LODE_GROUP_KINDS)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "groups by no kind, or too many");
    lode_spread_groups *groups = calloc(1, sizeof *groups);
    LODE_TRY_ALLOC(groups, error);
    struct member *members = calloc(spread->count + 1, sizeof *members);
    groups->items = calloc(spread->count + 1, sizeof *groups->items);
    lode_status status = members && groups->items ? group(groups, spread, members, kinds, kind_count, error)
                                                  : lode_fail_memory(error);
    free(members);
    if (status == LODE_OK)
        *out = groups;
    else
        lode_spread_groups_free(groups);
    return status;
}

void lode_spread_groups_free(lode_spread_groups *groups)
{
    if (groups == NULL)
        return;
    free(groups->items);
    free(groups);
}

LODE_GETTER(size_t, lode_spread_groups_count, lode_spread_groups, count);
LODE_GETTER(uint32_t, lode_spread_groups_without, lode_spread_groups, without);

const lode_spread_group *lode_spread_groups_at(const lode_spread_groups *groups, size_t index)
{
    return index < groups->count ? &groups->items[index] : NULL;
}

/* ---- kinds by name ---- */

static lode_status find_used(const lode_database *db, bool used[KINDS_MAX], lode_error *error)
{
    for (uint32_t p = 1; p < db->profile_count; p++) {
        lode_id ids[IDS_MAX];
        uint32_t count;
        LODE_TRY(lode_profile_ids(db, p, ids, IDS_MAX, &count, error));
        for (uint32_t i = 0; i < count && i < IDS_MAX; i++)
            if (ids[i].kind < KINDS_MAX)
                used[ids[i].kind] = true;
    }
    return LODE_OK;
}

static bool find_name(const lode_database *db, const bool *used, const char *name, size_t length,
                      unsigned *kind)
{
    for (unsigned i = 0; i < db->id_kind_count && i < KINDS_MAX; i++) {
        if (!used[i] || strlen(db->id_kinds[i]) != length || strncasecmp(db->id_kinds[i], name, length) != 0)
            continue;
        *kind = i;
        return true;
    }
    return false;
}

static bool find_kind(const lode_database *db, const bool *used, const char *name, size_t length,
                      unsigned *kind)
{
    if (find_name(db, used, name, length, kind))
        return true;
    return length == 3 && strncasecmp(name, "gpu", 3) == 0 &&
           (find_name(db, used, "gpudevice", 9, kind) || find_name(db, used, "gpucontext", 10, kind));
}

static lode_status no_kind(const lode_database *db, const bool *used, const char *name, size_t length,
                           lode_error *error)
{
    char list[200] = "";
    size_t size = 0;
    for (unsigned i = 0; i < db->id_kind_count && i < KINDS_MAX && size < sizeof list; i++)
        if (used[i])
            size +=
                (size_t)snprintf(list + size, sizeof list - size, "%s%s", size ? ", " : "", db->id_kinds[i]);
    return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "no profile has an id of kind '%.*s'%s%s",
                     (int)(length < 64 ? length : 64), name, size ? "; there are: " : "", list);
}

lode_status lode_database_find_kinds(const lode_database *db, const char *text,
                                     unsigned kinds[LODE_GROUP_KINDS], size_t *count, lode_error *error)
{
    bool used[KINDS_MAX] = {false};
    *count = 0;
    LODE_TRY(find_used(db, used, error));
    for (;;) {
        size_t length = strcspn(text, ",");
        if (*count == LODE_GROUP_KINDS)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "more than %d kinds of ids to group by", LODE_GROUP_KINDS);
        if (!find_kind(db, used, text, length, &kinds[*count]))
            return no_kind(db, used, text, length, error);
        ++*count;
        if (text[length] == '\0')
            return LODE_OK;
        text += length + 1;
    }
}
