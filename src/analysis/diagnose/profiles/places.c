/* SPDX-License-Identifier: BSD-3-Clause */
/* Where costs are: the most expensive call path to an activity, the hottest function. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/cost/key.h"
#include "base/memory/hash.h"
#include "model/database/block.h"
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Costs by function, or by loop. */
struct sums {
    struct lode_keys keys;
    struct lode_array items; /* of struct sum, by key */
};

struct sum {
    double cost;
    const lode_context *sample;
    /* Of functions: the first of the same name; of it, the costs of all. */
    uint32_t first;
    double joined;
};

static void init_sums(struct sums *sums)
{
    lode_keys_init(&sums->keys);
    lode_array_init(&sums->items, sizeof(struct sum), UINT32_MAX);
}

static void free_sums(struct sums *sums)
{
    lode_keys_free(&sums->keys);
    lode_array_free(&sums->items);
}

static lode_status add_sum(struct sums *sums, const lode_context *context, double cost, lode_error *error)
{
    struct lode_key key =
        context->lexical == LODE_LEXICAL_LOOP ? lode_key_of_loop(context) : lode_key_of_function(context);
    bool added;
    uint32_t number = lode_keys_add(&sums->keys, &key, &added);
    if (number == LODE_NO_INDEX || (added && lode_array_push(&sums->items) == NULL))
        return lode_fail_memory(error);
    struct sum *sum = LODE_ARRAY_AT(&sums->items, struct sum, number);
    sum->cost += cost;
    if (added)
        sum->sample = context;
    return LODE_OK;
}

/* The first of the largest. */
static const struct sum *largest(const struct sums *sums)
{
    const struct sum *best = NULL;
    for (size_t i = 0; i < sums->items.count; i++) {
        const struct sum *sum = LODE_ARRAY_AT(&sums->items, struct sum, i);
        if (best == NULL || sum->cost > best->cost)
            best = sum;
    }
    return best;
}

static bool is_same_function(const lode_context *a, const lode_context *b)
{
    struct lode_key left = lode_key_of_function(a), right = lode_key_of_function(b);
    return lode_key_is_same(&left, &right);
}

static const lode_context *function_of(const struct lode_diagnosis *d, uint32_t index)
{
    return &d->profiles->db->tree.nodes[d->profiles->functions[index]];
}

/* ---- paths to activities ---- */

enum step {
    STEP_HOLDER,
    STEP_ENTRY,
    STEP_LEAF
};

static const lode_context *at_step(const struct lode_diagnosis *d, const lode_context *context,
                                   enum step step)
{
    uint32_t index = context->index;
    if (step != STEP_LEAF)
        index = step == STEP_HOLDER ? d->profiles->holders[index] : d->profiles->entries[index];
    return function_of(d, index);
}

/* The largest at one step, among costs below what was found at the steps before. */
static lode_status find_step(const struct lode_diagnosis *d, const lode_cost *cost, unsigned activities,
                             enum step step, struct path *path, lode_error *error)
{
    struct sums sums;
    lode_status status = LODE_OK;
    init_sums(&sums);
    for (uint32_t i = 0; i < d->profiles->db->tree.count && status == LODE_OK; i++) {
        const lode_context *context = &d->profiles->db->tree.nodes[i];
        double own = cost->own[i];
        if (!(own > 0) || !(activities >> d->profiles->activities_of[i] & 1))
            continue;
        if (step > STEP_HOLDER && !is_same_function(at_step(d, context, STEP_HOLDER), path->holder))
            continue;
        if (step > STEP_ENTRY && !is_same_function(at_step(d, context, STEP_ENTRY), path->entry))
            continue;
        if (step == STEP_HOLDER)
            path->all += own;
        status = add_sum(&sums, at_step(d, context, step), own, error);
    }
    const struct sum *best = largest(&sums);
    if (status == LODE_OK && best && step == STEP_HOLDER) {
        path->holder = best->sample;
        path->share = path->all > 0 ? best->cost / path->all : 0;
    } else if (status == LODE_OK && best) {
        *(step == STEP_ENTRY ? &path->entry : &path->leaf) = best->sample;
        path->part = step == STEP_ENTRY ? best->cost / path->all : path->part;
    }
    free_sums(&sums);
    return status;
}

