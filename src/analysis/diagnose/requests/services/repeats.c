/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that a request repeats, makes one after the other, or waits in. */
#include "analysis/diagnose/requests/services/services.h"

#include "base/compare.h"
#include <stdlib.h>

enum {
    REPEATS_MIN = 5,
    SERIAL_MIN = 3,
    LONG = 50 * 1000 * 1000, /* nanoseconds that repeated calls of a request have to take, or */
    PART = 10,               /* one of so many parts of it */
    OVERLAP = 10,            /* of calls one after the other: one of so many parts of their time */
    GAPS = 5,                /* of the extent of serial calls: one of so many parts */
    ROUNDING = 1000 * 1000,  /* nanoseconds: clocks of programs are that exact */
    GROUPS = 16,             /* different callees of a call that are followed */
    AHEAD = 64,              /* calls after a wait that are looked at */
    CLIMB = 64               /* callers that are followed upwards */
};

static bool is_long(const struct service_scan *scan, uint64_t extent)
{
    return extent > LONG || extent > scan->duration / PART;
}

static uint64_t duration_of(const struct service_call *call)
{
    return call->end - call->begin;
}

/* What a call asks for: a server's function, or its own. */
static uint32_t target_of(const struct service_call *call)
{
    return call->callee ? call->callee - 1 : call->function;
}

/* Statements of calls that reached a server do not matter: it says what was asked for. */
static uint32_t text_of(const struct service_call *call)
{
    return call->callee ? 0 : call->statement;
}

static bool is_same(const struct service_call *a, const struct service_call *b)
{
    return target_of(a) == target_of(b) && text_of(a) == text_of(b);
}

/* ---- statements and round trips ---- */

struct round {
    uint64_t begin;
    uint32_t target, text, index;
};

static int compare_rounds(const void *left, const void *right)
{
    const struct round *a = left, *b = right;
    if (a->target != b->target)
        return LODE_COMPARE(a->target, b->target);
    if (a->text != b->text)
        return LODE_COMPARE(a->text, b->text);
    return a->begin != b->begin ? LODE_COMPARE(a->begin, b->begin) : LODE_COMPARE(a->index, b->index);
}

/* The innermost call around two; far apart, the outermost of the request. */
static uint32_t common_caller(const struct service_scan *scan, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < CLIMB && a != NO_CALL && b != NO_CALL; i++) {
        if (a == b)
            return a;
        if (service_call_at(scan, a)->depth >= service_call_at(scan, b)->depth)
            a = service_call_at(scan, a)->parent;
        else
            b = service_call_at(scan, b)->parent;
    }
    return 0;
}

/* Calls with the same target, by begin. */
static bool add_rounds(struct service_scan *scan, const struct round *rounds, size_t count)
{
    const struct service_call *first = service_call_at(scan, rounds[0].index);
    struct service_part part = {.calls = count};
    uint64_t end = first->begin, overlap = 0;
    uint32_t caller = first->parent;
    bool is_identical = true, has_parameters = false;
    for (size_t i = 0; i < count; i++) {
        const struct service_call *call = service_call_at(scan, rounds[i].index);
        part.time += duration_of(call);
        part.most = duration_of(call) > part.most ? duration_of(call) : part.most;
        part.failed += call->has_failed;
        overlap += end > call->begin ? (end < call->end ? end : call->end) - call->begin : 0;
        end = call->end > end ? call->end : end;
        is_identical = is_identical && call->raw == first->raw;
        has_parameters = has_parameters || call->has_parameters;
        caller = caller == NO_CALL || call->parent == NO_CALL ? 0 : common_caller(scan, caller, call->parent);
    }
    part.extent = end - first->begin;
    if (overlap > part.time / OVERLAP || part.failed > count / 2 || !is_long(scan, part.extent))
        return true;
    part.saved = part.extent - part.extent / count;
    is_identical = is_identical && !has_parameters && first->statement != 0;
    struct service_key key = {is_identical ? SUM_IDENTICAL : SUM_ROUNDS,
                              service_call_at(scan, caller)->function, rounds[0].target, rounds[0].text};
    return lode_diagnose_service_note(scan, &key, &part);
}

