/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads requests for rates: when they begin, how long they take, and the values of attributes. */
#include "analysis/search/rates.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

static size_t key_count(const struct lode_rates_run *run)
{
    return run->rates->key_count;
}

/* One for each key; NULL if there is none. */
static uint32_t *numbers_of(const struct lode_rates_run *run, const struct lode_rates_worker *worker,
                            uint32_t call)
{
    return key_count(run) ? LODE_ARRAY_AT(&worker->numbers, uint32_t, call * key_count(run)) : NULL;
}

/* ---- values ---- */

/* A value as a string; what a group uses for itself becomes '?'. */
static lode_status number_value(struct lode_rates_worker *worker, const char *bytes, size_t length,
                                uint32_t *number, lode_error *error)
{
    char text[LODE_SEARCH_TEXT + 1];
    length = length < LODE_SEARCH_TEXT ? length : LODE_SEARCH_TEXT;
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(bytes[i] == '\0' || bytes[i] == LODE_RATES_SEPARATOR ? '?' : bytes[i]);
    text[length] = '\0';
    LODE_TRY_ALLOC(lode_strings_put(&worker->values, text, number), error);
    return LODE_OK;
}

static lode_status number_text(struct lode_rates_worker *worker, const char *text, uint32_t *number,
                               lode_error *error)
{
    return number_value(worker, text, strlen(text), number, error);
}

/* The first value of an attribute counts. */
static lode_status take_attribute(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                                  uint32_t call, const lode_event *event, lode_error *error)
{
    const char *name = lode_event_name(run->recording, event);
    uint32_t *numbers = numbers_of(run, worker, call);
    struct lode_read_value value = {0};
    for (size_t i = 0; i < key_count(run); i++) {
        if (numbers[i] != LODE_NO_NUMBER || !lode_attribute_key_is(&run->keys[i], name))
            continue;
        LODE_TRY_ALLOC(lode_value_read(&worker->reader, event, &value), error);
        LODE_TRY(number_value(worker, value.bytes, value.length, &numbers[i], error));
    }
    return LODE_OK;
}

static lode_status take_kind(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                             uint32_t call, const lode_event *event, lode_error *error)
{
    size_t count = 0;
    for (size_t k = 0; k < key_count(run); k++) {
        if (strcmp(run->keys[k].name, "kind") != 0 || event->data == NULL)
            continue;
        LODE_TRY_ALLOC(lode_value_decode(&worker->reader, event, SIZE_MAX, &count), error);
        for (size_t i = 0; i < count; i++) {
            const lode_argument *argument = &worker->reader.arguments[i];
            if (strcmp(argument->name, "kind") == 0 && argument->kind == LODE_VALUE_TEXT && argument->bytes)
                LODE_TRY(number_value(worker, argument->bytes, argument->length,
                                      &numbers_of(run, worker, call)[k], error));
        }
    }
    return LODE_OK;
}

/* What calls have without an attribute; and what they have from the process of their caller. */
static lode_status complete(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                            const struct lode_request *request, uint32_t index, lode_error *error)
{
    const struct lode_request_call *call = lode_request_call_at(request, index);
    const lode_function *function = call->function;
    bool has_caller = call->parent != LODE_NO_CALL &&
                      lode_request_call_at(request, call->parent)->function->module == function->module;
    for (size_t i = 0; i < key_count(run); i++) {
        uint32_t *number = &numbers_of(run, worker, index)[i];
        const char *name = run->keys[i].name;
        if (*number != LODE_NO_NUMBER)
            continue;
        if (strcmp(name, "service") == 0 && function->module)
            LODE_TRY(number_text(worker, function->module->path, number, error));
        else if (strcmp(name, "name") == 0 && function->name)
            LODE_TRY(number_text(worker, function->name, number, error));
        else if (has_caller && lode_is_resource_key(name))
            *number = numbers_of(run, worker, call->parent)[i];
    }
    return LODE_OK;
}

/* ---- events ---- */

static lode_status open_call(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                             uint32_t call, const lode_event *event, lode_error *error)
{
    worker->numbers.count = call * key_count(run);
    for (size_t i = 0; i < key_count(run); i++) {
        uint32_t *number = lode_array_push(&worker->numbers);
        LODE_TRY_ALLOC(number, error);
        *number = LODE_NO_NUMBER;
    }
    return take_kind(run, worker, call, event, error);
}

static bool asks_where(const struct lode_rates_run *run)
{
    return run->rates->calls && run->options->where_count > 0;
}

static lode_status take_event(void *user, unsigned index, struct lode_request *request,
                              const lode_event *event, lode_error *error)
{
    struct lode_rates_run *run = user;
    struct lode_rates_worker *worker = &run->workers[index];
    if (asks_where(run))
        LODE_TRY(lode_where_take(&worker->where, request, event, error));
    uint32_t call = lode_request_open(request);
    if (key_count(run) == 0 || call == LODE_NO_CALL)
        return LODE_OK;
    worker->reader.track =
        LODE_ARRAY_AT(&request->parts, struct lode_request_part, request->parts.count - 1)->track;
    if (event->kind == LODE_EVENT_ENTER)
        return open_call(run, worker, call, event, error);
    if (event->kind != LODE_EVENT_INSTANT ||
        lode_event_instant(run->recording, event) != LODE_INSTANT_ATTRIBUTE)
        return LODE_OK;
    return take_attribute(run, worker, call, event, error);
}

/* ---- items ---- */

