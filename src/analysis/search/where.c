/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls of a request meet conditions, and have callers that do. */
#include "analysis/search/where.h"
#include "base/error.h"
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_MAX = 4096
};

#define BIT(i)  (UINT64_C(1) << (i))
#define UNKNOWN UINT64_MAX

/* ---- functions ---- */

static bool fits_text(const struct lode_condition *condition, const char *text)
{
    return lode_condition_fits(condition, text, strlen(text));
}

/* The name alone, or as it is shown; it must be neither of them if it must not be the text. */
static bool fits_name(const struct lode_condition *condition, const lode_function *function)
{
    char label[LABEL_MAX];
    lode_function_label(function, label, sizeof label);
    bool fits = fits_text(condition, label),
         fits_alone = fits_text(condition, function->name ? function->name : "");
    return condition->attribute.is_part == LODE_ATTRIBUTE_IS_NOT ? fits && fits_alone : fits || fits_alone;
}

static uint64_t judge(const struct lode_where *where, const lode_function *function)
{
    uint64_t met = 0;
    for (size_t i = 0; i < where->condition_count; i++) {
        const struct lode_where_condition *condition = &where->conditions[i];
        bool is_met = false;
        if (condition->subject == LODE_WHERE_SERVICE)
            is_met = fits_text(&condition->condition, function->module ? function->module->path : "");
        else if (condition->subject == LODE_WHERE_NAME)
            is_met = fits_name(&condition->condition, function);
        met |= is_met ? BIT(i) : 0;
    }
    return met;
}

static bool make_room(struct lode_where_state *state, uint32_t index)
{
    uint32_t before = state->function_count, count = before ? before : 256;
    while (count <= index)
        count *= 2;
    if (!LODE_GROW(state->functions, state->function_count, count))
        return false;
    memset(state->functions + before, 0xff, (count - before) * sizeof *state->functions);
    return true;
}

/* ---- events ---- */

/* The kind of a span: an argument of its begin. */
static lode_status meet_kind(struct lode_where_state *state, struct lode_request_call *call,
                             const lode_event *event, lode_error *error)
{
    const struct lode_where *where = state->where;
    size_t count;
    LODE_TRY_ALLOC(lode_value_decode(&state->reader, event, SIZE_MAX, &count), error);
    for (size_t i = 0; i < count; i++) {
        const lode_argument *argument = &state->reader.arguments[i];
        if (strcmp(argument->name, "kind") != 0 || argument->kind != LODE_VALUE_TEXT || !argument->bytes)
            continue;
        for (size_t j = 0; j < where->condition_count; j++)
            if (where->conditions[j].subject == LODE_WHERE_KIND &&
                lode_condition_fits(&where->conditions[j].condition, argument->bytes, argument->length))
                call->met |= BIT(j);
    }
    return LODE_OK;
}

static lode_status enter(struct lode_where_state *state, struct lode_request_call *call,
                         const lode_event *event, lode_error *error)
{
    uint32_t index = call->function->index;
    if (index >= state->function_count)
        LODE_TRY_ALLOC(make_room(state, index), error);
    if (state->functions[index] == UNKNOWN)
        state->functions[index] = judge(state->where, call->function);
    call->met |= state->functions[index];
    return state->where->asks_kind && event->data ? meet_kind(state, call, event, error) : LODE_OK;
}

static lode_status meet_attribute(struct lode_where_state *state, struct lode_request_call *call,
                                  const lode_event *event, lode_error *error)
{
    const struct lode_where *where = state->where;
    const char *key = lode_event_name(state->reader.recording, event);
    struct lode_read_value value = {0};
    for (size_t i = 0; i < where->condition_count; i++) {
        const struct lode_where_condition *condition = &where->conditions[i];
        if (condition->subject != LODE_WHERE_ATTRIBUTE ||
            !lode_attribute_key_is(&condition->condition.key, key))
            continue;
        LODE_TRY_ALLOC(lode_value_read(&state->reader, event, &value), error);
        if (lode_condition_fits(&condition->condition, value.bytes, value.length))
            call->met |= BIT(i);
    }
    return LODE_OK;
}