bool lode_diagnose_service_look_at_rounds(struct service_scan *scan)
{
    size_t count = 0;
    struct round *rounds = malloc((scan->calls.count + 1) * sizeof *rounds);
    bool done = rounds != NULL;
    for (uint32_t i = 0; done && i < scan->calls.count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        /* A driver inside of a library's call has the same statement: the inner one counts. */
        const struct service_call *parent =
            call->parent == NO_CALL ? NULL : service_call_at(scan, call->parent);
        bool is_inner = parent && call->statement && parent->statement == call->statement;
        if ((call->kind == CALL_CLIENT || call->statement) && !is_inner)
            rounds[count++] = (struct round){call->begin, target_of(call), text_of(call), i};
    }
    if (done && count > 1)
        qsort(rounds, count, sizeof *rounds, compare_rounds);
    for (size_t i = 0, end; done && i < count; i = end) {
        for (end = i + 1;
             end < count && rounds[end].target == rounds[i].target && rounds[end].text == rounds[i].text;)
            end++;
        done = end - i < REPEATS_MIN || add_rounds(scan, rounds + i, end - i);
    }
    free(rounds);
    return done;
}

/* ---- again after an error ---- */

struct tries {
    const struct service_call *first, *last;
    uint64_t calls, failed;
    bool has_succeeded, is_loop; /* a call followed one that succeeded */
};

static bool add_retries(struct service_scan *scan, uint32_t caller, const uint32_t *callees, size_t count)
{
    struct tries groups[GROUPS];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct service_call *call = service_call_at(scan, callees[i]);
        size_t k = 0;
        while (k < used && (groups[k].first->function != call->function || !is_same(groups[k].first, call)))
            k++;
        if (k == GROUPS)
            continue;
        if (k == used)
            groups[used++] = (struct tries){.first = call};
        struct tries *tries = &groups[k];
        tries->is_loop = tries->is_loop || tries->has_succeeded;
        tries->has_succeeded = tries->has_succeeded || !call->has_failed;
        tries->last = call;
        tries->calls++;
        tries->failed += call->has_failed;
    }
    for (size_t k = 0; k < used; k++) {
        const struct tries *tries = &groups[k];
        uint64_t time = tries->last->begin - tries->first->begin;
        struct service_key key = {SUM_RETRIES, service_call_at(scan, caller)->function,
                                  tries->first->function, 0};
        struct service_part part = {
            .calls = tries->calls, .failed = tries->failed, .time = time, .extent = time, .saved = time};
        if (tries->failed && tries->calls > 1 && !tries->is_loop &&
            !lode_diagnose_service_note(scan, &key, &part))
            return false;
    }
    return true;
}

/* ---- one after the other ---- */

struct chain {
    const struct service_call *first, *last;
    size_t count, same; /* and those that have the target of the one before: these are rounds */
    uint64_t time, longest;
};

static bool end_chain(struct service_scan *scan, uint32_t caller, const struct chain *chain)
{
    if (chain->count < SERIAL_MIN || 2 * chain->same >= chain->count)
        return true;
    uint64_t extent = chain->last->end - chain->first->begin;
    struct service_key key = {SUM_SERIAL, service_call_at(scan, caller)->function, 0, 0};
    struct service_part part = {.calls = chain->count,
                                .time = chain->time,
                                .extent = extent,
                                .saved = chain->time - chain->longest,
                                .most = chain->longest};
    /* Work between the calls likely uses their answers. */
    bool is_tight = extent - chain->time <= extent / GAPS;
    return !is_tight || !is_long(scan, extent) || lode_diagnose_service_note(scan, &key, &part);
}

static bool add_serial(struct service_scan *scan, uint32_t caller, const uint32_t *callees, size_t count)
{
    struct chain chain = {0};
    for (size_t i = 0; i < count; i++) {
        const struct service_call *call = service_call_at(scan, callees[i]);
        if (call->kind != CALL_CLIENT || call->callee == 0)
            continue;
        if (chain.last && call->begin < chain.last->end) {
            if (!end_chain(scan, caller, &chain))
                return false;
            chain = (struct chain){0};
        }
        chain.same += chain.last && is_same(chain.last, call);
        chain.first = chain.first ? chain.first : call;
        chain.last = call;
        chain.count++;
        chain.time += duration_of(call);
        chain.longest = duration_of(call) > chain.longest ? duration_of(call) : chain.longest;
    }
    return end_chain(scan, caller, &chain);
}