static bool name_group(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                       const uint32_t *numbers)
{
    static const char end = '\0';
    bool done = true;
    worker->name.size = 0;
    for (size_t i = 0; i < key_count(run) && done; i++) {
        const char *value = lode_strings_at(&worker->values, numbers[i]);
        done = lode_put_text(&worker->name, value ? "+" : "-") &&
               lode_put_text(&worker->name, value ? value : "") &&
               lode_put_bytes(&worker->name, &(char){LODE_RATES_SEPARATOR}, 1);
    }
    return done && lode_put_bytes(&worker->name, &end, 1);
}

static uint64_t interval_of(const struct lode_rates_run *run, uint64_t time)
{
    int64_t offset = run->recording->utc_offset;
    uint64_t length = run->rates->interval, utc = offset > 0 ? time + (uint64_t)offset : time;
    return length ? utc / length : 0;
}

static lode_status add_item(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                            const uint32_t *numbers, struct lode_rate_item item, lode_error *error)
{
    LODE_TRY_ALLOC(name_group(run, worker, numbers), error);
    item.interval = interval_of(run, item.interval);
    LODE_TRY_ALLOC(lode_strings_put(&worker->groups, (const char *)worker->name.bytes, &item.group), error);
    struct lode_rate_item *slot = lode_array_push(&worker->items);
    LODE_TRY_ALLOC(slot, error);
    *slot = item;
    return LODE_OK;
}

/* Calls that have none of the attributes are left out. */
static lode_status add_calls(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                             const struct lode_request *request, lode_error *error)
{
    for (uint32_t i = 0; i < lode_request_count(request); i++) {
        const struct lode_request_call *call = lode_request_call_at(request, i);
        const uint32_t *numbers = numbers_of(run, worker, i);
        bool has_value = key_count(run) == 0;
        for (size_t k = 0; k < key_count(run); k++)
            has_value |= numbers[k] != LODE_NO_NUMBER;
        if (!has_value || (asks_where(run) && !lode_where_chooses(&worker->where, i)))
            continue;
        LODE_TRY(add_item(run, worker, numbers,
                          (struct lode_rate_item){.duration = call->end - call->begin,
                                                  .interval = call->begin,
                                                  .has_failed = call->has_failed},
                          error));
    }
    return LODE_OK;
}

/* Of each attribute, the value of the first call that has one. */
static lode_status add_request(const struct lode_rates_run *run, struct lode_rates_worker *worker,
                               const struct lode_request *request, lode_error *error)
{
    uint32_t numbers[LODE_SEARCH_VALUES];
    uint64_t begin, end;
    for (size_t k = 0; k < key_count(run); k++) {
        numbers[k] = LODE_NO_NUMBER;
        for (uint32_t i = 0; i < lode_request_count(request) && numbers[k] == LODE_NO_NUMBER; i++)
            numbers[k] = numbers_of(run, worker, i)[k];
    }
    lode_status status = lode_track_interval(run->recording, request->track, &begin, &end, error);
    if (status != LODE_OK)
        return status == LODE_ABSENT ? LODE_OK : status;
    return add_item(run, worker, numbers,
                    (struct lode_rate_item){.duration = end > begin ? end - begin : 0,
                                            .interval = begin,
                                            .has_failed = lode_request_has_failed(request)},
                    error);
}

static lode_status take_request(void *user, unsigned index, struct lode_request *request, lode_error *error)
{
    struct lode_rates_run *run = user;
    struct lode_rates_worker *worker = &run->workers[index];
    bool is_met;
    if (asks_where(run))
        LODE_TRY(lode_where_finish(&worker->where, request, &is_met, error));
    for (uint32_t i = 0; i < lode_request_count(request); i++)
        LODE_TRY(complete(run, worker, request, i, error));
    return (run->rates->calls ? add_calls : add_request)(run, worker, request, error);
}

/* ---- workers ---- */

static lode_status open_workers(void *user, unsigned count, lode_error *error)
{
    struct lode_rates_run *run = user;
    run->workers = lode_workers_new(count, sizeof *run->workers);
    LODE_TRY_ALLOC(run->workers, error);
    run->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct lode_rates_worker *worker = &run->workers[i];
        lode_array_init(&worker->items, sizeof(struct lode_rate_item), SIZE_MAX);
        lode_array_init(&worker->numbers, sizeof(uint32_t), SIZE_MAX);
        lode_strings_init(&worker->groups);
        lode_strings_init(&worker->values);
        lode_where_begin(&worker->where, &run->where, run->recording);
        worker->reader.recording = run->recording;
    }
    return LODE_OK;
}

lode_status lode_rates_read(struct lode_rates_run *run, lode_error *error)
{
    struct lode_visit visit = {.recording = run->recording,
                               .options = run->options,
                               .request = take_request,
                               .event = take_event,
                               .open = open_workers,
                               .user = run};
    LODE_TRY(lode_where_compile(&run->where, run->options->where, run->options->where_count, error));
    return lode_visit_requests(&visit, error);
}

void lode_rates_run_free(struct lode_rates_run *run)
{
    for (unsigned i = 0; i < run->count; i++) {
        struct lode_rates_worker *worker = &run->workers[i];
        lode_array_free(&worker->items);
        lode_array_free(&worker->numbers);
        lode_strings_free(&worker->groups);
        lode_strings_free(&worker->values);
        lode_where_state_free(&worker->where);
        lode_value_reader_free(&worker->reader);
        lode_blob_free(&worker->name);
    }
    free(run->workers);
    lode_where_free(&run->where);
}