void lode_where_begin(struct lode_where_state *state, const struct lode_where *where,
                      const lode_recording *recording)
{
    if (state->where == NULL)
        lode_array_init(&state->calls, sizeof(struct lode_where_call), SIZE_MAX);
    state->where = where;
    state->reader.recording = recording;
}

lode_status lode_where_take(struct lode_where_state *state, struct lode_request *request,
                            const lode_event *event, lode_error *error)
{
    struct lode_request_call *call = lode_request_innermost(request);
    if (call == NULL)
        return LODE_OK;
    state->reader.track =
        LODE_ARRAY_AT(&request->parts, struct lode_request_part, request->parts.count - 1)->track;
    if (event->kind == LODE_EVENT_ENTER)
        return enter(state, call, event, error);
    if (event->kind != LODE_EVENT_INSTANT ||
        lode_event_instant(state->reader.recording, event) != LODE_INSTANT_ATTRIBUTE)
        return LODE_OK;
    return meet_attribute(state, call, event, error);
}

/* ---- a request ---- */

static bool fits_duration(const struct lode_where_condition *condition, uint64_t duration)
{
    double taken = (double)duration, asked = condition->nanoseconds;
    switch (condition->condition.attribute.is_part) {
    case LODE_ATTRIBUTE_BELOW:
        return taken < asked;
    case LODE_ATTRIBUTE_AT_MOST:
        return taken <= asked;
    case LODE_ATTRIBUTE_ABOVE:
        return taken > asked;
    default:
        return taken >= asked;
    }
}

/* What is known only when the call has ended. */
static uint64_t met_at_end(const struct lode_where *where, const struct lode_request_call *call)
{
    uint64_t met = 0;
    for (size_t i = 0; i < where->condition_count; i++) {
        const struct lode_where_condition *condition = &where->conditions[i];
        bool is_met =
            (condition->subject == LODE_WHERE_FAILED && call->has_failed) ||
            (condition->subject == LODE_WHERE_OUTERMOST && call->parent == LODE_NO_CALL) ||
            (condition->subject == LODE_WHERE_DURATION && fits_duration(condition, call->end - call->begin));
        met |= is_met ? BIT(i) : 0;
    }
    return met;
}

static uint64_t terms_of(const struct lode_where *where, uint64_t met, const struct lode_where_call *caller)
{
    uint64_t meets = 0;
    for (size_t i = 0; i < where->term_count; i++) {
        const struct lode_where_term *term = &where->terms[i];
        if ((term->conditions & ~met) != 0)
            continue;
        uint64_t callers = caller == NULL ? 0 : caller->meets | (term->directly ? 0 : caller->above);
        if (!term->has_below || (callers & BIT(i + 1)))
            meets |= BIT(i);
    }
    return meets;
}

/* Callers come before callees. */
lode_status lode_where_finish(struct lode_where_state *state, struct lode_request *request, bool *is_met,
                              lode_error *error)
{
    const struct lode_where *where = state->where;
    uint64_t met_terms = 0;
    state->calls.count = 0;
    for (uint32_t i = 0; i < lode_request_count(request); i++) {
        struct lode_request_call *call = lode_request_call_at(request, i);
        bool has_caller = call->parent != LODE_NO_CALL;
        const struct lode_request_call *caller =
            has_caller ? lode_request_call_at(request, call->parent) : NULL;
        struct lode_where_call *slot = lode_array_push(&state->calls);
        LODE_TRY_ALLOC(slot, error);
        const struct lode_where_call *above =
            has_caller ? LODE_ARRAY_AT(&state->calls, struct lode_where_call, call->parent) : NULL;
        if (caller && caller->function->module == call->function->module)
            call->met |= caller->met & where->resource_bits;
        call->met |= met_at_end(where, call);
        slot->meets = terms_of(where, call->met, above);
        slot->above = above ? above->meets | above->above : 0;
        met_terms |= slot->meets;
    }
    *is_met = (where->firsts & ~met_terms) == 0;
    return LODE_OK;
}

void lode_where_state_free(struct lode_where_state *state)
{
    lode_value_reader_free(&state->reader);
    lode_array_free(&state->calls);
    free(state->functions);
}
