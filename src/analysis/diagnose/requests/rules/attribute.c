/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute: slow requests have a value of an attribute in common.
 * Needs: 30 requests of an entry point, 5 of them slow.
 * Computation: Fisher's exact test, one-sided, of slow against all requests of the entry point, for
 *     each value of the attributes of the outermost call; Holm's correction over all tests,
 *     p < 0.01; lift (share of the slow / share of all) of at least 2; at least half of the slow.
 * Guard: values in 5 requests or more and in 90 % or less: no ids, no constants. Tests are within
 *     an entry point, since attributes often say which one a request is of. Of values with about
 *     the same gain, the one that is least likely by chance is named: a region has all the slow
 *     requests of its slow tenant, and many others.
 * Gain: what these slow requests take beyond the mean of others, in all entry points where it
 *     holds; more than 3 % of all time. Confidence: likely.
 * Explains: slow-method, if it has at least half of its gain.
 */
#include "analysis/diagnose/requests/facts.h"

#include <inttypes.h>
#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOLM_P    0.01
#define LIFT_MIN  2.0
#define COMMON    0.9
#define SLOW_HALF 0.5
#define GAIN_MIN  0.03
#define EXPLAINED 0.5
#define ALIKE     0.9 /* of the largest gain */

enum {
    VALUE_MIN = 5, /* requests */
    ALSO_SHOWN = 2
};

/* A test: a value in the requests of an entry point. */
struct test {
    const struct entry *entry;
    const char *key, *value;
    uint64_t all, slow;          /* requests with the value */
    const struct value_sum *sum; /* of slow ones; NULL: none */
    bool holds;
};

/* A value, in all entry points where it holds. */
struct cause {
    const char *key, *value;
    uint64_t slow_with, slow, all_with, all;
    uint32_t entries;
    const struct entry *first;
    double p;
    struct part part;
    struct share gain;
};

static const struct value_sum *find_slow(const struct request_facts *facts, const struct test *test)
{
    const struct request_tables *slow = facts->slow;
    struct value_key key = {test->entry->function->index, lode_strings_find(&slow->keys, test->key),
                            lode_strings_find(&slow->values, test->value)};
    uint32_t at = key.key == LODE_NO_NUMBER || key.value == LODE_NO_NUMBER
                      ? LODE_NO_NUMBER
                      : lode_interner_find(&slow->value_keys, &key);
    return at == LODE_NO_NUMBER ? NULL : LODE_ARRAY_AT(&slow->value_sums, struct value_sum, at);
}

/* All tests; their number is what Holm's correction is for. */
static size_t list_tests(const struct request_facts *facts, struct test *tests)
{
    const struct request_tables *all = facts->all;
    size_t count = 0;
    for (size_t i = 0; i < all->value_sums.count; i++) {
        const struct value_key *key = LODE_ARRAY_AT(&all->value_keys.items, struct value_key, i);
        uint64_t requests = LODE_ARRAY_AT(&all->value_sums, struct value_sum, i)->requests;
        uint32_t number = facts->entry_of[key->entry];
        const struct entry *entry = number ? &facts->entries[number - 1] : NULL;
        if (entry == NULL || entry->slow < SLOW_MIN || tables_has_many_values(all, key->key) ||
            requests < VALUE_MIN || (double)requests > COMMON * entry->count)
            continue;
        struct test *test = &tests[count++];
        *test = (struct test){.entry = entry,
                              .key = lode_strings_at(&all->keys, key->key),
                              .value = lode_strings_at(&all->values, key->value),
                              .all = requests};
        test->sum = find_slow(facts, test);
        test->slow = test->sum ? test->sum->requests : 0;
    }
    return count;
}

static bool holds(const struct test *test, double p)
{
    double share = (double)test->slow / test->entry->slow;
    double lift = share / ((double)test->all / test->entry->count);
    return p < HOLM_P && lift >= LIFT_MIN && share >= SLOW_HALF;
}

/* By key, value and entry point. */
static int compare_tests(const void *left, const void *right)
{
    const struct test *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    if (order == 0)
        order = strcmp(a->value, b->value);
    return order ? order : a->entry < b->entry ? -1 : a->entry > b->entry;
}

static void add_test(struct cause *cause, const struct test *test, double p)
{
    double time = (double)test->sum->time, usual = test->entry->usual, n = (double)test->slow;
    cause->slow_with += test->slow;
    cause->slow += test->entry->slow;
    cause->all_with += test->all;
    cause->all += test->entry->count;
    cause->first = cause->entries++ ? cause->first : test->entry;
    cause->p = fmin(cause->p, p);
    cause->part.sum += time - n * usual;
    cause->part.squares += (double)test->sum->squares - 2 * usual * time + n * usual * usual;
    cause->part.products += (double)test->sum->squares - usual * time;
}

static int compare_names(const struct cause *a, const struct cause *b)
{
    int order = strcmp(a->key, b->key);
    return order ? order : strcmp(a->value, b->value);
}

static int compare_gains(const void *left, const void *right)
{
    const struct cause *a = left, *b = right;
    if (a->gain.value != b->gain.value)
        return a->gain.value > b->gain.value ? -1 : 1;
    return compare_names(a, b);
}

static double lift_of(const struct cause *cause)
{
    return (double)cause->slow_with / (double)cause->slow / ((double)cause->all_with / (double)cause->all);
}

