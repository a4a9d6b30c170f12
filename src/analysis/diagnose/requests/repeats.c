/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that a request repeats. A statement is followed through the whole request, since each of
 * its calls often has a caller of its own; the method that repeats it is the innermost call around
 * all of them. Other methods, and calls after an error, are followed among the calls of one call.
 */
#include "analysis/diagnose/requests/scan.h"

enum {
    REPEATS_MIN = 5,
    LONG = 50 * 1000 * 1000, /* nanoseconds that repeated calls of a request have to take, or */
    PART = 10                /* one of so many parts of it */
};

static bool is_enough(const struct scan *scan, uint64_t calls, uint64_t time)
{
    return calls >= REPEATS_MIN && (time > LONG || time > scan->duration / PART);
}

/* A repeated call of this request; it counts when the request ends. */
static bool note_calls(struct scan *scan, const struct site_key *key, uint64_t calls, uint64_t time,
                       uint64_t saved)
{
    struct site_sum *sum;
    uint32_t number;
    if (!lode_diagnose_tables_add_site(&scan->tables, key, &sum, &number))
        return false;
    if (sum == NULL)
        return true;
    if (sum->pending_calls == 0) {
        uint32_t *touched = lode_array_push(&scan->touched_sites);
        if (touched == NULL)
            return false;
        *touched = number;
    }
    sum->pending_calls += calls;
    sum->pending_time += time;
    sum->pending_saved += saved;
    return true;
}

/* The same, for its caller and for all callers. */
static bool note_site(struct scan *scan, const struct site_key *key, uint64_t calls, uint64_t time,
                      uint64_t saved)
{
    struct site_key all = *key;
    all.caller = ALL_CALLERS;
    return note_calls(scan, &all, calls, time, saved) && note_calls(scan, key, calls, time, saved);
}

/* ---- calls of one call ---- */

static struct child *find_child(struct frame *parent, const struct frame *call)
{
    for (unsigned i = 0; i < parent->child_count; i++)
        if (parent->children[i].function == call->function &&
            parent->children[i].statement == call->statement)
            return &parent->children[i];
    if (parent->child_count == CHILDREN)
        return NULL;
    struct child *child = &parent->children[parent->child_count++];
    *child =
        (struct child){.function = call->function, .statement = call->statement, .first_begin = call->begin};
    return child;
}

bool lode_diagnose_request_scan_add_child(struct scan *scan, struct frame *parent, const struct frame *call,
                                          uint64_t end, bool has_failed)
{
    struct child *child = find_child(parent, call);
    if (child) {
        child->is_loop = child->is_loop || child->has_succeeded;
        child->has_succeeded = child->has_succeeded || !has_failed;
        child->calls++;
        child->failed += has_failed;
        child->time += has_failed ? 0 : end - call->begin;
        child->last_begin = call->begin;
    }
    return call->statement == 0 || has_failed || lode_diagnose_request_scan_add_statement(scan, call, end);
}

/* A call of the method is open: these calls are a part of it. */
static bool is_recursive(const struct scan *scan, const struct child *child)
{
    return *LODE_ARRAY_AT(&scan->open, uint32_t, child->function) > 0;
}

bool lode_diagnose_request_scan_end_children(struct scan *scan, const struct frame *call)
{
    for (unsigned i = 0; i < call->child_count; i++) {
        const struct child *child = &call->children[i];
        uint64_t good = child->calls - child->failed;
        struct site_key key = {REPEAT_METHOD, child->function, child->statement, call->function};
        if (child->failed && child->calls > 1 && !child->is_loop) {
            uint64_t saved = child->last_begin - child->first_begin;
            key.kind = REPEAT_RETRY;
            if (!note_site(scan, &key, child->calls, saved, saved))
                return false;
        } else if (child->statement == 0 && !is_recursive(scan, child) &&
                   is_enough(scan, good, child->time)) {
            if (!note_site(scan, &key, good, child->time, child->time - child->time / good))
                return false;
        }
    }
    return true;
}

/* ---- statements ---- */

static struct statement_group *find_group(struct scan *scan, uint32_t statement)
{
    while (scan->groups.count < statement)
        if (lode_array_push(&scan->groups) == NULL)
            return NULL;
    return LODE_ARRAY_AT(&scan->groups, struct statement_group, statement - 1);
}

/* The innermost call that was open at the first call of a group, and still is. */
static void find_caller(const struct scan *scan, struct statement_group *group)
{
    size_t depth = open_calls_count(&scan->frames) - 1;
    depth = group->calls > 0 && group->caller_depth < depth ? group->caller_depth : depth;
    while (depth > 0 && OPEN_CALLS_AT(&scan->frames, struct frame, depth)->serial >= group->first)
        depth--;
    group->caller_depth = depth;
    group->caller = OPEN_CALLS_AT(&scan->frames, struct frame, depth)->function;
}

bool lode_diagnose_request_scan_add_statement(struct scan *scan, const struct frame *call, uint64_t end)
{
    struct statement_group *group = find_group(scan, call->statement);
    if (group == NULL)
        return false;
    if (group->request != scan->number) {
        uint32_t *touched = lode_array_push(&scan->touched_groups);
        if (touched == NULL)
            return false;
        *touched = call->statement;
        *group = (struct statement_group){.request = scan->number,
                                          .first = call->serial,
                                          .raw = call->raw,
                                          .function = call->function,
                                          .is_identical = true};
    } else if (group->last > call->serial) {
        return true; /* a wrapper: the call inside it counts */
    }
    find_caller(scan, group);
    group->calls++;
    group->time += end - call->begin;
    group->last = call->serial;
    group->is_identical = group->is_identical && group->raw == call->raw;
    group->has_parameters = group->has_parameters || call->has_parameters;
    return true;
}

static bool end_groups(struct scan *scan)
{
    for (size_t i = 0; i < scan->touched_groups.count; i++) {
        uint32_t statement = *LODE_ARRAY_AT(&scan->touched_groups, uint32_t, i);
        const struct statement_group *group =
            LODE_ARRAY_AT(&scan->groups, struct statement_group, statement - 1);
        if (!is_enough(scan, group->calls, group->time))
            continue;
        bool is_identical = group->is_identical && !group->has_parameters;
        struct site_key key = {is_identical ? REPEAT_IDENTICAL : REPEAT_STATEMENT, group->function, statement,
                               group->caller};
        if (!note_site(scan, &key, group->calls, group->time, group->time - group->time / group->calls))
            return false;
    }
    scan->touched_groups.count = 0;
    return true;
}

bool lode_diagnose_request_scan_end_repeats(struct scan *scan)
{
    bool counts = !scan->is_broken;
    if (!end_groups(scan))
        return false;
    for (size_t i = 0; i < scan->touched_sites.count; i++) {
        uint32_t number = *LODE_ARRAY_AT(&scan->touched_sites, uint32_t, i);
        struct site_sum *sum = LODE_ARRAY_AT(&scan->tables.site_sums, struct site_sum, number);
        /* Retries may be inside each other. */
        uint64_t saved = sum->pending_saved < scan->duration ? sum->pending_saved : scan->duration;
        uint64_t time = sum->pending_time < scan->duration ? sum->pending_time : scan->duration;
        if (counts) {
            sum->requests++;
            sum->calls += sum->pending_calls;
            sum->time += time;
            sum->saved += saved;
            sum->squares += (lode_square)saved * saved;
            sum->products += (lode_square)saved * scan->duration;
        }
        sum->pending_calls = sum->pending_time = sum->pending_saved = 0;
    }
    scan->touched_sites.count = 0;
    return true;
}
