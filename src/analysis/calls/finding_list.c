/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/finding_list.h"

#include "base/comm/pack.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* A buffered finding, followed by the name of its file and its message. */
struct listed_finding {
    lode_finding finding;
    char strings[];
};

void lode_finding_list_init(struct lode_finding_list *kept)
{
    lode_array_init(&kept->items, sizeof(struct listed_finding *), SIZE_MAX);
}

void lode_finding_list_free(struct lode_finding_list *kept)
{
    for (size_t i = 0; i < kept->items.count; i++)
        free(*LODE_ARRAY_AT(&kept->items, struct listed_finding *, i));
    lode_array_free(&kept->items);
}

static lode_status fail_cancelled(lode_error *error)
{
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

lode_status lode_finding_list_pass_on(const struct lode_finding_list *kept, lode_finding_fn on_finding,
                                      void *user, lode_error *error)
{
    for (size_t i = 0; i < kept->items.count; i++) {
        const struct listed_finding *item = *LODE_ARRAY_AT(&kept->items, struct listed_finding *, i);
        if (on_finding(user, &item->finding) != 0)
            return fail_cancelled(error);
    }
    return LODE_OK;
}

bool lode_finding_list_pack(const struct lode_finding_list *kept, struct lode_blob *blob)
{
    for (size_t i = 0; i < kept->items.count; i++) {
        const lode_finding *finding = &(*LODE_ARRAY_AT(&kept->items, struct listed_finding *, i))->finding;
        if (!pack_number(blob, finding->offset) || !pack_number(blob, (uint64_t)finding->severity) ||
            !pack_string(blob, finding->rule) || !pack_string(blob, finding->file) ||
            !pack_string(blob, finding->text))
            return false;
    }
    return true;
}

lode_status lode_finding_list_pass_packed(const unsigned char *bytes, size_t size, lode_finding_fn on_finding,
                                          void *user, lode_error *error)
{
    for (const unsigned char *at = bytes; at < bytes + size;) {
        lode_finding finding = {.offset = unpack_number(&at)};
        finding.severity = (lode_severity)unpack_number(&at);
        finding.rule = unpack_string(&at);
        finding.file = unpack_string(&at);
        finding.text = unpack_string(&at);
        if (on_finding(user, &finding) != 0)
            return fail_cancelled(error);
    }
    return LODE_OK;
}

void lode_finding_buffer_free(struct lode_finding_buffer *buffer)
{
    free(buffer->seen);
    *buffer = (struct lode_finding_buffer){0};
}

void lode_finding_buffer_begin(struct lode_finding_buffer *buffer, struct lode_finding_list *kept)
{
    buffer->kept = kept;
    buffer->seen_count = 0;
}

/* The count of a rule, by its permanent id; NULL if out of memory. */
static uint32_t *seen_of(struct lode_finding_buffer *buffer, const char *rule)
{
    for (size_t i = 0; i < buffer->seen_count; i++)
        if (strcmp(buffer->seen[i].rule, rule) == 0)
            return &buffer->seen[i].count;
    if (buffer->seen_count == buffer->room) {
        if (!LODE_GROW(buffer->seen, buffer->room, buffer->room ? buffer->room * 2 : 16))
            return NULL;
    }
    buffer->seen[buffer->seen_count] = (struct lode_finding_list_count){rule, 0};
    return &buffer->seen[buffer->seen_count++].count;
}

static struct listed_finding *copy_finding(const lode_finding *finding)
{
    size_t file = strlen(finding->file) + 1, text = strlen(finding->text) + 1;
    struct listed_finding *kept = malloc(sizeof *kept + file + text);
    if (kept == NULL)
        return NULL;
    kept->finding = *finding;
    kept->finding.file = memcpy(kept->strings, finding->file, file);
    kept->finding.text = memcpy(kept->strings + file, finding->text, text);
    return kept;
}

int lode_finding_buffer_take(void *user, const lode_finding *finding)
{
    struct lode_finding_buffer *buffer = user;
    uint32_t *seen = seen_of(buffer, finding->rule);
    if (seen && (*seen)++ >= LODE_KEPT_FINDINGS)
        return 0;
    struct listed_finding *kept = seen ? copy_finding(finding) : NULL;
    struct listed_finding **slot = kept ? lode_array_push(&buffer->kept->items) : NULL;
    if (slot == NULL) {
        free(kept);
        buffer->failed = true;
        return 1;
    }
    *slot = kept;
    return 0;
}