lode_status lode_diagnose_path(const struct lode_diagnosis *d, const lode_cost *cost, unsigned activities,
                               struct path *path, lode_error *error)
{
    *path = (struct path){0};
    LODE_TRY(find_step(d, cost, activities, STEP_HOLDER, path, error));
    if (path->holder == NULL)
        return LODE_OK;
    LODE_TRY(find_step(d, cost, activities, STEP_ENTRY, path, error));
    return find_step(d, cost, activities, STEP_LEAF, path, error);
}

/* Of how many masters one is read, so that the limit is kept. */
static lode_status choose_step(struct lode_diagnosis *d, size_t *step, lode_error *error)
{
    const struct profile_facts *facts = d->profiles;
    uint64_t bytes = 0;
    for (size_t i = 0; i < facts->rank_count; i++) {
        lode_block block;
        LODE_TRY(lode_profile_block(facts->db, facts->threads[facts->ranks[i].first].profile, &block, error));
        bytes += block.value_count * block_value_stride(&block);
    }
    *step = (size_t)(bytes / lode_diagnose_limit(d)) + 1;
    if (*step == 1)
        return LODE_OK;
    size_t count = (facts->rank_count + *step - 1) / *step;
    return lode_diagnose_add_note(
        d, "some-ranks", LODE_NOTE_LEFT_OUT, (double)count,
        lode_diagnose_say(d, "Call paths of first threads are those of %zu of %zu ranks. --deep reads all.",
                          count, facts->rank_count),
        error);
}

static lode_status select_masters(struct lode_diagnosis *d, lode_selection **selection, lode_error *error)
{
    enum {
        ITEM = 16
    };
    const struct profile_facts *facts = d->profiles;
    size_t size = facts->rank_count * ITEM + ITEM, length = 0, step = 1;
    LODE_TRY(choose_step(d, &step, error));
    char *text = malloc(size);
    LODE_TRY_ALLOC(text, error);
    for (size_t i = 0; i < facts->rank_count; i += step)
        length += (size_t)snprintf(text + length, size - length, "%s%u",
                                   i ? "+" : "profile=", facts->threads[facts->ranks[i].first].profile);
    lode_status status = lode_selection_parse(selection, facts->db, text, error);
    free(text);
    return status;
}

lode_status lode_diagnose_cost_of_masters(struct lode_diagnosis *d, const lode_metric *metric,
                                          lode_cost **cost, lode_error *error)
{
    lode_selection *selection = NULL;
    LODE_TRY(select_masters(d, &selection, error));
    lode_status status = lode_diagnose_cost(d, metric, selection, cost, error);
    lode_selection_free(selection);
    return status;
}

lode_status lode_diagnose_master_cost(struct lode_diagnosis *d, const lode_cost **cost, lode_error *error)
{
    *cost = d->profiles->cost;
    /* Threads that are left out have costs, too: nothing that is said may be theirs. */
    if (d->profiles->rank_count == d->profiles->thread_count && d->run.helpers == 0)
        return LODE_OK;
    if (d->profiles->master_cost == NULL)
        LODE_TRY(lode_diagnose_cost_of_masters(d, d->run.metric, &d->profiles->master_cost, error));
    *cost = d->profiles->master_cost;
    return LODE_OK;
}

/* Selects the threads of a rank, or one of them. */
static lode_status select_threads(const struct lode_diagnosis *d, size_t first, size_t count,
                                  lode_selection **selection, lode_error *error)
{
    enum {
        ITEM = 16
    };
    size_t size = count * ITEM + ITEM, length = 0;
    char *text = malloc(size);
    LODE_TRY_ALLOC(text, error);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%u",
                                   i ? "+" : "profile=", d->profiles->threads[first + i].profile);
    lode_status status = lode_selection_parse(selection, d->profiles->db, text, error);
    free(text);
    return status;
}