/* The least likely first; many have a probability of 0. */
static int compare_chances(const void *left, const void *right)
{
    const struct cause *a = left, *b = right;
    double lift = lift_of(a), other = lift_of(b);
    if (a->p != b->p)
        return a->p < b->p ? -1 : 1;
    if (lift != other)
        return lift > other ? -1 : 1;
    return compare_names(a, b);
}

static void arrange(struct cause *causes, size_t count)
{
    size_t alike = 1;
    qsort(causes, count, sizeof *causes, compare_gains);
    while (alike < count && causes[alike].gain.value >= ALIKE * causes[0].gain.value)
        alike++;
    qsort(causes, alike, sizeof *causes, compare_chances);
}

/* Joins tests of one value; those that take enough, the one to name first. */
static size_t list_causes(const struct request_facts *facts, const struct test *tests, const double *p,
                          size_t count, struct cause *causes)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!tests[i].holds)
            continue;
        if (found == 0 || strcmp(causes[found - 1].key, tests[i].key) != 0 ||
            strcmp(causes[found - 1].value, tests[i].value) != 0)
            causes[found++] = (struct cause){.key = tests[i].key, .value = tests[i].value, .p = 1};
        add_test(&causes[found - 1], &tests[i], p[i]);
    }
    for (size_t i = 0; i < found; i++) {
        causes[i].gain = lode_diagnose_request_share(facts, &causes[i].part);
        if (causes[i].gain.low > GAIN_MIN)
            causes[kept++] = causes[i];
    }
    if (kept)
        arrange(causes, kept);
    return kept;
}

/* The option that finds requests by a value; keys with a sign of comparison cannot be asked for. */
static const char *condition_of(struct lode_diagnosis *d, const struct cause *cause)
{
    if (strpbrk(cause->key, "=<>~!"))
        return lode_diagnose_request_option(d, "text", cause->value[0] ? cause->value : cause->key);
    return lode_diagnose_request_option(d, "attribute",
                                        lode_diagnose_say(d, "%s=%s", cause->key, cause->value));
}

static lode_status say(struct lode_diagnosis *d, const struct cause *causes, size_t count, lode_error *error)
{
    const struct cause *cause = &causes[0];
    struct draft draft = {.statement = {.id = "attribute", .confidence = LODE_LIKELY}};
    const char *where = cause->entries == 1
                            ? lode_diagnose_request_method(d, cause->first->function)
                            : lode_diagnose_say(d, "%" PRIu32 " entry points", cause->entries);
    lode_diagnose_set_gain_within(&draft, cause->gain.value, cause->gain.low, cause->gain.high);
    lode_diagnose_set_text(
        d, &draft,
        "%" PRIu64 " of %" PRIu64 " slow requests of %s have %s=%s; of all their requests, %" PRIu64
        " of %" PRIu64 " have it.",
        cause->slow_with, cause->slow, where, cause->key, cause->value, cause->all_with, cause->all);
    lode_diagnose_show(d, &draft, cause->p, "probability",
                       "by chance: p = %.2g, adjusted for all values of all attributes; these "
                       "take %.1f%% of the time beyond the usual",
                       cause->p, 100 * cause->gain.value);
    LODE_SET_COMMAND(&draft, "search", condition_of(d, cause), "--sort=duration");
    for (size_t i = 1; i < count && i <= ALSO_SHOWN; i++)
        lode_diagnose_show(d, &draft, (double)causes[i].slow_with, "requests",
                           "%" PRIu64 " of %" PRIu64 " also have %s=%s", causes[i].slow_with, causes[i].slow,
                           causes[i].key, causes[i].value);
    const struct draft *slow = lode_diagnose_find_statement(d, "slow-method");
    if (slow && cause->gain.value >= EXPLAINED * slow->statement.gain)
        LODE_ADD_EXPLAINS(&draft, "slow-method");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status judge(struct lode_diagnosis *d, struct test *tests, double *p, struct cause *causes,
                         lode_error *error)
{
    size_t count = list_tests(d->requests, tests);
    if (count == 0)
        return LODE_OK;
    qsort(tests, count, sizeof *tests, compare_tests);
    for (size_t i = 0; i < count; i++)
        p[i] = lode_diagnose_hypergeometric_tail(tests[i].slow, tests[i].entry->slow, tests[i].all,
                                                 tests[i].entry->count);
    LODE_TRY(lode_adjust_holm(p, count, error));
    for (size_t i = 0; i < count; i++)
        tests[i].holds = holds(&tests[i], p[i]);
    size_t found = list_causes(d->requests, tests, p, count, causes);
    return found ? say(d, causes, found, error) : LODE_OK;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    size_t most = d->requests->all->value_sums.count;
    if (d->requests->slow == NULL)
        return LODE_OK;
    struct test *tests = calloc(most + 1, sizeof *tests);
    double *p = calloc(most + 1, sizeof *p);
    struct cause *causes = calloc(most + 1, sizeof *causes);
    lode_status status = tests && p && causes ? judge(d, tests, p, causes, error) : lode_fail_memory(error);
    free(tests);
    free(p);
    free(causes);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_request_rule_attribute = {
    "attribute", "slow requests have a value of an attribute in common",
    1u << REQUEST_NEED_DATA | 1u << REQUEST_NEED_ENTRY | 1u << REQUEST_NEED_ATTRIBUTES, run};