/* ---- waiting, and time that no call explains ---- */

static bool is_wait(struct service_scan *scan, uint32_t function, bool *out)
{
    while (scan->waits.count <= function)
        if (lode_array_push(&scan->waits) == NULL)
            return false;
    uint8_t *known = LODE_ARRAY_AT(&scan->waits, uint8_t, function);
    if (*known == 0) {
        const lode_function *item = lode_function_table_at(recording_functions(scan->recording), function);
        *known = (uint8_t)(1 + lode_diagnose_service_is_wait(item->name));
    }
    *out = *known == 2;
    return true;
}

static bool add_wait(struct service_scan *scan, uint32_t caller, const uint32_t *callees, size_t count)
{
    const struct service_call *wait = service_call_at(scan, callees[0]);
    uint64_t time = duration_of(wait);
    struct service_key key = {SUM_WAITS, service_call_at(scan, caller)->function, wait->function, 0};
    struct service_part part = {.calls = 1, .time = time, .saved = time, .most = time};
    if (!lode_diagnose_service_note(scan, &key, &part))
        return false;
    for (size_t i = 1; i < count && i < AHEAD; i++) {
        const struct service_call *next = service_call_at(scan, callees[i]);
        if (next->begin + ROUNDING < wait->end)
            continue;
        struct service_key after = {SUM_AFTER, wait->function, next->function, 0};
        struct service_part held = {.calls = 1, .time = duration_of(next)};
        return lode_diagnose_service_note(scan, &after, &held);
    }
    return true;
}

/* Time of a client that the calls of the server do not cover. */
static bool add_outside(struct service_scan *scan, uint32_t caller, const uint32_t *callees, size_t count)
{
    const struct service_call *client = service_call_at(scan, caller);
    uint64_t covered = 0, end = client->begin;
    for (size_t i = 0; i < count; i++) {
        const struct service_call *call = service_call_at(scan, callees[i]);
        uint64_t from = call->begin > end ? call->begin : end;
        uint64_t to = call->end < client->end ? call->end : client->end;
        covered += to > from ? to - from : 0;
        end = to > end ? to : end;
    }
    uint64_t time = duration_of(client) - covered;
    struct service_key key = {SUM_OUTSIDE, client->function, client->callee - 1, 0};
    struct service_key all = {SUM_OUTSIDE, NO_CALL, NO_CALL, 0};
    struct service_part part = {.calls = 1, .time = time, .extent = duration_of(client), .saved = time};
    return lode_diagnose_service_note(scan, &key, &part) && lode_diagnose_service_note(scan, &all, &part);
}

static bool add_late(struct service_scan *scan, uint32_t caller, uint32_t callee)
{
    const struct service_call *call = service_call_at(scan, callee);
    const struct lode_function_table *functions = recording_functions(scan->recording);
    const lode_function *function = lode_function_table_at(functions, call->function);
    const lode_function *above = lode_function_table_at(functions, service_call_at(scan, caller)->function);
    if (function->module != above->module)
        return true;
    struct service_key key = {SUM_LATE, call->function, 0, 0};
    struct service_part part = {.calls = 1, .time = duration_of(call)};
    return lode_diagnose_service_note(scan, &key, &part);
}

bool lode_diagnose_service_look_at_callees(struct service_scan *scan, uint32_t caller,
                                           const uint32_t *callees, size_t count)
{
    const struct service_call *call = service_call_at(scan, caller);
    for (size_t i = 0; i < count; i++) {
        const struct service_call *callee = service_call_at(scan, callees[i]);
        bool waits;
        if (!is_wait(scan, callee->function, &waits))
            return false;
        if (waits && !add_wait(scan, caller, callees + i, count - i))
            return false;
        if (callee->end > call->end + ROUNDING && !add_late(scan, caller, callees[i]))
            return false;
    }
    if (call->callee && !call->is_side && !add_outside(scan, caller, callees, count))
        return false;
    return add_retries(scan, caller, callees, count) && add_serial(scan, caller, callees, count);
}