static lode_status find_excess(const struct lode_diagnosis *d, const lode_cost *cost, double all,
                               unsigned places, const lode_context **holder, lode_error *error)
{
    struct sums sums;
    lode_status status = LODE_OK;
    init_sums(&sums);
    for (uint32_t i = 0; i < d->profiles->db->tree.count && status == LODE_OK; i++) {
        double excess = cost->own[i] - d->profiles->cost->own[i] / all;
        bool is_meant = places >> d->profiles->places[i] & 1 && USEFUL >> d->profiles->activities_of[i] & 1;
        if (excess != 0 && d->profiles->holders[i] && is_meant)
            status = add_sum(&sums, &d->profiles->db->tree.nodes[d->profiles->holders[i]], excess, error);
    }
    const struct sum *best = largest(&sums);
    *holder = status == LODE_OK && best && best->cost > 0 ? best->sample : NULL;
    free_sums(&sums);
    return status;
}

lode_status lode_diagnose_excess(const struct lode_diagnosis *d, size_t first, size_t count, size_t parts,
                                 unsigned places, const lode_context **holder, lode_error *error)
{
    lode_selection *selection;
    lode_cost *cost;
    LODE_TRY(select_threads(d, first, count, &selection, error));
    lode_status status = lode_diagnose_cost(d, d->run.metric, selection, &cost, error);
    lode_selection_free(selection);
    LODE_TRY(status);
    status = find_excess(d, cost, (double)parts, places, holder, error);
    lode_cost_free(cost);
    return status;
}

/* ---- the hottest function ---- */

static bool is_own(const struct lode_diagnosis *d, uint32_t index)
{
    return d->profiles->cost->own[index] > 0 && d->profiles->activities_of[index] == LODE_ACTIVITY_OWN &&
           d->profiles->holders[index];
}

/* The innermost loop that has most of it. */
static const struct sum *tightest(const struct sums *loops, double cost)
{
    const struct sum *best = NULL;
    for (size_t i = 0; i < loops->items.count; i++) {
        const struct sum *sum = LODE_ARRAY_AT(&loops->items, struct sum, i);
        if (sum->cost >= 0.8 * cost && (best == NULL || sum->sample->depth > best->sample->depth))
            best = sum;
    }
    return best;
}

/* By context: what it has in the same call of the function that holds it, with all below it. */
static double *add_up_bodies(const struct lode_diagnosis *d)
{
    double *bodies = calloc((size_t)d->profiles->db->tree.count + 1, sizeof *bodies);
    for (uint32_t i = d->profiles->db->tree.count; bodies && i-- > 1;) {
        uint32_t above = d->profiles->db->tree.nodes[i].parent;
        if (is_own(d, i))
            bodies[i] += d->profiles->cost->own[i];
        if (d->profiles->holders[i] == d->profiles->holders[above])
            bodies[above] += bodies[i];
    }
    return bodies;
}

/* ---- functions of one name ---- */

enum {
    LABEL_SIZE = 8192 /* longer names are not compared, as in `lode top` */
};

/* The name that `lode top` has by default; false if it is too long to compare. */
static bool put_label(const lode_context *context, lode_name_form form, char *label)
{
    return lode_context_label_as(context, form, label, LABEL_SIZE) < LABEL_SIZE;
}

struct names {
    struct lode_index index; /* of the first function of each name, by hash of the name */
    lode_name_form form;
    char label[LABEL_SIZE], other[LABEL_SIZE];
};

/* The first sum of the same name, which may be this one; LODE_NO_INDEX if out of memory. */
static uint32_t first_of_name(struct names *names, const struct sums *sums, uint32_t number)
{
    const struct sum *sum = LODE_ARRAY_AT(&sums->items, struct sum, number);
    if (!put_label(sum->sample, names->form, names->label))
        return number;
    uint64_t hash = lode_hash_text(names->label);
    struct lode_index_probe probe = lode_index_begin(&names->index, hash);
    for (uint32_t known; lode_index_next(&probe, &known);)
        if (put_label(LODE_ARRAY_AT(&sums->items, struct sum, known)->sample, names->form, names->other) &&
            strcmp(names->label, names->other) == 0)
            return known;
    if (!lode_index_reserve(&names->index))
        return LODE_NO_INDEX;
    lode_index_put(&names->index, hash, number);
    return number;
}

