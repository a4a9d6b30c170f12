/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/kept.h"

#include "base/error.h"
#include "base/pack.h"
#include <stdlib.h>
#include <string.h>

/* A finding that waits for its turn, and the name of its file and its text behind it. */
struct kept_finding {
    lode_finding finding;
    char strings[];
};

void lode_kept_init(struct lode_kept *kept)
{
    lode_array_init(&kept->items, sizeof(struct kept_finding *), SIZE_MAX);
}

void lode_kept_free(struct lode_kept *kept)
{
    for (size_t i = 0; i < kept->items.count; i++)
        free(*LODE_ARRAY_AT(&kept->items, struct kept_finding *, i));
    lode_array_free(&kept->items);
}

static lode_status fail_cancelled(lode_error *error)
{
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

lode_status lode_kept_pass_on(const struct lode_kept *kept, lode_finding_fn on_finding, void *user,
                              lode_error *error)
{
    for (size_t i = 0; i < kept->items.count; i++) {
        const struct kept_finding *item = *LODE_ARRAY_AT(&kept->items, struct kept_finding *, i);
        if (on_finding(user, &item->finding) != 0)
            return fail_cancelled(error);
    }
    return LODE_OK;
}

bool lode_kept_pack(const struct lode_kept *kept, struct lode_blob *blob)
{
    for (size_t i = 0; i < kept->items.count; i++) {
        const lode_finding *finding = &(*LODE_ARRAY_AT(&kept->items, struct kept_finding *, i))->finding;
        if (!pack_number(blob, finding->offset) || !pack_number(blob, (uint64_t)finding->severity) ||
            !pack_text(blob, finding->rule) || !pack_text(blob, finding->file) ||
            !pack_text(blob, finding->text))
            return false;
    }
    return true;
}

lode_status lode_kept_pass_packed(const unsigned char *bytes, size_t size, lode_finding_fn on_finding,
                                  void *user, lode_error *error)
{
    for (const unsigned char *at = bytes; at < bytes + size;) {
        lode_finding finding = {.offset = unpack_number(&at)};
        finding.severity = (lode_severity)unpack_number(&at);
        finding.rule = unpack_text(&at);
        finding.file = unpack_text(&at);
        finding.text = unpack_text(&at);
        if (on_finding(user, &finding) != 0)
            return fail_cancelled(error);
    }
    return LODE_OK;
}

void lode_keeper_free(struct lode_keeper *keeper)
{
    free(keeper->seen);
    *keeper = (struct lode_keeper){0};
}

void lode_keeper_begin(struct lode_keeper *keeper, struct lode_kept *kept)
{
    keeper->kept = kept;
    keeper->seen_count = 0;
}

/* How many there were of a rule, whose id is permanent; NULL if there is no memory. */
static uint32_t *seen_of(struct lode_keeper *keeper, const char *rule)
{
    for (size_t i = 0; i < keeper->seen_count; i++)
        if (strcmp(keeper->seen[i].rule, rule) == 0)
            return &keeper->seen[i].count;
    if (keeper->seen_count == keeper->room) {
        size_t room = keeper->room ? keeper->room * 2 : 16;
        struct lode_kept_count *seen = realloc(keeper->seen, room * sizeof *seen);
        if (seen == NULL)
            return NULL;
        keeper->seen = seen;
        keeper->room = room;
    }
    keeper->seen[keeper->seen_count] = (struct lode_kept_count){rule, 0};
    return &keeper->seen[keeper->seen_count++].count;
}

static struct kept_finding *copy_finding(const lode_finding *finding)
{
    size_t file = strlen(finding->file) + 1, text = strlen(finding->text) + 1;
    struct kept_finding *kept = malloc(sizeof *kept + file + text);
    if (kept == NULL)
        return NULL;
    kept->finding = *finding;
    kept->finding.file = memcpy(kept->strings, finding->file, file);
    kept->finding.text = memcpy(kept->strings + file, finding->text, text);
    return kept;
}

int lode_keeper_take(void *user, const lode_finding *finding)
{
    struct lode_keeper *keeper = user;
    uint32_t *seen = seen_of(keeper, finding->rule);
    if (seen && (*seen)++ >= LODE_KEPT_FINDINGS)
        return 0;
    struct kept_finding *kept = seen ? copy_finding(finding) : NULL;
    struct kept_finding **slot = kept ? lode_array_push(&keeper->kept->items) : NULL;
    if (slot == NULL) {
        free(kept);
        keeper->failed = true;
        return 1;
    }
    *slot = kept;
    return 0;
}
