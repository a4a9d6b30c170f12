/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/database.h"

#include "base/error.h"
#include "base/getter.h"
#include <inttypes.h>
#include <lode/private/usual_names.h>
#include <lode/unstable/guard.h>
#include <stddef.h>
#include <string.h>

void lode_database_close(lode_database *db)
{
    if (db == NULL)
        return;
    struct lode_watch *watch = db->watch;
    db->ops->close(db);
    lode_watch_release(watch);
}

lode_status lode_database_intact(const lode_database *db, lode_error *error)
{
    return lode_watch_check(db->watch, error);
}

/* Counts them, or copies them if there is an array. */
struct keeping {
    lode_database *db;
    size_t count;
    bool has_memory;
};

static const char *copy_text(lode_database *db, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&db->arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static int keep_finding(void *user, const lode_finding *finding)
{
    struct keeping *self = user;
    lode_database *db = self->db;
    if (db->found == NULL) {
        self->count++;
        return 0;
    }
    lode_finding *copy = &db->found[db->found_count++];
    *copy = *finding;
    copy->file = copy_text(db, finding->file);
    copy->text = copy_text(db, finding->text);
    self->has_memory = copy->file && copy->text;
    return !self->has_memory;
}

lode_status lode_database_keep_findings(lode_database *db, const struct lode_report *report,
                                        lode_error *error)
{
    struct keeping keeping = {.db = db, .has_memory = true};
    db->is_read = true;
    db->found_result = report->result;
    db->found_result.level = LODE_CHECK_FULL;
    lode_report_each(report, keep_finding, &keeping);
    if (keeping.count == 0)
        return LODE_OK;
    db->found = lode_arena_alloc(&db->arena, keeping.count, sizeof *db->found);
    LODE_TRY_ALLOC(db->found, error);
    lode_report_each(report, keep_finding, &keeping);
    LODE_TRY_ALLOC(keeping.has_memory, error);
    return LODE_OK;
}

LODE_GETTER(const char *, lode_database_format, lode_database, format);
LODE_GETTER(lode_name_form, lode_database_usual_names, lode_database, usual_names);

static const struct lode_part_info *part_info(const lode_database *db, lode_part part)
{
    static const struct lode_part_info none = {.file = ""};
    return (unsigned)part < LODE_PART_COUNT ? &db->parts[part] : &none;
}

void lode_database_version(const lode_database *db, lode_part part, unsigned *major, unsigned *minor)
{
    *major = part_info(db, part)->major;
    *minor = part_info(db, part)->minor;
}

const char *lode_database_title(const lode_database *db)
{
    return db->title ? db->title : "";
}

const char *lode_database_description(const lode_database *db)
{
    return db->description ? db->description : "";
}

int lode_database_has(const lode_database *db, lode_part part)
{
    return part_info(db, part)->present;
}

uint64_t lode_database_part_size(const lode_database *db, lode_part part)
{
    return part_info(db, part)->size;
}

const char *lode_database_part_file(const lode_database *db, lode_part part)
{
    return part_info(db, part)->file;
}

LODE_GETTER(unsigned, lode_database_id_kind_count, lode_database, id_kind_count);

const char *lode_database_id_kind_name(const lode_database *db, unsigned kind)
{
    return kind < db->id_kind_count ? db->id_kinds[kind] : NULL;
}

LODE_GETTER(uint32_t, lode_database_profile_count, lode_database, profile_count);

lode_status lode_database_no_item(const lode_database *db, lode_part part, const char *what, uint32_t index,
                                  uint32_t count, lode_error *error)
{
    return lode_fail(error, LODE_NOT_FOUND, db->parts[part].file, LODE_NO_OFFSET,
                     "there is no %s %" PRIu32 "; there are %" PRIu32, what, index, count);
}

lode_status lode_profile_flags(const lode_database *db, uint32_t profile, uint32_t *flags, lode_error *error)
{
    if (profile >= db->profile_count)
        return lode_database_no_item(db, LODE_PART_PROFILE, "profile", profile, db->profile_count, error);
    *flags = db->ops->profile_flags(db, profile);
    return LODE_OK;
}

int lode_profile_is_summary(const lode_database *db, uint32_t profile)
{
    uint32_t flags;
    return profile == 0 ||
           (lode_profile_flags(db, profile, &flags, NULL) == LODE_OK && (flags & LODE_PROFILE_SUMMARY));
}

lode_status lode_profile_ids(const lode_database *db, uint32_t profile, lode_id *ids, uint32_t capacity,
                             uint32_t *count, lode_error *error)
{
    *count = 0;
    if (profile >= db->profile_count)
        return lode_database_no_item(db, LODE_PART_PROFILE, "profile", profile, db->profile_count, error);
    return db->ops->profile_ids(db, profile, ids, capacity, count, error);
}