/* Gives each sum the number of the first of its name, and what all of the name have. */
static lode_status join_names(struct sums *sums, lode_name_form form, lode_error *error)
{
    struct names *names = calloc(1, sizeof *names);
    LODE_TRY_ALLOC(names, error);
    names->form = form;
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < sums->items.count && status == LODE_OK; i++) {
        uint32_t first = first_of_name(names, sums, i);
        if (first == LODE_NO_INDEX) {
            status = lode_fail_memory(error);
            continue;
        }
        struct sum *sum = LODE_ARRAY_AT(&sums->items, struct sum, i);
        sum->first = first;
        LODE_ARRAY_AT(&sums->items, struct sum, first)->joined += sum->cost;
    }
    lode_index_free(&names->index);
    free(names);
    return status;
}

/* The largest parts, in descending order. */
static void add_part(struct hot *hot, const struct sum *sum)
{
    struct hot_part part = {sum->cost, sum->sample};
    for (size_t i = 0; i < HOT_MODULES; i++) {
        if (hot->parts[i].holder && hot->parts[i].cost >= part.cost)
            continue;
        struct hot_part smaller = hot->parts[i];
        hot->parts[i] = part;
        part = smaller;
        if (part.holder == NULL)
            break;
    }
}

/* The name with the largest cost; of its functions, the largest stands for it. */
static void choose_hot(struct hot *hot, const struct sums *sums)
{
    const struct sum *best = NULL;
    for (size_t i = 0; i < sums->items.count; i++) {
        const struct sum *sum = LODE_ARRAY_AT(&sums->items, struct sum, i);
        if (best == NULL || sum->joined > best->joined)
            best = sum;
    }
    for (size_t i = 0; i < sums->items.count && best; i++)
        if (LODE_ARRAY_AT(&sums->items, struct sum, i)->first == best->first)
            add_part(hot, LODE_ARRAY_AT(&sums->items, struct sum, i));
    if (best) {
        hot->holder = hot->parts[0].holder;
        hot->cost = best->joined;
    }
}

static lode_status find_loop(const struct lode_diagnosis *d, struct hot *hot, lode_error *error)
{
    const lode_context *nodes = d->profiles->db->tree.nodes;
    struct sums loops;
    lode_status status = LODE_OK;
    double *bodies = add_up_bodies(d);
    LODE_TRY_ALLOC(bodies, error);
    init_sums(&loops);
    for (uint32_t i = 1; i < d->profiles->db->tree.count && status == LODE_OK; i++)
        if (nodes[i].lexical == LODE_LEXICAL_LOOP && bodies[i] > 0 && d->profiles->holders[i] &&
            is_same_function(&nodes[d->profiles->holders[i]], hot->holder))
            status = add_sum(&loops, &nodes[i], bodies[i], error);
    free(bodies);
    const struct sum *best = tightest(&loops, hot->cost);
    if (status == LODE_OK && best) {
        hot->loop = best->sample;
        hot->loop_cost = best->cost;
    }
    free_sums(&loops);
    return status;
}

lode_status lode_diagnose_hot(const struct lode_diagnosis *d, struct hot *hot, lode_error *error)
{
    struct sums sums;
    lode_status status = LODE_OK;
    *hot = (struct hot){0};
    init_sums(&sums);
    for (uint32_t i = 0; i < d->profiles->db->tree.count && status == LODE_OK; i++)
        if (is_own(d, i))
            status = add_sum(&sums, &d->profiles->db->tree.nodes[d->profiles->holders[i]],
                             d->profiles->cost->own[i], error);
    if (status == LODE_OK)
        status = join_names(&sums, d->profiles->db->usual_names, error);
    if (status == LODE_OK)
        choose_hot(hot, &sums);
    free_sums(&sums);
    return status == LODE_OK && hot->holder ? find_loop(d, hot, error) : status;
}

double lode_diagnose_unnamed(const struct lode_diagnosis *d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->profiles->db->tree.count; i++) {
        if (!(d->profiles->cost->own[i] > 0) || d->profiles->activities_of[i] != LODE_ACTIVITY_OWN ||
            d->profiles->holders[i] == 0)
            continue;
        const lode_context *holder = function_of(d, i);
        const char *name =
            holder->lexical == LODE_LEXICAL_ENTRY || holder->function == NULL ? NULL : holder->function->name;
        if (name == NULL || *name == '\0' || strncmp(name, "<unknown", 8) == 0)
            sum += d->profiles->cost->own[i];
    }
    return sum;
}
