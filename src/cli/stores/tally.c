/* SPDX-License-Identifier: BSD-3-Clause */
#include "stores/tally.h"

#include "alloc.h"
#include "output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* There are some dozens of rules, and mostly the same one comes again. */
static tally_entry *entry_of(tally *t, const char *rule, lode_severity severity)
{
    for (size_t i = t->count; i-- > 0;)
        if (strcmp(t->items[i].rule, rule) == 0)
            return &t->items[i];
    t->items = alloc_grow(t->items, &t->capacity, t->count, sizeof *t->items);
    tally_entry *entry = &t->items[t->count++];
    *entry = (tally_entry){.severity = severity};
    snprintf(entry->rule, sizeof entry->rule, "%s", rule);
    return entry;
}

void tally_add(tally *t, const lode_finding *finding)
{
    tally_entry *entry = entry_of(t, finding->rule, finding->severity);
    if (entry->count++ == 0)
        snprintf(entry->example, sizeof entry->example, "%s%s%s", finding->file,
                 finding->file[0] && finding->text[0] ? ": " : "", finding->text);
    entry->or_more = t->cap && entry->count >= t->cap;
}

/* The entry for what another one has counted. */
static tally_entry *entry_like(tally *t, const tally_entry *from)
{
    tally_entry *entry = entry_of(t, from->rule, from->severity);
    if (entry->count == 0)
        memcpy(entry->example, from->example, sizeof entry->example);
    return entry;
}

void tally_merge(tally *t, const tally *from, lode_severity least)
{
    for (size_t i = 0; i < from->count; i++) {
        if (from->items[i].severity < least)
            continue;
        tally_entry *entry = entry_like(t, &from->items[i]);
        entry->count += from->items[i].count;
        entry->or_more |= from->items[i].or_more;
    }
    t->total += from->total;
}

void tally_join(tally *t, const tally *from)
{
    for (size_t i = 0; i < from->count; i++) {
        tally_entry *entry = entry_like(t, &from->items[i]);
        if (from->items[i].count <= entry->count)
            continue;
        entry->count = from->items[i].count;
        entry->or_more = from->items[i].or_more;
    }
    t->total = from->total > t->total ? from->total : t->total;
}

void tally_free(tally *t)
{
    free(t->items);
    *t = (tally){0};
}

/* ---- what it says ---- */

int tally_has(const tally *t, lode_severity least)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i].severity >= least)
            return 1;
    return 0;
}

uint64_t tally_count(const tally *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += t->items[i].count;
    return sum > t->total ? sum : t->total;
}

int tally_is_least(const tally *t)
{
    for (size_t i = 0; i < t->count && t->total == 0; i++)
        if (t->items[i].or_more)
            return 1;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const tally_entry *a = left, *b = right;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->rule, b->rule);
}

static void sort(tally *t)
{
    if (t->count)
        qsort(t->items, t->count, sizeof *t->items, compare);
}

const tally_entry *tally_worst(tally *t)
{
    sort(t);
    return t->count ? &t->items[0] : NULL;
}

static int is_of_level_full(const char *rule)
{
    for (size_t i = 0; i < lode_rule_count(); i++)
        if (strcmp(lode_rule_at(i)->id, rule) == 0)
            return lode_rule_at(i)->level == LODE_CHECK_FULL;
    return 0;
}

int tally_needs_full(const tally *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (is_of_level_full(t->items[i].rule))
            return 1;
    return 0;
}

char *tally_text(tally *t)
{
    size_t capacity = 64 + t->count * (sizeof t->items->rule + NUMBER_SIZE), used = 0;
    char *text = alloc_array(capacity, 1), number[NUMBER_SIZE];
    uint64_t total = tally_count(t);
    sort(t);
    if (total)
        used = (size_t)snprintf(text, capacity, "%s%s: ", tally_is_least(t) ? "at least " : "",
                                COUNTED(total, "finding", "findings"));
    for (size_t i = 0; i < t->count; i++) {
        format_count(number, t->items[i].count);
        used += (size_t)snprintf(text + used, capacity - used, "%s%s%s %s", i ? ", " : "", number,
                                 t->items[i].or_more ? "+" : "", t->items[i].rule);
    }
    return text;
}

void tally_write(out *o, tally *t, const char *store)
{
    sort(t);
    for (size_t i = 0; i < t->count; i++) {
        out_object(o, NULL);
        if (store)
            OUT_FIELDS(o, "store", store);
        OUT_FIELDS(o, "rule", t->items[i].rule, "severity", lode_severity_name(t->items[i].severity), "count",
                   t->items[i].count, "or_more", t->items[i].or_more);
        out_object_end(o);
    }
}
