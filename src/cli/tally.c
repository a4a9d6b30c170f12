/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include "alloc.h"
#include "output/json.h"

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
    entry_of(t, finding->rule, finding->severity)->count++;
}

void tally_merge(tally *t, const tally *from, lode_severity least)
{
    for (size_t i = 0; i < from->count; i++)
        if (from->items[i].severity >= least)
            entry_of(t, from->items[i].rule, from->items[i].severity)->count += from->items[i].count;
}

void tally_free(tally *t)
{
    free(t->items);
    *t = (tally){0};
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

static int is_capped(const tally *t, const tally_entry *entry)
{
    return t->cap && entry->count >= t->cap;
}

char *tally_text(tally *t)
{
    size_t capacity = 64 + t->count * (sizeof t->items->rule + NUMBER_SIZE), used = 0;
    char *text = alloc_array(capacity, 1), number[NUMBER_SIZE];
    uint64_t total = 0;
    int is_least = 0;
    sort(t);
    for (size_t i = 0; i < t->count; i++) {
        total += t->items[i].count;
        is_least |= is_capped(t, &t->items[i]);
    }
    if (total)
        used = (size_t)snprintf(text, capacity, "%s%s: ", is_least ? "at least " : "",
                                COUNTED(total, "finding", "findings"));
    for (size_t i = 0; i < t->count; i++) {
        format_count(number, t->items[i].count);
        used += (size_t)snprintf(text + used, capacity - used, "%s%s%s %s", i ? ", " : "", number,
                                 is_capped(t, &t->items[i]) ? "+" : "", t->items[i].rule);
    }
    return text;
}

void tally_write(out *o, tally *t)
{
    if (out_format_of(o) != OUT_JSON)
        return;
    sort(t);
    json_line(o);
    json_array(o, "findings");
    for (size_t i = 0; i < t->count; i++) {
        json_object(o, NULL);
        json_text(o, "rule", t->items[i].rule);
        json_text(o, "severity", lode_severity_name(t->items[i].severity));
        json_u64(o, "count", t->items[i].count);
        json_bool(o, "or_more", is_capped(t, &t->items[i]));
        json_object_end(o);
    }
    json_array_end(o);
}
