/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of a kind, by what they account for, and texts about them. */
#include "analysis/diagnose/requests/services/speak.h"

#include "base/compare.h"
#include <stdlib.h>
#include <string.h>

#define GAIN_SHOWN 0.05

enum {
    TEXT_SHOWN = 120
};

struct ordered {
    struct service_found found;
    const struct request_facts *facts;
};

static uint32_t rank_of(const struct request_facts *facts, uint32_t function)
{
    return function == NO_CALL ? 0 : facts->ranks[function];
}

static int compare_texts(const struct request_facts *facts, uint32_t left, uint32_t right)
{
    const char *a = left ? lode_strings_at(&facts->services->texts, left - 1) : "";
    const char *b = right ? lode_strings_at(&facts->services->texts, right - 1) : "";
    return strcmp(a, b);
}

/* Numbers of functions and texts depend on which thread met them first: names decide. */
static int compare_found(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    const struct service_key *k = a->found.key, *l = b->found.key;
    const struct service_sum *m = a->found.sum, *n = b->found.sum;
    if (m->saved != n->saved)
        return m->saved > n->saved ? -1 : 1;
    if (m->calls != n->calls)
        return m->calls > n->calls ? -1 : 1;
    if (k->function != l->function)
        return LODE_COMPARE(rank_of(a->facts, k->function), rank_of(a->facts, l->function));
    if (k->other != l->other)
        return LODE_COMPARE(rank_of(a->facts, k->other), rank_of(a->facts, l->other));
    return compare_texts(a->facts, k->text, l->text);
}

const struct service_sum *lode_diagnose_service_calls_of(const struct request_facts *facts, uint32_t function)
{
    struct service_key key = {SUM_CALLS, function, 0, 0};
    uint32_t at = lode_interner_find(&facts->services->keys, &key);
    return at == LODE_NO_NUMBER ? NULL : LODE_ARRAY_AT(&facts->services->sums, struct service_sum, at);
}

static struct service_found describe(const struct request_facts *facts, size_t index)
{
    const struct service_key *key = LODE_ARRAY_AT(&facts->services->keys.items, struct service_key, index);
    const struct service_sum *sum = LODE_ARRAY_AT(&facts->services->sums, struct service_sum, index);
    struct part part = {(double)sum->saved, (double)sum->squares, (double)sum->products};
    const struct service_sum *caller = lode_diagnose_service_calls_of(facts, key->function);
    double time = caller ? (double)caller->time : 0;
    return (struct service_found){key, sum, lode_diagnose_request_share(facts, &part),
                                  time > 0 ? (double)sum->saved / time : 0};
}

struct service_found *lode_diagnose_service_list(const struct request_facts *facts,
                                                 enum service_sum_kind kind, size_t *count)
{
    size_t all = facts->services->sums.count;
    struct ordered *items = malloc((all + 1) * sizeof *items);
    struct service_found *found = calloc(all + 1, sizeof *found);
    *count = 0;
    for (size_t i = 0; items && found && i < all; i++)
        if (LODE_ARRAY_AT(&facts->services->keys.items, struct service_key, i)->kind == kind &&
            LODE_ARRAY_AT(&facts->services->sums, struct service_sum, i)->requests > 0)
            items[(*count)++] = (struct ordered){describe(facts, i), facts};
    if (*count > 1)
        qsort(items, *count, sizeof *items, compare_found);
    for (size_t i = 0; i < *count; i++)
        found[i] = items[i].found;
    if (items == NULL) {
        free(found);
        found = NULL;
    }
    free(items);
    return found;
}

void lode_diagnose_service_set_gain(struct draft *draft, const struct share *gain)
{
    if (gain->value >= GAIN_SHOWN)
        lode_diagnose_set_gain_within(draft, gain->value, gain->low, gain->high);
}

const char *lode_diagnose_service_name(struct lode_diagnosis *d, uint32_t function)
{
    return lode_diagnose_request_method(d, lode_diagnose_request_function(d, function));
}

const char *lode_diagnose_service_quote(struct lode_diagnosis *d, uint32_t text)
{
    const char *full = text ? lode_strings_at(&d->requests->services->texts, text - 1) : "";
    size_t length = strlen(full), shown = TEXT_SHOWN;
    if (length <= TEXT_SHOWN)
        return full;
    while (shown > 0 && ((unsigned char)full[shown] & 0xc0) == 0x80)
        shown--;
    return lode_diagnose_say(d, "%.*s...", (int)shown, full);
}
